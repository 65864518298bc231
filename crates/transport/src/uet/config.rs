//! The settings of a UET transport as its endpoints read them.

use super::balancer::{BalancerKind, Spraying};
use super::coupling::Coupling;
use super::credit_rate::CreditRules;
use super::nscc::NsccConfig;
use super::strack::StrackSettings;
use super::strack_htsim::StrackHtsimTarget;
use super::suppression::Rounds;
use super::swift::SwiftTarget;
use super::window::product;
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FASTFLOW's target of the round-trip time, and its period of quick adapt, in base RTTs.
pub(super) const FASTFLOW_TARGET: f64 = 1.5;

/// What sets the window of senders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SenderLaw {
    /// NSCC.
    Nscc,
    /// FASTFLOW (SMaRTT).
    Fastflow,
    /// DCTCP.
    Dctcp,
    /// Swift.
    Swift,
    /// STrack.
    Strack,
    /// STrack as csg-htsim has it.
    StrackHtsim,
    /// MP-RDMA.
    MpRdma,
    /// Nothing: it stays as it is.
    Constant,
    /// There is no window; the receiver grants credit.
    None,
}

impl SenderLaw {
    /// Does the delay of packets change the window?
    pub(super) fn hears_delays(self) -> bool {
        use SenderLaw::{Fastflow, Nscc, Strack, StrackHtsim, Swift};
        matches!(self, Nscc | Fastflow | Swift | Strack | StrackHtsim)
    }
}

/// The settings of a UET transport, for both ends of its connections.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full packet, bytes.
    pub mss: u16,
    /// Bytes of headers of a data packet.
    pub header: u16,
    /// Number of subflows, a power of two: each has a window.
    pub subflows: u8,
    /// How their increases are coupled.
    pub coupling: Coupling,
    /// When all but the first are suppressed and released; none: never.
    pub suppression: Option<Rounds>,
    /// Number of entropy values of all subflows, a power of two.
    pub entropies: u16,
    /// How a subflow chooses among its part of them.
    pub balancer: BalancerKind,
    /// The settings of that.
    pub spraying: Spraying,
    /// A receiver acknowledges at least so many bytes on the wire together.
    pub ack_bytes: u32,
    /// The time after which the oldest packet without an answer is sent again.
    pub rto: Time,
    /// Round-trip time of the network without load.
    pub base_rtt: Time,
    /// Rate of the sending host.
    pub rate: Rate,
    /// The largest window, in bandwidth-delay products of the flow; of several subflows all windows together.
    pub most_products: f64,
    /// The first window, bytes on the wire; none: the largest. Of several subflows all windows together.
    pub first_window: Option<f64>,
    /// May switches trim its data packets?
    pub trimmable: bool,
    /// Does the answer to a trimmed packet lower the least round-trip time?
    pub nacks_lower_rtt: bool,
    /// What sets the window.
    pub law: SenderLaw,
    /// The law hears the median of so many delays.
    pub median_of: u8,
    /// Do receivers grant credit?
    pub credit: bool,
    /// On an oversubscribed fabric: how fast.
    pub credit_rules: Option<CreditRules>,
    /// Are losses found by the packets above a gap, and by probes?
    pub sleek: bool,
    /// RSS: does the order on a path show losses?
    pub by_order: bool,
    /// MP-RDMA: a packet so far behind the highest that was acknowledged came over a slow path.
    pub mp_rdma_delta: u32,
    /// Network signal-based congestion control.
    pub nscc: NsccConfig,
    /// Swift.
    pub swift: SwiftTarget,
    /// STrack, beside what it has of NSCC.
    pub strack: StrackSettings,
    /// STrack of csg-htsim.
    pub strack_htsim: StrackHtsimTarget,
}

impl Config {
    /// Bytes on the wire of a full packet.
    pub fn mtu(&self) -> f64 {
        f64::from(self.mss) + f64::from(self.header)
    }

    /// The queueing delay that the law holds, without what Swift adds for small windows; the network's where the law has none, as
    /// uet-htsim has it (`initNsccParams`, whichever law sends).
    pub fn target(&self) -> Time {
        match self.law {
            SenderLaw::Fastflow => Time((self.base_rtt.0 as f64 * (FASTFLOW_TARGET - 1.0)) as u64),
            SenderLaw::Swift => self.swift.target,
            SenderLaw::StrackHtsim => self.strack_htsim.target,
            _ => self.nscc.target,
        }
    }

    /// The largest window of a flow with the base RTT of the network, bytes; and the most credit.
    pub fn most(&self) -> f64 {
        self.most_products * product(self.rate, self.base_rtt)
    }
}
