//! Telemetry: what ports write on packets as they leave (in-band network telemetry, INT).

use crate::fabric::LinkId;
use linkpool_units::{Rate, Time};

/// The records of hops for which a packet has room.
pub const MOST_HOPS: usize = 8;

/// What a port writes on a packet when it begins to send it (Li et al., "HPCC", SIGCOMM 2019,
/// figure 7). Nothing is rounded, where the header of the paper has few bits for each field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HopRecord {
    /// When the transmission begins.
    pub at: Time,
    /// Bytes that the port has sent before this packet.
    pub sent: u64,
    /// The rate of the link.
    pub rate: Rate,
    /// Bytes that the packet leaves behind at the port, all its queues together.
    pub queue: u32,
    /// The link: the records of two packets belong together if they took the same links.
    pub link: LinkId,
}

/// The records that a packet has got so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Records {
    hops: [HopRecord; MOST_HOPS],
    /// The ports that wrote on the packet, those included that found no room.
    count: u32,
}

impl Records {
    /// Writes what a further port says, if there is room.
    pub(crate) fn add(&mut self, hop: HopRecord) {
        if let Some(place) = self.hops.get_mut(self.count as usize) {
            *place = hop;
        }
        self.count += 1;
    }

    /// All records; none if one found no room, since they do not tell of the whole path.
    pub(crate) fn all(&self) -> &[HopRecord] {
        self.hops.get(..self.count as usize).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_of_the_whole_path() {
        let mut records = Records::default();
        assert!(records.all().is_empty());
        for n in 1..=MOST_HOPS {
            records.add(HopRecord { sent: n as u64, ..HopRecord::default() });
            let sent: Vec<u64> = records.all().iter().map(|hop| hop.sent).collect();
            assert_eq!(sent, (1..=n as u64).collect::<Vec<_>>());
        }
        records.add(HopRecord::default());
        assert!(records.all().is_empty());
    }
}
