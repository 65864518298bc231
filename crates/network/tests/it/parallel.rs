//! A network that is divided among threads, against the same network on one: how runs go on, are told of, end and fail.

use crate::common::topologies::pods_and_racks;
use crate::common::traffic::{ANSWER, Course, Heard, Results, Scene, Send, Terms, Told, Traffic, scenes, tapped};
use crate::common::{Rules, cases, fabrics, hashed, host, reference};
use linkpool_network::topology::fat_tree;
use linkpool_network::{
    Ended, Envelope, Fabric, Kind, LinkId, Network, NodeId, Packet, Partitions, partition, run_partitions,
};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Scenes with the numbers of partitions of pods or racks.
fn divisible() -> impl Strategy<Value = (Scene, u8)> {
    (scenes(pods_and_racks()), prop_oneof![Just(2u8), Just(4)])
}

fn running_ahead(scene: &Scene, n: u8) -> (Partitions, u8) {
    let parts = scene.running_ahead(&partition(&scene.fabric, n));
    assert!(parts.windows_apart() > 1);
    (parts, n)
}

/// All packets that hosts have sent are at hosts, lost, or on their way.
fn check_conservation(course: &Course) {
    let Results { arrivals, links, .. } = &course.results;
    let arrived: u64 = arrivals.iter().map(|arrivals| arrivals.len() as u64).sum();
    let lost: u64 =
        links.iter().map(|(stats, ..)| stats.rare.drops + stats.rare.drops_down + stats.rare.drops_loss).sum();
    let in_flight: u64 = links.iter().map(|(.., n)| u64::from(*n)).sum();
    assert_eq!(course.sent, arrived + lost + in_flight, "sent = arrived + lost + in flight");
}

