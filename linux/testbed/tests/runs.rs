//! Scenarios on the network stack of this machine. Where it does not allow that, tests say so in a
//! line and end.

mod common;

use common::{Row, Tables, alone, controllers_lack, lacking, number, scenario, tables, text};
use linkpool_linux_testbed::{Report, Switches, Trouble, check, run, soak};
use linkpool_units::Time;
use parquet::record::Field;
use std::path::Path;

fn results(text: &str) -> Option<(Report, Vec<Row>, Vec<Row>)> {
    tables(text, Switches::Simulator).map(|Tables { report, flows, links, .. }| (report, flows, links))
}

const STAR: &str = "duration = \"1s\"\n[topology.many-to-one]\nsenders = 3\nrate = \"50Mbps\"\ndelay = \"250us\"\n\
    [queue]\nlimit = 50\n[transport.tcp]\ncontrol = \"reno\"\n";

#[test]
fn a_flow_takes_no_less_than_its_ideal_time() {
    let flow =
        "[[workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"500KB\"\nstart = \"50ms\"\n";
    let Some((report, flows, links)) = results(&format!("{STAR}{flow}")) else { return };
    let flow = &flows[0];
    assert_eq!(number(flow, "acked_bytes"), 500e3);
    // It cannot be faster than the fabric lets it, and a machine that is busy may make it slower.
    let (fct, ideal) = (number(flow, "fct_s"), number(flow, "ideal_fct_s"));
    assert!(fct >= ideal && fct < 2.0 * ideal, "{fct} s, ideally {ideal} s; {report:?}");
    // 346 segments of 1,448 bytes, the last of 440.
    let to_switch = links.iter().find(|l| text(l, "link") == "S1->W").unwrap();
    assert!(number(to_switch, "packets") >= 346.0 + 2.0 && number(to_switch, "bytes") >= 346.0 * 90.0 + 500e3);
    assert_eq!(flow["undos"], Field::Null, "the kernel does not tell");
    assert!(
        report.timing.is_some_and(|timing| timing.packets > 500)
            && report.headroom.carried_pps > report.headroom.needed_pps
    );
}

#[test]
fn a_bottleneck_is_full_and_its_queue_bounded() {
    let flows = "[[workload.many-to-one]]\ntransport = \"tcp\"\nflows = 3\nreceiver = \"R\"\n";
    let Some((report, flows, links)) = results(&format!("{STAR}{flows}")) else { return };
    let goodput: f64 = flows.iter().map(|f| number(f, "goodput_bps")).sum();
    // 1,448 of 1,538 bytes on the wire are payload.
    let most = 50e6 * 1448.0 / 1538.0;
    assert!(goodput <= most * 1.001 && goodput > 0.7 * most, "{goodput} of {most}; {report:?}");
    let bottleneck = links.iter().find(|l| text(l, "link") == "W->R").unwrap();
    assert!((1.0..=50.0).contains(&number(bottleneck, "max_queue_pkts")) && number(bottleneck, "utilisation") <= 1.0);
    assert!(number(bottleneck, "drops") > 0.0, "Reno fills the queue until it drops");
    let retransmits: f64 = flows.iter().map(|f| number(f, "retransmits")).sum();
    assert!(retransmits > 0.0);
}

#[test]
fn bursts_and_loops_come_to_their_ends() {
    let incast = "[[workload.incast]]\ntransport = \"tcp\"\nsenders = 3\nreceiver = \"R\"\nsize = \"20KB\"\nevery = \"100ms\"\nbursts = 5\n";
    let Some((_, flows, _)) = results(&format!("{STAR}{incast}")) else { return };
    assert_eq!(flows.len(), 15);
    assert!(flows.iter().all(|f| number(f, "acked_bytes") == 20e3 && f["fct_s"] != Field::Null));
    let closed = "[[workload.random]]\ntransport = \"tcp\"\nsize = \"100KB\"\nrepeat = \"each\"\n";
    let tree = "duration = \"1s\"\ndrain = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"20Mbps\"\ndelay = \"20us\"\n\
        [transport.tcp]\ncontrol = \"cubic\"\n";
    let Some((_, flows, links)) = results(&format!("{tree}{closed}")) else { return };
    assert!(flows.len() > 32, "{} flows", flows.len());
    let of_cores = links.iter().filter(|l| text(l, "layer") == "core" && number(l, "packets") > 0.0).count();
    assert!(of_cores >= 8, "ECMP uses {of_cores} of 16 links from core switches");
}

