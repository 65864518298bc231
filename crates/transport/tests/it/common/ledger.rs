//! An independent account of the segments that a sender sends and a receiver gets; it fails when
//! they do not add up.

use super::channel::{Crossing, Event, Fate, Pair};
use crate::common::S;
use linkpool_transport::{AckOptions, Segment, SenderState, SubflowId};
use std::collections::BTreeMap;

/// Positions in full, from the 32 bits of the wire, by what has been seen.
#[derive(Clone, Copy, Default)]
struct Unwrapped(u64);

impl Unwrapped {
    fn position(&mut self, wire: u32) -> u64 {
        let ahead = wire.wrapping_sub(self.0 as u32) as i32;
        let position = self.0.checked_add_signed(ahead as i64).expect("before the beginning of the stream");
        self.0 = self.0.max(position);
        position
    }
}

#[derive(Default)]
struct Subflow {
    seq: Unwrapped,
    arrived: Unwrapped,
    /// First byte to (position in the connection's stream, length), of all that was ever sent.
    sent: BTreeMap<u64, (u64, u64)>,
    /// One beyond the last byte sent.
    end: u64,
    /// The end of the last data of the connection's stream that it was given.
    data_end: u64,
    cuts: u64,
    /// What had been sent before the last timeout ends here.
    timed_out: u64,
    timeouts: u64,
    shaken: bool,
}

/// The account.
pub struct Ledger {
    subflows: Vec<Subflow>,
    data_out: Unwrapped,
    data_in: Unwrapped,
    /// The stream as the subflows were given it: first byte to length.
    stream: BTreeMap<u64, u64>,
    /// The stream as it has arrived: all before `next`, and some ranges beyond.
    next: u64,
    beyond: BTreeMap<u64, u64>,
    delivered: u64,
    acked: u64,
    cwnd_min: f64,
    /// By how many packets limited transmit may exceed a window.
    pub limited_transmit: u32,
    /// After a timeout, may F-RTO let two new segments out beyond the window?
    pub frto: bool,
    /// May data be set apart for a subflow?
    pub any_order: bool,
    /// Does each subflow carry all data?
    pub copies: bool,
    /// Where the receiver's window ends.
    pub edge: u64,
    /// The most data in flight on each subflow.
    pub subflow_window: u64,
    /// Bytes that a second subflow has sent, or a third.
    reinjected: u64,
    /// Tail loss probes may exceed windows?
    pub probes: bool,
    /// Loss recovery by SACKs?
    pub selective: bool,
    mss: u64,
}

impl Ledger {
    /// `cwnd_min`: below what no mark may cut a window.
    pub fn new(subflows: usize, mss: u16, cwnd_min: f64) -> Ledger {
        Ledger {
            subflows: (0..subflows).map(|_| Subflow { end: 1, ..Subflow::default() }).collect(),
            data_out: Unwrapped(0),
            data_in: Unwrapped(0),
            stream: BTreeMap::new(),
            next: 0,
            beyond: BTreeMap::new(),
            delivered: 0,
            acked: 0,
            cwnd_min,
            limited_transmit: 0,
            frto: false,
            any_order: false,
            copies: false,
            edge: u64::MAX,
            subflow_window: u64::MAX,
            reinjected: 0,
            probes: false,
            selective: false,
            mss: mss as u64,
        }
    }

    /// Enters the effects of an event.
    pub fn enter<C: FnMut(&Crossing) -> Fate>(&mut self, pair: &Pair<C>, event: &Event) {
        match *event {
            Event::ToSender(s, Segment::SynAck { .. }) => self.subflows[s].shaken = true,
            Event::ToSender(
                _,
                Segment::Ack { data_ack, options: Some(AckOptions { window: Some(window), .. }), .. },
            ) => {
                let data_ack = data_ack.near(self.acked);
                self.edge = self.edge.max(data_ack + window as u64);
            }
            _ => {}
        }
        let mut new = vec![false; self.subflows.len()];
        for crossing in &pair.wire.sent {
            if crossing.to_receiver {
                new[crossing.subflow] |= self.sent(crossing, pair.sender.acked());
            }
        }
        if let Event::ToReceiver(s, segment, _) = *event {
            self.arrived(pair, s, segment);
        }
        for (s, new) in new.into_iter().enumerate() {
            let probe = self.probes && matches!(event, Event::WakeSender(_));
            self.check_window(pair, S[s], new && !probe);
        }
        self.check_end(pair);
    }

    /// A segment of the sender, sent when data before `acked` was acknowledged: is it new data?
    fn sent(&mut self, crossing: &Crossing, acked: u64) -> bool {
        let subflow = &mut self.subflows[crossing.subflow];
        let Segment::Data { seq, data_seq, len, .. } = crossing.segment else {
            return false;
        };
        assert!(subflow.shaken, "data before the handshake");
        if len == 0 {
            assert!(self.is_shut(u64::MAX), "probes a window that is open");
            return false;
        }
        let (len, start) = (len as u64, subflow.seq.position(seq.0));
        let data = self.data_out.position(data_seq.0);
        assert!((1..=self.mss).contains(&len));
        if let Some(before) = subflow.sent.get(&start) {
            assert_eq!(*before, (data, len), "sent again, but not the same");
            return false;
        }
        assert_eq!(start, subflow.end, "a hole in the stream of the subflow");
        if self.copies {
            assert_eq!(data, subflow.data_end.max(acked), "all that is not acknowledged goes out on each subflow");
        }
        subflow.data_end = data + len;
        subflow.end += len;
        subflow.sent.insert(start, (data, len));
        match self.stream.get(&data) {
            // Only what another subflow could not deliver goes out on a second one.
            Some(before) => {
                assert_eq!(*before, len, "sent on another subflow, but not the same");
                self.reinjected += if self.copies { 0 } else { len };
            }
            None => self.new_data(data, len),
        }
        true
    }

