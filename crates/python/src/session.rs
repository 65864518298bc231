//! A run that a program in Python drives.

use crate::errors::{SimulationError, internal_error, run_error};
use crate::scenario::Scenario;
use linkpool_sim::{Event, Happened, Here, Options, Progress, Send, SendError, SessionError, Timer};
use linkpool_units::{HostId, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);

/// An event: when, what, and the message or timer: its number, sender, receiver, size, tag, and
/// when it was due.
type Told = (u64, u8, u32, u32, u32, u64, u64, u64);

/// A message: its sender, receiver, size, tag, when it is due, and its channel.
type Sent = (u32, u32, u64, u64, u64, u32);

/// What a program sends in answer to an event: the receiver, size, tag, when it is due, and the
/// channel. Without a channel it is a timer.
type Answer = (u32, u64, u64, u64, Option<u32>);

/// A run that a program drives. Its Python face is `linkpool.Session`.
#[pyclass(frozen, module = "linkpool._core")]
pub(crate) struct Session {
    session: Mutex<Option<linkpool_sim::Session>>,
    scenario: Arc<linkpool_scenario::Scenario>,
    /// The first exception in an answer to an event.
    raised: Arc<Mutex<Option<PyErr>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn told(event: Event) -> Told {
    let Event { at, what, message } = event;
    let what = match what {
        Happened::Delivered => 0,
        Happened::Acked => 1,
        Happened::GivenUp => 2,
        Happened::Timer => 3,
    };
    let [from, to] = [message.from, message.to].map(|host| host.index() as u32);
    (at.0, what, message.id.into(), from, to, message.bytes, message.tag, message.at.0)
}

fn message((from, to, bytes, tag, at, channel): Sent) -> Send {
    Send { from: HostId::from(from), to: HostId::from(to), bytes, tag, at: Time(at), channel: channel as usize }
}

fn send_error(error: &SendError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn session_error(error: SessionError) -> PyErr {
    match error {
        SessionError::Run(error) => run_error(&error),
        SessionError::Until | SessionError::Undriven => SimulationError::new_err(error.to_string()),
        SessionError::Past { .. } | SessionError::End { .. } => PyValueError::new_err(error.to_string()),
    }
}

/// Asks `react` for the answers to `event`, and sends them.
fn answer(react: &Py<PyAny>, event: &Event, here: &mut Here<'_>) -> PyResult<()> {
    let answers: Option<Vec<Answer>> = Python::attach(|py| react.call1(py, (told(*event),))?.extract(py))?;
    let from = here.host().index() as u32;
    for (to, bytes, tag, at, channel) in answers.unwrap_or_default() {
        match channel {
            Some(channel) => here.send(message((from, to, bytes, tag, at, channel))).map(drop),
            None => here.set_timer(Timer { host: HostId::from(to), tag, at: Time(at) }),
        }
        .map_err(|error| send_error(&error))?;
    }
    Ok(())
}

impl Session {
    /// Does `act` with the session, without the interpreter's lock.
    fn with<T: std::marker::Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut linkpool_sim::Session) -> T + std::marker::Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut guard = lock(&self.session);
            let session = guard.as_mut()?;
            let done = catch_unwind(AssertUnwindSafe(|| act(session)));
            if done.is_err() {
                // Nobody knows in what state it is.
                std::mem::forget(guard.take());
            }
            Some(done)
        });
        match done {
            None => Err(PyValueError::new_err("the session is closed")),
            Some(Ok(done)) => Ok(done),
            Some(Err(_)) => Err(internal_error(&crate::worker::last_panic(), &self.scenario.to_toml())),
        }
    }

    /// Lets time pass by `act`; signals are heard meanwhile. A run that has failed cannot go on.
    fn pass<T: std::marker::Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut linkpool_sim::Session, &mut dyn FnMut(Progress) -> bool) -> Result<T, SessionError>
        + std::marker::Send,
    ) -> PyResult<T> {
        let raised = &self.raised;
        let mut next = Instant::now() + LOOK;
        let mut look = move |_: Progress| {
            if Instant::now() >= next {
                next = Instant::now() + LOOK;
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    lock(raised).get_or_insert(signal);
                }
            }
            lock(raised).is_none()
        };
        let done = self.with(py, |session| act(session, &mut look))?;
        let raised = lock(raised).take();
        if raised.is_some() || matches!(done, Err(SessionError::Run(_))) {
            py.detach(|| drop(lock(&self.session).take()));
        }
        raised.map_or_else(|| done.map_err(session_error), Err)
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (scenario, directory, threads, react))]
    fn open(
        py: Python<'_>,
        scenario: &Scenario,
        directory: Option<PathBuf>,
        threads: Option<u8>,
        react: Option<Py<PyAny>>,
    ) -> PyResult<Session> {
        let scenario = scenario.shared();
        let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
        let react = react.map(|react| -> Arc<linkpool_sim::React> {
            let raised = raised.clone();
            Arc::new(move |event: &Event, here: &mut Here<'_>| {
                if let Err(error) = answer(&react, event, here) {
                    lock(&raised).get_or_insert(error);
                }
            })
        });
        let session = py.detach(|| {
            catch_unwind(AssertUnwindSafe(|| {
                linkpool_sim::Session::open(scenario.clone(), Options { threads, directory, react })
            }))
        });
        match session {
            Ok(session) => {
                let session = Mutex::new(Some(session.map_err(session_error)?));
                Ok(Session { session, scenario, raised })
            }
            Err(_) => Err(internal_error(&crate::worker::last_panic(), &scenario.to_toml())),
        }
    }

    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| session.now().0)
    }

    #[getter]
    fn end(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| session.end().0)
    }

    #[getter]
    fn lookahead(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| session.lookahead().0)
    }

    #[getter]
    fn hosts(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |session| HostId::first(session.hosts()).map(|host| session.name(host)).collect())
    }

    #[getter]
    fn channels(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |session| session.channels().map(str::to_string).collect())
    }

    #[getter]
    fn open_messages(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| session.open_messages())
    }

    /// Sends messages, all or none before the first that cannot be sent; returns their numbers.
    fn send(&self, py: Python<'_>, messages: Vec<Sent>) -> PyResult<Vec<u32>> {
        let sent: Result<Vec<u32>, SendError> = self.with(py, |session| {
            messages.into_iter().map(|sent| session.send(message(sent)).map(u32::from)).collect()
        })?;
        sent.map_err(|error| send_error(&error))
    }

    #[getter]
    fn open_timers(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| session.open_timers())
    }

    /// Sets timers, each of a host, a tag and a time, all or none before the first that cannot be.
    fn set_timers(&self, py: Python<'_>, timers: Vec<(u32, u64, u64)>) -> PyResult<()> {
        let set: Result<(), SendError> = self.with(py, |session| {
            let timer = |(host, tag, at)| Timer { host: HostId::from(host), tag, at: Time(at) };
            timers.into_iter().map(timer).try_for_each(|timer| session.set_timer(timer))
        })?;
        set.map_err(|error| send_error(&error))
    }

    fn advance_to(&self, py: Python<'_>, to: u64) -> PyResult<()> {
        self.pass(py, |session, look| session.advance_to(Time(to), look))
    }

    fn step(&self, py: Python<'_>, to: u64) -> PyResult<bool> {
        self.pass(py, |session, look| session.step(Time(to), look))
    }

    fn drain(&self, py: Python<'_>) -> PyResult<bool> {
        self.pass(py, |session, look| session.drain(look))
    }

    fn poll(&self, py: Python<'_>) -> PyResult<Option<Told>> {
        self.with(py, |session| session.poll().map(told))
    }

    fn events(&self, py: Python<'_>) -> PyResult<Vec<Told>> {
        self.with(py, |session| session.events().into_iter().map(told).collect())
    }

    /// Ends the run. With `keep` the results are written, if there is a directory. Returns whether
    /// it had not ended.
    fn close(&self, py: Python<'_>, keep: bool) -> PyResult<bool> {
        let Some(session) = py.detach(|| lock(&self.session).take()) else { return Ok(false) };
        if !keep {
            py.detach(|| drop(session));
            return Ok(true);
        }
        match py.detach(|| catch_unwind(AssertUnwindSafe(|| session.close()))) {
            Ok(closed) => closed.map(|_| true).map_err(session_error),
            Err(_) => Err(internal_error(&crate::worker::last_panic(), &self.scenario.to_toml())),
        }
    }
}
