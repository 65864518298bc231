//! NDP's sender in numbers: round-trip times, timeouts and their back-off, counters, and the paths
//! that it leaves out.

use crate::ndp::{MSS, RTO, Said, config, opened, us};
use linkpool_transport::SenderState;
use linkpool_transport::ndp::{Config, Penalties, Sender};
use linkpool_units::Time;
use std::sync::Arc;

/// Samples of 10, 18 and 5 us: the first is the mean, and each further one moves it by an eighth of
/// the difference, to 11 and 10.25 us (RFC 6298, section 2).
#[test]
fn round_trip_times_are_smoothed() {
    let (mut sender, mut said) = (Sender::new(config(3), None, 4), Said::new());
    sender.open(us(5), &mut said);
    assert_eq!((sender.started(), sender.srtt(), sender.min_rtt(), sender.rto()), (us(5), None, None, RTO));
    sender.on_ack(0, 1, us(15), &mut said);
    assert_eq!((sender.srtt(), sender.min_rtt()), (Some(10e6), Some(us(10))));
    sender.on_ack(1, 2, us(23), &mut said);
    assert_eq!((sender.srtt(), sender.min_rtt()), (Some(11e6), Some(us(10))));
    sender.on_pull(1, 2, us(24), &mut said);
    sender.on_ack(3, 2, us(29), &mut said);
    assert_eq!((sender.srtt(), sender.min_rtt()), (Some(10.25e6), Some(us(5))));
    assert_eq!(sender.counters().pulls, 1);
    sender.on_pull(2, 2, us(30), &mut said);
    assert_eq!(sender.counters().pulls, 2);
    assert_eq!(said.rtts, [us(10), us(18), us(5)]);
}

/// Karn's rule: a packet that was sent twice gives no sample. Nor does a second ACK of a packet, or
/// an ACK of one that was never sent.
#[test]
fn only_packets_sent_once_give_round_trip_times() {
    let (mut sender, mut said) = opened(3, None);
    sender.on_nack(1, 0, us(10), &mut said);
    sender.on_pull(1, 0, us(11), &mut said);
    sender.on_ack(1, 0, us(20), &mut said);
    sender.on_ack(3, 0, us(21), &mut said);
    assert_eq!((sender.srtt(), sender.acked()), (None, u64::from(MSS)));
    sender.on_ack(2, 0, us(22), &mut said);
    sender.on_ack(2, 0, us(40), &mut said);
    assert_eq!((sender.srtt(), sender.acked()), (Some(22e6), 2 * u64::from(MSS)));
}

/// The ACK of packet 1 says that packet 0 has arrived too, whose ACK is lost.
#[test]
fn an_ack_stands_for_all_packets_before_it() {
    let (mut sender, mut said) = opened(3, None);
    sender.on_ack(1, 2, us(10), &mut said);
    assert_eq!((sender.acked(), sender.in_flight()), (2 * u64::from(MSS), 1));
}

/// A copy that was sent at 11 us is due at 1,011 us, though the first copy was sent at 0.
#[test]
fn a_timeout_counts_from_the_last_copy() {
    let (mut sender, mut said) = opened(1, None);
    sender.on_nack(0, 0, us(10), &mut said);
    sender.on_pull(1, 0, us(11), &mut said);
    said.messages.clear();
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.numbers(), sender.rto(), sender.counters().timeouts), (vec![], RTO, 0));
    assert_eq!(said.wakes, [RTO, us(11) + RTO]);
    sender.on_timer(us(11) + RTO, &mut said);
    assert_eq!((said.numbers(), sender.rto(), sender.counters().timeouts), (vec![0], RTO * 2, 1));
    // An answer ends the back-off.
    sender.on_nack(0, 0, us(1_020), &mut said);
    assert_eq!(sender.rto(), RTO);
}

/// No packet flies, and the PULL of the first one is lost: a new packet asks for it.
#[test]
fn new_data_asks_for_a_lost_pull() {
    let (mut sender, mut said) = opened(1, None);
    said.messages.clear();
    sender.on_ack(0, 1, us(10), &mut said);
    sender.on_timer(us(10) + RTO * 64, &mut said);
    assert_eq!((said.numbers(), sender.counters().timeouts), (vec![1], 1));
}

