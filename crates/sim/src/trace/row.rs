//! The rows of a trace: one for each event of a flow.

use crate::host::endpoint::{Sending, WaitsOn};
use crate::host::family::{kinds, said};
use crate::host::kinds::{Said, name};
use crate::plan::FlowId;
use linkpool_network::{Flags, Packet, Trailer};
use linkpool_transport::{Family, SubflowId};
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
        /// Does the receiver ask for each packet after the first window?
        pulled: bool,
        /// Do subflows begin with a handshake, and go through slow start, congestion avoidance and
        /// recovery?
        phases: bool,
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
    /// A packet of the flow leaves a port at which pauses have held it back.
    Held {
        /// To which end it is on its way.
        to: End,
        /// The packet.
        #[serde(flatten)]
        packet: Sight,
        /// `FROM->TO` of the port, which `TO` had paused.
        link: String,
        /// For how long its priority was paused while it waited, ps.
        paused: u64,
        /// The last of the pauses.
        pause: Because,
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
    /// What keeps the sender from sending has changed. Families that do not tell have none.
    Waits {
        /// From now on.
        on: WaitsOn,
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

/// Why a port was paused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Because {
    /// When the pause began at the port, ps.
    pub since: u64,
    /// The priority.
    pub priority: u8,
    /// Bytes of it that had come by the link and were still at the switch that asked for the pause, above its reserve.
    pub shared: u64,
    /// Bytes of them in the headroom.
    pub headroom: u64,
    /// So many bytes of the shared buffer it might have used.
    pub threshold: u64,
    /// The link for which most of them waited.
    pub behind: Option<String>,
}

/// A packet as a trace shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sight {
    /// Its subflow.
    pub subflow: SubflowId,
    /// `data`, `header` of data that was trimmed, `returned` header, or a kind that its family
    /// declares, such as `SYN`, `ACK` or `NACK`.
    pub kind: &'static str,
    /// Of data: its first byte in the subflow; of an ACK: the next byte of the connection's stream
    /// that is expected; modulo 2^32. Where packets are numbered: the number of the packet.
    pub seq: u32,
    /// Of data: its first byte in the connection's stream; of an ACK: the next byte that the
    /// subflow expects; modulo 2^32. Where packets are numbered, of an ACK: the first packet that has
    /// not arrived.
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
    /// `packet` of `subflow` with its `trailer`, of a family whose full packets have so many bytes of
    /// payload.
    pub(crate) fn of(
        packet: &Packet,
        trailer: Option<&Trailer>,
        subflow: SubflowId,
        (family, mss): (Family, u16),
    ) -> Sight {
        let Said { seq, ack, ece } = said(family, packet, trailer, mss);
        let (kind, payload, size) = (name(packet, kinds(family)), packet.payload(), packet.size());
        Sight { subflow, kind, seq, ack, payload, size, ce: packet.flags.has(Flags::CE), ece }
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
    /// Kept from sending by the time of its next packet alone.
    pub paced: bool,
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
            paced: end.is_paced(s),
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
    use crate::host::encoding::encode;
    use crate::plan::PacketSizes;
    use linkpool_network::{Envelope, HostId, Kind};
    use linkpool_transport::{Segment, Seq};

    fn packet(kind: Kind, flags: Flags) -> Packet {
        let envelope = Envelope::new(HostId::new(3), 1_064, 1_000);
        Packet { seq: 7, ack: 5, envelope, flags, kind, ..Packet::default() }
    }

    fn sight(kind: Kind, flags: Flags, trailer: Option<&Trailer>, family: Family) -> Sight {
        Sight::of(&packet(kind, flags), trailer, SubflowId::new(2), (family, 1_000))
    }

    /// Packets of all families with data have the same names; others have those that their family
    /// declares.
    #[test]
    fn packets_have_their_kinds() {
        let trimmed = Flags::TRIMMED | Flags::TRIMMABLE;
        for family in Family::ALL {
            let name = |kind, flags| sight(kind, flags, None, *family).kind;
            assert_eq!(name(Kind::DATA, Flags::default()), "data");
            assert_eq!(name(Kind::DATA | Kind::SYN, trimmed), "header");
            assert_eq!(name(Kind::DATA, Flags::TRIMMED), "returned");
            assert_eq!(name(Kind::ACK, Flags::default()), "ACK");
        }
        let sizes = PacketSizes { header: 62, ack: 42 };
        let (syn, ack) = (Segment::Syn { join: true, ecn: true }, Segment::SynAck { ecn: true });
        let (fin, last) = (Segment::SubflowFin { seq: Seq(1) }, Segment::Fin { seq: Seq(1) });
        let echo = Segment::Ack { ack: Seq(1), data_ack: Seq(1), ece: true, options: None };
        for (segment, kind) in [
            (syn, "SYN"),
            (ack, "SYN-ACK"),
            (echo, "ACK"),
            (Segment::Nack { seq: Seq(1) }, "NACK"),
            (Segment::Trimmed { seq: Seq(1), len: 9 }, "returned"),
            (fin, "FIN"),
            (last, "FIN"),
            (Segment::Reset, "RST"),
        ] {
            let seen = Sight::of(&encode(segment, sizes), None, SubflowId::FIRST, (Family::Tcp, 1_000));
            assert_eq!((seen.kind, seen.ece), (kind, kind.contains("ACK") && kind != "NACK" || kind == "SYN"));
        }
    }

    /// TCP's packets have the two numbers themselves, but for those with a trailer.
    #[test]
    fn packets_have_their_numbers() {
        let mut trailer = Trailer::default();
        trailer[0] = 9;
        let seen = |kind, trailer| {
            let sight = sight(kind, Flags::CE, trailer, Family::Tcp);
            assert_eq!((sight.subflow, sight.payload, sight.size), (SubflowId::new(2), 1_000, 1_064));
            assert!(sight.ce && !sight.ece);
            (sight.seq, sight.ack)
        };
        assert_eq!(seen(Kind::DATA, None), (7, 5));
        assert_eq!(seen(Kind::ACK, Some(&trailer)), (9, 5));
        assert_eq!(seen(Kind::SYN, Some(&trailer)), (0, 5));
        assert!(!sight(Kind::ACK, Flags::default(), None, Family::Tcp).ce);
    }
}
