//! The sender's knowledge of losses on a subflow: which segments have arrived, are lost, or have
//! been sent again, and the state before the window was cut. [`crate::sender`] acts on it.

mod delivered;
mod prr;
mod rack;
mod scoreboard;
mod undo;

pub(crate) use delivered::Delivered;
pub(crate) use prr::Prr;
pub(crate) use rack::{Due, Probe, Rack};
pub(crate) use scoreboard::Scoreboard;
pub(crate) use undo::{Frto, Probation, Undo};
