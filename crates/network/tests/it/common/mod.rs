//! What the tests of the network share: random fabrics, queues and traffic, and a second simulator
//! to compare with.

pub mod reference;
pub mod topologies;
pub mod traffic;

use linkpool_network::{
    Envelope, Fabric, FabricBuilder, Flags, HostId, Layer, LinkChange, LinkId, Loss, NodeId, Order, Packet, Pfc,
    QueueLimit, QueuePolicy, Red, RedAction, Routes, SharedBuffer, ShortestPaths, Trimming, source_route,
};
use linkpool_settings::{Preset, Settings as _};
use linkpool_units::{Bytes, Rate, Time};
use proptest::prelude::*;

/// `cases` random cases, 50 times as many if `LINKPOOL_LONG=1`, or as many as `LINKPOOL_CASES` (or
/// proptest's own `PROPTEST_CASES`) says. A case that fails is printed, and replayed from
/// `tests/proptest-regressions` from then on.
pub fn cases(cases: u32) -> proptest::test_runner::Config {
    let asked = ["LINKPOOL_CASES", "PROPTEST_CASES"].iter().find_map(|name| std::env::var(name).ok());
    let long = std::env::var("LINKPOOL_LONG").is_ok_and(|long| long == "1");
    let usual = if long { 50 * cases } else { cases };
    let cases = asked.map_or(usual, |n| n.parse().expect("LINKPOOL_CASES is a number"));
    proptest::test_runner::Config { cases, ..Default::default() }
}

/// Host number `i`.
pub fn host(i: usize) -> HostId {
    HostId::new(i)
}

/// A packet whose path is a hash of `entropy`.
pub fn hashed(dst: HostId, entropy: u32) -> Packet {
    Packet { envelope: Envelope::new(dst, 0, 0), entropy, ..Packet::default() }
}

/// A packet on the shortest path numbered `i`.
pub fn pinned(fabric: &Fabric, routes: &Routes, from: HostId, to: HostId, i: u32) -> Packet {
    let path = ShortestPaths::new(routes, fabric, to).nth(from, i.into());
    let entropy = source_route(fabric, &path).expect("a path of few hops");
    Packet { flags: Flags::PINNED, ..hashed(to, entropy) }
}

/// Rates for which serialisation is a whole number of picoseconds a byte.
pub const RATES: [Rate; 4] = [Rate::gbps(1), Rate::gbps(10), Rate::gbps(25), Rate::gbps(100)];

fn cables(nodes: usize) -> impl Strategy<Value = (usize, usize, Rate, Time)> {
    let delay = prop_oneof![Just(0u64), 1u64..5_000, 1u64..50_000].prop_map(Time::from_ns);
    (0..nodes, 0..nodes, prop::sample::select(&RATES[..]), delay)
}

/// Hosts with one, two or three NICs on a random graph of switches, connected or not.
pub fn fabrics() -> impl Strategy<Value = Fabric> {
    let hosts = prop::collection::vec(prop::collection::vec(cables(8), 1..=3), 2..=7);
    let switches = prop::collection::vec(cables(8), 1..16);
    // Most hosts have one NIC, and seldom they forward for others.
    (hosts, switches, 1usize..=8, any::<u32>(), 0..4).prop_map(|(hosts, switches, n, several, forward)| {
        let mut b = FabricBuilder::default();
        if forward == 0 {
            b.hosts_forward();
        }
        let host_ids: Vec<NodeId> = (0..hosts.len()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let switch_ids: Vec<NodeId> = (0..n).map(|i| b.node(format!("w{i}"), Layer::Switch)).collect();
        for (i, nics) in hosts.iter().enumerate() {
            let nics = if several >> (2 * i) & 3 == 0 { &nics[..] } else { &nics[..1] };
            for (_, to, rate, delay) in nics {
                b.cable(host_ids[i], switch_ids[to % n], *rate, *delay);
            }
        }
        for (x, y, rate, delay) in switches {
            if x % n != y % n {
                b.cable(switch_ids[x % n], switch_ids[y % n], rate, delay);
            }
        }
        b.build()
    })
}

/// How a queue behaves, in the open: [`QueuePolicy`] hides it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub limit: QueueLimit,
    pub mark: Option<QueueLimit>,
    pub above: bool,
    pub counts_in_service: bool,
    pub drops_non_ect: bool,
    pub exempt: (bool, bool, bool),
    pub priority: bool,
    pub marks_at_dequeue: bool,
    pub red: Option<Red>,
    pub shared: Option<SharedBuffer>,
    pub trimming: Option<Trimming>,
    pub pfc: Option<Pfc>,
}

