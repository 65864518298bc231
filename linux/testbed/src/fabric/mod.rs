//! What lies between the hosts: the simulator's own network, or switches of the kernel.

pub(crate) mod kernel;
mod network;
mod tun;
pub(crate) mod wire;

use crate::address::End;
use crate::clock::Clock;
use crate::ends::{HostEnd, Settings};
use crate::timing::{LostTime, Timing};
use anyhow::Result;
use linkpool_network::{LinkId, Routes};
use linkpool_sim::{LinkOutcome, Plan, Sample};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wire::Ports;

/// Whose switches a scenario runs over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switches {
    /// The simulator's, run by the clock.
    #[default]
    Simulator,
    /// The kernel's: network namespaces that forward, over queues of the kernel that eBPF programs
    /// mark at.
    Kernel,
}

/// The hosts of a run, and what lies between them.
pub(crate) struct Made<'p> {
    pub(crate) hosts: HashMap<End, HostEnd>,
    pub(crate) ways: Arc<dyn Ways>,
    pub(crate) fabric: Box<dyn Fabric + 'p>,
}

/// What lies between the hosts.
pub(crate) trait Fabric: Send {
    /// Carries packets until `stop`; the run has `ended` before.
    fn run(self: Box<Self>, clock: Clock, ended: &AtomicBool, stop: &AtomicBool) -> Result<FabricOutcome>;
}

/// Is told how packets go that are not routed by their destination, before they come.
pub(crate) trait Ways: Debug + Send + Sync {
    /// Packets between these ports take this path, if there is one, and may have priority.
    fn set(&self, ports: Ports, path: Option<&[LinkId]>, priority: bool) -> Result<()>;
}

/// The end of a run as the fabric has seen it.
#[derive(Debug)]
pub(crate) struct FabricOutcome {
    pub(crate) links: Vec<LinkOutcome>,
    pub(crate) samples: Vec<Sample>,
    /// Of what the fabric does by the clock; none: the kernel does all.
    pub(crate) timing: Option<Timing>,
    /// Of the kernel's switches.
    pub(crate) lost: Option<LostTime>,
    pub(crate) hops: u64,
    pub(crate) delivered: u64,
    pub(crate) warnings: Vec<String>,
}

impl Switches {
    /// Makes hosts with these `ends`, and what lies between them.
    pub(crate) fn make<'p>(
        self,
        (plan, routes): (&'p Plan, &Routes),
        ends: &[End],
        settings: &Settings,
    ) -> Result<Made<'p>> {
        match self {
            Switches::Simulator => network::make(plan, ends, settings),
            Switches::Kernel => kernel::make((plan, routes), ends, settings),
        }
    }
}
