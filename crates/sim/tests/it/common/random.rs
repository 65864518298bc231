//! Random scenarios, as text.

use linkpool_scenario::Algorithm;
use proptest::prelude::*;
use std::fmt::Write;

fn pick(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

#[derive(Clone, Debug)]
struct Fabric {
    text: String,
    hosts: u32,
    /// Any host reaches any other.
    connected: bool,
    /// A link to watch.
    link: &'static str,
}

fn fabrics() -> impl Strategy<Value = Fabric> {
    let rate = pick(&["1Gbps", "3Gbps", "10Gbps"]);
    let delay = pick(&["100ns", "1us", "5.6us", "20us"]);
    (0u32..15, 1u32..=6, rate, delay).prop_map(|(kind, n, rate, delay)| {
        let few = n.min(3);
        let (kind, keys, hosts, link) = match kind {
            0 => ("many-to-one", format!("senders = {}", n + 1), n + 2, "W->R"),
            1 => ("dumbbell", format!("pairs = {n}\nbottleneck_rate = \"1Gbps\""), 2 * n, "L->R"),
            2 => ("traffic-shift", String::new(), 6, "A1->B1"),
            3 => ("leaf-spine", format!("leaves = 3\nspines = {few}\nhosts_per_leaf = {n}"), 3 * n, "l0->h0"),
            4 => {
                ("vl2", format!("aggregation_ports = 4\nintermediate_ports = 4\nhosts_per_rack = {n}"), 4 * n, "t0->h0")
            }
            5 => ("bcube", "n = 3\nk = 1".to_string(), 9, "s0.0->h0"),
            6 => ("ring", "bottleneck_rates = [\"1Gbps\", \"2Gbps\", \"300Mbps\"]".to_string(), 12, "A1->B1"),
            7 => ("fat-tree", format!("k = 4\nnics = 2\nhosts_per_edge = {few}"), 8 * few, "e0.0->h0"),
            8 => ("fat-tree", format!("k = 4\ntiers = 2\nhosts_per_edge = {few}"), 4 * few, "e0->h0"),
            9 => {
                let keys = format!("planes = 2\nleaves = 2\nspines = {few}\nhosts_per_leaf = {few}");
                ("multi-plane", keys, 2 * few, "l0.0->h0")
            }
            10 => {
                let keys = format!("routers_per_group = 2\nglobal_ports = 1\nhosts_per_router = {few}");
                ("dragonfly", keys, 6 * few, "r0.0->h0")
            }
            11 => ("slim-fly", "q = 3\nhosts_per_router = 1".to_string(), 18, "a0.0->h0"),
            12 => {
                let keys = format!("degree = 3\nlift = {few}\nhosts_per_switch = 1");
                ("xpander", keys, 4 * few, "x0.0->h0")
            }
            13 => {
                let keys = format!(
                    "groups = 2\nservers_per_group = {few}\ngpus = 4\nnics = {}\npxn = {}\nspines = 1",
                    1 << (few % 3),
                    n > 3
                );
                (
                    "gpu-servers",
                    format!("{keys}\nnvlink_rate = \"8Gbps\"\nnvlink_delay = \"300ns\""),
                    8 * few,
                    "n0.0->g0.0",
                )
            }
            _ => ("fat-tree", format!("k = 4\nhosts_per_edge = {few}"), 8 * few, "e0.0->h0"),
        };
        let text = format!("[topology.{kind}]\n{keys}\nrate = \"{rate}\"\ndelay = \"{delay}\"\n");
        Fabric { text, hosts, connected: !["traffic-shift", "ring"].contains(&kind), link }
    })
}

fn queues() -> impl Strategy<Value = String> {
    let exempt = pick(&["[]", "[]", "[\"syn\"]", "[\"syn\", \"fin\", \"ack\"]", "[\"ack\"]"]);
    let choices = (pick(&[">=", ">"]), any::<bool>(), pick(&["queue", "drop"]), exempt);
    // Packets have 540 B or more: no threshold is above the limit.
    let length = |n: u32, each: Option<u32>| each.map_or(n.to_string(), |each| format!("\"{}B\"", n * each));
    (2u32..60, prop::option::of(0.0..1.0), any::<(bool, bool)>(), choices).prop_map(
        move |(limit, mark, (limit_in_bytes, mark_in_bytes), (when, in_service, non_ect, exempt))| {
            let mark = mark.map_or(String::new(), |fraction| {
                let k = length(
                    1 + ((limit - 1) as f64 * fraction) as u32,
                    mark_in_bytes.then_some(if limit_in_bytes { 1600 } else { 540 }),
                );
                format!("mark = {k}\nmark_when = \"{when}\"\nnon_ect = \"{non_ect}\"\n")
            });
            let limit = length(limit, limit_in_bytes.then_some(1600));
            format!("[queue]\nlimit = {limit}\n{mark}count_in_service = {in_service}\nexempt = {exempt}\n")
        },
    )
}

/// Loss recovery: that of the preset, or one told.
fn recoveries() -> impl Strategy<Value = &'static str> {
    pick(&[
        "",
        "recovery = \"reno\"",
        "recovery = \"newreno\"",
        "recovery = \"sack\"",
        "recovery = \"sack\"\nundo = false",
        "recovery = \"rack\"",
        "recovery = \"rack\"\nundo = false",
    ])
}

