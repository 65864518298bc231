//! Flows one by one.

use std::collections::HashSet;
use std::sync::Arc;

use linkpool_settings::{HostName, Names, NoNames, Written, Wrong, settings};
use linkpool_units::{Bytes, HostId, Time, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Expected, Pairs, Place, Run, Setting, SizesOf, Wait, Workload};
use crate::flow::{Flow, FlowPriority};

/// A trace has a rate of arrivals if its senders have so many flows each, on average: with fewer,
/// as in a permutation or an incast, what arrives between the first and the last start says
/// nothing about a load that lasts.
const FLOWS_OF_A_SENDER: usize = 10;

settings! {
    /// Flows one by one, from a file or written here; each may wait for others.
    pub struct Trace {
        /// A file of flows, relative to the scenario's directory. Either this or `flows` is
        /// required.
        file: Option<String> = None;
        /// The format of `file`. It is required with `file`.
        format: Option<TraceFormat> = None, when |t| t.file.is_some() => "a trace with a `file`";
        /// The SHA-256 of `file`, in hex: another file is an error. Results have it, and not the
        /// flows of the file.
        sha256: Option<String>, from |_t| None => "that of `file`", when |t| t.file.is_some() => "a trace with a `file`";
        /// The flows themselves. Either this or `file` is required.
        flows: Arc<Vec<TraceFlow>> as TraceRows, from |_t| Arc::default() => "those of `file`",
            when |t| t.file.is_none() => "a trace without a `file`";
        /// The treatment of flows that would start at or after `duration`: `"drop"`.
        beyond_end: Option<BeyondEnd>, from |_t| None => "they are an error";
    }
}

/// The format of a file of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// With a header: src, dst, size_bytes, start_s, and perhaps id, after, priority and tag.
    Csv,
    /// An object a line, with the columns of a CSV file as its keys.
    JsonLines,
    /// A table with the columns of a CSV file.
    Parquet,
    /// As the simulator of HPCC reads it: src dst class port bytes seconds.
    Hpcc,
    /// A connection matrix of htsim (.cm).
    Htsim,
}

/// The treatment of flows of a trace that would start at or after `duration`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BeyondEnd {
    /// They do not start, and results count them.
    Drop,
}

/// One flow of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceFlow {
    /// Sending host.
    pub from: HostId,
    /// Receiving host.
    pub to: HostId,
    /// Payload, bytes.
    pub size: u64,
    /// The start, counted from the start of the workload or from the end of the last flow that it
    /// waits for.
    pub start: Time,
    /// The flows that it waits for, by their places in the list.
    pub after: Vec<u32>,
    /// How many of these must be over.
    pub enough: u32,
    /// Its priority; `None`: that of its transport.
    pub priority: Option<FlowPriority>,
}

/// One flow of a trace, as a scenario writes it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TraceFlow")]
pub struct TraceRow {
    /// Sending host.
    from: HostName,
    /// Receiving host.
    to: HostName,
    /// Payload.
    size: Bytes,
    /// After the start of the workload; with `after`, after the last of these. Default: "0s".
    start: Option<Time>,
    /// Flows that must be over, by their places in the list, from 0. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<u32>,
    /// How many of these must be over. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    enough: Option<u32>,
    /// The priority of all its packets: "low", "high", or 0 to 7. Default: that of the transport.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<FlowPriority>,
}

/// The flows of a trace, as a scenario writes them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct TraceRows(Vec<TraceRow>);

impl TraceRow {
    fn of(flow: &TraceFlow, name: impl Fn(HostId) -> HostName) -> TraceRow {
        let TraceFlow { from, to, size, start, after, enough, priority } = flow;
        TraceRow {
            from: name(*from),
            to: name(*to),
            size: Bytes(*size),
            start: Some(*start),
            after: after.clone(),
            enough: (*enough < after.len() as u32).then_some(*enough),
            priority: *priority,
        }
    }

