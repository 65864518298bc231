//! From the text of a file to a checked scenario.

use crate::compile::{Compile, NoCompiler};
use crate::errors::{Report, ScenarioError};
use crate::model::Scenario;
use crate::resolve::resolve;
use crate::tree::{apply, apply_seed, parse};

/// Reads the scenario `text` of the file `path`, with `seed` in place of its own if given, and with
/// `overrides` of single values: dotted paths and the new values, as TOML or, if they are not TOML,
/// as strings.
///
/// # Errors
///
/// All errors that can be found at once, each with its remedy.
pub fn load(
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: &[(String, String)],
) -> Result<Scenario, Vec<ScenarioError>> {
    load_with(text, path, seed, overrides, &NoCompiler)
}

/// The same, with a compiler of the algorithms that the scenario brings.
///
/// # Errors
///
/// As [`load`].
pub fn load_with(
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: &[(String, String)],
    compile: &dyn Compile,
) -> Result<Scenario, Vec<ScenarioError>> {
    let mut root = match parse(text) {
        Ok(root) => root,
        Err((line, message)) => {
            return Err(vec![ScenarioError { file: path.to_string(), line, key: String::new(), message }]);
        }
    };
    let mut misled = Vec::new();
    let mut note = |key: &str, option: String, outcome: Result<(), String>| {
        if let Err(why) = outcome {
            let message = format!("{why} (from {option})");
            misled.push(ScenarioError { file: path.to_string(), line: None, key: key.to_string(), message });
        }
    };
    for (key, value) in overrides {
        note(key, format!("--set {key}={value}"), apply(&mut root, key, value));
    }
    if let Some(seed) = seed {
        note("seed", format!("--seed {seed}"), apply_seed(&mut root, seed));
    }
    let mut report = Report::new(path, root, misled);
    let title = std::path::Path::new(path).file_stem().map_or(path.into(), |stem| stem.to_string_lossy());
    let scenario = resolve(&title, compile, &mut report);
    report.finish(Some(scenario))
}
