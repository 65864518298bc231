//! Flows that wait for others.

use crate::host::hosts::Hosts;
use crate::plan::PlannedFlow;
use crate::start::agenda::Notice;
use linkpool_network::NodeId;
use linkpool_units::Time;
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

    pub(crate) fn waits(&self, flow: u32) -> bool {
        self.needs.contains_key(&flow)
    }
}

impl Hosts<'_> {
    /// Flow `id` from `src` to `dst` is over at `here`: all data has arrived, if this is `dst`, or is acknowledged, if it is `src`.
    /// A follower learns of it at the host that it starts from, or else a notice after the arrival.
    pub(crate) fn tell_followers(&mut self, id: u32, (src, dst): (u16, u16), here: u16, now: Time) {
        let Some(followers) = self.plan.waits.followers.get(&id) else { return };
        for follower in followers {
            let Some((_, planned)) = self.plan.waits.needs.get(follower) else { continue };
            let home = planned.flow.src;
            if home == here {
                self.one_less(*follower, now);
            } else if here == dst && home != src {
                self.notices.push((home.into(), now + self.lookahead, Notice::Over(id, *follower)));
            }
        }
    }

    /// One of the flows that `flow` waits for is over, as its sender knows now.
    pub(crate) fn one_less(&mut self, flow: u32, now: Time) {
        let Some((needed, mut planned)) = self.plan.waits.needs.get(&flow).copied() else { return };
        let host = NodeId::from(planned.flow.src);
        let done = self.agendas[host as usize].done.entry(flow).or_insert(0);
        *done += 1;
        if *done == needed {
            planned.flow.start = now.saturating_add(planned.flow.start);
            if planned.flow.start < self.plan.last_start {
                self.enter(host, planned.flow.start, Notice::Start(flow, planned));
            }
        }
    }
}
