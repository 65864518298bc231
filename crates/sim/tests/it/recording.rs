//! Records agree with the counters, and with values that are known beforehand.

use crate::common::{Run, run};
use linkpool_network::{LinkId, OnWire, RareEvents};
use linkpool_sim::{FlowId, Sample, Value};
use linkpool_transport::SubflowId;
use linkpool_units::{Rate, Time};

/// Ten senders into one port, which drops and marks.
fn incast(record: &str) -> Run {
    run(&format!(
        "duration = \"2ms\"\ndrain = \"400ms\"\n[topology.many-to-one]\nsenders = 10\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [queue]\nlimit = 30\nmark = 10\n[transport.t]\ncontrol = \"lia\"\nsubflows = 2\n[transport.d]\ncontrol = \"xmp\"\nsubflows = 2\ninitial_window = 1\nack_every = 1\n\
         [[workload.incast]]\ntransport = \"t\"\nsenders = 5\nreceiver = \"R\"\nsize = \"100KB\"\nevery = \"1ms\"\nstart = \"0.4ms\"\n\
         [[workload.many-to-one]]\ntransport = \"d\"\nflows = 5\nfirst = 5\nreceiver = \"R\"\nstop = \"2ms\"\nlabel = \"few\"\n\
         [record]\n{record}"
    ))
}

#[test]
fn counters_of_intervals_add_up_to_those_of_the_run() {
    let r = incast("counters = { every = \"70us\" }\n");
    let every = Time::from_us(70);
    let mut sums = vec![(0, 0, RareEvents::default(), Time::ZERO); r.outcome.links.len()];
    for sample in &r.samples {
        let Value::Counters { link, since, packets, bytes, ref rare, sent, .. } = sample.value else {
            panic!("{sample:?}")
        };
        let (accepted, sum, events, last) = &mut sums[link.index()];
        assert_eq!(since, *last, "without a gap");
        assert!(sample.at == since + every || sample.at == r.outcome.simulated);
        // 10 Gbit/s, to parts of bytes; whole bytes may be one more.
        let could = OnWire::at_rate(Rate::gbps(10), sample.at - since);
        assert!(sent <= could && bytes <= could.bytes() + 1);
        *accepted += packets;
        *sum += bytes;
        events.drops += rare.drops;
        events.drop_bytes += rare.drop_bytes;
        events.marks += rare.marks;
        *last = sample.at;
    }
    for (counted, whole) in sums.iter().zip(&r.outcome.links) {
        assert_eq!(*counted, (whole.stats.packets, whole.sent_bytes, whole.stats.rare, r.outcome.simulated));
    }
    let bottleneck = r.link("W->R").stats.rare;
    assert!(bottleneck.drops > 0 && bottleneck.marks > 0, "{bottleneck:?}");
}

/// By link of a flow at line rate over a dumbbell: what it sent in each interval of 100 ns, as a share of what it could
/// have sent.
fn shares(rate: &str, ports: &str, link: &str) -> Vec<f64> {
    let r = run(&format!(
        "duration = \"40us\"\ndrain = \"0s\"\n[topology.dumbbell]\npairs = 1\nrate = \"{rate}\"\ndelay = \"1us\"\n[queue]\nlimit = 1000\n{ports}\n\
         [transport.t]\ncontrol = \"reno\"\ninitial_window = 100\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"D1\"\nsize = \"1MB\"\n\
         [record]\ncounters = {{ every = \"100ns\", links = [\"{link}\"] }}"
    ));
    let could = OnWire::at_rate(r.plan.fabric.links()[0].rate, Time::from_ns(100));
    let share = |s: &Sample| match s.value {
        Value::Counters { sent, .. } => sent.share(could).unwrap(),
        ref other => panic!("{other:?}"),
    };
    r.samples.iter().map(share).collect()
}

