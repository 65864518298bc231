//! How well the fabric keeps time, and how much of its time it needs.

use hdrhistogram::Histogram;
use linkpool_sim::Plan;
use linkpool_units::Time;
use std::time::Duration;

/// Bytes of a full packet on the wire.
const FULL_PACKET: f64 = 1538.0;
/// Above this share of its time the fabric falls behind in bursts.
const MOST_BUSY: f64 = 0.7;
/// Less than this is not doubted, us.
const LEAST_DOUBT_US: f64 = 100.0;
/// A port of the kernel's that has lost more than this share of the run has another rate than the
/// scenario says.
const MOST_LOST: f64 = 0.01;

/// What the fabric measures of itself.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    /// How late packets were given to hosts, nanoseconds.
    late: Histogram<u64>,
    /// How long a look at all devices took in which something was there, nanoseconds: no packet
    /// that a host sends meanwhile is seen before.
    turns: Histogram<u64>,
    busy: Duration,
    idle: Duration,
    /// Packets that are not TCP over IPv4.
    pub(crate) foreign: u64,
}

impl Default for Timing {
    fn default() -> Timing {
        let histogram = || Histogram::new_with_max(10_000_000_000, 3).expect("three digits up to 10 s");
        Timing { late: histogram(), turns: histogram(), busy: Duration::ZERO, idle: Duration::ZERO, foreign: 0 }
    }
}

/// The timing of a run, for its result.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct TimingSummary {
    /// Packets given to hosts.
    pub packets: u64,
    /// From when a packet was due at its host to when it was given to the kernel there: the median,
    /// us.
    pub late_median_us: f64,
    /// The same: 99% are below, us.
    pub late_p99_us: f64,
    /// The same: 99.9% are below, us.
    pub late_p999_us: f64,
    /// The same: the longest, us.
    pub late_max_us: f64,
    /// How long a turn over all devices took, and so at most how long a packet waited to be seen
    /// while the fabric was awake: 99% are below, us.
    pub turn_p99_us: f64,
    /// Share of time in which the fabric had something to do.
    pub busy: f64,
    /// Packets that it did not carry, as they are not TCP over IPv4.
    pub foreign_packets: u64,
}

impl Timing {
    /// A packet was given to its host so late.
    pub(crate) fn given(&mut self, late: Time) {
        self.late.saturating_record(late.0 / 1000);
    }

    /// Records the time of a turn with work.
    pub(crate) fn turn(&mut self, took: Duration) {
        self.turns.saturating_record(took.as_nanos() as u64);
        self.busy += took;
    }

    /// Records a time without work.
    pub(crate) fn idle(&mut self, took: Duration) {
        self.idle += took;
    }

    pub(crate) fn summary(&self) -> TimingSummary {
        let late = |quantile: f64| self.late.value_at_quantile(quantile) as f64 / 1000.0;
        let all = (self.busy + self.idle).as_secs_f64();
        TimingSummary {
            packets: self.late.len(),
            late_median_us: late(0.5),
            late_p99_us: late(0.99),
            late_p999_us: late(0.999),
            late_max_us: late(1.0),
            turn_p99_us: self.turns.value_at_quantile(0.99) as f64 / 1000.0,
            busy: if all > 0.0 { self.busy.as_secs_f64() / all } else { 0.0 },
            foreign_packets: self.foreign,
        }
    }
}

impl std::fmt::Display for TimingSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TimingSummary { late_median_us, late_p99_us, busy, .. } = self;
        write!(
            f,
            "given to hosts {late_median_us:.0} us late (median), {late_p99_us:.0} us (99%); fabric busy {:.0}%",
            100.0 * busy
        )
    }
}

impl TimingSummary {
    /// Why the timing may not be that of the scenario, if so.
    pub(crate) fn doubts(&self, plan: &Plan) -> Vec<String> {
        let slowest = plan.fabric.links().iter().map(|l| l.rate.0).min().unwrap_or(u64::MAX);
        let packet_us = FULL_PACKET * 8e6 / slowest as f64;
        let mut doubts = Vec::new();
        if self.busy > MOST_BUSY {
            doubts.push(format!(
                "the fabric was busy {:.0}% of the time: this machine does not carry these rates",
                100.0 * self.busy
            ));
        }
        if self.late_p99_us > packet_us.max(LEAST_DOUBT_US) {
            doubts.push(format!(
                "1% of the packets were given to hosts {:.0} us late or later; a full packet takes {packet_us:.0} us on the slowest link",
                self.late_p99_us
            ));
        }
        doubts
    }
}

/// Of the ports of the kernel's switches, the one that lost most time: it sent nothing though
/// packets waited, and could not make up for it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct LostTime {
    /// Its link.
    pub link: String,
    /// Seconds that it lost, at the least.
    pub s: f64,
}

impl LostTime {
    /// Why the rates may not be those of the scenario in a run of so many seconds, if so.
    pub(crate) fn doubt(&self, run_s: f64) -> Option<String> {
        let LostTime { link, s } = self;
        (*s > MOST_LOST * run_s).then(|| {
            format!(
                "the port {link} sent nothing for {:.0} ms of {run_s:.1} s though packets waited: this machine did not run the kernel in time",
                1e3 * s
            )
        })
    }
}

impl std::fmt::Display for LostTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "over the kernel's switches, whose ports lost {:.1} ms at the most", 1e3 * self.s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_lost_a_hundredth_of_the_run_is_doubted() {
        let lost = |s| LostTime { link: "W->R".to_string(), s }.doubt(2.0);
        assert_eq!(lost(0.02), None);
        let doubt = lost(0.083).unwrap();
        assert!(doubt.starts_with("the port W->R sent nothing for 83 ms of 2.0 s"), "{doubt}");
    }

    #[test]
    fn quantiles_are_those_of_what_was_noted() {
        let mut timing = Timing::default();
        (1..=1000).for_each(|us| timing.given(Time::from_us(us)));
        timing.turn(Duration::from_micros(300));
        timing.idle(Duration::from_micros(700));
        let summary = timing.summary();
        let near = |value: f64, exact: f64| (value - exact).abs() <= exact / 500.0;
        assert!(near(summary.late_median_us, 500.0) && near(summary.late_p99_us, 990.0), "{summary:?}");
        assert!(near(summary.late_max_us, 1000.0) && near(summary.turn_p99_us, 300.0) && near(summary.busy, 0.3));
        assert_eq!(summary.packets, 1000);
    }
}
