//! Records the round-trip times of flows as their senders measure them.

use crate::plan::FlowId;
use crate::results::sample::{Sample, Value};
use crate::results::sink::Buffer;
use linkpool_scenario::Series;
use linkpool_transport::SubflowId;
use linkpool_units::Time;

/// Records the RTTs of one flow.
#[derive(Debug)]
pub(crate) struct RttRecorder {
    buffer: Buffer,
    every: Time,
    until: Time,
    /// By subflow: earlier samples are not recorded.
    next: Box<[Time]>,
}

impl RttRecorder {
    pub(crate) fn new(series: &Series, subflows: usize, buffer: Buffer) -> RttRecorder {
        let next = vec![series.from; subflows].into();
        RttRecorder { buffer, every: series.every, until: series.until, next }
    }

    #[cold]
    pub(crate) fn record(&mut self, (flow, subflow): (FlowId, SubflowId), now: Time, rtt: Time) {
        let next = &mut self.next[subflow];
        if now >= *next && now <= self.until {
            *next = now + self.every;
            let value = Value::Rtt { flow, subflow, rtt };
            self.buffer.sample([Sample { at: now, value }]);
        }
    }
}
