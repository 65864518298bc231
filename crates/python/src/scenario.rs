//! A scenario that was read and checked once, and all that can be done with it.

use crate::control::{Numba, Unasked};
use crate::errors::{internal_error, run_error, scenario_error};
use crate::worker::Worker;
use linkpool_scenario::{Compile, Headroom, NamedFile};
use linkpool_sim::{Estimate, FlowId, PerfettoError, Plan, Progress, Traced, run_to_directory};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A dotted key, and its new value.
pub(crate) type Override = (String, String);

/// Layers from and to, bit/s, seconds, links, bytes needed, bytes there.
type HeadroomRow = (&'static str, &'static str, u64, f64, u64, u64, u64, bool);

/// Between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// The longest time that an interrupted run may take to close its files.
const GRACE: Duration = Duration::from_millis(200);

#[pyclass(frozen, module = "linkpool._core")]
pub(crate) struct Scenario {
    scenario: Arc<linkpool_scenario::Scenario>,
}

impl Scenario {
    pub(crate) fn load(
        py: Python<'_>,
        text: &str,
        path: &str,
        seed: Option<u64>,
        overrides: Vec<Override>,
        run_code: bool,
    ) -> PyResult<Scenario> {
        let (own_text, own_path, own_overrides) = (text.to_string(), path.to_string(), overrides.clone());
        let worker = Worker::start(move || {
            let compile: &dyn Compile = if run_code { &Numba } else { &Unasked };
            linkpool_scenario::load_with(&own_text, &own_path, seed, &own_overrides, compile)
        })?;
        match worker.wait(py, |_| Ok(()))? {
            Ok(Ok(scenario)) => Ok(Scenario { scenario: Arc::new(scenario) }),
            Ok(Err(complaints)) => Err(scenario_error(py, complaints)),
            Err(panic) => {
                let options: String = overrides.iter().map(|(key, value)| format!("# --set {key}={value}\n")).collect();
                let seed = seed.map_or(String::new(), |seed| format!("# --seed {seed}\n"));
                Err(internal_error(&panic, &format!("# {path}\n{seed}{options}{text}")))
            }
        }
    }

    pub(crate) fn shared(&self) -> Arc<linkpool_scenario::Scenario> {
        self.scenario.clone()
    }

    /// Does `work`, without anything to report.
    fn compute<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&linkpool_scenario::Scenario) -> T + Send + 'static,
    ) -> PyResult<T> {
        let scenario = self.scenario.clone();
        let worker = Worker::start(move || work(&scenario))?;
        worker.wait(py, |_| Ok(()))?.map_err(|panic| internal_error(&panic, &self.scenario.to_toml()))
    }
}

#[pymethods]
impl Scenario {
    #[getter]
    pub(crate) fn toml(&self, py: Python<'_>) -> PyResult<String> {
        self.compute(py, linkpool_scenario::Scenario::to_toml)
    }

    /// What determines the run, as a text.
    fn identity(&self, py: Python<'_>) -> PyResult<String> {
        self.compute(py, linkpool_scenario::Scenario::identity)
    }

    /// The files that `toml` names: of each the key, what stands there, and the paths that are
    /// read.
    fn files(&self) -> Vec<(String, String, Vec<String>)> {
        self.scenario.files().into_iter().map(|NamedFile { key, name, parts }| (key, name, parts)).collect()
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration.secs()
    }

    #[getter]
    pub(crate) fn hosts(&self) -> usize {
        self.scenario.topology.hosts()
    }

    fn threads(&self, threads: u8) -> u8 {
        self.scenario.record.threads(threads)
    }

    pub(crate) fn worthwhile_threads(&self, py: Python<'_>, cores: usize) -> PyResult<u8> {
        self.compute(py, move |scenario| linkpool_sim::worthwhile_threads(scenario, cores))
    }

