//! What a summary says of flows.

use crate::results::read::{TableFile, general};
use crate::results::summary::groups::{Groups, Name};
use crate::results::summary::statistics::{Bounded, MEDIAN, P90, P99, Sample, jain, mean};
use parquet::errors::Result;
use serde::Serialize;

/// Upper ends of the size classes, bytes; the last class has none.
const SIZES: [i64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// The measured period, in seconds, and the capacity of the links from all hosts, bit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    pub(super) access_bps: f64,
}

impl Period {
    /// Payload in bytes over the length of the period, bit/s.
    fn rate(self, payload: i64) -> Option<f64> {
        let length = self.end_s - self.start_s;
        (length > 0.0).then(|| 8.0 * payload as f64 / length)
    }

    /// Payload in bytes over the capacity of the links from all hosts in the period.
    fn load(self, payload: i64) -> Option<f64> {
        self.rate(payload).filter(|_| self.access_bps > 0.0).map(|rate| rate / self.access_bps)
    }
}

/// Completion times of flows or jobs, in seconds.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(super) struct FctStats {
    finished: usize,
    mean_s: Option<f64>,
    sd_s: Option<f64>,
    p50_s: Option<f64>,
    p90_s: Option<f64>,
    p99_s: Option<f64>,
    max_s: Option<f64>,
    unfinished: usize,
    at_least: Vec<&'static str>,
}

impl FctStats {
    pub(super) fn of(sample: Sample) -> FctStats {
        let (mean, most) = (sample.mean(), sample.max());
        let [p50, p90, p99] = [MEDIAN, P90, P99].map(|percentile| sample.percentile(percentile));
        let named = [("mean_s", mean), ("p50_s", p50), ("p90_s", p90), ("p99_s", p99), ("max_s", most)];
        FctStats {
            finished: sample.count() - sample.unfinished,
            mean_s: value(mean),
            sd_s: sample.deviation(),
            p50_s: value(p50),
            p90_s: value(p90),
            p99_s: value(p99),
            max_s: value(most),
            unfinished: sample.unfinished,
            at_least: bounds(&named),
        }
    }
}

/// FCT slowdowns of the flows of one class of sizes.
#[derive(Clone, PartialEq, Serialize, Debug)]
struct Slowdowns {
    above_bytes: i64,
    upto_bytes: Option<i64>,
    finished: usize,
    mean: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
    unfinished: usize,
    at_least: Vec<&'static str>,
}

impl Slowdowns {
    fn of(above_bytes: i64, upto_bytes: Option<i64>, sample: Sample) -> Slowdowns {
        let (mean, most) = (sample.mean(), sample.max());
        let [p50, p99] = [MEDIAN, P99].map(|percentile| sample.percentile(percentile));
        Slowdowns {
            above_bytes,
            upto_bytes,
            finished: sample.count() - sample.unfinished,
            mean: value(mean),
            p50: value(p50),
            p99: value(p99),
            max: value(most),
            unfinished: sample.unfinished,
            at_least: bounds(&[("mean", mean), ("p50", p50), ("p99", p99), ("max", most)]),
        }
    }
}

fn value(of: Option<Bounded>) -> Option<f64> {
    of.map(|of| of.value)
}

/// The names of those that are lower bounds.
fn bounds(of: &[(&'static str, Option<Bounded>)]) -> Vec<&'static str> {
    let bound = of.iter().filter(|(_, of)| of.is_some_and(|of| of.at_least));
    bound.map(|(name, _)| *name).collect()
}

/// Exact counts of flows.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    left_out: i64,
    flows: i64,
    finished: i64,
    unlimited: i64,
    failed: i64,
    offered: i64,
    delivered: i64,
    timeouts: i64,
    timeouts_max: i64,
    segments: i64,
    retransmits: i64,
    marked_acks: Option<i64>,
    suppressions: i64,
}

/// The measured flows of one transport, congestion control algorithm and label.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(super) struct Group {
    transport: Name,
    control: Name,
    label: Name,
    left_out: i64,
    flows: i64,
    finished: i64,
    unfinished: i64,
    unlimited: i64,
    failed: i64,
    fct: FctStats,
    fct_established: FctStats,
    slowdowns: Vec<Slowdowns>,
    goodput_mean_bps: Option<f64>,
    subflow_goodput_mean_bps: Option<f64>,
    jain: Option<f64>,
    delivered_bps: Option<f64>,
    offered_load: Option<f64>,
    delivered_load: Option<f64>,
    timeouts: i64,
    timeouts_max: i64,
    segments: i64,
    retransmits: i64,
    /// None: not known of some flow.
    marked_acks: Option<i64>,
    suppressions: i64,
}

/// A flow, as far as every statistic needs it.
#[derive(Clone, Copy, Default)]
struct Flow {
    measured: bool,
    /// It has a size.
    sized: bool,
    /// It has a size, and has ended.
    finished: bool,
    /// The number of its class of sizes; none without payload.
    class: Option<u8>,
}

/// All flows, and how they are divided. A run may have millions: no more than a few columns are held at a time.
struct Table<'t> {
    table: &'t TableFile,
    /// The number of the group of each row.
    groups: Vec<u32>,
    /// The rows of all flows together, and of each group.
    rows: Vec<Vec<u32>>,
    flows: Vec<Flow>,
}

