//! The kinds of workloads: one file a kind, or a family of kinds, with the settings and their
//! checks.

mod collective;
mod expected;
mod flow;
mod incast;
mod many_to_one;
mod matrices;
mod partition_aggregate;
mod place;
mod poisson;
mod trace;

pub use collective::Collective;
pub use expected::{Expected, Setting};
pub use flow::Flow;
pub use incast::Incast;
pub use many_to_one::ManyToOneFlows;
pub use matrices::{AllToAll, Destinations, Hotspot, MatrixFlows, Permutation, Random, Repeat, Staggered, Stride};
pub use partition_aggregate::PartitionAggregate;
pub use place::Place;
pub use poisson::Poisson;
pub use trace::{BeyondEnd, Trace, TraceFlow, TraceFormat, TraceRow, TraceRows};

use linkpool_settings::kinds;

use crate::matrix::Rule;

/// The settings of a workload of some kind.
pub trait Workload {
    /// Fills in the settings that follow from the rest of the scenario, and checks all settings
    /// against it.
    fn complete(&mut self, place: &mut Place<'_>);

    /// What to expect of it.
    fn expected(&self, setting: &Setting) -> Expected;

    /// Of a matrix: who sends to whom, and the settings that all matrices have.
    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        None
    }

    /// May the hosts of a role alone send? Otherwise the settings of the kind say who sends.
    fn has_role(&self) -> bool {
        self.matrix().is_some()
    }
}

/// Declares the kinds of workloads: of each its documentation, the type of its settings, and its
/// name in scenarios.
macro_rules! workloads {
    ($($(#[doc = $doc:literal])+ $kind:ident($settings:ident) = $name:literal;)+) => {
        kinds! {
            /// Sources of flows: any number, of any kinds.
            pub enum WorkloadKind {
                $($(#[doc = $doc])+ $kind($settings) = $name;)+
            }
        }

        impl WorkloadKind {
            fn settings(&self) -> &dyn Workload {
                match self { $(WorkloadKind::$kind(settings) => settings,)+ }
            }

            fn settings_mut(&mut self) -> &mut dyn Workload {
                match self { $(WorkloadKind::$kind(settings) => settings,)+ }
            }
        }
    };
}

workloads! {
    /// `count` flows between two hosts.
    Flow(Flow) = "flow";
    /// In every burst, one flow from each sender, `spacing` apart.
    Incast(Incast) = "incast";
    /// One flow each from `flows` consecutive hosts.
    ManyToOne(ManyToOneFlows) = "many-to-one";
    /// Every host sends to one other and receives from one, drawn at random; starts are uniform in
    /// [start, start + jitter].
    Permutation(Permutation) = "permutation";
    /// Poisson arrivals, sources uniform over hosts, each flow to any other host, with `to =
    /// "other-racks"` to any of another rack, or with `to = "permutation"` to the one that the
    /// first workload of kind `permutation` has for its source.
    Poisson(Poisson) = "poisson";
    /// Every host sends to one other, drawn at random; none receives more than `at_most` flows.
    Random(Random) = "random";
    /// Host i sends to host i + `step`, round the end.
    Stride(Stride) = "stride";
    /// Every host sends to every other.
    AllToAll(AllToAll) = "all-to-all";
    /// `flows` flows from any hosts; this `share` goes to `hosts`, the rest to any host.
    Hotspot(Hotspot) = "hotspot";
    /// Every host sends to one other: with probability `rack` within its rack, with `pod` to
    /// another rack of its pod, else to another pod.
    Staggered(Staggered) = "staggered";
    /// Jobs, `chains` side by side: a client drawn at random sends a `request` to each of `servers`
    /// other hosts, each answers when it has the request whole, and when all answers are in, the
    /// next job begins after `gap`, with another client and other servers.
    PartitionAggregate(PartitionAggregate) = "partition-aggregate";
    /// Flows one by one, from a file or written here; each may wait for others.
    Trace(Trace) = "trace";
    /// Operations of the first `ranks` hosts, each with `size` of data; see below.
    Collective(Collective) = "collective";
}

impl Workload for WorkloadKind {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.settings_mut().complete(place);
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.settings().expected(setting)
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        self.settings().matrix()
    }

    fn has_role(&self) -> bool {
        self.settings().has_role()
    }
}
