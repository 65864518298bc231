//! Whom an endpoint talks to, and how.

use crate::host::handle::Handle;
use crate::host::rtts::RttRecorder;
use crate::plan::WireSizes;
use linkpool_network::{Flags, HostId, Packet};
use linkpool_transport::paths::{PathSelector, Subflows};
use rand::RngCore;

/// One end's view of its connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its number in the results: tells its connection from all others, while handles come round.
    pub(crate) flow: u32,
    pub(crate) host: HostId,
    pub(crate) peer_host: HostId,
    pub(crate) me: Handle,
    /// Unknown (default) at the sender before the first answer.
    pub(crate) peer: Handle,
    /// Index into the plan's transports.
    pub(crate) transport: u16,
    pub(crate) sizes: WireSizes,
    /// Of its packets.
    pub(crate) paths: PathSelector,
    /// Whose packets are of high priority.
    pub(crate) high: Subflows,
    /// May switches trim its data packets?
    pub(crate) trimming: bool,
    /// Of a sender whose RTTs are recorded.
    pub(crate) rtts: Option<Box<RttRecorder>>,
}

impl Connection {
    /// Addresses `packet` of `subflow` to the peer, and gives it a path and a priority.
    #[inline]
    pub(crate) fn address(&mut self, subflow: usize, packet: &mut Packet, random: &mut impl RngCore) {
        packet.dst = self.peer_host;
        packet.endpoint = self.peer.of_subflow(subflow);
        let path = self.paths.select(subflow, packet.flags.has(Flags::DATA), random);
        packet.entropy = path.entropy;
        packet.flags =
            packet.flags.with_if(Flags::PRIORITY, self.high.covers(subflow)).with_if(Flags::PINNED, path.pinned);
    }
}

/// What the packet that opens a connection, or one more subflow, says beside its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    /// The sending host.
    pub(crate) src: HostId,
    /// The sending endpoint.
    pub(crate) peer: Handle,
    pub(crate) subflow: usize,
    /// Index into the plan's transports.
    pub(crate) transport: u16,
    pub(crate) to: OpeningFor,
}

/// What is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpeningFor {
    /// The connection of this flow.
    Flow(u32),
    /// A subflow of the connection of this receiver.
    Join(Handle),
}

impl Opening {
    /// Writes it into `packet`, a SYN.
    pub(crate) fn write(self, packet: &mut Packet) {
        packet.endpoint = self.peer.of_subflow(self.subflow);
        packet.seq = u32::from(self.src) | u32::from(self.transport) << 16;
        packet.ack = match self.to {
            OpeningFor::Flow(flow) => flow,
            OpeningFor::Join(receiver) => receiver.raw(),
        };
    }

    /// That of `packet`, a SYN.
    pub(crate) fn read(packet: &Packet) -> Opening {
        let (peer, subflow) = Handle::split(packet.endpoint);
        let join = packet.flags.has(Flags::JOIN);
        let to = if join { OpeningFor::Join(Handle::split(packet.ack).0) } else { OpeningFor::Flow(packet.ack) };
        Opening { src: packet.seq as u16, peer, subflow, transport: (packet.seq >> 16) as u16, to }
    }
}
