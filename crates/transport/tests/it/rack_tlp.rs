//! RACK-TLP (RFC 8985), packet by packet: reordering, lost retransmissions, lost tails. RTTs are
//! 100 us.

use crate::common::opened::{all_in_flight, in_flight};
use crate::common::reno;
use crate::common::script::{Script, sender};
use linkpool_transport::{Buffers, Config, LossRecovery, RttConfig, Sender};
use linkpool_units::Time;

fn rack() -> Config {
    Config { recovery: LossRecovery::Rack, limited_transmit: true, ..reno() }
}

/// A packet that comes 20 us late, less than a quarter of the RTT, is not lost.
#[test]
fn mild_reordering_is_tolerated() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
         220us  < ack 3
                > pkt 12-13
                = cwnd 11 recoveries 0 retransmits 0
         290us  quiet",
    );
}

/// Until reordering has been seen, as many SACKs as the threshold says are enough.
#[test]
fn three_sacks_mean_a_loss_as_long_as_nothing_was_reordered() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0
                = ssthresh 5 flight 9
                < ack 0 sack 1-5        // one packet for every two that arrive (RFC 9937): 2/2, and 1 is out
                < ack 0 sack 1-6        // 3/2
                > pkt 12
                < ack 0 sack 1-7        // 4/2, and 2 are out
                < ack 0 sack 1-8        // 5/2
                > pkt 13
                < ack 0 sack 1-9        // 6/2, and 3 are out
                < ack 0 sack 1-10       // down to ssthresh: from here on it is kept there
                = flight 5
         300us  < ack 10                // the retransmission; 10 to 13 are out
                > pkt 14
                = cwnd 5 flight 5 recovery true
         310us  < ack 12
                > pkt 15-16
                = cwnd 5 recovery false",
    );
}

/// Afterwards three are not: time tells.
#[test]
fn where_there_is_reordering_three_sacks_mean_nothing() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
         210us  < ack 2                 // reordering
                > pkt 11-12
         220us  < ack 2 sack 3-4
                > pkt 13
                < ack 2 sack 3-5
                > pkt 14
                < ack 2 sack 3-6
                > pkt 15
                < ack 2 sack 3-7
                > pkt 16
         245us  > pkt 2                 // sent at 100 us; RTT of the latest 120 us, window 25 us
                = recoveries 1",
    );
}

/// One SACK and silence: the timer finds the loss a quarter of an RTT later.
#[test]
fn the_reordering_timer_finds_a_loss() {
    all_in_flight(2, rack()).run(
        "200us  < ack 0 sack 1-2
         225us  > pkt 0
                = recoveries 1
         325us  < ack 2
                > fin
                = timeouts 0 probes 0",
    );
}

/// The retransmission is lost too. What was sent later arrives: it is sent a third time, without a
/// timeout.
#[test]
fn a_lost_retransmission_is_found() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
                < ack 0 sack 1-3
                > pkt 11
                < ack 0 sack 1-4
                > pkt 0
         210us  < ack 0 sack 1-10       // the pipe is 3, ssthresh 5
                > pkt 12-13
         315us  < ack 0 sack 1-13       // of 10 to 12; 12 was sent after 0
                > pkt 0
                > pkt 14-16
                = timeouts 0 recoveries 1 retransmits 2",
    );
}

/// The last of four is lost: the probe repairs it after two RTTs, not a timeout after 200 ms.
#[test]
fn a_probe_repairs_a_lost_tail() {
    all_in_flight(4, rack()).run(
        "200us  < ack 1
                < ack 2
                < ack 3
         400us  > pkt 3 last
                = probes 1
         500us  < ack 4
                > fin
                = timeouts 0 recoveries 0",
    );
}

/// The last two are lost: what the probe brings back tells of the first.
#[test]
fn a_probe_makes_a_sack_of_a_lost_tail() {
    all_in_flight(4, rack()).run(
        "200us  < ack 1
                < ack 2
         400us  > pkt 3 last
         500us  < ack 2 sack 3-4
                > pkt 2
                = recoveries 1 ssthresh 2
         600us  < ack 4
                > fin
                = timeouts 0 probes 1",
    );
}

/// A probe takes new data where there is any, beyond the window; there is one only, then comes the
/// timeout.
#[test]
fn a_probe_prefers_new_data() {
    in_flight(2, rack()).run(
        "300us  > pkt 2
                = probes 1 cwnd 2 flight 3
         200.3ms > pkt 0
                = timeouts 1 cwnd 1 probes 1",
    );
}

