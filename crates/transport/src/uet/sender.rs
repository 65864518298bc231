//! The sending end of a UET connection (uec.cpp, `UecSrc`).

use super::balancer::{Balancer, Feedback};
use super::config::Config;
use super::credit::Credit;
use super::law::Law;
use super::message::{Ack, Data, Output};
use super::outstanding::{Outstanding, Place, Sent};
use super::sleek::Sleek;
use super::window::{Signal, Window};
use crate::sender::SenderState;
use linkpool_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Counters of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Data packets sent, those sent again included.
    pub sent: u64,
    /// Data packets sent again.
    pub sent_again: u64,
    /// ACKs that arrived.
    pub acks: u64,
    /// ACKs of packets with marks.
    pub marked_acks: u64,
    /// NACKs that arrived.
    pub nacks: u64,
    /// Packets without an answer in time.
    pub timeouts: u64,
    /// PULLs that arrived.
    pub pulls: u64,
    /// RTS sent.
    pub asked: u64,
    /// Probes sent.
    pub probes: u64,
}

/// The sending end of a connection.
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    state: SenderState,
    /// Does it wait for the links of its host?
    waiting: bool,
    /// Does its data end with the messages that it has?
    ends: bool,
    outstanding: Outstanding,
    window: Window,
    /// Bytes on the wire of packets that are to be sent again.
    queued: i64,
    /// Bytes on the wire in flight. The receiver's count of bytes lowers it, so that it may be wrong for
    /// a while, and below zero, when a packet was declared lost that was not.
    in_flight: i64,
    /// The receiver's count of bytes on the wire.
    received: u64,
    /// Payload of the message that is sent now that is not in a packet yet; without end: `u64::MAX`.
    left: u64,
    /// The messages after it.
    messages: VecDeque<u64>,
    /// Payload acknowledged in order, and in all, bytes.
    in_order: u64,
    acked: u64,
    law: Law,
    balancer: Balancer,
    credit: Option<Box<Credit>>,
    sleek: Option<Box<Sleek>>,
    /// When the receiver was heard last, or asked (RTS) last.
    alive: Time,
    /// The earliest wake-up that has been requested.
    asked: Time,
    stats: Box<Stats>,
}

/// What only results read.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    counters: Counters,
    started: Time,
    ended: Option<Time>,
    /// Smoothed round-trip time, ps, and the least.
    srtt: Option<f64>,
    min_rtt: Option<Time>,
}

impl Sender {
    /// Creates a sender of `size` bytes (`None`: without end), whose connection stays open for further
    /// messages or not. `drawn` is a random number.
    pub fn new(config: Arc<Config>, size: Option<u64>, stays_open: bool, drawn: u32) -> Sender {
        let window = Window::new(config.first_window, config.rate, config.base_rtt, config.most_products);
        Sender {
            state: SenderState::Open,
            waiting: false,
            ends: !stays_open,
            outstanding: Outstanding::default(),
            window,
            queued: 0,
            in_flight: 0,
            received: 0,
            left: size.unwrap_or(u64::MAX),
            messages: VecDeque::new(),
            in_order: 0,
            acked: 0,
            law: Law::new(&config, Time::ZERO),
            balancer: Balancer::new(config.balancer, &config.spraying, drawn),
            credit: config.credit.then(|| Box::new(Credit::new(config.most()))),
            sleek: config.sleek.then(|| Box::new(Sleek::new())),
            alive: Time::ZERO,
            asked: Time::MAX,
            stats: Box::default(),
            config,
        }
    }

