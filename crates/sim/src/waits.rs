//! Flows that wait for others.

use crate::agenda::Notice;
use crate::hosts::Hosts;
use linkpool_network::NodeId;
use linkpool_units::Time;
use std::collections::HashMap;

/// Who waits for whom, by numbers of flows.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Those that wait for a flow.
    followers: HashMap<u32, Vec<u32>>,
    /// For how many flows one waits.
    needs: HashMap<u32, u32>,
}

impl Waits {
    /// From pairs of flows, of which the second waits for the first, and of some flows how many of these are enough.
    pub(crate) fn new(pairs: &[(u32, u32)], enough: &HashMap<u32, u32>) -> Waits {
        let mut waits = Waits::default();
        for (first, second) in pairs {
            waits.followers.entry(*first).or_default().push(*second);
            *waits.needs.entry(*second).or_default() += 1;
        }
        waits.needs.extend(enough);
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
            let home = self.plan.flows[*follower as usize].flow.src;
            if home == here {
                self.one_less(*follower, now);
            } else if here == dst && home != src {
                self.notices.push((home.into(), now + self.lookahead, Notice::Over(id, *follower)));
            }
        }
    }

    /// One of the flows that `flow` waits for is over, as its sender knows now.
    pub(crate) fn one_less(&mut self, flow: u32, now: Time) {
        let mut planned = self.plan.flows[flow as usize];
        let host = NodeId::from(planned.flow.src);
        let needed = self.plan.waits.needs.get(&flow).copied().unwrap_or(0);
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
