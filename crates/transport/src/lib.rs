//! Transports without I/O: packets and timer expiries go in, packets and timer requests come out.
//! They are of families ([`Family`]): TCP with MPTCP, and others, each in a folder of its own.
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
mod declaration;
mod family;
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
pub mod roce;
mod rtt;
mod segment;
mod send_buffer;
mod sender;
mod seq;
mod subflow;
pub mod tcp;
mod threshold;
mod timer;
mod turns;
pub mod uet;
mod wire;

/// Gives the list of families to the macro `$then`. A line has the name of the type that declares the
/// family ([`Declare`]), and its module, which is the name of its module in `crates/sim/src/host`, too.
#[macro_export]
macro_rules! families {
    ($then:ident) => {
        $then! {
            Tcp: tcp,
            Ndp: ndp,
            Uet: uet,
            Roce: roce,
        }
    };
}

pub use config::{Config, LossRecovery, Pacing};
pub use congestion::CongestionState;
pub use declaration::{Declaration, Declare, DigestForm, Facts, Keys, Law, Spread, Surroundings, Telemetry};
pub use family::{Family, FamilyConfig, OwnSettings};
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
pub use wire::WireConfig;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/new-algorithm.md")]
struct NewAlgorithm;