/// A receiver that delays ACKs has its time when one packet is out (TLP.max_ack_delay, which is
/// `min_rto` as in Linux). A timeout would be due before that, 200 ms after the ACK: the probe takes
/// its place (section 7.2: "if Now() + PTO > TCP_RTO_expiration()"), and the timeout follows.
#[test]
fn a_probe_takes_the_place_of_an_earlier_timeout() {
    all_in_flight(3, Config { ack_every: 2, ..rack() }).run(
        "200us  < ack 2
         200.2ms > pkt 2 last
                = probes 1 timeouts 0
         400.2ms > pkt 2 last
                = probes 1 timeouts 1",
    );
}

/// The first RTT is 100 ms, so the timeout is 100 + 4 * 50 = 300 ms. A packet alone is probed after
/// 2 * 100 + 50 ms, if `min_rto` is 50 ms.
#[test]
fn a_probe_waits_for_a_delayed_ack() {
    let base = rack();
    let rtt = RttConfig { min_rto: Time::from_ms(50), ..base.rtt };
    sender(Config { ack_every: 2, rtt, ..base }, Some(1000)).run(
        "0      > syn
         100ms  < synack
                > ack 0
                > pkt 0 last
         350ms  > pkt 0 last
                = probes 1 timeouts 0
         650ms  > pkt 0 last
                = timeouts 1",
    );
}

/// D-SACKs widen the reordering window, by a quarter of the RTT each, once a round (section 6.2,
/// step 4).
#[test]
fn dsacks_widen_the_window() {
    in_flight(10, Config { undo: false, ..rack() }).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
         225us  > pkt 0                 // needlessly
         230us  < ack 2
         300us  < ack 2 sack 0-1
         305us  < ack 11
                > pkt 11-15
                = recovery false cwnd 5
         405us  < ack 11 sack 12-13
                > pkt 16
         455us  > pkt 11                // two quarters after 405 us",
    );
}

/// All is lost. One probe, of new data, then timeouts that double; acknowledgments of what was sent
/// twice leave the back-off as it is, the first other one ends it (RFC 6298, 5.5 and section 3).
#[test]
fn the_back_off_after_a_probe() {
    in_flight(4, Config { undo: false, ..rack() }).run(
        "300us  > pkt 4
         200.3ms > pkt 0
                = cwnd 1 ssthresh 2
         600.3ms > pkt 0
         1400.3ms > pkt 0
                = timeouts 3 probes 1 rto 1.6s ssthresh 2
         1400.4ms < ack 1
                > pkt 1-2
         1400.5ms < ack 3
                > pkt 3-4
         1400.6ms < ack 5
                > pkt 5-6
                = rto 1.6s
         1400.7ms < ack 6
                > pkt 7-8
                = rto 200ms",
    );
}

/// Reordering has been seen; packet 2 is lost, and so is what is sent for it at 245 us. At 350 us
/// packet 14, which was sent at 250 us, has arrived: the timer waits until 370 us, an RTT and a
/// quarter after 245 us, and finds the loss.
const LOST_TWICE: &str = "
         200us  < ack 0 sack 1-2
                > pkt 10
         210us  < ack 2                 // reordering; the RTT of this ACK is 110 us
                > pkt 11-12
         220us  < ack 2 sack 3-4
                > pkt 13
         245us  > pkt 2                 // 120 us and a quarter of 100 us after 100 us
                = recoveries 1 ssthresh 5.5
         250us  < ack 2 sack 3-11       // 4 in flight
                > pkt 14
         320us  < ack 2 sack 3-14       // 2 in flight
                > pkt 15-17";

#[test]
fn the_timer_finds_a_lost_retransmission() {
    in_flight(10, rack()).run(LOST_TWICE).run(
        "350us  < ack 2 sack 3-15
                > pkt 18
         370us  > pkt 2
                = recoveries 1 retransmits 2
         200.37ms > pkt 2               // a timeout after what was done last
                = timeouts 1",
    );
}

/// A SACK of new data is progress too, and sets the retransmission timer anew.
#[test]
fn sacks_put_the_timeout_off() {
    in_flight(10, rack()).run(LOST_TWICE).run(
        "200.319ms quiet
         200.32ms > pkt 2
                = timeouts 1",
    );
}

