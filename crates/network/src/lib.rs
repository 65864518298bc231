//! The network: packets on links, output queues that mark and drop, switches that route, and the
//! fabrics they form.

mod balancer;
mod change;
mod discipline;
mod disjoint;
mod fabric;
mod forwarding;
mod levels;
mod link;
mod lookahead;
mod nearer;
mod network;
mod on_the_way;
mod packet;
mod parallel;
mod partition;
mod pods;
mod policy;
mod ports;
mod queue;
mod queue_limit;
mod routing;
mod shares;
mod shortest_paths;
mod source_route;
mod stages;
mod successors;
mod thresholds;
pub mod topology;
mod trailer;
mod transmitter;
mod weights;
mod witness;

pub use balancer::Spreading;
pub use change::{LinkChange, Loss, Timetable};
pub use discipline::{Order, Red, RedAction, SharedBuffer, Trimming};
pub use disjoint::disjoint_paths;
pub use fabric::{Cable, Fabric, FabricBuilder, Layer, LinkId, LinkSpec, MOST_HOSTS, NodeId, split_member};
pub use link::{LinkStats, OnWire, RareEvents};
pub use network::{Egress, Handler, Network, tie_rank};
pub use packet::Trailer;
pub use packet::{Envelope, Flags, Kind, Packet};
pub use parallel::{Ended, run_partitions};
pub use partition::{Partitions, partition, partition_for};
pub use pods::Exchange;
pub use policy::{Policies, QueueLevels, QueuePolicy};
pub use queue::{Exempt, MarkAt, MarkWhen, NonEct, Queue};
pub use queue_limit::QueueLimit;
pub use routing::{Routes, Routing};
pub use shares::{Carried, TierTraffic, carried_between, carried_uniform, uniform_traffic};
pub use shortest_paths::ShortestPaths;
pub use source_route::{always_fits, reversed, source_route};
pub use weights::Weights;
pub use witness::{Cause, Discarded, PacketLoss, Seen, Witness};

pub use linkpool_units::HostId;