impl Rules {
    pub fn policy(&self) -> QueuePolicy {
        let (syn, fin, ack) = self.exempt;
        let mut policy = QueuePolicy::drop_tail(self.limit)
            .counting_in_service(self.counts_in_service)
            .dropping_non_ect(self.drops_non_ect)
            .exempting(syn, fin, ack);
        policy = self.mark.map_or(policy.clone(), |k| policy.marking(k, self.above));
        policy = if self.priority { policy.ordered(Order::Priority) } else { policy };
        policy = if self.marks_at_dequeue { policy.marking_at_dequeue() } else { policy };
        policy = self.red.map_or(policy.clone(), |red| policy.with_red(red));
        policy = self.pfc.map_or(policy.clone(), |pfc| policy.pausing(pfc));
        policy = self.trimming.map_or(policy.clone(), |trimming| policy.ordered(Order::Trimming(trimming)));
        self.shared.map_or(policy.clone(), |buffer| policy.sharing(buffer))
    }
}

/// Ports that pause their neighbours, with buffers that bursts fill: some lose packets, as the headroom is less than what may come.
pub fn pausing() -> impl Strategy<Value = Rules> {
    let threshold = prop_oneof![
        (500u64..6_000).prop_map(|xoff| (Some(Bytes(xoff)), 1.0)),
        prop::sample::select(vec![0.125, 0.5, 2.0]).prop_map(|alpha| (None, alpha)),
    ];
    let sizes = (30_000u64..200_000, 0u64..2_000, 1_000u64..12_000, 0u64..3_000);
    let quanta = prop_oneof![Just(65_535u64), 40u64..2_000];
    let mark = prop_oneof![Just(None), (0u32..9).prop_map(|n| Some(QueueLimit::Packets(n)))];
    let red = prop_oneof![3 => Just(None), 2 => red().prop_map(Some)];
    let others = (0usize..3, any::<(bool, bool, bool)>(), mark, red);
    (threshold, sizes, quanta, others).prop_map(|((xoff, alpha), sizes, quanta, (lossless, more, mark, red))| {
        let (buffer, reserve, headroom, resume) = sizes;
        let (high, low) = [(true, true), (true, false), (false, true)][lossless];
        let headroom = Some(Bytes(headroom));
        let quanta = quanta as _;
        let pfc =
            Pfc { buffer, reserve, headroom, resume, xoff, alpha, quanta, high, low, ..Pfc::defaults(Preset::Linux) };
        let (above, counts_in_service, marks_at_dequeue) = more;
        Rules { pfc: Some(pfc), mark, red, above, counts_in_service, marks_at_dequeue, ..Rules::default() }
    })
}

impl Default for Rules {
    /// 100 packets.
    fn default() -> Rules {
        Rules {
            limit: QueueLimit::Packets(100),
            mark: None,
            above: false,
            counts_in_service: false,
            drops_non_ect: false,
            exempt: (false, false, false),
            priority: false,
            marks_at_dequeue: false,
            red: None,
            shared: None,
            trimming: None,
            pfc: None,
        }
    }
}

pub fn rules() -> impl Strategy<Value = Rules> {
    let limit =
        || prop_oneof![(1u32..30).prop_map(QueueLimit::Packets), (1_500u64..30_000).prop_map(QueueLimit::Bytes)];
    let exempt = prop_oneof![2 => Just((false, false, false)), 1 => any::<(bool, bool, bool)>()];
    (limit(), prop::option::of(limit()), any::<bool>(), any::<bool>(), any::<bool>(), exempt).prop_map(
        |(limit, mark, above, counts_in_service, drops_non_ect, exempt)| Rules {
            limit,
            mark,
            above,
            counts_in_service,
            drops_non_ect,
            exempt,
            ..Rules::default()
        },
    )
}

fn red() -> impl Strategy<Value = Red> {
    let thresholds = (0u32..6, 1u32..12, any::<bool>());
    (thresholds, 0.01f64..1.0, 0.002f64..1.0, any::<(bool, bool, bool, bool)>(), 64u16..1500).prop_map(
        |((min, range, in_bytes), max_probability, weight, (gentle, marks, leaving, even), typical_packet)| {
            let limit = |n: u32| if in_bytes { QueueLimit::Bytes(1000 * u64::from(n)) } else { QueueLimit::Packets(n) };
            let (min, max) = (limit(min), limit(min + range));
            let action = if marks { RedAction::Mark } else { RedAction::Drop };
            let leaving = leaving && marks;
            let weight = if leaving { 1.0 } else { weight };
            let packet = Some(Bytes(typical_packet.into()));
            Red { min, max, max_probability, weight, gentle, action, leaving, even, packet }
        },
    )
}

