//! Schedulers that hold data back from a subflow with room in its window, or send it on several: what
//! each remembers of a connection.

mod blest;
mod ecf;
mod redundant;

use crate::multipath::PacketScheduler;
pub(super) use blest::{Blest, Slow};
pub(super) use ecf::{Ecf, Path};
pub(super) use redundant::Redundant;

/// The scheduler of a connection that has one of these.
#[derive(Debug)]
pub(super) enum Scheduler {
    Blest(Blest),
    Ecf(Ecf),
    Redundant(Redundant),
}

impl Scheduler {
    /// The state of `scheduler` for so many subflows; `None` if it has none, or nothing to choose.
    pub(super) fn new(scheduler: PacketScheduler, subflows: usize) -> Option<Box<Scheduler>> {
        let one = match scheduler {
            PacketScheduler::RoundRobin | PacketScheduler::LowestRtt | PacketScheduler::LowestTimeToSend => {
                return None;
            }
            PacketScheduler::Blest => Scheduler::Blest(Blest::new(subflows)),
            PacketScheduler::Ecf => Scheduler::Ecf(Ecf::default()),
            PacketScheduler::Redundant => Scheduler::Redundant(Redundant::new(subflows)),
        };
        (subflows > 1).then(|| Box::new(one))
    }
}
