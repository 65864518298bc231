//! The functions that C calls. All unsafe code of the crate is here.
//!
//! The invariants, on which each block relies: a handle is null or comes from the function that
//! makes it and has not been freed; a pointer to something is null or valid for it, for as many as
//! its count says; a text ends with NUL. Null and misaligned pointers are found here; what is
//! behind others is the caller's part, as everywhere in C.
#![allow(unsafe_code, reason = "the boundary to C: see above")]
#![allow(clippy::missing_safety_doc, reason = "the header says it once, for all")]
#![allow(non_camel_case_types, reason = "these are the names in C")]

use crate::handle::{Opened, caught, linkpool_session};
use crate::receives::Matching;
use crate::types::{
    Wrong, linkpool_callback, linkpool_event, linkpool_here, linkpool_message, linkpool_options, linkpool_status,
};
use linkpool_sim::{Event, Here, React, Timer};
use linkpool_units::{HostId, Time};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The version of this interface: it grows with each change that a compiled program notices.
pub const LINKPOOL_ABI: u32 = 1;

/// The value of LINKPOOL_ABI of the library, which may be another than that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn linkpool_abi() -> u32 {
    LINKPOOL_ABI
}

/// The version of linkpool.
#[unsafe(no_mangle)]
pub extern "C" fn linkpool_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };
    VERSION.as_ptr()
}

/// What a status means, in a few words. The text stays.
#[unsafe(no_mangle)]
pub extern "C" fn linkpool_status_text(status: c_int) -> *const c_char {
    linkpool_status::meaning(status).as_ptr()
}

fn null(what: &str) -> Wrong {
    Wrong(linkpool_status::Null, format!("{what}: a null pointer, or one that is not aligned"))
}

/// What is behind `pointer`.
unsafe fn at<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Wrong> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(null(what));
    }
    // SAFETY: it is valid, by the invariants above.
    Ok(unsafe { &*pointer })
}

/// A place that the caller has for an answer.
struct Place<T>(*mut T);

impl<T> Place<T> {
    fn new(pointer: *mut T, what: &str) -> Result<Place<T>, Wrong> {
        if pointer.is_null() || !pointer.is_aligned() { Err(null(what)) } else { Ok(Place(pointer)) }
    }

    fn put(&self, value: T) {
        // SAFETY: it was checked to be aligned, and is valid by the invariants above.
        unsafe { self.0.write(value) }
    }
}

/// A text of the caller.
unsafe fn text(pointer: *const c_char, what: &str) -> Result<String, Wrong> {
    if pointer.is_null() {
        return Err(null(what));
    }
    // SAFETY: it ends with NUL, by the invariants above.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(str::to_string).map_err(|_| Wrong::argument(format!("{what}: the text is not UTF-8")))
}

/// Copies `text` to a place of `capacity` bytes, cut where it is full, with a NUL; returns how long
/// it is.
unsafe fn copy(text: &str, to: *mut c_char, capacity: usize) -> usize {
    let length = text.len();
    if !to.is_null() && capacity > 0 {
        let mut cut = length.min(capacity - 1);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        // SAFETY: `cut` bytes and a NUL are at most `capacity`, for which `to` is valid.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), cut);
            to.add(cut).write(0);
        }
    }
    length
}

/// Does `act` with the session behind `handle`.
unsafe fn with_handle(
    handle: *const linkpool_session,
    act: impl FnOnce(&linkpool_session) -> linkpool_status,
) -> linkpool_status {
    // SAFETY: as the caller of the caller promises.
    match unsafe { at(handle, "session") } {
        Ok(handle) => act(handle),
        Err(Wrong(status, _)) => status,
    }
}

/// What is called at the instant of an event.
struct Calls(unsafe extern "C" fn(*mut linkpool_here, *const linkpool_event, *mut c_void) -> c_int, *mut c_void);

// SAFETY: the function and what it gets are the program's, which has been told that several threads
// may call it if it asks for several threads.
unsafe impl std::marker::Send for Calls {}
// SAFETY: as above.
unsafe impl Sync for Calls {}

