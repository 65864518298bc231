//! `linkpool-linux soak`: all controllers in trouble, beside stock MPTCP.

use anyhow::{Result, bail};
use clap::Args;
use linkpool_linux_testbed::{Soaked, Trouble, soak};
use linkpool_units::{Time, counted};
use std::process::ExitCode;

/// Have connections of all controllers send through loss, reordering, dead paths, subflows that
/// come and go, and short memory, beside stock MPTCP. Exits with 1 if one stalls that would not
/// there, a window leaves its bounds, or the kernel complains.
#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// Which trouble; all if none is named.
    #[arg(value_parser = trouble)]
    troubles: Vec<Trouble>,
    /// How long each lasts.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u64).range(40..=480))]
    seconds: u64,
}

fn trouble(name: &str) -> Result<Trouble, String> {
    let names: Vec<&str> = Trouble::ALL.iter().map(|t| t.name()).collect();
    let known = Trouble::ALL.into_iter().find(|t| t.name() == name);
    known.ok_or_else(|| format!("one of {}", names.join(", ")))
}

impl Soak {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let stop = crate::run::stop_on_signals()?;
        let troubles = if self.troubles.is_empty() { Trouble::ALL.to_vec() } else { self.troubles };
        let mut all = Vec::new();
        for trouble in troubles {
            match soak(trouble, Time::from_secs(self.seconds), &stop)? {
                Some(soaked) => {
                    tell(&soaked);
                    all.push(soaked);
                }
                None => eprintln!(
                    "{}: skipped, for this machine has no control groups that limit the memory of sockets (memory controller, version 1)",
                    trouble.name()
                ),
            }
            if stop() {
                bail!("stopped before its end");
            }
        }
        show(&all);
        let faults: Vec<String> = all.iter().flat_map(Soaked::faults).collect();
        faults.iter().for_each(|fault| eprintln!("fault: {fault}"));
        Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// How the run went.
fn tell(soaked: &Soaked) {
    let out_of_bounds: u64 = soaked.controllers.iter().map(|c| c.out_of_bounds).sum();
    let acks: u64 = soaked.report.controllers.iter().map(|c| c.acks).sum();
    eprintln!(
        "{}: {:.0} s; {}; {} opened again; {acks} ACKs, {} out of bounds; {} of the kernel",
        soaked.trouble.name(),
        soaked.report.simulated_s,
        soaked.report.timekeeping(),
        counted(soaked.reopened, "subflow"),
        counted(out_of_bounds, "window"),
        counted(soaked.complaints.len(), "complaint"),
    );
    soaked.report.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
}

/// Goodput of a connection, Mbit/s, and the longest pause, s, by controller and trouble.
fn show(all: &[Soaked]) {
    let Some(first) = all.first() else { return };
    let names: Vec<String> = all.iter().map(|s| format!(" {} |", s.trouble.name())).collect();
    println!("| |{}", names.concat());
    println!("|---|{}", "---|".repeat(all.len()));
    for (i, controller) in first.controllers.iter().enumerate() {
        let cell =
            |s: &Soaked| format!(" {:.2}, {:.2} s |", s.controllers[i].goodput / 1e6, s.controllers[i].longest_pause);
        println!("| {} |{}", controller.name, all.iter().map(cell).collect::<String>());
    }
}
