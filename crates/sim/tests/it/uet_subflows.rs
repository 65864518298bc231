//! UET with a window for each subflow: shares of a queue, planes of two rates, and suppression in an incast.

use crate::common::{Run, run};
use linkpool_sim::FlowOutcome;
use linkpool_transport::SubflowStats;

/// Queues of uet-htsim's experiments: one bandwidth-delay product of 100 Gb/s and 14 us, marked from a fifth of it on.
const QUEUE: &str = r#"
[queue]
discipline = "trimming"
limit = "178450B"
count_in_service = true
[queue.trimming]
headers = "356900B"
share = 100000
mark_min = "37350B"
mark_max = "145250B"
return_to_sender = false
"#;

const TREE: &str = "[topology.fat-tree]\nk = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n";

fn transport(name: &str, keys: &str) -> String {
    format!("[transport.{name}]\ncontrol = \"uet\"\nmss = \"4086B\"\n{keys}\n")
}

fn flow(transport: &str, from: &str, to: &str, more: &str) -> String {
    format!("[[workload.flow]]\ntransport = \"{transport}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

fn by_subflow(flow: &FlowOutcome, of: fn(&SubflowStats) -> u64) -> Vec<u64> {
    flow.subflows.iter().map(|subflow| of(&subflow.stats)).collect()
}

/// What several subflows take of a link beside one window, in halves of it: the mean of three seeds.
fn share(keys: &str, subflows: &str) -> f64 {
    let shares = (1..=3).map(|seed| {
        let r = run(&format!(
            "seed = {seed}\nduration = \"3ms\"\ndrain = \"0s\"\n{TREE}{QUEUE}{}{}{}{}",
            transport("one", keys),
            transport("several", &format!("{keys}\n{subflows}")),
            flow("one", "h0", "h15", ""),
            flow("several", "h4", "h15", ""),
        ));
        let [one, several] = [0, 1].map(|i| r.flow(i).acked_bytes as f64);
        assert_eq!(by_subflow(r.flow(1), |s| s.acked_bytes).iter().sum::<u64>(), r.flow(1).acked_bytes);
        2.0 * several / (one + several)
    });
    shares.sum::<f64>() / 3.0
}

/// Where NSCC's average of the delay is that of the last round-trip time, two or eight subflows that are coupled as AMP's
/// take the share of one window. Uncoupled two take two of three shares, 1.33 halves. LIA's take less than one share:
/// delay and marks come to all subflows at once, and cut all.
#[test]
fn coupled_subflows_take_the_share_of_one_window() {
    let by_time = "nscc_average = \"base-rtt\"";
    let two = share(by_time, "subflows = 2");
    let eight = share(by_time, "subflows = 8");
    assert!((two - 1.0).abs() < 0.15 && (eight - 1.0).abs() < 0.2, "{two} {eight}");
    let lia = share(by_time, "subflows = 2\nsubflow_coupling = \"lia\"");
    assert!(lia < two - 0.05, "{lia}");
    let uncoupled = share(by_time, "subflows = 2\nsubflow_coupling = \"uncoupled\"");
    assert!((uncoupled - 4.0 / 3.0).abs() < 0.15, "{uncoupled}");
}

/// With uet-htsim's average, which has a gain for each ACK, eight subflows hear of the delay an eighth as often each: the
/// average of each lags, it is cut later, and together they take more than one share.
#[test]
fn an_average_over_samples_lags_with_several_subflows() {
    let eight = share("", "subflows = 8");
    assert!((1.25..1.55).contains(&eight), "{eight}");
}

/// Two paths of 100 and 25 Gb/s: 123.1 Gb/s of payload. One window, whose packets take both alike, is cut for the queue of
/// the slow one, and carries at most about twice that.
fn planes(keys: &str) -> Run {
    let nodes = r#"nodes = [{ id = "a", kind = "host" }, { id = "b", kind = "host" }, { id = "p", kind = "switch" }, { id = "q", kind = "switch" }]"#;
    let cable =
        |a: &str, b: &str, rate: u32| format!("{{ source = \"{a}\", target = \"{b}\", rate = \"{rate}Gbps\" }}");
    let cables = [cable("a", "p", 100), cable("p", "b", 100), cable("a", "q", 100), cable("q", "b", 25)].join(", ");
    run(&format!(
        "seed = 2\nduration = \"2ms\"\ndrain = \"0s\"\n[topology.graph]\ndelay = \"1us\"\n{nodes}\nedges = [{cables}]\n{QUEUE}{}{}",
        transport("t", keys),
        flow("t", "a", "b", ""),
    ))
}

#[test]
fn subflows_fill_planes_of_two_rates() {
    let gbps = |bytes: u64| bytes as f64 * 8.0 / 2e6;
    for coupling in ["amp", "lia", "uncoupled"] {
        let r = planes(&format!(
            "entropies = 2\nsubflows = 2\nbalancer = \"oblivious\"\nsubflow_coupling = \"{coupling}\""
        ));
        let rates = by_subflow(r.flow(0), |s| s.acked_bytes).into_iter().map(gbps).collect::<Vec<_>>();
        assert!((rates[0] / 98.46 - 1.0).abs() < 0.02 && (rates[1] / 24.61 - 1.0).abs() < 0.02, "{coupling} {rates:?}");
        let entropies = r.flow(0).subflows.iter().map(|subflow| subflow.entropy).collect::<Vec<_>>();
        assert_eq!(entropies[0] ^ entropies[1], 1);
    }
    let one = gbps(planes("balancer = \"oblivious\"").flow(0).acked_bytes);
    assert!(one < 60.0, "{one}");
}

/// Four planes, and a port of each host in each. With `paths = "planes"` the packets of subflow i leave by port i, and
/// their ACKs come back there; of one window over 64 values, each port has a quarter of both.
#[test]
fn entropy_values_are_bound_to_ports() {
    let planes = "[topology.multi-plane]\nplanes = 4\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"100Gbps\"\ndelay = \"1us\"\n";
    let carried = |keys: &str, down: &str| {
        let r = run(&format!(
            "seed = 3\nduration = \"1ms\"\ndrain = \"50ms\"\n{planes}{down}{QUEUE}{}{}",
            transport("t", &format!("paths = \"planes\"\nack_bytes = \"1B\"\n{keys}")),
            flow("t", "h0", "h3", "size = \"8MB\""),
        ));
        let ports = |from: &str, leaf: u32| {
            (0..4).map(|p| r.link(&format!("{from}->l{p}.{leaf}")).stats.packets).collect::<Vec<_>>()
        };
        let (there, back) = (ports("h0", 0), ports("h3", 1));
        (there, back, by_subflow(r.flow(0), |s| s.segments), r.flow(0).acked_bytes)
    };
    for values in [4, 64] {
        let (there, back, sent, acked) = carried(&format!("entropies = {values}\nsubflows = 4"), "");
        assert_eq!((&there, &back), (&sent, &sent), "{values}");
        assert_eq!(acked, 8_000_000);
    }
    let (there, back, _, _) = carried("entropies = 64\nbalancer = \"oblivious\"", "");
    let all: u64 = there.iter().sum();
    assert!(there.iter().chain(&back).all(|n| n.abs_diff(all / 4) <= 16), "{there:?} {back:?}");
    // Two subflows have two ports, eight have each port twice.
    assert_eq!(carried("subflows = 2", "").0[2..], [0, 0]);
    let (there, _, sent, _) = carried("subflows = 8", "");
    assert_eq!(there, (0..4).map(|p| sent[p] + sent[p + 4]).collect::<Vec<_>>());
    // Plane 1 is dead: its subflow gets nothing through, and the others carry all.
    let down = "[routing]\nreconverge = \"never\"\n[[change]]\nnodes = [\"l1.0\", \"l1.1\"]\nstate = \"down\"\n";
    let (_, back, sent, acked) = carried("entropies = 4\nsubflows = 4", down);
    assert_eq!((back[1], acked), (0, 8_000_000));
    assert!(sent[1] > 0 && back[0] + back[2] + back[3] == 1_958, "{back:?} {sent:?}");
}

/// An incast of 15 connections. With 8 subflows each 120 windows of a packet are more than queue and links hold (43 and
/// 36 packets), so that packets are trimmed to the end. Suppression leaves about what one window for each has.
#[test]
fn suppression_ends_the_minimum_window_syndrome() {
    let trims = |keys: &str| {
        let flows: String = (0..15).map(|i| flow("t", &format!("h{i}"), "h15", "size = \"500KB\"")).collect();
        let r = run(&format!("duration = \"1ms\"\ndrain = \"20ms\"\n{TREE}{QUEUE}{}{flows}", transport("t", keys)));
        let sum = |name| (0..15).filter_map(|i| r.flow(i).metric(name)).sum::<f64>();
        assert!((0..15).all(|i| r.flow(i).acked_bytes == 500_000));
        (sum("nacks"), sum("suppressions"), sum("releases"))
    };
    let (one, none, _) = trims("");
    let (stuck, still_none, _) = trims("subflows = 8");
    let (left, suppressions, releases) = trims("subflows = 8\nsubflow_suppression = true");
    assert_eq!((none, still_none), (0.0, 0.0));
    assert!(suppressions >= 10.0 && releases <= suppressions, "{suppressions} {releases}");
    assert!(stuck > 2.0 * one && left < 1.5 * one, "{one} {stuck} {left}");
}

/// A connection with `subflows = 1` is one without the key.
#[test]
fn one_subflow_is_a_window_over_all() {
    let outcome = |keys: &str| {
        let flows: String = (0..8).map(|i| flow("t", &format!("h{i}"), "h15", "size = \"100KB\"")).collect();
        run(&format!("duration = \"1ms\"\ndrain = \"20ms\"\n{TREE}{QUEUE}{}{flows}", transport("t", keys))).outcome
    };
    assert_eq!(outcome(""), outcome("subflows = 1"));
}
