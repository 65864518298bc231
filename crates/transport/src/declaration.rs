//! What a family of transports declares of itself, once, for all that ask: scenarios, workloads,
//! runs, traces and Python.

use crate::config::Config;
use crate::wire::WireConfig;
use linkpool_settings::Settings;
use linkpool_units::{Rate, Time};
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

    /// Sets the defaults of `law` that differ: those of common settings from TCP's with the preset
    /// `linux`, and those of settings that the family alone has.
    fn defaults(_law: &Law, _own: &mut Self::Settings, _config: &mut Config, _wire: &mut WireConfig) {}

    /// Tells settings of its own the common ones on which their limits depend.
    fn know(_own: &mut Self::Settings, _config: &Config) {}

    /// Fills in settings of its own whose defaults follow from the network.
    fn complete(_own: &mut Self::Settings, _around: &dyn Fn() -> Surroundings) {}

    /// The key by which the scenario says that ports trim its packets, if they must.
    fn needs_trimming(_own: &Self::Settings) -> Option<&'static str> {
        None
    }

    /// The key by which its packets must stay in order on a path, if they must.
    fn needs_order(_own: &Self::Settings) -> Option<&'static str> {
        None
    }

    /// What switches write on its packets, if they do.
    fn telemetry(_own: &Self::Settings) -> Option<Telemetry> {
        None
    }

    /// What endpoints read of these settings.
    fn config(own: &Self::Settings, config: &Config, wire: WireConfig) -> Self::Config;

    /// The number of entropy values over which its senders spread packets, where its `spread` is
    /// [`Spread::Entropies`].
    fn entropies(_config: &Self::Config) -> usize {
        1
    }

    /// The packets that its receivers send for each packet of data of a flow of `packets`, if none is lost.
    fn answers(_own: &Self::Config, _config: &Config, _packets: f64) -> f64 {
        1.0
    }

    /// The most measures that a flow with this config reports at its end, each a row of
    /// `metrics.parquet`.
    fn metrics(config: &Config) -> usize;
}

/// What switches write on packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Telemetry {
    /// A record each.
    Records,
    /// A digest, if it is larger than that of the switches before.
    Digest(DigestForm),
}

/// How a digest says the utilisation of a port.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DigestForm {
    /// It counts powers of this.
    pub base: f64,
    /// Its bits, at most 16.
    pub bits: u32,
    /// The time over which ports average.
    pub base_rtt: Time,
}

/// The network around a transport.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Surroundings {
    /// Round-trip time without load between the hosts that are farthest apart: of a full packet one way,
    /// and an ACK the other.
    pub base_rtt: Time,
    /// Rate of all links of a host together; of the fastest host.
    pub rate: Rate,
    /// Rate of one link of a host, of the slowest; of its class at ports with classes.
    pub port_rate: Rate,
    /// Limit of the queue of a port, bytes on the wire; none if it has none.
    pub queue: Option<u64>,
    /// How many times as much the hosts send as the links carry from one tier to the next, where it is most; 1 at least.
    pub oversubscription: f64,
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
    /// Which paths its packets take.
    pub spread: Spread,
    /// Do receivers understand a header whose payload a switch has cut off?
    pub trimming: bool,
    /// Does a sender take a header back that has found no room at a switch?
    pub returns: bool,
    /// Does a packet tell a receiver that its connection is over? If not, the sender's host tells
    /// the receiver's host without a packet.
    pub fins: bool,
    /// Does a flow wait for a SYN and a SYN-ACK, and send the handshake's ACK before its data? Then its
    /// subflows go through slow start, congestion avoidance and recovery, too.
    pub handshake: bool,
    /// May its connections stay open, and carry one message after another?
    pub stays_open: bool,
    /// Do captures know headers for its packets?
    pub captures: bool,
    /// Does the receiver ask for each packet after the first window?
    pub pulled: bool,
    /// Have its packets priority by their kind? Then only the class of its data can be chosen.
    pub by_kind: bool,
    /// Do senders take turns at the port of their host for each packet of data?
    pub turns: bool,
}

/// Which paths the packets of a family take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Each subflow has a path.
    No,
    /// A sender knows the paths to its receiver, at most this number, and spreads its packets over them.
    /// Its receiver sends only control packets, over any path.
    Paths(u64),
    /// A sender gives each packet an entropy value, which switches hash.
    Entropies,
}

impl Spread {
    /// Do the packets of a flow take more than one path?
    pub const fn is_any(self) -> bool {
        !matches!(self, Spread::No)
    }
}
