//! What endpoints report of themselves.

use crate::common::opened::both_in_flight;
use crate::common::script::receiver;
use crate::common::{AMP, S, config, reno};
use linkpool_transport::control::{AmpConfig, ControlConfig, Signal};
use linkpool_transport::{Config, Output, Segment, Sender, SubflowId};
use linkpool_units::Time;

/// Packet 0 of subflow 0 has arrived, after 200 us; the handshakes took 100 us each. Windows of 1
/// become 2.
#[test]
fn subflows_report_bytes_and_round_trip_times() {
    let amp = AmpConfig { signal: Signal::Delay(Time::from_secs(1)), ..AMP };
    let mut script = both_in_flight(Config { subflows: 2, ..config(ControlConfig::Amp(amp)) }, None);
    script.run("300us < ack 1\n> pkt 1-2 data 2");
    let sender = &script.end;
    assert_eq!([S[0], S[1]].map(|s| sender.acked_on(s)), [1000, 0]);
    assert_eq!([S[0], S[1]].map(|s| sender.min_rtt(s)), [Some(Time::from_us(100)); 2]);
    let mut names = Vec::new();
    sender.metrics(&mut |metric| names.push(metric.name));
    assert_eq!(names, ["suppressions", "releases"]);
    assert_eq!(sender.hook_error(), None);
}

struct Nowhere;

impl Output for Nowhere {
    fn send(&mut self, _: SubflowId, _: Segment) {}
    fn wake(&mut self, _: SubflowId, _: Time) {}
    fn jitter(&mut self, _: Time) -> Time {
        Time::ZERO
    }
}

#[test]
fn a_sender_remembers_when_it_began() {
    let mut sender = Sender::new(std::sync::Arc::new(reno()), Some(1000));
    sender.open(Time::from_us(5), &mut Nowhere);
    assert_eq!(sender.started(), Time::from_us(5));
}

#[test]
fn a_receiver_remembers_when_it_last_heard_of_the_sender() {
    let mut script = receiver(reno());
    script.run("0 < syn\n> synack\n100us < pkt 0\n> ack 1\n1ms quiet");
    assert_eq!(script.end.last_heard(), Time::from_us(100));
}

/// There are three switches on the path of subflow 0, and five on that of subflow 1.
#[test]
fn senders_know_the_switches_on_their_paths() {
    let mut sender = Sender::new(std::sync::Arc::new(Config { subflows: 2, ..reno() }), None);
    sender.know_hops(&[3, 5]);
    assert_eq!([S[0], S[1]].map(|s| sender.congestion(s).hops), [3, 5]);
}
