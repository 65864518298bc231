//! Congestion control algorithms, one in each file. An algorithm sees all subflows of its
//! connection.
//!
//! Hooks have the names of Linux (`struct tcp_congestion_ops`). The sender does the work that all
//! algorithms share: it counts duplicate ACKs, retransmits, and sets the window on a loss to
//! [`CongestionControl::ssthresh`].

mod amp;
mod balia;
mod bbr;
mod callbacks;
mod cubic;
mod dcm;
mod dctcp;
mod defined;
mod delay;
mod ewtcp;
mod fully_coupled;
mod hystart;
mod lia;
mod mmptcp;
mod mptcp_cut;
mod olia;
mod phases;
mod reno;
mod semi_coupled;
mod swift;
mod uncoupled;
mod xmp;

pub use amp::{Amp, AmpConfig, Release};
pub use balia::Balia;
pub use bbr::{Bbr, BbrConfig};
pub use callbacks::{Callbacks, Layout, layout};
pub use cubic::{Cubic, CubicConfig, CubicRules};
pub use dcm::Dcm;
pub use dctcp::{Dctcp, DctcpConfig};
pub use defined::{Defined, DefinedConfig, Definition, HookError, Parameter, Value};
pub use delay::Signal;
pub use ewtcp::{Ewtcp, EwtcpConfig, EwtcpIncrease};
pub use fully_coupled::{FullyCoupled, FullyCoupledConfig};
pub use lia::Lia;
pub use mmptcp::{Mmptcp, MmptcpConfig, Switch};
pub use mptcp_cut::{CutConfig, MptcpCut};
pub use olia::Olia;
pub use reno::Reno;
pub use semi_coupled::{SemiCoupled, SemiCoupledConfig};
pub(crate) use swift::flow_term;
pub use swift::{FlowScaling, Swift, SwiftConfig, SwiftRtt};
pub use uncoupled::Uncoupled;
pub use xmp::{SsthreshAfterCut, Xmp, XmpConfig};

use crate::congestion::CongestionState;
use crate::id::SubflowId;
use crate::metric::Metric;
use linkpool_settings::{Bounds, Preset, Settings, Visit, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The information of an ACK for congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Packets that it acknowledges; 0 for a duplicate.
    pub acked: u32,
    /// Does it echo a mark?
    pub marked: bool,
    /// Does the ACK end a round? It does if it is the first ACK beyond the byte that was next to be
    /// sent when the round began.
    pub round_ended: bool,
    /// The time at which it arrived.
    pub now: Time,
    /// The round-trip time of the newest segment that it acknowledges, if that was sent once.
    pub rtt: Option<Time>,
}

/// What an ACK says of the deliveries of a subflow, for algorithms that measure the rate of these
/// (Linux: `struct rate_sample`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// When the ACK arrived.
    pub now: Time,
    /// Packets of which it is the first to tell that they were delivered.
    pub acked: u32,
    /// Packets that are known to be lost since the ACK before.
    pub lost: u32,
    /// All packets delivered so far.
    pub delivered: u64,
    /// So many packets were delivered in this time, and so many before the last of them was sent;
    /// `None`: nothing can be said.
    pub measured: Option<(u64, Time, u64)>,
    /// The round-trip time of the packet sent last of those, if that was sent once.
    pub rtt: Option<Time>,
    /// May the receiver have delayed the ACK?
    pub may_be_delayed: bool,
    /// Packets in flight before and after the ACK.
    pub in_flight_before: u32,
    /// See above.
    pub in_flight: u32,
    /// Was the application short of data when the measured packets were sent?
    pub limited: bool,
    /// Has the application begun to send again since the ACK before, after it had been short of data and
    /// nothing was in flight?
    pub restarted: bool,
    /// The next packet leaves at this time, or later.
    pub next_departure: Time,
}

