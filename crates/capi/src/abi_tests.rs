//! What the functions of the C interface answer, and what misuse of them does.

#![allow(clippy::undocumented_unsafe_blocks, reason = "each test is the caller, who promises what abi.rs wants")]

use super::*;
use crate::types::linkpool_happened;
use linkpool_status::{Argument, Busy, Closed, Null, Ok as Fine, Panic, Scenario, Stopped};
use std::ffi::CString;
use std::ptr::{null, null_mut};

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads/session.toml");

/// A session, freed at the end.
struct Opened(*mut linkpool_session);

impl Drop for Opened {
    fn drop(&mut self) {
        assert_eq!(unsafe { linkpool_session_free(self.0) }, Fine);
    }
}

impl Opened {
    fn error(&self) -> String {
        said(|text, capacity| unsafe { linkpool_session_error(self.0, text, capacity) })
    }

    fn send(&self, messages: &[linkpool_message]) -> linkpool_status {
        unsafe { linkpool_session_send(self.0, messages.as_ptr(), messages.len(), null_mut(), null_mut()) }
    }

    fn number(&self, read: unsafe extern "C" fn(*const linkpool_session, *mut u64) -> linkpool_status) -> u64 {
        let mut value = u64::MAX;
        assert_eq!(unsafe { read(self.0, &raw mut value) }, Fine);
        value
    }

    fn drain(&self) -> (linkpool_status, c_int) {
        let mut all = -1;
        (unsafe { linkpool_session_drain(self.0, &raw mut all) }, all)
    }

    fn events(&self) -> Vec<linkpool_event> {
        let empty = linkpool_event {
            at_ps: 0,
            bytes: 0,
            tag: 0,
            sent_ps: 0,
            what: linkpool_happened::Timer,
            message: 0,
            source: 0,
            destination: 0,
        };
        let (mut all, mut two, mut count) = (Vec::new(), [empty; 2], 9);
        while count > 0 {
            assert_eq!(unsafe { linkpool_session_events(self.0, two.as_mut_ptr(), 2, &raw mut count) }, Fine);
            all.extend(&two[..count]);
        }
        all
    }
}

fn said(copy: impl Fn(*mut c_char, usize) -> usize) -> String {
    let mut text = [1; 400];
    let length = copy(text.as_mut_ptr(), text.len());
    let read = unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap().to_string();
    assert_eq!(length, read.len());
    read
}

fn options(scenario: &CStr) -> linkpool_options {
    linkpool_options {
        size: size_of::<linkpool_options>(),
        scenario: scenario.as_ptr(),
        set: null(),
        set_count: 0,
        directory: null(),
        threads: 0,
        callback: None,
        user: null_mut(),
    }
}

fn open(options: &linkpool_options) -> (Opened, linkpool_status) {
    let mut session = null_mut();
    let status = unsafe { linkpool_session_open(options, &raw mut session) };
    (Opened(session), status)
}

fn opened(change: impl FnOnce(&mut linkpool_options)) -> Opened {
    let scenario = CString::new(SCENARIO).unwrap();
    let mut options = options(&scenario);
    change(&mut options);
    let (session, status) = open(&options);
    assert_eq!(status, Fine, "{}", session.error());
    session
}

fn message(source: u32, destination: u32, bytes: u64) -> linkpool_message {
    linkpool_message { bytes, tag: bytes + 1, at_ps: 0, source, destination, channel: 0 }
}

