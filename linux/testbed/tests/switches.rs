//! Scenarios over the kernel's own switches.

mod common;

use common::{Row, Tables, alone, controllers_lack, lacking, number, scenario, tables, text};
use libbpf_rs::query::ProgInfoIter;
use linkpool_linux_testbed::{Switches, check, run};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const STAR: &str = "duration = \"1200ms\"\nmeasure = { warm_up = \"200ms\" }\n[topology.many-to-one]\nsenders = 3\nrate = \"50Mbps\"\n\
    delay = \"10us\"\n[record]\nqueue = { links = [\"W->R\"], every = \"1ms\" }\n[transport.tcp]\ncontrol = \"reno\"\n";
const FLOWS: &str = "[[workload.many-to-one]]\ntransport = \"tcp\"\nflows = 3\nreceiver = \"R\"\n";

/// The row of a link.
fn link<'a>(tables: &'a Tables, name: &str) -> &'a Row {
    tables.links.iter().find(|row| text(row, "link") == name).unwrap()
}

/// What waited at the samples, in order of length.
fn lengths(tables: &Tables, column: &str) -> Vec<f64> {
    let mut all: Vec<f64> = tables.queues.iter().map(|row| number(row, column)).collect();
    all.sort_by(f64::total_cmp);
    assert!(all.len() > 600, "{} samples of 1,200", all.len());
    all
}

/// The bottleneck sends at its rate while packets wait. They wait most of the time: hosts that the
/// machine does not run for a while have nothing to send.
fn is_full(tables: &Tables) {
    let lengths = lengths(tables, "queue_pkts");
    // One that is missing was late itself.
    let waiting = lengths.iter().filter(|length| **length > 0.0).count() as f64 / 1200.0;
    let utilisation = number(link(tables, "W->R"), "utilisation");
    // In a second the bucket adds two packets at the most.
    assert!(utilisation < 1.0 + 2.0 * 1538.0 * 8.0 / 50e6, "{utilisation}");
    assert!(
        waiting > 0.8 && utilisation > 0.95 * waiting,
        "{utilisation}, packets at {waiting} of the samples; {:?}",
        tables.report
    );
}

#[test]
fn a_bottleneck_is_full_and_never_above_its_rate() {
    let text = format!("{STAR}{FLOWS}[queue]\nlimit = 40\n");
    let Some(tables) = tables(&text, Switches::Kernel) else { return };
    let bottleneck = link(&tables, "W->R");
    let utilisation = number(bottleneck, "utilisation");
    is_full(&tables);
    // 1,448 of 1,538 bytes on the wire are payload.
    let goodput: f64 = tables.flows.iter().map(|f| number(f, "goodput_bps")).sum();
    let carried = utilisation * 50e6 * 1448.0 / 1538.0;
    // Flows begin and end by their hosts' clock, which a busy machine delays: by 2.2% once.
    assert!((goodput / carried - 1.0).abs() < 0.04, "{goodput} of {carried}");
    assert_eq!(number(bottleneck, "max_queue_pkts"), 40.0, "Reno fills the queue until it drops");
    assert!(*lengths(&tables, "queue_pkts").last().unwrap() <= 40.0);
    let (drops, dropped) = (number(bottleneck, "drops"), number(bottleneck, "drop_bytes"));
    assert!(drops > 0.0 && (dropped / drops / 1538.0 - 1.0).abs() < 0.1, "{drops} packets, {dropped} bytes");
    assert_eq!(number(bottleneck, "marks"), 0.0);
    assert!(tables.report.timing.is_none() && tables.report.switches == Switches::Kernel);
    // A run that has lost more is made again.
    assert!(tables.report.lost.is_some_and(|lost| lost.s <= 0.013));
}

#[test]
fn a_queue_may_be_bounded_in_bytes() {
    let text = format!("{STAR}{FLOWS}[queue]\nlimit = \"20KB\"\n");
    let Some(tables) = tables(&text, Switches::Kernel) else { return };
    let longest = *lengths(&tables, "queue_bytes").last().unwrap();
    assert!(longest <= 20e3 && longest > 15e3, "{longest} bytes");
    // Thirteen packets have 19,994 bytes.
    let most = number(link(&tables, "W->R"), "max_queue_pkts");
    assert!((13.0..16.0).contains(&most), "{most} packets");
}

/// Four flows of DCTCP at a threshold of 10 packets: the queue is about as long, nothing is
/// dropped. (Each has two packets under way at the least: eight flows would have 16.)
#[test]
fn marks_keep_the_queue_at_the_threshold() {
    if let Some(why) = controllers_lack() {
        return eprintln!("skipped: {why}");
    }
    let text = format!("{STAR}{FLOWS}[queue]\nlimit = 100\nmark = 10\n");
    let text = text.replace("reno", "dctcp").replace("flows = 3", "flows = 4").replace("senders = 3", "senders = 4");
    let Some(tables) = tables(&text, Switches::Kernel) else { return };
    let bottleneck = link(&tables, "W->R");
    assert!(number(bottleneck, "marks") > 500.0 && number(bottleneck, "drops") == 0.0, "{bottleneck:?}");
    is_full(&tables);
    let lengths = lengths(&tables, "queue_pkts");
    let median = lengths[lengths.len() / 2];
    assert!((8.0..=16.0).contains(&median), "{median}");
}