/// Rules of ports that trim.
pub fn trimming() -> impl Strategy<Value = Rules> {
    let headers = prop_oneof![
        (1u32..20).prop_map(QueueLimit::Packets),
        (64u64..2_000).prop_map(QueueLimit::Bytes),
        Just(QueueLimit::Packets(u32::MAX)),
    ];
    (rules(), headers, 1u32..12, prop_oneof![Just(0.0), Just(0.5), Just(1.0)], any::<bool>()).prop_map(
        |(rules, headers, share, trim_arriving, return_to_sender)| Rules {
            trimming: Some(Trimming {
                headers: Some(headers),
                share,
                trim_arriving,
                return_to_sender,
                mark_min: None,
                mark_max: None,
            }),
            ..rules
        },
    )
}

/// Rules of ports that are more than a FIFO queue that marks and drops at its entrance, in any
/// combination.
pub fn disciplines() -> impl Strategy<Value = Rules> {
    let shared = (3_000u64..40_000, 0.25f64..4.0).prop_map(|(bytes, alpha)| SharedBuffer { bytes, alpha });
    let maybe = || prop::option::weighted(0.3, red());
    (rules(), any::<(bool, bool)>(), maybe(), prop::option::weighted(0.3, shared)).prop_map(
        |(rules, (priority, marks_at_dequeue), red, shared)| Rules {
            // Nothing may be exempt from a buffer's end.
            exempt: if shared.is_some() { (false, false, false) } else { rules.exempt },
            drops_non_ect: rules.drops_non_ect || red.is_some(),
            priority,
            // RED marks what comes.
            marks_at_dequeue: marks_at_dequeue && red.is_none(),
            red,
            shared,
            ..rules
        },
    )
}

/// What may become of a link.
pub fn change() -> impl Strategy<Value = LinkChange> {
    let p = || prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0];
    prop_oneof![
        Just(LinkChange::Up(false)),
        Just(LinkChange::Up(true)),
        prop::sample::select(&RATES[..]).prop_map(LinkChange::Rate),
        (1u32..30).prop_map(|n| LinkChange::Limit(QueueLimit::Packets(n))),
        (1_500u64..30_000).prop_map(|n| LinkChange::Limit(QueueLimit::Bytes(n))),
        p().prop_map(|p| LinkChange::Loss(Loss::random(p / 2.0))),
        prop_oneof![Just(0.0), Just(1.0), 1e-6f64..1e-4].prop_map(LinkChange::BitErrors),
        (p(), p(), p(), p()).prop_map(|(in_good, in_bad, to_bad, to_good)| LinkChange::Loss(Loss {
            in_good,
            in_bad,
            to_bad,
            to_good
        })),
    ]
}

/// How long `size` bytes take on a link of one of [`RATES`].
pub fn serialisation(rate: Rate, size: u16) -> Time {
    Time(size as u64 * (8_000_000_000_000 / rate.0))
}

/// Links on a shortest path from one host to another, over switches only unless hosts forward, by
/// breadth-first search.
pub fn distance(fabric: &Fabric, from: HostId, to: HostId) -> Option<usize> {
    let mut reached = vec![false; fabric.nodes()];
    let mut frontier = vec![NodeId::from(from)];
    for distance in 0.. {
        if frontier.contains(&(NodeId::from(to))) {
            return Some(distance);
        }
        let mut next = Vec::new();
        for node in frontier {
            let is_host = node.index() < fabric.hosts();
            if node != NodeId::from(from) && is_host && !fabric.forwards(node) {
                continue;
            }
            for link in fabric.links_from(node) {
                let to = fabric.links()[link.index()].to;
                if !std::mem::replace(&mut reached[to.index()], true) {
                    next.push(to);
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        frontier = next;
    }
    unreachable!()
}

/// The nodes along a path, the first one included.
pub fn nodes(fabric: &Fabric, from: HostId, path: &[LinkId]) -> Vec<NodeId> {
    let mut nodes = vec![NodeId::from(from)];
    for link in path {
        let l = &fabric.links()[link.index()];
        assert_eq!(l.from, *nodes.last().unwrap(), "a path without a gap");
        nodes.push(l.to);
    }
    nodes
}