#[test]
fn a_session_is_driven_from_its_begin_to_its_results() {
    let directory = tempfile::tempdir().unwrap();
    let out = CString::new(directory.path().join("out").to_str().unwrap()).unwrap();
    let keys = [c"seed=9", c"duration=2s", c"transport.dctcp.mss=16KB"].map(CStr::as_ptr);
    let session = opened(|options| {
        (options.set, options.set_count, options.directory) = (keys.as_ptr(), 3, out.as_ptr());
    });
    assert_eq!(session.number(linkpool_session_hosts), 16);
    assert_eq!(session.number(linkpool_session_channels), 1);
    assert_eq!(session.number(linkpool_session_end), 3_000_000_000_000);
    let lookahead = session.number(linkpool_session_lookahead);
    assert!(lookahead > 500_000 && lookahead < 600_000, "{lookahead}");
    let (mut host, mut channel) = (9, 9);
    unsafe {
        assert_eq!(linkpool_session_host(session.0, c"h5".as_ptr(), &raw mut host), Fine);
        assert_eq!(linkpool_session_channel(session.0, c"kv".as_ptr(), &raw mut channel), Fine);
    }
    assert_eq!((host, channel), (5, 0));
    let (mut numbers, mut sent) = ([0; 2], 0);
    let messages = [message(5, 2, 3_000_000_000), message(5, 3, 0)];
    let status = unsafe { linkpool_session_send(session.0, messages.as_ptr(), 2, numbers.as_mut_ptr(), &raw mut sent) };
    assert_eq!((status, sent, numbers), (Fine, 2, [5, 21]));
    assert_eq!(unsafe { linkpool_session_timer(session.0, 7, 70, 10_000_000) }, Fine);
    assert_eq!(session.number(linkpool_session_open_messages), 2);
    assert_eq!(session.number(linkpool_session_open_timers), 1);
    let mut happened = 7;
    assert_eq!(unsafe { linkpool_session_step(session.0, 1_000, &raw mut happened) }, Fine);
    assert_eq!((happened, session.number(linkpool_session_now)), (0, 1_000));
    assert_eq!(unsafe { linkpool_session_step(session.0, 3_000_000_000_000, &raw mut happened) }, Fine);
    assert_eq!(happened, 1);
    assert_eq!(unsafe { linkpool_session_step(session.0, 3_000_000_000_000, null_mut()) }, Fine);
    assert_eq!(unsafe { linkpool_session_advance(session.0, 20_000_000) }, Fine);
    assert_eq!(session.number(linkpool_session_now), 20_000_000);
    let timer = session.events().into_iter().find(|event| event.what == linkpool_happened::Timer).unwrap();
    assert_eq!((timer.at_ps, timer.sent_ps, timer.tag, timer.bytes), (10_000_000, 10_000_000, 70, 0));
    assert_eq!((timer.source, timer.destination), (7, 7));
    // 3 GB at 100 Gbps: 240 ms and the headers.
    assert_eq!(session.drain(), (Fine, 1));
    let (what, large) = (linkpool_happened::Delivered, 3_000_000_000);
    let events = session.events();
    let event = events.iter().find(|event| event.what == what && event.bytes == large).unwrap();
    assert_eq!((event.tag, event.message, event.source, event.destination), (large + 1, 5, 5, 2));
    assert!(event.at_ps > 240_000_000_000 && event.at_ps < 256_000_000_000, "{event:?}");
    assert!(events.iter().any(|event| event.what == linkpool_happened::Acked));
    assert_eq!(unsafe { linkpool_session_close(session.0) }, Fine);
    for name in ["flows.parquet", "run.json", "scenario.toml", "messages.0.csv"] {
        assert!(directory.path().join("out").join(name).exists(), "{name}");
    }
    let scenario = std::fs::read_to_string(directory.path().join("out/scenario.toml")).unwrap();
    assert!(scenario.contains("seed = 9"), "{scenario}");
    assert_eq!(unsafe { linkpool_session_close(session.0) }, Closed);
    assert_eq!(unsafe { linkpool_session_advance(session.0, 0) }, Closed);
}

