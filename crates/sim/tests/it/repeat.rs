//! One seed gives one result, to the byte, on any number of threads; another seed another.

use crate::common::scenario;
use crate::common::written::{differ, written};

/// Everything random: workloads, hashed paths, jitter of joins; and everything recorded.
const TEXT: &str = r#"
    name = "all of it"
    duration = "3ms"
    drain = "20ms"
    [topology.fat-tree]
    k = 4
    rate = "1Gbps"
    delay = "2us"
    [queue]
    limit = 20
    mark = 5
    [transport.amp]
    preset = "paper-2013"
    control = "amp"
    subflows = 3
    min_rto = "1ms"
    [transport.dctcp]
    control = "dctcp"
    min_rto = "1ms"
    [[workload.permutation]]
    transport = "amp"
    size = "70KB"
    jitter = "1ms"
    [[workload.poisson]]
    transport = "dctcp"
    flows_per_second = 20000
    size = "10KB"
    [[workload.incast]]
    transport = "amp"
    senders = 8
    receiver = "h15"
    size = "20KB"
    every = "1ms"
    [record]
    queue = { links = ["e3.1->h15", "h0->e0.0"], every = "10us" }
    cwnd = { every = "50us" }
    rate = { every = "100us" }
"#;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let first = written(&scenario(TEXT), 1);
    let names = ["cwnd", "flows", "links", "queue", "rate", "subflows"].map(|n| format!("{n}.parquet"));
    assert!(
        names.iter().all(|n| first[n].len() > 1000) && first["scenario.toml"].len() > 1000,
        "there is something in it"
    );
    assert_eq!(differ(&first, &written(&scenario(TEXT), 1)), Vec::<String>::new());
}

#[test]
fn threads_make_no_difference() {
    let one = written(&scenario(TEXT), 1);
    for threads in 2..=4 {
        assert_eq!(differ(&one, &written(&scenario(TEXT), threads)), Vec::<String>::new(), "{threads} threads");
    }
}

#[test]
fn another_seed_gives_something_else() {
    let other = format!("seed = 2\n{TEXT}");
    let all = differ(&written(&scenario(TEXT), 1), &written(&scenario(&other), 1));
    assert_eq!(all.len(), 9, "{all:?}");
}

/// `scenario.toml` describes the run completely: what it gives are the same bytes, itself included.
#[test]
fn the_scenario_as_run_runs_again() {
    let first = written(&scenario(TEXT), 1);
    let again = written(&scenario(std::str::from_utf8(&first["scenario.toml"]).unwrap()), 1);
    assert_eq!(differ(&first, &again), Vec::<String>::new());
}

/// A further workload does not shift the randomness of those before it.
#[test]
fn sources_of_randomness_are_independent() {
    let more = TEXT.replace(
        "[record]",
        "[[workload.poisson]]\ntransport = \"dctcp\"\nflows_per_second = 1000\nsize = \"1KB\"\nlabel = \"more\"\n[record]",
    );
    let starts = |text: &str| -> Vec<_> {
        let plan = linkpool_sim::Plan::new(&scenario(text));
        let label = |l: linkpool_sim::LabelId| plan.labels[l.index()].clone();
        plan.flows.iter().filter(|f| label(f.label) != "more").map(|f| (f.flow, label(f.label))).collect()
    };
    assert_eq!(starts(TEXT), starts(&more));
    assert!(starts(TEXT).len() > 80);
}
