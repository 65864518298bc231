//! Congestion control algorithms that Python defines and numba compiles.

use linkpool_scenario::Compile;
use linkpool_settings::Bounds;
use linkpool_transport::control::{Callbacks, Definition, Parameter, Value, layout};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{PoisonError, RwLock};

/// All definitions; Python knows each by its place.
static DEFINITIONS: RwLock<Vec<&'static Definition>> = RwLock::new(Vec::new());

/// Compiles by `linkpool.control.load`.
pub(crate) struct Numba;

impl Compile for Numba {
    fn compile(&self, file: &str, source: &str) -> Result<Vec<&'static Definition>, String> {
        let places: PyResult<Vec<usize>> = Python::attach(|py| {
            py.import("linkpool.control.load")?.call_method1("definitions", (file, source))?.extract()
        });
        let places = places.map_err(|error| Python::attach(|py| error.value(py).to_string()))?;
        let all = DEFINITIONS.read().unwrap_or_else(PoisonError::into_inner);
        Ok(places.into_iter().map(|place| all[place]).collect())
    }
}

/// Runs no code that the scenario brings: reading a scenario must not, unless its user asks for it.
pub(crate) struct Unasked;

impl Compile for Unasked {
    fn compile(&self, file: &str, _: &str) -> Result<Vec<&'static Definition>, String> {
        Err(format!(
            "{file} is code in Python, which runs when the scenario is read; if you know what it does, add --run-code \
             (in Python, run_code=True)"
        ))
    }
}

/// A definition, as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Description {
    name: String,
    sentence: String,
    source: String,
    needs_ecn: bool,
    parameters: Vec<ParameterOf>,
    connection: Vec<u64>,
    subflow: Vec<u64>,
    counters: Vec<(String, usize)>,
    addresses: Vec<usize>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ParameterOf {
    key: String,
    doc: String,
    word: usize,
    defaults: [Number; 2],
    least: f64,
    above: bool,
    most: f64,
    below: bool,
    message: String,
}

// The order matters: in Python a bool is an integer, and an integer will do as a float.
#[derive(FromPyObject)]
enum Number {
    Flag(bool),
    Integer(i64),
    Float(f64),
}

impl Number {
    fn value(&self) -> Value {
        match *self {
            Number::Flag(flag) => Value::Flag(flag),
            Number::Integer(n) => Value::Integer(n),
            Number::Float(x) => Value::Float(x),
        }
    }
}

fn forever(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl ParameterOf {
    fn parameter(self) -> Parameter {
        let message = forever(self.message);
        let from = if self.above { Bounds::above(self.least, message) } else { Bounds::from(self.least, message) };
        let bounds = if self.below { from.below(self.most) } else { from.to(self.most) };
        let doc = vec![forever(self.doc)];
        let defaults = self.defaults.map(|number| number.value());
        Parameter { key: forever(self.key), doc: Box::leak(doc.into_boxed_slice()), word: self.word, defaults, bounds }
    }
}

/// Bytes of a path; its fields with their offsets and kinds; the names of the hooks, in the order
/// of their addresses.
type Shared = (usize, Vec<(&'static str, usize, char)>, &'static [&'static str]);

/// What compiled hooks must know of memory.
#[pyfunction]
pub(crate) fn control_layout() -> Shared {
    let layout = layout();
    (layout.size, layout.fields, Callbacks::NAMES)
}

/// Defines an algorithm for as long as the process lives; returns its place.
#[pyfunction]
pub(crate) fn define_control(description: Description) -> PyResult<usize> {
    let Description { name, sentence, source, needs_ecn, parameters, connection, subflow, counters, addresses } =
        description;
    let words = connection.len();
    if parameters.iter().map(|p| p.word).chain(counters.iter().map(|c| c.1)).any(|word| word >= words) {
        return Err(PyValueError::new_err(format!("a word beyond the {words} of the connection")));
    }
    let addresses: Result<[usize; Callbacks::NAMES.len()], _> = addresses.try_into();
    let addresses = addresses.map_err(|_| PyValueError::new_err("as many addresses as there are hooks"))?;
    let definition = Definition {
        name: forever(name),
        sentence: forever(sentence),
        source: forever(source),
        needs_ecn,
        parameters: parameters.into_iter().map(ParameterOf::parameter).collect(),
        connection,
        subflow,
        counters: counters.into_iter().map(|(name, word)| (forever(name), word)).collect(),
        // SAFETY: `linkpool.control.compile`, the only caller, has compiled the functions for these
        // signatures, with the layout of `control_layout` and with this many words, checks every
        // index, turns exceptions into answers, and keeps the functions for ever.
        #[allow(unsafe_code)]
        callbacks: unsafe { Callbacks::at(addresses) },
    };
    let mut all = DEFINITIONS.write().unwrap_or_else(PoisonError::into_inner);
    all.push(Box::leak(Box::new(definition)));
    Ok(all.len() - 1)
}
