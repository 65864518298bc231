//! The tables of a run, read back: values of rows that are worked out by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{into_a_slow_link, run_on, scenario};
use linkpool_sim::{Options, Recorded, Session, Unknown, measure, run_to_directory, write_tables};
use linkpool_units::Time;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

type Row = BTreeMap<String, Field>;

/// The rows of each table of a run of `text`, on one thread.
fn tables(text: &str) -> BTreeMap<String, Vec<Row>> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("ping.goal"), PING).unwrap();
    std::fs::write(directory.path().join("requests.csv"), REQUESTS).unwrap();
    let placed = |text: String, name: &str| text.replace(name, directory.path().join(name).to_str().unwrap());
    let text = placed(placed(text.to_string(), "ping.goal"), "requests.csv");
    let out = directory.path().join("out");
    run_to_directory(&scenario(&text), &out, Some(1), &mut |_| true).unwrap();
    let mut tables = BTreeMap::new();
    for entry in std::fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
            let rows = reader
                .get_row_iter(None)
                .unwrap()
                .map(|row| row.unwrap().get_column_iter().map(|(name, value)| (name.clone(), value.clone())).collect());
            tables.insert(path.file_stem().unwrap().to_str().unwrap().to_string(), rows.collect());
        }
    }
    tables
}

/// A value as text: numbers with six digits, null as "-".
fn text(row: &Row, column: &str) -> String {
    match row.get(column).unwrap_or_else(|| panic!("no column {column}")) {
        Field::Null => "-".to_string(),
        Field::Str(text) => text.clone(),
        Field::Double(x) if *x == 0.0 => "0".to_string(),
        Field::Double(x) => format!("{x:.5e}"),
        other => other.to_string(),
    }
}

/// The values of some columns of a row.
fn values(row: &Row, columns: &str) -> String {
    columns.split(' ').map(|column| text(row, column)).collect::<Vec<_>>().join(" ")
}

/// The row in which `column` is `value`.
fn find<'t>(rows: &'t [Row], column: &str, value: &str) -> &'t Row {
    rows.iter().find(|row| text(row, column) == value).unwrap_or_else(|| panic!("no {column} is {value}"))
}

/// Rank 0 sends 1,000 B to rank 1 and waits for an answer, which rank 1 never sends.
const PING: &str = "num_ranks 2\nrank 0 {\nl1: send 1000b to 1\nl2: recv 1000b from 1\nl2 requires l1\n}\n\
                    rank 1 {\nl1: recv 1000b from 0\nl2: calc 100000000\nl3: send 1000b to 0\nl2 requires l1\nl3 requires l2\n}\n";

/// Three requests to a model.
const REQUESTS: &str = "arrival_s,prompt_tokens,output_tokens\n0.00001,3,3\n0.0009,30,20\n0.00095,100,1\n";

const LINE: &str = "drain = \"1ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"2us\"\n";

const FLOW: &str = "[transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"3000B\"\n";

/// Two links of 10 Gbit/s and 2 us: SYN and SYN-ACK take 8.288 us, the last data arrives after
/// 16.2064 us, its ACK after 20.3504 us. Six packets go to R: SYN, ACK, data of 1,538, 1,538 and 194
/// B, FIN; the run ends at 2 ms, and 1 ms is measured.
#[test]
fn a_flow_of_three_segments() {
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{FLOW}"));
    let flow = &all["flows"][0];
    let times = "start_s established_s delivered_s end_s fct_s fct_established_s active_s";
    assert_eq!(values(flow, times), "0 8.28800e-6 1.62064e-5 2.03504e-5 2.03504e-5 1.20624e-5 2.03504e-5");
    let sizes = "size_bytes acked_bytes segments retransmits subflows measured measured_bytes measured_subflow_bytes";
    assert_eq!(values(flow, sizes), "3000 3000 3 0 1 true 3000 3000");
    assert_eq!(values(flow, "goodput_bps subflow_goodput_bps measured_s"), "1.17934e9 1.17934e9 2.03504e-5");
    // Without the ACK of the handshake before the data it would be 72 ns less.
    assert_eq!(values(flow, "ideal_fct_s slowdown"), "2.03504e-5 1.00000e0");
    assert_eq!(values(flow, "label transport control src dst locality failed"), "flow t reno S1 R in-rack false");
    let subflow = &all["subflows"][0];
    assert_eq!(values(subflow, "flow subflow path established_s acked_bytes segments"), "0 0 S1 W R 8.28800e-6 3000 3");
    assert_eq!(values(subflow, "ssthresh_pkts min_rtt_s"), "- 8.28800e-6");
    let link = find(&all["links"], "link", "W->R");
    assert_eq!(values(link, "from to layer to_layer rate_bps delay_s"), "W R switch host 1.00000e10 2.00000e-6");
    assert_eq!(values(link, "packets bytes drops marks measured_bytes utilisation"), "6 3540 0 0 3540 2.83200e-3");
    let back = find(&all["links"], "link", "W->S1");
    assert_eq!(values(back, "packets bytes utilisation"), "4 360 2.88000e-4");
    let workload = &all["workloads"][0];
    let columns = "label kind transport sizes interpolation mean_bytes load not_started";
    assert_eq!(values(workload, columns), "flow flow t constant - 3.00000e3 - -");
}

