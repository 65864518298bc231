//! The queue of an output port, as a scenario describes it.

use std::collections::BTreeSet;

use linkpool_settings::{Bounds, Name, settings};
use linkpool_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::discipline::{Order, Pfc, Red, SharedBuffer};
use crate::policy::QueuePolicy;
use crate::queue_class::{self, Marks, QueueClass};
use crate::queue_limit::QueueLimit;

settings! {
    /// Every output port, of hosts and switches. The queue length is the one that an arriving
    /// packet finds; the packet itself does not count.
    pub struct Queue {
        /// The queue length at which an arriving packet is dropped, in packets or as a size
        /// (`"150KB"`). With `discipline = "trimming"` it is the length at which a data packet is
        /// trimmed, and its default is 8.
        limit: QueueLimit = QueueLimit::Packets(100),
            within Bounds::above(0.0, "a queue with a limit of 0 drops every packet; write for example limit = 100"),
            when |q| q.shared_buffer.is_none() => "queues without `shared_buffer`";
        /// ECN marking threshold K, in packets or as a size. Without the key, no packet is marked.
        mark: Option<QueueLimit> = None,
            refused |q| q.mark.is_some() && q.order.marks_by_itself() =>
                "cannot be combined with `mark_min` and `mark_max` of `discipline = \"trimming\"`; leave one of them out",
            refused |q| q.marks_all() => "a threshold of 0 marks every packet; for no marking leave `mark` out, for marking at any \
                                          queue write mark_when = \">\"";
        /// `">="`: mark at queue length >= K; `">"`: only above K.
        mark_when: MarkWhen = MarkWhen::AtLeast, when |q| q.has_thresholds() => "queues with a `mark`";
        /// Does the packet being transmitted count towards the queue length that `limit` and `mark`
        /// see?
        count_in_service: bool = false;
        /// The action on a packet that is not ECN-capable if an ECN-capable one would be marked:
        /// `"queue"` or `"drop"`.
        non_ect: NonEct = NonEct::Queue,
            when |q| q.has_thresholds() => "queues with a `mark` (`red` drops packets that it cannot mark)";
        /// Kinds of packets that are never dropped: `"syn"`, `"fin"`, `"ack"` (pure ACKs). Some
        /// published simulations did so; real networks do not.
        exempt: BTreeSet<Exempt> = BTreeSet::new(),
            refused |q| !q.exempt.is_empty() && !q.order.is_combined() => q.order.excludes(),
            refused |q| !q.exempt.is_empty() && !q.classes.is_empty() =>
                "cannot be combined with classes: their control packets are never dropped; leave it out",
            refused |q| !q.exempt.is_empty() && q.shared_buffer.is_some() =>
                "cannot be combined with `shared_buffer`: packets that are never dropped would need unlimited room";
        /// `"fifo"`: one queue. `"priority"`: two queues, each with this limit and this marking;
        /// the queue of high priority is served first. `"trimming"`: a data packet that finds no
        /// room loses its payload, see below.
        order "discipline": Order as Name<Order> = Order::Fifo,
            refused |q| q.order != Order::Fifo && !q.classes.is_empty() =>
                "cannot be combined with `[[queue.class]]`, whose classes have an order of their own; leave it out";
        /// `"enqueue"`: mark arriving packets. `"dequeue"`: mark leaving packets, by the length of
        /// the queue behind them (ECN*).
        mark_at: MarkAt = MarkAt::Enqueue,
            refused |q| q.mark_at == MarkAt::Dequeue && !q.order.is_combined() => q.order.excludes(),
            refused |q| q.mark_at == MarkAt::Dequeue && q.has_thresholds() && q.non_ect == NonEct::Drop =>
                "a leaving packet is not dropped; write non_ect = \"queue\", or mark_at = \"enqueue\"",
            when |q| q.has_thresholds() => "queues with a `mark`";
        /// Do ports that lead to hosts mark? With `receiver_credit` of `uet` the receiver sees to its own link, and uet-htsim
        /// has no marks there.
        mark_to_hosts: bool = true,
            refused |q| !q.mark_to_hosts && q.has_red() =>
                "cannot be combined with `red`, which drops packets early where it may not mark them; write a `mark`, or leave it out",
            when |q| q.has_thresholds() || q.order.marks_by_itself() =>
                "queues with a `mark`, and those with `mark_min` of `discipline = \"trimming\"`";
    }
    tables {
        /// Random early detection, instead of `mark`.
        red: Red, refused |q| q.red.is_some() && !q.order.is_combined() => q.order.excludes();
        /// A buffer for all ports of a switch, instead of `limit`.
        shared_buffer: SharedBuffer,
            refused |q| q.shared_buffer.is_some() && !q.order.is_combined() => q.order.excludes(),
            refused |q| q.shared_buffer.is_some() && !q.classes.is_empty() =>
                "cannot be combined with classes, whose control packets are never dropped; leave it out";
        /// Priority flow control: ports pause their neighbours, and drop nothing.
        pfc: Pfc,
            refused |q| q.pfc.is_some() && !q.order.is_combined() => q.order.excludes(),
            refused |q| q.pfc.is_some() && q.shared_buffer.is_some() =>
                "cannot be combined with `shared_buffer`: it has a buffer of its own";
    }
    chosen {
        order "discipline";
    }
    others {
        /// Classes of data with queues of their own.
        classes: Vec<QueueClass> = Vec::new();
        /// The largest packet, bytes on the wire.
        largest_packet: u64 = 1_538;
    }
}

