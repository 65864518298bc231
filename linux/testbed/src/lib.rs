//! The test bed: runs a scenario of the simulator on the network stack of Linux.
//!
//! Hosts are network namespaces, with sockets of the kernel. Between them is the simulator's own
//! network, run by the clock: so queues, marks, delays and paths are those that the scenario says,
//! and what differs from a simulation is the transport. Or the kernel's own switches are between
//! them.
//!
//! Nothing that it makes has a name: namespaces and devices live as long as the process, whatever
//! ends it.

mod address;
mod beside;
mod carry;
mod clock;
mod conditions;
mod controllers;
mod ends;
mod fabric;
mod fairness;
mod headroom;
mod hosts;
mod info;
mod kernel;
mod lanes;
mod memory;
mod namespace;
mod receiving;
mod refuse;
mod run;
mod sending;
mod soak;
mod stolen;
mod suppression;
mod timing;
mod traffic;

pub use beside::{Beside, Measured, OnKernel, beside};
pub use controllers::ControllerSummary;
pub use fabric::Switches;
pub use fairness::{Rival, Shares, fairness};
pub use headroom::Headroom;
pub use run::{Report, check, run};
pub use soak::{Soaked, SoakedController, Trouble, soak};
pub use suppression::SuppressionSummary;
pub use timing::{LostTime, TimingSummary};