/// What another system has measured is written as what is simulated: in order, whatever the order in
/// which it comes.
#[test]
fn records_of_elsewhere_make_the_same_tables() {
    let s = scenario(
        "duration = \"1ms\"\ndrain = \"1ms\"\n[topology.many-to-one]\nsenders = 4\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [transport.t]\ncontrol = \"lia\"\nsubflows = 2\n[[workload.collective]]\ntransport = \"t\"\n\
         algorithm = \"ring-all-reduce\"\nranks = 4\nsize = \"60KB\"\n[record]\ncwnd = { every = \"20us\" }\n",
    );
    let directory = tempfile::tempdir().unwrap();
    let [here, elsewhere] = ["here", "elsewhere"].map(|name| directory.path().join(name));
    run_to_directory(&s, &here, Some(1), &mut |_| true).unwrap();
    let mut run = run_on(&s, 1);
    run.outcome.flows.reverse();
    run.outcome.jobs.reverse();
    run.samples.reverse();
    let (flows, jobs) = (run.outcome.flows, run.outcome.jobs);
    assert!(flows.len() > 20 && !jobs.is_empty() && run.samples.len() > 20);
    let recorded =
        Recorded { flows, jobs, samples: run.samples, outcome: run.outcome.rest, unknown: Unknown::default() };
    write_tables(&elsewhere, (&s, &run.plan, &run.plan.timetable()), recorded).unwrap();
    let names = |of: &std::path::Path| -> Vec<_> {
        let mut names: Vec<_> = std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "run.json");
        names.sort();
        names
    };
    assert_eq!(names(&here), names(&elsewhere));
    for name in names(&here) {
        let [one, other] = [&here, &elsewhere].map(|of| std::fs::read(of.join(&name)).unwrap());
        assert!(one == other, "{name:?}");
    }
}

/// Beside its tables, a run writes a summary of the measured period: from the warm-up to the cut-off, or to the end of a
/// session that is closed before.
#[test]
fn the_summary_is_of_the_measured_period() {
    let text = format!("duration = \"200us\"\n{LINE}{FLOW}start = \"20us\"\n").replace("3000B", "1GB");
    let driven = "[[workload.session]]\ntransport = \"t\"\n[measure]\nwarm_up = \"10us\"\ncut_off = \"180us\"\n";
    let directory = tempfile::tempdir().unwrap();
    for (until, end_s) in [(200, 1.8e-4), (100, 1e-4)] {
        let out = directory.path().join(until.to_string());
        let options = Options { threads: Some(1), directory: Some(out.clone()), ..Options::default() };
        let mut session = Session::open(Arc::new(scenario(&format!("{text}{driven}"))), options).unwrap();
        session.advance_to(Time::from_us(until), &mut |_| true).unwrap();
        session.close().unwrap();
        let text = std::fs::read_to_string(out.join("summary.json")).unwrap();
        assert!(text.ends_with("}\n"));
        let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (start, end, all) = (&summary["period_start_s"], &summary["period_end_s"], &summary["overall"]);
        assert_eq!((start, end), (&1e-5.into(), &end_s.into()));
        assert_eq!((&all["flows"], &all["unfinished"]), (&1.into(), &1.into()));
    }
}

