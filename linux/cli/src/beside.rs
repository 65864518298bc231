//! `linkpool-linux beside`: a scenario on this machine's network stack and in the simulator, side
//! by side.

use crate::run::Source;
use anyhow::Result;
use clap::Args;
use linkpool_linux_testbed::{Beside as Pair, Measured, beside};
use std::path::PathBuf;
use std::process::ExitCode;

/// Run a scenario on the network stack of this machine and in the simulator, and show how far they
/// agree.
#[derive(Debug, Args)]
pub(crate) struct Beside {
    #[command(flatten)]
    source: Source,
    /// How often, with the seeds that follow the scenario's.
    #[arg(long, default_value_t = 3)]
    repeat: u64,
    /// Write the results of both to `kernel` and `simulator` in this directory, below the number of
    /// the seed.
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

impl Beside {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let stop = crate::run::stop_on_signals()?;
        let first = self.source.scenario(None)?.seed;
        let mut pairs = Vec::new();
        for seed in first..first + self.repeat {
            let scenario = self.source.scenario(Some(seed))?;
            let out = self.out.as_ref().map(|out| out.join(seed.to_string()));
            let pair = beside(&scenario, out.as_deref(), &stop)?;
            let timing = &pair.report.timing;
            eprintln!(
                "seed {seed}: late {:.0} us (median), {:.0} us (99%); fabric busy {:.0}%",
                timing.late_median_us,
                timing.late_p99_us,
                100.0 * timing.busy
            );
            pair.report.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
            pairs.push(pair);
        }
        show(&pairs);
        Ok(ExitCode::SUCCESS)
    }
}

/// What is compared: a name, and its value in a run.
type Quantity = (String, Box<dyn Fn(&Measured) -> Option<f64>>);

fn show(pairs: &[Pair]) {
    let Some(first) = pairs.first() else { return };
    println!("| | kernel (least to most) | simulator (least to most) | kernel / simulator |");
    println!("|---|---|---|---|");
    for (name, value) in quantities(&first.simulated) {
        let of = |side: &dyn Fn(&Pair) -> Option<f64>| -> Vec<f64> { pairs.iter().filter_map(side).collect() };
        let kernel = of(&|pair| value(&pair.kernel));
        let simulated = of(&|pair| value(&pair.simulated));
        let ratio = mean(&kernel) / mean(&simulated);
        println!("| {name} | {} | {} | {ratio:.2} |", spread(&kernel), spread(&simulated));
    }
}

fn quantities(measured: &Measured) -> Vec<Quantity> {
    let mut all: Vec<Quantity> = Vec::new();
    for (i, (label, ..)) in measured.flows.iter().enumerate() {
        all.push((format!("{label}: goodput of a flow, Mbit/s"), Box::new(move |m| m.flows.get(i).map(|f| f.1 / 1e6))));
        all.push((format!("{label}: Jain's index"), Box::new(move |m| m.flows.get(i).map(|f| f.2))));
    }
    all.push(("all flows: Jain's index".into(), Box::new(|m| Some(m.jain))));
    for (i, (link, _)) in measured.queues.iter().enumerate() {
        all.push((format!("{link}: median of the queue, packets"), Box::new(move |m| m.queues.get(i).map(|q| q.1))));
    }
    all
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn spread(all: &[f64]) -> String {
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{:.2} ({least:.2} to {most:.2})", mean(all))
}
