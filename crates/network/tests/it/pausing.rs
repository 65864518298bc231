//! Ports that pause their neighbours: what leaves them is looked at when it matters to others, and that changes nothing.

use crate::common::traffic::{Course, Scene, Terms, pausing_scenes};
use crate::common::{cases, fabrics};
use linkpool_network::{NodeId, Partitions, partition};
use linkpool_units::Time;
use proptest::prelude::*;
use proptest::sample::Index;

fn course(scene: &Scene, parts: Option<(Partitions, u8)>) -> Course {
    Course { told: Vec::new(), ..scene.course(parts, &Terms::default()) }
}

proptest! {
    #![proptest_config(cases(40))]

    /// A network that keeps why ports are paused looks at all ports of a switch together, in order of time, and lets each packet
    /// pass the queues. One that does not has the same packets, pauses and losses at the same times; also divided among threads, and
    /// if somebody looks at queues in between.
    #[test]
    fn ports_that_are_looked_at_seldom_do_the_same(
        scene in pausing_scenes(fabrics()),
        random in prop::collection::vec(0u8..3, 64),
        looks in prop::collection::vec((0u64..120_000, any::<Index>()), 0..12),
    ) {
        let (hosts, nodes) = (scene.fabric.hosts(), scene.fabric.nodes());
        let look = |(ns, node): (u64, Index)| (Time::from_ns(ns), NodeId::new(hosts + node.index(nodes - hosts)));
        let mut looks: Vec<(Time, NodeId)> = looks.into_iter().map(look).filter(|(at, _)| *at < scene.end).collect();
        looks.sort();
        looks.dedup();
        let all = course(&Scene { keeps_pauses: true, ..scene.clone() }, None);
        prop_assert_eq!(&course(&scene, None), &all);
        let of_node = |node: usize| random[node % 64];
        let by_hand = Partitions::of_nodes(&scene.fabric, (0..nodes).map(of_node).collect());
        for parts in [by_hand, partition(&scene.fabric, 3)] {
            prop_assert_eq!(&course(&scene, Some((parts, 3))), &all);
        }
        let looking = Scene { looks, ..scene };
        let seen = course(&Scene { keeps_pauses: true, ..looking.clone() }, None);
        prop_assert_eq!(&course(&looking, None), &seen);
        prop_assert_eq!(seen.results, all.results);
    }
}
