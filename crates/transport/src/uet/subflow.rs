//! Subflows: a connection has one window over all its entropy values, or a window of its own for each of several
//! equal parts of them.
//!
//! All subflows send packets of one sequence. Which subflow sent a packet follows from its entropy value, and
//! what an ACK says of a packet is for the subflow that sent it: its round-trip time and its mark at once, its bytes
//! when they are known to have arrived.

use super::balancer::{Balancer, Feedback};
use super::config::Config;
use super::law::Law;
use super::suppression::{AT_MINIMUM, Suppression};
use super::window::{Signal, Window};
use linkpool_units::Time;

/// Counters of a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SubflowCounters {
    /// Data packets sent, those sent again included.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// ACKs of packets with marks.
    pub marked_acks: u64,
    /// Those at which the law lowered the window.
    pub cuts: u64,
    /// Packets without an answer in time.
    pub timeouts: u64,
}

/// A window and the entropy values over which it is spread.
#[derive(Debug)]
pub struct Subflow {
    window: Window,
    pub(super) law: Law,
    /// Bytes on the wire in flight. With one subflow the receiver's count of bytes lowers it, so that it may be wrong
    /// for a while, and below zero, when a packet was declared lost that was not.
    in_flight: i64,
    /// Bytes on the wire that have arrived since its law heard of any.
    unheard: u64,
    balancer: Balancer,
    /// Its first entropy value.
    first: u16,
    /// Payload acknowledged, bytes.
    acked: u64,
    counters: SubflowCounters,
    /// Smoothed round-trip time, ps, and the least.
    srtt: Option<f64>,
    min_rtt: Option<Time>,
}

impl Subflow {
    /// The window.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Bytes on the wire in flight.
    pub fn in_flight(&self) -> i64 {
        self.in_flight
    }

    /// Its first entropy value.
    pub fn first_entropy(&self) -> u16 {
        self.first
    }

    /// Payload acknowledged, bytes.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// The counters.
    pub fn counters(&self) -> SubflowCounters {
        self.counters
    }

    /// Smoothed round-trip time in ps, once there is a sample.
    pub fn srtt(&self) -> Option<f64> {
        self.srtt
    }

    /// The least round-trip time.
    pub fn min_rtt(&self) -> Option<Time> {
        self.min_rtt
    }

    /// The round-trip time by which increases are coupled, ps.
    fn rtt(&self) -> f64 {
        self.srtt.unwrap_or(self.window.base_rtt.0 as f64)
    }

    /// May so many bytes be sent?
    fn has_room(&self, bytes: i64) -> bool {
        self.window.bytes >= (self.in_flight + bytes) as f64
    }
}

/// The subflows of a connection.
#[derive(Debug)]
pub(super) struct Subflows {
    all: Box<[Subflow]>,
    /// Entropy values of each are those with the same bits from this one on.
    bits: u32,
    /// The largest window in bandwidth-delay products, of each an equal part.
    products: f64,
    /// The subflow whose turn it is.
    turn: usize,
    suppression: Option<Box<Suppression>>,
}

impl Subflows {
    /// Of a connection with this config. `drawn` is a random number.
    pub(super) fn new(config: &Config, drawn: u32) -> Subflows {
        let count = config.subflows;
        let (share, products) = (config.entropies / u16::from(count), config.most_products / f64::from(count));
        let subflow = |i: u8| {
            let first = config.first_window.map(|bytes| bytes / f64::from(count));
            let mut window = Window::new(first, config.rate, config.base_rtt, products);
            // Below a full packet nothing would be sent, and no answer would come.
            window.bytes = window.bytes.max(config.mtu());
            Subflow {
                window,
                law: Law::new(config, Time::ZERO),
                in_flight: 0,
                unheard: 0,
                // Odd multiples of a number without a pattern (2^32 by the golden ratio): subflows draw apart.
                balancer: Balancer::new(
                    config.balancer,
                    &config.spraying,
                    drawn.wrapping_add(u32::from(i).wrapping_mul(0x9E37_79B9)),
                ),
                first: share * u16::from(i),
                acked: 0,
                counters: SubflowCounters::default(),
                srtt: None,
                min_rtt: None,
            }
        };
        Subflows {
            all: (0..count).map(subflow).collect(),
            bits: share.trailing_zeros(),
            products,
            turn: 0,
            suppression: Subflows::suppression(config, Time::ZERO),
        }
    }

