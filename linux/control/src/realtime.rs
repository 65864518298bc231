//! Real-time priority of a thread.

#![allow(unsafe_code, reason = "a call of the kernel")]

use std::io;

/// Lets the calling thread go before others that have a smaller number, and before all that have
/// none; zero: no more. Errors: no right to (CAP_SYS_NICE).
pub fn hurry(priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: priority };
    let policy = if priority > 0 { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    // SAFETY: the call reads the parameter, which outlives it; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