/// The order of growth, cut and check on an ACK that cuts the window for a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckOrder {
    /// It grows the window, and then cuts it. AMP's check whether to suppress subflows sees the
    /// windows before both. This is the order of the authors' implementation of DCTCP, DCM, MPTCP
    /// (beta = 4) and AMP, and of AMP's Algorithm 1 (check in lines 2 to 21, growth in line 25, cut
    /// in line 29).
    GrowThenCut,
    /// It cuts the window and does not grow it: "SHOULD NOT increase the congestion window in
    /// response to the receipt of an ECN-Echo ACK packet" (RFC 3168, section 6.1.2), to which RFC
    /// 8257, section 3.3, adds the size of the cut. AMP's check sees the window after the cut.
    CutInsteadOfGrowth,
}

/// A congestion control algorithm. `s` is the subflow of an event, and `states` has all subflows of
/// the connection.
pub trait CongestionControl {
    /// Are packets sent as ECN-capable?
    fn needs_ecn(&self) -> bool {
        true
    }

    /// Are the packets of subflow `s` sent as ECN-capable?
    fn needs_ecn_on(&self, _s: SubflowId) -> bool {
        self.needs_ecn()
    }

    /// An ACK has arrived, also if it is a duplicate or in recovery; `states[s].snd_una` has moved.
    /// Returns whether the window was cut for a mark.
    fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool;

    /// The ACK echoes a mark and has grown the window. With [`AckOrder::GrowThenCut`], cut here.
    /// Returns whether the window was cut.
    fn cut_after_growth(&mut self, _states: &mut [CongestionState], _s: SubflowId) -> bool {
        false
    }

    /// `acked` packets (see `byte_counting`) are acknowledged outside recovery. Grow the window.
    fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64);

    /// The slow start threshold after a loss with `flight` packets outstanding (RFC 5681, equation
    /// 4).
    fn ssthresh(&mut self, _states: &[CongestionState], _s: SubflowId, flight: u32) -> f64 {
        (flight as f64 / 2.0).max(2.0)
    }

    /// The retransmission timer of subflow `s` has expired; slow start is next (Linux: `set_state`
    /// with `TCP_CA_Loss`).
    fn on_timeout(&mut self, _s: SubflowId) {}

    /// The last loss on subflow `s` was spurious. Restore the state that
    /// [`CongestionControl::ssthresh`] changed; the sender has restored the window (Linux:
    /// `undo_cwnd`).
    fn undo(&mut self, _s: SubflowId) {}

    /// Subflow `s` sends at `now`, with nothing in flight, and for the first time since `before`
    /// (Linux: `cwnd_event` with `CA_EVENT_TX_START`).
    fn tx_start(&mut self, _s: SubflowId, _before: Time, _now: Time) {}

    /// The handshake of subflow `s` is done.
    fn on_established(&mut self, _s: SubflowId) {}

    /// Subflow `s` is given up; `states[s].established` is false from now on.
    fn on_failed(&mut self, _s: SubflowId) {}

    /// Does `joins_now` decide when further subflows open? If false, they open as soon as the first
    /// is established.
    fn joins_later(&self) -> bool {
        false
    }

    /// Called on every ACK until it returns true: open the further subflows now, after `sent`
    /// bytes?
    fn joins_now(&mut self, _states: &[CongestionState], _sent: u64, _now: Time) -> bool {
        true
    }

    /// May new data be sent on subflow `s`?
    fn is_active(&self, _s: SubflowId) -> bool {
        true
    }

    /// May `is_active` return false?
    fn suppresses(&self) -> bool {
        false
    }

    /// May [`CongestionControl::rate`] give a rate?
    fn paces(&self) -> bool {
        false
    }

    /// The rate at which subflow `s` sends from now on, packets per ps; `None`: as its window allows.
    /// Below one packet a window lets a packet go all the same, whenever the rate does (Linux:
    /// `sk_pacing_rate`).
    fn rate(&self, _states: &[CongestionState], _s: SubflowId) -> Option<f64> {
        None
    }

    /// Does it measure how fast packets are delivered ([`CongestionControl::on_rate`])? Then
    /// [`CongestionControl::paces`] is true, and loss recovery needs SACKs.
    fn measures_rate(&self) -> bool {
        false
    }

    /// An ACK has arrived on subflow `s`, and loss recovery has seen it (Linux: `cong_control`). Set the
    /// window; the sender asks for the rate next. Returns whether deliveries count as limited by the
    /// application until what is in flight is delivered.
    fn on_rate(&mut self, _states: &mut [CongestionState], _s: SubflowId, _sample: &RateSample) -> bool {
        false
    }

    /// Is the window of subflow `s` the algorithm's in loss recovery too (Linux: `cong_control`)? The sender then sets it
    /// to [`CongestionControl::ssthresh`] when fast recovery begins, and to
    /// [`CongestionControl::loss_window`] on a timeout, and leaves it otherwise. If not, it also
    /// inflates, deflates and reduces it as the way of recovery demands.
    fn owns_window(&self, _s: SubflowId) -> bool {
        false
    }

    /// The window after a timeout of subflow `s` at `now`, with `in_flight` packets sent too recently to
    /// be lost (RFC 5681, section 3.1: the loss window of one packet).
    fn loss_window(&mut self, _states: &[CongestionState], _s: SubflowId, in_flight: u32, _now: Time) -> f64 {
        f64::from(in_flight) + 1.0
    }

    /// Reports the algorithm's own measures, each by its name in the results.
    fn metrics(&self, _report: &mut dyn FnMut(Metric)) {}
}

