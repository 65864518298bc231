//! The connection's stream at the sender.

use crate::seq::Seq;

/// A piece of the stream that becomes one segment: its first byte, and its length.
pub(super) type Piece = (u64, u16);

/// How far the connection's stream has been given to subflows, and how far it is acknowledged.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Stream {
    /// End of the stream; `u64::MAX` while it is not known. Of a connection that stays open, the
    /// end of the message that is being sent.
    pub(super) size: u64,
    /// First byte not yet given to a subflow.
    pub(super) nxt: u64,
    /// First byte not acknowledged at connection level.
    pub(super) una: u64,
    /// New data ends before this.
    pub(super) limit: u64,
}

impl Stream {
    /// A stream of so many bytes.
    pub(super) fn new(size: u64) -> Stream {
        Stream { size, nxt: 0, una: 0, limit: 0 }
    }

    /// Takes a DATA_ACK.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, data_ack: Seq) {
        self.una = self.una.max(data_ack.near(self.una));
    }
}
