//! Starts the flows that are known before the run: gives each to its host shortly before its start.

use crate::host::component::{Component, Context};
use crate::host::message::Message;
use crate::host::timer;
use crate::plan::{FlowId, Merged, Plan};
use linkpool_network::{Egress, NodeId};
use linkpool_units::Time;
use std::iter::{Enumerate, Peekable};

/// The least number of flows to give out at a time.
const AT_ONCE: usize = 1024;

/// The flows that have not been given out. Each partition draws all flows and keeps its own.
pub(crate) struct Arrivals<'p> {
    plan: &'p Plan,
    flows: Peekable<Enumerate<Merged<'p>>>,
}

impl<'p> Arrivals<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Arrivals<'p> {
        Arrivals { plan, flows: plan.flows.iter().enumerate().peekable() }
    }

    /// Takes the next flows, at least the flows that start soon after `now`, and sets a timer for
    /// the following flows. It leaves out the flows that wait for others.
    fn next(&mut self, context: &mut Context) -> Vec<(NodeId, Time, Message)> {
        let mut out = Vec::new();
        let Some(node) = context.my_hosts().next() else { return out };
        // A message takes a lookahead.
        let ahead = context.lookahead * 2;
        let mut looked_at = 0;
        while let Some((id, planned)) = self.flows.next() {
            let (id, host) = (FlowId::new(id), NodeId::from(planned.flow.src));
            if context.is_mine(host) && !self.plan.waits.waits(id) {
                out.push((host, planned.flow.start, Message::Start(id, planned)));
            }
            looked_at += 1;
            let next = self.flows.peek().map_or(Time::MAX, |(_, next)| next.flow.start);
            if looked_at >= AT_ONCE && next > context.now + ahead {
                if next < Time::MAX {
                    context.set_timer(node, next - ahead, timer::ARRIVALS);
                }
                break;
            }
        }
        out
    }
}

impl Component for Arrivals<'_> {
    fn on_start(&mut self, context: &mut Context) {
        for (host, at, message) in self.next(context) {
            context.leave(host, at, message);
        }
    }

    fn on_timer(&mut self, _: NodeId, key: u64, _: &mut Egress, context: &mut Context) {
        if timer::kind(key) == timer::ARRIVALS {
            for (host, at, message) in self.next(context) {
                context.send(host, at, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::component::Mine;
    use crate::host::slots::Host;
    use crate::results::sink::Buffer;
    use linkpool_engine::stream;
    use linkpool_network::Partitions;
    use linkpool_units::Rate;

    /// The numbers of flows that are given out at the start and at these times, of `count` flows that
    /// start `every` so often; a message takes 3 us.
    fn given_out(every: &str, count: u32, later: &[Time]) -> Vec<usize> {
        let text = format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = 1\nrate = \"10Gbps\"\ndelay = \"2us\"\n[transport.t]\n\
             control = \"reno\"\n[[workload.incast]]\ntransport = \"t\"\nsenders = 1\nreceiver = \"R\"\nsize = \"1KB\"\n\
             every = \"{every}\"\nbursts = {count}\n"
        );
        let plan = Plan::new(&crate::scenario(&text));
        let host = |h| Host::new(stream(1, "host", h), [Rate(1)].into_iter(), 10);
        let mine = Mine::new(&plan.fabric, &Partitions::whole(&plan.fabric), 0);
        let mut context = Context::new((0..2).map(host).collect(), mine, Time::from_us(3), Buffer::default());
        let mut arrivals = Arrivals::new(&plan);
        let mut at = |now| {
            context.now = now;
            arrivals.next(&mut context).len()
        };
        std::iter::once(Time::ZERO).chain(later.iter().copied()).map(&mut at).collect()
    }

    /// A thousand at a time, or all that start before the next could be told.
    #[test]
    fn flows_are_given_out_in_time() {
        let at = [1_018, 2_042].map(Time::from_us);
        assert_eq!(given_out("1us", 3_000, &at), [1_024, 1_024, 952]);
        // By 6 us there are 6,001, and by 9 us all.
        assert_eq!(given_out("1ns", 9_000, &[Time::from_us(3)]), [6_001, 2_999]);
        assert_eq!(given_out("1us", 1_024, &[]), [1_024]);
    }
}
