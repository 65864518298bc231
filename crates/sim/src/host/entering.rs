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
        let passes = !self.opened || on == WaitsOn::Acks && self.entering > 0;
        let is_busy = on == WaitsOn::Turn && nic.is_some_and(|nic| nic.holds_back(now));
        Some(if passes || is_busy { WaitsOn::Adapter } else { on })
    }
}

impl Hosts<'_> {
    /// The messages of connection `handle` that have a place in the adapter of `host` go through
    /// it; `opens`: the first one.
    pub(super) fn take_in(&mut self, host: NodeId, handle: Handle, opens: bool) {
        let now = self.context.now;
        let Some((Occupant::Sender(sending), shared)) = self.context.hosts[host.index()].endpoint(handle) else {
            return;
        };
        let Some(nic) = shared.nic.as_mut().filter(|nic| nic.holds_messages()) else { return };
        let mut wake = None;
        if opens {
            sending.entering += 1;
            wake = nic.take_in(now, handle, None);
            sending.messages.iter_mut().for_each(|messages| messages.inside += 1);
        }
        while let Some(size) = sending.messages.as_mut().and_then(|messages| messages.take_in(nic.places())) {
            sending.entering += 1;
            wake = wake.or(nic.take_in(now, handle, Some(size)));
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
