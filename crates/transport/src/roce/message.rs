//! The messages of queue pairs.

use super::law::Hop;
use linkpool_units::Time;

/// A packet of RoCE. Packets of data are numbered from 0; the numbers are PSNs of 32 bits, where
/// the wire has 24.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// Payload.
    Data {
        /// Its number.
        psn: u32,
        /// Bytes of payload.
        len: u16,
        /// Its first byte in the stream of the connection.
        place: u64,
        /// Is it the first packet of its message?
        first: bool,
        /// Is it the last packet of its message?
        last: bool,
        /// Sent before the sender has heard of the receiver: it may make the receiver.
        opens: bool,
    },
    /// Packet `psn` has arrived, and all below `next`.
    Ack {
        /// The packet that made the receiver answer.
        psn: u32,
        /// All packets below have arrived.
        next: u32,
        /// That packet was marked, and ACKs carry marks.
        marked: bool,
    },
    /// Packet `psn` has arrived, and `next` has not. With go-back-N, `psn` was thrown away.
    Nack {
        /// The packet that made the receiver answer.
        psn: u32,
        /// The first packet that is missing.
        next: u32,
        /// That packet was marked, and ACKs carry marks.
        marked: bool,
    },
    /// A congestion notification packet: a packet was marked (annex A17.9.3).
    Cnp,
}

/// What switches wrote on the packet that an answer tells of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// Their records.
    pub hops: &'a [Hop],
    /// Their largest digest.
    pub digest: Option<u16>,
}

/// Takes the messages that an endpoint sends, and its requests.
pub trait Output {
    /// Send `message`. Returns when it will have left the host, as far as it is data; an earlier time
    /// than now means now.
    fn send(&mut self, message: Message) -> Time;
    /// Call the endpoint's `on_timer` at `at`. Every request causes a call; no request is withdrawn.
    fn wake(&mut self, at: Time);
    /// Call the sender's `on_turn` when its turn at the port of the host has come. It asks for one
    /// turn at a time.
    fn queue_turn(&mut self);
    /// A random number from 0 to below 1.
    fn random(&mut self) -> f64;
    /// A packet that was sent once was acknowledged after `rtt`.
    fn measured_rtt(&mut self, _rtt: Time) {}
}
