//! Estimates of what a run needs, by hand.

use crate::common::scenario;
use linkpool_sim::{Estimate, worthwhile_threads};

/// Two leaves, two spines, four hosts; one flow of three segments; and what `more` says.
fn estimate(more: &str) -> Estimate {
    Estimate::new(&scenario(&format!(
        "duration = \"1ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"10Gbps\"\n\
         delay = \"1us\"\n[transport.t]\ncontrol = \"lia\"\nsubflows = 2\n[[workload.flow]]\ntransport = \"t\"\nfrom = 0\nto = 3\n\
         size = \"3000B\"\n{more}"
    )))
}

fn about(list: &[(String, f64)], what: &str) -> (String, f64) {
    list.iter().find(|(name, _)| name.contains(what)).unwrap_or_else(|| panic!("{what} is not in {list:?}")).clone()
}

/// Four switches and two racks: eight entries of 12 B; and as many again for each time at which
/// routes change.
#[test]
fn routes_follow_changes() {
    let bytes = |more: &str| about(&estimate(more).memory, "routes").1;
    assert_eq!(bytes(""), 12.0 * 8.0);
    let change = |at: &str, more: &str| format!("[[change]]\nat = \"{at}\"\nlinks = [\"l0->s0\"]\n{more}\n");
    let routing = "[routing]\nreconverge = \"1us\"\n";
    let down = change("1us", "until = \"5us\"\nstate = \"down\"");
    assert_eq!(bytes(&format!("{routing}{down}")), 12.0 * 8.0 * 3.0);
    // A second change at one of these times, one from the start, and one of a rate are none more.
    let others = [
        change("5us", "state = \"down\""),
        change("0s", "state = \"down\"").replace("l0", "l1"),
        change("7us", "rate = \"1Gbps\""),
    ];
    assert_eq!(bytes(&format!("{routing}{down}{}", others.concat())), 12.0 * 8.0 * 3.0);
    assert_eq!(bytes(&format!("[routing]\nreconverge = \"never\"\n{down}")), 12.0 * 8.0);
}

/// Hosts with several NICs have a row and a column of their own: 8 entries to each of 4 hosts of BCube(2, 1), from these hosts
/// and 4 switches.
#[test]
fn hosts_with_several_nics_have_routes() {
    let scenario = scenario(
        "duration = \"1ms\"\n[topology.bcube]\nn = 2\nk = 1\nrate = \"10Gbps\"\ndelay = \"1us\"\n[transport.t]\ncontrol = \"lia\"\n\
         [[workload.permutation]]\ntransport = \"t\"\n",
    );
    assert_eq!(about(&Estimate::new(&scenario).memory, "routes").1, 12.0 * 8.0 * 4.0);
}

/// 3,000 B are 2.07 segments, and two open and end the connection, each with an ACK, at the sender; at a port no more than it carries: in
/// 2 us 10 Gbit/s carry 2,500 B, 1.73 segments, and as many ACKs.
#[test]
fn captures_hold_what_ports_carry() {
    let packets = |keys: &str| {
        let (name, bytes) = about(&estimate(&format!("[record]\ncapture = {{ {keys} }}\n")).disk, "capture.pcapng");
        (name, bytes.round())
    };
    let (all, few): (f64, f64) = (2.0 * (3_000.0 / 1_448.0 + 2.0), 2.0 * 2_500.0 / 1_448.0);
    assert_eq!(packets(""), ("capture.pcapng, 8 packets".to_string(), (all * 144.0).round()));
    // Half of the packets have a payload.
    assert_eq!(packets("payload = true").1, (all * (144.0 + 724.0)).round());
    assert_eq!(packets("links = [\"l0->s0\", \"s0->l1\"]").1, (2.0 * all * 144.0).round());
    assert_eq!(packets("links = [\"l0->s0\"], from = \"1us\", until = \"3us\"").1, (few * 144.0).round());
}

/// Four hosts and 16 links, one flow of two subflows.
#[test]
fn causes_have_their_bytes() {
    let estimate = estimate("");
    let cause = |list: &[(String, f64)], name: &str| about(list, name).1;
    let memory = ["4 hosts and 16 links", "1 flow known", "1 connection at"].map(|name| cause(&estimate.memory, name));
    assert_eq!(memory, [4.0 * 1_000.0 + 16.0 * 700.0, 250.0, 8_000.0 + 2.0 * 1_500.0]);
    let tables = ["flows.parquet, 1 row", "subflows.parquet, 2 rows", "links.parquet, 16 rows"];
    assert_eq!(tables.map(|name| cause(&estimate.disk, name)), [150.0, 240.0, 1_600.0]);
}

