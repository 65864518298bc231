//! When paced packets leave: a window below one packet, and Linux's rates.

use crate::common::script::sender;
use crate::common::{S, config};
use linkpool_settings::{Preset, Settings};
use linkpool_transport::control::{Algorithm, ControlConfig, SwiftConfig};
use linkpool_transport::{Config, LossRecovery, Output, Pacing, Segment, Sender, SenderState, Seq, SubflowId};
use linkpool_units::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A path on which each packet is acknowledged after a round-trip time, unless it is lost; and the
/// times at which packets with data left.
struct Path {
    rtt: Time,
    sender: Sender,
    /// What happens to the sender, in order of time and of request.
    events: BTreeMap<(Time, usize), Option<Segment>>,
    added: usize,
    wire: Wire,
    sent: Vec<Time>,
    /// The data packets, by their number, that are lost.
    lost: Vec<usize>,
    reached: u64,
    held: Vec<(u64, u64)>,
}

#[derive(Default)]
struct Wire {
    segments: Vec<Segment>,
    wakes: Vec<Time>,
}

impl Output for Wire {
    fn send(&mut self, _: SubflowId, segment: Segment) {
        self.segments.push(segment);
    }
    fn wake(&mut self, _: SubflowId, at: Time) {
        self.wakes.push(at);
    }
    fn jitter(&mut self, _: Time) -> Time {
        Time::ZERO
    }
}

impl Path {
    fn new(rtt: Time, config: Config, size: Option<u64>) -> Path {
        let sender = Sender::new(Arc::new(config), size);
        let mut path = Path {
            rtt,
            sender,
            events: BTreeMap::new(),
            added: 0,
            wire: Wire::default(),
            sent: Vec::new(),
            lost: Vec::new(),
            reached: 1,
            held: Vec::new(),
        };
        path.sender.open(Time::ZERO, &mut path.wire);
        path.take(Time::ZERO);
        path
    }

    fn add(&mut self, at: Time, event: Option<Segment>) {
        self.added += 1;
        self.events.insert((at, self.added), event);
    }

    /// Takes what the sender has just sent and asked for.
    fn take(&mut self, now: Time) {
        for at in std::mem::take(&mut self.wire.wakes) {
            self.add(at, None);
        }
        for segment in std::mem::take(&mut self.wire.segments) {
            let answer = match segment {
                Segment::Syn { .. } => Segment::SynAck { ecn: false },
                Segment::Data { seq, len, .. } => {
                    self.sent.push(now);
                    if self.lost.contains(&(self.sent.len() - 1)) {
                        continue;
                    }
                    let start = seq.near(self.reached);
                    self.held.push((start, start + u64::from(len)));
                    while let Some(i) = self.held.iter().position(|(start, _)| *start <= self.reached) {
                        self.reached = self.reached.max(self.held.swap_remove(i).1);
                    }
                    let ack = Seq::of(self.reached);
                    Segment::Ack { ack, data_ack: Seq::of(self.reached - 1), ece: false, options: None }
                }
                _ => continue,
            };
            self.add(now + self.rtt, Some(answer));
        }
    }

    /// Runs until `end`.
    fn run(&mut self, end: Time) -> &mut Path {
        while let Some(((now, _), event)) = self.events.pop_first().filter(|((at, _), _)| *at < end) {
            match event {
                Some(segment) => self.sender.on_segment(S[0], segment, now, &mut self.wire),
                None => self.sender.on_timer(S[0], now, &mut self.wire),
            }
            self.take(now);
        }
        self
    }

    /// The times between packets, ns.
    fn gaps(&self) -> Vec<u64> {
        self.sent.windows(2).map(|pair| (pair[1] - pair[0]).0 / 1000).collect()
    }
}

/// Always above a target of 20 us: the window halves once in a round-trip time of 200 us, from 1 to
/// 1/2 and 1/4, its least. So packets are one in 800 us in the end, each sent when nothing is in
/// flight.
#[test]
fn a_window_of_a_quarter_sends_a_packet_in_four_round_trip_times() {
    let swift = SwiftConfig {
        flow_range: Time::ZERO,
        hop: Time::ZERO,
        min_window: 0.25,
        ..SwiftConfig::defaults(Preset::Linux)
    };
    let mut path = Path::new(Time::from_us(200), config(ControlConfig::Swift(swift)), None);
    path.run(Time::from_ms(10));
    // The first ACK cuts to 1/2, and comes at 400 us: the second packet leaves at once, as no gap
    // was set by the first. It sets one of 400 us. By its ACK the window is 1/4, so the third sets
    // 800 us.
    assert_eq!(path.sent[..3], [200, 400, 800].map(Time::from_us));
    assert!(path.gaps()[2..].iter().all(|gap| *gap == 800_000), "{:?}", path.gaps());
    assert_eq!(path.sent.len(), 14);
}

/// Delays below the target open the window: from one packet on it alone says when packets leave.
#[test]
fn a_window_of_a_packet_and_more_does_not_pace() {
    let mut swift = config(ControlConfig::of(Algorithm::Swift, Preset::Linux));
    swift.initial_window = 4;
    let mut path = Path::new(Time::from_us(10), swift, None);
    path.run(Time::from_us(25));
    assert_eq!(path.sent, [10, 10, 10, 10, 20, 20, 20, 20].map(Time::from_us));
}

