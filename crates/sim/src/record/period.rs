//! Notes how far flows are when the measured period begins and ends.

use crate::host::component::{Component, Context};
use crate::host::endpoint::Sending as _;
use crate::host::timer;
use crate::plan::Plan;
use linkpool_network::{Egress, NodeId};
use linkpool_scenario::Measure;
use linkpool_units::Time;

/// Watches the ends of the measured period.
pub(crate) struct Period<'p>(pub(crate) &'p Plan);

impl Component for Period<'_> {
    fn on_start(&mut self, context: &mut Context) {
        let Measure { warm_up, cut_off } = self.0.measure;
        for at in [warm_up, cut_off].into_iter().filter(|at| *at > Time::ZERO && *at < self.0.end) {
            context.my_hosts().for_each(|host| context.set_timer(host, at, timer::PERIOD));
        }
    }

    fn on_timer(&mut self, host: NodeId, key: u64, _: &mut Egress<'_>, context: &mut Context) {
        if timer::kind(key) == timer::PERIOD {
            let now = context.now;
            for (_, sending) in context.hosts[host as usize].senders() {
                sending.measured.note(&self.0.measure, sending.end.acked(), now);
            }
        }
    }
}
