//! Connections that stay open: messages one after another, idle times between them.

use crate::common::algorithms;
use crate::common::config;
use crate::common::reno;
use crate::common::script::open_sender;
use linkpool_transport::control::ControlConfig;
use linkpool_transport::{Config, LossRecovery};

/// A message ends with a segment of its own. The connection does not end with it. Of a window of 4,
/// the first message fills 2, which does not let it grow; then 3 are in flight, which lets it grow
/// to
/// 6.
#[test]
fn messages_share_a_handshake() {
    let mut script = open_sender(Config { initial_window: 4, ..reno() }, 1_500);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > pkt 1 len 500 last
         200us  < ack 1
                < ack 1+500
                = state open acked 1500",
    );
    script.extend("300us", 1_000).run("300us > pkt 1+500 last");
    script.extend("310us", 2_000).run(
        "310us  > pkt 2+500
                > pkt 3+500 last
         400us  < ack 2+500
                < ack 4+500
                = state open acked 4500 cwnd 6 rto 200ms
         10s    quiet",
    );
}

/// Two messages that wait for the handshake follow each other.
#[test]
fn messages_wait_for_the_handshake() {
    let mut script = open_sender(Config { initial_window: 4, ..reno() }, 1_000);
    script.run("0 > syn");
    script.extend("50us", 500).run(
        "100us  < synack
                > ack 0
                > pkt 0 last
                > pkt 1 len 500 last",
    );
}

/// A segment that is sent again still says that a message ends.
#[test]
fn a_retransmission_ends_its_message() {
    let mut script = open_sender(Config { initial_window: 4, ..reno() }, 1_000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last",
    );
    script.extend("110us", 1_000).run(
        "110us   > pkt 1 last
         200.1ms > pkt 0 last
         200.2ms < ack 1
                 > pkt 1 last
         200.3ms < ack 2
                 = acked 2000 state open",
    );
}

/// Four messages of a packet each, acknowledged before the next: slow start ends at twice the
/// packet that is in flight. A message of three packets fills the window of 2, and each of their
/// ACKs adds 1.
#[test]
fn a_window_that_is_not_filled_does_not_grow() {
    let mut script = open_sender(Config { initial_window: 1, ..reno() }, 1_000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0 last
         200us  < ack 1
                = cwnd 2",
    );
    for n in 1..4 {
        let at = 100 * (2 * n + 1);
        script.extend(&format!("{at}us"), 1_000).run(&format!(
            "{at}us  > pkt {n} last
             {}us   < ack {}
                    = cwnd 2",
            at + 100,
            n + 1
        ));
    }
    script.extend("900us", 3_000).run(
        "900us  > pkt 4-5
         1ms    < ack 5
                > pkt 6 last
                < ack 6
                < ack 7
                = cwnd 5",
    );
}

/// A window of 12 in slow start, 599.8 ms without data with a timeout of 200 ms: halved twice, but
/// not below the initial window of 4. The threshold is unlimited, as before.
fn after_half_a_second(config: Config) -> String {
    let mut script = open_sender(Config { initial_window: 4, ..config }, 8_000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-3
         200us  < ack 1
                > pkt 4-5
                < ack 2
                > pkt 6
                > pkt 7 last
                < ack 3
                < ack 4
         300us  < ack 5
                < ack 6
                < ack 7
                < ack 8",
    );
    let before = script.end.congestion(linkpool_transport::SubflowId::FIRST).cwnd;
    assert!(before >= 8.0, "{before}");
    script.extend("600ms", 1_000);
    let state = script.end.congestion(linkpool_transport::SubflowId::FIRST);
    format!("{} {}", state.cwnd, state.ssthresh)
}

#[test]
fn idleness_takes_the_window_back_to_the_initial_one() {
    assert_eq!(after_half_a_second(reno()), "4 inf");
    let kept = after_half_a_second(Config { slow_start_after_idle: false, ..reno() });
    assert_eq!(kept, "12 inf");
}

/// The same for every algorithm and every way to recover from losses.
#[test]
fn every_algorithm_carries_messages() {
    for (name, control) in algorithms() {
        for recovery in [LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Rack] {
            let config = Config { recovery, ..config(control.clone()) };
            let ecn = !matches!(control, ControlConfig::Reno(()) | ControlConfig::Cubic(_)) && {
                let control = config.control.build(1);
                linkpool_transport::control::CongestionControl::needs_ecn(&control)
            };
            let mut script = open_sender(config, 1_000);
            let (syn, ect) = if ecn { (" ecn", " ect") } else { ("", "") };
            script.run(&format!("0 > syn{syn}\n100us < synack{syn}\n> ack 0\n> pkt 0 last{ect}\n200us < ack 1"));
            script
                .extend("300us", 500)
                .run(&format!("300us > pkt 1 len 500 last{ect}\n400us < ack 1+500\n= acked 1500 state open"));
            assert!(script.end.hook_error().is_none(), "{name}");
        }
    }
}