/// The receiver has no room for more than four. The last of these is sent again as a probe; what
/// follows is acknowledged later, or not.
fn probed() -> Script<Sender> {
    let buffers = Buffers { receive: 4000, ..Buffers::default() };
    let mut script = in_flight(4, Config { buffers, ..rack() });
    script.run(
        "200us  < ack 1 win 3000
                < ack 2 win 2000
                < ack 3 win 1000
                = cwnd 7
         400us  > pkt 3
                = probes 1",
    );
    script
}

/// TLP_process_ack (section 7.4.2): an ACK beyond the probe, and no D-SACK: one of the two was
/// lost, and the window is cut for it. An ACK of the probe and no more does not tell yet.
#[test]
fn a_probe_that_repaired_a_loss_cuts_the_window() {
    probed().run(
        "500us  < ack 4 win 0
                = cwnd 8 ssthresh inf
         510us  < ack 4 win 4000
                > pkt 4-7
         610us  < ack 5 win 4000
                > pkt 8
                = ssthresh 4 cwnd 4.25",
    );
}

/// The state of TLP is reset when a timeout or fast recovery begins (section 7.1): the window has been
/// cut, and an ACK beyond the probe does not cut it again.
#[test]
fn a_probe_before_a_timeout_cuts_nothing() {
    let buffers = Buffers { receive: 10_000, ..Buffers::default() };
    in_flight(10, Config { buffers, undo: false, ..rack() }).run(
        "300us  > pkt 9
                = probes 1
         200.3ms > pkt 0
                = timeouts 1 cwnd 1 ssthresh 5
         200.4ms < ack 10 win 10000
                > pkt 10-11
                = cwnd 2 ssthresh 5
         200.5ms < ack 11 win 10000
                > pkt 12-13
                = cwnd 3 ssthresh 5",
    );
}

#[test]
fn a_probe_before_a_recovery_cuts_nothing() {
    let buffers = Buffers { receive: 10_000, ..Buffers::default() };
    in_flight(10, Config { buffers, ..rack() }).run(
        "300us  > pkt 9
                = probes 1
         400us  < ack 0 sack 9-10 win 10000
                > pkt 0
                = recoveries 1 ssthresh 5
         500us  < ack 10 win 10000
                > pkt 10-14
                = ssthresh 5 recovery false
         600us  < ack 11 win 10000
                > pkt 15
                = cwnd 5.2 ssthresh 5",
    );
}

/// A D-SACK of the probe: both copies have arrived.
#[test]
fn a_needless_probe_cuts_nothing() {
    probed().run(
        "500us  < ack 4 win 0
         505us  < ack 4 win 0 sack 3-4
         510us  < ack 4 win 4000
                > pkt 4-7
         610us  < ack 5 win 4000
                > pkt 8
                = ssthresh inf cwnd 9",
    );
    probed().run(
        "500us  < ack 4 win 0 sack 3-4  // with the ACK of the probe itself
         510us  < ack 4 win 4000
                > pkt 4-7
         610us  < ack 5 win 4000
                > pkt 8
                = ssthresh inf cwnd 9",
    );
}

/// So does a duplicate ACK without SACKs say, of a receiver that has no D-SACKs.
#[test]
fn a_duplicate_ack_of_a_probe_cuts_nothing() {
    probed().run(
        "500us  < ack 4 win 0
         505us  < ack 4 win 0
         510us  < ack 4 win 4000
                > pkt 4-7
         610us  < ack 5 win 4000
                > pkt 8
                = ssthresh inf cwnd 9",
    );
}

/// A D-SACK beyond the ACK lies within the block that follows it (RFC 2883, section 4): the network
/// has duplicated packet 1. The window is two quarters of the RTT.
#[test]
fn a_dsack_beyond_the_ack_widens_the_window() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
         205us  < ack 0 sack 1-2,1-2
         249us  quiet
         250us  > pkt 0
                = recoveries 1",
    );
}

/// The window is a quarter of the least RTT, which that of an ACK may be as well as that of the
/// handshake: 40 us here.
#[test]
fn the_least_rtt_may_be_that_of_an_ack() {
    in_flight(4, rack()).run(
        "140us  < ack 1
                > pkt 4-5
         150us  < ack 1 sack 2-3
                > pkt 6
         160us  > pkt 1                 // the RTT of packet 2, 50 us, and 10 us after 100 us
                = recoveries 1",
    );
}

