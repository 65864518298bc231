//! Queue disciplines: what an output port keeps, marks, trims and drops, and which packet it sends next.
//!
//! One file holds one discipline; [`Configuration::build`] knows them all. They serve the ports that are more than one FIFO queue
//! which drops and marks at its entrance (that one is [`crate::link`], where it costs nothing more).

mod fifo;
mod priority;
mod red;
mod shared_buffer;
mod trimming;
mod waiting;

pub use red::Red;
pub(crate) use shared_buffer::Buffer;
pub use shared_buffer::SharedBuffer;
pub use trimming::Trimming;
pub(crate) use waiting::{Arrival, Discipline, Verdict};

use crate::fabric::LinkId;
use linkpool_engine::stream;

/// The queue discipline of a port; by default one FIFO queue that marks at its entrance.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) order: Order,
    pub(crate) marking: Marking,
}

/// Which packet goes next.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) enum Order {
    /// The first that came.
    #[default]
    Fifo,
    /// The first that came with [`crate::Flags::PRIORITY`], and others when there is none.
    Priority,
    /// Headers and control packets before data, in proportion.
    Trimming(Trimming),
}

/// How a queue marks, or drops early.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) enum Marking {
    /// What comes, by the marking threshold.
    #[default]
    AtEnqueue,
    /// What leaves, by the marking threshold.
    AtDequeue,
    /// What comes, by random early detection.
    Red(Red),
}

impl Configuration {
    /// The queues of the port of `link`, with random numbers that `seed` sets.
    pub(crate) fn build(&self, link: LinkId, seed: u64) -> Box<dyn Discipline> {
        let queue = |class: u64| -> Box<dyn Discipline> {
            match self.marking {
                Marking::AtEnqueue => Box::new(fifo::Fifo::new(false)),
                Marking::AtDequeue => Box::new(fifo::Fifo::new(true)),
                Marking::Red(red) => {
                    Box::new(red::RedQueue::new(red, stream(seed, "red", 2 * u64::from(link) + class)))
                }
            }
        };
        match self.order {
            Order::Fifo => queue(0),
            Order::Priority => Box::new(priority::Priority::new([queue(0), queue(1)])),
            Order::Trimming(trimming) => {
                Box::new(trimming::TrimmingQueue::new(trimming, stream(seed, "trim", link.into())))
            }
        }
    }
}
