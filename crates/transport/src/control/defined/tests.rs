//! Algorithms that are defined at run time: their words, hooks, errors and settings.

use super::super::testing::{S, ack, state};
use super::super::{Algorithm, ControlConfig};
use super::*;

const KEYS: [(&str, Value); 2] = [("growth", Value::Float(0.5)), ("slow", Value::Flag(true))];

extern "C" fn cut(
    head: *mut u64,
    _: *mut u64,
    _: *mut CongestionState,
    _: i64,
    _: i64,
    acked: i64,
    _: u8,
    _: u8,
    _: i64,
) -> i32 {
    if head.is_null() || acked == 7 { -1 } else { 1 }
}

extern "C" fn ssthresh(_: *mut u64, _: *mut u64, _: *mut CongestionState, n: i64, s: i64, _: i64, _: *mut f64) -> i32 {
    (n == s) as i32
}

fn definition() -> &'static Definition {
    let parameter = |(word, (key, default)): (usize, (&'static str, Value))| Parameter {
        key,
        doc: &[],
        word,
        defaults: [default; 2],
        bounds: Bounds::POSITIVE,
    };
    let callbacks = Callbacks { in_ack_event: Some(cut), ssthresh: Some(ssthresh), ..Callbacks::none() };
    Box::leak(Box::new(Definition {
        name: "mine",
        sentence: "",
        source: "",
        needs_ecn: true,
        parameters: KEYS.into_iter().enumerate().map(parameter).collect(),
        connection: vec![0, 0, 5],
        subflow: vec![1, 2],
        counters: vec![("suppressions", 2)],
        callbacks,
    }))
}

fn defined(n: usize) -> Defined {
    Defined::new(&DefinedConfig::of(definition(), Preset::Linux), n)
}

#[test]
fn parameters_and_state_are_words() {
    let made = defined(2);
    assert_eq!((made.block.word(0), made.block.word(1)), (0.5f64.to_bits(), word_of(true)));
    assert_eq!((3..7).map(|at| made.block.word(at)).collect::<Vec<_>>(), [1, 2, 1, 2]);
    let mut told = Vec::new();
    made.metrics(&mut |metric| told.push((metric.name, metric.value as u64)));
    assert_eq!(told, [("suppressions", 5)]);
}

#[test]
fn hooks_that_it_lacks_have_the_defaults() {
    let made = defined(1);
    assert!(made.is_active(S[0]) && made.needs_ecn_on(S[0]) && !made.joins_later());
}

#[test]
fn an_exception_or_a_wrong_window_is_a_fault_and_the_first_counts() {
    let mut made = defined(1);
    let mut states = [state(10.0)];
    assert!(made.in_ack_event(&mut states, S[0], ack(1)));
    assert_eq!(made.hook_error(), None);
    assert!(!made.in_ack_event(&mut states, S[0], ack(7)));
    let hook_error = made.hook_error().cloned().expect("an error of a hook");
    assert_eq!((hook_error.algorithm, hook_error.hook), ("mine", "in_ack_event"));
    states[0].cwnd = f64::NAN;
    assert!(!made.in_ack_event(&mut states, S[0], ack(1)));
    assert_eq!(made.hook_error(), Some(&hook_error));
}

#[test]
fn windows_are_sound_after_a_fault() {
    for (cwnd, ssthresh) in [(f64::NAN, 2.0), (0.9, 2.0), (f64::INFINITY, 2.0), (1e9, 2.0), (5.0, 0.0), (5.0, f64::NAN)]
    {
        let mut made = defined(2);
        let mut states = [state(10.0), state(10.0)];
        (states[1].cwnd, states[1].ssthresh) = (cwnd, ssthresh);
        assert!(!made.in_ack_event(&mut states, S[0], ack(1)));
        assert!(made.hook_error().is_some_and(|hook_error| hook_error.what.contains("subflow 1")), "{cwnd} {ssthresh}");
        assert!(states.iter().all(has_windows));
    }
}

