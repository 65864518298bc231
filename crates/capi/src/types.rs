//! What crosses the boundary by value, and why a call fails.
#![allow(non_camel_case_types, reason = "these are the names in C")]

use linkpool_sim::{Event, Happened, RunError, SendError, SessionError};
use linkpool_units::HostId;
use std::ffi::{c_char, c_int, c_void};

/// How a call has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum linkpool_status {
    /// As asked.
    Ok = 0,
    /// A pointer is null, or not aligned, that must lead somewhere.
    Null = 1,
    /// An argument is not allowed: no such host, a time that is past, a text that is not UTF-8.
    Argument = 2,
    /// The session is in use: by another thread, or by the call that has called back.
    Busy = 3,
    /// The session is closed, or has failed before.
    Closed = 4,
    /// The scenario cannot be read, or no program can drive it.
    Scenario = 5,
    /// The run cannot go on. The session is closed, and has no result.
    Run = 6,
    /// A file cannot be written. The session is closed, and has no result.
    Write = 7,
    /// A callback has stopped the run. The session is closed, and has no result.
    Stopped = 8,
    /// A bug in linkpool. The session is closed, and has no result.
    Panic = 9,
}

impl linkpool_status {
    /// What it means, ending with the NUL that C needs.
    pub(crate) fn meaning(code: c_int) -> &'static std::ffi::CStr {
        match code {
            0 => c"ok",
            1 => c"a pointer is null or not aligned",
            2 => c"an argument is not allowed",
            3 => c"the session is in use",
            4 => c"the session is closed",
            5 => c"the scenario cannot run",
            6 => c"the run cannot go on",
            7 => c"a file cannot be written",
            8 => c"a callback has stopped the run",
            9 => c"a bug in linkpool",
            _ => c"no status of linkpool",
        }
    }
}

/// A status other than ok, and its reason.
#[derive(Clone, Debug)]
pub(crate) struct Wrong(pub(crate) linkpool_status, pub(crate) String);

impl Wrong {
    pub(crate) fn argument(why: impl Into<String>) -> Wrong {
        Wrong(linkpool_status::Argument, why.into())
    }
}

impl From<SendError> for Wrong {
    fn from(error: SendError) -> Wrong {
        Wrong::argument(error.to_string())
    }
}

impl From<SessionError> for Wrong {
    fn from(error: SessionError) -> Wrong {
        let status = match &error {
            SessionError::Until | SessionError::Undriven => linkpool_status::Scenario,
            SessionError::Past { .. } | SessionError::End { .. } => linkpool_status::Argument,
            SessionError::Run(RunError::Write(..)) => linkpool_status::Write,
            SessionError::Run(RunError::Stopped) => linkpool_status::Stopped,
            SessionError::Run(_) => linkpool_status::Run,
        };
        Wrong(status, error.to_string())
    }
}

/// What happens to a message, in the order in which it does; or to a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum linkpool_happened {
    /// All bytes of the message have arrived at the destination, in order.
    Delivered = 0,
    /// The source knows that all bytes have arrived.
    Acked = 1,
    /// The source has given up.
    GivenUp = 2,
    /// The timer is due at its host, the destination.
    Timer = 3,
}

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct linkpool_event {
    /// When.
    pub at_ps: u64,
    /// The size of the message; 0 of a timer.
    pub bytes: u64,
    /// What the program has given with the message or the timer.
    pub tag: u64,
    /// From when on the source had the message; when the timer was due.
    pub sent_ps: u64,
    /// What.
    pub what: linkpool_happened,
    /// The number of the message, which is that of its flow in the results.
    pub message: u32,
    /// The host that has sent the message, or set the timer.
    pub source: u32,
    /// The host that gets it.
    pub destination: u32,
}

impl From<&Event> for linkpool_event {
    fn from(event: &Event) -> linkpool_event {
        let Event { at, what, message } = event;
        let what = match what {
            Happened::Delivered => linkpool_happened::Delivered,
            Happened::Acked => linkpool_happened::Acked,
            Happened::GivenUp => linkpool_happened::GivenUp,
            Happened::Timer => linkpool_happened::Timer,
        };
        linkpool_event {
            at_ps: at.0,
            bytes: message.bytes,
            tag: message.tag,
            sent_ps: message.at.0,
            what,
            message: message.id.into(),
            source: message.from.into(),
            destination: message.to.into(),
        }
    }
}

