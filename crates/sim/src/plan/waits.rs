//! Which flows wait for which.

use crate::plan::planned::PlannedFlow;
use std::collections::HashMap;

/// Who waits for whom, by numbers of flows.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Those that wait for a flow.
    followers: HashMap<u32, Vec<u32>>,
    /// For how many flows one waits, and what it is.
    needs: HashMap<u32, (u32, PlannedFlow)>,
}

impl Waits {
    /// From pairs of flows, of which the second waits for the first; with it, what the second is. Of some flows, how many of those
    /// that they wait for are enough.
    pub(crate) fn new(pairs: &[(u32, (u32, PlannedFlow))], enough: &HashMap<u32, u32>) -> Waits {
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
    pub fn waits(&self, flow: u32) -> bool {
        self.needs.contains_key(&flow)
    }

    /// Those that wait for `flow`.
    pub fn followers(&self, flow: u32) -> &[u32] {
        self.followers.get(&flow).map_or(&[], Vec::as_slice)
    }

    /// For how many flows `flow` waits, and what it is, if it waits.
    pub fn needs(&self, flow: u32) -> Option<(u32, PlannedFlow)> {
        self.needs.get(&flow).copied()
    }
}
