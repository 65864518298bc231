//! The receiving end of a UET connection: it acknowledges some packets at once, others by their bytes
//! (uec.cpp, `UecSink::processData`).

use super::arrivals::Arrivals;
use super::config::Config;
use super::credit::{Grants, Turn};
use super::message::{Ack, Answers, Data, Nack, Probe};
use crate::id::SubflowId;
use linkpool_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// Of an ACK that no packet of data has caused.
const NO_PACKET: u32 = u32::MAX;

/// What an arriving packet did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Nothing that the application sees.
    None,
    /// More data has arrived in order.
    InOrder,
    /// All data has arrived, for the first time.
    Complete,
}

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<Config>,
    arrivals: Arrivals,
    /// Bytes on the wire of packets that have come for the first time.
    received: u64,
    /// Bytes on the wire, of duplicates too, since the last ACK of a packet of subflow 0, and of each other subflow: each
    /// hears of its own packets.
    unacknowledged: u32,
    of_others: Box<[u32]>,
    /// One more ACK is to go when no gap is left: the sender has asked for an ACK.
    asked: bool,
    /// Payload that has come in order, bytes.
    delivered: u64,
    /// Packets that are not full and not in order yet, with their bytes.
    short: VecDeque<(u32, u16)>,
    /// Number of all packets, once it is known.
    total: Option<u32>,
    last_heard: Time,
    grants: Grants,
}

impl Receiver {
    /// Creates a receiver to which no packet has arrived.
    pub fn new(config: Arc<Config>) -> Receiver {
        Receiver {
            arrivals: Arrivals::new(),
            received: 0,
            unacknowledged: 0,
            of_others: vec![0; usize::from(config.subflows) - 1].into(),
            asked: false,
            delivered: 0,
            short: VecDeque::new(),
            total: None,
            last_heard: Time::ZERO,
            grants: Grants::default(),
            config,
        }
    }

    /// The settings of its connection.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A whole packet has come, with a mark or without.
    pub fn on_data(&mut self, data: Data, marked: bool, now: Time, out: &mut impl Answers) -> Progress {
        self.last_heard = now;
        let Data { psn, subflow, len, ack_now, again, last, target } = data;
        self.want(target, false, out);
        let wire = u32::from(len) + u32::from(self.config.header);
        *self.unacknowledged(subflow) += wire;
        if self.arrivals.has(psn) {
            // The sender is in error about it: it must hear at once.
            self.acknowledge(subflow, (marked, psn), (marked, again), out);
            return Progress::None;
        }
        if self.config.by_order {
            self.find_losses(psn, target, out);
        }
        let first = self.received == 0;
        self.received += u64::from(wire);
        if last {
            self.total = Some(psn + 1);
        }
        if len != self.config.mss {
            self.short.push_back((psn, len));
        }
        self.asked |= ack_now;
        let before = self.arrivals.next();
        self.arrivals.insert(psn);
        let in_order = self.arrivals.next() - before;
        self.deliver(in_order);
        // The gap that held up the answer to a request is closed.
        let closed = in_order > 0 && self.arrivals.above() == 0 && self.asked;
        self.asked &= !closed;
        if marked || ack_now || first || closed || *self.unacknowledged(subflow) >= self.config.ack_bytes {
            self.acknowledge(subflow, (marked || ack_now, psn), (marked, again), out);
        }
        match in_order {
            0 => Progress::None,
            _ if self.total == Some(self.arrivals.next()) => Progress::Complete,
            _ => Progress::InOrder,
        }
    }

    /// `packets` more are in order.
    fn deliver(&mut self, packets: u32) {
        let mss = self.config.mss;
        self.delivered += u64::from(packets) * u64::from(mss);
        if packets > 0 && !self.short.is_empty() {
            let next = self.arrivals.next();
            let delivered = &mut self.delivered;
            self.short.retain(|(psn, len)| {
                let waits = *psn >= next;
                *delivered -= if waits { 0 } else { u64::from(mss - len) };
                waits
            });
        }
    }

