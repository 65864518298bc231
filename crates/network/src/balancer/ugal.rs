//! UGAL-L: a packet takes a minimal path or a random one that is longer, by the queues of its first
//! switch (Singh, "Load-balanced routing in interconnection networks", PhD thesis, Stanford 2005,
//! for dragonflies Kim, Dally, Scott, Abts, ISCA 2008, section 4.1).

use super::detours::{Detours, Path, Step, Via};
use super::flowlet_table::FlowletTables;
use super::{Arrival, Backlog, Balancer, Choice, Queue, one_of};
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::packet::{Packet, hash};
use crate::trailer::Tag;
use linkpool_engine::{Stream, stream};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Time};
use rand::RngCore;

settings! {
    /// UGAL-L (Singh, PhD thesis, Stanford 2005; Kim, Dally, Scott, Abts, ISCA 2008, section 4.1).
    #[derive(Copy, Eq)]
    pub struct Ugal {
        /// The number of random paths that are compared with a minimal one.
        candidates: u32 = 1, within Bounds::from(1.0, "{} is no number of paths, 1 to 64").to(64.0);
        /// A minimal path is taken up to so many bytes, times links, more than over the other.
        threshold: Bytes = Bytes(0), within Bounds::from(0.0, "{} is no number of bytes");
    }
}

/// UGAL-L at all switches.
#[derive(Debug)]
pub(super) struct UgalBalancer {
    settings: Ugal,
    detours: Detours,
    /// The way of each flowlet; none: any packets may part.
    flowlets: Option<FlowletTables<Way>>,
    /// By node.
    random: Vec<Stream>,
}

/// What a flowlet passes on its way to a switch.
#[derive(Clone, Copy, Default, Debug)]
struct Way {
    via: Via,
    to: NodeId,
}

impl UgalBalancer {
    pub(super) fn new(settings: Ugal, gap: Option<Time>, fabric: &Fabric, seed: u64) -> UgalBalancer {
        UgalBalancer {
            settings,
            detours: Detours::new(fabric),
            flowlets: gap.map(|gap| FlowletTables::new(gap, fabric)),
            random: (0..fabric.nodes()).map(|node| stream(seed, "ugal", node as u64)).collect(),
        }
    }

    /// The link that a packet takes which has these waypoints before it, and what is left of them.
    fn step(&mut self, at: &Arrival<'_>, packet: &Packet, via: Via) -> (LinkId, Via) {
        let (step, later) = self.detours.step(at.node, packet.dst(), via);
        let link = match step {
            Step::Over(link) => link,
            Step::Towards(host) => (at.towards)(host, &mut |choice| self.choose(choice, packet, &mut |_| Some(0))),
        };
        (link, later)
    }

    /// The link that `packet` takes, which comes from a host of the switch, and what it passes.
    fn leave(&mut self, at: &Arrival<'_>, packet: &Packet, queue: Backlog<'_>) -> (LinkId, Via) {
        let to = self.detours.switch_of(packet.dst());
        let choice = Choice { node: at.node, ingress: at.ingress, salt: at.salt, links: 0, link: &|_| LinkId::NONE };
        let known = self.flowlets.as_mut().map(|flowlets| flowlets.entry(choice, packet));
        // Flows that share an entry may go to other switches.
        if let Some(way) = known.filter(|(way, continues)| *continues && way.to == to).map(|(way, _)| *way) {
            let (link, later) = self.step(at, packet, way.via);
            if queue(link).is_some() {
                return (link, later);
            }
        }
        let (link, later, via) = self.lighter(at, packet, to, queue);
        if let Some(flowlets) = &mut self.flowlets {
            flowlets.set(choice, packet, Way { via, to });
        }
        (link, later)
    }

    /// The way with the lesser product of the queue of its first link and its links: a minimal one if q_m H_m <= q_n H_n +
    /// threshold, otherwise the best of the random ones.
    fn lighter(&mut self, at: &Arrival<'_>, packet: &Packet, to: NodeId, queue: Backlog<'_>) -> (LinkId, Via, Via) {
        let random = &mut self.random[at.node.index()];
        let minimal = self.detours.minimal(at.node, to, || random.next_u32());
        let mut best = self.weigh(at, packet, minimal, queue);
        best.0 = best.0.saturating_sub(self.settings.threshold.0);
        for _ in 0..self.settings.candidates {
            let random = &mut self.random[at.node.index()];
            let Some(other) = self.detours.other(at.node, to, || random.next_u32()) else { continue };
            let weighed = self.weigh(at, packet, other, queue);
            if weighed.0 < best.0 {
                best = weighed;
            }
        }
        best.1
    }

    /// The product for a path, and its first link, with what is passed after it and in all.
    fn weigh(
        &mut self,
        at: &Arrival<'_>,
        packet: &Packet,
        path: Path,
        queue: Backlog<'_>,
    ) -> (u64, (LinkId, Via, Via)) {
        let (link, later) = self.step(at, packet, path.via);
        let product = queue(link).map_or(u64::MAX, |bytes| bytes.saturating_mul(path.links.into()));
        (product, (link, later, path.via))
    }
}

impl Balancer for UgalBalancer {
    /// Of several links of equal cost to a waypoint or to the destination: a random one, or that of the flow's hash.
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, _: Queue<'_>) -> u32 {
        let bits = match self.flowlets {
            None => self.random[choice.node.index()].next_u32(),
            Some(_) => hash(choice.salt, packet),
        };
        one_of(choice.links, bits)
    }

    fn sees_queues(&self) -> bool {
        true
    }

    /// Any link of a switch may be compared.
    fn sees_all(&self) -> bool {
        true
    }

    fn steers(&self) -> bool {
        true
    }

    /// The switch of the source chooses a path; the others follow it.
    fn steer(&mut self, at: Arrival<'_>, packet: &Packet, queue: Backlog<'_>) -> (LinkId, Option<Tag>) {
        let (link, later) = match at.tag {
            Some(tag) => self.step(&at, packet, Via::of(tag)),
            None if self.detours.leaves_host(at.ingress) => self.leave(&at, packet, queue),
            None => self.step(&at, packet, Via::NOTHING),
        };
        (link, later.tag())
    }
}
