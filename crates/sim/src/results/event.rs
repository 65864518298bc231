//! What a program that drives a run learns of its messages.

use crate::plan::FlowId;
use linkpool_network::HostId;
use linkpool_units::Time;

/// A message of a driven run, or a timer, which is like a message without bytes from the host that sets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posted {
    /// The number of a message, which is that of its flow in the results; or of a timer, counted by the host that sets it.
    pub id: FlowId,
    /// The host that sends it.
    pub from: HostId,
    /// The host that receives it, or at which the timer is due.
    pub to: HostId,
    /// The size of a message. (One of 0 bytes is sent as one byte, since something must arrive.)
    pub bytes: u64,
    /// Whatever the program likes; the simulation does not read it.
    pub tag: u64,
    /// The time from which the host sends it, or at which the timer is due.
    pub at: Time,
}

/// What happens to a message, in the order in which it does; or a timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Happened {
    /// All its bytes have arrived at the receiving host, in order.
    Delivered,
    /// All its bytes are acknowledged, as the sending host knows.
    Acked,
    /// Its sender has given up.
    GivenUp,
    /// A timer is due at its host.
    Timer,
}

/// An event of a message, or a timer that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// When.
    pub at: Time,
    /// What.
    pub what: Happened,
    /// To which message; or which timer.
    pub message: Posted,
}

impl Event {
    /// The order of events; it is total.
    pub(crate) fn order(&self) -> (Time, Happened, FlowId, HostId) {
        (self.at, self.what, self.message.id, self.message.from)
    }
}
