//! The congestion control algorithms of a run: the kernel's own, or linkpool's, loaded for the run
//! with the scenario's parameters.

use anyhow::{Context as _, Result};
use linkpool_linux_control::algorithm::Algorithm;
use linkpool_linux_control::instance::{self, Instance};
use linkpool_linux_control::settings::Settings;
use std::path::Path;

/// Controllers of test beds are called this, the number of their process, and a letter: 15
/// characters at the most.
const PREFIX: &str = "lpt";

/// What runs the connections of a transport.
#[derive(Clone, Debug)]
pub(crate) enum Controller {
    /// An algorithm that the kernel has, by its name there.
    OfKernel(String),
    /// One of linkpool's.
    Load(Algorithm, Box<Settings>),
}

/// Controllers that are in the kernel for a run. They go with it.
#[derive(Debug)]
pub(crate) struct Controllers {
    loaded: Vec<Instance>,
    /// The kernel's names, in the order of the transports.
    pub(crate) names: Vec<String>,
}

impl Controllers {
    /// Has the kernel have `wanted`, and takes out of it what runs have left that were killed.
    pub(crate) fn load(wanted: &[Controller]) -> Result<Controllers> {
        let mut controllers = Controllers { loaded: Vec::new(), names: Vec::new() };
        if wanted.iter().any(|w| matches!(w, Controller::Load(..))) {
            remove_abandoned()?;
        }
        for (letter, wanted) in ('a'..).zip(wanted) {
            match wanted {
                Controller::OfKernel(name) => controllers.names.push(name.clone()),
                Controller::Load(algorithm, settings) => {
                    let name = format!("{PREFIX}{}{letter}", std::process::id());
                    let loaded = instance::load(algorithm, &name, settings);
                    controllers.loaded.push(loaded.with_context(|| format!("cannot load {}", algorithm.name))?);
                    controllers.names.push(name);
                }
            }
        }
        Ok(controllers)
    }
}

/// What a controller of linkpool has counted in a run, in the words of `linkpool-linux status`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ControllerSummary {
    /// Its algorithm.
    pub algorithm: &'static str,
    /// Events that found no room in the ring buffer.
    pub events_lost: u64,
    /// Windows that were below one packet or above the maximum, and set right.
    pub out_of_bounds: u64,
    /// Subflows that ran alone, as standard TCP.
    pub alone: u64,
    /// ACKs that delivered something.
    pub acks: u64,
    /// Changes of the kernel's state of which the program was not told.
    pub untold: u64,
}

impl Controllers {
    /// What those of linkpool have counted so far.
    pub(crate) fn summaries(&self) -> Result<Vec<ControllerSummary>> {
        let summary = |loaded: &Instance| {
            let [events_lost, _, out_of_bounds, alone, acks, untold] = loaded.counters()?;
            Ok(ControllerSummary { algorithm: loaded.algorithm.name, events_lost, out_of_bounds, alone, acks, untold })
        };
        self.loaded.iter().map(summary).collect()
    }

    /// The names of those that suppress subflows: AMP's, unless the scenario says otherwise.
    pub(crate) fn suppressing(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for loaded in &self.loaded {
            if loaded.algorithm.parameters.contains(&"suppression") && loaded.params()?.suppression != 0 {
                names.push(loaded.name.clone());
            }
        }
        Ok(names)
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        for loaded in self.loaded.drain(..) {
            let name = loaded.name.clone();
            if let Err(e) = loaded.unload() {
                eprintln!("cannot take {name} out of the kernel: {e:#}; linkpool-linux unload {name}");
            }
        }
    }
}

/// Unloads the controllers of test beds whose process is no more.
fn remove_abandoned() -> Result<()> {
    for found in instance::all()?.into_iter().filter(|found| !found.draining) {
        if owner(&found.name).is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            found.unload()?;
        }
    }
    Ok(())
}

/// The process of the run that a controller of this name is for.
fn owner(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(PREFIX)?;
    rest.strip_suffix(|c: char| c.is_ascii_lowercase())?.parse().ok()
}

/// Gives `settings` the parameter that the command line calls `name`; `value` as a scenario has it.
/// None: there is no such parameter.
pub(crate) fn set(settings: &mut Settings, name: &str, value: &toml_edit::Value) -> Option<()> {
    let number = || value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let whole = || u32::try_from(value.as_integer()?).ok();
    let text = || value.as_str().map(str::to_string);
    match name {
        "beta" => settings.beta = Some(number()?),
        "alpha0" => settings.alpha0 = Some(number()?),
        "g" => settings.g = Some(number()?),
        "cwnd-min" => settings.cwnd_min = Some(whole()?),
        "gamma" => settings.gamma = Some(whole()?),
        "tau" => settings.tau = Some(whole()?),
        "suppression" => settings.suppression = Some(value.as_bool()?),
        "release" => settings.release = Some(text()?),
        "ack-order" => settings.ack_order = Some(text()?),
        "ssthresh-after-cut" => settings.ssthresh_after_cut = Some(text()?),
        "ewtcp-increase" => settings.ewtcp_increase = Some(text()?),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_process() {
        assert_eq!(owner("lpt4194304b"), Some(4_194_304));
        assert_eq!(["lp_amp", "lptx", "lpt12", "cubic"].map(owner), [None; 4]);
        assert!(format!("{PREFIX}{}z", u32::pow(2, 22)).len() < 16);
    }
}
