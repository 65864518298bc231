//! How far parts of a divided network may be apart in time: they meet less often than once a window.
//!
//! A packet that comes from another partition affects packets that go back to that partition, but not at once. In a
//! fat-tree whose pods are whole it goes down to a host first, over three links. The answer of the host goes up over three links.
//! Each link takes a window at least. So a partition may run many windows before it needs the packets of the others: the
//! first of these windows at the core switches, windows further ahead at the switches below and at hosts, and the last of
//! them where packets leave for the core. This is the lookahead of conservative parallel simulation (Chandy and Misra,
//! "Distributed simulation", IEEE TSE 1979), along the ways that packets take.

use crate::change::Timetable;
use crate::fabric::{Fabric, LinkId};
use crate::partition::Partitions;
use crate::policy::Policies;
use crate::stages::{HOSTS, MOST_STAGES, Stage, StageStep, Stages};
use crate::successors::Successors;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most words of [`Successors`] for each link, in the mean: they grow with the square of the ports of a switch, and 256 B are
/// less than the rest of a link. Partitions of fabrics with more, of switches with more than 2,048 ports, meet in each window.
const MOST_WORDS: usize = 32;

impl Partitions {
    /// Partitions that meet less often than in each window, where no packet comes back sooner to the partition that it has
    /// left. Pinned paths must be among the shortest. Switches must be split before.
    #[must_use]
    pub fn running_ahead(self, fabric: &Fabric, policies: impl Into<Policies>, timetable: &Timetable) -> Partitions {
        let stages = find_stages(fabric, &self, &policies.into(), timetable);
        self.with_stages(stages)
    }
}

/// The stages of the `partitions` of `fabric`. None: partitions must meet in each window. So they must where packets come
/// from another partition to hosts, or go from hosts to another, and where switches need their packets in order
/// ([`Partitions::splitting`]).
fn find_stages(fabric: &Fabric, partitions: &Partitions, policies: &Policies, timetable: &Timetable) -> Option<Stages> {
    let routes = timetable.hashed()?;
    let is_plain = timetable.are_plain(fabric, policies, LinkId::first(fabric.links().len()));
    if partitions.count() == 1 || !is_plain || partitions.lead_to_hosts(fabric) {
        return None;
    }
    if !are_few(fabric) {
        return None;
    }
    let ways = Ways::new(fabric, partitions, Successors::new(fabric, routes))?;
    // Fewer depths make fewer stages.
    (1..MOST_STAGES as u64).rev().find_map(|deepest| ways.stages(deepest)).filter(|stages| stages.windows > 1)
}

/// Do the [`Successors`] of `fabric` take no more than its links?
fn are_few(fabric: &Fabric) -> bool {
    Successors::words(fabric) <= MOST_WORDS * fabric.links().len()
}

/// When a link runs: `depth` windows ahead of the links that packets from other partitions take first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Run {
    depth: u64,
    /// May its packets go to other partitions? Then it runs before others of its depth.
    is_border: bool,
}

/// The ways of packets through partitions.
struct Ways<'f> {
    fabric: &'f Fabric,
    successors: Successors,
    /// By link: the partition that queues packets for it.
    senders: Vec<u8>,
    /// By link: may its packets go to other partitions?
    is_border: Vec<bool>,
}

impl<'f> Ways<'f> {
    /// None: hosts send to other partitions, or nobody does.
    fn new(fabric: &'f Fabric, partitions: &Partitions, successors: Successors) -> Option<Ways<'f>> {
        let senders: Vec<u8> = LinkId::first(fabric.links().len()).map(|link| partitions.sender(link)).collect();
        let crosses = |link: LinkId| successors.of(link).any(|next| senders[next.index()] != senders[link.index()]);
        let is_border: Vec<bool> = LinkId::first(fabric.links().len()).map(crosses).collect();
        let mut border = fabric.links().iter().zip(&is_border).filter(|(_, is_border)| **is_border).peekable();
        border.peek()?;
        if border.any(|(spec, _)| spec.from.index() < fabric.hosts()) {
            return None;
        }
        Some(Ways { fabric, successors, senders, is_border })
    }

    fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        LinkId::first(self.senders.len())
    }

