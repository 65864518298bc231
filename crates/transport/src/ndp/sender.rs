//! The sending end of an NDP connection: a first window at once, then a packet for each PULL.

use super::config::Config;
use super::message::{Message, Output};
use super::path_set::{Feedback, PathSet};
use crate::sender::SenderState;
use linkpool_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Counters of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Packets of data sent again.
    pub sent_again: u64,
    /// NACKs: packets that were trimmed on the way.
    pub nacks: u64,
    /// Headers that switches sent back.
    pub returned: u64,
    /// Packets without an answer in time, and PULLs that did not come in time.
    pub timeouts: u64,
    /// PULLs that arrived.
    pub pulls: u64,
}

/// The state of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Sent, without an answer so far.
    Flying,
    /// To be sent again when a PULL comes.
    Queued,
    /// Arrived whole.
    Acked,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    place: Place,
    path: u16,
    again: bool,
    /// When it was sent last.
    at: Time,
    /// When it has left the host, or will have.
    left: Time,
}

/// The sending end of a connection.
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    state: SenderState,
    started: Time,
    ended: Option<Time>,
    /// Bytes of the last packet; `None` for data without end.
    last_len: u16,
    /// Number of packets; without end: `u32::MAX`.
    total: u32,
    /// The number of the oldest packet that has not been acknowledged, and from there on all that
    /// were sent.
    base: u32,
    sent: VecDeque<Sent>,
    /// Packets to be sent again, in order; packets that have arrived meanwhile are skipped.
    queued: VecDeque<u32>,
    /// Transmissions in their order, by the times at which they leave the host, to find the oldest
    /// packet in flight; outdated entries are skipped.
    order: VecDeque<(Time, u32)>,
    /// The number of packets pulled since the first window, and the number sent in answer.
    pulled: u32,
    answered: u32,
    /// Number of ACKs and NACKs; the receiver owes a PULL for each.
    feedback: u32,
    /// Number of packets sent that may open the connection, but for those that came back.
    openings: u32,
    flying: u32,
    acked_bytes: u64,
    acked_packets: u32,
    paths: PathSet,
    /// The time of the last message of the receiver, or of the last header that came back.
    alive: Time,
    backoff: u32,
    /// The earliest wake-up that has been requested.
    asked: Time,
    counters: Counters,
    /// Smoothed round-trip time, ps, and the least; nothing but results depends on them.
    srtt: Option<f64>,
    min_rtt: Option<Time>,
}

impl Sender {
    /// Creates a sender of `size` bytes (`None`: without end) over `paths` paths.
    pub fn new(config: Arc<Config>, size: Option<u64>, paths: usize) -> Sender {
        let mss = u64::from(config.mss);
        let packets = |size: u64| u32::try_from(size.div_ceil(mss).max(1)).expect("fewer than 2^32 packets");
        let total = size.map_or(u32::MAX, packets);
        let last_len = size.map_or(config.mss, |size| size.saturating_sub(u64::from(total - 1) * mss) as u16);
        Sender {
            state: SenderState::Open,
            started: Time::ZERO,
            ended: None,
            last_len,
            total,
            base: 0,
            sent: VecDeque::new(),
            queued: VecDeque::new(),
            order: VecDeque::new(),
            pulled: 0,
            answered: 0,
            feedback: 0,
            openings: 0,
            flying: 0,
            acked_bytes: 0,
            acked_packets: 0,
            paths: PathSet::new(paths, config.penalties),
            alive: Time::ZERO,
            backoff: 1,
            asked: Time::MAX,
            counters: Counters::default(),
            srtt: None,
            min_rtt: None,
            config,
        }
    }

