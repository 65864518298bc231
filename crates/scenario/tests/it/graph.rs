//! Graphs from JSON files and from the scenario itself.

use linkpool_network::topology::{Generator, GpuServers};
use linkpool_network::{Fabric, HostId, Layer, NodeId, Place, Routes, ShortestPaths};
use linkpool_scenario::{Scenario, ScenarioError, load};
use linkpool_units::{Rate, Time};
use proptest::prelude::*;
use std::path::PathBuf;

/// As networkx 3 writes it, with numbers for names and attributes that are none of ours.
const GRAPH: &str = r#"{
  "directed": false, "multigraph": false, "graph": {},
  "nodes": [
    {"kind": "switch", "layer": "core", "id": 9, "pos": [0, 1]},
    {"kind": "host", "id": "left"},
    {"kind": "host", "id": 2}
  ],
  "edges": [
    {"rate": "10Gbps", "delay": "2us", "weight": 1, "source": "left", "target": 9},
    {"rate": "1Gbps", "delay": "5us", "source": 9, "target": 2}
  ]
}"#;

/// A directory of its own for each test.
pub(crate) fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("linkpool-graph-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn scenario(graph: &str) -> String {
    format!(
        "duration = \"1s\"\n[topology.graph]\n{graph}\n[transport.t]\ncontrol = \"reno\"\n\
         [[workload.permutation]]\ntransport = \"t\"\n"
    )
}

fn from_file(name: &str, json: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let directory = directory(name);
    std::fs::write(directory.join("graph.json"), json).unwrap();
    let path = directory.join("scenario.toml");
    let outcome = load(&scenario("file = \"graph.json\""), path.to_str().unwrap(), None, &[]);
    std::fs::remove_dir_all(directory).unwrap();
    outcome
}

#[test]
fn a_file_of_networkx_is_read_and_the_scenario_as_run_needs_it_no_more() {
    for list in ["edges", "links"] {
        let scenario = from_file(list, &GRAPH.replace("edges", list)).unwrap();
        let fabric = scenario.topology.fabric();
        let names: Vec<_> = fabric.node_ids().map(|node| (fabric.name(node), fabric.layer(node))).collect();
        assert_eq!(names, [("left", Layer::Host), ("2", Layer::Host), ("9", Layer::Core)]);
        let slow = &fabric.links()[fabric.link(2.into(), 1.into()).unwrap().index()];
        assert_eq!((slow.rate, slow.delay), (Rate::gbps(1), Time::from_us(5)));
        let written = scenario.to_toml();
        assert!(!written.contains("graph.json"));
        assert_eq!(
            load(&written, "elsewhere.toml", None, &[]).unwrap(),
            Scenario { name: scenario.name.clone(), ..scenario }
        );
    }
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    for (i, (good, bad, message)) in [
        ("\"directed\": false", "\"directed\": true", "a directed graph"),
        ("\"nodes\"", "\"vertices\"", "has no array \"nodes\""),
        ("\"id\": 2}\n  ],", "\"id\": 2}\n  ,", "graph.json: line 8: not JSON"),
        ("\"kind\": \"host\", \"id\": 2", "\"id\": 2", "line 6: nodes[2], node 2: missing field `kind`"),
        (
            "\"kind\": \"host\", \"id\": \"left\"",
            "\"id\": \"left\"",
            "line 5: nodes[1], node \"left\": missing field `kind`",
        ),
        ("\"kind\": \"host\", \"id\": 2", "\"kind\": \"hst\", \"id\": 2", "nodes[2], node 2: unknown variant `hst`"),
        ("\"layer\": \"core\"", "\"layer\": \"top\"", "nodes[0], node 9: unknown variant `top`"),
        (
            "\"layer\": \"core\"",
            "\"layer\": \"host\"",
            "nodes[0], node \"9\": a node of its kind is not in the layer host",
        ),
        ("\"id\": 2}", "\"id\": \"left\"}", "nodes[2], node \"left\": stands here twice"),
        ("\"id\": \"left\"", "\"id\": \"a->b\"", "nodes[1], node \"a->b\": no name"),
        ("\"rate\": \"1Gbps\", ", "", "edges[1], edge \"9\" to \"2\": has no `rate`"),
        ("\"delay\": \"5us\", ", "", "edges[1], edge \"9\" to \"2\": has no `delay`"),
        ("\"1Gbps\"", "\"0bps\"", "edges[1], edge \"9\" to \"2\": its `rate` must be above zero"),
        ("\"1Gbps\"", "1e9", "line 10: edges[1], edge 9 to 2: invalid type: floating point `1000000000.0`"),
        ("\"target\": 2", "\"target\": 3", "edges[1], edge \"9\" to \"3\": there is no node \"3\""),
        ("\"target\": 2", "\"target\": 9", "edges[1], edge \"9\" to \"9\": joins a node to itself"),
        ("\"target\": 2", "\"target\": \"left\"", "no path leads from left to 2"),
        ("\"target\": 2", "\"directed\": true, \"target\": 2", "line 10: edges[1], edge 9 to 2: a directed edge"),
        (
            ",\n    {\"rate\": \"1Gbps\", \"delay\": \"5us\", \"source\": 9, \"target\": 2}",
            "",
            "no path leads from left to 2",
        ),
        ("\"kind\": \"host\", \"id\": 2", "\"kind\": \"switch\", \"id\": 2", "fewer than two hosts"),
    ]
    .into_iter()
    .enumerate()
    {
        let json = GRAPH.replacen(good, bad, 1);
        assert_ne!(json, GRAPH, "{good}");
        let errors = from_file(&format!("bad{i}"), &json).unwrap_err();
        assert_eq!((errors[0].key.as_str(), errors[0].line), ("topology.graph.file", Some(3)), "{bad}");
        assert!(errors[0].message.contains(message), "{bad}: {}", errors[0].message);
    }
}

