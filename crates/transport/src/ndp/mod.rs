//! NDP without I/O: Handley et al., "Re-architecting datacenter networks and stacks for low latency
//! and high performance", SIGCOMM 2017. Switches trim packets that find no room; receivers pull.
//!
//! A [`Sender`] sends a first window without a handshake, then a packet for each PULL. A
//! [`Receiver`] answers each packet with an ACK, and each header without payload with a NACK.
//! Either owes the sender a PULL, which it sends when its turn comes in the
//! [`TurnQueue`](crate::TurnQueue) of its host. A [`PathSet`] spreads the packets of a sender over
//! all paths.
//!
//! Each end has a timer for what it has sent and nobody else can miss: the sender for packets that
//! have left its host and have no answer, the receiver for a PULL that has brought nothing.
//!
//! Section numbers are those of the paper. Where the paper leaves a rule open, the comment at the
//! rule names our choice.

mod config;
mod declaration;
mod message;
mod path_set;
mod receiver;
mod sender;

pub use config::{Config, Penalties};
pub use declaration::{Ndp, NdpSettings};
pub use message::{Message, Output};
pub use path_set::{Feedback, PathSet};
pub use receiver::Receiver;
pub use sender::{Counters, Sender};
