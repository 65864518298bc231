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

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings as _};

    fn class(priorities: &[u32], weight: Option<u32>) -> QueueClass {
        QueueClass { priorities: priorities.to_vec(), weight, ..QueueClass::defaults(Preset::Linux) }
    }

    /// At a port with a limit of 100 packets that marks from 7 on, with packets of 1,500 B at most.
    fn at_port(classes: &[QueueClass]) -> Vec<ClassPolicy> {
        let port = QueuePolicy::drop_tail(QueueLimit::Packets(100)).marking(QueueLimit::Packets(7), false);
        policies(classes, &port, Marks { above: false, at_dequeue: false, drop_non_ect: false }, 1_500)
    }

    /// They take turns if any class does, with the least weight, and are strict otherwise. Where classes have all, there is none more.
    #[test]
    fn priorities_of_no_class_are_one_together() {
        let of = |classes: &[QueueClass]| -> Vec<(u16, Option<u32>)> {
            at_port(classes).iter().map(|class| (class.priorities.bits(), class.quantum)).collect()
        };
        let (first, second, third) = (class(&[3], Some(5)), class(&[1, 2], Some(2)), class(&[5], None));
        let some = of(&[first, second.clone(), third.clone()]);
        assert_eq!(some, [(0b1000, Some(3_750)), (0b110, Some(1_500)), (0b10_0000, None), (0b1101_0001, Some(1_500))]);
        assert_eq!(of(std::slice::from_ref(&third)), [(0b10_0000, None), (0b1101_1111, None)]);
        let all = of(&[second, third, class(&[0, 3, 4, 6, 7], None)]);
        assert_eq!(all, [(0b110, Some(1_500)), (0b10_0000, None), (0b1101_1001, None)]);
    }

    /// A class has the marks of the port unless it has its own, or RED, which drops what it cannot mark.
    #[test]
    fn a_class_marks_in_its_own_way() {
        let red = Red::defaults(Preset::Linux);
        let of = |class: QueueClass| {
            let class = at_port(&[class])[0];
            (class.thresholds, class.marking)
        };
        let (none, marks) = (Thresholds::drop_tail(QueueLimit::Packets(100)), |k| QueueLimit::Packets(k));
        assert_eq!(of(class(&[3], None)), (none.marking(marks(7), false), Marking::AtEnqueue));
        let own = QueueClass { mark: Some(marks(4)), ..class(&[3], None) };
        assert_eq!(of(own), (none.marking(marks(4), false), Marking::AtEnqueue));
        let early = QueueClass { red: Some(red), ..class(&[3], None) };
        assert_eq!(of(early), (Thresholds { drop_non_ect: true, ..none }, Marking::Red(red)));
    }
}
