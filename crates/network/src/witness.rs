//! Lost packets: where and why each was lost, and the packets in the queue.

use crate::fabric::LinkId;
use crate::packet::Packet;
use crate::packet::Trailer;
use linkpool_units::Time;

/// Why a packet was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The queue had no room for it.
    Full,
    /// The link was down, or failed.
    Down,
    /// It was lost at random on the link.
    Random,
}

/// When, where and why a packet was lost.
#[derive(Clone, Copy, Debug)]
pub struct PacketLoss {
    /// When.
    pub at: Time,
    /// At the port of this link, or on it.
    pub link: LinkId,
    /// Why.
    pub cause: Cause,
    /// Packets that stood in the queue; the one being sent counts where the port is a plain FIFO
    /// queue.
    pub queued: u32,
}

/// A packet with its trailer, as it was.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The packet.
    pub packet: Packet,
    /// Its trailer, if it had one.
    pub trailer: Option<Trailer>,
}

/// A packet that was lost.
#[derive(Clone, Debug)]
pub struct Discarded {
    /// How.
    pub loss: PacketLoss,
    /// The packet.
    pub packet: Seen,
    /// The packets in the queue, the oldest first; none where the port has a discipline of its own,
    /// which does not show its queue.
    pub queue: Vec<Seen>,
}
