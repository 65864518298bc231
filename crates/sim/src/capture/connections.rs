//! Whose the packets are: the connections, as their handshakes tell.

use super::messages::MessageEnds;
use crate::host::connection::{Opening, OpeningFor};
use crate::host::encoding::{JOIN, LAST};
use crate::host::handle::Handle;
use crate::host::{roce, uet_packet};
use crate::plan::{FlowId, Plan, TransportId};
use linkpool_network::{HostId, Kind, Packet, Trailer};
use linkpool_transport::{Family, SubflowId};
use std::collections::{HashMap, VecDeque};

/// Connections that are over and are still known, as packets of them may come late.
const REMEMBERED: usize = 1 << 16;

/// A connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    pub(super) flow: FlowId,
    /// The host that sends the data.
    pub(super) src: HostId,
    /// The host that gets the data.
    pub(super) dst: HostId,
    pub(super) transport: TransportId,
    /// It stays open for further messages: the end of one is not the end of its stream.
    pub(super) stays_open: bool,
    /// Where its stream ends, modulo 2^32, once the last data has been sent.
    pub(super) data_end: Option<DataEnd>,
    /// The names of its two ends, as far as they are known.
    ends: [Option<Handle>; 2],
    /// Its sender is done.
    is_over: bool,
}

/// The end of a stream of data, modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DataEnd {
    /// The last data has come without a DATA_FIN.
    Reached(u32),
    /// A DATA_FIN has been sent.
    Signalled(u32),
}

/// A packet, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) connection: Connection,
    pub(super) subflow: SubflowId,
    /// It goes from the sender of the data to the receiver.
    pub(super) forth: bool,
    /// Of an answer of RoCE: the messages that have arrived whole.
    pub(super) messages: u32,
}

/// The connections that packets belong to.
#[derive(Debug)]
pub(super) struct Connections {
    /// By transport.
    families: Box<[Family]>,
    by_flow: HashMap<FlowId, Connection>,
    /// Of RoCE, by flow: where messages end.
    message_ends: HashMap<FlowId, MessageEnds>,
    /// By host and place of a sender: the flow that had the place last.
    by_place: HashMap<(HostId, usize), FlowId>,
    /// By host and name of an end: the flow, and whether it is the end that gets the data.
    by_end: HashMap<(HostId, Handle), (FlowId, bool)>,
    /// Those that are over, the first first.
    over: VecDeque<FlowId>,
}

impl Connections {
    /// Of transports of these families.
    pub(super) fn new(families: impl IntoIterator<Item = Family>) -> Connections {
        Connections {
            families: families.into_iter().collect(),
            by_flow: HashMap::new(),
            message_ends: HashMap::new(),
            by_place: HashMap::new(),
            by_end: HashMap::new(),
            over: VecDeque::new(),
        }
    }

    /// Whose `packet` is, after what it tells is noted; none if nobody knows.
    pub(super) fn know(&mut self, packet: &Packet, trailer: Option<&Trailer>) -> Option<Known> {
        let has = |kind| packet.kind.has(kind);
        let (handle, subflow) = Handle::split(packet.endpoint);
        let (flow, forth) = if has(Kind::SYN) && !has(Kind::ACK) {
            let opening = Opening::read(packet, trailer?);
            let flow = match opening.to {
                OpeningFor::Flow(flow) => self.open(flow, opening, packet.dst()),
                OpeningFor::Join(receiver) => self.by_end.get(&(packet.dst(), receiver))?.0,
            };
            (flow, true)
        } else {
            *self.by_end.get(&(packet.dst(), handle))?
        };
        let connection = self.by_flow.get_mut(&flow)?;
        let family = self.families[connection.transport.index()];
        if let Some(receiver) = named_receiver(family, packet, trailer).filter(|_| connection.ends[1].is_none()) {
            connection.ends[1] = Some(receiver);
            self.by_end.insert((connection.dst, receiver), (flow, true));
        }
        let mut known = Known { connection: *connection, subflow, forth, messages: 0 };
        match family {
            Family::Tcp => {
                known.note_end(packet, connection);
                if has(Kind::FIN) && !has(JOIN) {
                    self.end(flow);
                }
            }
            Family::Roce => {
                let ends = self.message_ends.entry(flow).or_default();
                known.messages = ends.note(roce::decode(packet, trailer));
            }
            Family::Uet | Family::Ndp => {}
        }
        Some(known)
    }