    /// Goes out in order unless it may be set apart, each byte once.
    fn new_data(&mut self, data: u64, len: u64) {
        let before = self.stream.range(..data).next_back().map_or(0, |(start, len)| start + len);
        let after = self.stream.range(data..).next().map_or(u64::MAX, |(start, _)| *start);
        assert!(before <= data && data + len <= after, "sent twice");
        assert!(data + len <= self.edge, "beyond the receiver's window");
        assert!(self.any_order || before == data && after == u64::MAX, "a hole in the stream of the connection");
        self.stream.insert(data, len);
    }

    fn arrived<C: FnMut(&Crossing) -> Fate>(&mut self, pair: &Pair<C>, s: SubflowId, segment: Segment) {
        if let Segment::Data { seq, data_seq, len: len @ 1.., .. } = segment {
            let data = self.data_in.position(data_seq.0);
            let subflow = &mut self.subflows[s];
            let start = subflow.arrived.position(seq.0);
            assert_eq!(subflow.sent.get(&start), Some(&(data, len as u64)), "not what was sent");
            self.beyond.insert(data, len as u64);
            while let Some(first) = self.beyond.first_entry().filter(|e| *e.key() <= self.next) {
                self.next = self.next.max(first.key() + first.get());
                first.remove();
            }
        }
        let delivered = pair.receiver.delivered();
        assert!(delivered >= self.delivered, "taken back");
        assert_eq!(delivered, self.next, "delivered is what has arrived without a gap");
        self.delivered = delivered;
    }

    fn check_window<C: FnMut(&Crossing) -> Fate>(&mut self, pair: &Pair<C>, s: SubflowId, new: bool) {
        let (path, stats) = (pair.sender.congestion(s), pair.sender.stats(s));
        // A window below one packet is a rate, at which one packet is in flight.
        let least = self.cwnd_min.min(1.0);
        assert!(path.cwnd.is_finite() && path.cwnd >= least, "cwnd {}", path.cwnd);
        assert!(path.ssthresh >= least, "ssthresh {}", path.ssthresh);
        assert!(path.srtt.is_finite() && path.srtt >= 0.0);
        if new {
            let (flight, window) = (pair.sender.in_flight(s), path.cwnd.floor().max(1.0));
            let subflow = &self.subflows[s];
            let probation =
                self.frto && path.snd_una < subflow.timed_out && subflow.end <= subflow.timed_out + 2 * self.mss;
            let room = flight as f64 <= window + self.limited_transmit as f64;
            assert!(room || probation, "{flight} in flight, window {window}");
        }
        if stats.timeouts > self.subflows[s].timeouts {
            (self.subflows[s].timeouts, self.subflows[s].timed_out) = (stats.timeouts, self.subflows[s].end);
        }
        assert!(path.snd_una <= path.snd_nxt && path.snd_nxt <= self.subflows[s].end);
        assert!(path.snd_nxt - path.snd_una <= self.subflow_window, "beyond the window of the subflow");
        // With SACKs, what is taken for lost or has arrived is not in flight, and what is out twice
        // is so twice.
        let outstanding = self.subflows[s].sent.range(path.snd_una..path.snd_nxt).count();
        let flight = pair.sender.in_flight(s) as usize;
        let adds_up = if self.selective { flight <= 2 * outstanding } else { flight == outstanding };
        assert!(adds_up, "{flight} in flight of {outstanding}");
        if stats.cuts > self.subflows[s].cuts && !path.in_recovery {
            assert!(path.cwnd >= self.cwnd_min, "cut to {}", path.cwnd);
        }
        self.subflows[s].cuts = stats.cuts;
    }

    fn check_end<C: FnMut(&Crossing) -> Fate>(&mut self, pair: &Pair<C>) {
        assert!(pair.sender.acked() >= self.acked, "acknowledged, and then not");
        self.acked = pair.sender.acked();
        assert!(pair.sender.acked() <= pair.receiver.delivered(), "acknowledged but not delivered");
        if pair.sender.state() == SenderState::Finished {
            assert_eq!(pair.sender.acked(), self.next, "finished without all of it");
        }
        let reinjected = (0..self.subflows.len()).map(|s| pair.sender.stats(S[s]).reinjected_bytes).sum::<u64>();
        assert_eq!(reinjected, self.reinjected, "sent by two subflows");
    }

    /// Bytes given to subflows.
    pub fn stream_end(&self) -> u64 {
        self.stream.last_key_value().map_or(0, |(start, len)| start + len)
    }

    /// Has the receiver no room for the next segment of a stream of `size` bytes?
    pub fn is_shut(&self, size: u64) -> bool {
        let end = self.stream_end();
        end < size && size.min(end + self.mss) > self.edge
    }

    /// Is there data on subflow `s` that has not been acknowledged?
    pub fn outstanding<C: FnMut(&Crossing) -> Fate>(&self, pair: &Pair<C>, s: SubflowId) -> bool {
        pair.sender.congestion(s).snd_una < self.subflows[s].end
    }
}