/// RoCE of every law, and of every way of recovery.
fn roce() -> impl Strategy<Value = String> {
    let control =
        pick(&["roce", "dcqcn", "dcqcn-hpcc", "timely", "hpcc", "hpcc-pint", "powertcp", "roce-dctcp", "roce-swift"]);
    let way = pick(&["", "reorder_window = 16", "retransmission = \"selective\"", "nack_interval = \"50us\""]);
    let window = pick(&["", "window = \"bdp\"", "window = \"20KB\""]);
    let paths = pick(&["hash", "hash", "distinct", "scatter"]);
    (control, way, window, paths).prop_map(|(control, way, window, paths)| {
        format!("control = \"{control}\"\nmin_rto = \"1ms\"\npaths = \"{paths}\"\n{way}\n{window}\n")
    })
}

/// Named t0, t1, ...
fn transports() -> impl Strategy<Value = Vec<String>> {
    let control = prop::sample::select(&Algorithm::ALL[..Algorithm::ALL.len() - 1]);
    let one = (
        control,
        pick(&["linux", "paper-2013"]),
        1u32..=4,
        pick(&["hash", "distinct", "placed", "scatter", "plb", "reps"]),
        1u32..=2,
        any::<(bool, bool, bool)>(),
        pick(&["500B", "1400B"]),
        recoveries(),
        pick(&[
            "",
            "",
            "scheduler = \"lowest-rtt\"",
            "scheduler = \"lowest-time-to-send\"",
            "scheduler = \"blest\"\nreceive_buffer = \"30KB\"",
            "scheduler = \"ecf\"",
            "scheduler = \"redundant\"",
            "scheduler = \"redundant\"\nbackup = [1]\nreceive_buffer = \"50KB\"",
            "join_after = \"5KB\"",
            "backup = [1]",
        ]),
    );
    let text = |(control, preset, subflows, paths, ack_every, (accept_ecn, limited, phases), mss, recovery, more): (
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        _,
        _,
    )| {
        // PLB and REPS go by marks.
        let heeds_marks = Algorithm::heeds_marks(control);
        let paths = if ["plb", "reps"].contains(&paths) && !heeds_marks { "hash" } else { paths };
        let phases = phases && !["plb", "reps", "placed"].contains(&paths);
        let subflows = if paths == "placed" { 1 } else { subflows };
        let several = Algorithm::is_multipath(control);
        let name = Algorithm::name(control);
        // BBR measures by SACKs how fast packets arrive.
        let recovery = if control == Algorithm::Bbr { "recovery = \"rack\"" } else { recovery };
        let mmptcp = phases && several && paths != "scatter";
        let control = if mmptcp {
            format!("control = \"mmptcp\"\nphase_2 = \"{name}\"\nswitch_bytes = \"20KB\"")
        } else {
            format!("control = \"{name}\"")
        };
        let mut text = format!("{control}\npreset = \"{preset}\"\npaths = \"{paths}\"\n");
        if several {
            writeln!(text, "subflows = {subflows}").unwrap();
            if subflows > 1 {
                writeln!(text, "join_jitter = \"20us\"").unwrap();
            }
            if subflows > 1 && !phases {
                writeln!(text, "{more}").unwrap();
            }
        }
        if paths == "scatter" || mmptcp {
            writeln!(text, "dupack_threshold = \"auto\"").unwrap();
        }
        if heeds_marks {
            writeln!(text, "accept_ecn = {accept_ecn}").unwrap();
        }
        if ack_every > 1 {
            writeln!(text, "ack_delay = \"200us\"").unwrap();
        }
        writeln!(text, "ack_every = {ack_every}\nmss = \"{mss}\"").unwrap();
        writeln!(text, "limited_transmit = {limited}\n{recovery}").unwrap();
        text + "min_rto = \"1ms\"\ninitial_rto = \"2ms\"\nmax_rto = \"20ms\"\nsyn_timeout = \"1ms\"\nsyn_retries = 4\n"
    };
    let mixed = prop::collection::vec(prop_oneof![5 => one.prop_map(text), 1 => roce()], 1..=3);
    prop_oneof![8 => mixed, 1 => prop::collection::vec(roce(), 1..=3)]
        .prop_map(|all| all.into_iter().enumerate().map(|(i, t)| format!("[transport.t{i}]\n{t}")).collect())
}

