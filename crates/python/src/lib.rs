//! The extension module `linkpool._core`; `python/linkpool/_core.pyi` documents it.
#![allow(missing_docs)] // the stub file has them

mod control;
mod errors;
mod scenario;
mod session;
mod worker;

use errors::{InternalError, ScenarioError, SimulationError};
use linkpool_transport::Family;
use linkpool_units::Time;
use mimalloc::MiMalloc;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use scenario::{Override, Scenario};
use std::collections::BTreeMap;
use worker::Worker;

/// The memory of large simulations is in huge pages where the system grants them
/// (`docs/engine.md`).
#[global_allocator]
static MEMORY: MiMalloc = MiMalloc;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    worker::keep_panics_quiet();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ISSUES", concat!(env!("CARGO_PKG_REPOSITORY"), "/issues"))?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("SimulationError", py.get_type::<SimulationError>())?;
    module.add("InternalError", py.get_type::<InternalError>())?;
    module.add_class::<Scenario>()?;
    module.add_class::<session::Session>()?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(seconds, module)?)?;
    module.add_function(wrap_pyfunction!(measure, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(families, module)?)?;
    module.add_function(wrap_pyfunction!(packet_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(tables, module)?)?;
    module.add_function(wrap_pyfunction!(check_table, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(control::control_layout, module)?)?;
    module.add_function(wrap_pyfunction!(control::define_control, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}

#[pyfunction]
fn schema() -> String {
    linkpool_scenario::schema()
}

#[pyfunction]
fn families() -> BTreeMap<&'static str, &'static str> {
    Family::ALL.iter().map(|family| (family.name(), family.title())).collect()
}

#[pyfunction]
fn packet_kinds() -> BTreeMap<&'static str, &'static str> {
    linkpool_sim::packet_kinds().into_iter().map(|(name, role)| (name, role.name())).collect()
}

type TableInfo = (&'static str, &'static str, Option<&'static str>, Vec<[&'static str; 4]>);

#[pyfunction]
fn tables() -> Vec<TableInfo> {
    let column = |c: &linkpool_sim::Column| [c.name, c.kind.name(), c.unit, c.meaning];
    let table = |t: linkpool_sim::TableInfo| (t.name, t.rows, t.lacking, t.columns.iter().map(column).collect());
    linkpool_sim::tables().into_iter().map(table).collect()
}

/// Checks whether a table can be read. The reader may panic where a file is damaged.
#[pyfunction]
fn check_table(py: Python<'_>, path: std::path::PathBuf) -> PyResult<u64> {
    let worker = Worker::start(move || linkpool_sim::check_table(&path).map_err(|why| why.to_string()))?;
    worker.wait(py, |_| Ok(()))?.and_then(std::convert::identity).map_err(PyValueError::new_err)
}

#[pyfunction]
#[pyo3(signature = (text, path, seed, overrides, run_code = false))]
fn load(
    py: Python<'_>,
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: Vec<Override>,
    run_code: bool,
) -> PyResult<Scenario> {
    Scenario::load(py, text, path, seed, overrides, run_code)
}

#[pyfunction]
fn check(py: Python<'_>, text: &str, path: &str, seed: Option<u64>, overrides: Vec<Override>) -> PyResult<String> {
    load(py, text, path, seed, overrides, false)?.toml(py)
}

#[pyfunction]
fn convert(py: Python<'_>, source: std::path::PathBuf, target: std::path::PathBuf) -> PyResult<()> {
    py.detach(|| linkpool_scenario::convert(&source, &target)).map_err(PyValueError::new_err)
}

#[pyfunction]
fn seconds(text: &str) -> PyResult<f64> {
    text.parse::<Time>().map(Time::secs).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
fn measure<'py>(py: Python<'py>, text: &str, path: &str, threads: u8) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
    load(py, text, path, None, Vec::new(), false)?.measure(py, threads)
}

#[pyfunction]
fn plan<'py>(
    py: Python<'py>,
    text: &str,
    path: &str,
    seed: Option<u64>,
    overrides: Vec<Override>,
) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
    load(py, text, path, seed, overrides, false)?.plan(py)
}
