//! Ports beyond FIFO and threshold, under whole transports.

use crate::common::run;

/// A long flow of each of two transports into one link.
fn bed(queue: &str, first: &str, duration: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[topology.dumbbell]\npairs = 2\nrate = \"10Gbps\"\ndelay = \"5us\"\n\
         bottleneck_rate = \"1Gbps\"\n[queue]\n{queue}\n[transport.a]\ncontrol = \"dctcp\"\n{first}\n\
         [transport.b]\ncontrol = \"dctcp\"\n\
         [[workload.flow]]\ntransport = \"a\"\nfrom = \"S1\"\nto = \"D1\"\n\
         [[workload.flow]]\ntransport = \"b\"\nfrom = \"S2\"\nto = \"D2\"\n"
    )
}

/// Strict priority starves: one flow takes as much as it can; without priority the two share.
#[test]
fn high_priority_goes_first() {
    let share = |first: &str| {
        let r = run(&bed("mark = 20\ndiscipline = \"priority\"", first, "100ms"));
        let (a, b) = (r.flow(0).acked_bytes as f64, r.flow(1).acked_bytes as f64);
        a / (a + b)
    };
    let (equal, high) = (share(""), share("priority = \"high\""));
    assert!((equal - 0.5).abs() < 0.1, "{equal}");
    assert!(high > 0.95, "{high}");
}

/// DCTCP keeps the queue at about K and the link full, whether arriving or leaving packets are
/// marked.
#[test]
fn marks_at_either_end_hold_the_queue() {
    for at in ["enqueue", "dequeue"] {
        let text = bed(&format!("mark = 20\nmark_at = \"{at}\""), "", "100ms")
            + "[record]\nqueue = { links = [\"L->R\"], every = \"50us\", from = \"20ms\" }\n";
        let r = run(&text);
        let length = |s: &linkpool_sim::Sample| match s.value {
            linkpool_sim::Value::Queue { packets, .. } => packets as f64,
            _ => 0.0,
        };
        let mean = r.samples.iter().map(length).sum::<f64>() / r.samples.len() as f64;
        assert!((8.0..28.0).contains(&mean), "{at}: {mean}");
        let link = r.link("L->R");
        assert!(link.sent_bytes as f64 * 8.0 > 0.97e8 && link.stats.rare.drops == 0, "{at}: {link:?}");
    }
}

/// RED signals by marks alone if all can be marked, by drops if none can.
#[test]
fn red_marks_or_drops() {
    let red = "limit = 1000\nred = { min = 10, max = 60, weight = 0.01 }";
    // CUBIC's packets are not ECN-capable.
    let dropped = run(&bed(red, "", "200ms").replace("dctcp", "cubic")).link("L->R").stats;
    assert!(dropped.rare.marks == 0 && dropped.rare.drops > 0, "{dropped:?}");
    let marked = run(&bed(red, "", "200ms")).link("L->R").stats;
    assert!(marked.rare.marks > 0 && marked.rare.drops == 0, "{marked:?}");
}

/// A burst into one port may take half of a shared buffer with alpha = 1; a port with a limit takes
/// the limit.
#[test]
fn a_shared_buffer_takes_the_larger_burst() {
    let incast = |queue: &str| {
        let r = run(&format!(
            "duration = \"100ms\"\n[topology.many-to-one]\nsenders = 20\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
             [queue.layer.switch]\n{queue}\n[transport.t]\ncontrol = \"reno\"\n\
             [[workload.incast]]\ntransport = \"t\"\nsenders = 20\nreceiver = \"R\"\nsize = \"14KB\"\nbursts = 1\n"
        ));
        r.link("W->R").stats
    };
    // 20 initial windows of 10 packets, of which one is sent while 20 come. Half of 400 KB are 130
    // packets of 1,538 B.
    let shared = incast("shared_buffer = { size = \"400KB\", alpha = 1 }");
    assert!((126..=132).contains(&shared.max_queue) && shared.rare.drops > 0, "{shared:?}");
    assert_eq!(incast("shared_buffer = { size = \"1MB\", alpha = 1 }").rare.drops, 0);
    assert_eq!(incast("limit = 50").max_queue, 50);
}

