//! Translates a script of packetdrill into our script language.
//!
//! The kernel under test is our sender. Where the script makes the kernel a server, our sender
//! takes the initiative all the same: it opens when the kernel answers the SYN, and the ACK that
//! ends the kernel's handshake is our SYN-ACK, so that both measure the same RTT. What the
//! application writes are messages of a connection that stays open. A segment of the kernel that
//! holds several of the peer's MSS (TSO) is that many of ours. PSH is left out, since the size of
//! these large segments decides it. The translation ends where the application closes the
//! connection: closing is simpler here.

use super::parse::{Event, Packet, What, Wrong, read};
use super::python::{self, Names};
use super::setup::Setup;
use linkpool_settings::{Preset, Settings};
use linkpool_transport::control::{Algorithm, ControlConfig};
use linkpool_transport::{Buffers, Config, LossRecovery, Pacing};
use linkpool_units::Time;
use std::mem::take;

/// The time by which a timer of Linux may be late: RACK's timer is set two ticks of the clock late,
/// and times are rounded up to ticks. The scripts allow for a tick of 4 ms.
const TICKS: Time = Time::from_ms(12);

/// A script in our language.
#[derive(Debug)]
pub struct Translation {
    pub config: Config,
    pub tolerance: Time,
    /// Each with the number of the line that it comes from.
    pub steps: Vec<(usize, Step)>,
    /// The fields of `struct tcp_info` that are not compared.
    pub left_out: Vec<String>,
}

#[derive(Debug, PartialEq)]
pub enum Step {
    /// A line of our script language.
    Line(String),
    /// The application writes so many bytes, this long after the step before.
    Write(Time, u64),
}

/// Translates a script, or says why it does not apply to our model.
pub fn translate(text: &str) -> Result<Result<Translation, &'static str>, Wrong> {
    let events = read(text)?;
    let mut setup = Setup::default();
    for event in &events {
        match &event.what {
            What::Flag(flag) => setup.flag(event.line, flag)?,
            What::Commands(commands) => setup.commands(commands)?,
            _ => {}
        }
    }
    let packets = || events.iter().filter_map(|event| if let What::Packet(p) = &event.what { Some(p) } else { None });
    if setup.refuses {
        return Ok(Err("the sender's own queue refuses a retransmission and says so; a queue of linkpool drops"));
    }
    if packets().any(|p| p.arrives && p.flags == "E.") {
        return Ok(Err("a mark with CUBIC, or Reno, as RFC 3168 has it; of TCP only DCTCP uses ECN in linkpool"));
    }
    let mut translator = Translator::new(setup);
    for event in &events {
        if !translator.event(event)? {
            break;
        }
    }
    if translator.taken_back {
        return Ok(Err(
            "the receiver shuts a window that it has offered; no receiver of linkpool takes back its window",
        ));
    }
    translator.finish().map(Ok)
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// No SYN yet.
    Closed,
    /// The peer's SYN has arrived.
    Asked,
    /// The kernel has sent its SYN.
    Asking,
    /// The kernel has answered a SYN.
    Answered,
    Open,
}

struct Translator {
    setup: Setup,
    phase: Phase,
    /// Time of events that have no step.
    pending: (Time, Time),
    mss: u64,
    /// Does the receiver send SACKs?
    sack: bool,
    /// Shift of the receiver's window.
    shift: u32,
    /// The window that ends the handshake.
    window: u64,
    /// The segments of what was written: first byte, byte behind the last, end of a message.
    segments: Vec<(u64, u64, bool)>,
    /// The last sequence number that was acknowledged.
    acked: u64,
    /// The largest edge of the receiver's window.
    edge: u64,
    /// Does the receiver shut its window before the edge that it has offered?
    taken_back: bool,
    names: Names,
    steps: Vec<(usize, Step)>,
    left_out: Vec<String>,
}

