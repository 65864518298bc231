//! `linkpool-linux fairness`: all controllers beside TCP at one bottleneck.

use anyhow::{Result, bail};
use clap::Args;
use linkpool_linux_testbed::{Rival, Shares, fairness};
use linkpool_units::Time;
use std::process::ExitCode;

/// Have a connection of each controller, with two subflows, share a link with two TCP flows, and
/// show what it gets of what one of these gets: 1 is a fair share.
#[derive(Debug, Args)]
pub(crate) struct Fairness {
    /// The TCP flows: cubic, cubic-ecn, reno, bbr; all if none is named.
    #[arg(value_parser = rival)]
    rivals: Vec<Rival>,
    /// How long each run is; its first sixth does not count.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(6..=600))]
    seconds: u64,
}

fn rival(name: &str) -> Result<Rival, String> {
    let names: Vec<&str> = Rival::ALL.iter().map(|r| r.name()).collect();
    let known = Rival::ALL.into_iter().find(|r| r.name() == name);
    known.ok_or_else(|| format!("one of {}", names.join(", ")))
}

impl Fairness {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let stop = crate::run::stop_on_signals()?;
        let rivals = if self.rivals.is_empty() { Rival::ALL.to_vec() } else { self.rivals };
        let mut all = Vec::new();
        for rival in rivals {
            let Some((shares, report)) = fairness(rival, Time::from_secs(self.seconds), &stop)? else {
                eprintln!("{}: skipped, for this kernel does not have it", rival.name());
                continue;
            };
            eprintln!("{}: {}", rival.name(), report.timekeeping());
            report.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
            all.push((rival, shares));
            if stop() {
                bail!("stopped before its end");
            }
        }
        show(&all);
        Ok(ExitCode::SUCCESS)
    }
}

fn show(all: &[(Rival, Vec<Shares>)]) {
    let Some((_, first)) = all.first() else { return };
    let names: Vec<String> = all.iter().map(|(rival, _)| format!(" {} |", rival.name())).collect();
    println!("| |{}", names.concat());
    println!("|---|{}", "---|".repeat(all.len()));
    for (i, lane) in first.iter().enumerate() {
        let cell = |(_, shares): &(Rival, Vec<Shares>)| match shares[i].simulated {
            Some(simulated) => format!(" {:.2} ({simulated:.2}) |", shares[i].kernel),
            None => format!(" {:.2} |", shares[i].kernel),
        };
        println!("| {} |{}", lane.name, all.iter().map(cell).collect::<String>());
    }
}