/// All flows together, and then by transport, congestion control algorithm and label, in order of their first rows.
pub(super) fn groups(table: &TableFile, period: Period) -> Result<Vec<Group>> {
    let Groups { of, names } = Groups::read(table, ["transport", "control", "label"])?;
    let table = Table::read(table, of, names.len())?;
    let counts = table.counts()?;
    let goodputs = table.own_rates("measured_bytes", "goodput_bps", |rates| (mean(rates), jain(rates)))?;
    let carried = table.own_rates("measured_subflow_bytes", "subflow_goodput_bps", mean)?;
    let active = table.table.column::<f64, _>("active_s", |time| time)?;
    let fct: Vec<_> = table.samples(&table.completed("fct_s", active.clone())?, None).map(FctStats::of).collect();
    let slowdowns: Vec<Vec<Slowdowns>> = {
        let mut so_far = active.clone();
        table.table.each::<f64>("ideal_fct_s", |row, ideal| {
            so_far[row] = so_far[row].zip(ideal).map(|(active, ideal)| (active / ideal).max(1.0));
        })?;
        let slowdowns = table.completed("slowdown", so_far)?;
        let classes = (0..).zip([0].into_iter().chain(SIZES).zip(SIZES.into_iter().map(Some).chain([None])));
        let of_class = |(class, (above, upto))| {
            table.samples(&slowdowns, Some(class)).map(|sample| Slowdowns::of(above, upto, sample)).collect()
        };
        classes.map(of_class).collect()
    };
    let fct_established: Vec<_> = {
        let mut since = active;
        table.table.each::<f64>("start_s", |row, start| {
            since[row] = since[row].zip(start).map(|(active, start)| start + active);
        })?;
        // Without a SYN-ACK the time has not begun.
        table.table.each::<f64>("established_s", |row, established| {
            since[row] = Some(since[row].zip(established).map_or(0.0, |(now, established)| now - established));
        })?;
        table.samples(&table.completed("fct_established_s", since)?, None).map(FctStats::of).collect()
    };
    let together = [Some(String::new()), Some(String::new()), Some(String::new())];
    let names = [together].into_iter().chain(names);
    let group = |(i, [transport, control, label]): (usize, [Name; 3])| {
        let of = counts[i];
        Group {
            transport,
            control,
            label,
            left_out: of.left_out,
            flows: of.flows,
            finished: of.finished,
            unfinished: of.flows - of.finished - of.unlimited,
            unlimited: of.unlimited,
            failed: of.failed,
            fct: fct[i].clone(),
            fct_established: fct_established[i].clone(),
            slowdowns: slowdowns.iter().map(|of_class| of_class[i].clone()).collect(),
            goodput_mean_bps: goodputs[i].0,
            subflow_goodput_mean_bps: carried[i],
            jain: goodputs[i].1,
            delivered_bps: period.rate(of.delivered),
            offered_load: if of.unlimited > 0 { None } else { period.load(of.offered) },
            delivered_load: period.load(of.delivered),
            timeouts: of.timeouts,
            timeouts_max: of.timeouts_max,
            segments: of.segments,
            retransmits: of.retransmits,
            marked_acks: of.marked_acks,
            suppressions: of.suppressions,
        }
    };
    Ok(names.enumerate().map(group).collect())
}

