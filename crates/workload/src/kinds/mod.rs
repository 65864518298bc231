//! The kinds of workloads: one file a kind, or a family of kinds, with the settings and their
//! checks.

mod collective;
mod demand;
mod described;
mod expected;
mod failures;
mod flow;
mod incast;
mod inference;
mod job;
mod many_to_one;
mod matrices;
mod matrix_flows;
mod partition_aggregate;
mod place;
mod poisson;
mod program;
mod rank_hosts;
mod session;
mod stragglers;
mod tokens;
mod trace;
mod training;

pub use collective::Collective;
pub use demand::{Demand, Draw, ProcessStart, RankPrograms, Run, Wait, WaitsFor};
pub use described::{JobKind, Operation, Pairs, Second, SizesOf};
pub use expected::{Expected, Setting};
pub use failures::Failures;
pub use flow::Flow;
pub use incast::Incast;
pub use inference::{Experts, Inference};
pub use many_to_one::ManyToOneFlows;
pub use matrices::{AllToAll, Destinations, Hotspot, Permutation, Random, Staggered, Stride};
pub use matrix_flows::{MatrixFlows, MatrixKind, Repeat};
pub use partition_aggregate::PartitionAggregate;
pub use place::{OF_CLASSES, Place, TierShare, WITHOUT_PRIORITIES};
pub use poisson::Poisson;
pub use program::{Communication, Interfaces, Program, ProgramFormat};
pub use rank_hosts::{RankHosts, RankPlacement};
pub use session::Session;
pub use stragglers::Stragglers;
pub use tokens::{MOST_TOKENS, Tokens};
pub use trace::{BeyondEnd, Trace, TraceFlow, TraceFormat, TraceRow, TraceRows};
pub use training::Training;

use linkpool_settings::kinds;
use linkpool_units::HostId;

/// Where the messages come from that a program sends while the run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Driven<'w> {
    /// From a program.
    Outside,
    /// From a file of a run that a program has driven.
    Replayed(&'w [TraceFlow]),
}

/// The settings of a workload of some kind: their checks, and the flows that follow from them.
pub trait Workload {
    /// Fills in the settings that follow from the rest of the scenario, and checks all settings
    /// against it.
    fn complete(&mut self, place: &mut Place<'_>);

    /// The number of flows and bytes to expect.
    fn expected(&self, setting: &Setting) -> Expected;

    /// The flows that it asks for.
    fn demand(&self, run: &Run) -> Demand;

    /// The sizes of the flows that it starts by itself.
    fn sizes(&self) -> SizesOf;

    /// The flows that have a label of their own, such as those that answer the others.
    fn second(&self) -> Option<Second> {
        None
    }

    /// The number of its flows, if it lists them; `None` if flows are drawn, or started by other
    /// flows.
    fn listed(&self) -> Option<u32> {
        None
    }

    /// Mean rate of arrivals over the whole network, per second, if flows arrive at a rate.
    fn arrival_rate(&self) -> Option<f64> {
        None
    }

    /// The bytes from one host to another, if its flows have a rate of arrivals and are listed.
    fn bytes_between(&self) -> Option<Vec<(HostId, HostId, u64)>> {
        None
    }

    /// The jobs that its flows form, if they form jobs. `kind` is the name of its kind.
    fn jobs(&self, _kind: &'static str) -> Option<JobKind> {
        None
    }

    /// The number of nodes of its programs, which are in memory during the run, and of the pairs of
    /// which one waits for the other.
    fn nodes(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Do its flows from one host to another share a connection, which stays open?
    fn persistent(&self) -> bool {
        false
    }

    /// Where its messages come from, if a program sends them while the run goes on.
    fn driven(&self) -> Option<Driven<'_>> {
        None
    }

    /// The pairs that may have flows, if there are `hosts` hosts.
    fn pairs(&self, _hosts: u32) -> Pairs {
        Pairs::Any { in_rack: true }
    }

    /// The key that names the receiver of all flows, if there is one.
    fn receiver(&self) -> Option<&'static str> {
        None
    }

    /// May the hosts of a role alone send? Otherwise the settings of the kind say who sends.
    fn has_role(&self) -> bool {
        false
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
            /// The settings of the kind.
            pub fn settings(&self) -> &dyn Workload {
                match self { $(WorkloadKind::$kind(settings) => settings,)+ }
            }

            /// The settings of the kind, mutable.
            pub fn settings_mut(&mut self) -> &mut dyn Workload {
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
    /// Poisson arrivals. Sources are uniform over hosts. Each flow goes to any other host; with `to
    /// = "other-racks"` to any host of another rack; with `to = "permutation"` to the receiver that
    /// its source has in the first workload of kind `permutation`.
    Poisson(Poisson) = "poisson";
    /// Every host sends to one other, drawn at random; none receives more than `at_most` flows.
    Random(Random) = "random";
    /// Host i sends to host i + `step`, round the end.
    Stride(Stride) = "stride";
    /// Every host sends to every other.
    AllToAll(AllToAll) = "all-to-all";
    /// `flows` flows from any hosts. The share `share` of them goes to `hosts`, the rest to any
    /// host.
    Hotspot(Hotspot) = "hotspot";
    /// Every host sends to one other: with probability `rack` within its rack, with `pod` to
    /// another rack of its pod, else to another pod.
    Staggered(Staggered) = "staggered";
    /// Jobs, `chains` at the same time. A client drawn at random sends a `request` to each of
    /// `servers` other hosts. Each server answers when it has the whole request. When all answers
    /// have arrived, the next job begins after `gap`, with another client and other servers.
    PartitionAggregate(PartitionAggregate) = "partition-aggregate";
    /// Flows one by one, from a file or written here; each may wait for others.
    Trace(Trace) = "trace";
    /// Programs of ranks from a trace: messages to send and to receive, computation, and which
    /// waits for which.
    Program(Program) = "program";
    /// Operations of the first `ranks` hosts, each with `size` of data.
    Collective(Collective) = "collective";
    /// Training of a model by tp pp dp ranks: tensor groups, pipelines and copies.
    Training(Training) = "training";
    /// Requests to a language model: prefill instances send keys and values to decode instances,
    /// and these their tokens to experts and back.
    Inference(Inference) = "inference";
    /// Messages that a program sends while the run goes on.
    Session(Session) = "session";
}