    fn suppression(config: &Config, now: Time) -> Option<Box<Suppression>> {
        config.suppression.map(|rounds| Box::new(Suppression::new(rounds, now)))
    }

    /// The connection opens now.
    pub(super) fn open(&mut self, config: &Config, now: Time) {
        self.all.iter_mut().for_each(|subflow| subflow.law = Law::new(config, now));
        self.suppression = Subflows::suppression(config, now);
    }

    pub(super) fn all(&self) -> &[Subflow] {
        &self.all
    }

    fn is_alone(&self) -> bool {
        self.all.len() == 1
    }

    /// The subflow that sends with this entropy value.
    #[inline]
    pub(super) fn of(&self, entropy: u16) -> usize {
        usize::from(entropy) >> self.bits
    }

    /// Does subflow `s` send?
    pub(super) fn is_active(&self, s: usize) -> bool {
        s == 0 || !self.suppression.as_ref().is_some_and(|suppression| suppression.is_suppressed())
    }

    /// Suppressions and releases so far, if subflows may be suppressed.
    pub(super) fn suppressions(&self) -> Option<(u64, u64)> {
        self.suppression.as_ref().map(|suppression| suppression.counts())
    }

    /// Has the connection windows?
    pub(super) fn have_windows(&self) -> bool {
        self.all[0].law.has_window()
    }

    /// The subflow that sends next, with room for so many bytes. Those with room take turns, so that paths get
    /// equal parts of what the windows together do not hold back.
    pub(super) fn with_room(&self, bytes: i64, now: Time) -> Option<usize> {
        if self.is_alone() {
            let is_due = || self.due().is_some_and(|at| at <= now);
            return (self.all[0].has_room(bytes) || is_due()).then_some(0);
        }
        let (before, from) = (0..self.turn, self.turn..self.all.len());
        from.chain(before).find(|s| self.is_active(*s) && self.all[*s].has_room(bytes))
    }

    /// When a packet is due whatever is in flight. (A law that paces goes with one window alone.)
    pub(super) fn due(&self) -> Option<Time> {
        self.all[0].law.due()
    }

    /// The entropy value with which subflow `s` sends packet `psn`, or a header before it.
    pub(super) fn entropy(
        &mut self,
        s: usize,
        psn: u32,
        now: Time,
        config: &Config,
        random: impl FnMut(u32) -> u32,
    ) -> u16 {
        let Subflow { window, balancer, counters, first, .. } = &mut self.all[s];
        let (window, new) = (window.bytes / f64::from(config.mss), counters.sent - counters.sent_again);
        *first + balancer.next((psn, new as u32), (window, config.spraying.entropies), now, random)
    }

    /// The balancer of a connection with one window.
    pub(super) fn balancer(&mut self) -> &mut Balancer {
        &mut self.all[0].balancer
    }

    /// Subflow `s` sends so many bytes, for the first time or `again`.
    pub(super) fn send(&mut self, s: usize, (bytes, again): (i64, bool), now: Time, config: &Config) {
        let Subflow { in_flight, counters, law, .. } = &mut self.all[s];
        *in_flight += bytes;
        law.on_send(now, config);
        counters.sent += 1;
        counters.sent_again += u64::from(again);
        self.turn = if s + 1 == self.all.len() { 0 } else { s + 1 };
    }

    /// Would so many bytes more fill the window of subflow `s`?
    pub(super) fn is_full(&self, s: usize, bytes: i64) -> bool {
        let Subflow { window, law, in_flight, .. } = &self.all[s];
        law.has_window() && (in_flight + bytes) as f64 >= window.bytes
    }

    /// The receiver counts so many bytes more. With several subflows it does not say whose they are, and their
    /// acknowledged packets count.
    pub(super) fn received(&mut self, bytes: u64) {
        if self.is_alone() {
            self.all[0].in_flight -= bytes as i64;
            self.all[0].unheard = bytes;
        }
    }