    /// The flow; there are so many `flows`.
    fn flow(self, flows: usize, names: &dyn Names) -> Result<TraceFlow, Wrong> {
        let host = |name: &HostName, key: &str| names.host(name).map_err(|why| Wrong::at(key, why));
        let (from, to) = (host(&self.from, "from")?, host(&self.to, "to")?);
        if from == to {
            return Err(Wrong::at("to", "a flow goes from one host to another"));
        }
        if self.size == Bytes(0) {
            return Err(Wrong::at("size", "must be above zero"));
        }
        if let Some((j, after)) = self.after.iter().enumerate().find(|(_, after)| **after as usize >= flows) {
            let message = format!("there is no flow {after}; they are numbered from 0 to {}", flows - 1);
            return Err(Wrong::at(format!("after.{j}"), message));
        }
        let start = self.start.unwrap_or(Time::ZERO);
        if start > Time::LONGEST {
            return Err(Wrong::at("start", format!("{start} is too long; at most {}", Time::LONGEST)));
        }
        let all = self.after.len() as u32;
        let enough = self.enough.unwrap_or(all);
        if self.enough.is_some() && !(1..=all).contains(&enough) {
            let right = if all == 1 { String::new() } else { format!("write 1 to {all}, or ") };
            let message = format!("{enough}, but `after` has {}; {right}leave it out", counted(all, "flow"));
            return Err(Wrong::at("enough", message));
        }
        Ok(TraceFlow { from, to, size: self.size.0, start, after: self.after, enough, priority: self.priority })
    }
}

impl Written<Arc<Vec<TraceFlow>>> for TraceRows {
    fn of(value: &Arc<Vec<TraceFlow>>) -> TraceRows {
        TraceRows(value.iter().map(|flow| TraceRow::of(flow, |host| HostName::of(&host))).collect())
    }

    fn value(self) -> Arc<Vec<TraceFlow>> {
        self.find(&NoNames).unwrap_or_default()
    }

    fn with_names(value: &Arc<Vec<TraceFlow>>, names: &dyn Names) -> TraceRows {
        TraceRows(value.iter().map(|flow| TraceRow::of(flow, |host| HostName::with_names(&host, names))).collect())
    }

    fn find(self, names: &dyn Names) -> Result<Arc<Vec<TraceFlow>>, Vec<Wrong>> {
        let count = self.0.len();
        let (mut flows, mut wrong) = (Vec::with_capacity(count), Vec::new());
        for (i, row) in self.0.into_iter().enumerate() {
            match row.flow(count, names) {
                Ok(flow) => flows.push(flow),
                Err(Wrong { at, message }) => wrong.push(Wrong::at(format!("{i}.{}", at.unwrap_or_default()), message)),
            }
        }
        if wrong.is_empty() { Ok(Arc::new(flows)) } else { Err(wrong) }
    }
}

impl Trace {
    /// Why a flow that waits for itself is wrong.
    pub const WAITS_FOR_ITSELF: &'static str = "waits for itself, through the flows for which it waits";

    /// A flow that waits for itself, if there is one.
    pub fn circle(flows: &[TraceFlow]) -> Option<usize> {
        let mut waits: Vec<u32> = flows.iter().map(|flow| flow.enough).collect();
        let mut followers = vec![Vec::new(); flows.len()];
        for (i, flow) in flows.iter().enumerate() {
            flow.after.iter().for_each(|a| followers[*a as usize].push(i));
        }
        let mut free: Vec<usize> = (0..flows.len()).filter(|i| waits[*i] == 0).collect();
        while let Some(i) = free.pop() {
            for next in &followers[i] {
                // Ends beyond `enough` change nothing.
                if waits[*next] == 1 {
                    free.push(*next);
                }
                waits[*next] = waits[*next].saturating_sub(1);
            }
        }
        waits.iter().position(|waits| *waits > 0)
    }

