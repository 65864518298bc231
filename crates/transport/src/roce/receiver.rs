//! The receiving end of a queue pair: it answers each packet, and tells of marks.

use super::config::{CnpForm, Config, Retransmission};
use super::message::{Message, Output};
use crate::reassembly::Reassembly;
use linkpool_units::Time;
use std::sync::Arc;

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<Config>,
    /// Numbers of packets that have arrived and were kept.
    arrived: Reassembly,
    /// Bytes of the stream that have arrived and were kept.
    bytes: Reassembly,
    /// Number of all packets, once it is known.
    total: Option<u32>,
    /// The packet that the last NACK asked for, and when the next NACK for it may go.
    nacked: Option<(u32, Time)>,
    /// When the next congestion notification packet may go.
    next_cnp: Time,
    last_heard: Time,
}

impl Receiver {
    /// Creates a receiver to which no packet has arrived.
    pub fn new(config: Arc<Config>) -> Receiver {
        Receiver {
            config,
            arrived: Reassembly::new(0),
            bytes: Reassembly::new(0),
            total: None,
            nacked: None,
            next_cnp: Time::ZERO,
            last_heard: Time::ZERO,
        }
    }

    /// The number of the first packet that is missing.
    fn next(&self) -> u32 {
        self.arrived.next() as u32
    }

    /// Packet `psn` has come, which is `len` bytes from `start` of the stream on; `last`: none of this
    /// connection has a higher number, unless it stays open. Returns whether all data has arrived,
    /// for the first time.
    pub fn on_data(
        &mut self,
        psn: u32,
        (start, len, last): (u64, u16, bool),
        marked: bool,
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        self.last_heard = now;
        let in_ack = self.tell_of_mark(marked, now, out);
        let (expected, was_complete) = (self.next(), self.is_complete());
        let keeps = match self.config.retransmission {
            Retransmission::GoBackN => psn <= expected.saturating_add(self.config.reorder_window),
            Retransmission::Selective => true,
        };
        if keeps && self.arrived.insert(psn.into(), u64::from(psn) + 1) {
            if last {
                self.total = self.total.max(Some(psn + 1));
            }
            self.bytes.insert(start, start + u64::from(len));
        }
        self.answer(psn, (expected, keeps), in_ack, now, out);
        self.is_complete() && !was_complete
    }

    /// Tells the sender of a mark as the transport does it. Returns whether the ACK is to say so.
    fn tell_of_mark(&mut self, marked: bool, now: Time, out: &mut impl Output) -> bool {
        match self.config.cnp {
            Some(CnpForm::Packet) if marked && now >= self.next_cnp => {
                self.next_cnp = now + self.config.cnp_interval;
                out.send(Message::Cnp);
                false
            }
            Some(CnpForm::Ack) => marked,
            _ => false,
        }
    }

    /// Answers packet `psn`; `expected` was missing when it came.
    fn answer(&mut self, psn: u32, (expected, kept): (u32, bool), marked: bool, now: Time, out: &mut impl Output) {
        let next = self.next();
        if psn <= expected {
            out.send(Message::Ack { psn, next, marked });
            return;
        }
        match self.config.retransmission {
            // One NACK for a gap: the sender begins anew with it (InfiniBand, section 9.7.5.2.8). If that
            // is lost, too, another one goes after the interval, as in HPCC's repository
            // (`ReceiverCheckSeq`).
            Retransmission::GoBackN if kept => {
                out.send(Message::Ack { psn, next, marked });
            }
            Retransmission::GoBackN => {
                let waits = self.nacked.is_some_and(|(packet, until)| packet == expected && now < until);
                if !waits {
                    self.nacked = Some((expected, now + self.config.nack_interval));
                    out.send(Message::Nack { psn, next, marked });
                }
            }
            // Each packet out of order is a NACK that says which came (IRN, section 3.1).
            Retransmission::Selective => {
                out.send(Message::Nack { psn, next, marked });
            }
        }
    }

    /// Has all data arrived?
    pub fn is_complete(&self) -> bool {
        self.total == Some(self.next())
    }

    /// Payload delivered in order, bytes.
    pub fn delivered(&self) -> u64 {
        self.bytes.next()
    }

    /// The time at which the last packet of the sender arrived.
    pub fn last_heard(&self) -> Time {
        self.last_heard
    }
}
