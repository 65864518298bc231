//! The sending end of a queue pair.

use super::config::{Config, Retransmission, Window};
use super::law::{Ack, Law, Path, RateLaw};
use super::message::{Message, Output, Told};
use super::stream::{Place, Stream};
use crate::sender::SenderState;
use linkpool_units::{Rate, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Counters of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Packets of data sent again.
    pub sent_again: u64,
    /// NACKs that arrived.
    pub nacks: u64,
    /// Notifications of congestion that arrived.
    pub cnps: u64,
    /// Times without progress for as long as the timeout.
    pub timeouts: u64,
}

/// What a sender waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// Its rate, with a packet that its window lets go.
    Rate,
    /// Its window.
    Window,
    /// Its turn at the port of its host.
    Turn,
    /// Answers, as all is sent.
    Answers,
}

/// A packet that was sent and is not acknowledged in order.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it was sent last.
    at: Time,
    /// Was it sent more than once?
    again: bool,
    /// Has it arrived out of order (selective repeat)?
    arrived: bool,
}

/// Recovery with selective repeat (IRN, section 3.1).
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// It ends when all packets below are acknowledged.
    until: u32,
    /// The next packet that may be sent again: those before were, in this recovery.
    resend: u32,
    /// Packets below this that have not arrived are lost.
    lost_below: u32,
}

/// The sending end of a connection.
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    law: Law,
    state: SenderState,
    started: Time,
    ended: Option<Time>,
    stays_open: bool,
    stream: Stream,
    /// The first packet that is not acknowledged, the next to be sent, and the first never sent.
    una: u32,
    nxt: u32,
    high: u32,
    /// Packets from `una` to `high`.
    sent: VecDeque<Sent>,
    recovery: Option<Recovery>,
    /// Payload in flight at line rate, bytes, and the rate of the link, bit/s.
    window: Option<u64>,
    line: f64,
    /// When a packet was sent last, and its bytes on the wire; its rate sets when the next may go.
    last: Option<(Time, u32)>,
    /// Does it wait for its turn at the port?
    queued: bool,
    /// When it goes back without progress; `Time::MAX`: nothing is in flight.
    deadline: Time,
    timeouts_in_a_row: u32,
    /// Has the receiver been heard? Until then any packet may make it.
    heard: bool,
    openings: u32,
    /// The earliest wake-up that has been requested for a packet, and for the deadline. The second waits much longer: a
    /// request for a packet must not forget it, or each packet would request it again.
    asked: Time,
    guarded: Time,
    acked: u64,
    counters: Counters,
    /// Smoothed round-trip time, ps, and the least.
    srtt: Option<f64>,
    min_rtt: Option<Time>,
}

impl Sender {
    /// Creates a sender whose host has a link of rate `line`, to a host to which and back an idle path
    /// takes `base_rtt`. It has a message of `size` bytes (`None`: without end), and ends with it
    /// unless it `stays_open`.
    pub fn new(config: Arc<Config>, size: Option<u64>, stays_open: bool, (line, base_rtt): (Rate, Time)) -> Sender {
        let mut stream = Stream::new(config.mss);
        stream.push(size);
        let mut path = Path { line, base_rtt, packet: (config.mss, config.header), window: None };
        path.window = match config.window {
            Window::Unlimited => None,
            Window::Bytes(bytes) => Some(bytes),
            Window::Bdp => Some(path.product()),
        };
        Sender {
            law: config.law.build(path),
            state: SenderState::Open,
            started: Time::ZERO,
            ended: None,
            stays_open,
            stream,
            una: 0,
            nxt: 0,
            high: 0,
            sent: VecDeque::new(),
            recovery: None,
            window: path.window,
            line: line.0 as f64,
            last: None,
            queued: false,
            deadline: Time::MAX,
            timeouts_in_a_row: 0,
            heard: false,
            openings: 0,
            asked: Time::MAX,
            guarded: Time::MAX,
            acked: 0,
            counters: Counters::default(),
            srtt: None,
            min_rtt: None,
            config,
        }
    }

