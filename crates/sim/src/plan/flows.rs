//! The flows that are known before a run, in order of start: listed flows, and flows that are drawn
//! when they are needed.

use crate::plan::ids::{FlowId, LabelId, TransportId};
use crate::plan::planned::{PlannedFlow, by_size};
use linkpool_units::Time;
use linkpool_workload::kinds::Draw;
use std::iter::Peekable;

/// The flows that are known before a run; their places are their numbers.
#[derive(Debug, Default)]
pub struct Flows {
    /// In order of start.
    pub(crate) listed: Vec<PlannedFlow>,
    pub(crate) drawn: Vec<Drawn>,
    /// None starts at or after this.
    pub(crate) end: Time,
    len: usize,
}

/// The flows of a workload that are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) source: Box<dyn Draw>,
    pub(crate) transport: TransportId,
    pub(crate) small: Option<(u64, TransportId)>,
    pub(crate) label: LabelId,
}

impl Iterator for Drawn {
    type Item = PlannedFlow;

    fn next(&mut self) -> Option<PlannedFlow> {
        let flow = self.source.next()?;
        Some(PlannedFlow { flow, transport: by_size(self.small, flow.size, self.transport), label: self.label })
    }
}

impl Flows {
    /// `listed` is in order of start, and of labels where flows start together.
    pub(crate) fn new(listed: Vec<PlannedFlow>, drawn: Vec<Drawn>, end: Time) -> Flows {
        let mut flows = Flows { listed, drawn, end, len: 0 };
        flows.len = flows.iter().count();
        flows
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of them, in order of number.
    pub fn iter(&self) -> Merged<'_> {
        let drawn = self.drawn.iter().map(|drawn| drawn.clone().peekable()).collect();
        Merged { listed: &self.listed, drawn, end: self.end }
    }

    /// The numbers of the listed flows.
    pub(crate) fn numbers_of_listed(&self) -> Vec<FlowId> {
        let (mut all, mut numbers) = (self.iter(), Vec::with_capacity(self.listed.len()));
        for number in FlowId::first(self.len) {
            let left = all.listed.len();
            if left == 0 || all.next().is_none() {
                break;
            }
            numbers.extend((all.listed.len() < left).then_some(number));
        }
        numbers
    }
}

/// Flows in order of start, and at one time in the order of their workloads.
#[derive(Debug)]
pub struct Merged<'f> {
    listed: &'f [PlannedFlow],
    drawn: Vec<Peekable<Drawn>>,
    end: Time,
}

impl Iterator for Merged<'_> {
    type Item = PlannedFlow;

    fn next(&mut self) -> Option<PlannedFlow> {
        // No two workloads have a label in common.
        let order = |f: &PlannedFlow| (f.flow.start, f.label);
        let mut first = self.listed.first().map(order);
        let mut from = None;
        for (i, drawn) in self.drawn.iter_mut().enumerate() {
            if let Some(other) = drawn.peek().map(order)
                && first.is_none_or(|first| other < first)
            {
                (first, from) = (Some(other), Some(i));
            }
        }
        let flow = match from {
            Some(i) => self.drawn[i].next(),
            None => self.listed.split_off_first().copied(),
        };
        flow.filter(|f| f.flow.start < self.end)
    }
}
