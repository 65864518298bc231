//! Subflows that do not get through (RFC 8684, section 3.3.6): staleness, reinjection, backups,
//! failure.

use crate::common::config;
use crate::common::opened::both_in_flight;
use crate::common::script::{Script, sender};
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, LossRecovery, Multipath, Sender};
use linkpool_units::Time;

fn lia(subflows: usize, multipath: Multipath) -> Config {
    Config { subflows, multipath, ..config(ControlConfig::Lia(())) }
}

fn stale_after(stale_after: u32) -> Multipath {
    Multipath { stale_after, ..Multipath::default() }
}

/// Two subflows with a packet on each. That of subflow 0 will not arrive.
fn first_is_stuck(config: Config, size: Option<u64>) -> Script<Sender> {
    let last = if size == Some(2000) { " last" } else { "" };
    let mut script = sender(config, size);
    script.run(&format!(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
                > s1 pkt 0 data 1{last}"
    ));
    script
}

/// The data of a stale subflow is sent by the other, in front of new data, and by itself too: its
/// own stream has to go on. It gets new data again when it has got through.
#[test]
fn what_is_stuck_is_sent_by_another_subflow() {
    let mut script = both_in_flight(lia(2, stale_after(1)), None);
    script.run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3
         200.1ms > pkt 0                     // timeout: stale
         200.2ms < s1 ack 3 data 0
                > s1 pkt 3 data 0            // again
                > s1 pkt 4 data 4
                > s1 pkt 5 data 5
                = s0 reinjected 0 s1 reinjected 1000 retransmits 0
         200.25ms < s1 ack 4 data 4
                > s1 pkt 6 data 6
                > s1 pkt 7 data 7
         200.3ms < ack 1 data 4              // subflow 0 gets through
                > pkt 1 data 8
                > pkt 2 data 9
                = s0 retransmits 1 acked 4000",
    );
}

/// Room in the other's window is used at once.
#[test]
fn reinjected_at_the_timeout() {
    first_is_stuck(lia(2, stale_after(1)), Some(2000)).run(
        "300us  < s1 ack 1 data 0
         200.1ms > pkt 0
                 > s1 pkt 1 data 0
         200.2ms < s1 ack 2 data 2
                 > s1 fin
                 = state finished acked 2000",
    );
}

/// After the second timeout in a row, not the first; without staleness never.
#[test]
fn stale_after_so_many_timeouts() {
    first_is_stuck(lia(2, stale_after(2)), Some(2000)).run(
        "300us  < s1 ack 1 data 0
         200.1ms > pkt 0
         600.1ms > s1 pkt 1 data 0
                 > pkt 0
         601ms   = s1 reinjected 1000",
    );
    first_is_stuck(lia(2, stale_after(u32::MAX)), Some(2000)).run(
        "300us  < s1 ack 1 data 0
         200.1ms > pkt 0
         600.1ms > pkt 0
         1400.1ms > pkt 0",
    );
}

/// Data that has arrived though its ACK was lost need not be sent again: the data ACK shows it.
#[test]
fn what_the_receiver_has_is_not_reinjected() {
    let mut script = first_is_stuck(lia(2, stale_after(1)), Some(4000));
    script.run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3 last
         400us  < s1 ack 2 data 3            // data 0 has come after all
         200.1ms > pkt 0
         200.4ms > s1 pkt 2 data 3 last
                = s1 reinjected 0",
    );
}

/// Both stale: both may carry data.
#[test]
fn if_all_are_stale_all_are_used() {
    let mut script = first_is_stuck(lia(2, stale_after(1)), Some(4000));
    script.run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3 last
         200.1ms > pkt 0
         200.3ms > s1 pkt 1 data 2            // now that one too: nobody takes its data
         400ms  < ack 1 data 2                // but this one gets through
                > pkt 1 data 2
                > pkt 2 data 3 last
         410ms  < ack 3 data 4
                > fin
                = s0 reinjected 2000 s1 reinjected 0", // packet 0 has come by itself
    );
}

/// Given up for good: its data goes to the other, and nothing that comes on it counts.
#[test]
fn a_subflow_fails() {
    let config = Config { fail_after: 2, ..lia(2, Multipath::default()) };
    first_is_stuck(config, Some(2000)).run(
        "300us  < s1 ack 1 data 0
         200.1ms > pkt 0
         600.1ms > s1 pkt 1 data 0
         600.2ms < ack 1 data 2
                 = state open
         601ms   < s1 ack 2 data 2
                 > s1 fin
                 = state finished",
    );
}

