//! Resolves `[record]`: intervals, labels, and whether the packets of transports can be recorded.

use linkpool_settings::{Names, nearest};
use linkpool_units::Time;

use super::Period;
use super::section::Section;
use super::settings::table;
use crate::model::{Record, Series, Transport};

/// The series and packets to record; `labels` are those of all workloads, if they are known.
pub(super) fn resolve(
    names: &dyn Names,
    period: Option<Period>,
    labels: Option<&[String]>,
    transports: &[Option<Transport>],
    top: &mut Section<'_, '_>,
) -> Record {
    let mut record: Record = table("record", names, top);
    let Some(Period { end, .. }) = period.filter(|_| top.has("record")) else { return record };
    top.within("record", |section| {
        if let Some(queue) = &mut record.queue {
            section.within("queue", |section| complete(queue.from, &mut queue.until, end, section));
        }
        let series = [("cwnd", &mut record.cwnd), ("rate", &mut record.rate), ("rtt", &mut record.rtt)];
        for (key, series) in series.into_iter().filter_map(|(key, series)| Some((key, series.as_mut()?))) {
            section.within(key, |section| {
                check_labels(series, labels, section);
                complete(series.from, &mut series.until, end, section);
            });
        }
        if let Some(counters) = &mut record.counters {
            section.within("counters", |section| {
                complete(counters.from, &mut counters.until, end, section);
                let (every, from, until) = (counters.every, counters.from, counters.until);
                let message = format!("{every} is longer than from `from`, {from}, to `until`, {until}");
                section.check(from.saturating_add(every) <= until, "every", message);
            });
        }
        if let Some(pauses) = &mut record.pauses {
            section.within("pauses", |section| complete(pauses.from, &mut pauses.until, end, section));
        }
        if let Some(capture) = &mut record.capture {
            if capture.packets {
                check_headers(transports, section);
            }
            section.within("capture", |section| complete(capture.from, &mut capture.until, end, section));
        }
    });
    record
}

/// There are headers for the packets of all transports.
fn check_headers(transports: &[Option<Transport>], section: &mut Section<'_, '_>) {
    for t in transports.iter().flatten() {
        let why = match t.control.family().facts().captures {
            false => format!("`control = {:?}`", t.control.name()),
            true if t.trimming => "`trimming = true`".to_string(),
            true => continue,
        };
        let message = format!(
            "packets of transport {:?} ({why}) cannot be captured; leave `capture` out, or write packets = false in it for pause \
             frames alone",
            t.name
        );
        section.error("capture", message);
    }
}

fn check_labels(series: &Series, labels: Option<&[String]>, section: &mut Section<'_, '_>) {
    let (Some(asked), Some(labels)) = (&series.labels, labels) else { return };
    for (i, label) in asked.iter().enumerate().filter(|(_, label)| !labels.contains(label)) {
        let hint = nearest(label, labels.iter().map(String::as_str));
        section.error(&format!("labels.{i}"), format!("no workload has the label {label:?}; {hint}"));
    }
}

/// A series ends with the run, unless it says when.
fn complete(from: Time, until: &mut Time, end: Time, section: &mut Section<'_, '_>) {
    if !section.has("until") {
        *until = end;
    }
    if from >= end {
        section.error("from", format!("{from} is not before the end of the run at {end}"));
    } else if from >= *until {
        let key = if section.has("until") { "until" } else { "from" };
        section.error(key, format!("records nothing: `until`, {until}, must be after `from`, {from}"));
    }
}
