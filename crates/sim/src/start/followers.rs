//! Starts flows that wait for others.

use crate::host::component::{Component, Context};
use crate::host::message::Message;
use crate::plan::{FlowId, Follower, Plan, PlannedFlow};
use linkpool_network::{HostId, NodeId};
use linkpool_units::Time;
use linkpool_workload::kinds::WaitsFor;
use std::collections::HashMap;

/// The flows that wait for others and start at hosts of this partition.
pub(crate) struct Followers<'p> {
    plan: &'p Plan,
    /// By flow that waits: how many others are over.
    done: HashMap<FlowId, u32>,
}

impl<'p> Followers<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Followers<'p> {
        Followers { plan, done: HashMap::new() }
    }

    /// Flow `id` from `src` to `dst` is over at `here`: all data has arrived, if this is `dst`, or
    /// is acknowledged, if it is `src`. A follower learns of it at the host that it starts from, or
    /// else by a message after the arrival.
    fn tell(&mut self, id: FlowId, (src, dst): (HostId, HostId), here: HostId, context: &mut Context) {
        for follower in self.plan.waits.followers(id).iter().filter(|follower| follower.on == WaitsFor::End) {
            let Some((_, planned)) = self.plan.waits.needs(follower.flow) else { continue };
            let home = planned.flow.src;
            if home == here {
                self.over(id, follower, home, context);
            } else if here == dst && home != src {
                context.send(home.into(), context.now + context.lookahead, Message::Over(id, follower.flow));
            }
        }
    }

    /// The event of flow `id` for which `follower` waits has happened, as is known at its `home`.
    fn over(&mut self, id: FlowId, follower: &Follower, home: HostId, context: &mut Context) {
        if follower.delay == Time::ZERO {
            self.one_less(follower.flow, context);
        } else {
            let at = context.now.saturating_add(follower.delay);
            context.leave(home.into(), at, Message::Over(id, follower.flow));
        }
    }

    /// One of the flows that `flow` waits for is over, as its sender knows now.
    fn one_less(&mut self, flow: FlowId, context: &mut Context) {
        let Some((needed, mut planned)) = self.plan.waits.needs(flow) else { return };
        let done = self.done.entry(flow).or_insert(0);
        *done += 1;
        if *done == needed {
            planned.flow.start = context.now.saturating_add(planned.flow.start);
            if planned.flow.start < self.plan.last_start {
                context.leave(planned.flow.src.into(), planned.flow.start, Message::Start(flow, planned));
            }
        }
    }
}

impl Component for Followers<'_> {
    fn on_message(&mut self, _: NodeId, message: Message, context: &mut Context) -> Option<Message> {
        let Message::Over(_, follower) = message else { return Some(message) };
        self.one_less(follower, context);
        None
    }

    fn on_begin(&mut self, flow: FlowId, planned: &PlannedFlow, context: &mut Context) {
        for follower in self.plan.waits.followers(flow).iter().filter(|follower| follower.on == WaitsFor::Start) {
            self.over(flow, follower, planned.flow.src, context);
        }
    }

    fn on_delivery(&mut self, flow: FlowId, ends: (HostId, HostId), context: &mut Context) {
        self.tell(flow, ends, ends.1, context);
    }

    fn on_flow_end(&mut self, flow: FlowId, planned: &PlannedFlow, finished: bool, context: &mut Context) {
        if finished {
            let (src, dst) = (planned.flow.src, planned.flow.dst);
            self.tell(flow, (src, dst), src, context);
        }
    }
}
