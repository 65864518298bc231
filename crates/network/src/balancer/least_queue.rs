//! Adaptive routing: a switch sends packets over the link with the shortest queue.

use super::flowlet_table::FlowletTables;
use super::{Balancer, Choice, Queues, one_of};
use crate::fabric::Fabric;
use crate::packet::Packet;
use linkpool_engine::{Stream, stream};
use linkpool_units::Time;
use rand::RngCore;

/// The link with the shortest queue, for each packet or for each flowlet.
#[derive(Debug)]
pub(super) struct LeastQueue {
    /// The number of each flowlet's link; none: any packets may part.
    flowlets: Option<FlowletTables<u32>>,
    /// By node: what decides between queues that are equally long.
    ties: Vec<Stream>,
}

impl LeastQueue {
    pub(super) fn new(gap: Option<Time>, fabric: &Fabric, seed: u64) -> LeastQueue {
        let ties = (0..fabric.nodes()).map(|node| stream(seed, "adaptive", node as u64)).collect();
        let flowlets = gap.map(|gap| FlowletTables::new(gap, fabric));
        LeastQueue { flowlets, ties }
    }
}

impl Balancer for LeastQueue {
    /// The link with the shortest queue; of several, a random one. Where all are down, any.
    #[inline(always)]
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, queues: &mut impl Queues) -> u32 {
        let Choice { node, links, .. } = choice;
        if let Some(flowlets) = &mut self.flowlets {
            let (link, continues) = flowlets.entry(choice, packet);
            // Flows that share an entry may have other choices.
            if continues && *link < links && queues.bytes(*link).is_some() {
                return *link;
            }
        }
        let ties = &mut self.ties[node.index()];
        let chosen = queues.shortest(links, |count| one_of(count, ties.next_u32()));
        if let Some(flowlets) = &mut self.flowlets {
            flowlets.set(choice, packet, chosen);
        }
        chosen
    }

    fn sees_queues(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{LinkId, NodeId};
    use crate::topology::{Generator, ManyToOne};
    use linkpool_units::Rate;

    fn selector(gap: Option<Time>) -> (LeastQueue, NodeId) {
        let fabric = ManyToOne { senders: 2, rate: Rate::gbps(1), delay: Time::from_us(1) }.fabric();
        (LeastQueue::new(gap, &fabric, 1), NodeId::new(3))
    }

    #[test]
    fn the_shortest_queue_of_a_link_that_works() {
        let (mut selector, node) = selector(None);
        let mut choose = |queues: &[Option<u64>]| {
            let packet = Packet::default();
            let choice =
                Choice { node, ingress: LinkId::NONE, salt: 7, links: queues.len() as u32, link: &|_| LinkId::NONE };
            selector.choose(choice, &packet, &mut |link| queues[link as usize])
        };
        assert_eq!(choose(&[Some(3000), Some(1500), Some(4500)]), 1);
        assert_eq!(choose(&[None, Some(1500), Some(4500)]), 1, "a link that is down has no packet queued");
        assert_eq!(choose(&[Some(9)]), 0);
        // Ties are broken at random: of 3,000 choices 1,000 each, with a standard deviation of 26.
        let mut counts = [0; 4];
        (0..3000).for_each(|_| counts[choose(&[Some(5), Some(0), Some(0), Some(0)]) as usize] += 1);
        assert!(counts[0] == 0 && counts[1..].iter().all(|n| (870..1130).contains(n)), "{counts:?}");
        assert!((0..100).all(|_| choose(&[None, None]) < 2));
    }

    #[test]
    fn a_flowlet_stays_until_there_is_a_gap_or_its_link_fails() {
        let (mut selector, node) = selector(Some(Time::from_us(5)));
        let mut choose = |at: u64, queues: [Option<u64>; 2]| {
            let packet = Packet { arrival: Time::from_us(at), ..Packet::default() };
            let choice = Choice { node, ingress: LinkId::NONE, salt: 7, links: 2, link: &|_| LinkId::NONE };
            selector.choose(choice, &packet, &mut |link| queues[link as usize])
        };
        let (short, long) = (Some(0), Some(9000));
        assert_eq!(choose(1, [short, long]), 0);
        assert_eq!(choose(5, [long, short]), 0, "4 us later");
        assert_eq!(choose(10, [long, short]), 1, "5 us later");
        assert_eq!(choose(11, [short, long]), 1);
        assert_eq!(choose(12, [long, None]), 0, "its link is down");
        assert_eq!(choose(13, [long, short]), 0);
    }

    /// A flow whose hash falls together with another one has the other one's link, if it has as many.
    #[test]
    fn a_flowlet_does_not_stay_on_a_link_that_is_none_of_the_choice() {
        let (mut selector, node) = selector(Some(Time::from_us(5)));
        let packet = Packet { arrival: Time::from_us(1), ..Packet::default() };
        let mut choose = |queues: &[u64]| {
            let choice =
                Choice { node, ingress: LinkId::NONE, salt: 7, links: queues.len() as u32, link: &|_| LinkId::NONE };
            selector.choose(choice, &packet, &mut |link| Some(queues[link as usize]))
        };
        assert_eq!(choose(&[9000, 9000, 0]), 2);
        assert_eq!(choose(&[0, 9000]), 0, "there is no link 2");
        assert_eq!(choose(&[9000, 9000, 0]), 0, "there is a link 0");
    }
}
