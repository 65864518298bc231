//! The policies of output ports: thresholds, queue disciplines, shared buffers, layer by layer.

use crate::digest::Digests;
use crate::discipline::{ClassPolicy, Configuration, Marking, Order, Pfc, Red, SharedBuffer};
use crate::fabric::{Fabric, Layer, LinkSpec};
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use std::sync::Arc;

/// How an output port queues: its thresholds and its queue discipline.
///
/// The queue length that counts is the one that an arriving packet finds, without itself.
#[derive(Clone, PartialEq, Debug)]
pub struct QueuePolicy {
    pub(crate) thresholds: Thresholds,
    pub(crate) discipline: Configuration,
    /// A buffer for all ports of a switch, instead of the limit.
    pub(crate) shared: Option<SharedBuffer>,
    /// Does the port write telemetry on packets that ask for it?
    pub(crate) stamps: bool,
    /// The digests that it writes on packets that ask for those; it stamps.
    pub(crate) digests: Option<Arc<Digests>>,
    /// Priority flow control, if the port pauses and is paused.
    pub(crate) pfc: Option<Pfc>,
    /// Does it mark at ports that lead to hosts, too?
    marks_to_hosts: bool,
}

/// The queue lengths at which one FIFO queue drops and marks; the greatest number: at none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLevels {
    /// A packet that finds so many is dropped.
    pub limit_packets: u32,
    /// A packet that would make it longer, in bytes, is dropped.
    pub limit_bytes: u64,
    /// A packet that finds so many is marked.
    pub mark_packets: u32,
    /// A packet that finds so many bytes is marked.
    pub mark_bytes: u64,
    /// Is a packet dropped that would be marked, and is not ECN-capable?
    pub drop_non_ect: bool,
}

impl QueuePolicy {
    /// Drops a packet that finds `limit` packets queued, or would overfill `limit` bytes. The
    /// packet in service does not count.
    pub fn drop_tail(limit: QueueLimit) -> QueuePolicy {
        let thresholds = Thresholds::drop_tail(limit);
        QueuePolicy {
            thresholds,
            discipline: Configuration::default(),
            shared: None,
            stamps: false,
            digests: None,
            pfc: None,
            marks_to_hosts: true,
        }
    }

    /// Marks nothing.
    fn unmarking(mut self) -> QueuePolicy {
        self.thresholds = self.thresholds.unmarking();
        self.discipline = self.discipline.unmarking();
        self
    }

    /// Sends no header back to its sender.
    fn return_nothing(&mut self) {
        if let Order::Trimming(trimming) = &mut self.discipline.order {
            trimming.return_to_sender = false;
        }
    }

    /// When it drops and marks, for ports elsewhere that do the same.
    pub fn levels(&self) -> QueueLevels {
        let Thresholds { limit_packets, limit_bytes, mark_packets, mark_bytes, drop_non_ect, .. } = self.thresholds;
        QueueLevels { limit_packets, limit_bytes, mark_packets, mark_bytes, drop_non_ect }
    }

    /// Is it one FIFO queue that drops and marks at its entrance, and that a link can hold?
    pub(crate) fn is_plain(&self) -> bool {
        self.discipline == Configuration::default()
            && self.shared.is_none()
            && !self.stamps
            && self.pfc.is_none()
            && self.thresholds.can_be_held()
    }

    /// Serves packets in this order. Each of its queues has the limit and the marking.
    pub fn ordered(mut self, order: Order) -> QueuePolicy {
        self.discipline.order = order;
        self
    }

    /// Marks a packet as it leaves, by the queue that it leaves behind (ECN*: Wu et al., "Tuning
    /// ECN for data center networks", CoNEXT 2012).
    pub fn marking_at_dequeue(mut self) -> QueuePolicy {
        self.discipline.marking = Marking::AtDequeue;
        self
    }

    /// Random early detection instead of a marking threshold; packets that cannot be marked are
    /// dropped.
    pub fn with_red(mut self, red: Red) -> QueuePolicy {
        self.discipline.marking = Marking::Red(red);
        self.dropping_non_ect(true)
    }

    /// All ports of a switch share a buffer, which takes the place of the limit; nothing may be
    /// exempt.
    pub fn sharing(mut self, buffer: SharedBuffer) -> QueuePolicy {
        self.shared = Some(buffer);
        self
    }

