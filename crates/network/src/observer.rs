//! What is kept of packets for a trace: losses with the packets in the queue, packets whose payload
//! was cut off, and those that hosts send.

use crate::fabric::{LinkId, NodeId};
use crate::packet::Packet;
use crate::packet::Trailer;
use crate::pauses::Pause;
use linkpool_units::Time;

/// Why a packet was lost, in whole or in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The queue had no room for it.
    Full,
    /// The link was down, or failed.
    Down,
    /// It was lost at random on the link.
    Random,
    /// The queue had no room for its payload, which was cut off; its header goes on.
    Trimmed,
    /// Nor was there room for its header, which goes back to its sender.
    Returned,
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

impl Seen {
    /// As its sender made the packet, before it was given a priority.
    pub(crate) fn unmarked(self) -> Seen {
        Seen { packet: self.packet.unmarked(), ..self }
    }
}

/// A packet that was lost, or its payload.
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

/// A packet that was held back at a port that was paused.
#[derive(Clone, Debug)]
pub struct Held {
    /// When it left.
    pub at: Time,
    /// The link of the port.
    pub link: LinkId,
    /// The packet.
    pub packet: Seen,
    /// For how long its priority was paused while it waited.
    pub paused: Time,
    /// The last pause of these.
    pub pause: Pause,
}

/// What happened since somebody last asked.
#[derive(Debug, Default)]
pub struct Observer {
    /// Nodes with lower numbers are hosts.
    hosts: usize,
    /// Packets that were lost, or their payload.
    pub discarded: Vec<Discarded>,
    /// Packets that hosts have sent. Where the port has no service events, their arrival is known.
    pub sent: Vec<(LinkId, Seen)>,
    /// Packets that pauses have held back, at any port.
    pub held: Vec<Held>,
    /// Of the others, packets whose transmission has begun; their arrival is known.
    pub departed: Vec<(LinkId, Packet)>,
}

impl Observer {
    pub(crate) fn new(hosts: usize) -> Observer {
        Observer { hosts, ..Observer::default() }
    }

    /// Takes what it has.
    pub(crate) fn take(&mut self) -> Observer {
        let hosts = self.hosts;
        std::mem::replace(self, Observer::new(hosts))
    }

    pub(crate) fn is_host(&self, node: NodeId) -> bool {
        node.index() < self.hosts
    }
}
