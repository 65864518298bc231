//! The summary of a run, computed from the tables that it has written.
//!
//! `python/linkpool/summary.py` says what each field means. Tables of flows and of round-trip times may be long: a
//! column at a time is in memory, with the group of each row.

mod flows;
mod groups;
mod links;
mod statistics;

use crate::results::read::{TableFile, general};
use flows::{FctStats, Group, Period};
use groups::{Groups, Name};
use links::Links;
use parquet::errors::Result;
use serde::Serialize;
use statistics::{MEDIAN, P90, P99, Sample, mean, percentiles};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Statistics of one run.
#[derive(Serialize, Debug)]
struct Summary {
    period_start_s: f64,
    period_end_s: f64,
    overall: Group,
    groups: Vec<Group>,
    workloads: Vec<Distribution>,
    jobs: Vec<JobStats>,
    requests: Vec<RequestStats>,
    rtts: Vec<RttStats>,
    #[serde(flatten)]
    links: Links,
}

/// The sizes and load of a workload.
#[derive(Serialize, Debug)]
struct Distribution {
    label: Name,
    kind: Name,
    transport: Name,
    sizes: Name,
    interpolation: Name,
    mean_bytes: Option<f64>,
    load: Option<f64>,
    not_started: Option<i64>,
}

/// Jobs of one label and kind.
#[derive(Serialize, Debug)]
struct JobStats {
    label: Name,
    kind: Name,
    left_out: usize,
    jobs: usize,
    not_started: i64,
    jct: FctStats,
}

/// Requests to a model of one label.
#[derive(Serialize, Debug)]
struct RequestStats {
    label: Name,
    left_out: usize,
    requests: usize,
    answered: usize,
    ttft: FctStats,
    tpot: FctStats,
}

/// Round-trip times of the measured flows of one transport and locality.
#[derive(Serialize, Debug)]
struct RttStats {
    transport: Name,
    locality: Name,
    samples: usize,
    mean_s: Option<f64>,
    p50_s: f64,
    p90_s: f64,
    p99_s: f64,
    max_s: Option<f64>,
}

/// Computes the summary of the run in `directory`, as JSON. The measured period is from `start_s` to `end_s`; jobs that had
/// not finished count as old as they were when the run ended, at `ran_until_s`.
///
/// # Errors
/// A table is missing or damaged, lacks a column, or holds what no run writes; in words, with its name.
pub fn summarise(
    directory: &Path,
    (start_s, end_s): (f64, f64),
    ran_until_s: f64,
) -> std::result::Result<String, String> {
    let links = of_table(directory, "links", Links::of)?;
    let (links, access_bps) = links;
    let period = Period { start_s, end_s, access_bps };
    let mut groups = of_table(directory, "flows", |table| flows::groups(table, period))?;
    let overall = groups.remove(0);
    let summary = Summary {
        period_start_s: start_s,
        period_end_s: end_s,
        overall,
        groups,
        workloads: of_table(directory, "workloads", workloads)?,
        jobs: if_there(directory, "jobs", |table| jobs(table, ran_until_s))?,
        requests: if_there(directory, "requests", |table| requests(table, ran_until_s))?,
        rtts: if_there(directory, "rtt", |table| {
            let flows = TableFile::open(&directory.join("flows.parquet"))?;
            rtts(table, &flows)
        })?,
        links,
    };
    serde_json::to_string_pretty(&summary).map_err(|error| error.to_string())
}

fn of_table<T>(
    directory: &Path,
    name: &str,
    work: impl FnOnce(&TableFile) -> Result<T>,
) -> std::result::Result<T, String> {
    let table = TableFile::open(&directory.join(format!("{name}.parquet")));
    table.and_then(|table| work(&table)).map_err(|error| format!("{name}.parquet: {error}"))
}

fn if_there<T: Default>(
    directory: &Path,
    name: &str,
    work: impl FnOnce(&TableFile) -> Result<T>,
) -> std::result::Result<T, String> {
    if directory.join(format!("{name}.parquet")).exists() { of_table(directory, name, work) } else { Ok(T::default()) }
}

fn workloads(table: &TableFile) -> Result<Vec<Distribution>> {
    let names = |column| table.column::<str, Name>(column, |name| name.map(str::to_string));
    let texts = [names("label")?, names("kind")?, names("transport")?, names("sizes")?, names("interpolation")?];
    let numbers = |column| table.column::<f64, _>(column, |number| number);
    let (means, loads) = (numbers("mean_bytes")?, numbers("load")?);
    let not_started = table.column::<i64, _>("not_started", |count| count)?;
    let row = |row: usize| {
        let [label, kind, transport, sizes, interpolation] = std::array::from_fn(|i| texts[i][row].clone());
        let (mean_bytes, load, not_started) = (means[row], loads[row], not_started[row]);
        Distribution { label, kind, transport, sizes, interpolation, mean_bytes, load, not_started }
    };
    Ok((0..table.rows()).map(row).collect())
}