impl Calls {
    /// Calls with `event`, at `here`.
    fn call(&self, event: &Event, here: &mut Here<'_>) -> Result<(), Wrong> {
        let Calls(function, user) = self;
        let event = linkpool_event::from(event);
        let here = std::ptr::from_mut(here).cast::<Here<'static>>();
        let mut place = linkpool_here { here, text: String::new(), broken: false };
        // SAFETY: both pointers are valid until the function returns, and the program has been told
        // that they are not any longer. Nobody else uses `here` meanwhile.
        match unsafe { function(&raw mut place, &raw const event, *user) } {
            _ if place.broken => Err(Wrong(linkpool_status::Panic, place.text)),
            0 => Ok(()),
            code => Err(Wrong(linkpool_status::Stopped, format!("the callback has returned {code}"))),
        }
    }
}

/// Reads what the caller wants to open.
unsafe fn options(options: *const linkpool_options) -> Result<(Opened, linkpool_callback, *mut c_void), Wrong> {
    // SAFETY: as the caller promises; no more is read than the size says that is there.
    let size = unsafe { at(options.cast::<usize>(), "options")? };
    let expected = size_of::<linkpool_options>();
    if *size != expected {
        return Err(Wrong::argument(format!("options.size: it is {size}, and has to be {expected}")));
    }
    // SAFETY: as above.
    let options = unsafe { at(options, "options")? };
    // SAFETY: the texts and their list are the caller's, as promised.
    let (scenario, set, directory) = unsafe {
        let scenario = text(options.scenario, "options.scenario")?;
        let mut set = Vec::with_capacity(options.set_count.min(1024));
        if options.set_count > 0 {
            at(options.set, "options.set")?;
        }
        for i in 0..options.set_count {
            set.push(text(*options.set.add(i), "options.set")?);
        }
        let directory = (!options.directory.is_null()).then(|| text(options.directory, "options.directory"));
        (scenario, set, directory.transpose()?)
    };
    let (scenario, directory) = (PathBuf::from(scenario), directory.map(PathBuf::from));
    Ok((Opened { scenario, set, directory, threads: options.threads }, options.callback, options.user))
}

/// Opens a run, at time 0. Unless LINKPOOL_STATUS_NULL is the answer, there is a session
/// afterwards, which linkpool_session_free frees; if it could not be opened, it is closed, and
/// linkpool_session_error says why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_open(
    options: *const linkpool_options,
    session: *mut *mut linkpool_session,
) -> linkpool_status {
    let Ok(place) = Place::new(session, "session") else { return linkpool_status::Null };
    if options.is_null() || !options.is_aligned() {
        return linkpool_status::Null;
    }
    let handle = Box::new(linkpool_session::new());
    // SAFETY: as the caller promises.
    let status = match unsafe { self::options(options) } {
        Err(wrong) => handle.answer(Err(wrong)),
        Ok((opened, callback, user)) => {
            let stopped = handle.stopped.clone();
            let react = callback.map(|function| -> Arc<React> {
                let calls = Calls(function, user);
                Arc::new(move |event: &Event, here: &mut Here<'_>| {
                    let calls = &calls;
                    if !stopped.is_stopped()
                        && let Err(wrong) = calls.call(event, here)
                    {
                        stopped.stop(wrong);
                    }
                })
            });
            handle.open(opened, react)
        }
    };
    place.put(Box::into_raw(handle));
    status
}

/// Frees a session; null is nothing. One that is not closed ends without results. (Within a
/// callback of the session: LINKPOOL_STATUS_BUSY, and it is not freed.)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_free(session: *mut linkpool_session) -> linkpool_status {
    if session.is_null() {
        return linkpool_status::Ok;
    }
    // SAFETY: as the caller promises.
    if !unsafe { &*session }.is_free() {
        return linkpool_status::Busy;
    }
    // SAFETY: it comes from `linkpool_session_open`, no call uses it, and the caller does not any
    // longer.
    let session = unsafe { Box::from_raw(session) };
    match caught(|| {
        drop(session);
        Ok(())
    }) {
        Ok(()) => linkpool_status::Ok,
        Err(Wrong(status, _)) => status,
    }
}

/// Ends the run at the clock, and writes its results if there is a directory for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_close(session: *mut linkpool_session) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, linkpool_session::close) }
}

/// Copies the reason for the last error of the session to `text`, as far as `capacity` bytes with
/// the NUL hold it. Returns its length, as snprintf does. (Null, busy and closed have no reason
/// beside linkpool_status_text.)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_error(
    session: *const linkpool_session,
    text: *mut c_char,
    capacity: usize,
) -> usize {
    // SAFETY: as the caller promises.
    unsafe { at(session, "session").map_or(0, |session| copy(&session.text(), text, capacity)) }
}

