//! What holds of all scenarios.

use linkpool_scenario::load;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const DURATION: &str = "duration = \"10s\"\n";

const TOPOLOGIES: &[&str] = &[
    "[topology.many-to-one]\nsenders = 7\nrate = \"10Gbps\"\ndelay = \"5.6us\"\n",
    "[topology.traffic-shift]\nrate = \"300Mbps\"\ndelay = \"1.4ms\"\n",
    "[topology.dumbbell]\npairs = 3\nrate = \"1Gbps\"\ndelay = \"0s\"\nbottleneck_rate = \"2.2Mbps\"\n",
    "[topology.dumbbell]\npairs = 3\nrate = \"1Gbps\"\ndelay = \"33ps\"\nbottleneck_delay = \"1us\"\n",
    "[topology.fat-tree]\nk = 4\nrate = \"40Gbps\"\ndelay = \"1us\"\n",
    "[topology.fat-tree]\nk = 4\ntiers = 2\nnics = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\ncore_rate = \"40Gbps\"\n",
    "[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\naggregation_delay = \"2us\"\ncore_delay = \"3us\"\n",
    "[topology.leaf-spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\nuplink_delay = \"5us\"\n",
    "[topology.multi-plane]\nplanes = 2\nleaves = 2\nspines = 2\nshared_spines = true\nhosts_per_leaf = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\nuplink_rate = \"4Gbps\"\n",
    "[topology.dragonfly]\nrouters_per_group = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\nglobal_delay = \"3us\"\n",
    "[topology.slim-fly]\nq = 3\nhosts_per_router = 1\nrate = \"1Gbps\"\ndelay = \"1us\"\n",
    "[topology.slim-fly]\nq = 4\nhosts_per_router = 1\nrate = \"1Gbps\"\ndelay = \"1us\"\n",
    "[topology.xpander]\ndegree = 3\nlift = 2\nhosts_per_switch = 1\nseed = 7\nrate = \"1Gbps\"\ndelay = \"1us\"\nswitch_rate = \"2Gbps\"\n",
    "[topology.vl2]\naggregation_ports = 4\nintermediate_ports = 4\nhosts_per_rack = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n",
    "[topology.gpu-servers]\ngroups = 2\nservers_per_group = 1\ngpus = 4\nnics = 2\npxn = true\nshared_spines = false\nspines = 1\n\
     nvlink_switches = 2\nnvlink_rate = \"40Gbps\"\nnvlink_delay = \"0.3us\"\nrate = \"1Gbps\"\ndelay = \"1us\"\npcie_rate = \"2Gbps\"\n",
    "[topology.bcube]\nn = 2\nk = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n",
    "[topology.ring]\nbottleneck_rates = [\"0.8Gbps\", \"1.2Gbps\"]\nrate = \"10Gbps\"\ndelay = \"1us\"\n",
    "[topology.triangle]\nbottleneck_rates = [\"12Mbps\", \"10Mbps\", \"8Mbps\"]\nrate = \"1Gbps\"\ndelay = \"1ms\"\n",
    "[topology.graph]\nrate = \"1Gbps\"\ndelay = \"1us\"\nnodes = [{ id = \"s\", kind = \"switch\", layer = \"core\" }, \
     { id = \"b\", kind = \"host\" }, { id = \"a\", kind = \"host\" }, { id = \"c\", kind = \"host\" }, { id = \"4\", kind = \"host\" }]\n\
     edges = [{ source = \"s\", target = \"a\", delay = \"3us\" }, { source = \"b\", target = \"s\" }, \
     { source = \"c\", target = \"s\" }, { source = \"4\", target = \"s\" }]\n",
    "[topology.fat-tree]\nk = 2\nhosts_per_edge = 3\nrate = \"40Gbps\"\ndelay = \"1us\"\n",
];

const TOP: &[&str] = &["name = \"a \\\"title\\\" — with ☃\"", "seed = 9223372036854775807", "drain = \"1.5s\""];

