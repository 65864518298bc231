//! Congestion control: one law a file, each a connection's whole view of its subflows.
//!
//! Hooks carry the names that Linux gives them (`struct tcp_congestion_ops`). The sender does what is common to all:
//! counts duplicate ACKs, retransmits, and sets the window on a loss to what [`CongestionControl::ssthresh`] says.

mod amp;
mod balia;
mod cubic;
mod dcm;
mod dctcp;
mod ewtcp;
mod fully_coupled;
mod lia;
mod mmptcp;
mod mptcp_cut;
mod olia;
mod reno;
mod semi_coupled;
mod uncoupled;
mod xmp;

pub use amp::{Amp, AmpConfig, Release};
pub use balia::Balia;
pub use cubic::{Cubic, CubicConfig};
pub use dcm::Dcm;
pub use dctcp::{Dctcp, DctcpConfig};
pub use ewtcp::{Ewtcp, EwtcpIncrease};
pub use fully_coupled::{FullyCoupled, FullyCoupledConfig};
pub use lia::Lia;
pub use mmptcp::{Mmptcp, MmptcpConfig, Switch};
pub use mptcp_cut::{CutConfig, MptcpCut};
pub use olia::Olia;
pub use reno::Reno;
pub use semi_coupled::{SemiCoupled, SemiCoupledConfig};
pub use uncoupled::Uncoupled;
pub use xmp::{Xmp, XmpConfig};

use crate::path::Path;
use linkpool_units::Time;

/// What an ACK says to congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Packets that it acknowledges; 0 for a duplicate.
    pub acked: u32,
    /// It echoes a mark.
    pub marked: bool,
    /// It is the first beyond what was the next byte to be sent when the round began: a round is over.
    pub round_ended: bool,
    /// When it came.
    pub now: Time,
}

/// What an ACK that cuts the window for a mark does beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckOrder {
    /// It grows the window, and cuts it then. AMP's check whether to suppress subflows sees the windows before both. So it is
    /// in the authors' implementation of DCTCP, DCM, MPTCP (beta = 4) and AMP, and in the order of AMP's Algorithm 1 (check
    /// in lines 2 to 21, growth in line 25, cut in line 29).
    GrowThenCut,
    /// It cuts the window and does not grow it: "SHOULD NOT increase the congestion window in response to the receipt of an
    /// ECN-Echo ACK packet" (RFC 3168, section 6.1.2), to which RFC 8257, section 3.3, adds the size of the cut. AMP's
    /// check sees the window that is left.
    CutInsteadOfGrowth,
}

/// A congestion control law. `s` is the subflow that an event belongs to, `paths` are all of the connection.
pub trait CongestionControl {
    /// Are packets sent as ECN-capable?
    fn needs_ecn(&self) -> bool {
        true
    }

    /// The same of subflow `s`.
    fn needs_ecn_on(&self, _s: usize) -> bool {
        self.needs_ecn()
    }

    /// An ACK has come, duplicates and those in recovery included; `paths[s].snd_una` has moved. Returns whether the
    /// window was cut for a mark.
    fn in_ack_event(&mut self, paths: &mut [Path], s: usize, ack: Ack) -> bool;

    /// The same ACK echoes a mark, and has grown the window if it does: the cut of [`AckOrder::GrowThenCut`]. Returns
    /// whether the window was cut.
    fn cut_after_growth(&mut self, _paths: &mut [Path], _s: usize) -> bool {
        false
    }

    /// `acked` packets (see `byte_counting`) are acknowledged outside recovery: grow.
    fn cong_avoid(&mut self, paths: &mut [Path], s: usize, acked: f64);

    /// The slow start threshold after a loss with `flight` packets outstanding (RFC 5681, equation 4).
    fn ssthresh(&mut self, _paths: &[Path], _s: usize, flight: u32) -> f64 {
        (flight as f64 / 2.0).max(2.0)
    }

    /// The retransmission timer of subflow `s` has expired; slow start is next (Linux: `set_state` with `TCP_CA_Loss`).
    fn on_timeout(&mut self, _s: usize) {}

    /// The last loss on subflow `s` was none: what [`CongestionControl::ssthresh`] has changed is to be as before. The sender
    /// has restored the window (Linux: `undo_cwnd`).
    fn undo(&mut self, _s: usize) {}

    /// The handshake of subflow `s` is done.
    fn on_established(&mut self, _s: usize) {}

    /// Subflow `s` is given up; `paths[s].established` is false from now on.
    fn on_failed(&mut self, _s: usize) {}

    /// Are further subflows opened when `joins_now` says so, rather than as soon as the first is established?
    fn joins_later(&self) -> bool {
        false
    }

    /// Asked on every ACK until it is so: are the further subflows to be opened, with so many bytes `sent`?
    fn joins_now(&self, _paths: &[Path], _sent: u64) -> bool {
        true
    }

    /// May new data be sent on subflow `s`?
    fn is_active(&self, _s: usize) -> bool {
        true
    }