    /// A packet of `len` bytes of payload and so many on the wire, which was last sent with this entropy value, has
    /// arrived; `queued`: it was to be sent again.
    pub(super) fn acknowledge(&mut self, entropy: u16, queued: bool, (len, bytes): (u16, i64)) {
        let alone = self.is_alone();
        let subflow = &mut self.all[usize::from(entropy) >> self.bits];
        subflow.acked += u64::from(len);
        match (alone, queued) {
            // It was taken from those in flight when it was declared lost, and again by the receiver's count.
            (true, true) => subflow.in_flight += bytes,
            (true, false) => {}
            (false, _) => {
                subflow.unheard += bytes as u64;
                subflow.in_flight -= if queued { 0 } else { bytes };
            }
        }
    }

    /// So many bytes of subflow `s` in flight are declared lost.
    pub(super) fn lose(&mut self, s: usize, bytes: i64) {
        self.all[s].in_flight -= bytes;
    }

    /// A packet of subflow `s` was acknowledged after `rtt`. Returns its delay.
    pub(super) fn sample(&mut self, s: usize, rtt: Time, config: &Config) -> Time {
        self.measured(s, rtt, config);
        let subflow = &mut self.all[s];
        let smoothed = subflow.srtt.map_or(rtt.0 as f64, |srtt| srtt + (rtt.0 as f64 - srtt) / 8.0); // RFC 6298 (2.3)
        subflow.srtt = Some(smoothed);
        subflow.min_rtt = Some(subflow.min_rtt.map_or(rtt, |least| least.min(rtt)));
        rtt - subflow.window.base_rtt
    }

    /// A round-trip time of subflow `s` may be its least.
    pub(super) fn measured(&mut self, s: usize, rtt: Time, config: &Config) {
        self.all[s].window.measured(rtt, config.rate, self.products);
    }

    /// An ACK of a packet with this entropy value, and this PSN if it was sent once, which was sent at `sent` if that is known,
    /// with a delay, if that is.
    pub(super) fn on_ack(
        &mut self,
        (entropy, psn): (u16, Option<u32>),
        marked: bool,
        (sent, delay): (Option<Time>, Option<Time>),
        now: Time,
        config: &Config,
    ) {
        let s = self.of(entropy);
        let Subflow { window, in_flight, unheard, balancer, first, counters, .. } = &mut self.all[s];
        counters.marked_acks += u64::from(marked);
        let feedback = if marked { Feedback::Marked } else { Feedback::Good };
        balancer.on_feedback(entropy - *first, feedback, delay.map(|delay| window.base_rtt + delay), now);
        let signal = Signal { now, marked, delay, bytes: std::mem::take(unheard), in_flight: *in_flight, psn };
        if !self.is_alone() {
            let cut = self.all[s].law.asks_for_cut(&signal, &self.all[s].window, config);
            self.answered(s, sent, cut, now, config);
            self.couple(s, config);
        }
        let Subflow { law, window, in_flight, balancer, first, counters, .. } = &mut self.all[s];
        let before = window.bytes;
        law.on_ack(signal, window, config);
        counters.cuts += u64::from(marked && window.bytes < before);
        balancer.on_room(entropy - *first, || ((window.bytes - *in_flight as f64) / config.mtu()).max(0.0) as usize);
    }

    /// A NACK of a packet of so many bytes with this entropy value, which was sent at `sent` if that is known.
    pub(super) fn on_nack(
        &mut self,
        (entropy, at_last): (u16, bool),
        bytes: i64,
        sent: Option<Time>,
        now: Time,
        config: &Config,
    ) {
        let s = self.of(entropy);
        if !self.is_alone() {
            self.answered(s, sent, true, now, config);
            self.couple(s, config);
        }
        let Subflow { law, window, in_flight, .. } = &mut self.all[s];
        let signal = Signal { now, marked: true, delay: None, bytes: 0, in_flight: *in_flight, psn: None };
        law.on_nack((bytes as u64, at_last), &signal, window, config);
    }

    /// A packet with this entropy value was trimmed, or had no answer in time.
    pub(super) fn on_feedback(&mut self, entropy: u16, feedback: Feedback, now: Time) {
        let Subflow { balancer, first, .. } = &mut self.all[usize::from(entropy) >> self.bits];
        balancer.on_feedback(entropy - *first, feedback, None, now);
    }

