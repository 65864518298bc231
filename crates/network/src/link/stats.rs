//! Counters of a link.

use linkpool_units::{Rate, Time};

/// Counters of the packets that a link has carried, dropped and marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets accepted for transmission.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// The longest queue, counted as the policy counts; of a port that trims, of data.
    pub max_queue: u32,
    /// Counters of rarer events.
    pub rare: RareEvents,
}

/// The bytes that a link has put on its wire, of the packet in service the part that is sent, too. At a
/// rate at which no byte takes a whole number of picoseconds, the last byte of a packet may count some
/// picoseconds early, as serialisations are rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OnWire(pub(crate) u128);

impl OnWire {
    /// What a rate of 1 bit/s sends in a picosecond is 1.
    pub(crate) const BYTE: u128 = 8_000_000_000_000;

    /// What a link of this rate can send in `span`.
    pub fn at_rate(rate: Rate, span: Time) -> OnWire {
        OnWire(u128::from(rate.0) * u128::from(span.0))
    }

    /// All of so many bytes.
    pub fn all(bytes: u64) -> OnWire {
        OnWire(u128::from(bytes) * OnWire::BYTE)
    }

    /// To the nearest byte.
    pub fn bytes(self) -> u64 {
        ((self.0 + OnWire::BYTE / 2 - 1) / OnWire::BYTE) as u64
    }

    /// What has been sent since `before`; 0 if a packet was cut off with its link, which `before` had in part.
    pub fn since(self, before: OnWire) -> OnWire {
        OnWire(self.0.saturating_sub(before.0))
    }

    /// This as a share of all that the link could have sent; none if it could send nothing.
    pub fn share(self, could: OnWire) -> Option<f64> {
        // More than all is what rounded serialisations send early.
        (could.0 > 0).then(|| self.0.min(could.0) as f64 / could.0 as f64)
    }
}

impl std::ops::Add for OnWire {
    type Output = OnWire;

    fn add(self, more: OnWire) -> OnWire {
        OnWire(self.0 + more.0)
    }
}

/// Counters of drops and marks. They are kept apart from `Link`, whose single cache line every
/// packet touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RareEvents {
    /// Packets dropped by the queue.
    pub drops: u64,
    /// Their bytes.
    pub drop_bytes: u64,
    /// Packets marked CE.
    pub marks: u64,
    /// Packets lost because the link was down.
    pub drops_down: u64,
    /// Packets lost on the wire at random.
    pub drops_loss: u64,
    /// Packets whose payload was cut off.
    pub trims: u64,
    /// Trimmed packets that went back to their senders.
    pub returns: u64,
}

impl std::ops::Sub for RareEvents {
    type Output = RareEvents;

    /// The difference to `before`.
    fn sub(self, before: RareEvents) -> RareEvents {
        RareEvents {
            drops: self.drops - before.drops,
            drop_bytes: self.drop_bytes - before.drop_bytes,
            marks: self.marks - before.marks,
            drops_down: self.drops_down - before.drops_down,
            drops_loss: self.drops_loss - before.drops_loss,
            trims: self.trims - before.trims,
            returns: self.returns - before.returns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Gbit/s sends 12.5 B in 100 ns: that is all it can send, though not a whole number of bytes.
    #[test]
    fn parts_of_bytes_count() {
        let by = |ns: u64| OnWire::at_rate(Rate::gbps(1), Time::from_ns(ns));
        assert_eq!([100, 99, 101, 104, 0].map(|ns| by(ns).bytes()), [12, 12, 13, 13, 0]);
        let second = by(200).since(by(100));
        assert_eq!((by(200).bytes() - by(100).bytes(), second.bytes(), second.share(by(100))), (13, 12, Some(1.0)));
        assert_eq!([by(25).share(by(100)), by(101).share(by(100)), by(0).share(by(0))], [Some(0.25), Some(1.0), None]);
        assert_eq!((OnWire::all(25), by(100).since(by(200)), by(1) + by(2)), (by(200), OnWire::default(), by(3)));
    }

    #[test]
    fn what_has_happened_since_is_the_difference_of_each_counter() {
        let events = |[drops, drop_bytes, marks, drops_down, drops_loss, trims, returns]: [u64; 7]| RareEvents {
            drops,
            drop_bytes,
            marks,
            drops_down,
            drops_loss,
            trims,
            returns,
        };
        let (now, before) = (events([9, 18, 27, 36, 45, 54, 63]), events([2, 3, 5, 7, 11, 13, 17]));
        assert_eq!(now - before, events([7, 15, 22, 29, 34, 41, 46]));
    }
}
