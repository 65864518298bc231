//! `linkpool-linux daemon`: subflows by rule, suppression and release.

use anyhow::Result;
use clap::Args;
use linkpool_linux_control::daemon::{self, Config, Rule};
use linkpool_linux_control::namespace::Namespace;
use linkpool_units::counted;
use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Serve connections: open subflows by rule, suppress and release them when AMP says so. Runs until
/// SIGTERM or Ctrl-C.
#[derive(Debug, Args)]
pub(crate) struct Daemon {
    /// Subflows of each connection that this machine opens, 1 to 8.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    subflows: u8,
    /// Local addresses of the further subflows, in turns [default: that of the first].
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    local: Vec<IpAddr>,
    /// Local ports of the further subflows, in turns [default: the first's, with other lowest
    /// bits].
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    ports: Vec<u16>,
    /// Open them this many milliseconds after the first.
    #[arg(long, default_value_t = 0, value_name = "MS")]
    after_ms: u64,
    /// Open them once this many bytes were sent.
    #[arg(long, default_value_t = 0, value_name = "BYTES", conflicts_with = "after_ms")]
    after_bytes: u64,
    /// Serve these network namespaces, as `ip netns` names them [default: the one it runs in].
    #[arg(long, value_name = "NAMESPACE", value_delimiter = ',')]
    netns: Vec<String>,
}

impl Daemon {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let namespaces = match self.netns.as_slice() {
            [] => vec![Namespace::own()?],
            names => names.iter().map(|name| Namespace::named(name)).collect::<Result<_>>()?,
        };
        let rule = Rule {
            subflows: self.subflows,
            locals: self.local,
            ports: self.ports,
            after: Duration::from_millis(self.after_ms),
            after_bytes: self.after_bytes,
        };
        rule.check()?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
            signal_hook::flag::register(signal, stop.clone())?;
        }
        // A controller that is loaded later is not served: its name is missing here.
        let report =
            daemon::run(&Config { namespaces, rule }, &stop, |names| eprintln!("serving {}", names.join(", ")))?;
        eprintln!(
            "opened {}; set {}; {} failed; from event to effect: {}",
            counted(report.opened, "subflow"),
            counted(report.flags_set, "flag"),
            counted(report.failed, "command"),
            report.latency
        );
        if !report.real_time {
            eprintln!("it had no right to real-time priority (CAP_SYS_NICE): other work may have delayed it");
        }
        Ok(ExitCode::SUCCESS)
    }
}