impl Table<'_> {
    /// Of flows that are divided into so many groups, whose numbers are `groups` by row.
    fn read(table: &TableFile, groups: Vec<u32>, count: usize) -> Result<Table<'_>> {
        let mut flows = vec![Flow::default(); groups.len()];
        table.each::<bool>("measured", |row, measured| flows[row].measured = measured == Some(true))?;
        table.each::<i64>("size_bytes", |row, size| {
            flows[row].sized = size.is_some();
            let classes_below = |size: i64| SIZES.iter().filter(|end| size > **end).count() as u8;
            flows[row].class = size.filter(|size| *size > 0).map(classes_below);
        })?;
        table.each::<f64>("end_s", |row, end| flows[row].finished = flows[row].sized && end.is_some())?;
        let mut rows = vec![Vec::new(); count + 1];
        rows[0] = (0..groups.len() as u32).collect();
        for (row, group) in (0..).zip(&groups) {
            rows[*group as usize + 1].push(row);
        }
        Ok(Table { table, groups, rows, flows })
    }

    /// The places of a row: all flows together, and its group.
    fn places(&self, row: usize) -> [usize; 2] {
        [0, self.groups[row] as usize + 1]
    }

    fn counts(&self) -> Result<Vec<Counts>> {
        let none = Counts { marked_acks: Some(0), ..Counts::default() };
        let mut counts = vec![none; self.rows.len()];
        for (row, flow) in self.flows.iter().enumerate() {
            for place in self.places(row) {
                let of = &mut counts[place];
                of.left_out += i64::from(!flow.measured);
                of.flows += i64::from(flow.measured);
                of.finished += i64::from(flow.measured && flow.finished);
                of.unlimited += i64::from(flow.measured && !flow.sized);
            }
        }
        self.table.each::<bool>("failed", |row, failed| {
            let failed = i64::from(self.flows[row].measured && failed == Some(true));
            self.places(row).iter().for_each(|place| counts[*place].failed += failed);
        })?;
        // The kernel does not tell it of flows on the network stack of Linux.
        self.table.each::<i64>("marked_acks", |row, count| {
            for place in self.places(row).into_iter().filter(|_| self.flows[row].measured) {
                let of = &mut counts[place];
                of.marked_acks = of.marked_acks.zip(count).map(|(sum, count)| sum + count);
            }
        })?;
        let mut add = |column, all: bool, to: fn(&mut Counts, i64)| {
            self.table.each::<i64>(column, |row, count| {
                let count = count.filter(|_| all || self.flows[row].measured).unwrap_or_default();
                self.places(row).iter().for_each(|place| to(&mut counts[*place], count));
            })
        };
        add("size_bytes", false, |of, count| of.offered += count)?;
        // What flows that are left out delivered in the period counts.
        add("measured_bytes", true, |of, count| of.delivered += count)?;
        add("segments", false, |of, count| of.segments += count)?;
        add("retransmits", false, |of, count| of.retransmits += count)?;
        add("suppressions", false, |of, count| of.suppressions += count)?;
        add("timeouts", false, |of, count| {
            of.timeouts += count;
            of.timeouts_max = of.timeouts_max.max(count);
        })?;
        Ok(counts)
    }

    /// A statistic of the rates of measured flows, by place: of an unlimited one `payload` over its part of the period.
    fn own_rates<T>(&self, payload: &str, rate: &str, statistic: impl Fn(&[f64]) -> T) -> Result<Vec<T>> {
        let mut rates = self.table.column::<f64, _>("measured_s", |time| time)?;
        self.table.each::<i64>(payload, |row, bytes| {
            rates[row] = bytes.zip(rates[row]).map(|(bytes, time)| 8.0 * bytes as f64 / time);
        })?;
        self.table.each::<f64>(rate, |row, rate| {
            if self.flows[row].sized {
                rates[row] = rate;
            }
        })?;
        let of_place = |rows: &Vec<u32>| {
            let measured = rows.iter().map(|row| *row as usize).filter(|row| self.flows[*row].measured);
            let rates: Vec<f64> = measured.filter_map(|row| rates[row]).collect();
            match rates.iter().find(|rate| !rate.is_finite()) {
                Some(rate) => {
                    Err(general(format!("a sample must hold finite numbers only, and {payload} gives {rate}")))
                }
                None => Ok(statistic(&rates)),
            }
        };
        self.rows.iter().map(of_place).collect()
    }

    /// A column of finished flows, and of unfinished ones the least that it may be, `so_far`; none of others.
    fn completed(&self, value: &str, so_far: Vec<Option<f64>>) -> Result<Vec<Option<f64>>> {
        let mut values = so_far;
        self.table.each::<f64>(value, |row, value| {
            let flow = self.flows[row];
            if flow.finished || !flow.sized {
                values[row] = value.filter(|_| flow.finished);
            }
        })?;
        Ok(values)
    }

    /// The samples of such values of measured flows, by place; of one class of sizes, or of all.
    fn samples(&self, values: &[Option<f64>], class: Option<u8>) -> impl Iterator<Item = Sample> {
        let value = move |row: &u32| {
            let flow = self.flows[*row as usize];
            let counts = flow.measured && (class.is_none() || flow.class == class);
            values[*row as usize].filter(|_| counts).map(|value| (value, !flow.finished))
        };
        self.rows.iter().map(move |rows| Sample::new(rows.iter().filter_map(value)))
    }
}
