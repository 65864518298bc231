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
        let message =
            format!("flows.csv:3: there is no host {name:?}; hosts are S1 to S2 and R, or their indices 0 to 2");
        assert!(matches!(&errors[..], [e] if e.key == "workload.trace.0.file" && e.message == message), "{errors:#?}");
    }
}