/// Partitions that meet in each window tell progress in the same windows as one alone. They tell the packet-hops up to
/// their last meeting: those of the window before.
fn told_when_divided(alone: &[Told]) -> Vec<Told> {
    let before = std::iter::once(0).chain(alone.iter().map(|told| told.hops));
    alone.iter().zip(before).map(|(told, hops)| Told { hops, ..*told }).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    /// To the end, to a goal, or until progress stops it: partitions that meet in each window end as one alone does,
    /// and tell of the same windows.
    #[test]
    fn runs_are_told_of_and_end_as_one_alone(
        scene in prop_oneof![scenes(fabrics()), scenes(pods_and_racks()), tapped(scenes(fabrics()))],
        random in prop::collection::vec(0u8..3, 64),
        by_hand in any::<bool>(),
        splits in any::<bool>(),
        goal in prop_oneof![Just(u64::MAX), 1u64..300],
        stops in prop_oneof![Just(usize::MAX), 1usize..60],
        (asks, tells) in any::<(bool, bool)>(),
    ) {
        let terms = Terms { goal, every: 1, stops, asks, tells, ..Terms::default() };
        let alone = scene.course(None, &terms);
        check_conservation(&alone);
        let n = 3;
        let parts = if by_hand {
            // The first host belongs to the first partition, which is asked whether progress must be told.
            let of_node = |node: usize| if node == 0 { 0 } else { random[node % 64] };
            Partitions::of_nodes(&scene.fabric, (0..scene.fabric.nodes()).map(of_node).collect())
        } else {
            partition(&scene.fabric, n)
        };
        let parts = if splits { scene.splitting(&parts) } else { parts };
        let divided = scene.course(Some((parts.clone(), n)), &terms);
        prop_assert_eq!(&divided.told, &told_when_divided(&alone.told));
        prop_assert_eq!(&Course { told: Vec::new(), ..divided }, &Course { told: Vec::new(), ..alone });
        // Now and then only, and when the first host asks.
        for every in [3, 1000] {
            let terms = Terms { every, ..terms.clone() };
            let told = |parts| scene.course(parts, &terms).told.into_iter().map(|told| told.over).collect::<Vec<_>>();
            prop_assert_eq!(told(Some((parts.clone(), n))), told(None));
        }
    }

    /// Partitions that run ahead of each other do not when there is a goal, when handlers send messages, or when there are
    /// taps: they meet in each window.
    #[test]
    fn partitions_meet_in_each_window_where_they_must(
        (scene, n) in divisible(),
        goal in 1u64..300,
        tap in any::<prop::sample::Index>(),
    ) {
        let links = scene.fabric.links().len();
        let tapped = Scene { taps: vec![(LinkId::new(tap.index(links)), Kind::ALL)], ..scene.clone() };
        let every = 1;
        for (scene, terms) in [
            (&scene, Terms { goal, every, ..Terms::default() }),
            (&scene, Terms { tells: true, every, ..Terms::default() }),
            (&tapped, Terms { every, ..Terms::default() }),
        ] {
            let alone = scene.course(None, &terms);
            let divided = scene.course(Some(running_ahead(scene, n)), &terms);
            prop_assert_eq!(&divided.told, &told_when_divided(&alone.told));
            prop_assert_eq!(Course { told: Vec::new(), ..divided }, Course { told: Vec::new(), ..alone });
        }
    }

    /// A run that pauses, anywhere in a window, ends as one that does not, on one thread and on several.
    #[test]
    fn a_run_that_pauses_goes_on_as_if_it_had_not(
        scene in prop_oneof![scenes(fabrics()), scenes(pods_and_racks()), tapped(scenes(fabrics()))],
        random in prop::collection::vec(0u8..3, 64),
        pauses in prop::collection::vec(1u64..200_000_000, 1..12),
        looks in prop::collection::vec((0u64..120_000, any::<prop::sample::Index>()), 0..6),
        tells in any::<bool>(),
    ) {
        let (hosts, nodes) = (scene.fabric.hosts(), scene.fabric.nodes());
        let look = |(ns, node): (u64, prop::sample::Index)| (Time::from_ns(ns), NodeId::new(hosts + node.index(nodes - hosts)));
        let mut looks: Vec<(Time, NodeId)> = looks.into_iter().map(look).collect();
        looks.sort();
        looks.dedup();
        let mut pauses: Vec<Time> = pauses.into_iter().map(Time::from_ps).filter(|at| *at < scene.end).collect();
        pauses.sort();
        let scene = Scene { looks, ..scene };
        let terms = Terms { tells, ..Terms::default() };
        let paused = Terms { pauses, ..terms.clone() };
        let alone = Course { told: Vec::new(), ..scene.course(None, &terms) };
        let of_node = |node: usize| random[node % 64];
        let by_hand = Partitions::of_nodes(&scene.fabric, (0..scene.fabric.nodes()).map(of_node).collect());
        for parts in [None, Some((by_hand, 3)), Some((scene.splitting(&partition(&scene.fabric, 3)), 3))] {
            let course = scene.course(parts, &paused);
            prop_assert_eq!(&Course { told: Vec::new(), ..course }, &alone);
        }
        check_conservation(&alone);
    }

    /// At timers of switches, of those too that partitions share, all is as far as one alone has come: the same queues.
    #[test]
    fn timers_of_switches_find_the_same_queues(
        (scene, n) in divisible(),
        looks in prop::collection::vec((0u64..120_000, any::<prop::sample::Index>()), 1..12),
    ) {
        let (hosts, nodes) = (scene.fabric.hosts(), scene.fabric.nodes());
        let look = |(ns, node): (u64, prop::sample::Index)| (Time::from_ns(ns), NodeId::new(hosts + node.index(nodes - hosts)));
        let mut looks: Vec<(Time, NodeId)> = looks.into_iter().map(look).collect();
        looks.sort();
        looks.dedup();
        let scene = Scene { looks, ..scene };
        let terms = Terms { every: 1, ..Terms::default() };
        let alone = scene.course(None, &terms);
        for parts in [running_ahead(&scene, n), (scene.splitting(&partition(&scene.fabric, n)), n)] {
            let divided = scene.course(Some(parts), &terms);
            prop_assert_eq!(&divided.looked, &alone.looked);
            prop_assert_eq!(&divided.results, &alone.results);
        }
    }

    /// Where partitions run ahead of each other, they tell of fewer windows, and stop with nothing lost.
    #[test]
    fn partitions_that_run_ahead_are_told_of_and_stop((scene, n) in divisible(), stops in 1usize..12) {
        let (parts, n) = running_ahead(&scene, n);
        let run = |every, stops| scene.course(Some((parts.clone(), n)), &Terms { every, stops, ..Terms::default() });
        let (alone, ahead) = (scene.course(None, &Terms { every: 1, ..Terms::default() }), run(1, usize::MAX));
        prop_assert_eq!(&ahead.results, &alone.results);
        prop_assert!(ahead.told.is_sorted_by(|a, b| a.over <= b.over && a.hops <= b.hops), "{:?}", ahead.told);
        check_conservation(&ahead);
        // A phase of windows apart counts as so many.
        let apart = parts.windows_apart();
        let seldom = run(2 * apart, usize::MAX).told;
        let expected: Vec<Told> = ahead.told.iter().step_by(2).copied().collect();
        let in_phase = seldom.len().min(expected.len()).saturating_sub(1);
        prop_assert_eq!(&seldom[..in_phase], &expected[..in_phase]);
        let stopped = run(1, stops);
        if ahead.told.len() > stops {
            prop_assert_eq!(stopped.ended.clone(), Ended::Stopped);
            prop_assert_eq!(&stopped.told[..], &ahead.told[..stops]);
        }
        check_conservation(&stopped);
        // What is over by the last call has come in full.
        let last = stopped.told.last().map_or(Time::ZERO, |told| told.over);
        for (then, all) in stopped.results.arrivals.iter().zip(&alone.results.arrivals) {
            let before = all.iter().filter(|arrival| arrival.at < last).count();
            prop_assert_eq!(&then[..before], &all[..before]);
        }
    }
}

