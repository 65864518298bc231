//! Ultra Ethernet transport (UET) without I/O: packets that switches spread and trim, a window at the
//! sender, and one entropy value for each packet.
//!
//! A [`Sender`] numbers its packets (PSN), gives each an entropy value that its [`Balancer`] chooses,
//! and sends as long as its window has room and the links of its host are free: the senders of a host
//! take turns. It may have several [`Subflow`]s, each with a part of the entropy values, a balancer and a window. A [`Receiver`] acknowledges with a cumulative PSN, a bitmap of 64 packets, the bytes
//! that have come, and the number of packets above a gap; it answers a trimmed packet with a NACK.
//!
//! The text of the specification (UEC 1.0.3) was not at hand. Rules are those of uet-htsim, the
//! consortium's simulator (`htsim/sim/uec.cpp` and `uec_mp.cpp`, commit 40ccb05), which says of itself
//! that it is no reference. Where a public port that cites the specification differs, a setting
//! chooses ([`Rules`]).

mod arrivals;
mod balancer;
mod config;
mod coupling;
mod credit;
mod credit_rate;
mod dctcp;
mod declaration;
mod fastflow;
mod law;
mod median;
mod message;
mod mp_rdma;
mod nscc;
mod outstanding;
mod receiver;
mod sender;
mod sleek;
mod strack;
mod strack_htsim;
mod subflow;
mod suppression;
mod surroundings;
mod swift;
mod window;

pub use balancer::{Balancer, BalancerKind, Feedback, Section, Spraying};
pub use config::{Config, SenderLaw};
pub use coupling::Coupling;
pub use credit::{Pulled, Turn};
pub use credit_rate::{Came, CreditRate, CreditRules};
pub use declaration::{Uet, UetSettings};
pub use message::{Ack, Answers, Data, Nack, Output, Probe};
pub use nscc::{Average, Nscc, NsccConfig, NsccSettings, Rules, Unit, WithoutSample};
pub use receiver::{Progress, Receiver};
pub use sender::{Counters, Sender, Waits};
pub use strack::{CutBy, StrackSettings};
pub use strack_htsim::{Below, StrackHtsimSettings, StrackHtsimTarget};
pub use subflow::{Subflow, SubflowCounters};
pub use suppression::Rounds;
pub use surroundings::Network;
pub use swift::{SwiftSettings, SwiftTarget};
pub use window::{Signal, Window};
