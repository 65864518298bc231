//! Each controller loads, couples the subflows of a connection, and carries data.

use crate::net::{Loaded, Net, send, skipped};
use linkpool_linux_control::algorithm::ALL;
use linkpool_linux_control::instance;
use linkpool_linux_control::intf::real;
use linkpool_linux_control::settings::Settings;
use std::time::{Duration, Instant};

#[test]
fn each_controller_carries_data_over_two_subflows() {
    if skipped("each_controller_carries_data_over_two_subflows") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 40));
    for (number, algorithm) in ALL.iter().enumerate() {
        let loaded = Loaded::new(algorithm.name, &Settings::default());
        net.enable(loaded.name());
        let port = 5000 + number as u16;
        let server = net.serve(port);
        let mut stream = net.connect(port);
        // Until both subflows carry data, which takes as long as the machine wants.
        let end = Instant::now() + Duration::from_secs(60);
        let mut sent = 0;
        let conn = loop {
            send(&mut stream, 500_000);
            sent += 500_000;
            let ours = sender_of(&loaded, net.client.inode);
            assert_eq!(ours.len(), 1, "{}: one connection of the client", algorithm.name);
            let paths: Vec<_> = ours[0].established().map(|(_, path)| path.delivered).collect();
            if sent >= 4_000_000 && paths.len() == 2 && paths.iter().all(|delivered| *delivered > 100) {
                break ours[0];
            }
            assert!(Instant::now() < end, "{}: {:?}; {:?}", algorithm.name, ours[0], net.mptcp_counters());
        };
        assert_ne!(conn.token, 0, "{}", algorithm.name);
        for (_, path) in conn.established() {
            assert!((1.0..10_000.0).contains(&real(path.cwnd)), "{}: {path:?}", algorithm.name);
            assert!(path.srtt > 0, "{}", algorithm.name);
        }
        drop(stream);
        assert_eq!(server.join().unwrap(), sent, "{}", algorithm.name);
        let [events_lost, rounds_lost, out_of_bounds, alone, acks, _] = loaded.0.counters().unwrap();
        assert_eq!((events_lost, rounds_lost, out_of_bounds, alone), (0, 0, 0, 0), "{}", algorithm.name);
        assert!(acks > 100, "{}", algorithm.name);
    }
}

fn sender_of(loaded: &Loaded, netns: u32) -> Vec<linkpool_linux_control::intf::Conn> {
    let all = loaded.0.connections().unwrap();
    all.iter().map(|(_, entry)| entry.conn).filter(|conn| conn.netns == netns).collect()
}

#[test]
fn a_name_that_is_taken_is_refused_and_parameters_change_while_it_runs() {
    if skipped("a_name_that_is_taken_is_refused") {
        return;
    }
    let loaded = Loaded::new("amp", &Settings { beta: Some(3.0), ..Settings::default() });
    let again = instance::load(&loaded.0.algorithm, loaded.name(), &Settings::default()).unwrap_err().to_string();
    assert!(again.contains("is loaded already"), "{again}");
    loaded.0.set(&Settings { tau: Some(5), ..Settings::default() }).unwrap();
    let params = instance::find(loaded.name()).unwrap().params().unwrap();
    assert_eq!((real(params.beta), params.tau, params.gamma), (3.0, 5, 2));
}

/// Unloaded, it serves the connections that it has, and no new ones.
#[test]
fn a_connection_outlives_its_controller() {
    if skipped("a_connection_outlives_its_controller") {
        return;
    }
    let net = Net::new(1);
    let loaded = Loaded::new("lia", &Settings::default());
    net.enable(loaded.name());
    let server = net.serve(6000);
    let mut stream = net.connect(6000);
    send(&mut stream, 100_000);
    let name = loaded.name().to_owned();
    instance::find(&name).unwrap().unload().unwrap();
    assert!(instance::find(&name).is_err());
    let draining: Vec<_> = instance::all().unwrap().into_iter().filter(|i| i.name == name).collect();
    assert!(draining.len() == 1 && draining[0].draining, "{draining:?}");
    send(&mut stream, 100_000);
    drop(stream);
    assert_eq!(server.join().unwrap(), 200_000);
}

/// An algorithm that ignores marks may be on a connection with ECN, for that is a setting of the
/// machine: then it halves for an echoed mark, as TCP does (RFC 3168, section 6.1.2).
#[test]
fn without_ecn_of_its_own_a_mark_is_a_loss() {
    if skipped("without_ecn_of_its_own_a_mark_is_a_loss") {
        return;
    }
    let net = Net::new(2);
    net.subflow_on_each_link(2);
    (0..2).for_each(|i| net.limit(i, 40));
    net.client.set("net/ipv4/tcp_ecn", "1").unwrap();
    for (number, algorithm) in ALL.iter().filter(|algorithm| !algorithm.needs_ecn).enumerate() {
        let loaded = Loaded::new(algorithm.name, &Settings::default());
        net.enable(loaded.name());
        let port = 6100 + number as u16;
        let server = net.serve(port);
        let mut stream = net.connect(port);
        (0..2).for_each(|i| net.mark(i, true));
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            send(&mut stream, 500_000);
            let conn = sender_of(&loaded, net.client.inode)[0];
            // Every packet is marked: windows are at their floor, and nothing is lost.
            let halved = |path: &linkpool_linux_control::intf::Path| path.cuts > 2 && real(path.cwnd) <= 2.0;
            if conn.established().all(|(_, path)| halved(path)) {
                break;
            }
            assert!(Instant::now() < end, "{}: no cuts for marks: {conn:?}", algorithm.name);
        }
        // Nor do they grow: the round after a mark is the reduction (the kernel's
        // tcp_may_raise_cwnd).
        for _ in 0..20 {
            send(&mut stream, 50_000);
            let conn = sender_of(&loaded, net.client.inode)[0];
            assert!(conn.established().all(|(_, path)| real(path.cwnd) <= 2.0), "{}: {conn:?}", algorithm.name);
        }
        (0..2).for_each(|i| net.mark(i, false));
        drop(stream);
        server.join().unwrap();
        assert_eq!(loaded.0.counters().unwrap()[2], 0, "{}", algorithm.name);
    }
}