#[test]
fn long_names_and_delays_are_good_up_to_their_bounds() {
    let named = |bytes: usize| from_file("long-name", &GRAPH.replace("\"left\"", &format!("{:?}", "n".repeat(bytes))));
    assert!(named(100).is_ok());
    assert!(named(101).unwrap_err()[0].message.ends_with("a name has at most 100 bytes"));
    assert!(from_file("long-delay", &GRAPH.replace("5us", "1000000s")).is_ok());
}

#[test]
fn what_is_wrong_with_a_graph_in_the_scenario_is_at_its_line() {
    const NODES: &str = "nodes = [\n{ id = \"a\", kind = \"host\" },\n{ id = \"b\", kind = \"host\" },\n]";
    for (graph, key, line, message) in [
        ("file = \"none.json\"", "topology.graph.file", 3, "cannot be read"),
        ("file = \"none.json\"\nnodes = []", "topology.graph.file", 3, "not both"),
        ("", "topology.graph.nodes", 2, "or name a `file`"),
        (NODES, "topology.graph.edges", 2, "missing"),
        (&format!("{NODES}\nedges = []"), "topology.graph.nodes", 3, "no path leads from a to b"),
        (
            &format!("{NODES}\nedges = [\n{{ source = \"a\", target = \"c\" }}]"),
            "topology.graph.edges.0",
            8,
            "no node \"c\"",
        ),
        (&NODES.replace("\"b\"", "\"a\""), "topology.graph.edges", 2, "missing"),
        (&format!("rate = \"0bps\"\n{NODES}\nedges = []"), "topology.graph.rate", 3, "above zero"),
        (&format!("{NODES}\nedges = [{{ source = \"a\" }}]"), "topology.graph.edges.0", 7, "missing field `target`"),
    ] {
        let errors = load(&scenario(graph), "x.toml", None, &[]).unwrap_err();
        let (found, at) = (errors[0].key.as_str(), errors[0].line);
        assert_eq!((found, at), (key, Some(line)), "{graph}: {errors:#?}");
        assert!(errors[0].message.contains(message), "{graph}: {}", errors[0].message);
    }
}

/// What networkx.write_graphml writes, shortened.
const GRAPHML: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d3" for="edge" attr.name="delay" attr.type="string"><default>2us</default></key>
  <key id="d2" for="edge" attr.name="rate" attr.type="string" />
  <key id="d1" for="node" attr.name="layer" attr.type="string" />
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="9"><data key="d0">switch</data><data key="d1">core</data></node>
    <node id="left"><data key="d0">host</data></node>
    <node id="2"><data key="d0">host</data></node>
    <edge source="left" target="9"><data key="d2">10Gbps</data></edge>
    <edge source="9" target="2"><data key="d2">1Gbps</data><data key="d3">5us</data></edge>
  </graph>
</graphml>
"#;

/// A fat-tree of k = 4 in htsim's words, with latencies of switches; in 4 pods of 4 hosts.
const TOPO: &str = "# a tree\nNodes 16\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n\
    Downlink_Latency_ns 1000\nSwitch_Latency_ns 100\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n\
    Downlink_Latency_ns 2000\nSwitch_Latency_ns 60\nBundle 1\n\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 3000\n";

