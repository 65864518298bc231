//! The rows of a trace: one for each event of a flow.

use crate::host::encoding::data_ack;
use crate::host::endpoint::Sending;
use crate::host::ndp;
use crate::plan::FlowId;
use linkpool_network::{Flags, Packet, Trailer};
use linkpool_transport::SubflowId;
use serde::Serialize;

/// An event of a flow.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Time of the event, ps.
    pub at: u64,
    /// Number of the flow; of a connection that stays open, that of its first message.
    pub flow: FlowId,
    /// The event.
    #[serde(flatten)]
    pub what: What,
}

/// The two ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The end that has data to send.
    Sender,
    /// The end that gets the data.
    Receiver,
}

/// The kind of an event.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// The sender is about to send its first SYN; or a connection that stays open is about to be
    /// given the first message that is traced.
    Opens {
        /// Sending host.
        src: String,
        /// Receiving host.
        dst: String,
        /// Name of the transport.
        transport: String,
        /// Its congestion control algorithm.
        control: &'static str,
        /// Payload, bytes; none: unlimited, or in messages.
        size: Option<u64>,
        /// It carries messages, one after another.
        stays_open: bool,
        /// Payload of a full segment, bytes.
        mss: u16,
        /// Room for data not acknowledged at the sender, bytes; none: without limit.
        buffer: Option<u64>,
        /// The most data in flight on each subflow, bytes; none: without limit.
        subflow_window: Option<u64>,
        /// Does the send buffer grow with the windows of several subflows?
        grows: bool,
        /// Does the receiving application read at a limited rate?
        reads: bool,
        /// For how long the receiver's timer delays an ACK, ps.
        ack_delay: u64,
        /// Does the receiver ask for each packet after the first window, by a PULL?
        pulled: bool,
    },
    /// An end has sent a packet: it is now in the queue of its host's link, or found no room there.
    Sent {
        /// Which end.
        by: End,
        /// The packet.
        #[serde(flatten)]
        packet: Sight,
        /// When it reaches the next node, ps; none: it has not left, or was lost before.
        next: Option<u64>,
    },
    /// A packet has arrived at an end.
    Arrived {
        /// Which end.
        at_end: End,
        /// The packet.
        #[serde(flatten)]
        packet: Sight,
    },
    /// A timer of an end has expired, and the end acted.
    Timer {
        /// Which end.
        of: End,
        /// For this subflow.
        subflow: SubflowId,
    },
    /// The receiver's turn has come among the endpoints of its host that pace their PULLs together.
    Turn,
    /// A packet of the flow was lost, or its payload.
    Lost {
        /// To which end it was on its way.
        to: End,
        /// The packet.
        #[serde(flatten)]
        packet: Sight,
        /// `FROM->TO` of the port.
        link: String,
        /// `full`, `down`, `wire`; `trimmed`: its header goes on; `returned`: to its sender.
        cause: &'static str,
        /// Packets in the queue.
        queued: u32,
        /// Packets in the queue by flow (none: unknown). Empty where the port does not tell.
        queue: Vec<(Option<FlowId>, u32)>,
    },
    /// The sender's view of a subflow has changed.
    State {
        /// The subflow.
        subflow: SubflowId,
        /// The new state.
        #[serde(flatten)]
        state: State,
    },
    /// Payload acknowledged at connection level.
    Acked {
        /// Bytes.
        bytes: u64,
    },
    /// The receiver's window lets the sender send more; there are none if its buffer is unlimited.
    Offered {
        /// All data that ends here or before, in bytes of the stream.
        end: u64,
    },
    /// A connection that stays open has been given a message.
    Given {
        /// Its number.
        message: FlowId,
        /// Its first byte in the connection's stream.
        begin: u64,
        /// Its end in the stream.
        end: u64,
        /// All data before this had been sent.
        sent: u64,
        /// All data before this had been acknowledged.
        acked: u64,
    },
    /// The sender is done with a message.
    Done {
        /// Its number.
        message: FlowId,
        /// All its data is acknowledged.
        finished: bool,
    },
    /// The sender is done, or done with the last message that is traced.
    Ends {
        /// All data is acknowledged.
        finished: bool,
    },
}

