//! The messages of UET endpoints.

use super::credit::Turn;
use crate::id::SubflowId;
use linkpool_units::Time;

/// A packet of data. Packets are numbered from 0 by their PSN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// Its PSN.
    pub psn: u32,
    /// The subflow that sends it.
    pub subflow: SubflowId,
    /// Bytes of payload.
    pub len: u16,
    /// The receiver is to acknowledge it at once (AR).
    pub ack_now: bool,
    /// It was sent before.
    pub again: bool,
    /// No packet of the connection has a higher PSN.
    pub last: bool,
    /// Quanta of credit that its sender wants in all; where the order on a path shows losses, the section (see [`Probe`]).
    pub target: u32,
}

/// A header that asks whether what was sent before it has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Its number; where the order on a path shows losses, the PSN of the packet that it follows on its path.
    pub number: u32,
    /// The first PSN that its subflow sent first on this path; elsewhere 0.
    pub section: u32,
    /// That packet was sent again.
    pub again: bool,
}

/// An ACK, in answer to one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// All packets with lower PSNs have arrived.
    pub cumulative: u32,
    /// The PSN of the lowest bit of `bitmap`.
    pub base: u32,
    /// The packets from `base` on that have arrived, those below `cumulative` left out.
    pub bitmap: u64,
    /// The packet that caused the ACK.
    pub psn: u32,
    /// That packet had a mark.
    pub marked: bool,
    /// That packet was sent again.
    pub again: bool,
    /// It answers a probe; `psn` is the number of the probe.
    pub probe: bool,
    /// Bytes on the wire of all packets that have arrived for the first time.
    pub received: u64,
    /// The number of packets that have arrived above a gap.
    pub out_of_order: u32,
}

/// A NACK: the header of a packet has come without its payload, or the order on its path shows that it is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nack {
    /// Its PSN.
    pub psn: u32,
    /// It was sent again.
    pub again: bool,
    /// A switch had marked it before it was trimmed.
    pub marked: bool,
    /// It was trimmed before the last link, that of the receiver.
    pub at_last: bool,
}

/// Takes what a sender sends.
pub trait Output {
    /// Send a packet of data with this entropy value. It takes the time of the host's links.
    fn send(&mut self, data: Data, entropy: u16);
    /// Send a probe, a header.
    fn probe(&mut self, probe: Probe, entropy: u16);
    /// Ask to send (RTS): the sender wants so many quanta of credit in all.
    fn ask(&mut self, target: u32, entropy: u16);
    /// The number of other senders that wait for the host's links.
    fn others(&self) -> usize;
    /// Call the sender's `on_timer` at `at`. Every request causes a call; no request is withdrawn.
    fn wake(&mut self, at: Time);
    /// May the sender send data at once: are the host's links free, and does no other sender wait for
    /// them?
    fn is_free(&self) -> bool;
    /// Call the sender's `on_turn` when it may send one packet of data. It has not asked before without
    /// getting its turn.
    fn queue_turn(&mut self);
    /// A packet of `subflow` was acknowledged after `rtt`.
    fn measured_rtt(&mut self, _subflow: SubflowId, _rtt: Time) {}
    /// A random number below `n`.
    fn random(&mut self, n: u32) -> u32;
}

/// Takes the answers of a receiver to a packet. They have its entropy value.
pub trait Answers {
    /// Send `ack`.
    fn ack(&mut self, ack: Ack);
    /// Send a NACK.
    fn nack(&mut self, nack: Nack);
    /// Send a PULL: so many quanta of credit are granted in all.
    fn pull(&mut self, granted: u32);
    /// Call the receiver's `on_turn` when its turn comes among receivers like it.
    fn queue_turn(&mut self, turn: Turn);
}
