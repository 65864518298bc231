//! Scripted packet-by-packet tests, in the manner of packetdrill.
//!
//! ```text
//! 0       > syn            // at 0 the endpoint sends a SYN
//! 100us   < synack         // at 100 us a SYN-ACK arrives
//!         > ack 0          // in answer, at the same time
//!         > pkt 0
//! 200us   < ack 1
//!         > pkt 1-2
//!         = cwnd 2         // its window now
//! 500us   quiet            // nothing more until then
//! ```
//! Positions are counted in packets of one MSS (`2+300`: 300 bytes beyond). `pkt 3 data 7` is the
//! third packet of its subflow and the seventh of the connection (of `pkt 3-5 data 7` the last is
//! the ninth); `data` is left out where the two agree. `ack 2 win 3000 sack 5-6,3-4` offers a
//! window of 3,000 bytes, and packets 5 and 3 have arrived beyond the gap. Subflow 0 unless `s1` or
//! so comes first (`= cwnd 2 s1 cwnd 3` looks at both). Every segment that is sent must be
//! expected, at its exact time. `+100us` is a time after the line before, and `+20ms..+30ms > pkt 3`
//! allows for a range.

use crate::common::S;
use linkpool_transport::{AckOptions, Config, Output, Receiver, SackBlocks, Segment, Sender, Seq, SubflowId};
use linkpool_units::Time;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The endpoint under test.
pub trait Endpoint {
    fn arrive(&mut self, s: SubflowId, segment: Segment, ce: bool, now: Time, out: &mut Recorder);
    fn wake(&mut self, s: SubflowId, now: Time, out: &mut Recorder);
    /// The value of `what` on subflow `s`, as a script writes it.
    fn state(&self, s: SubflowId, what: &str) -> String;
}

impl Endpoint for Sender {
    fn arrive(&mut self, s: SubflowId, segment: Segment, _ce: bool, now: Time, out: &mut Recorder) {
        self.on_segment(s, segment, now, out);
    }

    fn wake(&mut self, s: SubflowId, now: Time, out: &mut Recorder) {
        self.on_timer(s, now, out);
    }

    fn state(&self, s: SubflowId, what: &str) -> String {
        let rounded = |x: f64| format!("{}", (x * 1e4).round() / 1e4);
        match what {
            "cwnd" => rounded(self.congestion(s).cwnd),
            "ssthresh" => rounded(self.congestion(s).ssthresh),
            "flight" => self.in_flight(s).to_string(),
            "rto" => self.rto(s).to_string(),
            "state" => format!("{:?}", self.state()).to_lowercase(),
            "ended" => self.ended().map_or("never".into(), |t| t.to_string()),
            "acked" => self.acked().to_string(),
            // As the fields of Linux's `struct tcp_info` have them: whole packets, one state.
            "window" => format!("{}", self.congestion(s).cwnd.floor()),
            "threshold" => format!("{}", self.congestion(s).ssthresh.floor()),
            "outstanding" => self.outstanding(s).segments.to_string(),
            "sacked" => self.outstanding(s).sacked.to_string(),
            "lost" => self.outstanding(s).lost.to_string(),
            "resent" => self.outstanding(s).resent.to_string(),
            "phase" if self.congestion(s).in_recovery => "recovery".into(),
            "phase" if self.outstanding(s).sacked > 0 => "disorder".into(),
            "phase" => "open".into(),
            "timeouts" => self.stats(s).timeouts.to_string(),
            "recoveries" => self.stats(s).recoveries.to_string(),
            "undos" => self.stats(s).undos.to_string(),
            "probes" => self.stats(s).probes.to_string(),
            "retransmits" => self.stats(s).retransmits.to_string(),
            "segments" => self.stats(s).segments.to_string(),
            "marked" => self.stats(s).marked_acks.to_string(),
            "cuts" => self.stats(s).cuts.to_string(),
            "carried" => self.stats(s).acked_bytes.to_string(),
            "reinjected" => self.stats(s).reinjected_bytes.to_string(),
            "recovery" => self.congestion(s).in_recovery.to_string(),
            "suppressed" => self.is_suppressed(s).to_string(),
            _ => panic!("a sender has no {what}"),
        }
    }
}

impl Endpoint for Receiver {
    fn arrive(&mut self, s: SubflowId, segment: Segment, ce: bool, now: Time, out: &mut Recorder) {
        let delivery = self.on_segment(s, segment, ce, now, out);
        out.deliveries.push(format!("{delivery:?}").to_lowercase());
    }

    fn wake(&mut self, s: SubflowId, now: Time, out: &mut Recorder) {
        self.on_timer(s, now, out);
    }

