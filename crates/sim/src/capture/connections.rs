//! Whose the packets are: the connections, as their handshakes tell.

use crate::host::connection::{Opening, OpeningFor};
use crate::host::handle::Handle;
use crate::plan::{FlowId, Plan, TransportId};
use linkpool_network::{Flags, HostId, Packet, Trailer};
use linkpool_transport::SubflowId;
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
}

/// The connections that packets belong to.
#[derive(Debug, Default)]
pub(super) struct Connections {
    by_flow: HashMap<FlowId, Connection>,
    /// By host and name of an end: the flow, and whether it is the end that gets the data.
    by_end: HashMap<(HostId, Handle), (FlowId, bool)>,
    /// Those that are over, the first first.
    over: VecDeque<FlowId>,
}

impl Connections {
    /// Whose `packet` is, after what it tells is noted; none if nobody knows.
    pub(super) fn know(&mut self, packet: &Packet, trailer: Option<&Trailer>) -> Option<Known> {
        let has = |flags| packet.flags.has(flags);
        let (handle, subflow) = Handle::split(packet.endpoint);
        let (flow, forth) = if has(Flags::SYN) && !has(Flags::ACK) {
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
        if has(Flags::SYN | Flags::ACK) && connection.ends[1].is_none() {
            let receiver = Handle::split(packet.seq).0;
            connection.ends[1] = Some(receiver);
            self.by_end.insert((connection.dst, receiver), (flow, true));
        }
        let known = Known { connection: *connection, subflow, forth };
        if has(Flags::LAST) && !connection.stays_open && !matches!(connection.data_end, Some(DataEnd::Signalled(_))) {
            let end = packet.ack.wrapping_add(u32::from(packet.payload()));
            let signalled = !known.is_first_data(packet);
            connection.data_end = Some(if signalled { DataEnd::Signalled(end) } else { DataEnd::Reached(end) });
        }
        if has(Flags::FIN) && !has(Flags::JOIN) {
            self.end(flow);
        }
        Some(known)
    }

    fn open(&mut self, flow: FlowId, opening: Opening, dst: HostId) -> FlowId {
        self.by_flow.entry(flow).or_insert_with(|| {
            self.by_end.insert((opening.src, opening.peer), (flow, false));
            let ends = [Some(opening.peer), None];
            let Opening { src, transport, stays_open, .. } = opening;
            Connection { flow, src, dst, transport, stays_open, data_end: None, ends }
        });
        flow
    }

    /// `flow` is over: in the end it is forgotten.
    fn end(&mut self, flow: FlowId) {
        if self.over.len() == REMEMBERED
            && let Some(old) = self.over.pop_front().and_then(|old| self.by_flow.remove(&old))
        {
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

impl Known {
    /// Is the connection one of MPTCP?
    pub(super) fn is_multipath(&self, plan: &Plan) -> bool {
        let config = &plan.transports[self.connection.transport.index()].config;
        config.subflows > 1 || config.control.mmptcp().is_some()
    }

    /// Is it the first data of the connection? It has MP_CAPABLE in place of a mapping (RFC 8684,
    /// section 3.1), and so no DATA_FIN.
    pub(super) fn is_first_data(&self, packet: &Packet) -> bool {
        let is_data = packet.flags.has(Flags::DATA) && packet.payload() > 0;
        is_data && self.subflow.is_first() && packet.seq == 1 && packet.ack == 0
    }
}
