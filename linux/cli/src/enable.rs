//! `linkpool-linux enable`: which connections use a controller.

use anyhow::{Result, ensure};
use clap::Args;
use linkpool_linux_control::namespace::Namespace;
use std::process::ExitCode;

/// Make a controller the default of new connections in a network namespace.
#[derive(Debug, Args)]
pub(crate) struct Enable {
    /// Its name in the kernel, such as lp_amp, or one that the kernel has: `enable cubic` undoes it.
    name: String,
    /// The network namespace, as `ip netns` names it [default: the one it runs in].
    #[arg(long, value_name = "NAMESPACE")]
    netns: Option<String>,
}

impl Enable {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let namespace = self.netns.as_deref().map_or_else(Namespace::own, Namespace::named)?;
        let available = namespace.setting("net/ipv4/tcp_available_congestion_control")?.unwrap_or_default();
        ensure!(
            available.split_whitespace().any(|name| name == self.name),
            "no controller {}: the kernel has {available}; load one by `linkpool-linux load`",
            self.name
        );
        let before = namespace.setting("net/ipv4/tcp_congestion_control")?.unwrap_or_default();
        namespace.set("net/ipv4/tcp_congestion_control", &self.name)?;
        if namespace.setting("net/mptcp/enabled")?.as_deref() == Some("0") {
            namespace.set("net/mptcp/enabled", "1")?;
        }
        println!("new connections use {} (before: {before})", self.name);
        Ok(ExitCode::SUCCESS)
    }
}