    fn state(&self, _s: SubflowId, what: &str) -> String {
        match what {
            "delivered" => self.delivered().to_string(),
            "duplicates" => self.duplicate_bytes().to_string(),
            "complete" => self.is_complete().to_string(),
            _ => panic!("a receiver has no {what}"),
        }
    }
}

/// Keeps the segments and timer requests of the endpoint under test.
#[derive(Default)]
pub struct Recorder {
    now: Time,
    sent: VecDeque<(Time, SubflowId, Segment)>,
    wakes: BTreeSet<(Time, SubflowId)>,
    jitters: VecDeque<Time>,
    deliveries: Vec<String>,
    measured: Option<Time>,
}

impl Output for Recorder {
    fn send(&mut self, subflow: SubflowId, segment: Segment) {
        self.sent.push_back((self.now, subflow, segment));
    }

    fn wake(&mut self, subflow: SubflowId, at: Time) {
        assert!(at >= self.now, "asks to be woken in the past");
        self.wakes.insert((at, subflow));
    }

    fn measured_rtt(&mut self, _subflow: SubflowId, rtt: Time) {
        self.measured = Some(rtt);
    }

    fn jitter(&mut self, most: Time) -> Time {
        let jitter = self.jitters.pop_front().unwrap_or(Time::ZERO);
        assert!(jitter <= most);
        jitter
    }
}

/// An endpoint under test.
pub struct Script<E> {
    pub end: E,
    out: Recorder,
    mss: u64,
    line: String,
    /// If set, segments may be sent by this much before or after their time, wait for the line that
    /// expects them, and need not be expected at the end.
    tolerance: Option<Time>,
}

/// A sender that opens its connection at 0.
pub fn sender(config: Config, size: Option<u64>) -> Script<Sender> {
    sender_with_jitters(config, size, &[])
}

/// As [`sender`]; asked for jitter it gets these, one after another.
pub fn sender_with_jitters(config: Config, size: Option<u64>, jitters: &[Time]) -> Script<Sender> {
    let mss = config.mss as u64;
    let mut script = Script {
        end: Sender::new(Arc::new(config), size),
        out: Recorder { jitters: jitters.iter().copied().collect(), ..Recorder::default() },
        mss,
        line: String::new(),
        tolerance: None,
    };
    script.end.open(Time::ZERO, &mut script.out);
    script
}

/// A receiver that has not heard anything.
pub fn receiver(config: Config) -> Script<Receiver> {
    let mss = config.mss as u64;
    Script { end: Receiver::new(Arc::new(config)), out: Recorder::default(), mss, line: String::new(), tolerance: None }
}

/// As [`sender`], of a connection that stays open, with a first message of `size` bytes.
pub fn open_sender(config: Config, size: u64) -> Script<Sender> {
    let mut script = Script {
        mss: config.mss as u64,
        end: Sender::new(Arc::new(config), Some(size)),
        out: Recorder::default(),
        line: String::new(),
        tolerance: None,
    };
    script.end.keep_open();
    script.end.open(Time::ZERO, &mut script.out);
    script
}

impl Script<Sender> {
    /// Gives the sender another message of `size` bytes.
    pub fn extend(&mut self, at: &str, size: u64) -> &mut Self {
        let at = self.time(at);
        self.advance(at, false);
        self.out.now = at;
        self.end.extend(size, at, &mut self.out);
        self
    }

    /// Tells the sender that no new data will come.
    pub fn stop(&mut self, at: &str) -> &mut Self {
        let at = at.parse().unwrap();
        self.advance(at, false);
        self.out.now = at;
        self.end.stop(at, &mut self.out);
        self
    }
}

