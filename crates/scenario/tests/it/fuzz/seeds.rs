//! Good files of every format, to be damaged.

use std::path::{Path, PathBuf};

/// A good file.
pub struct Seed {
    /// Its name, whose ending says the format.
    pub name: &'static str,
    /// The scenario that includes it; none if it is one.
    pub scenario: Option<&'static str>,
    /// What is in it.
    pub content: Vec<u8>,
    /// Files that must stand beside it.
    pub beside: Vec<(&'static str, Vec<u8>)>,
}

const AROUND_GRAPH: &str = "duration = \"1ms\"\n[topology.graph]\nfile = \"FILE\"\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
    [transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 1\n";

const AROUND_TRACE: &str = "duration = \"1ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
    [transport.t]\ncontrol = \"reno\"\n[[workload.trace]]\ntransport = \"t\"\nfile = \"FILE\"\nformat = \"FORMAT\"\n";

const AROUND_PROGRAM: &str = "duration = \"1ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
    [transport.t]\ncontrol = \"reno\"\n[[workload.program]]\ntransport = \"t\"\nfile = \"FILE\"\nformat = \"FORMAT\"\n";

const AROUND_SIZES: &str = "duration = \"1ms\"\n[topology.dumbbell]\npairs = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
    [transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 1\ncount = 3\n\
    size = { cdf = \"FILE\", interpolation = \"linear\" }\n";

const GRAPHML: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d2" for="edge" attr.name="rate" attr.type="string"><default>1Gbps</default></key>
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="a"><data key="d0">host</data></node>
    <node id="b"><data key="d0">host</data></node>
    <node id="s"><data key="d0">switch</data></node>
    <edge source="a" target="s"><data key="d2">2Gbps</data></edge>
    <edge source="b" target="s" />
  </graph>
</graphml>
"#;

const TOPO: &str = "Nodes 16\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\n\
    Downlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 1000\n\n\
    Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 500\n";

const SIZES: &str = "# bytes, probability\n100 0\n1000 0.5\n10000 0.9\n1000000 1\n";

/// All of them: the scenarios of the documentation that include no file, and a file of each other
/// format.
pub fn seeds() -> Vec<Seed> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let of_docs = |file: &str| std::fs::read(docs.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
    let around =
        |around: &str, file: &str, format: &str| Some(&*around.replace("FILE", file).replace("FORMAT", format).leak());
    let mut all = vec![
        Seed {
            name: "graph.json",
            scenario: around(AROUND_GRAPH, "graph.json", ""),
            content: of_docs("topologies/graph.json"),
            beside: Vec::new(),
        },
        Seed {
            name: "graph.graphml",
            scenario: around(AROUND_GRAPH, "graph.graphml", ""),
            content: GRAPHML.into(),
            beside: Vec::new(),
        },
        Seed {
            name: "tree.topo",
            scenario: around(AROUND_GRAPH, "tree.topo", ""),
            content: TOPO.into(),
            beside: Vec::new(),
        },
        Seed {
            name: "flows.csv",
            scenario: around(AROUND_TRACE, "flows.csv", "csv"),
            content: of_docs("workloads/trace.csv"),
            beside: Vec::new(),
        },
        Seed {
            name: "flows.hpcc",
            scenario: around(AROUND_TRACE, "flows.hpcc", "hpcc"),
            content: of_docs("workloads/trace.txt"),
            beside: Vec::new(),
        },
        Seed {
            name: "program.goal",
            scenario: around(AROUND_PROGRAM, "program.goal", "goal"),
            content: of_docs("workloads/program.goal"),
            beside: Vec::new(),
        },
        Seed {
            name: "program.bin",
            scenario: around(AROUND_PROGRAM, "program.bin", "goal-binary"),
            content: of_docs("workloads/program.bin"),
            beside: Vec::new(),
        },
        Seed {
            name: "program.0.et",
            scenario: around(AROUND_PROGRAM, "program", "chakra"),
            content: of_docs("workloads/program.0.et"),
            beside: vec![("program.1.et", of_docs("workloads/program.1.et"))],
        },
        Seed {
            name: "flows.cm",
            scenario: around(AROUND_TRACE, "flows.cm", "htsim"),
            content: of_docs("workloads/trace.cm"),
            beside: Vec::new(),
        },
        Seed {
            name: "sizes.cdf",
            scenario: around(AROUND_SIZES, "sizes.cdf", ""),
            content: SIZES.into(),
            beside: Vec::new(),
        },
    ];
    let mut scenarios: Vec<PathBuf> =
        ["topologies", "workloads"].iter().flat_map(|part| tomls(&docs.join(part))).collect();
    scenarios.sort();
    for file in scenarios {
        let content = std::fs::read(&file).unwrap();
        if !String::from_utf8_lossy(&content).contains("file =") {
            all.push(Seed { name: "scenario.toml", scenario: None, content, beside: Vec::new() });
        }
    }
    all
}

fn tomls(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "toml"))
}
