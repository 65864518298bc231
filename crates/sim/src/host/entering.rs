//! Messages on their way from the application through the adapter of the host to their endpoint,
//! see [`crate::host::nic`].

use crate::host::endpoint::{Sending as _, WaitsOn};
use crate::host::handle::Handle;
use crate::host::hosts::Hosts;
use crate::host::io::Io;
use crate::host::nic::Nic;
use crate::host::slots::{Occupant, Sending};
use crate::host::timer;
use linkpool_network::{Egress, NodeId};
use linkpool_units::Time;

impl Sending {
    /// What keeps it from sending at `now`, at a host with adapter `nic`.
    pub(crate) fn waits(&self, nic: Option<&Nic>, now: Time) -> Option<WaitsOn> {
        let on = self.end.waits()?;
        let passes = !self.opened || on == WaitsOn::Acks && (self.entering > 0 || self.queues);
        let is_busy = on == WaitsOn::Turn && nic.is_some_and(|nic| nic.holds_back(now));
        Some(if passes || is_busy { WaitsOn::Adapter } else { on })
    }

    /// The number of its messages that the adapter holds: of a flow of its own 1, once it has entered.
    pub(super) fn inside(&self) -> usize {
        let flow = usize::from(self.opened || self.entering > 0);
        self.messages.as_ref().map_or(flow, |messages| messages.inside)
    }

    /// Has it a message that may enter an adapter that holds so many of a connection?
    fn may_enter(&self, places: usize) -> bool {
        let opens = !self.opened && self.entering == 0;
        opens || self.messages.as_ref().is_some_and(|messages| messages.may_enter(places))
    }

    /// The next message enters the adapter. Returns what it adds; none: it opens the connection.
    fn enter(&mut self, places: usize) -> Option<u64> {
        let opens = !self.opened && self.entering == 0;
        let adds = self.messages.as_mut().and_then(|messages| messages.take_in(places));
        self.entering += 1;
        adds.filter(|_| !opens)
    }
}

impl Hosts<'_> {
    /// The messages of connection `handle` go through the adapter of `host`, as it has places for them.
    pub(super) fn take_in(&mut self, host: NodeId, handle: Handle) {
        let Some((Occupant::Sender(sending), shared)) = self.context.hosts[host.index()].endpoint(handle) else {
            return;
        };
        let Some(nic) = shared.nic.as_mut().filter(|nic| nic.holds_messages()) else { return };
        if !sending.queues && sending.may_enter(nic.places()) {
            sending.queues = true;
            nic.wait(handle);
        }
        self.fill_adapter(host);
    }

    /// So many messages of `host` have left its adapter, which others may enter.
    pub(super) fn leave_adapter(&mut self, host: NodeId, messages: usize) {
        let shared = self.context.hosts[host.index()].shared();
        if let Some(nic) = shared.nic.as_mut().filter(|nic| nic.holds_messages()) {
            nic.release(messages);
            self.fill_adapter(host);
        }
    }

    /// Connections that wait for places in the adapter of `host` take those that are free, in turn.
    fn fill_adapter(&mut self, host: NodeId) {
        let (now, mut wake) = (self.context.now, None);
        let h = &mut self.context.hosts[host.index()];
        while let Some(handle) = h.shared().nic.as_mut().and_then(|nic| nic.turn()) {
            // It may have been stopped, or have failed.
            let Some((Occupant::Sender(sending), shared)) = h.endpoint(handle) else { continue };
            let Some(nic) = shared.nic.as_mut() else { break };
            let adds = sending.enter(nic.places());
            wake = wake.or(nic.take_in(now, handle, adds));
            sending.queues = sending.may_enter(nic.places());
            if sending.queues {
                nic.wait(handle);
            }
        }
        if let Some(at) = wake {
            self.context.set_timer(host, at, timer::NIC);
        }
    }

    /// Messages have passed the adapter of `host`.
    pub(super) fn pass_adapter(&mut self, host: NodeId, network: &mut Egress) {
        let now = self.context.now;
        let (h, timers) = (&mut self.context.hosts[host.index()], &mut self.context.timers);
        while let Some((handle, adds)) = h.shared().nic.as_mut().and_then(|nic| nic.pass(now)) {
            // It may have been stopped, or have failed.
            let Some((Occupant::Sender(sending), shared)) = h.endpoint(handle) else { continue };
            sending.entering -= 1;
            let io = &mut Io::new((now, host), shared, network, timers);
            match adds {
                Some(size) => sending.end.extend(size, io),
                None => {
                    sending.opened = true;
                    sending.end.open(io);
                }
            }
        }
        if let Some(at) = h.shared().nic.as_ref().and_then(|nic| nic.next()) {
            timers.push(host.index(), at, timer::NIC);
        }
    }
}