/// 2,500 bytes are all sent: to stop changes nothing, not even the length of the last packet.
#[test]
fn to_stop_after_the_last_packet_changes_nothing() {
    let (mut sender, mut said) = opened(8, Some(2_500));
    sender.stop(us(1));
    (0..3).for_each(|number| sender.on_ack(number, number + 1, us(10), &mut said));
    assert_eq!((sender.state(), sender.acked()), (SenderState::Finished, 2_500));
}

/// One NACK, returned header or timeout leaves path 2 out for three permutations of the others.
#[test]
fn the_path_of_a_packet_that_did_not_arrive_is_left_out() {
    let penalties = Penalties { samples: 1, ratio: 2.0, least_share: 0.1, rounds: 3, most_rounds: 3 };
    type Event = fn(&mut Sender, u32, &mut Said);
    let events: [Event; 3] = [
        |sender, number, said| sender.on_nack(number, 0, us(12), said),
        |sender, number, said| sender.on_returned(number, true, us(12), said),
        |sender, _, said| sender.on_timer(RTO, said),
    ];
    for event in events {
        let config = Config { penalties: Some(penalties), ..(*config(4)).clone() };
        let (mut sender, mut said) = (Sender::new(Arc::new(config), None, 4), Said::new());
        sender.open(Time::ZERO, &mut said);
        let first = said.data();
        let of_path_2 = first.iter().find(|(_, path)| *path == 2).expect("each path has a packet").0;
        for number in (0..4).filter(|number| *number != of_path_2) {
            sender.on_ack(number, 0, us(10), &mut said);
        }
        event(&mut sender, of_path_2, &mut said);
        sender.on_pull(9, 0, us(1_020), &mut said);
        let paths: Vec<usize> = said.data().into_iter().map(|(_, path)| path).take(9).collect();
        let uses = |path| paths.iter().filter(|used| **used == path).count();
        assert_eq!([0, 1, 2, 3].map(uses), [3, 3, 0, 3]);
    }
}

/// The packets of the first window wait in the queue of their host, the last one until 3 ms: none is
/// overdue before a timeout after it has left. Round-trip times have the wait.
#[test]
fn a_timer_starts_when_a_packet_has_left_its_host() {
    let (mut sender, mut said) = (Sender::new(config(2), None, 4), Said::new());
    said.leaves = us(3_000);
    sender.open(Time::ZERO, &mut said);
    assert_eq!(said.wakes, [us(3_000) + RTO]);
    said.messages.clear();
    sender.on_timer(us(3_000), &mut said);
    assert_eq!((said.numbers(), sender.counters().timeouts), (vec![], 0));
    sender.on_ack(0, 1, us(3_010), &mut said);
    assert_eq!(sender.srtt(), Some(3_010e6));
    sender.on_timer(us(3_000) + RTO, &mut said);
    assert_eq!((said.numbers(), sender.counters().timeouts), (vec![1], 1));
}

/// Packet 1 leaves by another link before packet 0 does: its timer starts with that of packet 0, also
/// if that one has arrived.
#[test]
fn timers_start_in_the_order_of_packets() {
    for (arrives, again) in [(false, vec![0, 1]), (true, vec![1])] {
        let (mut sender, mut said) = (Sender::new(config(1), None, 4), Said::new());
        said.leaves = us(50);
        sender.open(Time::ZERO, &mut said);
        said.leaves = us(20);
        sender.on_pull(1, 0, us(15), &mut said);
        said.messages.clear();
        if arrives {
            sender.on_ack(0, 1, us(60), &mut said);
        }
        sender.on_timer(us(49) + RTO, &mut said);
        assert!(said.messages.is_empty());
        sender.on_timer(us(50) + RTO, &mut said);
        assert_eq!(said.numbers(), again);
    }
}

/// The copy of packet 1 that was sent at 0 is out of date when packet 1 is sent again at 11 us: at
/// the first timeout nothing is overdue, and the next one is not longer.
#[test]
fn a_copy_that_was_answered_has_no_timer() {
    let (mut sender, mut said) = opened(2, None);
    sender.on_nack(1, 0, us(10), &mut said);
    sender.on_pull(1, 0, us(11), &mut said);
    sender.on_ack(0, 1, us(12), &mut said);
    said.messages.clear();
    sender.on_timer(RTO, &mut said);
    assert_eq!((said.numbers(), sender.rto(), sender.counters().timeouts), (vec![], RTO, 0));
    assert_eq!(said.wakes.last(), Some(&(us(11) + RTO)));
}

