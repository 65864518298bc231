//! Counters of a link.

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
