//! Counts how the work of a run would be divided among threads, on one thread: what
//! `benchmarks/speedup.py` predicts speed-ups from.

use crate::plan::{CapturePlan, Plan};
use crate::results::outcome::{FlowOutcome, JobOutcome};
use crate::results::passing::Passed;
use crate::results::sample::Sample;
use crate::results::sink::Sink;
use crate::run::{RunError, simulate};
use linkpool_engine::Windows;
use linkpool_network::{Fabric, Network, Partitions, Routes, partition};
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
    /// The sum over all windows of the hops of the partition that has most of them in the window.
    pub busiest: u64,
}

/// Simulates `scenario` on one thread, and counts how its hops are divided among each of `counts`
/// partitions.
///
/// # Errors
/// See [`simulate`].
pub fn divided(scenario: &Scenario, counts: &[u8]) -> Result<Divided, RunError> {
    let mut plan = Plan::new(scenario);
    plan.capture = Some(CapturePlan::of_all(&plan.fabric));
    let timetable = plan.timetable();
    let lookahead = {
        let whole = Arc::new(Partitions::whole(&plan.fabric));
        let smallest = plan.smallest_packet();
        Network::partition(&plan.fabric, plan.policies, timetable.clone(), smallest, &whole, 0).lookahead()
    };
    let mut counting = Counting {
        fabric: &plan.fabric,
        cut: Windows::new(lookahead),
        routes: timetable.routes_at(Time::ZERO),
        parts: counts
            .iter()
            .map(|n| partition(&plan.fabric, *n).splitting(&plan.fabric, plan.policies, &timetable))
            .collect(),
        open: BTreeMap::new(),
        counts,
        found: Divided {
            hops: 0,
            windows: 0,
            divisions: counts
                .iter()
                .map(|n| Division { hops: vec![0; *n as usize], crossings: 0, busiest: 0 })
                .collect(),
        },
    };
    simulate(&plan, &timetable, 1, &mut counting, &mut |_| true)?;
    counting.close(u64::MAX);
    Ok(counting.found)
}

/// Counts while packets pass.
struct Counting<'p> {
    fabric: &'p Fabric,
    cut: Windows,
    /// By which packets go on from switches that are split. Where routes change, no switch is.
    routes: &'p Routes,
    /// By division.
    parts: Vec<Partitions>,
    /// The numbers of partitions.
    counts: &'p [u8],
    /// By window to which packets may still be added: hops by division and partition.
    open: BTreeMap<u64, Vec<Vec<u64>>>,
    found: Divided,
}

impl Counting<'_> {
    /// Adds up the windows before `window`.
    fn close(&mut self, window: u64) {
        while let Some(entry) = self.open.first_entry().filter(|entry| *entry.key() < window) {
            self.found.windows += 1;
            for (hops, division) in entry.remove().into_iter().zip(&mut self.found.divisions) {
                division.busiest += hops.iter().max().copied().unwrap_or(0);
                division.hops.iter_mut().zip(hops).for_each(|(sum, hops)| *sum += hops);
            }
        }
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
        let arrival: Time = passed.packet.arrival;
        let empty = || self.counts.iter().map(|n| vec![0; *n as usize]).collect();
        let window = self.open.entry(self.cut.of(arrival)).or_insert_with(empty);
        self.found.hops += 1;
        for ((parts, hops), division) in self.parts.iter().zip(window).zip(&mut self.found.divisions) {
            let (from, to) = (parts.sender(passed.link), parts.receiver(self.routes, link.to, &passed.packet));
            hops[to as usize] += 1;
            division.crossings += u64::from(from != to);
        }
    }
}
