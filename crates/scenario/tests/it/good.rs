//! What good scenarios mean.

use linkpool_network::topology::{self, ManyToOne};
use linkpool_network::{Exempt, Layer, Loss, MarkWhen, NonEct, Order, QueueLimit, Trimming};
use linkpool_scenario::{
    Algorithm, ChangedLinks, Control, Draw, LinkState, Paths, Preset, Record, Scenario, Subflows, Topology,
    WorkloadKind, load,
};
use linkpool_settings::Settings;
use linkpool_transport::control::{ControlConfig, Release};
use linkpool_transport::uet::{Average, Unit, WithoutSample};
use linkpool_units::{Rate, Time};
use linkpool_workload::kinds::{Destinations, Flow, Incast, ManyToOneFlows};
use linkpool_workload::{Cdf, Interpolation, Sizes};

fn good(text: &str) -> Scenario {
    load(text, "dir/some name.toml", None, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

const INCAST: &str = r#"
duration = "20s"
[topology.many-to-one]
senders = 30
rate = "10Gbps"
delay = "2us"
[transport.amp]
control = "amp"
[[workload.incast]]
transport = "amp"
senders = 30
receiver = "R"
size = "128KiB"
every = "1s"
"#;

#[test]
fn what_is_left_out_has_its_default() {
    let scenario = good(INCAST);
    assert_eq!(scenario.name, "some name");
    assert_eq!((scenario.seed, scenario.drain, scenario.end()), (1, Time::ZERO, Time::from_secs(20)));
    let drawn = ManyToOne { senders: 30, rate: Rate::gbps(10), delay: Time::from_us(2) };
    assert_eq!(scenario.topology, Topology::Drawn(topology::Topology::ManyToOne(drawn)));
    assert_eq!(scenario.queue.limit, QueueLimit::Packets(100));
    assert_eq!((scenario.queue.mark, scenario.queue.mark_when), (None, MarkWhen::AtLeast));
    assert_eq!((scenario.queue.non_ect, scenario.queue.count_in_service), (NonEct::Queue, false));
    assert!(scenario.queue.exempt.is_empty());
    let amp = &scenario.transports[0];
    assert_eq!(
        (amp.preset, amp.control, amp.subflows, amp.config.mss),
        (Preset::Linux, Control::Tcp(Algorithm::Amp), Subflows::Count(1), 1_448)
    );
    let workload = &scenario.workloads[0];
    assert_eq!((workload.label.as_str(), workload.transport, workload.start), ("incast", 0, Time::ZERO));
    assert_eq!(
        workload.kind,
        WorkloadKind::Incast(Incast {
            senders: 30,
            receiver: 30.into(),
            size: Sizes::Constant(131_072),
            every: Time::from_secs(1),
            bursts: 20,
            spacing: Time::ZERO
        })
    );
    assert_eq!(scenario.record, Record::defaults(Preset::Linux));
}

#[test]
fn a_preset_sets_the_defaults_and_keys_override_it() {
    let text = INCAST.replace("control", "preset = \"paper-2013\"\nmss = \"1KB\"\ncontrol");
    let amp = &good(&text).transports[0];
    assert_eq!((amp.preset, amp.config.mss, amp.wire.header, amp.wire.ack_size), (Preset::Paper2013, 1_000, 62, 42));
    assert_eq!((amp.config.initial_window, amp.config.initial_ssthresh), (1, 65_535));
    assert_eq!((amp.config.join_jitter, amp.config.handshake_sample), (Time::from_us(49), false));
    // NDP has defaults of its own.
    let ndp = &good(&INCAST.replace("control = \"amp\"", "preset = \"paper-2013\"\ncontrol = \"ndp\"")).transports[0];
    assert_eq!((ndp.preset, ndp.config.mss, ndp.wire.header), (Preset::Paper2013, 8_936, 64));
}

/// The windows of UET and RoCE follow from the NICs of servers, whatever their GPUs have inside.
#[test]
fn what_servers_have_inside_sets_no_window() {
    let with = |nvlink: &str, control: &str| {
        let text = format!(
            "duration = \"1ms\"\n[topology.gpu-servers]\ngroups = 2\nservers_per_group = 2\ngpus = 4\nspines = 2\nnvlink_rate = \"{nvlink}\"\n\
             nvlink_delay = \"150ns\"\nrate = \"400Gbps\"\ndelay = \"500ns\"\n[queue]\nlimit = \"1MB\"\ndiscipline = \"trimming\"\n[transport.t]\n\
             control = \"uet\"\n{control}\n[[workload.permutation]]\ntransport = \"t\"\n"
        );
        good(&text).transports[0].clone()
    };
    for control in ["", "sender_law = \"nscc\""] {
        assert_eq!(with("400Gbps", control), with("3.6Tbps", control), "{control}");
    }
}

#[test]
fn every_spelling_of_a_value_is_read() {
    let text = INCAST
        .replace(
            "[topology",
            "[queue]\nlimit = \"150KB\"\nmark = \"30 KB\"\nmark_when = \">\"\nnon_ect = \"drop\"\n\
             count_in_service = true\nexempt = [\"ack\", \"syn\", \"ack\", \"fin\"]\n[topology",
        )
        .replace(
            "control = \"amp\"",
            "control = \"amp\"\npaths = \"distinct\"\nrelease = \"acks\"\ninitial_ssthresh = \"unlimited\"\nbeta = 3\n\
             [transport.xmp]\ncontrol = \"xmp\"\nssthresh_after_cut = \"w-1\"\n\
             [transport.old]\ncontrol = \"reno\"\nsubflows = 1",
        );
    let scenario = good(&text);
    assert_eq!(scenario.queue.limit, QueueLimit::Bytes(150_000));
    assert_eq!(scenario.queue.mark, Some(QueueLimit::Bytes(30_000)));
    assert_eq!((scenario.queue.mark_when, scenario.queue.non_ect), (MarkWhen::Above, NonEct::Drop));
    assert!(scenario.queue.count_in_service);
    assert_eq!(scenario.queue.exempt, [Exempt::Syn, Exempt::Fin, Exempt::Ack].into());
    let [amp, xmp, old] = &scenario.transports[..] else { panic!("{:?}", scenario.transports) };
    assert_eq!((amp.name.as_str(), xmp.name.as_str(), old.name.as_str()), ("amp", "xmp", "old"));
    let ControlConfig::Amp(config) = &amp.config.control else { panic!("{amp:?}") };
    assert_eq!((amp.paths.rule, config.release, config.cut.beta), (Paths::Distinct, Release::Acks, 3.0));
    assert!(matches!(&xmp.config.control, ControlConfig::Xmp(config) if config.ssthresh_below));
}

#[test]
fn hosts_go_by_name_or_index() {
    let flows = "[[workload.flow]]\ntransport = \"amp\"\nfrom = \"S2\"\nto = 30\nstop = \"30s\"\n\
                 [[workload.flow]]\ntransport = \"amp\"\nfrom = 0\nto = \"R\"\nsize = \"1B\"\nlabel = \"x\"\ncount = 3\n";
    let scenario = good(&format!("{INCAST}{flows}"));
    let kinds: Vec<_> = scenario.workloads.iter().map(|w| (w.label.as_str(), w.kind.clone())).collect();
    let end = Time::from_secs(20);
    let (from, to) = (1.into(), 30.into());
    let first = Flow { from, to, size: None, stop: Time::from_secs(30), count: 1, priority: None, paths: None };
    let second =
        Flow { from: 0.into(), to, size: Some(Sizes::Constant(1)), stop: end, count: 3, priority: None, paths: None };
    assert_eq!(kinds[..2], [("flow", WorkloadKind::Flow(first)), ("x", WorkloadKind::Flow(second))]);
    assert_eq!(kinds[2].0, "incast");
}

#[test]
fn only_whole_bursts_start_by_default() {
    let bursts = |keys: &str| match &good(&INCAST.replace("every = \"1s\"", keys)).workloads[0].kind {
        WorkloadKind::Incast(incast) => (incast.bursts, incast.every),
        _ => unreachable!(),
    };
    let second = Time::from_secs(1);
    assert_eq!(bursts("every = \"1s\"\nstart = \"19.9s\""), (1, second));
    assert_eq!(bursts("every = \"1s\"\nspacing = \"10ms\""), (20, second));
    assert_eq!(bursts("every = \"1s\"\nspacing = \"40ms\""), (19, second));
    assert_eq!(bursts("every = \"1s\"\nbursts = 3"), (3, second));
    assert_eq!(bursts("every = \"20s\""), (1, Time::from_secs(20)));
    assert_eq!(bursts("bursts = 1"), (1, Time::from_secs(20)));
}

#[test]
fn the_end_of_the_run_ends_what_names_no_end() {
    let text = format!(
        "drain = \"5s\"\n{INCAST}[[workload.permutation]]\ntransport = \"amp\"\n\
         [[workload.poisson]]\ntransport = \"amp\"\nflows_per_second = 10\nsize = \"1KB\"\n\
         [[workload.many-to-one]]\ntransport = \"amp\"\nflows = 2\nreceiver = \"R\"\n\
         [record]\ncwnd = {{ every = \"1ms\" }}\nrate = {{ every = \"1ms\", until = \"2s\", labels = [\"incast\"] }}\n\
         queue = {{ every = \"1us\", from = \"1s\", links = [\"W->R\", \"S3 -> W\"] }}\n"
    );
    let scenario = good(&text);
    let (duration, end) = (Time::from_secs(20), Time::from_secs(25));
    assert_eq!(scenario.end(), end);
    assert_eq!(
        scenario.workloads[1].kind,
        WorkloadKind::ManyToOne(ManyToOneFlows {
            flows: 2,
            first: 0,
            receiver: 30.into(),
            size: None,
            stop: end,
            spacing: Time::ZERO
        })
    );
    let WorkloadKind::Permutation(permutation) = &scenario.workloads[2].kind else { panic!("a permutation") };
    assert_eq!((permutation.flows.stop, permutation.flows.jitter), (end, Time::ZERO));
    assert_eq!((&permutation.flows.size, permutation.flows.repeat), (&None, None));
    let WorkloadKind::Poisson(poisson) = &scenario.workloads[3].kind else { panic!("arrivals") };
    assert_eq!((poisson.rate(), poisson.to, poisson.stop), (10.0, Destinations::Random, duration));
    let queue = scenario.record.queue.unwrap();
    assert_eq!((queue.from, queue.until), (Time::from_secs(1), end));
    let link = |from: &str, to: &str| (from.to_string(), to.to_string());
    assert_eq!(queue.links, [link("W", "R"), link("S3", "W")]);
    assert_eq!(scenario.record.cwnd.unwrap().labels, None);
    let rate = scenario.record.rate.unwrap();
    assert_eq!((rate.until, rate.labels), (Time::from_secs(2), Some(vec!["incast".to_string()])));
}

#[test]
fn queues_may_be_limited_in_one_unit_and_marked_in_the_other() {
    let queue = |keys: &str| load(&INCAST.replace("[topology", &format!("[queue]\n{keys}\n[topology")), "x", None, &[]);
    assert!(queue("limit = \"4MB\"\nmark = 65").is_ok());
    assert!(queue("limit = 100\nmark = \"30KB\"").is_ok());
    assert!(queue("limit = 100\nmark = 100").is_ok());
    assert!(queue("mark = 0\nmark_when = \">\"").is_ok());
}

fn sizes(size: &str) -> Sizes {
    match good(&INCAST.replace("\"128KiB\"", size)).workloads.remove(0).kind {
        WorkloadKind::Incast(incast) => incast.size,
        _ => unreachable!(),
    }
}

#[test]
fn sizes_may_be_drawn() {
    assert_eq!(sizes("{ uniform = [\"1KB\", \"1MB\"] }"), Sizes::Uniform { min: 1_000, max: 1_000_000 });
    assert_eq!(
        sizes("{ pareto = { shape = 1.5, mean = \"192MB\" } }"),
        Sizes::Pareto { shape: 1.5, mean: 192e6, max: None }
    );
    let cdf = sizes("{ cdf = \"websearch_dctcp\", interpolation = \"stair\" }");
    let table = Cdf::named("websearch_dctcp").unwrap().into();
    assert_eq!(cdf, Sizes::Cdf { table, interpolation: Interpolation::Stair });
    let points = sizes("{ cdf = [[0, 0], [100, 0.5], [200, 1]], interpolation = \"linear\", name = \"mine\" }");
    assert_eq!((points.name().as_str(), points.mean()), ("mine", 100.0));
}

#[test]
fn a_load_is_a_share_of_the_hosts_links() {
    let poisson = |keys: &str| {
        let text = format!("{INCAST}[[workload.poisson]]\ntransport = \"amp\"\nsize = \"1MB\"\n{keys}\n");
        match &good(&text).workloads[1].kind {
            WorkloadKind::Poisson(poisson) => poisson.rate(),
            _ => unreachable!(),
        }
    };
    // 31 hosts of 10 Gbit/s.
    assert!((poisson("load = 0.5") - 0.5 * 31.0 * 10e9 / 8e6).abs() < 1e-6);
    assert!((poisson("load = 2\nallow_overload = true") - 2.0 * 31.0 * 10e9 / 8e6).abs() < 1e-6);
    assert_eq!(poisson("flows_per_second_per_host = 10"), 310.0);
    // 310 flows of 8 Mbit a second are 0.8% of what 31 hosts of 10 Gbit/s send.
    assert_eq!(poisson("flows_per_second = 310\nload = 0.008"), 310.0);
    assert_eq!(poisson("flows_per_second_per_host = 10\nload = 0.00799"), 310.0);
    assert_eq!(poisson("flows_per_second = 1e5\nallow_overload = true"), 1e5);
}

#[test]
fn a_table_of_sizes_may_be_a_file() {
    let directory = std::env::temp_dir().join(format!("linkpool-sizes-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("scenario.toml");
    let read = |table: &str| {
        std::fs::write(directory.join("sizes.txt"), table).unwrap();
        let text = INCAST.replace("\"128KiB\"", "{ cdf = \"sizes.txt\", interpolation = \"linear\" }");
        load(&text, path.to_str().unwrap(), None, &[])
    };
    let scenario = read("# mine\n0 0\n1000 0.5\n3000 1\n").unwrap();
    assert_eq!(load(&scenario.to_toml(), "elsewhere.toml", None, &[]).unwrap().workloads, scenario.workloads);
    let errors = read("# mine\n0 0\n1000 0.5\n900 1\n").unwrap_err();
    assert_eq!((errors[0].key.as_str(), errors[0].line), ("workload.incast.0.size.cdf", Some(13)));
    assert!(errors[0].message.starts_with("sizes.txt:4: the size 900 is below"), "{}", errors[0].message);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn links_may_change() {
    let text = format!(
        "{INCAST}[routing]\nreconverge = \"10ms\"\n\
         [[change]]\nat = \"1s\"\nuntil = \"2s\"\nlinks = [\"S1<->W\", \"W->R\"]\nstate = \"down\"\n\
         [[change]]\nnodes = [\"S2\"]\nrate = \"1Gbps\"\nlimit = \"15KB\"\n\
         [[change]]\nlayer = \"switch\"\nshare = 0.5\nburst_loss = {{ to_bad = 0.01, to_good = 0.25 }}\n"
    );
    let scenario = good(&text);
    assert_eq!(scenario.reconverge(), Some(Time::from_ms(10)));
    let [down, slow, lossy] = &scenario.changes[..] else { panic!("{:?}", scenario.changes) };
    let link = |from: &str, to: &str| (from.to_string(), to.to_string());
    assert_eq!(down.changed(), ChangedLinks::Listed(&[link("S1", "W"), link("W", "S1"), link("W", "R")]));
    assert_eq!((down.at, down.until), (Time::from_secs(1), Some(Time::from_secs(2))));
    assert_eq!((down.state, down.rate, down.losses()), (Some(LinkState::Down), None, None));
    assert_eq!((slow.at, slow.until), (Time::ZERO, None));
    assert_eq!(slow.changed(), ChangedLinks::OfNodes(&["S2".to_string()]));
    assert_eq!((slow.rate, slow.limit), (Some(Rate::gbps(1)), Some(QueueLimit::Bytes(15_000))));
    assert_eq!((lossy.changed(), lossy.draw()), (ChangedLinks::OfLayer(Layer::Switch), Some(Draw::Share(0.5))));
    assert_eq!(lossy.losses(), Some(Loss { in_good: 0.0, in_bad: 1.0, to_bad: 0.01, to_good: 0.25 }));
}

/// A change of limits is refused where it concerns a port without one, and nowhere else. NDP paper,
/// section 3.1: eight packets of data, as much memory for headers, ten headers for one data packet;
/// hosts trim nothing.
#[test]
fn trimming_has_the_papers_values() {
    let text = "duration = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
                [queue]\ndiscipline = \"trimming\"\n[transport.t]\ncontrol = \"reno\"\nmss = \"1000B\"\nheader = \"90B\"\n\
                [[workload.permutation]]\ntransport = \"t\"\n";
    let scenario = load(text, "x", None, &[]).unwrap();
    let switches = Trimming {
        headers: Some(QueueLimit::Bytes(8 * 1090)),
        share: 10,
        trim_arriving: 0.5,
        return_to_sender: true,
        mark_min: None,
        mark_max: None,
    };
    assert_eq!((scenario.queue.limit, scenario.queue.order), (QueueLimit::Packets(8), Order::Trimming(switches)));
    let [(Layer::Host, hosts)] = &scenario.layer_queues[..] else { panic!("{:?}", scenario.layer_queues) };
    let unlimited = Trimming { headers: Some(QueueLimit::Packets(u32::MAX)), return_to_sender: false, ..switches };
    assert_eq!((hosts.limit, hosts.order), (QueueLimit::Packets(u32::MAX), Order::Trimming(unlimited)));
}

#[test]
fn limits_change_where_ports_have_them() {
    let with = |of: &str| {
        let text = format!(
            "duration = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
             [queue.layer.edge]\nshared_buffer = {{ size = \"4MB\" }}\n[transport.t]\ncontrol = \"reno\"\n\
             [[workload.permutation]]\ntransport = \"t\"\n[[change]]\nlimit = 10\n{of}\n"
        );
        load(&text, "x", None, &[])
    };
    for of in ["layer = \"core\"", "links = [\"a0.0->e0.0\", \"h0->e0.0\"]", "nodes = [\"c1\"]"] {
        assert_eq!(with(of).unwrap().changes[0].limit, Some(QueueLimit::Packets(10)), "{of}");
    }
    for (of, link) in [
        ("layer = \"aggregation\"", "e0.0->a0.0"),
        ("links = [\"a0.0<->e0.0\"]", "e0.0->a0.0"),
        ("nodes = [\"h3\"]", "e0.1->h3"),
    ] {
        let errors = with(of).unwrap_err();
        assert_eq!((errors.len(), errors[0].key.as_str()), (1, "change.0.limit"), "{errors:#?}");
        assert!(errors[0].message.contains(&format!("the port of {link} has no `limit`")), "{errors:#?}");
    }
}

/// Of a fat-tree with k = 4: aggregation switch 3 is the second of pod 1, and its links go to cores
/// 2 and 3.
#[test]
fn failures_of_a_connection_matrix_are_changes() {
    let directory = std::env::temp_dir().join(format!("linkpool-failures-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let with = |failure: &str, routing: &str| {
        let matrix = format!("0->1 id 1 start 0 size 9\nfailure switch_type AGG {failure}\n");
        std::fs::write(directory.join("x.cm"), matrix).unwrap();
        let text = format!(
            "duration = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n[routing]\n{routing}\n\
             [transport.t]\ncontrol = \"reno\"\n[[workload.trace]]\ntransport = \"t\"\nfile = \"x.cm\"\nformat = \"htsim\"\n"
        );
        load(&text, directory.join("x.toml").to_str().unwrap(), None, &[])
    };
    let scenario = with("switch_id 3 link_id 1", "reconverge = \"0s\"").unwrap();
    let link = |from: &str, to: &str| (from.to_string(), to.to_string());
    assert_eq!(scenario.changes.len(), 1);
    assert_eq!(scenario.changes[0].changed(), ChangedLinks::Listed(&[link("a1.1", "c3"), link("c3", "a1.1")]));
    assert_eq!((scenario.changes[0].state, scenario.changes[0].at), (Some(LinkState::Down), Time::ZERO));
    assert_eq!(load(&scenario.to_toml(), "x", None, &[]).unwrap(), scenario);
    for (failure, routing, key, why) in [
        ("switch_id 3 link_id 1", "", "routing.reconverge", "links fail"),
        ("switch_id 8 link_id 1", "", "workload.trace.0.file", "x.cm:2: there is no aggregation switch 8"),
        ("switch_id 3 link_id 2", "", "workload.trace.0.file", "x.cm:2: a1.1, aggregation switch 3, has no link 2"),
    ] {
        let errors = with(failure, routing).unwrap_err();
        assert_eq!((errors.len(), errors[0].key.as_str()), (1, key), "{errors:#?}");
        assert!(errors[0].message.contains(why), "{errors:#?}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

/// Of 31 hosts all have the role, so that none is left to send.
#[test]
fn somebody_must_be_left_to_send() {
    let workload = |hosts: u32| {
        format!(
            "roles = {{ long = {hosts} }}\n{INCAST}[[workload.poisson]]\ntransport = \"amp\"\nsize = \"1MB\"\n\
             flows_per_second_per_host = 10\nrole = \"others\"\n"
        )
    };
    let errors = load(&workload(31), "x", None, &[]).unwrap_err();
    assert_eq!((errors.len(), errors[0].key.as_str()), (1, "workload.poisson.0.role"), "{errors:#?}");
    let WorkloadKind::Poisson(poisson) = good(&workload(30)).workloads.remove(1).kind else { unreachable!() };
    assert_eq!(poisson.rate(), 10.0);
}

/// The oversubscription that credit heeds without a window: all hosts beside the tier that carries
/// least. Twelve hosts under two links are six to one; a bottleneck between switches of one tier is
/// none.
#[test]
fn the_network_tells_credit_how_oversubscribed_it_is() {
    let of = |topology: &str, more: &str| {
        let text = format!(
            "duration = \"1s\"\n[topology.{topology}\ndelay = \"2us\"\n[queue]\ndiscipline = \"trimming\"\nlimit = 100\n\
             [transport.t]\ncontrol = \"uet\"\n{more}\n[[workload.permutation]]\ntransport = \"t\"\nsize = \"1MB\"\n"
        );
        good(&text).transports[0].own.uet.oversubscription
    };
    let credit = "receiver_credit = true\nsender_law = \"none\"";
    let tree = "fat-tree]\nk = 4\nrate = \"10Gbps\"\nhosts_per_edge = 8";
    assert_eq!(of(tree, credit), Some(4.0));
    assert_eq!(of(tree, &format!("{credit}\noversubscription = 3")), Some(3.0));
    assert_eq!(of(tree, "receiver_credit = true"), Some(1.0), "a window heeds it");
    assert_eq!(of(tree, ""), None);
    assert_eq!(of("fat-tree]\nk = 4\nrate = \"10Gbps\"", credit), Some(1.0));
    let leaves = "leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 12\nrate = \"10Gbps\"";
    assert_eq!(of(leaves, credit), Some(6.0));
    assert_eq!(of("dumbbell]\npairs = 4\nrate = \"10Gbps\"\nbottleneck_rate = \"10Gbps\"", credit), Some(1.0));
}

/// What a UET transport leaves out follows from the network: here 30 senders at one switch, 10 Gb/s
/// and 2 us a link. A packet of 4,160 B and an ACK of 64 B take 2 (3,328 + 51.2) ns and 8 us; 15 us
/// and 6 queues of 100 packets at 10 Gb/s are the timeout. The scenario as run has it all, and
/// loads.
#[test]
fn the_network_completes_uet() {
    let trimming = "discipline = \"trimming\"\nlimit = 100";
    let text = |more: &str| {
        format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = 30\nrate = \"10Gbps\"\ndelay = \"2us\"\n[queue]\n\
             {trimming}\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n[transport.t]\n\
             control = \"uet\"\n{more}\n"
        )
    };
    let uet = |more: &str| good(&text(more)).transports[0].own.uet;
    let found = uet("");
    assert_eq!(found.base_rtt, Some(Time::from_ns(8_000) + Time(2 * 3_379_200)));
    assert_eq!((found.host_rate, found.rto), (Some(Rate::gbps(10)), Some(Time::from_us(15) + Time(600 * 4_160 * 800))));
    let said = uet("base_rtt = \"5us\"\nrto = \"1ms\"\nhost_rate = \"40Gbps\"");
    assert_eq!((said.base_rtt, said.rto), (Some(Time::from_us(5)), Some(Time::from_ms(1))));
    assert_eq!(said.host_rate, Some(Rate::gbps(40)));
    // Four ports of 10 Gb/s are a host of 40 Gb/s, and each of their queues leaves at 10 Gb/s.
    let planes = "[topology.multi-plane]\nplanes = 4\nleaves = 1\nspines = 0\nhosts_per_leaf = 4\nrate";
    let planes = text("")
        .replace("[topology.many-to-one]\nsenders = 30\nrate", planes)
        .replace("S1", "h0")
        .replace("\"R\"", "\"h1\"");
    let planes = good(&planes).transports[0].own.uet;
    assert_eq!((planes.host_rate, planes.rto), (Some(Rate::gbps(40)), found.rto));
    // At ports with classes the queue is that of its own class: of 8 packets, of 50, of 100 as
    // `[queue]` says. Nothing is lost in one that is lossless.
    let by_class = |priority: u8, class: &str| {
        let classes = format!(
            "limit = 100\nclass = [{{ priorities = [4], {class} }}, {{ priorities = [3], limit = 50 }}, {{ priorities = [6] }}]\n\
             [queue.pfc]\nbuffer = \"9MB\"\n"
        );
        let pausing = class.contains("lossless");
        let classes = if pausing { classes } else { classes.replace("[queue.pfc]\nbuffer = \"9MB\"\n", "") };
        let text = text(&format!("priority = {priority}\ntrimmable = {}", !pausing)).replace(trimming, &classes);
        good(&text).transports[0].own.uet.rto
    };
    let of_packets = |packets: u64| Some(Time::from_us(15) + Time(6 * packets * 4_160 * 800));
    let trims = "limit = 8, trim = true";
    assert_eq!([4, 3, 6, 0].map(|priority| by_class(priority, trims)), [8, 50, 100, 100].map(of_packets));
    assert_eq!(
        [4, 3].map(|priority| by_class(priority, "lossless = true")),
        [Some(Time::from_us(100)), of_packets(50)]
    );
    // With a weight of 2 beside 1 and 1, which is that of no class, half of the link is its own.
    let weights = "class = [{ priorities = [4], weight = 2, limit = 8 }, { priorities = [3], weight = 1 }, { priorities = [5] }]\n";
    let by_weight = |priority: u8| {
        let text = text(&format!("priority = {priority}\ntrimmable = false")).replace(trimming, weights);
        good(&text).transports[0].own.uet.rto
    };
    assert_eq!([4, 3, 0, 5].map(by_weight), [2 * 8, 4 * 100, 4 * 100, 100].map(of_packets));
    let rules = uet("nscc_rules = \"spec-1.0.3\"\nnscc_losses_ignored = false").nscc;
    assert_eq!((rules.unit, rules.average, rules.without_sample), (Unit::Mtu, Average::BaseRtt, WithoutSample::Hold));
    assert_eq!((rules.at_end, rules.nacks_lower_rtt, rules.losses_ignored), (true, false, false));
    let htsim = found.nscc;
    assert_eq!((htsim.unit, htsim.average, htsim.without_sample), (Unit::Mss, Average::Gain, WithoutSample::Average));
    assert_eq!((htsim.at_end, htsim.nacks_lower_rtt, htsim.losses_ignored), (false, true, false));
    let scenario = good(&text("nscc_target = \"7us\""));
    assert_eq!(good(&scenario.to_toml()), scenario);
}

/// Connections of TCP may stay open from message to message; NDP has none.
#[test]
fn messages_share_connections_where_the_transport_has_them() {
    let persistent = |control: &str| {
        let text = INCAST.replace("control = \"amp\"", &format!("control = {control:?}"))
            + "[[workload.collective]]\ntransport = \"amp\"\nalgorithm = \"ring-all-reduce\"\nsize = \"1MB\"\n";
        let scenario = good(&text);
        let WorkloadKind::Collective(collective) = scenario.workloads[1].kind else { panic!("{scenario:?}") };
        collective.persistent
    };
    assert!(persistent("amp") && !persistent("ndp"));
}

#[test]
fn the_threshold_follows_the_paths_where_packets_scatter() {
    for keys in
        ["paths = \"scatter\"", "paths = \"reps\"", "control = \"mmptcp\"\nswitch_bytes = \"1KB\"\nsubflows = 4"]
    {
        let control = if keys.starts_with("control") { keys.to_string() } else { format!("control = \"amp\"\n{keys}") };
        let text = INCAST.replace("control = \"amp\"", &format!("{control}\ndupack_threshold = \"auto\""));
        let transport = &good(&text).transports[0];
        let first = "discipline = \"priority\"\n";
        if !keys.contains("reps") {
            let high = text.replace("[topology", &format!("[queue]\n{first}[topology"));
            good(&high.replace("dupack_threshold", "priority = \"scatter\"\ndupack_threshold"));
        }
        // MMPTCP's first phase has a subflow of its own.
        assert_eq!(transport.config.subflows, if transport.is_mmptcp() { 5 } else { 1 });
    }
}

#[test]
fn answers_have_the_label_and_requests_say_that_they_are() {
    let text =
        format!("{INCAST}[[workload.partition-aggregate]]\ntransport = \"amp\"\nservers = 2\nlabel = \"search\"\n");
    let scenario = good(&text);
    let labels: Vec<_> = scenario.workloads.iter().map(|workload| workload.labels()).collect();
    let [first, second, answers] = ["incast", "search request", "search"].map(str::to_string);
    assert_eq!(labels, [(first, None), (second, Some(answers))]);
}
