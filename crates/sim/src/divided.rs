//! Counts how the work of a run would be divided among threads, on one thread: what
//! `benchmarks/speedup.py` predicts speed-ups from.

use crate::plan::{CapturePlan, Plan};
use crate::results::outcome::{FlowOutcome, JobOutcome};
use crate::results::passing::Passed;
use crate::results::sample::Sample;
use crate::results::sink::Sink;
use crate::run::{RunError, simulate};
use linkpool_engine::Windows;
use linkpool_network::{Fabric, Network, Partitions, Routes};
use linkpool_scenario::Scenario;
use linkpool_units::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The packet-hops of a run, and how they are divided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divided {
    /// Packet-hops.
    pub hops: u64,
    /// Windows in which a packet arrives.
    pub windows: u64,
    /// One division for each number of partitions.
    pub divisions: Vec<Division>,
}

/// A division of the fabric into partitions, as [`crate::simulate`] makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Division {
    /// Hops by partition: a hop is the work of the partition to which it leads.
    pub hops: Vec<u64>,
    /// Hops that lead from one partition to another.
    pub crossings: u64,
    /// How often partitions meet: once a window with packets, or once in several if they run ahead of each other.
    pub meetings: u64,
    /// The sum over the times between two meetings of the hops of the partition that has most of them in this time.
    pub busiest: u64,
}

/// Simulates `scenario` on one thread, and counts how its hops are divided among each of `counts`
/// partitions.
///
/// # Errors
/// See [`simulate`].
pub fn divided(scenario: &Scenario, counts: &[u8]) -> Result<Divided, RunError> {
    let mut plan = Plan::new(scenario);
    let timetable = plan.timetable();
    let parts: Vec<Partitions> = counts.iter().map(|n| plan.partitions(&timetable, *n)).collect();
    // Counting needs all packets. Partitions would not run ahead of each other while packets are captured.
    plan.capture = Some(CapturePlan::of_all(&plan.fabric));
    let lookahead = {
        let whole = Arc::new(Partitions::whole(&plan.fabric));
        let smallest = plan.smallest_packet();
        Network::partition(&plan.fabric, plan.policies.clone(), timetable.clone(), smallest, &whole, 0).lookahead()
    };
    let mut counting = Counting {
        fabric: &plan.fabric,
        cut: Windows::new(lookahead),
        routes: timetable.routes_at(Time::ZERO),
        windows: Open::new(1),
        divisions: parts.into_iter().zip(counts).map(|(parts, n)| (parts, Open::new(*n))).collect(),
        hops: 0,
    };
    simulate(&plan, &timetable, 1, &mut counting, &mut |_| true)?;
    counting.close(u64::MAX);
    let divisions = counting.divisions.into_iter().map(|(_, open)| open.found).collect();
    Ok(Divided { hops: counting.hops, windows: counting.windows.found.meetings, divisions })
}

/// Counts while packets pass.
struct Counting<'p> {
    fabric: &'p Fabric,
    cut: Windows,
    /// By which packets go on from switches that are split. Where routes change, no switch is.
    routes: &'p Routes,
    /// The whole network, as one partition.
    windows: Open,
    divisions: Vec<(Partitions, Open)>,
    hops: u64,
}

/// A division while packets pass.
struct Open {
    /// By time between two meetings to which packets may still be added: hops by partition.
    hops: BTreeMap<u64, Vec<u64>>,
    found: Division,
}

impl Open {
    /// A division among `n` partitions.
    fn new(n: u8) -> Open {
        let found = Division { hops: vec![0; n.into()], crossings: 0, meetings: 0, busiest: 0 };
        Open { hops: BTreeMap::new(), found }
    }

    /// Adds a hop of `partition` to the time number `time`.
    fn add(&mut self, time: u64, partition: u8) {
        let partitions = self.found.hops.len();
        self.hops.entry(time).or_insert_with(|| vec![0; partitions])[usize::from(partition)] += 1;
    }

    /// Adds up the times before `time`.
    fn close(&mut self, time: u64) {
        while let Some(entry) = self.hops.first_entry().filter(|entry| *entry.key() < time) {
            let hops = entry.remove();
            self.found.meetings += 1;
            self.found.busiest += hops.iter().max().copied().unwrap_or(0);
            self.found.hops.iter_mut().zip(hops).for_each(|(sum, hops)| *sum += hops);
        }
    }
}

impl Counting<'_> {
    /// Adds up what is before `window`: packets come in it or later.
    fn close(&mut self, window: u64) {
        self.windows.close(window);
        self.divisions.iter_mut().for_each(|(parts, open)| open.close(window / parts.windows_apart()));
    }
}

impl Sink for Counting<'_> {
    fn sample(&mut self, _: Sample) {}
    fn flow(&mut self, _: FlowOutcome) {}
    fn job(&mut self, _: JobOutcome) {}

    fn packet(&mut self, passed: Passed) {
        // Packets come in order of departure, and none arrives before it departs.
        self.close(self.cut.of(passed.at));
        let link = &self.fabric.links()[passed.link.index()];
        let window = self.cut.of(passed.packet.arrival);
        self.hops += 1;
        self.windows.add(window, 0);
        for (parts, open) in &mut self.divisions {
            let (from, to) = (parts.sender(passed.link), parts.receiver(self.routes, link.to, &passed.packet));
            open.add(parts.epoch(passed.link, window) / parts.windows_apart(), to);
            open.found.crossings += u64::from(from != to);
        }
    }
}
