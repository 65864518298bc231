//! The tables of time series; `docs/results.md` documents their columns.

use crate::plan::Plan;
use crate::sampling::{Sample, Value};
use crate::table::{Kind, Table};
use linkpool_network::LinkId;
use parquet::errors::Result;
use std::path::Path;

/// The time series that the scenario asks for, written as they are sampled.
pub(crate) struct SeriesTables {
    link_names: Vec<String>,
    queue: Option<Table>,
    cwnd: Option<Table>,
    rate: Option<Table>,
}

impl SeriesTables {
    pub(crate) fn create(directory: &Path, plan: &Plan) -> Result<SeriesTables> {
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
        Ok(SeriesTables {
            link_names: (0..plan.fabric.links().len()).map(|l| plan.fabric.link_name(l as LinkId)).collect(),
            queue: create(record.queue.is_some(), "queue.parquet", &queue)?,
            cwnd: create(record.cwnd.is_some(), "cwnd.parquet", &cwnd)?,
            rate: create(record.rate.is_some(), "rate.parquet", &rate)?,
        })
    }

    pub(crate) fn push(&mut self, Sample { at, value }: Sample) -> Result<()> {
        let at = at.secs().into();
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
        }
        .unwrap_or(Ok(())) // of what is not wanted there are no samples
    }

    pub(crate) fn close(self) -> Result<()> {
        [self.queue, self.cwnd, self.rate].into_iter().flatten().try_for_each(Table::close)
    }
}
