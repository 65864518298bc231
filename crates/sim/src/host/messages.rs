//! Messages on a connection that stays open: at its sender, those that are not acknowledged; at its
//! receiver, those that have not been delivered whole.

use crate::host::measured::Acked;
use crate::plan::{FlowId, PlannedFlow};
use linkpool_transport::{Metric, SubflowStats};
use std::collections::VecDeque;

/// A message at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// Its number in the results.
    pub(crate) flow: FlowId,
    pub(crate) planned: PlannedFlow,
    /// Its end in the connection's stream.
    pub(crate) end: u64,
}

impl Outgoing {
    /// Its size: a message has an end.
    pub(crate) fn size(&self) -> u64 {
        self.planned.flow.size.unwrap_or(0)
    }
}

/// The messages of a connection at its sender.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Those that are not acknowledged, in order.
    waiting: VecDeque<Outgoing>,
    /// The end of the last one.
    end: u64,
    /// The number of those that the adapter of its host has taken in, if they pass it: the first
    /// ones.
    pub(crate) inside: usize,
    /// The totals of the connection at the end of the last message that is acknowledged.
    pub(crate) before: Totals,
}

/// What a connection has done so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) subflows: Vec<SubflowStats>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) measured: Acked,
}

impl Messages {
    /// Adds a message at the end, and returns where it ends.
    pub(crate) fn push(&mut self, flow: FlowId, planned: PlannedFlow) -> u64 {
        let mut message = Outgoing { flow, planned, end: 0 };
        self.end += message.size();
        message.end = self.end;
        self.waiting.push_back(message);
        self.end
    }

    /// Is the first message acknowledged, if all before `acked` is?
    #[inline]
    pub(crate) fn is_due(&self, acked: u64) -> bool {
        self.waiting.front().is_some_and(|message| message.end <= acked)
    }

    /// Those that are not acknowledged, in order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Outgoing> {
        self.waiting.iter()
    }

    /// Takes the first message out.
    pub(crate) fn pop(&mut self) -> Option<Outgoing> {
        self.inside = self.inside.saturating_sub(1);
        self.waiting.pop_front()
    }

    /// The adapter takes in the next message, if it holds fewer than `most`. Returns its size.
    pub(crate) fn take_in(&mut self, most: usize) -> Option<u64> {
        let next = self.waiting.get(self.inside).filter(|_| self.inside < most)?;
        self.inside += 1;
        Some(next.size())
    }

    /// May the adapter take in one more, if it holds `most` at most?
    pub(crate) fn may_enter(&self, most: usize) -> bool {
        self.inside < self.waiting.len().min(most)
    }
}

impl Totals {
    /// What has been done since `before`. A point in time stays what it is.
    pub(crate) fn since(&self, before: &Totals) -> Totals {
        let mut done = self.clone();
        for (subflow, before) in done.subflows.iter_mut().zip(&before.subflows) {
            *subflow = subflow.since(before);
        }
        for metric in done.metrics.iter_mut().filter(|metric| metric.unit.is_empty()) {
            let before = before.metrics.iter().find(|before| before.name == metric.name);
            metric.value -= before.map_or(0.0, |before| before.value);
        }
        done.measured.in_order -= before.measured.in_order;
        done.measured.on_subflows -= before.measured.on_subflows;
        done
    }
}

/// The messages of a connection at its receiver: an application knows what it is to be sent.
#[derive(Debug, Default)]
pub(crate) struct Arriving {
    /// Where each ends in the stream, and its number, in order.
    expected: VecDeque<(u64, FlowId)>,
}

impl Arriving {
    /// A message ends at `end`.
    pub(crate) fn expect(&mut self, end: u64, flow: FlowId) {
        let place = self.expected.partition_point(|(other, _)| *other < end);
        self.expected.insert(place, (end, flow));
    }

    /// Takes out the first message, if it has been delivered whole: all before `delivered` has.
    pub(crate) fn take(&mut self, delivered: u64) -> Option<FlowId> {
        let is_here = self.expected.front().is_some_and(|(end, _)| *end <= delivered);
        is_here.then(|| self.expected.pop_front()).flatten().map(|(_, flow)| flow)
    }
}

/// A message that a connection to this host will carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Announced {
    /// The connection: the number of its first message.
    pub(crate) connection: FlowId,
    /// The message.
    pub(crate) flow: FlowId,
    /// Its end in the stream.
    pub(crate) end: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LabelId, TransportId};
    use linkpool_units::HostId;
    use linkpool_units::Time;
    use linkpool_workload::Flow;

    fn planned(size: u64) -> PlannedFlow {
        let flow = Flow::new((HostId::new(0), HostId::new(1)), Some(size), Time::ZERO);
        PlannedFlow { flow, transport: TransportId::new(0), label: LabelId::new(0) }
    }

    /// Messages of 100 and 50 bytes end at 100 and 150; an ACK of 120 ends the first.
    #[test]
    fn messages_are_ranges_of_the_stream() {
        let mut messages = Messages::default();
        let [a, b] = [FlowId::new(7), FlowId::new(9)];
        assert_eq!((messages.push(a, planned(100)), messages.push(b, planned(50))), (100, 150));
        assert!(!messages.is_due(99) && messages.is_due(120));
        assert_eq!(messages.pop().map(|message| message.flow), Some(a));
        assert!(!messages.is_due(120) && messages.is_due(150));
        let mut arriving = Arriving::default();
        arriving.expect(150, b);
        arriving.expect(100, a);
        assert_eq!(
            [arriving.take(99), arriving.take(200), arriving.take(200), arriving.take(200)],
            [None, Some(a), Some(b), None]
        );
    }

    /// 5 segments after the first message, 12 after the second: the second has 7.
    #[test]
    fn a_message_has_what_its_connection_did_since_the_last() {
        let totals = |segments: u64, switched: u64| Totals {
            subflows: vec![SubflowStats { segments, established: Some(Time(3)), ..SubflowStats::default() }],
            metrics: vec![Metric::count("suppressions", segments), Metric::time("switch", Time::from_secs(switched))],
            measured: Acked { in_order: 10 * segments, on_subflows: 20 * segments },
        };
        let second = totals(12, 4).since(&totals(5, 4));
        assert_eq!((second.subflows[0].segments, second.subflows[0].established), (7, Some(Time(3))));
        assert_eq!(second.metrics.iter().map(|metric| metric.value).collect::<Vec<_>>(), [7.0, 4.0]);
        assert_eq!(second.measured, Acked { in_order: 70, on_subflows: 140 });
        assert_eq!(totals(5, 4).since(&Totals::default()).subflows[0].segments, 5);
    }
}
