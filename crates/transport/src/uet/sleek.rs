//! SLEEK, loss recovery where switches do not trim (uec.cpp, `runSleek`, `sendProbe`): many packets above a
//! gap mean a loss, and probes find what is lost at the end.

use linkpool_units::Time;

/// Packets above the gap are taken for a loss from this multiple of the window on
/// (`loss_retx_factor`), and from this number on (`min_retx_config`).
const OF_WINDOW: f64 = 1.5;
const LEAST_PACKETS: f64 = 5.0;
/// Base RTTs from an ACK to a probe while there is data to send, and from a probe to the next
/// (`probe_first_trial_time`, `probe_retry_time`).
const FIRST_PROBE: u64 = 3;
const NEXT_PROBE: u64 = 5;

/// The state of a sender's loss recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleek {
    recovering: bool,
    /// Recovery ends when all packets below this one have arrived.
    recover: u32,
    /// All packets below this one have been looked at.
    looked_at: u32,
    /// When to send a probe.
    probe_at: Time,
    /// The number of the last probe, and when it was sent.
    probe: (u32, Time),
    /// The entropy value of the first probe since the last ACK, and when it was sent.
    unanswered: Option<(u16, Time)>,
}

impl Sleek {
    pub(super) fn new() -> Sleek {
        Sleek {
            recovering: false,
            recover: 0,
            looked_at: 0,
            probe_at: Time::MAX,
            probe: (0, Time::ZERO),
            unanswered: None,
        }
    }

    /// Is it in recovery? Then what is to be sent again may be sent past the window.
    pub(super) fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// When to send a probe, if no ACK comes.
    pub(super) fn probe_at(&self) -> Time {
        self.probe_at
    }

    /// The value of a probe that has had no answer for a timeout, once. Without it a balancer whose value follows from the
    /// next new packet would probe the same dead path for good, as nothing new is sent. (uet-htsim has no such rule.)
    pub(super) fn take_lost(&mut self, now: Time, rto: Time) -> Option<u16> {
        self.unanswered.take_if(|(_, at)| *at + rto <= now).map(|(value, _)| value)
    }

    /// A probe is sent with this entropy value. Returns its number.
    pub(super) fn send_probe(&mut self, value: u16, now: Time, base_rtt: Time) -> u32 {
        self.unanswered.get_or_insert((value, now));
        self.probe = (self.probe.0 + 1, now);
        self.probe_at = now + base_rtt * NEXT_PROBE;
        self.probe.0
    }

    /// The round-trip time of probe `number`, if it was the last.
    pub(super) fn probed(&self, number: u32, now: Time) -> Option<Time> {
        (number == self.probe.0).then(|| now - self.probe.1)
    }

    /// An ACK has come, with packets below `cumulative` arrived, and packets below `next` sent; `more`: there
    /// is new data to send.
    pub(super) fn await_probe(
        &mut self,
        (cumulative, next): (u32, u32),
        more: bool,
        now: Time,
        base: Time,
        target: Time,
    ) {
        self.unanswered = None;
        self.probe_at = match (more, cumulative < next) {
            (true, _) => now + base * FIRST_PROBE,
            (false, true) => now + base + target,
            (false, false) => Time::MAX,
        };
    }

    /// A probe came back fast: there is no queue that holds what has not arrived.
    pub(super) fn found_loss(&mut self, cumulative: u32, next: u32) {
        (self.recovering, self.recover, self.looked_at) = (true, next, cumulative);
    }

    /// Packet `psn` has had no answer in time, in recovery (`rtxTimerExpired`). Recovery sends again what has
    /// not arrived; but a packet that it has sent `again` before is looked at once more.
    pub(super) fn on_timeout(&mut self, psn: u32, again: bool) {
        if again {
            self.looked_at = psn;
        }
    }