const QUEUE: &[&str] = &[
    "limit = \"1MiB\"",
    "mark = 20\nmark_when = \">\"\nnon_ect = \"drop\"",
    "count_in_service = true",
    "exempt = [\"fin\", \"syn\"]",
];

const ANY_TRANSPORT: &[&str] = &[
    "preset = \"paper-2013\"",
    "mss = \"9KB\"",
    "header = \"77B\"",
    "ack_size = \"64B\"",
    "initial_window = 3",
    "initial_ssthresh = \"100KB\"",
    "min_rto = \"10ms\"",
    "initial_rto = \"20ms\"",
    "max_rto = \"30s\"",
    "max_backoff = 16",
    "srtt_gain = 0.3",
    "rttvar_gain = 0.1",
    "rto_above_srtt = true",
    "handshake_sample = true",
    "syn_timeout = \"1ms\"",
    "syn_retries = 0",
    "limited_transmit = false",
    "byte_counting = true\nbyte_counting_limit = 2",
    "fail_after = 7",
    "send_buffer = \"4MB\"",
    "subflow_window = \"65535B\"",
    "receive_buffer = \"1GiB\"\nread_rate = \"2.5Gbps\"",
];

const CONTROLS: &[(&str, &[&str])] = &[
    ("reno", &["subflows = 1", "paths = \"distinct\""]),
    ("dctcp", &["alpha0 = 0.5", "g = 0.1", "cwnd_min = 1", "accept_ecn = false"]),
    ("reno", &["ack_every = 2\nack_delay = \"1ms\"\nquickack = false\npush_acks = false"]),
    ("lia", &["subflows = 8\njoin_jitter = \"1us\""]),
    ("dcm", &["subflows = 8", "alpha0 = 0.25", "g = 1"]),
    ("xmp", &["subflows = 2", "beta = 4.5", "ssthresh_after_cut = \"w-1\"", "dupack_threshold = 30"]),
    ("amp", &["subflows = 32", "beta = 1", "gamma = 3", "tau = 4", "release = \"acks\""]),
    ("amp", &["subflows = 2", "suppression = false"]),
    ("amp", &["target_delay = \"30us\"\nack_order = \"cut-instead-of-growth\""]),
    ("dctcp", &["paths = \"plb\"\nplb_rounds = 5\nplb_idle_rounds = 2\nplb_congested = 0.25\nplb_suspend = \"1s\""]),
    ("amp", &["paths = \"reps\"\nreps_buffer = 16\nreps_freezing = \"1ms\"", "subflows = 3"]),
    ("mptcp-cut", &["beta = 3", "cwnd_min = 4", "subflows = 2\njoin_jitter = \"2ms\""]),
    ("mmptcp\"\nswitch_bytes = \"100KB\"\nphase_2 = \"olia", &["subflows = 4", "phase_1 = \"dctcp\"\nalpha0 = 0.5"]),
    ("olia", &["recovery = \"sack\"\ndupack_threshold = \"adaptive\""]),
    ("balia", &["subflows = 4\nstale_after = 3\nfaults = [\"join-syn-once\", \"fin-reset\"]"]),
    ("balia", &["subflows = 4\nscheduler = \"lowest-rtt\"\njoin_after = \"1MB\""]),
    ("lia", &["subflows = 4\nscheduler = \"ecf\""]),
    ("olia", &["subflows = 4\nscheduler = \"redundant\"\nbackup = [3]"]),
    (
        "mmptcp\"\nswitch_window = 30\nphase_2 = \"amp",
        &["subflows = \"auto\"", "switch_on_congestion = true", "tau = 3\ncwnd_min = 1"],
    ),
    ("ewtcp", &["subflows = 2", "ewtcp_increase = \"1/sqrt(n)\""]),
    ("fully-coupled", &["subflows = 2", "loss_floor = 1"]),
    ("semi-coupled", &["subflows = 2", "aggressiveness = 0.5"]),
    ("uncoupled", &["subflows = 2", "ack_every = 1"]),
    (
        "swift",
        &[
            "subflows = 2",
            "swift_base_target = \"25us\"\nswift_hop = \"1us\"\nswift_flow_range = \"0us\"",
            "swift_flow_min = 0.2\nswift_flow_max = 50\nswift_flow_scaling = \"whole-packets\"",
            "swift_increase = 0.5\nswift_gain = 0.5\nswift_max_cut = 0.25\nswift_rtt = \"smoothed\"",
            "swift_min_window = 0.01\nswift_max_window = 50\nswift_reset_after = 3",
        ],
    ),
    (
        "bbr\"\nrecovery = \"rack",
        &["subflows = 2", "bbr_rtt_window = \"1s\"\nbbr_probe_rtt = \"100ms\"", "bbr_offload = 2"],
    ),
    (
        "cubic",
        &[
            "subflows = 2",
            "cubic_c = 4",
            "cubic_beta = 0.5",
            "fast_convergence = false",
            "hystart = false",
            "cubic_rules = \"rfc9438\"",
        ],
    ),
];

