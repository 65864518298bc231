//! Puts the packets of all links in order of the time at which they pass ports.

use crate::host::{encoding, roce, uet_packet};
use crate::plan::{CapturePlan, Plan};
use crate::results::passing::{Passed, Passing};
use linkpool_network::{Kind, Network, PauseFrame};
use linkpool_transport::Family;
use linkpool_units::Time;

/// The packets of `family` that tell whose other packets are, or what others mean: of handshakes, at the ends of
/// flows and of messages, and answers that name their sender. They are looked at where they leave their hosts,
/// before anything that follows from them.
fn telling(family: Family) -> Kind {
    match family {
        Family::Tcp | Family::Ndp => Kind::SYN | Kind::FIN | encoding::LAST,
        Family::Roce => Kind::SYN | roce::LAST,
        Family::Uet => Kind::SYN | Kind::ACK | uet_packet::PULL,
    }
}

/// Packets that may not be in order yet.
pub(crate) struct Order<'p> {
    plan: &'p Plan,
    capture: &'p CapturePlan,
    /// The packets that tell, of all transports.
    telling: Kind,
    pending: Vec<Passed>,
    /// The most time between a packet's pass of a port and its arrival.
    longest_delay: Time,
}

impl<'p> Order<'p> {
    /// None if `plan` records no packets.
    pub(crate) fn new(plan: &'p Plan) -> Option<Order<'p>> {
        let capture = plan.capture.as_ref()?;
        let longest_delay = plan.fabric.links().iter().map(|link| link.delay).max().unwrap_or_default();
        let families = plan.transports.iter().map(|transport| transport.family.family());
        let telling = families.map(telling).fold(Kind::default(), |all, one| all | one);
        Some(Order { plan, capture, telling, pending: Vec::new(), longest_delay })
    }

    /// Has `network` show the packets that are needed.
    pub(crate) fn tap(&self, network: &mut Network) {
        for (id, link) in linkpool_network::LinkId::first(self.plan.fabric.links().len()).zip(self.plan.fabric.links())
        {
            if !self.capture.views(id).is_empty() {
                network.tap(id, Kind::ALL);
            } else if link.from.index() < self.plan.fabric.hosts() {
                network.tap(id, self.telling);
            }
        }
    }

    /// Adds packets that have come through links.
    pub(crate) fn add(&mut self, passing: Vec<Passing>) {
        for Passing { link, packet, priority, trailer, hops, digest } in passing {
            let spec = &self.plan.fabric.links()[link.index()];
            let (sent, views) = (packet.arrival - spec.delay, self.capture.views(link));
            let is_telling = packet.kind.has_any(self.telling) && PauseFrame::of(&packet).is_none();
            let tells = spec.from.index() < self.plan.fabric.hosts() && is_telling;
            if tells && views.iter().all(|view| view.inbound) {
                let hops = Vec::new();
                self.pending.push(Passed { at: sent, link, view: None, packet, priority, trailer, hops, digest });
            }
            for view in views {
                let at = if view.inbound { packet.arrival } else { sent };
                let hops = hops.clone();
                self.pending.push(Passed { at, link, view: Some(*view), packet, priority, trailer, hops, digest });
            }
        }
    }

    /// Gives the packets that are in order, when all that arrive before `before` have been added.
    pub(crate) fn release(&mut self, before: Time, mut give: impl FnMut(Passed)) {
        // Packets of a link pass a port one after another, no two of them at one time.
        self.pending.sort_by_key(|passed| (passed.at, passed.link, passed.view.map(|view| view.inbound)));
        let safe = before.saturating_sub(self.longest_delay);
        let ready = self.pending.partition_point(|passed| passed.at < safe);
        self.pending.drain(..ready).for_each(&mut give);
    }
}
