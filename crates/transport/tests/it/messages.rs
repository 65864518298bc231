//! Connections that stay open: messages one after another, idle times between them.

use crate::common::script::{Script, open_sender};
use crate::common::{CUBIC, algorithms, config, reno};
use linkpool_transport::control::{ControlConfig, CubicConfig};
use linkpool_transport::{Buffers, Config, LossRecovery, Sender};

/// A message ends with a segment of its own. The connection does not end with it. Of a window of 4,
/// the first message fills 2, which does not let it grow; then 3 are in flight, which lets it grow
/// to 6.
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

/// A window of 12 packets after the first message, of 8 packets; subflow 0 was last limited by it at
/// 200 us.
fn after_eight_packets(config: Config) -> Script<Sender> {
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
                < ack 8
                = cwnd 12",
    );
    script
}

/// A window of 12 in slow start, 599.8 ms without data with a timeout of 200 ms: halved twice, but
/// not below the initial window of 4. The threshold is unlimited, as before.
fn after_half_a_second(config: Config) -> String {
    let mut script = after_eight_packets(config);
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

/// 150.2 ms after the last data nothing changes; 250 ms after that the window is halved once.
#[test]
fn idleness_counts_from_the_last_data() {
    let mut script = after_eight_packets(reno());
    script.extend("150ms", 1_000).run("150ms > pkt 8 last\n150.1ms < ack 9\n= cwnd 12");
    script.extend("400ms", 1_000).run("400ms > pkt 9 last\n= cwnd 6");
}

/// Data in flight: the timeout counts from the ACK at 200 us, and the last data was sent before.
#[test]
fn a_subflow_with_data_in_flight_is_not_idle() {
    let mut script = open_sender(Config { initial_window: 4, ..reno() }, 4_000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0-2
                > pkt 3 last
         200us  < ack 1
                = cwnd 5 rto 200ms",
    );
    script.extend("200150us", 1_000).run("200150us > pkt 4 last\n= cwnd 5");
}

/// Messages of a packet at a time. 200 ms, a timeout, after the window was last full it is taken
/// half of the way to the initial window: 12, 8, 6, 5 (RFC 2861, section 3.2). At 199.9 ms it is
/// not.
#[test]
fn a_window_that_is_not_filled_for_a_timeout_shrinks() {
    let mut script = after_eight_packets(reno());
    for (n, us, cwnd) in
        [(8, 100_000, 12), (9, 199_900, 12), (10, 200_200, 8), (11, 390_000, 8), (12, 400_200, 6), (13, 600_200, 5)]
    {
        let (more, acked) = (us + 100, n + 1);
        script
            .extend(&format!("{us}us"), 1_000)
            .run(&format!("{us}us > pkt {n} last\n= cwnd {cwnd}\n{more}us < ack {acked}\n= cwnd {cwnd}"));
    }
    let mut kept = after_eight_packets(Config { slow_start_after_idle: false, ..reno() });
    kept.extend("100ms", 1_000).run("100ms > pkt 8 last\n100.1ms < ack 9");
    kept.extend("200.2ms", 1_000).run("200.2ms > pkt 9 last\n= cwnd 12");
}

/// The most packets in flight since count, if they are more than the initial window. Slow start has
/// ended at 12 packets, so 6 packets do not limit it: (12 + 6) / 2.
#[test]
fn a_window_shrinks_towards_the_packets_that_it_has_held() {
    let mut script = after_eight_packets(Config { initial_ssthresh: 12_000, ..reno() });
    script.extend("100ms", 6_000).run("100ms > pkt 8-12\n> pkt 13 last\n100.1ms < ack 14\n= cwnd 12");
    script.extend("200.2ms", 1_000).run("200.2ms > pkt 14 last\n= cwnd 9 ssthresh 12");
}

/// The initial window is not lowered, and so the threshold stays.
#[test]
fn an_initial_window_that_is_not_filled_stays() {
    let mut script = open_sender(Config { initial_window: 4, initial_ssthresh: 2_000, ..reno() }, 1_000);
    script.run("0 > syn\n100us < synack\n> ack 0\n> pkt 0 last\n200us < ack 1\n= cwnd 4");
    for (n, ms) in [(1, 100), (2, 201), (3, 302)] {
        script
            .extend(&format!("{ms}ms"), 1_000)
            .run(&format!("{ms}ms > pkt {n} last\n= cwnd 4 ssthresh 2\n{ms}100us < ack {}", n + 1));
    }
}

/// CUBIC's time stands still while nothing is in flight (Linux, `bictcp_cwnd_event`): the window
/// after pauses of 5 s is that after pauses of 1 us. Had it gone on, 0.4 packets x 5^3 would be 50.
#[test]
fn cubic_does_not_grow_by_pauses() {
    let window = |pause_us: u64| {
        let cubic = config(ControlConfig::Cubic(CubicConfig { hystart: false, ..CUBIC }));
        let config = Config { initial_window: 4, initial_ssthresh: 2_000, slow_start_after_idle: false, ..cubic };
        let mut script = open_sender(config, 4_000);
        script.run(
            "0      > syn
             100us  < synack
                    > ack 0
                    > pkt 0-2
                    > pkt 3 last
             200us  < ack 1
                    < ack 2
                    < ack 3
                    < ack 4",
        );
        let mut at = 200;
        for n in [4, 8, 12] {
            at += pause_us;
            let answered = at + 100;
            script.extend(&format!("{at}us"), 4_000).run(&format!(
                "{at}us > pkt {n}-{}\n> pkt {} last\n{answered}us < ack {}\n< ack {}",
                n + 2,
                n + 3,
                n + 2,
                n + 4
            ));
            at = answered;
        }
        script.end.congestion(linkpool_transport::SubflowId::FIRST).cwnd
    };
    assert_eq!(window(5_000_000), window(1));
    assert!(window(1) > 4.0);
}

/// The same for every algorithm and every way to recover from losses.
#[test]
fn every_algorithm_carries_messages() {
    for (name, control) in algorithms() {
        for recovery in [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Rack] {
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

/// The receiver has no room when a message is added: the sender probes after a timeout.
#[test]
fn a_message_that_finds_no_room_is_probed_for() {
    let buffers = Buffers { receive: 2000, ..Buffers::default() };
    let mut script = open_sender(Config { initial_window: 2, buffers, ..reno() }, 2000);
    script.run(
        "0      > syn
         100us  < synack
                > ack 0
                > pkt 0
                > pkt 1 last
         200us  < ack 2 win 0",
    );
    script.extend("300us", 1000).run(
        "200.3ms > pkt 1+999 data 2 len 0
         200.4ms < ack 2 win 1000
                > pkt 2 last",
    );
}
