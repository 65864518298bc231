//! The tests of the crate, as one program.

mod bounds;
mod gated;
mod kinds;
mod limits;
mod names;