    fn leaves_host(&self, link: LinkId) -> bool {
        self.fabric.links()[link.index()].from.index() < self.fabric.hosts()
    }

    fn leads_to_host(&self, link: LinkId) -> bool {
        self.fabric.links()[link.index()].to.index() < self.fabric.hosts()
    }

    /// Do packets go from one partition to another, when they have come by `link` and go on by `next`?
    fn crosses(&self, link: LinkId, next: LinkId) -> bool {
        self.senders[link.index()] != self.senders[next.index()]
    }

    fn run(&self, link: LinkId, depths: &[u64]) -> Run {
        Run { depth: depths[link.index()], is_border: self.is_border[link.index()] }
    }

    /// The stages, no stage deeper than `deepest`; none, if they are too many.
    fn stages(&self, deepest: u64) -> Option<Stages> {
        let (depths, of_hosts) = self.depths(deepest);
        let run = |link: LinkId| self.run(link, &depths);
        let mut runs: Vec<Run> = self.links().filter(|link| !self.leaves_host(*link)).map(run).collect();
        runs.sort_unstable();
        runs.dedup();
        if runs.len() >= MOST_STAGES {
            return None;
        }
        let stage = |run: Run| HOSTS + 1 + runs.binary_search(&run).expect("a run of a switch") as Stage;
        let first_of = |link: LinkId| self.successors.of(link).map(run).max().unwrap_or(runs[0]);
        let joined = |link: LinkId| if self.leads_to_host(link) { HOSTS } else { stage(first_of(link)) };
        let queued: Box<[Stage]> =
            self.links().map(|link| if self.leaves_host(link) { HOSTS } else { stage(run(link)) }).collect();
        let joined: Arc<[Stage]> = self.links().map(joined).collect();
        let epoch = depths.iter().copied().max().unwrap_or(0).max(of_hosts);
        let mut passes_on = [false; MOST_STAGES];
        for link in self.links().filter(|link| !self.leads_to_host(*link)) {
            let stage = joined[link.index()];
            passes_on[usize::from(stage)] |= self.successors.of(link).any(|next| queued[next.index()] != stage);
        }
        let step =
            |run: Run, stage| StageStep { stage, behind: epoch - run.depth, passes_on: passes_on[usize::from(stage)] };
        let hosts = (Run { depth: of_hosts, is_border: false }, HOSTS);
        let mut order: Vec<(Run, Stage)> = runs.iter().map(|run| (*run, stage(*run))).chain([hosts]).collect();
        order.sort_by_key(|(run, _)| (!run.is_border, run.depth));
        Some(Stages {
            border: runs.iter().filter(|run| run.is_border).count(),
            steps: order.into_iter().map(|(run, stage)| step(run, stage)).collect(),
            windows: self.windows(&depths),
            queued,
            joined,
        })
    }

    /// By link: how many windows it may be ahead of the links that packets from other partitions take first,
    /// `deepest` at most; and how many the hosts are.
    ///
    /// A packet takes a window at least from being queued for a link to being queued for the next. So the next link may be
    /// one window further ahead. A link to another partition must not be: it runs before the link that leads to it.
    fn depths(&self, deepest: u64) -> (Vec<u64>, u64) {
        let mut depths = vec![deepest; self.senders.len()];
        let mut reached = VecDeque::new();
        for link in self.links() {
            for next in self.successors.of(link).filter(|next| self.crosses(link, *next)) {
                depths[next.index()] = 0;
                reached.push_back(next);
            }
        }
        self.spread(&mut depths, reached);
        // Hosts are one stage. All answer as soon as the first of them can.
        let to_hosts = self.links().filter(|link| self.leads_to_host(*link));
        let of_hosts = to_hosts.map(|link| depths[link.index()] + 1).min().unwrap_or(deepest).min(deepest);
        let from_hosts: VecDeque<LinkId> = self.links().filter(|link| self.leaves_host(*link)).collect();
        from_hosts.iter().for_each(|link| depths[link.index()] = of_hosts);
        self.spread(&mut depths, from_hosts);
        (depths, of_hosts)
    }

