//! UGAL-L: a packet takes a minimal path or a random one that is longer, by the queues of its first
//! switch (Singh, "Load-balanced routing in interconnection networks", PhD thesis, Stanford 2005,
//! for dragonflies Kim, Dally, Scott, Abts, ISCA 2008, section 4.1).

use super::detours::{Detours, Path, Step, Via};
use super::flowlet_table::FlowletTables;
use super::{Arrival, Backlog, Balancer, Choice, Queues, one_of};
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
        /// Bytes, times links, by which a minimal path may be worse than the best other one and is
        /// still taken.
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
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, _: &mut impl Queues) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Envelope;
    use crate::topology::{Dragonfly, Generator};
    use linkpool_units::{HostId, Rate};

    /// Nine groups with a = 4 and p = h = 2, and UGAL-L there.
    struct Bench {
        fabric: Fabric,
        ugal: UgalBalancer,
    }

    fn bench(candidates: u32, threshold: u64, gap: Option<Time>) -> Bench {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let fly = Dragonfly {
            routers_per_group: 4,
            hosts_per_router: 2,
            global_ports: 2,
            groups: 9,
            rate,
            delay,
            local_rate: rate,
            local_delay: delay,
            global_rate: rate,
            global_delay: delay,
        };
        let fabric = fly.fabric();
        let settings = Ugal { candidates, threshold: Bytes(threshold) };
        Bench { ugal: UgalBalancer::new(settings, gap, &fabric, 1), fabric }
    }

    impl Bench {
        /// The link of a packet from host 0 at `us`, and its waypoints after that.
        fn steer(
            &mut self,
            to: usize,
            entropy: u32,
            us: u64,
            queue: impl Fn(LinkId) -> Option<u64>,
        ) -> (LinkId, Option<Tag>) {
            let Bench { fabric, ugal } = self;
            let node = NodeId::new(fabric.hosts());
            let ingress = fabric.links_from(NodeId::new(0)).next().expect("a link");
            let switch_of =
                |host: HostId| fabric.links()[fabric.links_from(host.into()).next().expect("a link").index()].to;
            let towards = |host: HostId, _: &mut dyn FnMut(Choice<'_>) -> u32| {
                let next = if switch_of(host) == node { NodeId::from(host) } else { switch_of(host) };
                fabric.link(node, next).expect("within a group cables join all")
            };
            let at = Arrival { node, ingress, salt: 5, towards: &towards, tag: None };
            let envelope = Envelope::new(HostId::new(to), 1000, 0);
            let packet = Packet { arrival: Time::from_us(us), entropy, envelope, ..Packet::default() };
            ugal.steer(at, &packet, &mut |link| queue(link))
        }

        /// A host to which the minimal path has three links, and the first of them, within the group; and the links of the shortest
        /// other path that begins by another link.
        fn far(&mut self) -> (usize, LinkId, u64) {
            let node = NodeId::new(self.fabric.hosts());
            let mut hosts = 8..self.fabric.hosts();
            let detours = &self.ugal.detours;
            let is_far = |to: &usize| detours.minimal(node, detours.switch_of(HostId::new(*to)), || 0).links == 3;
            let to = hosts.find(is_far).expect("most are");
            let switch = detours.switch_of(HostId::new(to));
            let (first, _) = self.steer(to, 0, 0, |_| Some(0));
            let mut least = u64::MAX;
            for bits in 0..64u32 {
                let Some(other) = self.ugal.detours.other(node, switch, || bits << 26) else { continue };
                let at = self.ugal.detours.step(node, HostId::new(to), other.via).0;
                let begins = match at {
                    Step::Over(link) => link,
                    Step::Towards(host) => self.fabric.link(node, self.ugal.detours.switch_of(host)).expect("a link"),
                };
                if begins != first {
                    least = least.min(other.links.into());
                }
            }
            (to, first, least)
        }
    }

    /// 3 q_m <= H q_n + threshold: with q_n = 3,000 and H links, the minimal path is taken up to q_m = 1,000 H, and a third of the
    /// threshold more. A link that is down is not taken.
    #[test]
    fn products_of_queues_and_links_are_compared() {
        for threshold in [0, 6_000] {
            let mut bench = bench(64, threshold, None);
            let (to, first, links) = bench.far();
            let bound = 1_000 * links + threshold / 3;
            let mut takes = |here: Option<u64>, others: u64| {
                bench.steer(to, 0, 0, |link| if link == first { here } else { Some(others) }).0 == first
            };
            for (q, is_minimal) in [(0, true), (bound, true), (bound + 1, false)] {
                assert_eq!(takes(Some(q), 3_000), is_minimal, "{q} of {bound}");
            }
            assert!(!takes(None, 1_000_000));
            assert!(takes(Some(0), 0), "of equal products the minimal path");
        }
    }

    /// Of many candidates the one with the least product is taken; of one, another too.
    #[test]
    fn the_best_of_the_candidates_is_taken() {
        let mut many = bench(64, 0, None);
        let (to, first, _) = many.far();
        let links: Vec<LinkId> = (0..200).map(|_| many.steer(to, 0, 0, |_| Some(9_000)).0).collect();
        assert!(links.iter().all(|link| *link == first), "no path is shorter than a minimal one");
        let best = many.steer(to, 0, 0, |link| Some(if link == first { 90_000 } else { 9_000 })).0;
        let only = |link: LinkId| Some(if link == best { 10 } else { 90_000 });
        assert!((0..50).all(|_| many.steer(to, 0, 0, only).0 == best));
        let mut one = bench(1, 0, None);
        let taken: std::collections::BTreeSet<LinkId> =
            (0..200).map(|_| one.steer(to, 0, 0, |link| Some(if link == first { 90_000 } else { 9_000 })).0).collect();
        assert!(taken.len() > 3, "{taken:?}");
    }

    /// Within the gap a flowlet keeps its way, whatever queues are now, unless the link is down. A flow that shares its entry and goes
    /// elsewhere has a way of its own: all entries are taken by flows to another group when packets to the same router come.
    #[test]
    fn a_flowlet_keeps_its_way_until_a_gap() {
        let mut bench = bench(64, 0, Some(Time::from_us(5)));
        let (to, first, _) = bench.far();
        let long_here = |link: LinkId| Some(if link == first { 90_000 } else { 0 });
        let (way, tag) = bench.steer(to, 7, 1, long_here);
        assert!(way != first && tag.is_some());
        let long_there = |link: LinkId| Some(if link == first { 0 } else { 90_000 });
        assert_eq!(bench.steer(to, 7, 5, long_there), (way, tag), "4 us later");
        assert_eq!(bench.steer(to, 7, 10, long_there).0, first, "5 us later");
        assert_eq!(bench.steer(to, 7, 14, long_here).0, first);
        let down = |link: LinkId| if link == first { None } else { Some(0) };
        let (elsewhere, _) = bench.steer(to, 7, 15, down);
        assert_ne!(elsewhere, first, "its link is down");
        assert_eq!(bench.steer(to, 7, 16, long_there).0, elsewhere);
        (0..60_000).for_each(|entropy| _ = bench.steer(to, entropy, 20, long_here));
        let own = bench.fabric.link(NodeId::new(bench.fabric.hosts()), NodeId::new(1)).expect("a link");
        assert!((0..100).all(|entropy| bench.steer(1, entropy, 21, long_here) == (own, None)));
    }
}
