//! The sending end of a UET connection (uec.cpp, `UecSrc`).

use super::balancer::{Balancer, Feedback};
use super::config::Config;
use super::message::{Ack, Data, Output};
use super::nscc::Nscc;
use super::outstanding::{Outstanding, Place, Sent};
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
    nscc: Nscc,
    balancer: Balancer,
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
            in_flight: 0,
            received: 0,
            left: size.unwrap_or(u64::MAX),
            messages: VecDeque::new(),
            in_order: 0,
            acked: 0,
            nscc: Nscc::new(Time::ZERO),
            balancer: Balancer::new(config.balancer, config.entropies, drawn),
            asked: Time::MAX,
            stats: Box::default(),
            config,
        }
    }

    /// Starts to send, without a handshake.
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        self.stats.started = now;
        self.nscc = Nscc::new(now);
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
        self.state == SenderState::Open && self.window.bytes >= (self.in_flight + self.wire(len)) as f64
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
        let entropy = self.balancer.next(|n| out.random(n));
        self.stats.counters.sent += 1;
        let data = match self.outstanding.first_queued() {
            Some((psn, Sent { len, .. })) => {
                self.outstanding.send_again(psn, now);
                self.stats.counters.sent_again += 1;
                self.in_flight += self.wire(len);
                Data { psn, len, ack_now: true, again: true, last: self.is_last(psn) }
            }
            None => {
                let (psn, len) = (self.outstanding.next(), self.left.min(self.config.mss.into()) as u16);
                self.take(len);
                self.outstanding.send_new(len, now);
                self.in_flight += self.wire(len);
                // The last packet, and that before which the window closes (`sendNewPacket`).
                let full = (self.in_flight + self.wire(len)) as f64 >= self.window.bytes;
                Data { psn, len, ack_now: self.left == 0 || full, again: false, last: self.is_last(psn) }
            }
        };
        out.send(data, entropy);
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
        let delay = self.sample(ack, now, out);
        let before = self.in_order;
        self.take_acks(ack);
        self.balancer.on_feedback(entropy, if ack.marked { Feedback::Marked } else { Feedback::Good });
        let signal = Signal { now, marked: ack.marked, delay, bytes, in_flight: self.in_flight };
        self.nscc.on_ack(&signal, &mut self.window, &self.config.nscc);
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
        self.nscc.on_nack(bytes as u64, &signal, &mut self.window, &self.config.nscc);
        self.in_flight -= bytes;
        self.outstanding.queue(psn);
        self.balancer.on_feedback(entropy, Feedback::Trimmed);
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
            self.on_timeout(psn);
        }
        self.send_all(now, out);
    }

    /// The oldest packet in flight has had no answer (`rtxTimerExpired`).
    fn on_timeout(&mut self, psn: u32) {
        self.stats.counters.timeouts += 1;
        let Some(bytes) = self.outstanding.get(psn).map(|sent| self.wire(sent.len)) else { return };
        self.in_flight -= bytes;
        self.nscc.on_timeout(bytes as u64, &mut self.window, &self.config.nscc);
        self.outstanding.queue(psn);
    }

    /// Asks to be woken when the oldest packet in flight is overdue.
    fn arm(&mut self, now: Time, out: &mut impl Output) {
        if self.state != SenderState::Open {
            return;
        }
        let Some((at, _)) = self.outstanding.oldest() else { return };
        let deadline = (at + self.config.rto).max(now);
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