fn jobs(table: &TableFile, ran_until_s: f64) -> Result<Vec<JobStats>> {
    let groups = Groups::read(table, ["label", "kind"])?;
    let measured = table.column::<bool, _>("measured", |measured| measured == Some(true))?;
    let started = table.column::<f64, _>("start_s", |start| start)?;
    let not_started = table.column::<i64, _>("not_started", Option::unwrap_or_default)?;
    let took = table.column::<f64, _>("jct_s", |time| time)?;
    let of_group = |(number, [label, kind]): (u32, [Name; 2])| {
        let rows: Vec<usize> = (0..table.rows()).filter(|row| groups.of[*row] == number).collect();
        let counted: Vec<usize> = rows.iter().copied().filter(|row| measured[*row]).collect();
        let so_far = |row: usize| started[row].map(|start| (ran_until_s - start, true));
        let times = counted.iter().filter_map(|row| took[*row].map(|time| (time, false)).or_else(|| so_far(*row)));
        JobStats {
            label,
            kind,
            left_out: rows.len() - counted.len(),
            jobs: counted.len(),
            not_started: rows.iter().map(|row| not_started[*row]).sum(),
            jct: FctStats::of(Sample::new(times)),
        }
    };
    Ok((0..).zip(groups.names.clone()).map(of_group).collect())
}

fn requests(table: &TableFile, ran_until_s: f64) -> Result<Vec<RequestStats>> {
    let groups = Groups::read(table, ["label"])?;
    let measured = table.column::<bool, _>("measured", |measured| measured == Some(true))?;
    let tokens = table.column::<i64, _>("output_tokens", Option::unwrap_or_default)?;
    let numbers = |column| table.column::<f64, _>(column, |number| number);
    let (arrived, first, end) = (numbers("arrival_s")?, numbers("first_token_s")?, numbers("end_s")?);
    let (ttft, tpot) = (numbers("ttft_s")?, numbers("tpot_s")?);
    let of_group = |(number, [label]): (u32, [Name; 1])| {
        let rows: Vec<usize> = (0..table.rows()).filter(|row| groups.of[*row] == number).collect();
        let counted: Vec<usize> = rows.iter().copied().filter(|row| measured[*row]).collect();
        let waited = |row: usize| arrived[row].map(|arrival| (ran_until_s - arrival, true));
        let first_tokens =
            counted.iter().filter_map(|row| ttft[*row].map(|time| (time, false)).or_else(|| waited(*row)));
        // Without a first token the time has not begun.
        let so_far =
            |row: usize| (first[row].map_or(0.0, |first| ran_until_s - first) / (tokens[row] - 1) as f64, true);
        let several = counted.iter().filter(|row| tokens[**row] > 1);
        let each_token = several.map(|row| tpot[*row].map_or_else(|| so_far(*row), |time| (time, false)));
        RequestStats {
            label,
            left_out: rows.len() - counted.len(),
            requests: counted.len(),
            answered: counted.iter().filter(|row| end[**row].is_some()).count(),
            ttft: FctStats::of(Sample::new(first_tokens)),
            tpot: FctStats::of(Sample::new(each_token)),
        }
    };
    Ok((0..).zip(groups.names.clone()).map(of_group).collect())
}

fn rtts(table: &TableFile, flows: &TableFile) -> Result<Vec<RttStats>> {
    let groups = Groups::read(flows, ["transport", "locality"])?;
    let measured = flows.column::<bool, _>("measured", |measured| measured == Some(true))?;
    let mut group_of = HashMap::new();
    flows.each::<u32>("flow", |row, flow| {
        if let Some(flow) = flow.filter(|_| measured[row]) {
            group_of.insert(flow, groups.of[row]);
        }
    })?;
    let of_sample = table.column::<u32, _>("flow", |flow| flow.and_then(|flow| group_of.get(&flow).copied()))?;
    let mut samples: BTreeMap<&[Name; 2], Vec<f64>> = BTreeMap::new();
    let mut finite = true;
    table.each::<f64>("rtt_s", |row, rtt| {
        if let Some((group, rtt)) = of_sample[row].zip(rtt) {
            finite &= rtt.is_finite();
            samples.entry(&groups.names[group as usize]).or_default().push(rtt);
        }
    })?;
    if !finite {
        return Err(general("a sample must hold finite numbers only".to_string()));
    }
    let stats = |([transport, locality], mut times): (&[Name; 2], Vec<f64>)| {
        times.sort_unstable_by(f64::total_cmp);
        let [p50_s, p90_s, p99_s] = percentiles(&times, [MEDIAN, P90, P99])?;
        let (transport, locality) = (transport.clone(), locality.clone());
        let (mean_s, max_s) = (mean(&times), times.last().copied());
        Some(RttStats { transport, locality, samples: times.len(), mean_s, p50_s, p90_s, p99_s, max_s })
    };
    Ok(samples.into_iter().filter_map(stats).collect())
}
