//! Files of flows, of any format: one file a format.

mod columns;
mod csv;
mod hpcc;
mod htsim;
mod json_lines;
mod parquet;

use std::fmt;

use linkpool_units::Time;
use linkpool_workload::FlowPriority;
use linkpool_workload::kinds::TraceFormat;

use crate::quoted;
pub use htsim::Failure;

/// A flow as its file says it.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Where it stands.
    pub at: At,
    /// Its name in the file.
    pub id: String,
    /// The host that sends, as the file names it.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Bytes.
    pub size: u64,
    /// When it starts, or how long after the flows that must be over.
    pub start: Time,
    /// Ids of flows that must be over.
    pub after: Vec<String>,
    /// How many of them; `None`: all.
    pub enough: Option<u32>,
    /// Of all its packets; `None`: that of its transport.
    pub priority: Option<FlowPriority>,
}

/// A place in a file, as it follows the name of the file in messages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum At {
    /// The file as a whole.
    File,
    /// A line, from 1.
    Line(usize),
    /// A row of a table, from 0, as libraries for tables count.
    Row(usize),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::File => Ok(()),
            At::Line(line) => write!(f, ":{line}"),
            At::Row(row) => write!(f, ", row {row}"),
        }
    }
}

/// The place of an error, and a message.
pub type Wrong = (At, String);

/// What a file of flows says.
#[derive(Debug, Default)]
pub struct Read {
    /// The flows, in order.
    pub rows: Vec<Row>,
    /// Links that are down from the start, with their places.
    pub failures: Vec<(At, Failure)>,
    /// The number of hosts for which the file is made, if it says so, with its place.
    pub hosts: Option<(At, usize)>,
}

impl From<Vec<Row>> for Read {
    fn from(rows: Vec<Row>) -> Read {
        Read { rows, ..Read::default() }
    }
}

/// Reads a file of flows in `format`.
///
/// # Errors
///
/// The place, and a message that says what would be right.
pub fn read(bytes: Vec<u8>, format: TraceFormat) -> Result<Read, Wrong> {
    if format == TraceFormat::Parquet {
        return parquet::read(bytes).map(Read::from);
    }
    let text = crate::text(bytes).map_err(|why| (At::File, why))?;
    match format {
        TraceFormat::Csv => csv::read(&text).map(Read::from),
        TraceFormat::JsonLines => json_lines::read(&text).map(Read::from),
        TraceFormat::Hpcc => hpcc::read(&text).map(Read::from),
        TraceFormat::Htsim | TraceFormat::Parquet => htsim::read(&text),
    }
}

/// Numbered lines that say something, without comments behind `#`.
fn lines(text: &str) -> impl Iterator<Item = (At, &str)> {
    let lines = (1..).zip(text.lines()).map(|(n, line)| (At::Line(n), line.split('#').next().unwrap_or("").trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

fn size(text: &str, at: At) -> Result<u64, Wrong> {
    let size = text.parse().ok().filter(|size| *size > 0);
    size.ok_or_else(|| (at, format!("{} is no size: a whole number of bytes above zero", quoted(text))))
}

fn priority(text: &str, at: At) -> Result<Option<FlowPriority>, Wrong> {
    match text {
        "" => Ok(None),
        "low" => Ok(Some(FlowPriority::Low)),
        "high" => Ok(Some(FlowPriority::High)),
        _ if matches!(text.as_bytes(), [b'0'..=b'7']) => Ok(Some(FlowPriority::Number(text.as_bytes()[0] - b'0'))),
        _ => {
            let known = "\"high\", \"low\", 0 to 7, or nothing for that of the transport";
            Err((at, format!("{} is no priority: {known}", quoted(text))))
        }
    }
}

/// The time that `text`, at `at`, says in seconds.
///
/// # Errors
///
/// The place, and a message, if it is none.
pub fn seconds(text: &str, at: At) -> Result<Time, Wrong> {
    let good = text.parse::<f64>().ok().filter(|s| (0.0..=1e6).contains(s));
    good.map(Time::from_secs_f64)
        .ok_or_else(|| (at, format!("{} is no time in seconds, from 0 to 1000000", quoted(text))))
}
