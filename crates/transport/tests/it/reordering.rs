//! A threshold of duplicate ACKs that follows the reordering that is seen (RR-TCP).

use crate::common::channel::{Crossing, Pair};
use crate::common::opened::in_flight;
use crate::common::script::sender;
use crate::common::{Random, S, config, reno};
use linkpool_transport::control::{ControlConfig, MmptcpConfig, Switch};
use linkpool_transport::{Buffers, Config, DupackThreshold, LossRecovery, Segment, SenderState};
use linkpool_units::Time;

fn adaptive() -> Config {
    Config {
        recovery: LossRecovery::Sack,
        dupack_threshold: DupackThreshold::Adaptive,
        limited_transmit: true,
        undo: true,
        ..reno()
    }
}

/// Packet 0 is overtaken by five and sent again for it; a D-SACK tells. From then on five are not
/// enough.
#[test]
fn a_needless_retransmission_teaches() {
    in_flight(10, adaptive()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0
                < ack 0 sack 1-5
                < ack 0 sack 1-6
         210us  < ack 6                 // the first copy, after 5 others
         310us  < ack 6 sack 0-1        // the second
                > pkt 12-15
                = cwnd 10 undos 1
         320us  < ack 6 sack 7-8
                > pkt 16
                < ack 6 sack 7-9
                > pkt 17
                < ack 6 sack 7-10
                > pkt 18
                < ack 6 sack 7-11
                > pkt 19
                < ack 6 sack 7-12
                > pkt 20
                < ack 12                // late by 5 again
                > pkt 21-22
                = recoveries 1 retransmits 1
         410us  < ack 12 sack 13-14
                > pkt 23
                < ack 12 sack 13-15
                > pkt 24
                < ack 12 sack 13-16
                > pkt 25
                < ack 12 sack 13-17
                > pkt 26
                < ack 12 sack 13-18
                > pkt 27
                < ack 12 sack 13-19     // the sixth
                > pkt 12
                = recoveries 2",
    );
}

/// A packet that was lost indeed says nothing of reordering.
#[test]
fn a_loss_does_not_teach() {
    in_flight(10, adaptive()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0
         290us  < ack 0 sack 1-10
                > pkt 12-13
         300us  < ack 10                // the retransmission, after 9 others; nothing comes twice
                > pkt 14
         400us  < ack 14
                > pkt 15-18
                = cwnd 5 recovery false
         500us  < ack 15
                > pkt 19
                < ack 15 sack 16-17
                > pkt 20
                < ack 15 sack 16-18
                > pkt 21
                < ack 15 sack 16-19
                > pkt 15
                = recoveries 2",
    );
}

/// With four packets outstanding a loss brings three duplicate ACKs, whatever has been learnt.
#[test]
fn at_the_end_fewer_are_enough() {
    sender(Config { initial_window: 10, ..adaptive() }, Some(14_000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-9
         200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0
                < ack 0 sack 1-5
                < ack 0 sack 1-6
         210us  < ack 6                 // late by 5
         310us  < ack 6 sack 0-1
                > pkt 12
                > pkt 13 last
                < ack 10
                < ack 10 sack 11-12
                < ack 10 sack 11-13
                < ack 10 sack 11-14
                > pkt 10
         410us  < ack 14
                > fin
                = timeouts 0 recoveries 2",
    );
}

/// Of MMPTCP's subflows only the one of phase 1 adapts.
#[test]
fn phase_2_waits_for_three() {
    let switch = Switch { bytes: 3000, window: f64::INFINITY, congestion: false };
    let (scattered, coupled) = (Box::new(ControlConfig::Reno(())), Box::new(ControlConfig::Lia(())));
    let algorithm = ControlConfig::Mmptcp(MmptcpConfig { switch, scattered, coupled });
    let config = Config {
        subflows: 2,
        initial_window: 9,
        recovery: LossRecovery::Sack,
        dupack_threshold: DupackThreshold::Adaptive,
        undo: false,
        ..config(algorithm)
    };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-8
         200us  < ack 1
                > pkt 9-10
                > s1 syn join
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0-8 data 11
         400us  < s1 ack 0 data 11 sack 1-2
                < s1 ack 0 data 11 sack 1-3
                < s1 ack 0 data 11 sack 1-4
                > s1 pkt 0 data 11
                < s1 ack 0 data 11 sack 1-5
                < s1 ack 0 data 11 sack 1-6
                < s1 ack 9 data 20      // late by 5
                > s1 pkt 9-12 data 20
                < s1 ack 9 data 20 sack 0-1
         500us  < s1 ack 9 data 20 sack 10-11
                < s1 ack 9 data 20 sack 10-12
                < s1 ack 9 data 20 sack 10-13
                > s1 pkt 9 data 20
                > s1 pkt 13 data 24
                = s1 recoveries 2",
    );
}

/// The outcome of a transfer.
#[derive(Debug)]
struct Outcome {
    /// Packets that others had overtaken.
    late: u64,
    recoveries: u64,
    retransmits: u64,
}

/// Twenty thousand packets over paths of 100 to 160 us, none lost, at most 40 on their way.
fn spread(config: Config) -> Outcome {
    let mut random = Random(7);
    let (mut last, mut late) = (Time::ZERO, 0);
    let channel = |c: &Crossing| {
        let is_data = matches!(c.segment, Segment::Data { .. });
        let delay = Time::from_us(100) + if is_data { random.time(Time::from_us(60)) } else { Time::ZERO };
        if is_data {
            late += (c.at + delay < last) as u64;
            last = last.max(c.at + delay);
        }
        vec![(delay, false)]
    };
    let buffers = Buffers { receive: 40_000, ..Buffers::default() };
    let mut pair = Pair::new(Config { buffers, ..config }, Some(20_000_000), channel);
    assert_eq!(pair.run_to_end(Time::from_secs(10)), SenderState::Finished);
    let stats = pair.sender.stats(S[0]);
    assert_eq!(stats.timeouts, 0);
    drop(pair);
    Outcome { late, recoveries: stats.recoveries, retransmits: stats.retransmits }
}

/// Most packets come late. Nine in ten of them are waited for.
#[test]
fn one_late_packet_in_ten_is_sent_again() {
    let fixed = spread(Config { dupack_threshold: DupackThreshold::Acks(3), ..adaptive() });
    let adaptive = spread(adaptive());
    println!("three duplicate ACKs: {fixed:?}; adaptive: {adaptive:?}");
    assert!(adaptive.late > 10_000 && adaptive.retransmits * 10 < adaptive.late, "{adaptive:?}");
    assert!(adaptive.recoveries * 2 < fixed.recoveries, "{fixed:?} {adaptive:?}");
}
