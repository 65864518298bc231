//! Plans the transports of a scenario: the configuration of their endpoints.

use crate::plan::paths::{PathRule, values_by_port};
use linkpool_network::{Envelope, Fabric, HostId, LinkId, Packet, Routes};
use linkpool_scenario::{self as scenario, Paths};
use linkpool_transport::paths::{Balancing, PathSelector, Subflows};
use linkpool_transport::{Config, Facts, FamilyConfig, Spread, SubflowId};
use linkpool_units::{Rate, Time};
use linkpool_workload::{Flow, FlowPriority};
use std::sync::Arc;

/// A transport, ready to make endpoints of.
#[derive(Clone, Debug)]
pub struct PlannedTransport {
    /// The scenario's name for it.
    pub name: String,
    /// Its congestion control.
    pub control: &'static str,
    /// For both ends.
    pub config: Arc<Config>,
    /// The sizes of its packets on the wire.
    pub sizes: PacketSizes,
    /// How subflows get their paths.
    pub paths: PathRule,
    /// The subflows whose data packets take random paths.
    pub scatter: Subflows,
    /// The subflows whose packets, and their ACKs, have `priority`; others have none.
    pub high: Subflows,
    /// The priority of their data, 0 to 7.
    pub priority: u8,
    /// How senders choose paths by their ACKs, if they do.
    pub balancing: Option<Balancing>,
    /// Do its receivers understand a header whose payload a switch has cut off?
    pub trimming: bool,
    /// A connection has as many subflows as there are paths, at most as many as the config says.
    pub auto_subflows: bool,
    /// Its family, with what endpoints of that family read beside the config.
    pub family: FamilyConfig,
    /// The facts of the family.
    pub facts: Facts,
}

/// Bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub struct PacketSizes {
    /// Headers of a data segment.
    pub header: u16,
    /// A segment without payload.
    pub ack: u16,
}

impl PlannedTransport {
    /// Plans `t`.
    pub(crate) fn new(t: &scenario::Transport) -> PlannedTransport {
        let (family, facts) = (t.control.family(), t.control.family().facts());
        let scatter = match t.paths.rule {
            _ if facts.spread.is_any() => Subflows::All,
            Paths::Scatter => Subflows::All,
            _ if t.is_mmptcp() => Subflows::First,
            _ => Subflows::None,
        };
        PlannedTransport {
            name: t.name.clone(),
            control: t.control.name(),
            config: Arc::new(t.config.clone()),
            sizes: PacketSizes { header: t.wire.header as u16, ack: t.wire.ack_size as u16 },
            paths: match t.paths.rule {
                _ if matches!(facts.spread, Spread::Paths(_)) => PathRule::All,
                Paths::Distinct => PathRule::Distinct,
                Paths::Disjoint => PathRule::Disjoint,
                Paths::Planes => PathRule::Planes,
                Paths::Placed => PathRule::Placed,
                Paths::Hash | Paths::Scatter | Paths::Plb | Paths::Reps => PathRule::Hash,
            },
            scatter,
            high: match t.priority {
                scenario::Priority::Of(of) if of.number() == 0 => Subflows::None,
                scenario::Priority::Of(_) => Subflows::All,
                scenario::Priority::Scatter => scatter,
            },
            priority: t.priority.number(),
            balancing: match t.paths.rule {
                Paths::Plb => Some(Balancing::Plb(t.paths.plb)),
                Paths::Reps => Some(Balancing::Reps(t.paths.reps)),
                _ => None,
            },
            trimming: t.trimming || facts.trimming,
            auto_subflows: t.subflows == scenario::Subflows::Auto,
            family: family.config(&t.own, &t.config, t.wire),
            facts,
        }
    }

    /// The subflows of `flow` whose packets have a priority, and which: the flow may have one of its own.
    pub fn priority_of(&self, flow: &Flow) -> (Subflows, u8) {
        match flow.priority.map(FlowPriority::number) {
            Some(0) => (Subflows::None, 0),
            Some(number) => (Subflows::All, number),
            None => (self.high, self.priority),
        }
    }