/// From 10 us on: the SYN is sent before. An unlimited flow is measured from then on; what is
/// acknowledged before does not count.
#[test]
fn only_the_measured_period_counts() {
    let text = format!("duration = \"15us\"\n{LINE}{FLOW}").replace("drain = \"1ms\"", "drain = \"25us\"");
    let late = tables(&format!("{text}[measure]\nwarm_up = \"10us\"\n"));
    assert_eq!(values(&late["flows"][0], "measured measured_s measured_bytes"), "false 5.00000e-6 0");
    let link = find(&late["links"], "link", "S1->W");
    // Of the second segment 1,026 B leave the host after 10 us (from 9.5904 to 10.8208 us), and the
    // third; 50,000 bits could by 15 us.
    assert_eq!(values(link, "measured_bytes utilisation"), "1220 1.95200e-1");
    let whole = tables(&format!("{text}[measure]\ncut_off = \"40us\"\n").replace("size = \"3000B\"\n", ""));
    let flow = &whole["flows"][0];
    assert_eq!(
        values(flow, "size_bytes end_s fct_s ideal_fct_s slowdown measured measured_s"),
        "- - - - - true 4.00000e-5"
    );
}

/// Two hosts that one cable joins, without a switch.
#[test]
fn hosts_at_one_cable_are_in_a_rack() {
    let all = tables(
        "duration = \"1ms\"\n[topology.graph]\nnodes = [{ id = \"a\", kind = \"host\" }, { id = \"b\", kind = \"host\" }]\n\
         edges = [{ source = \"a\", target = \"b\" }]\nrate = \"10Gbps\"\ndelay = \"1us\"\n[transport.t]\ncontrol = \"dctcp\"\n\
         [[workload.flow]]\ntransport = \"t\"\nfrom = \"a\"\nto = \"b\"\nsize = \"20KB\"\nlabel = \"one\"\n",
    );
    assert_eq!(text(find(&all["flows"], "label", "one"), "locality"), "in-rack");
}

/// Two leaves: flows in a rack and between racks, and arrivals whose load is known: 1,000 flows of
/// 10,000 B a second are 80 Mbit/s, over four links of 1 Gbit/s from hosts.
#[test]
fn localities_and_loads() {
    let all = tables(
        "duration = \"20ms\"\ndrain = \"1s\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"1Gbps\"\n\
         delay = \"1us\"\n[routing]\nkind = \"spray\"\n[transport.t]\ncontrol = \"reno\"\n[transport.p]\ncontrol = \"lia\"\nsubflows = 2\n\
         paths = \"distinct\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 1\nsize = \"1KB\"\nlabel = \"near\"\n\
         [[workload.flow]]\ntransport = \"p\"\nfrom = 0\nto = 3\nsize = \"1KB\"\nlabel = \"far\"\n\
         [[workload.poisson]]\ntransport = \"t\"\nflows_per_second = 1000\nsize = \"10KB\"\n\
         [[workload.partition-aggregate]]\ntransport = \"t\"\nservers = 2\nlabel = \"search\"\n\
         small = { below = \"1GB\", transport = \"p\" }\n",
    );
    let transport = |label: &str| text(find(&all["flows"], "label", label), "transport");
    assert_eq!(["search", "search request", "poisson"].map(transport), ["p", "p", "t"]);
    let locality = |label: &str| text(find(&all["flows"], "label", label), "locality");
    assert_eq!((locality("near"), locality("far")), ("in-rack".to_string(), "between-pods".to_string()));
    let load = |label: &str| values(find(&all["workloads"], "label", label), "kind mean_bytes load");
    assert_eq!(load("poisson"), "poisson 1.00000e4 2.00000e-2");
    assert!(load("search request").starts_with("partition-aggregate ") && load("search").ends_with(" -"));
    // Switches spray packets, but for subflows whose paths are pinned.
    let path = |label: &str| {
        let flow = text(find(&all["flows"], "label", label), "flow");
        text(find(&all["subflows"], "flow", &flow), "path")
    };
    assert_eq!(path("near"), "-");
    let far = text(find(&all["flows"], "label", "far"), "flow");
    let subflows = all["subflows"].iter().filter(|row| text(row, "flow") == far);
    let mut paths: Vec<String> = subflows.map(|row| text(row, "path")).collect();
    paths.sort();
    assert_eq!(paths, ["h0 l0 s0 l1 h3", "h0 l0 s1 l1 h3"]);
    let search = find(&all["jobs"], "label", "search");
    assert_eq!(
        values(search, "kind job chain ranks size_bytes algorithm_bandwidth_bps not_started measured"),
        "partition-aggregate 0 0 - - - - true"
    );
    assert!(["h0", "h1", "h2", "h3"].contains(&text(search, "client").as_str()));
}

