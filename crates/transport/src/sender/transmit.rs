//! Which subflow sends next, and what: the connection's stream mapped onto the streams of its subflows.

use super::Sender;
use crate::control::CongestionControl;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::Sent;
use linkpool_units::Time;

impl Sender {
    #[inline]
    pub(super) fn update_open(&mut self, s: usize) {
        let room = self.subflows[s].in_flight < self.paths[s].cwnd as u32;
        self.open = self.open & !(1 << s) | (room as u32) << s;
    }

    /// Sends what windows allow: round robin over the subflows, one segment at a time.
    pub(super) fn transmit(&mut self, now: Time, out: &mut impl Output) {
        let n = self.subflows.len() as u32;
        let mut blocked = 0;
        loop {
            let candidates = self.open & !blocked;
            if candidates == 0 {
                return;
            }
            // The next set bit, from `next` on, around.
            let beyond = candidates >> self.next << self.next;
            let s = if beyond != 0 { beyond } else { candidates }.trailing_zeros();
            if self.send_segment(s as usize, now, out) {
                self.next = if s + 1 == n { 0 } else { s + 1 };
                self.update_open(s as usize);
            } else {
                blocked |= 1 << s;
            }
        }
    }

    /// Sends one segment on subflow `s`: one that waits to be sent again, else new data. False if there is neither.
    #[inline]
    pub(super) fn send_segment(&mut self, s: usize, now: Time, out: &mut impl Output) -> bool {
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        let (data_seq, len, end);
        if subflow.has_backlog() {
            let segment = &mut subflow.sent[subflow.in_flight as usize];
            (segment.at, segment.again) = (now, true);
            (data_seq, len) = (segment.data_seq, segment.len);
            end = data_end(segment, self.data_una);
            subflow.stats.retransmits += 1;
        } else {
            if self.data_nxt >= self.size || !self.control.is_active(s) {
                return false;
            }
            data_seq = Seq::of(self.data_nxt);
            len = (self.size - self.data_nxt).min(self.config.mss as u64) as u16;
            self.data_nxt += len as u64;
            end = self.data_nxt;
            subflow.sent.push_back(Sent { at: now, data_seq, len, again: false });
        }
        let seq = Seq::of(path.snd_nxt);
        path.snd_nxt += len as u64;
        subflow.in_flight += 1;
        subflow.stats.segments += 1;
        if !subflow.timer.is_set() {
            subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out); // RFC 6298 (5.1)
        }
        out.send(s, Segment::Data { seq, data_seq, len, last: end == self.size, ect: subflow.ect });
        true
    }
}

/// Where in the connection's stream a sent segment ends.
pub(super) fn data_end(segment: &Sent, data_una: u64) -> u64 {
    segment.data_seq.near(data_una) + segment.len as u64
}
