//! The other fabrics of the papers.

use crate::common::{hashed, host, nodes, pinned};
use linkpool_network::topology::{self, Generator};
use linkpool_network::{Fabric, HostId, LinkId, Routes};
use linkpool_units::{Rate, Time};

const RATE: Rate = Rate::gbps(1);
const DELAY: Time = Time::from_us(20);

fn names(f: &Fabric, from: &str, path: &[LinkId]) -> String {
    let from = HostId::from(f.node(from).unwrap());
    nodes(f, from, path).iter().map(|n| f.name(*n)).collect::<Vec<_>>().join(" ")
}

/// The two pinned paths of S2 go over one bottleneck each; those of the others have no choice.
#[test]
fn traffic_shift_has_two_disjoint_paths() {
    let f = topology::TrafficShift { rate: RATE, delay: DELAY }.fabric();
    assert_eq!((f.hosts(), f.nodes(), f.links().len()), (6, 10, 20));
    let routes = Routes::new(&f, 1);
    let path = |from: &str, to: &str, i| {
        let (src, dst) = (HostId::from(f.node(from).unwrap()), HostId::from(f.node(to).unwrap()));
        names(&f, from, &routes.path(&f, src, pinned(&f, &routes, src, dst, i)))
    };
    assert_eq!(path("S2", "D2", 0), "S2 A1 B1 D2");
    assert_eq!(path("S2", "D2", 1), "S2 A2 B2 D2");
    assert_eq!(path("D2", "S2", 0), "D2 B1 A1 S2");
    assert_eq!(path("D2", "S2", 1), "D2 B2 A2 S2");
    for i in 0..2 {
        assert_eq!(path("S1", "D1", i), "S1 A1 B1 D1");
        assert_eq!(path("S3", "D3", i), "S3 A2 B2 D3");
    }
}

/// S2 and D2 have NICs on both sides, but they are hosts: nothing gets from one side to the other
/// over them.
#[test]
fn hosts_do_not_forward() {
    let f = topology::TrafficShift { rate: RATE, delay: DELAY }.fabric();
    let routes = Routes::new(&f, 1);
    let host = |name: &str| HostId::from(f.node(name).unwrap());
    assert!(!routes.reachable(&f, host("S1"), host("D3")));
    assert!(!routes.reachable(&f, host("S3"), host("D1")));
    assert_eq!(routes.path_count(&f, host("S1"), host("D3")), 0);
    assert!(routes.reachable(&f, host("S1"), host("D2")));
    assert!(routes.reachable(&f, host("S3"), host("D2")));
}

#[test]
fn many_to_one_meets_at_one_port() {
    let f = topology::ManyToOne { senders: 9, rate: RATE, delay: DELAY }.fabric();
    assert_eq!((f.hosts(), f.nodes(), f.links().len()), (10, 11, 20));
    let routes = Routes::new(&f, 1);
    let r = HostId::from(f.node("R").unwrap());
    for (from, name) in HostId::first(9).map(|h| (h, format!("S{}", h.index() + 1))) {
        let path = routes.path(&f, from, hashed(r, 7));
        assert_eq!(names(&f, &name, &path), format!("{name} W R"));
        assert_eq!(f.link_name(path[1]), "W->R");
    }
}

/// Only the cable between the switches has the bottleneck's rate and delay.
#[test]
fn dumbbell_has_one_bottleneck() {
    let (rate, delay) = (Rate::gbps(10), Time::from_us(1));
    let f = topology::Dumbbell { pairs: 3, rate, delay, bottleneck_rate: RATE, bottleneck_delay: DELAY }.fabric();
    assert_eq!((f.hosts(), f.nodes(), f.links().len()), (6, 8, 14));
    let routes = Routes::new(&f, 1);
    assert_eq!(names(&f, "S2", &routes.path(&f, host(1), hashed(host(4), 0))), "S2 L R D2");
    assert_eq!(names(&f, "D3", &routes.path(&f, host(5), hashed(host(0), 0))), "D3 R L S1");
    let slow: Vec<_> =
        LinkId::first(14).filter(|l| f.links()[l.index()].rate == RATE).map(|l| f.link_name(l)).collect();
    assert_eq!(slow, ["L->R", "R->L"]);
    assert!(f.links().iter().all(|l| (l.rate == RATE) == (l.delay == DELAY)));
}