/// Each change is a row: from the start, at its time, and at its end.
#[test]
fn changes_are_listed_in_order_of_time() {
    let change = |keys: &str| format!("[[change]]\nlinks = [\"W->R\"]\n{keys}\n");
    let changes = [
        "at = \"1us\"\nstate = \"down\"\nuntil = \"3us\"",
        "at = \"4us\"\nrate = \"1Gbps\"",
        "at = \"5us\"\nlimit = 7",
        "at = \"6us\"\nlimit = \"9KB\"",
        "at = \"7us\"\nloss = 0.25",
        "at = \"8us\"\nbit_errors = 1e-9",
        "at = \"9us\"\nburst_loss = { to_bad = 0.1, to_good = 0.3 }",
    ]
    .map(change)
    .concat();
    let text = format!("duration = \"1ms\"\n{LINE}{FLOW}{changes}[routing]\nreconverge = \"500ns\"\n");
    let rows: Vec<String> =
        tables(&text)["changes"].iter().map(|row| values(row, "time_s link change value unit")).collect();
    // In the long run a quarter of the time is bad: 0.1 / (0.1 + 0.3).
    let expected = [
        "1.00000e-6 W->R down - -",
        "1.50000e-6 - routes - -",
        "3.00000e-6 W->R up - -",
        "3.50000e-6 - routes - -",
        "4.00000e-6 W->R rate 1.00000e9 bit/s",
        "5.00000e-6 W->R limit 7.00000e0 packets",
        "6.00000e-6 W->R limit 9.00000e3 bytes",
        "7.00000e-6 W->R loss 2.50000e-1 -",
        "8.00000e-6 W->R bit_errors 1.00000e-9 -",
        "9.00000e-6 W->R loss 2.50000e-1 -",
    ];
    assert_eq!(rows, expected);
    assert!(!tables(&format!("duration = \"1ms\"\n{LINE}{FLOW}")).contains_key("changes"));
}

/// An all-reduce among three hosts: bus bandwidth is the algorithm's times 2 (n - 1) / n.
#[test]
fn operations_have_bandwidths() {
    let collective = "[transport.t]\ncontrol = \"reno\"\n[[workload.collective]]\ntransport = \"t\"\n\
                      algorithm = \"ring-all-reduce\"\nsize = \"300KB\"\niterations = 2\n";
    let all = tables(&format!("duration = \"10ms\"\n{LINE}{collective}"));
    let jobs = &all["jobs"];
    assert_eq!(jobs.len(), 2);
    let job = &jobs[0];
    let columns = "label kind job chain client ranks size_bytes flows not_started measured";
    assert_eq!(values(job, columns), "collective ring-all-reduce 0 - - 3 300000 12 0 true");
    let number = |row: &Row, column: &str| match row[column] {
        Field::Double(x) => x,
        ref other => panic!("{column}: {other:?}"),
    };
    let jct = number(job, "jct_s");
    for job in jobs {
        let jct = number(job, "jct_s");
        assert!((number(job, "end_s") - number(job, "start_s") - jct).abs() < 1e-12);
        assert!((number(job, "algorithm_bandwidth_bps") * jct / 2_400_000.0 - 1.0).abs() < 1e-9);
    }
    assert!(number(&jobs[1], "start_s") > jct / 2.0);
    // On a connection that is open there is no handshake: 90 B and 2 us on each of four links less, and 90 B on the
    // sender's.
    let ideal = |open: bool| {
        let is = |flow: &&Row| (text(flow, "connection") != text(flow, "flow")) == open;
        number(all["flows"].iter().find(is).unwrap(), "ideal_fct_s")
    };
    assert!((ideal(false) - ideal(true) - 4.0 * 2.072e-6 - 72e-9).abs() < 1e-10, "{} {}", ideal(false), ideal(true));
    assert!((number(job, "bus_bandwidth_bps") / number(job, "algorithm_bandwidth_bps") - 4.0 / 3.0).abs() < 1e-9);
    let late = tables(&format!("duration = \"10ms\"\n{LINE}{collective}[measure]\nwarm_up = \"1us\"\n"));
    assert_eq!([0, 1].map(|job| text(&late["jobs"][job], "measured")), ["false", "true"]);
    let workload = &all["workloads"][0];
    assert_eq!(values(workload, "kind sizes not_started"), "collective messages 0");
    // A run of 40 us ends before the second operation does.
    let short = tables(&format!("duration = \"40us\"\n{LINE}{collective}"));
    assert!(text(&short["workloads"][0], "not_started").parse::<u32>().unwrap() > 0);
    for job in &short["jobs"] {
        let started = short["flows"].iter().filter(|flow| text(flow, "job") == text(job, "job")).count();
        assert_eq!(started + text(job, "not_started").parse::<usize>().unwrap(), 12);
    }
}