    /// Lowers the depths of the links to which packets go on from those that are `reached`.
    fn spread(&self, depths: &mut [u64], mut reached: VecDeque<LinkId>) {
        while let Some(link) = reached.pop_front() {
            for next in self.successors.of(link).filter(|next| !self.crosses(link, *next)) {
                let depth = depths[link.index()] + u64::from(!self.is_border[next.index()]);
                if depth < depths[next.index()] {
                    depths[next.index()] = depth;
                    reached.push_back(next);
                }
            }
        }
    }

    /// The windows between two meetings, from the links that lead to other partitions.
    fn windows(&self, depths: &[u64]) -> u64 {
        let crossing = self.links().filter(|link| self.is_border[link.index()]);
        // A packet that joins a stage at the border comes after it has run for the first time since partitions have met.
        let windows = crossing.map(|link| {
            let joined = self
                .successors
                .of(link)
                .map(|next| self.run(next, depths))
                .max()
                .expect("a link that crosses leads on");
            (depths[link.index()] + 1).saturating_sub(joined.depth + u64::from(joined.is_border))
        });
        windows.min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancer::Spreading;
    use crate::fabric::{FabricBuilder, Layer, NodeId};
    use crate::partition::partition;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::routing::{Routes, Routing};
    use crate::topology::{Generator, LeafSpine, Vl2, fat_tree};
    use linkpool_engine::hash_u64;
    use linkpool_units::{Rate, Time};
    use std::collections::HashSet;

    fn tree() -> Fabric {
        fat_tree(4, 2, Rate::gbps(10), Time::from_us(1))
    }

    fn policies() -> Policies {
        QueuePolicy::drop_tail(QueueLimit::Packets(9)).into()
    }

    fn plain(fabric: &Fabric) -> Timetable {
        Timetable::from(Arc::new(Routes::new(fabric, 1)))
    }

    fn stages_of(fabric: &Fabric, partitions: &Partitions) -> Option<Stages> {
        find_stages(fabric, partitions, &policies(), &plain(fabric))
    }

    fn split(fabric: &Fabric, n: u8) -> Partitions {
        partition(fabric, n).splitting(fabric, policies(), &plain(fabric))
    }

    /// In a fat-tree whose pods are whole, packets from other partitions go over three links to hosts: core, aggregation and
    /// edge switches run at depths 0, 1 and 2, hosts at 3. On their way up, edge switches run at 4; aggregation switches
    /// could run at 5, and run at 4 before them. A packet from there comes to the core at depth 0, five windows later.
    #[test]
    fn of_a_fat_tree_run_five_windows_apart() {
        let fabric = tree();
        for n in [2, 4] {
            let stages = stages_of(&fabric, &split(&fabric, n)).expect("pods are whole");
            assert_eq!((stages.windows, stages.border), (5, 1));
            assert_eq!(stages.steps.iter().map(|step| step.behind).collect::<Vec<_>>(), [0, 4, 3, 2, 1, 0]);
            let link = |from, to| {
                let [from, to] = [from, to].map(|name| fabric.node(name).expect("a node of this name"));
                fabric.link(from, to).expect("neighbours").index()
            };
            // The way of a packet, by the steps in which it is queued; it joins each in the step before.
            let way =
                [("h0", "e0.0"), ("e0.0", "a0.0"), ("a0.0", "c0"), ("c0", "a3.0"), ("a3.0", "e3.1"), ("e3.1", "h15")];
            let step = |stage: Stage| stages.steps.iter().position(|step| step.stage == stage).unwrap();
            let queued: Vec<usize> = way.iter().map(|(from, to)| step(stages.queued[link(from, to)])).collect();
            assert_eq!(queued, [4, 5, 0, 1, 2, 3]);
            let joined: Vec<usize> = way.iter().map(|(from, to)| step(stages.joined[link(from, to)])).collect();
            assert_eq!(joined, [5, 0, 1, 2, 3, 4]);
            // Only going up some packets turn round.
            let passing: Vec<usize> = (0..6).filter(|step| stages.steps[*step].passes_on).collect();
            assert_eq!(passing, [0, 5]);
        }
    }

    /// Two switches with 2,048 cables to each other, of 64 ports a word: 2 x 2,048 x 32 words, for each link to them.
    #[test]
    fn none_where_switches_have_too_many_ports() {
        let star = |ports: usize| {
            let mut b = crate::fabric::FabricBuilder::default();
            let [one, other] = ["one", "other"].map(|name| b.node(name, crate::fabric::Layer::Switch));
            (0..ports).for_each(|_| b.cable(one, other, Rate::gbps(1), Time(1)));
            b.build()
        };
        assert_eq!(Successors::words(&star(2_048)), 2 * 2_048 * 32);
        assert_eq!(Successors::words(&tree()), 2 * 48 - 16);
        assert!(are_few(&star(2_048)) && !are_few(&star(2_049)) && are_few(&tree()));
    }

    /// Packets that come to the core are processed four epochs after the one of their window, those that hosts send in that of
    /// their window. Without stages all are.
    #[test]
    fn the_front_of_a_packet_is_that_of_its_stage() {
        let (fabric, policies) = (tree(), policies());
        let parts = split(&fabric, 2);
        let ahead = parts.clone().running_ahead(&fabric, policies, &plain(&fabric));
        let link = |from, to| {
            let [from, to] = [from, to].map(|name| fabric.node(name).expect("a node of this name"));
            fabric.link(from, to).expect("neighbours")
        };
        let links = [link("a0.0", "c0"), link("c0", "a3.0"), link("e3.1", "h15"), link("h0", "e0.0")];
        assert_eq!(links.map(|link| ahead.epoch(link, 100)), [104, 103, 101, 100]);
        assert_eq!(links.map(|link| parts.epoch(link, 100)), [100; 4]);
    }

    #[test]
    fn none_where_partitions_must_meet_in_each_window() {
        let fabric = tree();
        assert_eq!(stages_of(&fabric, &split(&fabric, 1)), None, "one partition meets no other");
        assert_eq!(stages_of(&fabric, &partition(&fabric, 3)), None, "pods are not whole");
        let hosts_apart = (0..fabric.nodes()).map(|node| u8::from(node < fabric.hosts())).collect();
        assert_eq!(stages_of(&fabric, &Partitions::of_nodes(&fabric, hosts_apart)), None, "packets come to hosts");
        let parts = split(&fabric, 2);
        let find = |policies: Policies, timetable: &Timetable| find_stages(&fabric, &parts, &policies, timetable);
        assert!(find(policies(), &plain(&fabric)).is_some());
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).marking_at_dequeue();
        assert_eq!(find(policy.into(), &plain(&fabric)), None, "ports with rules");
        let spraying = Routing { spreading: Spreading::Spray, ..Routing::default() };
        let sprayed = Arc::new(Routes::with(&fabric, 1, &spraying, &HashSet::new()));
        assert_eq!(find(policies(), &sprayed.into()), None, "switches that need an order");
        let mut later = plain(&fabric);
        later.routes.push((Time::from_us(1), later.routes[0].1.clone()));
        assert_eq!(find(policies(), &later), None, "routes that change");
    }