/// A fat-tree of k = 4 whose pods are divided among two partitions, 10 Gbit/s and 1 us a link: a packet of 64 B takes 1,051.2 ns, which
/// is a window. Packets of 64 B go from the first host to the last; they are answered in no more time.
fn tree(sends: &[(u64, u16)]) -> Scene {
    let fabric: Fabric = fat_tree(4, 2, Rate::gbps(10), Time::from_us(1));
    let send = |(seq, (ns, size)): (u32, &(u64, u16))| {
        let packet = Packet { envelope: Envelope::new(host(15), *size, 0), kind: Kind::DATA, ..hashed(host(15), 7) };
        Send { at: Time::from_ns(*ns), from: host(0), packet: Packet { seq, endpoint: 0, ..packet } }
    };
    let sends = (0..).zip(sends).map(send).collect();
    Scene::new(fabric, Rules::default(), sends, Time::from_ms(1))
}

const WINDOW: Time = Time::from_ps(1_051_200);

/// Six links there and six back, each packet at the next node a window later, just as a window begins: the packet that is sent in
/// window 0 is at its last host in window 12, the last in which anything happens. It ends with window 13.
#[test]
fn a_silent_run_ends_when_its_last_window_does() {
    let scene = tree(&[(0, 64)]);
    let all = Terms { every: 1, ..Terms::default() };
    let (alone, (parts, n)) = (scene.course(None, &all), running_ahead(&scene, 2));
    assert_eq!((alone.ended.clone(), alone.results.hops), (Ended::Silent(WINDOW * 13), 12));
    let each = scene.course(Some((scene.splitting(&partition(&scene.fabric, 2)), n)), &all);
    assert_eq!(each.ended, alone.ended);
    // Five epochs at a time, from 0 on: hosts are a window behind, so they run window 12 at epoch 13.
    let ahead = scene.course(Some((parts, n)), &all);
    assert_eq!((ahead.ended, ahead.results), (Ended::Silent(WINDOW * 15), alone.results));
    // The stages that are last are four windows behind. At the first of these epochs, others may be at the epoch before it.
    let over: Vec<Time> = ahead.told.iter().map(|told| told.over).collect();
    assert_eq!(over, [Time::ZERO, Time::ZERO, Time::ZERO, WINDOW * 5]);
}

/// A packet comes to its first switch just as window 1 begins, and from then on routes avoid the link that it would have taken.
#[test]
fn routes_change_as_a_window_begins() {
    let scene = tree(&[(0, 64)]);
    let edge = scene.fabric.node("e0.0").expect("an edge switch");
    let used = |scene: &Scene| {
        let results = scene.run(1000);
        assert_eq!(results, reference::simulate(scene));
        let of_edge = scene.fabric.links_from(edge).filter(|link| results.links[link.index()].0.packets > 0);
        of_edge.filter(|link| scene.fabric.links()[link.index()].to.index() >= 16).collect::<Vec<LinkId>>()
    };
    let before = used(&scene);
    let avoiding = |at| Scene { reroutes: vec![(at, before.iter().copied().collect())], ..scene.clone() };
    assert_eq!((before.len(), used(&avoiding(WINDOW + Time::from_ps(1)))), (1, before.clone()));
    assert_ne!(used(&avoiding(WINDOW)), before);
}