/// A packet as a trace shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sight {
    /// Its subflow.
    pub subflow: SubflowId,
    /// `SYN`, `SYN-ACK`, `data`, `header` of data that was trimmed, `returned` header, `ACK`,
    /// `NACK`, `PULL`, `FIN`, `RST`.
    pub kind: &'static str,
    /// Of data: its first byte in the subflow; of an ACK: the next byte of the connection's stream
    /// that is expected; modulo 2^32. Of NDP: the number of the packet, or of the PULL.
    pub seq: u32,
    /// Of data: its first byte in the connection's stream; of an ACK: the next byte that the
    /// subflow expects; modulo 2^32. Of NDP's ACKs: the first packet that has not arrived.
    pub ack: u32,
    /// Payload, bytes.
    pub payload: u16,
    /// On the wire, bytes.
    pub size: u16,
    /// A switch has marked it.
    pub ce: bool,
    /// It echoes a mark.
    pub ece: bool,
}

impl Sight {
    /// `packet` of `subflow` with its `trailer`; `numbered`: NDP numbers its packets, which have so
    /// many bytes of payload.
    pub(crate) fn of(packet: &Packet, trailer: Option<&Trailer>, subflow: SubflowId, numbered: Option<u16>) -> Sight {
        let has = |flag| packet.flags.has(flag);
        let kind = match () {
            () if packet.is_returned() => "returned",
            () if has(Flags::DATA | Flags::TRIMMED) => "header",
            () if has(Flags::DATA) => "data",
            () if has(Flags::FIN | Flags::ACK) && !has(Flags::JOIN) => "RST",
            () if has(Flags::FIN) => "FIN",
            () if has(ndp::PULL) => "PULL",
            () if has(Flags::TRIMMED) => "NACK",
            () if has(Flags::SYN | Flags::ACK) && numbered.is_none() => "SYN-ACK",
            () if has(Flags::SYN) && numbered.is_none() => "SYN",
            () => "ACK",
        };
        let (mut seq, mut ack) = (packet.seq, packet.ack);
        if let Some(mss) = numbered {
            if has(Flags::DATA) {
                seq = ndp::number(packet, trailer);
                ack = seq.wrapping_mul(mss.into());
            } else if has(Flags::SYN) {
                ack = 0; // the name of the receiver stands there
            }
        } else if let Some(trailer) = trailer {
            // In the packet stands the place of its trailer.
            seq = if has(Flags::SYN) { 0 } else { data_ack(trailer).0 };
        }
        let (payload, size) = (packet.payload(), packet.size());
        Sight { subflow, kind, seq, ack, payload, size, ce: has(Flags::CE), ece: has(Flags::ECE) }
    }
}

/// A subflow at its sender.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct State {
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow start threshold, packets; none: unlimited.
    pub ssthresh: Option<f64>,
    /// Smoothed RTT, s.
    pub srtt: Option<f64>,
    /// Retransmission timeout, ps.
    pub rto: u64,
    /// The handshake is done.
    pub established: bool,
    /// Kept from sending new data.
    pub suppressed: bool,
    /// In fast recovery.
    pub recovering: bool,
    /// Payload acknowledged on it, bytes.
    pub acked: u64,
    /// Data segments sent.
    pub segments: u64,
    /// Of these, sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Cuts undone.
    pub undos: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// ACKs that echoed a mark.
    pub marked_acks: u64,
    /// Cuts for marks.
    pub cuts: u64,
}

