//! The fabric: the simulator's own network, run by the clock, between the TUN devices of the hosts.
//!
//! What the kernel sends is read from a device, enters the network at the port of its host at that
//! time, and goes through queues and switches as in a simulation: they drop, mark, delay and route
//! what stands for it. When it is due at its host, it is written to the device there, with its
//! mark.

use super::tun::Tun;
use super::wire::{FRAMING, Ports, mark, parse};
use super::{Fabric as Between, FabricOutcome, Made, Ways};
use crate::address::End;
use crate::clock::Clock;
use crate::ends::{self, Settings};
use crate::timing::Timing;
use anyhow::{Context as _, Result};
use linkpool_network::{Egress, Flags, Handler, LinkId, Network, NodeId, OnWire, Packet, source_route};
use linkpool_sim::{LinkOutcome, MeasuredLink, Plan, Sample, Value};
use linkpool_units::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

/// The longest packet.
const LONGEST: usize = 1 << 16;
/// So many packets are read from a device before another has its turn.
const TURN: usize = 16;
/// For less than this the thread does not sleep. It must sleep now and then: the kernel takes 5% of
/// each second from real-time threads that never do (sched_rt_runtime_us), and that makes packets
/// 50 ms late.
const NAP: Duration = Duration::from_micros(5);
/// And never for longer.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

/// Bytes on the wire of the smallest packet: IP and TCP headers without options.
const SMALLEST: u16 = 40 + FRAMING as u16;

/// What the fabric knows of some connections, by addresses and ports: the paths of their packets,
/// if these are pinned, and whether they have priority.
type Known = Arc<RwLock<HashMap<Ports, Pin>>>;

/// How the packets of a subflow go, in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Pin {
    /// A path as the simulator's packets have it; none: switches choose.
    path: Option<u32>,
    /// Are they of high priority?
    priority: bool,
}

/// Makes hosts with TUN devices, and the network between these.
pub(super) fn make<'p>(plan: &'p Plan, ends: &[End], settings: &Settings) -> Result<Made<'p>> {
    let (hosts, devices) = ends::make(ends, settings, |_| Tun::new())?;
    let known = Known::default();
    let ways = Arc::new(Pins { fabric: plan.fabric.clone(), known: known.clone() });
    Ok(Made { hosts, ways, fabric: Box::new(Wired { plan, devices, known }) })
}

/// All that is there before the clock runs.
struct Wired<'p> {
    plan: &'p Plan,
    devices: Vec<(End, Tun)>,
    known: Known,
}

impl Between for Wired<'_> {
    fn run(self: Box<Self>, clock: Clock, ended: &AtomicBool, stop: &AtomicBool) -> Result<FabricOutcome> {
        Fabric::new(self.plan, self.devices, self.known, clock).run(ended, stop)
    }
}

/// A packet on its way, where its place in the network says.
#[derive(Debug)]
struct Payload {
    bytes: Vec<u8>,
    /// Of the end that it is for.
    device: usize,
}

/// The network with what it carries.
#[derive(Debug)]
struct Fabric<'p> {
    network: Network,
    carried: Carried,
    probes: Probes<'p>,
    devices: Vec<(End, Tun)>,
    device_of: HashMap<End, usize>,
    known: Known,
    clock: Clock,
    timing: Timing,
    buffer: Box<[u8]>,
}

/// Where the fabric learns of pins.
#[derive(Debug)]
struct Pins {
    fabric: linkpool_network::Fabric,
    known: Known,
}

impl Ways for Pins {
    fn set(&self, ports: Ports, path: Option<&[LinkId]>, priority: bool) -> Result<()> {
        let pin = Pin { path: path.and_then(|path| source_route(&self.fabric, path)), priority };
        self.known.write().expect("no thread panics with it").insert(ports, pin);
        Ok(())
    }
}

/// What is on its way, and what is due soon.
#[derive(Debug, Default)]
struct Carried {
    /// By place.
    places: Vec<Option<Payload>>,
    /// What the network has given back, by when it is due and in which order; with a mark?
    due: BTreeMap<(Time, u64), (Payload, bool)>,
    delivered: u64,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
}

/// What of links is to be noted when.
#[derive(Debug)]
struct Probes<'p> {
    plan: &'p Plan,
    /// Of links that queue series are wanted of: the next sample.
    queues: Vec<(LinkId, Time)>,
    samples: Vec<Sample>,
    /// Bytes that links had put on the wire when the measured period began and ended.
    by_warm_up: Option<Vec<OnWire>>,
    by_cut_off: Option<Vec<OnWire>>,
    /// All that links had done when the run ended.
    by_end: Option<Vec<LinkOutcome>>,
}

