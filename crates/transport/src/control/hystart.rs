//! HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", Computer Networks 2011), as in
//! Linux's CUBIC (`hystart_update` in net/ipv4/tcp_cubic.c): ends slow start before a loss.

use super::Ack;
use crate::congestion::CongestionState;
use linkpool_units::Time;

/// Slow start is not ended below this window, packets (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;

/// Number of RTT samples of a round before its least RTT counts (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;

/// The largest gap between two ACKs of one train (`hystart_ack_delta_us`).
const GAP: Time = Time::from_ms(2);

/// Bounds of the increase of the RTT that ends slow start (`HYSTART_DELAY_MIN` and `_MAX`).
const INCREASE: (Time, Time) = (Time::from_ms(4), Time::from_ms(16));

/// The state of HyStart on one subflow.
#[derive(Clone, Debug)]
pub(super) struct Hystart {
    /// Has it ended slow start?
    found: bool,
    /// When the round began.
    round_start: Time,
    /// The round ends with the first ACK beyond this byte.
    round_end: u64,
    /// The arrival of the last ACK of the train with which the round began.
    last_ack: Time,
    /// The least RTT of the round, and the number of its samples up to [`SAMPLES`].
    round_rtt: Time,
    samples: u32,
    /// The least RTT of all.
    least_rtt: Time,
}

impl Hystart {
    pub(super) fn new() -> Hystart {
        Hystart {
            found: false,
            round_start: Time::ZERO,
            round_end: 0,
            last_ack: Time::ZERO,
            round_rtt: Time::MAX,
            samples: 0,
            least_rtt: Time::MAX,
        }
    }

    /// An ACK has arrived; ends slow start by setting its threshold to the window.
    pub(super) fn follow(&mut self, state: &mut CongestionState, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        self.least_rtt = self.least_rtt.min(rtt);
        if self.found || !state.in_slow_start() || state.cwnd < LOW_WINDOW {
            return;
        }
        if state.snd_una > self.round_end {
            (self.round_start, self.last_ack, self.round_end) = (ack.now, ack.now, state.snd_nxt);
            (self.round_rtt, self.samples) = (Time::MAX, 0);
        }
        // The ACKs of a round that come one soon after another span half of the least RTT.
        if ack.now - self.last_ack <= GAP {
            self.last_ack = ack.now;
            self.found = (ack.now - self.round_start).0 > self.least_rtt.0 / 2;
        }
        // The least RTT of a round has grown by an eighth.
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let increase = Time(self.least_rtt.0 / 8).max(INCREASE.0).min(INCREASE.1);
            self.found |= self.round_rtt > self.least_rtt + increase;
        }
        if self.found {
            state.ssthresh = state.cwnd;
        }
    }

    /// The timer has expired: slow start begins again.
    pub(super) fn restart(&mut self) {
        *self = Hystart { least_rtt: self.least_rtt, ..Hystart::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, state};
    use super::*;

    /// A round of ACKs, `gap` apart, each with an RTT; one byte of the round is acknowledged by
    /// each. Returns how many had arrived when slow start ended.
    fn round(
        hystart: &mut Hystart,
        state: &mut CongestionState,
        start: Time,
        gap: Time,
        rtts: &[Time],
    ) -> Option<usize> {
        state.snd_una = state.snd_nxt + 1;
        state.snd_nxt = state.snd_una + 1000;
        for (i, rtt) in rtts.iter().enumerate() {
            hystart.follow(state, &Ack { now: start + Time(gap.0 * i as u64), rtt: Some(*rtt), ..ack(1) });
            state.snd_una += 1;
            if state.ssthresh == state.cwnd {
                return Some(i + 1);
            }
        }
        None
    }

    fn slow_start(cwnd: f64) -> CongestionState {
        CongestionState { ssthresh: f64::INFINITY, ..state(cwnd) }
    }

    /// The ninth sample of a round decides, if the least of the nine is an eighth above the least of
    /// all, within 4 and 16 ms.
    #[test]
    fn a_longer_rtt_ends_slow_start() {
        let gap = Time::from_ms(10);
        for (least, increase) in [(10, 4), (80, 10), (400, 16)] {
            for (more_us, ends) in [(0, None), (1, Some(9))] {
                let (mut hystart, mut state) = (Hystart::new(), slow_start(20.0));
                round(&mut hystart, &mut state, Time::ZERO, gap, &[Time::from_ms(least)]);
                let longer = Time::from_ms(least + increase) + Time::from_us(more_us);
                let found = round(&mut hystart, &mut state, Time::from_secs(1), gap, &[longer; 12]);
                assert_eq!(found, ends, "{least} ms and {longer}");
            }
        }
    }

    /// One short RTT among the first nine of a round, and it goes on; below 16 packets too.
    #[test]
    fn a_short_rtt_or_a_small_window_goes_on() {
        let (gap, least, longer) = (Time::from_ms(10), Time::from_ms(80), Time::from_ms(100));
        let mut rtts = [longer; 12];
        rtts[7] = least;
        for (cwnd, rtts, ends) in [(16.0, rtts, None), (15.0, [longer; 12], None), (16.0, [longer; 12], Some(9))] {
            let (mut hystart, mut state) = (Hystart::new(), slow_start(cwnd));
            round(&mut hystart, &mut state, Time::ZERO, gap, &[least]);
            assert_eq!(round(&mut hystart, &mut state, Time::from_secs(1), gap, &rtts), ends);
        }
    }

    /// ACKs 1 ms apart with RTTs of 10 ms: the seventh comes 6 ms after the first, more than half an
    /// RTT. ACKs 2.5 ms apart are no train.
    #[test]
    fn a_long_train_ends_slow_start() {
        let rtts = [Time::from_ms(10); 12];
        for (gap_us, ends) in [(1000, Some(7)), (2000, Some(4)), (2500, None)] {
            let (mut hystart, mut state) = (Hystart::new(), slow_start(20.0));
            let found = round(&mut hystart, &mut state, Time::from_secs(1), Time::from_us(gap_us), &rtts);
            assert_eq!(found, ends, "{gap_us} us");
        }
    }

    /// It acts once, until a timeout begins slow start anew; the least RTT is kept.
    #[test]
    fn it_acts_again_after_a_timeout() {
        let (mut hystart, mut state) = (Hystart::new(), slow_start(20.0));
        let (gap, rtts) = (Time::from_ms(1), [Time::from_ms(10); 12]);
        assert_eq!(round(&mut hystart, &mut state, Time::from_secs(1), gap, &rtts), Some(7));
        state.ssthresh = f64::INFINITY;
        assert_eq!(round(&mut hystart, &mut state, Time::from_secs(2), gap, &rtts), None);
        hystart.restart();
        let longer = [Time::from_ms(40); 12];
        assert_eq!(round(&mut hystart, &mut state, Time::from_secs(3), gap, &longer), Some(7));
    }

    /// A round ends when data beyond its end is acknowledged, not with its last byte.
    #[test]
    fn a_round_ends_beyond_its_last_byte() {
        let (mut hystart, mut state) = (Hystart::new(), slow_start(20.0));
        (state.snd_una, state.snd_nxt) = (500, 1000);
        for (una, ms, begun) in [(500, 10, 10), (1000, 20, 10), (1001, 30, 30)] {
            state.snd_una = una;
            let now = Time::from_ms(ms);
            hystart.follow(&mut state, &Ack { now, rtt: Some(Time::from_ms(100)), ..ack(1) });
            assert_eq!(hystart.round_start, Time::from_ms(begun), "{una}");
        }
    }
}
