//! The segments that an ACK reports as delivered.

use crate::outstanding::{Mark, Sent};
use linkpool_units::Time;

/// The information of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Number of segments acknowledged cumulatively, and the time at which the first of them was
    /// sent if none was sent twice.
    pub(crate) segments: u32,
    pub(crate) sent_at: Option<Time>,
    /// Number of segments that the sender did not know to have arrived.
    pub(crate) fresh: u32,
    /// Number of these segments that SACKs report.
    pub(crate) sacked: u32,
    /// Was one of these segments sent once only, and outstanding when recovery began or the timer
    /// expired?
    pub(crate) original: bool,
    /// Was one of these segments sent before segments that arrived earlier? Then packets have been
    /// reordered.
    pub(crate) reordered: bool,
    /// Of these segments the one sent last: the time of sending, its end, and whether it was a
    /// retransmission.
    pub(crate) latest: Option<(Time, u64, bool)>,
    /// The range that has arrived twice (RFC 2883).
    pub(crate) duplicate: Option<(u64, u64)>,
}

impl Delivered {
    pub(crate) fn note(&mut self, segment: &Sent, end: u64, (highest, recover): (u64, u64)) {
        self.fresh += 1;
        self.original |= !segment.is(Mark::AGAIN) && end <= recover;
        self.reordered |= end < highest && !segment.is(Mark::AGAIN);
        if self.latest.is_none_or(|(at, last, _)| (segment.at(), end) > (at, last)) {
            self.latest = Some((segment.at(), end, segment.is(Mark::AGAIN)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    fn sent(at_us: u64, end: u32) -> Sent {
        Sent::new(Time::from_us(at_us), Seq(end), Seq(0))
    }

    /// RACK takes the segment sent last of all that an ACK reports, in any order (RFC 8985, section
    /// 6.2, step 2).
    #[test]
    fn the_latest_is_the_one_sent_last() {
        let mut told = Delivered::default();
        for (at, end) in [(100, 1000), (200, 2000), (150, 3000)] {
            told.note(&sent(at, end), end as u64, (0, 0));
        }
        assert_eq!(told.latest, Some((Time::from_us(200), 2000, false)));
        assert_eq!(told.fresh, 3);
    }

    /// A segment that was sent once and arrives after later data was reordered. For a segment that
    /// was sent again this is not known.
    #[test]
    fn reordered_is_what_was_sent_once_and_arrives_below_the_highest() {
        for (end, again, reordered) in [(1000, false, true), (1000, true, false), (3000, false, false)] {
            let (mut told, mut segment) = (Delivered::default(), sent(100, end));
            if again {
                segment.mark(Mark::AGAIN);
            }
            told.note(&segment, end as u64, (2000, 0));
            assert_eq!(told.reordered, reordered);
        }
    }

    /// F-RTO considers data that was outstanding when the timer expired, up to `recover`, and that
    /// was not sent again (RFC 5682, section 3.1, step 3b).
    #[test]
    fn original_is_what_was_outstanding_and_not_sent_again() {
        for (end, again, original) in [(2000, false, true), (2000, true, false), (2001, false, false)] {
            let (mut told, mut segment) = (Delivered::default(), sent(100, end));
            if again {
                segment.mark(Mark::AGAIN);
            }
            told.note(&segment, end as u64, (0, 2000));
            assert_eq!(told.original, original);
        }
    }
}