/// The connection fails with its last subflow, and says when.
#[test]
fn the_connection_fails_with_its_last_subflow() {
    let pair = Config { fail_after: 2, ..lia(2, Multipath::default()) };
    first_is_stuck(pair, Some(3000)).run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2 last
         200.1ms > pkt 0
         200.3ms > s1 pkt 1 data 2 last
         600.1ms = state open               // subflow 0 has failed; its data waits for subflow 1
         600.3ms = state failed ended 600.3ms acked 0
         100s   quiet",
    );
    let reno = Config { fail_after: 3, ..config(ControlConfig::Reno(())) };
    sender(reno, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200.1ms > pkt 0
         600.1ms > pkt 0
         1400.1ms = state failed ended 1.4001s timeouts 3",
    );
}

/// A join that is still being opened may yet save the connection.
#[test]
fn a_join_takes_over() {
    let config = Config { fail_after: 1, ..lia(2, Multipath::default()) };
    sender(config, Some(1000)).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last
                > s1 syn join
         200.1ms = state open
         1000.1ms > s1 syn join
         1000.3ms < s1 synack
                > s1 ack 0
                > s1 pkt 0 last
         1001ms < s1 ack 1
                > s1 fin",
    );
}

/// A backup carries the data that a regular subflow cannot, until that one recovers.
#[test]
fn a_backup_takes_over_and_steps_back() {
    let mut script = sender(lia(2, Multipath { backup: 0b10, ..stale_after(1) }), None);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
         200us  < s1 synack
                > s1 ack 0
         200.1ms > s1 pkt 0
                > pkt 0
         200.2ms < s1 ack 1
                > s1 pkt 1
                > s1 pkt 2
         210ms  < ack 1 data 1
                > pkt 1 data 3
                > pkt 2 data 4
         220ms  < s1 ack 3 data 3
                = s1 flight 0 cwnd 3",
    );
}

/// A subflow that has recovered is like a new one: when it is stale again, its data goes to the
/// other again.
#[test]
fn stale_a_second_time() {
    for recovery in [LossRecovery::Reno, LossRecovery::Sack] {
        let config = Config { recovery, ..lia(2, stale_after(1)) };
        both_in_flight(config, Some(8000)).run(
            "300us  < ack 1 data 1
                > pkt 1 data 2
                > pkt 2 data 3
         200.2ms > s1 pkt 0 data 1
         200.3ms < ack 3 data 1
                > pkt 3 data 1
                > pkt 4 data 4
                > pkt 5 data 5
                = s0 reinjected 1000
         200.35ms < s1 ack 1 data 4           // subflow 1 gets through
                > s1 pkt 1 data 6
                > s1 pkt 2 data 7 last
         200.4ms < ack 6 data 6
         600.35ms > pkt 6 data 6
                > s1 pkt 1 data 6
                > pkt 7 data 7 last
                = s0 reinjected 3000",
        );
    }
}

/// The data of a stale subflow goes to others once, even if a third one joins after that.
#[test]
fn what_is_stuck_is_given_away_once() {
    let join_at = vec![Time::ZERO, Time::from_us(200_300)];
    both_in_flight(lia(3, Multipath { join_at, ..stale_after(1) }), None).run(
        "300us  < s1 ack 1 data 0
                > s1 pkt 1 data 2
                > s1 pkt 2 data 3
         200.1ms > pkt 0
         200.2ms < s1 ack 3 data 0
                > s1 pkt 3 data 0
                > s1 pkt 4 data 4
                > s1 pkt 5 data 5
         200.3ms > s2 syn join
         200.4ms < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 6
                = s1 reinjected 1000 s2 reinjected 0",
    );
}

/// When a subflow is given up, a backup stays idle as long as there is a regular one.
#[test]
fn a_failure_leaves_backups_idle() {
    let multipath = Multipath { backup: 0b010, ..Multipath::default() };
    sender(Config { fail_after: 1, ..lia(3, multipath) }, None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > s1 syn join
                > s2 syn join
         200us  < s1 synack
                > s1 ack 0
                < s2 synack
                > s2 ack 0
                > s2 pkt 0 data 1
         300us  < ack 1 data 1
                > pkt 1 data 2
                > pkt 2 data 3
         200.25ms < ack 3 data 1            // at 200.2 ms subflow 2 was given up
                > pkt 3 data 1
                > pkt 4 data 4
                > pkt 5 data 5
                = s2 timeouts 1",
    );
}

/// An ACK that comes after a reset lets nothing out.
#[test]
fn nothing_is_sent_after_a_reset() {
    sender(config(ControlConfig::Reno(())), None).run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
         200us  < reset
                = state failed
         210us  < ack 1
         1s     quiet",
    );
}