/// Grows the window in slow start by a packet for each acknowledged packet (RFC 5681, section 3.1).
/// Returns false and does nothing if slow start is over.
#[inline]
pub fn slow_start(state: &mut CongestionState, acked: f64) -> bool {
    let slow = state.in_slow_start();
    if slow {
        state.cwnd += acked;
    }
    slow
}

/// w_total: the sum of the windows of all subflows, as a coupled increase sees them.
#[inline]
pub fn total_window(states: &[CongestionState]) -> f64 {
    states.iter().filter(|p| p.established).map(CongestionState::coupled_window).sum()
}

/// x_s / sum_r x_r: the share of subflow `s` in the connection's rate; 1 before its first RTT
/// sample, since its rate is not known.
///
/// The linked term of OLIA and BALIA, `(x_s / rtt_s) / (sum_r x_r)^2` with `x_r = w_r / rtt_r`, is
/// its square by `w_s`. In this order a single subflow has Reno's `1 / w` to the last digit: a
/// window that falls short of a whole packet by a rounding sends one packet less.
#[inline]
fn share_of_rate(states: &[CongestionState], s: SubflowId) -> f64 {
    if !states[s].is_coupled() {
        return 1.0;
    }
    let sum: f64 = states.iter().filter(|p| p.is_coupled()).map(CongestionState::rate).sum();
    states[s].rate() / sum
}