/// A workload of transport `t` on `fabric`.
fn workload(fabric: Fabric, t: usize) -> impl Strategy<Value = String> {
    let size = prop_oneof![1u32..3_000, 1u32..150_000];
    let kinds = if fabric.connected { 0u32..8 } else { 0..1 };
    (kinds, size, any::<bool>(), 0..fabric.hosts, 1..fabric.hosts, 1u32..4, 0u32..1000).prop_map(
        move |(kind, size, unlimited, from, step, count, start)| {
            let to = (from + step) % fabric.hosts;
            let stop = if unlimited { "\"unlimited\"\nstop = \"1.5ms\"".into() } else { format!("\"{size}B\"") };
            let mut text = match kind {
                0 if !fabric.connected => {
                    let (from, to) = [("S1", "D1"), ("S2", "D2"), ("S3", "D3"), ("S1", "D2")][from as usize % 4];
                    format!("[[workload.flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nsize = {stop}\ncount = {count}\n")
                }
                0 => format!("[[workload.flow]]\nfrom = {from}\nto = {to}\nsize = {stop}\ncount = {count}\n"),
                1 => format!(
                    "[[workload.incast]]\nsenders = {step}\nreceiver = {from}\nsize = \"{size}B\"\nevery = \"700us\"\n"
                ),
                2 => format!("[[workload.permutation]]\nsize = {stop}\njitter = \"300us\"\n"),
                3 => format!("[[workload.poisson]]\nflows_per_second = {}\nsize = \"{size}B\"\nallow_overload = true\n", 5_000 * count),
                4 => format!(
                    "[[workload.random]]\nsize = \"{size}B\"\nrepeat = \"each\"\nat_most = {count}\ngap = {{ exponential = \"30us\" }}\n"
                ),
                5 => format!("[[workload.permutation]]\nsize = \"{size}B\"\nrepeat = \"all\"\njitter = \"50us\"\n"),
                6 => format!(
                    "[[workload.partition-aggregate]]\nservers = {step}\nchains = {count}\nanswer = \"{size}B\"\ngap = \"100us\"\n"
                ),
                _ => {
                    let flows = fabric.hosts - 1;
                    format!("[[workload.many-to-one]]\nflows = {flows}\nreceiver = {flows}\nsize = {stop}\n")
                }
            };
            writeln!(text, "transport = \"t{t}\"\nstart = \"{start}us\"").unwrap();
            text
        },
    )
}

/// Time series, beside that of a queue.
fn records() -> impl Strategy<Value = &'static str> {
    pick(&[
        "",
        "cwnd = { every = \"50us\" }\ncounters = { every = \"90us\" }\n",
        "rtt = { every = \"1ps\" }\ncounters = { every = \"0.4ms\", from = \"0.3ms\", until = \"9ms\" }\n",
        "rate = { every = \"70us\" }\ncwnd = { every = \"0.3ms\", from = \"1ms\" }\n",
    ])
}

/// Adapters of hosts, where all transports are RoCE.
fn nics() -> impl Strategy<Value = &'static str> {
    pick(&[
        "",
        "[nic]\npreset = \"connectx-5\"\n",
        "[nic]\nmessage_time = \"3us\"\nlatency = \"20us\"\nsend_queue = 1\n",
        "[nic]\nmessage_time = \"500ns\"\npacket_time = \"2us\"\nrate = \"1Gbps\"\n",
    ])
}

/// The period that is measured.
fn measures() -> impl Strategy<Value = &'static str> {
    pick(&["", "[measure]\nwarm_up = \"0.7ms\"\n", "[measure]\nwarm_up = \"0.1ms\"\ncut_off = \"1.1ms\"\n"])
}

/// Routing over paths that are not the shortest.
fn longer_paths() -> impl Strategy<Value = &'static str> {
    pick(&[
        "[routing]\nkind = \"valiant\"\n",
        "[routing]\nkind = \"valiant\"\nvaliant = { per = \"flow\", minimal = 40 }\n",
        "[routing]\nkind = \"ugal\"\n",
        "[routing]\nkind = \"ugal\"\ngap = \"30us\"\nugal = { candidates = 3, threshold = \"4KB\" }\n",
    ])
}