/// One probe for an RTT sample (section 7.2): the ACK of packet 4 brings one, and the next tail may
/// be probed.
#[test]
fn a_sample_allows_another_probe() {
    probed().run(
        "500us  < ack 4 win 0 sack 3-4
         510us  < ack 4 win 4000
                > pkt 4-7
         610us  < ack 5 win 3000
         810us  > pkt 7
                = probes 2",
    );
}

/// In recovery a single SACK is enough (section 6.2, step 4): packet 9 arrives 130 us after it was
/// sent, so 2 to 8, sent before it at the same time, are lost at once, and the pipe of 2 lets one of
/// them go. A reordering window would keep them until 255 us.
#[test]
fn in_recovery_one_sack_means_a_loss() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
         225us  > pkt 0
                = recoveries 1
         230us  < ack 0 sack 9-10,1-2
                > pkt 2
                = lost 8 sacked 2 flight 3",
    );
}

/// Without an RTT there is no probe (section 7.2): the timeout of 1 s comes first.
#[test]
fn no_probe_without_an_rtt() {
    in_flight(4, Config { handshake_sample: false, ..rack() }).run(
        "1000.1ms > pkt 0
                = timeouts 1 probes 0",
    );
}

/// While a timeout's losses are sent again there is no probe, but the next timeout: 400 ms after the
/// last progress.
#[test]
fn no_probe_while_losses_are_repaired() {
    in_flight(4, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 4
         225us  > pkt 0
         200.225ms > pkt 0
                = timeouts 1 recoveries 1
         200.325ms < ack 2
                > pkt 2-3
         600.325ms > pkt 2
                = timeouts 2 probes 0",
    );
}

/// A packet that was sent less than an RTT before a timeout is not lost (section 6.3), but the first
/// is: 4 to 6 stay in flight, and the window has room for packet 3. As long as they are out no probe
/// follows, but the next timeout.
#[test]
fn what_was_sent_lately_survives_a_timeout() {
    probed().run(
        "200.35ms < ack 3 win 4000
                > pkt 4-6
         200.4ms > pkt 3
                = timeouts 1 lost 1 resent 1 cwnd 4 flight 4
         200.45ms < ack 4 win 3000      // too soon for the last copy of packet 3
         200.5ms < ack 5 win 2000       // an RTT sample of 150 us
                = lost 0 resent 0 sacked 0
         400.5ms > pkt 5
                = timeouts 2 probes 1",
    );
}

/// Reordering has been seen, so packet 3 is given a quarter of the RTT after packet 4 has arrived.
/// That it is lost then begins no recovery: the timeout has cut the window.
#[test]
fn the_reordering_timer_cuts_no_window_after_a_timeout() {
    in_flight(10, rack()).run(
        "200us  < ack 0 sack 1-2
                > pkt 10
         210us  < ack 2                 // reordering; an RTT sample of 110 us
                > pkt 11-12
         412.5us > pkt 13               // a probe, after twice 101.25 us
         200.4125ms > pkt 2
                = timeouts 1 cwnd 1
         200.5125ms < ack 3
                > pkt 3-4
         200.6125ms < ack 3 sack 4-5
                > pkt 5
         200.6375ms > pkt 3             // a quarter of the RTT later
                = recoveries 0 timeouts 1",
    );
}

/// An ACK with a SACK is no duplicate ACK of the probe: the probe is remembered, and the ACK beyond
/// it cuts the window.
#[test]
fn a_sack_beyond_a_probe_does_not_forget_it() {
    probed().run(
        "500us  < ack 4 win 0
         510us  < ack 4 win 4000
                > pkt 4-7
         610us  < ack 4 win 4000 sack 5-6
         620us  < ack 6 win 2000
                = ssthresh 4 recoveries 0",
    );
}

/// Packet 2 is sent again less than its RTT of 490 us before the timeout, and so is not lost. Its
/// SACK is a duplicate ACK: F-RTO ends (RFC 5682, section 3.1, step 2a), and packet 8 is sent again
/// rather than new data.
#[test]
fn a_sack_of_a_retransmission_after_a_timeout_ends_f_rto() {
    let base = rack();
    let rtt = RttConfig { min_rto: Time::from_us(1), ..base.rtt };
    in_flight(10, Config { undo: true, rtt, ..base }).run(
        "300us  > pkt 10
         590us  < ack 0 sack 3-8,1-2
                > pkt 0
                > pkt 2
                = recoveries 1
         890us  > pkt 0
                = timeouts 1 cwnd 2 flight 2
         900us  < ack 0 sack 1-8
                > pkt 8
                = undos 0",
    );
}
