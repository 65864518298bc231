//! What this machine can carry, measured just before a run, and what the run may need.

use crate::carry::{Algorithms, carry};
use crate::conditions::Conditions;
use crate::ends::Settings;
use crate::fabric::Switches;
use crate::fabric::wire::FRAMING;
use anyhow::{Result, anyhow, ensure};
use linkpool_network::{HostId, LinkId, Routes};
use linkpool_sim::Plan;
use linkpool_units::Time;
use std::collections::BTreeSet;

/// One flow over links that are faster than any machine: it gets what the machine carries.
const PROBE: &str = "duration = \"300ms\"\n[topology.many-to-one]\nsenders = 1\nrate = \"40Gbps\"\ndelay = \"20us\"\n\
    [queue]\nlimit = 1000\n[transport.tcp]\ncontrol = \"reno\"\n[[workload.flow]]\nfrom = \"S1\"\nto = \"R\"\n\
    transport = \"tcp\"\n";
/// Links between its hosts.
const PROBE_LINKS: usize = 2;
/// Bytes of a full segment around its payload: headers with timestamps, and the frame.
const AROUND: u64 = 52 + FRAMING as u64;
/// A run that may need a larger share of what the machine carries is doubtful.
const COMFORT: f64 = 0.5;

/// Packets that a run may need, and those that this machine can carry.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Headroom {
    /// Packets a second that one flow got through two hosts and a fabric as fast as it could, ACKs
    /// included. Over switches of the kernel, each of which takes its time: as many as that is over
    /// the longest way of the run.
    pub carried_pps: f64,
    /// Packets a second at the most in the run, ACKs included.
    pub needed_pps: f64,
}

/// Measures what this machine can carry over `switches`, for a run of `plan`.
pub(crate) fn measure(plan: &Plan, routes: &Routes, switches: Switches) -> Result<Headroom> {
    let scenario = linkpool_scenario::load(PROBE, "probe", None, &[]).map_err(|e| anyhow!("{e:?}"))?;
    let probe = Plan::new(&scenario);
    let timetable = probe.timetable();
    let settings =
        Settings { mtu: 1500, ack_each: false, initial_window: 10, min_rto_us: 200_000, multipath: false, ecn: false };
    let algorithms = Algorithms { by_transport: vec!["reno".to_string()], suppressing: Vec::new() };
    let conditions = Conditions::over(switches);
    let carried = carry((&probe, timetable.routes_at(Time::ZERO)), (&settings, &conditions), algorithms, &|| false)?;
    let carried_pps = carried.of_fabric.delivered as f64 / carried.ended.secs();
    let levels = levels(plan, routes);
    let longest = levels.iter().map(Vec::len).max().unwrap_or(PROBE_LINKS);
    let share = if switches == Switches::Kernel { PROBE_LINKS as f64 / longest as f64 } else { 1.0 };
    Ok(Headroom { carried_pps: carried_pps * share, needed_pps: needed(plan, &levels) })
}

impl Headroom {
    /// Refuses what this machine cannot carry.
    pub(crate) fn check(&self) -> Result<()> {
        let Headroom { carried_pps, needed_pps } = self;
        ensure!(
            needed_pps <= carried_pps,
            "[topology] rate: the run may need {needed_pps:.0} packets a second, and this machine carries {carried_pps:.0} now: \
             at most {:.0}% of these rates",
            100.0 * carried_pps / needed_pps
        );
        Ok(())
    }

    /// Why the run is doubtful, if it is.
    pub(crate) fn doubt(&self) -> Option<String> {
        let share = self.needed_pps / self.carried_pps;
        (share > COMFORT).then(|| {
            format!("the run may need {:.0}% of the packets that this machine carries; watch the timing", 100.0 * share)
        })
    }
}

/// Of each pair of hosts that may send: the links that may be the n-th of a path.
fn levels(plan: &Plan, routes: &Routes) -> Vec<Vec<Vec<LinkId>>> {
    let fabric = &plan.fabric;
    let mut pairs: BTreeSet<(HostId, HostId)> = plan.flows.iter().map(|f| (f.flow.src, f.flow.dst)).collect();
    if !plan.processes.is_empty() {
        let hosts = || HostId::first(fabric.hosts());
        pairs.extend(hosts().flat_map(|a| hosts().filter(move |b| a != *b).map(move |b| (a, b))));
    }
    pairs.iter().map(|(src, dst)| routes.levels(fabric, *src, *dst)).collect()
}

/// Packets a second at the most, ACKs included: no more than the n-th links of all paths carry
/// together, for any n.
fn needed(plan: &Plan, levels: &[Vec<Vec<LinkId>>]) -> f64 {
    let fabric = &plan.fabric;
    let shortest = levels.iter().map(Vec::len).min().unwrap_or(0);
    let rate = |links: BTreeSet<LinkId>| links.iter().map(|l| fabric.links()[l.index()].rate.0 as f64).sum::<f64>();
    let from_start = (0..shortest).map(|n| rate(levels.iter().flat_map(|l| l[n].iter().copied()).collect()));
    let at_end = rate(levels.iter().filter_map(|l| l.last()).flatten().copied().collect());
    let bits = from_start.fold(at_end, f64::min);
    let mss = plan.transports.iter().map(|t| u64::from(t.config.mss)).min().unwrap_or(1);
    let acks = plan.transports.iter().map(|t| 1.0 / f64::from(t.config.ack_every)).fold(0.0, f64::max);
    bits / (8 * (mss + AROUND)) as f64 * (1.0 + acks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed_of(topology: &str, flows: &str) -> f64 {
        let text = format!("duration = \"1s\"\n{topology}\n[transport.tcp]\ncontrol = \"reno\"\n{flows}");
        let plan = Plan::new(&linkpool_scenario::load(&text, "test", None, &[]).unwrap());
        needed(&plan, &levels(&plan, plan.timetable().routes_at(Time::ZERO)))
    }

    /// Data packets of 1,538 bytes on the wire, and an ACK for every other.
    #[test]
    fn the_narrowest_cut_counts() {
        let flow = |from, to| format!("[[workload.flow]]\ntransport = \"tcp\"\nfrom = \"{from}\"\nto = \"{to}\"\n");
        let full = |mbps: f64| 1.5 * mbps * 1e6 / 8.0 / 1538.0;
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1.0, "{a} {b}");
        let dumbbell = "[topology.dumbbell]\npairs = 3\nrate = \"1Gbps\"\ndelay = \"1us\"\nbottleneck_rate = \"100Mbps\"\nbottleneck_delay = \"1us\"";
        let flows: String = [("S1", "D1"), ("S2", "D2")].map(|(from, to)| flow(from, to)).concat();
        near(needed_of(dumbbell, &flows), full(100.0));
        let star = "[topology.many-to-one]\nsenders = 4\nrate = \"50Mbps\"\ndelay = \"1us\"";
        let flows: String = ["S1", "S2", "S3"].map(|from| flow(from, "R")).concat();
        near(needed_of(star, &flows), full(50.0));
        let tree = "[topology.fat-tree]\nk = 4\nrate = \"10Mbps\"\ndelay = \"1us\"";
        let matrix = "[[workload.permutation]]\ntransport = \"tcp\"\n";
        near(needed_of(tree, matrix), full(160.0));
    }
}
