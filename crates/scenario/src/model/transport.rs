//! A transport as a scenario describes it: the settings of its connections, of its paths and of its
//! packets.

use linkpool_settings::{Form, Mixed, Preset, Settings, mixed, settings};
use linkpool_transport::control::{Algorithm, ControlConfig};
use linkpool_transport::{Config, OwnSettings, PlbConfig, RepsConfig, Telemetry, WireConfig};
use linkpool_workload::FlowPriority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Control, Subflows};

settings! {
    /// A transport protocol with all its settings. Settings that do not apply have the preset's
    /// values.
    pub struct Transport {
        /// Number of subflows of a connection, 1 to 32; with MMPTCP those of phase 2. `"auto"`: the
        /// number of equal-cost paths to the receiver, at most 8 (in a fat-tree with k = 8: 1
        /// within a rack, 4 within a pod, 8 between pods). Of UET: a power of two, of which each
        /// has a window and an equal part of the entropy values.
        subflows: Subflows = Subflows::Count(1), of Multipath;
        /// The packets that have high priority at ports with `discipline = "priority"`, and their
        /// ACKs. `"low"`: none. `"high"`: all. `"scatter"`: packets of subflows whose data packets
        /// take random paths (of MMPTCP, in phase 1). Or the priority of its data at ports with
        /// [classes](scenario/classes.md), 0 to 7; there `"low"` is 0, and `"high"` is 7.
        priority: Priority = Priority::Of(FlowPriority::Low);
        /// With SACKs: may switches trim its data packets? The receiver answers a trimmed packet
        /// with a NACK, and the sender sends the segment again, before new data, as soon as its
        /// window has room ([more](scenario/loss-recovery.md)).
        trimming: bool = false;
    }
    groups {
        /// Those that families other than TCP alone have.
        own: OwnSettings;
        /// The paths of its packets.
        paths: PathConfig;
        /// The sizes of its packets.
        wire: WireConfig;
        /// The settings of the two ends of its connections.
        config: Config;
    }
    others {
        /// Its name in the scenario.
        name: String = String::new();
        /// The preset of its defaults.
        preset: Preset = Preset::Linux;
        /// Its congestion control.
        control: Control = Control::Tcp(Algorithm::Reno);
    }
}

settings! {
    /// The paths of packets.
    pub struct PathConfig {
        /// `"hash"`: each subflow's path is an ECMP hash of its addresses and ports; `"distinct"`:
        /// the subflows of a connection take one equal-cost path after the other, from one on that
        /// is drawn for each connection, round the end where there are fewer, and ACKs come back
        /// the same way; `"disjoint"`: subflow i takes the i-th of a largest set of paths that
        /// share no cable (but for a host's only one), shortest first, the same for all connections
        /// of two hosts, and more subflows than there are is an error; `"planes"`: subflow i leaves
        /// by the i-th port of its host, round the end where there are fewer, ACKs come back over
        /// the same port of the other host, and switches hash (UET: so do the entropy values of
        /// subflow i, or with one window over all value i; with `"hash"` each value has a random
        /// port); `"scatter"`: every data packet, sent
        /// again or not, takes a random one (packet spraying), and ACKs and handshakes still use
        /// the hashed path; `"placed"`: a hash until a central scheduler places the flow
        /// (`placement` of `[routing]`); `"plb"`, `"reps"`: [by marks](scenario/load-balancing.md).
        rule "paths": Paths = Paths::Hash;
    }
    groups {
        /// Protective load balancing.
        plb: PlbConfig, when |p| p.rule == Paths::Plb => "`paths = \"plb\"`";
        /// Recycled entropies.
        reps: RepsConfig, when |p| p.rule == Paths::Reps => "`paths = \"reps\"`";
    }
}

impl Transport {
    /// A transport of this kind with the defaults of `preset`.
    pub fn of(control: Control, preset: Preset) -> Transport {
        match control {
            Control::Tcp(algorithm) => {
                let mut t = Transport { preset, control, ..Transport::defaults(preset) };
                t.config.control = ControlConfig::of(algorithm, preset);
                t
            }
            Control::Of(family, law) => {
                let mut t = Transport { preset, control, ..Transport::defaults(Preset::Linux) };
                family.defaults(law, &mut t.own, &mut t.config, &mut t.wire);
                t
            }
        }
    }

    /// Does a first subflow scatter its packets before the others take over (MMPTCP)?
    pub fn is_mmptcp(&self) -> bool {
        self.config.control.mmptcp().is_some()
    }

    /// The key by which ports must trim its packets, if they must.
    pub fn needs_trimming(&self) -> Option<&'static str> {
        if self.trimming { Some("trimming") } else { self.control.family().needs_trimming(&self.own) }
    }

    /// The key by which its packets must stay in order on a path, if they must.
    pub fn needs_order(&self) -> Option<&'static str> {
        self.control.family().needs_order(&self.own)
    }

    /// What switches write on its packets, if they do.
    pub fn telemetry(&self) -> Option<Telemetry> {
        self.control.family().telemetry(&self.own)
    }

    /// Does it heed marks?
    pub fn heeds_marks(&self) -> bool {
        match self.control {
            Control::Tcp(_) => self.config.control.heeds_marks(),
            Control::Of(_, law) => law.heeds_marks,
        }
    }

    /// Does a connection have several subflows?
    pub fn is_several(&self) -> bool {
        self.subflows.most() > 1 || self.is_mmptcp()
    }
}

/// The rule that gives a subflow its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paths {
    /// ECMP: a hash of its addresses and ports.
    Hash,
    /// Subflow i takes the i-th of the equal-cost paths.
    Distinct,
    /// Subflow i takes the i-th of the paths without a cable in common.
    Disjoint,
    /// Subflow i leaves its host by the i-th port, and takes a hash from there.
    Planes,
    /// A hash until the flow is long; then the path on which a central scheduler places it.
    Placed,
    /// Every data packet takes a random path.
    Scatter,
    /// Protective load balancing: a hash, and another hash when the path stays congested.
    Plb,
    /// Recycled entropies: every data packet takes the entropy of an unmarked ACK, or a random one.
    Reps,
}

/// The packets of a transport that have high priority, or the priority of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// All have that of a flow.
    Of(FlowPriority),
    /// Packets of subflows whose data packets take random paths have the highest.
    Scatter,
}

impl Priority {
    /// That of packets that have one, from 0 to 7.
    pub fn number(self) -> u8 {
        match self {
            Priority::Of(priority) => priority.number(),
            Priority::Scatter => FlowPriority::High.number(),
        }
    }
}

impl Mixed for Priority {
    const NAME: &'static str = "Priority";
    const FORMS: &'static str = "a whole number from 0 to 7, \"low\" (0), \"high\" (7), or \"scatter\"";
    const WORDS: &'static [(&'static str, Priority)] = &[
        ("low", Priority::Of(FlowPriority::Low)),
        ("high", Priority::Of(FlowPriority::High)),
        ("scatter", Priority::Scatter),
    ];
    const NUMBERS: Option<(u32, u32)> = FlowPriority::NUMBERS;

    fn of_number(number: u32) -> Option<Priority> {
        FlowPriority::of_number(number).map(Priority::Of)
    }

    fn written(&self) -> Option<Form> {
        match self {
            Priority::Of(priority) => priority.written(),
            Priority::Scatter => None,
        }
    }
}

mixed!(Priority);
