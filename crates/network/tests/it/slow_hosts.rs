//! Hosts that take slowly what comes to them, and pause the switch before them.

use crate::common::host;
use crate::held_ports::{Host, link, packet, pfc, run_tapped, to};
use linkpool_network::{Envelope, Intake, Kind, Packet, Pfc, QueueLimit, QueuePolicy};
use linkpool_units::{Bytes, Rate, Time};
use std::ops::Range;

/// The link to host b carries a packet in 10 us, and b needs 20 us for each. The first of eight comes to the switch at 2 us and to b at
/// 13 us; b has taken it at 33 us. With the fourth, at 43 us, 3,750 B wait at b, which pauses the switch above 3,000 B: a frame of 84 B is
/// there at 44.672 us, when the fifth is on its way. At 93 us 1,250 B are left, the frame that resumes is there at 94.672 us, and three
/// more come, at 105.672 us and 10 and 20 us later. The last pauses once more, until 153 us.
#[test]
fn a_slow_host_pauses_its_switch() {
    let (from_b, to_b) = (link(1, "b0", "w"), link(1, "w", "b0"));
    let buffer = 2 * 30_000 + 3_000; // headroom of both priorities
    let [from, until] = [Time::ZERO, Time::MAX];
    let intake = Intake { buffer, rate: Some(Rate::gbps(10)), packet_time: Time::from_us(20), from, until };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(Pfc { xoff: Some(Bytes(90_000)), ..pfc() });
    let taps = [(from_b, Kind::ALL), (to_b, Kind::DATA)];
    let host = Host { first: (0..8).map(|seq| to(seq, 1)).collect(), ..Host::default() };
    let host = run_tapped((1, &[(to_b, intake)]), &taps, policy, host);
    let came: Vec<(Time, u32)> = host.came.iter().map(|(at, seq, _)| (*at, *seq)).collect();
    assert_eq!(came, [0, 1, 2, 3, 4, 5, 6, 7].map(|seq| (Time::from_us(33 + 20 * u64::from(seq)), seq)));
    let passed = |link| host.passed.iter().filter(move |passed| passed.0 == link).map(|(_, at, _)| at.0);
    let expected = [13_000, 23_000, 33_000, 43_000, 53_000, 105_672, 115_672, 125_672].map(|ns| 1000 * ns);
    assert_eq!(passed(to_b).collect::<Vec<_>>(), expected);
    let frames = [44_672, 94_672, 127_344, 154_672].map(|ns| 1000 * ns);
    assert_eq!(passed(from_b).collect::<Vec<_>>(), frames);
    let of_switch = host.pauses[to_b.index()].expect("a port that is paused");
    assert_eq!((of_switch.pauses, of_switch.lapsed, of_switch.paused), (2, 0, Time::from_ns(50_000 + 27_328)));
    assert_eq!(host.pauses[from_b.index()].map(|stats| (stats.frames, stats.pauses)), Some((4, 0)));
}

