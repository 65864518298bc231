use linkpool_units::Time;
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
    /// Subflows of a connection; 1 where `control` is single-path.
    pub subflows: u32,
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
    /// Duplicate ACKs that mean a loss.
    pub dupack_threshold: u32,
    /// Does an ACK grow the window by the packets that it acknowledges (RFC 3465 without its
    /// limit, as Linux), or by one, whatever it acknowledges (RFC 5681)?
    pub byte_counting: bool,
    /// 1: an ACK per packet; 2: delayed ACKs.
    pub ack_every: u32,
    /// Longest delay of an ACK when `ack_every` is 2.
    pub ack_delay: Time,
    /// Each further subflow opens after a uniformly random delay of 0 to this.
    pub join_jitter: Time,
    /// Does the receiver agree to ECN?
    pub accept_ecn: bool,
}

/// A congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// TCP NewReno.
    Reno,
    /// Data Center TCP.
    Dctcp,
    /// Linked increases (RFC 6356).
    Lia,
    /// DCTCP's cut with a coupled increase.
    Dcm,
    /// Explicit multipath.
    Xmp,
    /// Adaptive multipath.
    Amp,
    /// LIA with a constant cut of 1/beta on marks.
    MptcpCut,
}

impl Control {
    /// All of them.
    pub const ALL: [Control; 7] =
        [Control::Reno, Control::Dctcp, Control::Lia, Control::Dcm, Control::Xmp, Control::Amp, Control::MptcpCut];

    /// As the scenario file writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Control::Reno => "reno",
            Control::Dctcp => "dctcp",
            Control::Lia => "lia",
            Control::Dcm => "dcm",
            Control::Xmp => "xmp",
            Control::Amp => "amp",
            Control::MptcpCut => "mptcp-cut",
        }
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