    /// The packets to be sent again if they have not arrived, from the first to before the last. An ACK has
    /// come with packets below `cumulative` arrived and so many `above` the gap. `next`: packets below it were
    /// sent; `queues`: some wait to be sent again; the window and its bound are in packets.
    pub(super) fn on_ack(
        &mut self,
        (cumulative, above): (u32, u32),
        next: u32,
        queues: bool,
        (window, most): (f64, f64),
    ) -> std::ops::Range<u32> {
        let threshold = (OF_WINDOW * window).min(most).max(LEAST_PACKETS).floor();
        if cumulative >= self.recover {
            self.recovering = false;
        }
        if !self.recovering {
            if f64::from(above) < threshold || queues {
                return 0..0;
            }
            (self.recovering, self.recover) = (true, next);
        }
        let end = self.recover.min(cumulative + window as u32);
        let start = self.looked_at.max(cumulative);
        self.looked_at = self.looked_at.max(end);
        start..end.max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a window of 8 packets, 12 above a gap are a loss. Of 30 that were sent, the 8 from the gap on
    /// are sent again, once each; further ones when the gap has moved, until all 30 have arrived.
    #[test]
    fn many_packets_above_a_gap_are_a_loss() {
        let mut sleek = Sleek::new();
        let windows = (8.0, 100.0);
        assert_eq!(sleek.on_ack((3, 11), 30, false, windows), 0..0);
        assert_eq!(sleek.on_ack((3, 12), 30, true, windows), 0..0, "some wait to be sent again already");
        assert!(!sleek.is_recovering());
        assert_eq!(sleek.on_ack((3, 12), 30, false, windows), 3..11);
        assert!(sleek.is_recovering());
        assert_eq!(sleek.on_ack((3, 14), 31, false, windows), 11..11);
        assert_eq!(sleek.on_ack((7, 0), 33, false, windows), 11..15);
        sleek.on_timeout(9, false);
        assert_eq!(sleek.on_ack((7, 0), 33, false, windows), 15..15);
        sleek.on_timeout(9, true);
        assert_eq!(sleek.on_ack((7, 0), 33, false, windows), 9..15, "sent again before: once more");
        assert_eq!(sleek.on_ack((28, 0), 33, false, windows), 28..30);
        sleek.on_ack((30, 0), 33, false, windows);
        assert!(!sleek.is_recovering());
        // At least five packets, and at most the bound.
        assert_eq!(Sleek::new().on_ack((0, 4), 9, false, (1.0, 100.0)), 0..0);
        assert_eq!(Sleek::new().on_ack((0, 5), 9, false, (1.0, 100.0)), 0..1);
        assert_eq!(Sleek::new().on_ack((0, 7), 9, false, (8.0, 7.9)), 0..8);
    }

    #[test]
    fn probes_follow_acks() {
        let (us, mut sleek) = (Time::from_us, Sleek::new());
        sleek.await_probe((3, 9), true, us(1), us(12), us(9));
        assert_eq!(sleek.probe_at(), us(37));
        sleek.await_probe((3, 9), false, us(1), us(12), us(9));
        assert_eq!(sleek.probe_at(), us(22));
        assert_eq!((sleek.send_probe(5, us(22), us(12)), sleek.probe_at()), (1, us(82)));
        assert_eq!((sleek.probed(1, us(30)), sleek.probed(0, us(30))), (Some(us(8)), None));
        sleek.found_loss(3, 9);
        assert_eq!(sleek.on_ack((3, 0), 9, false, (4.0, 100.0)), 3..7);
        sleek.await_probe((9, 9), false, us(1), us(12), us(9));
        assert_eq!(sleek.probe_at(), Time::MAX);
    }

    /// With a timeout of 100 us: the first probe since an ACK is lost when as much has passed, and then the next counts.
    #[test]
    fn a_probe_without_an_answer_is_lost_after_a_timeout() {
        let (us, mut sleek) = (Time::from_us, Sleek::new());
        let lost = |sleek: &mut Sleek, at| sleek.take_lost(us(at), us(100));
        sleek.send_probe(5, us(22), us(12));
        sleek.send_probe(6, us(82), us(12));
        assert_eq!(lost(&mut sleek, 121), None);
        assert_eq!(lost(&mut sleek, 122), Some(5));
        assert_eq!(lost(&mut sleek, 122), None, "once");
        sleek.send_probe(7, us(142), us(12));
        sleek.await_probe((3, 9), false, us(200), us(12), us(9));
        assert_eq!(lost(&mut sleek, 300), None, "an ACK has come");
        sleek.send_probe(8, us(310), us(12));
        assert_eq!(lost(&mut sleek, 410), Some(8));
    }
}
