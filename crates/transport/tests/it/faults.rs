//! The faults of MMPTCP's authors' implementation, each by its name.

use crate::common::config;
use crate::common::script::{receiver, sender};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, Faults, Multipath};

fn lia(faults: Faults) -> Config {
    Config { subflows: 2, multipath: Multipath { faults, ..Multipath::default() }, ..config(ControlConfig::Lia(())) }
}

#[test]
fn join_syn_once() {
    sender(lia(Faults { join_syn_once: true, ..Faults::default() }), Some(3000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         100ms  < ack 1
                > pkt 1
                > pkt 2 last
         101ms  < ack 2
         301ms  > pkt 2 last
         701ms  > pkt 2 last
         1.2s   = s1 timeouts 0             // it would have been sent again at 1.0001 s
         1.3s   < s1 synack                 // late, but it counts
                > s1 ack 0
                < ack 3
                > fin",
    );
}

/// The cost of a lost SYN-ACK of a join: the receiver sends it again, until a segment arrives.
#[test]
fn join_syn_once_at_the_receiver() {
    let joined = "0     < syn
                        > synack
                        < ack 0
                        < s1 syn join
                        > s1 synack";
    let once = || receiver(lia(Faults { join_syn_once: true, ..Faults::default() }));
    once().run(joined).run(
        "1s     > s1 synack
         3s     > s1 synack
         3.1s   < s1 ack 0
         100s   quiet",
    );
    once().run(joined).run("10us < s1 ack 0\n 100s quiet");
    receiver(lia(Faults::default())).run(joined).run("100s quiet");
}

/// The first SYN is sent again all the same.
#[test]
fn the_first_syn_is_sent_again() {
    sender(lia(Faults { join_syn_once: true, ..Faults::default() }), None).run("0 > syn\n 1s > syn\n 3s > syn");
}

/// It is subflow 1's turn: new data waits for its handshake. What is sent again does not.
#[test]
fn join_stall() {
    sender(lia(Faults { join_stall: true, ..Faults::default() }), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < ack 1
                = s0 cwnd 2 flight 0
         300us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1
                > pkt 1 data 2
                > pkt 2 data 3",
    );
    sender(
        Config { initial_window: 2, ..lia(Faults { join_stall: true, join_syn_once: true, ..Faults::default() }) },
        None,
    )
    .run(
        "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0-1
                    > s1 syn join
             200.1ms > pkt 0
             200.2ms < ack 1
                    > pkt 1
             200.3ms < ack 2
             100s   quiet",
    );
}

/// All FINs go out behind the last data, and a reset ends the connection.
#[test]
fn fin_reset_at_the_sender() {
    let mut script = sender(lia(Faults { fin_reset: true, ..Faults::default() }), Some(2000));
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1 last
                > subflowfin
                > s1 subflowfin
         300us  < s1 reset
                = state failed ended 300us acked 0",
    );
}

/// A receiver that has had neither the third segment nor data on that subflow has not finished its
/// handshake.
#[test]
fn fin_reset_at_the_receiver() {
    let joined = "0     < syn
                        > synack
                        < ack 0
                        < s1 syn join
                        > s1 synack
                  100us < pkt 0
                        > ack 1";
    receiver(lia(Faults::default())).run(joined).run(
        "110us  < subflowfin
                = delivery none
                < s1 subflowfin
                > s1 reset
                = delivery closed",
    );
    receiver(lia(Faults::default())).run(joined).run(
        "110us  < s1 ack 0
                < s1 subflowfin
                = delivery none",
    );
    receiver(lia(Faults::default())).run(joined).run(
        "110us  < s1 pkt 1 data 2
                > s1 ack 0 data 1
                < s1 subflowfin
                = delivery none",
    );
}

/// The first subflow has no such fault: its SYN is sent again, so that the SYN-ACK need not be.
#[test]
fn join_syn_once_is_of_joins_only() {
    receiver(lia(Faults { join_syn_once: true, ..Faults::default() })).run(
        "0     < syn
               > synack
         100s  quiet",
    );
}