/// The clock: all that is due before has happened, and nothing that is due at it or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_now(session: *const linkpool_session, now_ps: *mut u64) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, now_ps, |session| session.now().0) }
}

/// The end of the scenario, duration and drain, beyond which the clock does not go.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_end(session: *const linkpool_session, end_ps: *mut u64) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, end_ps, |session| session.end().0) }
}

/// The least time that anything takes from one host to another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_lookahead(
    session: *const linkpool_session,
    lookahead_ps: *mut u64,
) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, lookahead_ps, |session| session.lookahead().0) }
}

/// The number of hosts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_hosts(session: *const linkpool_session, hosts: *mut u64) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, hosts, |session| session.hosts() as u64) }
}

/// The number of channels: workloads of kind `session`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_channels(
    session: *const linkpool_session,
    channels: *mut u64,
) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, channels, |session| session.channels().count() as u64) }
}

/// Messages that are neither acknowledged nor given up, as far as events are known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_open_messages(
    session: *const linkpool_session,
    messages: *mut u64,
) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, messages, |session| session.open_messages() as u64) }
}

/// Timers that have not been due, as far as events are known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_open_timers(
    session: *const linkpool_session,
    timers: *mut u64,
) -> linkpool_status {
    // SAFETY: as the caller promises.
    unsafe { number(session, timers, |session| session.open_timers() as u64) }
}

