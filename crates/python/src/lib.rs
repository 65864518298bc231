//! The extension module `linkpool._core`; `python/linkpool/_core.pyi` documents it.
#![allow(missing_docs)] // the stub file has them

use linkpool_scenario::{Scenario, ScenarioError as Complaint};
use linkpool_sim::{Plan, Progress, RunError, run_to_directory};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::time::{Duration, Instant};

create_exception!(linkpool._core, ScenarioError, PyValueError, "A scenario that cannot be run; `errors` says why.");

/// Between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(worthwhile_threads, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}

#[pyfunction]
fn schema() -> String {
    linkpool_scenario::schema()
}

#[pyfunction]
fn check(
    py: Python<'_>,
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: Vec<(String, String)>,
) -> PyResult<String> {
    Ok(load(py, text, path, seed, &overrides)?.to_toml())
}

#[pyfunction]
#[pyo3(signature = (text, path, out_dir, seed, overrides, progress, threads = Some(1)))]
#[allow(clippy::too_many_arguments)] // Python names them
fn run<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    out_dir: PathBuf,
    seed: Option<u64>,
    overrides: Vec<(String, String)>,
    progress: Option<Py<PyAny>>,
    threads: Option<u8>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = load(py, text, path, seed, &overrides)?;
    let mut interrupted = None;
    let result = py.detach(|| {
        let mut next = Instant::now() + REPORT;
        run_to_directory(&scenario, &out_dir, threads, &mut |at| {
            if Instant::now() < next {
                return true;
            }
            next = Instant::now() + REPORT;
            Python::attach(|py| report(py, progress.as_ref(), at)).map_err(|e| interrupted = Some(e)).is_ok()
        })
    });
    if let Some(error) = interrupted {
        return Err(error);
    }
    let info = result.map_err(|e| match e {
        RunError::Write(..) => PyOSError::new_err(e.to_string()),
        RunError::Stopped => PyKeyboardInterrupt::new_err(()),
        impossible => PyRuntimeError::new_err(impossible.to_string()),
    })?;
    let dict = PyDict::new(py);
    dict.set_item("version", info.version)?;
    dict.set_item("threads", info.threads)?;
    dict.set_item("wall_s", info.wall_s)?;
    dict.set_item("packet_hops", info.packet_hops)?;
    dict.set_item("data_packets", info.data_packets)?;
    dict.set_item("simulated_s", info.simulated_s)?;
    dict.set_item("stray_packets", info.stray_packets)?;
    Ok(dict)
}

#[pyfunction]
fn worthwhile_threads(
    py: Python<'_>,
    text: &str,
    path: &str,
    overrides: Vec<(String, String)>,
    cores: usize,
) -> PyResult<(usize, u8)> {
    let hosts = load(py, text, path, None, &overrides)?.topology.fabric().hosts();
    Ok((hosts, linkpool_sim::worthwhile_threads(hosts, cores)))
}

#[pyfunction]
fn measure<'py>(py: Python<'py>, text: &str, path: &str, threads: u8) -> PyResult<Bound<'py, PyDict>> {
    let scenario = load(py, text, path, None, &[])?;
    let m =
        py.detach(|| linkpool_sim::measure(&scenario, threads)).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    let dict = PyDict::new(py);
    dict.set_item("hops", m.hops)?;
    dict.set_item("data_packets", m.data_packets)?;
    dict.set_item("user_s", m.user_s)?;
    dict.set_item("wall_s", m.wall_s)?;
    dict.set_item("setup_s", m.setup_s)?;
    dict.set_item("goodput_over_line_rate", m.goodput_over_line_rate)?;
    dict.set_item("simulated_s", m.simulated_s)?;
    Ok(dict)
}

#[pyfunction]
fn plan<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = load(py, text, path, seed, &overrides)?;
    let plan = py.detach(|| Plan::new(&scenario));
    let fabric = &plan.fabric;
    let nodes: Vec<_> = (0..fabric.nodes() as u32).map(|n| (fabric.name(n), fabric.layer(n).name())).collect();
    let links: Vec<_> = fabric.links().iter().map(|l| (l.from, l.to, l.rate.0, l.delay.secs())).collect();
    let flows: Vec<_> =
        plan.flows.iter().map(|f| (f.flow.src, f.flow.dst, f.flow.size, f.flow.start.secs(), f.transport)).collect();
    let transports: Vec<_> = plan.transports.iter().map(|t| (t.name.as_str(), t.config.mss, t.sizes.header)).collect();
    let dict = PyDict::new(py);
    dict.set_item("nodes", nodes)?;
    dict.set_item("hosts", fabric.hosts())?;
    dict.set_item("hosts_forward", fabric.hosts_forward())?;
    dict.set_item("links", links)?;
    dict.set_item("flows", flows)?;
    dict.set_item("transports", transports)?;
    Ok(dict)
}

/// Calls back; an exception there, a signal (Ctrl-C), or a returned False ends the run.
fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, at: Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        let answer = progress.call1(py, (at.now.secs(), at.end.secs(), at.hops))?;
        if matches!(answer.extract::<bool>(py), Ok(false)) {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
    }
    Ok(())
}

fn load(
    py: Python<'_>,
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: &[(String, String)],
) -> PyResult<Scenario> {
    linkpool_scenario::load(text, path, seed, overrides).map_err(|complaints| {
        let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
        let error = ScenarioError::new_err(lines.join("\n"));
        let errors: Vec<_> = complaints.into_iter().map(|c| (c.file, c.line, c.key, c.message)).collect();
        match error.value(py).setattr("errors", errors) {
            Ok(()) => error,
            Err(e) => e,
        }
    })
}
