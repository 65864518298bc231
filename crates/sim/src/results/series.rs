//! The tables of time series; `docs/results.md` documents their columns.

use crate::plan::Plan;
use crate::results::sample::{Sample, Value};
use crate::results::table::{Kind, Table};
use linkpool_network::LinkId;
use parquet::errors::Result;
use std::path::Path;

/// The time series that the scenario asks for, written as they are sampled.
pub(crate) struct SeriesTables<'p> {
    plan: &'p Plan,
    link_names: Vec<String>,
    queue: Option<Table>,
    cwnd: Option<Table>,
    rate: Option<Table>,
    rtt: Option<Table>,
    counters: Option<Table>,
}

impl<'p> SeriesTables<'p> {
    pub(crate) fn create(directory: &Path, plan: &'p Plan) -> Result<SeriesTables<'p>> {
        use Kind::{Bool, F64, I64, Text, U32};
        let create = |wanted: bool, name: &str, columns: &[(&str, Kind)]| {
            wanted.then(|| Table::create(&directory.join(name), columns)).transpose()
        };
        let record = &plan.record;
        let queue = [("time_s", F64), ("link", Text), ("queue_pkts", U32), ("queue_bytes", I64)];
        let cwnd = [
            ("time_s", F64),
            ("flow", U32),
            ("subflow", U32),
            ("cwnd_pkts", F64),
            ("ssthresh_pkts", F64),
            ("srtt_s", F64),
            ("suppressed", Bool),
        ];
        let rate = [("time_s", F64), ("flow", U32), ("subflow", U32), ("goodput_bps", F64)];
        let rtt = [("time_s", F64), ("flow", U32), ("subflow", U32), ("rtt_s", F64)];
        let counters = [
            ("time_s", F64),
            ("link", Text),
            ("packets", I64),
            ("bytes", I64),
            ("drops", I64),
            ("drops_down", I64),
            ("drops_loss", I64),
            ("marks", I64),
            ("utilisation", F64),
        ];
        Ok(SeriesTables {
            plan,
            link_names: (0..plan.fabric.links().len()).map(|l| plan.fabric.link_name(l as LinkId)).collect(),
            queue: create(record.queue.is_some(), "queue.parquet", &queue)?,
            cwnd: create(record.cwnd.is_some(), "cwnd.parquet", &cwnd)?,
            rate: create(record.rate.is_some(), "rate.parquet", &rate)?,
            rtt: create(record.rtt.is_some(), "rtt.parquet", &rtt)?,
            counters: create(record.counters.is_some(), "counters.parquet", &counters)?,
        })
    }

    pub(crate) fn push(&mut self, Sample { at: time, value }: Sample) -> Result<()> {
        let at = time.secs().into();
        match value {
            Value::Queue { link, packets, bytes } => {
                let name = self.link_names[link as usize].as_str();
                self.queue.as_mut().map(|t| t.push([at, name.into(), packets.into(), bytes.into()]))
            }
            Value::Cwnd { flow, subflow, cwnd, ssthresh, srtt, suppressed } => {
                let ssthresh = ssthresh.is_finite().then_some(ssthresh);
                let row =
                    [at, flow.into(), subflow.into(), cwnd.into(), ssthresh.into(), srtt.into(), suppressed.into()];
                self.cwnd.as_mut().map(|t| t.push(row))
            }
            Value::Rate { flow, subflow, goodput } => {
                self.rate.as_mut().map(|t| t.push([at, flow.into(), subflow.into(), goodput.into()]))
            }
            Value::Rtt { flow, subflow, rtt } => {
                self.rtt.as_mut().map(|t| t.push([at, flow.into(), subflow.into(), rtt.secs().into()]))
            }
            Value::Counters { link, since, packets, bytes, rare } => {
                let rate = self.plan.fabric.links()[link as usize].rate;
                let could = |by| self.plan.changes.capacity(link, rate, by);
                let could = could(time) - could(since);
                let row = [
                    at,
                    self.link_names[link as usize].as_str().into(),
                    packets.into(),
                    bytes.into(),
                    rare.drops.into(),
                    rare.drops_down.into(),
                    rare.drops_loss.into(),
                    rare.marks.into(),
                    (could > 0.0).then(|| 8.0 * bytes as f64 / could).into(),
                ];
                self.counters.as_mut().map(|t| t.push(row))
            }
        }
        .unwrap_or(Ok(())) // of what is not wanted there are no samples
    }

    pub(crate) fn close(self) -> Result<()> {
        [self.queue, self.cwnd, self.rate, self.rtt, self.counters].into_iter().flatten().try_for_each(Table::close)
    }
}
