//! DRILL: each packet takes the least loaded of a few links (Ghorbani et al., "DRILL: micro load
//! balancing for low-latency data center networks", SIGCOMM 2017).

use super::{Balancer, Choice, Queues, one_of};
use crate::fabric::{Fabric, NodeId};
use crate::packet::Packet;
use linkpool_engine::{Stream, stream};
use linkpool_settings::{Bounds, settings};
use rand::RngCore;

settings! {
    /// DRILL (Ghorbani et al., SIGCOMM 2017, section 3.2): DRILL(d, m).
    #[derive(Copy, Eq)]
    pub struct Drill {
        /// The number d of links that are drawn at random for each packet.
        samples: u32 = 2, within Bounds::from(1.0, "{} is no number of links, 1 to 64").to(64.0);
        /// The number m of least loaded links that are remembered from the packet before.
        memory: u32 = 1, within Bounds::from(0.0, "{} is no number of links, 0 to 64").to(64.0);
        /// The number of forwarding engines of a switch, of which each has a memory of its own. The
        /// packets of input port i are for engine i modulo this number.
        engines: u32 = 1, within Bounds::from(1.0, "{} is no number of engines, 1 to 1024").to(1024.0);
    }
}

/// The state of the engines of all switches.
#[derive(Debug)]
pub(super) struct DrillBalancer {
    settings: Drill,
    /// By node: what draws.
    random: Vec<Stream>,
    /// By link that leads to a switch: the number of the input port.
    inputs: Vec<u32>,
    /// By node and engine: the least loaded links that it remembers, by their number among the links of a choice.
    memories: Vec<Vec<u32>>,
    /// The links of a choice that are compared, with their loads.
    compared: Vec<(u64, u32)>,
}

impl DrillBalancer {
    pub(super) fn new(settings: Drill, fabric: &Fabric, seed: u64) -> DrillBalancer {
        let mut numbers = vec![0; fabric.nodes()];
        let input = |to: NodeId| {
            let next = &mut numbers[to.index()];
            *next += 1;
            *next - 1
        };
        let inputs = fabric.links().iter().map(|link| link.to).map(input).collect();
        DrillBalancer {
            settings,
            random: (0..fabric.nodes()).map(|node| stream(seed, "drill", node as u64)).collect(),
            inputs,
            memories: vec![Vec::new(); fabric.nodes() * settings.engines as usize],
            compared: Vec::new(),
        }
    }
}

impl Balancer for DrillBalancer {
    /// Compares the d samples and the m links that are remembered, and remembers the m least loaded of them (section 3.2). A
    /// link that is down is taken only if all that are compared are down. Of equal loads, the sample that was drawn first.
    fn choose(&mut self, choice: Choice<'_>, _: &Packet, queues: &mut impl Queues) -> u32 {
        let DrillBalancer { settings, random, inputs, memories, compared } = self;
        let engine = inputs[choice.ingress.index()] % settings.engines;
        let memory = &mut memories[choice.node.index() * settings.engines as usize + engine as usize];
        let random = &mut random[choice.node.index()];
        compared.clear();
        let samples = (0..settings.samples).map(|_| one_of(choice.links, random.next_u32()));
        // What is remembered of another choice may be no link of this one.
        for link in samples.chain(memory.iter().copied().filter(|link| *link < choice.links)) {
            if compared.iter().all(|(_, known)| *known != link) {
                compared.push((queues.bytes(link).unwrap_or(u64::MAX), link));
            }
        }
        compared.sort_by_key(|(load, _)| *load);
        memory.clear();
        memory.extend(compared.iter().take(settings.memory as usize).map(|(_, link)| link));
        compared[0].1
    }