impl State {
    pub(crate) fn of(end: &impl Sending, s: SubflowId) -> State {
        let subflow = end.subflow(s);
        let stats = &subflow.stats;
        State {
            cwnd: subflow.cwnd,
            ssthresh: subflow.ssthresh.is_finite().then_some(subflow.ssthresh),
            srtt: subflow.srtt,
            rto: subflow.rto.0,
            established: end.is_established(s),
            suppressed: end.is_suppressed(s),
            recovering: end.is_recovering(s),
            acked: stats.acked_bytes,
            segments: stats.segments,
            retransmits: stats.retransmits,
            timeouts: stats.timeouts,
            recoveries: stats.recoveries,
            undos: stats.undos,
            probes: stats.probes,
            marked_acks: stats.marked_acks,
            cuts: stats.cuts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::{Envelope, HostId};

    fn packet(flags: Flags) -> Packet {
        let envelope = Envelope::new(HostId::new(3), 1_064, 1_000);
        Packet { seq: 7, ack: 5, envelope, flags, ..Packet::default() }
    }

    /// Each packet of TCP and of NDP by the flags that it has.
    #[test]
    fn packets_have_their_kinds() {
        let kind = |flags, numbered| Sight::of(&packet(flags), None, SubflowId::FIRST, numbered).kind;
        let (syn, ack, data) = (Flags::SYN, Flags::ACK, Flags::DATA);
        let trimmed = data | Flags::TRIMMED | Flags::TRIMMABLE;
        let tcp = [
            (syn, "SYN"),
            (syn | Flags::JOIN, "SYN"),
            (syn | ack, "SYN-ACK"),
            (ack, "ACK"),
            (ack | Flags::ECE, "ACK"),
            (data | ack, "data"),
            (trimmed, "header"),
            (ack | Flags::TRIMMED, "NACK"),
            (Flags::FIN, "FIN"),
            (Flags::FIN | Flags::JOIN, "FIN"),
            (Flags::FIN | ack, "RST"),
        ];
        tcp.into_iter().for_each(|(flags, name)| assert_eq!(kind(flags, None), name, "{flags:?}"));
        let ndp = [
            (data | syn, "data"),
            (trimmed | syn, "header"),
            (data | Flags::TRIMMED, "returned"),
            (ack, "ACK"),
            (ack | syn, "ACK"),
            (ack | Flags::TRIMMED, "NACK"),
            (ack | syn | Flags::TRIMMED, "NACK"),
            (ndp::PULL, "PULL"),
        ];
        ndp.into_iter().for_each(|(flags, name)| assert_eq!(kind(flags, Some(1_000)), name, "{flags:?}"));
    }

    /// TCP's packets have the two numbers themselves, NDP's data the number of the packet and its place
    /// in the stream, and an ACK that names the receiver acknowledges nothing in order.
    #[test]
    fn packets_have_their_numbers() {
        let mut trailer = Trailer::default();
        trailer[crate::host::connection::Opening::WORDS] = 9;
        let seen = |flags, trailer, numbered| {
            let sight = Sight::of(&packet(flags), trailer, SubflowId::new(2), numbered);
            assert_eq!((sight.subflow, sight.payload, sight.size), (SubflowId::new(2), 1_000, 1_064));
            (sight.seq, sight.ack)
        };
        assert_eq!(seen(Flags::DATA, None, None), (7, 5));
        assert_eq!(seen(Flags::DATA, None, Some(1_000)), (7, 7_000));
        assert_eq!(seen(Flags::DATA | Flags::SYN, Some(&trailer), Some(1_000)), (9, 9_000));
        assert_eq!(seen(Flags::ACK, None, Some(1_000)), (7, 5));
        assert_eq!(seen(Flags::ACK | Flags::SYN, None, Some(1_000)), (7, 0));
        let marks = |flags| {
            let sight = Sight::of(&packet(flags), None, SubflowId::FIRST, None);
            (sight.ce, sight.ece)
        };
        assert_eq!([Flags::CE, Flags::ECE, Flags::ACK].map(marks), [(true, false), (false, true), (false, false)]);
    }
}
