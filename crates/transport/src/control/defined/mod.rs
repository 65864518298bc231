//! An algorithm that is defined at run time: its parameters, its state, and its compiled hooks.

use super::callbacks::{Answer, Block, Callbacks, OnSubflow, Raised, word_of};
use super::{Ack, CongestionControl};
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use crate::metric::Metric;
use linkpool_settings::{Bounds, Fallback, Limit, Preset, Scope, Setting, State, Visit};
use linkpool_units::Time;
use std::cell::OnceCell;
use std::ops::RangeInclusive;

/// An algorithm that is not part of this crate. It lives as long as the process.
#[derive(Debug)]
pub struct Definition {
    /// Its name in scenarios.
    pub name: &'static str,
    /// How it works, in a sentence.
    pub sentence: &'static str,
    /// Where it is defined: a paper, an RFC.
    pub source: &'static str,
    /// Are packets sent as ECN-capable?
    pub needs_ecn: bool,
    /// What scenarios may set. The value of each has a word of the connection.
    pub parameters: Vec<Parameter>,
    /// The words of a new connection. The values of parameters replace the words of parameters.
    pub connection: Vec<u64>,
    /// The words of a new subflow.
    pub subflow: Vec<u64>,
    /// Words of the connection that are reported to the results, by name.
    pub counters: Vec<(&'static str, usize)>,
    /// The hooks.
    pub callbacks: Callbacks,
}

/// A parameter of a [`Definition`].
#[derive(Debug)]
pub struct Parameter {
    /// Its name in scenarios.
    pub key: &'static str,
    /// Its documentation.
    pub doc: &'static [&'static str],
    /// Its place among the words of the connection.
    pub word: usize,
    /// Its default of the presets "linux" and "paper-2013".
    pub defaults: [Value; 2],
    /// The bounds of a number.
    pub bounds: Bounds,
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Float(f64),
    Integer(i64),
    Flag(bool),
}

impl Value {
    fn word(self) -> u64 {
        match self {
            Value::Float(x) => x.to_bits(),
            Value::Integer(n) => n as u64,
            Value::Flag(flag) => word_of(flag),
        }
    }
}

/// Two algorithms are equal if they have the same definition.
impl PartialEq for Definition {
    fn eq(&self, other: &Definition) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Definition {}

impl std::hash::Hash for Definition {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

/// A defined algorithm with the values of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedConfig {
    /// The algorithm.
    pub definition: &'static Definition,
    values: Box<[Value]>,
}

impl DefinedConfig {
    pub(super) fn of(definition: &'static Definition, preset: Preset) -> DefinedConfig {
        let default = |p: &Parameter| p.defaults[(preset == Preset::Paper2013) as usize];
        DefinedConfig { definition, values: definition.parameters.iter().map(default).collect() }
    }

    pub(super) fn each<V: Visit>(&mut self, visit: &mut V) {
        for (parameter, value) in self.definition.parameters.iter().zip(&mut self.values) {
            let bounds = &parameter.bounds;
            let setting = |schema| Setting {
                key: parameter.key,
                doc: parameter.doc,
                scope: Scope::Tcp,
                fallback: Fallback::Preset,
                schema,
            };
            let state = |wrong| State { applies: true, condition: None, wrong, refused: None };
            match value {
                Value::Float(x) => {
                    let wrong = Limit::<f64>::wrong(bounds, x);
                    visit.setting::<f64, f64>(&setting(|g| g.subschema_for::<f64>()), x, state(wrong));
                }
                Value::Integer(n) => {
                    let wrong = Limit::<f64>::wrong(bounds, &(*n as f64));
                    visit.setting::<i64, i64>(&setting(|g| g.subschema_for::<i64>()), n, state(wrong));
                }
                Value::Flag(flag) => {
                    visit.setting::<bool, bool>(&setting(|g| g.subschema_for::<bool>()), flag, state(None));
                }
            }
        }
    }
}

/// The error of a hook, which ended its run.
#[derive(Clone, Debug, PartialEq)]
pub struct HookError {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The hook.
    pub hook: &'static str,
    /// The error.
    pub what: String,
}

/// A defined algorithm with the state of one connection.
///
/// After an error no hook is called any more, and windows are sound: the sender gives up after the
/// event.
#[derive(Debug)]
pub struct Defined {
    definition: &'static Definition,
    block: Block,
    /// The first error of a hook.
    hook_error: OnceCell<Box<HookError>>,
}

const RAISED: &str = "raised an exception, such as an index out of range or a division by zero";

/// The windows that a sender can have, in packets. With a window below the least, it would wait for
/// ever; a window above the greatest would fill the memory of the machine.
const WINDOWS: RangeInclusive<f64> = 1.0..=(1 << 24) as f64;

#[inline]
fn has_windows(state: &CongestionState) -> bool {
    WINDOWS.contains(&state.cwnd) && state.ssthresh > 0.0
}

impl Defined {
    pub(super) fn new(config: &DefinedConfig, n: usize) -> Defined {
        let definition = config.definition;
        let mut connection = definition.connection.clone();
        for (parameter, value) in definition.parameters.iter().zip(&config.values) {
            connection[parameter.word] = value.word();
        }
        let block = Block::new(&connection, &definition.subflow, n);
        let defined = Defined { definition, block, hook_error: OnceCell::new() };
        defined.call("init", definition.callbacks.init, SubflowId::FIRST, true);
        defined
    }

