//! Reads a script of packetdrill: the constructs that the scripts of its TCP sender use. Any other
//! construct is an error.

use linkpool_units::Time;

/// A construct that is not known, or makes no sense here.
#[derive(Debug, PartialEq)]
pub struct Wrong {
    pub line: usize,
    pub message: String,
}

impl Wrong {
    pub fn at<T>(line: usize, message: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong { line, message: message.into() })
    }
}

/// One event of a script.
#[derive(Debug)]
pub struct Event {
    /// Number of its first line.
    pub line: usize,
    /// Its earliest and its latest time after the event before it.
    pub after: (Time, Time),
    pub what: What,
}

#[derive(Debug)]
pub enum What {
    Packet(Packet),
    /// A system call: its name and its arguments.
    Call(String, Vec<String>),
    /// Assertions about the kernel's `struct tcp_info`, with the numbers of their lines.
    Code(Vec<(usize, String)>),
    /// Commands of a shell.
    Commands(Vec<(usize, String)>),
    /// An option of packetdrill's own command line.
    Flag(String),
}

#[derive(Debug, Default)]
pub struct Packet {
    /// Does it arrive, or is it sent?
    pub arrives: bool,
    /// The expected ECN field, if the script says one.
    pub ecn: Option<String>,
    pub flags: String,
    /// Sequence numbers of its first byte, and of the byte behind its last one.
    pub range: (u64, u64),
    pub ack: Option<u64>,
    pub window: Option<u64>,
    pub options: Vec<String>,
}

/// The events of a script.
pub fn read(text: &str) -> Result<Vec<Event>, Wrong> {
    let mut events = Vec::new();
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split("//").next().unwrap_or("")));
    while let Some((number, line)) = lines.next() {
        let code = line.trim();
        if code.is_empty() {
            continue;
        }
        if let Some(flag) = code.strip_prefix("--") {
            events.push(Event { line: number, after: Default::default(), what: What::Flag(flag.into()) });
            continue;
        }
        let (time, rest) = code.split_at(code.find(|c| !"+.~0123456789 \t".contains(c)).unwrap_or(code.len()));
        let first = events.iter().all(|event: &Event| matches!(event.what, What::Flag(_) | What::Commands(_)));
        let what = if let Some(first) = rest.strip_prefix('`') {
            What::Commands(block((number, first), &mut lines, "`")?)
        } else if let Some(first) = rest.strip_prefix("%{") {
            What::Code(block((number, first), &mut lines, "}%")?)
        } else if rest.starts_with(['<', '>']) {
            What::Packet(packet(number, rest)?)
        } else {
            call(number, rest)?
        };
        events.push(Event { line: number, after: times(number, time, first)?, what });
    }
    Ok(events)
}

/// The lines of a block up to `end`, without it.
fn block<'a>(
    (number, first): (usize, &'a str),
    more: &mut impl Iterator<Item = (usize, &'a str)>,
    end: &str,
) -> Result<Vec<(usize, String)>, Wrong> {
    let mut found = Vec::new();
    let mut next = Some((number, first));
    while let Some((line, text)) = next {
        if let Some((last, behind)) = text.split_once(end) {
            if !behind.trim().is_empty() {
                return Wrong::at(line, format!("`{}` behind a block", behind.trim()));
            }
            found.push((line, last.trim().into()));
            found.retain(|(_, text): &(usize, String)| !text.is_empty());
            return Ok(found);
        }
        found.push((line, text.trim().into()));
        next = more.next();
    }
    Wrong::at(number, format!("a block without its end, {end}"))
}

/// `+.1`, or `+.3~+.310` for a range. Of a call that blocks, `+0...0.010`, the end is left out: it
/// ends when the handshake does. The first event has an absolute time.
fn times(line: usize, text: &str, first: bool) -> Result<(Time, Time), Wrong> {
    let start = text.split("...").next().unwrap_or("").trim();
    if start.is_empty() || (first && start == "0") {
        return Ok(Default::default());
    }
    let one = |text: &str| match text.trim().strip_prefix('+').map(str::parse::<f64>) {
        Some(Ok(seconds)) => Ok(Time::from_us((seconds * 1e6).round() as u64)),
        _ => Wrong::at(line, format!("the time `{text}`, which is not relative")),
    };
    let (from, to) = start.split_once('~').unwrap_or((start, start));
    Ok((one(from)?, one(to)?))
}

/// `> P. 1:1001(1000) ack 1 win 257 <sack 1:2,nop,nop>`
fn packet(line: usize, text: &str) -> Result<Packet, Wrong> {
    let mut packet = Packet { arrives: text.starts_with('<'), ..Packet::default() };
    let mut rest = text[1..].trim();
    if let Some((ecn, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        (packet.ecn, rest) = (Some(ecn.into()), behind);
    }
    if let Some((before, options)) = rest.split_once('<') {
        let Some(options) = options.strip_suffix('>') else { return Wrong::at(line, "options without `>`") };
        packet.options = options.split(',').map(|option| option.trim().into()).collect();
        packet.options.retain(|option| !matches!(option.as_str(), "nop" | ""));
        rest = before;
    }
    let mut words = rest.split_whitespace();
    packet.flags = words.next().unwrap_or("").into();
    let range = words.next().unwrap_or("");
    let number = |text: &str| text.parse::<u64>().ok();
    let parsed = range.split_once(':').and_then(|(start, rest)| {
        let (end, length) = rest.strip_suffix(')')?.split_once('(')?;
        Some((number(start)?, number(end)?, number(length)?))
    });
    match parsed {
        Some((start, end, length)) if start + length == end => packet.range = (start, end),
        _ => return Wrong::at(line, format!("the sequence numbers `{range}`")),
    }
    while let Some(word) = words.next() {
        let value = words.next().and_then(number);
        match word {
            "ack" => packet.ack = value,
            "win" => packet.window = value,
            _ => return Wrong::at(line, format!("`{word}` in a packet")),
        }
        if value.is_none() {
            return Wrong::at(line, format!("`{word}` without a number"));
        }
    }
    Ok(packet)
}

/// `write(4, ..., 1000) = 1000`; a call must succeed.
fn call(line: usize, text: &str) -> Result<What, Wrong> {
    let parsed = text.split_once('(').and_then(|(name, rest)| {
        let (arguments, result) = rest.rsplit_once(')')?;
        Some((name.trim(), arguments, result.trim().strip_prefix('=')?.trim()))
    });
    match parsed {
        Some((name, arguments, result)) if result.parse::<u64>().is_ok() => {
            Ok(What::Call(name.into(), arguments.split(',').map(|argument| argument.trim().into()).collect()))
        }
        _ => Wrong::at(line, format!("`{text}`")),
    }
}