#[test]
fn misuse_is_an_error() {
    let session = opened(|_| ());
    let (this, mut word) = (session.0, 0);
    unsafe {
        assert_eq!(linkpool_session_free(null_mut()), Fine);
        assert_eq!(linkpool_session_open(null(), null_mut()), Null);
        let mut place = null_mut();
        assert_eq!(linkpool_session_open(null(), &raw mut place), Null);
        assert!(place.is_null());
        assert_eq!(linkpool_session_now(null(), &raw mut word), Null);
        assert_eq!(linkpool_session_now(this, null_mut()), Null);
        let misaligned = (&raw mut word).cast::<u8>().add(1).cast::<u64>();
        assert_eq!(linkpool_session_now(this, misaligned), Null);
        assert_eq!(linkpool_session_close(null_mut()), Null);
        assert_eq!(linkpool_session_drain(null_mut(), null_mut()), Null);
        assert_eq!(linkpool_session_error(null(), null_mut(), 0), 0);
        assert_eq!(linkpool_session_send(this, null(), 1, null_mut(), null_mut()), Null);
        assert_eq!(linkpool_session_send(this, null(), 0, null_mut(), null_mut()), Fine);
        assert_eq!(linkpool_session_events(this, null_mut(), 0, null_mut()), Null);
        let mut count = 7;
        assert_eq!(linkpool_session_events(this, null_mut(), 1, &raw mut count), Null);
        assert_eq!(linkpool_session_events(this, null_mut(), 0, &raw mut count), Fine);
        assert_eq!(count, 0);
        let mut index = 9;
        assert_eq!(linkpool_session_host(this, null(), &raw mut index), Null);
        assert_eq!(linkpool_session_host(this, c"h1".as_ptr(), null_mut()), Null);
        assert_eq!(linkpool_session_host(this, c"x".as_ptr(), &raw mut index), Argument);
        assert_eq!(session.error(), "\"x\" is no host");
        assert_eq!(linkpool_session_host(this, c"\xff".as_ptr(), &raw mut index), Argument);
        assert_eq!(session.error(), "name: the text is not UTF-8");
        assert_eq!(linkpool_session_channel(this, c"x".as_ptr(), &raw mut index), Argument);
        assert_eq!((session.error().as_str(), index), ("\"x\" is no channel", 9));
        assert_eq!(linkpool_session_timer(this, 16, 0, 0), Argument);
        assert_eq!(linkpool_session_advance(this, u64::MAX), Argument);
        assert!(session.error().contains("after the end of the scenario"));
        assert_eq!(linkpool_here_now(null_mut(), null_mut(), null_mut()), Null);
        assert_eq!(linkpool_here_error(null(), null_mut(), 0), 0);
    }
    // Of three the second cannot be sent: one is.
    let (mut numbers, mut sent) = ([7; 3], 9);
    let messages = [message(1, 2, 1), message(2, 2, 1), message(3, 2, 1)];
    let status = unsafe { linkpool_session_send(session.0, messages.as_ptr(), 3, numbers.as_mut_ptr(), &raw mut sent) };
    assert_eq!((status, sent, numbers), (Argument, 1, [1, 7, 7]));
    assert_eq!(session.error(), "host h2 would send to itself");
    assert_eq!(session.send(&[linkpool_message { channel: 1, ..message(1, 2, 1) }]), Argument);
    assert_eq!(session.send(&[linkpool_message { at_ps: u64::MAX, ..message(1, 2, 1) }]), Argument);
}

#[test]
fn texts_are_cut_where_their_place_ends() {
    let session = opened(|_| ());
    let mut place = [1; 4];
    let mut length = 0;
    unsafe {
        let name = |place: *mut c_char, capacity, length: *mut usize| {
            linkpool_session_host_name(session.0, 12, place, capacity, length)
        };
        assert_eq!(name(place.as_mut_ptr(), 3, &raw mut length), Fine);
        assert_eq!((place, length), ([b'h' as c_char, b'1' as c_char, 0, 1], 3));
        assert_eq!(name(null_mut(), 0, &raw mut length), Fine);
        assert_eq!(name(place.as_mut_ptr(), 4, null_mut()), Fine);
        assert_eq!(place, [b'h' as c_char, b'1' as c_char, b'2' as c_char, 0]);
        assert_eq!(linkpool_session_host_name(session.0, 16, place.as_mut_ptr(), 4, null_mut()), Argument);
        // A letter of two bytes is not cut in two.
        assert_eq!(copy("aä", place.as_mut_ptr(), 3), 3);
        assert_eq!(place[..2], [b'a' as c_char, 0]);
        assert_eq!(copy("ab", place.as_mut_ptr(), 0), 2);
    }
    let text = |pointer| unsafe { CStr::from_ptr(pointer) }.to_str().unwrap();
    assert_eq!(text(linkpool_version()), env!("CARGO_PKG_VERSION"));
    assert_eq!((text(linkpool_status_text(3)), linkpool_abi()), ("the session is in use", LINKPOOL_ABI));
}

