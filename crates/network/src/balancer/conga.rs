//! CONGA: switches of hosts tell each other how congested paths are, and flowlets take the least
//! congested one (Alizadeh et al., "CONGA: distributed congestion-aware load balancing for
//! datacenters", SIGCOMM 2014).

use super::flowlet_table::FlowletTables;
use super::{Balancer, Choice, Hop, Queues, one_of};
use crate::fabric::{Fabric, LinkId, LinkSpec, NodeId};
use crate::packet::{Packet, hash};
use crate::trailer::{Tag, Trailers};
use linkpool_engine::{Stream, stream};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{HostId, Rate, Time};
use rand::RngCore;

settings! {
    /// CONGA (Alizadeh et al., SIGCOMM 2014). The defaults are those of section 3.6 of the paper,
    /// but for `period`, which it does not say.
    #[derive(Copy, Eq)]
    pub struct Conga {
        /// The time constant of the estimate of a link's load.
        tau: Time = Time::from_us(160), within Bounds::POSITIVE_SPAN;
        /// The time between two decays of that estimate, each by `period/tau`.
        period: Time = Time::from_us(20), within Bounds::POSITIVE_SPAN,
            refused |c| c.period > c.tau || c.tau > c.period * 1000 => "must be at most `tau`, and at least a thousandth of it";
        /// The number of bits of a measure of congestion.
        bits: u32 = 3, within Bounds::from(1.0, "{} is no number of bits, 1 to 8").to(8.0);
        /// The least pause between two packets of a flow after which the second begins a flowlet.
        gap: Time = Time::from_us(500), within Bounds::POSITIVE_SPAN;
        /// Time without news of a measure after which it is lowered by one, and again after each
        /// such time.
        age: Time = Time::from_ms(10), within Bounds::POSITIVE_SPAN;
    }
}

/// The uplinks of a leaf that the four bits of a tag tell apart.
pub const MOST_UPLINKS: usize = 16;

const NO_LEAF: u32 = u32::MAX;

/// The state of all switches.
#[derive(Debug)]
pub(super) struct CongaBalancer {
    settings: Conga,
    /// By node: the number of the leaf, a switch with hosts; [`NO_LEAF`]: it is none.
    leaves: Vec<u32>,
    /// By host: the number of its leaf.
    leaf_of_host: Vec<u32>,
    ends: Vec<Ends>,
    loads: Vec<Load>,
    /// By leaf, and in each by the other leaf and uplink: what it knows of the other.
    tables: Vec<Vec<Known>>,
    /// By leaf, and in each by the other leaf: the uplink of which it told the other last.
    told: Vec<Vec<u8>>,
    flowlets: FlowletTables<Option<LinkId>>,
    /// By node: what decides between links that are equally congested.
    ties: Vec<Stream>,
    /// The least congested links of a choice.
    least: Vec<u32>,
}

/// The ends of a link.
#[derive(Clone, Copy, Debug)]
struct Ends {
    from_host: bool,
    to_host: bool,
    /// The number of a link that leads from a leaf to a switch, among those of the leaf.
    uplink: u8,
}

/// What a leaf knows of another.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The congestion of paths to it from an uplink of this leaf (Congestion-To-Leaf, section 3.3).
    to: Measure,
    /// The congestion of paths from an uplink of it (Congestion-From-Leaf).
    from: Option<u8>,
    /// Has that changed since it was told?
    is_new: bool,
}

/// A measure that another leaf has told.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    value: u8,
    at: Time,
}

impl Measure {
    /// What is left of it at `now` (section 3.3).
    fn aged(self, now: Time, age: Time) -> u8 {
        let steps = now.saturating_sub(self.at).0 / age.0;
        u64::from(self.value).saturating_sub(steps) as u8
    }
}

/// The discounting rate estimator of a link (section 3.2).
#[derive(Clone, Copy, Debug)]
struct Load {
    /// X: the bytes that were sent, of which each period takes a part.
    bytes: f64,
    /// The number of the period in which `bytes` are right.
    period: u64,
    /// The bytes that the link sends in `tau`, which X is at full load.
    full: f64,
}

