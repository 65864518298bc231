//! RoCEv2 without I/O: queue pairs with packet sequence numbers (PSN), go-back-N or selective
//! repeat, and a law that gives each queue pair a rate.
//!
//! A [`Sender`] sends a packet when its turn at the host's port has come, its rate allows it and its
//! window, if it has one, has room. A [`Receiver`] acknowledges each packet, says with a NACK which
//! packet it misses, and tells the sender of marks: with a packet of its own (CNP) or with a bit of
//! its ACKs. Queue pairs are taken as connected: there is no handshake.
//!
//! Sources: InfiniBand Architecture Specification, volume 1, section 9.7 (reliable connections), and
//! its annex A17 (RoCEv2); Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
//! SIGCOMM 2015 (DCQCN); Mittal et al., "TIMELY", SIGCOMM 2015; Mittal et al., "Revisiting Network
//! Support for RDMA", SIGCOMM 2018 (IRN); Li et al., "HPCC", SIGCOMM 2019; Addanki et al., "PowerTCP",
//! NSDI 2022; Ben Basat et al., "PINT", SIGCOMM 2020.
//! "HPCC's repository" is alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a:
//! `simulation/src/point-to-point/model/rdma-hw.cc`, and its settings `simulation/mix/config.txt`.

mod config;
mod declaration;
mod law;
mod message;
mod receiver;
mod sender;
mod stream;

pub use config::{CnpForm, Config, Retransmission, Window};
pub use declaration::{Roce, RoceSettings};
pub use law::{
    Dcqcn, DcqcnConfig, Hop, Hpcc, HpccConfig, HpccPint, LEAST_UTILISATION, LawConfig, MOST_HOPS, PintConfig, PowerTcp,
    PowerTcpConfig, Reaction, Records, Reference, TargetWindowConfig, Timely, TimelyConfig, Windowed,
};
pub use message::{Message, Output, Told};
pub use receiver::Receiver;
pub use sender::{Counters, Sender, Waits};
