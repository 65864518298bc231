//! Round-trip times of a fabric without load.

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::link::LinkKind;
use crate::nearer::Nearer;
use crate::queue_limit::QueueLimit;
use crate::thresholds::Thresholds;
use linkpool_units::{HostId, Time};
use std::collections::HashSet;

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

    /// The host whose round-trip time to `host` is longest, and that time.
    fn farthest(&self, host: HostId, data: u16, answer: u16) -> (HostId, Time) {
        let time = |size: u16, link: LinkId| {
            let spec = &self.links()[link.index()];
            LinkKind::new(spec.rate, spec.delay, Thresholds::drop_tail(QueueLimit::Packets(1))).serialisation(size)
                + spec.delay
        };
        let mut nearer = Nearer::new(self, &HashSet::new(), |_| true);
        nearer.search(host.into());
        let mut longest = vec![Time::ZERO; self.nodes()];
        let nodes: Vec<NodeId> = nearer.farthest_first().filter(|node| *node != host.into()).collect();
        for node in nodes.into_iter().rev() {
            let over = |link: LinkId| {
                let beyond = longest[self.links()[link.index()].to.index()];
                beyond + time(data, link) + time(answer, self.reverse(link))
            };
            longest[node.index()] = nearer.links(self, node).into_iter().map(over).max().unwrap_or(Time::ZERO);
        }
        // Of those that are as far, the first.
        let times = HostId::first(self.hosts()).zip(longest);
        times.fold((host, Time::ZERO), |far, new| if new.1 > far.1 { new } else { far })
    }

    /// The switches on the shortest paths between the two hosts that are farthest apart, found as in
    /// [`Fabric::longest_round_trip`].
    pub fn most_switches(&self) -> u32 {
        let mut nearer = Nearer::new(self, &HashSet::new(), |_| true);
        let mut farthest = |to: HostId| {
            nearer.search(to.into());
            let links = HostId::first(self.hosts()).zip(nearer.distance()).map(|(host, links)| (*links, host));
            links.filter(|(links, _)| *links != u32::MAX).max_by_key(|(links, _)| *links).unwrap_or((0, to))
        };
        let (_, far) = farthest(HostId::new(0));
        farthest(far).0.saturating_sub(1)
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
