//! What flows carry in the period that statistics are about.

use crate::host::endpoint::{Endpoint, key};
use crate::host::hosts::Hosts;
use linkpool_network::NodeId;
use linkpool_scenario::Measure;
use linkpool_units::Time;

/// Payload of a flow that was acknowledged by the ends of the period.
#[derive(Debug)]
pub(crate) struct InPeriod {
    /// Once that is past.
    by_warm_up: Option<u64>,
    /// Once that is past.
    by_cut_off: Option<u64>,
}

impl InPeriod {
    /// Of a flow that begins at `now`.
    pub(crate) fn new(period: &Measure, now: Time) -> InPeriod {
        InPeriod { by_warm_up: (now >= period.warm_up).then_some(0), by_cut_off: (now >= period.cut_off).then_some(0) }
    }

    /// Payload acknowledged in the period, of a flow with `acked` bytes by now.
    pub(crate) fn bytes(&self, acked: u64) -> u64 {
        self.by_warm_up.map_or(0, |before| self.by_cut_off.unwrap_or(acked) - before)
    }
}

impl Hosts<'_> {
    /// Sets timers for the ends of the period at the hosts that are `mine`.
    pub(crate) fn time_period(&mut self, mine: impl Fn(NodeId) -> bool) {
        let Measure { warm_up, cut_off } = self.plan.measure;
        let ends = [warm_up, cut_off].into_iter().filter(|at| *at > Time::ZERO && *at < self.plan.end);
        for at in ends {
            let hosts = 0..self.plan.fabric.hosts();
            hosts.filter(|h| mine(*h as NodeId)).for_each(|h| self.timers[h].push(at, key::PERIOD));
        }
    }

    /// The period begins or ends `now`: notes how far the flows of `host` are.
    pub(crate) fn note_period(&mut self, host: NodeId, now: Time) {
        let Measure { warm_up, cut_off } = self.plan.measure;
        for (_, endpoint) in self.hosts[host as usize].endpoints() {
            let Endpoint::Sender(end) = endpoint else { continue };
            let acked = end.sender.acked();
            if now == warm_up {
                end.period.by_warm_up = Some(acked);
            }
            if now == cut_off {
                end.period.by_cut_off = Some(acked);
            }
        }
    }
}
