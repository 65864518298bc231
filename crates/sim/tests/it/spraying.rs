//! Packets spread over all paths, by hosts and by switches, with each loss recovery. No packet is
//! lost here, so every retransmission is needless. `docs/validation.md` has the numbers.

use crate::common::{Run, run};
use linkpool_transport::SubflowStats;

const SPRAYING_SWITCHES: &str = "[routing]\nkind = \"spray\"";

/// DCTCP on a full fat-tree with k = 4, whose queues mark long before they are full.
fn dctcp(routing: &str, transport: &str, workload: &str) -> Run {
    run(&format!(
        "duration = \"100ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"20us\"\n{routing}\n\
         [queue]\nlimit = 200\nmark = 20\n[transport.t]\ncontrol = \"dctcp\"\n{transport}\n\
         [[workload.{workload}\ntransport = \"t\"\n"
    ))
}

/// A permutation of long flows.
fn permutation(routing: &str, transport: &str) -> Found {
    found(&dctcp(routing, transport, "permutation]]"))
}

/// The outcomes of the flows of a run.
struct Found {
    /// Of the hosts' links.
    goodput: f64,
    /// Of all segments sent.
    again: f64,
    recoveries: u64,
    undos: u64,
}

fn found(run: &Run) -> Found {
    let flows = &run.outcome.flows;
    let sum = |of: fn(&SubflowStats) -> u64| flows.iter().flat_map(|f| &f.subflows).map(|s| of(&s.stats)).sum::<u64>();
    assert!(run.outcome.links.iter().all(|l| l.stats.rare.drops == 0));
    assert_eq!(sum(|s| s.timeouts), 0);
    Found {
        goodput: flows.iter().map(|f| f.acked_bytes as f64 * 8.0).sum::<f64>() / (0.1 * 1e9 * flows.len() as f64),
        again: sum(|s| s.retransmits) as f64 / sum(|s| s.segments) as f64,
        recoveries: sum(|s| s.recoveries),
        undos: sum(|s| s.undos),
    }
}

/// The paths of a lone flow are all alike, and nothing but its own packets is in their way: RACK
/// waits for those that come late.
#[test]
fn where_paths_are_equal_rack_sends_nothing_again() {
    for (routing, paths) in [("", "paths = \"scatter\""), (SPRAYING_SWITCHES, "")] {
        let transport = format!("{paths}\nrecovery = \"rack\"");
        let run = dctcp(routing, &transport, "flow]]\nfrom = \"h0\"\nto = \"h15\"");
        let found = found(&run);
        assert_eq!((found.again, found.recoveries), (0.0, 0), "{routing} {paths}");
    }
}

/// Where flows share links, queues differ from path to path, and packets come later than RACK's
/// window of a quarter of the RTT now and then.
#[test]
fn rack_bears_spraying_best() {
    for (where_, routing, paths) in [("hosts", "", "paths = \"scatter\""), ("switches", SPRAYING_SWITCHES, "")] {
        let [newreno, sack, adaptive, rack] = [
            "recovery = \"newreno\"",
            "recovery = \"sack\"",
            "recovery = \"sack\"\ndupack_threshold = \"adaptive\"",
            "recovery = \"rack\"",
        ]
        .map(|recovery| permutation(routing, &format!("{paths}\n{recovery}")));
        for (name, f) in [("newreno", &newreno), ("sack", &sack), ("adaptive", &adaptive), ("rack", &rack)] {
            let Found { goodput, again, recoveries, undos } = f;
            println!("{where_:9} {name:9} goodput {goodput:.3} again {again:.4} recoveries {recoveries} undos {undos}");
        }
        assert!(newreno.again > sack.again && sack.again > adaptive.again && adaptive.again > rack.again);
        assert!(rack.again < 0.01, "{}", rack.again);
        assert!(rack.goodput > 1.2 * sack.goodput && rack.goodput > 1.2 * newreno.goodput);
    }
}
