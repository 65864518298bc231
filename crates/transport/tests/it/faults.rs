//! The faults of MMPTCP's authors' implementation, each by its name.

use crate::common::config;
use crate::common::opened::both_in_flight;
use crate::common::script::{receiver, sender};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Buffers, Config, Faults, LossRecovery, Multipath, SendBuffer};
use linkpool_units::Time;

fn lia(faults: Faults) -> Config {
    Config { subflows: 2, multipath: Multipath { faults, ..Multipath::default() }, ..config(ControlConfig::Lia(())) }
}

fn fin_reset() -> Config {
    lia(Faults { fin_reset: true, ..Faults::default() })
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
    let mut script = sender(fin_reset(), Some(2000));
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1 last
                > subflowfin 1
                > s1 subflowfin 1
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
    receiver(fin_reset()).run(joined).run(
        "110us  < subflowfin 1
                = delivery none
                < s1 subflowfin 1
                > s1 reset
                = delivery closed",
    );
    receiver(fin_reset()).run(joined).run(
        "110us  < s1 ack 0
                < s1 subflowfin 1
                = delivery none",
    );
    receiver(fin_reset()).run(joined).run(
        "110us  < s1 pkt 1 data 2
                > s1 ack 0 data 1
                < s1 subflowfin 1
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

/// Two subflows, without SACKs, with an ACK for each packet.
fn newreno(faults: Faults) -> Config {
    Config { recovery: LossRecovery::NewReno, ack_every: 1, ..lia(faults) }
}

const JOINED: &str = "0     < syn
                            > synack
                            < ack 0
                            < s1 syn join
                            > s1 synack
                            < s1 ack 0";

/// The stream's first segment, on subflow 0, is lost; so is the first one of subflow 1. Subflow 1
/// holds its segments 1 and 2.
const HELD: &str = "100us < s1 pkt 1 data 2
                          > s1 ack 0
                          < s1 pkt 2 data 3
                          > s1 ack 0";

#[test]
fn held_unacknowledged() {
    let faults = Faults { held_unacknowledged: true, ..Faults::default() };
    // Segment 0 of subflow 1 fills the gap of its subflow. What the receiver held before is not
    // acknowledged, nor what is sent again, until the gap of the connection is filled on subflow 0;
    // and subflow 1 hears of it by its next segment.
    receiver(newreno(faults)).run(JOINED).run(HELD).run(
        "1ms   < s1 pkt 0 data 1
               > s1 ack 1 data 0
               < s1 pkt 1 data 2
               > s1 ack 1 data 0
         2ms   < pkt 0 data 0
               > ack 1 data 4
         3ms   < s1 pkt 1 data 2
               > s1 ack 3 data 4",
    );
    // A segment that was not held before is acknowledged.
    receiver(newreno(faults)).run(JOINED).run(HELD).run(
        "1ms   < s1 pkt 0 data 1
               > s1 ack 1 data 0
         2ms   < pkt 0 data 0
               > ack 1 data 4
         3ms   < s1 pkt 3 data 4
               > s1 ack 4 data 5",
    );
    // The faithful receiver acknowledges what it holds at once.
    receiver(newreno(Faults::default())).run(JOINED).run(HELD).run(
        "1ms   < s1 pkt 0 data 1
               > s1 ack 3 data 0",
    );
}

/// The data of subflow 1 is acknowledged in the connection's stream, and not on the subflow.
#[test]
fn no_data_ack() {
    let open = "0      > syn
                100us  < synack
                       > ack 0
                       > pkt 0
                       > s1 syn join
                200us  < s1 synack
                       > s1 ack 0
                       > s1 pkt 0 data 1 last";
    let acks = "300us  < ack 1 data 2";
    sender(newreno(Faults::default()), Some(2000)).run(open).run(&format!(
        "{acks}
                       > fin
                       = state finished ended 300us"
    ));
    let mut script = sender(newreno(Faults { no_data_ack: true, ..Faults::default() }), Some(2000));
    script.run(open).run(acks).run(
        "300us   = state open
         200.2ms > s1 pkt 0 data 1 last
         200.3ms < s1 ack 1 data 2
                 > s1 fin
                 = state finished ended 200.3ms",
    );
}

/// The FIN of subflow 1 is repeated by its timer, doubled each time, until it is answered.
#[test]
fn fin_timeouts_at_the_sender() {
    let faults = Faults { fin_timeouts: true, no_data_ack: true, ..Faults::default() };
    both_in_flight(newreno(faults), Some(3000)).run(
        "300us   < s1 ack 1 data 0
                 > s1 pkt 1 data 2 last
                 > subflowfin 1
                 > s1 subflowfin 2
         400us   < s1 ack 2 data 0
         200.1ms > pkt 0
         200.4ms > s1 subflowfin 2
                 = s1 timeouts 1
         600.1ms > pkt 0
         600.4ms > s1 subflowfin 2
                 = s1 timeouts 2
         600.5ms < s1 subflowfin 2
         1400.1ms > pkt 0                    // and no FIN on subflow 1 any more
         1500ms  < ack 1 data 3
                 > fin
                 = state finished ended 1.5s",
    );
}

/// Subflow 1 has nothing in flight when the last data is sent, so its timer is set for the FIN. The
/// other FIN counts as unanswered still: an ACK for all of subflow 0 leaves its timer set.
#[test]
fn fins_without_data_have_timers_too() {
    let faults = Faults { fin_timeouts: true, ..Faults::default() };
    let buffers = Buffers { send: SendBuffer::Fixed(2000), ..Buffers::default() };
    both_in_flight(Config { buffers, ..newreno(faults) }, Some(3000)).run(
        "300us   < s1 ack 1 data 0
         310us   < ack 1 data 2
                 > pkt 1 data 2 last
                 > subflowfin 2
                 > s1 subflowfin 1
         200.31ms > pkt 1 data 2 last
                 > s1 subflowfin 1
                 = s1 timeouts 1
         200.4ms < s1 subflowfin 1
                 < ack 2 data 2
         600.4ms > subflowfin 2
         1s      < ack 2 data 3
                 > fin",
    );
}

/// A FIN is answered if everything before it has arrived, or by the segment that fills the gap of
/// its subflow and of the connection.
#[test]
fn fin_timeouts_at_the_receiver() {
    let faults = Faults { fin_timeouts: true, ..Faults::default() };
    let fins = "100us < s1 pkt 0 data 1
                      > s1 ack 1 data 0
                      < s1 subflowfin 1
                      > s1 subflowfin 1";
    receiver(newreno(faults)).run(JOINED).run(fins);
    let early = "100us < s1 pkt 1 data 2
                       > s1 ack 0
                       < s1 subflowfin 2
                       < subflowfin 0
                       > subflowfin 0";
    // In order on the subflow only: the FIN must come again.
    receiver(newreno(faults)).run(JOINED).run(early).run(
        "1ms   < s1 pkt 0 data 1
               > s1 ack 2 data 0
         2ms   < s1 subflowfin 2
               > s1 subflowfin 2",
    );
    // In order in the connection's stream as well.
    receiver(newreno(faults)).run(JOINED).run(early).run(
        "1ms   < pkt 0 data 0
               > ack 1
         2ms   < s1 pkt 0 data 1
               > s1 ack 2 data 3
               > s1 subflowfin 2",
    );
}

/// Two duplicate ACKs, a timeout, and a third duplicate: a fast retransmit follows it.
#[test]
fn dupacks_kept() {
    let start = "0       > syn
                 100us   < synack
                         > ack 0
                         > pkt 0-3
                 200us   < ack 0
                         < ack 0
                 200.1ms > pkt 0
                 200.2ms < ack 0";
    let config = |faults| Config { subflows: 1, initial_window: 4, ..newreno(faults) };
    sender(config(Faults::default()), None).run(start).run("= s0 timeouts 1 cwnd 1");
    let kept = Faults { dupacks_kept: true, ..Faults::default() };
    sender(config(kept), None).run(&format!("{start}\n > pkt 0-4\n = s0 timeouts 1 cwnd 5"));
}

/// New data waits for subflow 2, whose turn it is, also when subflow 1 has room again, which comes before it.
#[test]
fn a_subflow_that_joins_keeps_its_turn() {
    let mut config = lia(Faults { join_stall: true, ..Faults::default() });
    config.subflows = 3;
    config.multipath.join_at = vec![Time::ZERO, Time::from_us(500)];
    sender(config, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1
         300us  < ack 1 data 1
                > pkt 1-2 data 2
         500us  > s2 syn join
         600us  < ack 2 data 1
         700us  < s1 ack 1 data 3
                = s1 cwnd 2 flight 0
         800us  < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 4
                > pkt 3 data 5
                > s1 pkt 1 data 6
                > pkt 4 data 7
                > s1 pkt 2 data 8",
    );
}
