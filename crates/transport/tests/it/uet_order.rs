//! Losses of UET by the order of a subflow's packets (PFLD of "Ordered Chaos", SC 2026).

use crate::uet::{Answered, Random, Said, config, us};
use linkpool_transport::uet::{Ack, BalancerKind, Config, Data, Nack, Probe, Progress, Receiver, Sender, SenderLaw};
use linkpool_transport::{SenderState, SubflowId};
use linkpool_units::Time;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Four subflows over 16 values, with a window that does not hold back, and so long a period.
fn by_order(period: Time, change: impl Fn(&mut Config)) -> Arc<Config> {
    config(|config| {
        (config.balancer, config.by_order, config.trimmable) = (BalancerKind::Rss, true, false);
        (config.law, config.first_window) = (SenderLaw::Constant, Some(1e9));
        config.spraying.rss_period = period;
        change(config);
    })
}

fn probe(number: u32, section: u32, again: bool) -> Probe {
    Probe { number, section, again }
}

fn nack(psn: u32, again: bool) -> Nack {
    Nack { psn, again, marked: false, at_last: false }
}

/// Ten packets: each names the first of its subflow; behind the last of each subflow goes a probe, the same way.
#[test]
fn the_last_packets_are_followed_by_probes() {
    let config = by_order(Time::from_secs(1), |_| {});
    let (mut sender, mut said) =
        (Sender::new(config.clone(), Some(9 * u64::from(config.mss) + 1), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    let sections: Vec<(u32, u32)> = said.data.iter().map(|(data, _)| (data.psn, data.target)).collect();
    assert_eq!(sections, (0..10).map(|psn| (psn, psn % 4)).collect::<Vec<_>>());
    let of = |psn: usize| said.data[psn].1;
    assert!((0..6).all(|psn| of(psn) == of(psn + 4)) && (0..3).all(|psn| of(psn) != of(psn + 1)));
    let expected = [6, 7, 8, 9].map(|psn| (probe(psn, psn % 4, false), of(psn as usize)));
    assert_eq!(said.probes, expected);
    assert_eq!(sender.counters().probes, 4);
}

/// Messages that wait count: of 3, 4 and 1 packets the last four are followed.
#[test]
fn the_last_packets_are_those_of_all_messages() {
    let config = by_order(Time::from_secs(1), |config| config.first_window = Some(2_200.0));
    let mss = u64::from(config.mss);
    let (mut sender, mut said) = (Sender::new(config, Some(3 * mss), true, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    sender.extend(4 * mss, Time::ZERO, &mut said);
    sender.extend(1, Time::ZERO, &mut said);
    for psn in 0..8 {
        let ack = Ack { cumulative: psn + 1, psn, received: u64::from(psn + 1) * (mss + 64), ..Ack::default() };
        sender.on_ack(&ack, 0, us(20 + u64::from(psn)), &mut said);
    }
    let followed: Vec<u32> = said.probes.iter().map(|(probe, _)| probe.number).collect();
    // Until the first one was known to be followed by others, it was near the end.
    assert_eq!(said.data.len(), 8);
    assert_eq!(followed, [0, 1, 4, 5, 6, 7]);
}

/// A packet is sent again for a NACK of its last copy alone, and a probe follows it.
#[test]
fn a_nack_is_of_one_copy() {
    let config = by_order(Time::from_secs(1), |_| {});
    let (mut sender, mut said) = (Sender::new(config, Some(100_000), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    let way = said.data[5].1;
    let mut sent_for = |psn, again| {
        (said.data, said.probes) = (Vec::new(), Vec::new());
        sender.on_nack(nack(psn, again), way, us(20), &mut said);
        (said.data.iter().map(|(data, _)| (data.psn, data.again)).collect::<Vec<_>>(), said.probes.clone())
    };
    assert_eq!(sent_for(5, true), (vec![], vec![]), "it was not sent again");
    assert_eq!(sent_for(5, false), (vec![(5, true)], vec![(probe(5, 1, true), way)]));
    assert_eq!(sent_for(5, false), (vec![], vec![]), "of the first copy");
    assert_eq!(sent_for(5, true), (vec![(5, true)], vec![(probe(5, 1, true), way)]));
    let window = sender.subflows()[0].window().bytes;
    assert_eq!((window, sender.subflows()[0].counters().timeouts), (1e9, 0), "no law hears of it");
}

/// The slowest subflow, of packets 1, 5 and so on, leaves its path after 10 us: a probe ends the section there, behind the last
/// packet. Packets of a new section begin with the next new one; one that is sent again is of no section yet.
#[test]
fn a_path_that_is_left_ends_with_a_probe() {
    let mss = 1_000;
    let config = by_order(us(8), |config| {
        config.mss = mss;
        config.first_window = Some(8.0 * f64::from(mss + 64));
    });
    let (mut sender, mut said) = (Sender::new(config, Some(100 * u64::from(mss)), false, 5), Said::new());
    sender.open(Time::ZERO, &mut said);
    let old = said.data[1].1;
    assert_eq!(said.data.len(), 8);
    // Packet 1 takes longest; 5 is lost.
    let wire = u64::from(mss) + 64;
    for (count, psn, at) in [(1, 0, 4), (2, 2, 4), (3, 3, 4), (4, 1, 6)] {
        let ack = Ack {
            cumulative: if count < 4 { 1 } else { 4 },
            base: psn,
            bitmap: 1,
            psn,
            received: count * wire,
            ..Ack::default()
        };
        let value = said.data[psn as usize].1;
        sender.on_ack(&ack, value, us(at), &mut said);
    }
    assert!(said.probes.is_empty() && said.data.len() == 12);
    said.data.clear();
    sender.on_nack(nack(5, false), old, us(12), &mut said);
    let (data, new) = said.data[0];
    assert!(data.again && data.psn == 5 && new != old);
    // 9 was sent on the old path, too, so 13 is the first on the new one.
    assert_eq!(said.probes, [(probe(9, 1, false), old), (probe(5, 13, true), new)]);
    assert_eq!(data.target, 13);
}

/// If 5 has arrived, the last that was sent on the path that is left, there is nothing to ask for.
#[test]
fn a_path_with_nothing_in_flight_needs_no_probe() {
    for (cumulative, asks) in [(5, true), (6, false)] {
        let (mss, wire) = (1_000, 1_064);
        let config = by_order(us(8), |config| {
            (config.mss, config.first_window) = (mss, Some(8.0 * wire as f64));
        });
        let (mut sender, mut said) = (Sender::new(config, Some(100 * u64::from(mss)), false, 5), Said::new());
        sender.open(Time::ZERO, &mut said);
        let values: Vec<u16> = said.data.iter().map(|(_, value)| *value).collect();
        for (cumulative, psn, at) in [(1, 0, 4), (cumulative, 1, 12)] {
            let ack = Ack { cumulative, psn, received: u64::from(cumulative) * wire, ..Ack::default() };
            sender.on_ack(&ack, values[psn as usize], us(at), &mut said);
        }
        let expected = if asks { vec![(probe(5, 1, false), values[1])] } else { vec![] };
        assert_eq!(said.probes, expected);
    }
}

fn data(psn: u32, section: u32) -> Data {
    Data { psn, subflow: SubflowId::FIRST, len: 1_000, ack_now: false, again: false, last: false, target: section }
}

/// Of the PSNs that one path must bring in order the receiver names those that a later one has passed, once.
#[test]
fn a_receiver_names_what_a_later_packet_has_passed() {
    let mut receiver = Receiver::new(by_order(us(15), |config| config.mss = 1_000));
    let mut hear = |psn, section| {
        let mut out = Answered::default();
        receiver.on_data(data(psn, section), false, us(1), &mut out);
        out.nacks
    };
    assert_eq!(hear(0, 0), []);
    assert_eq!(hear(6, 2), [nack(2, false)], "of its own subflow");
    assert_eq!(hear(12, 0), [nack(8, false), nack(4, false)]);
    assert_eq!(hear(16, 0), [], "12 has come, so it is known");
    assert_eq!(hear(28, 28), [], "those before it took another path");
    assert_eq!(hear(36, 28), [nack(32, false)]);
    assert_eq!(hear(1, 1), [], "nothing was before it");
    let mut ask = |number, section, again| {
        let mut out = Answered::default();
        receiver.on_probe(probe(number, section, again), false, us(2), &mut out);
        assert!(out.acks.is_empty());
        out.nacks
    };
    assert_eq!(ask(16, 0, false), [], "it has come");
    assert_eq!(ask(24, 0, false), [nack(24, false), nack(20, false)], "the end of the path that was left");
    assert_eq!(ask(8, 0, true), [nack(8, true), nack(4, false)]);
    assert_eq!(ask(32, 40, true), [nack(32, true)], "sent again before the first of its section");
}

/// What is on its way, by when and in which order it comes.
enum Travelling {
    Data(Data, u16, bool),
    Probe(Probe, u16),
    Ack(Ack, u16),
    Nack(Nack, u16),
    Timer,
}

proptest! {
    /// On paths of unlike lengths that keep order and lose data, but neither probes nor answers: each copy that is lost is sent
    /// again, and nothing else; without a timeout, unless a whole window may be lost.
    #[test]
    fn what_is_lost_is_sent_again_and_nothing_else(
        lost in 0u32..500,
        marked in 0u32..500,
        size in 1u64..300_000,
        window in prop_oneof![1f64..60.0, Just(1e6)],
        (subflows, period) in (1u16..9, 5u64..200),
        seed: u64,
    ) {
        let config = by_order(us(period), |config| {
            config.mss = 1_000;
            config.first_window = Some(window * 1_064.0);
            config.spraying.rss_subflows = subflows;
            (config.rto, config.ack_bytes) = (us(500), 1);
        });
        let mut random = Random(seed);
        let (mut sender, mut receiver) = (Sender::new(config.clone(), Some(size), false, 1), Receiver::new(config));
        let mut events: BTreeMap<(Time, u64), Travelling> = BTreeMap::new();
        let (mut number, mut losses, mut completed, mut now) = (0, 0, 0, Time::ZERO);
        let mut said = Said::new();
        sender.open(now, &mut said);
        // Data goes before the probe that follows it: one instant, and probes are numbered later.
        while sender.state() != SenderState::Finished {
            let after = |value: u16| us(1 + u64::from(value) * 7 % 60);
            for (data, value) in said.data.drain(..) {
                number += 1;
                if random.below(1_000) < lost {
                    losses += 1;
                } else {
                    let marked = random.below(1_000) < marked;
                    events.insert((now + after(value), number), Travelling::Data(data, value, marked));
                }
            }
            for (probe, value) in said.probes.drain(..) {
                number += 1;
                events.insert((now + after(value), number), Travelling::Probe(probe, value));
            }
            for at in said.wakes.drain(..) {
                number += 1;
                events.insert((at, number), Travelling::Timer);
            }
            let Some(((at, _), travelling)) = events.pop_first() else {
                prop_assert!(false, "nothing will happen any more");
                break;
            };
            now = at;
            let (mut out, mut value) = (Answered::default(), 0);
            match travelling {
                Travelling::Timer => sender.on_timer(now, &mut said),
                Travelling::Ack(ack, value) => {
                    sender.on_ack(&ack, value, now, &mut said);
                }
                Travelling::Nack(nack, value) => sender.on_nack(nack, value, now, &mut said),
                Travelling::Data(data, of, marked) => {
                    value = of;
                    completed += u32::from(receiver.on_data(data, marked, now, &mut out) == Progress::Complete);
                }
                Travelling::Probe(probe, of) => {
                    value = of;
                    receiver.on_probe(probe, false, now, &mut out);
                }
            }
            let acks = out.acks.into_iter().map(|ack| Travelling::Ack(ack, value));
            for answer in acks.chain(out.nacks.into_iter().map(|nack| Travelling::Nack(nack, value))) {
                number += 1;
                events.insert((now + after(value), number), answer);
            }
        }
        let counters = sender.subflows()[0].counters();
        prop_assert_eq!((receiver.delivered(), completed, sender.acked()), (size, 1, size));
        prop_assert_eq!(counters.sent_again, losses);
        prop_assert!(counters.timeouts == 0 || window < 1e6, "{} timeouts", counters.timeouts);
    }
}