impl<E: Endpoint> Script<E> {
    /// Runs some lines; see the module.
    pub fn run(&mut self, text: &str) -> &mut Self {
        for line in text.lines() {
            self.try_line(line).unwrap_or_else(|error| panic!("{error}"));
        }
        self.nothing_sent().unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// Segments may be sent by `tolerance` before or after their time, wait for the line that
    /// expects them, and need not be expected at the end.
    pub fn allow(&mut self, tolerance: Time) {
        self.tolerance = Some(tolerance);
    }

    /// A time of a script.
    fn time(&self, text: &str) -> Time {
        let parse = |text: &str| if text == "0" { Time::ZERO } else { text.parse().expect(text) };
        text.strip_prefix('+').map_or_else(|| parse(text), |after| self.out.now + parse(after))
    }

    /// Runs a line. The error says what is different.
    pub fn try_line(&mut self, line: &str) -> Result<(), String> {
        let code = line.split("//").next().unwrap().trim();
        if code.is_empty() {
            return Ok(());
        }
        self.line = line.trim().to_string();
        let mut words = code.split_whitespace().peekable();
        let (mut from, mut at) = (self.out.now, self.out.now);
        if let Some(time) = words.next_if(|w| w.starts_with(|c: char| c.is_ascii_digit() || c == '+')) {
            let (first, last) = time.split_once("..").unwrap_or((time, time));
            (from, at) = (self.time(first), self.time(last));
            assert!(from >= self.out.now && at >= from, "time runs backwards: {}", self.line);
        }
        let what = words.next().expect(code);
        let s = match words.peek().and_then(|w| w.strip_prefix('s')).and_then(|n| n.parse().ok()) {
            Some(s) => {
                words.next();
                s
            }
            None => 0,
        };
        let rest: Vec<&str> = words.collect();
        match what {
            "<" => {
                self.advance(at, false);
                self.nothing_sent()?;
                for (segment, ce) in self.parse(&rest) {
                    self.out.now = at;
                    self.end.arrive(S[s], segment, ce, at, &mut self.out);
                }
            }
            ">" => {
                let tolerance = self.tolerance.unwrap_or(Time::ZERO);
                let (from, to) = (Time(from.0.saturating_sub(tolerance.0)), at + tolerance);
                for expected in self.each(&rest) {
                    self.advance_to_output(to);
                    let Some((sent_at, subflow, segment)) = self.out.sent.pop_front() else {
                        return Err(format!("nothing is sent: {}", self.line));
                    };
                    let sent = format!("> s{subflow:?} {}", self.text(segment));
                    let expected = format!("> s{s} {}", self.text(self.parse_one(&expected).0));
                    if sent != expected || sent_at < from || sent_at > to {
                        let at = if from == to { at.to_string() } else { format!("{from} to {to}") };
                        return Err(format!("sent: {sent_at} {sent}; expected: {at} {expected}; in: {}", self.line));
                    }
                }
            }
            "=" => {
                self.advance(at, true);
                let (mut s, mut rest) = (s, &rest[..]);
                while !rest.is_empty() {
                    if let Some(subflow) = rest[0].strip_prefix('s').and_then(|n| n.parse().ok()) {
                        (s, rest) = (subflow, &rest[1..]);
                    }
                    let pair = &rest[..2];
                    rest = &rest[2..];
                    let found = match pair[0] {
                        "delivery" => self.out.deliveries.last().cloned().unwrap_or_default(),
                        "measured" => self.out.measured.map_or("never".into(), |rtt| rtt.to_string()),
                        what => self.end.state(S[s], what),
                    };
                    if found != pair[1] {
                        return Err(format!("{} is {found}, not {}; in: {}", pair[0], pair[1], self.line));
                    }
                }
            }
            "quiet" => {
                self.advance(at, true);
                self.nothing_sent()?;
            }
            _ => panic!("what does this mean: {}", self.line),
        }
        Ok(())
    }

    fn nothing_sent(&self) -> Result<(), String> {
        match self.out.sent.front().filter(|_| self.tolerance.is_none()) {
            Some((at, s, segment)) => {
                Err(format!("not expected: {at} > s{s:?} {}; script at: {}", self.text(*segment), self.line))
            }
            None => Ok(()),
        }
    }

    /// Runs the timers due before `until`, or at it too.
    fn advance(&mut self, until: Time, inclusive: bool) {
        while let Some((at, s)) =
            self.out.wakes.first().copied().filter(|(at, _)| *at < until || inclusive && *at == until)
        {
            self.out.wakes.pop_first();
            self.out.now = at;
            self.end.wake(s, at, &mut self.out);
        }
        self.out.now = until;
    }

    /// Runs timers up to `until` as long as nothing is sent.
    fn advance_to_output(&mut self, until: Time) {
        while self.out.sent.is_empty() {
            match self.out.wakes.first().copied().filter(|(at, _)| *at <= until) {
                Some((at, s)) => {
                    self.out.wakes.pop_first();
                    self.out.now = at;
                    self.end.wake(s, at, &mut self.out);
                }
                None => {
                    self.out.now = until;
                    return;
                }
            }
        }
    }

    fn position(&self, bytes: u64) -> String {
        match (bytes / self.mss, bytes % self.mss) {
            (n, 0) => n.to_string(),
            (n, rest) => format!("{n}+{rest}"),
        }
    }

    /// As a script writes it.
    fn text(&self, segment: Segment) -> String {
        let near = |seq: Seq, first: u64| self.position(seq.near(1 << 20) - first);
        let data = |n: &str, seq: Seq| match near(seq, 0) {
            same if same == n => String::new(),
            other => format!(" data {other}"),
        };
        let flag = |set: bool, name: &'static str| if set { name } else { "" };
        match segment {
            Segment::Syn { join, ecn } => format!("syn{}{}", flag(join, " join"), flag(ecn, " ecn")),
            Segment::SynAck { ecn } => format!("synack{}", flag(ecn, " ecn")),
            Segment::Data { seq, data_seq, len, last, ect, cwr, push } => {
                let n = near(seq, 1);
                let len = if len as u64 == self.mss { String::new() } else { format!(" len {len}") };
                let flags = [flag(last, " last"), flag(ect, " ect"), flag(cwr, " cwr"), flag(push, " push")].concat();
                format!("pkt {n}{}{len}{flags}", data(&n, data_seq))
            }
            Segment::Ack { ack, data_ack, ece, options } => {
                let n = near(ack, 1);
                let AckOptions { window, sack } = options.unwrap_or_default();
                let window = window.map_or(String::new(), |w| format!(" win {w}"));
                let blocks: Vec<String> = sack
                    .as_slice()
                    .iter()
                    .map(|(start, end)| format!("{}-{}", near(*start, 1), near(*end, 1)))
                    .collect();
                let sack = if blocks.is_empty() { String::new() } else { format!(" sack {}", blocks.join(",")) };
                format!("ack {n}{}{}{window}{sack}", data(&n, data_ack), flag(ece, " ece"))
            }
            Segment::Trimmed { seq, len } => format!("header {} len {len}", near(seq, 1)),
            Segment::Nack { seq } => format!("nack {}", near(seq, 1)),
            Segment::Fin { .. } => "fin".into(),
            Segment::SubflowFin { seq } => format!("subflowfin {}", near(seq, 1)),
            Segment::Reset => "reset".into(),
        }
    }

    /// `pkt 1-3 data 5 ..` is `pkt 1 data 5 ..`, `pkt 2 data 6 ..`, `pkt 3 data 7 ..`.
    fn each(&self, words: &[&str]) -> Vec<String> {
        let ["pkt", range, rest @ ..] = words else { return vec![words.join(" ")] };
        let Some((from, to)) = range.split_once('-') else { return vec![words.join(" ")] };
        let (from, to): (u64, u64) = (from.parse().unwrap(), to.parse().unwrap());
        let (data, flags) = match rest {
            ["data", first, flags @ ..] => (Some(first.parse::<u64>().unwrap()), flags),
            flags => (None, flags),
        };
        let each = |n: u64| {
            let data = data.map_or(String::new(), |first| format!("data {} ", first + n - from));
            format!("pkt {n} {data}{}", flags.join(" "))
        };
        (from..=to).map(each).collect()
    }

    fn parse(&self, words: &[&str]) -> Vec<(Segment, bool)> {
        self.each(words).iter().map(|text| self.parse_one(text)).collect()
    }

    fn parse_one(&self, text: &str) -> (Segment, bool) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        let after = |word: &str| words.iter().position(|w| *w == word).map(|i| words[i + 1]);
        let position = |text: &str| -> u64 {
            let (n, rest) = text.split_once('+').unwrap_or((text, "0"));
            n.parse::<u64>().expect(text) * self.mss + rest.parse::<u64>().expect(text)
        };
        let n = || position(words[1]);
        let data = || Seq::of(after("data").map_or_else(n, position));
        let segment = match words[0] {
            "syn" => Segment::Syn { join: has("join"), ecn: has("ecn") },
            "synack" => Segment::SynAck { ecn: has("ecn") },
            "fin" => Segment::Fin { seq: Seq::of(1) },
            "header" => Segment::Trimmed { seq: Seq::of(n() + 1), len: self.mss as u16 },
            "nack" => Segment::Nack { seq: Seq::of(n() + 1) },
            "subflowfin" => Segment::SubflowFin { seq: Seq::of(n() + 1) },
            "reset" => Segment::Reset,
            "ack" => {
                let block = |text: &str| {
                    let (start, end) = text.split_once('-').expect(text);
                    (Seq::of(position(start) + 1), Seq::of(position(end) + 1))
                };
                let sack: SackBlocks =
                    after("sack").into_iter().flat_map(|blocks| blocks.split(',')).map(block).collect();
                let options = AckOptions { window: after("win").map(|w| w.parse().unwrap()), sack };
                let options = (options != AckOptions::default()).then_some(options);
                Segment::Ack { ack: Seq::of(n() + 1), data_ack: data(), ece: has("ece"), options }
            }
            "pkt" => Segment::Data {
                seq: Seq::of(n() + 1),
                data_seq: data(),
                len: after("len").map_or(self.mss as u16, |l| l.parse().unwrap()),
                last: has("last"),
                ect: has("ect"),
                cwr: has("cwr"),
                push: has("push"),
            },
            _ => panic!("what segment is this: {}", self.line),
        };
        (segment, has("ce"))
    }
}
