//! The payload of packets.

use linkpool_network::Envelope;

static ZEROS: [u8; Envelope::LONGEST as usize] = [0; Envelope::LONGEST as usize];

/// So many bytes of payload: zeros.
pub(super) fn zeros(bytes: u16) -> &'static [u8] {
    &ZEROS[..bytes.into()]
}
