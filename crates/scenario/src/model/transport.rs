//! A transport as a scenario describes it: the settings of its connections, of its paths and of its
//! packets.

use linkpool_settings::{Preset, Settings, settings};
use linkpool_transport::control::{Algorithm, ControlConfig};
use linkpool_transport::{Config, PlbConfig, RepsConfig};
use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Control, Subflows};

settings! {
    /// A transport protocol with all its settings. Settings that do not apply have the preset's
    /// values.
    pub struct Transport {
        /// Number of subflows of a connection, 1 to 32; with MMPTCP those of phase 2. `"auto"`: the
        /// number of equal-cost paths to the receiver, at most 8 (in a fat-tree with k = 8: 1
        /// within a rack, 4 within a pod, 8 between pods).
        subflows: Subflows = Subflows::Count(1), of Multipath;
        /// The packets that have high priority at ports with `discipline = "priority"`, and their
        /// ACKs. `"low"`: none. `"high"`: all. `"scatter"`: packets of subflows whose data packets
        /// take random paths (of MMPTCP, in phase 1).
        priority: Priority = Priority::Low;
        /// With SACKs: may switches trim its data packets? The receiver answers a trimmed packet
        /// with a NACK, and the sender sends the segment again, before new data, as soon as its
        /// window has room (see below).
        trimming: bool = false;
    }
    groups {
        /// The settings of NDP.
        ndp: NdpConfig;
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
    /// The settings of NDP.
    #[derive(Copy)]
    pub struct NdpConfig {
        /// Does the receiving host send PULLs of its connections before other PULLs?
        pull_priority: bool = false, of Ndp;
        /// Does a sender leave out paths for some time if their share of NACKs and losses is above
        /// twice that of the other paths?
        path_penalties: bool = true, of Ndp;
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
        /// the same port of the other host, and switches hash; `"scatter"`: every data packet, sent
        /// again or not, takes a random one (packet spraying), and ACKs and handshakes still use
        /// the hashed path; `"placed"`: a hash until a central scheduler places the flow
        /// (`placement` of `[routing]`); `"plb"`, `"reps"`: see below.
        rule "paths": Paths = Paths::Hash;
    }
    groups {
        /// Protective load balancing.
        plb: PlbConfig, when |p| p.rule == Paths::Plb => "`paths = \"plb\"`";
        /// Recycled entropies.
        reps: RepsConfig, when |p| p.rule == Paths::Reps => "`paths = \"reps\"`";
    }
}

settings! {
    /// The sizes of packets on the wire.
    #[derive(Copy)]
    pub struct WireConfig {
        /// Bytes on the wire beside the payload (`linux`: 32 TCP, 20 IP, 38 Ethernet with preamble
        /// and gap).
        header: u32 as Bytes = 90, paper_2013 = 62, of Any;
        /// Bytes on the wire of a segment without payload: ACK, SYN, FIN.
        ack_size: u32 as Bytes = 90, paper_2013 = 42, of Any;
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
            // NDP paper: jumbo packets of 9,000 B with headers of 64 B, 30 packets in the first
            // window (section 6), timeouts of 1 ms as queues are short (section 3.2).
            Control::Ndp => {
                let mut t = Transport { preset, control, ..Transport::defaults(Preset::Linux) };
                t.wire = WireConfig { header: 64, ack_size: 64 };
                (t.config.mss, t.config.initial_window, t.config.rtt.min_rto) = (8_936, 30, Time::from_ms(1));
                t
            }
        }
    }

    /// Does a first subflow scatter its packets before the others take over (MMPTCP)?
    pub fn is_mmptcp(&self) -> bool {
        self.config.control.mmptcp().is_some()
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

/// The packets of a transport that have high priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// None.
    Low,
    /// All.
    High,
    /// Packets of subflows whose data packets take random paths.
    Scatter,
}