/// A message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct linkpool_message {
    /// Its size. (One of 0 bytes takes a packet with one byte.)
    pub bytes: u64,
    /// Whatever the program likes; its events have it.
    pub tag: u64,
    /// When the source gets it: now or later.
    pub at_ps: u64,
    /// The host that sends it.
    pub source: u32,
    /// The host that receives it, another one.
    pub destination: u32,
    /// Which `[[workload.session]]` of the scenario, which says the transport: 0 is the first.
    pub channel: u32,
}

impl From<linkpool_message> for linkpool_sim::Send {
    fn from(message: linkpool_message) -> linkpool_sim::Send {
        let linkpool_message { bytes, tag, at_ps, source, destination, channel } = message;
        let [from, to] = [source, destination].map(HostId::from);
        linkpool_sim::Send { from, to, bytes, tag, at: linkpool_units::Time(at_ps), channel: channel as usize }
    }
}

/// What a callback gets: the host of its event, at the instant of the event. It is valid until the
/// callback returns.
#[allow(missing_debug_implementations, reason = "it is a pointer to what the simulation has on its stack")]
pub struct linkpool_here {
    pub(crate) here: *mut linkpool_sim::Here<'static>,
    pub(crate) text: String,
    pub(crate) broken: bool,
}

/// Called with each event when it happens, at the host that learns of it: of a message that is
/// delivered and of a timer the destination, otherwise the source. It may call the `linkpool_here_`
/// functions; those with the session answer with LINKPOOL_STATUS_BUSY. 0: go on; any other number
/// stops the run. No exception of C++ may leave it, nor longjmp. With several threads it is called
/// by several at once.
pub type linkpool_callback =
    Option<unsafe extern "C" fn(here: *mut linkpool_here, event: *const linkpool_event, user: *mut c_void) -> c_int>;

/// How a session is opened. What is zero has its default.
#[derive(Debug)]
#[repr(C)]
pub struct linkpool_options {
    /// `sizeof(linkpool_options)`: a later version may have more members.
    pub size: usize,
    /// The path of the scenario file, in UTF-8.
    pub scenario: *const c_char,
    /// Keys of the scenario to replace, each as in "transport.t.mss=1500" or "seed=7".
    pub set: *const *const c_char,
    /// How many.
    pub set_count: usize,
    /// The directory for the results, which is new or empty; null: there are none.
    pub directory: *const c_char,
    /// Threads of the simulation, up to 64; 0: one.
    pub threads: u32,
    /// Called with each event when it happens; null: events only wait to be taken.
    pub callback: linkpool_callback,
    /// What the callback gets.
    pub user: *mut c_void,
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_units::Time;

    #[test]
    fn each_error_of_a_session_has_its_status() {
        let status = |error: SessionError| Wrong::from(error).0;
        let (to, now) = (Time(1), Time(2));
        assert_eq!(status(SessionError::Until), linkpool_status::Scenario);
        assert_eq!(status(SessionError::Undriven), linkpool_status::Scenario);
        assert_eq!(status(SessionError::Past { to, now }), linkpool_status::Argument);
        assert_eq!(status(SessionError::End { to, end: now }), linkpool_status::Argument);
        assert_eq!(status(SessionError::Run(RunError::Write("f".into(), "full".into()))), linkpool_status::Write);
        assert_eq!(status(SessionError::Run(RunError::Stopped)), linkpool_status::Stopped);
        let Wrong(status, text) = SessionError::Run(RunError::FlowNumbers { at: to }).into();
        assert_eq!(status, linkpool_status::Run);
        assert!(text.contains("numbers of flows"), "{text}");
    }

    #[test]
    fn each_status_has_a_meaning_of_its_own() {
        let mut all: Vec<_> = (-1..11).map(linkpool_status::meaning).collect();
        assert_eq!((all[0], all[11]), (all[11], all[0]));
        all.dedup();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 11);
    }
}
