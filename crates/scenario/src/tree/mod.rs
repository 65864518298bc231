//! The scenario file as it is written: a tree of TOML values. Each value knows its line, or the
//! option that it came from, for messages.

mod de;
mod key_path;
mod node;
mod overrides;

pub(crate) use de::ReadError;
pub(crate) use key_path::KeyPath;
pub(crate) use node::{Node, Origin, Value, parse};
pub(crate) use overrides::{apply, apply_seed};