    /// Reports what the algorithm has counted, each by its name in the results.
    fn metrics(&self, _report: &mut dyn FnMut(&'static str, u64)) {}
}

/// Slow start: a packet for each that is acknowledged (RFC 5681, section 3.1). False, and nothing done, if it is over.
#[inline]
pub fn slow_start(path: &mut Path, acked: f64) -> bool {
    let slow = path.in_slow_start();
    if slow {
        path.cwnd += acked;
    }
    slow
}

/// w_total: the windows of all subflows, as a coupled increase sees them.
#[inline]
pub fn total_window(paths: &[Path]) -> f64 {
    paths.iter().filter(|p| p.established).map(Path::coupled_window).sum()
}

/// x_s / sum_r x_r: what part subflow `s` has in the connection's rate; 1 before its first RTT sample, when there is nothing to
/// link.
///
/// The linked term of OLIA and BALIA, `(x_s / rtt_s) / (sum_r x_r)^2` with `x_r = w_r / rtt_r`, is its square by `w_s`. In this
/// order a single subflow has Reno's `1 / w` to the last digit: a window that falls short of a whole packet by a rounding sends
/// one packet less.
#[inline]
fn share_of_rate(paths: &[Path], s: usize) -> f64 {
    if !paths[s].is_coupled() {
        return 1.0;
    }
    let sum: f64 = paths.iter().filter(|p| p.is_coupled()).map(Path::rate).sum();
    paths[s].rate() / sum
}

macro_rules! laws {
    ($($law:ident($config:ty)),* $(,)?) => {
        /// Which law, with its parameters.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum ControlConfig { $($law($config)),* }

        /// A law with the state of one connection.
        #[derive(Debug)]
        #[allow(missing_docs)]
        pub enum Control { $($law($law)),* }

        impl ControlConfig {
            /// The state of a new connection with `n` subflows.
            pub fn build(&self, n: usize) -> Control {
                match self { $(ControlConfig::$law(config) => Control::$law($law::new(config, n))),* }
            }
        }

        impl CongestionControl for Control {
            #[inline]
            fn needs_ecn(&self) -> bool {
                match self { $(Control::$law(law) => law.needs_ecn()),* }
            }
            fn needs_ecn_on(&self, s: usize) -> bool {
                match self { $(Control::$law(law) => law.needs_ecn_on(s)),* }
            }
            #[inline]
            fn in_ack_event(&mut self, paths: &mut [Path], s: usize, ack: Ack) -> bool {
                match self { $(Control::$law(law) => law.in_ack_event(paths, s, ack)),* }
            }
            #[inline]
            fn cut_after_growth(&mut self, paths: &mut [Path], s: usize) -> bool {
                match self { $(Control::$law(law) => law.cut_after_growth(paths, s)),* }
            }
            #[inline]
            fn cong_avoid(&mut self, paths: &mut [Path], s: usize, acked: f64) {
                match self { $(Control::$law(law) => law.cong_avoid(paths, s, acked)),* }
            }
            fn ssthresh(&mut self, paths: &[Path], s: usize, flight: u32) -> f64 {
                match self { $(Control::$law(law) => law.ssthresh(paths, s, flight)),* }
            }
            fn on_timeout(&mut self, s: usize) {
                match self { $(Control::$law(law) => law.on_timeout(s)),* }
            }
            fn undo(&mut self, s: usize) {
                match self { $(Control::$law(law) => law.undo(s)),* }
            }
            fn on_established(&mut self, s: usize) {
                match self { $(Control::$law(law) => law.on_established(s)),* }
            }
            fn on_failed(&mut self, s: usize) {
                match self { $(Control::$law(law) => law.on_failed(s)),* }
            }
            fn joins_later(&self) -> bool {
                match self { $(Control::$law(law) => law.joins_later()),* }
            }
            fn joins_now(&self, paths: &[Path], sent: u64) -> bool {
                match self { $(Control::$law(law) => law.joins_now(paths, sent)),* }
            }
            #[inline]
            fn is_active(&self, s: usize) -> bool {
                match self { $(Control::$law(law) => law.is_active(s)),* }
            }
            fn metrics(&self, report: &mut dyn FnMut(&'static str, u64)) {
                match self { $(Control::$law(law) => law.metrics(report)),* }
            }
        }
    };
}

laws! {
    Reno(()),
    Dctcp(DctcpConfig),
    Lia(()),
    Dcm(DctcpConfig),
    MptcpCut(CutConfig),
    Xmp(XmpConfig),
    Amp(AmpConfig),
    Olia(()),
    Balia(()),
    Ewtcp(EwtcpIncrease),
    FullyCoupled(FullyCoupledConfig),
    SemiCoupled(SemiCoupledConfig),
    Uncoupled(()),
    Cubic(CubicConfig),
    Mmptcp(MmptcpConfig),
}

#[cfg(test)]
pub(crate) mod testing;
