//! The exceptions that Python sees.

use linkpool_scenario::ScenarioError as Complaint;
use linkpool_sim::RunError;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

create_exception!(linkpool._core, ScenarioError, PyValueError, "A scenario that cannot be run; `errors` says why.");
create_exception!(linkpool._core, SimulationError, PyRuntimeError, "A run that could not go on.");
create_exception!(linkpool._core, InternalError, PyRuntimeError, "A bug in linkpool.");

/// All that is wrong with a scenario, as one exception.
pub(crate) fn scenario_error(py: Python<'_>, complaints: Vec<Complaint>) -> PyErr {
    let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    let error = ScenarioError::new_err(lines.join("\n"));
    let errors: Vec<_> = complaints.into_iter().map(|c| (c.file, c.line, c.key, c.message)).collect();
    match error.value(py).setattr("errors", errors) {
        Ok(()) => error,
        Err(e) => e,
    }
}

/// Why a run has no result.
pub(crate) fn run_error(error: &RunError) -> PyErr {
    match error {
        RunError::Write(..) => PyOSError::new_err(error.to_string()),
        RunError::Stopped => PyKeyboardInterrupt::new_err(()),
        RunError::Paths(_)
        | RunError::Control { .. }
        | RunError::Connections { .. }
        | RunError::Deadlock { .. }
        | RunError::FlowNumbers { .. }
        | RunError::Undriven => SimulationError::new_err(error.to_string()),
    }
}

/// A bug: `what` describes it, and `repeat` is a scenario file that reproduces it.
pub(crate) fn internal_error(what: &str, repeat: &str) -> PyErr {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("linkpool-bug-{}-{}.toml", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let file = std::env::temp_dir().join(name);
    let with = match std::fs::write(&file, repeat) {
        Ok(()) => format!("{}, which holds the scenario and its seed", file.display()),
        Err(_) => "the scenario and its seed".to_string(),
    };
    let issues = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");
    let version = env!("CARGO_PKG_VERSION");
    InternalError::new_err(format!(
        "this is a bug in linkpool {version}: {what}; please report it at {issues} with {with}"
    ))
}
