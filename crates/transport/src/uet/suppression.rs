//! Suppression and release of subflows (AMP: Kheirkhah and Lee, Algorithm 1, lines 2 to 21), by rounds of subflow
//! 0. A round is a round-trip time: it ends with the answer to a packet that was sent in it.
//!
//! Where AMP hears a mark, this hears that the law of the window asks for a cut, or that a packet was trimmed: NSCC
//! and Swift hold a queue in which marks need not mean a cut. As in the implementation of AMP's authors, a round
//! counts towards the release only if the window ends it above the minimum.

use linkpool_units::Time;

/// Windows below so many packets are at the minimum, which is one packet: they hold one.
pub(super) const AT_MINIMUM: f64 = 2.0;

/// Round-trip times in a row after which subflows are suppressed and released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// With all windows at the minimum (γ of AMP).
    pub suppress: u32,
    /// With a window of subflow 0 above it, and without a reason to cut it (τ of AMP).
    pub release: u32,
}

/// The suppression of a connection's subflows but for the first.
#[derive(Clone, Debug)]
pub(super) struct Suppression {
    after: Rounds,
    suppressed: bool,
    /// Rounds towards suppression, or, while suppressed, towards release.
    rounds: u32,
    /// Was a cut asked for in this round?
    congested: bool,
    /// When this round began, and when the last answer came to subflow 0.
    began: Time,
    heard: Time,
    suppressions: u64,
    releases: u64,
}

impl Suppression {
    /// Of a connection that opens now.
    pub(super) fn new(after: Rounds, now: Time) -> Suppression {
        Suppression {
            after,
            suppressed: false,
            rounds: 0,
            congested: false,
            began: now,
            heard: now,
            suppressions: 0,
            releases: 0,
        }
    }

    /// Is all sent on subflow 0?
    pub(super) fn is_suppressed(&self) -> bool {
        self.suppressed
    }

    /// Suppressions and releases so far.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.suppressions, self.releases)
    }

    /// An answer to subflow 0 has come, for a packet that was sent at `sent` if that is known. `congested`: it asks for
    /// a cut. Windows are at the minimum: all, the first.
    pub(super) fn on_answer(
        &mut self,
        now: Time,
        sent: Option<Time>,
        congested: bool,
        at_minimum: impl FnOnce() -> (bool, bool),
    ) {
        self.heard = now;
        self.congested |= congested;
        if sent.is_none_or(|sent| sent < self.began) {
            return;
        }
        let (all, first) = at_minimum();
        let (counts, enough) = match self.suppressed {
            false => (all, self.after.suppress),
            true => (!self.congested && !first, self.after.release),
        };
        self.rounds = if counts { self.rounds + 1 } else { 0 };
        (self.began, self.congested) = (now, false);
        if self.rounds >= enough {
            self.turn();
        }
    }

    /// A packet of subflow 0 that was sent at `sent` had no answer in time. If nothing was heard since, its paths may be
    /// dead, and no round would end: the others are released.
    pub(super) fn on_timeout(&mut self, sent: Time) {
        if self.suppressed && self.heard < sent {
            self.turn();
        }
    }

    fn turn(&mut self) {
        (self.suppressed, self.rounds) = (!self.suppressed, 0);
        if self.suppressed {
            self.suppressions += 1;
        } else {
            self.releases += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// Rounds of 10 us: the answer to what was sent at the start of one ends it.
    fn round(s: &mut Suppression, n: u64, congested: bool, at_minimum: (bool, bool)) -> bool {
        s.on_answer(us(10 * n), Some(us(10 * n - 10)), congested, || at_minimum);
        s.is_suppressed()
    }

    fn new() -> Suppression {
        Suppression::new(Rounds { suppress: 2, release: 3 }, Time::ZERO)
    }

    #[test]
    fn two_rounds_at_the_minimum_suppress_and_three_above_it_release() {
        let (stuck, free) = ((true, true), (false, false));
        let mut s = new();
        assert!(!round(&mut s, 1, true, stuck));
        assert!(!round(&mut s, 2, true, (false, true)), "another window is larger");
        assert!(!round(&mut s, 3, false, stuck));
        assert!(round(&mut s, 4, true, stuck), "in a row");
        assert!(round(&mut s, 5, false, free) && round(&mut s, 6, false, free));
        assert!(round(&mut s, 7, true, free), "a cut is asked for");
        assert!(round(&mut s, 8, false, free));
        assert!(round(&mut s, 9, false, (true, true)), "its window is at the minimum");
        assert!(round(&mut s, 10, false, free) && round(&mut s, 11, false, free));
        assert!(!round(&mut s, 12, false, free));
        assert_eq!(s.counts(), (1, 1));
        // Counts begin anew.
        assert!(!round(&mut s, 13, false, stuck) && round(&mut s, 14, false, stuck));
        assert_eq!(s.counts(), (2, 1));
    }

    /// Answers to what was sent before the round began, or to which copy is unknown, end none; but they ask for cuts.
    #[test]
    fn a_round_ends_with_the_answer_to_a_packet_that_was_sent_in_it() {
        let mut s = new();
        for sent in [None, Some(us(9))] {
            round(&mut s, 1, false, (true, true));
            s.on_answer(us(15), sent, false, || (true, true));
            assert!(!s.is_suppressed());
            assert!(round(&mut s, 2, false, (true, true)));
            (s.suppressed, s.rounds) = (true, 2);
            s.on_answer(us(25), sent, true, || unreachable!("no round ends"));
            assert!(round(&mut s, 3, false, (false, false)), "the cut was in this round");
            (s.suppressed, s.rounds) = (false, 0);
            s.began = Time::ZERO;
        }
    }

    #[test]
    fn silence_on_the_first_subflow_releases_the_others() {
        let mut s = new();
        s.on_timeout(us(5));
        assert_eq!(s.counts(), (0, 0), "none is suppressed");
        round(&mut s, 1, false, (true, true));
        round(&mut s, 2, false, (true, true));
        s.on_timeout(us(20));
        assert!(s.is_suppressed(), "an answer came at 20 us");
        s.on_timeout(us(21));
        assert_eq!((s.is_suppressed(), s.counts()), (false, (1, 1)));
    }
}