    /// A packet of subflow `s`, which was sent at `sent`, had no answer in time.
    pub(super) fn on_timeout(&mut self, s: usize, sent: Time) {
        self.all[s].counters.timeouts += 1;
        if let Some(suppression) = self.suppression.as_mut().filter(|_| s == 0) {
            suppression.on_timeout(sent);
        }
    }

    /// A timeout has declared so many bytes of subflow `s` lost.
    pub(super) fn declare_lost(&mut self, s: usize, bytes: i64, now: Time, config: &Config) {
        if !self.is_alone() {
            self.couple(s, config);
        }
        let Subflow { law, window, in_flight, .. } = &mut self.all[s];
        *in_flight -= bytes;
        law.on_timeout(bytes as u64, now, window, config);
    }

    /// An answer to a packet of subflow `s` has come, before the window changes.
    fn answered(&mut self, s: usize, sent: Option<Time>, congested: bool, now: Time, config: &Config) {
        let Some(suppression) = self.suppression.as_mut().filter(|_| s == 0) else { return };
        let at_minimum = |subflow: &Subflow| subflow.window.bytes < AT_MINIMUM * config.mtu();
        let all = &self.all;
        suppression.on_answer(now, sent, congested, || (all.iter().all(at_minimum), at_minimum(&all[0])));
    }

    /// Tells the window of subflow `s` what the others leave it: of the largest window of the connection, and of an
    /// increase.
    fn couple(&mut self, s: usize, config: &Config) {
        let all = || self.all.iter().enumerate();
        let spare = all().filter(|(i, _)| *i != s).map(|(_, other)| other.window.most - other.window.bytes).sum();
        let of = |subflow: &Subflow| (subflow.window.bytes, subflow.rtt());
        let sending = all().filter(|(i, _)| *i == s || self.is_active(*i)).map(|(_, subflow)| of(subflow));
        let part = config.coupling.part(of(&self.all[s]), sending);
        let window = &mut self.all[s].window;
        (window.spare, window.part) = (spare, part);
    }
}

#[cfg(test)]
mod tests {
    use super::super::coupling::Coupling;
    use super::super::declaration::Uet;
    use super::super::nscc::Average;
    use super::*;
    use crate::declaration::Declare;
    use crate::wire::WireConfig;
    use linkpool_settings::{Preset, Settings};
    use std::sync::Arc;

    /// Two subflows, packets of 4,096 + 64 B, 100 Gb/s, 12 us and a target of 9 us: 225,000 B for all windows. The
    /// average of the delay is the last one.
    fn config(change: impl Fn(&mut <Uet as Declare>::Settings)) -> Arc<Config> {
        let common = crate::Config { mss: 4_096, subflows: 2, ..crate::Config::defaults(Preset::Linux) };
        let mut own = <Uet as Declare>::Settings::defaults(Preset::Linux);
        own.nscc.average = Average::BaseRtt;
        change(&mut own);
        <Uet as Declare>::config(&own, &common, WireConfig { header: 64, ack_size: 64 })
    }

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// With windows of 60,000 and 40,000 B.
    fn subflows(config: &Config) -> Subflows {
        let mut subflows = Subflows::new(config, 7);
        subflows.open(config, Time::ZERO);
        (subflows.all[0].window.bytes, subflows.all[1].window.bytes) = (60_000.0, 40_000.0);
        subflows
    }

    /// The windows after an ACK of so many bytes of subflow 0 after 13 us, marked or not, with a delay in ns.
    fn after_ack(config: &Config, bytes: u64, marked: bool, delay: u64) -> (f64, f64) {
        let mut subflows = subflows(config);
        subflows.all[0].unheard = bytes;
        subflows.on_ack((3, None), marked, (None, Some(Time::from_ns(delay))), us(13), config);
        (subflows.all[0].window.bytes, subflows.all[1].window.bytes)
    }

    fn near(found: (f64, f64), expected: f64) -> bool {
        (found.0 - expected).abs() < 1e-6 && found.1 == 40_000.0
    }