#[test]
fn what_cannot_be_opened_is_a_closed_session_with_a_reason() {
    let scenario = CString::new(SCENARIO).unwrap();
    let no_key = [null()];
    let fails = |change: &dyn Fn(&mut linkpool_options), status, why: &str| {
        let mut options = options(&scenario);
        change(&mut options);
        let (session, got) = open(&options);
        assert!(got == status && session.error().contains(why), "{got:?}: {}", session.error());
        assert_eq!(unsafe { linkpool_session_close(session.0) }, Closed);
    };
    fails(&|o| o.size -= 8, Argument, "options.size");
    fails(&|o| o.scenario = null(), Null, "options.scenario");
    fails(&|o| o.scenario = c"no such file".as_ptr(), Scenario, "no such file");
    fails(&|o| o.set_count = 1, Null, "options.set");
    fails(&|o| (o.set, o.set_count) = (no_key.as_ptr(), 1), Null, "options.set");
    fails(&|o| o.directory = c"\xff".as_ptr(), Argument, "options.directory");
    fails(&|o| o.threads = 65, Argument, "threads");
}

/// What a callback has seen and got.
#[derive(Default)]
struct Seen {
    session: Option<*mut linkpool_session>,
    events: Vec<linkpool_event>,
    got: Vec<(linkpool_status, String)>,
    code: c_int,
    breaks: bool,
}

unsafe extern "C" fn answer(here: *mut linkpool_here, event: *const linkpool_event, user: *mut c_void) -> c_int {
    let (seen, event) = unsafe { (&mut *user.cast::<Seen>(), *event) };
    seen.events.push(event);
    let mut got = |status| {
        let text = said(|text, capacity| unsafe { linkpool_here_error(here, text, capacity) });
        seen.got.push((status, text));
    };
    unsafe {
        let (mut now, mut lookahead) = (0, 0);
        assert_eq!(linkpool_here_now(here, &raw mut now, &raw mut lookahead), Fine);
        assert_eq!(now, event.at_ps);
        if event.what == linkpool_happened::Delivered && event.tag < 4 {
            let source = event.destination;
            let back = linkpool_message { tag: event.tag + 1, at_ps: now, ..message(source, event.source, 1_000) };
            let mut number = 0;
            got(linkpool_here_send(here, &raw const back, &raw mut number));
            got(linkpool_here_send(here, &linkpool_message { source: 9, ..back }, null_mut()));
            got(linkpool_here_send(here, null(), null_mut()));
            got(linkpool_here_timer(here, source, 50, now));
            got(linkpool_here_timer(here, event.source, 51, now + lookahead - 1));
            got(linkpool_here_timer(here, event.source, 52, now + lookahead));
        }
        if let Some(session) = seen.session {
            seen.got.push((linkpool_session_advance(session, now + 1), String::new()));
            seen.got.push((linkpool_session_free(session), String::new()));
            seen.got.push((linkpool_session_close(session), String::new()));
        }
        if seen.breaks {
            assert_eq!(with_here(here, |_| panic!("broken")), Panic);
        }
    }
    seen.code
}

