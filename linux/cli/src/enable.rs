//! `linkpool-linux enable`: which connections use a controller.

use anyhow::{Result, ensure};
use clap::Args;
use linkpool_linux_control::namespace::{DEFAULT, Namespace};
use linkpool_linux_control::{cgroup, instance};
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a controller the default of new connections in a network namespace, or of the processes of
/// a cgroup.
#[derive(Debug, Args)]
pub(crate) struct Enable {
    /// Its name in the kernel, such as lp_amp, or one that the kernel has: `enable cubic` undoes
    /// it.
    #[arg(required_unless_present = "off")]
    name: Option<String>,
    /// The network namespace, as `ip netns` names it [default: the one it runs in].
    #[arg(long, value_name = "NAMESPACE")]
    netns: Option<String>,
    /// For the processes of this cgroup alone: its directory, such as /sys/fs/cgroup/system.slice.
    #[arg(long, value_name = "DIR", conflicts_with = "netns")]
    cgroup: Option<PathBuf>,
    /// Take back what was chosen for the cgroup.
    #[arg(long, requires = "cgroup", conflicts_with = "name")]
    off: bool,
}

impl Enable {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Some(name) = &self.name else { return self.clear() };
        let namespace = self.netns.as_deref().map_or_else(Namespace::own, Namespace::named)?;
        let available = namespace.setting("net/ipv4/tcp_available_congestion_control")?.unwrap_or_default();
        ensure!(
            available.split_whitespace().any(|known| known == name),
            "no controller {name}: the kernel has {available}; load one by `linkpool-linux load`"
        );
        if let Some(directory) = &self.cgroup {
            let needs_ecn = instance::find(name).is_ok_and(|i| i.algorithm.needs_ecn) || name == "dctcp";
            cgroup::choose(directory, name, needs_ecn)?;
            println!("new connections of {} use {name}", directory.display());
            return Ok(ExitCode::SUCCESS);
        }
        let before = namespace.setting(DEFAULT)?.unwrap_or_default();
        namespace.set(DEFAULT, name)?;
        if namespace.setting("net/mptcp/enabled")?.as_deref() == Some("0") {
            namespace.set("net/mptcp/enabled", "1")?;
        }
        println!("new connections use {name} (before: {before})");
        Ok(ExitCode::SUCCESS)
    }

    fn clear(&self) -> Result<ExitCode> {
        if let Some(directory) = &self.cgroup {
            let chosen = cgroup::clear(directory)?;
            let before = if chosen { "" } else { " (nothing was chosen)" };
            println!("new connections of {} use the default of their namespace{before}", directory.display());
        }
        Ok(ExitCode::SUCCESS)
    }
}
