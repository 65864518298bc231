//! The options of TCP headers, as bytes.

use super::keys::{Key, Keys};
use linkpool_transport::{SackBlocks, SubflowId};

/// The options of a header under construction.
#[derive(Debug, Default)]
pub(super) struct Options {
    bytes: Vec<u8>,
}

/// The kind of MPTCP's option (RFC 8684, section 3).
const MPTCP: u8 = 30;
const MP_CAPABLE: u8 = 0;
const MP_JOIN: u8 = 1;
const DSS: u8 = 2;
/// Of MP_CAPABLE: the codes are HMAC-SHA256 (bit H, RFC 8684, section 3.1).
const SHA256: u8 = 1;
const VERSION: u8 = 1;
/// Of DSS (RFC 8684, section 3.3).
const HAS_DATA_ACK: u8 = 0x01;
const HAS_MAPPING: u8 = 0x04;
const DATA_FIN: u8 = 0x10;

/// What a DSS option maps: `length` bytes of the subflow from `sequence` to the connection from
/// `data_sequence`. The length counts a DATA_FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mapping {
    pub(super) data_sequence: u32,
    pub(super) sequence: u32,
    pub(super) length: u16,
    pub(super) data_fin: bool,
}

impl Options {
    fn push(&mut self, kind: u8, content: &[&[u8]]) {
        let length = 2 + content.iter().map(|part| part.len()).sum::<usize>();
        self.bytes.extend([kind, length as u8]);
        content.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }

    /// The bytes, filled up to whole words by options of no operation; there is room for 40.
    pub(super) fn finish(&mut self) -> &[u8] {
        let words = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(words, 1);
        &self.bytes
    }

    /// Forgets all options.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The options of TCP in a SYN or SYN-ACK: the largest segment (RFC 9293, section 3.2), SACK
    /// permitted (RFC 2018, section 2), and the scale of windows (RFC 7323, section 2.2).
    pub(super) fn handshake(&mut self, largest: u16, sack: bool, scale: u8) {
        self.push(2, &[&largest.to_be_bytes()]);
        if sack {
            self.push(4, &[]);
        }
        self.push(3, &[&[scale]]);
    }

    /// SACK blocks (RFC 2018, section 3).
    pub(super) fn sack(&mut self, blocks: &SackBlocks) {
        let blocks = blocks.as_slice();
        if !blocks.is_empty() {
            let edges: Vec<u8> =
                blocks.iter().flat_map(|(start, end)| [start.0, end.0]).flat_map(u32::to_be_bytes).collect();
            self.push(5, &[&edges]);
        }
    }

    fn capable(&mut self, content: &[&[u8]]) {
        let content = [&[&[MP_CAPABLE << 4 | VERSION, SHA256][..]], content].concat();
        self.push(MPTCP, &content);
    }

    /// MP_CAPABLE of a SYN.
    pub(super) fn capable_syn(&mut self) {
        self.capable(&[]);
    }

    /// MP_CAPABLE of a SYN-ACK.
    pub(super) fn capable_syn_ack(&mut self, keys: Keys) {
        let Key(key) = keys.receiver;
        self.capable(&[&key.to_be_bytes()]);
    }

    /// MP_CAPABLE of the third segment, and of the first data, with its length.
    pub(super) fn capable_ack(&mut self, keys: Keys, data: Option<u16>) {
        let (Key(sender), Key(receiver)) = (keys.sender, keys.receiver);
        let length = data.map(u16::to_be_bytes);
        let length: &[u8] = length.as_ref().map_or(&[], |length| length);
        self.capable(&[&sender.to_be_bytes(), &receiver.to_be_bytes(), length]);
    }

    /// MP_JOIN of a SYN (RFC 8684, section 3.2).
    pub(super) fn join_syn(&mut self, keys: Keys, subflow: SubflowId, backup: bool) {
        let (token, (nonce, _)) = (keys.receiver.token(), keys.nonces(subflow));
        self.push(MPTCP, &[&[MP_JOIN << 4 | u8::from(backup), 0], &token.to_be_bytes(), &nonce.to_be_bytes()]);
    }

