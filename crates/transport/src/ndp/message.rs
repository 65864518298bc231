//! The messages of NDP endpoints.

use linkpool_units::Time;

/// A packet of NDP. Packets of data are numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// Payload.
    Data {
        /// Its number.
        number: u32,
        /// Bytes of payload.
        len: u16,
        /// Is it the last packet?
        last: bool,
        /// Sent before the sender has heard of the receiver: it opens the connection, if no other
        /// packet has (section 3.2: each packet of the first round trip carries SYN).
        opens: bool,
    },
    /// The packet `number` has arrived whole.
    Ack {
        /// Its number.
        number: u32,
        /// All packets below have arrived whole.
        next: u32,
    },
    /// The header of packet `number` has arrived without its payload.
    Nack {
        /// Its number.
        number: u32,
        /// All packets below have arrived whole.
        next: u32,
    },
    /// The sender may have sent `count` packets since the first window.
    Pull {
        /// Cumulative, so that a PULL makes up for earlier PULLs that are lost or late. The same
        /// count again: nothing has come since.
        count: u32,
        /// All packets below have arrived whole.
        next: u32,
    },
}

/// Takes the messages that an NDP endpoint sends.
pub trait Output {
    /// Send `message`: data on the path of this number, other messages on any path. Returns when data
    /// will have left the host, behind all that waits in the host's own queue; an earlier time than
    /// now means now.
    fn send(&mut self, message: Message, path: Option<usize>) -> Time;
    /// Call the endpoint's `on_timer` at `at`. Every request causes a call; no request is
    /// withdrawn.
    fn wake(&mut self, at: Time);
    /// A packet that was sent once was acknowledged after `rtt`.
    fn measured_rtt(&mut self, _rtt: Time) {}
    /// A random number below `n`.
    fn random(&mut self, n: usize) -> usize;
}
