//! Records the counters of flows and links at the ends of the measured period.

use crate::host::component::{Component, Context};
use crate::host::measured::Acked;
use crate::host::timer;
use crate::plan::Plan;
use crate::results::outcome::MeasuredLink;
use linkpool_network::{Egress, LinkId, Network, NodeId, OnWire};
use linkpool_scenario::Measure;
use linkpool_units::Time;

/// Watches the ends of the measured period.
#[derive(Debug)]
pub(crate) struct Period<'p> {
    plan: &'p Plan,
    /// By link.
    sent: Vec<Sent>,
}

/// What a link had put on the wire by both ends of the period.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    /// By the end of the warm-up; none before that.
    by_warm_up: Option<OnWire>,
    /// By the cut-off; none before that.
    by_cut_off: Option<OnWire>,
}

impl<'p> Period<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Period<'p> {
        let by_warm_up = (plan.measure.warm_up == Time::ZERO).then_some(OnWire::default());
        Period { plan, sent: vec![Sent { by_warm_up, by_cut_off: None }; plan.fabric.links().len()] }
    }

    /// The links for which this partition queues packets.
    fn my_links(&self, context: &Context) -> impl Iterator<Item = LinkId> {
        LinkId::first(self.plan.fabric.links().len()).filter(|link| context.queues_for(*link))
    }
}

impl Component for Period<'_> {
    fn on_start(&mut self, context: &mut Context) {
        let Measure { warm_up, cut_off } = self.plan.measure;
        for at in [warm_up, cut_off].into_iter().filter(|at| *at > Time::ZERO && *at < self.plan.end) {
            for node in NodeId::first(self.plan.fabric.nodes()) {
                if context.is_mine(node) {
                    context.set_timer(node, at, timer::PERIOD);
                }
            }
        }
    }

    fn on_timer(&mut self, node: NodeId, key: u64, network: &mut Egress, context: &mut Context) {
        if timer::kind(key) != timer::PERIOD {
            return;
        }
        let (period, now) = (&self.plan.measure, context.now);
        for (_, sending) in context.hosts.get_mut(node.index()).into_iter().flat_map(|host| host.senders()) {
            sending.measured.note(period, Acked::of(&sending.end), now);
        }
        for link in self.plan.fabric.links_from(node) {
            let (_, on_wire) = network.counters(link, now);
            let sent = &mut self.sent[link.index()];
            if now == period.warm_up {
                sent.by_warm_up = Some(on_wire);
            }
            if now == period.cut_off {
                sent.by_cut_off = Some(on_wire);
            }
        }
    }

    fn on_end(&mut self, network: &mut Network, context: &mut Context) {
        let now = context.now;
        let measured = self.my_links(context).map(|link| {
            let Sent { by_warm_up, by_cut_off } = self.sent[link.index()];
            let mut by_end = || by_cut_off.unwrap_or_else(|| network.link_outcome(link, now).1);
            (link, by_warm_up.map(|before| MeasuredLink::between(before, by_end())).unwrap_or_default())
        });
        let measured: Vec<(LinkId, MeasuredLink)> = measured.collect();
        context.record().measured_links = measured;
    }
}