    /// Flows that start by themselves start before `duration`, or may be dropped; not all are. Of
    /// the others this is not known before the run.
    fn check_in_time(&self, key: &str, place: &mut Place<'_>) {
        let duration = place.duration;
        let starts = self.flows.iter().filter(|flow| flow.after.is_empty()).map(|flow| place.after(1, flow.start));
        let (late, first, last) = starts.fold((0, u128::MAX, 0), |(late, first, last), at| {
            (late + u64::from(at >= duration.0.into()), at.min(first), at.max(last))
        });
        if late == 0 || first >= duration.0.into() {
            return place.check_in_time(if late == 0 { 0 } else { first }, key, "the first of its flows");
        }
        let last = Time(u64::try_from(last).unwrap_or(u64::MAX));
        let all = counted(self.flows.len(), "flow");
        let message = format!(
            "{late} of its {all} would start at or after `duration`, {duration}, the last at {last}: raise `duration`, or write beyond_end = \"drop\" to leave them out"
        );
        place.check(self.beyond_end.is_some(), key, message);
    }
}

impl Workload for Trace {
    /// The scenario has read the flows of a file already.
    fn complete(&mut self, place: &mut Place<'_>) {
        let key = if place.has("file") { "file" } else { "flows" };
        if place.has("file") == place.has("flows") {
            return place.check(false, "file", "a trace has either a `file` of flows or `flows` written here");
        }
        if let Some(i) = Trace::circle(&self.flows) {
            place.check(false, &format!("flows.{i}.after"), Trace::WAITS_FOR_ITSELF);
        }
        if let Some((i, flow)) = self.flows.iter().enumerate().find(|(_, flow)| flow.priority.is_some()) {
            place.check_priority(
                &if key == "file" { "file".to_string() } else { format!("flows.{i}.priority") },
                flow.priority,
            );
        }
        place.check_few_flows(key, self.flows.len() as u64);
        place.check(!self.flows.is_empty(), key, "a trace has at least one flow");
        self.check_in_time(key, place);
    }

    fn expected(&self, _: &Setting) -> Expected {
        // As many at the same time as start at the same instant.
        let mut starts: Vec<Time> = self.flows.iter().map(|flow| flow.start).collect();
        starts.sort_unstable();
        let at_once = starts.chunk_by(|a, b| a == b).map(<[Time]>::len).max().unwrap_or(0) as f64;
        let bytes = self.flows.iter().map(|flow| flow.size as f64).sum();
        Expected { flows: self.flows.len() as f64, at_once, listed: true, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        let flow = |f: &TraceFlow| {
            let start = if f.after.is_empty() { run.start + f.start } else { f.start };
            Flow { priority: f.priority, ..Flow::new((f.from, f.to), Some(f.size), start) }
        };
        let mut demand = Demand { listed: self.flows.iter().map(flow).collect(), ..Demand::default() };
        for (i, flow) in (0..).zip(self.flows.iter()) {
            demand.waits.extend(flow.after.iter().map(|before| Wait::for_end(*before, i)));
            demand.enough.extend(((flow.enough as usize) < flow.after.len()).then_some((i, flow.enough)));
        }
        demand
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::listed("trace", self.flows.iter().map(|flow| flow.size))
    }

    fn listed(&self) -> Option<u32> {
        Some(self.flows.len() as u32)
    }

    /// That from its first start to its last. Without [`FLOWS_OF_A_SENDER`], or where flows wait
    /// for others, it has none.
    fn arrival_rate(&self) -> Option<f64> {
        let (first, last) = self
            .flows
            .iter()
            .fold((Time::MAX, Time::ZERO), |(first, last), flow| (first.min(flow.start), last.max(flow.start)));
        let senders: HashSet<HostId> = self.flows.iter().map(|flow| flow.from).collect();
        let arrive = self.flows.len() >= FLOWS_OF_A_SENDER * senders.len()
            && self.flows.iter().all(|flow| flow.after.is_empty())
            && first < last;
        arrive.then(|| (self.flows.len() - 1) as f64 / (last - first).secs())
    }

    fn bytes_between(&self) -> Option<Vec<(HostId, HostId, u64)>> {
        Some(self.flows.iter().map(|flow| (flow.from, flow.to, flow.size)).collect())
    }

    fn pairs(&self, _: u32) -> Pairs {
        Pairs::Listed(self.flows.iter().map(|flow| (flow.from, flow.to)).collect())
    }
}