    fn open(&mut self, flow: FlowId, opening: Opening, dst: HostId) -> FlowId {
        if self.by_flow.contains_key(&flow) {
            return flow;
        }
        let Opening { src, peer, transport, stays_open, .. } = opening;
        let ends = [Some(peer), None];
        let connection = Connection { flow, src, dst, transport, stays_open, data_end: None, ends, is_over: false };
        self.by_flow.insert(flow, connection);
        self.by_end.insert((src, peer), (flow, false));
        // There is not always a FIN. A sender that has the place of another has come after that was done.
        if let Some(before) = self.by_place.insert((src, peer.slot()), flow) {
            self.end(before);
        }
        flow
    }

    /// `flow` is over: in the end it is forgotten.
    fn end(&mut self, flow: FlowId) {
        match self.by_flow.get_mut(&flow) {
            Some(connection) if !connection.is_over => connection.is_over = true,
            _ => return,
        }
        if self.over.len() == REMEMBERED
            && let Some(old) = self.over.pop_front().and_then(|old| self.by_flow.remove(&old))
        {
            self.message_ends.remove(&old.flow);
            for (host, end) in [old.src, old.dst].into_iter().zip(old.ends) {
                // Its name may be that of an end of another flow by now.
                let key = (host, end.unwrap_or_default());
                if self.by_end.get(&key).is_some_and(|(other, _)| *other == old.flow) {
                    self.by_end.remove(&key);
                }
            }
        }
        self.over.push_back(flow);
    }
}

/// The receiver that `packet`, of a connection of `family`, names as its sender, if it does.
fn named_receiver(family: Family, packet: &Packet, trailer: Option<&Trailer>) -> Option<Handle> {
    match family {
        Family::Tcp => packet.kind.has(Kind::SYN | Kind::ACK).then(|| Handle::split(packet.seq).0),
        Family::Roce => roce::named_receiver(packet),
        Family::Uet => uet_packet::named_receiver(packet, trailer),
        Family::Ndp => None,
    }
}

impl Known {
    /// Notes in `connection` where its data ends, if `packet` of TCP tells.
    fn note_end(&self, packet: &Packet, connection: &mut Connection) {
        let told = matches!(connection.data_end, Some(DataEnd::Signalled(_)));
        if packet.kind.has(LAST) && !connection.stays_open && !told {
            let end = packet.ack.wrapping_add(u32::from(packet.payload()));
            let signalled = !self.is_first_data(packet);
            connection.data_end = Some(if signalled { DataEnd::Signalled(end) } else { DataEnd::Reached(end) });
        }
    }

    /// Is the connection one of MPTCP?
    pub(super) fn is_multipath(&self, plan: &Plan) -> bool {
        let config = &plan.transports[self.connection.transport.index()].config;
        config.subflows > 1 || config.control.mmptcp().is_some()
    }

