//! The translator, with scripts of ours.

use super::judge;
use super::translate::{Step, translate};
use linkpool_transport::LossRecovery;
use linkpool_units::Time;

/// A server whose peer is 50 ms away and has segments of 500 B.
const SERVER: &str = "`../common/defaults.sh`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 < S 0:0(0) win 9000 <mss 500,sackOK,wscale 2>
   +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,wscale 8>
 +.05 < . 1:1(0) ack 1 win 5000
   +0 accept(3, ..., ...) = 4
";

fn after_opening(more: &str) -> String {
    format!("{SERVER}{more}")
}

/// Every kind of line, and what becomes of it.
#[test]
fn each_line_has_its_translation() {
    let script = after_opening(
        "+.01 write(4, ..., 1700) = 1700
           +0 > P. 1:1501(1500) ack 1
           +0 > P. 1501:1701(200) ack 1
        +.051 < . 1:1(0) ack 1 win 5000 <sack 501:1001 1501:1701,nop,nop> // a comment
    +.02~+.03 > . 1:501(500) ack 1
           +0 %{
n = 0x10   # a comment
n += 2
assert tcpi_snd_cwnd == n, tcpi_snd_cwnd
assert tcpi_snd_ssthresh == 0x7fffffff; assert tcpi_reordering == 3
}%
           +0 close(4) = 0
           +0 > F. 1701:1701(0) ack 1
",
    );
    let translation = translate(&script).unwrap().unwrap();
    let line = |text: &str| Step::Line(text.into());
    let expected = [
        line("+0us > syn"),
        line("+50000us < synack"),
        line("+0us > ack 0"),
        Step::Write(Time::from_ms(10), 1700),
        line("+0us > pkt 0"),
        line("+0us > pkt 1"),
        line("+0us > pkt 2"),
        line("+0us > pkt 3 len 200 last"),
        line("+51000us < ack 0 win 20000 sack 1-2,3-3+200"),
        line("+8000us..+30000us > pkt 0"), // earlier by Linux's ticks
        line("+0us = window 18 threshold inf"),
    ];
    let steps: Vec<Step> = translation.steps.into_iter().map(|(_, step)| step).collect();
    assert_eq!(steps, expected);
    assert_eq!(translation.left_out, ["tcpi_reordering"]);
    assert_eq!((translation.config.mss, translation.config.buffers.receive), (500, 20_000));
    assert_eq!(translation.config.recovery, LossRecovery::Rack);
}

/// A script of ours passes; with another number in it, it fails at its line.
#[test]
fn a_script_passes_or_fails() {
    let script = |window: u32| {
        after_opening(&format!(
            "+0 write(4, ..., 5000) = 5000
             +0 > P. 1:5001(5000) ack 1
           +.05 < . 1:1(0) ack 2001 win 5000
             +0 %{{ assert tcpi_snd_cwnd == {window}, tcpi_snd_cwnd }}%
             +0 %{{ assert tcpi_unacked == 6 }}%"
        ))
    };
    assert_eq!(judge(&script(14)), ("passes", String::new()));
    let (verdict, remark) = judge(&script(13));
    assert_eq!(verdict, "fails");
    assert!(remark.starts_with("line 10: window is 14, not 13"), "{remark}");
}

/// A client without SACKs, and a probe of a window that is shut.
#[test]
fn a_client_and_a_shut_window() {
    let script = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0...0.010 connect(3, ..., ...) = 0
        +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
      +.01 < S. 0:0(0) ack 1 win 2000 <mss 1000,wscale 4>
        +0 > . 1:1(0) ack 1
        +0 write(3, ..., 3000) = 3000
        +0 > P. 1:2001(2000) ack 1
      +.01 < . 1:1(0) ack 2001 win 0
      +.21 > . 2000:2000(0) ack 1";
    assert_eq!(judge(script), ("passes", String::new()));
    let translation = translate(script).unwrap().unwrap();
    assert_eq!(translation.config.recovery, LossRecovery::NewReno);
    assert_eq!(translation.config.buffers.receive, 2000); // the window of a SYN-ACK is not scaled
    assert_eq!(translation.steps[7].1, Step::Line("+175750us..+232250us > pkt 1+999 data 2 len 0".into()));
}

/// What is not known is named, with its line; nothing is skipped.
#[test]
fn an_unknown_construct_is_an_error() {
    for (more, message) in [
        ("+0 shutdown(4, SHUT_WR) = 0", "line 7: the call `shutdown(4, SHUT_WR)`"),
        ("+0 read(4, ..., 10) = -1 EAGAIN (again)", "line 7: `read(4, ..., 10) = -1 EAGAIN (again)`"),
        (
            "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0",
            "line 7: the call `setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4)`",
        ),
        ("+0 < . 1:101(100) ack 1 win 5000", "line 7: a packet `.` with data or flags"),
        ("+0 < . 1:1(0) ack 1 win 5000 <TS val 1 ecr 2>", "line 7: the option `TS val 1 ecr 2`"),
        ("+0 < . 1:1(0) ack 1 win 5000 urg 1", "line 7: `urg` in a packet"),
        ("+0 > . 1:100(100) ack 1", "line 7: the sequence numbers `1:100(100)`"),
        ("+0 > . 1:501(500) ack 1", "line 7: data that was not written, or a part of a segment"),
        ("+0 > [ce] . 1:501(500) ack 1", "line 7: the ECN field `ce`"),
        ("7 write(4, ..., 10) = 10", "line 7: the time `7`, which is not relative"),
        ("+0 %{ assert tcpi_rtt == 5 }%", "line 7: the field `tcpi_rtt`"),
        ("+0 %{ assert tcpi_lost > 5 }%", "line 7: the assertion `tcpi_lost > 5`"),
        ("+0 %{ assert tcpi_lost == n }%", "line 7: the value `n`"),
        ("+0 %{\nassert tcpi_ca_state == TCP_CA_Loss\n}%", "line 8: the state `TCP_CA_Loss`"),
        ("+0 %{\nassert", "line 7: a block without its end, }%"),
        ("`sysctl -q net.ipv4.tcp_frto=0`", "line 7: the setting `net.ipv4.tcp_frto=0`"),
        ("`ip route flush cache`", "line 7: the command `ip route flush cache`"),
        ("--ip_version=ipv6", "line 7: the option `--ip_version=ipv6`"),
    ] {
        assert_eq!(judge(&after_opening(more)), ("not understood", message.into()), "{more}");
    }
    assert_eq!(judge("+0 close(3) = 0"), ("not understood", "line 1: a script that opens no connection".into()));
}
