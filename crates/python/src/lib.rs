//! The extension module `linkpool._core`; `python/linkpool/_core.pyi` documents it.
#![allow(missing_docs)] // the stub file has them

mod control;
mod errors;
mod scenario;
mod session;
mod worker;

use errors::{InternalError, ScenarioError, SimulationError};
use linkpool_sim::TableCells;
use linkpool_transport::Family;
use linkpool_units::Time;
use mimalloc::MiMalloc;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scenario::{Override, Scenario};
use std::collections::BTreeMap;
use std::path::PathBuf;
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
    module.add_function(wrap_pyfunction!(table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(read_columns, module)?)?;
    module.add_function(wrap_pyfunction!(read_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(summarise, module)?)?;
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
fn check_table(py: Python<'_>, path: PathBuf) -> PyResult<u64> {
    read(py, move || linkpool_sim::check_table(&path).map_err(|why| why.to_string()))
}

/// Reads something of a table, or of some.
fn read<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> Result<T, String> + Send + 'static) -> PyResult<T> {
    Worker::start(work)?.wait(py, |_| Ok(()))?.and_then(std::convert::identity).map_err(PyValueError::new_err)
}

#[pyfunction]
fn table_columns(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(String, Option<&'static str>)>> {
    read(py, move || linkpool_sim::table_columns(&path).map_err(|why| why.to_string()))
}

#[pyfunction]
fn read_columns<'py>(py: Python<'py>, path: PathBuf, names: Vec<String>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let columns = read(py, move || linkpool_sim::read_columns(&path, &names).map_err(|why| why.to_string()))?;
    let list = |cells| match cells {
        TableCells::Integers(values) => values.into_bound_py_any(py),
        TableCells::Numbers(values) => values.into_bound_py_any(py),
        TableCells::Flags(values) => values.into_bound_py_any(py),
        TableCells::Texts(values) => values.into_bound_py_any(py),
    };
    columns.into_iter().map(list).collect()
}

#[pyfunction]
fn read_numbers<'py>(py: Python<'py>, path: PathBuf, names: Vec<String>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let columns = read(py, move || linkpool_sim::read_numbers(&path, &names).map_err(|why| why.to_string()))?;
    let bytes = |column: Vec<f64>| {
        PyBytes::new_with(py, 8 * column.len(), |bytes| {
            bytes.as_chunks_mut().0.iter_mut().zip(column).for_each(|(eight, value)| *eight = value.to_ne_bytes());
            Ok(())
        })
    };
    columns.into_iter().map(bytes).collect()
}

#[pyfunction]
fn summarise(py: Python<'_>, directory: PathBuf, period: (f64, f64), end_s: f64) -> PyResult<String> {
    read(py, move || linkpool_sim::summarise(&directory, period, end_s))
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
fn convert(py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<()> {
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