    /// When packets are processed that come by a link in a window: the epoch, and the step of the epoch.
    fn place(stages: &Stages, stage: Stage, window: u64) -> (u64, usize) {
        let number = stages.steps.iter().position(|step| step.stage == stage).expect("each stage has a step");
        (window + stages.steps[number].behind, number)
    }

    /// A packet that is queued in a window joins a stage in the next window, after it was queued and in time to be queued
    /// again; also where it has come from another partition by then.
    fn check(fabric: &Fabric, partitions: &Partitions) -> Option<u64> {
        let stages = stages_of(fabric, partitions)?;
        let successors = Successors::new(fabric, &Routes::new(fabric, 1));
        for (link, spec) in LinkId::first(fabric.links().len()).zip(fabric.links()) {
            let from = place(&stages, stages.queued[link.index()], 100);
            let joins = place(&stages, stages.joined[link.index()], 101);
            if spec.to.index() < fabric.hosts() {
                assert!(from < joins, "to a host");
            }
            for next in successors.of(link) {
                let again = place(&stages, stages.queued[next.index()], 101);
                assert!(joins <= again, "it joins a stage too late");
                if partitions.sender(link) == partitions.sender(next) {
                    assert!(from < joins, "it joins a stage too early");
                    continue;
                }
                assert!(from.1 < stages.border, "others wait for all that may come to them");
                // Partitions may have met just before. When they have met next, the packet comes after the first steps.
                assert!(joins >= (from.0 + stages.windows, stages.border), "it comes too late");
            }
        }
        Some(stages.windows)
    }

