//! `linkpool-linux beside`: a scenario on this machine's network stack and in the simulator, side
//! by side.

use crate::run::{Source, Switches};
use anyhow::Result;
use clap::Args;
use linkpool_linux_testbed::{self as testbed, Beside as Runs, Measured, OnKernel, beside};
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
    /// Whose switches are between the hosts on the kernel; `simulator,kernel` shows both.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Switches::default()])]
    switches: Vec<Switches>,
    /// Write the results to `kernel` (over the simulator's switches), `kernel-switches` and
    /// `simulator` in this directory, below the number of the seed.
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

impl Beside {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let stop = crate::run::stop_on_signals()?;
        let first = self.source.scenario(None)?.seed;
        let switches: Vec<testbed::Switches> = self.switches.iter().map(|s| (*s).into()).collect();
        let mut all = Vec::new();
        for seed in first..first + self.repeat {
            let scenario = self.source.scenario(Some(seed))?;
            let out = self.out.as_ref().map(|out| out.join(seed.to_string()));
            let runs = beside(&scenario, &switches, out.as_deref(), &stop)?;
            for OnKernel { report, .. } in &runs.kernel {
                eprintln!("seed {seed}: {}", report.timekeeping());
                report.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
            }
            all.push(runs);
        }
        show(&all);
        Ok(ExitCode::SUCCESS)
    }
}

/// What is compared: a name, and its value in a run.
type Quantity = (String, Box<dyn Fn(&Measured) -> Option<f64>>);

fn show(all: &[Runs]) {
    let Some(first) = all.first() else { return };
    let names: Vec<&str> = first.kernel.iter().map(|run| name(run.report.switches)).collect();
    let columns: String = names.iter().map(|name| format!(" {name} (least to most) |")).collect();
    let ratios: String = names.iter().map(|name| format!(" {name} / simulator |")).collect();
    println!("| |{columns} simulator (least to most) |{ratios}");
    println!("|---|{}", "---|".repeat(2 * names.len() + 1));
    for (quantity, value) in quantities(&first.simulated) {
        let simulated: Vec<f64> = all.iter().filter_map(|runs| value(&runs.simulated)).collect();
        let kernel = |i: usize| all.iter().filter_map(|runs| value(&runs.kernel[i].measured)).collect::<Vec<f64>>();
        let on_kernel: Vec<Vec<f64>> = (0..names.len()).map(kernel).collect();
        let columns: String = on_kernel.iter().map(|values| format!(" {} |", spread(values))).collect();
        let ratio = |values: &Vec<f64>| format!(" {:.2} |", mean(values) / mean(&simulated));
        println!("| {quantity} |{columns} {} |{}", spread(&simulated), on_kernel.iter().map(ratio).collect::<String>());
    }
}

/// The column of runs over these switches.
fn name(switches: testbed::Switches) -> &'static str {
    match switches {
        testbed::Switches::Simulator => "kernel",
        testbed::Switches::Kernel => "kernel's switches",
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