impl Load {
    /// X at `now`.
    fn at(&mut self, now: Time, settings: &Conga) -> f64 {
        let period = now.0 / settings.period.0;
        let keeps = 1.0 - settings.period.0 as f64 / settings.tau.0 as f64;
        while self.period < period && self.bytes >= 1.0 {
            self.bytes *= keeps;
            self.period += 1;
        }
        if self.period < period {
            (self.bytes, self.period) = (0.0, period);
        }
        self.bytes
    }

    /// The measure of congestion: X by that of full load, in steps.
    fn measure(&mut self, now: Time, settings: &Conga) -> u8 {
        let steps = f64::from(1u32 << settings.bits);
        (self.at(now, settings) / self.full * steps).min(steps - 1.0) as u8
    }
}

/// What the leaf of the source writes on a packet (section 3.1): beside the four fields of the paper, the leaf
/// itself, which is the source of the overlay's packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Header {
    leaf: u32,
    /// LBTag: the uplink that the packet took.
    uplink: u8,
    /// CE: the congestion of the most congested link on the way.
    congestion: u8,
    /// FB_LBTag and FB_Metric: an uplink of the destination's leaf, and the congestion of paths from it.
    feedback: Option<(u8, u8)>,
}

impl Header {
    fn tag(self) -> Tag {
        let [a, b, c, d] = self.leaf.to_le_bytes();
        let (uplink, congestion) = self.feedback.unwrap_or((u8::MAX, 0));
        [a, b, c, d, self.uplink, self.congestion, uplink, congestion]
    }

    fn of([a, b, c, d, uplink, congestion, back, metric]: Tag) -> Header {
        let feedback = (back != u8::MAX).then_some((back, metric));
        Header { leaf: u32::from_le_bytes([a, b, c, d]), uplink, congestion, feedback }
    }
}

impl CongaBalancer {
    pub(super) fn new(settings: Conga, fabric: &Fabric, seed: u64) -> CongaBalancer {
        let is_host = |node: NodeId| node.index() < fabric.hosts();
        let has_hosts = |node: NodeId| fabric.links_from(node).any(|link| is_host(fabric.links()[link.index()].to));
        let mut leaves = vec![NO_LEAF; fabric.nodes()];
        let switches = NodeId::first(fabric.nodes()).skip(fabric.hosts());
        let with_hosts: Vec<NodeId> = switches.filter(|node| has_hosts(*node)).collect();
        with_hosts.iter().zip(0..).for_each(|(node, number)| leaves[node.index()] = number);
        let leaf_of = |host: NodeId| {
            let first = fabric.links_from(host).next();
            first.map_or(NO_LEAF, |link| leaves[fabric.links()[link.index()].to.index()])
        };
        let mut uplinks = vec![0; fabric.nodes()];
        let ends = fabric.links().iter().map(|link| {
            let number = &mut uplinks[link.from.index()];
            *number += u8::from(!is_host(link.to) && !is_host(link.from));
            Ends { from_host: is_host(link.from), to_host: is_host(link.to), uplink: number.saturating_sub(1) }
        });
        let ends = ends.collect();
        // Bits per second times picoseconds, in bytes.
        let full = |rate: Rate| rate.0 as f64 * settings.tau.0 as f64 / 8e12;
        let load = |link: &LinkSpec| Load { bytes: 0.0, period: 0, full: full(link.rate) };
        CongaBalancer {
            settings,
            leaf_of_host: NodeId::first(fabric.hosts()).map(leaf_of).collect(),
            ends,
            loads: fabric.links().iter().map(load).collect(),
            tables: vec![vec![Known::default(); with_hosts.len() * MOST_UPLINKS]; with_hosts.len()],
            told: vec![vec![0; with_hosts.len()]; with_hosts.len()],
            leaves,
            flowlets: FlowletTables::new(settings.gap, fabric),
            ties: (0..fabric.nodes()).map(|node| stream(seed, "conga", node as u64)).collect(),
            least: Vec::new(),
        }
    }

    /// The number of the leaf of `host`.
    fn leaf_of(&self, host: HostId) -> u32 {
        self.leaf_of_host[host.index()]
    }

