//! AMP's suppression of subflows (AMP paper, Algorithm 1), as the sender carries it out: only new
//! data is kept from the subflows beyond the first; their data in flight is acknowledged and sent
//! again as usual.

use crate::common::script::{Script, sender};
use crate::common::{AMP, CUT, config};
use linkpool_transport::control::{AmpConfig, ControlConfig};
use linkpool_transport::{Config, Multipath, Sender};

/// Two subflows at their minimum, gamma = 2, tau = 2.
fn amp() -> Config {
    let amp = AmpConfig { gamma: 2, tau: 2, cut: CUT, ..AMP };
    Config { subflows: 2, initial_window: 2, initial_ssthresh: 2_000, ..config(ControlConfig::Amp(amp)) }
}

/// Runs it to suppression, at 500 us, with packets 2 and 3 of subflow 1 in flight.
fn suppressed() -> Script<Sender> {
    suppressed_with(amp())
}

fn suppressed_with(config: Config) -> Script<Sender> {
    let mut script = sender(config, None);
    script.run(
        "0      > syn ecn
         100us  < synack ecn
                > ack 0
                > pkt 0-1 ect
                > s1 syn join ecn
         200us  < s1 synack ecn
                > s1 ack 0
                > s1 pkt 0 data 2 ect
                > s1 pkt 1 data 3 ect
                = suppressed false
         300us  < ack 1 ece                 // a round of subflow 0 has ended: one at the minimum
                > pkt 2 data 4 ect cwr
                = cwnd 2 s1 cwnd 2
                < ack 2 ece                 // not the first mark of the window: it grows, + 1/4
                > pkt 3 data 5 ect
                = cwnd 2.25
         400us  < s1 ack 1 data 2 ece
                > s1 pkt 2 data 6 ect cwr
                < s1 ack 2 data 4 ece
                > s1 pkt 3 data 7 ect
                = s1 cwnd 2.2353            // 2 + 1/(2.25 + 2)
                = s1 suppressed false
         500us  < ack 3 data 4              // beyond 2 packets: the second round
                > pkt 4 data 8 ect
                = suppressed false
                = s1 suppressed true",
    );
    script
}

/// ACKs on subflow 1 are taken, and grow its window by the window of subflow 0, but no new data
/// follows there.
#[test]
fn no_new_data_while_suppressed() {
    suppressed().run(
        "       = cwnd 2.6944 s1 cwnd 2.2353   // 2.25 + 1/2.25
         600us  < s1 ack 3 data 6
                < s1 ack 4 data 8
                = s1 cwnd 2.9776 flight 0      // 2.2353 + 2/2.6944
         700us  < ack 4 data 8
                > pkt 5 data 9 ect
                > pkt 6 data 10 ect
                = cwnd 3.0656                  // 2.6944 + 1/2.6944
                < ack 5 data 9
                > pkt 7 data 11 ect",
    );
}

/// The data in flight on subflow 1 when it was suppressed is lost: it is sent again there, until
/// all has arrived.
#[test]
fn what_is_in_flight_is_sent_again() {
    suppressed().run(
        "600us      < ack 4 data 6
                    > pkt 5 data 9 ect
                    > pkt 6 data 10 ect
         100ms      < ack 7 data 6             // keeps the timer of subflow 0 away
                    > pkt 7 data 11 ect
                    > pkt 8 data 12 ect
                    > pkt 9 data 13 ect
         200.4ms    > s1 pkt 2 data 6 ect
                    = s1 timeouts 1 flight 1 cwnd 1 ssthresh 2 suppressed true
         200.5ms    < s1 ack 3 data 7
                    > s1 pkt 3 data 7 ect
                    = s1 flight 1
         200.6ms    < s1 ack 4 data 11
                    = s1 flight 0",
    );
}

/// Released after two rounds of subflow 0 without a mark and with three packets or more; the
/// windows are as they were.
#[test]
fn release_after_two_quiet_rounds() {
    suppressed().run(
        "600us  < s1 ack 4 data 8
                = s1 flight 0
         700us  < ack 4 data 8
                > pkt 5 data 9 ect
                > pkt 6 data 10 ect
                < ack 5 data 9                 // the first round
                > pkt 7 data 11 ect
                = s1 suppressed true
         800us  < ack 6 data 10
                > pkt 8 data 12 ect
                < ack 7 data 11
                > pkt 9 data 13 ect
         900us  < ack 8 data 12                // the second
                > s1 pkt 4 data 14 ect
                > pkt 10 data 15 ect
                > s1 pkt 5 data 16 ect
                > pkt 11 data 17 ect
                = cwnd 4.1102                  // 3.9579 + 1/(3.9579 + 2.6065): coupled again
                = s1 suppressed false cwnd 2.6064
         200.9ms > pkt 8 data 12 ect           // the timers run from what was sent last,
                > s1 pkt 4 data 14 ect         // not from before the silence
                = timeouts 1 s1 timeouts 1",
    );
}

/// A mark in a round: two more are needed.
#[test]
fn a_mark_keeps_it_suppressed() {
    suppressed().run(
        "600us  < s1 ack 4 data 8
         700us  < ack 4 data 8
                > pkt 5 data 9 ect
                > pkt 6 data 10 ect
                < ack 5 data 9                 // the first round
                > pkt 7 data 11 ect
         800us  < ack 6 data 10 ece            // cut to 3.3918 x 3/4 = 2.5438
         900us  < ack 7 data 11
                > pkt 8 data 12 ect cwr
                < ack 8 data 12
                > pkt 9 data 13 ect
                > pkt 10 data 14 ect
                = s1 suppressed true",
    );
}

/// Subflow 0 has failed: the others carry the data though they are suppressed, since no other
/// subflow can.
#[test]
fn suppressed_subflows_stand_in_for_a_stale_one() {
    let multipath = Multipath { stale_after: 1, ..Multipath::default() };
    suppressed_with(Config { multipath, ..amp() }).run(
        "600us  < s1 ack 4 data 5
                = s1 flight 0 cwnd 2.6064
         200.5ms > s1 pkt 4 data 5 ect
                > pkt 3 data 5 ect
                > s1 pkt 5 data 8 ect
                = s1 suppressed true reinjected 2000",
    );
}
