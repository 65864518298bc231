use crate::control::ControlConfig;
use crate::flow_control::Buffers;
use crate::multipath::Multipath;
use crate::rtt::RttConfig;
use linkpool_units::Time;

/// How a sender finds losses and repairs them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// By duplicate ACKs, one loss a round (RFC 6582).
    NewReno,
    /// By SACKs (RFC 2018, 2883), counted (RFC 6675).
    Sack,
    /// By SACKs and the times when segments were sent, with probes for lost tails (RACK-TLP, RFC 8985), and proportional
    /// rate reduction (RFC 6937).
    Rack,
}

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
    /// Loss recovery.
    pub recovery: Recovery,
    /// Are windows restored when a retransmission turns out to have been needless, told by D-SACKs (RFC 3708) or, after a
    /// timeout, by F-RTO (RFC 5682)?
    pub undo: bool,
    /// Does a mark cut the window during fast recovery, which has cut it already?
    pub cut_in_recovery: bool,
    /// Duplicate ACKs that signal a loss (RFC 5681, section 3.2: 3).
    pub dupack_threshold: u32,
    /// With SACKs: does that number follow the reordering that is seen (RR-TCP; with MMPTCP, in phase 1)?
    pub adaptive_threshold: bool,
    /// Does a duplicate ACK below the threshold let a new segment out (RFC 3042)?
    pub limited_transmit: bool,
    /// Grow by the packets that an ACK acknowledges (RFC 3465), or by one per ACK that acknowledges anything (RFC 5681)?
    pub byte_counting: bool,
    /// With the former, an ACK grows the window in slow start by no more packets (L of RFC 3465, section 2.3; `u32::MAX`, as
    /// Linux does: without limit).
    pub byte_counting_limit: u32,
    /// The receiver acknowledges every packet (1) or every second (2, RFC 5681, section 4.2).
    pub ack_every: u32,
    /// The longest that a delayed ACK waits.
    pub ack_delay: Time,
    /// With delayed ACKs: do the first ones, those after a silence and those after a duplicate go out at once (Linux)?
    pub quickack: bool,
    /// Further subflows open after a random delay of at most this, once the first is established.
    pub join_jitter: Time,
    /// The buffers at both ends.
    pub buffers: Buffers,
    /// What concerns several subflows.
    pub multipath: Multipath,
    /// Does the receiver agree to ECN?
    pub accept_ecn: bool,
}

impl Config {
    /// How long to wait for the answer to a SYN or SYN-ACK that has been sent `again` so many times.
    pub(crate) fn syn_wait(&self, again: u32) -> Time {
        self.syn_timeout * (1 << again.min(31))
    }
}
