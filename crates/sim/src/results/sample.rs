//! Rows of time series.

use crate::plan::FlowId;
use crate::results::timeline::RankEvent;
use linkpool_network::{LinkId, OnWire, PauseChange, RareEvents};
use linkpool_transport::SubflowId;
use linkpool_units::Time;
use linkpool_workload::serving::Step;

/// A row of a time series.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// The value.
    pub value: Value,
}

/// The sampled object.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Length of a queue.
    Queue {
        /// The link whose queue it is.
        link: LinkId,
        /// Packets, counted as the queue's policy counts.
        packets: u32,
        /// All bytes not yet on the wire.
        bytes: u64,
    },
    /// Window of a subflow.
    Cwnd {
        /// Index of the flow.
        flow: FlowId,
        /// Index of the subflow.
        subflow: SubflowId,
        /// Congestion window, packets.
        cwnd: f64,
        /// Slow start threshold, packets; infinite: unlimited.
        ssthresh: f64,
        /// Smoothed RTT in seconds, once known.
        srtt: Option<f64>,
        /// Is it kept from sending new data?
        suppressed: bool,
    },
    /// Payload acknowledged on a subflow in the interval that ends now.
    Rate {
        /// Index of the flow.
        flow: FlowId,
        /// Index of the subflow.
        subflow: SubflowId,
        /// bit/s.
        goodput: f64,
    },
    /// A round-trip time that a sender has measured.
    Rtt {
        /// Index of the flow.
        flow: FlowId,
        /// Index of the subflow.
        subflow: SubflowId,
        /// From a segment to its ACK.
        rtt: Time,
    },
    /// The counters of a link over the interval that ends now.
    Counters {
        /// The link.
        link: LinkId,
        /// When the interval began.
        since: Time,
        /// Packets accepted for transmission.
        packets: u64,
        /// Bytes put on the wire: the whole ones of the run so far that had not been counted.
        bytes: u64,
        /// The same with parts of bytes.
        sent: OnWire,
        /// Counters of rarer events; apart, as samples of all kinds take the room of the largest.
        rare: Box<RareEvents>,
        /// For how long the port was paused, where neighbours pause it.
        paused: Option<Time>,
    },
    /// A pause of a port begins, goes on, or ends.
    Pause(PauseChange),
    /// Something happens to a rank.
    Rank(RankEvent),
    /// A step of a decode instance is over, or the run is.
    Step(DecodeStep),
}

/// A step of a decode instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeStep {
    /// Place of the model in the plan.
    pub served: u32,
    /// The decode instance.
    pub instance: u32,
    /// Its number and its batch.
    pub step: Step,
    /// When it began.
    pub start: Time,
    /// For how long the instance has computed for it, or computes when the run ends.
    pub computed: Time,
    /// Is it over?
    pub over: bool,
}

impl Sample {
    /// The order of rows: by time, and at one time by the sampled object. It does not depend on
    /// which thread samples.
    pub(crate) fn order(&self) -> (Time, u8, u32, u64) {
        match self.value {
            Value::Queue { link, .. } => (self.at, 0, link.into(), 0),
            Value::Cwnd { flow, subflow, .. } => (self.at, 1, flow.into(), u32::from(subflow).into()),
            Value::Rate { flow, subflow, .. } => (self.at, 2, flow.into(), u32::from(subflow).into()),
            Value::Rtt { flow, subflow, .. } => (self.at, 3, flow.into(), u32::from(subflow).into()),
            Value::Counters { link, .. } => (self.at, 4, link.into(), 0),
            Value::Pause(change) => (self.at, 5, change.link.into(), change.priority.into()),
            // Events of a rank at one time have their order.
            Value::Rank(RankEvent { programs, rank, number, .. }) => {
                (self.at, 6, programs, u64::from(rank) << 32 | u64::from(number))
            }
            Value::Step(DecodeStep { served, instance, step, .. }) => {
                (self.at, 7, served, u64::from(instance) << 32 | u64::from(step.number))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up to 65,536 of them wait for each thread.
    #[test]
    fn a_sample_is_small() {
        assert_eq!(size_of::<Sample>(), 96);
    }

    /// By time, then by the kind of the series, then by link, or by flow and subflow.
    #[test]
    fn samples_have_one_order() {
        let (zero, one) = (SubflowId::new(0), SubflowId::new(1));
        let rate = |at, flow, subflow| Sample {
            at: Time(at),
            value: Value::Rate { flow: FlowId::new(flow), subflow, goodput: 0.0 },
        };
        let queue =
            |at, link| Sample { at: Time(at), value: Value::Queue { link: LinkId::new(link), packets: 0, bytes: 0 } };
        let sorted = [
            queue(1, 2),
            queue(1, 9),
            rate(1, 0, one),
            rate(1, 3, zero),
            rate(1, 3, one),
            queue(2, 0),
            rate(2, 0, zero),
        ];
        assert!(sorted.windows(2).all(|two| two[0].order() < two[1].order()));
    }
}
