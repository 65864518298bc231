//! Laws that are algorithms of TCP, on the window of a queue pair: DCTCP and Swift.

use super::{Ack, Path, RateLaw};
use crate::congestion::CongestionState;
use crate::control::{self, CongestionControl, Control, ControlConfig};
use crate::id::SubflowId;
use linkpool_units::Time;

const S: SubflowId = SubflowId::FIRST;

/// An algorithm of TCP for one path, with its window. Packets are counted as it counts segments, from 1 on, and
/// leave at the rate of the host's link as the window lets them go, unless the algorithm has a rate.
#[derive(Debug)]
pub struct Windowed {
    /// Boxed, for it is larger than other laws.
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: [CongestionState; 1],
    control: Control,
    /// Payload of a full packet, bytes, and its bits on the wire.
    payload: f64,
    bits: f64,
    /// The rate of the host's link, bit/s, and the largest window, packets.
    line: f64,
    most: f64,
    /// The first packet that is missing.
    una: u32,
    /// The round ends with an ACK beyond this packet.
    round_end: u32,
    /// The packets below were sent when the window was full last, or before.
    full_below: u32,
    /// No loss of a packet below cuts the window.
    recover: u32,
}

impl Windowed {
    pub(super) fn new(config: ControlConfig, path: Path) -> Windowed {
        let (payload, header) = (f64::from(path.packet.0), f64::from(path.packet.1));
        let most = path.window.map_or(f64::INFINITY, |bytes| bytes as f64 / payload);
        // Adapters begin at the rate of the link: no slow start before the first loss.
        let first = (path.product() as f64 / payload).min(most);
        let state = CongestionState {
            cwnd: first,
            ssthresh: first,
            srtt: 0.0,
            snd_una: 1,
            snd_nxt: 1,
            cut_until: 0,
            established: true,
            in_recovery: false,
            hops: 0,
        };
        let inner = Inner {
            state: [state],
            control: config.build(1),
            payload,
            bits: (payload + header) * 8.0,
            line: path.line.0 as f64,
            most,
            una: 0,
            round_end: 0,
            full_below: 0,
            recover: 0,
        };
        Windowed { inner: Box::new(inner) }
    }
}

impl Inner {
    /// Packets below `next_new` that are not acknowledged.
    fn flight(&self, next_new: u32) -> u32 {
        next_new - self.una
    }
}

impl RateLaw for Windowed {
    /// That of the link, or of a window below one packet.
    fn rate(&self) -> f64 {
        let inner = &*self.inner;
        let packets = inner.control.rate(&inner.state, S);
        packets.map_or(inner.line, |per_ps| (per_ps * 1e12 * inner.bits).min(inner.line))
    }

    /// The least lets a packet go, when nothing is in flight.
    fn window(&self) -> Option<u64> {
        Some(((self.inner.state[0].cwnd * self.inner.payload) as u64).max(1))
    }

