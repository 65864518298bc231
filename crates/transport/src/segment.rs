//! Segments, and the interface by which endpoints send them.

use crate::id::SubflowId;
use crate::options::AckOptions;
use crate::seq::Seq;
use linkpool_units::Time;

/// A segment that one endpoint sends to the other on a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segment {
    /// Opens a connection (MP_CAPABLE), or a further subflow of it if `join` (MP_JOIN, RFC 8684,
    /// section 3.2).
    Syn {
        /// Joins an existing connection.
        join: bool,
        /// Asks for ECN (ECN-setup SYN, RFC 3168, section 6.1.1).
        ecn: bool,
    },
    /// Answers a SYN.
    SynAck {
        /// Agrees to ECN (ECN-setup SYN-ACK).
        ecn: bool,
    },
    /// Payload.
    Data {
        /// Position in the subflow's stream.
        seq: Seq,
        /// Position in the connection's stream (the data sequence mapping, RFC 8684, section
        /// 3.3.1).
        data_seq: Seq,
        /// Bytes of payload.
        len: u16,
        /// Does the connection's stream end with it (DATA_FIN), or a message on a connection that
        /// stays open (PSH)?
        last: bool,
        /// Sent as ECN-capable.
        ect: bool,
        /// The first new segment since a mark was echoed (CWR; RFC 3168, section 6.1.2).
        cwr: bool,
        /// Nothing that continues the stream waits behind it in the sender (PSH; RFC 9293, section
        /// 3.9.1.2).
        push: bool,
    },
    /// Acknowledges.
    Ack {
        /// Everything before this position of the subflow's stream has arrived. It has no meaning
        /// in the third segment of the handshake, before data.
        ack: Seq,
        /// Everything before this position of the connection's stream has arrived (DATA_ACK).
        data_ack: Seq,
        /// ECN echo.
        ece: bool,
        /// The options, if there are any.
        options: Option<AckOptions>,
    },
    /// The header of a data segment whose payload a switch has cut off.
    Trimmed {
        /// Position in the subflow's stream.
        seq: Seq,
        /// Bytes of payload that it carried.
        len: u16,
    },
    /// Only the header of a data segment has arrived, so the segment must be sent again (NACK).
    Nack {
        /// Its position in the subflow's stream.
        seq: Seq,
    },
    /// All data is acknowledged; the receiver may forget the connection.
    Fin {
        /// The sequence number behind the last byte of the subflow.
        seq: Seq,
    },
    /// No new data will be sent on this subflow. Only used with [`crate::Faults`]; otherwise the
    /// FIN of the connection covers all subflows.
    SubflowFin {
        /// The sequence number behind the last byte of the subflow.
        seq: Seq,
    },
    /// Resets the connection.
    Reset,
}

/// Takes the segments and timer requests of an endpoint.
pub trait Output {
    /// Send `segment` on `subflow`.
    fn send(&mut self, subflow: SubflowId, segment: Segment);
    /// Call the endpoint's `on_timer` for `subflow` at `at`. Every request causes a call; no
    /// request is withdrawn.
    fn wake(&mut self, subflow: SubflowId, at: Time);
    /// The retransmission timer of `subflow` has expired, so its path may have failed. The
    /// retransmissions follow.
    fn timed_out(&mut self, _subflow: SubflowId) {}
    /// A round-trip time has been measured on `subflow`.
    fn measured_rtt(&mut self, _subflow: SubflowId, _rtt: Time) {}
    /// Draw a delay between 0 and `most`, uniformly distributed.
    fn jitter(&mut self, most: Time) -> Time;
}
