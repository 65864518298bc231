use crate::config::Config;
use crate::control::{Ack, CongestionControl, Control};
use crate::path::Path;
use crate::segment::{Output, Segment};
use crate::seq::Seq;
use crate::subflow::{FIRST_BYTE, Sent, State, Subflow};
use linkpool_units::Time;
use std::sync::Arc;

/// What a subflow has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubflowStats {
    /// When its SYN-ACK arrived.
    pub established: Option<Time>,
    /// Payload acknowledged, bytes.
    pub acked_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmits: u64,
    /// Timeouts, of SYNs too.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// ACKs that echoed a mark.
    pub marked_acks: u64,
    /// Window cuts for marks.
    pub cuts: u64,
}

/// Where a connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenderState {
    /// Opening, or carrying data.
    Open,
    /// All data is acknowledged.
    Finished,
    /// Given up: no subflow could be established.
    Failed,
}

/// The sending end of a connection: subflows, coupled windows, one stream of data.
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    control: Control,
    paths: Box<[Path]>,
    subflows: Box<[Subflow]>,
    /// End of the stream; `u64::MAX`: not known yet.
    size: u64,
    /// First byte of the stream not yet given to a subflow.
    data_nxt: u64,
    /// First byte not acknowledged at connection level.
    data_una: u64,
    /// Subflows whose window has room, one bit each.
    open: u32,
    /// Where round robin goes on.
    next: u32,
    /// Further subflows are opened when more than this has been sent; `u64::MAX`: not now.
    joins_at: u64,
    state: SenderState,
    started: Time,
    ended: Option<Time>,
}

impl Sender {
    /// A connection that will carry `size` bytes, or with `None` data without end.
    pub fn new(config: Arc<Config>, size: Option<u64>) -> Sender {
        let n = config.subflows;
        let path = Path {
            cwnd: config.initial_window as f64,
            ssthresh: config.initial_ssthresh,
            srtt: 0.0,
            snd_una: FIRST_BYTE,
            snd_nxt: FIRST_BYTE,
            cut_until: 0,
            established: false,
            in_recovery: false,
        };
        let control = config.control.build(n);
        let mut sender = Sender {
            control,
            paths: vec![path; n].into(),
            subflows: (0..n).map(|_| Subflow::new(&config)).collect(),
            size: size.unwrap_or(u64::MAX),
            data_nxt: 0,
            data_una: 0,
            open: 0,
            next: 0,
            joins_at: u64::MAX,
            state: SenderState::Open,
            started: Time::ZERO,
            ended: None,
            config,
        };
        if sender.scatters_first() {
            // Phase 2 has no reordering.
            sender.subflows[1..].iter_mut().for_each(|s| s.dupack_threshold = 3);
        }
        sender
    }

    /// Does subflow 0 scatter its packets, and the others follow later (MMPTCP)?
    fn scatters_first(&self) -> bool {
        self.control.join_after() > 0
    }

    /// Packets of scattered subflows, which overtake each other, take `dupack_threshold` duplicate ACKs to be lost.
    pub fn expect_reordering(&mut self, dupack_threshold: u32) {
        let scattered = if self.scatters_first() { 1 } else { self.subflows.len() };
        self.subflows[..scattered].iter_mut().for_each(|s| s.dupack_threshold = dupack_threshold);
    }

    /// Opens the connection: sends the SYN of subflow 0.
    pub fn open(&mut self, now: Time, out: &mut impl Output) {
        self.started = now;
        self.send_syn(0, now, out);
    }

    /// No new data from now on; the connection ends when what has been sent is acknowledged.
    pub fn stop(&mut self, now: Time, out: &mut impl Output) {
        self.size = self.data_nxt.min(self.size);
        self.finish_if_done(0, now, out);
    }

    /// A segment has arrived on subflow `s`.
    pub fn on_segment(&mut self, s: usize, segment: Segment, now: Time, out: &mut impl Output) {
        if self.state != SenderState::Open {
            return;
        }
        match segment {
            Segment::Ack { ack, data_ack, ece } => self.on_ack(s, ack, data_ack, ece, now, out),
            Segment::SynAck { ecn } => self.on_syn_ack(s, ecn, now, out),
            // The receiver has no data to send.
            Segment::Syn { .. } | Segment::Data { .. } | Segment::Fin => {}
        }
    }

