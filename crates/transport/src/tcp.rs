//! The family of TCP and MPTCP: its declaration. Its ends are [`crate::Sender`] and
//! [`crate::Receiver`], its laws the congestion control algorithms ([`crate::control`]).

use crate::config::Config;
use crate::control::CongestionControl;
use crate::declaration::{Declaration, Declare, Facts, Keys, Spread};
use crate::quickack::half_a_window;
use crate::wire::WireConfig;

/// TCP and MPTCP.
#[derive(Clone, Copy, Debug)]
pub struct Tcp;

impl Declare for Tcp {
    const DECLARATION: Declaration = Declaration {
        name: "tcp",
        title: "TCP",
        laws: &[],
        keys: Keys::All,
        facts: Facts {
            spread: Spread::No,
            trimming: false,
            returns: false,
            fins: true,
            handshake: true,
            stays_open: true,
            captures: true,
            pulled: false,
            by_kind: false,
            turns: false,
        },
    };
    /// Its settings are the common ones.
    type Settings = ();
    type Config = ();

    fn config((): &(), _: &Config, _: WireConfig) {}

    /// With delayed ACKs two packets share one, but for those that Linux sends at once (RFC 5681, section
    /// 4.2; [`crate::quickack`]).
    fn answers((): &(), config: &Config, packets: f64) -> f64 {
        let first = if config.quickack() { f64::from(half_a_window(config)).min(packets) } else { 0.0 };
        (first + (packets - first) / f64::from(config.ack_every)) / packets
    }

    /// A new connection reports all measures but the time of MMPTCP's switch.
    fn metrics(config: &Config) -> usize {
        let mut all = usize::from(config.control.mmptcp().is_some());
        config.control.build(config.subflows + 1).metrics(&mut |_| all += 1);
        all
    }
}
