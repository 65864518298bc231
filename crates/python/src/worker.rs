//! Work on a thread of its own, while the calling thread listens to signals: Ctrl-C is heard at
//! once, whatever the work is at.

use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// Between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);

/// Parsers of nested text need more than the 2 MiB of a thread.
const STACK: usize = 64 << 20;

/// The message of the first thread that has panicked, until it is read.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics become exceptions, and are not printed to standard error.
pub(crate) fn keep_panics_quiet() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        std::panic::set_hook(Box::new(|info| {
            let message = payload_text(info.payload());
            let place = info.location().map_or(String::new(), |at| format!(" ({}:{})", at.file(), at.line()));
            let mut last = PANIC.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            last.get_or_insert_with(|| format!("{message}{place}"));
        }));
    });
}

/// The message of the first thread that has panicked since this was asked last.
pub(crate) fn last_panic() -> String {
    let mut last = PANIC.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    last.take().unwrap_or_else(|| "a panic".to_string())
}

/// Work that goes on.
pub(crate) struct Worker<T>(Mutex<Receiver<Result<T, String>>>);

impl<T: Send + 'static> Worker<T> {
    /// Begins `work`.
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> PyResult<Worker<T>> {
        let (tell, told) = channel();
        let run = move || {
            let done = catch_unwind(AssertUnwindSafe(work)).map_err(|_| last_panic());
            // After an interrupt nobody receives.
            let _ = tell.send(done);
        };
        std::thread::Builder::new().stack_size(STACK).spawn(run)?;
        Ok(Worker(Mutex::new(told)))
    }

    /// Waits for the end: returns the result of the work, or the message of its panic. Meanwhile
    /// `attend` is called regularly; its error, or that of a signal, ends the wait, but not the
    /// work.
    pub(crate) fn wait(
        &self,
        py: Python<'_>,
        mut attend: impl FnMut(Python<'_>) -> PyResult<()>,
    ) -> PyResult<Result<T, String>> {
        loop {
            if let Some(done) = self.wait_for(py, LOOK) {
                return Ok(done);
            }
            py.check_signals()?;
            attend(py)?;
        }
    }

    /// The same for a limited time; `None`: it goes on.
    pub(crate) fn wait_for(&self, py: Python<'_>, time: Duration) -> Option<Result<T, String>> {
        let told = py.detach(|| self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv_timeout(time));
        match told {
            Ok(done) => Some(done),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err("a thread ended without a word".to_string())),
        }
    }
}

/// The message of a panic, which is a text unless somebody panics with another value.
fn payload_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}
