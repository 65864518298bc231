//! Flows that have no path, or too few, are refused where they are written.

use linkpool_scenario::{ScenarioError, load};

/// What is wrong with `workload` in `topology`: key, line and message of each error.
fn wrong(topology: &str, transport: &str, workload: &str) -> Vec<(String, Option<usize>, String)> {
    let text = format!(
        "duration = \"1s\"\n[topology.{topology}\nrate = \"1Gbps\"\ndelay = \"1us\"\n[transport.t]\ncontrol = \"lia\"\n\
         {transport}\n[workload]\n{workload}\n"
    );
    let errors = load(&text, "test.toml", None, &[]).err().unwrap_or_default();
    errors.into_iter().map(|ScenarioError { key, line, message, .. }| (key, line, message)).collect()
}

fn key_and_message(topology: &str, transport: &str, workload: &str) -> (String, String) {
    match &wrong(topology, transport, workload)[..] {
        [(key, Some(8..), message)] => (key.clone(), message.clone()),
        other => panic!("{workload}: {other:?}"),
    }
}

const SHIFT: &str = "traffic-shift]";

#[test]
fn flows_to_hosts_that_are_not_joined_are_refused_by_their_receiver() {
    for (workload, key) in [
        ("flow = [{ transport = \"t\", from = \"S1\", to = \"D3\" }]", "workload.flow.0.to"),
        ("many-to-one = [{ transport = \"t\", flows = 2, receiver = \"D3\" }]", "workload.many-to-one.0.receiver"),
        (
            "incast = [{ transport = \"t\", senders = 2, receiver = \"D3\", size = \"1KB\", every = \"1s\" }]",
            "workload.incast.0.receiver",
        ),
        (
            "trace = [{ transport = \"t\", flows = [{ from = \"S2\", to = \"D3\", size = \"1B\" }, { from = \"S1\", to = \"D3\", size = \"1B\" }] }]",
            "workload.trace.0",
        ),
    ] {
        let (at, message) = key_and_message(SHIFT, "", workload);
        assert_eq!(at, key);
        assert!(message.starts_with("no path leads from S1 to D3, only to S2 and D1 to D2"), "{message}");
    }
}

#[test]
fn flows_that_may_go_to_any_host_are_refused_where_one_is_not_joined() {
    for (kind, keys) in [
        ("permutation", ""),
        ("random", ""),
        ("all-to-all", ""),
        ("poisson", ", flows_per_second = 10, size = \"1KB\""),
        ("partition-aggregate", ", servers = 2"),
        ("hotspot", ", flows = 3, hosts = [0], share = 0.5"),
    ] {
        let (key, message) = key_and_message(SHIFT, "", &format!("{kind} = [{{ transport = \"t\"{keys} }}]"));
        assert_eq!(key, format!("workload.{kind}.0"));
        assert!(message.contains("from S1 to S3") && message.contains("write [[workload.flow]]"), "{message}");
    }
}

/// Over which hosts the ring of ranks leads is known.
#[test]
fn collectives_and_strides_are_looked_at_pair_by_pair() {
    let collective = |ranks| {
        format!(
            "collective = [{{ transport = \"t\", algorithm = \"ring-all-reduce\", size = \"1MB\", ranks = {ranks} }}]"
        )
    };
    assert_eq!(wrong(SHIFT, "", &collective(2)), []);
    assert!(key_and_message(SHIFT, "", &collective(3)).1.contains("from S3 to S1"));
    assert!(key_and_message(SHIFT, "", "stride = [{ transport = \"t\", step = 1 }]").1.contains("from S3 to D1"));
}

#[test]
fn what_is_joined_is_good() {
    for (topology, workload) in [
        (
            SHIFT,
            "flow = [{ transport = \"t\", from = \"S2\", to = \"D3\" }, { transport = \"t\", from = \"S1\", to = \"D2\" }]",
        ),
        ("bcube]\nn = 2\nk = 2", "permutation = [{ transport = \"t\" }]"),
        (
            "ring]\nbottleneck_rates = [\"1Gbps\", \"1Gbps\"]",
            "flow = [{ transport = \"t\", from = \"X1\", to = \"Y1\" }]",
        ),
        (
            "graph]\nnodes = [{ id = \"a\", kind = \"host\" }, { id = \"b\", kind = \"host\" }]\nedges = [{ source = \"a\", target = \"b\" }]",
            "permutation = [{ transport = \"t\" }]",
        ),
    ] {
        assert_eq!(wrong(topology, "", workload), [], "{topology}");
    }
}

