//! Random early detection: Floyd and Jacobson, "Random early detection gateways for congestion
//! avoidance", IEEE/ACM ToN 1(4), 1993, and Floyd's "gentle" variant.

use super::waiting::{Arrival, Discipline, Verdict, Waiting, mark};
use crate::link::RareEvents;
use crate::packet::{Envelope, Flags, Packet};
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_engine::Stream;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Time};
use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default of the packet size in which idle time is counted.
const DEFAULT_PACKET: Bytes = Bytes(1500);

settings! {
    /// Random early detection (Floyd and Jacobson, 1993).
    #[derive(Copy)]
    pub struct Red {
        /// Average queue at which marks (or drops) begin, in packets or as a size.
        min: QueueLimit, required QueueLimit::Packets(5);
        /// Average queue at which all packets are marked, in the unit of `min`.
        max: QueueLimit, required QueueLimit::Packets(15),
            refused |r| r.curve().is_none() => "`min` and `max` must both be in packets or both be sizes",
            refused |r| r.curve().is_some_and(|c| c.max <= c.min) => "must be above `min`";
        /// Probability of a mark when the average reaches `max`.
        max_probability: f64 = 0.1, within Bounds::GAIN;
        /// Weight of a new sample in the average.
        weight: f64 = 0.002, within Bounds::GAIN;
        /// Does the probability grow to 1 between `max` and twice `max`? Otherwise it is 1 above
        /// `max`.
        gentle: bool = true;
        /// The action on ECN-capable packets: `"mark"` or `"drop"`. Others are dropped.
        action: RedAction = RedAction::Mark;
        /// Are leaving packets marked, by the queue behind them (`SwitchNotifyDequeue` of HPCC's
        /// repository)? Otherwise arriving packets are. Needs `weight = 1`.
        leaving: bool = false,
            refused |r| r.leaving && r.action == RedAction::Drop =>
                "a leaving packet is not dropped; write action = \"mark\", or leaving = false",
            refused |r| r.leaving && r.weight != 1.0 =>
                "a leaving packet is marked by the queue of the moment; write weight = 1, or leaving = false";
        /// Are marks spread evenly (Floyd and Jacobson, equation 3)? Otherwise each packet is marked with
        /// the probability by itself (`ShouldSendCN` of HPCC's repository), about half as often.
        even: bool = true;
        /// While the queue is idle, the average falls as if packets of this size were sent.
        packet: Option<Bytes>, from |_r| None => "the largest packet of the transports",
            within Bounds::from(1.0, "{} is no packet; at most 16383B").to(Envelope::LONGEST as f64);
    }
}

/// RED's action on ECN-capable packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedAction {
    /// It marks them.
    Mark,
    /// It drops them.
    Drop,
}

impl Red {
    /// Its probabilities; `None` if `min` and `max` have different units.
    fn curve(&self) -> Option<Curve> {
        let (min, max) = match (self.min, self.max) {
            (QueueLimit::Packets(min), QueueLimit::Packets(max)) => (f64::from(min), f64::from(max)),
            (QueueLimit::Bytes(min), QueueLimit::Bytes(max)) => (min as f64, max as f64),
            _ => return None,
        };
        let Red { max_probability, weight, gentle, even, .. } = *self;
        Some(Curve { min, max, max_probability, weight, gentle, even })
    }
}

/// The probability of a signal, by the average queue in packets or bytes.
#[derive(Clone, Copy, Debug)]
struct Curve {
    min: f64,
    max: f64,
    max_probability: f64,
    weight: f64,
    gentle: bool,
    even: bool,
}

/// One FIFO queue that marks or drops packets early.
#[derive(Debug)]
pub(super) struct RedQueue {
    waiting: Waiting,
    curve: Curve,
    in_bytes: bool,
    marks: bool,
    /// Does it mark leaving packets?
    leaving: bool,
    /// Size of the packets in which idle time is counted.
    typical_packet: u16,
    state: RedState,
    /// The time at which a packet of this queue last left the port.
    last_left: Time,
}

impl RedQueue {
    pub(super) fn new(red: Red, random: Stream) -> RedQueue {
        RedQueue {
            waiting: Waiting::default(),
            curve: red.curve().expect("`min` and `max` are of one unit"),
            in_bytes: matches!(red.min, QueueLimit::Bytes(_)),
            marks: red.action == RedAction::Mark,
            leaving: red.leaving,
            typical_packet: red.packet.unwrap_or(DEFAULT_PACKET).0 as u16,
            state: RedState::new(random),
            last_left: Time::ZERO,
        }
    }
}

