//! A bound that tells cheaply that no port has too little room for headers in a window.

use crate::headers::Headers;
use crate::in_flight::Incoming;
use crate::ports::Ports;

/// What every port that sends headers back to their senders has room for at least.
///
/// The ports are looked at now and then. From then on, each window takes from the room as much as has come to the switch to
/// which most has come: no port has got more. Headers that leave are not counted.
#[derive(Debug, Default)]
pub(super) struct HeaderRoom {
    room: Headers,
    /// By node, while packets are counted: how many have come to it in this window.
    came: Box<[u32]>,
    /// Packets that have come since ports were looked at last.
    since: usize,
}

impl HeaderRoom {
    /// Of `nodes` nodes.
    pub(super) fn new(nodes: usize) -> HeaderRoom {
        HeaderRoom { came: vec![0; nodes].into(), ..HeaderRoom::default() }
    }

    /// Has each of `ports` room for the headers of all `packets` that come to its switch in this window? False: perhaps not.
    pub(super) fn holds(&mut self, packets: &[Incoming], ports: &Ports) -> bool {
        let most = self.most_at_a_switch(packets);
        self.since += packets.len();
        // A look costs some instructions for each port, and so a few for each packet.
        if !self.room.has_room_for(most) && self.since >= ports.len() {
            (self.room, self.since) = (ports.room_for_headers(), 0);
        }
        let holds = self.room.has_room_for(most);
        self.room = self.room.less(most);
        holds
    }

    /// Packets have come to ports that were not counted.
    pub(super) fn forget(&mut self) {
        self.room = Headers::default();
    }

    /// No more headers than these come to one switch: as many as the most packets, each as large as the largest header.
    fn most_at_a_switch(&mut self, packets: &[Incoming]) -> Headers {
        let (mut most, mut largest) = (0, 0);
        for Incoming { node, packet, .. } in packets {
            let came = &mut self.came[node.index()];
            *came += 1;
            most = most.max(*came);
            largest = largest.max(packet.header_size());
        }
        packets.iter().for_each(|incoming| self.came[incoming.node.index()] = 0);
        Headers { packets: most, bytes: u64::from(most) * u64::from(largest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::{Order, Trimming};
    use crate::fabric::{LinkId, NodeId};
    use crate::network::Network;
    use crate::packet::{Envelope, Kind, Packet};
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use crate::routing::Routes;
    use crate::topology::{Generator, ManyToOne};
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::{HostId, Rate, Time};
    use std::sync::Arc;

    /// Two senders and a receiver at one switch: six ports, of which three have room for headers up to `limit`.
    fn network(limit: QueueLimit) -> Network {
        let fabric = ManyToOne { senders: 2, rate: Rate::gbps(10), delay: Time::from_us(1) }.fabric();
        let trimming = Trimming { headers: Some(limit), ..Trimming::defaults(Preset::Linux) };
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(8)).ordered(Order::Trimming(trimming));
        Network::new(&fabric, policy, Arc::new(Routes::new(&fabric, 1)), 64)
    }

    /// Data packets of 1,500 B with headers of 64 B that come to these nodes.
    fn packets(nodes: &[usize]) -> Vec<Incoming> {
        let envelope = Envelope::new(HostId::new(0), 1500, 1436);
        let packet = Packet { envelope, kind: Kind::DATA, ..Packet::default() };
        nodes.iter().map(|node| Incoming { packet, node: NodeId::new(*node), link: LinkId::new(0) }).collect()
    }

    /// Four headers have room. Six ports are looked at when six packets have come.
    #[test]
    fn each_window_takes_what_comes_to_one_switch() {
        let network = network(QueueLimit::Packets(4));
        let ports = &network.egress.ports;
        let mut room = HeaderRoom::new(10);
        let mut holds = |nodes: &[usize]| room.holds(&packets(nodes), ports);
        let mut looked = HeaderRoom::new(10);
        assert!(!looked.holds(&packets(&[3, 3, 3, 3, 3, 5]), ports), "five come to one switch");
        assert!(!holds(&[3; 3]), "nobody has looked yet");
        assert!(holds(&[3, 3, 3]), "room for four, and then for one");
        assert!(holds(&[3, 5, 7]), "one to each of three switches, and then there is none");
        assert!(!holds(&[3]), "four packets since the look");
        assert!(!holds(&[3]));
        assert!(holds(&[3, 3, 5, 5, 7, 7]), "looked at again: room for two");
        assert!(!holds(&[3; 5]), "more come than ever have room");
        assert!(!holds(&[3; 5]));
    }

    /// 192 bytes are three headers of 64.
    #[test]
    fn bytes_count_too_and_nothing_is_known_of_what_was_not_counted() {
        let network = network(QueueLimit::Bytes(192));
        let ports = &network.egress.ports;
        let mut room = HeaderRoom::new(10);
        let holds = |room: &mut HeaderRoom, nodes: &[usize]| room.holds(&packets(nodes), ports);
        assert!(holds(&mut room, &[5, 5, 7, 7, 9, 9]));
        assert_eq!(room.room.bytes, 192 - 2 * 64);
        assert!(holds(&mut room, &[3]));
        assert!(!holds(&mut room, &[3]), "no byte is left");
        assert!(holds(&mut room, &[3, 5, 7, 9]), "six packets since the look");
        room.forget();
        assert!(!holds(&mut room, &[3]), "what was not counted may have taken all");
        assert!(!holds(&mut room, &[3, 3, 3, 3, 5]), "looked at again: four headers have 256 bytes");
    }
}
