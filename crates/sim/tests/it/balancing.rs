//! Load balancing by the host, with DCTCP: spraying, PLB, REPS.

use crate::common::{Run, run, run_on, scenario};

/// A permutation of long flows on a full fat-tree with k = 4, by DCTCP with `paths`.
fn text(paths: &str) -> String {
    format!(
        "duration = \"100ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"20us\"\n\
         [queue]\nlimit = 200\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\nack_every = 1\n{paths}\n\
         [[workload.permutation]]\ntransport = \"t\"\n"
    )
}

/// One flow across pods instead.
fn lone(paths: &str) -> Run {
    run(&text(paths).replace("[[workload.permutation]]", "[[workload.flow]]\nfrom = \"h0\"\nto = \"h15\""))
}

fn goodput(run: &Run) -> f64 {
    run.outcome.flows.iter().map(|f| f.acked_bytes as f64 * 8.0 / 0.1).sum::<f64>() / 16.0
}

/// Hashed, flows of a permutation collide in the core; packets that are spread over all paths do
/// not, and still less where hosts keep to entropies that came back unmarked.
#[test]
fn spraying_beats_a_hash_and_reps_beats_spraying() {
    let hashed = goodput(&run(&text("")));
    let reps = goodput(&run(&text("paths = \"reps\"\nrecovery = \"newreno\"\ndupack_threshold = 40")));
    let sprayed = goodput(&run(&text("paths = \"scatter\"\nrecovery = \"newreno\"\ndupack_threshold = 40")));
    println!("hash {hashed:.3e} reps {reps:.3e} scatter {sprayed:.3e}");
    assert!(sprayed > 1.2 * hashed && reps > 1.05 * sprayed);
}

/// 16 flows over two spines. So many on one link keep it marking all the time, which is what PLB
/// heeds (two DCTCP flows mark one round in several): flows move, and none is for ever in the worse
/// company.
#[test]
fn plb_evens_out_what_flows_get() {
    let jain = |paths: &str| {
        let flows: Vec<String> = (0..16)
            .map(|i| format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{i}\"\nto = \"h{}\"\n", i + 16))
            .collect();
        let run = run(&format!(
            "duration = \"200ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 16\nrate = \"1Gbps\"\n\
             delay = \"2us\"\n[queue]\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\nack_every = 1\n{paths}\n{}",
            flows.concat()
        ));
        let got: Vec<f64> = run.outcome.flows.iter().map(|f| f.acked_bytes as f64).collect();
        got.iter().sum::<f64>().powi(2) / (16.0 * got.iter().map(|x| x * x).sum::<f64>())
    };
    let (hashed, plb) = (jain(""), jain("paths = \"plb\""));
    println!("Jain's index: hash {hashed:.4}, plb {plb:.4}");
    assert!(plb > 0.97 && plb > hashed + 0.01, "{hashed} {plb}");
}

/// Where a path is not shared, there is nothing to leave.
#[test]
fn plb_leaves_a_lone_flow_alone() {
    let used = |run: &Run| [0, 1, 2, 3].map(|c| run.link(&format!("c{c}->a3.{}", c / 2)).stats.packets);
    assert_eq!(used(&lone("paths = \"plb\"")), used(&lone("")));
}

/// ACKs bring entropies back, so that all paths carry ACKs too.
#[test]
fn reps_uses_all_paths_both_ways() {
    let run = lone("paths = \"reps\"\ndupack_threshold = \"auto\"");
    let packets = |link: String| run.link(&link).stats.packets;
    let there = [0, 1, 2, 3].map(|c| packets(format!("c{c}->a3.{}", c / 2)));
    let back = [0, 1, 2, 3].map(|c| packets(format!("c{c}->a0.{}", c / 2)));
    let sum = there.iter().sum::<u64>() as f64;
    assert!(there.iter().chain(&back).all(|n| *n as f64 > 0.1 * sum), "{there:?} {back:?}");
}

#[test]
fn the_same_on_two_threads() {
    for paths in
        ["paths = \"plb\"\nplb_rounds = 2\nplb_congested = 0.2", "paths = \"reps\"\ndupack_threshold = \"auto\""]
    {
        let scenario = scenario(&text(paths));
        let (one, two) = (run_on(&scenario, 1), run_on(&scenario, 2));
        let acked = |run: &Run| run.outcome.flows.iter().map(|f| (f.flow, f.acked_bytes)).collect::<Vec<_>>();
        assert_eq!(acked(&one), acked(&two));
    }
}
