use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport protocol with all its settings. Settings that `control` ignores are filled with
/// the preset's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// The scenario's name for it.
    pub name: String,
    /// Where its defaults came from.
    pub preset: Preset,
    /// The congestion controller.
    pub control: Control,
    /// Subflows of a connection, with MMPTCP of its phase 2; 1 where `control` is single-path.
    pub subflows: Subflows,
    /// How a subflow comes by its path.
    pub paths: Paths,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Bytes on the wire beside the payload.
    pub header: u32,
    /// Bytes on the wire of a segment without payload: ACK, SYN, FIN.
    pub ack_size: u32,
    /// Packets, on every subflow.
    pub initial_window: u32,
    /// Bytes; none: unlimited.
    pub initial_ssthresh: Option<u64>,
    /// Floor of the window after a mark, packets.
    pub cwnd_min: u32,
    /// Initial alpha of DCTCP.
    pub alpha0: f64,
    /// Gain of alpha.
    pub g: f64,
    /// A mark cuts the window by 1/beta.
    pub beta: f64,
    /// Rounds at the minimum before AMP suppresses subflows.
    pub gamma: u32,
    /// Unmarked rounds before AMP releases them.
    pub tau: u32,
    /// Does AMP suppress subflows at all?
    pub suppression: bool,
    /// How AMP counts unmarked rounds.
    pub release: Release,
    /// What XMP sets ssthresh to after a cut.
    pub ssthresh_after_cut: SsthreshAfterCut,
    /// The constant a of EWTCP's increase a/w, for n subflows.
    pub ewtcp_increase: EwtcpIncrease,
    /// The constant a of semi-coupling's increase a/w_total.
    pub aggressiveness: f64,
    /// Floor of a fully coupled window after a loss, packets.
    pub loss_floor: u32,
    /// C of CUBIC, packets per second cubed.
    pub cubic_c: f64,
    /// A loss multiplies CUBIC's window by it.
    pub cubic_beta: f64,
    /// CUBIC's fast convergence.
    pub fast_convergence: bool,
    /// Least retransmission timeout.
    pub min_rto: Time,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Time,
    /// Greatest retransmission timeout.
    pub max_rto: Time,
    /// Largest multiple of the RTO.
    pub max_backoff: u32,
    /// Gain of the smoothed RTT.
    pub srtt_gain: f64,
    /// Gain of the RTT variation.
    pub rttvar_gain: f64,
    /// Is SYN / SYN-ACK an RTT sample?
    pub handshake_sample: bool,
    /// Timeout of the first SYN, doubled with every retry.
    pub syn_timeout: Time,
    /// Retries of a SYN before the connection (or the subflow) fails.
    pub syn_retries: u32,
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Are windows restored after needless retransmissions?
    pub undo: bool,
    /// Does a mark cut the window during fast recovery too?
    pub cut_in_recovery: bool,
    /// Duplicate ACKs that mean a loss; with MMPTCP, in phase 1.
    pub dupack_threshold: DupackThreshold,
    /// Does a duplicate ACK below the threshold let a new segment out (RFC 3042)?
    pub limited_transmit: bool,
    /// MMPTCP: phase 1, which scatters packets, ends when more than this has been sent, bytes; 0: not by bytes.
    pub scatter_bytes: u64,
    /// MMPTCP: phase 1 ends when its window comes to this, packets; 0: not by window.
    pub scatter_window: u32,
    /// MMPTCP: phase 1 ends with its first congestion event.
    pub scatter_until_congestion: bool,
    /// The law of MMPTCP's phase 1.
    pub scatter_control: ScatterControl,
    /// Congested rounds in a row after which PLB changes a path.
    pub plb_rounds: u32,
    /// The same with nothing in flight.
    pub plb_idle_rounds: u32,
    /// The part of what a round acknowledges that is marked in a congested one.
    pub plb_congested: f64,
    /// For so long to twice so long after a timeout PLB does not heed marks.
    pub plb_suspend: Time,
    /// Entropies that REPS remembers.
    pub reps_buffer: u32,
    /// For so long after a timeout REPS uses remembered entropies only.
    pub reps_freezing: Time,
    /// Does an ACK grow the window by the packets that it acknowledges (RFC 3465), or by one, whatever it acknowledges
    /// (RFC 5681)?
    pub byte_counting: bool,
    /// The most packets by which it does in slow start (L of RFC 3465); none: without limit.
    pub byte_counting_limit: Option<u32>,
    /// 1: an ACK per packet; 2: delayed ACKs.
    pub ack_every: u32,
    /// Longest delay of an ACK when `ack_every` is 2.
    pub ack_delay: Time,
    /// With delayed ACKs: do the first ones, those after a silence and those after a duplicate go out at once?
    pub quickack: bool,
    /// Each further subflow opens after a uniformly random delay of 0 to this.
    pub join_jitter: Time,
    /// Bytes after which further subflows are opened; 0: once the first is established.
    pub join_after: u64,
    /// When each further subflow is opened at the soonest, after the flow's start; empty: all at once.
    pub join_at: Vec<Time>,
    /// Subflows that get new data only while no other can carry it.
    pub backup: Vec<u32>,
    /// Which subflow new data goes to.
    pub scheduler: Scheduler,
    /// Timeouts in a row after which others send what a subflow holds; none: never.
    pub stale_after: Option<u32>,
    /// Timeouts in a row after which a subflow is given up; none: never.
    pub fail_after: Option<u32>,
    /// Bytes that the sender holds at most; none: without limit.
    pub send_buffer: Option<u64>,
    /// Bytes that the receiver holds at most; none: without limit.
    pub receive_buffer: Option<u64>,
    /// Rate at which the receiving application reads; none: at once.
    pub read_rate: Option<Rate>,
    /// What MMPTCP's authors' implementation does wrong.
    pub faults: Vec<Fault>,
    /// Does the receiver agree to ECN?
    pub accept_ecn: bool,
    /// Which packets are of high priority.
    pub priority: Priority,
    /// Is a trimmed data packet answered by a NACK?
    pub trimming: bool,
    /// NDP: do PULLs of its connections go before those of others?
    pub pull_priority: bool,
    /// NDP: are paths of many NACKs and losses left out for a while?
    pub path_penalties: bool,
}