    /// Is it the first data of the connection? It has MP_CAPABLE in place of a mapping (RFC 8684,
    /// section 3.1), and so no DATA_FIN.
    pub(super) fn is_first_data(&self, packet: &Packet) -> bool {
        let is_data = packet.kind.has(Kind::DATA) && packet.payload() > 0;
        is_data && self.subflow.is_first() && packet.seq == 1 && packet.ack == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::Envelope;
    use linkpool_transport::paths::Subflows;

    const SENDER: u32 = 4;
    const RECEIVER: u32 = 9;

    fn packet(kind: Kind, host: u32, endpoint: u32) -> Packet {
        let envelope = Envelope::new(HostId::from(host), 1_000, 100);
        Packet { kind, endpoint, envelope, ..Packet::default() }
    }

    /// A SYN for `to` from the endpoint `peer`.
    fn syn(peer: Handle, subflow: usize, to: OpeningFor, stays_open: bool) -> (Packet, Trailer) {
        let kind = if matches!(to, OpeningFor::Join(_)) { Kind::SYN | JOIN } else { Kind::SYN };
        let mut packet = packet(kind, RECEIVER, 0);
        let (src, transport) = (HostId::from(SENDER), TransportId::new(2));
        let subflow = SubflowId::new(subflow);
        let (high, priority, ports) = (Subflows::None, 0, 0);
        let opening = Opening { src, peer, subflow, transport, to, stays_open, high, priority, ports };
        let trailer = opening.write(&mut packet);
        (packet, trailer)
    }

    /// The SYN-ACK of `receiver` to `sender`.
    fn syn_ack(sender: Handle, receiver: Handle) -> Packet {
        Packet { seq: receiver.raw(), ..packet(Kind::SYN | Kind::ACK, SENDER, sender.raw()) }
    }

    /// Three transports of TCP.
    fn connections() -> Connections {
        Connections::new([Family::Tcp; 3])
    }

    /// A connection of which both ends are known.
    fn connected(stays_open: bool) -> (Connections, Handle, Handle) {
        let (sender, receiver) = (Handle::new(1, 0), Handle::new(2, 0));
        let mut all = connections();
        let (syn, trailer) = syn(sender, 0, OpeningFor::Flow(FlowId::new(7)), stays_open);
        let opened = all.know(&syn, Some(&trailer)).unwrap();
        assert_eq!((opened.connection.flow, opened.subflow, opened.forth), (FlowId::new(7), SubflowId::FIRST, true));
        assert_eq!((opened.connection.src, opened.connection.dst), (HostId::from(SENDER), HostId::from(RECEIVER)));
        assert_eq!((opened.connection.transport, opened.connection.stays_open), (TransportId::new(2), stays_open));
        assert!(!all.know(&syn_ack(sender, receiver), None).unwrap().forth);
        (all, sender, receiver)
    }

    #[test]
    fn both_ends_are_known_by_the_handshake() {
        let (mut all, sender, receiver) = connected(false);
        let mut way = |host, endpoint| {
            all.know(&packet(Kind::ACK, host, endpoint), None).map(|known| (known.subflow.index(), known.forth))
        };
        assert_eq!(way(RECEIVER, receiver.of_subflow(SubflowId::new(3))), Some((3, true)));
        assert_eq!(way(SENDER, sender.raw()), Some((0, false)));
        assert_eq!(
            (way(RECEIVER, sender.raw()), way(SENDER, receiver.raw()), way(1, receiver.raw())),
            (None, None, None)
        );
        // A SYN-ACK that is sent again tells nothing new.
        all.know(&syn_ack(sender, Handle::new(5, 0)), None);
        assert!(all.know(&packet(Kind::ACK, RECEIVER, Handle::new(5, 0).raw()), None).is_none());
        let (join, trailer) = syn(sender, 1, OpeningFor::Join(receiver), false);
        let joined = all.know(&join, Some(&trailer)).unwrap();
        assert_eq!((joined.connection.flow, joined.subflow.index(), joined.forth), (FlowId::new(7), 1, true));
        let (stranger, trailer) = syn(sender, 1, OpeningFor::Join(Handle::new(8, 0)), false);
        assert!(all.know(&stranger, Some(&trailer)).is_none() && all.know(&join, None).is_none());
    }

    /// The first data of a connection has no mapping, so a DATA_FIN comes later; all other data may have
    /// one, and it is not taken back.
    #[test]
    fn the_end_of_the_data_is_known() {
        let data = |receiver: Handle, subflow: usize, seq, ack| Packet {
            seq,
            ack,
            ..packet(Kind::DATA | LAST, RECEIVER, receiver.of_subflow(SubflowId::new(subflow)))
        };
        let ends = |stays_open, packets: &[(usize, u32, u32)]| {
            let (mut all, sender, receiver) = connected(stays_open);
            for (subflow, seq, ack) in packets {
                all.know(&data(receiver, *subflow, *seq, *ack), None).unwrap();
            }
            all.know(&packet(Kind::ACK, SENDER, sender.raw()), None).unwrap().connection.data_end
        };
        assert_eq!(ends(false, &[]), None);
        assert_eq!(ends(false, &[(0, 1, 0)]), Some(DataEnd::Reached(100)));
        for other in [(1, 1, 0), (0, 101, 0), (0, 1, 50)] {
            assert_eq!(ends(false, &[other]), Some(DataEnd::Signalled(other.2 + 100)), "{other:?}");
        }
        assert_eq!(ends(false, &[(0, 101, u32::MAX)]), Some(DataEnd::Signalled(99)));
        assert_eq!(ends(false, &[(0, 1, 0), (1, 1, 0)]), Some(DataEnd::Signalled(100)));
        assert_eq!(ends(false, &[(1, 1, 0), (0, 1, 0)]), Some(DataEnd::Signalled(100)));
        assert_eq!(ends(true, &[(1, 1, 0)]), None);
        let (mut all, sender, receiver) = connected(false);
        all.know(&packet(Kind::DATA, RECEIVER, receiver.raw()), None).unwrap();
        assert_eq!(all.know(&packet(Kind::ACK, SENDER, sender.raw()), None).unwrap().connection.data_end, None);
        let (known, first) = (all.know(&packet(Kind::ACK, RECEIVER, receiver.raw()), None), data(receiver, 0, 1, 0));
        let empty = Packet { envelope: Envelope::new(HostId::from(RECEIVER), 90, 0), ..first };
        let ack = Packet { kind: Kind::ACK, ..first };
        assert_eq!([first, empty, ack].map(|packet| known.unwrap().is_first_data(&packet)), [true, false, false]);
    }

    /// RoCE and UET have no handshake: the sender's first packets, of data or not, name the flow, and answers the
    /// receiver. They have no FIN: a sender that takes the place of another at its host ends that, once.
    #[test]
    fn families_without_a_handshake_are_known_by_their_first_packets() {
        let mut all = Connections::new([Family::Tcp, Family::Roce, Family::Uet]);
        let (sender, receiver) = (Handle::new(1, 0), Handle::new(2, 0));
        let open = |all: &mut Connections, peer, transport, flow, kind| {
            let (mut packet, _) = syn(peer, 0, OpeningFor::Flow(FlowId::new(flow)), false);
            let (src, to, subflow) = (HostId::from(SENDER), OpeningFor::Flow(FlowId::new(flow)), SubflowId::FIRST);
            let (transport, high) = (TransportId::new(transport), Subflows::None);
            let opening = Opening { src, peer, subflow, transport, to, stays_open: false, high, priority: 0, ports: 0 };
            let trailer = opening.write(&mut packet);
            packet.kind = Kind::SYN | kind;
            all.know(&packet, Some(&trailer)).unwrap().connection.flow.index()
        };
        let of = |all: &mut Connections, host, endpoint| {
            all.know(&packet(Kind::DATA, host, endpoint), None)
                .map(|known| (known.connection.flow.index(), known.forth))
        };
        assert_eq!(open(&mut all, sender, 1, 5, Kind::DATA), 5);
        assert_eq!(of(&mut all, RECEIVER, receiver.raw()), None);
        let names = Packet { ack: receiver.raw(), ..packet(Kind::ACK | Kind::SYN, SENDER, sender.raw()) };
        assert!(!all.know(&names, None).unwrap().forth);
        assert_eq!(of(&mut all, RECEIVER, receiver.raw()), Some((5, true)));
        assert!(!all.by_flow[&FlowId::new(5)].is_over);
        // The next generation of the place is of UET, and asks to send.
        let (next, other) = (Handle::new(1, 1), Handle::new(3, 0));
        assert_eq!(open(&mut all, next, 2, 6, Kind::OWN_0), 6);
        assert_eq!((all.by_flow[&FlowId::new(5)].is_over, all.over.len()), (true, 1));
        let pull = Packet { ack: other.raw(), ..packet(uet_packet::PULL, SENDER, next.raw()) };
        assert!(!all.know(&pull, None).unwrap().forth);
        assert_eq!(of(&mut all, RECEIVER, other.raw()), Some((6, true)));
        assert_eq!(of(&mut all, RECEIVER, receiver.raw()), Some((5, true)), "late packets are known");
        // Said again it changes nothing.
        assert_eq!(open(&mut all, next, 2, 6, Kind::DATA), 6);
        assert_eq!(open(&mut all, Handle::new(1, 2), 1, 7, Kind::DATA), 7);
        assert_eq!(all.over.iter().map(|flow| flow.index()).collect::<Vec<_>>(), [5, 6]);
        assert_eq!((all.message_ends.len(), all.by_place.len()), (2, 1));
    }

    /// Of RoCE, flows that follow each other in one place are forgotten, with the ends of their messages.
    #[test]
    fn ends_of_messages_are_forgotten() {
        let mut all = Connections::new([Family::Tcp, Family::Tcp, Family::Roce]);
        for flow in 0..REMEMBERED + 3 {
            let (mut first, trailer) = syn(Handle::new(1, flow as u32), 0, OpeningFor::Flow(FlowId::new(flow)), false);
            first.kind = Kind::SYN | Kind::DATA | roce::LAST;
            all.know(&first, Some(&trailer)).unwrap();
        }
        assert_eq!((all.by_flow.len(), all.message_ends.len()), (REMEMBERED + 1, REMEMBERED + 1));
    }

    /// Answers of RoCE count the messages of their connection whose last packets have left.
    #[test]
    fn answers_of_roce_count_messages() {
        let mut all = Connections::new([Family::Tcp, Family::Tcp, Family::Roce]);
        let (sender, receiver) = (Handle::new(1, 0), Handle::new(2, 0));
        let (mut first, trailer) = syn(sender, 0, OpeningFor::Flow(FlowId::new(5)), true);
        first.kind = Kind::SYN | Kind::DATA;
        let names = Packet { ack: receiver.raw(), ..packet(Kind::ACK | Kind::SYN, SENDER, sender.raw()) };
        assert_eq!(all.know(&first, Some(&trailer)).unwrap().messages, 0);
        assert_eq!(all.know(&names, None).unwrap().messages, 0);
        for psn in [2, 3] {
            let last = Packet { seq: psn, ..packet(Kind::DATA | roce::LAST, RECEIVER, receiver.raw()) };
            assert_eq!(all.know(&last, None).unwrap().messages, 0);
        }
        let counted = [2, 3, 4].map(|next| {
            let answer = Packet { ack: next, ..packet(Kind::ACK, SENDER, sender.raw()) };
            all.know(&answer, None).unwrap().messages
        });
        assert_eq!(counted, [0, 1, 2]);
    }

    /// A connection is forgotten when 65,536 others have ended after it, and its names with it, unless
    /// they are those of another connection by then. The FIN of a subflow ends no connection.
    #[test]
    fn connections_are_forgotten_in_the_end() {
        let mut all = connections();
        // The names of the senders come round after 60,000 connections, as those of hosts do.
        let sender = |flow: usize| Handle::new(flow % 60_000, 0);
        let receiver = |flow: usize| Handle::new(flow % 65_536, u32::from(flow >= 65_536));
        for flow in 0..REMEMBERED + 2 {
            let (syn, trailer) = syn(sender(flow), 0, OpeningFor::Flow(FlowId::new(flow)), false);
            all.know(&syn, Some(&trailer)).unwrap();
            all.know(&syn_ack(sender(flow), receiver(flow)), None).unwrap();
            let fin = |kind| packet(kind, RECEIVER, receiver(flow).raw());
            all.know(&fin(Kind::FIN | JOIN), None).unwrap();
            all.know(&fin(Kind::FIN), None).unwrap();
        }
        let mut flow = |host, handle: Handle| {
            let known = all.know(&packet(Kind::ACK, host, handle.raw()), None)?;
            Some(known.connection.flow.index())
        };
        assert_eq!([0, 1, 2].map(|of| flow(RECEIVER, receiver(of))), [None, None, Some(2)]);
        assert_eq!([0, 1].map(|of| flow(SENDER, sender(of))), [Some(60_000), Some(60_001)]);
        assert_eq!(flow(RECEIVER, receiver(REMEMBERED + 1)), Some(REMEMBERED + 1));
        assert_eq!((all.by_flow.len(), all.over.len()), (REMEMBERED, REMEMBERED));
        assert_eq!((all.by_end.len(), all.by_place.len()), (60_000 + REMEMBERED, 60_000));
    }
}
