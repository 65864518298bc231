//! `linkpool-linux load`, `set` and `unload`: controllers in the kernel.

use crate::parameters::Parameters;
use anyhow::{Context, Result};
use clap::Args;
use linkpool_linux_control::algorithm::{ALL, Algorithm};
use linkpool_linux_control::namespace::Namespace;
use linkpool_linux_control::{instance, settings};
use std::process::ExitCode;

/// Load an algorithm into the kernel, where it stays until it is unloaded.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// amp, xmp, dcm, mptcp-cut, dctcp, lia, olia, balia, ewtcp or uncoupled.
    algorithm: String,
    /// What the kernel is to call it [default: lp_ and the algorithm's name].
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    parameters: Parameters,
}

impl Load {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let known = || ALL.iter().map(|a| a.name).collect::<Vec<_>>().join(", ");
        let algorithm = Algorithm::named(&self.algorithm)
            .with_context(|| format!("no algorithm {}: {}", self.algorithm, known()))?;
        let name = self.name.unwrap_or_else(|| algorithm.kernel_name());
        let loaded = instance::load(&algorithm, &name, &self.parameters.into())?;
        println!("{} is loaded: {}", loaded.name, algorithm.about);
        println!("use it: linkpool-linux enable {}", loaded.name);
        Ok(ExitCode::SUCCESS)
    }
}

/// Change parameters of a loaded controller; they hold from the next ACK on.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// Its name in the kernel, such as lp_amp.
    name: String,
    #[command(flatten)]
    parameters: Parameters,
}

impl Set {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let loaded = instance::find(&self.name)?;
        let params = loaded.set(&self.parameters.into())?;
        println!("{}: {}", loaded.name, settings::describe(&loaded.algorithm, &params));
        Ok(ExitCode::SUCCESS)
    }
}

/// Take a controller out of the kernel; connections that use it go on with it to their end.
#[derive(Debug, Args)]
pub(crate) struct Unload {
    /// Its name in the kernel, such as lp_amp.
    #[arg(required_unless_present = "all")]
    name: Option<String>,
    /// All controllers of linkpool.
    #[arg(long, conflicts_with = "name")]
    all: bool,
}

impl Unload {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let chosen = match &self.name {
            Some(name) => vec![instance::find(name)?],
            None => instance::all()?.into_iter().filter(|i| !i.draining).collect(),
        };
        for one in chosen {
            let name = one.name.clone();
            one.unload()?;
            println!("{name} is unloaded");
            let users = Namespace::that_use(&name);
            if !users.is_empty() {
                println!("new connections still use it in these network namespaces: {}", users.join(", "));
                println!("choose another one there: linkpool-linux enable reno --netns NAMESPACE");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