/// The time at which packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// As they arrive.
    Enqueue,
    /// As they leave.
    Dequeue,
}

/// The comparison of the queue length with K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MarkWhen {
    /// At queue length >= K.
    #[serde(rename = ">=")]
    AtLeast,
    /// Only above K.
    #[serde(rename = ">")]
    Above,
}

/// The action on a packet that is not ECN-capable if an ECN-capable one would be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonEct {
    /// It is queued, unmarked.
    Queue,
    /// It is dropped.
    Drop,
}

/// A kind of packet that a queue never drops if `exempt` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exempt {
    /// SYN and SYN-ACK.
    Syn,
    /// FIN.
    Fin,
    /// An ACK without payload.
    Ack,
}

impl Queue {
    fn marks_all(&self) -> bool {
        let zero = matches!(self.mark, Some(QueueLimit::Packets(0) | QueueLimit::Bytes(0)));
        zero && self.mark_when == MarkWhen::AtLeast
    }

    /// Has a queue a threshold for marks?
    fn has_thresholds(&self) -> bool {
        self.mark.is_some() || self.classes.iter().any(|class| class.mark.is_some())
    }

    /// Has a queue random early detection?
    fn has_red(&self) -> bool {
        self.red.is_some() || self.classes.iter().any(|class| class.red.is_some())
    }

    /// With these classes.
    pub fn set_classes(&mut self, classes: Vec<QueueClass>) {
        if let Some(pfc) = &mut self.pfc {
            pfc.of_classes = (!classes.is_empty()).then(|| queue_class::lossless(&classes));
        }
        self.classes = classes;
    }

    /// Fills in the settings whose defaults follow from the largest packet, bytes on the wire.
    pub fn complete(&mut self, largest_packet: u64) {
        self.order.complete(self.limit, largest_packet);
        self.largest_packet = largest_packet;
        for red in self.classes.iter_mut().map(|class| &mut class.red).chain([&mut self.red]).flatten() {
            red.packet.get_or_insert(Bytes(largest_packet));
        }
        if let Some(pfc) = &mut self.pfc {
            pfc.packet.get_or_insert(Bytes(largest_packet));
        }
    }

    /// Priority flow control as ports do it: without priorities none is high.
    pub fn pausing(&self) -> Option<Pfc> {
        self.pfc.map(|pfc| Pfc { high: pfc.high && self.order == Order::Priority, ..pfc })
    }

    /// The limit of the queue in which data of this priority waits; none: nothing of it is dropped there.
    pub fn limit_of(&self, priority: u8) -> Option<QueueLimit> {
        let class = self.classes.iter().find(|class| class.priorities.contains(&priority.into()));
        match class {
            Some(class) if class.lossless => None,
            Some(class) => class.limit.or(Some(self.limit)),
            None => self.shared_buffer.is_none().then_some(self.limit),
        }
    }

    /// The least share of a link that data of this priority has while it waits, if its class has a weight: that, and the sum of
    /// all.
    pub fn share_of(&self, priority: u8) -> (u32, u32) {
        let named = |priority| self.classes.iter().find(|class| class.priorities.contains(&priority));
        let weights = || self.classes.iter().filter_map(|class| class.weight);
        // Priorities of no class have the least weight together.
        let Some(least) = weights().min() else { return (1, 1) };
        let others = if (0..8).all(|priority| named(priority).is_some()) { 0 } else { least };
        let own = named(priority.into()).map_or(Some(least), |class| class.weight);
        own.map_or((1, 1), |own| (own, weights().sum::<u32>() + others))
    }