/// A queue of 131,073 packets, or of 3 GB, is longer than a link can hold. A port holds it, and the results are the same.
#[test]
fn a_port_holds_what_a_link_cannot() {
    let found = |limit: &str| {
        let r = run(&bed(limit, "", "30ms").replace("dctcp", "cubic"));
        let flows = [0, 1].map(|number| r.flow(number).acked_bytes);
        (flows, r.link("L->R").stats, r.link("L->R").sent_bytes)
    };
    let link = found("limit = 131072");
    assert!(link.1.max_queue > 50 && link.1.rare.drops == 0, "{link:?}");
    assert_eq!((found("limit = 131073"), found("limit = \"3GB\"")), (link, link));
}

/// The priority of a flow is that of its transport, unless it has one of its own: data and ACKs of all subflows. Two transports
/// that differ in it alone, and one whose flows do, give the same picosecond for picosecond; from a trace, too.
#[test]
fn a_flow_may_have_a_priority_of_its_own() {
    let found = |transports: [&str; 3], flows: [&str; 3]| {
        let settings = ["x", "y", "z"].iter().zip(transports).map(|(name, priority)| {
            format!("[transport.{name}]\ncontrol = \"mmptcp\"\nsubflows = 3\nswitch_bytes = \"40KB\"\ndupack_threshold = \"auto\"\n{priority}\n")
        });
        let flows = ["x", "y", "z"].iter().zip(flows).enumerate().map(|(i, (name, priority))| {
            let (from, to) = [("S1", "D1"), ("D2", "S2"), ("S3", "D3")][i];
            format!(
                "[[workload.flow]]\ntransport = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"300KB\"\n{priority}\n"
            )
        });
        let r = run(&format!(
            "duration = \"100ms\"\ndrain = \"5s\"\n[topology.dumbbell]\npairs = 3\nrate = \"10Gbps\"\ndelay = \"5us\"\nbottleneck_rate = \"1Gbps\"\n\
             [queue]\nlimit = 30\ndiscipline = \"priority\"\n{}{}",
            settings.collect::<String>(),
            flows.collect::<String>()
        ));
        [0, 1, 2].map(|flow| (r.fct(flow), r.flow(flow).total(|s| s.retransmits)))
    };
    let (low, high, scatter) = ("priority = \"low\"", "priority = \"high\"", "priority = \"scatter\"");
    let by_transport = found([low, high, high], ["", "", ""]);
    assert_eq!(found([low, low, low], [low, high, high]), by_transport);
    assert_eq!(found([scatter, scatter, scatter], [low, high, high]), by_transport);
    assert_eq!(found([high, high, low], [low, "", high]), by_transport);
    let equal = found([low, low, low], ["", "", ""]);
    assert!(
        by_transport != equal && by_transport[2].0 < equal[2].0 && by_transport[0].0 > by_transport[2].0,
        "{equal:?}"
    );
}

#[test]
fn a_flow_of_a_trace_may_have_a_priority() {
    let fct = |flows: &str, transport: &str| {
        let r = run(&format!(
            "duration = \"100ms\"\ndrain = \"5s\"\n[topology.dumbbell]\npairs = 2\nrate = \"10Gbps\"\ndelay = \"5us\"\nbottleneck_rate = \"1Gbps\"\n\
             [queue]\ndiscipline = \"priority\"\n[transport.t]\ncontrol = \"dctcp\"\n[transport.h]\ncontrol = \"dctcp\"\npriority = \"high\"\n{flows}"
        ));
        assert_eq!(r.outcome.flows.len(), 2, "{transport}");
        [r.fct(0), r.fct(1)]
    };
    let flow = |transport: &str, i: u32| {
        format!("[[workload.flow]]\ntransport = \"{transport}\"\nfrom = \"S{i}\"\nto = \"D{i}\"\nsize = \"1MB\"\n")
    };
    let trace = "[[workload.trace]]\ntransport = \"t\"\nflows = [{ from = \"S1\", to = \"D1\", size = \"1MB\" }, \
                 { from = \"S2\", to = \"D2\", size = \"1MB\", priority = \"high\" }]\n";
    assert_eq!(fct(trace, "trace"), fct(&(flow("t", 1) + &flow("h", 2)), "flows"));
}