/// Rank 1 computes for 100 ms, so rank 0 waits at the end: for the answer.
#[test]
fn ranks_say_in_what_they_wait() {
    let program = "[transport.t]\ncontrol = \"reno\"\n[[workload.program]]\ntransport = \"t\"\nfile = \"ping.goal\"\nformat = \"goal\"\n";
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{program}"));
    let rows: Vec<String> =
        all["ranks"].iter().map(|row| values(row, "rank host iteration start_s end_s left")).collect();
    assert_eq!(rows, ["0 S1 0 0 - 1", "1 S2 0 0 - 2"]);
    let waits: Vec<String> = all["ranks"].iter().map(|row| text(row, "waits_in")).collect();
    assert!(waits[0].contains("recv 1000b from 1"), "{waits:?}");
    assert!(waits[1].contains("calc 100000000"), "{waits:?}");
}

/// The keys and values of the first are 3,000 B, which take as long as the flow above. The second is
/// computed from 900 us to 1.2 ms, has its keys and values by 1.3, and seven tokens, one in 100 us,
/// when the run ends at 2 ms. The third is computed from 1.2 to 2.2 ms.
#[test]
fn requests_have_their_times() {
    let text = format!(
        "duration = \"1ms\"\n{LINE}[transport.t]\ncontrol = \"reno\"\n[[workload.inference]]\ntransport = \"t\"\n\
         file = \"requests.csv\"\nprefill = 1\ndecode = 1\nprefill_time_per_token = \"10us\"\nkv_per_token = \"1KB\"\n\
         decode_time = \"100us\"\n[measure]\nwarm_up = \"500us\"\n"
    );
    let requests = &tables(&text)["requests"];
    let times = "arrival_s prefill_start_s prefill_end_s kv_sent_s kv_arrived_s first_token_s end_s ttft_s tpot_s";
    assert_eq!(
        values(&requests[0], times),
        "1.00000e-5 1.00000e-5 4.00000e-5 4.00000e-5 5.62064e-5 1.56206e-4 3.56206e-4 1.46206e-4 1.00000e-4"
    );
    let others = "label workload request prompt_tokens output_tokens prefill_host decode_host tokens measured";
    assert_eq!(values(&requests[0], others), "inference 0 0 3 3 S1 S2 3 false");
    assert_eq!(values(&requests[1], others), "inference 0 1 30 20 S1 S2 7 true");
    assert_eq!(values(&requests[2], others), "inference 0 2 100 1 S1 - 0 true");
    assert_eq!(
        values(&requests[1], "prefill_start_s prefill_end_s kv_sent_s end_s tpot_s"),
        "9.00000e-4 1.20000e-3 1.20000e-3 - -"
    );
    assert_eq!(values(&requests[2], times), "9.50000e-4 1.20000e-3 - - - - - - -");
}