    /// Starts to send, without a handshake.
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        (self.stats.started, self.alive) = (now, now);
        self.law = Law::new(&self.config, now);
        self.send_all(now, out);
    }

    /// Adds a message of `size` bytes.
    pub fn extend(&mut self, size: u64, now: Time, out: &mut impl Output) {
        if self.left == 0 {
            self.left = size
        } else {
            self.messages.push_back(size)
        }
        self.send_all(now, out);
    }

    /// Sends no new data from now on; the data that has been sent must arrive.
    pub fn stop(&mut self, now: Time) {
        self.left = 0;
        self.messages.clear();
        self.ends = true;
        self.finish_if_done(now);
    }

    /// Bytes on the wire of a packet with `len` bytes of payload.
    fn wire(&self, len: u16) -> i64 {
        i64::from(len) + i64::from(self.config.header)
    }

    /// Payload of the next packet, a new one or one that is to be sent again; none if there is none.
    fn next_len(&mut self) -> Option<u16> {
        if self.outstanding.queued() > 0 {
            return self.outstanding.first_queued().map(|(_, sent)| sent.len);
        }
        (self.left > 0).then(|| self.left.min(self.config.mss.into()) as u16)
    }

    /// May a packet be sent, but for the links (`isSendPermitted`)?
    fn may_send(&mut self) -> bool {
        let Some(len) = self.next_len() else { return false };
        self.state == SenderState::Open
            && self.credit.as_ref().is_none_or(|credit| credit.is_left())
            && (!self.law.has_window()
                || self.recovers()
                || self.window.bytes >= (self.in_flight + self.wire(len)) as f64)
    }

    /// May what is to be sent again go past the window?
    fn recovers(&self) -> bool {
        self.outstanding.queued() > 0 && self.sleek.as_ref().is_some_and(|sleek| sleek.is_recovering())
    }

    /// The quanta of credit that it wants in all.
    fn target(&self, out: &impl Output) -> u32 {
        let Some(credit) = &self.credit else { return 0 };
        let wire = |bytes: u64| {
            let packets = bytes.div_ceil(self.config.mss.into());
            bytes.saturating_add(packets * u64::from(self.config.header)).min(i64::MAX as u64 / 4) as i64
        };
        let new = wire(self.left) + self.messages.iter().map(|message| wire(*message)).sum::<i64>();
        let window = self.law.has_window().then_some(self.window.bytes);
        credit.target((new + self.queued, new), window, self.config.mtu() as i64, out.others() + 1)
    }

    /// Sends what the window and the links allow (`sendIfPermitted`).
    fn send_all(&mut self, now: Time, out: &mut impl Output) {
        while !self.waiting && self.may_send() {
            if out.is_free() {
                self.send_one(now, out);
            } else {
                self.waiting = true;
                out.queue_turn();
            }
        }
        self.arm(now, out);
    }

    /// Its turn on the links of the host has come (`timeToSend`). Returns whether it was used.
    pub fn on_turn(&mut self, now: Time, out: &mut impl Output) -> bool {
        self.waiting = false;
        let sends = self.may_send();
        if sends {
            self.send_one(now, out);
            if self.may_send() {
                self.waiting = true;
                out.queue_turn();
            }
            self.arm(now, out);
        }
        sends
    }

    /// Sends a packet: the lowest PSN that is to be sent again, or new data.
    fn send_one(&mut self, now: Time, out: &mut impl Output) {
        let queued = self.outstanding.first_queued();
        let entropy = self.entropy(queued.map_or(self.outstanding.next(), |(psn, _)| psn), now, out);
        self.stats.counters.sent += 1;
        let mut data = match queued {
            Some((psn, Sent { len, .. })) => {
                self.outstanding.send_again(psn, entropy, now);
                self.stats.counters.sent_again += 1;
                self.queued -= self.wire(len);
                self.spend(len);
                Data { psn, len, ack_now: true, again: true, last: self.is_last(psn), target: 0 }
            }
            None => {
                let (psn, len) = (self.outstanding.next(), self.left.min(self.config.mss.into()) as u16);
                self.take(len);
                self.outstanding.send_new(len, entropy, now);
                self.spend(len);
                // The last packet, that which uses up the credit, and that before which the window closes
                // (`sendNewPacket`).
                let full = self.law.has_window() && (self.in_flight + self.wire(len)) as f64 >= self.window.bytes;
                let spent = self.credit.as_ref().is_some_and(|credit| !credit.is_left());
                let ack_now = self.left == 0 || spent || full;
                Data { psn, len, ack_now, again: false, last: self.is_last(psn), target: 0 }
            }
        };
        data.target = self.target(out);
        out.send(data, entropy);
    }

    /// The entropy value of packet `psn`, or of a header before it.
    fn entropy(&mut self, psn: u32, now: Time, out: &mut impl Output) -> u16 {
        let (window, sent) = (self.window.bytes / f64::from(self.config.mss), self.outstanding.next());
        self.balancer.next((psn, sent), (window, self.config.entropies), now, |n| out.random(n))
    }

    /// A packet with so much payload is sent.
    fn spend(&mut self, len: u16) {
        let bytes = self.wire(len);
        self.in_flight += bytes;
        if let Some(credit) = &mut self.credit {
            credit.spend(bytes);
        }
    }

    /// The receiver has said something.
    fn heard(&mut self, now: Time) {
        self.alive = now;
        if let Some(credit) = &mut self.credit {
            credit.heard();
        }
    }

    /// Takes payload from the messages.
    fn take(&mut self, len: u16) {
        if self.left < u64::MAX {
            self.left -= u64::from(len);
        }
        if self.left == 0 {
            self.left = self.messages.pop_front().unwrap_or(0);
        }
    }

    /// Is the packet the last of a connection that ends?
    fn is_last(&self, psn: u32) -> bool {
        self.ends && self.left == 0 && psn + 1 == self.outstanding.next()
    }

    /// An ACK has come with this entropy value (`processAck`). Returns whether data was acknowledged in
    /// order.
    pub fn on_ack(&mut self, ack: &Ack, entropy: u16, now: Time, out: &mut impl Output) -> bool {
        self.stats.counters.acks += 1;
        self.stats.counters.marked_acks += u64::from(ack.marked);
        let bytes = ack.received.saturating_sub(self.received);
        self.received += bytes;
        self.in_flight -= bytes as i64;
        let delay = if ack.probe { self.probed(ack.psn, now) } else { self.sample(ack, now, out) };
        let before = self.in_order;
        self.take_acks(ack);
        let feedback = if ack.marked { Feedback::Marked } else { Feedback::Good };
        let rtt = delay.map(|delay| self.window.base_rtt + delay);
        self.balancer.on_feedback(entropy, feedback, rtt, now);
        let signal = Signal { now, marked: ack.marked, delay, bytes, in_flight: self.in_flight };
        self.law.on_ack(signal, &mut self.window, &self.config);
        self.recover(ack, delay, now);
        self.heard(now);
        self.finish_if_done(now);
        self.send_all(now, out);
        self.in_order > before
    }

    /// The delay of the packet that an ACK answers, if it is known which copy has arrived.
    fn sample(&mut self, ack: &Ack, now: Time, out: &mut impl Output) -> Option<Time> {
        let sent = self.outstanding.get(ack.psn).filter(|sent| sent.is_known(ack.again))?;
        let rtt = now - sent.at;
        self.window.measured(rtt, self.config.rate, self.config.most_products);
        let smoothed = self.stats.srtt.map_or(rtt.0 as f64, |srtt| srtt + (rtt.0 as f64 - srtt) / 8.0); // RFC 6298 (2.3)
        self.stats.srtt = Some(smoothed);
        self.stats.min_rtt = Some(self.stats.min_rtt.map_or(rtt, |least| least.min(rtt)));
        out.measured_rtt(rtt);
        Some(rtt - self.window.base_rtt)
    }

    /// The delay of probe `number`, whose answer has come. It may be shorter than any packet's, as it is a
    /// header.
    fn probed(&self, number: u32, now: Time) -> Option<Time> {
        let rtt = self.sleek.as_ref()?.probed(number, now)?;
        Some(rtt.saturating_sub(self.window.base_rtt))
    }

    /// Sends again what an ACK shows to be lost, without trimming (`processAck`, `runSleek`).
    fn recover(&mut self, ack: &Ack, delay: Option<Time>, now: Time) {
        let Some(sleek) = &mut self.sleek else { return };
        let (cumulative, next, target) = (self.outstanding.base(), self.outstanding.next(), self.config.nscc.target);
        sleek.await_probe((cumulative, next), self.left > 0, now, self.window.base_rtt, target);
        if ack.probe && delay.is_some_and(|delay| delay < target) {
            sleek.found_loss(cumulative, next);
        }
        let packets = |bytes: f64| bytes / f64::from(self.config.mss);
        let window = (packets(self.window.bytes), packets(self.window.most));
        let queues = self.outstanding.queued() > 0;
        for psn in sleek.on_ack((cumulative, ack.out_of_order), next, queues, window) {
            if let Some(sent) = self.outstanding.get(psn).filter(|sent| sent.place == Place::Flying) {
                self.in_flight -= self.wire(sent.len);
                self.queue(psn);
            }
        }
    }

    /// The flying packet `psn` is to be sent again.
    fn queue(&mut self, psn: u32) {
        self.queued += self.outstanding.get(psn).map_or(0, |sent| self.wire(sent.len));
        self.outstanding.queue(psn);
    }

    /// All packets below `ack.cumulative`, and those of its bitmap, have arrived (`handleCumulativeAck`,
    /// `handleAckno`).
    fn take_acks(&mut self, ack: &Ack) {
        while self.outstanding.base() < ack.cumulative.min(self.outstanding.next()) {
            self.acknowledge(self.outstanding.base());
            if let Some(first) = self.outstanding.shift() {
                self.in_order += u64::from(first.len);
            }
        }
        let mut bits = ack.bitmap;
        while bits > 0 {
            self.acknowledge(ack.base + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }

    fn acknowledge(&mut self, psn: u32) {
        let Some(before) = self.outstanding.acknowledge(psn) else { return };
        self.acked += u64::from(before.len);
        if before.place == Place::Queued {
            // It was taken from those in flight when it was declared lost, and again by the receiver's
            // count.
            self.in_flight += self.wire(before.len);
            self.queued -= self.wire(before.len);
        }
    }

    /// A NACK of packet `psn` has come with this entropy value (`processNack`). `again`: it was trimmed when
    /// it was sent again. (In uet-htsim the NACK of an earlier copy counts as that of the last, and may
    /// make the base RTT too short.)
    pub fn on_nack(&mut self, (psn, again): (u32, bool), entropy: u16, now: Time, out: &mut impl Output) {
        self.stats.counters.nacks += 1;
        let Some(sent) = self.outstanding.get(psn).copied().filter(|sent| sent.place == Place::Flying) else {
            return; // an ACK was faster
        };
        if self.config.nacks_lower_rtt && sent.is_known(again) {
            self.window.measured(now - sent.at, self.config.rate, self.config.most_products);
        }
        let bytes = self.wire(sent.len);
        let signal = Signal { now, marked: true, delay: None, bytes: 0, in_flight: self.in_flight };
        self.law.on_nack(bytes as u64, &signal, &mut self.window, &self.config);
        self.in_flight -= bytes;
        self.queue(psn);
        self.heard(now);
        self.balancer.on_feedback(entropy, Feedback::Trimmed, None, now);
        self.send_all(now, out);
    }

    /// A PULL has come: the receiver has granted so many quanta of credit in all (`processPull`).
    pub fn on_pull(&mut self, granted: u32, now: Time, out: &mut impl Output) {
        self.stats.counters.pulls += 1;
        self.heard(now);
        if let Some(credit) = &mut self.credit {
            credit.grant(granted);
        }
        self.send_all(now, out);
    }

    /// Call it when a requested wake-up is due. A needless call does no harm.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Output) {
        if now >= self.asked {
            self.asked = Time::MAX;
        }
        while let Some((at, psn)) = self.outstanding.oldest()
            && at + self.config.rto <= now
            && self.state == SenderState::Open
        {
            self.on_timeout(psn, now);
        }
        if self.sleek.as_ref().is_some_and(|sleek| sleek.probe_at() <= now) && self.state == SenderState::Open {
            self.probe(now, out);
        }
        self.ask_if_stuck(now, out);
        self.send_all(now, out);
    }

    /// Sends a probe, a header that asks for an ACK (`sendProbe`).
    fn probe(&mut self, now: Time, out: &mut impl Output) {
        let (entropy, base_rtt) = (self.entropy(self.outstanding.next(), now, out), self.window.base_rtt);
        if let Some(sleek) = &mut self.sleek {
            self.stats.counters.probes += 1;
            out.probe(sleek.send_probe(now, base_rtt), entropy);
        }
    }

    /// What is to be sent waits for credit: the receiver may not know of it, or its PULL is lost. The sender
    /// asks, at most once a base RTT (`sendRTS`), and again after a timeout if there is no answer.
    fn ask_if_stuck(&mut self, now: Time, out: &mut impl Output) {
        if self.is_stuck() && now >= self.alive + self.config.base_rtt {
            let (target, entropy) = (self.target(out), self.entropy(self.outstanding.next(), now, out));
            self.stats.counters.asked += 1;
            self.alive = now;
            out.ask(target, entropy);
        }
    }

    /// Does it lack credit for what it has to send?
    fn is_stuck(&mut self) -> bool {
        self.state == SenderState::Open
            && self.credit.as_ref().is_some_and(|credit| !credit.is_left())
            && self.next_len().is_some()
    }

    /// The oldest packet in flight has had no answer (`rtxTimerExpired`).
    fn on_timeout(&mut self, psn: u32, now: Time) {
        self.stats.counters.timeouts += 1;
        let Some(Sent { len, entropy, again, .. }) = self.outstanding.get(psn).copied() else { return };
        // uet-htsim does not know the value of the packet, and tells balancers another.
        self.balancer.on_feedback(entropy, Feedback::Lost, None, now);
        if let Some(sleek) = self.sleek.as_mut().filter(|sleek| sleek.is_recovering()) {
            self.outstanding.forget_oldest();
            sleek.on_timeout(psn, again > 0);
            return;
        }
        let bytes = self.wire(len);
        self.in_flight -= bytes;
        self.law.on_timeout(bytes as u64, now, &mut self.window, &self.config);
        self.queue(psn);
    }

    /// Asks to be woken when the oldest packet in flight is overdue, when to probe, and when to ask for
    /// credit again.
    fn arm(&mut self, now: Time, out: &mut impl Output) {
        if self.state != SenderState::Open {
            return;
        }
        let mut deadline = self.outstanding.oldest().map_or(Time::MAX, |(at, _)| at + self.config.rto);
        if deadline == Time::MAX && self.is_stuck() {
            deadline = self.alive + self.config.rto;
        }
        if let Some(sleek) = &self.sleek {
            deadline = deadline.min(sleek.probe_at());
        }
        deadline = deadline.max(now);
        if deadline < self.asked {
            self.asked = deadline;
            out.wake(deadline);
        }
    }

    fn finish_if_done(&mut self, now: Time) {
        let done = self.ends && self.left == 0 && self.outstanding.base() == self.outstanding.next();
        if done && self.state == SenderState::Open {
            self.state = SenderState::Finished;
            self.stats.ended = Some(now);
        }
    }

    /// The state of the connection.
    pub fn state(&self) -> SenderState {
        self.state
    }

    /// When it was opened.
    pub fn started(&self) -> Time {
        self.stats.started
    }

    /// When its last data was acknowledged.
    pub fn ended(&self) -> Option<Time> {
        self.stats.ended
    }

    /// Payload acknowledged in order, bytes.
    pub fn in_order(&self) -> u64 {
        self.in_order
    }

    /// Payload acknowledged, bytes.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// The window.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Bytes on the wire in flight.
    pub fn in_flight(&self) -> i64 {
        self.in_flight
    }

    /// The settings of its connection.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Smoothed round-trip time in ps, once there is a sample.
    pub fn srtt(&self) -> Option<f64> {
        self.stats.srtt
    }

    /// The least round-trip time.
    pub fn min_rtt(&self) -> Option<Time> {
        self.stats.min_rtt
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.stats.counters
    }
}
