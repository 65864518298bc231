//! The scenario file before it means anything: a tree of TOML values that knows where each came
//! from, so that whatever is found wrong later can be pointed at.

mod de;
mod lines;
mod node;
mod overrides;
mod path;

pub(crate) use de::Fault;
pub(crate) use lines::LineNumbers;
pub(crate) use node::{Node, Origin, Value, parse};
pub(crate) use overrides::{apply, apply_seed};
pub(crate) use path::Path;