    /// The link of `choice` by which the path is least congested, at the leaf of the source (section 3.5): the greater of
    /// the link's own congestion and what the other leaf has told of it. Of several, `last` if it is one of them, else a random
    /// one. A link that is down is taken only if all are.
    fn least_congested(
        &mut self,
        choice: Choice<'_>,
        packet: &Packet,
        last: Option<LinkId>,
        queues: &mut impl Queues,
    ) -> u32 {
        let (now, to) = (packet.arrival, self.leaf_of(packet.dst()));
        let table = &self.tables[self.leaves[choice.node.index()] as usize];
        let mut best = u32::MAX;
        self.least.clear();
        for number in 0..choice.links {
            let link = (choice.link)(number);
            let told = table[to as usize * MOST_UPLINKS + usize::from(self.ends[link.index()].uplink)].to;
            let own = self.loads[link.index()].measure(now, &self.settings);
            let is_up = queues.bytes(number).is_some();
            let congestion = if is_up { own.max(told.aged(now, self.settings.age)).into() } else { u32::MAX };
            if congestion < best {
                best = congestion;
                self.least.clear();
            }
            if congestion == best {
                self.least.push(number);
            }
        }
        let keeps = self.least.iter().find(|number| last == Some((choice.link)(**number)));
        let drawn = || self.least[one_of(self.least.len() as u32, self.ties[choice.node.index()].next_u32()) as usize];
        keeps.copied().unwrap_or_else(drawn)
    }

    /// What `leaf` tells another next (section 3.3): in turn the uplinks of the other, those first of which the congestion has
    /// changed since it was told.
    fn feedback(&mut self, leaf: u32, other: u32) -> Option<(u8, u8)> {
        let told = &mut self.told[leaf as usize][other as usize];
        let known = &mut self.tables[leaf as usize][other as usize * MOST_UPLINKS..][..MOST_UPLINKS];
        let in_turn = (1..=MOST_UPLINKS).map(|step| (usize::from(*told) + step) % MOST_UPLINKS);
        let mut with_value = in_turn.filter(|uplink| known[*uplink].from.is_some());
        let uplink = with_value.clone().find(|uplink| known[*uplink].is_new).or_else(|| with_value.next())?;
        *told = uplink as u8;
        known[uplink].is_new = false;
        Some((uplink as u8, known[uplink].from?))
    }

    /// `leaf` gets what is written on a packet for one of its hosts.
    fn learn(&mut self, leaf: u32, header: Header, now: Time) {
        let known = &mut self.tables[leaf as usize][header.leaf as usize * MOST_UPLINKS..][..MOST_UPLINKS];
        let from = &mut known[usize::from(header.uplink)];
        from.is_new |= from.from != Some(header.congestion);
        from.from = Some(header.congestion);
        if let Some((uplink, value)) = header.feedback {
            known[usize::from(uplink)].to = Measure { value, at: now };
        }
    }
}

impl Balancer for CongaBalancer {
    /// At the leaf of the source, by congestion for each flowlet; elsewhere by a hash (section 3.1).
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, queues: &mut impl Queues) -> u32 {
        if !self.ends[choice.ingress.index()].from_host {
            return one_of(choice.links, hash(choice.salt, packet));
        }
        let (last, continues) = self.flowlets.entry(choice, packet);
        let last = *last;
        if continues
            && let Some(number) = (0..choice.links).find(|number| last == Some((choice.link)(*number)))
            && queues.bytes(number).is_some()
        {
            return number;
        }
        let chosen = self.least_congested(choice, packet, last, queues);
        self.flowlets.set(choice, packet, Some((choice.link)(chosen)));
        chosen
    }

    fn sees_queues(&self) -> bool {
        true
    }

    fn sees_all(&self) -> bool {
        true
    }

    /// The leaf of the source writes a header, all switches note the packet's size and raise its CE, and the leaf of the
    /// destination reads the header and takes it off.
    fn sends(&mut self, Hop { node, ingress, egress }: Hop, packet: &mut Packet, tags: &mut Trailers) {
        let (now, leaf) = (packet.arrival, self.leaves[node.index()]);
        let (comes, goes) = (self.ends[ingress.index()], self.ends[egress.index()]);
        if goes.to_host {
            if let Some(header) = tags.take_tag(packet).map(Header::of)
                && header.leaf != leaf
            {
                self.learn(leaf, header, now);
            }
            return;
        }
        let load = &mut self.loads[egress.index()];
        load.at(now, &self.settings);
        load.bytes += f64::from(packet.size());
        let congestion = load.measure(now, &self.settings);
        let header = if comes.from_host {
            let feedback = self.feedback(leaf, self.leaf_of(packet.dst()));
            Header { leaf, uplink: goes.uplink, congestion, feedback }
        } else {
            let Some(header) = tags.tag(packet).map(Header::of) else { return };
            Header { congestion: header.congestion.max(congestion), ..header }
        };
        tags.set_tag(packet, header.tag());
    }
}

