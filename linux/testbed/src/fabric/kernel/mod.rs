//! Switches of the kernel: a network namespace for each host and switch of the fabric, which
//! forwards IP packets, and a pair of devices (veth) for each cable. An output port is the device's
//! queue, a token bucket (tbf) over a FIFO queue, before which an eBPF program marks
//! (`bpf/switch/port.c`).
//!
//! Both ends of a host are connected to its namespace in the fabric, whose ports are its NICs.

mod device;
pub(crate) mod limits;
mod namespaces;
mod observed;
mod port;
mod qdisc;
mod routes;

use super::wire::Ports;
use super::{Fabric, FabricOutcome, Made, Ways};
use crate::address::End;
use crate::clock::Clock;
use crate::ends::{self, Settings};
use anyhow::Result;
use linkpool_linux_control::switch::Switches as Programs;
use linkpool_network::{LinkId, Routes};
use linkpool_sim::{PathRule, Plan};
use namespaces::Nodes;
use observed::Observed;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The longest pause between two looks at whether the run is over.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

/// Makes hosts, switches and what connects them.
pub(super) fn make<'p>((plan, routes): (&'p Plan, &Routes), ends: &[End], settings: &Settings) -> Result<Made<'p>> {
    let programs = Arc::new(Programs::load(&port::ports(plan, settings.mtu))?);
    let nodes = Nodes::new(plan, settings.mtu)?;
    let (hosts, _) = ends::make(ends, settings, |end| nodes.connect(end))?;
    // Without paths that are set, packets are routed by their destination alone.
    let has_paths = plan.transports.iter().any(|transport| transport.paths != PathRule::Hash);
    nodes.open((plan, routes), ends, &programs, has_paths)?;
    let ways = Arc::new(Paths { fabric: plan.fabric.clone(), programs: programs.clone() });
    Ok(Made { hosts, ways, fabric: Box::new(Switching { plan, nodes, programs }) })
}

/// Paths that are set.
#[derive(Debug)]
struct Paths {
    fabric: linkpool_network::Fabric,
    programs: Arc<Programs>,
}

impl Ways for Paths {
    fn set(&self, (from, to): Ports, path: Option<&[LinkId]>, _priority: bool) -> Result<()> {
        let Some(source) = End::of(from.0) else { return Ok(()) };
        let ends = [from, to].map(|(address, port)| SocketAddrV4::new(address, port));
        let mut device = device::of_end(source);
        for link in path.into_iter().flatten() {
            self.programs.mark(device, (ends[0], ends[1]), device::of_link(*link))?;
            device = device::of_link(self.fabric.reverse(*link));
        }
        Ok(())
    }
}

/// The switches at work; they need nobody, but are observed.
struct Switching<'p> {
    plan: &'p Plan,
    nodes: Nodes,
    programs: Arc<Programs>,
}

impl Fabric for Switching<'_> {
    fn run(self: Box<Self>, clock: Clock, ended: &AtomicBool, stop: &AtomicBool) -> Result<FabricOutcome> {
        let mut observed = Observed::begin(self.plan, (&self.nodes, &self.programs))?;
        while !stop.load(Ordering::Relaxed) {
            let next = observed.look(clock.now(), ended.load(Ordering::Relaxed))?;
            thread::sleep(clock.until(next).min(LONGEST_SLEEP));
        }
        observed.finish(clock.now())
    }
}
