//! Packets on their way: queued or on the wire, listed by the window in which they arrive.

use crate::fabric::{LinkId, NodeId};
use crate::link::Link;
use crate::packet::{Envelope, Flags, Kind, Packet};
use crate::partition::Partitions;
use crate::routing::Routes;
use crate::stages::{MOST_STAGES, Stage};
use linkpool_engine::{TimingWheel, Windows};
use linkpool_units::Time;
use std::sync::Arc;

/// A packet on its way, with the link that it is on and the node to which the link leads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) packet: Packet,
    pub(crate) node: NodeId,
    pub(crate) link: LinkId,
}

impl Incoming {
    /// The number of words that hold one.
    pub(crate) const WORDS: usize = 5;

    /// It as words, which threads may exchange as atomics.
    #[inline]
    pub(crate) fn to_words(self) -> [u64; Incoming::WORDS] {
        let Packet { arrival, entropy, endpoint, seq, ack, envelope, flags, kind } = self.packet;
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            arrival.0,
            pair(entropy, endpoint),
            pair(seq, ack),
            envelope.to_bits()
                | u64::from(flags.0) << Envelope::BITS
                | u64::from(kind.0) << (Envelope::BITS + u8::BITS),
            pair(self.node.into(), self.link.into()),
        ]
    }

    /// The inverse of [`Incoming::to_words`].
    #[inline]
    pub(crate) fn from_words(words: [u64; Incoming::WORDS]) -> Incoming {
        let [arrival, ..] = words;
        let [_, [entropy, endpoint], [seq, ack], _, [node, link]] =
            words.map(|word| [word as u32, (word >> 32) as u32]);
        let envelope = Envelope::from_bits(words[3]);
        let [flags, kind] = ((words[3] >> Envelope::BITS) as u16).to_le_bytes();
        let (flags, kind) = (Flags(flags), Kind(kind));
        let packet = Packet { arrival: Time(arrival), entropy, endpoint, seq, ack, envelope, flags, kind };
        Incoming { packet, node: node.into(), link: link.into() }
    }
}

/// The packets that links have accepted and that have not arrived yet.
///
/// A packet's arrival is known when it joins a FIFO queue. So it is written once, to the list of
/// the packets that arrive in the same window, and read there when that window comes. No link is
/// asked for what has arrived.
///
/// There are lists of the packets that come to nodes of this partition, by [`Stage`], and of those that
/// come to each other partition.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// By stage of this partition.
    wheel: TimingWheel<Incoming, MOST_STAGES>,
    /// By partition: those that it gets when partitions meet.
    outbound: Box<[Vec<Incoming>]>,
    onward: Onward,
    windows: Windows,
}

/// Finds the partition that runs a switch for a packet, if the switch is split by output.
#[derive(Debug)]
pub(crate) struct Onward {
    pub(crate) partitions: Arc<Partitions>,
    pub(crate) routes: Arc<Routes>,
    /// By link: the stage of this partition that packets join when they have come by it.
    pub(crate) joined: Arc<[Stage]>,
    /// This partition.
    pub(crate) me: u8,
}

/// The number of the list of packets that come to `partition`, which is another one.
pub(crate) fn list_elsewhere(partition: u8) -> u16 {
    MOST_STAGES as u16 + u16::from(partition)
}

/// In place of a list: the packet's next link tells its list.
pub(crate) const BY_NEXT_LINK: u16 = u16::MAX;

impl InFlight {
    /// No packets.
    pub(crate) fn new(windows: Windows, onward: Onward) -> InFlight {
        let outbound = vec![Vec::new(); onward.partitions.count()].into();
        InFlight { wheel: TimingWheel::new(), outbound, onward, windows }
    }

    /// Adds `packet` on `link`, which has the number `id`; it arrives at the time `arrival`.
    #[inline(always)]
    pub(crate) fn add(&mut self, id: LinkId, link: &Link, arrival: Time, packet: &Packet) {
        let list = usize::from(link.list);
        let place = match list {
            0..MOST_STAGES => self.wheel.push(self.windows.of(arrival), list),
            _ => self.place_elsewhere(id, link, arrival, packet),
        };
        place.packet = *packet;
        place.packet.arrival = arrival;
        (place.node, place.link) = (link.to, id);
    }

    /// A place for a packet on a link to another partition, or to a switch that is split by output.
    #[inline(never)]
    fn place_elsewhere(&mut self, id: LinkId, link: &Link, arrival: Time, packet: &Packet) -> &mut Incoming {
        let list = if link.list == BY_NEXT_LINK { self.onward.list(id, link.to, packet) } else { link.list };
        let list = usize::from(list);
        if list < MOST_STAGES {
            return self.wheel.push(self.windows.of(arrival), list);
        }
        let outbound = &mut self.outbound[list - MOST_STAGES];
        outbound.push(Incoming::default());
        let last = outbound.len() - 1;
        &mut outbound[last]
    }

    /// Adds a packet that joins `stage`.
    #[inline]
    pub(crate) fn push(&mut self, stage: Stage, incoming: Incoming) {
        let window = self.windows.of(incoming.packet.arrival);
        *self.wheel.push(window, stage.into()) = incoming;
    }

    /// Adds a packet that comes from another partition.
    #[inline]
    pub(crate) fn take_over(&mut self, incoming: Incoming) {
        self.push(self.onward.joined[incoming.link.index()], incoming);
    }

    /// Moves to `window`, before which nothing arrives.
    pub(crate) fn advance_to(&mut self, window: u64) {
        self.wheel.advance_to(window);
    }

