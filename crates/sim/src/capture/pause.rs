//! A pause frame, as IEEE 802.1Qbb-2011 has it.

use super::address::hardware_address;
use linkpool_network::{NodeId, PauseFrame};

/// Where all frames of MAC control go: to the neighbour, which does not send them on (IEEE 802.3, annex 31B).
const DESTINATION: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];
/// The Ethernet type of MAC control.
const MAC_CONTROL: u16 = 0x8808;
/// The opcode of priority-based flow control (IEEE 802.1Qbb-2011, 31D).
const OPCODE: u16 = 0x0101;
/// Bytes of the smallest frame, without its check sequence, which captures do not have.
const SMALLEST: usize = 60;

/// The frame that a port of `sender` sends: addresses, type, opcode, the vector of priorities, a time for each, and
/// zeros up to the smallest frame.
pub(super) fn frame(sender: NodeId, PauseFrame { enabled, quanta }: PauseFrame) -> [u8; SMALLEST] {
    let words = [MAC_CONTROL, OPCODE, enabled.into()].into_iter().chain(quanta).flat_map(u16::to_be_bytes);
    let bytes = DESTINATION.into_iter().chain(hardware_address(sender)).chain(words);
    let mut frame = [0; SMALLEST];
    frame.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte by byte: priority 0 pauses for 65,535 quanta, 3 for 5, and 7 goes on.
    #[test]
    fn a_frame_has_a_time_for_each_priority() {
        let quanta = [0xffff, 0, 0, 5, 0, 0, 0, 0];
        let bytes = frame(NodeId::new(0x0102), PauseFrame { enabled: 0b1000_1001, quanta });
        let expected = [
            &[0x01, 0x80, 0xc2, 0, 0, 0x01][..],
            &[0x02, 0, 0, 0, 0x01, 0x02],
            &[0x88, 0x08, 0x01, 0x01],
            &[0, 0b1000_1001],
            &[0xff, 0xff, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0; 26],
        ];
        assert_eq!(bytes[..], expected.concat());
    }
}