impl Transport {
    /// Does a first subflow scatter its packets before the others take over (MMPTCP)?
    pub fn is_mmptcp(&self) -> bool {
        self.scatter_bytes > 0 || self.scatter_window > 0 || self.scatter_until_congestion
    }
}

macro_rules! controls {
    (
        single_path { $($single:ident = $single_name:literal: $single_doc:literal),* $(,)? }
        multipath { $($multi:ident = $multi_name:literal: $multi_doc:literal),* $(,)? }
        others { $($other:ident = $other_name:literal: $other_doc:literal),* $(,)? }
    ) => {
        /// A congestion control algorithm of TCP or MPTCP, or a transport that is neither.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Control {
            $(#[doc = $single_doc] #[serde(rename = $single_name)] $single,)*
            $(#[doc = $multi_doc] #[serde(rename = $multi_name)] $multi,)*
            $(#[doc = $other_doc] #[serde(rename = $other_name)] $other,)*
        }

        impl Control {
            /// All of them.
            pub const ALL: &[Control] = &[$(Control::$single,)* $(Control::$multi,)* $(Control::$other),*];
            /// Those of TCP and MPTCP.
            pub const TCP: &[Control] = &[$(Control::$single,)* $(Control::$multi),*];
            /// Those of connections with several subflows.
            pub const MULTIPATH: &[Control] = &[$(Control::$multi),*];

            /// As the scenario file writes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Control::$single => $single_name,)*
                    $(Control::$multi => $multi_name,)*
                    $(Control::$other => $other_name),*
                }
            }
        }
    };
}