    /// Begins to send.
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        self.started = now;
        self.proceed(now, out);
    }

    /// So many switches are on its path.
    pub fn know_hops(&mut self, hops: u32) {
        self.law.know_hops(hops);
    }

    /// Adds a message of `size` bytes to a connection that stays open.
    pub fn extend(&mut self, size: u64, now: Time, out: &mut impl Output) {
        self.stream.push(Some(size));
        self.proceed(now, out);
    }

    /// Sends no new data from now on; what has been sent must arrive.
    pub fn stop(&mut self, now: Time) {
        if self.state == SenderState::Open {
            self.stays_open = false;
            self.stream.end_at(self.high);
            self.end_if_done(now);
        }
    }

    /// The rate at which it sends, bit/s of all bytes on the wire, by the last event.
    pub fn rate(&self) -> f64 {
        self.law.rate()
    }

    /// Its settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Payload that may be in flight, bytes; `None`: without limit.
    pub fn window(&self) -> Option<u64> {
        if let Some(window) = self.law.window() {
            return Some(self.window.map_or(window, |most| window.min(most)));
        }
        let share = if self.config.window_by_rate { self.law.rate() / self.line } else { 1.0 };
        self.window.map(|window| (window as f64 * share) as u64)
    }

    /// Payload sent and not acknowledged, bytes. With go-back-N what was sent before the sender went
    /// back does not count.
    pub fn in_flight(&self) -> u64 {
        self.stream.start_of(self.nxt) - self.acked
    }

    /// The packet to be sent next; `None`: there is none, or the window is full.
    fn next(&self) -> Option<u32> {
        if self.state != SenderState::Open {
            return None;
        }
        if let Some(lost) = self.lost() {
            return Some(lost);
        }
        // As in HPCC's repository (`IsWinBound`), a packet may go while the window is not full.
        (self.nxt < self.stream.total() && self.window().is_none_or(|window| self.in_flight() < window))
            .then_some(self.nxt)
    }

    /// What it waits for, after an event.
    pub fn waits(&self) -> Waits {
        match self.next() {
            _ if self.queued => Waits::Turn,
            Some(_) => Waits::Rate,
            None if self.nxt < self.stream.total() => Waits::Window,
            None => Waits::Answers,
        }
    }

    /// The first lost packet that is to be sent again (selective repeat).
    fn lost(&self) -> Option<u32> {
        let Recovery { resend, lost_below, .. } = self.recovery?;
        let arrived = |psn: &u32| self.sent[(psn - self.una) as usize].arrived;
        (resend.max(self.una)..lost_below).find(|psn| !arrived(psn))
    }

    /// When the next packet may leave by the rate: the last one takes its bytes at the rate of now.
    fn due(&self) -> Time {
        self.last.map_or(Time::ZERO, |(at, bytes)| at + Time((f64::from(bytes) * 8e12 / self.law.rate()).ceil() as u64))
    }

    /// Asks for a turn if a packet may go, or to be woken when one may.
    fn proceed(&mut self, now: Time, out: &mut impl Output) {
        self.law.advance(now);
        if self.queued || self.next().is_none() {
            return self.arm(Time::MAX, out);
        }
        let due = self.due();
        if due <= now {
            self.queued = true;
            out.queue_turn();
            return self.arm(Time::MAX, out);
        }
        // A rise of the rate brings the time forward.
        self.arm(due.min(self.law.next_change()), out);
    }

    /// Asks to be woken `at` that time, and at the deadline, unless a wake-up that comes before was requested.
    fn arm(&mut self, at: Time, out: &mut impl Output) {
        if self.deadline < self.guarded {
            self.guarded = self.deadline;
            out.wake(self.deadline);
        }
        if at < self.asked.min(self.guarded) {
            self.asked = at;
            out.wake(at);
        }
    }

    /// Its turn at the port has come. Sends a packet if one may go, and returns when it will have
    /// left the host, and its bytes on the wire.
    pub fn on_turn(&mut self, now: Time, out: &mut impl Output) -> Option<(Time, u32)> {
        self.queued = false;
        self.law.advance(now);
        let next = self.next().filter(|_| self.due() <= now);
        let left = next.map(|psn| self.send(psn, now, out));
        self.proceed(now, out);
        left
    }

    fn send(&mut self, psn: u32, now: Time, out: &mut impl Output) -> (Time, u32) {
        let place = self.stream.place(psn);
        let again = psn < self.high;
        if again {
            self.sent[(psn - self.una) as usize].again = true;
            self.sent[(psn - self.una) as usize].at = now;
            self.counters.sent_again += 1;
        } else {
            self.sent.push_back(Sent { at: now, again: false, arrived: false });
            self.high = psn + 1;
        }
        match &mut self.recovery {
            Some(recovery) if psn < recovery.lost_below => recovery.resend = psn + 1,
            _ => self.nxt = psn + 1,
        }
        self.counters.sent += 1;
        self.openings += u32::from(!self.heard);
        let Place { start: place, len, first, last } = place;
        let message = Message::Data { psn, len, place, first, last, opens: !self.heard };
        let left = out.send(message).max(now);
        let bytes = u32::from(len) + self.config.header;
        self.last = Some((now, bytes));
        self.law.on_sent(psn, bytes);
        if self.deadline == Time::MAX {
            self.deadline = left + self.config.rto;
        }
        (left, bytes)
    }

    /// All packets below `next` have arrived.
    fn acknowledge(&mut self, next: u32, now: Time) {
        self.heard = true;
        if next <= self.una || next > self.high {
            return;
        }
        self.acked = self.stream.start_of(next);
        self.sent.drain(..(next - self.una) as usize);
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.stream.forget_below(next);
        self.recovery = self.recovery.filter(|recovery| next < recovery.until);
        self.timeouts_in_a_row = 0;
        self.deadline = if self.una < self.high { now + self.config.rto } else { Time::MAX };
    }

    /// Takes the round-trip time of packet `psn`, if it was sent once (Karn).
    fn take_rtt(&mut self, psn: u32, now: Time, out: &mut impl Output) -> Option<Time> {
        let sent = psn.checked_sub(self.una).and_then(|i| self.sent.get(i as usize));
        let Sent { at, .. } = sent.copied().filter(|sent| !sent.again)?;
        let rtt = now - at;
        let smoothed = self.srtt.map_or(rtt.0 as f64, |srtt| srtt + (rtt.0 as f64 - srtt) / 8.0); // RFC 6298 (2.3)
        self.srtt = Some(smoothed);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        out.measured_rtt(rtt);
        Some(rtt)
    }

    /// An ACK of packet `psn` has come: all packets below `next` have arrived.
    /// Switches wrote on that packet what is `told`.
    pub fn on_ack(&mut self, numbers: (u32, u32), marked: bool, told: Told<'_>, now: Time, out: &mut impl Output) {
        self.take_answer(numbers, marked, told, now, out);
        self.after(marked, now, out);
    }

    /// What an ACK and a NACK have in common.
    fn take_answer(&mut self, (psn, next): (u32, u32), marked: bool, told: Told<'_>, now: Time, out: &mut impl Output) {
        let (rtt, before) = (self.take_rtt(psn, now, out), self.acked);
        let filled = self.window().is_some_and(|window| self.in_flight() >= window);
        self.note_arrival(psn);
        self.acknowledge(next, now);
        let (acked, srtt) = (self.acked - before, self.srtt.unwrap_or(0.0));
        let (next, next_new) = (self.una, self.high);
        // `HandleAckHpPint`: an answer that is not heeded changes nothing.
        let digest = told.digest.filter(|_| self.config.sampled >= 1.0 || out.random() < self.config.sampled);
        let hops = told.hops;
        self.law.on_ack(&Ack { psn, next, next_new, acked, rtt, now, marked, srtt, filled, hops, digest });
    }

    /// A NACK has come: packet `next` is missing, and packet `psn` has come, on which switches wrote what
    /// is `told`.
    pub fn on_nack(&mut self, (psn, next): (u32, u32), marked: bool, told: Told<'_>, now: Time, out: &mut impl Output) {
        self.counters.nacks += 1;
        let selective = self.config.retransmission == Retransmission::Selective;
        self.take_answer((psn, next), marked, told, now, out);
        match &mut self.recovery {
            // An older NACK, which another has overtaken.
            _ if next != self.una || self.una == self.high => {}
            Some(recovery) if selective => recovery.lost_below = recovery.lost_below.max(psn.min(self.high)),
            None if selective => {
                let lost_below = psn.min(self.high);
                self.recovery = Some(Recovery { until: self.high, resend: self.una, lost_below });
                self.law.on_loss(now, self.high);
            }
            _ => {
                self.nxt = self.una;
                self.law.on_loss(now, self.high);
            }
        }
        self.after(marked, now, out);
    }

    /// Packet `psn` has arrived, perhaps out of order (selective repeat).
    fn note_arrival(&mut self, psn: u32) {
        if self.config.retransmission == Retransmission::Selective
            && let Some(sent) = psn.checked_sub(self.una).and_then(|i| self.sent.get_mut(i as usize))
        {
            sent.arrived = true;
        }
    }

    /// A congestion notification packet has come.
    pub fn on_cnp(&mut self, now: Time, out: &mut impl Output) {
        self.heard = true;
        self.after(true, now, out);
    }

    fn after(&mut self, marked: bool, now: Time, out: &mut impl Output) {
        if self.state != SenderState::Open {
            return;
        }
        self.law.advance(now);
        if marked {
            self.counters.cnps += 1;
            self.law.on_cnp(now);
        }
        self.end_if_done(now);
        self.proceed(now, out);
    }

    fn end_if_done(&mut self, now: Time) {
        if !self.stays_open && self.una == self.stream.total() {
            self.end(SenderState::Finished, now);
        }
    }

    fn end(&mut self, state: SenderState, now: Time) {
        (self.state, self.ended, self.deadline) = (state, Some(now), Time::MAX);
    }

    /// Call it when a requested wake-up is due. A needless call does no harm.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Output) {
        self.asked = if now < self.asked { self.asked } else { Time::MAX };
        self.guarded = if now < self.guarded { self.guarded } else { Time::MAX };
        if self.deadline <= now && self.state == SenderState::Open {
            self.on_timeout(now);
        }
        self.proceed(now, out);
    }

    /// No progress: the sender goes back to the first packet that is not acknowledged. The time stays
    /// the same, and after some in a row the queue pair has failed (InfiniBand, sections 9.7.6.1.3 and
    /// 9.9.2.4.1).
    fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row >= self.config.fail_after {
            return self.end(SenderState::Failed, now);
        }
        self.law.on_timeout(now, self.high, self.timeouts_in_a_row == 1);
        self.deadline = now + self.config.rto;
        match self.config.retransmission {
            Retransmission::GoBackN => self.nxt = self.una,
            // What has arrived is known: the rest counts as lost (IRN, section 3.1).
            Retransmission::Selective => {
                self.recovery = Some(Recovery { until: self.high, resend: self.una, lost_below: self.high });
            }
        }
    }

    /// Number of packets sent that may open the connection.
    pub fn openings(&self) -> u32 {
        self.openings
    }

    /// The state of the connection.
    pub fn state(&self) -> SenderState {
        self.state
    }

    /// Does it send again what was lost?
    pub fn is_recovering(&self) -> bool {
        self.recovery.is_some() || self.nxt < self.high
    }

    /// When it was opened.
    pub fn started(&self) -> Time {
        self.started
    }

    /// When its last data was acknowledged, or when it gave up.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// Payload acknowledged in order, bytes.
    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Smoothed round-trip time in ps, once there is a sample.
    pub fn srtt(&self) -> Option<f64> {
        self.srtt
    }

    /// The least round-trip time.
    pub fn min_rtt(&self) -> Option<Time> {
        self.min_rtt
    }

    /// The time without progress after which it goes back.
    pub fn rto(&self) -> Time {
        self.config.rto
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
