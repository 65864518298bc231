//! The receiving end of an NDP connection: it acknowledges at once, and owes a PULL for each packet
//! that arrives.

use super::config::Config;
use super::message::{Message, Output};
use crate::reassembly::Reassembly;
use linkpool_units::Time;
use std::sync::Arc;

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<Config>,
    /// Numbers of packets that have arrived whole.
    arrived: Reassembly,
    /// Number of packets that have arrived whole.
    packets: u32,
    bytes: u64,
    /// Number of all packets, once it is known.
    total: Option<u32>,
    /// Number of PULLs that are owed, and number of PULLs sent.
    owed: u32,
    pulls: u32,
    headers: u64,
    last_heard: Time,
    /// When the last PULL that is owed was sent, if nothing has come since.
    waits_since: Option<Time>,
    /// The factor by which PULLs without effect in a row lengthen the wait for the next.
    backoff: u32,
    /// Is the last PULL to be sent again?
    repeats: bool,
    /// The earliest wake-up that has been requested.
    asked: Time,
}

impl Receiver {
    /// Creates a receiver to which no packet has arrived.
    pub fn new(config: Arc<Config>) -> Receiver {
        Receiver {
            config,
            arrived: Reassembly::new(0),
            packets: 0,
            bytes: 0,
            total: None,
            owed: 0,
            pulls: 0,
            headers: 0,
            last_heard: Time::ZERO,
            waits_since: None,
            backoff: 1,
            repeats: false,
            asked: Time::MAX,
        }
    }

    /// The settings of its connection.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Packet `number` has come with `len` bytes of payload, or was `trimmed`: its header only.
    /// `last`: none has a higher number. Returns whether all data has arrived, for the first time.
    pub fn on_data(
        &mut self,
        number: u32,
        (len, last): (u16, bool),
        trimmed: bool,
        now: Time,
        out: &mut impl Output,
    ) -> bool {
        self.last_heard = now;
        (self.waits_since, self.repeats, self.backoff) = (None, false, 1);
        if last {
            self.total = Some(number + 1);
        }
        let was_complete = self.is_complete();
        if trimmed {
            self.headers += 1;
        } else if self.arrived.insert(number.into(), u64::from(number) + 1) {
            self.packets += 1;
            self.bytes += u64::from(len);
        }
        // An ACK or a NACK at once, so that the sender can free the packet or queue it to be sent
        // again (section 3.2).
        let next = self.arrived.next() as u32;
        let answer = if trimmed { Message::Nack { number, next } } else { Message::Ack { number, next } };
        out.send(answer, None);
        // Whole or not, it was sent in the window: another may be sent (section 3.2). No more PULLs
        // than packets that are missing, once it is known which is the last.
        self.owed = (self.owed + 1).min(self.missing());
        self.is_complete() && !was_complete
    }

    /// Packets that have not arrived whole; without limit while it is not known how many there are.
    fn missing(&self) -> u32 {
        self.total.map_or(u32::MAX, |total| total - self.packets)
    }

    /// Does the receiver owe the sender PULLs?
    pub fn owes(&self) -> bool {
        self.owed > 0 || self.repeats
    }

    /// Its turn in the pull queue has come: sends a PULL, if it owes one. Returns whether it has.
    pub fn pull(&mut self, now: Time, out: &mut impl Output) -> bool {
        if !self.owes() {
            return false;
        }
        if !std::mem::replace(&mut self.repeats, false) {
            self.owed -= 1;
            self.pulls += 1;
        }
        out.send(Message::Pull { count: self.pulls, next: self.arrived.next() as u32 }, None);
        if self.owed == 0 && !self.is_complete() {
            self.waits_since = Some(now);
            self.arm(out);
        }
        true
    }

    /// The time at which to repeat the last PULL if no packet comes. The paper has no timer for
    /// PULLs. It is here, and not at the sender, since only the receiver knows when a PULL was sent,
    /// and that it does not wait for its turn.
    fn deadline(&self) -> Time {
        self.waits_since.map_or(Time::MAX, |since| since + self.config.rto * u64::from(self.backoff))
    }

    fn arm(&mut self, out: &mut impl Output) {
        let deadline = self.deadline();
        if deadline < self.asked {
            self.asked = deadline;
            out.wake(deadline);
        }
    }

    /// Call it when a requested wake-up is due: the receiver may owe a PULL afterwards. A needless
    /// call does no harm.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Output) {
        if now >= self.asked {
            self.asked = Time::MAX;
        }
        if self.deadline() <= now {
            self.waits_since = None;
            self.repeats = true;
            self.backoff = (self.backoff * 2).min(self.config.max_backoff);
        }
        self.arm(out);
    }

    /// Has all data arrived?
    pub fn is_complete(&self) -> bool {
        self.total == Some(self.packets)
    }

    /// Payload that has arrived, bytes.
    pub fn delivered(&self) -> u64 {
        self.bytes
    }

    /// Headers without payload that have come.
    pub fn headers(&self) -> u64 {
        self.headers
    }

    /// The time at which the last packet of the sender arrived.
    pub fn last_heard(&self) -> Time {
        self.last_heard
    }
}