impl<'p> Fabric<'p> {
    fn new(plan: &'p Plan, devices: Vec<(End, Tun)>, known: Known, clock: Clock) -> Fabric<'p> {
        let network = Network::new(&plan.fabric, plan.policies.clone(), plan.timetable(), SMALLEST);
        Fabric {
            network,
            carried: Carried::default(),
            probes: Probes::new(plan),
            device_of: devices.iter().enumerate().map(|(place, (end, _))| (*end, place)).collect(),
            devices,
            known,
            clock,
            timing: Timing::default(),
            buffer: vec![0; LONGEST].into(),
        }
    }

    /// Carries packets until `stop`; the run has `ended` before.
    fn run(mut self, ended: &AtomicBool, stop: &AtomicBool) -> Result<FabricOutcome> {
        for node in self.probes.plan.fabric.node_ids() {
            self.network.wake(node, &Handling(&mut self.carried, &mut self.probes));
        }
        while !stop.load(Ordering::Relaxed) {
            let began = Instant::now();
            let taken = self.take()?;
            let now = self.clock.now();
            self.network.run_to(now, &mut Handling(&mut self.carried, &mut self.probes));
            self.probes.note(&mut self.network, now, ended.load(Ordering::Relaxed));
            let given = self.give()?;
            if taken + given > 0 {
                self.timing.turn(began.elapsed());
            } else {
                self.sleep()?;
                self.timing.idle(began.elapsed());
            }
        }
        Ok(self.finish())
    }

    /// Takes what hosts have sent, a turn of each.
    fn take(&mut self) -> Result<usize> {
        let mut taken = 0;
        for (end, tun) in &self.devices {
            for _ in 0..TURN {
                let Some(length) = tun.read(&mut self.buffer)? else { break };
                taken += 1;
                let seen = parse(&self.buffer[..length]);
                let Some((seen, device)) = seen.and_then(|seen| Some((seen, *self.device_of.get(&seen.to)?))) else {
                    self.timing.foreign += 1;
                    continue;
                };
                let mut packet = seen.packet;
                if let Some(pin) = self.known.read().expect("no thread panics with it").get(&seen.ports) {
                    packet.entropy = pin.path.unwrap_or(packet.entropy);
                    packet.flags = packet.flags.with_if(Flags::PINNED, pin.path.is_some());
                    packet.flags = packet.flags.with_if(Flags::PRIORITY, pin.priority);
                }
                let place = self.network.inject(end.host.into(), self.clock.now(), packet);
                self.carried.put(place, &self.buffer[..length], device);
            }
        }
        Ok(taken)
    }

    /// Gives hosts what is due.
    fn give(&mut self) -> Result<usize> {
        let mut given = 0;
        while let Some(first) = self.carried.due.first_entry() {
            let (due, now) = (first.key().0, self.clock.now());
            if due > now {
                break;
            }
            let (Payload { mut bytes, device }, marked) = first.remove();
            if marked {
                mark(&mut bytes);
            }
            self.devices[device].1.write(&bytes)?;
            self.timing.given(now - due);
            self.carried.spare.push(bytes);
            given += 1;
        }
        Ok(given)
    }

    /// Sleeps until something is due, or comes.
    fn sleep(&self) -> Result<()> {
        let next = self.carried.due.first_key_value().map_or(Time::MAX, |((due, _), _)| *due);
        let next = next.min(self.network.next_due().unwrap_or(Time::MAX));
        let left = self.clock.until(next).min(LONGEST_SLEEP);
        if left < NAP {
            std::hint::spin_loop();
            return Ok(());
        }
        let left = left - NAP;
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut fds: Vec<PollFd<'_>> = self.devices.iter().map(|(_, tun)| PollFd::new(tun, PollFlags::IN)).collect();
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e).context("cannot wait for packets"),
        }
    }

    fn finish(mut self) -> FabricOutcome {
        self.probes.note(&mut self.network, self.clock.now(), true);
        FabricOutcome {
            links: self.probes.by_end.unwrap_or_default(),
            samples: self.probes.samples,
            hops: self.network.hops(),
            delivered: self.carried.delivered,
            timing: Some(self.timing),
            lost: None,
            warnings: Vec::new(),
        }
    }
}

