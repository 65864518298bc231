//! Several cables between two nodes: links of equal cost, each with its own name, queue and failures.

use crate::common::written::{differ, written};
use crate::common::{Run, run, scenario};

/// Four hosts at each of two switches, which `cables` cables of 1 Gbit/s join; the links of hosts have 10 Gbit/s.
fn pair(cables: usize, more: &str) -> String {
    let nodes: String = (0..8)
        .map(|i| format!("{{ id = \"h{i}\", kind = \"host\" }}, "))
        .chain(["a", "b"].map(|s| format!("{{ id = \"{s}\", kind = \"switch\" }}, ")))
        .collect();
    let host = |i: usize| format!("{{ source = \"h{i}\", target = \"{}\" }}, ", if i < 4 { "a" } else { "b" });
    let between = "{ source = \"a\", target = \"b\", rate = \"1Gbps\" }, ".repeat(cables);
    let edges: String = (0..8).map(host).collect();
    format!(
        "duration = \"40ms\"\ndrain = \"200ms\"\n[topology.graph]\nrate = \"10Gbps\"\ndelay = \"2us\"\nnodes = [{nodes}]\n\
         edges = [{edges}{between}]\n[queue]\nlimit = 100\nmark = 20\n{more}\n"
    )
}

/// So many flows without end from each of the hosts at a to the one opposite.
fn long(count: usize, transport: &str) -> String {
    let flow = |i: usize| {
        format!(
            "[[workload.flow]]\ntransport = \"t\"\nfrom = \"h{i}\"\nto = \"h{}\"\ncount = {count}\nstop = \"40ms\"\n",
            i + 4
        )
    };
    format!("[transport.t]\n{transport}\n{}", (0..4).map(flow).collect::<String>())
}

/// Gbit/s on each of the cables from a to b, on average over the first 40 ms.
fn rates(r: &Run, cables: usize) -> Vec<f64> {
    let name = |i| if cables == 1 { "a->b".to_string() } else { format!("a->b#{i}") };
    (0..cables).map(|i| r.link(&name(i)).measured.bytes as f64 * 8.0 / 40e6).collect()
}

/// Whatever chooses the link, n cables of 1 Gbit/s are full, and no packet is lost sight of.
#[test]
fn cables_carry_their_rates_together() {
    for (routing, transport) in [
        ("kind = \"ecmp\"", "control = \"dctcp\""),
        ("kind = \"spray\"", "control = \"dctcp\""),
        ("kind = \"adaptive\"", "control = \"dctcp\""),
        ("kind = \"flowlets\"\ngap = \"50us\"", "control = \"dctcp\""),
        ("weights = \"capacity\"", "control = \"dctcp\""),
    ] {
        for cables in [1, 2, 3] {
            let r = run(&pair(cables, &format!("[routing]\n{routing}\n{}", long(8, transport))));
            let rates = rates(&r, cables);
            assert!(rates.iter().all(|rate| (0.9..=1.0).contains(rate)), "{routing}, {cables} cables: {rates:?}");
            let back: u64 = (0..cables)
                .map(|i| if cables == 1 { "b->a".to_string() } else { format!("b->a#{i}") })
                .map(|name| r.link(&name).stats.packets)
                .sum();
            assert_eq!(back, (0..4).map(|i| r.link(&format!("a->h{i}")).stats.packets).sum::<u64>());
        }
    }
}

/// A flow of one subflow takes one cable, and one of two subflows with disjoint paths takes both.
#[test]
fn a_subflow_has_one_cable() {
    let one = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h4\"\nstop = \"40ms\"\n";
    let r = run(&pair(2, &format!("[transport.t]\ncontrol = \"dctcp\"\n{one}")));
    let mut rates_of_one = rates(&r, 2);
    rates_of_one.sort_by(f64::total_cmp);
    assert!(rates_of_one[0] == 0.0 && rates_of_one[1] > 0.9, "{rates_of_one:?}");
    // The hosts of this topology have one NIC, which both subflows share.
    let two = "[transport.t]\ncontrol = \"xmp\"\nsubflows = 2\npaths = \"disjoint\"\n";
    let r = run(&pair(2, &format!("{two}{one}")));
    assert!(rates(&r, 2).iter().all(|rate| *rate > 0.85), "{:?}", rates(&r, 2));
}

