//! Traces for Perfetto, decoded with the numbers of `protos/perfetto/trace/`: tracks, slices,
//! instants and counters say what the tables of the run say.

use std::collections::BTreeMap;

use crate::common::{Run, run, scenario};
use linkpool_sim::{Lifetime, Traced, perfetto};
use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}
#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    event: Option<Event>,
    #[prost(message, optional, tag = "60")]
    track: Option<Track>,
}
#[derive(Clone, PartialEq, Message)]
struct Track {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<Process>,
    #[prost(uint64, optional, tag = "5")]
    parent: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<Counter>,
}
#[derive(Clone, PartialEq, Message)]
struct Process {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    name: Option<String>,
}
#[derive(Clone, PartialEq, Message)]
struct Counter {
    #[prost(string, optional, tag = "6")]
    unit: Option<String>,
}
#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(message, repeated, tag = "4")]
    annotations: Vec<Annotation>,
    #[prost(int32, optional, tag = "9")]
    kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track: Option<u64>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(double, optional, tag = "44")]
    value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    arrows: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    ending_arrows: Vec<u64>,
}
#[derive(Clone, PartialEq, Message)]
struct Annotation {
    #[prost(uint64, optional, tag = "3")]
    number: Option<u64>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

const BEGIN: i32 = 1;
const END: i32 = 2;
const INSTANT: i32 = 3;
const COUNTER: i32 = 4;

struct Written {
    run: Run,
    lifetimes: Vec<Lifetime>,
    tracks: Vec<Track>,
    /// Nanoseconds, and what happens.
    events: Vec<(u64, Event)>,
}

/// A run of `text`, and the trace of all its flows.
fn written(text: &str) -> Written {
    let run = run(text);
    let flows: Vec<Traced> =
        run.outcome.flows.iter().map(|f| Traced { flow: f.flow, connection: f.connection }).collect();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let lifetimes = perfetto(&scenario(text), &flows, &path, &mut |_| true).unwrap();
    let trace = Trace::decode(&std::fs::read(&path).unwrap()[..]).unwrap();
    assert!(trace.packets.iter().all(|packet| packet.sequence == Some(1)));
    let tracks = trace.packets.iter().filter_map(|packet| packet.track.clone()).collect();
    let events = trace.packets.into_iter().filter_map(|p| Some((p.timestamp?, p.event?))).collect();
    Written { run, lifetimes, tracks, events }
}

impl Written {
    fn track(&self, uuid: u64) -> &Track {
        let mut found = self.tracks.iter().filter(|track| track.uuid == Some(uuid));
        let first = found.next().unwrap_or_else(|| panic!("no track {uuid}"));
        assert!(found.next().is_none(), "track {uuid} is there twice");
        first
    }

    fn name(&self, event: &Event) -> &str {
        self.track(event.track.unwrap()).name.as_deref().unwrap_or_default()
    }

    fn named<'a>(&'a self, kind: i32, name: &'a str) -> impl Iterator<Item = &'a (u64, Event)> {
        self.events
            .iter()
            .filter(move |(_, e)| e.kind == Some(kind) && e.name.as_deref().is_some_and(|n| n.starts_with(name)))
    }

