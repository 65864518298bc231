//! The integration tests of linkpool-scenario: one program, a module a subject.

mod applies;
mod as_run;
mod bad;
mod controls;
mod convert;
mod digests;
mod documentation;
mod fuzz;
mod good;
mod graph;
mod inference;
mod nic;
mod overrides;
mod paths;
mod programs;
mod properties;
mod reach;
mod routing;
mod schema;
mod traces;
