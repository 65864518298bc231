//! Every topology carries traffic, and none of it depends on the number of threads.

use crate::common::{Whole, run_on, scenario};
use linkpool_sim::Plan;

const TOPOLOGIES: [&str; 9] = [
    "leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 3\nuplink_rate = \"4Gbps\"",
    "fat-tree]\nk = 4\ntiers = 2",
    "fat-tree]\nk = 4\nnics = 2\ncore_delay = \"4us\"",
    "vl2]\naggregation_ports = 4\nintermediate_ports = 4\nhosts_per_rack = 3",
    "bcube]\nn = 3\nk = 1",
    "bcube]\nn = 2\nk = 3",
    "gpu-servers]\ngroups = 2\nservers_per_group = 2\ngpus = 4\nspines = 2\nnvlink_rate = \"8Gbps\"\nnvlink_delay = \"500ns\"",
    "gpu-servers]\ngroups = 2\nservers_per_group = 2\ngpus = 4\nnics = 2\npxn = true\nspines = 2\nnvlink_rate = \"8Gbps\"\nnvlink_delay = \"500ns\"",
    "ring]\nbottleneck_rates = [\"0.8Gbps\", \"1.2Gbps\", \"2Gbps\"]",
];

fn run(topology: &str, workload: &str, threads: u8) -> (Plan, Whole) {
    let text = format!(
        "duration = \"20ms\"\ndrain = \"3s\"\n[topology.{topology}\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
         [queue]\nmark = 20\n[transport.t]\ncontrol = \"dcm\"\nsubflows = 2\n{workload}"
    );
    let run = run_on(&scenario(&text), threads);
    (run.plan, run.outcome)
}

#[test]
fn flows_between_all_hosts_arrive_whole() {
    for topology in TOPOLOGIES {
        // The hosts of a ring reach but their own counterparts: a workload of its own.
        let ring = topology.starts_with("ring");
        let workload = match ring {
            true => "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"D1\"\nsize = \"300KB\"\n".to_string(),
            false => "[[workload.permutation]]\ntransport = \"t\"\nsize = \"300KB\"\njitter = \"1ms\"\n".to_string(),
        };
        let (plan, outcome) = run(topology, &workload, 1);
        assert_eq!(outcome.flows.len(), plan.flows.len());
        for flow in &outcome.flows {
            assert!(flow.finished.is_some() && flow.acked_bytes == 300_000, "{topology}: {flow:?}");
        }
        for threads in [2, 3] {
            assert_eq!(run(topology, &workload, threads).1, outcome, "{topology} on {threads} threads");
        }
    }
}

#[test]
fn a_bcubes_hosts_forward() {
    let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h8\"\nsize = \"300KB\"\n";
    let (plan, outcome) = run("bcube]\nn = 3\nk = 1", flow, 1);
    let through = |name: &str| {
        let id =
            plan.fabric.links().iter().position(|l| plan.fabric.name(l.from) == name && l.to.index() >= 9).unwrap();
        outcome.links[id].stats.packets + outcome.links[id + 1].stats.packets
    };
    // h0 and h8 differ in both digits: by way of h2 or of h6.
    // All data, and acknowledgements besides.
    assert!(through("h2") + through("h6") > 300_000 / 1_448, "{} {}", through("h2"), through("h6"));
    assert!(["h1", "h3", "h4", "h5", "h7"].into_iter().all(|name| through(name) == 0));
    assert_eq!(outcome.stray, 0);
}
