//! A central scheduler places long flows.

use crate::common::{run, run_on, scenario};
use linkpool_sim::FlowOutcome;

/// Four hosts at one leaf, four at the other, four spines between them; all links 1 Gbps.
fn text(transport: &str, routing: &str, workload: &str) -> String {
    format!(
        "duration = \"100ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
         [queue]\nlimit = 100\nmark = 20\n[routing]\n{routing}\n[transport.t]\ncontrol = \"dctcp\"\n{transport}\n\
         [transport.u]\ncontrol = \"dctcp\"\n[[workload.stride]]\ntransport = \"t\"\nstep = 4\n{workload}\n"
    )
}

const PLACED: &str = "paths = \"placed\"";
const EACH_MS: &str = "placement = { period = \"1ms\" }";

fn share_of_line_rate(flows: &[FlowOutcome]) -> f64 {
    let acked: u64 = flows.iter().map(|f| f.acked_bytes).sum();
    8.0 * acked as f64 / (8.0 * 1e9 * 0.1)
}

/// By hash some of the four flows each way share a spine; placed, each has one to itself from the
/// second millisecond on.
#[test]
fn long_flows_are_spread_over_the_paths() {
    let hashed = run(&text("", "kind = \"ecmp\"", "")).outcome;
    let placed = run(&text(PLACED, EACH_MS, "")).outcome;
    assert!(share_of_line_rate(&hashed.flows) < 0.7, "{}", share_of_line_rate(&hashed.flows));
    // Headers take 6% of a link, and ACKs of the other direction's flows 3%.
    assert!(share_of_line_rate(&placed.flows) > 0.85, "{}", share_of_line_rate(&placed.flows));
    assert!(placed.flows.iter().all(|f| f.subflows[0].pinned));
    // The spines that the flows of one leaf go over: the port is the remainder behind that of the
    // host, of one.
    let spine = |f: &FlowOutcome| f.subflows[0].entropy % 8;
    let mut spines: Vec<u32> = placed.flows.iter().filter(|f| f.planned.flow.src.index() < 4).map(spine).collect();
    spines.sort_unstable();
    spines.dedup();
    assert_eq!(spines.len(), 4, "{spines:?}");
}

/// A flow that gets less than the share in a period is left where it is.
#[test]
fn short_flows_are_not_placed() {
    let few = "size = \"5KB\"\nrepeat = \"each\"\ngap = \"1ms\"";
    let outcome = run(&text(PLACED, EACH_MS, few)).outcome;
    assert!(outcome.flows.len() > 400 && outcome.flows.iter().all(|f| !f.subflows[0].pinned));
}

/// Flows that come and go, listed and started by others, some of them placed.
#[test]
fn threads_make_no_difference() {
    let more = "size = { uniform = [\"10KB\", \"2MB\"] }\nrepeat = \"each\"\n\
                [[workload.poisson]]\ntransport = \"t\"\nload = 0.3\nsize = \"300KB\"\n\
                [[workload.permutation]]\ntransport = \"u\"\nsize = \"1MB\"";
    let text = text(PLACED, EACH_MS, more);
    let [one, three] = [1, 3].map(|threads| run_on(&scenario(&text), threads));
    let placed = one.outcome.flows.iter().filter(|f| f.subflows[0].pinned).count();
    assert!(placed > 50 && placed < one.outcome.flows.len(), "{placed} of {}", one.outcome.flows.len());
    assert_eq!(one.outcome, three.outcome);
}

/// Four flows of different sizes, one from each host of the first leaf: the scheduler takes them by number, and the first of
/// the paths that are least full, which is a spine of its own for each, in the order of the spines. After that, each has all its
/// packets on the four links of its route, and no other link up or down carries any data.
#[test]
fn packets_take_the_route_that_the_scheduler_means() {
    let flows: String = (0..4)
        .map(|i| {
            let (to, size) = (i + 4, 1 + i);
            format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{i}\"\nto = \"h{to}\"\nsize = \"{size}MB\"\n")
        })
        .collect();
    let both = text(PLACED, EACH_MS, &flows).replace("[[workload.stride]]\ntransport = \"t\"\nstep = 4\n", "");
    let run = run(&format!("{both}[measure]\nwarm_up = \"5ms\"\n"));
    for (i, flow) in run.outcome.flows.iter().enumerate() {
        assert!(flow.finished.is_some() && flow.subflows[0].pinned);
        let data = flow.measured_bytes;
        let links = [format!("h{i}->l0"), format!("l0->s{i}"), format!("s{i}->l1"), format!("l1->h{}", i + 4)];
        let carried = links.map(|link| run.link(&link).measured.bytes);
        assert!(data > 300_000 * (1 + i as u64), "{data}");
        // Headers are 4% of a packet. Some packets, on the way when the period begins, are on later links alone.
        assert!(carried.iter().all(|bytes| (data..data + data / 10).contains(bytes)), "{i}: {data}, {carried:?}");
        assert!(carried.iter().all(|bytes| bytes.abs_diff(carried[0]) < 100_000), "{i}: {carried:?}");
    }
}
