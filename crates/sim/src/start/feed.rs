//! Hands the flows of the plan to their hosts, a while before they start.

use crate::host::endpoint::key;
use crate::host::hosts::Hosts;
use crate::plan::flows::Merged;
use crate::start::agenda::Notice;
use linkpool_network::NodeId;
use linkpool_units::Time;
use std::iter::{Enumerate, Peekable};

/// Flows to look at at a time.
const AT_ONCE: usize = 1024;

/// What is still to be handed out in a part of the network. Each part draws all flows, and keeps its own.
#[derive(Debug)]
pub(crate) struct Feed<'p> {
    flows: Peekable<Enumerate<Merged<'p>>>,
    /// Of every host: is it of this part?
    mine: Vec<bool>,
}

impl<'p> Feed<'p> {
    pub(crate) fn new(flows: Merged<'p>, mine: Vec<bool>) -> Feed<'p> {
        Feed { flows: flows.enumerate().peekable(), mine }
    }
}

impl Hosts<'_> {
    /// Hands out the next flows, at least those that start soon after `now`, and sets the time for those after them. Flows that
    /// wait for others start when these are over.
    pub(crate) fn feed(&mut self, now: Time) -> Vec<(NodeId, Time, Notice)> {
        let mut out = Vec::new();
        let Some(node) = self.feed.mine.iter().position(|mine| *mine) else { return out };
        // A notice takes a lookahead.
        let ahead = self.lookahead * 2;
        let mut looked_at = 0;
        while let Some((id, planned)) = self.feed.flows.next() {
            let (id, host) = (id as u32, planned.flow.src);
            if self.feed.mine[usize::from(host)] && !self.plan.waits.waits(id) {
                out.push((host.into(), planned.flow.start, Notice::Start(id, planned)));
            }
            looked_at += 1;
            let next = self.feed.flows.peek().map_or(Time::MAX, |(_, next)| next.flow.start);
            if looked_at >= AT_ONCE && next > now + ahead {
                if next < Time::MAX {
                    self.timers[node].push(next - ahead, key::FEED);
                }
                break;
            }
        }
        out
    }
}
