//! Paths that flows name, good and bad.

use linkpool_scenario::{WorkloadKind, load};

fn scenario(transport: &str, paths: &str) -> String {
    format!(
        "duration = \"1s\"\n[topology.triangle]\nrate = \"1Gbps\"\ndelay = \"1ms\"\n\
         bottleneck_rates = [\"12Mbps\", \"12Mbps\", \"12Mbps\"]\n[transport.t]\n{transport}\n\
         [[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"D1\"\npaths = {paths}\n"
    )
}

const TWO: &str = "control = \"lia\"\nsubflows = 2";
const PATHS: &str = r#"[["S1", "A1", "B1", "D1"], ["S1", "A2", "B2", "C2", "A3", "B3", "D1"]]"#;

#[test]
fn paths_are_read_and_written() {
    let first = load(&scenario(TWO, PATHS), "x.toml", None, &[]).unwrap();
    let WorkloadKind::Flow(flow) = &first.workloads[0].kind else { panic!("a flow") };
    assert_eq!(
        flow.paths.as_ref().unwrap(),
        &[vec!["S1", "A1", "B1", "D1"], vec!["S1", "A2", "B2", "C2", "A3", "B3", "D1"]]
    );
    assert_eq!(load(&first.to_toml(), "x.toml", None, &[]).unwrap(), first);
}

#[test]
fn each_mistake_is_named_with_its_remedy() {
    let one = "control = \"reno\"";
    let cases = [
        (TWO, r#"[["S1", "A1", "B1", "D1"]]"#, "paths", "1 path, but t has 2 subflows; write a path for each"),
        (one, PATHS, "paths", "2 paths, but t has 1 subflow; write"),
        (one, r#"[["S1", "A1", "X1", "D1"]]"#, "paths.0.2", "there is no node \"X1\"; known: S1, S2, S3, D1"),
        (one, r#"[["S1", "A1", "B2", "D1"]]"#, "paths.0.2", "no link leads from A1 to B2, only to B1, S1, C3, S3"),
        (one, r#"[["A1", "B1", "D1"]]"#, "paths.0", "must go from S1 to D1, both included"),
        (one, r#"[["S1", "A1", "B1"]]"#, "paths.0", "must go from S1 to D1, both included"),
        (one, r#"[[]]"#, "paths.0", "must go from S1 to D1"),
        (one, r#"[["S1", "A1", "S1", "A1", "B1", "D1"]]"#, "paths.0.2", "S1 stands here twice"),
        (one, r#"[["S1", "A1", "S3", "A3", "B3", "D1"]]"#, "paths.0.2", "S3 is a host, and it does not forward"),
        (
            "control = \"reno\"\npaths = \"scatter\"",
            r#"[["S1", "A1", "B1", "D1"]]"#,
            "paths",
            "packets of t take random paths",
        ),
    ];
    for (transport, paths, key, message) in cases {
        let errors = load(&scenario(transport, paths), "x.toml", None, &[]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].key, format!("workload.flow.0.{key}"), "{errors:#?}");
        assert!(errors[0].message.contains(message), "{errors:#?}");
        assert!(errors[0].line.is_some_and(|line| line >= 10), "{errors:#?}");
    }
}

/// Across a fat-tree of k = 4 as many as an edge switch has uplinks.
#[test]
fn more_subflows_than_disjoint_paths_are_refused() {
    let text = |subflows: u32| {
        format!(
            "duration = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n[transport.t]\ncontrol = \"lia\"\n\
             subflows = {subflows}\npaths = \"disjoint\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 15\n"
        )
    };
    load(&text(2), "x.toml", None, &[]).unwrap();
    let errors = load(&text(3), "x.toml", None, &[]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "x.toml:11: workload.flow.0.transport: t has 3 subflows for disjoint paths, and there are 2 from h0 to h15; \
         lower `subflows`, or use paths = \"distinct\" or \"hash\""
    );
}

/// Eleven switches of 13 or 14 ports each: 13^10 is above 2^32.
#[test]
fn a_path_that_no_packet_can_hold_is_refused() {
    let node = |i: usize| format!("{{ id = \"w{i}\", kind = \"switch\" }}");
    let edge = |a: String, b: String| format!("{{ source = \"{a}\", target = \"{b}\" }}");
    let (chain, leaves) = (11, 12);
    let mut nodes: Vec<String> = ["a", "b"].map(|id| format!("{{ id = \"{id}\", kind = \"host\" }}")).into();
    let mut edges = vec![edge("a".into(), "w0".into()), edge("b".into(), format!("w{}", chain - 1))];
    let mut path = vec!["\"a\"".to_string()];
    for i in 0..chain {
        nodes.push(node(i));
        path.push(format!("\"w{i}\""));
        if i > 0 {
            edges.push(edge(format!("w{}", i - 1), format!("w{i}")));
        }
        for leaf in 0..leaves {
            nodes.push(format!("{{ id = \"l{i}.{leaf}\", kind = \"switch\" }}"));
            edges.push(edge(format!("w{i}"), format!("l{i}.{leaf}")));
        }
    }
    let text = format!(
        "duration = \"1s\"\n[topology.graph]\nrate = \"1Gbps\"\ndelay = \"1us\"\nnodes = [{}]\nedges = [{}]\n\
         [transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"a\"\nto = \"b\"\n\
         paths = [[{}, \"b\"]]\n",
        nodes.join(", "),
        edges.join(", "),
        path.join(", ")
    );
    let errors = load(&text, "x.toml", None, &[]).unwrap_err();
    assert!(errors[0].message.contains("must fit into the 32 bits"), "{errors:#?}");
}
