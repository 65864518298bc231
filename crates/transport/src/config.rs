//! The settings of a TCP transport beside those of its congestion control.

use crate::control::ControlConfig;
use crate::flow_control::Buffers;
use crate::multipath::Multipath;
use crate::rtt::RttConfig;
use crate::threshold::DupackThreshold;
use linkpool_settings::{Bounds, Packets, Size, Timeouts, settings};
use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way in which a sender detects and repairs losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LossRecovery {
    /// By duplicate ACKs; fast recovery ends with the next ACK of new data (RFC 5681, section 3.2).
    Reno,
    /// By duplicate ACKs; repairs one loss per round (RFC 6582).
    NewReno,
    /// By the number of SACKs (RFC 2018, 2883, 6675).
    Sack,
    /// By SACKs and the times at which segments were sent (RACK-TLP, RFC 8985), with probes for
    /// lost tails and proportional rate reduction (RFC 9937).
    Rack,
}

/// What sets the times at which packets leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// The algorithm's rate, if it gives one; else the window alone.
    Control,
    /// The algorithm's rate, if it gives one; else Linux's pacing rate, as queue discipline `fq`
    /// enforces it.
    Fq,
}

impl LossRecovery {
    /// Do receivers send SACKs?
    pub fn has_sacks(self) -> bool {
        matches!(self, LossRecovery::Sack | LossRecovery::Rack)
    }
}

