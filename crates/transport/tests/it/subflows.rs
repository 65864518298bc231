//! Several subflows: joining, the scheduler, reassembly (RFC 8684, sections 3.2 and 3.3).

use crate::common::opened::both_in_flight;
use crate::common::script::{receiver, sender, sender_with_jitters};
use crate::common::{AMP, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, DupackThreshold};
use linkpool_units::Time;

fn lia(subflows: usize) -> Config {
    Config { subflows, ..config(ControlConfig::Lia(())) }
}

/// The others are opened when the first SYN-ACK is in, each after its jitter, each with a handshake
/// of its own.
#[test]
fn joins_follow_the_first_handshake() {
    let config = Config { join_jitter: Time::from_us(49), ..lia(3) };
    sender_with_jitters(config, None, &[Time::from_us(30), Time::from_us(7)]).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0                     // subflow 0 does not wait
         107us  > s2 syn join
         130us  > s1 syn join
         200us  < ack 1
                > pkt 1-2
         207us  < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 3
         230us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 4",
    );
}

/// ECN is agreed upon for each subflow.
#[test]
fn joins_ask_for_ecn_too() {
    let config = Config { subflows: 2, ..config(ControlConfig::Amp(AMP)) };
    sender(config, None).run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0 ect
                > s1 syn join ecn
         200us  < s1 synack                  // this one not
                > s1 ack 0
                > s1 pkt 0 data 1",
    );
}

/// A lost JOIN SYN is sent again, and given up at last; the connection goes on without it.
#[test]
fn a_join_that_fails_takes_nothing_with_it() {
    sender(Config { syn_retries: 1, ..lia(2) }, Some(3000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < ack 1
                > pkt 1
                > pkt 2 last
         220us  < ack 2
         200.22ms > pkt 2 last
         600.22ms > pkt 2 last
         1000.1ms > s1 syn join
         1400.22ms > pkt 2 last
         3000.1ms = s1 timeouts 2            // given up
         3000.22ms > pkt 2 last
         4s     < ack 3
                > fin
                = state finished
         60s    < s1 synack
         100s   quiet",
    );
}

/// One MSS at a time in turn, as long as there is room; then any subflow with room.
#[test]
fn round_robin() {
    let config = Config { initial_window: 3, ..lia(2) };
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-2
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 3
                > s1 pkt 1 data 4
                > s1 pkt 2 data 5
         300us  < ack 3                      // room for four on subflow 0
                > pkt 3 data 6
                > pkt 4 data 7
                > pkt 5 data 8
                > pkt 6 data 9",
    );
}

/// The whole of a stream split over two subflows by turns: after a round on each, 0, 1, 0, 1.
#[test]
fn turns_are_taken_segment_by_segment() {
    let config = Config { byte_counting: true, ..lia(2) };
    both_in_flight(config, None).run(
        "300us  < s1 ack 1 data 0            // two on subflow 1; the turn is 0's, which is full
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3
         400us  < ack 1 data 2
                > pkt 1 data 4
                > pkt 2 data 5",
    );
}

/// No subflow carries data before its own handshake is done.
#[test]
fn no_data_before_the_handshake_of_the_subflow() {
    sender(lia(2), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < ack 1
                > pkt 1-2
         210us  < s1 ack 1 data 1            // who sends this?
         500us  quiet",
    );
}

/// The last data may be acknowledged on any subflow; the FIN goes there.
#[test]
fn the_end_comes_with_the_data_ack() {
    sender(lia(2), Some(2000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1 last
         300us  < ack 1 data 1
                = state open
         310us  < s1 ack 1 data 2
                > s1 fin
                = state finished acked 2000",
    );
}

/// All of a subflow's data is acknowledged but not the connection's: it is not over.
#[test]
fn acknowledged_on_its_subflow_is_not_the_end() {
    sender(lia(2), Some(2000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1 last
         300us  < s1 ack 1 data 0             // data 1 has come, data 0 has not
                = state open acked 0
         200.1ms > pkt 0
         200.2ms < ack 1 data 2
                > fin
                = state finished",
    );
}

/// The receiver: data on another subflow beyond a gap waits; the segment that fills the gap
/// delivers all.
#[test]
fn the_stream_is_put_together_across_subflows() {
    receiver(reno()).run(
        "0      < syn
                > synack
                < s1 syn join
                > s1 synack
         100us  < pkt 0
                > ack 1
                = delivered 1000
         110us  < s1 pkt 0 data 2
                > s1 ack 1 data 1             // the subflow is in order, the stream has a gap
                < s1 pkt 1 data 3 last
                > s1 ack 2 data 1
                = delivered 1000 complete false
         120us  < pkt 1
                > ack 2 data 4
                = delivered 4000 complete true delivery complete",
    );
}

/// A gap in a subflow does not keep data from the stream: it is the data sequence that orders it.
#[test]
fn data_beyond_a_gap_of_its_subflow_counts() {
    receiver(reno()).run(
        "0      < syn
                > synack
                < s1 syn join
                > s1 synack
         100us  < pkt 1 data 2
                > ack 0
         110us  < s1 pkt 0 data 0
                > s1 ack 1
                < s1 pkt 1
                > s1 ack 2 data 3
                = delivered 3000
         120us  < pkt 0 data 3
                > ack 2 data 4",
    );
}

/// JOIN SYNs may overtake each other.
#[test]
fn joins_in_any_order() {
    receiver(reno()).run(
        "0      < syn
                > synack
                < s3 syn join
                > s3 synack
                < s1 syn join
                > s1 synack
         100us  < s3 pkt 0 data 0
                > s3 ack 1",
    );
}

/// A duplicate ACK is one that comes while something is outstanding (RFC 5681, section 2, (a)):
/// three that come to an idle subflow tell of no loss.
#[test]
fn what_repeats_an_ack_for_all_is_no_duplicate() {
    both_in_flight(Config { subflows: 2, ..reno() }, Some(3000)).run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2 last
         400us  < s1 ack 2 data 0
                = s1 flight 0 cwnd 3
                < s1 ack 2 data 0
                < s1 ack 2 data 0
                < s1 ack 2 data 0
                = s1 cwnd 3 ssthresh inf recoveries 0 recovery false",
    );
}

/// The threshold of duplicate ACKs is that of all subflows.
#[test]
fn the_threshold_holds_for_every_subflow() {
    let config = Config { dupack_threshold: DupackThreshold::Acks(5), initial_window: 6, ..lia(2) };
    sender(config, Some(11_000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-5
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0-3 data 6
                > s1 pkt 4 data 10 last
                = measured 100us
         300us  < s1 ack 0 data 0
                < s1 ack 0 data 0
                < s1 ack 0 data 0
                < s1 ack 0 data 0
                = s1 recoveries 0
                < s1 ack 0 data 0
                > s1 pkt 0 data 6
                = s1 recoveries 1",
    );
}

/// Each subflow has carried the data that is acknowledged on it.
#[test]
fn each_subflow_counts_what_it_carries() {
    both_in_flight(lia(2), None).run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3
         450us  < s1 ack 3 data 0
                > s1 pkt 3-5 data 4
                = s0 carried 0 s1 carried 3000 acked 0 measured 150us",
    );
}
