//! The integration tests of linkpool-units: one program, a module a subject.

mod arithmetic;
mod text;