controls! {
    single_path {
        Reno = "reno": "TCP NewReno.",
        Dctcp = "dctcp": "Data Center TCP.",
    }
    multipath {
        Lia = "lia": "Linked increases (RFC 6356).",
        Dcm = "dcm": "DCTCP's cut with a coupled increase.",
        Xmp = "xmp": "Explicit multipath.",
        Amp = "amp": "Adaptive multipath.",
        MptcpCut = "mptcp-cut": "LIA with a constant cut of 1/beta on marks.",
        Olia = "olia": "Opportunistic linked increases.",
        Balia = "balia": "Balanced linked adaptation.",
        Ewtcp = "ewtcp": "A TCP of less weight on each subflow.",
        FullyCoupled = "fully-coupled": "One TCP whose window is the sum of the subflows'.",
        SemiCoupled = "semi-coupled": "Coupled increases, a TCP's decrease.",
        Uncoupled = "uncoupled": "A TCP on each subflow.",
        Cubic = "cubic": "CUBIC on each subflow.",
    }
    others {
        Ndp = "ndp": "NDP: receivers pull, switches trim.",
    }
}

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preset {
    /// What runs today.
    #[default]
    #[serde(rename = "linux")]
    Linux,
    /// What the papers' simulations ran.
    #[serde(rename = "paper-2013")]
    Paper2013,
}

/// How a subflow comes by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// ECMP: a hash of its addresses and ports.
    Hash,
    /// Subflow i takes the i-th of the equal-cost paths.
    Distinct,
    /// Subflow i takes the i-th of the paths without a cable in common.
    Disjoint,
    /// A hash, and when the flow has become long, where a central scheduler places it.
    Placed,
    /// Every data packet takes a random one.
    Scatter,
    /// Protective load balancing: a hash, and another when the path stays congested.
    Plb,
    /// Recycled entropies: every data packet takes one that came back unmarked, or a random one.
    Reps,
}

/// A fault of the implementation that MMPTCP's authors published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A JOIN SYN that is lost is not sent again.
    JoinSynOnce,
    /// New data waits for a subflow whose turn it is and whose handshake is not done.
    JoinStall,
    /// FINs follow the last data; one that comes before the end of its subflow's handshake resets the connection.
    FinReset,
}

/// Which of the subflows with room in their windows gets new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// One after another.
    RoundRobin,
    /// The one with the least RTT.
    LowestRtt,
    /// The one that would soonest have sent what it has (Linux).
    LowestTimeToSend,
}

/// Subflows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subflows {
    /// So many.
    Count(u32),
    /// As many as there are equal-cost paths, at most [`Subflows::MOST_AUTO`].
    Auto,
}

impl Subflows {
    /// The most that "auto" opens (MMPTCP paper, section 3.10).
    pub const MOST_AUTO: u32 = 8;

    /// The most that a connection may have.
    pub fn most(self) -> u32 {
        match self {
            Subflows::Count(n) => n,
            Subflows::Auto => Subflows::MOST_AUTO,
        }
    }
}

/// The law of MMPTCP's phase 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScatterControl {
    /// TCP NewReno, without ECN.
    Reno,
    /// Data Center TCP.
    Dctcp,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// By duplicate ACKs, one a round (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// By SACKs (RFC 6675).
    Sack,
    /// By SACKs and time, with tail loss probes (RFC 8985).
    Rack,
}

/// Duplicate ACKs that mean a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupackThreshold {
    /// So many.
    Acks(u32),
    /// For scattered packets: by the number of paths.
    Auto,
    /// By the reordering that SACKs and D-SACKs tell of (RR-TCP).
    Adaptive,
}

/// How AMP counts the unmarked rounds before it releases suppressed subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Rounds of subflow 0 with no mark, no recovery and a window above `cwnd_min` (the authors' implementation).
    Rounds,
    /// Any marked ACK resets the count, no condition on the window (the paper's Algorithm 1).
    Acks,
}

/// What XMP sets ssthresh to after a cut to the window w.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SsthreshAfterCut {
    /// w.
    #[serde(rename = "w")]
    W,
    /// w - 1 (the XMP paper's pseudocode).
    #[serde(rename = "w-1")]
    WMinus1,
}

/// The constant a of EWTCP's increase a/w, for n subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EwtcpIncrease {
    /// 1/n^2: n subflows at one bottleneck take the share of one TCP.
    #[serde(rename = "1/n^2")]
    InverseSquare,
    /// 1/sqrt(n) (as printed in Wischik et al., NSDI 2011).
    #[serde(rename = "1/sqrt(n)")]
    InverseRoot,
}

/// Which packets of a transport are of high priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// None.
    Low,
    /// All.
    High,
    /// Those of subflows whose data packets take random paths.
    Scatter,
}
