//! Workloads: the senders, receivers, sizes and starts of flows.

mod arrivals;
mod cdf;
mod collective;
mod destination;
mod flow;
mod gaps;
pub mod kinds;
mod matrix;
mod process;
pub mod program;
mod restarts;
mod room;
pub mod serving;
mod sizes;
mod slow_ranks;

pub use arrivals::{PoissonTimes, jitter};
pub use cdf::{Cdf, Interpolation};
pub use collective::{CollectiveAlgorithm, Message};
pub use destination::random_other;
pub use flow::{Flow, FlowPriority};
pub use gaps::{Gap, GapDistribution, Gaps};
pub use kinds::WorkloadKind;
pub use matrix::{Matrix, Rule, Senders};
pub use process::{
    Action, Chain, ClosedLoop, Destinations, FlowEnd, Job, JointLoop, Listens, PartitionAggregate, Process, Redraw,
    Rounds,
};
pub use restarts::{Restarts, Saved};
pub use sizes::{Distribution, FlowSize, Sizes};
pub use slow_ranks::SlowRanks;
