//! One end of a connection: its peer, its paths and its packet sizes; and how connections open.

use crate::host::handle::Handle;
use crate::host::rtts::RttRecorder;
use crate::plan::{FlowId, PacketSizes, TransportId};
use linkpool_network::{Flags, HostId, Kind, Packet, Trailer};
use linkpool_transport::SubflowId;
use linkpool_transport::paths::{PathSelector, Subflows};
use rand::RngCore;

/// One end of a connection: what only opening it, a timer or a record needs. It is apart from what every
/// packet reads.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The connection's number in the results. It is unique, while handles are used again.
    pub(crate) flow: FlowId,
    pub(crate) host: HostId,
    /// Index into the plan's transports.
    pub(crate) transport: TransportId,
    pub(crate) me: Handle,
    /// A random number that stands for its addresses and ports, the same at both ends.
    pub(crate) ports: u32,
}

/// One end's view of its connection: what every packet reads. With the family it takes a cache line.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Unknown (default) at the sender before the first answer.
    pub(crate) peer: Handle,
    pub(crate) peer_host: HostId,
    pub(crate) sizes: PacketSizes,
    /// The subflows whose packets have `priority`; others have none.
    pub(crate) high: Subflows,
    /// The priority of their data, 0 to 7.
    pub(crate) priority: u8,
    /// May switches trim its data packets?
    pub(crate) trimming: bool,
    /// Does it stay open for further messages?
    pub(crate) stays_open: bool,
    /// The paths of its packets.
    pub(crate) paths: PathSelector,
    /// Records the RTTs of a sender, if they are recorded.
    pub(crate) rtts: Option<Box<RttRecorder>>,
}

const _: () = assert!(size_of::<Connection>() == 56);

impl Connection {
    /// Is its other end the endpoint called `peer` at `host`?
    pub(crate) fn is_with(&self, host: HostId, peer: Handle) -> bool {
        self.peer_host == host && self.peer == peer
    }

    /// Addresses `packet` of `subflow` to the peer, and gives it a path and a priority.
    #[inline(always)]
    pub(crate) fn address(&mut self, subflow: SubflowId, packet: &mut Packet, random: &mut impl RngCore) {
        packet.envelope = packet.envelope.with_dst(self.peer_host);
        packet.endpoint = self.peer.of_subflow(subflow);
        let path = self.paths.select(subflow, packet.kind.has(Kind::DATA), random);
        packet.entropy = path.entropy;
        packet.flags = packet.flags.with_if(Flags::PINNED, path.pinned);
        self.prioritise(subflow, packet);
    }

    /// Gives `packet` of `subflow` its priority.
    #[inline(always)]
    pub(crate) fn prioritise(&self, subflow: SubflowId, packet: &mut Packet) {
        if self.high.covers(subflow) {
            packet.set_priority(self.priority);
        }
    }

    /// The priority of the data of its first subflow.
    pub(crate) fn data_priority(&self) -> u8 {
        if self.high.covers(SubflowId::FIRST) { self.priority } else { 0 }
    }
}

/// The information of a packet that opens a connection or a further subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    /// The sending host.
    pub(crate) src: HostId,
    /// The sending endpoint.
    pub(crate) peer: Handle,
    pub(crate) subflow: SubflowId,
    /// Index into the plan's transports.
    pub(crate) transport: TransportId,
    pub(crate) to: OpeningFor,
    /// Does the connection stay open for further messages?
    pub(crate) stays_open: bool,
    /// The subflows whose packets have `priority`.
    pub(crate) high: Subflows,
    /// The priority of their data, 0 to 7.
    pub(crate) priority: u8,
    /// The random number that stands for the connection's addresses and ports.
    pub(crate) ports: u32,
}

/// The connection or subflow that is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpeningFor {
    /// The connection of this flow.
    Flow(FlowId),
    /// A subflow of the connection of this receiver.
    Join(Handle),
}

/// Bits of the last word of an opening: the connection stays open; it is that of a receiver; then the
/// subflows that have a priority, and the priority.
const STAYS_OPEN: u32 = 1;
const JOINS: u32 = 2;
const HIGH: u32 = 2;
const PRIORITY: u32 = 4;

impl Opening {
    /// Words of the trailer that it takes.
    pub(crate) const WORDS: usize = 5;

    /// A packet of `subflow` says that the connection begins.
    pub(crate) fn of(connection: &Connection, identity: &Identity, subflow: SubflowId) -> Opening {
        let Identity { flow, host: src, transport, me: peer, ports } = *identity;
        let Connection { stays_open, high, priority, .. } = *connection;
        Opening { src, peer, subflow, transport, to: OpeningFor::Flow(flow), stays_open, high, priority, ports }
    }

    /// Writes it into `packet` and its trailer. Words from [`Opening::WORDS`] on are free.
    pub(crate) fn write(self, packet: &mut Packet) -> Trailer {
        packet.endpoint = self.peer.of_subflow(self.subflow);
        let (to, joins) = match self.to {
            OpeningFor::Flow(flow) => (flow.into(), 0),
            OpeningFor::Join(receiver) => (receiver.raw(), JOINS),
        };
        let mut trailer = Trailer::default();
        trailer[..Opening::WORDS].copy_from_slice(&[
            self.src.into(),
            self.transport.into(),
            to,
            u32::from(self.stays_open) | joins | (self.high as u32) << HIGH | u32::from(self.priority) << PRIORITY,
            self.ports,
        ]);
        trailer
    }

    /// Reads it from `packet` and its `trailer`.
    pub(crate) fn read(packet: &Packet, trailer: &Trailer) -> Opening {
        let (peer, subflow) = Handle::split(packet.endpoint);
        let [src, transport, to, more, ports] = *trailer.first_chunk().expect("a trailer has more words");
        let joins = more & JOINS > 0;
        let to = if joins { OpeningFor::Join(Handle::split(to).0) } else { OpeningFor::Flow(to.into()) };
        let (stays_open, transport) = (more & STAYS_OPEN > 0, transport.into());
        let high = [Subflows::None, Subflows::First, Subflows::All][(more >> HIGH & 3) as usize];
        let priority = (more >> PRIORITY) as u8;
        Opening { src: src.into(), peer, subflow, transport, to, stays_open, high, priority, ports }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids above 65,535 keep their value.
    #[test]
    fn an_opening_reads_back_as_written() {
        let (src, peer) = (HostId::new(65_536 + 5), Handle::new(65_535, 7));
        let [flow, receiver] = [OpeningFor::Flow(FlowId::new(1 << 31)), OpeningFor::Join(Handle::new(3, 1))];
        for (to, stays_open, high, priority) in [
            (flow, true, Subflows::All, 7),
            (flow, false, Subflows::None, 0),
            (receiver, true, Subflows::First, 7),
            (receiver, false, Subflows::All, 3),
        ] {
            let (subflow, transport) = (SubflowId::new(31), TransportId::new(65_536 + 9));
            let ports = u32::MAX - 9;
            let opening = Opening { src, peer, subflow, transport, to, stays_open, high, priority, ports };
            let mut packet = Packet::default();
            let trailer = opening.write(&mut packet);
            assert_eq!(Opening::read(&packet, &trailer), opening);
        }
    }
}
