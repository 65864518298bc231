//! Round-trip times of a fabric without load.

use crate::fabric::{Fabric, NodeId};
use crate::link::LinkKind;
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_units::{HostId, Time};
use std::collections::VecDeque;

impl Fabric {
    /// The round-trip time without load between the two hosts that are farthest apart: a packet of
    /// `data` bytes one way, and one of `answer` bytes back over the same cables, on the slowest of the
    /// shortest paths.
    ///
    /// It is that of a host farthest from the first one, and of a host farthest from that: in trees, and
    /// in fabrics that look the same from each host, none are farther apart.
    pub fn longest_round_trip(&self, data: u16, answer: u16) -> Time {
        let (far, _) = self.farthest(HostId::new(0), data, answer);
        self.farthest(far, data, answer).1
    }

    /// The host whose round-trip time from `host` is longest, and that time.
    fn farthest(&self, host: HostId, data: u16, answer: u16) -> (HostId, Time) {
        let time = |node: NodeId, size: u16, link: usize| {
            let spec = &self.links()[link];
            debug_assert!(spec.from == node);
            LinkKind::new(spec.rate, spec.delay, Thresholds::drop_tail(QueueLimit::Packets(1))).serialisation(size)
                + spec.delay
        };
        let mut reached: Vec<Option<(u32, Time)>> = vec![None; self.nodes()];
        reached[NodeId::from(host).index()] = Some((0, Time::ZERO));
        let mut next = VecDeque::from([NodeId::from(host)]);
        while let Some(node) = next.pop_front() {
            let Some((hops, so_far)) = reached[node.index()] else { continue };
            if node.index() < self.hosts() && node != host.into() && !self.hosts_forward() {
                continue;
            }
            for link in self.links_from(node) {
                let to = self.links()[link.index()].to;
                let there = so_far + time(node, data, link.index()) + time(to, answer, self.reverse(link).index());
                match &mut reached[to.index()] {
                    unknown @ None => {
                        *unknown = Some((hops + 1, there));
                        next.push_back(to);
                    }
                    // All nodes of a distance are known before their neighbours are looked at.
                    Some((known, longest)) if *known == hops + 1 => *longest = there.max(*longest),
                    Some(_) => {}
                }
            }
        }
        let hosts = HostId::first(self.hosts()).zip(&reached);
        let times = hosts.filter_map(|(host, reached)| reached.map(|(_, time)| (host, time)));
        // Of those that are as far, the first.
        times.fold((host, Time::ZERO), |far, new| if new.1 > far.1 { new } else { far })
    }
}

#[cfg(test)]
mod tests {
    use crate::fabric::Layer;
    use crate::{Cable, FabricBuilder};
    use linkpool_units::{Rate, Time};

    /// Hosts a and b at switch w, c at switch v behind it, on a cable of 10 Gb/s among ones of 100: from a
    /// or b to c a packet of 1,000 B takes 80 + 800 + 80 ns, an ACK of 100 B a tenth, and 2 (1 + 5 + 1) us
    /// of delay. The second cable from w to v has 1 us more.
    #[test]
    fn the_farthest_hosts_are_found_from_any_host() {
        let mut builder = FabricBuilder::default();
        let hosts = ["a", "b", "c"].map(|name| builder.node(name, Layer::Host));
        let [w, v] = ["w", "v"].map(|name| builder.node(name, Layer::Switch));
        for (host, switch) in hosts.into_iter().zip([w, w, v]) {
            builder.cable(host, switch, Rate::gbps(100), Time::from_us(1));
        }
        builder.cable(w, v, Rate::gbps(10), Time::from_us(4));
        builder.lay(w, v, Cable { rate: Rate::gbps(10), delay: Time::from_us(5) });
        let fabric = builder.build();
        assert_eq!(fabric.longest_round_trip(1_000, 100), Time::from_ns(14_000 + 960 + 96));
    }
}