/// The hook writes no value: it stays NaN.
#[test]
fn an_ssthresh_that_is_no_number_is_a_fault() {
    let mut made = defined(1);
    assert_eq!(made.ssthresh(&[state(10.0)], S[0], 8), 4.0);
    assert!(made.hook_error().is_some_and(|hook_error| hook_error.what.contains("NaN")));
}

extern "C" fn is_second(_: *mut u64, _: *mut u64, _: i64, s: i64) -> i32 {
    (s == 1) as i32
}

extern "C" fn raise(_: *mut u64, _: *mut u64, _: i64, _: i64) -> i32 {
    -1
}

extern "C" fn grow(_: *mut u64, _: *mut u64, _: *mut CongestionState, _: i64, _: i64, acked: f64) -> i32 {
    -((acked == 3.0) as i32)
}

extern "C" fn enough(_: *mut u64, _: *mut u64, _: *mut CongestionState, n: i64, sent: i64) -> i32 {
    match n {
        2 => (sent >= 1000) as i32,
        _ => -1,
    }
}

extern "C" fn halve(
    _: *mut u64,
    _: *mut u64,
    _: *mut CongestionState,
    _: i64,
    _: i64,
    flight: i64,
    value: *mut f64,
) -> i32 {
    if let Some(value) = std::ptr::NonNull::new(value) {
        let ssthresh = flight as f64 / 4.0;
        // SAFETY: the caller lends one number.
        #[allow(unsafe_code)]
        unsafe {
            value.write(ssthresh);
        }
    }
    1
}

fn with(callbacks: Callbacks, n: usize) -> Defined {
    let definition = Definition { callbacks, parameters: vec![], needs_ecn: false, ..bare() };
    Defined::new(&DefinedConfig::of(Box::leak(Box::new(definition)), Preset::Linux), n)
}

fn bare() -> Definition {
    Definition {
        name: "bare",
        sentence: "",
        source: "",
        needs_ecn: true,
        parameters: vec![],
        connection: vec![],
        subflow: vec![],
        counters: vec![],
        callbacks: Callbacks::none(),
    }
}

#[test]
fn hooks_learn_of_which_subflow_they_are() {
    let made = with(Callbacks { is_active: Some(is_second), needs_ecn_on: Some(is_second), ..Callbacks::none() }, 2);
    assert_eq!([made.is_active(S[0]), made.is_active(S[1])], [false, true]);
    assert_eq!([made.needs_ecn_on(S[0]), made.needs_ecn_on(S[1]), made.needs_ecn()], [false, true, false]);
}

/// Each hook is called by its event, and the error names it.
#[test]
fn an_exception_names_its_hook() {
    let mut states = [state(10.0)];
    let mut error = |callbacks: Callbacks, event: &dyn Fn(&mut Defined, &mut [CongestionState; 1])| {
        let mut made = with(callbacks, 1);
        event(&mut made, &mut states);
        made.hook_error().map(|error| error.hook)
    };
    let none = Callbacks::none;
    let raised = Some(raise as OnSubflow);
    assert_eq!(error(Callbacks { on_timeout: raised, ..none() }, &|d, _| d.on_timeout(S[0])), Some("on_timeout"));
    assert_eq!(error(Callbacks { undo: raised, ..none() }, &|d, _| d.undo(S[0])), Some("undo"));
    assert_eq!(
        error(Callbacks { on_established: raised, ..none() }, &|d, _| d.on_established(S[0])),
        Some("on_established")
    );
    assert_eq!(error(Callbacks { on_failed: raised, ..none() }, &|d, _| d.on_failed(S[0])), Some("on_failed"));
    let growing = Callbacks { cong_avoid: Some(grow), ..none() };
    assert_eq!(error(growing, &|d, states| d.cong_avoid(states, S[0], 2.0)), None);
    assert_eq!(error(growing, &|d, states| d.cong_avoid(states, S[0], 3.0)), Some("cong_avoid"));
    let joining = Callbacks { joins_now: Some(enough), ..none() };
    let joins = |d: &mut Defined, states: &mut [CongestionState; 1]| {
        assert!(!d.joins_now(states, 1000, Time::ZERO));
    };
    assert_eq!(error(joining, &joins), Some("joins_now"));
}

