//! The sending end of a UET connection (uec.cpp, `UecSrc`).

use super::balancer::Feedback;
use super::config::Config;
use super::credit::Credit;
use super::message::{Ack, Data, Nack, Output, Probe};
use super::outstanding::{Outstanding, Place, Sent};
use super::sleek::Sleek;
use super::subflow::{Subflow, Subflows};
use crate::id::SubflowId;
use crate::sender::SenderState;
use linkpool_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Counters of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// ACKs that arrived.
    pub acks: u64,
    /// NACKs that arrived.
    pub nacks: u64,
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
    /// Bytes on the wire of packets that are to be sent again.
    queued: i64,
    /// The receiver's count of bytes on the wire.
    received: u64,
    /// Payload of the message that is sent now that is not in a packet yet; without end: `u64::MAX`.
    left: u64,
    /// The messages after it.
    messages: VecDeque<u64>,
    /// Payload acknowledged in order, and in all, bytes.
    in_order: u64,
    acked: u64,
    subflows: Subflows,
    credit: Option<Box<Credit>>,
    sleek: Option<Box<Sleek>>,
    /// The earliest wake-up that has been requested.
    asked: Time,
    stats: Box<Stats>,
}

/// What a sender waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// Its turn on the links of its host.
    Turn,
    /// Its window, or those of all its subflows.
    Window,
    /// Credit of the receiver.
    Credit,
    /// Answers, as all is sent.
    Answers,
}

/// What results and rare events read.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    counters: Counters,
    started: Time,
    ended: Option<Time>,
    /// When it asked for credit or for an ACK last.
    asked: Option<Time>,
}

impl Sender {
    /// Creates a sender of `size` bytes (`None`: without end), whose connection stays open for further
    /// messages or not. `drawn` is a random number.
    pub fn new(config: Arc<Config>, size: Option<u64>, stays_open: bool, drawn: u32) -> Sender {
        Sender {
            state: SenderState::Open,
            waiting: false,
            ends: !stays_open,
            outstanding: Outstanding::default(),
            queued: 0,
            received: 0,
            left: size.unwrap_or(u64::MAX),
            messages: VecDeque::new(),
            in_order: 0,
            acked: 0,
            subflows: Subflows::new(&config, drawn),
            credit: config.credit.then(|| Box::new(Credit::new(config.most()))),
            sleek: config.sleek.then(|| Box::new(Sleek::new())),
            asked: Time::MAX,
            stats: Box::default(),
            config,
        }
    }

