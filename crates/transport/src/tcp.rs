//! The family of TCP and MPTCP: its declaration. Its ends are [`crate::Sender`] and
//! [`crate::Receiver`], its laws the congestion control algorithms ([`crate::control`]).

use crate::config::Config;
use crate::control::CongestionControl;
use crate::declaration::{Declaration, Declare, Facts, Keys, Spread};
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

    /// A new connection reports all measures but the time of MMPTCP's switch.
    fn metrics(config: &Config) -> usize {
        let mut all = usize::from(config.control.mmptcp().is_some());
        config.control.build(config.subflows + 1).metrics(&mut |_| all += 1);
        all
    }
}