/// Puts what is read of the session to a place.
unsafe fn number(
    session: *const linkpool_session,
    to: *mut u64,
    read: impl FnOnce(&linkpool_sim::Session) -> u64,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| {
            Place::new(to, "the place for the number")?.put(read(session));
            Ok(())
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// The index of the host with this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_host(
    session: *const linkpool_session,
    name: *const c_char,
    host: *mut u32,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| {
            let place = Place::new(host, "host")?;
            // SAFETY: as the caller promises.
            let name = unsafe { text(name, "name")? };
            let host = session.host(&name).ok_or_else(|| Wrong::argument(format!("{name:?} is no host")))?;
            place.put(host.into());
            Ok(())
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// The place of the channel with this label, the first if several have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_channel(
    session: *const linkpool_session,
    label: *const c_char,
    channel: *mut u32,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| {
            let place = Place::new(channel, "channel")?;
            // SAFETY: as the caller promises.
            let label = unsafe { text(label, "label")? };
            let channel = session.channels().position(|known| known == label);
            place.put(channel.ok_or_else(|| Wrong::argument(format!("{label:?} is no channel")))? as u32);
            Ok(())
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Copies the name of a host to `name`, as far as `capacity` bytes with the NUL hold it; `length`,
/// if it is not null, is how long it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_host_name(
    session: *const linkpool_session,
    host: u32,
    name: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| {
            if host as usize >= session.hosts() {
                return Err(Wrong::argument(format!("{host} is no host; they are 0 to {}", session.hosts() - 1)));
            }
            // SAFETY: as the caller promises.
            let copied = unsafe { copy(&session.name(HostId::from(host)), name, capacity) };
            if !length.is_null() {
                Place::new(length, "length")?.put(copied);
            }
            Ok(())
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Sends messages, and puts their numbers to `numbers`, if it is not null. If one cannot be sent,
/// those before it are; `sent`, if it is not null, says how many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_send(
    session: *mut linkpool_session,
    messages: *const linkpool_message,
    count: usize,
    numbers: *mut u32,
    sent: *mut usize,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| {
            let sent = if sent.is_null() { None } else { Some(Place::new(sent, "sent")?) };
            if let Some(sent) = &sent {
                sent.put(0);
            }
            if !numbers.is_null() && !numbers.is_aligned() {
                return Err(null("numbers"));
            }
            if count > 0 {
                // SAFETY: as the caller promises.
                unsafe { at(messages, "messages")? };
            }
            for i in 0..count {
                // SAFETY: there are so many, as the caller promises.
                let message = unsafe { *messages.add(i) };
                let number = session.send(message.into())?;
                if !numbers.is_null() {
                    // SAFETY: there is place for so many, as the caller promises.
                    unsafe { numbers.add(i).write(number.into()) };
                }
                if let Some(sent) = &sent {
                    sent.put(i + 1);
                }
            }
            Ok(())
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Sets a timer: there is an event at `host` at `at_ps`, which is now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_timer(
    session: *mut linkpool_session,
    host: u32,
    tag: u64,
    at_ps: u64,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| Ok(session.set_timer(Timer { host: HostId::from(host), tag, at: Time(at_ps) })?))
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Lets time pass to `to_ps`: all that is due before happens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_advance(session: *mut linkpool_session, to_ps: u64) -> linkpool_status {
    let act = |handle: &linkpool_session| handle.pass(|session, go| session.advance_to(Time(to_ps), go), |()| Ok(()));
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Lets time pass until there is an event to take, and no longer than to `to_ps`. The clock is then
/// at most a lookahead beyond the event. `happened`, if it is not null, is 1 if there is one, else
/// 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_step(
    session: *mut linkpool_session,
    to_ps: u64,
    happened: *mut c_int,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.pass(|session, go| session.step(Time(to_ps), go), |any| put_truth(happened, any))
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Lets time pass until every message is acknowledged or given up and every timer has been due, and
/// no longer than the scenario lasts. `all`, if it is not null, is 1 if nothing is left, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_drain(session: *mut linkpool_session, all: *mut c_int) -> linkpool_status {
    let act =
        |handle: &linkpool_session| handle.pass(|session, go| session.drain(go), |nothing| put_truth(all, nothing));
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

fn put_truth(to: *mut c_int, truth: bool) -> Result<(), Wrong> {
    if to.is_null() {
        return Ok(());
    }
    Place::new(to, "the place for the answer").map(|place| place.put(c_int::from(truth)))
}

/// Takes events that are known, in order of time, up to `capacity` of them; `count` is how many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_session_events(
    session: *mut linkpool_session,
    events: *mut linkpool_event,
    capacity: usize,
    count: *mut usize,
) -> linkpool_status {
    let act = |handle: &linkpool_session| {
        handle.with(|session| {
            let place = Place::new(count, "count")?;
            if capacity > 0 {
                // SAFETY: as the caller promises; only the pointer is looked at.
                unsafe { at(events.cast::<std::mem::MaybeUninit<linkpool_event>>(), "events")? };
            }
            let mut taken = 0;
            while taken < capacity
                && let Some(event) = session.poll()
            {
                // SAFETY: there is place for so many, as the caller promises.
                unsafe { events.add(taken).write(linkpool_event::from(&event)) };
                taken += 1;
            }
            place.put(taken);
            Ok(())
        })
    };
    // SAFETY: as the caller promises.
    unsafe { with_handle(session, act) }
}

/// Does `act` with the host of a callback.
unsafe fn with_here(
    here: *mut linkpool_here,
    act: impl FnOnce(&mut Here<'static>) -> Result<(), Wrong>,
) -> linkpool_status {
    if here.is_null() || !here.is_aligned() {
        return linkpool_status::Null;
    }
    // SAFETY: it is what the callback has got, which has not returned; its thread alone uses it.
    let place = unsafe { &mut *here };
    // SAFETY: as above. Nothing with the lifetime of `Here` gets out of `act`, which returns a
    // status.
    let done = caught(|| act(unsafe { &mut *place.here }));
    let Err(Wrong(status, text)) = done else { return linkpool_status::Ok };
    place.broken |= status == linkpool_status::Panic;
    place.text = text;
    status
}

/// Copies the reason for the last error of a `linkpool_here_` function in this callback, as
/// linkpool_session_error does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_here_error(here: *const linkpool_here, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: as the caller promises.
    unsafe { at(here, "here").map_or(0, |here| copy(&here.text, text, capacity)) }
}

/// The present, and the least time that anything takes from this host to another. Either place may
/// be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_here_now(
    here: *mut linkpool_here,
    now_ps: *mut u64,
    lookahead_ps: *mut u64,
) -> linkpool_status {
    let act = |here: &mut Here<'static>| {
        for (place, value) in [(now_ps, here.now()), (lookahead_ps, here.lookahead())] {
            if !place.is_null() {
                Place::new(place, "the place for the time")?.put(value.0);
            }
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with_here(here, act) }
}

/// Sends a message from the host of the callback, which is its source; `number`, if it is not null,
/// is its number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_here_send(
    here: *mut linkpool_here,
    message: *const linkpool_message,
    number: *mut u32,
) -> linkpool_status {
    let act = |here: &mut Here<'static>| {
        // SAFETY: as the caller promises.
        let message = *unsafe { at(message, "message")? };
        let place = if number.is_null() { None } else { Some(Place::new(number, "number")?) };
        let host: u32 = here.host().into();
        if message.source != host {
            let source = message.source;
            return Err(Wrong::argument(format!("source: it is {source}; the host of the callback is {host}")));
        }
        let sent = here.send(message.into())?;
        if let Some(place) = place {
            place.put(sent.into());
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with_here(here, act) }
}

/// Sets a timer: at the host of the callback, now or later; at another, a lookahead from now or
/// later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_here_timer(
    here: *mut linkpool_here,
    host: u32,
    tag: u64,
    at_ps: u64,
) -> linkpool_status {
    let act =
        |here: &mut Here<'static>| Ok(here.set_timer(Timer { host: HostId::from(host), tag, at: Time(at_ps) })?);
    // SAFETY: as the caller promises.
    unsafe { with_here(here, act) }
}

/// Receives and arrivals, which meet by source, destination and tag, in the order in which each
/// came; bytes are counted, so messages may be split or joined, and data may come first. It knows
/// of no session, and several threads may use it.
#[derive(Debug)]
pub struct linkpool_receives(Mutex<Matching>);

/// Makes an empty one, which linkpool_receives_free frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_receives_new(receives: *mut *mut linkpool_receives) -> linkpool_status {
    let Ok(place) = Place::new(receives, "receives") else { return linkpool_status::Null };
    place.put(Box::into_raw(Box::new(linkpool_receives(Mutex::default()))));
    linkpool_status::Ok
}

/// Frees it; null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_receives_free(receives: *mut linkpool_receives) -> linkpool_status {
    if !receives.is_null() {
        // SAFETY: it comes from `linkpool_receives_new`, and the caller uses it no longer.
        drop(unsafe { Box::from_raw(receives) });
    }
    linkpool_status::Ok
}

unsafe fn with_receives(
    receives: *mut linkpool_receives,
    act: impl FnOnce(&mut Matching) -> Result<(), Wrong>,
) -> linkpool_status {
    // SAFETY: as the caller promises.
    let receives = match unsafe { at(receives, "receives") } {
        Ok(receives) => receives,
        Err(Wrong(status, _)) => return status,
    };
    let mut guard = receives.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match caught(|| act(&mut guard)) {
        Ok(()) => linkpool_status::Ok,
        Err(Wrong(status, _)) => status,
    }
}

/// Someone waits for `bytes` of (source, destination, tag); `token` is what linkpool_receives_take
/// returns for it. One of 0 bytes waits for a message, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_receives_post(
    receives: *mut linkpool_receives,
    source: u32,
    destination: u32,
    tag: u64,
    bytes: u64,
    token: u64,
) -> linkpool_status {
    let act = |matching: &mut Matching| {
        matching.post((source, destination, tag), bytes, token);
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with_receives(receives, act) }
}

