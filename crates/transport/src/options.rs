//! Options of ACKs: SACK blocks and windows.

use crate::seq::Seq;

/// The options of an ACK that has options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AckOptions {
    /// The offered window: room for data after `data_ack`, bytes; `None` if there is no limit.
    pub window: Option<u32>,
    /// Blocks of data that has arrived after `ack`, or twice.
    pub sack: SackBlocks,
}

/// The blocks of a SACK option (RFC 2018, section 3), the most recent first. A D-SACK, if there is
/// one, comes before them (RFC 2883, section 4).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); SackBlocks::MOST],
    len: u8,
}

impl SackBlocks {
    /// The most blocks of an ACK, of any transport. A TCP header has 40 bytes for options. Beside a
    /// timestamps option, as most systems send it, they hold three blocks (RFC 2018, section 3).
    /// Beside the DSS option of MPTCP, whose data ACK makes it 8 or 12 bytes long (RFC 8684,
    /// section 3.3), they hold three as well: 4 bytes with the padding, and 8 for each block. A
    /// fourth has room only where neither option is sent.
    pub const MOST: usize = 3;

    /// Adds the block of bytes `start..end`. Returns false and adds nothing if there is no room.
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