    /// The number of paths that a sender knows, where `all` is the number of equal-cost paths.
    pub(crate) fn path_count(&self, all: impl Fn() -> u64) -> usize {
        match self.facts.spread {
            Spread::Paths(most) => all().clamp(1, most) as usize,
            Spread::No | Spread::Entropies => self.config.subflows,
        }
    }

    /// The paths of the sender of a connection with `ports`; `all` is the number of equal-cost
    /// paths. None if a path does not fit into a packet.
    pub(crate) fn sender_paths(
        &self,
        network: (&Fabric, &Routes),
        ends: (HostId, HostId),
        ports: u32,
        all: impl Fn() -> u64,
    ) -> Option<PathSelector> {
        if let Some(values) = self.values_by_port() {
            return Some(values_by_port(network.1, ends, values, ports).scattering(self.scatter));
        }
        let paths = self.path_count(all);
        let fixed = self.paths.there(network, ends, paths, ports)?;
        Some(fixed.scattering(self.scatter).balanced(self.balancing.as_ref(), paths))
    }

    /// Switches on the path of each subflow of a connection with `ports`, which are those of a shortest
    /// path where switches choose.
    pub(crate) fn hops(&self, network: (&Fabric, &Routes), ends: (HostId, HostId), ports: u32) -> Vec<u32> {
        self.links(network, ends, ports).iter().map(|path| path.len() as u32 - 1).collect()
    }

    /// The links of each subflow of a connection with `ports`, which are those of a shortest path where
    /// switches choose.
    fn links(&self, network: (&Fabric, &Routes), ends: (HostId, HostId), ports: u32) -> Vec<Vec<LinkId>> {
        self.paths.paths(network, ends, self.config.subflows, ports).unwrap_or_else(|| {
            let packet = Packet { entropy: ports, envelope: Envelope::new(ends.1, 0, 0), ..Packet::default() };
            vec![network.1.path(network.0, ends.0, packet); self.config.subflows]
        })
    }

    /// The rate of the first link of a connection with `ports`, and the time in which a full packet goes over
    /// its idle path and its ACK comes back, as the links are at the start of the run.
    pub(crate) fn idle(&self, network: (&Fabric, &Routes), ends: (HostId, HostId), ports: u32) -> (Rate, Time) {
        let full = u64::from(self.sizes.header) + u64::from(self.config.mss);
        let path = &self.links(network, ends, ports)[0];
        let specs = || path.iter().map(|link| &network.0.links()[link.index()]);
        let there = |bytes: u64| specs().fold(Time::ZERO, |sum, spec| sum + spec.delay + spec.rate.time_of(bytes));
        let line = specs().next().map_or(Rate(0), |spec| spec.rate);
        (line, there(full) + there(self.sizes.ack.into()))
    }

    /// The number of entropy values, and of subflows, whose packets leave each host by ports that go by their
    /// values; none: a hash chooses the ports.
    fn values_by_port(&self) -> Option<(usize, usize)> {
        let values = self.facts.spread == Spread::Entropies && self.paths == PathRule::Planes;
        values.then(|| (self.family.entropies(), self.config.subflows))
    }

    /// The paths of the receiver, at `ends.1`. The first packet of its connection was of `subflow`
    /// and came with `entropy`.
    pub(crate) fn receiver_paths(
        &self,
        network: (&Fabric, &Routes),
        ends: (HostId, HostId),
        ports: u32,
        (entropy, subflow): (u32, SubflowId),
    ) -> PathSelector {
        if self.balancing.is_some_and(|balancing| balancing.echoes()) {
            PathSelector::echoing()
        } else if let Some(values) = self.values_by_port() {
            values_by_port(network.1, (ends.1, ends.0), values, !entropy)
        } else if self.facts.spread.is_any() {
            PathSelector::hashed(entropy)
        } else {
            self.paths.back(network, ends, (self.config.subflows, ports), (entropy, subflow))
        }
    }
}