    /// Hosts do not trim: its classes that do so let all of their packets wait.
    pub fn trim_no_more(&mut self) {
        for class in self.classes.iter_mut().filter(|class| class.trim) {
            (class.trim, class.limit) = (false, Some(QueueLimit::Packets(u32::MAX)));
        }
    }

    /// The queue of ports of hosts if switches have this one; `None` if it is the same.
    pub fn at_hosts(&self) -> Option<Queue> {
        if self.classes.iter().any(|class| class.trim) {
            let mut queue = self.clone();
            queue.trim_no_more();
            return Some(queue);
        }
        let order = self.order.at_hosts()?;
        Some(Queue { limit: QueueLimit::Packets(u32::MAX), order, ..self.clone() })
    }
}

impl From<&Queue> for QueuePolicy {
    fn from(queue: &Queue) -> QueuePolicy {
        let exempt = |kind| queue.exempt.contains(&kind);
        let mut policy = QueuePolicy::drop_tail(queue.limit)
            .counting_in_service(queue.count_in_service)
            .exempting(exempt(Exempt::Syn), exempt(Exempt::Fin), exempt(Exempt::Ack))
            .ordered(queue.order);
        if let Some(k) = queue.mark {
            policy =
                policy.marking(k, queue.mark_when == MarkWhen::Above).dropping_non_ect(queue.non_ect == NonEct::Drop);
            policy = if queue.mark_at == MarkAt::Dequeue { policy.marking_at_dequeue() } else { policy };
        }
        if let Some(red) = queue.red {
            policy = policy.with_red(red);
        }
        if !queue.classes.is_empty() {
            let marks = Marks {
                above: queue.mark_when == MarkWhen::Above,
                at_dequeue: queue.mark_at == MarkAt::Dequeue,
                drop_non_ect: queue.non_ect == NonEct::Drop,
            };
            let classes = queue_class::policies(&queue.classes, &policy, marks, queue.largest_packet);
            policy = policy.with_classes(classes);
        }
        if let Some(pfc) = queue.pausing() {
            policy = policy.pausing(pfc);
        }
        if !queue.mark_to_hosts {
            policy = policy.sparing_hosts();
        }
        match queue.shared_buffer {
            Some(buffer) => policy.sharing(buffer),
            None => policy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::{Configuration, Marking};
    use crate::thresholds::Thresholds;
    use linkpool_settings::{Preset, Settings as _};

    const LIMIT: QueueLimit = QueueLimit::Packets(100);

    /// Of these priorities, with the defaults.
    fn class(priorities: &[u32]) -> QueueClass {
        QueueClass { priorities: priorities.to_vec(), ..QueueClass::defaults(Preset::Linux) }
    }

    /// A queue with such classes, and priority flow control.
    fn queue(classes: &[QueueClass]) -> Queue {
        let mut queue = Queue { pfc: Some(Pfc::defaults(Preset::Linux)), ..Queue::defaults(Preset::Linux) };
        queue.set_classes(classes.to_vec());
        queue
    }

    /// 3 is lossless, with the weight 4; 1 and 2 are cut, with the weight 2 and a limit; 5 is strict.
    fn classes() -> [QueueClass; 3] {
        let limit = Some(QueueLimit::Packets(7));
        [
            QueueClass { weight: Some(4), lossless: true, ..class(&[3]) },
            QueueClass { weight: Some(2), trim: true, limit, ..class(&[1, 2]) },
            class(&[5]),
        ]
    }

    #[test]
    fn a_class_has_a_limit_unless_it_drops_nothing() {
        let of = |queue: &Queue| [3, 1, 2, 5, 0].map(|priority| queue.limit_of(priority));
        let cut = Some(QueueLimit::Packets(7));
        assert_eq!(of(&queue(&classes())), [None, cut, cut, Some(LIMIT), Some(LIMIT)]);
        let shared_buffer = Some(SharedBuffer::defaults(Preset::Linux));
        assert_eq!(of(&Queue { shared_buffer, ..queue(&[]) }), [None; 5], "the buffer is the limit");
    }

    /// Priorities of no class have the least weight together: 4 + 2 + 2 = 8. A class without a weight takes no turns.
    #[test]
    fn a_class_has_the_share_of_its_weight() {
        let of = |queue: Queue| [3, 1, 2, 5, 0].map(|priority| queue.share_of(priority));
        assert_eq!(of(queue(&classes())), [(4, 8), (2, 8), (2, 8), (1, 1), (2, 8)]);
        let [first, second, third] = classes();
        let all = [first, second, third.clone(), QueueClass { weight: Some(3), ..class(&[0, 4, 6, 7]) }];
        assert_eq!(of(queue(&all)), [(4, 9), (2, 9), (2, 9), (1, 1), (3, 9)]);
        assert_eq!(of(queue(&[third])), [(1, 1); 5]);
    }

    /// What hosts do not trim waits, however much there is. Other classes stay as they are.
    #[test]
    fn hosts_trim_no_class() {
        let (switches, [lossless, cut, strict]) = (queue(&classes()), classes());
        let hosts = switches.at_hosts().expect("another queue");
        let cut = QueueClass { trim: false, limit: Some(QueueLimit::Packets(u32::MAX)), ..cut };
        assert_eq!(hosts, Queue { classes: vec![lossless.clone(), cut, strict.clone()], ..switches });
        assert_eq!(queue(&[lossless, strict]).at_hosts(), None);
    }

    /// Lossless is what classes say, or without them what the keys of priority flow control do: without priorities none is high.
    #[test]
    fn what_is_lossless_follows_from_classes_and_order() {
        let of_classes = |classes: &[QueueClass]| queue(classes).pfc.and_then(|pfc| pfc.of_classes);
        assert_eq!((of_classes(&classes()), of_classes(&classes()[1..]), of_classes(&[])), (Some(8), Some(0), None));
        let high = |order, high| {
            let pfc = queue(&[]).pfc.map(|pfc| Pfc { high, ..pfc });
            Queue { order, pfc, ..queue(&[]) }.pausing().map(|pfc| pfc.high)
        };
        assert_eq!([true, false].map(|is_high| high(Order::Priority, is_high)), [Some(true), Some(false)]);
        assert_eq!([true, false].map(|is_high| high(Order::Fifo, is_high)), [Some(false); 2]);
    }

    #[test]
    fn the_largest_packet_is_that_of_red_and_of_headroom() {
        let red = Some(Red::defaults(Preset::Linux));
        let mut queue = queue(&[QueueClass { red, ..class(&[3]) }]);
        queue.complete(4_096);
        let packets = [queue.classes[0].red.and_then(|red| red.packet), queue.pfc.and_then(|pfc| pfc.packet)];
        assert_eq!((packets, queue.largest_packet), ([Some(Bytes(4_096)); 2], 4_096));
    }

    /// Classes have turns in proportion to their weights, the least of them the largest packet, and their own marks as the keys
    /// of `[queue]` say.
    #[test]
    fn classes_mark_as_the_keys_of_the_queue_say() {
        let marks = Some(QueueLimit::Packets(5));
        let [first, second, third] = classes();
        let mut queue = queue(&[first, second, QueueClass { mark: marks, ..third }]);
        queue.complete(1_500);
        assert!(queue.has_thresholds() && !Queue { classes: Vec::new(), ..queue.clone() }.has_thresholds());
        let of = |change: &dyn Fn(&mut Queue)| {
            let mut queue = queue.clone();
            change(&mut queue);
            let Configuration { classes, .. } = QueuePolicy::from(&queue).discipline;
            let classes = classes.expect("classes");
            let quanta: Vec<_> = classes.iter().map(|class| class.quantum).collect();
            assert_eq!(quanta, [Some(3_000), Some(1_500), None, Some(1_500)]);
            (classes[2].thresholds, classes[2].marking)
        };
        let plain = Thresholds::drop_tail(LIMIT).marking(QueueLimit::Packets(5), false);
        assert_eq!(of(&|_| {}), (plain, Marking::AtEnqueue));
        let above = Thresholds { mark_packets: 6, ..plain };
        assert_eq!(of(&|queue| queue.mark_when = MarkWhen::Above), (above, Marking::AtEnqueue));
        let dropping = Thresholds { drop_non_ect: true, ..plain };
        assert_eq!(of(&|queue| queue.non_ect = NonEct::Drop), (dropping, Marking::AtEnqueue));
        assert_eq!(of(&|queue| queue.mark_at = MarkAt::Dequeue), (plain, Marking::AtDequeue));
    }
}