    /// The timer of subflow `s` may be due. A wake that nobody has asked for does no harm.
    pub fn on_timer(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let Some(subflow) = self.subflows.get_mut(s) else {
            return;
        };
        if self.state != SenderState::Open || !subflow.timer.has_passed(s, now, out) {
            return;
        }
        match subflow.state {
            State::Closed => self.send_syn(s, now, out),
            State::SynSent => self.on_syn_timeout(s, now, out),
            State::Established => self.on_retransmission_timeout(s, now, out),
            State::Failed => {}
        }
    }

    /// Is ECN asked for on subflow `s`?
    fn wants_ecn(&self, s: usize) -> bool {
        self.control.needs_ecn() && !(s == 0 && self.scatters_first())
    }

    fn send_syn(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        subflow.state = State::SynSent;
        subflow.syn_sent_at = now;
        let timeout = self.config.syn_timeout * (1 << subflow.syns.min(31));
        subflow.syns += 1;
        subflow.timer.set(s, now + timeout, out);
        out.send(s, Segment::Syn { join: s > 0, ecn: self.wants_ecn(s) });
    }

    fn on_syn_timeout(&mut self, s: usize, now: Time, out: &mut impl Output) {
        self.subflows[s].stats.timeouts += 1;
        if self.subflows[s].syns <= self.config.syn_retries {
            return self.send_syn(s, now, out);
        }
        self.subflows[s].state = State::Failed;
        // Further subflows are opened by the first one's SYN-ACK: without it there is nothing.
        if s == 0 {
            self.state = SenderState::Failed;
            self.ended = Some(now);
        }
    }

    fn on_syn_ack(&mut self, s: usize, ecn: bool, now: Time, out: &mut impl Output) {
        let ecn = ecn && self.wants_ecn(s);
        let subflow = &mut self.subflows[s];
        if subflow.state != State::SynSent {
            return; // a duplicate
        }
        self.control.on_established(s);
        subflow.state = State::Established;
        subflow.stats.established = Some(now);
        subflow.timer.clear();
        subflow.ect = ecn;
        let path = &mut self.paths[s];
        path.established = true;
        subflow.round_end = path.snd_nxt;
        if subflow.syns > 1 {
            // A lost SYN or SYN-ACK: the initial window is one segment (RFC 5681, section 3.1).
            path.cwnd = 1.0;
        } else if self.config.handshake_sample {
            subflow.rtt.sample(&self.config.rtt, now - subflow.syn_sent_at);
            path.srtt = subflow.rtt.srtt().unwrap_or(0.0);
        }
        // The third segment of the handshake.
        out.send(s, Segment::Ack { ack: Seq::of(FIRST_BYTE), data_ack: Seq::of(0), ece: false });
        if s == 0 {
            self.joins_at = self.control.join_after();
            if self.joins_at == 0 {
                self.open_joins(now, out);
            }
        }
        self.open |= 1 << s;
        self.transmit(now, out);
        self.finish_if_done(s, now, out);
    }

    /// Opens the further subflows, each after a random delay.
    fn open_joins(&mut self, now: Time, out: &mut impl Output) {
        self.joins_at = u64::MAX;
        for join in 1..self.subflows.len() {
            let at = now + out.jitter(self.config.join_jitter);
            self.subflows[join].timer.set(join, at, out);
        }
    }

    fn on_ack(&mut self, s: usize, ack: Seq, data_ack: Seq, ece: bool, now: Time, out: &mut impl Output) {
        let config = &*self.config;
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        if subflow.state != State::Established {
            return;
        }
        self.data_una = self.data_una.max(data_ack.near(self.data_una));
        let ack = ack.near(path.snd_una);
        if ack < path.snd_una {
            return; // older than what is known
        }
        let was_in_flight = subflow.in_flight;
        let (segments, bytes, sent_at) = subflow.acknowledge(path, ack);
        subflow.stats.acked_bytes += bytes;
        subflow.stats.marked_acks += ece as u64;
        if let Some(at) = sent_at {
            subflow.rtt.sample(&config.rtt, now - at);
            path.srtt = subflow.rtt.srtt().unwrap_or(0.0);
        }
        let round_ended = path.snd_una > subflow.round_end;
        if round_ended {
            subflow.round_end = path.snd_nxt;
        }
        let event = Ack { acked: segments, marked: ece, round_ended, now };
        let cut = self.control.in_ack_event(&mut self.paths, s, event);
        self.subflows[s].stats.cuts += cut as u64;
        if segments > 0 {
            self.on_new_ack(s, segments, cut, now, out);
        } else if was_in_flight > 0 {
            self.on_duplicate_ack(s, now, out);
        }
        if self.state == SenderState::Open {
            if self.data_nxt > self.joins_at {
                self.open_joins(now, out);
            }
            self.update_open(s);
            self.transmit(now, out);
            self.finish_if_done(s, now, out);
        }
    }