    /// As TCP's sender has it: the algorithm hears of the ACK, the window grows, and is cut after it if the
    /// algorithm cuts then. It grows if it was full when the packets were sent that are acknowledged, outside
    /// recovery (Linux: `tcp_is_cwnd_limited`, RFC 5681, section 3.1).
    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Inner { state, control, una, round_end, full_below, recover, most, .. } = &mut *self.inner;
        let acked = ack.next - *una;
        *una = ack.next;
        let round_ended = ack.next > *round_end;
        if round_ended {
            *round_end = ack.next_new;
        }
        if ack.filled {
            *full_below = ack.next_new;
        }
        state[0].snd_una = u64::from(ack.next) + 1;
        state[0].snd_nxt = u64::from(ack.next_new) + 1;
        state[0].srtt = ack.srtt;
        state[0].in_recovery &= ack.next < *recover;
        let Ack { marked, now, rtt, .. } = *ack;
        let cut = control.in_ack_event(state, S, control::Ack { acked, marked, round_ended, now, rtt });
        if acked > 0 && !cut && !state[0].in_recovery && ack.next <= *full_below {
            control.cong_avoid(state, S, f64::from(acked));
            state[0].cwnd = state[0].cwnd.min(*most);
        }
        if marked {
            control.cut_after_growth(state, S);
        }
    }

    /// A loss is that of a TCP in fast recovery, once in a window of data (RFC 8257, section 3.5; RFC 6582, section
    /// 3.2, step 2), after which no mark cuts that window again.
    fn on_loss(&mut self, _now: Time, next_new: u32) {
        let inner = &mut *self.inner;
        if inner.una < inner.recover {
            return;
        }
        let flight = inner.flight(next_new);
        let kept = inner.control.ssthresh(&inner.state, S, flight);
        let state = &mut inner.state[0];
        state.cut_to(kept.min(state.cwnd));
        state.in_recovery = true;
        inner.recover = next_new;
        state.cut_until = u64::from(next_new) + 1;
    }

    /// RFC 5681, section 3.1: a window of one packet, and slow start; Swift has a rule of its own.
    fn on_timeout(&mut self, now: Time, next_new: u32, first: bool) {
        let inner = &mut *self.inner;
        let flight = inner.flight(next_new);
        if first && !inner.control.owns_window(S) {
            inner.state[0].ssthresh = inner.control.ssthresh(&inner.state, S, flight);
        }
        inner.control.on_timeout(S);
        let window = inner.control.loss_window(&inner.state, S, 0, now);
        (inner.state[0].cwnd, inner.state[0].in_recovery) = (window.min(inner.most), false);
        inner.recover = next_new;
    }

    fn know_hops(&mut self, hops: u32) {
        self.inner.state[0].hops = hops;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{AckOrder, Algorithm, DctcpConfig, SwiftConfig, SwiftRtt};
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::Rate;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// 100 Gbit/s and 10 us: 125,000 B, which are 125 packets.
    fn law(algorithm: Algorithm) -> Windowed {
        Windowed::new(ControlConfig::of(algorithm, Preset::Linux), Path::of(Rate::gbps(100), us(10)))
    }

    fn cwnd(law: &Windowed) -> f64 {
        law.inner.state[0].cwnd
    }

    /// An ACK below packet `next`, with packets below `next_new` sent, of a full window.
    fn ack(law: &mut Windowed, next: u32, next_new: u32, marked: bool, rtt: u64) -> f64 {
        let (rtt, now) = (Some(us(rtt)), us(u64::from(next)));
        law.on_ack(&Ack { psn: next, next, next_new, rtt, now, marked, filled: true, ..Ack::default() });
        cwnd(law)
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// By hand: alpha begins at 1, so the first mark halves 125 to 62.5, and the mark of another packet of that
    /// window does nothing. The 99 packets from 2 to 100 are a round with one mark: alpha = 15/16 + 1/16/99 behind
    /// it; the packet beyond is marked, and cuts by half of alpha.
    #[test]
    fn marks_cut_once_in_a_window_by_half_of_alpha() {
        let mut law = law(Algorithm::Dctcp);
        assert_eq!((law.window(), law.rate()), (Some(125_000), 1e11));
        assert_eq!(ack(&mut law, 1, 100, true, 10), 62.5);
        assert_eq!((law.window(), law.rate()), (Some(62_500), 1e11));
        // The window is not full, so it does not grow.
        let quiet = |next, marked| Ack { psn: next, next, next_new: 150, marked, ..Ack::default() };
        law.inner.full_below = 0;
        law.on_ack(&quiet(2, true));
        (3..=100).for_each(|next| law.on_ack(&quiet(next, false)));
        assert_eq!(cwnd(&law), 62.5);
        law.on_ack(&quiet(101, true));
        // The first ACK was a round by itself: alpha stayed 1. The next: one of 100 packets, and the one that ends it.
        let alpha = 15.0 / 16.0 + 2.0 / 100.0 / 16.0;
        close(cwnd(&law), 62.5 * (1.0 - alpha / 2.0));
    }

    /// One packet in a window: 1/125 for each, from 125 on, while the window was full; no more than `window` holds.
    #[test]
    fn a_full_window_grows_by_a_packet_in_a_round() {
        let mut law = law(Algorithm::Dctcp);
        close(ack(&mut law, 1, 126, false, 10), 125.0 + 1.0 / 125.0);
        let before = cwnd(&law);
        // It was full when packet 125 was sent; what came after was sent by the rate.
        law.on_ack(&Ack { next: 125, next_new: 250, ..Ack::default() });
        close(cwnd(&law), before + 124.0 / before);
        let before = cwnd(&law);
        law.on_ack(&Ack { next: 126, next_new: 250, ..Ack::default() });
        law.on_ack(&Ack { next: 127, next_new: 250, ..Ack::default() });
        close(cwnd(&law), before + 1.0 / before);
        let path = Path { window: Some(8_000), ..Path::of(Rate::gbps(100), us(10)) };
        let mut small = Windowed::new(ControlConfig::of(Algorithm::Dctcp, Preset::Linux), path);
        assert_eq!([cwnd(&small), ack(&mut small, 1, 9, false, 10)], [8.0, 8.0]);
    }

    /// Half of what is in flight, 60 of 120 packets, once in a window; no mark of it cuts again, and nothing grows
    /// until it is acknowledged.
    #[test]
    fn a_loss_halves_once_in_a_window() {
        let mut law = law(Algorithm::Dctcp);
        ack(&mut law, 10, 130, false, 10);
        law.on_loss(us(11), 130);
        assert_eq!(cwnd(&law), 60.0);
        law.on_loss(us(12), 140);
        assert_eq!(ack(&mut law, 129, 200, true, 10), 60.0);
        assert_eq!(ack(&mut law, 130, 200, true, 10), 60.0 + 1.0 / 60.0);
        let before = cwnd(&law);
        law.on_loss(us(13), 200);
        assert_eq!((cwnd(&law), before > 60.0), (35.0, true));
        // A loss never raises it.
        law.inner.state[0].cwnd = 3.0;
        ack(&mut law, 200, 400, false, 10);
        let before = cwnd(&law);
        law.on_loss(us(14), 400);
        assert_eq!(cwnd(&law), before);
    }

    /// A packet, and slow start to half of the 40 in flight at the first timeout; the second in a row leaves that.
    #[test]
    fn a_timeout_begins_slow_start() {
        let mut law = law(Algorithm::Dctcp);
        ack(&mut law, 10, 50, false, 10);
        law.on_timeout(us(100), 50, true);
        law.on_timeout(us(200), 90, false);
        assert_eq!((cwnd(&law), law.inner.state[0].ssthresh), (1.0, 20.0));
        law.on_loss(us(201), 50);
        assert_eq!(ack(&mut law, 11, 50, false, 10), 2.0);
        assert_eq!(ack(&mut law, 29, 50, false, 10), 20.0);
        close(ack(&mut law, 30, 50, false, 10), 20.05);
    }

    /// With `ack_order = "grow-then-cut"` the ACK that cuts grows the window first.
    #[test]
    fn the_order_of_an_ack_is_that_of_its_key() {
        let mut config = DctcpConfig::defaults(Preset::Linux);
        config.ack_order = AckOrder::GrowThenCut;
        let mut law = Windowed::new(ControlConfig::Dctcp(config), Path::of(Rate::gbps(100), us(10)));
        close(ack(&mut law, 1, 126, true, 10), (125.0 + 1.0 / 125.0) / 2.0);
    }

    /// With `swift_rtt = "smoothed"` the rate of a small window is that of the smoothed time.
    #[test]
    fn the_smoothed_time_is_the_senders() {
        let mut config = SwiftConfig::defaults(Preset::Linux);
        config.rtt = SwiftRtt::Smoothed;
        let mut law = Windowed::new(ControlConfig::Swift(config), Path::of(Rate::gbps(100), us(10)));
        law.on_ack(&Ack { next: 1, next_new: 2, rtt: Some(us(40)), srtt: 80e6, now: us(50), ..Ack::default() });
        law.inner.state[0].cwnd = 0.25;
        close(law.rate(), 1_066.0 * 8.0 / 320e-6);
    }

    /// Swift at 125 packets has no term for flows: the target is 20 us and 3.053435 us for each of two switches. At 52.21374
    /// us the excess is half of the delay, the cut 0.8/2; the next waits for that round-trip time.
    #[test]
    fn swift_cuts_by_the_delay() {
        let mut law = law(Algorithm::Swift);
        law.know_hops(2);
        let hear = |law: &mut Windowed, next, ps, now| {
            law.on_ack(&Ack { next, next_new: 200, rtt: Some(Time(ps)), now: us(now), ..Ack::default() });
            cwnd(law)
        };
        close(hear(&mut law, 1, 2 * 26_106_870, 1_000), 125.0 * 0.6);
        close(hear(&mut law, 2, 2 * 26_106_870, 1_052), 75.0);
        assert!(hear(&mut law, 3, 2 * 26_106_870, 1_053) < 75.0);
        // Below the target, and the window is not full.
        let before = cwnd(&law);
        assert_eq!(hear(&mut law, 4, 26_000_000, 2_000), before);
        assert_eq!(ack(&mut law, 5, 200, true, 26), before + 1.0 / before, "marks say nothing");
    }

    /// A window of a quarter of a packet and a round-trip time of 40 us: 1,066 B each 160 us. A packet may go when
    /// nothing is in flight.
    #[test]
    fn a_window_below_a_packet_is_a_rate() {
        let mut law = law(Algorithm::Swift);
        law.on_ack(&Ack { next: 1, next_new: 2, rtt: Some(us(40)), now: us(50), ..Ack::default() });
        law.inner.state[0].cwnd = 0.25;
        close(law.rate(), 1_066.0 * 8.0 / 160e-6);
        assert_eq!(law.window(), Some(250));
        law.inner.state[0].cwnd = 0.000_1;
        assert_eq!(law.window(), Some(1));
        law.inner.state[0].cwnd = 0.999_9;
        law.inner.line = 1e6;
        assert_eq!(law.rate(), 1e6, "the link is the most");
    }

    /// Losses and timeouts halve Swift's window, once in a round-trip time; the fifth timeout leaves the least.
    #[test]
    fn swift_has_rules_of_its_own_for_losses() {
        let mut law = law(Algorithm::Swift);
        law.on_ack(&Ack { next: 1, next_new: 100, rtt: Some(us(10)), now: us(50), ..Ack::default() });
        law.on_loss(us(51), 100);
        assert_eq!(cwnd(&law), 62.5);
        law.on_timeout(us(4_000), 100, true);
        assert_eq!(cwnd(&law), 31.25);
        (1..=3).for_each(|n| law.on_timeout(us(4_000 * (n + 1)), 100, false));
        assert_eq!(cwnd(&law), 31.25 / 8.0);
        law.on_timeout(us(40_000), 100, false);
        assert_eq!(cwnd(&law), 0.001);
    }

    /// The windows of two queue pairs in packets and the queue that they share, packets, at the end of each of 32
    /// rounds: a link of 12.5 packets in a microsecond whose queue holds what the windows have beyond 125. Packets
    /// are marked while it is above 65. The second begins in round 8.
    fn rounds(algorithm: Algorithm) -> Vec<(u32, u32, u32)> {
        let mut laws = [law(algorithm), law(algorithm)];
        let (mut now, mut sent) = (0.0, [0u32; 2]);
        let mut round = |round: u32| {
            let active = if round < 8 { 1 } else { 2 };
            let queue = (laws[..active].iter().map(cwnd).sum::<f64>() - 125.0).max(0.0);
            let rtt = 10.0 + queue / 12.5;
            now += rtt;
            for (law, sent) in laws.iter_mut().zip(&mut sent).take(active) {
                let packets = (cwnd(law) as u32).max(1);
                for next in *sent + 1..=*sent + packets {
                    let next_new = next + packets;
                    let times = (Some(Time((rtt * 1e6) as u64)), Time((now * 1e6) as u64));
                    let (rtt, now, marked) = (times.0, times.1, queue > 65.0);
                    law.on_ack(&Ack { next, next_new, rtt, now, marked, filled: true, ..Ack::default() });
                }
                *sent += packets;
            }
            (cwnd(&laws[0]) as u32, if active == 2 { cwnd(&laws[1]) as u32 } else { 0 }, queue as u32)
        };
        (0..32).map(&mut round).collect()
    }

    #[test]
    fn windows_by_rounds() {
        let text = |algorithm| {
            rounds(algorithm).iter().map(|(a, b, queue)| format!("{a:5} {b:5} {queue:5}\n")).collect::<String>()
        };
        insta::assert_snapshot!(format!("dctcp\n{}swift\n{}", text(Algorithm::Dctcp), text(Algorithm::Swift)));
    }
}
