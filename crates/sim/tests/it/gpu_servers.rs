//! Flows and collectives of GPU servers, against times worked out by hand.

use crate::common::run;
use crate::ideal::{RENO, lone, rounding};

/// Two groups of two servers of four GPUs: NVLink 400 Gbps and 200 ns, NICs 100 Gbps and 500 ns, uplinks 200 Gbps and
/// 1 us, PCIe 200 Gbps and 300 ns.
fn servers(keys: &str) -> String {
    format!(
        "gpu-servers = {{ groups = 2, servers_per_group = 2, gpus = 4, spines = 1, nvlink_rate = \"400Gbps\", \
         nvlink_delay = \"200ns\", rate = \"100Gbps\", delay = \"500ns\", uplink_rate = \"200Gbps\", uplink_delay = \"1us\"{keys} }}"
    )
}

/// Picoseconds of a byte, and of the delay.
type Hop = (u64, u64);
const NVLINK: Hop = (20, 200_000);
const NIC: Hop = (80, 500_000);
const UP: Hop = (40, 1_000_000);
const PCIE: Hop = (40, 300_000);

/// A handshake of 42 B, of which the third segment goes before the data; `packets` of 1,462 B, one after another over the
/// slowest link; and the last ACK.
fn by_hand(hops: &[Hop], packets: u64) -> u64 {
    let once = |bytes: u64| hops.iter().map(|(byte, delay)| bytes * byte + delay).sum::<u64>();
    let slowest = hops.iter().map(|(byte, _)| *byte).max().unwrap();
    2 * once(42) + 42 * hops[0].0 + once(1_462) + (packets - 1) * 1_462 * slowest + once(42)
}

#[track_caller]
fn check(keys: &str, (from, to): (&str, &str), hops: &[Hop]) {
    let (fct, ideal) = lone(&servers(keys), RENO, (from, to, "9800B"));
    // The ideal leaves out the third segment of hosts with several ports, by which others might go.
    let bound = by_hand(hops, 7) - 42 * hops[0].0 - rounding(7, hops.len() as u64);
    assert_eq!((fct, ideal), (by_hand(hops, 7), bound), "{keys} {to}");
}

#[test]
fn a_flow_takes_the_way_of_the_rule() {
    check("", ("g0.0", "g0.1"), &[NVLINK, NVLINK]);
    check("", ("g0.0", "g1.0"), &[NIC, NIC]);
    check("", ("g0.0", "g1.1"), &[NIC, UP, UP, NIC]);
    check("", ("g0.0", "g3.0"), &[NIC, UP, UP, NIC]);
    let pxn = ", pxn = true";
    check(pxn, ("g0.0", "g0.1"), &[NVLINK, NVLINK]);
    check(pxn, ("g0.0", "g1.0"), &[NIC, NIC]);
    check(pxn, ("g0.0", "g1.1"), &[NVLINK, NVLINK, NIC, NIC]);
    check(pxn, ("g0.0", "g3.1"), &[NVLINK, NVLINK, NIC, UP, UP, NIC]);
    // Rails with spines of their own, which only PXN joins.
    check(", pxn = true, shared_spines = false", ("g0.0", "g3.1"), &[NVLINK, NVLINK, NIC, UP, UP, NIC]);
    // GPUs 0 and 1 share a NIC, and a PCIe switch, which they do not take to each other.
    let shared = ", nics = 2, pcie_rate = \"200Gbps\", pcie_delay = \"300ns\"";
    check(shared, ("g0.0", "g0.1"), &[NVLINK, NVLINK]);
    check(shared, ("g0.0", "g1.1"), &[PCIE, NIC, NIC, PCIE]);
    check(shared, ("g0.0", "g1.2"), &[PCIE, NIC, UP, UP, NIC, PCIE]);
    // All NICs of a group at one leaf: two links by it as by NVLink.
    check(", rails = false", ("g0.0", "g0.1"), &[NVLINK, NVLINK]);
    check(", rails = false", ("g0.0", "g1.3"), &[NIC, NIC]);
}