    /// Starts to send, without a handshake.
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        self.stats.started = now;
        if let Some(credit) = &mut self.credit {
            credit.wait_from(now);
        }
        self.subflows.open(&self.config, now);
        self.send_all(now, out);
    }

    /// Adds a message of `size` bytes.
    pub fn extend(&mut self, size: u64, now: Time, out: &mut impl Output) {
        let after_a_pause = self.left == 0 && self.outstanding.oldest().is_none();
        if self.left == 0 {
            self.left = size
        } else {
            self.messages.push_back(size)
        }
        if let Some(credit) = self.credit.as_mut().filter(|_| after_a_pause) {
            credit.wait_from(now);
        }
        self.send_all(now, out);
        // Without credit no packet tells the receiver of the message.
        self.ask_if_stuck(after_a_pause, now, out);
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

    /// The subflow that may send the next packet, but for the links; none if none may (`isSendPermitted`).
    fn next_subflow(&mut self, now: Time) -> Option<usize> {
        let len = self.next_len()?;
        if self.state != SenderState::Open || self.credit.as_ref().is_some_and(|credit| !credit.is_left()) {
            return None;
        }
        if !self.subflows.have_windows() || self.recovers() {
            return Some(0);
        }
        self.subflows.with_room(self.wire(len), now)
    }

    /// What it waits for, after an event.
    pub fn waits(&self) -> Waits {
        let has_data = self.left > 0 || self.outstanding.queued() > 0;
        match &self.credit {
            _ if self.waiting => Waits::Turn,
            _ if !has_data => Waits::Answers,
            Some(credit) if !credit.is_left() => Waits::Credit,
            _ => Waits::Window,
        }
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
        let window = self.subflows.have_windows().then(|| self.subflows.all()[0].window().bytes);
        credit.target((new + self.queued, new), window, self.config.mtu() as i64, out.others() + 1)
    }

    /// Sends what the window and the links allow (`sendIfPermitted`).
    fn send_all(&mut self, now: Time, out: &mut impl Output) {
        while !self.waiting
            && let Some(s) = self.next_subflow(now)
        {
            if out.is_free() {
                self.send_one(s, now, out);
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
        let sends = self.next_subflow(now);
        if let Some(s) = sends {
            self.send_one(s, now, out);
            if self.next_subflow(now).is_some() {
                self.waiting = true;
                out.queue_turn();
            }
            self.arm(now, out);
        }
        sends.is_some()
    }

    /// Sends a packet on subflow `s`: the lowest PSN that is to be sent again, whichever sent it before, or new data.
    fn send_one(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let queued = self.outstanding.first_queued();
        let entropy = self.entropy(s, queued.map_or(self.outstanding.next(), |(psn, _)| psn), now, out);
        let subflow = SubflowId::new(s);
        let mut data = match queued {
            Some((psn, Sent { len, .. })) => {
                self.outstanding.send_again(psn, entropy, now);
                self.queued -= self.wire(len);
                self.spend(s, len, true, now);
                Data { psn, subflow, len, ack_now: true, again: true, last: self.is_last(psn), target: 0 }
            }
            None => {
                let (psn, len) = (self.outstanding.next(), self.left.min(self.config.mss.into()) as u16);
                self.take(len);
                self.outstanding.send_new(len, entropy, now);
                self.spend(s, len, false, now);
                // The last packet, that which uses up the credit, and that before which the window closes
                // (`sendNewPacket`).
                let full = self.subflows.is_full(s, self.wire(len));
                let spent = self.credit.as_ref().is_some_and(|credit| !credit.is_left());
                let ack_now = self.left == 0 || spent || full;
                Data { psn, subflow, len, ack_now, again: false, last: self.is_last(psn), target: 0 }
            }
        };
        if !self.config.by_order {
            data.target = self.target(out);
            out.send(data, entropy);
            return;
        }
        data.target = self.subflows.balancer().section(data.psn);
        out.send(data, entropy);
        self.follow(&data, entropy, out);
    }

    /// Sends the probes that show a receiver what is lost though nothing else follows it on its path: behind the last packets
    /// of all subflows, behind each that is sent again, and behind the last of a path that is left (PFLD of "Ordered
    /// Chaos", SC 2026).
    fn follow(&mut self, data: &Data, entropy: u16, out: &mut impl Output) {
        let mut probe = |number, section, again, entropy| {
            self.stats.counters.probes += 1;
            out.probe(Probe { number, section, again }, entropy);
        };
        let balancer = self.subflows.balancer();
        if let Some(left) = balancer.take_ended().filter(|left| left.last >= self.outstanding.base()) {
            probe(left.last, left.first, false, left.value);
        }
        let (mss, subflows) = (u64::from(self.config.mss), u64::from(self.config.spraying.rss_subflows));
        let messages = self.messages.iter().take(subflows as usize).map(|message| message.div_ceil(mss));
        let is_near_end = self.left.div_ceil(mss) + messages.sum::<u64>() < subflows;
        if data.again || is_near_end {
            probe(data.psn, data.target, data.again, entropy);
        }
    }

    /// The entropy value of packet `psn` of subflow `s`, or of a header before it.
    fn entropy(&mut self, s: usize, psn: u32, now: Time, out: &mut impl Output) -> u16 {
        self.subflows.entropy(s, psn, now, &self.config, |n| out.random(n))
    }

    /// A packet with so much payload is sent on subflow `s`, for the first time or `again`.
    fn spend(&mut self, s: usize, len: u16, again: bool, now: Time) {
        let bytes = self.wire(len);
        self.subflows.send(s, (bytes, again), now, &self.config);
        if let Some(credit) = &mut self.credit {
            credit.spend(bytes, now);
        }
    }

    /// The receiver has said something.
    fn heard(&mut self, now: Time) {
        if let Some(credit) = &mut self.credit {
            credit.heard(now);
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
        let bytes = ack.received.saturating_sub(self.received);
        self.received += bytes;
        self.subflows.received(bytes);
        let sent = self.sent_at(ack);
        let delay = if ack.probe { self.probed(ack.psn, now) } else { self.sample(sent, entropy, now, out) };
        let before = self.in_order;
        self.take_acks(ack);
        // An answer to a probe, or to what was sent again, is about no place in the order of packets.
        let in_order = !ack.probe && !ack.again && ack.psn < self.outstanding.next();
        let psn = in_order.then_some(ack.psn);
        self.subflows.on_ack((entropy, psn), ack.marked, (sent, delay), now, &self.config);
        self.recover(ack, delay, now);
        self.heard(now);
        self.finish_if_done(now);
        self.send_all(now, out);
        self.in_order > before
    }

    /// When the packet that an ACK answers was sent, if it is known which copy has arrived.
    fn sent_at(&self, ack: &Ack) -> Option<Time> {
        let sent = self.outstanding.get(ack.psn).filter(|sent| !ack.probe && sent.is_known(ack.again))?;
        Some(sent.at)
    }

    /// The delay of a packet that was sent at `sent` with this entropy value, if that is known.
    fn sample(&mut self, sent: Option<Time>, entropy: u16, now: Time, out: &mut impl Output) -> Option<Time> {
        let rtt = now - sent?;
        let s = self.subflows.of(entropy);
        let delay = self.subflows.sample(s, rtt, &self.config);
        out.measured_rtt(SubflowId::new(s), rtt);
        Some(delay)
    }

    /// The delay of probe `number`, whose answer has come. It may be shorter than any packet's, as it is a
    /// header.
    fn probed(&self, number: u32, now: Time) -> Option<Time> {
        let rtt = self.sleek.as_ref()?.probed(number, now)?;
        Some(rtt.saturating_sub(self.subflows.all()[0].window().base_rtt))
    }

    /// Sends again what an ACK shows to be lost, without trimming (`processAck`, `runSleek`).
    fn recover(&mut self, ack: &Ack, delay: Option<Time>, now: Time) {
        let Some(sleek) = &mut self.sleek else { return };
        let window = self.subflows.all()[0].window();
        let (cumulative, next, target) = (self.outstanding.base(), self.outstanding.next(), self.config.target());
        sleek.await_probe((cumulative, next), self.left > 0, now, window.base_rtt, target);
        if ack.probe && delay.is_some_and(|delay| delay < target) {
            sleek.found_loss(cumulative, next);
        }
        let packets = |bytes: f64| bytes / f64::from(self.config.mss);
        let window = (packets(window.bytes), packets(window.most));
        let queues = self.outstanding.queued() > 0;
        for psn in sleek.on_ack((cumulative, ack.out_of_order), next, queues, window) {
            if let Some(sent) = self.outstanding.get(psn).filter(|sent| sent.place == Place::Flying) {
                self.subflows.lose(0, self.wire(sent.len));
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
        let (bytes, queued) = (self.wire(before.len), before.place == Place::Queued);
        self.subflows.acknowledge(before.entropy, queued, (before.len, bytes));
        self.queued -= if queued { bytes } else { 0 };
    }

    /// A NACK has come with this entropy value (`processNack`). (In uet-htsim the NACK of an earlier copy counts as that of the
    /// last, and may make the base RTT too short.)
    pub fn on_nack(&mut self, nack: Nack, entropy: u16, now: Time, out: &mut impl Output) {
        let Nack { psn, again, marked, at_last } = nack;
        self.stats.counters.nacks += 1;
        let Some(sent) = self.outstanding.get(psn).copied().filter(|sent| sent.place == Place::Flying) else {
            return; // an ACK was faster
        };
        if self.config.by_order {
            // That an earlier copy is lost says nothing about this one.
            if again == (sent.again > 0) {
                self.subflows.lose(self.subflows.of(sent.entropy), self.wire(sent.len));
                self.queue(psn);
                self.send_all(now, out);
            }
            return;
        }
        let known = sent.is_known(again).then_some(sent.at);
        if let Some(at) = known.filter(|_| self.config.nacks_lower_rtt) {
            self.subflows.measured(self.subflows.of(entropy), now - at, &self.config);
        }
        let bytes = self.wire(sent.len);
        self.subflows.on_nack((entropy, at_last), bytes, known, now, &self.config);
        self.subflows.lose(self.subflows.of(sent.entropy), bytes);
        self.queue(psn);
        self.heard(now);
        // The receiver's own link is no part of a path: what came so far came well.
        let feedback = match (at_last, marked) {
            (false, _) => Feedback::Trimmed,
            (true, true) => Feedback::Marked,
            (true, false) => Feedback::Good,
        };
        self.subflows.on_feedback(entropy, feedback, now);
        self.send_all(now, out);
    }

    /// A PULL has come: the receiver has granted so many quanta of credit in all (`processPull`).
    pub fn on_pull(&mut self, granted: u32, now: Time, out: &mut impl Output) {
        self.stats.counters.pulls += 1;
        if let Some(credit) = &mut self.credit {
            credit.grant(granted, now);
        }
        self.send_all(now, out);
    }

    /// Call it when a requested wake-up is due. A needless call does no harm.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Output) {
        if now >= self.asked {
            self.asked = Time::MAX;
        }
        let mut lost = false;
        while let Some((at, psn)) = self.outstanding.oldest()
            && at + self.config.rto <= now
            && self.state == SenderState::Open
        {
            let waited = self.outstanding.queued() > 0;
            self.on_timeout(psn, now);
            lost = true;
            if !waited && self.outstanding.queued() > 0 {
                self.ask_if_held(now, out);
            }
        }
        if self.sleek.as_ref().is_some_and(|sleek| sleek.probe_at() <= now) && self.state == SenderState::Open {
            self.probe(now, out);
        }
        self.ask_if_stuck(lost, now, out);
        self.send_all(now, out);
    }

    /// Sends a probe, a header that asks for an ACK (`sendProbe`). If one before it had no answer in time, its value is told lost.
    fn probe(&mut self, now: Time, out: &mut impl Output) {
        if let Some(value) = self.sleek.as_mut().and_then(|sleek| sleek.take_lost(now, self.config.rto)) {
            self.subflows.on_feedback(value, Feedback::Lost, now);
        }
        let (entropy, base_rtt) =
            (self.entropy(0, self.outstanding.next(), now, out), self.subflows.all()[0].window().base_rtt);
        if let Some(sleek) = &mut self.sleek {
            self.stats.counters.probes += 1;
            let number = sleek.send_probe(entropy, now, base_rtt);
            out.probe(Probe { number, section: 0, again: false }, entropy);
        }
    }

    /// A packet has just been found lost, and none waits before it. If the window has no room for it, the sender asks for an ACK,
    /// as packets may have arrived of which it does not know (`rtxTimerExpired`). With several windows the ACK might be that of
    /// another path, and no rule is known.
    fn ask_if_held(&mut self, now: Time, out: &mut impl Output) {
        let has_one = self.config.subflows == 1;
        if has_one && !self.is_stuck() && self.next_subflow(now).is_none() && self.may_ask(now) {
            self.ask(now, out);
        }
    }

    /// Has it not asked within a base RTT? All senders of an incast would ask at once otherwise (`sendRTS`).
    fn may_ask(&self, now: Time) -> bool {
        self.stats.asked.is_none_or(|at| now >= at + self.config.base_rtt)
    }

    /// Sends an RTS.
    fn ask(&mut self, now: Time, out: &mut impl Output) {
        self.stats.asked = Some(now);
        self.stats.counters.asked += 1;
        if let Some(credit) = &mut self.credit {
            credit.ask(now);
        }
        let (target, entropy) = (self.target(out), self.entropy(0, self.outstanding.next(), now, out));
        out.ask(target, entropy);
    }

    /// What is to be sent waits for credit. If a packet has just been found `lost`, the receiver may not know that it is
    /// wanted (`rtxTimerExpired`); if nothing is in flight and the receiver is silent for too long, its PULL is lost, for
    /// which uet-htsim has no timer. The sender asks.
    fn ask_if_stuck(&mut self, lost: bool, now: Time, out: &mut impl Output) {
        if !self.is_stuck() {
            return;
        }
        let idle = self.outstanding.oldest().is_none();
        let overdue = |credit: &Credit| now >= credit.overdue_at(self.config.rto);
        if lost && self.may_ask(now) || idle && self.credit.as_deref().is_some_and(overdue) {
            self.ask(now, out);
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
        let Some(Sent { at, len, entropy, again, .. }) = self.outstanding.get(psn).copied() else { return };
        let s = self.subflows.of(entropy);
        self.subflows.on_timeout(s, at);
        // uet-htsim does not know the value of the packet, and tells balancers another.
        self.subflows.on_feedback(entropy, Feedback::Lost, now);
        if let Some(sleek) = self.sleek.as_mut().filter(|sleek| sleek.is_recovering()) {
            self.outstanding.forget_oldest();
            sleek.on_timeout(psn, again > 0);
            return;
        }
        self.subflows.declare_lost(s, self.wire(len), now, &self.config);
        self.queue(psn);
    }

    /// Asks to be woken when the oldest packet in flight is overdue, when to probe, when to ask for
    /// credit again, and when a packet is due by its law.
    fn arm(&mut self, now: Time, out: &mut impl Output) {
        if self.state != SenderState::Open {
            return;
        }
        let mut deadline = self.outstanding.oldest().map_or(Time::MAX, |(at, _)| at + self.config.rto);
        if deadline == Time::MAX && self.is_stuck() {
            deadline = self.credit.as_ref().map_or(Time::MAX, |credit| credit.overdue_at(self.config.rto));
        }
        if let Some(sleek) = &self.sleek {
            deadline = deadline.min(sleek.probe_at());
        }
        // What is due already waits for its turn, or for credit.
        if let Some(due) = self.subflows.due().filter(|due| *due > now)
            && self.next_len().is_some()
        {
            deadline = deadline.min(due);
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

    /// Its subflows.
    pub fn subflows(&self) -> &[Subflow] {
        self.subflows.all()
    }

    /// Is subflow `s` kept from sending?
    pub fn is_suppressed(&self, s: SubflowId) -> bool {
        !self.subflows.is_active(s.index())
    }

    /// How often subflows were suppressed and released, if that may be.
    pub fn suppressions(&self) -> Option<(u64, u64)> {
        self.subflows.suppressions()
    }

    /// Bytes on the wire in flight.
    pub fn in_flight(&self) -> i64 {
        self.subflows().iter().map(Subflow::in_flight).sum()
    }

    /// The settings of its connection.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.stats.counters
    }
}