/// Of each kind, what must be there and what may be.
const WORKLOADS: &[(&str, &[&str])] = &[
    ("flow]]\nfrom = 0\nto = 1", &["size = \"1MiB\"", "stop = \"9s\"", "count = 2"]),
    ("incast]]\nsenders = 1\nreceiver = 1\nsize = \"64KiB\"\nevery = \"30ms\"", &["bursts = 3", "spacing = \"1us\""]),
    ("incast]]\nsenders = 2\nreceiver = 0\nsize = \"64KiB\"\nbursts = 1", &["spacing = \"1us\""]),
    ("many-to-one]]\nflows = 2\nreceiver = 3", &["first = 1", "size = \"1B\"", "stop = \"9s\"", "spacing = \"1ms\""]),
    ("permutation]]", &["size = \"9KB\"", "stop = \"8s\"", "jitter = \"10us\"", "role = \"some\""]),
    (
        "random]]\nsize = \"9KB\"\nrepeat = \"each\"",
        &["at_most = 4", "gap = { lognormal = { mean = \"5ms\", sigma = 0.5 } }"],
    ),
    ("all-to-all]]\nsize = \"9KB\"\nrepeat = \"all\"", &["gap = { exponential = \"5ms\" }", "role = \"others\""]),
    (
        "partition-aggregate]]\nservers = 2",
        &["chains = 3", "request = \"1KB\"", "answer = { uniform = [\"1KB\", \"9KB\"] }", "gap = \"1s\""],
    ),
    (
        "trace]]\nflows = [{ from = 0, to = 1, size = \"1KB\" }, { from = 1, to = 2, size = \"9KB\", start = \"1ms\", after = [0] }, { from = 2, to = 0, size = \"1KB\", after = [0, 1], enough = 1 }]",
        &["beyond_end = \"drop\""],
    ),
    (
        "collective]]\nalgorithm = \"ring-all-reduce\"\nsize = \"1MB\"",
        &["ranks = 3", "iterations = 2", "compute = \"1ms\""],
    ),
    ("stride]]\nstep = 2", &["size = \"9KB\"", "small = { below = \"5KB\", transport = \"unused\" }"]),
    (
        "poisson]]\nflows_per_second = 0.1\nsize = \"1KB\"",
        &["stop = \"5s\"", "to = \"permutation\"", "role = \"some\""],
    ),
    (
        "poisson]]\nflows_per_second_per_host = 1e5\nsize = \"1MB\"\nallow_overload = true",
        &["to = \"random\"", "role = \"others\""],
    ),
    ("poisson]]\nload = 1e-6\nsize = { cdf = \"fb_kv\", interpolation = \"stair\" }", &["allow_overload = true"]),
    (
        "random]]",
        &["at_most = 4", "to = \"random\"", "size = { pareto = { shape = 1.5, mean = \"192MB\", max = \"768MB\" } }"],
    ),
    ("stride]]\nstep = 1", &["size = { uniform = [\"1KB\", \"1MB\"] }", "jitter = \"1ms\""]),
    ("all-to-all]]", &["size = { cdf = [[10, 0.25], [20, 1.0]], interpolation = \"linear\", name = \"x\" }"]),
    ("hotspot]]\nflows = 9\nhosts = [0, 1]\nshare = 0.25", &["size = \"1KB\"", "stop = \"3s\""]),
];

