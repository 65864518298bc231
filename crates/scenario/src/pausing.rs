//! What ports that pause each other need, before anything runs.

use crate::Scenario;
use linkpool_network::{Fabric, Layer, NodeId, Pfc, Queue};
use linkpool_units::{Rate, Time};

/// Links of one kind that lead to switches of one layer, whose ports pause their neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Headroom {
    /// The layer of the nodes that are paused.
    pub from: Layer,
    /// The layer of the switches that pause them.
    pub to: Layer,
    /// The rate of each link.
    pub rate: Rate,
    /// Its delay.
    pub delay: Time,
    /// How many there are.
    pub links: u64,
    /// What may come by one from when a packet asks for the pause, that packet included, bytes.
    pub needed: u64,
    /// What the switch has for that, for each lossless priority, bytes.
    pub headroom: u64,
    /// May a pause end before its frame is repeated, as that waits for a packet of the largest
    /// size?
    pub lapses: bool,
}

/// The links to switches, kind by kind; none where ports do not pause.
pub fn headrooms(scenario: &Scenario) -> Vec<Headroom> {
    let Some(fabric) = &pausing_fabric(scenario) else { return Vec::new() };
    let sizes = scenario.transports.iter().map(|t| {
        let full = u64::from(t.wire.header) + u64::from(t.config.mss);
        full.max(t.wire.ack_size.into())
    });
    let packet = sizes.max().unwrap_or(0);
    let mut kinds: Vec<Headroom> = Vec::new();
    for (node, pfc) in pausing(scenario, fabric) {
        let to = fabric.layer(node);
        for link in fabric.links_from(node) {
            let spec = &fabric.links()[fabric.reverse(link).index()];
            let (from, rate, delay) = (fabric.layer(spec.from), spec.rate, spec.delay);
            let is_like = |kind: &&mut Headroom| (kind.from, kind.to, kind.rate, kind.delay) == (from, to, rate, delay);
            match kinds.iter_mut().find(is_like) {
                Some(kind) => kind.links += 1,
                None => {
                    let (needed, headroom) = (Pfc::needed(rate, delay, packet), pfc.headroom_of(rate, delay));
                    let lapses = pfc.lapses(rate, packet);
                    kinds.push(Headroom { from, to, rate, delay, links: 1, needed, headroom, lapses });
                }
            }
        }
    }
    kinds
}

/// The buffer of the switches of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchBuffer {
    /// The layer.
    pub layer: Layer,
    /// The buffer of each, bytes.
    pub buffer: u64,
    /// What is set aside of it for headroom and reserves of all links and lossless priorities,
    /// bytes, at the switch with the most. The rest is shared.
    pub set_aside: u64,
}

/// The buffers of switches, layer by layer; none where ports do not pause.
pub fn buffers(scenario: &Scenario) -> Vec<SwitchBuffer> {
    let Some(fabric) = &pausing_fabric(scenario) else { return Vec::new() };
    let mut layers: Vec<SwitchBuffer> = Vec::new();
    for (node, pfc) in pausing(scenario, fabric) {
        let (layer, set_aside) = (fabric.layer(node), set_aside(&pfc, fabric, node));
        match layers.iter_mut().find(|of| of.layer == layer) {
            Some(of) => of.set_aside = of.set_aside.max(set_aside),
            None => layers.push(SwitchBuffer { layer, buffer: pfc.buffer, set_aside }),
        }
    }
    layers
}

/// The fabric, if any ports pause; to make it takes a while where it is large.
fn pausing_fabric(scenario: &Scenario) -> Option<Fabric> {
    let mut queues = scenario.layer_queues.iter().map(|(_, queue)| queue).chain([&scenario.queue]);
    queues.any(|queue| queue.pausing().is_some()).then(|| scenario.topology.fabric())
}

/// The switches whose ports pause their neighbours.
fn pausing(scenario: &Scenario, fabric: &Fabric) -> impl Iterator<Item = (NodeId, Pfc)> {
    let switches = NodeId::first(fabric.nodes()).skip(fabric.hosts());
    switches.filter_map(|node| {
        let queue = queue_of((&scenario.queue, &scenario.layer_queues), fabric.layer(node));
        Some((node, queue.pausing()?))
    })
}

/// What the switch `node` sets aside for headroom and reserves, bytes.
pub(crate) fn set_aside(pfc: &Pfc, fabric: &Fabric, node: NodeId) -> u64 {
    let links = fabric.links_from(node).map(|link| &fabric.links()[fabric.reverse(link).index()]);
    links.map(|spec| (pfc.headroom_of(spec.rate, spec.delay) + pfc.reserve) * pfc.lossless_priorities()).sum()
}

