use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Packets, Size, Speed, Timeouts};
use crate::model::{
    Control, DupackThreshold, EwtcpIncrease, Fault, Paths, Preset, Priority, Recovery, Release, ScatterControl,
    Scheduler, SsthreshAfterCut, Subflows,
};

/// A transport protocol. Only `control` is required; `preset` sets the defaults of the rest.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Transport")]
pub(crate) struct TransportTable {
    /// Where the defaults come from. Default: "linux".
    pub(crate) preset: Option<Preset>,
    /// The congestion controller.
    #[schemars(required)]
    pub(crate) control: Option<Control>,
    /// Subflows of a connection; "auto": as many as there are equal-cost paths to the receiver, at
    /// most 8. Applies to all but reno and dctcp. Default: 1.
    pub(crate) subflows: Option<Subflows>,
    /// "hash": each subflow's path is an ECMP hash of its addresses and ports; "distinct":
    /// subflow i takes the i-th of the equal-cost paths; "disjoint": the i-th of as many paths without a
    /// cable in common as there are; "scatter": every data packet takes a random one; "plb": as
    /// "hash", and another hash when the path stays congested; "reps": every data packet takes a
    /// path from which an unmarked ACK has come back, or a random one. Default: "hash".
    pub(crate) paths: Option<Paths>,
    /// Payload of a full segment. Default: "1448B"; paper-2013: "1400B".
    pub(crate) mss: Option<Bytes>,
    /// Bytes on the wire beside the payload. Default: "90B" (32 TCP, 20 IP, 38 Ethernet with
    /// preamble and gap); paper-2013: "62B".
    pub(crate) header: Option<Bytes>,
    /// Bytes on the wire of a segment without payload: ACK, SYN, FIN. Default: "90B";
    /// paper-2013: "42B".
    pub(crate) ack_size: Option<Bytes>,
    /// Initial window of every subflow, packets. Default: 10; paper-2013: 1.
    #[schemars(range(min = 1))]
    pub(crate) initial_window: Option<u32>,
    /// Initial slow-start threshold. Default: "unlimited"; paper-2013: "65535B".
    pub(crate) initial_ssthresh: Option<Size>,
    /// Floor of the window after a mark, packets. Applies to dctcp, dcm, xmp, amp, mptcp-cut.
    /// Default: 2.
    #[schemars(range(min = 1))]
    pub(crate) cwnd_min: Option<u32>,
    /// Initial alpha, 0 to 1. Applies to dctcp, dcm. Default: 1; paper-2013: 0.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) alpha0: Option<f64>,
    /// Gain of alpha, above 0 and up to 1. Applies to dctcp, dcm. Default: 0.0625.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub(crate) g: Option<f64>,
    /// A mark cuts the window by 1/beta; at least 1. Applies to xmp, amp, mptcp-cut. Default: 4.
    #[schemars(range(min = 1))]
    pub(crate) beta: Option<f64>,
    /// Rounds at the minimum before suppression. Applies to amp. Default: 2.
    #[schemars(range(min = 1))]
    pub(crate) gamma: Option<u32>,
    /// Unmarked rounds before release. Applies to amp. Default: 8.
    #[schemars(range(min = 1))]
    pub(crate) tau: Option<u32>,
    /// false: AMP without suppression of subflows (SSR). Applies to amp. Default: true.
    pub(crate) suppression: Option<bool>,
    /// "rounds": count rounds of subflow 0 with no mark, no recovery and a window above
    /// `cwnd_min` (the authors' implementation); "acks": the paper's Algorithm 1, any marked ACK
    /// resets the count, no condition on the window. Applies to amp. Default: "rounds".
    pub(crate) release: Option<Release>,
    /// Slow-start threshold after a cut to the window w: "w", or "w-1" as in the XMP paper's
    /// pseudocode. Applies to xmp. Default: "w".
    pub(crate) ssthresh_after_cut: Option<SsthreshAfterCut>,
    /// The constant a of the increase a/w on each of n subflows: "1/n^2" (n of them at one
    /// bottleneck take the share of one TCP), or "1/sqrt(n)" (as printed in Wischik et al., NSDI
    /// 2011). Applies to ewtcp. Default: "1/n^2".
    pub(crate) ewtcp_increase: Option<EwtcpIncrease>,
    /// The constant a of the increase a/w_total, above 0; 1: one packet a round over all
    /// subflows. Applies to semi-coupled. Default: 1.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) aggressiveness: Option<f64>,
    /// Floor of the window after a loss, packets: 1 in Wischik et al., NSDI 2011, 2 in the
    /// implementation of MMPTCP's authors. Applies to fully-coupled. Default: 2.
    #[schemars(range(min = 1))]
    pub(crate) loss_floor: Option<u32>,
    /// C of RFC 9438, packets per second cubed, above 0. Applies to cubic. Default: 0.4.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) cubic_c: Option<f64>,
    /// A loss multiplies the window by it (RFC 9438), above 0 and below 1. Applies to cubic.
    /// Default: 0.7.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub(crate) cubic_beta: Option<f64>,
    /// Does a flow whose window shrinks from loss to loss give way (RFC 9438, section 4.7)?
    /// Applies to cubic. Default: true.
    pub(crate) fast_convergence: Option<bool>,
    /// Least retransmission timeout. Default: "200ms".
    pub(crate) min_rto: Option<Time>,
    /// Retransmission timeout before the first RTT sample. Default: "1s"; paper-2013: "1.5s".
    pub(crate) initial_rto: Option<Time>,
    /// Greatest retransmission timeout. Default: "120s"; paper-2013: "60s".
    pub(crate) max_rto: Option<Time>,
    /// Largest multiple of the RTO. Default: 64.
    #[schemars(range(min = 1))]
    pub(crate) max_backoff: Option<u32>,
    /// Gain of the smoothed RTT, above 0 and up to 1. Default: 0.125; paper-2013: 0.1.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub(crate) srtt_gain: Option<f64>,
    /// Gain of the RTT's variation, above 0 and up to 1. Default: 0.25; paper-2013: 0.1.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub(crate) rttvar_gain: Option<f64>,
    /// Is SYN / SYN-ACK an RTT sample? Default: true; paper-2013: false.
    pub(crate) handshake_sample: Option<bool>,
    /// Timeout of the first SYN, doubled with every retry. Default: "1s"; paper-2013: "3s".
    pub(crate) syn_timeout: Option<Time>,
    /// Retries of a SYN; then the connection (or the subflow) fails. Default: 6.
    pub(crate) syn_retries: Option<u32>,
    /// "newreno": losses are found by duplicate ACKs, one a round; "sack": by SACKs (RFC 6675);
    /// "rack": by SACKs and time, with tail loss probes (RFC 8985). Default: "rack"; paper-2013:
    /// "newreno".
    pub(crate) recovery: Option<Recovery>,
    /// Are windows restored when a retransmission turns out to have been needless (D-SACK, with SACKs;
    /// F-RTO, after a timeout)? Default: true; paper-2013: false.
    pub(crate) undo: Option<bool>,
    /// Does a mark cut the window during fast recovery too? Applies to dctcp, dcm, xmp, amp,
    /// mptcp-cut. Default: false; paper-2013: true.
    pub(crate) cut_in_recovery: Option<bool>,
    /// Duplicate ACKs that mean a loss; "auto", for scattered packets: 3, and as many as there
    /// are paths if there is more than one; "adaptive", with recovery "sack": by the reordering that is
    /// seen (RR-TCP). With MMPTCP it is phase 1's, and phase 2 has 3. Default: 3.
    pub(crate) dupack_threshold: Option<DupackThreshold>,
    /// Does each duplicate ACK below the threshold let a new segment out (RFC 3042)? Default:
    /// true; paper-2013: false.
    pub(crate) limited_transmit: Option<bool>,
    /// Above zero: MMPTCP. Its phase 1 scatters the packets of a first subflow; once so much has
    /// been sent `subflows` others take over, under `control`. Applies to all but reno and dctcp.
    /// Default: "0B".
    pub(crate) scatter_bytes: Option<Bytes>,
    /// Above zero: MMPTCP, whose phase 1 ends when its window comes to so many packets. Applies to
    /// all but reno and dctcp. Default: 0.
    pub(crate) scatter_window: Option<u32>,
    /// true: MMPTCP, whose phase 1 ends with its first congestion event: a mark that it heeds, a
    /// loss or a timeout. Applies to all but reno and dctcp. Default: false.
    pub(crate) scatter_until_congestion: Option<bool>,
    /// The law of MMPTCP's phase 1: "reno", without ECN, or "dctcp", to which `alpha0`, `g` and
    /// `cwnd_min` apply. Applies to all but reno and dctcp. Default: "reno".
    pub(crate) scatter_control: Option<ScatterControl>,
    /// Congested rounds in a row after which a subflow changes its path, with `paths = "plb"`.
    /// Default: 12.
    #[schemars(range(min = 1))]
    pub(crate) plb_rounds: Option<u32>,
    /// The same where nothing is in flight, with `paths = "plb"`. Default: 3.
    #[schemars(range(min = 1))]
    pub(crate) plb_idle_rounds: Option<u32>,
    /// The marked part of what a congested round acknowledges, above 0 and up to 1, with
    /// `paths = "plb"`. Default: 0.5.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub(crate) plb_congested: Option<f64>,
    /// For this to twice this after a timeout marks change no path, with `paths = "plb"`. Default:
    /// "60s".
    pub(crate) plb_suspend: Option<Time>,
    /// Entropies that a subflow remembers, with `paths = "reps"`. Default: 8.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) reps_buffer: Option<u32>,
    /// For so long after a timeout only remembered entropies are used, with `paths = "reps"`.
    /// Default: "10ms".
    pub(crate) reps_freezing: Option<Time>,
    /// true: an ACK grows the window by the packets that it acknowledges (RFC 3465); false: by one,
    /// whatever it acknowledges (RFC 5681). Default: true; paper-2013: false.
    pub(crate) byte_counting: Option<bool>,
    /// The most packets by which an ACK grows the window in slow start, L of RFC 3465 (1 or 2 there), which
    /// is 1 after a timeout; only with `byte_counting`. Default: "unlimited", as Linux.
    pub(crate) byte_counting_limit: Option<Packets>,
    /// 1: an ACK per packet; 2: delayed ACKs. Default: 2; paper-2013: 1.
    #[schemars(range(min = 1, max = 2))]
    pub(crate) ack_every: Option<u32>,
    /// Longest delay of an ACK when `ack_every` is 2. Default: "40ms".
    pub(crate) ack_delay: Option<Time>,
    /// Do ACKs go out at once that Linux does not delay: the first, those after a silence of `min_rto` and those after a
    /// duplicate, 16 of them or half the receive buffer? Applies to `ack_every = 2`. Default: true;
    /// paper-2013: false.
    pub(crate) quickack: Option<bool>,
    /// Each further subflow opens after a uniformly random delay of 0 to this once the first is
    /// established. Applies to all but reno and dctcp. Default: "0s"; paper-2013: "49us".
    pub(crate) join_jitter: Option<Time>,
    /// Further subflows are opened with the first ACK after more than so much has been sent; 0B: once
    /// the first is established. Applies to all but reno and dctcp. Default: "0B".
    pub(crate) join_after: Option<Bytes>,
    /// When further subflows are opened at the soonest, a time after the flow's start for each, such
    /// as ["5s", "15s"] for `subflows = 3`. Applies to all but reno and dctcp. Default: [], at once.
    pub(crate) join_at: Option<Vec<Time>>,
    /// Numbers of the subflows (the first is 0) that get new data only while no other can carry
    /// it. Applies to all but reno and dctcp. Default: [].
    pub(crate) backup: Option<Vec<u32>>,
    /// Which of the subflows with room in their windows gets new data: "round-robin"; "lowest-rtt";
    /// "lowest-time-to-send", the one that would soonest have sent what it has, as Linux. Applies to
    /// all but reno and dctcp. Default: "round-robin".
    pub(crate) scheduler: Option<Scheduler>,
    /// Timeouts in a row after which a subflow is stale, or "never": others send what it holds again,
    /// and it gets new data only if all are, until new data on it is acknowledged. Applies to all but reno
    /// and dctcp. Default: 1; paper-2013: "never".
    pub(crate) stale_after: Option<Timeouts>,
    /// Timeouts in a row after which a subflow is given up, and the connection with the last one, or
    /// "never". Default: 16; paper-2013: "never".
    pub(crate) fail_after: Option<Timeouts>,
    /// What the sender holds at most until it is acknowledged, of all subflows. Default: "unlimited".
    pub(crate) send_buffer: Option<Size>,
    /// What the receiver holds at most until the application reads it, of all subflows: the window that it
    /// offers. Up to "1GiB". Default: "unlimited".
    pub(crate) receive_buffer: Option<Size>,
    /// How fast the receiving application reads what is in order; only with `receive_buffer`. Default:
    /// "unlimited", at once.
    pub(crate) read_rate: Option<Speed>,
    /// Faults of MMPTCP's authors' implementation: "join-syn-once": a lost JOIN SYN is not sent again;
    /// "join-stall": new data waits for a subflow whose turn it is and whose handshake is not done;
    /// "fin-reset": FINs follow the last data, and one that comes before the end of its subflow's handshake
    /// resets the connection. Applies to all but reno and dctcp. Default: [].
    pub(crate) faults: Option<Vec<Fault>>,
    /// Does the receiver agree to ECN? Default: true.
    pub(crate) accept_ecn: Option<bool>,
    /// Which packets, and their ACKs, are of high priority at ports with discipline = "priority": "low": none; "high": all;
    /// "scatter": those of subflows whose data packets take random paths.
    pub(crate) priority: Option<Priority>,
    /// Is a data packet that a switch has trimmed answered by a NACK, and sent again at once? With
    /// `discipline = "trimming"` and SACKs (`recovery`). Default: false.
    pub(crate) trimming: Option<bool>,
    /// Do PULLs of its connections go before those of others at their host? Applies to ndp.
    /// Default: false.
    pub(crate) pull_priority: Option<bool>,
    /// Are paths with outlying shares of NACKs and losses left out for a while? Applies to ndp.
    /// Default: true.
    pub(crate) path_penalties: Option<bool>,
}