    /// Sends the first window, at once and at line rate (section 3.2).
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        (self.started, self.alive) = (now, now);
        while self.next() < self.config.initial_window && self.next() < self.total {
            self.send_new(now, out);
        }
        self.arm(now, out);
    }

    /// Number of the next new packet.
    fn next(&self) -> u32 {
        self.base + self.sent.len() as u32
    }

    fn len(&self, number: u32) -> u16 {
        if number + 1 == self.total { self.last_len } else { self.config.mss }
    }

    fn send_new(&mut self, now: Time, out: &mut impl Output) {
        let (number, path) = (self.next(), self.paths.next(|n| out.random(n)));
        self.sent.push_back(Sent { place: Place::Flying, path: path as u16, again: false, at: now, left: now });
        self.put_on_the_wire(number, path, now, out);
    }

    /// Sends packet `number` again, on another path than before (section 3.2).
    fn send_again(&mut self, number: u32, now: Time, out: &mut impl Output) {
        let sent = &mut self.sent[(number - self.base) as usize];
        let path = self.paths.next_but(sent.path.into(), |n| out.random(n));
        *sent = Sent { place: Place::Flying, path: path as u16, again: true, at: now, left: now };
        self.counters.sent_again += 1;
        self.put_on_the_wire(number, path, now, out);
    }

    fn put_on_the_wire(&mut self, number: u32, path: usize, now: Time, out: &mut impl Output) {
        self.flying += 1;
        self.counters.sent += 1;
        // Until an ACK or a NACK has come, any packet may be the one that makes the receiver.
        let opens = self.feedback == 0;
        self.openings += u32::from(opens);
        let message = Message::Data { number, len: self.len(number), last: number + 1 == self.total, opens };
        // A packet that waits in the queue of its own host is not lost: its timer starts when it
        // leaves, as in csg-htsim (`_sent_times` in `NdpSrc::send_packet`, ndp.cpp). Of a host with
        // several links it starts no earlier than that of the packet before.
        let left = out.send(message, Some(path)).max(now);
        let left = self.order.back().map_or(left, |(before, _)| left.max(*before));
        self.sent[(number - self.base) as usize].left = left;
        self.order.push_back((left, number));
    }

    /// Sends a packet in answer to each PULL: first retransmissions, then new data (section 3.2).
    fn answer_pulls(&mut self, now: Time, out: &mut impl Output) {
        while self.answered < self.pulled {
            if let Some(number) = self.next_queued() {
                self.send_again(number, now, out);
            } else if self.next() < self.total {
                self.send_new(now, out);
            } else {
                // The PULL may have overtaken a NACK: it is answered when that comes.
                return;
            }
            self.answered += 1;
        }
    }

    /// Takes the first packet that is to be sent again.
    fn next_queued(&mut self) -> Option<u32> {
        while let Some(number) = self.queued.pop_front() {
            if self.place(number) == Some(Place::Queued) {
                return Some(number);
            }
        }
        None
    }

    fn place(&self, number: u32) -> Option<Place> {
        let index = number.checked_sub(self.base)?;
        self.sent.get(index as usize).map(|sent| sent.place)
    }

    /// A message of the receiver says that all packets below `next` have arrived.
    fn on_message(&mut self, next: u32, now: Time) {
        self.alive = now;
        self.backoff = 1;
        while self.base < next.min(self.next()) {
            self.acknowledge(self.base);
            self.shift();
        }
    }

    /// Packet `number` has arrived whole. Returns whether the sender did not know it.
    fn acknowledge(&mut self, number: u32) -> bool {
        let len = self.len(number);
        let sent = &mut self.sent[(number - self.base) as usize];
        let place = std::mem::replace(&mut sent.place, Place::Acked);
        self.flying -= u32::from(place == Place::Flying);
        let is_new = place != Place::Acked;
        self.acked_packets += u32::from(is_new);
        self.acked_bytes += if is_new { u64::from(len) } else { 0 };
        is_new
    }

    /// Forgets the packets at the front that have arrived.
    fn shift(&mut self) {
        while self.sent.front().is_some_and(|sent| sent.place == Place::Acked) {
            self.sent.pop_front();
            self.base += 1;
        }
    }

    /// An ACK of packet `number` has come.
    pub fn on_ack(&mut self, number: u32, next: u32, now: Time, out: &mut impl Output) {
        self.feedback += 1;
        if let Some(index) = number.checked_sub(self.base).map(|i| i as usize)
            && index < self.sent.len()
        {
            let Sent { place, path, again, at, .. } = self.sent[index];
            self.paths.on_feedback(path.into(), Feedback::Ack);
            // Karn's rule: of a packet sent twice it is not known which copy has arrived.
            if place == Place::Flying && !again {
                self.take_rtt(now - at, out);
            }
            self.acknowledge(number);
        }
        self.after(next, now, out);
    }

    fn take_rtt(&mut self, rtt: Time, out: &mut impl Output) {
        let smoothed = self.srtt.map_or(rtt.0 as f64, |srtt| srtt + (rtt.0 as f64 - srtt) / 8.0); // RFC 6298 (2.3)
        self.srtt = Some(smoothed);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        out.measured_rtt(rtt);
    }

    /// A NACK of packet `number` has come: it is queued, and sent again when it is pulled (section
    /// 3.2).
    pub fn on_nack(&mut self, number: u32, next: u32, now: Time, out: &mut impl Output) {
        self.feedback += 1;
        self.counters.nacks += 1;
        if self.place(number) == Some(Place::Flying) {
            self.paths.on_feedback(self.path(number), Feedback::Nack);
            self.queue(number);
        }
        self.after(next, now, out);
    }

    /// A PULL has come: the receiver has room on its link for `count` packets since the first
    /// window.
    pub fn on_pull(&mut self, count: u32, next: u32, now: Time, out: &mut impl Output) {
        self.counters.pulls += 1;
        self.on_message(next, now);
        // The receiver repeats a PULL that has brought nothing. If nothing is on its way either, it
        // is answered once more; if something is, that has a timer.
        if count == self.pulled && self.flying == 0 {
            self.answered = self.answered.min(count.saturating_sub(1));
        }
        // An older PULL that this one has overtaken has no new information.
        self.pulled = self.pulled.max(count);
        self.after(next, now, out);
    }

    /// The header of packet `number` has come back from a switch that had no room for it (section
    /// 3.2, return to sender). The packet waits to be pulled as others do, so that an incast is not
    /// repeated; but it is sent at once if no PULL is to be expected. `opened`: it could have
    /// opened the connection.
    pub fn on_returned(&mut self, number: u32, opened: bool, now: Time, out: &mut impl Output) {
        self.counters.returned += 1;
        self.openings -= u32::from(opened);
        self.alive = now;
        if self.place(number) == Some(Place::Flying) {
            self.paths.on_feedback(self.path(number), Feedback::Nack);
            self.queue(number);
            if self.flying == 0 && self.feedback <= self.pulled {
                if let Some(number) = self.next_queued() {
                    self.send_again(number, now, out);
                }
            } else {
                self.answer_pulls(now, out);
            }
        }
        self.arm(now, out);
    }

    fn path(&self, number: u32) -> usize {
        self.sent[(number - self.base) as usize].path.into()
    }

    fn queue(&mut self, number: u32) {
        self.sent[(number - self.base) as usize].place = Place::Queued;
        self.flying -= 1;
        self.queued.push_back(number);
    }

    /// The actions after any message from the receiver.
    fn after(&mut self, next: u32, now: Time, out: &mut impl Output) {
        self.on_message(next, now);
        self.shift();
        if self.state != SenderState::Open {
            return;
        }
        if self.acked_packets == self.total {
            return self.finish(now);
        }
        self.answer_pulls(now, out);
        self.arm(now, out);
    }

    fn finish(&mut self, now: Time) {
        self.state = SenderState::Finished;
        self.ended = Some(now);
    }

    /// Sends no new data from now on; the data that has been sent must arrive.
    pub fn stop(&mut self, now: Time) {
        if self.state != SenderState::Open || self.next() >= self.total {
            return;
        }
        // The packet sent last becomes the last packet. It was sent without saying so. This does no
        // harm: the receiver owes PULLs that bring no data.
        (self.total, self.last_len) = (self.next(), self.config.mss);
        if self.acked_packets == self.total {
            self.finish(now);
        }
    }

    /// The time at which to act if no message arrives: for the oldest packet in flight.
    ///
    /// If none is in flight, the receiver knows of all that was sent, and a PULL is to come. Its
    /// silence does not mean a loss: it serves its senders in turn, so each of n senders gets a PULL
    /// in the time of n packets. It repeats a PULL that has brought nothing ([`super::Receiver`]). So
    /// the sender waits long, for what the receiver cannot see.
    fn deadline(&mut self) -> Time {
        if self.state != SenderState::Open {
            return Time::MAX;
        }
        while let Some((left, number)) = self.order.front().copied() {
            if self.is_flying(number, left) {
                return left + self.wait();
            }
            self.order.pop_front();
        }
        self.alive + self.config.rto * u64::from(self.config.max_backoff)
    }

    /// Is the copy of packet `number` that left the host at `left` in flight?
    fn is_flying(&self, number: u32, left: Time) -> bool {
        let index = number.wrapping_sub(self.base) as usize;
        self.sent.get(index).is_some_and(|sent| sent.place == Place::Flying && sent.left == left)
    }

    fn wait(&self) -> Time {
        self.config.rto * u64::from(self.backoff)
    }

    fn arm(&mut self, now: Time, out: &mut impl Output) {
        // An answer ends the back-off, and a packet may be overdue at once.
        let deadline = self.deadline().max(now);
        if deadline < self.asked {
            self.asked = deadline;
            out.wake(deadline);
        }
    }

    /// Call it when a requested wake-up is due. A needless call does no harm.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Output) {
        if now >= self.asked {
            self.asked = Time::MAX;
        }
        if self.deadline() <= now {
            self.on_timeout(now, out);
        }
        self.arm(now, out);
    }

    /// The last resort (section 3.2): packets without any answer are sent again without a PULL,
    /// each on another path. So the number of packets in flight or owed stays the same.
    fn on_timeout(&mut self, now: Time, out: &mut impl Output) {
        if self.flying == 0 {
            // Any packet makes the receiver answer. All others have arrived, so there is another one
            // to send: data has not ended.
            self.counters.timeouts += 1;
            return match self.next_queued() {
                Some(number) => self.send_again(number, now, out),
                None => self.send_new(now, out),
            };
        }
        let wait = self.wait();
        let overdue = self.order.iter().take_while(|(left, _)| *left + wait <= now).count();
        self.backoff = (self.backoff * 2).min(self.config.max_backoff);
        for _ in 0..overdue {
            let Some((left, number)) = self.order.pop_front() else { break };
            if self.is_flying(number, left) {
                self.counters.timeouts += 1;
                self.paths.on_feedback(self.path(number), Feedback::Loss);
                self.flying -= 1;
                self.send_again(number, now, out);
            }
        }
    }

    /// Number of packets sent that may open the connection, but for those that came back.
    pub fn openings(&self) -> u32 {
        self.openings
    }

    /// The state of the connection.
    pub fn state(&self) -> SenderState {
        self.state
    }

    /// When it was opened.
    pub fn started(&self) -> Time {
        self.started
    }

    /// When its last data was acknowledged.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }

    /// Payload acknowledged, bytes.
    pub fn acked(&self) -> u64 {
        self.acked_bytes
    }

    /// Number of packets sent and not answered.
    pub fn in_flight(&self) -> u32 {
        self.flying
    }

    /// Smoothed round-trip time in ps, once there is a sample.
    pub fn srtt(&self) -> Option<f64> {
        self.srtt
    }

    /// The least round-trip time.
    pub fn min_rtt(&self) -> Option<Time> {
        self.min_rtt
    }

    /// The time without an answer after which the oldest packet is sent again.
    pub fn rto(&self) -> Time {
        self.wait()
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