    /// The header of packet `psn` has come without its payload, with a mark or without, trimmed before the last link or another
    /// (`processTrimmed`).
    pub fn on_trimmed(&mut self, data: Data, (marked, at_last): (bool, bool), now: Time, out: &mut impl Answers) {
        let Data { psn, again, target, .. } = data;
        self.last_heard = now;
        if self.arrivals.has(psn) {
            self.send_ack((self.bitmap_base(psn), psn), (false, again), out);
        } else {
            self.want(target, true, out);
            out.nack(Nack { psn, again, marked, at_last });
        }
    }

    /// A probe has come, with a mark or without (`processData`).
    pub fn on_probe(&mut self, probe: Probe, marked: bool, now: Time, out: &mut impl Answers) {
        self.last_heard = now;
        let Probe { number, section, again } = probe;
        if self.config.by_order {
            // What was sent again after its subflow left a path is of no section.
            if !self.arrivals.has(number) {
                out.nack(Nack { psn: number, again, marked: false, at_last: false });
                self.find_losses(number, section, out);
            }
            return;
        }
        out.ack(Ack { probe: true, ..self.state(self.arrivals.next() + 1, number, marked) });
    }

    /// All packets of a subflow before `psn`, down to the first of its `section`, were sent before it on one path, and should
    /// have come. Of those that have not the sender hears, down to one that has: when that came, those before it were looked
    /// at.
    fn find_losses(&self, mut psn: u32, section: u32, out: &mut impl Answers) {
        let apart = u32::from(self.config.spraying.rss_subflows);
        while let Some(before) =
            psn.checked_sub(apart).filter(|before| *before >= section && !self.arrivals.has(*before))
        {
            out.nack(Nack { psn: before, again: false, marked: false, at_last: false });
            psn = before;
        }
    }

    /// The sender asks to send, and wants so many quanta of credit in all (`processRts`). The ACK is that of
    /// no packet.
    pub fn on_asked(&mut self, target: u32, now: Time, out: &mut impl Answers) {
        self.last_heard = now;
        self.want(target, true, out);
        out.ack(self.state(self.arrivals.next() + 1, NO_PACKET, false));
    }

    fn want(&mut self, target: u32, lost: bool, out: &mut impl Answers) {
        if self.config.credit {
            let turn = self.grants.want(target, lost);
            if turn != Turn::None {
                out.queue_turn(turn);
            }
        }
    }

    /// Its turn to grant credit has come. Returns the bytes on the host's links for which it was, at the full rate.
    pub fn on_turn(&mut self, out: &mut impl Answers) -> u64 {
        let pulled = self.grants.pull(self.config.most());
        out.pull(pulled.granted);
        if pulled.next != Turn::None {
            out.queue_turn(pulled.next);
        }
        pulled.bytes
    }

    /// The first packet of the bitmap: the one that caused the ACK is the last of its 64, if all of
    /// these are above the first that is missing.
    fn bitmap_base(&self, psn: u32) -> u32 {
        psn.saturating_sub(63).max(self.arrivals.next() + 1)
    }

    fn unacknowledged(&mut self, subflow: SubflowId) -> &mut u32 {
        if subflow.is_first() { &mut self.unacknowledged } else { &mut self.of_others[subflow.index() - 1] }
    }

    /// The bitmap begins with the packet, `from_it`, or ends with it. With several subflows it always ends with it: the
    /// sender counts what the bitmap shows, and packets of another subflow may leave a gap for long.
    fn acknowledge(
        &mut self,
        subflow: SubflowId,
        (from_it, psn): (bool, u32),
        of_packet: (bool, bool),
        out: &mut impl Answers,
    ) {
        *self.unacknowledged(subflow) = 0;
        let base = if from_it && self.of_others.is_empty() { psn } else { self.bitmap_base(psn) };
        self.send_ack((base, psn), of_packet, out);
    }

    fn send_ack(&self, (base, psn): (u32, u32), (marked, again): (bool, bool), out: &mut impl Answers) {
        out.ack(Ack { again, ..self.state(base, psn, marked) });
    }

    fn state(&self, base: u32, psn: u32, marked: bool) -> Ack {
        Ack {
            cumulative: self.arrivals.next(),
            base,
            bitmap: self.arrivals.bitmap(base),
            psn,
            marked,
            again: false,
            probe: false,
            received: self.received,
            out_of_order: self.arrivals.above(),
        }
    }

    /// Payload that has arrived in order, bytes.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The time at which the last packet of the sender arrived.
    pub fn last_heard(&self) -> Time {
        self.last_heard
    }
}