/// Keys that exclude some of [`QUEUE`].
const PORTS: &[&str] = &[
    "layer.host = { limit = 1000, mark = 30, exempt = [] }",
    "discipline = \"priority\"",
    "layer.host = { red = { min = 3, max = 9 }, discipline = \"priority\" }",
    "layer.host = { red = { min = \"3KB\", max = \"9KB\", weight = 0.5, action = \"drop\", gentle = false }, limit = 50 }",
    "layer.host = { shared_buffer = { size = \"4MB\" }, exempt = [] }",
    "layer.host = { discipline = \"trimming\", limit = 40, exempt = [] }",
    "layer.host = { discipline = \"trimming\", limit = \"70KB\", exempt = [], trimming = { headers = 30, share = 4, trim_arriving = 1.0, return_to_sender = false } }",
    "layer.host = { shared_buffer = { size = \"4MB\", alpha = 0.5 }, mark = 20, exempt = [], mark_at = \"dequeue\", non_ect = \"queue\" }",
];

/// Of any topology.
const CHANGES: &[&str] = &[
    "[[change]]\nat = \"1s\"\nuntil = \"9s\"\nlayer = \"host\"\nshare = 0.5\nrate = \"2Gbps\"",
    "[[change]]\nlayer = \"host\"\nloss = 0.25",
    "[[change]]\nat = \"2s\"\nlayer = \"host\"\nshare = 0\nburst_loss = { to_bad = 0.1, to_good = 0.5, in_good = 0.01 }",
    "[[change]]\nuntil = \"5s\"\nbetween = \"host<->switch\"\ncount = 1\nrate_factor = 0.1\nrepeat = { every = \"1s\", lasts = \"10ms\", redraw = true }",
    "[[change]]\nbetween = \"host->switch\"\nbit_errors = 1e-9",
    "[[change]]\nat = \"3s\"\nlayer = \"host\"\nstate = \"down\"\n[routing]\nreconverge = \"never\"",
];

const MEASURES: &[&str] = &["warm_up = \"1s\"", "cut_off = \"10s\""];

const RECORDS: &[&str] = &[
    "cwnd = { every = \"1us\" }",
    "rtt = { every = \"1ms\", labels = [\"one\"] }",
    "counters = { every = \"1ms\", from = \"1s\" }",
    "rate = { every = \"1ms\", from = \"1s\", until = \"2s\", labels = [\"one\"] }",
];

fn lines(all: &'static [&'static str]) -> impl Strategy<Value = String> {
    subsequence(all, 0..=all.len()).prop_map(|lines| lines.join("\n") + "\n")
}

fn transport(name: &'static str) -> impl Strategy<Value = String> {
    let keys = select(CONTROLS).prop_flat_map(|(control, keys)| (Just(control), lines(keys), lines(ANY_TRANSPORT)));
    keys.prop_map(move |(control, own, any)| format!("[transport.{name}]\ncontrol = \"{control}\"\n{own}{any}"))
}

fn workload(label: &'static str) -> impl Strategy<Value = String> {
    let keys = select(WORKLOADS).prop_flat_map(|(kind, keys)| (Just(kind), lines(keys), select(&["a", "\"b c\""][..])));
    keys.prop_map(move |(kind, keys, transport)| {
        let transport = transport.trim_matches('"');
        format!("[[workload.{kind}\n{label}transport = \"{transport}\"\nstart = \"2s\"\n{keys}")
    })
}