    /// NSCC cuts where a packet is marked and late (target 9 us). What cuts without a mark, or a mark that does not cut, is no cut
    /// by marks.
    #[test]
    fn marks_that_lower_the_window_are_counted() {
        let config = config(|_| {});
        for (marked, delay, cuts) in [(true, 20_000, 1), (true, 1_000, 0), (false, 20_000, 0), (false, 1_000, 0)] {
            let mut subflows = subflows(&config);
            subflows.on_ack((3, None), marked, (None, Some(Time::from_ns(delay))), us(13), &config);
            let found = subflows.all[0].counters();
            assert_eq!((found.cuts, found.marked_acks), (cuts, u64::from(marked)), "{marked} {delay}");
            assert_eq!(subflows.all[0].window.bytes < 60_000.0, cuts == 1);
        }
    }

    /// Four quadrants by hand. An increase of x bytes² widens the window by x / 60,000 alone, and by x / 100,000 as a part
    /// of both. Once a base RTT 0.15 packets come on top, of which AMP makes 0.6. LIA: with equal round-trip times 60,000² /
    /// 100,000² of both.
    #[test]
    fn each_quadrant_of_nscc_acts_on_its_own_window() {
        for (coupling, part) in [(Coupling::Amp, 0.6), (Coupling::Lia, 0.36), (Coupling::Uncoupled, 1.0)] {
            let config = config(|own| own.subflow_coupling = coupling);
            let eta = part * 614.4;
            // 3 us: 4 packets in 12 us a us below the target, of 6 us: 8,192 B for each byte.
            let proportional = 8_192.0 * 8_320.0 / 60_000.0;
            assert!(near(after_ack(&config, 8_320, false, 3_000), 60_000.0 + part * proportional + eta));
            // At the target: 5 packets for each byte.
            let fair = 20_480.0 * 8_320.0 / 60_000.0;
            assert!(near(after_ack(&config, 8_320, false, 9_000), 60_000.0 + part * fair + eta));
            // Marked below it: nothing.
            assert!(near(after_ack(&config, 8_320, true, 3_000), 60_000.0 + eta));
            // Marked at twice the target: 0.8 of a half is cut, whole.
            assert!(near(after_ack(&config, 8_320, true, 18_000), 60_000.0 * 0.6 + eta));
            // More than a window without delay: a quarter of it, whole, as all subflows together grow by a quarter.
            assert!(near(after_ack(&config, 60_001, false, 0), 60_000.0 + 60_001.0 / 4.0 + eta));
        }
    }

    /// A trimmed packet is taken from the window of the subflow that sent it, and quick adapt leaves that what it got
    /// through if it is less than an eighth of its part of the largest window, 112,500 B.
    #[test]
    fn trims_cut_the_window_of_their_subflow() {
        let config = config(|_| {});
        for (through, left) in [(14_062, 14_062.0), (14_063, 55_840.0)] {
            let mut subflows = subflows(&config);
            subflows.on_ack((0, None), false, (None, Some(us(8))), Time::from_ns(1), &config);
            subflows.on_nack((31, false), 4_160, None, Time::from_ns(2), &config);
            assert_eq!((subflows.all[0].window.bytes, subflows.all[1].window.bytes), (55_840.0, 40_000.0));
            subflows.all[0].unheard = through;
            subflows.on_ack((0, None), true, (None, Some(us(8))), us(22), &config);
            assert!((subflows.all[0].window.bytes - left).abs() < 400.0, "{}", subflows.all[0].window.bytes);
            assert_eq!(subflows.all[0].window.bytes == left, through == 14_062, "the others grow a little");
        }
    }

    /// 225,000 B are the most of both together: subflow 0 may have what subflow 1 leaves.
    #[test]
    fn all_windows_together_have_the_bound_of_one() {
        let config = config(|_| {});
        let mut subflows = subflows(&config);
        subflows.all[0].window.bytes = 184_000.0;
        subflows.all[0].unheard = 200_000;
        subflows.on_ack((0, None), false, (None, Some(Time::ZERO)), us(13), &config);
        assert_eq!(subflows.all[0].window.bytes, 185_000.0);
        subflows.all[1].window.bytes = 224_000.0;
        subflows.on_ack((0, None), false, (None, Some(us(8))), us(14), &config);
        assert_eq!(subflows.all[0].window.bytes, 4_160.0, "a packet is the least");
        // The least round-trip time of a subflow lowers its own part.
        subflows.measured(1, us(8), &config);
        assert_eq!(subflows.all.iter().map(|s| s.window.most).collect::<Vec<_>>(), [112_500.0, 75_000.0]);
    }