/// Four hosts and 16 links, each of a port that pauses. A flow of 30,000 B has 21 segments of 1,448, of which as many wait as make the least
/// of 15,000 B, where RED drops all, and of a threshold of 1/8 of 400 KB; with `xoff` of 8,000 B it is six. Two leaves of four
/// ports and two spines of two have 40 pairs.
#[test]
fn ports_that_pause_have_their_bytes() {
    let memory = |queue: &str, more: &str| {
        let text = format!(
            "[queue]\n{queue}\n[[workload.flow]]\ntransport = \"t\"\nfrom = 1\nto = 2\nsize = \"30KB\"\n{more}"
        );
        let memory = estimate(&text).memory;
        ["16 ports that pause", "packets that wait"]
            .map(|what| memory.iter().find(|of| of.0.contains(what)).map(|of| of.1))
    };
    assert_eq!(memory("limit = 100", ""), [None, None]);
    let red = "red = { min = \"5KB\", max = \"15KB\", max_probability = 0.1 }";
    let pfc = |more: &str| format!("pfc = {{ buffer = \"400KB\"{more} }}");
    // The other flow has 3,000 B.
    assert_eq!(memory(&pfc(""), ""), [Some(20_800.0), Some(80.0 * (3.0 + 21.0))]);
    assert_eq!(memory(&format!("{red}\n{}", pfc("")), ""), [Some(20_800.0), Some(80.0 * (3.0 + 11.0))]);
    let places = Some(20_800.0 + 8.0 * 40.0);
    assert_eq!(memory(&pfc(", xoff = \"8KB\""), ""), [places, Some(80.0 * (3.0 + 6.0))]);
    assert_eq!(memory(&pfc(""), "[record]\npauses = {}\n")[0], places);
}

/// 100 us have 11 samples, 10 us apart, of each link or subflow. In memory are those of a window: an
/// ACK of 90 B takes 72 ns and 1 us for a link.
#[test]
fn series_have_rows() {
    let rows = |series: &str, keys: &str| {
        let estimate = estimate(&format!("[record]\n{series} = {{ from = \"100us\", until = \"200us\", {keys} }}\n"));
        let (name, bytes) = about(&estimate.disk, &format!("{series}.parquet"));
        (name, bytes, about(&estimate.memory, &format!("samples of {series} ")).1.round())
    };
    let window = 1.072e-6;
    let expected = |name: &str, sampled: f64| {
        (
            format!("{name}.parquet, {} rows", 11.0 * sampled),
            16.0 * 11.0 * sampled,
            (1e3 * sampled * (window / 10e-6 + 1.0)).round(),
        )
    };
    let two = "links = [\"l0->s0\", \"s0->l1\"]";
    assert_eq!(rows("queue", &format!("every = \"10us\", {two}")), expected("queue", 2.0));
    assert_eq!(rows("counters", &format!("every = \"10us\", {two}")), expected("counters", 2.0));
    assert_eq!(rows("counters", "every = \"10us\""), expected("counters", 16.0));
    assert_eq!(rows("cwnd", "every = \"10us\""), expected("cwnd", 2.0));
    assert_eq!(rows("rate", "every = \"10us\""), expected("rate", 2.0));
    // A single sample is a row, in memory too.
    assert_eq!(rows("rate", "every = \"1ms\"").2, (2e3_f64 * (window / 1e-3 + 1.0)).round());
}

/// Fat-trees of 16, 128, 1,024 and 4,394 hosts.
#[test]
fn a_thread_has_sixty_four_hosts_that_send_or_receive() {
    let threads = |k: u32, workload: &str, cores: usize| {
        let text = format!(
            "duration = \"1ms\"\n[topology.fat-tree]\nk = {k}\nrate = \"10Gbps\"\ndelay = \"1us\"\n[transport.t]\ncontrol = \"dctcp\"\n\
             [[workload.{workload}"
        );
        worthwhile_threads(&scenario(&text), cores)
    };
    let permutation = "permutation]]\ntransport = \"t\"\n";
    assert_eq!([0, 1, 2, 8].map(|cores| threads(8, permutation, cores)), [1, 1, 2, 2]);
    assert_eq!([(4, 8), (16, 8), (16, 0), (26, 500)].map(|(k, cores)| threads(k, permutation, cores)), [1, 8, 1, 64]);
    let incast = |senders: u32| {
        format!(
            "incast]]\ntransport = \"t\"\nsenders = {senders}\nreceiver = \"h0\"\nsize = \"50KB\"\nevery = \"1ms\"\nbursts = 1\n"
        )
    };
    assert_eq!([126, 127].map(|senders| threads(8, &incast(senders), 8)), [1, 2]);
}
