//! Graphs from JSON files and from the scenario itself.

use linkpool_network::Layer;
use linkpool_scenario::{Scenario, ScenarioError, load};
use linkpool_units::{Rate, Time};
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
fn directory(name: &str) -> PathBuf {
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
        let names: Vec<_> = (0..3).map(|node| (fabric.name(node), fabric.layer(node))).collect();
        assert_eq!(names, [("left", Layer::Host), ("2", Layer::Host), ("9", Layer::Core)]);
        let slow = &fabric.links()[fabric.link(2, 1).unwrap() as usize];
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
        ("\"kind\": \"host\", \"id\": 2", "\"id\": 2", "nodes[2], node 2: missing field `kind`"),
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
        ("\"1Gbps\"", "1e9", "edges[1], edge 9 to 2: "),
        ("\"target\": 2", "\"target\": 3", "edges[1], edge \"9\" to \"3\": there is no node \"3\""),
        ("\"target\": 2", "\"target\": 9", "edges[1], edge \"9\" to \"9\": joins a node to itself"),
        ("\"target\": 2", "\"target\": \"left\"", "edges[1], edge \"9\" to \"left\": these nodes are joined already"),
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
        (&format!("rate = \"0bps\"\n{NODES}"), "topology.graph.rate", 3, "above zero"),
        (&format!("{NODES}\nedges = [{{ source = \"a\" }}]"), "topology.graph.edges.0", 7, "missing field `target`"),
    ] {
        let errors = load(&scenario(graph), "x.toml", None, &[]).unwrap_err();
        let (found, at) = (errors[0].key.as_str(), errors[0].line);
        assert_eq!((found, at), (key, Some(line)), "{graph}: {errors:#?}");
        assert!(errors[0].message.contains(message), "{graph}: {}", errors[0].message);
    }
}