    /// MP_JOIN of a SYN-ACK.
    pub(super) fn join_syn_ack(&mut self, keys: Keys, subflow: SubflowId) {
        let (_, nonce) = keys.nonces(subflow);
        self.push(MPTCP, &[&[MP_JOIN << 4, 0], &keys.receiver_code(subflow), &nonce.to_be_bytes()]);
    }

    /// MP_JOIN of the third segment.
    pub(super) fn join_ack(&mut self, keys: Keys, subflow: SubflowId) {
        self.push(MPTCP, &[&[MP_JOIN << 4, 0], &keys.sender_code(subflow)]);
    }

    /// DSS with a data ACK, and perhaps a mapping; both of 32 bits (RFC 8684, section 3.3).
    pub(super) fn data_sequence_signal(&mut self, data_ack: u32, mapping: Option<Mapping>) {
        let Some(Mapping { data_sequence, sequence, length, data_fin }) = mapping else {
            return self.push(MPTCP, &[&[DSS << 4, HAS_DATA_ACK], &data_ack.to_be_bytes()]);
        };
        let flags = HAS_DATA_ACK | HAS_MAPPING | if data_fin { DATA_FIN } else { 0 };
        let numbers = [data_ack, data_sequence, sequence].map(u32::to_be_bytes).concat();
        self.push(MPTCP, &[&[DSS << 4, flags], &numbers, &length.to_be_bytes()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::FlowId;
    use linkpool_transport::Seq;

    /// The subtypes and lengths that RFC 8684 has: sections 3.1, 3.2 and 3.3.
    #[test]
    fn options_have_the_lengths_of_the_standard() {
        let (keys, one) = (Keys::of(FlowId::new(3), 1), SubflowId::new(1));
        let mapping = Mapping { data_sequence: 1, sequence: 2, length: 3, data_fin: true };
        let length = |make: &dyn Fn(&mut Options)| {
            let mut options = Options::default();
            make(&mut options);
            let all = options.bytes.len();
            assert_eq!(options.bytes[..2], [MPTCP, all as u8]);
            let subtype = options.bytes[2] >> 4;
            assert!(options.finish().len().is_multiple_of(4));
            (subtype, all)
        };
        assert_eq!(length(&|o| o.capable_syn()), (0, 4));
        assert_eq!(length(&|o| o.capable_syn_ack(keys)), (0, 12));
        assert_eq!(length(&|o| o.capable_ack(keys, None)), (0, 20));
        assert_eq!(length(&|o| o.capable_ack(keys, Some(5))), (0, 22));
        assert_eq!(length(&|o| o.join_syn(keys, one, true)), (1, 12));
        assert_eq!(length(&|o| o.join_syn_ack(keys, one)), (1, 16));
        assert_eq!(length(&|o| o.join_ack(keys, one)), (1, 24));
        assert_eq!(length(&|o| o.data_sequence_signal(7, None)), (2, 8));
        assert_eq!(length(&|o| o.data_sequence_signal(7, Some(mapping))), (2, 18));
    }

    /// A receiver's most blocks fit beside a data ACK: 26 bytes of blocks and 8 of DSS, in words.
    /// With a data ACK of 64 bits, of 12 bytes, the 40 bytes would be full; one block more would
    /// not fit beside either.
    #[test]
    fn there_is_room_for_all_blocks_beside_a_data_ack() {
        let blocks: SackBlocks = (0..4).map(|i| (Seq(i), Seq(i + 1))).collect();
        let mut options = Options::default();
        options.sack(&blocks);
        assert_eq!(options.finish().len(), 28);
        options.clear();
        options.sack(&blocks);
        options.data_sequence_signal(1, None);
        assert_eq!(options.bytes[..6], [5, 26, 0, 0, 0, 0]);
        assert_eq!(options.bytes[22..26], [0, 0, 0, 3]);
        assert_eq!(options.finish().len(), 36);
    }
}