    #[test]
    fn packets_are_in_time() {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let leaf_spine =
            LeafSpine { leaves: 5, spines: 3, hosts_per_leaf: 2, rate, delay, uplink_rate: rate, uplink_delay: delay };
        let vl2 = Vl2 {
            aggregation_ports: 4,
            intermediate_ports: 6,
            hosts_per_rack: 2,
            rate,
            delay,
            core_rate: rate,
            core_delay: delay,
        };
        let fabrics = [tree(), fat_tree(6, 3, rate, delay), leaf_spine.fabric(), vl2.fabric()];
        let found = fabrics.map(|fabric| [2, 3, 5].map(|n| check(&fabric, &split(&fabric, n))));
        // The 4 pods of the first tree cannot be divided among 3 partitions evenly, nor the 6 of the second among 5. The 5
        // racks can.
        let expected =
            [[Some(5), None, None], [Some(5), Some(5), None], [Some(3), Some(3), Some(3)], [None, None, None]];
        assert_eq!(found, expected);
    }
    /// A random connected graph of switches in two or three partitions, of which some have a host. Where switches are numbered from
    /// the first partition to the last, ways lead through several switches of each.
    fn random(seed: u64) -> (Fabric, Partitions) {
        let draw = |what: u64, below: usize| (hash_u64(seed << 32 | what) % below as u64) as usize;
        let (switches, hosts, n) = (4 + draw(0, 9), 3 + draw(1, 4), 2 + draw(2, 2));
        let mut builder = FabricBuilder::default();
        let host_ids: Vec<NodeId> = (0..hosts).map(|i| builder.node(format!("h{i}"), Layer::Host)).collect();
        let switch_ids: Vec<NodeId> = (0..switches).map(|i| builder.node(format!("w{i}"), Layer::Switch)).collect();
        let mut cable = |a, b| builder.cable(a, b, Rate::gbps(10), Time::from_us(1));
        let of_host: Vec<usize> = (0..hosts).map(|i| draw(100 + i as u64, switches)).collect();
        of_host.iter().zip(&host_ids).for_each(|(switch, host)| cable(*host, switch_ids[*switch]));
        // A chain, or a tree, and a few cables more.
        let chain = draw(3, 2) == 0;
        let mut joined = HashSet::new();
        for i in 1..switches {
            let other = if chain { i - 1 } else { draw(200 + i as u64, i) };
            joined.insert((other, i));
        }
        (0..draw(4, 5)).for_each(|i| {
            let [a, b] = [300, 400].map(|what| draw(what + i as u64, switches));
            _ = a != b && joined.insert((a.min(b), a.max(b)));
        });
        let mut joined: Vec<_> = joined.into_iter().collect();
        joined.sort_unstable();
        joined.into_iter().for_each(|(a, b)| cable(switch_ids[a], switch_ids[b]));
        let fabric = builder.build();
        let of_switch = |switch: usize| (switch * n / switches) as u8;
        let hosts = of_host.into_iter().map(of_switch);
        let parts = Partitions::of_nodes(&fabric, hosts.chain((0..switches).map(of_switch)).collect());
        (fabric.clone(), if draw(5, 2) == 0 { parts } else { parts.splitting(&fabric, policies(), &plain(&fabric)) })
    }

    /// On random graphs, whose partitions are chains and trees of switches, packets are in time, too.
    #[test]
    fn packets_are_in_time_on_any_graph() {
        let apart: Vec<u64> = (0..2000).map(random).filter_map(|(fabric, parts)| check(&fabric, &parts)).collect();
        let counts = [2, 3, 4, 5, 6].map(|windows| apart.iter().filter(|found| **found == windows).count());
        assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
    }
}
