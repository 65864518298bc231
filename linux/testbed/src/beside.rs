//! The simulator beside the kernel: one scenario on both, and how far they agree.

use crate::run::{Report, record};
use anyhow::{Result, anyhow};
use linkpool_network::LinkId;
use linkpool_scenario::Scenario;
use linkpool_sim::{FlowOutcome, JobOutcome, Plan, Sample, Sink, Value, simulate};

/// What one run of a scenario came to, in the measured period.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// By label of its flows: mean goodput of a flow, bit/s, and Jain's fairness index over the
    /// flows.
    pub flows: Vec<(String, f64, f64)>,
    /// Jain's fairness index over all flows.
    pub jain: f64,
    /// Of each link whose queue was recorded: the median, packets.
    pub queues: Vec<(String, f64)>,
}

/// A run on the kernel and one in the simulator.
#[derive(Clone, Debug)]
pub struct Beside {
    /// On the kernel.
    pub kernel: Measured,
    /// In the simulator.
    pub simulated: Measured,
    /// Of the kernel's run.
    pub report: Report,
}

/// Runs `scenario` on both. `stop` as for [`crate::run()`].
///
/// # Errors
/// As [`crate::run()`].
pub fn beside(scenario: &Scenario, stop: &dyn Fn() -> bool) -> Result<Beside> {
    let plan = Plan::new(scenario);
    let (report, recorded) = record(scenario, &plan, stop)?;
    let kernel = measured(&plan, &recorded.flows, &recorded.samples);
    let mut kept = Kept::default();
    simulate(&plan, &plan.timetable(), 1, &mut kept, &mut |_| !stop()).map_err(|e| anyhow!("the simulation: {e}"))?;
    Ok(Beside { kernel, simulated: measured(&plan, &kept.flows, &kept.samples), report })
}

/// Keeps what a simulation records.
#[derive(Default)]
struct Kept {
    flows: Vec<FlowOutcome>,
    samples: Vec<Sample>,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }
    fn flow(&mut self, flow: FlowOutcome) {
        self.flows.push(flow);
    }
    fn job(&mut self, _: JobOutcome) {}
}

fn measured(plan: &Plan, flows: &[FlowOutcome], samples: &[Sample]) -> Measured {
    let goodput = |flow: &FlowOutcome| {
        let from = flow.planned.flow.start.max(plan.measure.warm_up);
        let until = flow.active_until.min(plan.measure.cut_off).min(flow.planned.flow.stop);
        (until > from).then(|| 8.0 * flow.measured_bytes as f64 / (until - from).secs())
    };
    let of_label = |(label, name): (usize, &String)| {
        let all: Vec<f64> = flows.iter().filter(|f| f.planned.label.index() == label).filter_map(goodput).collect();
        (!all.is_empty()).then(|| (name.clone(), all.iter().sum::<f64>() / all.len() as f64, jain(&all)))
    };
    let all: Vec<f64> = flows.iter().filter_map(goodput).collect();
    let links = LinkId::first(plan.fabric.links().len());
    let queue = |link: LinkId| {
        let lengths = samples.iter().filter_map(|sample| match sample.value {
            Value::Queue { link: of, packets, .. } if of == link && plan.measure.warm_up <= sample.at => Some(packets),
            _ => None,
        });
        Some((plan.fabric.link_name(link), median(lengths.collect())?))
    };
    Measured {
        flows: plan.labels.iter().enumerate().filter_map(of_label).collect(),
        jain: jain(&all),
        queues: links.filter_map(queue).collect(),
    }
}

/// Jain's fairness index: 1 if all are alike, 1/n if one has all (Jain et al., DEC-TR-301, 1984).
fn jain(all: &[f64]) -> f64 {
    let (sum, squares) = all.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares > 0.0 { sum * sum / (all.len() as f64 * squares) } else { f64::NAN }
}

fn median(mut all: Vec<u32>) -> Option<f64> {
    all.sort_unstable();
    let middle = all.len() / 2;
    match all.len() {
        0 => None,
        n if n % 2 == 1 => Some(all[middle].into()),
        _ => Some((f64::from(all[middle - 1]) + f64::from(all[middle])) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_and_the_median() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), 1.0);
        assert_eq!(jain(&[4.0, 0.0, 0.0, 0.0]), 0.25);
        assert!(jain(&[]).is_nan());
        assert_eq!(median(vec![3, 1, 2]), Some(2.0));
        assert_eq!(median(vec![4, 1, 2, 3]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    /// What a simulation gives is read as what it is: two flows that share a link.
    #[test]
    fn a_simulation_is_measured() {
        let text = "duration = \"200ms\"\nmeasure = { warm_up = \"50ms\" }\n[topology.many-to-one]\nsenders = 2\nrate = \"100Mbps\"\ndelay = \"50us\"\n\
            [queue]\nlimit = 40\nmark = 10\n[transport.tcp]\ncontrol = \"dctcp\"\n[[workload.many-to-one]]\nlabel = \"tcp\"\ntransport = \"tcp\"\nflows = 2\n\
            receiver = \"R\"\n[record]\nqueue = { links = [\"W->R\"], every = \"100us\" }\n";
        let plan = Plan::new(&linkpool_scenario::load(text, "test", None, &[]).unwrap());
        let mut kept = Kept::default();
        simulate(&plan, &plan.timetable(), 1, &mut kept, &mut |_| true).unwrap();
        let measured = measured(&plan, &kept.flows, &kept.samples);
        let [(label, goodput, fairness)] = &measured.flows[..] else { panic!("{measured:?}") };
        assert!(label == "tcp" && (45e6..47.1e6).contains(goodput) && *fairness > 0.9, "{measured:?}");
        assert!(measured.queues[0].0 == "W->R" && (3.0..15.0).contains(&measured.queues[0].1), "{measured:?}");
    }
}