/// A message of `bytes` of (source, destination, tag) has arrived.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_receives_arrive(
    receives: *mut linkpool_receives,
    source: u32,
    destination: u32,
    tag: u64,
    bytes: u64,
) -> linkpool_status {
    let act = |matching: &mut Matching| {
        matching.arrive((source, destination, tag), bytes);
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with_receives(receives, act) }
}

/// Takes the next receive that has all it wanted: `taken` is 1, and `token` is its own; 0: there is
/// none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_receives_take(
    receives: *mut linkpool_receives,
    token: *mut u64,
    taken: *mut c_int,
) -> linkpool_status {
    let act = |matching: &mut Matching| {
        let (token, taken) = (Place::new(token, "token")?, Place::new(taken, "taken")?);
        let next = matching.take();
        taken.put(c_int::from(next.is_some()));
        if let Some(next) = next {
            token.put(next);
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with_receives(receives, act) }
}

/// How many receives still want bytes, and how many messages have bytes that nobody has wanted yet.
/// Either place may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linkpool_receives_count(
    receives: *mut linkpool_receives,
    waiting: *mut u64,
    early: *mut u64,
) -> linkpool_status {
    let act = |matching: &mut Matching| {
        for (place, value) in [(waiting, matching.waiting()), (early, matching.early())] {
            if !place.is_null() {
                Place::new(place, "the place for the count")?.put(value as u64);
            }
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with_receives(receives, act) }
}

#[cfg(test)]
#[path = "abi_tests.rs"]
mod tests;
