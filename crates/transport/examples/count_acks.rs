//! Carries data over an ideal channel and prints the number of ACKs: what `benchmarks/count.py` runs under valgrind.
//!
//! Usage: count_acks dctcp|lia8|amp4 SEGMENTS

use linkpool_transport::control::{AckOrder, AmpConfig, ControlConfig, CutConfig, DctcpConfig, Release};
use linkpool_transport::{
    Buffers, Config, Multipath, Output, Receiver, Recovery, RttConfig, Segment, Sender, SenderState,
};
use linkpool_units::Time;
use std::collections::VecDeque;
use std::sync::Arc;

/// One direction of the channel.
#[derive(Default)]
struct Channel(VecDeque<(usize, Segment)>);

impl Output for Channel {
    fn send(&mut self, subflow: usize, segment: Segment) {
        self.0.push_back((subflow, segment));
    }
    fn wake(&mut self, _subflow: usize, _at: Time) {}
    fn jitter(&mut self, _most: Time) -> Time {
        Time::ZERO
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (law, segments) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let segments: u64 = segments.parse().expect("usage: count_acks LAW SEGMENTS");
    let cut = CutConfig { beta: 4.0, cwnd_min: 2.0, ack_order: AckOrder::CutInsteadOfGrowth };
    let (control, subflows) = match law.as_str() {
        "dctcp" => (
            ControlConfig::Dctcp(DctcpConfig {
                alpha0: 1.0,
                g: 0.0625,
                cwnd_min: 2.0,
                ack_order: AckOrder::CutInsteadOfGrowth,
            }),
            1,
        ),
        "lia8" => (ControlConfig::Lia(()), 8),
        "amp4" => {
            let release = Release::Rounds;
            (ControlConfig::Amp(AmpConfig { cut, gamma: 2, tau: 8, suppression: true, release }), 4)
        }
        _ => panic!("usage: count_acks dctcp|lia8|amp4 SEGMENTS"),
    };
    let config = Arc::new(Config {
        control,
        subflows,
        mss: 1448,
        initial_window: 10,
        initial_ssthresh: 20.0,
        rtt: RttConfig {
            min_rto: Time::from_ms(10),
            initial_rto: Time::from_secs(1),
            max_rto: Time::from_secs(60),
            max_backoff: 64,
            srtt_gain: 0.125,
            rttvar_gain: 0.25,
        },
        handshake_sample: true,
        syn_timeout: Time::from_secs(1),
        syn_retries: 6,
        fail_after: u32::MAX,
        recovery: Recovery::NewReno,
        undo: true,
        cut_in_recovery: true,
        dupack_threshold: 3,
        adaptive_threshold: false,
        limited_transmit: false,
        byte_counting: true,
        byte_counting_limit: u32::MAX,
        ack_every: 1,
        ack_delay: Time::from_ms(40),
        quickack: false,
        join_jitter: Time::ZERO,
        buffers: Buffers::default(),
        multipath: Multipath::default(),
        accept_ecn: true,
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
        for s in 1..subflows {
            sender.on_timer(s, now, &mut forth);
        }
        while let Some((subflow, segment)) = back.0.pop_front() {
            acks += 1;
            sender.on_segment(subflow, segment, now, &mut forth);
        }
    }
    println!("{acks}");
}
