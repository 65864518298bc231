//! Classes of packets with queues of their own, as a scenario describes them.

use linkpool_settings::{Bounds, Length, settings};

use crate::class::{CONTROL, ClassSet};
use crate::discipline::{ClassPolicy, Marking, Red};
use crate::policy::QueuePolicy;
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;

settings! {
    /// A class of data with a queue of its own at each port, chosen by the priority.
    pub struct QueueClass {
        /// Its priorities, each from 0 to 7. Priorities of no class share a further queue, with the keys of `[queue]` and, where
        /// others have a weight, the least of these.
        priorities: Vec<u32>, required vec![3],
            within Length::from(1, "names no priority; write for example priorities = [3]"),
            refused |c| c.priorities.iter().any(|priority| *priority > 7) => "a priority goes from 0 to 7",
            refused |c| c.lossless && c.priorities.len() > 1 =>
                "frames pause one priority, so a lossless class has one; write a class for each";
        /// The queue length at which an arriving packet is dropped, as in `[queue]`.
        limit: Option<QueueLimit>, from |_c| None => "that of `[queue]`",
            within Bounds::above(0.0, "a queue with a limit of 0 drops every packet; write for example limit = 100"),
            when |c| !c.lossless => "classes that are not `lossless`";
        /// The marking threshold K, as in `[queue]`.
        mark: Option<QueueLimit>, from |_c| None => "that of `[queue]`";
        /// Its share of the link beside other classes with a weight: deficit round robin (Shreedhar and Varghese, 1996). The
        /// least weight is a quantum of the largest packet. Without the key the class has strict priority: it is served
        /// before all that have a weight, and before those without that have lower priorities.
        weight: Option<u32> = None, within Bounds::from(1.0, "{} is no weight; it goes from 1 to 1000").to(1_000.0);
        /// Is it lossless? Then ports pause their neighbours, as `[queue.pfc]` says.
        lossless: bool = false;
        /// Is a packet that finds no room cut to its header, if its transport understands that? The header waits with control
        /// packets, which are served first. Ports of hosts, where `[queue.layer.host]` has no classes, do not trim, and have no `limit`.
        trim: bool = false, refused |c| c.trim && c.lossless => "a lossless class drops nothing; leave one of the two out";
    }
    tables {
        /// Random early detection, instead of `mark`.
        red: Red, refused |c| c.red.is_some() && c.mark.is_some() => "there is `mark` too; leave one out";
    }
}

impl QueueClass {
    /// Its priorities as a set.
    fn set(&self) -> ClassSet {
        ClassSet::of(self.priorities.iter().fold(0, |bits, priority| bits | 1 << priority))
    }

    /// The class at a port whose queues have `port` where a class says nothing.
    fn policy(&self, port: &QueuePolicy, marks: Marks, quantum: impl Fn(u32) -> u32) -> ClassPolicy {
        let mut thresholds = self.limit.map_or(port.thresholds, |limit| port.thresholds.limited_to(limit));
        let mut marking = port.discipline.marking;
        if let Some(k) = self.mark {
            thresholds =
                Thresholds { drop_non_ect: marks.drop_non_ect, ..thresholds.unmarking() }.marking(k, marks.above);
            marking = if marks.at_dequeue { Marking::AtDequeue } else { Marking::AtEnqueue };
        }
        if let Some(red) = self.red {
            thresholds = Thresholds { drop_non_ect: true, ..thresholds.unmarking() };
            marking = Marking::Red(red);
        }
        ClassPolicy {
            priorities: self.set(),
            thresholds,
            marking,
            lossless: self.lossless,
            trims: self.trim,
            quantum: self.weight.map(quantum),
        }
    }
}

/// How queues mark that have a threshold: the keys of `[queue]` beside `mark`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub(crate) above: bool,
    pub(crate) at_dequeue: bool,
    pub(crate) drop_non_ect: bool,
}

/// The priorities of which no packet is dropped, bit by bit.
pub(crate) fn lossless(classes: &[QueueClass]) -> u8 {
    classes.iter().filter(|class| class.lossless).fold(0, |bits, class| bits | class.set().bits() as u8)
}

/// All classes at a port: `classes`, and one of the priorities that they leave out.
pub(crate) fn policies(
    classes: &[QueueClass],
    port: &QueuePolicy,
    marks: Marks,
    largest_packet: u64,
) -> Vec<ClassPolicy> {
    let least = classes.iter().filter_map(|class| class.weight).min().unwrap_or(1);
    // The least quantum is the largest packet (section III of the paper), and the others are in proportion.
    let quantum = |weight: u32| (u64::from(weight) * largest_packet).div_ceil(u64::from(least)) as u32;
    let mut all: Vec<ClassPolicy> = classes.iter().map(|class| class.policy(port, marks, quantum)).collect();
    let named = classes.iter().fold(0, |bits, class| bits | class.set().bits());
    let others = !named & ((1 << CONTROL) - 1);
    if others != 0 {
        // Where others take turns, it takes turns, too.
        let weight = classes.iter().any(|class| class.weight.is_some()).then_some(least);
        let rest = QueueClass { weight, ..rest_of(others) };
        all.push(rest.policy(port, marks, quantum));
    }
    all
}

/// The class of the priorities that no other has.
fn rest_of(bits: u16) -> QueueClass {
    let priorities = (0..8).filter(|priority| bits >> priority & 1 == 1).collect();
    QueueClass { priorities, limit: None, mark: None, weight: None, lossless: false, trim: false, red: None }
}
