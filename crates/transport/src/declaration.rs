//! What a family of transports declares of itself, once, for all that ask: scenarios, workloads,
//! runs, traces and Python.

use crate::config::Config;
use crate::wire::WireConfig;
use linkpool_settings::Settings;
use std::fmt::Debug;

/// A family of transports. A type that stands for the family declares it, in the family's own folder;
/// `families!` in `lib.rs` lists these types. How a run makes endpoints and packets of it stands
/// beside its endpoints, in `crates/sim/src/host`.
pub trait Declare {
    /// Its names and its facts.
    const DECLARATION: Declaration;
    /// The settings that it alone has; their keys stand in the table of a transport.
    type Settings: Settings + Clone + Debug + PartialEq;
    /// What its endpoints read of the settings of a transport.
    type Config: Clone + Debug;

    /// Sets the defaults of common settings that differ from those of TCP with the preset `linux`.
    fn defaults(_config: &mut Config, _wire: &mut WireConfig) {}

    /// What endpoints read of these settings.
    fn config(own: &Self::Settings, config: &Config) -> Self::Config;

    /// The most measures that a flow with this config reports at its end, each a row of
    /// `metrics.parquet`.
    fn metrics(config: &Config) -> usize;
}

/// The names and the facts of a family.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Its name for programs: lower case, without spaces.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// The values of `control` that choose it. Of TCP they are its congestion control algorithms
    /// ([`crate::control::Algorithm`]), and are not listed here.
    pub laws: &'static [Law],
    /// Which of the common settings it has.
    pub keys: Keys,
    /// What others must know of it.
    pub facts: Facts,
}

/// A value of `control`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Law {
    /// As a scenario writes it.
    pub name: &'static str,
    /// How it works, in a sentence without a full stop.
    pub sentence: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Does it heed marks?
    pub heeds_marks: bool,
}

/// The common settings that a family has: those of TCP's connections, of paths, and of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    /// All.
    All,
    /// Those with these keys.
    Only(&'static [&'static str]),
}

/// What others must know of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// A sender knows the paths to its receiver, at most this number, and spreads its packets over
    /// them. Its receiver sends only control packets, over any path. `None`: each subflow has a
    /// path.
    pub spreads_over: Option<u64>,
    /// Do receivers understand a header whose payload a switch has cut off?
    pub trimming: bool,
    /// Does a packet tell a receiver that its connection is over? If not, the sender's host tells
    /// the receiver's host without a packet.
    pub fins: bool,
    /// Does a flow wait for a SYN and a SYN-ACK, and send the handshake's ACK before its data? Then its
    /// subflows go through slow start, congestion avoidance and recovery, too.
    pub handshake: bool,
    /// May its connections stay open, and carry one message after another?
    pub stays_open: bool,
    /// Have its packets TCP headers, so that they can be captured?
    pub captures: bool,
    /// Does the receiver ask for each packet after the first window?
    pub pulled: bool,
}