    #[test]
    fn a_connection_begins_with_equal_parts() {
        let parts = |config: &Config| Subflows::new(config, 7).all.iter().map(|s| s.window.bytes).collect::<Vec<_>>();
        assert_eq!(parts(&config(|_| {})), [112_500.0; 2]);
        assert_eq!(parts(&config(|own| own.first_window = Some(linkpool_units::Bytes(20_000)))), [10_000.0; 2]);
        assert_eq!(parts(&config(|own| own.first_window = Some(linkpool_units::Bytes(20)))), [4_160.0; 2], "a packet");
        let all = Subflows::new(&config(|_| {}), 7);
        assert_eq!([0, 31, 32, 63].map(|entropy| all.of(entropy)), [0, 0, 1, 1]);
    }

    /// One window begins with a packet at least, too: below it nothing would be sent.
    #[test]
    fn a_window_begins_with_a_packet() {
        let mut one = (*config(|own| own.first_window = Some(linkpool_units::Bytes(1)))).clone();
        one.subflows = 1;
        assert_eq!(Subflows::new(&one, 7).all[0].window.bytes, 4_160.0);
        one.first_window = Some(4_161.0);
        assert_eq!(Subflows::new(&one, 7).all[0].window.bytes, 4_161.0);
    }

    /// Subflows with room take turns. Each entropy value is one of its subflow.
    #[test]
    fn subflows_with_room_take_turns() {
        let config = config(|_| {});
        let mut subflows = subflows(&config);
        let mut sent = Vec::new();
        while let Some(s) = subflows.with_room(4_160, us(1)) {
            let entropy = subflows.entropy(s, sent.len() as u32, us(1), &config, |n| n / 2);
            assert_eq!((subflows.of(entropy), usize::from(entropy) / 32), (s, s));
            assert_eq!(subflows.is_full(s, 4_160), subflows.all[s].in_flight + 4_160 >= [60_000, 40_000][s]);
            subflows.send(s, (4_160, sent.len() == 3), us(1), &config);
            sent.push(s);
        }
        // 14 packets fit into 60,000 B, 9 into 40,000 B.
        let expected: Vec<usize> = (0..18).map(|i| i % 2).chain([0; 5]).collect();
        assert_eq!(sent, expected);
        let counters = |s: usize| (subflows.all[s].counters.sent, subflows.all[s].counters.sent_again);
        assert_eq!([counters(0), counters(1)], [(14, 0), (9, 1)]);
        subflows.lose(1, 4_160);
        assert_eq!(subflows.with_room(4_160, us(1)), Some(1));
    }

    /// What arrives is taken from the subflow that sent it last, once, and waits for the law of that subflow.
    #[test]
    fn bytes_are_those_of_the_subflow_that_sent_them() {
        let config = config(|_| {});
        let mut subflows = subflows(&config);
        [0, 1, 1].iter().for_each(|s| subflows.send(*s, (4_160, false), us(1), &config));
        subflows.received(4_160);
        subflows.acknowledge(40, false, (4_096, 4_160));
        subflows.lose(1, 4_160);
        subflows.acknowledge(41, true, (4_096, 4_160));
        let of = |subflows: &Subflows, s: usize| {
            let subflow = &subflows.all[s];
            (subflow.in_flight, subflow.unheard, subflow.acked)
        };
        assert_eq!([of(&subflows, 0), of(&subflows, 1)], [(4_160, 0, 0), (0, 8_320, 8_192)]);
        subflows.on_ack((40, None), false, (None, Some(us(8))), us(1), &config);
        assert_eq!(of(&subflows, 1), (0, 0, 8_192));
        assert!(subflows.all[0].srtt.is_none());
        assert_eq!(subflows.sample(1, us(15), &config), us(3));
        assert_eq!(
            (subflows.all[1].srtt, subflows.all[1].min_rtt, subflows.all[0].srtt),
            (Some(15e6), Some(us(15)), None)
        );
        subflows.sample(1, us(23), &config);
        assert_eq!((subflows.all[1].srtt, subflows.all[1].min_rtt), (Some(16e6), Some(us(15))));
    }