#[test]
fn subflows_need_as_many_disjoint_paths() {
    let disjoint = |subflows| format!("subflows = {subflows}\npaths = \"disjoint\"");
    let flow = "flow = [{ transport = \"t\", from = 0, to = 1 }]";
    let (key, message) = key_and_message("dumbbell]\npairs = 2", &disjoint(2), "permutation = [{ transport = \"t\" }]");
    assert_eq!(key, "workload.permutation.0.transport");
    assert!(
        message.starts_with("t has 2 subflows for disjoint paths, and there is 1 from S1 to S2; lower"),
        "{message}"
    );
    // Three levels, so three parallel paths between any two hosts: more hosts than are looked at
    // pair by pair.
    for workload in ["permutation = [{ transport = \"t\" }]", flow] {
        assert_eq!(wrong("bcube]\nn = 4\nk = 2", &disjoint(3), workload), []);
        assert!(key_and_message("bcube]\nn = 4\nk = 2", &disjoint(4), workload).1.contains("there are 3 from h0"));
    }
    // Small flows may have a transport of their own.
    let small = "[transport.s]\ncontrol = \"lia\"\nsubflows = 2\npaths = \"disjoint\"";
    let workload =
        "permutation = [{ transport = \"t\", size = \"1KB\", small = { below = \"1MB\", transport = \"s\" } }]";
    assert_eq!(key_and_message("dumbbell]\npairs = 2", small, workload).0, "workload.permutation.0.small");
}

#[test]
fn many_errors_are_listed_up_to_a_bound() {
    let flows = "{ transport = \"t\", from = 0, to = 9999 }, ".repeat(150);
    let errors = wrong("dumbbell]\npairs = 2", "", &format!("flow = [{flows}]"));
    assert_eq!(errors.len(), 101);
    assert_eq!(errors[100].2, "50 more errors; mend these first");
}

#[test]
fn subflows_leave_by_ports_of_their_own_where_hosts_have_several() {
    let planes = "subflows = 4\npaths = \"planes\"";
    let flow = "permutation = [{ transport = \"t\" }]";
    let (key, message) = key_and_message("leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2", planes, flow);
    assert_eq!(key, "workload.permutation.0.transport");
    assert!(message.starts_with("h0 has one port, and paths = \"planes\""), "{message}");
    // One plane is the first of a sweep over the number of planes.
    for number in [1, 4] {
        let fabric = format!("multi-plane]\nplanes = {number}\nleaves = 2\nspines = 2\nhosts_per_leaf = 2");
        assert_eq!(wrong(&fabric, planes, flow), []);
    }
}

#[test]
fn looking_for_errors_ends_at_the_bound() {
    let edges = "{ source = \"a\", target = \"z\" }, ".repeat(150);
    let graph = format!(
        "graph]\nnodes = [{{ id = \"a\", kind = \"host\" }}, {{ id = \"b\", kind = \"host\" }}]\nedges = [{edges}]"
    );
    let errors = wrong(&graph, "", "permutation = [{ transport = \"t\" }]");
    assert_eq!((errors.len(), errors[100].2.as_str()), (101, "there may be more errors; mend these first"));
}

/// A graph: hosts, and cables between the ends of which all that are no hosts are switches.
fn graph(hosts: &[&str], cables: &[(String, String)]) -> String {
    let mut nodes: Vec<&str> = hosts.to_vec();
    for end in cables.iter().flat_map(|(a, b)| [a, b]) {
        if !nodes.contains(&end.as_str()) {
            nodes.push(end);
        }
    }
    let kind = |name: &str| if hosts.contains(&name) { "host" } else { "switch" };
    let nodes: Vec<_> = nodes.iter().map(|id| format!("{{ id = {id:?}, kind = {:?} }}", kind(id))).collect();
    let edges: Vec<_> = cables.iter().map(|(a, b)| format!("{{ source = {a:?}, target = {b:?} }}")).collect();
    format!("graph]\nnodes = [{}]\nedges = [{}]", nodes.join(", "), edges.join(", "))
}