/// 1 Gbit/s sends 12.5 B in 100 ns, so whole bytes are 12 and 13 in turn: utilisation is 1 in each interval
/// in which the link is busy. A SYN of 90 B takes 720 ns: 7 intervals and a fifth. The answer comes after three links of 1 us
/// each way and 6 packets of 720 ns: at 10,320 ns the handshake's ACK and the data follow without a gap.
#[test]
fn a_busy_link_is_used_up_in_short_intervals() {
    for ports in ["", "mark = 900\nmark_at = \"dequeue\""] {
        let shares = shares("1Gbps", ports, "S1->L");
        assert_eq!(shares.len(), 400);
        assert!(shares[..7].iter().all(|share| *share == 1.0), "{ports} {:?}", &shares[..8]);
        assert_eq!((shares[7], shares[8..103].iter().sum::<f64>()), (0.2, 0.0), "{ports}");
        assert_eq!(shares[103], 0.8);
        assert!(shares[104..].iter().all(|share| *share == 1.0), "{ports}");
    }
}

/// At 3 Gbit/s no byte takes a whole number of picoseconds: the simulator sends each packet up to 1 ps early, which
/// does not count as more than all.
#[test]
fn no_link_is_used_more_than_up_at_any_rate() {
    for ports in ["", "mark = 900\nmark_at = \"dequeue\""] {
        let shares = shares("3Gbps", ports, "L->R");
        assert!(shares.iter().all(|share| *share <= 1.0), "{ports} {shares:?}");
        assert!(shares[200..].iter().all(|share| *share > 1.0 - 2e-5), "{ports} {:?}", &shares[200..]);
    }
}

#[test]
fn counters_may_be_of_some_links_and_some_time() {
    let r = incast("counters = { every = \"0.5ms\", links = [\"W->R\"], from = \"1ms\", until = \"2.2ms\" }\n");
    let link = LinkId::first(r.plan.fabric.links().len()).find(|l| r.plan.fabric.link_name(*l) == "W->R").unwrap();
    let found: Vec<_> = r.samples.iter().map(|s| (s.at, s.value.clone())).collect();
    let [(first, Value::Counters { link: a, .. }), (second, Value::Counters { link: b, .. })] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!([first, second], [Time::from_us(1_500), Time::from_ms(2)]);
    assert_eq!([a, b], [link, link]);
}

/// All RTT samples of a flow that loses nothing: one for each segment, as all are acknowledged one
/// by one, and one of the handshake.
#[test]
fn every_rtt_may_be_recorded() {
    let r = run(
        "duration = \"9ms\"\n[topology.dumbbell]\npairs = 1\nrate = \"1Gbps\"\ndelay = \"10us\"\n[transport.t]\ncontrol = \"reno\"\n\
         ack_every = 1\ninitial_ssthresh = \"14480B\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"D1\"\nsize = \"144.8KB\"\n\
         [record]\nrtt = { every = \"1ps\" }\n",
    );
    let rtts: Vec<Time> = r
        .samples
        .iter()
        .map(|s| match s.value {
            Value::Rtt { flow, subflow: SubflowId::FIRST, rtt } if flow == FlowId::new(0) => rtt,
            _ => panic!("{s:?}"),
        })
        .collect();
    let f = &r.flow(0).subflows[0];
    assert_eq!((rtts.len(), f.stats.segments, f.stats.retransmits), (101, 100, 0));
    // SYN and SYN-ACK of 90 B, 0.72 us over each of three links, and 10 us each way: nothing is
    // shorter.
    assert_eq!(rtts[0], Time::from_ns(6 * 10_720));
    assert_eq!(rtts.iter().min().copied(), f.min_rtt);
    // The first segment, 1,538 B, behind the third of the handshake, 90 B, and its ACK.
    assert_eq!(rtts[1], Time::from_ns(720 + 3 * (10_000 + 12_304) + 3 * 10_720));
    // The tenth waits at its host for nine others.
    assert_eq!(rtts[10], rtts[1] + Time::from_ns(9 * 12_304));
}