    fn estimate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Estimate { memory, disk } = self.compute(py, Estimate::new)?;
        let dict = PyDict::new(py);
        dict.set_item("memory", memory)?;
        dict.set_item("disk", disk)?;
        Ok(dict)
    }

    fn expected_hops(&self, py: Python<'_>) -> PyResult<f64> {
        self.compute(py, linkpool_sim::expected_hops)
    }

    fn offered_loads(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, &'static str, f64, f64)>> {
        let loads = self.compute(py, |scenario| linkpool_sim::offered_loads(scenario, &scenario.topology.fabric()))?;
        Ok(loads.into_iter().map(|load| (load.from, load.to, load.load, load.busiest)).collect())
    }

    /// Of links to switches whose ports pause, kind by kind.
    fn headrooms(&self, py: Python<'_>) -> PyResult<Vec<HeadroomRow>> {
        let rows = self.compute(py, linkpool_scenario::headrooms)?;
        let row = |h: Headroom| {
            (h.from.name(), h.to.name(), h.rate.0, h.delay.secs(), h.links, h.needed, h.headroom, h.lapses)
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// Of layers of switches whose ports pause: the layer, the buffer, and what is set aside of it.
    fn pause_buffers(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64, u64)>> {
        let rows = self.compute(py, linkpool_scenario::buffers)?;
        Ok(rows.into_iter().map(|of| (of.layer.name(), of.buffer, of.set_aside)).collect())
    }

    #[pyo3(signature = (out_dir, progress = None, threads = Some(1)))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        out_dir: PathBuf,
        progress: Option<Py<PyAny>>,
        threads: Option<u8>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = self.scenario.clone();
        let (stop, state) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let (stopped, reported) = (stop.clone(), state.clone());
        let worker = Worker::start(move || {
            let mut next = Instant::now();
            run_to_directory(&scenario, &out_dir, threads, &mut |at| {
                if Instant::now() >= next {
                    next = Instant::now() + REPORT;
                    *reported.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(at);
                }
                !stopped.load(Ordering::Relaxed)
            })
        })?;
        let attend = |py: Python<'_>| {
            let news = state.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            news.map_or(Ok(()), |at| report(py, progress.as_ref(), at))
        };
        let ended = worker.wait(py, attend).inspect_err(|_| {
            stop.store(true, Ordering::Relaxed);
            // Files that are still written when the directory is removed are lost, and not needed.
            worker.wait_for(py, GRACE);
        })?;
        let ended = ended.map_err(|panic| internal_error(&panic, &self.scenario.to_toml()))?;
        let info = ended.map_err(|error| run_error(&error))?;
        let dict = PyDict::new(py);
        dict.set_item("version", info.version)?;
        dict.set_item("threads", info.threads)?;
        dict.set_item("wall_s", info.wall_s)?;
        dict.set_item("cpu_s", info.cpu_s)?;
        dict.set_item("packet_hops", info.packet_hops)?;
        dict.set_item("data_packets", info.data_packets)?;
        dict.set_item("simulated_s", info.simulated_s)?;
        dict.set_item("stray_packets", info.stray_packets)?;
        Ok(dict)
    }

    /// Simulates it until `flows` have ended, each with the number of its connection, and returns
    /// what happened to them as JSON.
    fn trace(&self, py: Python<'_>, flows: Vec<(u32, u32)>) -> PyResult<String> {
        let scenario = self.scenario.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let worker = Worker::start(move || {
            let flows: Vec<_> = flows.into_iter().map(traced).collect();
            linkpool_sim::trace(&scenario, &flows, &mut |_| !stopped.load(Ordering::Relaxed))
                .map(|rows| linkpool_sim::to_json(&rows))
        })?;
        let ended = worker.wait(py, |_| Ok(())).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        let ended = ended.map_err(|panic| internal_error(&panic, &self.scenario.to_toml()))?;
        ended.map_err(|error| run_error(&error))
    }

    /// Simulates it until `flows` have ended, each with the number of its connection, and writes
    /// what happened to them for Perfetto.
    /// Returns of each flow that started its number, and when it began and ended.
    fn perfetto(
        &self,
        py: Python<'_>,
        flows: Vec<(u32, u32)>,
        path: PathBuf,
    ) -> PyResult<Vec<(u32, u64, Option<u64>)>> {
        let scenario = self.scenario.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let worker = Worker::start(move || {
            let flows: Vec<_> = flows.into_iter().map(traced).collect();
            linkpool_sim::perfetto(&scenario, &flows, &path, &mut |_| !stopped.load(Ordering::Relaxed))
        })?;
        let ended = worker.wait(py, |_| Ok(())).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        let ended = ended.map_err(|panic| internal_error(&panic, &self.scenario.to_toml()))?;
        let lifetimes = ended.map_err(|error| match error {
            PerfettoError::Run(error) => run_error(&error),
            PerfettoError::Write(path, error) => PyOSError::new_err((error.raw_os_error(), error.to_string(), path)),
        })?;
        Ok(lifetimes.into_iter().map(|of| (of.flow.into(), of.opened, of.finished)).collect())
    }

    pub(crate) fn measure<'py>(&self, py: Python<'py>, threads: u8) -> PyResult<Bound<'py, PyDict>> {
        let m = self.compute(py, move |scenario| linkpool_sim::measure(scenario, threads))?;
        let m = m.map_err(|error| run_error(&error))?;
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

    pub(crate) fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let plan = self.compute(py, Plan::new)?;
        let fabric = &plan.fabric;
        let nodes: Vec<_> = fabric.node_ids().map(|n| (fabric.name(n), fabric.layer(n).name())).collect();
        let links: Vec<_> =
            fabric.links().iter().map(|l| (l.from.index(), l.to.index(), l.rate.0, l.delay.secs())).collect();
        let flow = |f: linkpool_sim::PlannedFlow| {
            (f.flow.src.index(), f.flow.dst.index(), f.flow.size, f.flow.start.secs(), f.transport.index())
        };
        let flows: Vec<_> = plan.flows.iter().map(flow).collect();
        let transports: Vec<_> =
            plan.transports.iter().map(|t| (t.name.as_str(), t.config.mss, t.sizes.header)).collect();
        let dict = PyDict::new(py);
        dict.set_item("nodes", nodes)?;
        dict.set_item("hosts", fabric.hosts())?;
        let hosts = fabric.node_ids().take(fabric.hosts());
        let forwarding: Vec<_> = hosts.filter(|host| fabric.forwards(*host)).map(|host| host.index()).collect();
        dict.set_item("forwarding", forwarding)?;
        let place = |node: usize| fabric.servers().map(|servers| servers.place(node));
        let servers: Vec<_> = (0..fabric.nodes()).map(|node| place(node)?.server()).collect();
        let rails: Vec<_> = (0..fabric.hosts()).map(|host| place(host)?.rail()).collect();
        let is_inner = |node: &usize| place(*node).is_some_and(|place| place.is_inner());
        let inner: Vec<_> = (0..fabric.nodes()).filter(is_inner).collect();
        dict.set_item("servers", servers)?;
        dict.set_item("inner", inner)?;
        dict.set_item("rails", rails)?;
        dict.set_item("by_rail", fabric.servers().is_some_and(|servers| servers.relays()))?;
        dict.set_item("links", links)?;
        dict.set_item("flows", flows)?;
        dict.set_item("transports", transports)?;
        Ok(dict)
    }
}

/// A flow to trace, with the number of its connection.
fn traced((flow, connection): (u32, u32)) -> Traced {
    Traced { flow: FlowId::from(flow), connection: FlowId::from(connection) }
}

/// Calls back; an exception there, or a returned False, ends the run.
fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, at: Progress) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let answer = progress.call1(py, (at.now.secs(), at.end.secs(), at.hops))?;
    match answer.extract::<bool>(py) {
        Ok(false) => Err(PyKeyboardInterrupt::new_err(())),
        _ => Ok(()),
    }
}