    fn sees_queues(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::LinkId;
    use crate::topology::{Generator, ManyToOne};
    use linkpool_units::{Rate, Time};
    use proptest::prelude::*;

    /// A switch with eight ports to hosts, and a DRILL there.
    fn drill(samples: u32, memory: u32, engines: u32) -> (DrillBalancer, Fabric) {
        let fabric = ManyToOne { senders: 8, rate: Rate::gbps(1), delay: Time::from_us(1) }.fabric();
        (DrillBalancer::new(Drill { samples, memory, engines }, &fabric, 1), fabric)
    }

    /// Of a packet that has come by input port `input`, among links with these loads.
    fn choose(drill: &mut DrillBalancer, fabric: &Fabric, input: usize, loads: &[Option<u64>]) -> u32 {
        let node = NodeId::new(fabric.hosts());
        let mut inputs = (0..).zip(fabric.links()).filter(|(_, link)| link.to == node);
        let ingress = LinkId::new(inputs.nth(input).expect("a port").0);
        let choice = Choice { node, ingress, salt: 0, links: loads.len() as u32, link: &|_| LinkId::NONE };
        drill.choose(choice, &Packet::default(), &mut |link| loads[link as usize])
    }

    /// With all links as samples many times over, it is the least loaded one.
    #[test]
    fn of_many_samples_the_least_loaded_link_is_taken() {
        let (mut drill, fabric) = drill(64, 0, 1);
        for least in 0..4 {
            let loads: Vec<_> =
                (0..4).map(|link| Some(if link == least { 10 } else { 20 + u64::from(link) })).collect();
            assert_eq!(choose(&mut drill, &fabric, 0, &loads), least);
        }
        assert_eq!(choose(&mut drill, &fabric, 0, &[None, Some(9000), None, None]), 1, "others are down");
    }

    /// DRILL(1, 0) is random: of 8,000 packets 2,000 take each of four links, with a standard deviation of 39.
    #[test]
    fn one_sample_without_memory_is_random() {
        let (mut drill, fabric) = drill(1, 0, 1);
        let mut counts = [0; 4];
        (0..8000)
            .for_each(|_| counts[choose(&mut drill, &fabric, 0, &[Some(0), Some(1), Some(2), Some(3)]) as usize] += 1);
        assert!(counts.iter().all(|n| (1800..2200).contains(n)), "{counts:?}");
    }

    /// DRILL(2, 0) among four: the least loaded link is among two samples with 1 - (3/4)^2 = 7/16, the next with
    /// (3/4)^2 - (2/4)^2 = 5/16, then 3/16 and 1/16.
    #[test]
    fn two_samples_take_links_in_these_shares() {
        let (mut drill, fabric) = drill(2, 0, 1);
        let mut counts = [0; 4];
        let loads = [Some(0), Some(1), Some(2), Some(3)];
        (0..16_000).for_each(|_| counts[choose(&mut drill, &fabric, 0, &loads) as usize] += 1);
        // Standard deviations of at most 63.
        for (count, expected) in counts.into_iter().zip([7000, 5000, 3000, 1000]) {
            assert!(i32::abs(count - expected) < 250, "{counts:?}");
        }
    }

    /// DRILL(1, 1) keeps to the best link that it has ever drawn, until that is more loaded.
    #[test]
    fn the_least_loaded_link_is_remembered() {
        let (mut drill, fabric) = drill(1, 1, 1);
        let loads = [Some(30), Some(10), Some(20)];
        let taken: Vec<u32> = (0..60).map(|_| choose(&mut drill, &fabric, 0, &loads)).collect();
        let first = taken.iter().position(|link| *link == 1).expect("it is drawn");
        assert!(taken[first..].iter().all(|link| *link == 1), "{taken:?}");
        let taken: Vec<u32> =
            (0..60).map(|_| choose(&mut drill, &fabric, 0, &[Some(30), Some(40), Some(20)])).collect();
        assert_eq!(taken.last(), Some(&2));
        // There is no link 2 among two.
        assert!(choose(&mut drill, &fabric, 0, &[Some(1), Some(1)]) < 2);
    }

    /// The packets of input ports 0 and 2 are for one engine, those of port 1 for another.
    #[test]
    fn each_engine_has_a_memory_of_its_own() {
        let (mut drill, fabric) = drill(1, 1, 2);
        let base = fabric.hosts() * 2;
        let mut remembered = |input, least: usize| {
            let loads: Vec<_> = (0..4).map(|link| Some(if link == least { 0 } else { 9 })).collect();
            (0..60).for_each(|_| _ = choose(&mut drill, &fabric, input, &loads));
            [drill.memories[base].clone(), drill.memories[base + 1].clone()]
        };
        assert_eq!(remembered(0, 3), [vec![3], vec![]]);
        assert_eq!(remembered(1, 2), [vec![3], vec![2]]);
        assert_eq!(remembered(2, 1), [vec![1], vec![2]]);
    }

    proptest! {
        /// A packet takes no link that is more loaded than one that is remembered, as loads are now. What is remembered are
        /// links of the choice, the least loaded first, of which the first is that of the packet.
        #[test]
        fn a_packet_takes_the_least_loaded_of_what_is_known(
            (samples, memory) in (1u32..4, 0u32..4),
            steps in prop::collection::vec(prop::collection::vec(prop::option::of(0u64..5), 2..8), 1..60),
        ) {
            let (mut drill, fabric) = drill(samples, memory, 1);
            let node = fabric.hosts();
            for loads in steps {
                let load = |link: &u32| loads[*link as usize].unwrap_or(u64::MAX);
                let known: Vec<u32> = drill.memories[node].iter().copied().filter(|link| *link < loads.len() as u32).collect();
                let chosen = choose(&mut drill, &fabric, 0, &loads);
                prop_assert!(known.iter().all(|link| load(&chosen) <= load(link)));
                let remembered = &drill.memories[node];
                prop_assert!(remembered.is_sorted_by_key(load));
                prop_assert!(remembered.len() <= memory as usize && remembered.len() <= known.len() + samples as usize);
                prop_assert_eq!(remembered.first().copied(), (memory > 0).then_some(chosen));
                let distinct: std::collections::BTreeSet<_> = remembered.iter().collect();
                prop_assert_eq!(distinct.len(), remembered.len());
            }
        }
    }
}
