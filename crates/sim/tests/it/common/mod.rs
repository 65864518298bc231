//! Helpers for tests of whole simulations: scenarios from text, and runs of them.

pub mod random;
pub mod written;

use linkpool_network::LinkId;
use linkpool_scenario::{Scenario, load};
use linkpool_sim::{FlowOutcome, JobOutcome, LinkOutcome, Outcome, Plan, Sample, Sink, simulate};
use linkpool_units::Time;
use std::ops::Deref;

/// `cases` random cases, 20 times as many if `LINKPOOL_LONG=1`, or as many as `LINKPOOL_CASES` (or
/// proptest's own `PROPTEST_CASES`) says. A case that fails is printed, and replayed from
/// `tests/proptest-regressions` from then on.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let asked = ["LINKPOOL_CASES", "PROPTEST_CASES"].iter().find_map(|name| std::env::var(name).ok());
    let long = std::env::var("LINKPOOL_LONG").is_ok_and(|long| long == "1");
    let usual = if long { 20 * cases } else { cases };
    let cases = asked.map_or(usual, |n| n.parse().expect("LINKPOOL_CASES is a number"));
    proptest::test_runner::Config { cases, ..Default::default() }
}

pub fn scenario(text: &str) -> Scenario {
    load(text, "test.toml", None, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// S1 sends to D1 at 10 Gbit/s into a link that stands still as good as: packet n of `roce`, 1,106 B, has come to L after
/// n x 884.8 + 2,000 ns. Ports pause from 20 KB on; `pfc` has more keys of these.
pub fn into_a_slow_link(duration: &str, pfc: &str, control: &str) -> String {
    format!(
        "duration = \"{duration}\"
        [topology.dumbbell]
        pairs = 1
        rate = \"10Gbps\"
        delay = \"2us\"
        bottleneck_rate = \"1Mbps\"
        [queue.pfc]
        buffer = \"100KB\"
        xoff = \"20KB\"
        reserve = \"0B\"
        {pfc}
        [transport.t]
        {control}
        [[workload.flow]]
        transport = \"t\"
        from = \"S1\"
        to = \"D1\"
        size = \"1MB\"
        "
    )
}

/// A plan, its outcome, and its samples.
pub struct Run {
    pub plan: Plan,
    pub outcome: Whole,
    pub samples: Vec<Sample>,
}

/// An outcome with its flows, by number.
#[derive(Debug, PartialEq)]
pub struct Whole {
    pub flows: Vec<FlowOutcome>,
    pub jobs: Vec<JobOutcome>,
    pub rest: Outcome,
}

impl Deref for Whole {
    type Target = Outcome;
    fn deref(&self) -> &Outcome {
        &self.rest
    }
}

/// Keeps all that it is given, as it comes.
#[derive(Default)]
pub struct Kept {
    pub flows: Vec<FlowOutcome>,
    pub jobs: Vec<JobOutcome>,
    pub samples: Vec<Sample>,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }
    fn flow(&mut self, flow: FlowOutcome) {
        self.flows.push(flow);
    }
    fn job(&mut self, job: JobOutcome) {
        self.jobs.push(job);
    }
}

pub fn run(text: &str) -> Run {
    run_on(&scenario(text), 1)
}

/// The run on one thread, which is seen to be the same on four.
pub fn same_on_four_threads(scenario: &Scenario) -> Run {
    let [one, four] = [1, 4].map(|threads| run_on(scenario, threads));
    assert_eq!(one.outcome.flows, four.outcome.flows);
    assert_eq!(one.outcome.rest, four.outcome.rest);
    one
}

pub fn run_on(scenario: &Scenario, threads: u8) -> Run {
    let plan = Plan::new(scenario);
    let mut kept = Kept::default();
    let rest = simulate(&plan, &plan.timetable(), threads, &mut kept, &mut |_| true).unwrap();
    let in_order = |f: &FlowOutcome| (f.active_until, f.flow);
    assert!(kept.flows.is_sorted_by_key(in_order), "flows come as they end");
    kept.flows.sort_unstable_by_key(|f| f.flow);
    assert!(kept.flows.windows(2).all(|pair| pair[0].flow < pair[1].flow), "no flow twice");
    // A receiver learns the end of a flow without a size by its FIN, which leaves after the end.
    let in_time = |f: &FlowOutcome| {
        f.planned.flow.size.is_none() || f.delivered.zip(f.finished).is_none_or(|(delivered, end)| delivered <= end)
    };
    assert!(kept.flows.iter().all(in_time), "a flow is delivered before it ends");
    kept.jobs.sort_unstable_by_key(|j| (j.label, j.job.number));
    Run { plan, outcome: Whole { flows: kept.flows, jobs: kept.jobs, rest }, samples: kept.samples }
}

impl Run {
    /// The link called `FROM->TO`.
    pub fn link(&self, name: &str) -> &LinkOutcome {
        let id = (0..self.outcome.links.len()).find(|l| self.plan.fabric.link_name(LinkId::new(*l)) == name);
        &self.outcome.links[id.expect(name)]
    }

    /// From the first SYN to the last ACK.
    pub fn fct(&self, flow: usize) -> Time {
        self.flow(flow).finished.expect("unfinished") - self.flow(flow).planned.flow.start
    }

    pub fn flow(&self, flow: usize) -> &FlowOutcome {
        let found = &self.outcome.flows[flow];
        assert_eq!(found.flow.index(), flow);
        found
    }
}

/// Jain's index of fairness.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|x| x * x).sum::<f64>())
}
