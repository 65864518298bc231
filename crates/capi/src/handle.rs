//! A session as a handle: one call at a time, no panic beyond it, and a text for each error.
#![allow(non_camel_case_types, reason = "these are the names in C")]

use crate::types::{Wrong, linkpool_status};
use linkpool_scenario::load;
use linkpool_sim::{Options, Progress, React, Session, SessionError};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

/// Threads of one simulation at the most.
const MOST_THREADS: u32 = 64;

/// A run that a program drives.
#[derive(Debug)]
pub struct linkpool_session {
    session: Mutex<Option<Going>>,
    /// The reason for the last error.
    text: Mutex<String>,
    /// A callback has stopped the run, or could not.
    pub(crate) stopped: Arc<Stopped>,
}

/// Why a callback has stopped a run.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    stopped: AtomicBool,
    wrong: Mutex<Option<Wrong>>,
}

impl Stopped {
    pub(crate) fn stop(&self, wrong: Wrong) {
        self.wrong.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(wrong);
        self.stopped.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    fn take(&self) -> Option<Wrong> {
        self.wrong.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}

struct Going(Session);

impl std::fmt::Debug for Going {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a session at {}", self.0.now())
    }
}

/// What to open.
pub(crate) struct Opened {
    pub(crate) scenario: PathBuf,
    pub(crate) set: Vec<String>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) threads: u32,
}

impl linkpool_session {
    /// One that is closed.
    pub(crate) fn new() -> linkpool_session {
        linkpool_session { session: Mutex::default(), text: Mutex::default(), stopped: Arc::default() }
    }

    /// Opens it.
    pub(crate) fn open(&self, opened: Opened, react: Option<Arc<React>>) -> linkpool_status {
        let session = caught(|| open(opened, react));
        self.answer(session.map(|session| {
            *self.session.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(Going(session));
        }))
    }

