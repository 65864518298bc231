//! The network while it runs: nodes in a window, the interface for handlers, and the exchange
//! between partitions.

mod ahead;
mod assembly;
mod balanced;
mod egress;
mod forward;
mod handler;
mod header_room;
mod mailbox;
mod order;
mod real_time;
mod run;
mod stage;
mod tap;
mod window;

pub use egress::Egress;
pub use handler::Handler;
pub(crate) use mailbox::{PacketMailbox, lock};
pub use order::tie_rank;
pub use run::Network;
pub(crate) use stage::{Phase, Round};
