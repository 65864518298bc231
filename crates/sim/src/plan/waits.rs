//! Flows that wait for the ends of other flows.

use crate::plan::ids::FlowId;
use crate::plan::planned::PlannedFlow;
use linkpool_units::Time;
use linkpool_workload::kinds::WaitsFor;
use std::collections::HashMap;

/// A flow that waits for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follower {
    /// Its number.
    pub flow: FlowId,
    /// The event of the other for which it waits.
    pub on: WaitsFor,
    /// From that event until the wait is over.
    pub delay: Time,
}

/// Which flows wait for which.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// By flow: the flows that wait for it.
    followers: HashMap<FlowId, Vec<Follower>>,
    /// By flow that waits: the number of flows that it waits for, and the flow itself.
    needs: HashMap<FlowId, (u32, PlannedFlow)>,
}

impl Waits {
    /// From pairs: the second flow, which is given with its plan, waits for the first. For some
    /// flows it is `enough` that fewer flows end than they wait for.
    pub(crate) fn new(pairs: &[(FlowId, (Follower, PlannedFlow))], enough: &HashMap<FlowId, u32>) -> Waits {
        let mut waits = Waits::default();
        for (first, (second, planned)) in pairs {
            waits.followers.entry(*first).or_default().push(*second);
            waits.needs.entry(second.flow).or_insert((0, *planned)).0 += 1;
        }
        for (flow, n) in enough {
            waits.needs.entry(*flow).and_modify(|needs| needs.0 = *n);
        }
        waits
    }

    /// Does no flow wait for another?
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// Does `flow` wait for others?
    pub fn waits(&self, flow: FlowId) -> bool {
        self.needs.contains_key(&flow)
    }

    /// The flows that wait for `flow`.
    pub fn followers(&self, flow: FlowId) -> &[Follower] {
        self.followers.get(&flow).map_or(&[], Vec::as_slice)
    }

    /// The number of flows that `flow` waits for, and `flow` itself; none if it waits for none.
    pub fn needs(&self, flow: FlowId) -> Option<(u32, PlannedFlow)> {
        self.needs.get(&flow).copied()
    }
}
