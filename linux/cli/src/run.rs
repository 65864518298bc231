//! `linkpool-linux run`: a scenario on the network stack of this machine.

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use linkpool_linux_testbed as testbed;
use linkpool_scenario::Scenario;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run a scenario on the network stack of this machine, in network namespaces.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    source: Source,
    /// Where the results go; by default beside the file, with `.linux` in place of its suffix.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Another seed than the scenario's.
    #[arg(long)]
    seed: Option<u64>,
    /// Whose switches are between the hosts.
    #[arg(long, value_enum, default_value_t)]
    switches: Switches,
    /// Only tell whether it can run here.
    #[arg(long)]
    check: bool,
}

/// Whose switches are between the hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Switches {
    /// The simulator's, run by the clock: they do all that a scenario can ask for.
    #[default]
    Simulator,
    /// The kernel's: namespaces that forward, with token buckets (tbf) before which eBPF marks.
    Kernel,
}

impl From<Switches> for testbed::Switches {
    fn from(switches: Switches) -> testbed::Switches {
        match switches {
            Switches::Simulator => testbed::Switches::Simulator,
            Switches::Kernel => testbed::Switches::Kernel,
        }
    }
}

/// The scenario to run.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// The scenario, a TOML file as the simulator takes it.
    file: PathBuf,
    /// Another value of a key, such as `topology.rate=100Mbps`.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let scenario = self.source.scenario(self.seed)?;
        testbed::check(&scenario, self.switches.into())?;
        if self.check {
            println!("{} can run here", self.source.file.display());
            return Ok(ExitCode::SUCCESS);
        }
        let out = self.out.clone().unwrap_or_else(|| self.source.file.with_extension("linux"));
        replaceable(&out)?;
        let stop = stop_on_signals()?;
        let report = testbed::run(&scenario, self.switches.into(), &out, &stop)?;
        for warning in &report.warnings {
            eprintln!("warning: {warning}");
        }
        println!(
            "{}: {:.3} s on {}, {} data packets; {}",
            out.display(),
            report.simulated_s,
            report.system,
            report.data_packets,
            report.timekeeping(),
        );
        if stop() {
            bail!("stopped before its end; {} holds the run so far", out.display());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Has a signal told to stop?
pub(crate) fn stop_on_signals() -> Result<impl Fn() -> bool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone()).context("cannot wait for signals")?;
    }
    Ok(move || stop.load(Ordering::Relaxed))
}

impl Source {
    /// Reads it, with `seed` in place of its own if given.
    pub(crate) fn scenario(&self, seed: Option<u64>) -> Result<Scenario> {
        let name = self.file.display().to_string();
        let text = std::fs::read_to_string(&self.file).with_context(|| format!("cannot read {name}"))?;
        linkpool_scenario::load(&text, &name, seed, &self.set).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            anyhow::anyhow!("{}", lines.join("\n"))
        })
    }
}

/// `KEY=VALUE`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.to_string(), value.to_string()))
}

/// Refuses to write into a directory that holds something else than a result.
fn replaceable(out: &Path) -> Result<()> {
    let Ok(mut entries) = std::fs::read_dir(out) else { return Ok(()) };
    if entries.next().is_some() && !out.join("run.json").is_file() {
        bail!("{} holds something else than a result; name another directory", out.display());
    }
    Ok(())
}