/// A series has a row for each instant, from its first to its last.
#[test]
fn series_are_written_with_their_values() {
    let record = "[record]\ncwnd = { every = \"5us\", until = \"20us\" }\nrate = { every = \"10us\", until = \"30us\" }\n\
                  rtt = { every = \"1us\", until = \"30us\" }\nqueue = { every = \"6us\", links = [\"W->R\"], until = \"18us\" }\n\
                  counters = { every = \"10us\", links = [\"W->R\"], until = \"20us\" }\n";
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{FLOW}{record}"));
    let rows =
        |table: &str, columns: &str| -> Vec<String> { all[table].iter().map(|row| values(row, columns)).collect() };
    assert_eq!(
        rows("cwnd", "time_s flow subflow cwnd_pkts ssthresh_pkts"),
        ["1.00000e-5 0 0 1.00000e1 -", "1.50000e-5 0 0 1.00000e1 -", "2.00000e-5 0 0 1.10000e1 -"]
    );
    // At 12 us W has just begun to send the first segment to R (until 12.8208 us); no other is there.
    assert_eq!(
        rows("queue", "time_s link queue_pkts"),
        ["0 W->R 0", "6.00000e-6 W->R 0", "1.20000e-5 W->R 0", "1.80000e-5 W->R 0"]
    );
    // By 20 us 1,448 B are acknowledged, and the other 1,552 B in the 0.3504 us until the flow ends.
    assert_eq!(
        rows("rate", "time_s flow subflow goodput_bps"),
        ["1.00000e-5 0 0 0", "2.00000e-5 0 0 1.15840e9", "2.03504e-5 0 0 3.54338e10"]
    );
    // The SYN; then an ACK of 90 B and data of 1,538, 1,538 and 194 B. 100,000 bits could be sent.
    assert_eq!(
        rows("counters", "time_s link packets bytes utilisation"),
        ["1.00000e-5 W->R 1 90 7.20000e-3", "2.00000e-5 W->R 4 3360 2.68800e-1"]
    );
    assert!(!all["rtt"].is_empty() && !all["rate"].is_empty());
}

/// 100,000 B in packets of 8,936 B are twelve.
#[test]
fn subflows_of_ndp_have_counters() {
    let ndp = FLOW.replace("reno", "ndp").replace("3000B", "100KB");
    let all = tables(&format!("duration = \"1ms\"\n{LINE}[queue]\ndiscipline = \"trimming\"\n{ndp}"));
    let columns = "acked_bytes segments retransmits timeouts";
    assert_eq!(values(&all["subflows"][0], columns), "100000 12 0 0");
    assert_eq!(values(&all["flows"][0], "acked_bytes segments subflows measured_bytes"), "100000 12 1 100000");
    assert!(text(&all["subflows"][0], "established_s") != "-");
}

/// A flow without end stops at 50 us: 10 Gbit/s carry 41 packets of 1,538 B in that time, some wait at
/// its host, and nothing more is sent in the rest of 2 ms.
#[test]
fn a_flow_stops_when_it_is_told() {
    let flow = FLOW.replace("size = \"3000B\"", "stop = \"50us\"");
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{flow}"));
    assert_eq!(values(&all["flows"][0], "size_bytes active_s failed"), "- 5.00000e-5 false");
    let sent = text(&all["flows"][0], "segments").parse::<u32>().unwrap();
    assert!((10..=100).contains(&sent), "{sent}");
}

/// The run ends with the first of two flows.
#[test]
fn a_run_may_end_with_its_goal() {
    let second = FLOW[FLOW.find("[[workload").unwrap()..].replace("3000B", "30MB").replace("S1", "S2");
    let until = "[until]\nflows = 1\nlabel = \"flow\"\n";
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{until}{FLOW}{second}"));
    assert_eq!(all["flows"].len(), 2);
    assert!(text(&all["flows"][0], "end_s") != "-" && text(&all["flows"][1], "end_s") == "-");
    let active = text(&all["flows"][1], "active_s").parse::<f64>().unwrap();
    assert!(active < 50e-6, "{active}");
}

/// A flow of one packet from 5 us on: SYN, SYN-ACK and ACK, 190 B of data in 152 ns, and its ACK. Times of
/// the flow are from its start; nothing is the same for a flow from 0 on.
#[test]
fn times_are_from_the_start_of_a_flow() {
    let flow = FLOW.replace("3000B", "100B") + "start = \"5us\"\n[record]\nrate = { every = \"40us\" }\n";
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{flow}"));
    let columns = "start_s end_s fct_s active_s ideal_fct_s slowdown";
    let expected = "5.00000e-6 2.18080e-5 1.68080e-5 1.68080e-5 1.68080e-5 1.00000e0";
    assert_eq!(values(&all["flows"][0], columns), expected);
    // 800 bits in 16.808 us.
    assert_eq!(text(&all["rate"][0], "goodput_bps"), "4.75964e7");
    for table in all.keys() {
        assert!(linkpool_sim::tables().iter().any(|known| known.name == table), "{table}");
    }
}

