//! The integration tests of linkpool-network: one program, a module a subject.

mod against_reference;
mod common;
mod deadlocks;
mod disjoint;
mod fat_tree;
mod forwarding_hosts;
mod gpu_servers;
mod held_ports;
mod messages;
mod nonminimal;
mod odd_rates;
mod parallel;
mod pausing;
mod probes;
mod real_time;
mod routes;
mod settings;
mod shapes;
mod slow_hosts;
mod source_routes;
mod spreading;
mod telemetry;
mod topologies;
mod two_level;
mod watching;