impl Carried {
    /// What was sent has got `place`. If it was dropped at once, the next will have that place.
    fn put(&mut self, place: u32, packet: &[u8], device: usize) {
        let place = place as usize;
        if self.places.len() <= place {
            self.places.resize_with(place + 1, || None);
        }
        let mut bytes = match self.places[place].take() {
            Some(lost) => lost.bytes,
            None => self.spare.pop().unwrap_or_default(),
        };
        bytes.clear();
        bytes.extend_from_slice(packet);
        self.places[place] = Some(Payload { bytes, device });
    }
}

impl<'p> Probes<'p> {
    fn new(plan: &'p Plan) -> Probes<'p> {
        let links = plan.record.queue.iter().flat_map(|q| q.links.iter().map(|link| (link, q.from)));
        let link = |((from, to), first): (&(String, String), Time)| {
            let link = plan.fabric.link(plan.fabric.node(from)?, plan.fabric.node(to)?)?;
            Some((link, first))
        };
        let by_warm_up =
            (plan.measure.warm_up == Time::ZERO).then(|| vec![OnWire::default(); plan.fabric.links().len()]);
        Probes {
            plan,
            queues: links.filter_map(link).collect(),
            samples: Vec::new(),
            by_warm_up,
            by_cut_off: None,
            by_end: None,
        }
    }

    /// Notes what links have done when the measured period begins and ends, and when the run has
    /// `ended`.
    fn note(&mut self, network: &mut Network, now: Time, ended: bool) {
        let measure = &self.plan.measure;
        let links = LinkId::first(self.plan.fabric.links().len());
        let now = now.max(network.known_until());
        let mut sent = || links.clone().map(|link| network.link_outcome(link, now).1).collect();
        if self.by_warm_up.is_none() && now >= measure.warm_up {
            self.by_warm_up = Some(sent());
        }
        if self.by_cut_off.is_none() && now >= measure.cut_off {
            self.by_cut_off = Some(sent());
        }
        if self.by_end.is_none() && (ended || now >= self.plan.end) {
            let in_flight = network.in_flight(now);
            let outcome = |link: LinkId| {
                let ((stats, on_wire), in_flight) = (network.link_outcome(link, now), in_flight[link.index()]);
                let by = |noted: &Option<Vec<OnWire>>| noted.as_ref().map(|all| all[link.index()]);
                let by_cut_off = by(&self.by_cut_off).unwrap_or(on_wire);
                let measured = by(&self.by_warm_up).map(|before| MeasuredLink::between(before, by_cut_off));
                let measured = measured.unwrap_or_default();
                // A scenario with `pfc` is refused.
                LinkOutcome { stats, sent_bytes: on_wire.bytes(), measured, in_flight, pauses: None }
            };
            self.by_end = Some(links.map(outcome).collect());
        }
    }
}

/// What the network does with packets that are due, and with samples.
struct Handling<'a, 'p>(&'a mut Carried, &'a mut Probes<'p>);

impl Handler for Handling<'_, '_> {
    type Message = ();

    fn on_packet(&mut self, _: NodeId, now: Time, packet: &Packet, _: &mut Egress) {
        let Handling(carried, _) = self;
        let Some(payload) = carried.places.get_mut(packet.seq as usize).and_then(Option::take) else { return };
        let number = carried.delivered;
        carried.delivered += 1;
        carried.due.insert((now, number), (payload, packet.flags.has(Flags::CE)));
    }

    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress) {
        let Handling(_, Probes { plan, queues, samples, .. }) = self;
        let Some(record) = &plan.record.queue else { return };
        let from = |link: LinkId| plan.fabric.links()[link.index()].from;
        for (link, at) in queues.iter_mut().filter(|(link, at)| *at == now && from(*link) == node) {
            let (packets, bytes) = out.queue(*link, now);
            samples.push(Sample { at: now, value: Value::Queue { link: *link, packets, bytes } });
            let next = now + record.every;
            *at = if next <= record.until { next } else { Time::MAX };
        }
    }

    fn next_timer(&self, node: NodeId) -> Time {
        let Probes { plan, queues, .. } = &*self.1;
        let of_node = queues.iter().filter(|(link, _)| plan.fabric.links()[link.index()].from == node);
        of_node.map(|(_, at)| *at).min().unwrap_or(Time::MAX)
    }
}