fn fq(ssthresh: u64) -> Config {
    Config {
        pacing: Pacing::Fq,
        initial_window: 20,
        initial_ssthresh: ssthresh,
        handshake_sample: true,
        byte_counting: true,
        ..config(ControlConfig::Reno(()))
    }
}

/// Linux: two windows of 20 packets in a round-trip time of 100 us in slow start, a packet in 2.5 us;
/// 1.2 once the window is at half of ssthresh, a packet in 4.167 us. The first ten leave at once, and the
/// tenth is the first that holds the next one back.
#[test]
fn windows_are_paced_at_linux_s_rates() {
    for (ssthresh, gap) in [(u64::MAX, 2_500), (20_000, 4_166)] {
        let mut path = Path::new(Time::from_us(100), fq(ssthresh), None);
        path.run(Time::from_us(199));
        assert_eq!((path.sent[0], path.sent.len()), (Time::from_us(100), 20));
        assert_eq!(path.gaps()[..9], [0; 9]);
        assert_eq!(path.gaps()[9..], [gap; 10]);
    }
}

/// In slow start each ACK lets two packets go. Windows of 20 to 40 packets have gaps of 2.5 to 1.25 us, half
/// of that for a packet that left late: after the first ten no packet leaves with another.
#[test]
fn slow_start_is_smooth() {
    let mut path = Path::new(Time::from_us(100), fq(u64::MAX), None);
    path.run(Time::from_us(300));
    assert!(path.sent.len() > 50, "{}", path.sent.len());
    let least = path.gaps().into_iter().skip(9).min().unwrap();
    assert!((625..=1_300).contains(&least), "{least} ns");
}

/// BBR begins with 2.885 windows of 20 packets in a round-trip time of 100 us, less 1%: a packet in 1.751 us, after
/// ten at once. Its rate and window follow what is delivered: twice as much in each round.
#[test]
fn bbr_doubles_its_rate_each_round() {
    let bbr = Config {
        initial_window: 20,
        handshake_sample: true,
        recovery: LossRecovery::Rack,
        ..config(ControlConfig::of(Algorithm::Bbr, Preset::Linux))
    };
    let mut path = Path::new(Time::from_us(100), bbr, None);
    path.run(Time::from_us(199));
    assert_eq!(path.gaps()[..9], [0; 9]);
    assert_eq!(path.gaps()[9..], [1_750; 10]);
    path.run(Time::from_us(900));
    let in_round = |n: u64| {
        let round = Time::from_us(100 * n)..Time::from_us(100 * n + 100);
        path.sent.iter().filter(|at| round.contains(at)).count()
    };
    let rounds: Vec<usize> = (1..9).map(in_round).collect();
    assert_eq!(rounds[..2], [20, 40], "{rounds:?}");
    assert!((3..8).all(|i| rounds[i] * 2 >= rounds[i - 1] * 3), "{rounds:?}");
}

/// What loss recovery sends whatever the window does not wait for its time, and new data waits
/// after it.
#[test]
fn a_retransmission_leaves_at_once() {
    let mut path =
        Path::new(Time::from_us(100), Config { recovery: LossRecovery::NewReno, ..fq(20_000) }, Some(60_000));
    path.lost = vec![14];
    path.run(Time::from_secs(1));
    assert_eq!(path.sender.state(), SenderState::Finished);
    // Packet 14 is lost, and ACKs of packets 15, 16 and 17 are duplicates: the third comes at 100 us +
    // 8 x 4.167 us (packet 9 is the first that holds the next one back) + 100 us.
    let third = Time::from_us(200) + Time(4_166_667 * 8);
    assert!(path.sent.contains(&third), "{:?}", path.sent);
    let next = path.sent.iter().find(|at| **at > third).unwrap();
    assert!(*next - third >= Time::from_us(5), "{next}");
}

/// Nothing is paced without a rate: 20 packets at once.
#[test]
fn without_pacing_a_window_leaves_at_once() {
    let mut path = Path::new(Time::from_us(100), Config { pacing: Pacing::Control, ..fq(u64::MAX) }, None);
    path.run(Time::from_us(199));
    assert_eq!(path.sent, [Time::from_us(100); 20]);
}

/// An ACK that was overtaken reports all packets but packet 2, which leaves at once. Packet 14 leaves half a
/// gap after it, since the last departure was long ago: 1.2 windows of six packets in 100 us are a packet in
/// 13.9 us.
#[test]
fn a_retransmission_for_an_overtaken_ack_is_paced() {
    let sack = Config { recovery: LossRecovery::Sack, initial_window: 10, ..fq(20_000) };
    sender(sack, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-9
         200us  < ack 2
                > pkt 10
         201us..239us > pkt 11-13
         240us  < ack 1 sack 3-14
                > pkt 2
                = cwnd 6 flight 1
         246us..248us > pkt 14",
    );
}

/// BBR, in its first phase, adds what is delivered to its window of 10: three packets, and two of which an
/// ACK tells that was overtaken.
#[test]
fn deliveries_that_an_overtaken_ack_reports_are_counted() {
    let bbr = config(ControlConfig::of(Algorithm::Bbr, Preset::Linux));
    let bbr = Config { initial_window: 10, handshake_sample: true, recovery: LossRecovery::Rack, ..bbr };
    let mut script = sender(bbr, None);
    script.allow(Time::from_us(100));
    script.run(
        "200us  < synack
         300us  < ack 3
                = cwnd 13
                < ack 2 sack 4-6
                = cwnd 15",
    );
}
