//! Files of flows: whose hosts there are.

use linkpool_scenario::{ScenarioError, WorkloadKind, load};

use crate::graph::directory;

/// The two ends of each flow of a file with these lines, between S1, S2 (0, 1) and R (2).
fn ends(test: &str, lines: &str) -> Result<Vec<(usize, usize)>, Vec<ScenarioError>> {
    let directory = directory(test);
    std::fs::write(directory.join("flows.csv"), format!("src,dst,size_bytes,start_s\n{lines}")).unwrap();
    let text = "duration = \"1s\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
                [transport.t]\ncontrol = \"reno\"\n\
                [[workload.trace]]\ntransport = \"t\"\nfile = \"flows.csv\"\nformat = \"csv\"\n";
    let loaded = load(text, directory.join("x.toml").to_str().unwrap(), None, &[]);
    std::fs::remove_dir_all(directory).unwrap();
    let scenario = loaded?;
    let WorkloadKind::Trace(trace) = &scenario.workloads[0].kind else { panic!("a trace") };
    Ok(trace.flows.iter().map(|flow| (flow.from.index(), flow.to.index())).collect())
}

#[test]
fn hosts_go_by_name_or_index() {
    assert_eq!(ends("trace-good", "S1,R,10,0\n2,1,10,0\n").unwrap(), [(0, 2), (2, 1)]);
}

/// The switch W is node 3.
#[test]
fn a_switch_is_no_host() {
    for name in ["W", "3"] {
        let errors = ends("trace-bad", &format!("S1,R,10,0\nS1,{name},10,0\n")).unwrap_err();
        let what = if name == "W" { "\"W\" is a switch" } else { "there is no host 3" };
        let message = format!("flows.csv:3: {what}; hosts are S1 to S2 and R, or their indices 0 to 2");
        assert!(matches!(&errors[..], [e] if e.key == "workload.trace.0.file" && e.message == message), "{errors:#?}");
    }
}

