//! Resolves `[record]`: links, intervals and labels.

use std::collections::HashSet;

use linkpool_network::Fabric;
use linkpool_units::Time;

use super::section::Section;
use super::{Known, Period};
use crate::errors::Report;
use crate::file::{CounterSeriesTable, QueueSeriesTable, RecordTable, SeriesTable};
use crate::model::{CounterRecord, QueueRecord, Record, SeriesRecord};
use crate::names::{closest, nearest};
use crate::source::Path;

pub(super) fn resolve(
    table: RecordTable,
    known: &Known<'_>,
    labels: Option<&[String]>,
    report: &mut Report<'_>,
) -> Option<Record> {
    let path = Path::default().at("record");
    let queue = table.queue.map(|table| queue(table, known, &mut Section::new(report, path.at("queue"))));
    let cwnd = table.cwnd.map(|table| series(table, known, labels, &mut Section::new(report, path.at("cwnd"))));
    let rate = table.rate.map(|table| series(table, known, labels, &mut Section::new(report, path.at("rate"))));
    let rtt = table.rtt.map(|table| series(table, known, labels, &mut Section::new(report, path.at("rtt"))));
    let counters = table.counters.map(|table| counters(table, known, &mut Section::new(report, path.at("counters"))));
    Some(Record { queue: all(queue)?, cwnd: all(cwnd)?, rate: all(rate)?, rtt: all(rtt)?, counters: all(counters)? })
}

/// A missing series is no error; a wrong one is.
fn all<T>(series: Option<Option<T>>) -> Option<Option<T>> {
    series.map_or(Some(None), |series| series.map(Some))
}

fn queue(table: QueueSeriesTable, known: &Known<'_>, section: &mut Section<'_, '_>) -> Option<QueueRecord> {
    let samples = samples(table.every, table.from, table.until, known.period, section);
    let links = section.required("links", table.links, "[\"S1->W\"]")?;
    section.check(!links.is_empty(), "links", "names no link; write for example links = [\"S1->W\"]");
    let links = resolve_links(&links, known.fabric?, section)?;
    let Samples { every, from, until } = samples?;
    Some(QueueRecord { links, every, from, until })
}

fn counters(table: CounterSeriesTable, known: &Known<'_>, section: &mut Section<'_, '_>) -> Option<CounterRecord> {
    let samples = samples(table.every, table.from, table.until, known.period, section);
    let resolve = |links: Vec<String>| {
        section.check(!links.is_empty(), "links", "names no link; leave it out to record all");
        resolve_links(&links, known.fabric?, section)
    };
    let links = all(table.links.map(resolve))?;
    let Samples { every, from, until } = samples?;
    let good = from.saturating_add(every) <= until;
    section.check(good, "every", format!("{every} is longer than from `from`, {from}, to `until`, {until}"));
    Some(CounterRecord { links, every, from, until })
}

/// Directed links; `A<->B` are two.
pub(super) fn resolve_links(
    links: &[String],
    fabric: &Fabric,
    section: &mut Section<'_, '_>,
) -> Option<Vec<(String, String)>> {
    let name = |node| fabric.name(node).to_string();
    let all: Vec<(String, String)> = fabric.links().iter().map(|l| (name(l.from), name(l.to))).collect();
    let known: HashSet<&(String, String)> = all.iter().collect();
    let mut resolved = Vec::new();
    for (i, text) in links.iter().enumerate() {
        let both = text.contains("<->");
        let text = text.replace("<->", "->");
        let ends = text.split_once("->").map(|(from, to)| (from.trim().to_string(), to.trim().to_string()));
        let Some((from, to)) = ends.filter(|ends| known.contains(ends)) else {
            section.error(&format!("links.{i}"), no_such_link(&text, &all));
            continue;
        };
        resolved.push((from.clone(), to.clone()));
        resolved.extend(both.then_some((to, from)));
    }
    section.is_good().then_some(resolved)
}

/// Says which links there are at the node that was probably meant.
pub(super) fn no_such_link(text: &str, all: &[(String, String)]) -> String {
    let Some((from, to)) = text.split_once("->") else {
        let (from, to) = &all[0];
        return format!("{text:?} is no link; links are written FROM->TO, as in \"{from}->{to}\"");
    };
    let (from, to) = (from.trim(), to.trim());
    let mut nodes: Vec<&str> = all.iter().map(|(from, _)| from.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for end in [from, to] {
        if !nodes.contains(&end) {
            let meant = closest(end, &nodes).map(|meant| format!(", did you mean {meant}?")).unwrap_or_default();
            return format!("no host or switch is named {end:?}{meant}");
        }
    }
    let mut neighbours: Vec<&str> = all.iter().filter(|(at, _)| at == from).map(|(_, to)| to.as_str()).collect();
    let more = if neighbours.len() > 8 { ", ..." } else { "" };
    neighbours.truncate(8);
    format!("there is no link from {from} to {to}; {from} is linked to {}{more}", neighbours.join(", "))
}

fn series(
    table: SeriesTable,
    known: &Known<'_>,
    labels: Option<&[String]>,
    section: &mut Section<'_, '_>,
) -> Option<SeriesRecord> {
    let samples = samples(table.every, table.from, table.until, known.period, section);
    if let Some(asked) = &table.labels {
        section.check(!asked.is_empty(), "labels", "names no label; leave it out to record all flows");
    }
    if let (Some(asked), Some(labels)) = (&table.labels, labels) {
        for (i, label) in asked.iter().enumerate().filter(|(_, label)| !labels.contains(label)) {
            let hint = nearest(label, labels.iter().map(String::as_str));
            section.error(&format!("labels.{i}"), format!("no workload has the label {label:?}; {hint}"));
        }
    }
    let Samples { every, from, until } = samples?;
    Some(SeriesRecord { every, from, until, labels: table.labels })
}

struct Samples {
    every: Time,
    from: Time,
    until: Time,
}

fn samples(
    every: Option<Time>,
    from: Option<Time>,
    until: Option<Time>,
    period: Option<Period>,
    section: &mut Section<'_, '_>,
) -> Option<Samples> {
    let every = section.required_positive("every", every, "\"10us\"");
    if let Some(every) = every {
        section.span("every", every);
    }
    let Period { end, .. } = period?;
    let from = from.unwrap_or(Time::ZERO);
    let until = until.unwrap_or(end);
    if from >= end {
        section.error("from", format!("{from} is not before the end of the run at {end}"));
    } else if from >= until {
        let key = if section.has("until") { "until" } else { "from" };
        section.error(key, format!("records nothing: `until`, {until}, must be after `from`, {from}"));
    }
    Some(Samples { every: every?, from, until })
}
