//! The sizes of packets on the wire.

use linkpool_settings::settings;
use linkpool_units::Bytes;

settings! {
    /// The sizes of packets on the wire.
    #[derive(Copy)]
    pub struct WireConfig {
        /// Bytes on the wire beside the payload (`linux`: 32 TCP, 20 IP, 38 Ethernet with preamble
        /// and gap).
        header: u32 as Bytes = 90, paper_2013 = 62;
        /// Bytes on the wire of a segment without payload: ACK, SYN, FIN.
        ack_size: u32 as Bytes = 90, paper_2013 = 42;
    }
}