/// Rings of four GPUs, of a server or along a rail, all at once: 6 steps of 2 packets of 1,000 B over two links, after a
/// handshake of 40 B, each with the ACK of the step before ahead of it. GPUs of a server, and of a rail at its leaf, do
/// not disturb others.
#[test]
fn all_reduces_over_nvlink_and_along_rails() {
    let took = |keys: &str| -> Vec<u64> {
        let r = run(&format!(
            "duration = \"10ms\"\n[topology.gpu-servers]\ngroups = 1\nservers_per_group = 4\ngpus = 4\nspines = 1\nnvlink_rate = \
             \"400Gbps\"\nnvlink_delay = \"200ns\"\nrate = \"100Gbps\"\ndelay = \"500ns\"\n[transport.t]\ncontrol = \"reno\"\n\
             mss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\nack_every = 1\n[[workload.collective]]\ntransport = \"t\"\n\
             algorithm = \"ring-all-reduce\"\nsize = \"7680B\"\nranks = 4\ngroups = 4\n{keys}\n"
        ));
        r.outcome.jobs.iter().map(|j| (j.job.end.unwrap() - j.job.start).0).collect()
    };
    let ring = |(byte, delay): Hop| {
        let message = 3 * 1_000 * byte + 2 * delay;
        let handshake = 4 * (40 * byte + delay) + 40 * byte;
        handshake + 6 * message + 5 * 40 * byte
    };
    assert_eq!(took("stride = 1\ngroup_stride = 4"), [ring(NVLINK); 4]);
    assert_eq!(took("stride = 4\ngroup_stride = 1"), [ring(NIC); 4]);
}

/// Servers A and B as a graph: two GPUs on two rails, joined by an NVLink switch or by cables of their own, and a NIC of each at
/// a leaf of its rail; no spine joins the leaves. C is a host at both leaves.
fn graph(inside: &str) -> String {
    let host = |name: &str| {
        let (server, rail) = name.split_at(1);
        format!("{{ id = \"{name}\", kind = \"host\", forwards = true, server = \"{server}\", rail = {rail} }}, ")
    };
    let hosts: String = ["A0", "A1", "B0", "B1"].map(host).concat();
    let nic = |(from, to): (&str, &str)| format!("{{ source = \"{from}\", target = \"{to}\" }}, ");
    let nics = [("A0", "l0"), ("B0", "l0"), ("A1", "l1"), ("B1", "l1"), ("C", "l0"), ("C", "l1")].map(nic).concat();
    let switch = |name: &str, layer: &str, server: &str| {
        format!("{{ id = \"{name}\", kind = \"switch\", layer = \"{layer}\"{server} }}, ")
    };
    let leaves: String = ["l0", "l1"].map(|leaf| switch(leaf, "edge", "")).concat();
    let fast = "rate = \"400Gbps\", delay = \"200ns\"";
    let cable = |a: &str, b: &str| format!("{{ source = \"{a}\", target = \"{b}\", {fast} }}, ");
    let (mut nodes, mut cables) = (String::new(), String::new());
    for server in ["A", "B"] {
        let [gpu0, gpu1, nvlink] = ["0", "1", "n"].map(|end| format!("{server}{end}"));
        if inside == "switch" {
            nodes += &switch(&nvlink, "nvlink", &format!(", server = \"{server}\""));
            cables += &[&gpu0, &gpu1].map(|gpu| cable(gpu, &nvlink)).concat();
        } else {
            cables += &cable(&gpu0, &gpu1).repeat(2);
        }
    }
    format!(
        "graph = {{ rate = \"100Gbps\", delay = \"500ns\", nodes = [{hosts}{{ id = \"C\", kind = \"host\" }}, {leaves}{nodes}], \
         edges = [{nics}{cables}] }}"
    )
}

/// The third segment of a handshake goes before the data, from C too: its ways to a rail are all by one link.
#[test]
fn a_flow_takes_the_way_that_a_graph_of_servers_says() {
    for (inside, over) in [("switch", &[NVLINK, NVLINK][..]), ("cables", &[NVLINK])] {
        let took = |from, to, hops: &[Hop]| {
            let (fct, ideal) = lone(&graph(inside), RENO, (from, to, "9800B"));
            assert_eq!(fct, by_hand(hops, 7), "{inside}: {from} to {to}");
            assert!(ideal <= fct, "{inside}: {from} to {to}: {ideal}");
        };
        took("A0", "A1", over);
        took("A0", "B0", &[NIC, NIC]);
        took("A0", "B1", &[over, &[NIC, NIC]].concat());
        took("B1", "A0", &[over, &[NIC, NIC]].concat());
        took("C", "A1", &[NIC, NIC]);
    }
}