/// Hosts b and c take nothing until 100 us. Of eight packets for each, three fill a buffer, the third pauses the switch, and the fourth,
/// which is on its way then, finds no room. c has twice the buffer: three more are there, and one more is lost.
#[test]
fn what_finds_a_slow_host_full_is_lost() {
    let [to_b, to_c] = ["b0", "b1"].map(|name| link(2, "w", name));
    let intake = |packets: u64| Intake {
        buffer: packets * 1_250,
        rate: None,
        packet_time: Time::ZERO,
        from: Time::ZERO,
        until: Time::from_us(100),
    };
    let pfc = Pfc { xoff: Some(Bytes(90_000)), headroom: Some(Bytes(0)), resume: 1_250, ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let host = Host { first: (0..16).map(|seq| to(seq, 1 + seq as usize % 2)).collect(), ..Host::default() };
    let host = run_tapped((2, &[(to_c, intake(6)), (to_b, intake(3))]), &[], policy, host);
    let came = |at: Range<u64>| -> Vec<u32> {
        let mut came: Vec<u32> =
            host.came.iter().filter(|(came, ..)| at.contains(&(came.0 / 1_000_000))).map(|(_, seq, _)| *seq).collect();
        came.sort_unstable();
        came
    };
    assert!(came(0..100).is_empty());
    assert_eq!(came(100..101), [0, 1, 2, 3, 4, 5, 7, 9, 11]);
    // Lost are 6 of b and 13 of c. The others leave when the switch has heard that both go on, at 101.672 us.
    assert_eq!(came(101..400), [8, 10, 12, 14, 15]);
    assert_eq!((host.drops[to_b.index()], host.drops[to_c.index()], host.drops.iter().sum::<u64>()), (1, 1, 2));
    let first = host.came.iter().find(|(at, ..)| *at > Time::from_us(101)).map(|(at, ..)| at.0);
    assert_eq!(first, Some(112_672_000));
}

/// A host that takes nothing until 100 us, with room for two packets in 2,500 B and headroom for more. With the second packet, at 23 us, it
/// pauses its switch; the third is on its way then, and the fourth waits. Frames of 40 quanta, 20.48 us at 1 Gbit/s, are told again after
/// half of that, those of 33 ms are not. At 100 us the host takes all, and the switch goes on when it hears of that at 101.672 us. Nothing
/// else happens meanwhile.
#[test]
fn a_host_that_takes_nothing_tells_its_switch_again_until_it_goes_on() {
    let (from_b, to_b) = (link(1, "b0", "w"), link(1, "w", "b0"));
    let intake =
        Intake { buffer: 5_500, rate: None, packet_time: Time::ZERO, from: Time::ZERO, until: Time::from_us(100) };
    for (quanta, frames) in [(40, 8), (65_535, 1)] {
        let of_host = Some(Bytes(1_500)); // of both priorities
        let pfc = Pfc { xoff: Some(Bytes(90_000)), headroom: of_host, resume: 1_250, quanta, refresh: 0.5, ..pfc() };
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
        let host = Host { first: (0..4).map(|seq| to(seq, 1)).collect(), is_blind: true, ..Host::default() };
        let host = run_tapped((1, &[(to_b, intake)]), &[(from_b, Kind::ALL)], policy, host);
        let told = (0..frames).map(|number| 24_672 + 10_240 * number).chain([101_672]);
        assert_eq!(host.passed, told.map(|ns| (from_b, Time::from_ns(ns), true)).collect::<Vec<_>>(), "{quanta}");
        let came: Vec<(u64, u32)> = host.came.iter().map(|(at, seq, _)| (at.0 / 1_000, *seq)).collect();
        assert_eq!(came, [(100_000, 0), (100_000, 1), (100_000, 2), (112_672, 3)], "{quanta}");
        let stats = host.pauses[to_b.index()].expect("a port that is paused");
        assert_eq!((stats.pauses, stats.lapsed, stats.paused), (1, 0, Time::from_us(77)), "{quanta}");
    }
}

/// Of the same host: the fourth packet is held at the switch for 77 us, since 2,500 B, as many as it takes, waited at the host at 23 us.
#[test]
fn an_observer_sees_that_a_slow_host_holds_a_packet() {
    let to_b = link(1, "w", "b0");
    let intake =
        Intake { buffer: 5_500, rate: None, packet_time: Time::ZERO, from: Time::ZERO, until: Time::from_us(100) };
    let pfc = Pfc { xoff: Some(Bytes(90_000)), headroom: Some(Bytes(1_500)), resume: 1_250, ..pfc() };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(9)).pausing(pfc);
    let host = Host { first: (0..4).map(|seq| to(seq, 1)).collect(), is_watched: true, ..Host::default() };
    let host = run_tapped((1, &[(to_b, intake)]), &[], policy, host);
    let held: Vec<_> = host.seen.held.iter().map(|held| (held.at.0 / 1000, held.link, held.paused.0 / 1000)).collect();
    assert_eq!(held, [(101_672, to_b, 77_000)]);
    let reason = host.seen.held[0].pause.reason;
    assert_eq!((reason.told, reason.shared, reason.threshold, reason.behind), (Time::from_us(23), 2_500, 2_500, None));
}

/// Packets of 125 B, by turns for hosts b and c, whichever was told first to be slow. Two come to them in a window; b takes all of its own at
/// 100 us, also one that comes alone, and c at 110 us.
#[test]
fn slow_hosts_take_what_comes_to_each() {
    let until = |us: u64| {
        let until = Time::from_us(us);
        Intake { buffer: 90_000, rate: None, packet_time: Time::ZERO, from: Time::ZERO, until }
    };
    let [b, c] = [("b0", 100), ("b1", 110)].map(|(name, us)| (link(2, "w", name), until(us)));
    let small = |seq: u32| Packet { envelope: Envelope::new(host(1 + seq as usize % 2), 125, 61), ..packet(seq, 0) };
    let policy = QueuePolicy::drop_tail(QueueLimit::Packets(99)).pausing(Pfc { xoff: Some(Bytes(90_000)), ..pfc() });
    for (slow, packets) in [([b, c], 16), ([c, b], 16), ([b, c], 1)] {
        let host = Host { first: (0..packets).map(small).collect(), is_blind: true, ..Host::default() };
        let host = run_tapped((2, &slow), &[], policy.clone(), host);
        let mut came: Vec<(u32, u64)> = host.came.iter().map(|(at, seq, _)| (*seq, at.0 / 1_000_000)).collect();
        came.sort_unstable();
        assert_eq!(came, (0..packets).map(|seq| (seq, 100 + 10 * u64::from(seq % 2))).collect::<Vec<_>>());
    }
}
