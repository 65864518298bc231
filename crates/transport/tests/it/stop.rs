//! Stopping a flow: no new data, but sent data is completed.

use crate::common::reno;
use crate::common::script::sender;
use linkpool_transport::Config;

#[test]
fn what_is_in_flight_is_seen_through() {
    let mut script = sender(Config { initial_window: 4, ..reno() }, None);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-3",
    );
    script.stop("150us").run(
        "200us  < ack 2
                = state open
                < ack 4
                > fin
                = state finished acked 4000 ended 200us
         10s    quiet",
    );
}

/// A retransmission after the stop says where the stream ends, so that the receiver knows.
#[test]
fn a_retransmission_tells_the_end() {
    let mut script = sender(Config { initial_window: 2, ..reno() }, None);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-1",
    );
    script.stop("150us").run(
        "200.1ms > pkt 0
         200.2ms < ack 1
                 > pkt 1 last
         200.3ms < ack 2
                 > fin",
    );
}

/// Stopped before it could send anything: over with the handshake.
#[test]
fn a_stopped_handshake_ends_with_the_syn_ack() {
    let mut script = sender(reno(), None);
    script.run("0 > syn");
    script.stop("50us").run(
        "       = state open
         100us  < synack
                > ack 0
                > fin
                = state finished acked 0",
    );
}

/// Data beyond the stop is not sent; the size becomes the amount sent.
#[test]
fn a_flow_of_known_size_can_be_stopped() {
    let mut script = sender(reno(), Some(1_000_000));
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0",
    );
    script.stop("150us").run(
        "200us  < ack 1
                > fin
                = acked 1000",
    );
}

/// A stop after the end changes nothing.
#[test]
fn a_stop_after_the_end() {
    let mut script = sender(reno(), Some(1000));
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last
         200us  < ack 1
                > fin",
    );
    script.stop("300us").run("1s = state finished acked 1000 ended 200us");
}

/// A SYN that nobody answers is not sent for ever.
#[test]
fn a_stopped_handshake_may_still_fail() {
    let mut script = sender(Config { syn_retries: 0, ..reno() }, None);
    script.run("0 > syn");
    script.stop("50us").run("1s = state failed");
}