    /// Does `act` with the session.
    pub(crate) fn with(&self, act: impl FnOnce(&mut Session) -> Result<(), Wrong>) -> linkpool_status {
        let mut guard = match self.session.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return linkpool_status::Busy,
        };
        let Some(Going(session)) = guard.as_mut() else { return linkpool_status::Closed };
        let done = caught(|| act(session));
        match &done {
            // Nobody knows in what state it is.
            Err(Wrong(linkpool_status::Panic, _)) => std::mem::forget(guard.take()),
            Err(Wrong(linkpool_status::Run | linkpool_status::Write | linkpool_status::Stopped, _)) => {
                drop(guard.take());
            }
            _ => {}
        }
        drop(guard);
        self.answer(done)
    }

    /// Lets time pass by `act`, unless a callback stops it.
    pub(crate) fn pass<T>(
        &self,
        act: impl FnOnce(&mut Session, &mut dyn FnMut(Progress) -> bool) -> Result<T, SessionError>,
        mut put: impl FnMut(T) -> Result<(), Wrong>,
    ) -> linkpool_status {
        self.with(|session| {
            let passed = act(session, &mut |_| !self.stopped.is_stopped());
            match self.stopped.take() {
                Some(wrong) => Err(wrong),
                None => put(passed?),
            }
        })
    }

    /// Ends the run, and writes its results if there is a directory.
    pub(crate) fn close(&self) -> linkpool_status {
        let going = match self.session.try_lock() {
            Ok(mut guard) => guard.take(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().take(),
            Err(TryLockError::WouldBlock) => return linkpool_status::Busy,
        };
        let Some(Going(session)) = going else { return linkpool_status::Closed };
        self.answer(caught(|| session.close().map(drop).map_err(Wrong::from)))
    }

    /// Is no call going on?
    pub(crate) fn is_free(&self) -> bool {
        !matches!(self.session.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// The reason for the last error.
    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    pub(crate) fn answer(&self, done: Result<(), Wrong>) -> linkpool_status {
        let Err(Wrong(status, text)) = done else { return linkpool_status::Ok };
        *self.text.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = text;
        status
    }
}

fn open(opened: Opened, react: Option<Arc<React>>) -> Result<Session, Wrong> {
    let Opened { scenario: path, set, directory, threads } = opened;
    let scenario = |why: String| Wrong(linkpool_status::Scenario, why);
    let name = path.display().to_string();
    if threads > MOST_THREADS {
        return Err(Wrong::argument(format!("threads: {threads} are more than {MOST_THREADS}")));
    }
    let overrides = set.iter().map(|set| set.split_once('=').map(|(key, value)| (key.into(), value.into())));
    let overrides: Option<Vec<(String, String)>> = overrides.collect();
    let overrides = overrides.ok_or_else(|| Wrong::argument("set: each is KEY=VALUE"))?;
    if directory.as_deref().is_some_and(is_taken) {
        let directory = directory.unwrap_or_default();
        return Err(Wrong::argument(format!("directory: {} is there, and not empty", directory.display())));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| scenario(format!("{name}: {error}")))?;
    let loaded = load(&text, &name, None, &overrides)
        .map_err(|errors| scenario(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    let threads = Some(threads.max(1) as u8);
    Ok(Session::open(Arc::new(loaded), Options { threads, directory, react })?)
}

/// Is there something that results would be mixed with?
fn is_taken(directory: &Path) -> bool {
    directory.exists() && std::fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_some())
}

/// What `act` returns; a panic is an error.
pub(crate) fn caught<T>(act: impl FnOnce() -> Result<T, Wrong>) -> Result<T, Wrong> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| Err(Wrong(linkpool_status::Panic, said(&*panic))))
}

fn said(panic: &(dyn Any + std::marker::Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("this is a bug in linkpool {}: {}", env!("CARGO_PKG_VERSION"), text.unwrap_or("a panic without a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads/session.toml");

    fn opened() -> Opened {
        Opened { scenario: SCENARIO.into(), set: Vec::new(), directory: None, threads: 0 }
    }

    #[test]
    fn a_panic_is_an_error_and_closes_the_session() {
        let handle = linkpool_session::new();
        assert_eq!(handle.open(opened(), None), linkpool_status::Ok);
        assert_eq!(handle.with(|_| panic!("this {}", "one")), linkpool_status::Panic);
        assert!(handle.text().starts_with("this is a bug in linkpool") && handle.text().ends_with(": this one"));
        assert_eq!(handle.with(|_| Ok(())), linkpool_status::Closed);
        assert_eq!(handle.close(), linkpool_status::Closed);
        assert!(caught(|| -> Result<(), Wrong> { panic!("plain") }).unwrap_err().1.ends_with("plain"));
    }

    #[test]
    fn a_call_within_a_call_is_answered_at_once() {
        let handle = linkpool_session::new();
        assert_eq!(handle.open(opened(), None), linkpool_status::Ok);
        let mut inner = Vec::new();
        let outer = handle.with(|_| {
            inner = vec![handle.with(|_| Ok(())), handle.close()];
            assert!(!handle.is_free());
            Ok(())
        });
        assert_eq!((outer, inner), (linkpool_status::Ok, vec![linkpool_status::Busy; 2]));
        assert!(handle.is_free());
        assert_eq!(handle.close(), linkpool_status::Ok);
    }

    #[test]
    fn what_stops_a_run_closes_it_and_is_said() {
        let handle = linkpool_session::new();
        assert_eq!(handle.open(opened(), None), linkpool_status::Ok);
        handle.stopped.stop(Wrong(linkpool_status::Stopped, "first".into()));
        handle.stopped.stop(Wrong(linkpool_status::Panic, "second".into()));
        assert_eq!(handle.pass(|session, go| session.drain(go), |_| Ok(())), linkpool_status::Stopped);
        assert_eq!((handle.text().as_str(), handle.close()), ("first", linkpool_status::Closed));
    }

    #[test]
    fn what_cannot_be_opened_is_said() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("file"), "x").unwrap();
        let taken = directory.path().to_path_buf();
        let file = taken.join("file");
        for (opened, status, why) in [
            (Opened { threads: 65, ..opened() }, linkpool_status::Argument, "threads: 65 are more than 64"),
            (Opened { set: vec!["seed".into()], ..opened() }, linkpool_status::Argument, "set: each is KEY=VALUE"),
            (Opened { directory: Some(taken), ..opened() }, linkpool_status::Argument, "not empty"),
            (Opened { directory: Some(file), ..opened() }, linkpool_status::Argument, "not empty"),
            (Opened { scenario: "no such file".into(), ..opened() }, linkpool_status::Scenario, "no such file: "),
            (Opened { set: vec!["duration=soon".into()], ..opened() }, linkpool_status::Scenario, "duration"),
            (Opened { set: vec!["until.flows=1".into()], ..opened() }, linkpool_status::Scenario, "until"),
        ] {
            let handle = linkpool_session::new();
            let got = handle.open(opened, None);
            assert!(got == status && handle.text().contains(why), "{got:?}: {}", handle.text());
            assert_eq!(handle.with(|_| Ok(())), linkpool_status::Closed);
        }
        let set = vec!["duration=2s".to_string(), "drain=0s".to_string()];
        let handle = linkpool_session::new();
        assert_eq!(handle.open(Opened { set, threads: 64, ..opened() }, None), linkpool_status::Ok);
        let mut end = 0;
        let read = handle.with(|session| {
            end = session.end().0;
            Ok(())
        });
        assert_eq!((read, end), (linkpool_status::Ok, 2_000_000_000_000));
    }
}
