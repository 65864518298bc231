//! RoCE and PFC beside HPCC's public simulator (commit 9f4be2a), which was run on the same topologies and
//! flows: `docs/reports/2026-11-29-roce-beside-ns3.md`.

use crate::common::{Run, run_on};
use linkpool_scenario::{Scenario, load};

/// A scenario of `docs/scenario/beside-hpcc`, with `more` lines.
fn beside(name: &str, more: &str) -> Scenario {
    let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario/beside-hpcc/{}.toml"), name);
    let text = std::fs::read_to_string(&path).unwrap() + more;
    load(&text, &path, None, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// The mean and the longest completion time, us, and how often ports were paused.
fn told(run: &Run) -> (f64, f64, u64) {
    let times: Vec<f64> = (0..run.outcome.flows.len()).map(|flow| run.fct(flow).0 as f64 / 1e6).collect();
    let pauses = run.outcome.links.iter().filter_map(|link| link.pauses).map(|stats| stats.pauses).sum();
    (times.iter().sum::<f64>() / times.len() as f64, times.iter().copied().fold(0.0, f64::max), pauses)
}

/// Is `ours` within `share` of `theirs`?
fn is_near(ours: f64, theirs: f64, share: f64) -> bool {
    (ours / theirs - 1.0).abs() <= share
}

/// Theirs: 834.45 and 834.46 us, 125 pauses. A packet takes 84.08 ns here and 84 ns there: 0.1%.
#[test]
fn two_queue_pairs_with_pauses() {
    let r = run_on(&beside("two-to-one", ""), 1);
    let (mean, longest, pauses) = told(&r);
    assert!(is_near(mean, 834.45, 0.002) && is_near(longest, 834.46, 0.002), "{mean} {longest}");
    assert!(is_near(pauses as f64, 125.0, 0.1), "{pauses}");
    assert_eq!(([r.fct(0).0, r.fct(1).0], pauses), ([835_400_080, 835_256_160], 126));
}

/// A port goes on in the instant at which the frame comes that ends its pause, and so do the queue pairs that wait
/// for it, whoever looks at the port meanwhile.
#[test]
fn who_looks_at_a_paused_port_changes_nothing() {
    let looked = "[record]\ncounters = { every = \"200ns\" }\npauses = {}\n";
    let [plain, seen] = ["", looked].map(|more| run_on(&beside("two-to-one", more), 1));
    assert_eq!(told(&plain), told(&seen));
    assert_eq!(plain.outcome.flows, seen.outcome.flows);
}

/// Theirs: 637.83 and 751.16 us, no pause. There the start of a flow a nanosecond later moves single flows by up to a
/// quarter, so means and the last flow are compared.
#[test]
fn sixteen_queue_pairs_of_hpcc() {
    let (mean, longest, pauses) = told(&run_on(&beside("sixteen-to-one", ""), 1));
    assert!(is_near(mean, 637.83, 0.01) && is_near(longest, 751.16, 0.01), "{mean} {longest}");
    assert_eq!((mean, longest, pauses), (638.8577575625, 753.418261, 0));
}
