//! TCP, MPTCP and NDP without I/O: segments and timer expiries go in, segments and timer requests
//! come out.
//!
//! This crate does not know links, hosts or a simulator. A connection carries data in one
//! direction, from a [`Sender`] to a [`Receiver`]. A congestion control algorithm implements
//! [`control::CongestionControl`], and sees all subflows of its connection.

// The example of docs/new-algorithm.md names things by the crate, and compiles within it and
// without.
extern crate self as linkpool_transport;

mod config;
mod congestion;
pub mod control;
mod flow_control;
mod id;
mod loss;
mod metric;
mod multipath;
pub mod ndp;
mod options;
mod outstanding;
pub mod paths;
mod quickack;
mod reassembly;
mod receiver;
mod reordering;
mod reporting;
mod rtt;
mod segment;
mod send_buffer;
mod sender;
mod seq;
mod subflow;
mod threshold;
mod timer;
mod turns;

pub use config::{Config, LossRecovery};
pub use congestion::CongestionState;
pub use flow_control::Buffers;
pub use id::SubflowId;
pub use metric::Metric;
pub use multipath::{Fault, Faults, Multipath, PacketScheduler};
pub use options::{AckOptions, SackBlocks};
pub use paths::{PlbConfig, RepsConfig};
pub use reassembly::Reassembly;
pub use receiver::{Delivery, Receiver};
pub use rtt::{RttConfig, RttEstimator};
pub use segment::{Output, Segment};
pub use send_buffer::SendBuffer;
pub use sender::{Sender, SenderState};
pub use seq::Seq;
pub use subflow::{OutstandingSegments, SubflowStats};
pub use threshold::DupackThreshold;
pub use turns::TurnQueue;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/new-algorithm.md")]
struct NewAlgorithm;