    /// Every event is of a track that is known before, slices of a track follow each other, and all
    /// end. Gives the slices by track: begin, end and name.
    fn slices(&self) -> BTreeMap<u64, Vec<(u64, u64, String)>> {
        let mut slices: BTreeMap<u64, Vec<(u64, u64, String)>> = BTreeMap::new();
        let mut open: BTreeMap<u64, (u64, String)> = BTreeMap::new();
        for (at, event) in &self.events {
            let track = self.track(event.track.unwrap());
            assert_eq!(event.kind == Some(COUNTER), track.counter.is_some(), "{track:?}");
            let uuid = track.uuid.unwrap();
            match event.kind {
                Some(BEGIN) => assert!(open.insert(uuid, (*at, event.name.clone().unwrap())).is_none(), "{event:?}"),
                Some(END) => {
                    let (from, name) = open.remove(&uuid).unwrap_or_else(|| panic!("{event:?}"));
                    slices.entry(uuid).or_default().push((from, *at, name));
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        slices
    }
}

const LINE: &str =
    "duration = \"1ms\"\ndrain = \"9s\"\n[topology.many-to-one]\nsenders = 4\nrate = \"10Gbps\"\ndelay = \"2us\"\n";

/// The handshake takes 4 times 72 ns and 8 us, the first ACK comes 10.6768 us after that, and the
/// window grows by a packet for each: RFC 6298 smooths by an eighth.
#[test]
fn a_flow_is_a_process_with_its_subflow() {
    let written = written(&format!(
        "{LINE}[transport.t]\ncontrol = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\n\
         size = \"3000B\"\n[record]\nqueue = {{ every = \"10us\", until = \"10us\", links = [\"W->R\"] }}\n"
    ));
    let lifetimes: Vec<_> = written.lifetimes.iter().map(|l| (u32::from(l.flow), l.opened, l.finished)).collect();
    assert_eq!(lifetimes, [(0, 0, Some(20_350_400))]);
    let process = written.tracks.iter().find_map(|t| Some((t.uuid?, t.process.clone()?))).unwrap();
    assert_eq!((process.1.pid, process.1.name.as_deref()), (Some(1), Some("flow 0: S1->R, t, 3000 B")));
    let unit = |t: &Track| t.counter.as_ref().and_then(|c| c.unit.clone()).unwrap_or_default();
    let of_process: Vec<(String, String)> = written
        .tracks
        .iter()
        .filter(|t| t.parent == Some(process.0))
        .map(|t| (t.name.clone().unwrap(), unit(t)))
        .collect();
    let expected = [
        ("acknowledged", "B"),
        ("subflow 0", ""),
        ("subflow 0: cwnd", "packets"),
        ("subflow 0: ssthresh", "packets"),
        ("subflow 0: srtt", "us"),
    ];
    assert_eq!(of_process, expected.map(|(name, unit)| (name.to_string(), unit.to_string())));
    let slices = written.slices().into_values().flatten().collect::<Vec<_>>();
    let expected = [(0, 8_288, "handshake"), (8_288, 20_350, "slow start")];
    assert_eq!(slices, expected.map(|(from, to, name)| (from, to, name.to_string())));
    let counted = |name: &str| -> Vec<(u64, f64)> {
        let of = written.events.iter().filter(|(_, e)| e.kind == Some(COUNTER) && written.name(e) == name);
        of.map(|(at, e)| (*at, (1e4 * e.value.unwrap()).round() / 1e4)).collect()
    };
    assert_eq!(counted("subflow 0: cwnd"), [(8_288, 10.0), (18_964, 11.0), (20_195, 12.0)]);
    assert_eq!(counted("subflow 0: srtt"), [(8_288, 8.288), (18_964, 8.5866), (20_195, 9.0017)]);
    assert_eq!(counted("acknowledged"), [(18_964, 1448.0), (20_195, 2896.0)]);
    assert_eq!(counted("W->R, packets"), [(0, 0.0), (10_000, 0.0)]);
    assert_eq!(counted("W->R, B"), [(0, 0.0), (10_000, 0.0)]);
}

/// Four flows into a short queue: each recovery is a slice, each loss and timeout an instant.
#[test]
fn losses_and_recoveries_are_those_of_the_tables() {
    let written = written(&format!(
        "{LINE}[queue]\nlimit = 8\n[transport.t]\ncontrol = \"reno\"\n[[workload.incast]]\ntransport = \"t\"\nsenders = 4\n\
         receiver = \"R\"\nsize = \"300KB\"\nevery = \"1s\"\n[record]\nqueue = {{ every = \"100us\", links = [\"W->R\"] }}\n"
    ));
    let slices = written.slices();
    let flows = &written.run.outcome.flows;
    for (i, flow) in flows.iter().enumerate() {
        let uuid =
            written.tracks.iter().filter(|t| t.name.as_deref() == Some("subflow 0")).nth(i).unwrap().uuid.unwrap();
        let phases = &slices[&uuid];
        let recovered = phases.iter().filter(|(.., name)| name == "fast recovery").count() as u64;
        assert_eq!(recovered, flow.total(|s| s.recoveries), "flow {i}: {phases:?}");
        let lasting = |(from, to, name): &(u64, u64, String)| name == "fast recovery" && to > from;
        assert!(recovered == 0 || phases.iter().any(lasting), "{phases:?}");
        assert_eq!((phases[0].0, phases[0].2.as_str()), (0, "handshake"));
        assert_eq!(Some(phases.last().unwrap().1), flow.finished.map(|at| at.0 / 1000));
        assert!(phases.windows(2).all(|two| two[0].1 == two[1].0), "{phases:?}");
        assert!(phases.iter().any(|(.., name)| name == "congestion avoidance"), "{phases:?}");
        let timeouts = written.named(INSTANT, "retransmission timeout").filter(|(_, e)| e.track == Some(uuid)).count();
        assert_eq!(timeouts as u64, flow.total(|s| s.timeouts));
    }
    let drops: u64 = written.run.outcome.links.iter().map(|link| link.stats.rare.drops).sum();
    let lost: Vec<_> = written.named(INSTANT, "data lost at ").collect();
    assert_eq!(lost.len() as u64, drops);
    assert!(drops > 20);
    for (_, event) in lost {
        assert!(event.name.as_deref().unwrap().ends_with(": its queue is full"), "{event:?}");
        // Eight wait, and one is being sent.
        assert_eq!(event.annotations.len(), 1);
        assert_eq!(
            (event.annotations[0].number, event.annotations[0].name.as_deref()),
            (Some(9), Some("packets in the queue"))
        );
    }
    let probes: u64 = flows.iter().map(|flow| flow.total(|s| s.probes)).sum();
    assert_eq!(written.named(INSTANT, "tail loss probe").count() as u64, probes);
    // The queue is drawn as it was sampled.
    let sampled = written
        .run
        .samples
        .iter()
        .filter(|s| matches!(s.value, linkpool_sim::Value::Queue { packets, .. } if packets > 0))
        .count();
    let drawn =
        written.events.iter().filter(|(_, e)| e.value > Some(0.0) && written.name(e) == "W->R, packets").count();
    assert_eq!(drawn, sampled.min(drawn).max(1));
}

/// MMPTCP's first subflow hands over to those that open then: an arrow to each.
#[test]
fn a_hand_over_has_arrows() {
    let written = written(&format!(
        "{LINE}[transport.t]\ncontrol = \"mmptcp\"\nsubflows = 3\nswitch_bytes = \"50KB\"\n[[workload.flow]]\ntransport = \"t\"\n\
         from = \"S1\"\nto = \"R\"\nsize = \"200KB\"\n"
    ));
    let slices = written.slices();
    let arrows: Vec<u64> =
        written.named(INSTANT, "hand-over to subflow ").flat_map(|(_, e)| e.arrows.clone()).collect();
    assert_eq!(arrows.len(), 3);
    for (to, number) in arrows.iter().zip(1..) {
        assert_eq!(written.track(*to).name, Some(format!("subflow {number}")));
        assert_eq!(slices[to][0].2, "handshake");
    }
    let ending: Vec<u64> = written.events.iter().flat_map(|(_, e)| e.ending_arrows.clone()).collect();
    assert_eq!(ending, arrows);
}

/// AMP suppresses subflows: as many slices as its counter says for each subflow but one.
#[test]
fn suppressions_are_slices() {
    let written = written(&format!(
        "{LINE}[queue]\nlimit = 100\nmark = 10\n[transport.t]\ncontrol = \"amp\"\nsubflows = 2\n[[workload.many-to-one]]\n\
         transport = \"t\"\nflows = 4\nreceiver = \"R\"\nsize = \"2MB\"\n"
    ));
    let slices = written.slices();
    let suppressed: usize = slices.values().flatten().filter(|(.., name)| name == "suppressed").count();
    let counted: f64 = written.run.outcome.flows.iter().filter_map(|flow| flow.metric("suppressions")).sum();
    assert!(counted > 0.0);
    assert_eq!(suppressed as f64, counted);
}

/// Each message is a slice of its connection, on the first lane that is free.
#[test]
fn messages_are_slices_on_lanes() {
    let written = written(&format!(
        "{LINE}[queue]\nlimit = 20\n[transport.t]\ncontrol = \"reno\"\n[[workload.collective]]\ntransport = \"t\"\n\
         algorithm = \"all-to-all\"\nranks = 4\nsize = \"400KB\"\nchunks = 5\noutstanding = 2\n"
    ));
    let slices = written.slices();
    for flow in &written.run.outcome.flows {
        let name = format!("flow {}, {} B", u32::from(flow.flow), flow.planned.flow.size.unwrap());
        let mut of = slices
            .iter()
            .flat_map(|(uuid, all)| all.iter().map(move |slice| (uuid, slice)))
            .filter(|(_, s)| s.2 == name);
        let (uuid, (from, to, _)) = of.next().unwrap();
        assert!(of.next().is_none());
        assert_eq!((*from, Some(*to)), (flow.planned.flow.start.0 / 1000, flow.finished.map(|at| at.0 / 1000)));
        let lane = written.track(*uuid);
        assert!(["messages", "messages, lane 2"].contains(&lane.name.as_deref().unwrap()), "{lane:?}");
        let connection = written.track(lane.parent.unwrap()).process.clone().unwrap();
        let expected = format!("connection {}: ", u32::from(flow.connection));
        assert!(
            connection.name.clone().unwrap().starts_with(&expected)
                && connection.name.unwrap().ends_with(", t, messages")
        );
        assert_eq!(connection.pid, Some(u32::from(flow.connection) as i32 + 1));
    }
    let lifetimes: Vec<_> = written.lifetimes.iter().map(|l| (l.flow, l.opened, l.finished)).collect();
    let expected: Vec<_> =
        written.run.outcome.flows.iter().map(|f| (f.flow, f.planned.flow.start.0, f.finished.map(|at| at.0))).collect();
    assert_eq!(lifetimes, expected);
}
