//! Queue disciplines: which packets an output port keeps, marks, trims and drops, and which packet
//! it sends next.
//!
//! One file holds one discipline with its settings; [`Order`] lists them, and
//! [`Configuration::build`] makes them. They serve the ports that are more than one FIFO queue
//! which drops and marks at its entrance (that one is [`crate::link`], where it costs nothing
//! more).

#[cfg(test)]
mod at_once;
mod classes;
mod fifo;
mod pfc;
mod priority;
mod red;
mod round_robin;
mod shared_buffer;
mod trimming;
mod waiting;

pub(crate) use classes::ClassPolicy;
pub use pfc::Pfc;
pub(crate) use pfc::{FRAME, pause_time};
pub use red::{Red, RedAction};
pub(crate) use shared_buffer::Buffer;
pub use shared_buffer::SharedBuffer;
pub use trimming::Trimming;
pub(crate) use waiting::{Arrival, Discipline, Verdict};

use crate::class::CONTROL;
use crate::fabric::LinkId;
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_engine::{Stream, stream};
use linkpool_settings::{Kinds, kinds};
use std::sync::Arc;

/// The queue discipline of a port; by default one FIFO queue that marks at its entrance.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Configuration {
    pub(crate) order: Order,
    pub(crate) marking: Marking,
    /// The classes that the port has, if a scenario declares them; the order is then theirs.
    pub(crate) classes: Option<Arc<[ClassPolicy]>>,
}

kinds! {
    /// Which packet of a port goes next.
    #[derive(Copy)]
    pub enum Order {
        /// The first that came.
        Fifo = "fifo";
        /// The first of high priority that came, and others when there is none.
        Priority = "priority";
        /// Headers and control packets before data, in proportion; data that finds no room is
        /// trimmed.
        Trimming(Trimming) = "trimming";
    }
}

impl Order {
    /// Does it combine with RED, marks at dequeue, shared buffers and packets that are never
    /// dropped?
    pub fn is_combined(&self) -> bool {
        matches!(self, Order::Fifo | Order::Priority)
    }

    /// Has it thresholds of its own for marks?
    pub(crate) fn marks_by_itself(&self) -> bool {
        matches!(self, Order::Trimming(trimming) if trimming.mark_min.is_some())
    }

    /// The message for settings with which it cannot be combined.
    pub(crate) fn excludes(&self) -> String {
        format!("cannot be combined with discipline = {:?}; leave it out", self.name())
    }

    /// The limit of its queues if a scenario says none, or none: that of all queues.
    pub fn default_limit(&self) -> Option<QueueLimit> {
        match self {
            Order::Trimming(_) => Some(trimming::DEFAULT_LIMIT),
            _ => None,
        }
    }

    /// Fills in the settings whose defaults follow from the `limit` and the largest packet, bytes
    /// on the wire.
    pub(crate) fn complete(&mut self, limit: QueueLimit, largest_packet: u64) {
        if let Order::Trimming(trimming) = self {
            trimming.complete(limit, largest_packet);
        }
    }

    /// How hosts order packets where switches do so, if in another way.
    pub(crate) fn at_hosts(&self) -> Option<Order> {
        match self {
            Order::Trimming(trimming) => Some(Order::Trimming(trimming.at_hosts())),
            _ => None,
        }
    }
}

/// How a queue marks, or drops early.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Marking {
    /// Arriving packets, by the marking threshold.
    AtEnqueue,
    /// Leaving packets, by the marking threshold.
    AtDequeue,
    /// Arriving packets, by random early detection.
    Red(Red),
}

/// By class: the name of the stream of random numbers of its queue.
const RED_STREAMS: [&str; CONTROL as usize] =
    ["red-low", "red-1", "red-2", "red-3", "red-4", "red-5", "red-6", "red-high"];

/// The random numbers of the RED queue of the class with this number at the port of `link`.
fn red_stream(class: u8, link: LinkId, seed: u64) -> Stream {
    stream(seed, RED_STREAMS[usize::from(class)], link.into())
}

/// Makes something of the queues of a port, whatever their discipline: what it makes is compiled
/// for each.
pub(crate) trait MakeOf {
    /// What it makes.
    type Made;
    /// Makes it of these queues.
    fn of<D: Discipline + 'static>(self, queues: D) -> Self::Made;
}

impl Default for Configuration {
    fn default() -> Configuration {
        Configuration { order: Order::Fifo, marking: Marking::AtEnqueue, classes: None }
    }
}

impl Configuration {
    /// The same without marks.
    pub(crate) fn unmarking(mut self) -> Configuration {
        self.marking = Marking::AtEnqueue;
        if let Order::Trimming(trimming) = &mut self.order {
            (trimming.mark_min, trimming.mark_max) = (None, None);
        }
        let unmarking = |class: &ClassPolicy| ClassPolicy {
            thresholds: class.thresholds.unmarking(),
            marking: Marking::AtEnqueue,
            ..*class
        };
        self.classes = self.classes.map(|classes| classes.iter().map(unmarking).collect());
        self
    }

    /// What `make` makes of the queues of the port of `link`, with random numbers that `seed` sets.
    /// `pfc`: the port pauses, and is paused; `thresholds`: those of all its queues but for classes with their own.
    pub(crate) fn build<M: MakeOf>(
        &self,
        (pfc, thresholds): (Option<&Pfc>, Thresholds),
        link: LinkId,
        seed: u64,
        make: M,
    ) -> M::Made {
        if let Some(classes) = &self.classes {
            return make.of(classes::Classes::new(classes, thresholds, (link, seed)));
        }
        if let Some(pfc) = pfc {
            let classes = ClassPolicy::strict(pfc.lossless(), thresholds, self.marking);
            return make.of(classes::Classes::new(&classes, thresholds, (link, seed)));
        }
        let fifo = |marks_at_dequeue| [(); 2].map(|()| fifo::Fifo::new(marks_at_dequeue));
        match self.marking {
            Marking::AtEnqueue => self.order_of(fifo(false), link, seed, make),
            Marking::AtDequeue => self.order_of(fifo(true), link, seed, make),
            Marking::Red(red) => {
                let random = |class| stream(seed, "red", 2 * u64::from(link) + class);
                let queues = [0, 1].map(|class| red::RedQueue::new(red, random(class)));
                self.order_of(queues, link, seed, make)
            }
        }
    }

    /// The same where the queues of high and of low priority are `queues`; if there is one queue, it is the first.
    fn order_of<M: MakeOf>(&self, queues: [impl Discipline + 'static; 2], link: LinkId, seed: u64, make: M) -> M::Made {
        match self.order {
            Order::Fifo => {
                let [queue, _] = queues;
                make.of(queue)
            }
            Order::Priority => make.of(priority::Priority::new(queues)),
            Order::Trimming(trimming) => {
                make.of(trimming::TrimmingQueue::new(trimming, stream(seed, "trim", link.into())))
            }
        }
    }
}