/// A shorter flow of another label does not count.
#[test]
fn a_goal_counts_flows_of_its_label() {
    let second = FLOW[FLOW.find("[[workload").unwrap()..].replace("3000B", "100B").replace("S1", "S2");
    let until = "[until]\nflows = 1\nlabel = \"flow\"\n";
    let all = tables(&format!("duration = \"1ms\"\n{LINE}{until}{FLOW}{second}label = \"other\"\n"));
    let end = |label: &str| text(find(&all["flows"], "label", label), "end_s").parse::<f64>().unwrap();
    assert!(end("other") < end("flow") && end("flow") < 21e-6);
}

/// Packets of MMPTCP's first subflow take paths of their own, and so do those of REPS.
#[test]
fn scattered_packets_have_no_path() {
    let paths = |transport: &str| -> Vec<String> {
        let all = tables(&format!(
            "duration = \"1ms\"\n[topology.fat-tree]\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n[transport.t]\n{transport}\n\
             [[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"100KB\"\n"
        ));
        all["subflows"].iter().map(|row| text(row, "path")).collect()
    };
    let mmptcp = paths("control = \"mmptcp\"\nsubflows = 1\nswitch_bytes = \"20KB\"");
    assert_eq!(mmptcp, ["-", "h0 e0.0 h1"]);
    assert_eq!(paths("control = \"dctcp\"\npaths = \"reps\"\ndupack_threshold = 40\nrecovery = \"newreno\""), ["-"]);
    assert_eq!(paths("control = \"reno\""), ["h0 e0.0 h1"]);
}

/// 3,000 B in 2 ms over the 10 Gbit/s of one receiver.
#[test]
fn a_measurement_counts_hops_and_goodput() {
    let measured = measure(&scenario(&format!("duration = \"1ms\"\n{LINE}{FLOW}")), 1).unwrap();
    // SYN, SYN-ACK, ACK, three segments and their ACKs, FIN: ten packets over two links.
    assert_eq!((measured.hops, measured.data_packets), (20, 3));
    let line_rate = 8.0 * 3000.0 / (measured.simulated_s * 1e10);
    assert!((measured.goodput_over_line_rate / line_rate - 1.0).abs() < 1e-9);
    assert!(measured.user_s >= 0.0 && measured.wall_s > 0.0 && measured.setup_s > 0.0);
}

/// 18 packets are 19,908 B, and the next goes to the headroom. The frame of 84 B takes 67.2 + 2,000 ns: from 20.8784 us on
/// S1->L is paused. The frame is repeated after half of 65,535 x 51.2 ns.
#[test]
fn pauses_are_written_with_their_reasons() {
    let record = |keys: &str| {
        let counters = "counters = { every = \"10us\", links = [\"S1->L\", \"L->S1\"], until = \"40us\" }";
        let stopped = into_a_slow_link("2ms", "", "control = \"roce\"");
        tables(&format!("{stopped}[record]\npauses = {{ {keys} }}\n{counters}\n"))
    };
    let all = record("");
    let rows =
        |table: &str, columns: &str| -> Vec<String> { all[table].iter().map(|row| values(row, columns)).collect() };
    assert_eq!(
        rows("pause_events", "time_s link priority event told_s shared_bytes headroom_bytes threshold_bytes behind"),
        [
            "2.08784e-5 S1->L 0 pause 1.88112e-5 19908 1106 20000 L->R",
            "1.69857e-3 S1->L 0 refresh 1.69651e-3 19908 6636 20000 L->R"
        ]
    );
    assert_eq!(
        rows("counters", "time_s link paused_s"),
        [
            "1.00000e-5 S1->L 0",
            "1.00000e-5 L->S1 0",
            "2.00000e-5 S1->L 0",
            "2.00000e-5 L->S1 0",
            "3.00000e-5 S1->L 9.12160e-6",
            "3.00000e-5 L->S1 0",
            "4.00000e-5 S1->L 1.00000e-5",
            "4.00000e-5 L->S1 0"
        ]
    );
    assert_eq!(values(find(&all["pauses"], "link", "S1->L"), "pauses lapsed frames_sent"), "1 0 0");
    assert_eq!(values(find(&all["pauses"], "link", "L->S1"), "pauses lapsed frames_sent"), "0 0 2");
    assert!(record("from = \"21us\", until = \"1ms\"")["pause_events"].is_empty());
}