    /// `segments` segments have been acknowledged for the first time. The ACK that `cut` the window does not grow it; the
    /// others of that window do.
    fn on_new_ack(&mut self, s: usize, segments: u32, cut: bool, now: Time, out: &mut impl Output) {
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        (subflow.dupacks, subflow.limited) = (0, 0);
        subflow.timed_out = false;
        let mut restart = true;
        if !path.in_recovery {
            let counted = if self.config.byte_counting { segments as f64 } else { 1.0 };
            if !cut {
                self.control.cong_avoid(&mut self.paths, s, counted);
            }
        } else if path.snd_una >= subflow.recover {
            // Full acknowledgment (RFC 6582, section 3.2, step 3)
            path.in_recovery = false;
            path.cwnd = path.ssthresh.min(subflow.in_flight.max(1) as f64 + 1.0);
        } else {
            // Partial acknowledgment: deflate, and the next hole is lost as well
            path.cwnd = (path.cwnd - segments as f64 + 1.0).max(1.0);
            // "For the first partial ACK, also reset the retransmit timer"
            restart = !subflow.partial;
            subflow.partial = true;
            self.retransmit_first(s, now, out);
        }
        let subflow = &mut self.subflows[s];
        if subflow.sent.is_empty() {
            subflow.timer.clear(); // RFC 6298 (5.2)
        } else if restart {
            subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out); // RFC 6298 (5.3)
        }
    }

    fn on_duplicate_ack(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        if path.in_recovery {
            path.cwnd += 1.0; // RFC 5681, section 3.2, step 4
            return;
        }
        subflow.dupacks += 1;
        // After a timeout, duplicates caused by segments sent again must not start a recovery (RFC 6582, section 4.1)
        if path.snd_una <= subflow.recover {
            return;
        }
        if subflow.dupacks != subflow.dupack_threshold {
            return self.limited_transmit(s, now, out);
        }
        // RFC 6582, section 3.2, step 2; RFC 5681, section 3.2, steps 2 and 3
        subflow.recover = path.snd_nxt;
        subflow.partial = false;
        subflow.stats.recoveries += 1;
        // What limited transmit has let out does not count (RFC 5681, section 3.2, step 2).
        let flight = subflow.in_flight.saturating_sub(subflow.limited);
        let ssthresh = self.control.ssthresh(&self.paths, s, flight);
        let path = &mut self.paths[s];
        path.in_recovery = true;
        path.ssthresh = ssthresh;
        path.cwnd = ssthresh + 3.0;
        self.retransmit_first(s, now, out);
        let subflow = &mut self.subflows[s];
        subflow.timer.set(s, now + subflow.rtt.rto(&self.config.rtt), out);
    }

    /// A duplicate ACK below the threshold tells of a packet that has left: one of new data takes its place, beyond the
    /// window by as many as there are duplicates (RFC 3042, section 2: by two, with a threshold of three).
    fn limited_transmit(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let subflow = &self.subflows[s];
        let below = self.config.limited_transmit && subflow.dupacks < subflow.dupack_threshold;
        let allowed = self.paths[s].cwnd as u32 + subflow.dupacks;
        if below && !subflow.has_backlog() && subflow.in_flight < allowed && self.send_segment(s, now, out) {
            self.subflows[s].limited += 1;
        }
    }

    fn on_retransmission_timeout(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let subflow = &mut self.subflows[s];
        if subflow.sent.is_empty() {
            return;
        }
        subflow.stats.timeouts += 1;
        subflow.rtt.back_off(&self.config.rtt); // RFC 6298 (5.5)
        let (flight, first) = (subflow.in_flight, !subflow.timed_out);
        subflow.timed_out = true;
        if first {
            // RFC 5681, section 3.1: held at its value when a segment times out again
            self.paths[s].ssthresh = self.control.ssthresh(&self.paths, s, flight);
        }
        self.control.on_timeout(s);
        let (path, subflow) = (&mut self.paths[s], &mut self.subflows[s]);
        path.cwnd = 1.0; // the loss window (RFC 5681, section 3.1)
        path.in_recovery = false;
        subflow.recover = subflow.recover.max(path.snd_nxt); // RFC 6582, section 3.2, step 4
        (subflow.dupacks, subflow.limited) = (0, 0);
        subflow.in_flight = 0;
        path.snd_nxt = path.snd_una;
        self.update_open(s);
        self.transmit(now, out);
    }

    /// Sends the first unacknowledged segment of subflow `s` again.
    fn retransmit_first(&mut self, s: usize, now: Time, out: &mut impl Output) {
        let path = &self.paths[s];
        let subflow = &mut self.subflows[s];
        if let Some(first) = subflow.sent.front_mut() {
            (first.at, first.again) = (now, true);
            subflow.stats.segments += 1;
            subflow.stats.retransmits += 1;
            let last = data_end(first, self.data_una) == self.size;
            let (seq, data_seq, len) = (Seq::of(path.snd_una), first.data_seq, first.len);
            out.send(s, Segment::Data { seq, data_seq, len, last, ect: subflow.ect });
        }
    }

    #[inline]
    fn update_open(&mut self, s: usize) {
        let room = self.subflows[s].in_flight < self.paths[s].cwnd as u32;
        self.open = self.open & !(1 << s) | (room as u32) << s;
    }

    /// Sends what windows allow: round robin over the subflows, one segment at a time.
    fn transmit(&mut self, now: Time, out: &mut impl Output) {
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
    fn send_segment(&mut self, s: usize, now: Time, out: &mut impl Output) -> bool {
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

    fn finish_if_done(&mut self, s: usize, now: Time, out: &mut impl Output) {
        if self.state == SenderState::Open && self.data_una >= self.size && self.paths[0].established {
            self.state = SenderState::Finished;
            self.ended = Some(now);
            out.send(s, Segment::Fin);
        }
    }

    /// Where the connection stands.
    pub fn state(&self) -> SenderState {
        self.state
    }
    /// When it was opened.
    pub fn started(&self) -> Time {
        self.started
    }
    /// When its last data was acknowledged, or it was given up.
    pub fn ended(&self) -> Option<Time> {
        self.ended
    }
    /// Payload acknowledged at connection level, bytes.
    pub fn acked(&self) -> u64 {
        self.data_una
    }
    /// Number of subflows, established or not.
    pub fn subflows(&self) -> usize {
        self.subflows.len()
    }
    /// Congestion state of subflow `s`.
    pub fn path(&self, s: usize) -> &Path {
        &self.paths[s]
    }
    /// What subflow `s` has done.
    pub fn stats(&self, s: usize) -> &SubflowStats {
        &self.subflows[s].stats
    }
    /// Least RTT sample of subflow `s`.
    pub fn min_rtt(&self, s: usize) -> Option<Time> {
        self.subflows[s].rtt.min()
    }
    /// Retransmission timeout of subflow `s`, back-off included.
    pub fn rto(&self, s: usize) -> Time {
        self.subflows[s].rtt.rto(&self.config.rtt)
    }
    /// Is subflow `s` kept from sending new data?
    pub fn is_suppressed(&self, s: usize) -> bool {
        !self.control.is_active(s)
    }
    /// Times that the connection became single-path, and multipath again.
    pub fn suppressions(&self) -> (u32, u32) {
        self.control.suppressions()
    }
    /// Segments of subflow `s` in flight.
    pub fn in_flight(&self, s: usize) -> u32 {
        self.subflows[s].in_flight
    }
}

/// Where in the connection's stream a sent segment ends.
fn data_end(segment: &Sent, data_una: u64) -> u64 {
    segment.data_seq.near(data_una) + segment.len as u64
}