settings! {
    /// The settings of a transport, for both ends of its connections.
    pub struct Config {
        /// Payload of a full segment.
        mss: u16 as Bytes = 1_448, paper_2013 = 1_400;
        /// Initial window of every subflow, packets.
        initial_window: u32 = 10, paper_2013 = 1, within Bounds::POSITIVE;
        /// Initial slow-start threshold.
        initial_ssthresh: u64 as Size = u64::MAX, paper_2013 = 65_535, within Bounds::POSITIVE_OR_UNLIMITED;
        /// true: an ACK grows the window by the number of packets that it is the first to report
        /// (RFC 3465; as in Linux, packets that SACKs or duplicate ACKs have reported do not count
        /// again); false: by one packet (RFC 5681).
        byte_counting: bool = true, paper_2013 = false;
        /// The most packets by which an ACK grows the window in slow start: L of RFC 3465, section
        /// 2.3 (1 or 2). It is 1 while an ACK may acknowledge data sent before a timeout.
        /// `"unlimited"`: no limit, as in Linux.
        byte_counting_limit: u32 as Packets = u32::MAX, within Bounds::POSITIVE_OR_UNLIMITED,
            when |c| c.byte_counting => "`byte_counting = true`";
        /// Does the handshake (SYN, SYN-ACK) give an RTT sample, as in RFC 6298?
        handshake_sample: bool = true, paper_2013 = false;
        /// Timeout of the first SYN, doubled with every retry.
        syn_timeout: Time = Time::from_secs(1), paper_2013 = Time::from_secs(3), within Bounds::POSITIVE;
        /// Of a connection that stays open between messages, and of one with several subflows and
        /// `scheduler = "lowest-time-to-send"`, `"blest"` or `"ecf"`, or `send_buffer = "auto"`: does a
        /// subflow that has sent nothing for longer than a retransmission timeout begin again with half its window for each
        /// timeout, and at least the initial window (RFC 2861; Linux: `tcp_slow_start_after_idle`)?
        slow_start_after_idle: bool = true;
        /// Number of retries of a SYN. After the last one, the connection (or the subflow) fails.
        syn_retries: u32 = 6;
        /// Number of timeouts in a row after which the sender gives up a subflow, and with the last
        /// subflow the connection; or `"never"`. (Linux: 15 retransmissions by timeout,
        /// `tcp_retries2`.)
        fail_after: u32 as Timeouts = 16, paper_2013 = u32::MAX, within Bounds::POSITIVE_OR_NEVER;
        /// How losses are detected and repaired. `"reno"`: by duplicate ACKs, one loss per window (RFC
        /// 5681). `"newreno"`: by duplicate ACKs, one loss per round (RFC 6582). `"sack"`: by SACKs
        /// (RFC 2018, 2883, 6675). `"rack"`: by SACKs and time, with tail loss probes (RFC 8985). See
        /// below.
        recovery: LossRecovery = LossRecovery::Rack, paper_2013 = LossRecovery::NewReno;
        /// Are windows restored when D-SACKs (RFC 3708; with SACKs), or F-RTO after a timeout (RFC
        /// 5682), show that no packet was lost?
        undo: bool = true, paper_2013 = false;
        /// Does a mark cut the window during fast recovery, after a loss has cut it? (Linux and RFC
        /// 3168: no; the implementation behind the papers' figures: yes.)
        cut_in_recovery: bool = false, paper_2013 = true, of Marks;
        /// When packets leave. `"control"`: at the rate of an algorithm that gives one (`bbr`;
        /// `swift` with a window below one packet), else as soon as the window has room. `"fq"`: also at Linux's rate
        /// for other algorithms, which its queue discipline `fq` enforces: 2 windows per smoothed RTT
        /// while the window is below half of the slow-start threshold, 1.2 windows else
        /// (`tcp_update_pacing_rate`). Each packet leaves alone, as without segmentation offload. The
        /// first ten packets of a subflow are not paced (`tcp_update_skb_after_send`), nor are BBR's.
        pacing: Pacing = Pacing::Control;
        /// Number of duplicate ACKs that means a loss (RFC 5681, section 3.2: 3). `"auto"`, for
        /// scattered packets: 3, plus the number of paths if there are several (in a fat-tree with
        /// k = 8: 3 within a rack, 7 within a pod, 19 between pods). `"adaptive"`, with `recovery =
        /// "sack"`: it follows the reordering that the sender sees (RR-TCP,
        /// [more](scenario/loss-recovery.md)). With MMPTCP it is for phase 1; phase 2 has 3.
        dupack_threshold: DupackThreshold = DupackThreshold::Acks(3);
        /// Does each duplicate ACK below the threshold let the sender send a new segment (RFC
        /// 3042)?
        limited_transmit: bool = true, paper_2013 = false;
        /// 1: an ACK for each packet; 2: delayed ACKs (RFC 5681, section 4.2).
        ack_every: u32 = 2, paper_2013 = 1,
            within Bounds::from(1.0, "must be 1, an ACK per packet, or 2, delayed ACKs").to(2.0);
        /// Longest delay of an ACK.
        ack_delay: Time = Time::from_ms(40), within Bounds::SPAN,
            when |c| c.ack_every > 1 => "delayed ACKs, `ack_every = 2`";
        /// Are some ACKs not delayed, as in Linux? These are ACKs for the first data of a subflow,
        /// for data after a silence of more than `min_rto`, and after a duplicate. Their number is
        /// 16, or half the segments that fit into the receive buffer if that is less. ACKs for a
        /// segment whose mark differs from the last segment's, and for the first segment after its
        /// sender has learned of a mark (CWR), are not delayed either.
        quickack: bool = true, paper_2013 = false, when |c| c.ack_every > 1 => "delayed ACKs, `ack_every = 2`";
        /// Is data that a sender pushes acknowledged at once if the receiving application has read all
        /// data, of all subflows, as in Linux? A sender pushes (PSH) the last packet in the send queue
        /// of a subflow, and one that does not continue the data before it; with one subflow, the last
        /// packet for which its send buffer had room when the application wrote. An application that
        /// `read_rate` limits has read all later: then its data is acknowledged.
        push_acks: bool = true, paper_2013 = false, when |c| c.ack_every > 1 => "delayed ACKs, `ack_every = 2`";
        /// Each further subflow opens after a delay, uniformly distributed between 0 and this, from
        /// the time at which the first subflow is established.
        join_jitter: Time = Time::ZERO, paper_2013 = Time::from_us(49), within Bounds::SPAN, of Several;
        /// Does the receiver agree to ECN?
        accept_ecn: bool = true, of Marks;
    }
    groups {
        /// Retransmission timer.
        rtt: RttConfig;
        /// The buffers at both ends.
        buffers: Buffers;
        /// Settings of connections with several subflows.
        multipath: Multipath;
        /// Congestion control and its parameters.
        control: ControlConfig;
    }
    others {
        /// Subflows of a connection.
        subflows: usize = 1;
    }
}

impl Config {
    /// The time to wait for the answer to a SYN or SYN-ACK that has been sent again `again` times.
    pub(crate) fn syn_wait(&self, again: u32) -> Time {
        self.syn_timeout * (1 << again.min(31))
    }

    /// Initial slow-start threshold, packets; infinite: unlimited.
    pub(crate) fn ssthresh(&self) -> f64 {
        match self.initial_ssthresh {
            u64::MAX => f64::INFINITY,
            bytes => bytes as f64 / f64::from(self.mss),
        }
    }

    /// With delayed ACKs: is pushed data acknowledged at once, if all is read (Linux)?
    pub(crate) fn push_acks(&self) -> bool {
        self.push_acks && self.ack_every > 1
    }

    /// With delayed ACKs: does the receiver send the first ACKs, and ACKs after a silence or a
    /// duplicate, at once (Linux)?
    pub(crate) fn quickack(&self) -> bool {
        self.quickack && self.ack_every > 1
    }
}