fn from(file: &str, test: &str, text: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let directory = directory(test);
    std::fs::write(directory.join(file), text).unwrap();
    let path = directory.join("scenario.toml");
    let outcome = load(&scenario(&format!("file = {file:?}")), path.to_str().unwrap(), None, &[]);
    std::fs::remove_dir_all(directory).unwrap();
    outcome
}

#[test]
fn graphml_says_the_same_as_json() {
    let json = from("graph.json", "same-json", GRAPH).unwrap();
    // Other data has defaults as well.
    let weight =
        "<key id=\"d4\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"><default>1</default></key>\n  <graph ";
    for text in [GRAPHML.to_string(), GRAPHML.replace("<graph ", weight)] {
        assert_eq!(from("graph.graphml", "same-graphml", &text).unwrap().topology, json.topology);
    }
}

#[test]
fn what_is_wrong_with_graphml_is_named_with_its_line() {
    for (i, (good, bad, message)) in [
        ("</graphml>", "", "line 1: not XML"),
        ("<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">", "<graphml><a/>", "has no"),
        ("edgedefault=\"undirected\"", "edgedefault=\"directed\"", "line 7: a directed graph"),
        ("<node id=\"left\">", "<node>", "line 9: a <node> without `id`"),
        ("target=\"9\"", "", "line 11: an <edge> without `target`"),
        ("attr.name=\"rate\"", "", "line 11, edge \"left\" to \"9\": has no `rate`"),
        ("id=\"d2\"", "", "line 4: a <key> without `id`"),
        ("id=\"d1\"", "id=\"d0\"", "line 6: a second <key> for node has the id \"d0\""),
        ("attr.name=\"layer\"", "attr.name=\"kind\"", "line 6: a second <key> for node has the attr.name \"kind\""),
        ("for=\"edge\"", "for=\"edges\"", "line 3: a <key> for \"edges\"; it is for node, edge, all"),
        ("target=\"9\"", "target=\"9\" directed=\"true\"", "line 11, edge \"left\" to \"9\": a directed edge"),
        (
            "<data key=\"d0\">host</data></node>\n    <edge",
            "<data key=\"d0\">host</data><data key=\"d0\">switch</data></node>\n    <edge",
            "node \"2\": has two <data> for kind",
        ),
        ("<node id=\"left\">", "<node id=\"left\"><graph/>", "line 9: a <graph> in a <graph>"),
        ("</graph>\n", "<hyperedge/></graph>\n", "line 13: a <hyperedge>"),
        ("</graph>\n", "</graph><graph/>\n", "line 13: a second <graph>"),
        ("<data key=\"d2\">1Gbps</data>", "", "line 12, edge \"9\" to \"2\": has no `rate`"),
        ("1Gbps</data><data", "1GB</data><data", "line 12, edge \"9\" to \"2\": \"1GB\": GB is a size"),
        (
            "<data key=\"d3\">",
            "<data key=\"d4\">",
            "line 12, edge \"9\" to \"2\": no <key> for edges has the id \"d4\"",
        ),
        ("source=\"left\"", "source=\"right\"", "line 11, edge \"right\" to \"9\": there is no node \"right\""),
        ("<data key=\"d0\">switch</data>", "", "line 8, node \"9\": missing field `kind`"),
        (
            "    <edge source=\"left\" target=\"9\"><data key=\"d2\">10Gbps</data></edge>\n",
            "",
            "no path leads from left to 2",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let text = if i == 1 { "<graphml><a/></graphml>".to_string() } else { GRAPHML.replacen(good, bad, 1) };
        assert_ne!(text, GRAPHML, "{good}");
        let errors = from("graph.graphml", &format!("xml{i}"), &text).unwrap_err();
        assert_eq!((errors[0].key.as_str(), errors[0].line), ("topology.graph.file", Some(3)), "{bad}");
        assert!(errors[0].message.contains(message), "{bad}: {}", errors[0].message);
    }
}

/// Hosts at e0.0 .., cables of 100, 200 and 400 Gbps; from h0 to h15 one packet waits for 3 us + 2
/// * 2 us + ... as htsim would have it.
#[test]
fn a_tree_of_htsim() {
    let fabric = from("tree.topo", "topo", TOPO).unwrap().topology.fabric();
    let count = |layer| fabric.node_ids().filter(|n| fabric.layer(*n) == layer).count();
    let counts = [Layer::Host, Layer::Edge, Layer::Aggregation, Layer::Core].map(count);
    assert_eq!(counts, [16, 8, 8, 4]);
    let routes = linkpool_network::Routes::new(&fabric, 1);
    assert_eq!([1, 2, 15].map(|to| routes.path_count(&fabric, 0.into(), to.into())), [1, 2, 4]);
    let path = linkpool_network::ShortestPaths::new(&routes, &fabric, 15.into()).nth(0.into(), 0);
    let along = |what: fn(&linkpool_network::LinkSpec) -> u64| -> Vec<u64> {
        path.iter().map(|l| what(&fabric.links()[l.index()])).collect()
    };
    assert_eq!(along(|l| l.rate.0 / 1_000_000_000), [100, 200, 400, 400, 200, 100]);
    // Links: 2 * (1000 + 2000 + 3000) ns; switches: edge, aggregation, none at the core,
    // aggregation, edge: 2 * (100 + 60) ns.
    assert_eq!(along(|l| l.delay.0).iter().sum::<u64>(), 12_320_000);
}

#[test]
fn bundles_are_parallel_cables_and_two_tiers_are_one_pod() {
    let bundled = TOPO
        .replace("Radix_Down 4\n", "Radix_Down 8\nBundle 2\n")
        .replace("Radix_Up 2\nDownlink_Latency_ns 2000", "Radix_Up 4\nDownlink_Latency_ns 2000");
    let fabric = from("tree.topo", "bundles", &bundled).unwrap().topology.fabric();
    let fastest = fabric.links().iter().map(|l| l.rate).max().unwrap();
    assert_eq!((fabric.nodes(), fastest), (36, Rate::gbps(400)));
    // As many cables to the core again.
    assert_eq!(fabric.links().len(), 2 * (16 + 16 + 2 * 16));
    assert_eq!(fabric.links_named("a0.0", "c0").len(), 2);
    assert_eq!(linkpool_network::Routes::new(&fabric, 1).path_count(&fabric, 0.into(), 15.into()), 4 * 4);
    let below = TOPO.replace("Tier 0\n", "Tier 0\nBundle 2\n");
    let why = from("tree.topo", "to-hosts", &below).unwrap_err();
    assert!(why[0].message.contains("line 7: bundles of 2 to a host"), "{}", why[0].message);
    // Two aggregation switches of a pod with four cables each to cores of their own.
    let wide = TOPO.replace("Radix_Up 2\nDownlink_Latency_ns 2000", "Radix_Up 4\nDownlink_Latency_ns 2000");
    assert_eq!(from("tree.topo", "wide", &wide).unwrap().topology.fabric().nodes(), 16 + 8 + 8 + 8);
    let two = "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\n\
        Tier 1\nDownlink_speed_Gbps 10\nRadix_Down 4\nDownlink_Latency_ns 1000\n";
    let fabric = from("tree.topo", "two", two).unwrap().topology.fabric();
    assert_eq!((fabric.hosts(), fabric.nodes(), fabric.links().len()), (8, 14, 2 * (8 + 8)));
    assert_eq!(linkpool_network::Routes::new(&fabric, 1).path_count(&fabric, 0.into(), 7.into()), 2);
}

#[test]
fn what_is_wrong_with_a_tree_of_htsim_is_named_with_its_line() {
    for (i, (good, bad, message)) in [
        ("Nodes 16", "Nodes many", "line 2: Nodes must be followed by a whole number"),
        ("Nodes 16", "Hosts 16", "line 2: its first word is not known here; known: tier, nodes, tiers, podsize"),
        ("Nodes 16\n", "", "says no \"nodes\""),
        ("Podsize 4", "Podsize 5", "line 4: nodes, 16, cannot be shared out evenly by 5"),
        ("Tiers 3", "Tiers 2", "line 3: has 2 tiers and describes 3"),
        ("Tier 1", "Tier 2", "line 13: tier 2 where tier 1 is due"),
        (
            "Radix_Down 2\nRadix_Up",
            "Radix_Down 3\nRadix_Up",
            "line 8: hosts of a pod, 4, cannot be shared out evenly by 3",
        ),
        ("Radix_Down 4", "Radix_Down 5", "line 23: 5 ports in bundles of 1 cannot join each of 4 pods"),
        ("Downlink_speed_Gbps 200\n", "", "says no \"downlink_speed_gbps\" of tier 1"),
        (
            "Downlink_speed_Gbps 400",
            "Downlink_speed_Gbps 0",
            "line 22, edge \"a0.0\" to \"c0\": its `rate` must be above zero",
        ),
        ("Bundle 1", "Bundle 1\nBundle 1", "line 20: Bundle stands here twice"),
        ("Podsize 4", "Podsize 0", "line 4: must be above zero"),
        ("Nodes 16", "Nodes 4000000", "line 2: makes 4000000 hosts; at most 1048576 can be simulated"),
        // 10^6 s, and half of the switch's latency.
        (
            "Downlink_Latency_ns 1000\n",
            "Downlink_Latency_ns 1000000000000000\n",
            "line 7, edge \"h0\" to \"e0.0\": its `delay` is too long",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let text = TOPO.replacen(good, bad, 1);
        assert_ne!(text, TOPO, "{good}");
        let errors = from("tree.topo", &format!("topo{i}"), &text).unwrap_err();
        assert!(errors[0].message.contains(message), "{bad}: {}", errors[0].message);
    }
    let errors = from("tree.txt", "ending", TOPO).unwrap_err();
    assert!(errors[0].message.contains(".json (node-link), .graphml or .topo (htsim)"), "{}", errors[0].message);
}

/// yEd writes keys for data of its own, which have no name, and whose data are elements.
#[test]
fn keys_of_programs_have_no_effect() {
    let own = "<key for=\"node\" id=\"y\" yfiles.type=\"nodegraphics\"/>\n  <key id=\"z\" for=\"edge\"/>\n  <key ";
    let text = GRAPHML
        .replacen("<key ", own, 1)
        .replace("<node id=\"left\">", "<node id=\"left\"><data key=\"y\"><shape/></data>")
        .replace("target=\"9\">", "target=\"9\" directed=\"false\"><data key=\"z\">1</data>");
    let good = from("graph.graphml", "yed-without", GRAPHML).unwrap();
    assert_eq!(from("graph.graphml", "yed", &text).unwrap().topology, good.topology);
}

/// The default for edges goes before the one for all, whichever stands first.
#[test]
fn a_specific_default_goes_before_a_general_one() {
    let general = "<key id=\"q\" for=\"all\" attr.name=\"delay\" attr.type=\"string\"><default>9us</default></key>\n";
    let good = from("graph.graphml", "defaults-without", GRAPHML).unwrap();
    for (i, text) in [
        GRAPHML.replacen("  <key ", &format!("{general}<key "), 1),
        GRAPHML.replacen("  <graph ", &format!("{general}<graph "), 1),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(from("graph.graphml", &format!("defaults{i}"), &text).unwrap().topology, good.topology);
    }
}

/// Two cables between the same switches, and two from a host to its switch.
#[test]
fn nodes_may_be_joined_by_several_cables() {
    let json = GRAPH.replace(
        "\"source\": 9, \"target\": 2}",
        "\"source\": 9, \"target\": 2},\n {\"rate\": \"4Gbps\", \"delay\": \"1us\", \"source\": 2, \"target\": 9}",
    );
    let scenario = from("graph.json", "parallel", &json).unwrap();
    let fabric = scenario.topology.fabric();
    let names: Vec<String> = (0..6).map(|link| fabric.link_name(linkpool_network::LinkId::new(link))).collect();
    assert_eq!(names, ["left->9", "2->9#0", "2->9#1", "9->left", "9->2#0", "9->2#1"]);
    assert_eq!(fabric.links()[2].rate, Rate::gbps(4));
    let again = load(&scenario.to_toml(), "elsewhere.toml", None, &[]).unwrap();
    assert_eq!(again.topology, scenario.topology);
    let name = json.replace("\"left\"", "\"2#1\"");
    let why = from("graph.json", "parallel-name", &name).unwrap_err();
    assert!(
        why[0].message.contains("the name of node \"2#1\" is that of one of these parallel cables"),
        "{}",
        why[0].message
    );
}

/// Two hosts at each of two switches, which two cables join.
const HPCC: &str = "6 2 6\n2 5\n0 2 100Gbps 1000ns 0.000000\n1 2 100Gbps 1000ns 0\n3 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n\
                    2 5 400Gbps 0.002ms 0\n5 2 400Gbps 0.002ms 0\n\n";

fn hpcc(test: &str, text: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let directory = directory(test);
    std::fs::write(directory.join("topology.txt"), text).unwrap();
    let path = directory.join("scenario.toml");
    let graph = scenario("file = \"topology.txt\"\nformat = \"hpcc\"");
    let outcome = load(&graph, path.to_str().unwrap(), None, &[]);
    std::fs::remove_dir_all(directory).unwrap();
    outcome
}

#[test]
fn a_topology_of_hpcc_has_its_hosts_first() {
    let fabric = hpcc("hpcc", HPCC).unwrap().topology.fabric();
    let names: Vec<_> = fabric.node_ids().map(|node| (fabric.name(node), fabric.layer(node))).collect();
    let [host, switch] = [Layer::Host, Layer::Switch];
    assert_eq!(names, [("0", host), ("1", host), ("3", host), ("4", host), ("2", switch), ("5", switch)]);
    let between = fabric.links_named("2", "5");
    assert_eq!(between.len(), 2);
    let link = &fabric.links()[between[0].index()];
    assert_eq!((link.rate, link.delay), (Rate::gbps(400), Time::from_us(2)));
}

#[test]
fn what_is_wrong_with_a_topology_of_hpcc_is_named_with_its_line() {
    for (i, (good, bad, message)) in [
        ("6 2 6\n", "6 2\n", "line 1: is not the numbers of nodes, switches and links"),
        ("6 2 6\n", "9000000 2 6\n", "line 1: 9000000 nodes"),
        ("6 2 6\n", "6 1 6\n", "line 2: names 2 switches, and line 1 announces 1 switch"),
        ("6 2 6\n", "6 2 7\n", "line 1: announces 7 links, and the file has 6 links"),
        ("6 2 6\n", "6 2 5\n", "line 8: line 1 announces 5 links, and this line follows them"),
        ("2 5\n0", "2 6\n0", "line 2: \"6\" is no node: they are 0 to 5"),
        ("2 5\n0", "2 2\n0", "line 2: switch 2 stands here twice"),
        ("0 2 100", "0 7 100", "line 3: \"7\" is no node"),
        ("1 2 100Gbps 1000ns 0", "1 2 100Gbps 1000ns", "line 4: 4 values; a link has 5"),
        ("1 2 100Gbps 1000ns 0", "1 2 100 1000ns 0", "line 4: "),
        ("1 2 100Gbps 1000ns 0", "1 2 100Gbps 1000ns 0.01", "line 4: the link loses packets"),
        ("1 2 100Gbps 1000ns 0", "1 2 100Gbps 1000ns x", "line 4: \"x\" is no share of packets"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = HPCC.replacen(good, bad, 1);
        assert_ne!(text, HPCC, "{good}");
        let errors = hpcc(&format!("hpcc{i}"), &text).unwrap_err();
        assert!(errors[0].message.contains(message), "{bad}: {}", errors[0].message);
    }
}

/// Nodes of two servers and a leaf, each `{ ... }` with what stands for its name.
fn in_servers(more: [&str; 3]) -> String {
    let [a0, b0, switch] = more;
    format!(
        "rate = \"10Gbps\"\ndelay = \"1us\"\nnodes = [\n{{ id = \"a0\", kind = \"host\"{a0} }},\n{{ id = \"a1\", kind = \"host\", \
         server = \"a\" }},\n{{ id = \"b0\", kind = \"host\"{b0} }},\n{{ id = \"s\", kind = \"switch\"{switch} }},\n{{ id = \"p\", kind \
         = \"switch\", layer = \"pcie\", server = \"a\" }},\n]\nedges = [{{ source = \"a0\", target = \"p\" }}, {{ source = \"a1\", \
         target = \"p\" }}, {{ source = \"p\", target = \"s\" }}, {{ source = \"b0\", target = \"s\" }}]"
    )
}

#[test]
fn what_is_wrong_with_servers_is_named() {
    const A: &str = ", server = \"a\"";
    let good = load(&scenario(&in_servers([A, ", forwards = true", ""])), "x.toml", None, &[]).unwrap();
    let written = good.to_toml();
    assert_eq!(load(&written, "x.toml", None, &[]).unwrap(), good, "{written}");
    let fabric = good.topology.fabric();
    let forwards: Vec<bool> = fabric.node_ids().map(|node| fabric.forwards(node)).collect();
    assert_eq!(forwards, [false, false, true, true, true]);
    // The switch from PCIe to the leaf, and b0, which is a server by itself.
    assert_eq!(fabric.access_rate(), 20e9);
    for (more, key, line, message) in [
        ([A, "", ", forwards = true"], "nodes.3", 9, "node \"s\": is a switch, and switches forward"),
        ([A, ", rail = 0", ""], "nodes.2", 8, "node \"b0\": has a `rail` and no `server`; name its server"),
        ([A, ", server = \"\"", ""], "nodes.2", 8, "node \"b0\": an empty `server`; name it, or leave"),
        (
            [A, "", ", server = \"b\", rail = 0"],
            "nodes.3",
            9,
            "node \"s\": is a switch, and hosts have rails; leave `rail` out",
        ),
        (
            [", server = \"a\", rail = 1", "", ""],
            "nodes",
            5,
            "the hosts of server \"a\" reach each other over switches of layer pcie",
        ),
        ([A, A, ""], "nodes", 5, "no path leads from a0 to b0, for packets inside a server do not leave it; join them"),
        (["", A, ""], "nodes", 5, "no path leads from"),
        ([A, "", ", server = 1"], "nodes.3.server", 9, "expected a string"),
    ] {
        let errors = load(&scenario(&in_servers(more)), "x.toml", None, &[]).unwrap_err();
        let key = format!("topology.graph.{key}");
        assert_eq!((errors[0].key.as_str(), errors[0].line), (key.as_str(), Some(line)), "{more:?}: {errors:#?}");
        assert!(errors[0].message.contains(message), "{more:?}: {}", errors[0].message);
    }
}

/// A switch joins the hosts of each server; the host of rail 1 has the only link to the leaf.
#[test]
fn rails_are_named_where_there_are_some() {
    let node = |name: &str, more: &str| format!("{{ id = \"{name}\"{more} }},\n");
    let edge = |from: &str, to: &str| format!("{{ source = \"{from}\", target = \"{to}\" }},\n");
    let server = |s: &str| {
        let host = |i: u32| format!(", kind = \"host\", server = \"{s}\", forwards = true, rail = {i}");
        node(&format!("{s}0"), &host(0))
            + &node(&format!("{s}1"), &host(1))
            + &node(&format!("n{s}"), &format!(", kind = \"switch\", layer = \"nvlink\", server = \"{s}\""))
    };
    let edges = |s: &str| {
        let [first, second, switch] = [format!("{s}0"), format!("{s}1"), format!("n{s}")];
        edge(&first, &switch) + &edge(&second, &switch) + &edge(&second, "leaf")
    };
    let graph = format!(
        "rate = \"10Gbps\"\ndelay = \"1us\"\nnodes = [\n{}{}{}]\nedges = [\n{}{}]",
        server("a"),
        server("b"),
        node("leaf", ", kind = \"switch\""),
        edges("a"),
        edges("b")
    );
    let errors = load(&scenario(&graph), "x.toml", None, &[]).unwrap_err();
    let message = &errors[0].message;
    assert!(message.contains("and others leave by the rail of their destination; join them"), "{message}");
    // Without rails there is a path.
    let without = graph.replace(", rail = 0", "").replace(", rail = 1", "");
    load(&scenario(&without), "x.toml", None, &[]).unwrap();
}

/// Where all hosts are in one server, no link leaves it, so a load is a share of nothing.
#[test]
fn a_load_needs_links_that_leave_servers() {
    let scenario = |rate: &str| {
        format!(
            "duration = \"1ms\"\n[topology.graph]\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
             nodes = [{{ id = \"a\", kind = \"host\", server = \"x\" }}, {{ id = \"b\", kind = \"host\", server = \"x\" }}]\n\
             edges = [{{ source = \"a\", target = \"b\" }}]\n[transport.t]\ncontrol = \"dctcp\"\n\
             [[workload.poisson]]\ntransport = \"t\"\nsize = \"20KB\"\n{rate}\n"
        )
    };
    let errors = load(&scenario("load = 0.5"), "x.toml", None, &[]).unwrap_err();
    assert_eq!((errors[0].key.as_str(), errors.len()), ("workload.poisson.0.load", 1), "{errors:#?}");
    assert!(errors[0].message.starts_with("no link leaves a server"), "{}", errors[0].message);
    let good = load(&scenario("flows_per_second = 1000"), "x.toml", None, &[]).unwrap();
    assert_eq!(load(&good.to_toml(), "x.toml", None, &[]).unwrap(), good);
}

/// A graph of a fabric of GPU servers, in which names stand for places.
fn as_graph(fabric: &Fabric) -> String {
    let place = |node: NodeId| fabric.servers().unwrap().place(node.index());
    let node = |node: NodeId| {
        let is_host = fabric.layer(node) == Layer::Host;
        let (kind, layer) = if is_host { ("host", "") } else { ("switch", fabric.layer(node).name()) };
        let layer = if is_host { String::new() } else { format!(", layer = \"{layer}\"") };
        let server = place(node).server().map(|server| format!(", server = \"server {server}\"")).unwrap_or_default();
        let relays = fabric.servers().unwrap().relays();
        let forwards = if is_host && fabric.forwards(node) { ", forwards = true" } else { "" };
        let rail = place(node).rail().filter(|_| relays).map(|rail| format!(", rail = {rail}")).unwrap_or_default();
        format!("{{ id = \"{}\", kind = \"{kind}\"{layer}{server}{forwards}{rail} }},\n", fabric.name(node))
    };
    let edge = |(i, l): (usize, &linkpool_network::LinkSpec)| {
        let back = fabric.reverse(linkpool_network::LinkId::new(i)).index();
        let (from, to) = (fabric.name(l.from), fabric.name(l.to));
        let (rate, delay) = (l.rate.0, l.delay.0);
        let text =
            format!("{{ source = \"{from}\", target = \"{to}\", rate = \"{rate}bps\", delay = \"{delay}ps\" }},\n");
        if i < back { text } else { String::new() }
    };
    let nodes: String = fabric.node_ids().map(node).collect();
    let edges: String = fabric.links().iter().enumerate().map(edge).collect();
    format!("nodes = [\n{nodes}]\nedges = [\n{edges}]")
}

/// All shortest paths from each host to each, by names.
fn ways(fabric: &Fabric) -> Vec<Vec<Vec<String>>> {
    let routes = Routes::new(fabric, 1);
    let hosts = || HostId::first(fabric.hosts());
    let pair = |(from, to): (HostId, HostId)| {
        let mut paths = ShortestPaths::new(&routes, fabric, to);
        let names = |path: Vec<_>| path.into_iter().map(|link| fabric.link_name(link)).collect::<Vec<_>>();
        let mut all: Vec<_> = (0..paths.count(from.into())).map(|i| names(paths.nth(from, i))).collect();
        all.sort();
        all
    };
    hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b).map(pair).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Fabrics of GPU servers as graphs: the same paths between all GPUs, the same load, racks and
    /// pods, and the same places.
    #[test]
    fn gpu_servers_as_a_graph_are_the_same(
        (groups, servers_per_group) in (1u32..3, 1u32..3), (gpus, nics) in prop::sample::select(vec![(2, 2), (4, 4), (4, 2), (6, 3)]),
        nvlink_switches in 1u32..3, spines in 1u32..3, kind in 0u32..4,
    ) {
        let t = GpuServers {
            groups, servers_per_group, gpus, nics, nvlink_switches, spines,
            rails: kind > 0, pxn: kind > 1, shared_spines: kind < 3,
            nvlink_rate: Rate::gbps(400), nvlink_delay: Time::from_ns(200), pcie_rate: Rate::gbps(200), pcie_delay: Time::from_ns(300),
            rate: Rate::gbps(100), delay: Time::from_ns(500), uplink_rate: Rate::gbps(100), uplink_delay: Time::from_us(1),
        };
        let drawn = t.fabric();
        let graph = load(&scenario(&as_graph(&drawn)), "x.toml", None, &[]).unwrap().topology.fabric();
        prop_assert_eq!(ways(&graph), ways(&drawn));
        prop_assert_eq!(graph.access_rate(), drawn.access_rate());
        prop_assert_eq!(graph.racks_and_pods(), drawn.racks_and_pods());
        let servers = |f: &Fabric| (0..f.nodes()).map(|node| f.servers().unwrap().place(node).server()).collect::<Vec<_>>();
        prop_assert_eq!(servers(&graph), servers(&drawn));
        let inner = |f: &Fabric| (0..f.nodes()).map(|node| matches!(f.servers().unwrap().place(node), Place::Shared { .. })).collect::<Vec<_>>();
        prop_assert_eq!(inner(&graph), inner(&drawn));
    }
}

/// networkx writes True and true.
#[test]
fn graphml_says_which_hosts_forward() {
    let key = |id: &str, name: &str, of: &str| {
        format!("<key id=\"{id}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{of}\" />\n  ")
    };
    let keys = [key("d4", "forwards", "boolean"), key("d5", "server", "string"), key("d6", "rail", "long")].concat();
    let with = |test: &str, data: &str| {
        let node = format!("<node id=\"left\"><data key=\"d0\">host</data>{data}</node>");
        let text = GRAPHML.replace("<node id=\"left\"><data key=\"d0\">host</data></node>", &node);
        from("graph.graphml", test, &text.replace("<graph ", &format!("{keys}<graph ")))
    };
    for (test, word, forwards) in [("true", "true", true), ("True", "True", true), ("false", "false", false)] {
        let data = format!("<data key=\"d4\">{word}</data><data key=\"d5\">a</data><data key=\"d6\">3</data>");
        let fabric = with(test, &data).unwrap().topology.fabric();
        assert_eq!((fabric.name(0.into()), fabric.forwards(0.into())), ("left", forwards));
        assert_eq!(fabric.servers().unwrap().place(0), Place::Host { server: 0, rail: Some(3) });
    }
    for (test, data, message) in [
        ("yes", "<data key=\"d4\">yes</data>", "node \"left\": invalid type: string \"yes\", expected a boolean"),
        ("rail", "<data key=\"d6\">x</data>", "node \"left\": invalid type: string \"x\", expected u32"),
    ] {
        let errors = with(test, data).unwrap_err();
        assert!(errors[0].message.contains(message), "{}", errors[0].message);
    }
}