/// Two NICs of a host at one switch.
#[test]
fn a_host_may_have_two_cables_to_its_switch() {
    let text = pair(
        2,
        "[transport.t]\ncontrol = \"xmp\"\nsubflows = 2\npaths = \"disjoint\"\n\
                        [[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h4\"\nsize = \"5MB\"\n",
    )
    .replace(
        "{ source = \"h0\", target = \"a\" }, ",
        "{ source = \"h0\", target = \"a\", rate = \"1Gbps\" }, ".repeat(2).as_str(),
    );
    let r = run(&text);
    assert!(r.flow(0).finished.is_some());
    let [one, two] = ["h0->a#0", "h0->a#1"].map(|name| r.link(name).stats.bytes as f64);
    assert!(one + two > 5e6 && one.min(two) > 2e6, "{one} {two}");
}

/// A path names a cable with the node to which it leads.
#[test]
fn a_path_names_its_cable() {
    for cable in 0..3 {
        let paths = format!("paths = [[\"h0\", \"a\", \"b#{cable}\", \"h4\"]]");
        let flow =
            format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"h0\"\nto = \"h4\"\nsize = \"100KB\"\n{paths}\n");
        let r = run(&pair(3, &format!("[transport.t]\ncontrol = \"reno\"\n{flow}")));
        let packets = |from: &str, to: &str| [0, 1, 2].map(|i| r.link(&format!("{from}->{to}#{i}")).stats.packets > 0);
        let only = [0, 1, 2].map(|i| i == cable);
        assert_eq!((packets("a", "b"), packets("b", "a")), (only, only));
    }
}

/// One cable of two fails: what was on its way is lost there, and afterwards all take the other; `a->b` is both.
#[test]
fn a_cable_fails_by_its_name() {
    let change = |links: &str| {
        format!("[routing]\nreconverge = \"1ms\"\n[[change]]\nat = \"10ms\"\nlinks = [\"{links}\"]\nstate = \"down\"\n")
    };
    let r = run(&pair(2, &format!("{}{}", change("a<->b#1"), long(4, "control = \"dctcp\""))));
    let rates = rates(&r, 2);
    assert!(rates[0] > 0.85 && rates[1] < 0.27, "{rates:?}");
    let lost = |name: &str| r.link(name).stats.rare.drops_down > 0;
    assert_eq!(["a->b#0", "a->b#1", "b->a#0", "b->a#1"].map(lost), [false, true, false, true]);
    let both = run(&pair(2, &format!("{}{}", change("a->b"), long(4, "control = \"dctcp\""))));
    assert!(["a->b#0", "a->b#1"].iter().all(|name| both.link(name).stats.rare.drops_down > 0));
    assert_eq!(both.link("b->a#0").stats.rare.drops_down, 0);
}

/// Series, captures and weights of one cable, on two threads.
#[test]
fn two_threads_write_the_same_bytes() {
    for routing in ["kind = \"spray\"", "link = [{ name = \"a->b#1\", weight = 3 }]", "kind = \"adaptive\""] {
        let record = "[record]\nqueue = { links = [\"a->b#1\", \"b->a\"], every = \"100us\" }\n\
                      counters = { links = [\"a<->b#2\"], every = \"1ms\" }\n\
                      capture = { links = [\"a->b#0\"], until = \"2ms\" }\n";
        let s = scenario(&pair(3, &format!("[routing]\n{routing}\n{record}{}", long(3, "control = \"dctcp\""))));
        let one = written(&s, 1);
        assert!(one["queue.parquet"].len() > 2_000, "four queues are sampled");
        assert_eq!(differ(&one, &written(&s, 2)), Vec::<String>::new(), "{routing}");
    }
}