    /// LIA links by smoothed round-trip times, before the first by the base RTT: 60,000 B at 12 us and 40,000 B at 24 us.
    /// 60,000 x (60,000 / 12²) / (5,000 + 40,000 / 24)² is 0.5625; with 40,000 / 12² in place of that 0.36.
    #[test]
    fn increases_are_linked_by_round_trip_times() {
        let config = config(|own| own.subflow_coupling = Coupling::Lia);
        let mut subflows = subflows(&config);
        subflows.couple(0, &config);
        assert!((subflows.all[0].window.part - 0.36).abs() < 1e-12);
        subflows.sample(1, us(24), &config);
        subflows.couple(0, &config);
        assert!((subflows.all[0].window.part - 0.5625).abs() < 1e-12, "{}", subflows.all[0].window.part);
    }

    /// With all windows below two packets for two rounds only subflow 0 sends, and it grows as a lone window. A timeout
    /// without an answer releases the others.
    #[test]
    fn suppression_leaves_the_first_subflow() {
        let config = config(|own| own.subflow_suppression = true);
        let mut subflows = subflows(&config);
        let stuck = |subflows: &mut Subflows| {
            subflows.all.iter_mut().for_each(|subflow| subflow.window.bytes = 8_319.0);
        };
        for (entropy, round, suppressed) in [(0, 1, false), (32, 2, false), (33, 3, false), (1, 4, true)] {
            stuck(&mut subflows);
            subflows.on_ack((entropy, None), true, (Some(us(20 * round - 20)), Some(us(20))), us(20 * round), &config);
            assert_eq!(subflows.is_active(1), !suppressed, "{round}");
        }
        assert!(subflows.is_active(0) && subflows.with_room(4_160, us(1)) == Some(0));
        subflows.send(0, (4_160, false), us(1), &config);
        stuck(&mut subflows);
        assert_eq!(subflows.with_room(4_160, us(1)), None, "subflow 1 has room");
        subflows.couple(0, &config);
        assert_eq!(subflows.all[0].window.part, 1.0);
        subflows.couple(1, &config);
        assert_eq!(subflows.all[1].window.part, 0.5);
        subflows.on_timeout(1, us(99));
        assert!(!subflows.is_active(1), "not the first");
        subflows.on_timeout(0, us(99));
        assert_eq!((subflows.is_active(1), subflows.suppressions()), (true, Some((1, 1))));
        assert_eq!((subflows.all[0].counters.timeouts, subflows.all[1].counters.timeouts), (1, 1));
        assert_eq!(Subflows::new(&self::config(|_| {}), 7).suppressions(), None);
    }

    /// Before a NACK or a timeout changes a window, the window is told what the other leaves of its 112,500 B, and its part.
    #[test]
    fn losses_see_what_the_other_windows_leave() {
        let config = config(|_| {});
        let lose: [fn(&mut Subflows, &Config); 2] = [
            |subflows, config| subflows.on_nack((3, false), 4_160, None, us(13), config),
            |subflows, config| subflows.declare_lost(0, 4_160, us(13), config),
        ];
        for lose in lose {
            let mut subflows = subflows(&config);
            lose(&mut subflows, &config);
            let found = [0, 1].map(|s: usize| {
                let window = subflows.all[s].window;
                (window.bytes, window.spare, window.part)
            });
            assert_eq!(found, [(55_840.0, 72_500.0, 0.6), (40_000.0, 0.0, 1.0)]);
        }
    }

    /// A law begins when the connection opens: 13 us after that a marked ACK may cut, and 8 us after that not.
    #[test]
    fn laws_begin_when_the_connection_opens() {
        let config = config(|_| {});
        for (opened, cuts) in [(0, true), (5, false)] {
            let mut subflows = Subflows::new(&config, 7);
            subflows.open(&config, us(opened));
            subflows.all[0].window.bytes = 60_000.0;
            subflows.on_ack((3, None), true, (None, Some(us(30))), us(13), &config);
            assert_eq!(subflows.all[0].window.bytes < 60_000.0, cuts, "opened at {opened} us");
        }
    }
}