impl RedQueue {
    /// The size of the packet that is next, if one waits.
    pub(super) fn first_size(&self) -> Option<u16> {
        self.waiting.first_size()
    }

    /// Shows the packets that wait, the first first.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.waiting.each(visit);
    }

    /// Has it room for a packet of `size`?
    pub(super) fn has_room(&self, size: u16, arrival: &Arrival<'_>) -> bool {
        self.waiting.has_room(size, arrival)
    }

    /// The length of the queue, in the unit of `min`.
    fn length(&self, thresholds: &Thresholds) -> f64 {
        let (packets, bytes) = self.waiting.counted(thresholds);
        if self.in_bytes { bytes as f64 } else { packets as f64 }
    }
}

impl Discipline for RedQueue {
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict {
        let full = !self.has_room(packet.size(), arrival);
        if self.leaving {
            return self.waiting.admit(packet, (false, full, false), arrival, events);
        }
        let length = self.length(arrival.thresholds);
        let each = arrival.kind.serialisation(self.typical_packet);
        let idle = self.waiting.is_idle().then(|| idle_packets(arrival.now - self.last_left, each));
        let over = self.state.signals(&self.curve, length, idle);
        let markable = packet.flags.has(Flags::ECT) && self.marks;
        self.waiting.admit(packet, (over, full, markable), arrival, events)
    }

    fn dequeue(&mut self, thresholds: &Thresholds, events: &mut RareEvents) -> Option<Packet> {
        let mut packet = self.waiting.take()?;
        // The queue behind the packet; the packet itself counts if the packet in service counts.
        if self.leaving && packet.flags.has(Flags::ECT) {
            let length = self.length(thresholds);
            if self.state.signals(&self.curve, length, None) {
                mark(&mut packet, events);
            }
        }
        Some(packet)
    }

    /// If packets are marked as they leave, each by the queue that it leaves behind at that time, and not by those before it.
    fn leaves_at_once(&self, thresholds: &Thresholds) -> bool {
        let Curve { min, weight, even, .. } = self.curve;
        let is_by_itself = self.leaving && weight == 1.0 && !even && min > 0.0;
        is_by_itself && thresholds.uncounted > 0 && !thresholds.act_on_empty()
    }

    fn sent(&mut self, now: Time) {
        self.waiting.sent();
        self.last_left = now;
    }

    fn give_up(&mut self, now: Time) -> Option<Packet> {
        let packet = self.waiting.take_unsent()?;
        self.last_left = now;
        Some(packet)
    }

    fn prefetch(&self) {
        self.waiting.prefetch();
    }

    fn waiting(&self) -> (u32, u64) {
        self.waiting.length()
    }

    fn counted(&self, thresholds: &Thresholds) -> u32 {
        self.waiting.counted(thresholds).0
    }
}

/// The state of RED at one queue.
#[derive(Debug)]
struct RedState {
    average: f64,
    /// Packets since the last signal; -1 if signals were not possible.
    since_signal: f64,
    random: Stream,
}

impl RedState {
    fn new(random: Stream) -> RedState {
        RedState { average: 0.0, since_signal: -1.0, random }
    }

    /// Decides whether a packet gives a signal, a mark or a drop (Figure 2 of the paper).
    /// The packet finds, or leaves, the queue length `length`. `idle`: the time for which the port was idle, in
    /// typical packets.
    fn signals(&mut self, red: &Curve, length: f64, idle: Option<f64>) -> bool {
        match idle {
            // Equation (1), and its m-fold application with an empty queue.
            None => self.average += red.weight * (length - self.average),
            Some(packets) => self.average *= (1.0 - red.weight).powf(packets),
        }
        let average = self.average;
        let probability = if average < red.min {
            self.since_signal = -1.0;
            return false;
        } else if average < red.max {
            red.max_probability * (average - red.min) / (red.max - red.min)
        } else if red.gentle && average < 2.0 * red.max {
            red.max_probability + (1.0 - red.max_probability) * (average - red.max) / red.max
        } else {
            self.since_signal = 0.0;
            return true;
        };
        if !red.even {
            return self.random.random::<f64>() < probability;
        }
        self.since_signal += 1.0;
        // Equation (3): gaps between signals become uniform.
        let certain = self.since_signal * probability >= 1.0;
        let signalled = certain || self.random.random::<f64>() < probability / (1.0 - self.since_signal * probability);
        if signalled {
            self.since_signal = 0.0;
        }
        signalled
    }
}

/// The idle time of a port, as a number of packets that take `each`.
fn idle_packets(idle: Time, each: Time) -> f64 {
    idle.0 as f64 / each.0 as f64
}