/// A graph whose nodes have numbers for names: hosts 0, 2 and 3, switch 1. The host of index 1 is
/// 2, that of index 2 is 3, and no node is called 4.
const NUMBERS: &str = "duration = \"1s\"\n[topology.graph]\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
    nodes = [{ id = \"0\", kind = \"host\" }, { id = \"1\", kind = \"switch\" }, { id = \"2\", kind = \"host\" }, \
    { id = \"3\", kind = \"host\" }]\n\
    edges = [{ source = \"0\", target = \"1\" }, { source = \"1\", target = \"2\" }, { source = \"1\", target = \"3\" }]\n\
    [transport.t]\ncontrol = \"reno\"\n";

/// Loads `workload` with `content` in the file `flows`; the two ends of its first flow, or its
/// error.
fn with_file(test: &str, workload: &str, content: &[u8]) -> Result<(usize, usize), String> {
    let directory = directory(test);
    std::fs::write(directory.join("flows"), content).unwrap();
    let text = format!("{NUMBERS}{workload}");
    let loaded = load(&text, directory.join("x.toml").to_str().unwrap(), None, &[]);
    std::fs::remove_dir_all(directory).unwrap();
    let scenario = loaded.map_err(|errors| errors[0].message.clone())?;
    match &scenario.workloads[0].kind {
        WorkloadKind::Trace(trace) => Ok((trace.flows[0].from.index(), trace.flows[0].to.index())),
        WorkloadKind::Flow(flow) => Ok((flow.from.index(), flow.to.index())),
        other => panic!("{other:?}"),
    }
}

/// Where a node has a number as its name, this number is no index.
#[test]
fn a_number_is_a_name_before_it_is_an_index() {
    let trace =
        |format: &str| format!("[[workload.trace]]\ntransport = \"t\"\nfile = \"flows\"\nformat = {format:?}\n");
    for (format, content) in [
        ("csv", "src,dst,size_bytes,start_s\n0,TO,9,0\n"),
        ("json-lines", "{\"src\": 0, \"dst\": TO, \"size_bytes\": 9, \"start_s\": 0}\n"),
        ("hpcc", "1\n0 TO 3 100 9 0\n"),
        ("htsim", "0->TO id 1 start 0 size 9\n"),
    ] {
        let to =
            |to: &str| with_file(&format!("numbers-{format}"), &trace(format), content.replace("TO", to).as_bytes());
        assert_eq!((to("2"), to("3")), (Ok((0, 1)), Ok((0, 2))), "{format}");
        let why = to("1").unwrap_err();
        assert!(why.contains(
            "\"1\" is a switch; hosts are 0 and 2 to 3, or their indices 0 to 2 but 1 and 2, which are names"
        ));
        assert!(to("4").unwrap_err().contains("there is no host 4"), "{format}");
    }
    let flow = |to: &str| {
        let flow = format!("[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = {to}\nsize = \"9B\"\n");
        with_file("numbers-flow", &flow, b"")
    };
    assert_eq!((flow("2"), flow("\"2\"")), (Ok((0, 1)), Ok((0, 1))));
    for to in ["1", "\"1\""] {
        assert!(flow(to).unwrap_err().contains("1\" is a switch") || flow(to).unwrap_err().contains("1 is a switch"));
    }
}

/// A file may begin with a byte order mark, as spreadsheets write it.
#[test]
fn a_byte_order_mark_is_no_part_of_the_header() {
    let trace = "[[workload.trace]]\ntransport = \"t\"\nfile = \"flows\"\nformat = \"csv\"\n";
    let content = b"\xef\xbb\xbf\"src\",\"dst\",\"size_bytes\",\"start_s\"\r\n\"0\",\"2\",\"9\",\"0\"\r\n";
    assert_eq!(with_file("mark", trace, content), Ok((0, 1)));
}

/// Rows of a table count from 0.
#[test]
fn places_of_errors_follow_the_name_of_the_file() {
    let trace =
        |format: &str| format!("[[workload.trace]]\ntransport = \"t\"\nfile = \"flows\"\nformat = {format:?}\n");
    let error = |format: &str, content: &[u8]| with_file("places", &trace(format), content).unwrap_err();
    assert!(error("parquet", b"PAR1").starts_with("flows: is not Parquet: "));
    assert!(error("csv", b"\xff").starts_with("flows: is not a text file"));
    assert_eq!(
        error("htsim", b"Nodes 9\n0->2 id 1 start 0 size 9\n"),
        "flows:1: is for 9 hosts, and the topology has 3"
    );
    assert_eq!(error("hpcc", b"1\n0 0 3 100 9 0\n"), "flows:2: \"0\" sends to itself");
}

/// With SHA-256 as `sha256sum` prints it.
#[test]
fn the_scenario_as_run_names_a_file_by_its_digest() {
    let directory = directory("trace-digest");
    let write = |name: &str, content: &str| std::fs::write(directory.join(name), content).unwrap();
    write("a.csv", "src,dst,size_bytes,start_s\nS1,R,10,0\n");
    write("b.csv", "src,dst,size_bytes,start_s\nS1,R,10,0\n");
    let digest = "38603ec23a69c0153067c1077258cccdb1e22df3dd73d2a1b6f5640ca7e26a79";
    let read = |name: &str, file: &str, more: &str| {
        let text = format!(
            "name = \"{name}\"\nduration = \"1s\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Gbps\"\n\
             delay = \"1us\"\n[transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n\
             [[workload.trace]]\ntransport = \"t\"\nflows = [{{ from = \"S2\", to = \"R\", size = \"1KB\" }}]\n\
             [[workload.trace]]\ntransport = \"t\"\nfile = \"{file}\"\nformat = \"csv\"\n{more}\n"
        );
        load(&text, directory.join("x.toml").to_str().unwrap(), None, &[])
    };
    let scenario = read("one", "a.csv", "").unwrap();
    let written = scenario.to_toml();
    let path = std::path::absolute(directory.join("a.csv")).unwrap();
    let path = path.to_str().unwrap();
    assert!(written.contains(&format!("file = \"{path}\"\nformat = \"csv\"\nsha256 = \"{digest}\"")), "{written}");
    assert!(!written.contains("10B"), "the flows of the file are not there: {written}");
    assert_eq!(load(&written, "elsewhere.toml", None, &[]).unwrap(), scenario);
    let files = scenario.files();
    assert_eq!(files.len(), 1);
    assert_eq!((files[0].key.as_str(), files[0].name.as_str()), ("workload.trace.1.file", path));
    assert_eq!(files[0].parts, [path]);

    // What runs is the same by another name, and from another place.
    let same = read("two", "b.csv", "").unwrap();
    assert_ne!(same.to_toml(), written);
    assert_eq!(same.identity(), scenario.identity());
    assert_ne!(read("one", "a.csv", "start = \"1ms\"").unwrap().identity(), scenario.identity());

    write("b.csv", "src,dst,size_bytes,start_s\nS1,R,11,0\n");
    assert_ne!(read("one", "b.csv", "").unwrap().identity(), scenario.identity());
    let errors = read("one", "b.csv", &format!("sha256 = \"{digest}\"")).unwrap_err();
    assert!(errors[0].key == "workload.trace.1.file" && errors[0].message.contains("it is another trace than"));
    for (more, key, why) in [
        ("flows = []", "flows", "a trace without a `file`"),
        ("flows = [{ from = \"S2\", to = \"R\", size = \"1KB\" }]", "flows", "a trace without a `file`"),
    ] {
        let errors = read("one", "a.csv", more).unwrap_err();
        let found = errors.iter().any(|e| e.key == format!("workload.trace.1.{key}") && e.message.contains(why));
        assert!(found, "{errors:#?}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

/// The same text on two fabrics: indices are of hosts, and names of nodes, whichever was read last.
#[test]
fn a_file_that_was_read_before_means_what_it_means_on_each_fabric() {
    let directory = directory("trace-again");
    std::fs::write(directory.join("a.csv"), "src,dst,size_bytes,start_s\n0,2,10,0\n1,2,20,0\n").unwrap();
    let read = |senders: u32, format: &str| {
        let text = format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = {senders}\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
             [transport.t]\ncontrol = \"reno\"\n[[workload.trace]]\ntransport = \"t\"\nfile = \"a.csv\"\n\
             format = \"{format}\"\n"
        );
        load(&text, directory.join("x.toml").to_str().unwrap(), None, &[])
    };
    let first = read(2, "csv").unwrap();
    assert_eq!(read(2, "csv").unwrap(), first);
    let more = read(3, "csv").unwrap();
    assert!(read(2, "hpcc").is_err(), "another format");
    assert!(read(1, "csv").is_err(), "fewer hosts");
    std::fs::write(directory.join("a.csv"), "src,dst,size_bytes,start_s\n0,1,10,0\n").unwrap();
    let changed = read(2, "csv").unwrap();
    let sizes = |scenario: &linkpool_scenario::Scenario| {
        let WorkloadKind::Trace(trace) = &scenario.workloads[0].kind else { panic!("a trace") };
        trace.flows.iter().map(|flow| (flow.to.index(), flow.size)).collect::<Vec<_>>()
    };
    assert_eq!((sizes(&first), sizes(&more)), (vec![(2, 10), (2, 20)], vec![(2, 10), (2, 20)]));
    assert_eq!(sizes(&changed), [(1, 10)]);
    std::fs::remove_dir_all(directory).unwrap();
}
