//! PLB: a subflow whose path stays congested takes another path.

use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use rand::{Rng, RngCore};

settings! {
    /// Parameters of PLB, by the names of Linux's sysctls.
    #[derive(Copy)]
    pub struct PlbConfig {
        /// Congested rounds in a row after which a subflow changes its path
        /// (tcp_plb_rehash_rounds).
        rounds "plb_rounds": u32 = 12, within Bounds::POSITIVE, of Marks;
        /// The same while no data is in flight, so that a change reorders no packets
        /// (tcp_plb_idle_rehash_rounds).
        idle_rounds "plb_idle_rounds": u32 = 3, within Bounds::POSITIVE, of Marks;
        /// A round is congested if at least this share of the data that it acknowledges is marked
        /// (tcp_plb_cong_thresh).
        congested "plb_congested": f64 = 0.5, within Bounds::GAIN, of Marks;
        /// A timeout changes the path at once. After it, marks change no path for a random time
        /// between this and twice this (tcp_plb_suspend_rto_sec).
        suspend "plb_suspend": Time = Time::from_secs(60), within Bounds::SPAN, of Marks;
    }
}

/// The progress of a subflow after an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Payload acknowledged, bytes.
    pub acked_bytes: u64,
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to be sent.
    pub snd_nxt: u64,
    /// Segments in flight.
    pub in_flight: u32,
}

/// PLB of one subflow (Qureshi et al., SIGCOMM 2022; net/ipv4/tcp_plb.c). After some rounds in a
/// row with many marks, its packets hash to another path, as with a new IPv6 flow label.
#[derive(Clone, Debug, Default)]
pub(super) struct Plb {
    /// The number that its packets add to the entropy of their addresses and ports.
    shift: u32,
    congested_rounds: u32,
    /// The round ends with the first ACK beyond this.
    round_end: u64,
    /// Bytes acknowledged before the last ACK; in this round; and in this round by marked ACKs.
    acked_before: u64,
    acked: u64,
    marked: u64,
    suspended_until: Time,
}

impl Plb {
    pub(super) fn shift(&self) -> u32 {
        self.shift
    }

    pub(super) fn on_ack(
        &mut self,
        config: &PlbConfig,
        view: &Progress,
        marked: bool,
        random: &mut impl RngCore,
        now: Time,
    ) {
        let bytes = view.acked_bytes - self.acked_before;
        self.acked_before = view.acked_bytes;
        self.acked += bytes;
        self.marked += bytes * marked as u64;
        if view.snd_una <= self.round_end {
            return;
        }
        // tcp_plb_update_state, once a round
        self.round_end = view.snd_nxt;
        let congested = self.acked > 0 && self.marked as f64 >= config.congested * self.acked as f64;
        self.congested_rounds = if congested { self.congested_rounds + 1 } else { 0 };
        (self.acked, self.marked) = (0, 0);
        // tcp_plb_check_rehash
        let idle = view.in_flight == 0 && self.congested_rounds >= config.idle_rounds;
        if now >= self.suspended_until && (idle || self.congested_rounds >= config.rounds) {
            self.rehash(random);
        }
    }

    /// tcp_plb_update_state_upon_rto, and the new hash that Linux takes on every timeout.
    pub(super) fn on_timeout(&mut self, config: &PlbConfig, random: &mut impl RngCore, now: Time) {
        self.rehash(random);
        self.suspended_until = now + config.suspend + Time(random.random_range(0..=config.suspend.0));
    }

    fn rehash(&mut self, random: &mut impl RngCore) {
        self.shift = random.next_u32();
        self.congested_rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    const CONFIG: PlbConfig = PlbConfig { rounds: 3, idle_rounds: 2, congested: 0.5, suspend: Time::from_secs(60) };

    /// A subflow with ten packets of 100 B a round.
    struct Rounds {
        plb: Plb,
        view: Progress,
        random: SmallRng,
        now: Time,
    }

    impl Rounds {
        fn new() -> Rounds {
            let view = Progress { acked_bytes: 0, snd_una: 1, snd_nxt: 1000, in_flight: 10 };
            Rounds {
                plb: Plb { round_end: 1000, ..Plb::default() },
                view,
                random: SmallRng::seed_from_u64(1),
                now: Time::ZERO,
            }
        }

        /// Runs a round with `marked` marked packets. Returns whether the path has changed.
        fn round(&mut self, marked: u32) -> bool {
            let before = self.plb.shift;
            for i in 0..10 {
                self.view.acked_bytes += 100;
                self.view.snd_una += 100;
                self.view.snd_nxt += 100;
                self.now += Time::from_us(10);
                self.plb.on_ack(&CONFIG, &self.view, i < marked, &mut self.random, self.now);
            }
            self.plb.shift != before
        }
    }

    #[test]
    fn three_congested_rounds_change_the_path() {
        let mut r = Rounds::new();
        r.round(0);
        assert_eq!([5, 9, 10, 5].map(|marked| r.round(marked)), [false, false, true, false]);
    }

    #[test]
    fn a_round_below_the_threshold_begins_anew() {
        let mut r = Rounds::new();
        r.round(0);
        assert_eq!([10, 10, 3, 10, 10].map(|marked| r.round(marked)), [false; 5]);
        assert!(r.round(10));
    }

    #[test]
    fn two_are_enough_with_nothing_in_flight() {
        let mut r = Rounds::new();
        r.round(0);
        assert!(!r.round(10));
        r.view.in_flight = 0;
        assert!(r.round(10));
    }

    #[test]
    fn a_timeout_changes_the_path_at_once_and_marks_do_not_for_a_while() {
        let mut r = Rounds::new();
        r.round(0);
        let before = r.plb.shift;
        r.plb.on_timeout(&CONFIG, &mut r.random, r.now);
        assert_ne!(r.plb.shift, before);
        let until = r.plb.suspended_until;
        assert!(until >= r.now + Time::from_secs(60) && until <= r.now + Time::from_secs(120));
        assert_eq!([10; 9].map(|marked| r.round(marked)), [false; 9]);
        r.now = until;
        assert!(r.round(10));
    }

    /// A round ends with the first ACK beyond what was sent when it began, not with that of the last byte before it.
    #[test]
    fn a_round_ends_beyond_its_last_byte() {
        let mut r = Rounds::new();
        r.view.snd_nxt = 2000;
        let mut end_after = |snd_una: u64| {
            r.view.snd_una = snd_una;
            r.plb.on_ack(&CONFIG, &r.view, true, &mut r.random, Time::ZERO);
            r.plb.round_end
        };
        assert_eq!([end_after(1000), end_after(1001)], [1000, 2000]);
    }

    /// Rounds are congested, and the pause after a timeout is over with its last instant.
    #[test]
    fn a_pause_is_over_at_its_end() {
        for (early, changes) in [(1, false), (0, true)] {
            let mut r = Rounds::new();
            (r.plb.suspended_until, r.plb.congested_rounds) = (Time::from_secs(1), CONFIG.rounds);
            (r.view.snd_una, r.view.acked_bytes) = (1001, 100);
            let before = r.plb.shift;
            r.plb.on_ack(&CONFIG, &r.view, true, &mut r.random, Time(Time::from_secs(1).0 - early));
            assert_eq!(r.plb.shift != before, changes);
        }
    }
}