    /// The error of a hook, if one had one.
    #[inline]
    pub(super) fn hook_error(&self) -> Option<&HookError> {
        self.hook_error.get().map(Box::as_ref)
    }

    /// The answer of a hook that sees no congestion states; `otherwise` if there is no such hook.
    #[inline]
    fn call(&self, name: &'static str, hook: Option<OnSubflow>, s: SubflowId, otherwise: bool) -> bool {
        if hook.is_none() || self.hook_error().is_some() {
            return otherwise;
        }
        Callbacks::on_subflow(hook, &self.block, s).unwrap_or_else(|Raised| {
            self.blame(name, RAISED);
            otherwise
        })
    }

    /// The answer of a hook that may set windows.
    #[inline]
    fn judge(&self, hook: &'static str, answer: Answer, states: &mut [CongestionState]) -> bool {
        match answer {
            Ok(answer) if states.iter().all(has_windows) => answer,
            _ => self.fail(hook, answer, states),
        }
    }

    #[cold]
    fn fail(&self, hook: &'static str, answer: Answer, states: &mut [CongestionState]) -> bool {
        if answer.is_err() {
            self.blame(hook, RAISED);
        }
        for (s, state) in states.iter_mut().enumerate().filter(|(_, state)| !has_windows(state)) {
            let (cwnd, ssthresh) = (state.cwnd, state.ssthresh);
            let bounds = "a cwnd is 1 to 2^24 packets, an ssthresh above 0";
            self.blame(hook, format!("left subflow {s} with cwnd {cwnd:?} and ssthresh {ssthresh:?}; {bounds}"));
            state.cut_to(1.0);
        }
        false
    }

    #[cold]
    fn blame(&self, hook: &'static str, what: impl Into<String>) {
        let (algorithm, what) = (self.definition.name, what.into());
        self.hook_error.get_or_init(|| Box::new(HookError { algorithm, hook, what }));
    }
}

// Functions that are not inlined let the compiler inline the other algorithms in the sender.
impl CongestionControl for Defined {
    fn needs_ecn(&self) -> bool {
        self.definition.needs_ecn
    }

    #[inline(never)]
    fn needs_ecn_on(&self, s: SubflowId) -> bool {
        self.call("needs_ecn_on", self.definition.callbacks.needs_ecn_on, s, self.needs_ecn())
    }

    #[inline(never)]
    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
        if self.hook_error().is_some() {
            return false;
        }
        let answer = self.definition.callbacks.in_ack_event(&self.block, states, s, ack);
        self.judge("in_ack_event", answer, states)
    }

    #[inline(never)]
    fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
        if self.hook_error().is_some() {
            return false;
        }
        let answer = self.definition.callbacks.cut_after_growth(&self.block, states, s);
        self.judge("cut_after_growth", answer, states)
    }

    #[inline(never)]
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
        if self.hook_error().is_none() {
            let answer = self.definition.callbacks.cong_avoid(&self.block, states, s, acked);
            self.judge("cong_avoid", answer, states);
        }
    }

    #[inline(never)]
    fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
        let default = (flight as f64 / 2.0).max(2.0);
        if self.hook_error().is_some() {
            return default;
        }
        match self.definition.callbacks.ssthresh(&self.block, states, s, flight) {
            None => return default,
            Some(Ok(value)) if WINDOWS.contains(&value) => return value,
            Some(Ok(value)) => {
                self.blame(
                    "ssthresh",
                    format!("returned {value:?} for subflow {s:?}; an ssthresh is 1 to 2^24 packets"),
                );
            }
            Some(Err(Raised)) => self.blame("ssthresh", RAISED),
        }
        default
    }

    #[inline(never)]
    fn on_timeout(&mut self, s: SubflowId) {
        self.call("on_timeout", self.definition.callbacks.on_timeout, s, true);
    }

    fn undo(&mut self, s: SubflowId) {
        self.call("undo", self.definition.callbacks.undo, s, true);
    }

    fn on_established(&mut self, s: SubflowId) {
        self.call("on_established", self.definition.callbacks.on_established, s, true);
    }

    fn on_failed(&mut self, s: SubflowId) {
        self.call("on_failed", self.definition.callbacks.on_failed, s, true);
    }

    fn joins_later(&self) -> bool {
        self.definition.callbacks.joins_now.is_some()
    }

    #[inline(never)]
    fn joins_now(&mut self, states: &[CongestionState], sent: u64, _now: Time) -> bool {
        if self.hook_error().is_some() {
            return false;
        }
        self.definition.callbacks.joins_now(&self.block, states, sent).unwrap_or_else(|Raised| {
            self.blame("joins_now", RAISED);
            false
        })
    }

    #[inline(never)]
    fn is_active(&self, s: SubflowId) -> bool {
        self.call("is_active", self.definition.callbacks.is_active, s, true)
    }

    fn suppresses(&self) -> bool {
        true
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        for (name, at) in &self.definition.counters {
            report(Metric::count(name, self.block.word(*at)));
        }
    }
}

#[cfg(test)]
mod tests;