/// Registers algorithms: the type, the type of its settings, its name in scenarios, a sentence
/// about how it works, and its source.
macro_rules! algorithms {
    (
        single_path { $($single:ident($single_config:ty) = $single_name:literal: $single_about:literal, $single_source:literal;)* }
        multipath { $($multi:ident($multi_config:ty) = $multi_name:literal: $multi_about:literal, $multi_source:literal;)* }
        phases { $($phases:ident($phases_config:ty) = $phases_name:literal: $phases_about:literal, $phases_source:literal;)* }
    ) => {
        impl Algorithm {
            /// The names of algorithms for one path.
            pub const SINGLE_PATH: &[&str] = &[$($single_name),*];
            /// The names of algorithms for several subflows.
            pub const MULTIPATH: &[&str] = &[$($multi_name),*];
        }

        algorithms! {
            $($single($single_config) = $single_name: $single_about, $single_source;)*
            $($multi($multi_config) = $multi_name: $multi_about, $multi_source;)*
            $($phases($phases_config) = $phases_name: $phases_about, $phases_source;)*
        }
    };
    ($($algorithm:ident($config:ty) = $name:literal: $sentence:literal, $source:literal;)*) => {
        /// A congestion control algorithm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Algorithm {
            $(#[doc = $sentence] #[doc = ""] #[doc = $source] #[serde(rename = $name)] $algorithm,)*
            /// An algorithm that is defined at run time.
            #[serde(skip)]
            Defined(&'static Definition),
        }

        impl Algorithm {
            /// All algorithms of this crate.
            pub const ALL: &[Algorithm] = &[$(Algorithm::$algorithm),*];

            /// Its name in scenarios.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Algorithm::$algorithm => $name,)*
                    Algorithm::Defined(definition) => definition.name,
                }
            }

            /// How it works, in a sentence.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Algorithm::$algorithm => $sentence,)*
                    Algorithm::Defined(definition) => definition.sentence,
                }
            }

            /// Its source in the literature.
            pub const fn source(self) -> &'static str {
                match self {
                    $(Algorithm::$algorithm => $source,)*
                    Algorithm::Defined(definition) => definition.source,
                }
            }
        }

        /// An algorithm with its settings.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum ControlConfig { $($algorithm($config),)* Defined(DefinedConfig) }

        impl ControlConfig {
            /// `algorithm` with its default settings.
            pub fn of(algorithm: Algorithm, preset: Preset) -> ControlConfig {
                match algorithm {
                    $(Algorithm::$algorithm => ControlConfig::$algorithm(<$config>::defaults(preset)),)*
                    Algorithm::Defined(definition) => ControlConfig::Defined(DefinedConfig::of(definition, preset)),
                }
            }

            /// The algorithm.
            pub fn algorithm(&self) -> Algorithm {
                match self {
                    $(ControlConfig::$algorithm(_) => Algorithm::$algorithm,)*
                    ControlConfig::Defined(config) => Algorithm::Defined(config.definition),
                }
            }

            /// The state of a new connection with `n` subflows.
            pub fn build(&self, n: usize) -> Control {
                match self {
                    $(ControlConfig::$algorithm(config) => Control::$algorithm($algorithm::new(config, n)),)*
                    ControlConfig::Defined(config) => Control::Defined(Defined::new(config, n)),
                }
            }
        }

        impl Settings for ControlConfig {
            fn defaults(preset: Preset) -> ControlConfig {
                ControlConfig::of(Algorithm::Reno, preset)
            }

            fn each<V: Visit>(&mut self, visit: &mut V) {
                match self {
                    $(ControlConfig::$algorithm(config) => config.each(visit),)*
                    ControlConfig::Defined(config) => config.each(visit),
                }
            }
        }

        /// An algorithm with the state of one connection.
        #[derive(Debug)]
        #[allow(missing_docs)]
        pub enum Control { $($algorithm($algorithm),)* Defined(Defined) }

        impl CongestionControl for Control {
            #[inline]
            fn needs_ecn(&self) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.needs_ecn(),)* Control::Defined(algorithm) => algorithm.needs_ecn() }
            }
            fn needs_ecn_on(&self, s: SubflowId) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.needs_ecn_on(s),)* Control::Defined(algorithm) => algorithm.needs_ecn_on(s) }
            }
            #[inline]
            fn in_ack_event(&mut self, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.in_ack_event(states, s, ack),)* Control::Defined(algorithm) => algorithm.in_ack_event(states, s, ack) }
            }
            #[inline]
            fn cut_after_growth(&mut self, states: &mut [CongestionState], s: SubflowId) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.cut_after_growth(states, s),)* Control::Defined(algorithm) => algorithm.cut_after_growth(states, s) }
            }
            #[inline]
            fn cong_avoid(&mut self, states: &mut [CongestionState], s: SubflowId, acked: f64) {
                match self { $(Control::$algorithm(algorithm) => algorithm.cong_avoid(states, s, acked),)* Control::Defined(algorithm) => algorithm.cong_avoid(states, s, acked) }
            }
            fn ssthresh(&mut self, states: &[CongestionState], s: SubflowId, flight: u32) -> f64 {
                match self { $(Control::$algorithm(algorithm) => algorithm.ssthresh(states, s, flight),)* Control::Defined(algorithm) => algorithm.ssthresh(states, s, flight) }
            }
            fn on_timeout(&mut self, s: SubflowId) {
                match self { $(Control::$algorithm(algorithm) => algorithm.on_timeout(s),)* Control::Defined(algorithm) => algorithm.on_timeout(s) }
            }
            fn undo(&mut self, s: SubflowId) {
                match self { $(Control::$algorithm(algorithm) => algorithm.undo(s),)* Control::Defined(algorithm) => algorithm.undo(s) }
            }
            fn tx_start(&mut self, s: SubflowId, before: Time, now: Time) {
                match self { $(Control::$algorithm(algorithm) => algorithm.tx_start(s, before, now),)* Control::Defined(algorithm) => algorithm.tx_start(s, before, now) }
            }
            fn on_established(&mut self, s: SubflowId) {
                match self { $(Control::$algorithm(algorithm) => algorithm.on_established(s),)* Control::Defined(algorithm) => algorithm.on_established(s) }
            }
            fn on_failed(&mut self, s: SubflowId) {
                match self { $(Control::$algorithm(algorithm) => algorithm.on_failed(s),)* Control::Defined(algorithm) => algorithm.on_failed(s) }
            }
            fn joins_later(&self) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.joins_later(),)* Control::Defined(algorithm) => algorithm.joins_later() }
            }
            fn joins_now(&mut self, states: &[CongestionState], sent: u64, now: Time) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.joins_now(states, sent, now),)* Control::Defined(algorithm) => algorithm.joins_now(states, sent, now) }
            }
            #[inline]
            fn is_active(&self, s: SubflowId) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.is_active(s),)* Control::Defined(algorithm) => algorithm.is_active(s) }
            }
            #[inline]
            fn suppresses(&self) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.suppresses(),)* Control::Defined(algorithm) => algorithm.suppresses() }
            }
            fn paces(&self) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.paces(),)* Control::Defined(algorithm) => algorithm.paces() }
            }
            fn rate(&self, states: &[CongestionState], s: SubflowId) -> Option<f64> {
                match self { $(Control::$algorithm(algorithm) => algorithm.rate(states, s),)* Control::Defined(algorithm) => algorithm.rate(states, s) }
            }
            fn measures_rate(&self) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.measures_rate(),)* Control::Defined(algorithm) => algorithm.measures_rate() }
            }
            fn on_rate(&mut self, states: &mut [CongestionState], s: SubflowId, sample: &RateSample) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.on_rate(states, s, sample),)* Control::Defined(algorithm) => algorithm.on_rate(states, s, sample) }
            }
            fn owns_window(&self, s: SubflowId) -> bool {
                match self { $(Control::$algorithm(algorithm) => algorithm.owns_window(s),)* Control::Defined(algorithm) => algorithm.owns_window(s) }
            }
            fn loss_window(&mut self, states: &[CongestionState], s: SubflowId, in_flight: u32, now: Time) -> f64 {
                match self { $(Control::$algorithm(algorithm) => algorithm.loss_window(states, s, in_flight, now),)* Control::Defined(algorithm) => algorithm.loss_window(states, s, in_flight, now) }
            }
            fn metrics(&self, report: &mut dyn FnMut(Metric)) {
                match self { $(Control::$algorithm(algorithm) => algorithm.metrics(report),)* Control::Defined(algorithm) => algorithm.metrics(report) }
            }
        }
    };
}