/// 2 ms of arrivals, and 40 ms to finish.
pub fn scenarios() -> impl Strategy<Value = String> {
    (fabrics(), transports()).prop_flat_map(|(fabric, transports)| {
        let workloads = prop::collection::vec((0..transports.len()).prop_flat_map({
            let fabric = fabric.clone();
            move |t| workload(fabric.clone(), t)
        }), 1..=3);
        let longer = prop::option::of(longer_paths());
        (queues(), workloads, records(), measures(), (1u64..1000, longer, nics())).prop_map(move |(queue, workloads, record, measure, (seed, longer, nic))| {
            let places = transports.iter().any(|t| t.contains("\"placed\""));
            let longer = longer.filter(|_| ["dragonfly", "slim-fly", "xpander"].iter().any(|kind| fabric.text.contains(kind)));
            let routing = match longer {
                _ if places => "[routing]\nplacement = { period = \"100us\", share = 0.05 }\n",
                Some(longer) => longer,
                None => "",
            };
            // The other transports name a preset.
            let nic = if transports.iter().any(|t| t.contains("preset")) { "" } else { nic };
            format!(
                "seed = {seed}\nduration = \"2ms\"\ndrain = \"40ms\"\n{measure}{routing}{}{nic}{queue}{}{}[record]\nqueue = {{ links = [\"{}\"], every = \"3us\" }}\n{record}",
                fabric.text,
                transports.concat(),
                workloads.concat(),
                fabric.link,
            )
        })
    })
}

/// Ports of every discipline, in place of those of [`scenarios`].
const PORTS: &[&str] = &[
    "limit = 30\nmark = 10\ndiscipline = \"priority\"\n",
    "limit = 30\nmark = 10\nmark_at = \"dequeue\"\n",
    "limit = 40\nred = { min = 3, max = 9, weight = 0.1 }\ndiscipline = \"priority\"\n",
    "limit = \"40KB\"\nred = { min = \"3KB\", max = \"9KB\", weight = 0.05, gentle = false, action = \"drop\" }\n",
    "shared_buffer = { size = \"60KB\", alpha = 1 }\nmark = 10\n",
    "shared_buffer = { size = \"40KB\", alpha = 0.5 }\ndiscipline = \"priority\"\nmark = \"9KB\"\nmark_at = \"dequeue\"\n",
    "limit = 30\nmark = 10\nclass = [{ priorities = [3], weight = 3, limit = \"20KB\" }, { priorities = [1, 6], weight = 1 }]\n",
    "limit = 9\nclass = [{ priorities = [6, 1], red = { min = 3, max = 9, weight = 0.1 } }, { priorities = [3], trim = true }]\n",
    "limit = 40\ncount_in_service = true\nmark_at = \"dequeue\"\nclass = [{ priorities = [0, 3], mark = 5, weight = 1 }, { priorities = [1] }]\n",
];

/// The priorities of the data of t0, t1 and t2 at ports with classes.
const PRIORITIES: [u8; 3] = [3, 1, 6];

/// Scenarios with other ports, on links of which some fail, change and lose packets.
pub fn changing_scenarios() -> impl Strategy<Value = String> {
    let effect = pick(&[
        "state = \"down\"\n",
        "rate = \"500Mbps\"\n",
        "rate = \"20Gbps\"\n",
        "loss = 0.05\n",
        "burst_loss = { to_bad = 0.01, to_good = 0.3, in_bad = 0.8 }\n",
    ]);
    let change = (0u32..3_000, 1u32..3_000, 5u32..=10, effect).prop_map(|(at, lasts, share, effect)| {
        let (until, share) = (at + lasts, share as f64 / 10.0);
        format!("[[change]]\nat = \"{at}us\"\nuntil = \"{until}us\"\nlayer = \"host\"\nshare = {share}\n{effect}")
    });
    let reconverge = pick(&["\"never\"", "\"0s\"", "\"100us\""]);
    let changes = prop::collection::vec(change, 0..5);
    (scenarios(), prop::option::weighted(0.7, pick(PORTS)), changes, reconverge).prop_map(
        |(text, ports, changes, reconverge)| {
            let (before, rest) = text.split_once("[queue]\n").expect("queues are told");
            let (queue, rest) = rest.split_once("[transport.t0]\n").expect("there is a transport");
            let queue = ports.unwrap_or(queue);
            let classes = queue.contains("class");
            let mut rest = rest.to_string();
            for (number, priority) in PRIORITIES.iter().enumerate().skip(1).filter(|_| classes) {
                let name = format!("[transport.t{number}]\n");
                rest = rest.replace(&name, &format!("{name}priority = {priority}\n"));
            }
            let priority = match (classes, queue.contains("priority")) {
                (true, _) => format!("priority = {}\n", PRIORITIES[0]),
                (false, true) => "priority = \"high\"\n".to_string(),
                (false, false) => String::new(),
            };
            let changes = changes.concat();
            let fails = changes.contains("state");
            let mut before = before.to_string();
            // Links of longer paths do not fail.
            let changes = if before.contains("kind = \"") && fails { String::new() } else { changes };
            let fails = changes.contains("state");
            if fails && !before.contains("[routing]\n") {
                before += "[routing]\n";
            }
            if fails {
                before = before.replace("[routing]\n", &format!("[routing]\nreconverge = {reconverge}\n"));
            }
            format!("{before}[queue]\n{queue}{changes}[transport.t0]\n{priority}{rest}")
        },
    )
}