/// The queue of the ports of `layer`.
pub(crate) fn queue_of<'a>((queue, layers): (&'a Queue, &'a [(Layer, Queue)]), layer: Layer) -> &'a Queue {
    layers.iter().find(|(of, _)| *of == layer).map_or(queue, |(_, queue)| queue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    /// A leaf and spine with links of two kinds. A full packet of RoCE has 1,106 B; links
    /// of 10 Gbit/s carry 1,250 B in 1 us, those of 40 Gbit/s 10,000 B in 2 us.
    fn scenario(queue: &str) -> Scenario {
        let text = format!(
            "duration = \"1ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 3\nhosts_per_leaf = 4\nrate = \"10Gbps\"\n\
             uplink_rate = \"40Gbps\"\ndelay = \"1us\"\nuplink_delay = \"2us\"\n[queue]\n{queue}\n[transport.t]\n\
             control = \"roce\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h5\"\nsize = \"1MB\""
        );
        load(&text, "pausing.toml", None, &[]).expect("it is right")
    }

    #[test]
    fn what_comes_until_a_pause_holds_is_that_by_hand() {
        let scenario = scenario("pfc = { buffer = \"400KB\", packet = \"1000B\" }");
        let kind = |h: Headroom| (h.from, h.to, h.rate, h.delay, h.links, h.needed, h.headroom);
        let (ten, forty) = ((Rate::gbps(10), Time::from_us(1)), (Rate::gbps(40), Time::from_us(2)));
        let (host, edge, core) = (Layer::Host, Layer::Edge, Layer::Core);
        let found: Vec<_> = headrooms(&scenario).into_iter().map(kind).collect();
        assert_eq!(
            found,
            [
                (host, edge, ten.0, ten.1, 8, 2_500 + 3_318 + 84, 2_500 + 3_000 + 84),
                (core, edge, forty.0, forty.1, 6, 20_000 + 3_318 + 84, 20_000 + 3_000 + 84),
                (edge, core, forty.0, forty.1, 6, 20_000 + 3_318 + 84, 20_000 + 3_000 + 84),
            ]
        );
        let leaf = 4 * (5_584 + 4_000) + 3 * (23_084 + 4_000);
        let buffer = |layer, set_aside| SwitchBuffer { layer, buffer: 400_000, set_aside };
        assert_eq!(buffers(&scenario), [buffer(edge, leaf), buffer(core, 2 * (23_084 + 4_000))]);
    }

    /// A packet of 1,106 B takes 884.8 ns at 10 Gbit/s and 221.2 ns at 40, 17.28 quanta of 512
    /// bits. Of 34 quanta half are less than that, of 35 more. A frame that is repeated only as the
    /// pause ends comes too late at any rate.
    #[test]
    fn a_pause_must_last_until_its_frame_is_repeated() {
        let lapses = |keys: &str| -> Vec<bool> {
            let scenario = scenario(&format!("pfc = {{ buffer = \"400KB\", {keys} }}"));
            headrooms(&scenario).into_iter().map(|kind| kind.lapses).collect()
        };
        assert_eq!(lapses("quanta = 34"), [true; 3]);
        assert_eq!(lapses("quanta = 35"), [false; 3]);
        assert_eq!(lapses("quanta = 65535, refresh = 1.0"), [true; 3]);
        assert_eq!(lapses("alpha = 0.5"), [false; 3]);
    }

    /// With priorities both count, or the one that is lossless; a layer may have values of its own.
    #[test]
    fn each_lossless_priority_has_its_own() {
        let leaf = |queue: &str| buffers(&scenario(queue))[0].set_aside;
        let one = leaf("pfc = { buffer = \"1MB\" }");
        assert_eq!(leaf("discipline = \"priority\"\npfc = { buffer = \"1MB\" }"), 2 * one);
        assert_eq!(leaf("discipline = \"priority\"\npfc = { buffer = \"1MB\", low = false }"), one);
        let of_layer =
            "pfc = { buffer = \"1MB\" }\nlayer.edge.pfc = { buffer = \"1MB\", headroom = \"1KB\", reserve = \"1KB\" }";
        assert_eq!(leaf(of_layer), 7 * 2_000);
        let scenario = scenario("limit = 10");
        assert!(headrooms(&scenario).is_empty() && buffers(&scenario).is_empty());
    }
}