#[test]
fn subflows_join_when_the_algorithm_says_so() {
    let states = [state(10.0), state(10.0)];
    let mut made = with(Callbacks { joins_now: Some(enough), ..Callbacks::none() }, 2);
    assert!(made.joins_later());
    assert_eq!([999, 1000].map(|sent| made.joins_now(&states, sent, Time::ZERO)), [false, true]);
}

/// A quarter of 40 packets; a quarter of 2 is below one packet, which is no window.
#[test]
fn the_threshold_after_a_loss_is_the_algorithm_s() {
    let mut made = with(Callbacks { ssthresh: Some(halve), ..Callbacks::none() }, 1);
    assert_eq!(made.ssthresh(&[state(40.0)], S[0], 40), 10.0);
    assert_eq!(made.hook_error(), None);
    assert_eq!(made.ssthresh(&[state(40.0)], S[0], 2), 2.0, "the default");
    assert!(made.hook_error().is_some());
}

/// The hook for marks after growth asks for a cut.
#[test]
fn a_cut_may_follow_growth() {
    extern "C" fn cut(_: *mut u64, _: *mut u64, _: *mut CongestionState, _: i64, s: i64) -> i32 {
        (s == 1) as i32
    }
    let mut made = with(Callbacks { cut_after_growth: Some(cut), ..Callbacks::none() }, 2);
    let mut states = [state(10.0), state(10.0)];
    assert_eq!([S[0], S[1]].map(|s| made.cut_after_growth(&mut states, s)), [false, true]);
}

#[test]
fn it_is_an_algorithm_among_others() {
    let config = ControlConfig::Defined(DefinedConfig::of(definition(), Preset::Linux));
    let mmptcp = ControlConfig::of(Algorithm::Mmptcp, Preset::Linux);
    assert!(config.definition().is_some_and(|definition| definition.name == "mine"));
    assert!(mmptcp.definition().is_none() && mmptcp.mmptcp().is_some() && config.mmptcp().is_none());
    let [mut control, other] = [&config, &mmptcp].map(|config| config.build(1));
    control.in_ack_event(&mut [state(10.0)], S[0], ack(7));
    assert!(control.hook_error().is_some() && other.hook_error().is_none());
}

/// Two definitions are two algorithms, even if they have the same name.
#[test]
fn a_definition_equals_itself_alone() {
    let [one, other] = [bare(), bare()];
    assert!(one == one && one != other);
    let hash = |definition: &Definition| {
        use std::hash::{BuildHasher, RandomState};
        static KEYS: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
        KEYS.hash_one(definition)
    };
    assert!(hash(&one) == hash(&one) && hash(&one) != hash(&other));
}

#[test]
fn presets_have_their_own_defaults() {
    let parameter = Parameter {
        key: "gain",
        doc: &[],
        word: 0,
        defaults: [Value::Integer(3), Value::Integer(4)],
        bounds: Bounds::POSITIVE,
    };
    let definition: &Definition =
        Box::leak(Box::new(Definition { connection: vec![0], parameters: vec![parameter], ..bare() }));
    let word = |preset| Defined::new(&DefinedConfig::of(definition, preset), 1).block.word(0);
    assert_eq!([word(Preset::Linux), word(Preset::Paper2013)], [3, 4]);
}

/// C's `bool` is a byte, the first of its word.
#[test]
fn a_flag_is_the_first_byte_of_its_word() {
    assert_eq!([true, false].map(|flag| word_of(flag).to_ne_bytes()), [[1, 0, 0, 0, 0, 0, 0, 0], [0; 8]]);
}