/// The text of a good scenario.
fn scenario() -> impl Strategy<Value = String> {
    let workloads = (workload("label = \"one\"\n"), workload(""), workload("label = \"\"\n"));
    let transports = (transport("a"), transport("\"b c\""), transport("unused"));
    (lines(TOP), select(TOPOLOGIES), (lines(QUEUE), select(PORTS)), (lines(CHANGES), lines(MEASURES)), transports, workloads, lines(RECORDS)).prop_map(
        |(top, topology, (queue, ports), (changes, measure), transports, workloads, record)| {
            let (t1, t2, t3) = transports;
            // Not all of their hosts are joined.
            let (w1, w2, w3) = if ["[topology.traffic-shift]", "[topology.ring]"].iter().any(|t| topology.starts_with(t)) {
                let one = "[[workload.flow]]\nlabel = \"one\"\ntransport = \"a\"\nstart = \"2s\"\nfrom = 0\nto = 1\n";
                (one.to_string(), String::new(), String::new())
            } else {
                workloads
            };
            format!("{top}{DURATION}{topology}[queue]\n{queue}{ports}\n{changes}{t2}{t1}{t3}[measure]\n{measure}[roles]\nsome = 0.5\n[until]\nflows = 9\nlabel = \"one\"\n{w1}{w2}{w3}[record]\n{record}")
        },
    )
}

proptest! {
    #[test]
    fn what_is_run_is_written_and_read_back(text in scenario()) {
        let scenario = load(&text, "x.toml", None, &[]).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
        let written = scenario.to_toml();
        let again = load(&written, "y.toml", None, &[]).unwrap_or_else(|errors| panic!("{written}\n{errors:#?}"));
        prop_assert_eq!(&again, &scenario);
        prop_assert_eq!(again.to_toml(), written);
    }

    #[test]
    fn a_queue_of_any_link_can_be_recorded(topology in select(TOPOLOGIES)) {
        let rest = "[transport.a]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"a\"\nfrom = 0\nto = 1\n";
        let text = format!("{DURATION}{topology}{rest}");
        let fabric = load(&text, "x.toml", None, &[]).unwrap().topology.fabric();
        let name = |node| fabric.name(node).to_string();
        let links: Vec<_> = fabric.links().iter().map(|l| (name(l.from), name(l.to))).collect();
        let written: Vec<_> = links.iter().map(|(from, to)| format!("\"{from}->{to}\"")).collect();
        let text = format!("{text}[record.queue]\nevery = \"1us\"\nlinks = [{}]\n", written.join(", "));
        let scenario = load(&text, "x.toml", None, &[]).unwrap();
        prop_assert_eq!(scenario.record.queue.as_ref().map(|queue| &queue.links), Some(&links));
        prop_assert_eq!(load(&scenario.to_toml(), "x.toml", None, &[]).unwrap(), scenario);
    }

    /// Whatever stands in a file or in an override, the outcome is a scenario or errors, each with
    /// something to say.
    #[test]
    fn no_file_makes_the_reader_panic(
        text in scenario(),
        line in any::<prop::sample::Index>(),
        instead in select(&[
            "", "[queue]", "x = 1", "= 3", "[[transport]]", "[[workload.flow]]", "record = 3", "every = \"1ps\"",
            "start = \"18446744s\"", "spacing = \"18446744s\"", "k = 4294967294", "senders = 4294967295",
            "hosts_per_edge = 4294967295", "pairs = 4294967295", "flows = 4294967295", "first = 4294967295",
            "bursts = 4294967295", "drain = \"18446744s\"", "mss = \"4294967296B\"", "ack_size = \"0B\"", "limit = \"1KB\"", "header = \"4294967295B\"",
            "syn_retries = 4294967295", "flows_per_second = 1e308", "from = [1, { x = 3 }]", "label = \"\"",
        ][..]),
        key in "[a-z]{1,9}(\\.([a-z-]{1,9}|0|1)){0,3}",
        value in "[0-9a-z\"\\[{. ]{0,6}",
    ) {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = line.index(lines.len());
        lines[at] = instead;
        for errors in [
            load(&lines.join("\n"), "x.toml", None, &[]).err(),
            load(&text, "x.toml", None, &[(key, value)]).err(),
        ] {
            for error in errors.into_iter().flatten() {
                prop_assert!(!error.message.is_empty());
            }
        }
    }
}
