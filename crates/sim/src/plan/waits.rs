//! Which flows wait for which.

use crate::plan::ids::FlowId;
use crate::plan::planned::PlannedFlow;
use std::collections::HashMap;

/// Who waits for whom, by numbers of flows.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Those that wait for a flow.
    followers: HashMap<FlowId, Vec<FlowId>>,
    /// For how many flows one waits, and what it is.
    needs: HashMap<FlowId, (u32, PlannedFlow)>,
}

impl Waits {
    /// From pairs of flows, of which the second waits for the first; with it, what the second is. Of some flows, how many of those
    /// that they wait for are enough.
    pub(crate) fn new(pairs: &[(FlowId, (FlowId, PlannedFlow))], enough: &HashMap<FlowId, u32>) -> Waits {
        let mut waits = Waits::default();
        for (first, (second, planned)) in pairs {
            waits.followers.entry(*first).or_default().push(*second);
            waits.needs.entry(*second).or_insert((0, *planned)).0 += 1;
        }
        for (flow, n) in enough {
            waits.needs.entry(*flow).and_modify(|needs| needs.0 = *n);
        }
        waits
    }

    /// Does `flow` wait for others?
    pub fn waits(&self, flow: FlowId) -> bool {
        self.needs.contains_key(&flow)
    }

    /// Those that wait for `flow`.
    pub fn followers(&self, flow: FlowId) -> &[FlowId] {
        self.followers.get(&flow).map_or(&[], Vec::as_slice)
    }

    /// For how many flows `flow` waits, and what it is, if it waits.
    pub fn needs(&self, flow: FlowId) -> Option<(u32, PlannedFlow)> {
        self.needs.get(&flow).copied()
    }
}
