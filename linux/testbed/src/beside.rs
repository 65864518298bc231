//! The simulator beside the kernel: one scenario on both, and how far they agree.

use crate::conditions::Conditions;
use crate::fabric::Switches;
use crate::run::{Report, check, record, write};
use anyhow::{Result, anyhow};
use linkpool_network::LinkId;
use linkpool_scenario::Scenario;
use linkpool_sim::{
    FlowOutcome, JobOutcome, LabelId, Plan, PlannedFlow, Sample, Sink, TransportId, Value, run_to_directory, simulate,
};
use std::collections::BTreeMap;
use std::path::Path;

/// What one run of a scenario came to, in the measured period.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// By label of its flows, and by their paths where flows of a label have paths of their own:
    /// mean goodput of a flow, bit/s, and Jain's fairness index over the flows.
    pub flows: Vec<(String, f64, f64)>,
    /// Jain's fairness index over all flows.
    pub jain: f64,
    /// Of each link whose queue was recorded: the median, packets.
    pub queues: Vec<(String, f64)>,
}

/// A run on the kernel.
#[derive(Clone, Debug)]
pub struct OnKernel {
    /// What it came to.
    pub measured: Measured,
    /// How it went, and over whose switches.
    pub report: Report,
}

/// Runs on the kernel and one in the simulator.
#[derive(Clone, Debug)]
pub struct Beside {
    /// On the kernel, over one kind of switches after the other.
    pub kernel: Vec<OnKernel>,
    /// In the simulator.
    pub simulated: Measured,
}

/// Runs `scenario` on the kernel, over each kind of `switches`, and in the simulator. Writes the
/// results to `kernel`, `kernel-switches` and `simulator` in `directory` if that is given. `stop`
/// as for [`crate::run()`].
///
/// # Errors
/// As [`crate::run()`].
pub fn beside(
    scenario: &Scenario,
    switches: &[Switches],
    directory: Option<&Path>,
    stop: &dyn Fn() -> bool,
) -> Result<Beside> {
    let plan = Plan::new(scenario);
    switches.iter().try_for_each(|switches| check(scenario, *switches))?;
    let on_kernel = |switches: &Switches| {
        let (report, recorded) = record(scenario, &plan, &Conditions::over(*switches), stop)?;
        let measured = measured(&plan, &recorded.flows, &recorded.samples);
        if let Some(directory) = directory {
            let name = if *switches == Switches::Kernel { "kernel-switches" } else { "kernel" };
            write(&directory.join(name), (scenario, &plan), &report, recorded)?;
        }
        Ok(OnKernel { measured, report })
    };
    let kernel = switches.iter().map(on_kernel).collect::<Result<_>>()?;
    if let Some(directory) = directory {
        // The same simulation as below: it is cheap beside the run on the kernel.
        run_to_directory(scenario, &directory.join("simulator"), Some(1), &mut |_| !stop())
            .map_err(|e| anyhow!("the simulation: {e}"))?;
    }
    Ok(Beside { kernel, simulated: simulated(&plan, stop)? })
}

/// What a simulation comes to.
pub(crate) fn simulated(plan: &Plan, stop: &dyn Fn() -> bool) -> Result<Measured> {
    let mut kept = Kept::default();
    simulate(plan, &plan.timetable(), 1, &mut kept, &mut |_| !stop()).map_err(|e| anyhow!("the simulation: {e}"))?;
    Ok(measured(plan, &kept.flows, &kept.samples))
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

/// Of flows and samples of a run.
pub(crate) fn measured(plan: &Plan, flows: &[FlowOutcome], samples: &[Sample]) -> Measured {
    let goodput = |flow: &FlowOutcome| {
        let from = flow.planned.flow.start.max(plan.measure.warm_up);
        let until = flow.active_until.min(plan.measure.cut_off).min(flow.planned.flow.stop);
        (until > from).then(|| 8.0 * flow.measured_bytes as f64 / (until - from).secs())
    };
    let mut groups: BTreeMap<(LabelId, TransportId), (PlannedFlow, Vec<f64>)> = BTreeMap::new();
    for flow in flows {
        let group = groups.entry((flow.planned.label, flow.planned.transport));
        let (_, goodputs) = group.or_insert_with(|| (flow.planned, Vec::new()));
        goodputs.extend(goodput(flow));
    }
    let of_group = |(key, (flow, all)): (&(LabelId, TransportId), &(PlannedFlow, Vec<f64>))| {
        let of_label = || groups.keys().filter(|(label, _)| *label == key.0);
        let name = group_name(plan, flow, (of_label().filter(|other| *other <= key).count(), of_label().count()));
        (!all.is_empty()).then(|| (name, all.iter().sum::<f64>() / all.len() as f64, jain(all)))
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
        flows: groups.iter().filter_map(of_group).collect(),
        jain: jain(&all),
        queues: links.filter_map(queue).collect(),
    }
}

/// The label of a group of flows; with its number and its hosts if the label has several groups.
fn group_name(plan: &Plan, flow: &PlannedFlow, (number, of): (usize, usize)) -> String {
    let label = &plan.labels[flow.label.index()];
    let [from, to] = [flow.flow.src, flow.flow.dst].map(|host| plan.fabric.name(host.into()));
    if of > 1 { format!("{label} {number} ({from} to {to})") } else { label.clone() }
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
        let measured = simulated(&plan, &|| false).unwrap();
        let [(label, goodput, fairness)] = &measured.flows[..] else { panic!("{measured:?}") };
        assert!(label == "tcp" && (45e6..47.1e6).contains(goodput) && *fairness > 0.9, "{measured:?}");
        assert!(measured.queues[0].0 == "W->R" && (3.0..15.0).contains(&measured.queues[0].1), "{measured:?}");
    }
}