#[test]
fn subflows_take_the_paths_that_they_are_told() {
    let shift = "duration = \"1500ms\"\n[topology.traffic-shift]\nrate = \"20Mbps\"\ndelay = \"200us\"\n\
        [transport.mptcp]\ncontrol = \"uncoupled\"\nsubflows = 2\npaths = \"distinct\"\n\
        [[workload.flow]]\ntransport = \"mptcp\"\nfrom = \"S2\"\nto = \"D2\"\n";
    if !Path::new("/proc/sys/net/mptcp/enabled").exists() {
        return eprintln!("skipped: this kernel has no MPTCP");
    }
    let Some((report, flows, links)) = results(shift) else { return };
    assert_eq!(number(&flows[0], "subflows"), 2.0, "{report:?}");
    for bottleneck in ["A1->B1", "A2->B2"] {
        let link = links.iter().find(|l| text(l, "link") == bottleneck).unwrap();
        assert!(number(link, "utilisation") > 0.5, "{bottleneck}: {link:?}");
    }
    assert!(number(&flows[0], "goodput_bps") > 25e6, "{flows:?}");
}

/// AMP's subflows at their floor, beside flows that keep the queue above its threshold, are
/// suppressed, all but the first.
#[test]
fn subflows_of_amp_are_suppressed() {
    let scenario = "duration = \"2s\"\n[topology.many-to-one]\nsenders = 9\nrate = \"50Mbps\"\ndelay = \"250us\"\n\
        [queue]\nlimit = 50\nmark = 5\n[transport.amp]\ncontrol = \"amp\"\nsubflows = 4\n[transport.dctcp]\ncontrol = \"dctcp\"\n\
        [[workload.flow]]\ntransport = \"amp\"\nfrom = \"S1\"\nto = \"R\"\n\
        [[workload.many-to-one]]\nlabel = \"dctcp\"\ntransport = \"dctcp\"\nflows = 8\nfirst = 1\nreceiver = \"R\"\n\
        [record]\ncwnd = { every = \"5ms\" }\n";
    if let Some(why) = controllers_lack() {
        return eprintln!("skipped: {why}");
    }
    let Some(Tables { report, flows, windows, .. }) = tables(scenario, Switches::Simulator) else { return };
    let amp = flows.iter().find(|f| number(f, "subflows") == 4.0).expect("the flow of AMP has four subflows");
    assert!(number(amp, "suppressions") >= 1.0 && number(amp, "releases") <= number(amp, "suppressions"), "{amp:?}");
    let suppression = report.suppression.expect("a controller suppresses");
    assert!(
        suppression.flags_set >= 3 && suppression.failed == 0 && suppression.median_us.is_some(),
        "{suppression:?}"
    );
    let suppressed: Vec<&Row> = windows.iter().filter(|row| row["suppressed"] == Field::Bool(true)).collect();
    assert!(
        !suppressed.is_empty()
            && suppressed.iter().all(|row| number(row, "subflow") > 0.0 && row["flow"] == amp["flow"])
    );
}