/// No packet, and an end within the first window: the run is silent, not later than its end.
#[test]
fn a_silent_run_does_not_end_after_its_end() {
    let scene = Scene { end: Time::from_ns(1), ..tree(&[]) };
    let (parts, n) = running_ahead(&scene, 2);
    for parts in [None, Some((partition(&scene.fabric, 2), n)), Some((parts, n))] {
        let course = scene.course(parts, &Terms { every: 1, ..Terms::default() });
        assert_eq!(course.ended, Ended::Silent(Time::from_ns(1)));
        assert_eq!(course.told, [Told { over: Time::ZERO, hops: 0, arrived: 0 }]);
    }
}

/// The same where the goal is reached before the first window.
#[test]
fn a_goal_of_nothing_is_reached_at_once() {
    let scene = Scene { end: Time::from_ns(1), ..tree(&[(0, 64)]) };
    for parts in [None, Some((partition(&scene.fabric, 2), 2)), Some(running_ahead(&scene, 2))] {
        let course = scene.course(parts, &Terms { goal: 0, ..Terms::default() });
        assert_eq!((course.ended, course.sent), (Ended::Done(Time::from_ns(1)), 0));
    }
}

/// A network of no partitions has nothing to run.
#[test]
fn no_partition_is_silent_at_once() {
    let none: Vec<(&mut Network, &mut Traffic)> = Vec::new();
    let ended = run_partitions(none, Time::from_us(1), u64::MAX, 1, &mut |_, _| unreachable!("nobody is told"));
    assert_eq!(ended, Ended::Silent(Time::ZERO));
}

/// Packets come to the last host in windows 6, 26 and 46, their answers to the first host in windows 12, 32 and 52. With the goal
/// of four packets at hosts the run ends with window 32: one partition alone has two then.
#[test]
fn a_goal_is_reached_by_all_partitions_together() {
    let at = [0, 20, 40].map(|window| ((WINDOW * window).0.div_ceil(1000), 64));
    let scene = tree(&at);
    for parts in [None, Some((partition(&scene.fabric, 2), 2)), Some(running_ahead(&scene, 2))] {
        let course = scene.course(parts, &Terms { goal: 4, ..Terms::default() });
        let arrivals: Vec<usize> = course.results.arrivals.iter().map(Vec::len).filter(|n| *n > 0).collect();
        assert_eq!((course.ended, arrivals), (Ended::Done(WINDOW * 33), vec![2, 2]));
    }
}

/// Of each packet that comes, the host tells the next one: 1,051.2 ns later the last host's message is at the first host, and the
/// first host's answer at none.
#[test]
fn messages_reach_hosts_of_other_partitions_that_could_run_ahead() {
    let scene = tree(&[(0, 64), (9_000, 64)]);
    let heard: Vec<Heard> =
        [(0, 0), (9_000, 1)].map(|(ns, number)| (NodeId::new(0), Time::from_ns(ns) + WINDOW * 7, number)).into();
    for parts in [None, Some((partition(&scene.fabric, 2), 2)), Some(running_ahead(&scene, 2))] {
        assert_eq!(scene.course(parts, &Terms { tells: true, ..Terms::default() }).heard, heard);
    }
}

/// A handler that panics ends the run with a panic, whichever thread it is on: no thread waits for ever.
#[test]
fn a_thread_that_fails_takes_the_run_with_it() {
    // The first packet is at the last host, of the last partition; its answer at the first one.
    for fails in [0, ANSWER] {
        for runs_ahead in [false, true] {
            let (done, ended) = channel::<()>();
            std::thread::spawn(move || {
                let scene = tree(&[(0, 64)]);
                let parts = if runs_ahead { running_ahead(&scene, 2).0 } else { partition(&scene.fabric, 2) };
                let _done = done; // It is dropped when this thread ends.
                scene.course(Some((parts, 2)), &Terms { fails: Some(fails), ..Terms::default() });
                unreachable!("the run has ended as if nothing had failed");
            });
            let ended = ended.recv_timeout(Duration::from_secs(60));
            assert_eq!(ended, Err(RecvTimeoutError::Disconnected), "{fails} {runs_ahead}: a thread waits");
        }
    }
}
