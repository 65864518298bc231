//! Rules of Linux's TCP that its own scripts establish (docs/packetdrill.md), with numbers of ours
//! and RTTs of 100 us.

use crate::common::opened::{all_in_flight, in_flight};
use crate::common::reno;
use crate::common::script::open_sender;
use linkpool_transport::{Config, LossRecovery};

fn linux() -> Config {
    Config { recovery: LossRecovery::Rack, limited_transmit: true, byte_counting: true, ..reno() }
}

/// In slow start a window that the application does not fill grows to twice the packets that were
/// out, and not beyond; with a half of it, not at all.
#[test]
fn slow_start_grows_to_twice_what_is_out() {
    for (packets, cwnd) in [(5, 10), (6, 12), (9, 18), (10, 20)] {
        let mut script = open_sender(Config { initial_window: 10, ..linux() }, packets * 1000);
        script.run(&format!(
            "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0-{}
                    > pkt {} last",
            packets - 2,
            packets - 1
        ));
        for acked in (2..=packets).step_by(2) {
            script.run(&format!("200us < ack {acked}"));
        }
        script.run(&format!("200us < ack {packets}\n = cwnd {cwnd}"));
    }
}

/// Packets that duplicate ACKs or SACKs have reported do not count again in the growth of the
/// window: of three packets that the third ACK acknowledges, one is news.
#[test]
fn packets_reported_before_do_not_grow_the_window() {
    for (recovery, first, both) in [(LossRecovery::NewReno, "", ""), (LossRecovery::Rack, "sack 1-2", "sack 1-3")] {
        in_flight(10, Config { recovery, ..linux() }).run(&format!(
            "200us  < ack 0 {first}
                    > pkt 10
                    < ack 0 {both}
                    > pkt 11
             205us  < ack 3                 // late, not lost; 9 in flight
                    > pkt 12-13
                    = cwnd 11 flight 11 recoveries 0"
        ));
    }
}

/// The reordering timer finds seven packets lost, and lets out one of them: four are in flight then.
/// Each of the SACKs that follow lets out another, until ssthresh is reached.
#[test]
fn the_reordering_timer_lets_out_one_packet() {
    in_flight(10, linux()).run(
        "200us  < ack 0 sack 7-8
                > pkt 10
         224us  = lost 0
         225us  > pkt 0
                = lost 7 resent 1 sacked 1 outstanding 11 flight 4 ssthresh 5
         230us  < ack 0 sack 3-4,7-8
                > pkt 1
                = lost 6 flight 5
         235us  < ack 0 sack 3-5,7-8        // 5 in flight before it, and so after it
                = lost 5 flight 5
         240us  < ack 0 sack 3-5,7-9
                > pkt 2
                = lost 5 resent 3 flight 5",
    );
}

/// Fourteen of 20 packets are lost, so that fewer than ssthresh are in flight. A SACK lets out one
/// packet: as many as it reports. An ACK that advances lets out one more than it reports, unless it
/// shows that a retransmission is lost (RFC 9937, SafeACK).
#[test]
fn below_ssthresh_only_safe_acks_let_out_more_than_they_report() {
    in_flight(20, linux()).run(
        "200us  < ack 0 sack 14-15
                > pkt 20
                < ack 0 sack 14-16
                > pkt 21
                < ack 0 sack 14-17
                > pkt 0
                = lost 14 flight 6 ssthresh 10
                < ack 0 sack 14-18
                > pkt 1
                < ack 0 sack 14-19
                > pkt 2
                < ack 0 sack 14-20
                > pkt 3
                = flight 6
         300us  < ack 1 sack 14-20          // safe
                > pkt 4-5
                = flight 7
                < ack 2 sack 14-20
                > pkt 6-7
                = flight 8
                < ack 2 sack 3-4,14-20      // 2 was sent before 3, so it is lost again
                > pkt 2
                = flight 7 lost 11",
    );
}

/// When recovery ends, the window is ssthresh: as much new data is sent at once.
#[test]
fn after_recovery_the_window_is_ssthresh() {
    let mut script = open_sender(Config { initial_window: 10, ..linux() }, 10_000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-8
                > pkt 9 last
         200us  < ack 0 sack 1-2
                < ack 0 sack 1-3
                < ack 0 sack 1-4
                > pkt 0
                = window 7 phase recovery   // 10 packets out, 3 have arrived
                < ack 0 sack 1-10
         300us  < ack 10
                = window 5 threshold 5 phase open",
    );
    script.extend("300us", 10_000).run("> pkt 10-14");
}

/// An ACK that another has overtaken: packets 5 and 6, of which it tells, let out two.
#[test]
fn sacks_of_an_old_ack_count() {
    in_flight(10, linux()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0
         300us  < ack 4                     // 4 to 9 were sent before the retransmission
                > pkt 4
                = lost 6 flight 3 ssthresh 5
                < ack 2                     // tells nothing, nor does what is acknowledged already
                < ack 1 sack 2-4
                = lost 6 flight 3 undos 0
                < ack 3 sack 5-7
                > pkt 7-8
                = lost 4 sacked 2 flight 5
                < ack 3 sack 5-7            // no news
                = lost 4 sacked 2 flight 5",
    );
}

/// A SACK of a part of a segment reports no segment: the tail is probed, then the timer expires, and
/// the segment is sent again like the others.
#[test]
fn a_part_of_a_segment_has_not_arrived() {
    all_in_flight(4, linux()).run(
        "200us  < ack 0 sack 3+999-4
         300us  > pkt 3 last                // 2 RTT after it was sent
         200.3ms > pkt 0
                = window 1 probes 1 timeouts 1 sacked 0
         200.4ms < ack 1 sack 3+999-4
                > pkt 1-2
         200.5ms < ack 3 sack 3+999-4
                > pkt 3 last
         200.6ms < ack 4
                > fin",
    );
}

/// The time until a probe counts from the last segment sent (RFC 8985, section 7.2).
#[test]
fn a_probe_follows_the_last_segment() {
    let mut script = open_sender(Config { initial_window: 2, ..linux() }, 1000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last
         200us  < ack 1",
    );
    script.extend("300us", 1000).run("> pkt 1 last");
    script.extend("350us", 1000).run(
        "       > pkt 2 last
         550us  > pkt 2 last
                = probes 1",
    );
}