/// Nothing flies, and a PULL that has been answered comes again: the receiver has heard nothing, so
/// it gets a packet. While something flies, that has a timer, and an older PULL says nothing.
#[test]
fn a_pull_that_comes_again_is_answered_if_nothing_flies() {
    let (mut sender, mut said) = opened(2, None);
    said.messages.clear();
    sender.on_nack(0, 0, us(10), &mut said);
    sender.on_nack(1, 0, us(10), &mut said);
    sender.on_pull(2, 0, us(11), &mut said);
    assert_eq!(said.numbers(), [0, 1]);
    sender.on_pull(2, 0, us(12), &mut said);
    assert!(said.messages.is_empty());
    sender.on_nack(0, 0, us(13), &mut said);
    // The headers of both come back, and a PULL is owed for the NACK.
    sender.on_returned(1, false, us(14), &mut said);
    sender.on_pull(1, 0, us(15), &mut said);
    assert!(said.messages.is_empty(), "it was overtaken");
    sender.on_pull(2, 0, us(16), &mut said);
    assert_eq!(said.numbers(), [0]);
    sender.on_ack(0, 1, us(17), &mut said);
    sender.on_pull(3, 1, us(18), &mut said);
    assert_eq!(said.numbers(), [1]);
    // Its ACK is lost; the repeated PULL tells of it, and is answered with new data.
    sender.on_pull(3, 2, us(19), &mut said);
    assert_eq!((said.numbers(), sender.acked()), (vec![2], 2_000));
}

/// With nothing in flight the receiver has all to act on, and the sender waits for 64 timeouts, from
/// the last header that came back.
#[test]
fn silence_of_the_receiver_is_no_loss() {
    let (mut sender, mut said) = opened(3, None);
    said.messages.clear();
    sender.on_ack(0, 1, us(5), &mut said);
    sender.on_returned(1, true, us(10), &mut said);
    sender.on_returned(2, true, us(900), &mut said);
    let due = us(900) + RTO * 64;
    sender.on_timer(due - Time(1), &mut said);
    assert_eq!((said.numbers(), sender.counters().timeouts), (vec![], 0));
    assert_eq!(said.wakes.last(), Some(&due));
    sender.on_timer(due, &mut said);
    assert_eq!((said.numbers(), sender.counters().timeouts, sender.rto()), (vec![1], 1, RTO));
}

/// A second copy of packet 1 was trimmed, and the first comes whole: the PULL is answered with new data.
#[test]
fn what_has_arrived_meanwhile_is_not_sent_again() {
    let (mut sender, mut said) = opened(3, None);
    said.messages.clear();
    sender.on_nack(1, 0, us(10), &mut said);
    sender.on_ack(1, 0, us(11), &mut said);
    sender.on_pull(1, 0, us(12), &mut said);
    assert_eq!((said.numbers(), sender.counters().sent_again), (vec![3], 0));
}

/// The ACK of packet 0 is lost, and its PULL brings packet 2. Of the headers of packets 1 and 2 that come
/// back the receiver knows nothing: with the second one nothing is to be expected of it.
#[test]
fn what_comes_back_is_sent_at_once_if_more_pulls_than_answers_have_come() {
    let (mut sender, mut said) = opened(2, None);
    sender.on_pull(1, 1, us(10), &mut said);
    said.messages.clear();
    sender.on_returned(1, true, us(11), &mut said);
    assert!(said.messages.is_empty());
    sender.on_returned(2, true, us(12), &mut said);
    assert_eq!(said.numbers(), [1]);
}

/// All three packets were sent when the PULL came; the header that comes back is what it asks for.
#[test]
fn a_pull_that_found_nothing_to_send_is_answered_with_what_comes_back() {
    let (mut sender, mut said) = opened(3, Some(3000));
    said.messages.clear();
    sender.on_ack(0, 1, us(10), &mut said);
    sender.on_pull(1, 1, us(11), &mut said);
    assert!(said.messages.is_empty());
    sender.on_returned(1, true, us(12), &mut said);
    assert_eq!((said.numbers(), sender.in_flight()), (vec![1], 2));
}

/// Of two paths a packet that is trimmed again and again takes one after the other.
#[test]
fn what_is_sent_again_takes_another_path_each_time() {
    let (mut sender, mut said) = (Sender::new(config(1), None, 2), Said::new());
    sender.open(Time::ZERO, &mut said);
    for n in 1..=40 {
        sender.on_nack(0, 0, us(10 * n), &mut said);
        sender.on_pull(n as u32, 0, us(10 * n), &mut said);
    }
    let paths: Vec<usize> = said.data().into_iter().map(|(_, path)| path).collect();
    assert!(paths.len() == 41 && paths.windows(2).all(|pair| pair[0] != pair[1]), "{paths:?}");
}

