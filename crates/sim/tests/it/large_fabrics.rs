//! Fabrics of more hosts than 16 bits can number.

use crate::common::run;

const REST: &str = "[queue]\nlimit = 100\nmark = 15\n[transport.t]\ncontrol = \"dctcp\"\n[[workload.permutation]]\ntransport = \"t\"\n";

/// Every host opens a connection to another. At 10 us the SYN-ACKs have come back: over four links
/// of 1 us each way, at 10 Gbps.
#[test]
#[ignore = "long"]
fn seventy_thousand_hosts_of_a_leaf_spine_fabric_all_get_through() {
    let topology = "leaves = 1100\nspines = 64\nhosts_per_leaf = 64\nrate = \"10Gbps\"\ndelay = \"1us\"\n";
    let r = run(&format!("duration = \"10us\"\n[topology.leaf-spine]\n{topology}{REST}"));
    assert_eq!((r.plan.fabric.hosts(), r.outcome.flows.len(), r.outcome.stray), (70_400, 70_400, 0));
    let from_above = |f: &&linkpool_sim::FlowOutcome| f.planned.flow.src.index() > 65_535;
    let late = r.outcome.flows.iter().filter(from_above).filter(|f| f.established().is_none()).count();
    // Of 4,864 hosts beyond 65,535; ECMP may let a few wait for others.
    assert!(late < 20, "{late} are late");
}

/// The largest fat-tree of 64-port switches.
#[test]
#[ignore = "long"]
fn a_fat_tree_of_64_port_switches_has_65_536_hosts() {
    let r =
        run(&format!("duration = \"20us\"\n[topology.fat-tree]\nk = 64\nrate = \"10Gbps\"\ndelay = \"1us\"\n{REST}"));
    assert_eq!((r.plan.fabric.hosts(), r.outcome.flows.len(), r.outcome.stray), (65_536, 65_536, 0));
    // Six links of 1 us each way take 12 us and a little.
    let open = r.outcome.flows.iter().filter(|f| f.established().is_some()).count();
    assert!(open > 65_000, "{open} are open");
}