    /// Pauses neighbours instead of dropping. All ports of a network must do so.
    pub fn pausing(mut self, pfc: Pfc) -> QueuePolicy {
        self.pfc = Some(pfc);
        self
    }

    /// Does not mark at ports that lead to hosts.
    pub fn sparing_hosts(mut self) -> QueuePolicy {
        self.marks_to_hosts = false;
        self
    }

    /// A queue for each of `classes`, which have all priorities, instead of the order.
    pub(crate) fn with_classes(mut self, classes: Vec<ClassPolicy>) -> QueuePolicy {
        self.discipline.classes = Some(classes.into());
        self
    }

    /// Marks a packet that finds at least `k` queued, or more than `k` if `above`.
    pub fn marking(mut self, k: QueueLimit, above: bool) -> QueuePolicy {
        self.thresholds = self.thresholds.marking(k, above);
        self
    }

    /// Does the packet being transmitted count towards the queue length?
    pub fn counting_in_service(mut self, counts: bool) -> QueuePolicy {
        self.thresholds.uncounted = !counts as u32;
        self
    }

    /// Are packets that are not ECN-capable dropped where others would be marked, rather than
    /// queued?
    pub fn dropping_non_ect(mut self, drop: bool) -> QueuePolicy {
        self.thresholds.drop_non_ect = drop;
        self
    }

    /// Never drops SYNs, FINs or pure ACKs, as selected. Some published simulations did so.
    pub fn exempting(mut self, syn: bool, fin: bool, ack: bool) -> QueuePolicy {
        let thresholds = &mut self.thresholds;
        (thresholds.exempt_syn, thresholds.exempt_fin, thresholds.exempt_ack) = (syn, fin, ack);
        self
    }
}

/// The policies of the output ports of a network, by the layer of the node whose port it is.
#[derive(Clone, Debug)]
pub struct Policies([QueuePolicy; Layer::ALL.len()]);

impl Policies {
    /// With `policy` at the ports of `layer`.
    pub fn with(mut self, layer: Layer, policy: QueuePolicy) -> Policies {
        self.0[layer as usize] = policy;
        self
    }

    /// The same whose switches write telemetry on packets that ask for it: records, and these digests.
    pub fn stamping(mut self, digests: Option<Digests>) -> Policies {
        let digests = digests.map(Arc::new);
        for layer in Layer::ALL.into_iter().filter(|layer| *layer != Layer::Host) {
            let policy = &mut self.0[layer as usize];
            (policy.stamps, policy.digests) = (true, digests.clone());
        }
        self
    }

    /// The same in a network in which no packet goes back to its sender, as no transport takes one back. Then ports need not
    /// be asked whether they may return one.
    pub fn returning_nothing(mut self) -> Policies {
        self.0.iter_mut().for_each(QueuePolicy::return_nothing);
        self
    }

    /// Do ports pause their neighbours?
    pub fn pause(&self) -> bool {
        self.0.iter().any(|policy| policy.pfc.is_some())
    }

    /// At the port of `link`. Hosts return nothing to the sender: it would be themselves.
    pub fn at(&self, fabric: &Fabric, link: &LinkSpec) -> QueuePolicy {
        let (from, to) = (fabric.layer(link.from), fabric.layer(link.to));
        let mut policy = self.0[from as usize].clone();
        if from == Layer::Host {
            policy.return_nothing();
        }
        if policy.marks_to_hosts || to != Layer::Host { policy } else { policy.unmarking() }
    }
}

