//! The header of TCP, with its options.

use super::address::address;
use super::connections::{DataEnd, Known};
use super::keys::Keys;
use super::options::{Mapping, Options};
use super::payload::zeros;
use crate::host::encoding::decode;
use crate::plan::{FlowId, Plan};
use etherparse::TcpHeader;
use linkpool_network::{HostId, Packet, Trailer};
use linkpool_transport::{Segment, Seq, SubflowId};

/// The ports of senders of data: a subflow has 32 of its own for each of 256 flows.
const CLIENT_PORTS: u16 = 36_000;
/// The ports of receivers of data, one for every 256 flows. No protocol is registered for these
/// ports in Wireshark, which would take payload for something else.
const SERVER_PORTS: u16 = 49_152;
const SERVERS: u32 = 1 << 12;
/// The largest window before it is scaled.
const LARGEST_WINDOW: u64 = 0xffff;
/// The largest scale of windows (RFC 7323, section 2.3).
const LARGEST_SCALE: u8 = 14;

/// What a segment says, beside its options.
#[derive(Debug, Default)]
struct Says {
    seq: u32,
    ack: u32,
    payload: u16,
    window: u16,
}

/// Makes headers.
#[derive(Debug, Default)]
pub(super) struct Headers {
    options: Options,
}

impl Headers {
    /// Appends to `bytes` the header of `packet`, which goes between two hosts. Returns its bytes of payload.
    pub(super) fn append(
        &mut self,
        plan: &Plan,
        (packet, trailer): (&Packet, Option<&Trailer>),
        known: &Known,
        (from, to): (HostId, HostId),
        bytes: &mut Vec<u8>,
    ) -> u16 {
        let segment = decode(packet, trailer);
        let mut tcp = TcpHeader::default();
        let says = self.says(plan, &mut tcp, segment, known, packet);
        (tcp.sequence_number, tcp.acknowledgment_number, tcp.window_size) = (says.seq, says.ack, says.window);
        let (client, server) = ports(known.connection.flow, known.subflow);
        (tcp.source_port, tcp.destination_port) = if known.forth { (client, server) } else { (server, client) };
        tcp.set_options_raw(self.options.finish()).expect("options fit into 40 bytes");
        tcp.checksum =
            tcp.calc_checksum_ipv4_raw(address(from), address(to), zeros(says.payload)).expect("a packet is short");
        bytes.extend_from_slice(&tcp.to_bytes());
        says.payload
    }