algorithms! {
    single_path {
        Reno(()) = "reno": "TCP NewReno", "RFC 5681, 6582";
        Dctcp(DctcpConfig) = "dctcp": "cuts in proportion to the fraction of marks", "RFC 8257";
    }
    multipath {
        Lia(()) = "lia": "linked increases", "RFC 6356";
        Dcm(DctcpConfig) = "dcm": "LIA's increase, DCTCP's cut", "AMP, section 2.1";
        Xmp(XmpConfig) = "xmp": "BOS and TraSh", "Cao et al., CoNEXT 2013";
        Amp(AmpConfig) = "amp": "one packet a round, constant cut, one subflow while all are at the minimum", "AMP, Algorithm 1";
        MptcpCut(CutConfig) = "mptcp-cut": "LIA with a constant cut of 1/beta on marks: \"MPTCP (beta = 4)\"", "AMP, section 4.1";
        Olia(()) = "olia": "opportunistic linked increases", "draft-khalili-mptcp-congestion-control-05";
        Balia(()) = "balia": "balanced linked adaptation", "draft-walid-mptcp-congestion-control-04";
        Ewtcp(EwtcpConfig) = "ewtcp": "a TCP of less weight on each subflow (\"half TCP\")", "Honda et al., PFLDNeT 2009; Wischik et al., NSDI 2011";
        FullyCoupled(FullyCoupledConfig) = "fully-coupled": "one TCP whose window is the sum", "Kelly and Voice 2005; Wischik et al., NSDI 2011";
        SemiCoupled(SemiCoupledConfig) = "semi-coupled": "coupled increase, a TCP's halving", "Wischik et al., NSDI 2011";
        Uncoupled(()) = "uncoupled": "NewReno on each subflow", "RFC 5681";
        Cubic(CubicConfig) = "cubic": "CUBIC on each subflow (Linux's default, of TCP and of MPTCP)", "RFC 9438, Linux: net/ipv4/tcp_cubic.c";
        Bbr(BbrConfig) = "bbr": "paces at the greatest rate of delivery, with a window of twice the path's product, on each subflow", "BBR v1 of Linux 6.18, net/ipv4/tcp_bbr.c; Cardwell et al., ACM Queue 2016";
        Swift(SwiftConfig) = "swift": "the delay of each packet against a target on each subflow, pacing below one packet", "Kumar et al., SIGCOMM 2020";
    }
    phases {
        Mmptcp(MmptcpConfig) = "mmptcp": "scatters the packets of a first subflow, then hands over to several", "Kheirkhah et al., Computer Networks 2019";
    }
}

