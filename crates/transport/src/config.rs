use crate::control::ControlConfig;
use crate::flow_control::Buffers;
use crate::multipath::Multipath;
use crate::rtt::RttConfig;
use linkpool_units::Time;

/// The settings of a transport; both ends of its connections have them.
#[derive(Clone, Debug)]
pub struct Config {
    /// Congestion control and its parameters.
    pub control: ControlConfig,
    /// Subflows of a connection.
    pub subflows: usize,
    /// Payload of a full segment, bytes.
    pub mss: u16,
    /// Initial window of every subflow, packets.
    pub initial_window: u32,
    /// Initial slow start threshold, packets; infinite: unlimited.
    pub initial_ssthresh: f64,
    /// Retransmission timer.
    pub rtt: RttConfig,
    /// Is SYN / SYN-ACK an RTT sample (RFC 6298 would have it so)?
    pub handshake_sample: bool,
    /// First timeout of a SYN; doubled with every retry.
    pub syn_timeout: Time,
    /// Retries of a SYN before the subflow fails.
    pub syn_retries: u32,
    /// Timeouts in a row after which a subflow is given up; `u32::MAX`: never.
    pub fail_after: u32,
    /// Duplicate ACKs that signal a loss (RFC 5681, section 3.2: 3).
    pub dupack_threshold: u32,
    /// Does a duplicate ACK below the threshold let a new segment out (RFC 3042)?
    pub limited_transmit: bool,
    /// Grow by the packets that an ACK acknowledges (RFC 3465, without its limit, as Linux does), or by one per ACK
    /// that acknowledges anything (RFC 5681)?
    pub byte_counting: bool,
    /// The receiver acknowledges every packet (1) or every second (2, RFC 5681, section 4.2).
    pub ack_every: u32,
    /// The longest that a delayed ACK waits.
    pub ack_delay: Time,
    /// Further subflows open after a random delay of at most this, once the first is established.
    pub join_jitter: Time,
    /// The buffers at both ends.
    pub buffers: Buffers,
    /// What concerns several subflows.
    pub multipath: Multipath,
    /// Does the receiver agree to ECN?
    pub accept_ecn: bool,
}
