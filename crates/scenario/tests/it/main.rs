//! The integration tests of linkpool-scenario: one program, a module a subject.

mod applies;
mod bad;
mod documentation;
mod good;
mod graph;
mod overrides;
mod paths;
mod properties;
mod routing;
mod schema;
