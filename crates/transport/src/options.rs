//! Options of ACKs: SACK blocks and windows.

use crate::seq::Seq;

/// The options of an ACK, where it has any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AckOptions {
    /// Room for data of the connection beyond `data_ack`, bytes; none: without limit.
    pub window: Option<u32>,
    /// The data that has arrived beyond `ack`, or twice.
    pub sack: SackBlocks,
}

/// The blocks of a SACK option (RFC 2018, section 3), the most recent first; before them a D-SACK
/// (RFC 2883, section 4).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); SackBlocks::MOST],
    len: u8,
}

impl SackBlocks {
    /// More do not fit into the 40 bytes of a TCP header's options.
    pub const MOST: usize = 4;

    /// Adds the block of bytes `start..end`. False, and nothing done, if there is no room.
    pub fn push(&mut self, start: Seq, end: Seq) -> bool {
        let room = self.blocks.get_mut(self.len as usize);
        room.is_some_and(|place| {
            *place = (start, end);
            self.len += 1;
            true
        })
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..self.len as usize]
    }
}

impl std::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl FromIterator<(Seq, Seq)> for SackBlocks {
    /// The first [`SackBlocks::MOST`].
    fn from_iter<I: IntoIterator<Item = (Seq, Seq)>>(blocks: I) -> SackBlocks {
        let mut sack = SackBlocks::default();
        blocks.into_iter().take_while(|(start, end)| sack.push(*start, *end)).count();
        sack
    }
}