impl Translator {
    fn new(setup: Setup) -> Translator {
        Translator {
            setup,
            phase: Phase::Closed,
            pending: Default::default(),
            mss: 536,
            sack: false,
            shift: 0,
            window: 0,
            segments: Vec::new(),
            acked: 1,
            edge: 0,
            taken_back: false,
            names: Names::new(),
            steps: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Translates an event. Returns false where the translation ends.
    fn event(&mut self, event: &Event) -> Result<bool, Wrong> {
        if !matches!(self.phase, Phase::Closed | Phase::Asked) {
            self.pending = (self.pending.0 + event.after.0, self.pending.1 + event.after.1);
        }
        match &event.what {
            What::Flag(_) | What::Commands(_) => {}
            What::Code(block) => {
                let checks = python::translate(block, &mut self.names)?;
                self.left_out.extend(checks.left_out);
                if !checks.pairs.is_empty() {
                    self.line(event.line, &format!("= {}", checks.pairs.join(" ")));
                }
            }
            What::Call(name, arguments) => return self.call(event.line, name, arguments),
            What::Packet(packet) if self.phase != Phase::Open => self.handshake(event.line, packet)?,
            What::Packet(packet) if packet.arrives => self.arrives(event.line, packet)?,
            What::Packet(packet) => self.sent(event.line, packet)?,
        }
        Ok(true)
    }

    /// Adds a line, at the time that has come.
    fn line(&mut self, number: usize, text: &str) {
        let (from, to) = take(&mut self.pending);
        let us = |time: Time| time.0 / Time::from_us(1).0;
        let time = if text.starts_with('>') && to > Time::ZERO {
            // packetdrill allows an eighth of the time since the last event, at least the tolerance.
            let more = Time(to.0 / 8).max(self.setup.tolerance) - self.setup.tolerance;
            let early = (more + TICKS).min(from);
            format!("+{}us..+{}us ", us(from - early), us(to + more))
        } else {
            format!("+{}us ", us(from))
        };
        self.steps.push((number, Step::Line(time + text)));
    }

    fn call(&mut self, line: usize, name: &str, arguments: &[String]) -> Result<bool, Wrong> {
        let argument = |i: usize| arguments.get(i).map_or("", String::as_str);
        match (name, argument(1), argument(2)) {
            ("socket" | "bind" | "listen" | "accept" | "connect", ..) => {}
            // None of them limits or changes what is sent. (A script that needs a limit would fail.)
            ("setsockopt", "SOL_SOCKET", "SO_REUSEADDR" | "SO_SNDBUF") => {}
            ("setsockopt", "SOL_IP", "IP_TOS" | "IP_MTU_DISCOVER") => {}
            ("close", ..) => return Ok(false),
            ("write", _, size) => {
                let Ok(size @ 1..) = size.parse::<u64>() else {
                    return Wrong::at(line, format!("a write of `{size}`"));
                };
                let (mut start, mss) = (self.segments.last().map_or(1, |(_, end, _)| *end), self.mss);
                let end = start + size;
                while start < end {
                    let next = end.min(start + mss);
                    self.segments.push((start, next, next == end));
                    start = next;
                }
                let (after, _) = take(&mut self.pending);
                self.steps.push((line, Step::Write(after, size)));
            }
            _ => return Wrong::at(line, format!("the call `{name}({})`", arguments.join(", "))),
        }
        Ok(true)
    }

    fn handshake(&mut self, line: usize, packet: &Packet) -> Result<(), Wrong> {
        let ecn = if self.setup.ecn { " ecn" } else { "" };
        self.phase = match (self.phase, packet.arrives, packet.flags.as_str()) {
            (Phase::Closed, true, "S" | "SEW") => {
                self.options(line, packet)?;
                Phase::Asked
            }
            (Phase::Closed, false, "S" | "SEW") => {
                self.line(line, &format!("> syn{ecn}"));
                Phase::Asking
            }
            (Phase::Asked, false, "S." | "SE.") => {
                self.line(line, &format!("> syn{ecn}"));
                Phase::Answered
            }
            (Phase::Answered, true, ".") | (Phase::Asking, true, "S." | "SE.") => {
                if self.phase == Phase::Asking {
                    self.options(line, packet)?;
                }
                // The window of a SYN or SYN-ACK is not scaled (RFC 7323, section 2.2).
                let shift = if self.phase == Phase::Asking { 0 } else { self.shift };
                self.window = packet.window.unwrap_or(0) << shift;
                self.line(line, &format!("< synack{ecn}"));
                self.line(line, "> ack 0");
                Phase::Open
            }
            _ => return Wrong::at(line, format!("a packet `{}` in the handshake", packet.flags)),
        };
        Ok(())
    }

    /// Takes the options of the peer's SYN or SYN-ACK.
    fn options(&mut self, line: usize, packet: &Packet) -> Result<(), Wrong> {
        for option in &packet.options {
            match option.split_once(' ').map(|(name, value)| (name, value.parse::<u64>())) {
                None if option == "sackOK" => self.sack = true,
                Some(("mss", Ok(mss @ 1..=1460))) => self.mss = mss,
                Some(("wscale", Ok(shift @ 0..=14))) => self.shift = shift as u32,
                _ => return Wrong::at(line, format!("the option `{option}`")),
            }
        }
        Ok(())
    }

    fn arrives(&mut self, line: usize, packet: &Packet) -> Result<(), Wrong> {
        let (Some(ack), Some(window)) = (packet.ack, packet.window) else {
            return Wrong::at(line, "a packet without `ack` or `win`");
        };
        if packet.flags != "." || packet.range.0 != packet.range.1 {
            return Wrong::at(line, format!("a packet `{}` with data or flags", packet.flags));
        }
        self.acked = self.acked.max(ack);
        self.taken_back |= window == 0 && ack < self.edge;
        self.edge = self.edge.max(ack + (window << self.shift));
        let mut text = format!("< ack {} win {}", self.position(ack), window << self.shift);
        for option in &packet.options {
            let Some(blocks) = option.strip_prefix("sack ") else {
                return Wrong::at(line, format!("the option `{option}`"));
            };
            let mut pairs = Vec::new();
            for block in blocks.split_whitespace() {
                let ends = block.split_once(':').map(|(start, end)| (start.parse(), end.parse()));
                let Some((Ok(start), Ok(end))) = ends else { return Wrong::at(line, format!("the block `{block}`")) };
                pairs.push(format!("{}-{}", self.position(start), self.position(end)));
            }
            text += &format!(" sack {}", pairs.join(","));
        }
        self.line(line, &text);
        Ok(())
    }

    fn sent(&mut self, line: usize, packet: &Packet) -> Result<(), Wrong> {
        let (start, end) = packet.range;
        let ect = match (self.setup.ecn, packet.ecn.as_deref()) {
            (true, None | Some("ect0")) => " ect",
            (false, None | Some("noecn")) => "",
            (_, Some(other)) => return Wrong::at(line, format!("the ECN field `{other}`")),
        };
        if !matches!(packet.flags.as_str(), "." | "P.") || !packet.options.is_empty() {
            return Wrong::at(line, format!("a packet `{}` with flags or options", packet.flags));
        }
        if start == end {
            if start == 1 && self.segments.is_empty() {
                return Ok(()); // the third segment of the kernel's handshake
            }
            if start + 1 != self.acked {
                return Wrong::at(line, "a segment without data that is no window probe");
            }
            let (at, data) = (self.position(start), self.position(self.acked));
            self.line(line, &format!("> pkt {at} data {data} len 0{ect}"));
            return Ok(());
        }
        let within: Vec<_> =
            self.segments.iter().copied().filter(|(from, to, _)| start <= *from && *to <= end).collect();
        if within.iter().map(|(from, to, _)| to - from).sum::<u64>() != end - start {
            return Wrong::at(line, "data that was not written, or a part of a segment");
        }
        for (from, to, last) in within {
            let len = if to - from == self.mss { String::new() } else { format!(" len {}", to - from) };
            let last = if last { " last" } else { "" };
            let at = self.position(from);
            self.line(line, &format!("> pkt {at}{len}{last}{ect}"));
        }
        Ok(())
    }

    /// A sequence number as our scripts write it: in segments from the first byte.
    fn position(&self, sequence: u64) -> String {
        let bytes = sequence.saturating_sub(1);
        match (bytes / self.mss, bytes % self.mss) {
            (n, 0) => n.to_string(),
            (n, rest) => format!("{n}+{rest}"),
        }
    }

    fn finish(mut self) -> Result<Translation, Wrong> {
        if self.phase != Phase::Open {
            return Wrong::at(1, "a script that opens no connection");
        }
        if self.setup.no_probes {
            self.line(0, "= probes 0"); // we cannot forbid them, but see that there were none
        }
        let algorithm = if self.setup.ecn { "dctcp" } else { "cubic" };
        let algorithm = Algorithm::named(algorithm).expect("it is registered");
        let config = Config {
            control: ControlConfig::of(algorithm, Preset::Linux),
            mss: self.mss as u16,
            recovery: if self.sack { LossRecovery::Rack } else { LossRecovery::NewReno },
            slow_start_after_idle: self.setup.slow_start_after_idle,
            buffers: Buffers { receive: self.window, ..Buffers::default() },
            pacing: if self.setup.paced { Pacing::Fq } else { Pacing::Control },
            ..Config::defaults(Preset::Linux)
        };
        self.left_out.sort();
        self.left_out.dedup();
        Ok(Translation { config, tolerance: self.setup.tolerance, steps: self.steps, left_out: self.left_out })
    }
}