/// All controllers beside stock MPTCP while subflows come and go: connections outlive their first
/// subflow, and windows stay within bounds.
#[test]
fn connections_outlive_their_subflows() {
    if let Some(why) = lacking(Switches::Simulator).map(str::to_string).or_else(controllers_lack) {
        return eprintln!("skipped: {why}");
    }
    let _guard = alone();
    let soaked = match soak(Trouble::Churn, Time::from_secs(10), &|| false) {
        Ok(soaked) => soaked.expect("only short memory is not possible everywhere"),
        Err(error) if error.to_string().contains("packets a second") => return eprintln!("skipped: {error}"),
        Err(error) => panic!("{error:?}"),
    };
    // Every two seconds each of two connections of each controller loses one.
    let connections = 2 * soaked.controllers.len() as u64;
    assert!(soaked.reopened > 2 * connections, "{soaked:?}");
    assert!(soaked.complaints.is_empty(), "{:?}", soaked.complaints);
    for controller in &soaked.controllers {
        assert_eq!((controller.out_of_bounds, controller.failed), (0, 0), "{controller:?}");
        assert!(controller.goodput > 100e3 && controller.longest_pause < 9.0, "{controller:?}");
    }
    let algorithms: Vec<&str> = soaked.report.controllers.iter().map(|c| c.algorithm).collect();
    assert!(algorithms.contains(&"amp") && soaked.report.controllers.iter().all(|c| c.acks > 100), "{soaked:?}");
}

#[test]
fn what_cannot_run_is_refused_with_its_key() {
    let flow = "[[workload.flow]]\ntransport = \"tcp\"\nfrom = \"S1\"\nto = \"R\"\n";
    let refusal = |more: &str| {
        let text = format!("{STAR}{more}{flow}");
        check(&scenario(&text), Switches::Simulator).expect_err(more).to_string()
    };
    for (more, key) in [
        ("initial_ssthresh = \"64KB\"\n", "[transport.tcp] initial_ssthresh"),
        ("undo = false\n", "[transport.tcp] undo"),
        ("paths = \"scatter\"\n", "[transport.tcp] paths"),
        ("header = \"62B\"\n", "[transport.tcp] header"),
        ("[transport.ndp]\ncontrol = \"ndp\"\n", "[transport.ndp] control"),
        ("[record]\nrtt = { every = \"1ms\" }\n", "[record] rtt"),
        ("[record]\ncwnd = { every = \"10us\" }\n", "[record] cwnd"),
        (
            "[routing]\nreconverge = \"1ms\"\n[[change]]\nlinks = [\"S1->W\"]\nat = \"10ms\"\nstate = \"down\"\n",
            "[[change]]",
        ),
        ("[[workload.session]]\ntransport = \"tcp\"\n", "[workload] session"),
        (
            "[[workload.collective]]\ntransport = \"tcp\"\nalgorithm = \"ring-all-reduce\"\nsize = \"1KB\"\n",
            "collective operations",
        ),
    ] {
        let line = refusal(more);
        assert!(line.contains(key) && !line.contains('\n'), "{key}: {line}");
    }
    let cube = "duration = \"1ms\"\n[topology.bcube]\nn = 2\nk = 1\nrate = \"10Mbps\"\ndelay = \"1us\"\n[transport.tcp]\ncontrol = \"reno\"\n\
        [[workload.permutation]]\ntransport = \"tcp\"\n";
    assert!(check(&scenario(cube), Switches::Simulator).unwrap_err().to_string().contains("[topology.bcube]"));
    let heeded = format!("{STAR}min_rto = \"10ms\"\nack_every = 1\ninitial_window = 4\nmss = \"1000B\"\n{flow}");
    check(&scenario(&heeded), Switches::Simulator).unwrap();
    let fast = format!("{STAR}{flow}").replace("50Mbps", "40Gbps");
    if lacking(Switches::Simulator).is_none() {
        let _guard = alone();
        let directory = tempfile::tempdir().unwrap();
        let line = run(&scenario(&fast), Switches::Simulator, directory.path(), &|| false).unwrap_err().to_string();
        assert!(line.contains("[topology] rate") && line.contains("packets a second"), "{line}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
