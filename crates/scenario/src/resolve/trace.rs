//! Flows one by one, each of which may wait for others.

use std::collections::HashMap;

use linkpool_network::Fabric;
use linkpool_units::{Bytes, Time};

use super::entry::Entry;
use super::included;
use super::trace_formats::{self, Row};
use crate::file::{TraceFlowTable, TraceFormat, TraceTable};
use crate::model::{TraceFlow, WorkloadKind};
use crate::quote::quoted;

const FOR_ITSELF: &str = "waits for itself, through the flows for which it waits";

pub(super) fn trace(table: &TraceTable, entry: &mut Entry<'_, '_, '_>) -> Option<WorkloadKind> {
    let flows = match (&table.file, &table.flows) {
        (Some(file), None) => from_file(file, table.format, entry)?,
        (None, Some(flows)) => {
            let message = "is that of `file`, which is not given; leave it out";
            entry.section.check(table.format.is_none(), "format", message);
            let flow = |(i, flow)| written_here(i, flow, flows.len(), entry);
            let flows =
                flows.iter().enumerate().map(flow).collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
            if let Some(i) = entry.section.is_good().then(|| circle(&flows)).flatten() {
                entry.section.error(&format!("flows.{i}.after"), FOR_ITSELF);
            }
            flows
        }
        (None, None) if entry.section.has("file") || entry.section.has("flows") => return None, // It could not be read.
        _ => {
            entry.section.error("file", "a trace has either a `file` of flows or `flows` written here");
            return None;
        }
    };
    let key = if table.file.is_some() { "file" } else { "flows" };
    entry.few_flows(key, flows.len() as u64);
    entry.section.check(!flows.is_empty(), key, "a trace has at least one flow");
    let drop_beyond_end = table.beyond_end.is_some();
    check_in_time(&flows, drop_beyond_end, key, entry);
    entry.section.is_good().then_some(WorkloadKind::Trace { flows, drop_beyond_end })
}

/// Flows that start by themselves start before `duration`, or may be dropped; not all are. Of the
/// others this is not known before the run.
fn check_in_time(flows: &[TraceFlow], may_drop: bool, key: &str, entry: &mut Entry<'_, '_, '_>) {
    let Some(duration) = entry.duration() else { return };
    let starts = flows.iter().filter(|flow| flow.after.is_empty()).map(|flow| entry.after(1, flow.start));
    let (late, first, last) = starts.fold((0, u128::MAX, 0), |(late, first, last), at| {
        (late + u64::from(at >= duration.0.into()), at.min(first), at.max(last))
    });
    if late == 0 || first >= duration.0.into() {
        return entry.check_in_time(if late == 0 { 0 } else { first }, key, "the first of its flows");
    }
    let last = Time(u64::try_from(last).unwrap_or(u64::MAX));
    let all = flows.len();
    let message = format!(
        "{late} of its {all} flows would start at or after `duration`, {duration}, the last at {last}: raise `duration`, or write beyond_end = \"drop\" to leave them out"
    );
    entry.section.check(may_drop, key, message);
}

fn written_here(i: usize, flow: &TraceFlowTable, flows: usize, entry: &mut Entry<'_, '_, '_>) -> Option<TraceFlow> {
    let from = entry.host(&format!("flows.{i}.from"), Some(&flow.from));
    let to = entry.host(&format!("flows.{i}.to"), Some(&flow.to));
    let (from, to) = (from?, to?);
    entry.section.check(from != to, &format!("flows.{i}.to"), "a flow goes from one host to another");
    entry.section.positive(&format!("flows.{i}.size"), flow.size);
    for (j, after) in flow.after.iter().enumerate() {
        let message = format!("there is no flow {after}; they are numbered from 0 to {}", flows - 1);
        entry.section.check((*after as usize) < flows, &format!("flows.{i}.after.{j}"), message);
    }
    let start = flow.start.unwrap_or(Time::ZERO);
    entry.section.span(&format!("flows.{i}.start"), start);
    let Bytes(size) = flow.size;
    let all = flow.after.len() as u32;
    let enough = flow.enough.unwrap_or(all);
    let message = format!("{enough} of the {all} flows in `after`; write 1 to {all}, or leave it out");
    let good = flow.enough.is_none() || (1..=all).contains(&enough);
    entry.section.check(good, &format!("flows.{i}.enough"), message);
    Some(TraceFlow { from, to, size, start, after: flow.after.clone(), enough })
}

fn from_file(file: &str, format: Option<TraceFormat>, entry: &mut Entry<'_, '_, '_>) -> Option<Vec<TraceFlow>> {
    let format = entry.section.required("format", format, "\"csv\"")?;
    let text = included::read(&entry.section.beside(file));
    let text = text.map_err(|why| entry.section.error("file", format!("{file}: {why}"))).ok()?;
    let rows = match format {
        TraceFormat::Csv => trace_formats::csv(&text),
        TraceFormat::Hpcc => trace_formats::hpcc(&text),
        TraceFormat::Htsim => trace_formats::htsim(&text),
    };
    let fabric = entry.known.fabric?;
    let flows = rows.and_then(|rows| resolve(&rows, fabric, entry));
    flows.map_err(|(line, why)| entry.section.error("file", format!("{file}:{line}: {why}"))).ok()
}

/// Finds the hosts of rows, and the flows for which they wait. An error is its line and a message.
fn resolve(rows: &[Row], fabric: &Fabric, entry: &Entry<'_, '_, '_>) -> Result<Vec<TraceFlow>, (usize, String)> {
    let mut numbers = HashMap::new();
    for (i, row) in (0..).zip(rows) {
        if numbers.insert(row.id.as_str(), i).is_some() {
            return Err((row.line, format!("a second flow has the id {}", quoted(&row.id))));
        }
    }
    let host = |name: &str, line| {
        // A number that is no name is an index.
        let named = fabric.node(name).filter(|node| node.index() < fabric.hosts()).map(u32::from);
        let index = || name.parse().ok().filter(|index: &u32| (*index as usize) < fabric.hosts());
        named.or_else(index).ok_or_else(|| (line, format!("there is no host {}; {}", quoted(name), entry.host_names())))
    };
    let flow = |row: &Row| {
        let (from, to) = (host(&row.from, row.line)?, host(&row.to, row.line)?);
        if from == to {
            return Err((row.line, format!("{} sends to itself", row.from)));
        }
        let missing = |id: &String| (row.line, format!("waits for flow {}, which is not in the file", quoted(id)));
        let after = row.after.iter().map(|id| numbers.get(id.as_str()).copied().ok_or_else(|| missing(id)));
        let after: Vec<u32> = after.collect::<Result<_, _>>()?;
        let enough = row.enough.unwrap_or(after.len() as u32);
        Ok(TraceFlow { from, to, size: row.size, start: row.start, after, enough })
    };
    let flows: Vec<TraceFlow> = rows.iter().map(flow).collect::<Result<_, _>>()?;
    circle(&flows).map_or(Ok(flows), |i| Err((rows[i].line, FOR_ITSELF.to_string())))
}

/// A flow that waits for itself, if there is one.
fn circle(flows: &[TraceFlow]) -> Option<usize> {
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