#[cfg(test)]
mod against_figure;

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    const RED: Curve = Curve { min: 5.0, max: 15.0, max_probability: 0.02, weight: 0.002, gentle: false, even: true };

    fn state() -> RedState {
        RedState::new(stream(1, "red", 0))
    }

    /// Section 4.1 of the paper, equation (2): after L arrivals of a queue that grows by one each
    /// from empty, the average is L + 1 + ((1 - w)^(L + 1) - 1) / w.
    #[test]
    fn the_average_of_a_growing_queue() {
        let average = |w: f64| {
            let mut red = state();
            for length in 1..=50 {
                red.signals(&Curve { weight: w, ..RED }, length as f64, None);
            }
            let expected = 51.0 + ((1.0 - w).powi(51) - 1.0) / w;
            assert!((red.average - expected).abs() < 1e-9, "{} {expected}", red.average);
            red.average
        };
        // The paper's example: so that a burst of 50 stays below min = 5, the weight must be at
        // most 0.0042 (rounded).
        assert!(average(0.00419) < 5.0 && average(0.00425) > 5.0);
    }

    #[test]
    fn an_idle_port_forgets() {
        let mut red = state();
        red.average = 8.0;
        red.signals(&RED, 0.0, Some(346.0));
        assert!((red.average - 8.0 * 0.998f64.powi(346)).abs() < 1e-12);
        assert!((red.average - 4.0).abs() < 0.01, "halved after ln 2 / w packets: {}", red.average);
    }

    /// At a constant average the gaps between signals are uniform (section 7 of the paper). As
    /// Figure 2 counts, on 1 to 1/p - 1.
    #[test]
    fn gaps_between_signals_are_uniform() {
        let mut red = state();
        red.average = 10.0;
        // p = 0.02 * 5 / 10 = 0.01.
        let mut gaps = Vec::new();
        let mut gap = 0;
        for _ in 0..1_000_000 {
            gap += 1;
            if red.signals(&RED, 10.0, None) {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps.remove(0); // the first one counts from -1
        let mean = gaps.iter().sum::<i32>() as f64 / gaps.len() as f64;
        assert!((mean - 50.0).abs() < 1.0, "{mean}");
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&1), Some(&99)));
        let third = gaps.iter().filter(|g| **g <= 33).count() as f64 / gaps.len() as f64;
        assert!((third - 1.0 / 3.0).abs() < 0.02, "{third}");
    }

    /// Otherwise they are geometric: mean 1/p, and gaps of 1 to 69 have the share 1 - 0.99^69 = 0.5.
    #[test]
    fn each_packet_by_itself_is_marked_half_as_often() {
        let (mut red, curve) = (state(), Curve { even: false, weight: 1.0, ..RED });
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..1_000_000 {
            gap += 1;
            if red.signals(&curve, 10.0, None) {
                gaps.push(gap);
                gap = 0;
            }
        }
        let mean = f64::from(gaps.iter().sum::<i32>()) / gaps.len() as f64;
        assert!((mean - 100.0).abs() < 3.0, "{mean}");
        let half = gaps.iter().filter(|gap| **gap <= 69).count() as f64 / gaps.len() as f64;
        assert!((half - 0.5).abs() < 0.02, "{half}");
        // At `max` and above each is marked, and none below `min`.
        assert!((0..100).all(|_| red.signals(&curve, 15.0, None)));
        assert!((0..100).all(|_| !red.signals(&curve, 4.99, None)));
    }

    #[test]
    fn thresholds() {
        let share = |red: Curve, average: f64| {
            let mut state = state();
            let red = Curve { weight: 1.0, ..red };
            (0..10_000).filter(|_| state.signals(&red, average, None)).count()
        };
        assert_eq!(share(RED, 4.99), 0);
        assert_eq!(share(RED, 15.0), 10_000);
        let gentle = Curve { gentle: true, ..RED };
        // p = 0.02 + 0.98 x = 1/3: gaps of 1 and 2 alike, two signals for three packets.
        let x = (1.0 / 3.0 - 0.02) / 0.98;
        let signals = share(gentle, 15.0 * (1.0 + x)) as f64;
        assert!((signals / 10_000.0 - 2.0 / 3.0).abs() < 0.02, "{signals}");
        assert_eq!(share(gentle, 30.0), 10_000);
    }

    #[test]
    fn idle_time_is_counted_in_packets() {
        assert_eq!(idle_packets(Time::from_us(12), Time::from_us(5)), 2.4);
    }
}
