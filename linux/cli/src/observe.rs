//! `linkpool-linux observe`: the rounds of all subflows as a time series.

use anyhow::Result;
use clap::Args;
use linkpool_linux_control::instance;
use linkpool_linux_control::observe;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Write each round of each subflow to DIR/cwnd.parquet, with the columns of the simulator's series
/// of that name.
#[derive(Debug, Args)]
pub(crate) struct Observe {
    /// The controller's name in the kernel, such as lp_amp.
    name: String,
    /// Where to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// So long, or until Ctrl-C.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    seconds: u64,
}

impl Observe {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
            signal_hook::flag::register(signal, stop.clone())?;
        }
        let seen = observe::observe(&instance::find(&self.name)?, &self.out, Duration::from_secs(self.seconds), &stop)?;
        println!("{} rounds of {} connections, {} lost", seen.rounds, seen.flows, seen.lost);
        Ok(ExitCode::SUCCESS)
    }
}