    /// The first window in which a packet arrives.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u64> {
        self.wheel.peek()
    }

    /// Takes the packets of `stage` that come in `window`, the current one or one soon after it, to the end of `packets`.
    #[inline]
    pub(crate) fn take(&mut self, window: u64, stage: Stage, packets: &mut Vec<Incoming>) {
        self.wheel.take(window, stage.into(), packets);
    }

    /// Takes the packets for `partition`. Where there are more partitions than switches and hosts,
    /// some get none.
    pub(crate) fn take_outbound(&mut self, partition: usize) -> impl Iterator<Item = Incoming> {
        self.outbound.get_mut(partition).into_iter().flat_map(|outbound| outbound.drain(..))
    }

    /// All packets, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Incoming> {
        self.wheel.iter().chain(self.outbound.iter().flatten())
    }
}

impl Onward {
    /// The list that `packet` joins, which comes by `link` to `switch`.
    fn list(&self, link: LinkId, switch: NodeId, packet: &Packet) -> u16 {
        match self.partitions.receiver(&self.routes, switch, packet) {
            one if one == self.me => self.joined[link.index()].into(),
            other => list_elsewhere(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Fabric;
    use crate::partition::partition;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::stages::{BORDER, HOSTS, INNER};
    use crate::topology::fat_tree;
    use linkpool_units::{HostId, Rate};

    /// 16 hosts, of which partition 0 runs the first eight.
    fn tree() -> Fabric {
        fat_tree(4, 2, Rate::gbps(10), Time::from_us(1))
    }

    fn onward(fabric: &Fabric) -> Onward {
        let routes = Arc::new(Routes::new(fabric, 1));
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9));
        let partitions = partition(fabric, 2).splitting(fabric, policy, &routes.clone().into());
        let joined = vec![INNER; fabric.links().len()].into();
        Onward { partitions: Arc::new(partitions), routes, joined, me: 0 }
    }

    /// Each field has a value whose bytes all differ from those of the others.
    #[test]
    fn words_hold_a_packet_with_its_way() {
        let packet = Packet {
            arrival: Time(0x0102_0304_0506_0708),
            entropy: 0x1112_1314,
            endpoint: 0x1516_1718,
            seq: 0x2122_2324,
            ack: 0x2526_2728,
            envelope: Envelope::new(HostId::new(0xABCDE), 0x2BCD, 0x1357),
            flags: Flags(0x9B),
            kind: Kind(0x3F),
        };
        let incoming = Incoming { packet, node: NodeId::new(0x3132_3334), link: LinkId::new(0x3536_3738) };
        let back = Incoming::from_words(incoming.to_words());
        assert_eq!(format!("{back:?}"), format!("{incoming:?}"));
    }

    /// Of the packets that come to a core switch, those for hosts of this partition stay.
    #[test]
    fn a_packet_to_a_split_switch_is_where_it_goes_on() {
        let fabric = tree();
        let mut in_flight = InFlight::new(Windows::new(Time::from_us(1)), onward(&fabric));
        let core = fabric.node("c0").expect("a fat-tree has a core");
        let link = Link::new(0, core, BY_NEXT_LINK);
        for (us, host) in (1..).zip([2, 7, 8, 15]) {
            let packet = Packet { envelope: Envelope::new(HostId::new(host), 1500, 1438), ..Packet::default() };
            in_flight.add(LinkId::new(3), &link, Time::from_us(us), &packet);
        }
        let destinations = |incoming: &Incoming| incoming.packet.dst().index();
        assert_eq!(in_flight.take_outbound(1).map(|incoming| destinations(&incoming)).collect::<Vec<_>>(), [8, 15]);
        assert_eq!(in_flight.iter().map(destinations).collect::<Vec<_>>(), [2, 7]);
    }

    /// Windows of 1 us: a packet for each of three stages, and one for partition 1.
    #[test]
    fn packets_are_taken_where_they_arrive() {
        let mut in_flight = InFlight::new(Windows::new(Time::from_us(1)), onward(&tree()));
        let ways = [(7, HOSTS.into()), (5, INNER.into()), (6, list_elsewhere(1)), (8, BORDER.into())];
        for (number, (us, list)) in (0..).zip(ways) {
            let link = Link::new(0, NodeId::new(40 + number), list);
            in_flight.add(LinkId::new(number), &link, Time::from_us(us), &Packet::default());
        }
        assert_eq!((in_flight.iter().count(), in_flight.peek()), (4, Some(5)));
        let outbound: Vec<_> = in_flight.take_outbound(1).map(|incoming| (incoming.link, incoming.node)).collect();
        assert_eq!(outbound, [(LinkId::new(2), NodeId::new(42))]);
        assert_eq!((in_flight.take_outbound(0).count(), in_flight.take_outbound(9).count()), (0, 0));
        for (window, stage, number) in [(5, INNER, 1), (7, HOSTS, 0), (8, BORDER, 3)] {
            in_flight.advance_to(window);
            let mut here = Vec::new();
            let others = [HOSTS, BORDER, INNER].into_iter().filter(|other| *other != stage);
            others.for_each(|other| in_flight.take(window, other, &mut here));
            assert!(here.is_empty());
            in_flight.take(window, stage, &mut here);
            assert_eq!(here.iter().map(|incoming| incoming.link.index()).collect::<Vec<_>>(), [number]);
        }
        assert_eq!((in_flight.iter().count(), in_flight.peek()), (0, None));
    }
}