#[test]
fn rtts_may_be_thinned_out_and_of_some_flows() {
    let r = incast("rtt = { every = \"100us\", from = \"50us\", until = \"2ms\", labels = [\"few\"] }\n");
    let mut last = std::collections::HashMap::new();
    for sample in &r.samples {
        let Value::Rtt { flow, subflow, .. } = sample.value else { panic!("{sample:?}") };
        assert_eq!(r.plan.labels[r.flow(flow.index()).planned.label.index()], "few");
        assert!((Time::from_us(50)..=Time::from_ms(2)).contains(&sample.at));
        let before = last.insert((flow, subflow), sample.at);
        assert!(before.is_none_or(|before| sample.at >= before + Time::from_us(100)));
    }
    assert!(last.keys().any(|(_, subflow)| *subflow == SubflowId::new(1)) && r.samples.len() > last.len(), "{last:?}");
}

/// A flow alone at line rate: the data that it carries between 1 and 3 ms is known to a few
/// packets.
#[test]
fn the_measured_period_has_its_own_count() {
    let flow = |period: &str, more: &str| {
        run(&format!(
            "duration = \"5ms\"\n{period}[topology.many-to-one]\nsenders = 3\nrate = \"10Gbps\"\ndelay = \"2us\"\n[transport.t]\ncontrol = \"dctcp\"\n\
             [[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n{more}"
        ))
    };
    let carried = |ms: f64| 10e9 * ms * 1e-3 / 8.0 * 1448.0 / 1538.0;
    let whole = flow("", "");
    assert_eq!(whole.flow(0).measured_bytes, whole.flow(0).acked_bytes);
    let part = flow("[measure]\nwarm_up = \"1ms\"\ncut_off = \"3ms\"\n", "");
    assert_eq!(part.flow(0).acked_bytes, whole.flow(0).acked_bytes, "measuring changes nothing");
    let off = part.flow(0).measured_bytes as f64 - carried(2.0);
    assert!(off.abs() <= 4.0 * 1448.0, "{off}");
    // One that ends before, one that starts after, and one that starts within and ends after.
    let late = "start = \"3.5ms\"\n";
    let r = flow("[measure]\nwarm_up = \"1ms\"\ncut_off = \"3ms\"\n", "size = \"100KB\"\n");
    assert_eq!((r.flow(0).acked_bytes, r.flow(0).measured_bytes), (100_000, 0));
    let r = flow("[measure]\nwarm_up = \"1ms\"\ncut_off = \"3ms\"\n", late);
    assert!(r.flow(0).acked_bytes > 1_000_000 && r.flow(0).measured_bytes == 0);
    let r = flow("[measure]\nwarm_up = \"1ms\"\ncut_off = \"3ms\"\n", "start = \"2ms\"\n");
    let off = r.flow(0).measured_bytes as f64 - carried(1.0);
    // Its handshake and its slow start are in the period.
    assert!((-200e3..0.0).contains(&off), "{off}");
}

/// The rates of a flow are those of its intervals; the last is cut off with the run, unless it begins
/// at the end of the series or later.
#[test]
fn rates_end_with_the_series() {
    let times = |duration: &str| -> Vec<u64> {
        let r = run(&format!(
            "duration = \"{duration}\"\n[topology.many-to-one]\nsenders = 1\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
             [transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n\
             [record]\nrate = {{ every = \"1ms\", from = \"1ms\", until = \"2ms\" }}\n"
        ));
        for sample in &r.samples {
            let Value::Rate { goodput, .. } = sample.value else { panic!("{sample:?}") };
            assert!((goodput / (10e9 * 1448.0 / 1538.0) - 1.0).abs() < 0.01, "{goodput}");
        }
        r.samples.iter().map(|sample| sample.at.0 / 1_000_000).collect()
    };
    assert_eq!(times("2.5ms"), [2_000, 2_500]);
    assert_eq!(times("3ms"), [2_000, 3_000]);
    assert_eq!(times("3.1ms"), [2_000]);
}