    /// Sets the flags and the options of `segment`.
    fn says(&mut self, plan: &Plan, tcp: &mut TcpHeader, segment: Segment, known: &Known, packet: &Packet) -> Says {
        let options = &mut self.options;
        options.clear();
        let config = &plan.transports[known.connection.transport.index()].config;
        let subflow = known.subflow;
        let keys = known.is_multipath(plan).then(|| Keys::of(known.connection.flow, plan.seed));
        let data = |keys: Keys, data_seq: u32| keys.sender.first_data_sequence().wrapping_add(1).wrapping_add(data_seq);
        // The receiver sends no data: this is what its sender acknowledges.
        let nothing = |keys: Keys| keys.receiver.first_data_sequence().wrapping_add(1);
        let sack = config.recovery.has_sacks();
        let (scale, open) = window_of(config.buffers.receive);
        // With a full segment goes a mapping; the option has room for it (RFC 6691, section 2).
        let largest = config.mss + if keys.is_some() { 20 } else { 0 };
        tcp.ack = true;
        match segment {
            Segment::Syn { join, ecn } => {
                (tcp.syn, tcp.ack, tcp.ece, tcp.cwr) = (true, false, ecn, ecn);
                options.handshake(largest, sack, scale);
                match keys {
                    Some(keys) if join => {
                        let backup = config.multipath.backup >> subflow.index() & 1 == 1;
                        options.join_syn(keys, subflow, backup);
                    }
                    Some(_) => options.capable_syn(),
                    None => {}
                }
                Says { window: open, ..Says::default() }
            }
            Segment::SynAck { ecn } => {
                (tcp.syn, tcp.ece) = (true, ecn);
                options.handshake(largest, sack, scale);
                match keys {
                    Some(keys) if subflow.is_first() => options.capable_syn_ack(keys),
                    Some(keys) => options.join_syn_ack(keys, subflow),
                    None => {}
                }
                Says { ack: 1, window: open, ..Says::default() }
            }
            // The third segment of the handshake.
            Segment::Ack { .. } if known.forth => {
                match keys {
                    Some(keys) if subflow.is_first() => options.capable_ack(keys, None),
                    Some(keys) => options.join_ack(keys, subflow),
                    None => {}
                }
                Says { seq: 1, ack: 1, window: LARGEST_WINDOW as u16, ..Says::default() }
            }
            Segment::Ack { ack: Seq(ack), data_ack: Seq(data_ack), ece, options: said } => {
                tcp.ece = ece;
                let said = said.unwrap_or_default();
                options.sack(&said.sack);
                if let Some(keys) = keys {
                    // A DATA_FIN takes a number of its own (RFC 8684, section 3.3.3).
                    let fin = known.connection.data_end == Some(DataEnd::Signalled(data_ack));
                    options.data_sequence_signal(data(keys, data_ack).wrapping_add(fin.into()), None);
                }
                let window = said.window.map_or(open, |window| window.div_ceil(1 << scale) as u16);
                Says { seq: 1, ack, window, payload: 0 }
            }
            Segment::Data { seq: Seq(seq), data_seq: Seq(data_seq), len, last, push, .. } => {
                tcp.psh = last || push;
                if let Some(keys) = keys {
                    let last = last && !known.connection.stays_open;
                    let mapping = || Mapping {
                        data_sequence: data(keys, data_seq),
                        sequence: seq,
                        length: len + u16::from(last),
                        data_fin: last,
                    };
                    if known.is_first_data(packet) {
                        options.capable_ack(keys, Some(len));
                    } else {
                        options.data_sequence_signal(nothing(keys), (len > 0).then(mapping));
                    }
                }
                Says { seq, ack: 1, window: LARGEST_WINDOW as u16, payload: len }
            }
            Segment::Fin { seq: Seq(seq) } | Segment::SubflowFin { seq: Seq(seq) } => {
                tcp.fin = true;
                if let Some(keys) = keys {
                    // A DATA_FIN without data (RFC 8684, section 3.3.3).
                    let mapping =
                        |end| Mapping { data_sequence: data(keys, end), sequence: 0, length: 1, data_fin: true };
                    let mapping = match known.connection.data_end {
                        Some(DataEnd::Reached(end)) => Some(mapping(end)),
                        _ => None,
                    };
                    options.data_sequence_signal(nothing(keys), mapping);
                }
                Says { seq, ack: 1, window: LARGEST_WINDOW as u16, payload: 0 }
            }
            Segment::Reset => {
                tcp.rst = true;
                Says { seq: 1, ack: 1, ..Says::default() }
            }
            Segment::Trimmed { .. } | Segment::Nack { .. } => {
                unreachable!("scenarios whose packets are trimmed record none")
            }
        }
    }
}

/// The scale of windows, and the window of an empty buffer of this size as a SYN has it (RFC 7323,
/// section 2.2); a buffer without limit offers the most that there is.
fn window_of(buffer: u64) -> (u8, u16) {
    let fits = |scale: &u8| buffer.checked_shr(u32::from(*scale)).unwrap_or(0) <= LARGEST_WINDOW;
    let scale = (0..LARGEST_SCALE).find(fits).unwrap_or(LARGEST_SCALE);
    (scale, buffer.min(LARGEST_WINDOW) as u16)
}

/// The port of the sender of data, and that of the receiver.
fn ports(flow: FlowId, subflow: SubflowId) -> (u16, u16) {
    let (flow, subflow) = (u32::from(flow), u32::from(subflow));
    let client = (flow % 256) << 5 | subflow;
    (CLIENT_PORTS + client as u16, SERVER_PORTS + (flow / 256 % SERVERS) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 256 flows have 32 ports each at their senders, and one together at their receivers; 4,096 times as
    /// many have the same.
    #[test]
    fn each_subflow_has_a_port() {
        let of = |flow: u32, subflow: usize| ports(FlowId::from(flow), SubflowId::new(subflow));
        assert_eq!([of(0, 0), of(0, 31), of(1, 0)], [(36_000, 49_152), (36_031, 49_152), (36_032, 49_152)]);
        assert_eq!([of(255, 2), of(256, 2), of(513, 0)], [(44_162, 49_152), (36_002, 49_153), (36_032, 49_154)]);
        assert_eq!([of((1 << 20) - 1, 31), of(1 << 20, 0)], [(44_191, 53_247), (36_000, 49_152)]);
    }
}
