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

/// What ports have written on a packet, or on the packet of which it tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written<'a> {
    /// Records, in the order of the path; none if that is longer than [`MOST_HOPS`].
    pub hops: &'a [HopRecord],
    /// The digest, of a packet that has room for one; 0 before any port.
    pub digest: Option<u16>,
}

/// Room for what ports write on a packet, in order. Whose packet it is knows how many of them have.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Records([HopRecord; MOST_HOPS]);

impl Records {
    /// Writes what a further port says behind `count` others, if there is room.
    #[inline]
    pub(crate) fn put(&mut self, count: u16, hop: HopRecord) {
        if let Some(place) = self.0.get_mut(usize::from(count)) {
            *place = hop;
        }
    }

    /// What `count` ports wrote; nothing if one found no room, since the others do not tell of the whole path.
    pub(crate) fn all(&self, count: u16) -> &[HopRecord] {
        self.0.get(..usize::from(count)).unwrap_or(&[])
    }

    /// Takes over what `count` ports wrote elsewhere.
    pub(crate) fn copy(&mut self, from: &Records, count: u16) {
        let all = from.all(count);
        self.0[..all.len()].copy_from_slice(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_of_the_whole_path() {
        let mut records = Records::default();
        assert!(records.all(0).is_empty());
        let sent = |records: &Records, count| records.all(count).iter().map(|hop| hop.sent).collect::<Vec<_>>();
        for n in 0..MOST_HOPS as u16 {
            records.put(n, HopRecord { sent: u64::from(n), ..HopRecord::default() });
            assert_eq!(sent(&records, n + 1), (0..=u64::from(n)).collect::<Vec<_>>());
        }
        let full = records;
        records.put(MOST_HOPS as u16, HopRecord { sent: 99, ..HopRecord::default() });
        assert_eq!(sent(&records, 8), sent(&full, 8));
        assert!(records.all(MOST_HOPS as u16 + 1).is_empty());
        let mut copied = Records::default();
        copied.copy(&records, 3);
        assert_eq!(sent(&copied, 4), [0, 1, 2, 0], "three of them");
        copied.copy(&records, MOST_HOPS as u16 + 1);
        assert_eq!(sent(&copied, 4), [0, 1, 2, 0], "none of a path without room");
    }
}