/// Why switches of `fabric` cannot choose by congestion; none: they can.
pub(super) fn misfit(fabric: &Fabric) -> Option<String> {
    let one_nic = |host: NodeId| fabric.links_from(host).len() == 1;
    if fabric.hosts_forward() || !NodeId::first(fabric.hosts()).all(one_nic) {
        return Some("\"conga\" is for fabrics whose hosts have one NIC and do not forward".to_string());
    }
    let leads_to_host = |link: &LinkId| fabric.links()[link.index()].to.index() < fabric.hosts();
    let uplinks = |node: NodeId| {
        let hosts = fabric.links_from(node).filter(leads_to_host).count();
        if hosts > 0 { fabric.links_from(node).len() - hosts } else { 0 }
    };
    let mut switches = NodeId::first(fabric.nodes()).skip(fabric.hosts());
    let leaf = switches.find(|node| uplinks(*node) > MOST_UPLINKS)?;
    let (name, count) = (fabric.name(leaf), uplinks(leaf));
    Some(format!(
        "\"conga\" tells {MOST_UPLINKS} uplinks of a switch apart, and {name} has {count}; choose another kind"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Envelope;
    use crate::topology::{Generator, LeafSpine};
    use proptest::prelude::*;

    /// Two leaves with a host each and two spines, of which the links have 10 Gbit/s: 200,000 bytes in 160 us.
    fn fabric() -> Fabric {
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let shape =
            LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 1, rate, delay, uplink_rate: rate, uplink_delay: delay };
        shape.fabric()
    }

    fn paper() -> Conga {
        let (tau, period, gap) = (Time::from_us(160), Time::from_us(20), Time::from_us(500));
        Conga { tau, period, bits: 3, gap, age: Time::from_ms(10) }
    }

    /// A CONGA there, with the packets that it sends.
    struct Bench {
        fabric: Fabric,
        conga: CongaBalancer,
        tags: Trailers,
    }

    fn bench() -> Bench {
        let fabric = fabric();
        Bench { conga: CongaBalancer::new(paper(), &fabric, 1), fabric, tags: Trailers::default() }
    }

    impl Bench {
        fn link(&self, from: &str, to: &str) -> LinkId {
            self.fabric.link(self.fabric.node(from).unwrap(), self.fabric.node(to).unwrap()).unwrap()
        }

        /// The packet goes on by these nodes.
        fn hop(&mut self, [from, at, to]: [&str; 3], packet: &mut Packet) -> Option<Header> {
            let node = self.fabric.node(at).unwrap();
            let hop = Hop { node, ingress: self.link(from, at), egress: self.link(at, to) };
            self.conga.sends(hop, packet, &mut self.tags);
            self.tags.tag(packet).map(Header::of)
        }

        /// The spine that leaf 0 chooses for a packet from host 0 to host 1; some links are down.
        fn choice(&mut self, packet: &Packet, down: &[u32]) -> u32 {
            let links = ["s0", "s1"].map(|spine| self.link("l0", spine));
            let link = |number: u32| links[number as usize];
            let (node, ingress) = (self.fabric.node("l0").unwrap(), self.link("h0", "l0"));
            let choice = Choice { node, ingress, salt: 3, links: 2, link: &link };
            self.conga.choose(choice, packet, &mut |number| (!down.contains(&number)).then_some(0))
        }
    }

    /// At a time, to a host.
    fn packet(us: u64, to: usize, size: u16) -> Packet {
        let envelope = Envelope::new(HostId::new(to), size, 0);
        Packet { arrival: Time::from_us(us), seq: 12, envelope, ..Packet::default() }
    }

    /// X loses an eighth every 20 us. Half of 200,000 bytes are 4 of 8 steps; 87,500 are 3.5 of them, 76,562 are 3.06, and
    /// 66,992 are 2.68. The greatest of three bits is 7.
    #[test]
    fn a_load_decays() {
        let (settings, mut load) = (paper(), bench().conga.loads[0]);
        assert_eq!(load.full, 200_000.0);
        load.bytes = 100_000.0;
        for (us, bytes, measure) in
            [(0, 100_000.0, 4), (19, 100_000.0, 4), (20, 87_500.0, 3), (59, 76_562.5, 3), (60, 66_992.187_5, 2)]
        {
            assert_eq!(
                (load.at(Time::from_us(us), &settings), load.measure(Time::from_us(us), &settings)),
                (bytes, measure)
            );
        }
        load.bytes = 300_000.0;
        assert_eq!(load.measure(Time::from_us(60), &settings), 7);
        assert_eq!((load.at(Time::from_ms(20), &settings), load.period), (0.0, 1000));
        let fine = Conga { bits: 6, ..settings };
        load.bytes = 100_000.0;
        assert_eq!(load.measure(Time::from_ms(20), &fine), 32);
    }

    /// A measure of 5 loses one in each 10 ms.
    #[test]
    fn a_measure_ages() {
        let (measure, age) = (Measure { value: 5, at: Time::from_ms(3) }, Time::from_ms(10));
        let aged = |us: u64| measure.aged(Time::from_us(us), age);
        assert_eq!([0, 3_000, 12_999, 13_000, 53_000, 999_000].map(aged), [5, 5, 5, 4, 0, 0]);
    }

    /// Host 0 sends 9,000 bytes over spine 1, whose link to leaf 1 has sent 60,000 bytes just before: 2 of 8 steps with the
    /// packet, as 69,000 of 200,000 bytes are 2.76. Leaf 1 tells leaf 0 with the next packet that goes back, and leaf 0 then takes spine 0.
    #[test]
    fn leaves_tell_each_other_of_congestion() {
        let mut bench = bench();
        let busy = bench.link("s1", "l1");
        bench.conga.loads[busy.index()].bytes = 60_000.0;
        let mut there = packet(1, 1, 9_000);
        let written = Header { leaf: 0, uplink: 1, congestion: 0, feedback: None };
        assert_eq!(bench.hop(["h0", "l0", "s1"], &mut there), Some(written));
        assert_eq!(bench.hop(["l0", "s1", "l1"], &mut there), Some(Header { congestion: 2, ..written }));
        assert_eq!((bench.hop(["s1", "l1", "h1"], &mut there), there.seq, bench.tags.in_use()), (None, 12, 0));
        // By the other spine: each leaf tells of what it has got.
        let mut back = packet(5, 0, 64);
        let written = Header { leaf: 1, uplink: 0, congestion: 0, feedback: Some((1, 2)) };
        assert_eq!(bench.hop(["h1", "l1", "s0"], &mut back), Some(written));
        assert_eq!(bench.hop(["l1", "s0", "l0"], &mut back), Some(written));
        assert_eq!(bench.hop(["s0", "l0", "h0"], &mut back), None);
        assert_eq!(bench.choice(&packet(9, 1, 9_000), &[]), 0);
        assert_eq!(bench.choice(&packet(600, 1, 9_000), &[0]), 1, "the other is down");
        // What leaf 1 has told is 0 after 20 ms: its last link, 1, is as good as the other.
        assert_eq!(bench.choice(&packet(20_100, 1, 9_000), &[]), 1);
    }

    /// Nothing is written on packets between hosts of one leaf, and a packet that comes back to its leaf tells it nothing.
    #[test]
    fn a_leaf_tells_itself_nothing() {
        let mut bench = bench();
        assert_eq!(bench.hop(["h0", "l0", "h0"], &mut packet(1, 0, 64)), None);
        let mut there = packet(1, 1, 9_000);
        bench.hop(["h0", "l0", "s1"], &mut there);
        assert_eq!(bench.hop(["s1", "l0", "h0"], &mut there), None);
        assert!(bench.conga.tables[0].iter().all(|known| known.from.is_none()));
        assert_eq!(bench.conga.loads[bench.link("l0", "h0").index()].bytes, 0.0, "links to hosts do not count");
    }

    /// A flowlet keeps its link, whatever happens. The next one leaves it only for a better one: 25,000 bytes are one step.
    #[test]
    fn a_flowlet_keeps_its_link_and_the_next_one_unless_it_is_worse() {
        let mut bench = bench();
        let first = bench.choice(&packet(0, 1, 64), &[]);
        let links = ["s0", "s1"].map(|spine| bench.link("l0", spine));
        let set = |bench: &mut Bench, number: u32, bytes: f64, us: u64| {
            bench.conga.loads[links[number as usize].index()] = Load { bytes, period: us / 20, full: 200_000.0 };
        };
        set(&mut bench, first, 199_000.0, 400);
        assert_eq!(bench.choice(&packet(400, 1, 64), &[]), first, "400 us are no gap");
        assert_eq!(bench.choice(&packet(401, 1, 64), &[first]), 1 - first, "the link has failed");
        set(&mut bench, 1 - first, 24_000.0, 1000);
        assert_eq!(bench.choice(&packet(1000, 1, 64), &[]), 1 - first, "0 is as good as 0");
        set(&mut bench, 1 - first, 25_000.0, 2000);
        assert_eq!(bench.choice(&packet(2000, 1, 64), &[]), first, "0 is better than 1");
    }

    /// New flows at equal congestion take either link: of 400, 200 each, with a standard deviation of 10.
    #[test]
    fn equal_links_are_drawn() {
        let mut bench = bench();
        let flow = |entropy| Packet { entropy, ..packet(0, 1, 64) };
        let taken: u32 = (0..400).map(|entropy| bench.choice(&flow(entropy), &[])).sum();
        assert!((150..=250).contains(&taken), "{taken}");
    }

    /// Leaf 0 has got 1, 2 and 3 by uplinks 4, 7 and 9 of leaf 1. It tells each once, then in turn, but first what has changed.
    #[test]
    fn what_has_changed_is_told_first() {
        let mut bench = bench();
        assert_eq!(bench.conga.feedback(0, 1), None);
        let header = |uplink, congestion| Header { leaf: 1, uplink, congestion, feedback: None };
        let (conga, now) = (&mut bench.conga, Time::ZERO);
        let got = [(4, 1), (7, 2), (9, 3)];
        got.into_iter().for_each(|(uplink, congestion)| conga.learn(0, header(uplink, congestion), now));
        let told: Vec<_> = (0..5).map(|_| conga.feedback(0, 1).unwrap()).collect();
        assert_eq!(told, [(4, 1), (7, 2), (9, 3), (4, 1), (7, 2)]);
        let got = [(9, 3), (4, 5)];
        got.into_iter().for_each(|(uplink, congestion)| conga.learn(0, header(uplink, congestion), now));
        let told: Vec<_> = (0..3).map(|_| conga.feedback(0, 1).unwrap()).collect();
        assert_eq!(told, [(4, 5), (7, 2), (9, 3)]);
    }

    #[test]
    fn conga_needs_one_leaf_for_each_host_and_few_uplinks() {
        assert_eq!(misfit(&fabric()), None);
        let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
        let spines = |spines| {
            LeafSpine { leaves: 2, spines, hosts_per_leaf: 20, rate, delay, uplink_rate: rate, uplink_delay: delay }
                .fabric()
        };
        assert_eq!(misfit(&spines(16)), None);
        assert!(misfit(&spines(17)).is_some_and(|why| why.contains("l0 has 17")));
        let bcube = crate::topology::BCube { n: 3, k: 1, rate, delay }.fabric();
        assert!(misfit(&bcube).is_some_and(|why| why.contains("one NIC")));
    }

    proptest! {
        /// A header is read as it was written.
        #[test]
        fn headers_are_read_as_written(
            (leaf, uplink, congestion) in (0u32..1 << 20, 0u8..16, any::<u8>()),
            feedback in prop::option::of((0u8..16, any::<u8>())),
        ) {
            let header = Header { leaf, uplink, congestion, feedback };
            prop_assert_eq!(Header::of(header.tag()), header);
        }
    }
}