impl From<QueuePolicy> for Policies {
    /// The same everywhere.
    fn from(policy: QueuePolicy) -> Policies {
        Policies([(); Layer::ALL.len()].map(|()| policy.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::Trimming;
    use crate::fabric::FabricBuilder;
    use crate::queue::{MarkAt, Queue};
    use crate::queue_class::QueueClass;
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::{Bytes, Rate, Time};

    /// Two hosts at a switch of this layer, with a cable to another.
    fn fabric(layer: Layer) -> Fabric {
        let mut builder = FabricBuilder::default();
        let hosts = ["a", "b"].map(|name| builder.node(name, Layer::Host));
        let [below, above] = [("s", layer), ("t", Layer::Core)].map(|(name, layer)| builder.node(name, layer));
        for (from, to) in [(hosts[0], below), (hosts[1], below), (below, above)] {
            builder.cable(from, to, Rate::gbps(10), Time::from_us(1));
        }
        builder.build()
    }

    #[test]
    fn headers_go_back_from_switches_where_a_transport_takes_them() {
        let trimming = Order::Trimming(Trimming::defaults(Preset::Linux));
        let policies = Policies::from(QueuePolicy::drop_tail(QueueLimit::Packets(8)).ordered(trimming));
        let returns = |policies: &Policies, fabric: &Fabric| {
            let returns = |link| match policies.at(fabric, link).discipline.order {
                Order::Trimming(trimming) => trimming.return_to_sender,
                _ => panic!("it trims"),
            };
            fabric
                .links()
                .iter()
                .map(|link| (fabric.layer(link.from) == Layer::Host, returns(link)))
                .collect::<Vec<_>>()
        };
        let edge = fabric(Layer::Edge);
        assert!(returns(&policies, &edge).iter().all(|(is_host, returns)| *is_host != *returns));
        let policies = policies.returning_nothing();
        assert!(
            Layer::ALL[1..].iter().all(|layer| returns(&policies, &fabric(*layer)).iter().all(|(_, returns)| !returns))
        );
    }

    /// Ports to hosts mark nothing, whatever marks elsewhere; all else is as it is elsewhere.
    #[test]
    fn ports_to_hosts_may_be_spared() {
        let marking = QueuePolicy::drop_tail(QueueLimit::Bytes(9_000)).marking(QueueLimit::Packets(7), false);
        let trimming =
            Trimming { mark_min: Some(Bytes(1)), mark_max: Some(Bytes(2)), ..Trimming::defaults(Preset::Linux) };
        let unmarked = Trimming { mark_min: None, mark_max: None, ..trimming };
        let trims = |trimming| QueuePolicy::drop_tail(QueueLimit::Packets(8)).ordered(Order::Trimming(trimming));
        let plain = QueuePolicy::drop_tail(QueueLimit::Bytes(9_000));
        let cases = [
            (marking.clone(), plain.clone()),
            (marking.marking_at_dequeue(), plain),
            (trims(trimming), trims(unmarked)),
        ];
        let fabric = fabric(Layer::Edge);
        for (policy, spared) in cases {
            let policies = Policies::from(policy.clone().sparing_hosts());
            for link in fabric.links() {
                let to_host = fabric.layer(link.to) == Layer::Host;
                let mut expected = if to_host { spared.clone() } else { policy.clone() }.sparing_hosts();
                if fabric.layer(link.from) == Layer::Host {
                    expected.return_nothing();
                }
                assert_eq!(policies.at(&fabric, link), expected);
                let unspared = Policies::from(policy.clone()).at(&fabric, link);
                assert_eq!(unspared.sparing_hosts().thresholds, policy.thresholds);
            }
        }
    }

    /// So are ports with classes, whether a class has a threshold or that of `[queue]`.
    #[test]
    fn no_class_marks_at_ports_to_hosts() {
        let class =
            |priority, mark| QueueClass { priorities: vec![priority], mark, ..QueueClass::defaults(Preset::Linux) };
        let mark = |packets| Some(QueueLimit::Packets(packets));
        let mut queue = Queue { mark: mark(7), mark_at: MarkAt::Dequeue, ..Queue::defaults(Preset::Linux) };
        queue.set_classes(vec![class(3, mark(5)), class(4, None)]);
        let fabric = fabric(Layer::Edge);
        for mark_to_hosts in [true, false] {
            let policies = Policies::from(QueuePolicy::from(&Queue { mark_to_hosts, ..queue.clone() }));
            for link in fabric.links() {
                let marks = mark_to_hosts || fabric.layer(link.to) != Layer::Host;
                let classes = policies.at(&fabric, link).discipline.classes.expect("classes");
                let of = |class: &ClassPolicy| (class.thresholds.mark_packets, class.marking);
                let expected =
                    [5, 7, 7].map(|k| if marks { (k, Marking::AtDequeue) } else { (u32::MAX, Marking::AtEnqueue) });
                assert_eq!(classes.iter().map(of).collect::<Vec<_>>(), expected);
            }
        }
    }
}
