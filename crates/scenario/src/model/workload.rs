//! Sources of flows, and roles of hosts.

use linkpool_settings::{Bounds, Kinds, Preset, Settings, TransportName, Visit, settings};
use linkpool_units::{Bytes, Time};
use linkpool_workload::WorkloadKind;
use linkpool_workload::kinds::Flow;

settings! {
    /// A source of flows: the settings that all kinds have.
    pub struct Workload {
        /// The label of its flows in results.
        label: String, from |w| w.kind_name().to_string() => "the name of the kind";
        /// Name of a transport.
        transport: usize as TransportName, required 0;
        /// The role of the hosts that send, or "others" for hosts without a role.
        role: Option<String>, from |_w| None => "all hosts";
        /// Time at which the first flow starts, or from which flows may start.
        start: Time = Time::ZERO;
    }
    tables {
        /// Another transport for small flows.
        small: Small;
    }
    others {
        /// The flows that are small.
        kind: WorkloadKind = WorkloadKind::Flow(Flow::defaults(Preset::Linux));
    }
}

settings! {
    /// The transport of small flows.
    #[derive(Copy, Eq)]
    pub struct Small {
        /// Flows with less payload than this are small.
        below: u64 as Bytes, required 100_000, within Bounds::POSITIVE;
        /// Name of the transport of small flows.
        transport: usize as TransportName, required 0;
    }
}

/// A role of hosts, which are drawn at random.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// The name.
    pub name: String,
    /// The number of hosts that have it. No host has two roles.
    pub hosts: u32,
}

/// The role of hosts that have no other role.
pub const OTHERS: &str = "others";

impl Workload {
    fn kind_name(&self) -> &'static str {
        self.kind.name()
    }

    /// Shows the settings that all kinds have, and then its kind's own, which stand in the same
    /// table.
    pub(crate) fn each_setting<V: Visit>(&mut self, visit: &mut V) {
        self.each(visit);
        self.kind.each(visit);
    }

    /// The labels of its flows: of the first, and of those that have one of their own, such as
    /// answers.
    pub fn labels(&self) -> (String, Option<String>) {
        match self.kind.settings().second() {
            Some(second) => {
                let named = |behind: &str| format!("{}{behind}", self.label);
                (named(second.of_first), Some(named(second.of_second)))
            }
            None => (self.label.clone(), None),
        }
    }
}