fn cable(a: &str, b: &str) -> (String, String) {
    (a.to_string(), b.to_string())
}

/// Host a is joined to both switches, and hosts do not forward: no path leads from b to c.
#[test]
fn hosts_that_only_another_host_joins_are_not_joined() {
    let cables = [cable("a", "w0"), cable("a", "w1"), cable("b", "w0"), cable("c", "w1")];
    let (key, message) =
        key_and_message(&graph(&["a", "b", "c"], &cables), "", "permutation = [{ transport = \"t\" }]");
    assert_eq!(key, "workload.permutation.0");
    assert!(message.starts_with("no path leads from b to c, only to a"), "{message}");
}

#[test]
fn both_ends_need_several_ports_for_planes() {
    let cables = [cable("a", "w0"), cable("a", "w1"), cable("b", "w0"), cable("w0", "w1")];
    for (from, to) in [("a", "b"), ("b", "a")] {
        let flow = format!("flow = [{{ transport = \"t\", from = \"{from}\", to = \"{to}\" }}]");
        let (_, message) = key_and_message(&graph(&["a", "b"], &cables), "paths = \"planes\"", &flow);
        assert!(message.starts_with("b has one port"), "{message}");
    }
}

/// Eleven switches of 13 or 14 ports in a row, a host at each end and one in the middle: a path
/// from end to end has 13^10 ways to go, above 2^32, and one from the middle has not.
#[test]
fn paths_that_no_packet_can_hold_are_refused_where_packets_must() {
    let mut cables = vec![cable("m", "w5"), cable("a", "w0"), cable("b", "w10")];
    for i in 0..11 {
        cables.extend((i > 0).then(|| cable(&format!("w{}", i - 1), &format!("w{i}"))));
        cables.extend((0..12).map(|leaf| cable(&format!("w{i}"), &format!("l{i}.{leaf}"))));
    }
    let chain = graph(&["m", "a", "b"], &cables);
    let flows = "permutation = [{ transport = \"t\" }]";
    for transport in ["paths = \"distinct\"", "paths = \"disjoint\""] {
        let (key, message) = key_and_message(&chain, transport, flows);
        assert_eq!(key, "workload.permutation.0.transport");
        let too_long = message.ends_with("has too many hops over too many ports to be pinned; use paths = \"hash\"");
        assert!(too_long && (message.contains("from a to b") || message.contains("from b to a")), "{message}");
    }
    let near = "flow = [{ transport = \"t\", from = \"m\", to = \"b\" }]";
    assert_eq!(wrong(&chain, "paths = \"disjoint\"", near), []);
    assert_eq!(wrong(&chain, "paths = \"hash\"", flows), []);
}

/// The same row of switches, and 40 racks at its middle: from the first host, in the middle, all
/// paths fit, and from end to end none does.
#[test]
fn long_paths_between_any_two_of_many_racks_are_refused() {
    let mut cables = vec![cable("m", "w5"), cable("a", "w0"), cable("b", "w10")];
    for i in 0..11 {
        cables.extend((i > 0).then(|| cable(&format!("w{}", i - 1), &format!("w{i}"))));
        cables.extend((0..12).map(|leaf| cable(&format!("w{i}"), &format!("l{i}.{leaf}"))));
    }
    let racks: Vec<String> = (0..40).map(|rack| format!("h{rack}")).collect();
    cables.extend(racks.iter().flat_map(|host| [cable(host, &format!("r{host}")), cable(&format!("r{host}"), "w5")]));
    let hosts: Vec<&str> = ["m", "a", "b"].into_iter().chain(racks.iter().map(String::as_str)).collect();
    let fabric = graph(&hosts, &cables);
    let (key, message) = key_and_message(&fabric, "paths = \"disjoint\"", "random = [{ transport = \"t\" }]");
    assert_eq!(key, "workload.random.0.transport");
    assert!(message.starts_with("a path from a to b has too many hops over too many ports"), "{message}");
    let near = "flow = [{ transport = \"t\", from = \"h39\", to = \"b\" }]";
    assert_eq!(wrong(&fabric, "paths = \"disjoint\"", near), []);
}