impl Algorithm {
    /// The algorithm of this name.
    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
    }

    /// May a connection have several subflows?
    pub fn is_multipath(self) -> bool {
        !Algorithm::SINGLE_PATH.contains(&self.name())
    }

    /// Does it react to marks, with its default settings?
    pub fn heeds_marks(self) -> bool {
        ControlConfig::of(self, Preset::Linux).heeds_marks()
    }
}

impl ControlConfig {
    /// Does it react to marks, on any subflow?
    pub fn heeds_marks(&self) -> bool {
        let control = self.build(2);
        SubflowId::first(2).any(|s| control.needs_ecn_on(s))
    }

    /// The definition of the algorithm, if it is defined at run time.
    pub fn definition(&self) -> Option<&'static Definition> {
        match self {
            ControlConfig::Defined(config) => Some(config.definition),
            _ => None,
        }
    }

    /// Does it read [`CongestionState::hops`]?
    pub fn counts_hops(&self) -> bool {
        match self {
            ControlConfig::Swift(_) => true,
            ControlConfig::Mmptcp(config) => config.coupled.counts_hops(),
            _ => false,
        }
    }

    /// The parameters of MMPTCP, if it is MMPTCP.
    pub fn mmptcp(&self) -> Option<&MmptcpConfig> {
        match self {
            ControlConfig::Mmptcp(config) => Some(config),
            _ => None,
        }
    }
}

impl Control {
    /// The error of a hook, if there is one. It ends the run.
    #[inline]
    pub fn hook_error(&self) -> Option<&HookError> {
        match self {
            Control::Defined(defined) => defined.hook_error(),
            _ => None,
        }
    }
}

settings! {
    /// The window that remains after a mark.
    #[derive(Copy)]
    pub struct Floor {
        /// Floor of the window after a mark, packets.
        cwnd_min: f64 as u32 = 2.0, within Bounds::POSITIVE;
    }
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_go_by_their_names() {
        assert_eq!(Algorithm::named("amp"), Some(Algorithm::Amp));
        assert_eq!(Algorithm::named("Amp"), None);
        assert!(Algorithm::ALL.iter().all(|algorithm| Algorithm::named(algorithm.name()) == Some(*algorithm)));
    }

    #[test]
    fn two_algorithms_have_one_subflow() {
        let single: Vec<_> = Algorithm::ALL.iter().filter(|a| !a.is_multipath()).map(|a| a.name()).collect();
        assert_eq!(single, ["reno", "dctcp"]);
    }

    /// RFC 8257; the papers of AMP, XMP and MMPTCP, whose first phase may be DCTCP.
    #[test]
    fn some_heed_marks() {
        let heeding: Vec<_> = Algorithm::ALL.iter().filter(|a| a.heeds_marks()).map(|a| a.name()).collect();
        assert_eq!(heeding, ["dctcp", "dcm", "xmp", "amp", "mptcp-cut"]);
    }
}
