//! Opening a connection: the three segments, ECN, lost SYNs (RFC 9293 3.5, RFC 3168 6.1.1, RFC 6298
//! 2).

use crate::common::script::{receiver, sender};
use crate::common::{DCTCP, config, reno};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, Multipath};
use linkpool_units::Time;

fn dctcp() -> Config {
    config(ControlConfig::Dctcp(DCTCP))
}

/// The SYN-ACK is answered at once, by the third segment and then by data; an algorithm without ECN
/// does not ask for it.
#[test]
fn three_segments_then_data() {
    sender(reno(), Some(1500)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1 len 500 last
         300us  < ack 1+500
                > fin
                = state finished acked 1500 ended 300us",
    );
}

#[test]
fn a_law_that_needs_ecn_asks_for_it_and_sends_ect() {
    sender(dctcp(), None).run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0 ect",
    );
}

/// Nothing is sent as ECN-capable to a receiver that has refused (RFC 3168, section 6.1.1).
#[test]
fn no_ect_after_a_refusal() {
    sender(dctcp(), Some(1000)).run(
        "0      > syn ecn
         100us  < synack
                > ack 0
                > pkt 0 last
         200.1ms > pkt 0 last   // a retransmission neither",
    );
}

#[test]
fn the_receiver_agrees_if_asked_and_willing() {
    receiver(dctcp()).run("0 < syn ecn\n > synack ecn");
    receiver(dctcp()).run("0 < syn\n > synack");
    receiver(Config { accept_ecn: false, ..dctcp() }).run("0 < syn ecn\n > synack");
    receiver(dctcp()).run("0 < syn join ecn\n > synack ecn");
}

/// A SYN-ACK that was lost: the same SYN again gets the same answer. So does one that comes twice.
#[test]
fn the_receiver_answers_every_syn() {
    receiver(reno()).run(
        "0   < syn
             > synack
         1s  < syn
             > synack",
    );
}

/// Retries double; the seventh SYN is the last, and when its 64 s are over the connection has
/// failed.
#[test]
fn lost_syns_back_off_and_give_up() {
    sender(reno(), Some(1000)).run(
        "0      > syn
         1s     > syn
         3s     > syn
         7s     > syn
         15s    > syn
         31s    > syn
         63s    > syn
                = state open
         127s   = state failed timeouts 7 ended 127s
         128s   < synack        // too late
         500s   quiet",
    );
}

/// After a lost SYN the initial window is one segment (RFC 5681, section 3.1) and the handshake is
/// no RTT sample (Karn): the RTO is still the initial one.
#[test]
fn a_lost_syn_costs_the_initial_window_and_the_sample() {
    let config = Config { initial_window: 10, syn_timeout: Time::from_secs(3), ..reno() };
    sender(config, None).run(
        "0      > syn
         3s     > syn
         3.1s   < synack
                > ack 0
                > pkt 0
                = cwnd 1 rto 1s",
    );
}

/// RFC 6298, section 2: srtt = 100 us, rttvar = 50 us, RTO = 300 us; or none of it.
#[test]
fn the_handshake_is_a_sample_if_wanted() {
    for (wanted, rto) in [(true, "300us"), (false, "1s")] {
        let mut c = Config { handshake_sample: wanted, ..reno() };
        c.rtt.min_rto = Time::from_us(1);
        sender(c, None).run(&format!(
            "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0
                    = rto {rto}"
        ));
    }
}

#[test]
fn a_second_syn_ack_changes_nothing() {
    sender(reno(), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         110us  < synack
         120us  quiet",
    );
}

/// A connection without data is over with its handshake.
#[test]
fn no_data_no_transfer() {
    sender(reno(), Some(0)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > fin
                = state finished",
    );
}

/// With the first ACK of data further subflows open, and they wait with their data for an ACK of
/// the third segment (RFC 8684, section 3.2), as in Linux.
#[test]
fn a_further_subflow_waits_for_the_fourth_segment() {
    let multipath = Multipath { join_after: 1, join_confirmed: true, ..Multipath::default() };
    let config = || Config { subflows: 2, multipath: multipath.clone(), ..config(ControlConfig::Lia(())) };
    sender(config(), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < ack 1
                > pkt 1-2
                > s1 syn join
         300us  < s1 synack
                > s1 ack 0
         350us  < s1 synack                  // a duplicate
         400us  < s1 ack 0 data 1
                > s1 pkt 0 data 3
         500us  < s1 ack 0 data 1            // again: it changes nothing
         900us  quiet",
    );
    receiver(config()).run(
        "0      < syn
                > synack
         100us  < ack 0                      // of the first subflow: no answer
         110us  < pkt 0
                > ack 1
         200us  < s1 syn join
                > s1 synack
         300us  < s1 ack 0
                > s1 ack 0 data 1
         400us  < s1 ack 0                   // sent again: the answer was lost
                > s1 ack 0 data 1",
    );
}

/// The third segment of a further subflow is sent again after two RTTs, until it is answered.
#[test]
fn the_third_segment_of_a_join_is_repeated() {
    let multipath = Multipath { join_confirmed: true, ..Multipath::default() };
    let with_samples = Config { handshake_sample: true, subflows: 2, multipath, ..config(ControlConfig::Lia(())) };
    sender(with_samples, Some(1000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
         400us  > s1 ack 0
         600us  > s1 ack 0
         650us  < s1 ack 0
         700us  < ack 1
                > fin
                = state finished",
    );
}
