//! The integration tests of linkpool-scenario: one program, a module a subject.

mod applies;
mod as_run;
mod bad;
mod controls;
mod documentation;
mod fuzz;
mod good;
mod graph;
mod overrides;
mod paths;
mod properties;
mod reach;
mod routing;
mod schema;
