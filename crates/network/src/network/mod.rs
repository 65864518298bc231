//! The network while it runs: what nodes do in a window, what handlers see of it, and what goes from one partition to another.

mod ahead;
mod assembly;
mod egress;
mod handler;
mod inputs;
mod mailbox;
mod order;
mod real_time;
mod run;

pub use egress::Egress;
pub use handler::Handler;
pub(crate) use mailbox::PacketMailbox;
pub use order::tie_rank;
pub use run::Network;