fn with_callback(seen: &mut Seen) -> Opened {
    let session = opened(|options| {
        options.callback = Some(answer);
        options.user = (&raw mut *seen).cast();
    });
    assert_eq!(session.send(&[linkpool_message { tag: 3, ..message(1, 14, 1_000) }]), Fine);
    session
}

#[test]
fn a_callback_answers_at_the_instant_of_its_event() {
    let mut seen = Seen::default();
    let session = with_callback(&mut seen);
    assert_eq!(session.drain(), (Fine, 1));
    assert_eq!(seen.events, session.events());
    let statuses: Vec<linkpool_status> = seen.got.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [Fine, Argument, Null, Fine, Argument, Fine]);
    assert_eq!(seen.got[1].1, "source: it is 9; the host of the callback is 14");
    assert!(seen.got[4].1.starts_with("a timer at another host, h1, is due at"), "{}", seen.got[4].1);
    let what = |tag| {
        let found: Vec<_> = seen.events.iter().filter(|event| event.tag == tag).collect();
        (found[0].at_ps, found[0].source, found[0].destination, found[0].sent_ps)
    };
    let (first, lookahead) = (what(3).0, session.number(linkpool_session_lookahead));
    assert_eq!((what(4).3, what(4).1), (first, 14));
    assert_eq!(what(50), (first, 14, 14, first));
    assert_eq!(what(52), (first + lookahead, 14, 1, first + lookahead));
}

#[test]
fn a_session_is_busy_within_its_callback() {
    let mut seen = Seen::default();
    let session = with_callback(&mut seen);
    seen.session = Some(session.0);
    assert_eq!(session.drain().0, Fine);
    let within: Vec<_> = seen.got.iter().skip(6).take(3).map(|(status, _)| *status).collect();
    assert_eq!(within, [Busy; 3]);
}

#[test]
fn a_callback_stops_the_run() {
    let mut seen = Seen { code: 42, ..Seen::default() };
    let session = with_callback(&mut seen);
    assert_eq!(session.drain(), (Stopped, -1));
    assert_eq!((session.error().as_str(), seen.events.len()), ("the callback has returned 42", 1));
    assert_eq!(session.drain().0, Closed);
    let mut seen = Seen { breaks: true, ..Seen::default() };
    let session = with_callback(&mut seen);
    assert_eq!(session.drain().0, Panic);
    assert!(session.error().ends_with("broken"));
}

#[test]
fn receives_are_matched_through_their_handle() {
    let mut receives = null_mut();
    let (mut token, mut taken, mut waiting, mut early) = (0, 0, 9, 9);
    unsafe {
        assert_eq!(linkpool_receives_new(null_mut()), Null);
        assert_eq!(linkpool_receives_new(&raw mut receives), Fine);
        assert_eq!(linkpool_receives_post(receives, 1, 2, 3, 10, 77), Fine);
        assert_eq!(linkpool_receives_arrive(receives, 2, 1, 3, 10), Fine);
        assert_eq!(linkpool_receives_take(receives, &raw mut token, &raw mut taken), Fine);
        assert_eq!((token, taken), (0, 0));
        assert_eq!(linkpool_receives_count(receives, &raw mut waiting, &raw mut early), Fine);
        assert_eq!((waiting, early), (1, 1));
        assert_eq!(linkpool_receives_arrive(receives, 1, 2, 3, 10), Fine);
        assert_eq!(linkpool_receives_take(receives, null_mut(), &raw mut taken), Null);
        assert_eq!(linkpool_receives_take(receives, &raw mut token, null_mut()), Null);
        assert_eq!(linkpool_receives_take(receives, &raw mut token, &raw mut taken), Fine);
        assert_eq!((token, taken), (77, 1));
        assert_eq!(linkpool_receives_count(receives, null_mut(), null_mut()), Fine);
        assert_eq!(linkpool_receives_post(null_mut(), 1, 2, 3, 10, 77), Null);
        assert_eq!(linkpool_receives_free(receives), Fine);
        assert_eq!(linkpool_receives_free(null_mut()), Fine);
    }
}