/// Of three packets that may open the connection one came back; those sent after an answer may not.
#[test]
fn packets_that_may_open_are_counted() {
    let (mut sender, mut said) = opened(3, None);
    assert_eq!(sender.openings(), 3);
    sender.on_returned(0, true, us(5), &mut said);
    assert_eq!(sender.openings(), 2);
    sender.on_ack(1, 0, us(6), &mut said);
    sender.on_pull(1, 0, us(7), &mut said);
    sender.on_returned(0, false, us(8), &mut said);
    assert_eq!(sender.openings(), 2);
    // An answer has come, and no PULL: what a timeout sends again opens nothing.
    let (mut sender, mut said) = opened(3, None);
    sender.on_ack(1, 0, us(6), &mut said);
    sender.on_timer(RTO, &mut said);
    assert_eq!((sender.counters().sent_again, sender.openings()), (2, 3));
}

/// 2,500 bytes of which one packet was sent when it stopped: 1,000 bytes, and no part of the last.
#[test]
fn what_is_stopped_ends_with_a_full_packet() {
    let (mut sender, mut said) = opened(1, Some(2_500));
    sender.stop(us(1));
    sender.on_ack(0, 1, us(10), &mut said);
    assert_eq!((sender.state(), sender.acked(), sender.ended()), (SenderState::Finished, 1_000, Some(us(10))));
    let (mut sender, mut said) = opened(1, Some(2_500));
    sender.on_ack(0, 1, us(10), &mut said);
    sender.stop(us(11));
    assert_eq!((sender.state(), sender.acked(), sender.ended()), (SenderState::Finished, 1_000, Some(us(11))));
}

/// A second ACK of the last packet, or a PULL, comes after the end, which stays where it is.
#[test]
fn what_comes_after_the_end_does_not_move_it() {
    let (mut sender, mut said) = opened(2, Some(2_000));
    sender.on_ack(1, 0, us(10), &mut said);
    sender.on_ack(0, 2, us(12), &mut said);
    sender.on_ack(0, 2, us(15), &mut said);
    sender.on_pull(1, 2, us(16), &mut said);
    assert_eq!((sender.state(), sender.ended()), (SenderState::Finished, Some(us(12))));
}

/// After a timeout the next one is twice as long. An answer ends that: packet 1, which was sent again when
/// packet 0 was, is due a timeout after that, which is before the wake-up that was asked for.
#[test]
fn an_answer_brings_the_next_timeout_forward() {
    let (mut sender, mut said) = opened(2, None);
    sender.on_timer(RTO, &mut said);
    assert_eq!((sender.rto(), said.wakes.last()), (RTO * 2, Some(&(RTO * 3))));
    sender.on_ack(0, 1, RTO + us(10), &mut said);
    assert_eq!((sender.rto(), said.wakes.last()), (RTO, Some(&(RTO * 2))));
}

/// A call before anything is due asks for no further wake-up.
#[test]
fn a_needless_wake_up_asks_for_nothing() {
    let (mut sender, mut said) = opened(2, None);
    sender.on_timer(us(5), &mut said);
    assert_eq!(said.wakes, [RTO]);
}

/// A path is judged by two outcomes at least: of path 2 a packet has arrived and the next one was trimmed, which
/// is half of them.
#[test]
fn packets_that_arrive_count_among_the_outcomes_of_a_path() {
    let penalties = Penalties { samples: 2, ratio: 1.0, least_share: 0.4, rounds: 3, most_rounds: 3 };
    let config = Config { penalties: Some(penalties), ..(*config(4)).clone() };
    let (mut sender, mut said) = (Sender::new(Arc::new(config), None, 4), Said::new());
    sender.open(Time::ZERO, &mut said);
    (0..4).for_each(|number| sender.on_ack(number, number + 1, us(10), &mut said));
    said.messages.clear();
    sender.on_pull(4, 4, us(11), &mut said);
    let of_path_2 = said.data().iter().find(|(_, path)| *path == 2).expect("each path has a packet").0;
    sender.on_nack(of_path_2, 4, us(20), &mut said);
    sender.on_pull(13, 4, us(21), &mut said);
    assert!(said.data().iter().all(|(_, path)| *path != 2));
}
