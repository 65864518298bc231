//! Carries data over an ideal channel and prints the number of ACKs: what `benchmarks/count.py`
//! runs under valgrind.
//!
//! Usage: count_acks dctcp|lia8|amp4 SEGMENTS

use linkpool_settings::{Preset, Settings};
use linkpool_transport::control::{Algorithm, ControlConfig};
use linkpool_transport::{
    Config, LossRecovery, Multipath, Output, Receiver, RttConfig, Segment, Sender, SenderState, SubflowId,
};
use linkpool_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// One direction of the channel.
#[derive(Default)]
struct Channel(VecDeque<(SubflowId, Segment)>);

impl Output for Channel {
    fn send(&mut self, subflow: SubflowId, segment: Segment) {
        self.0.push_back((subflow, segment));
    }
    fn wake(&mut self, _subflow: SubflowId, _at: Time) {}
    fn jitter(&mut self, _most: Time) -> Time {
        Time::ZERO
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (name, segments) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let segments: u64 = segments.parse().expect("usage: count_acks ALGORITHM SEGMENTS");
    let algorithm = |name| ControlConfig::of(Algorithm::named(name).expect("it is registered"), Preset::Linux);
    let (control, subflows) = match name.as_str() {
        "dctcp" => (algorithm("dctcp"), 1),
        "lia8" => (algorithm("lia"), 8),
        "amp4" => (algorithm("amp"), 4),
        _ => panic!("usage: count_acks dctcp|lia8|amp4 SEGMENTS"),
    };
    let config = Arc::new(Config {
        control,
        subflows,
        initial_ssthresh: 20 * 1_448,
        rtt: RttConfig {
            min_rto: Time::from_ms(10),
            max_rto: Time::from_secs(60),
            ..RttConfig::defaults(Preset::Linux)
        },
        fail_after: u32::MAX,
        recovery: LossRecovery::NewReno,
        cut_in_recovery: true,
        limited_transmit: false,
        ack_every: 1,
        quickack: false,
        multipath: Multipath::default(),
        ..Config::defaults(Preset::Linux)
    });
    let (mut forth, mut back) = (Channel::default(), Channel::default());
    let mut sender = Sender::new(config.clone(), Some(segments * 1448));
    let mut receiver = Receiver::new(config);
    let (mut now, mut acks) = (Time::ZERO, 0u64);
    sender.open(now, &mut forth);
    while sender.state() == SenderState::Open {
        now += Time::from_us(1);
        // Every 30th data segment is marked, so that windows stay finite.
        while let Some((subflow, segment)) = forth.0.pop_front() {
            let ce = matches!(segment, Segment::Data { .. }) && acks % 30 == 7;
            receiver.on_segment(subflow, segment, ce, now, &mut back);
        }
        now += Time::from_us(50);
        for s in SubflowId::first(subflows).skip(1) {
            sender.on_timer(s, now, &mut forth);
        }
        while let Some((subflow, segment)) = back.0.pop_front() {
            acks += 1;
            sender.on_segment(subflow, segment, now, &mut forth);
        }
    }
    println!("{acks}");
}
