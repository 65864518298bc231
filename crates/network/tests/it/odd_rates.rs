//! Rates at which a byte does not take a whole number of picoseconds.

use crate::common::traffic::{Scene, Send};
use crate::common::{Rules, host};
use linkpool_network::topology::{self, Generator};
use linkpool_network::{Envelope, Kind, Packet, QueueLimit};
use linkpool_units::{Rate, Time};

/// 1,000 packets back to back: each may lose less than 2 ps to rounding, and none comes early by
/// more than that.
#[test]
fn a_packet_is_off_by_two_picoseconds_at_most() {
    for rate in [Rate(3_000_000_000), Rate(7_777_777), Rate(300_000_000_000), Rate(40_000_000_001)] {
        let delay = Time::from_us(1);
        let packet = Packet { envelope: Envelope::new(host(1), 1462, 1400), kind: Kind::DATA, ..Packet::default() };
        let send = |seq| Send { at: Time::ZERO, from: host(0), packet: Packet { seq, ..packet } };
        let sends = (0..1000).map(send).collect();
        let rules = Rules { limit: QueueLimit::Packets(10_000), ..Rules::default() };
        let fabric = topology::ManyToOne { senders: 1, rate, delay }.fabric();
        let scene = Scene::new(fabric, rules, sends, Time::from_secs(10));
        for (i, arrival) in scene.run(1000).arrivals[1].iter().enumerate() {
            // Store and forward: the first waits twice, the others once more each.
            let exact = (i as f64 + 2.0) * 1462.0 * 8e12 / rate.0 as f64 + 2.0 * delay.0 as f64;
            let off = exact - arrival.at.0 as f64;
            assert!((-1.0..2.0 * (i as f64 + 2.0)).contains(&off), "packet {i} at {rate:?}: {off} ps");
        }
    }
}
