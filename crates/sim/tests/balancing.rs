//! Load balancing by the host, with DCTCP: spraying, PLB, REPS.

mod common;
use common::{Run, run, run_on, scenario};

/// A permutation of long flows on a full fat-tree with k = 4, by DCTCP with `paths`.
fn text(paths: &str) -> String {
    format!(
        "duration = \"40ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
         [queue]\nlimit = 200\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\nack_every = 1\n{paths}\n\
         [[workload.permutation]]\ntransport = \"t\"\n"
    )
}

/// One flow across pods instead.
fn lone(paths: &str) -> Run {
    run(&text(paths).replace("[[workload.permutation]]", "[[workload.flow]]\nfrom = \"h0\"\nto = \"h15\""))
}

fn goodput(run: &Run) -> f64 {
    run.outcome.flows.iter().map(|f| f.acked_bytes as f64 * 8.0 / 0.04).sum::<f64>() / 16.0
}

/// Hashed, flows of a permutation collide in the core; a host that goes by marks leaves collisions, and packets that are
/// spread over all paths meet none.
#[test]
fn each_gets_more_than_a_hash_does() {
    let hashed = goodput(&run(&text("")));
    let plb = goodput(&run(&text("paths = \"plb\"")));
    let reps = goodput(&run(&text("paths = \"reps\"\ndupack_threshold = \"auto\"")));
    let sprayed = goodput(&run(&text("paths = \"scatter\"\ndupack_threshold = \"auto\"")));
    println!("hash {hashed:.3e} plb {plb:.3e} reps {reps:.3e} scatter {sprayed:.3e}");
    assert!(plb > 1.1 * hashed && sprayed > 1.1 * hashed && reps > 1.1 * hashed);
    assert!(reps > 0.85e9, "{reps}");
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
    for paths in ["paths = \"plb\"\nplb_rounds = 2", "paths = \"reps\"\ndupack_threshold = \"auto\""] {
        let scenario = scenario(&text(paths));
        let (one, two) = (run_on(&scenario, 1), run_on(&scenario, 2));
        let acked = |run: &Run| run.outcome.flows.iter().map(|f| (f.flow, f.acked_bytes)).collect::<Vec<_>>();
        assert_eq!(acked(&one), acked(&two));
    }
}
