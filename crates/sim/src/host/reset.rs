//! Connections of jobs that fail: their processes are gone at both ends, and nothing more is sent.

use crate::host::handle::Handle;
use crate::host::hosts::Hosts;
use crate::host::slots::{Occupant, Sending};
use linkpool_network::NodeId;

impl Hosts<'_> {
    /// A job fails: the ends of its connections at `host` go. Its other hosts do the same at this time. Packets that are
    /// under way find nobody, and those that would open a connection are refused ([`crate::Plan::is_reset`]).
    pub(super) fn reset(&mut self, host: NodeId) {
        let (plan, now) = (self.plan, self.context.now);
        let h = &mut self.context.hosts[host.index()];
        h.announced.retain(|connection, _| !plan.is_reset(*connection, now));
        let receivers = h.receivers().filter(|(_, receiving)| plan.is_reset(receiving.flow, now));
        let receivers: Vec<Handle> = receivers.map(|(handle, _)| handle).collect();
        let senders = h.senders().filter(|(_, sending)| plan.is_reset(sending.flow, now));
        let senders: Vec<Handle> = senders.map(|(handle, _)| handle).collect();
        // All are out before one leaves its place in the adapter to another.
        let out = senders.into_iter().filter_map(|handle| match h.remove(handle) {
            Occupant::Sender(sending) => Some(sending),
            _ => None,
        });
        let out: Vec<Box<Sending>> = out.collect();
        receivers.into_iter().for_each(|handle| self.forget_receiver(host, handle));
        out.into_iter().for_each(|sending| self.closed(host, sending, true));
    }
}