/// With one hash at all switches an aggregation switch would use one of its two cores: half of the
/// links.
#[test]
fn switches_of_a_fat_tree_choose_by_hashes_of_their_own() {
    if !std::path::Path::new("/proc/sys/net/ipv4/fib_multipath_hash_seed").exists() {
        return eprintln!("skipped: this kernel has no seeds of hashes (6.11)");
    }
    let tree = "duration = \"1500ms\"\n[topology.fat-tree]\nk = 4\nrate = \"5Mbps\"\ndelay = \"10us\"\n\
        [transport.tcp]\ncontrol = \"cubic\"\n[[workload.random]]\ntransport = \"tcp\"\nsize = \"50KB\"\nrepeat = \"each\"\n";
    let Some(tables) = tables(tree, Switches::Kernel) else { return };
    assert!(tables.flows.len() > 32, "{} flows", tables.flows.len());
    let is_used = |row: &&Row| text(row, "layer") == "core" && number(row, "packets") > 0.0;
    let used: BTreeSet<String> = tables.links.iter().filter(is_used).map(|row| text(row, "link")).collect();
    let cores: BTreeSet<&str> = used.iter().filter_map(|link| link.split_once("->")).map(|(core, _)| core).collect();
    assert!(used.len() >= 12 && cores.len() == 4, "{used:?}");
}

#[test]
fn subflows_take_the_paths_that_they_are_told() {
    if !std::path::Path::new("/proc/sys/net/mptcp/enabled").exists() {
        return eprintln!("skipped: this kernel has no MPTCP");
    }
    let text = "duration = \"1500ms\"\n[topology.traffic-shift]\nrate = \"20Mbps\"\ndelay = \"10us\"\n\
        [transport.mptcp]\ncontrol = \"uncoupled\"\nsubflows = 2\npaths = \"distinct\"\n\
        [[workload.flow]]\ntransport = \"mptcp\"\nfrom = \"S2\"\nto = \"D2\"\n";
    if let Some(why) = controllers_lack() {
        return eprintln!("skipped: {why}");
    }
    let Some(tables) = tables(text, Switches::Kernel) else { return };
    for bottleneck in ["A1->B1", "A2->B2"] {
        assert!(number(link(&tables, bottleneck), "utilisation") > 0.5, "{bottleneck}: {:?}", tables.links);
    }
    // Their ACKs come back by the same paths.
    for back in ["B1->A1", "B2->A2"] {
        assert!(number(link(&tables, back), "packets") > 200.0, "{back}: {:?}", tables.links);
    }
}

#[test]
fn what_the_kernel_does_not_have_is_refused_with_its_key() {
    let queue = |more: &str| format!("{STAR}{FLOWS}[queue]\n{more}");
    for (text, key) in [
        (format!("{STAR}{FLOWS}").replace("10us", "250us"), "[topology] delay: S1->W takes 250us"),
        (queue("discipline = \"priority\"\n[queue.layer.host]\ndiscipline = \"fifo\"\n"), "[queue] discipline"),
        (queue("mark = 5\nmark_at = \"dequeue\"\n[queue.layer.host]\nmark_at = \"enqueue\"\n"), "[queue] mark_at"),
        (queue("exempt = [\"syn\"]\n"), "[queue] exempt"),
        (queue("count_in_service = true\n"), "[queue] count_in_service"),
        (
            queue("[queue.layer.switch]\nred = { min = 5, max = 15, max_probability = 0.1 }\n"),
            "[queue.layer.switch] red",
        ),
        (format!("{STAR}{FLOWS}").replace("every = \"1ms\"", "every = \"100us\""), "[record] queue"),
        (format!("{STAR}{FLOWS}[routing]\nkind = \"spray\"\n"), "[routing] kind"),
        (format!("{STAR}{FLOWS}[routing]\nweights = \"capacity\"\n"), "[routing] weights"),
        (format!("{STAR}{FLOWS}[[change]]\nlinks = [\"W->R\"]\nat = \"10ms\"\nloss = 0.01\n"), "[[change]]"),
    ] {
        let line = check(&scenario(&text), Switches::Kernel).expect_err(key).to_string();
        assert!(line.starts_with(key) && line.contains("simulator") && !line.contains('\n'), "{key}: {line}");
    }
    check(&scenario(&queue("mark = 5\nnon_ect = \"drop\"\nlimit = \"40KB\"\n")), Switches::Kernel).unwrap();
}

/// The program at each port is there as long as its device.
fn programs() -> BTreeSet<u32> {
    ProgInfoIter::default().filter(|program| program.name == "lp_port").map(|program| program.id).collect()
}

/// Have these programs gone, soon?
fn have_gone(programs_then: &BTreeSet<u32>) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if programs().is_disjoint(programs_then) {
            return true;
        }
        sleep(Duration::from_millis(20));
    }
    false
}

/// Set: this process runs a scenario until it is killed.
const TASK: &str = "LINKPOOL_TEST_SWITCHES_TASK";

#[test]
fn a_process_that_is_killed_in_its_run() {
    if std::env::var(TASK).is_err() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let text = format!("{STAR}{FLOWS}").replace("1200ms", "60s");
    run(&scenario(&text), Switches::Kernel, directory.path(), &|| false).unwrap();
}

#[test]
fn nothing_is_left_behind() {
    if let Some(why) = lacking(Switches::Kernel) {
        return eprintln!("skipped: {why}");
    }
    let _guard = alone();
    let before = programs();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_that_is_killed_in_its_run"])
        .env(TASK, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    // The first ones are of the measurement before the run; then those of the run are there.
    let begun = loop {
        sleep(Duration::from_millis(1500));
        let begun: BTreeSet<u32> = programs().difference(&before).copied().collect();
        if !begun.is_empty() {
            break begun;
        }
        if child.try_wait().unwrap().is_some() || Instant::now() > end {
            let mut why = String::new();
            std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut why).unwrap();
            return eprintln!("skipped: {why}");
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(have_gone(&begun), "devices and programs are there 20 s after kill -9");
}
