//! Estimates the memory (by cause) and disk (by table) of a run from its scenario, before anything
//! is built. `docs/limits.md` explains it.

use crate::effort::{expected_segments, setting};
use crate::plan::CapturePlan;
use linkpool_network::{Fabric, LinkId, NodeId, QueueLimit};
use linkpool_scenario::{Change, Scenario, Workload};
use linkpool_units::{Time, counted};
use linkpool_workload::kinds::Expected;
use std::collections::BTreeSet;

// Bytes, measured and rounded up (`docs/limits.md`).
const PROCESS: f64 = 25e6;
const HOST: f64 = 1_000.0;
const LINK: f64 = 700.0;
const ROUTE: f64 = 12.0;
// A port that pauses: classes of queues, its gate, and the account of the link that leads back.
const PAUSING: f64 = 1_300.0;
// For each port of the same switch, where it is known by which links packets have come.
const PLACE: f64 = 8.0;
// A packet that waits where none is dropped: 40, and queues have up to twice as many places.
const WAITING: f64 = 80.0;
const LISTED_FLOW: f64 = 250.0;
const CONNECTION: f64 = 8_000.0;
const SUBFLOW: f64 = 1_500.0;
const SAMPLE: f64 = 1_000.0;
// Of the program of a rank: 44 in memory before the run, and 8 in each rank that runs it.
const PROGRAM_NODE: f64 = 60.0;
const PROGRAM_EDGE: f64 = 4.0;

// Bytes of a row on disk, compressed.
const FLOW_ROW: f64 = 150.0;
const SUBFLOW_ROW: f64 = 120.0;
const LINK_ROW: f64 = 100.0;
const METRIC_ROW: f64 = 8.0;
const SAMPLE_ROW: f64 = 16.0;
// A packet of a capture: headers with the longest options, and what the format adds.
const PACKET: f64 = 144.0;

/// An estimate of a run's needs: the cause, and the number of bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// In memory, at the most loaded moment.
    pub memory: Vec<(String, f64)>,
    /// On disk, at the end.
    pub disk: Vec<(String, f64)>,
}

impl Estimate {
    /// Estimates `scenario`.
    pub fn new(scenario: &Scenario) -> Estimate {
        let fabric = scenario.topology.fabric();
        let traffic = Traffic::new(scenario, &fabric);
        let (hosts, links) = (fabric.hosts() as f64, fabric.links().len() as f64);
        let mut estimate = Estimate::default();
        let memory = &mut estimate.memory;
        memory.push(("any run".to_string(), PROCESS));
        memory.push((format!("{hosts} hosts and {links} links"), HOST * hosts + LINK * links));
        memory.push(("routes".to_string(), ROUTE * routes(scenario, &fabric)));
        memory
            .push((format!("{} known before the run", counted(traffic.listed, "flow")), LISTED_FLOW * traffic.listed));
        let connections = CONNECTION * traffic.at_once + SUBFLOW * traffic.subflows_at_once;
        memory.push((format!("{} at the same time", counted(traffic.at_once, "connection")), connections));
        if let Some(pfc) = &scenario.queue.pfc {
            let knows_places = pfc.xoff.is_some() || scenario.record.pauses.is_some();
            let places = if knows_places { PLACE * pairs_of_ports(&fabric) } else { 0.0 };
            memory.push((format!("{links} ports that pause"), PAUSING * links + places));
            let waiting = waiting(scenario, &fabric);
            memory.push((format!("{} that wait where none is dropped", whole(waiting, "packet")), WAITING * waiting));
        }
        if traffic.nodes > 0.0 {
            let bytes = PROGRAM_NODE * traffic.nodes + PROGRAM_EDGE * traffic.edges;
            memory.push((format!("{} of programs", counted(traffic.nodes, "node")), bytes));
        }
        let disk = &mut estimate.disk;
        disk.push((format!("flows.parquet, {}", whole(traffic.flows, "row")), FLOW_ROW * traffic.flows));
        disk.push((format!("subflows.parquet, {}", whole(traffic.subflows, "row")), SUBFLOW_ROW * traffic.subflows));
        disk.push((format!("links.parquet, {links} rows"), LINK_ROW * links));
        if traffic.metrics > 0.0 {
            disk.push((format!("metrics.parquet, {}", whole(traffic.metrics, "row")), METRIC_ROW * traffic.metrics));
        }
        if let Some(packets) = captured(scenario, &fabric) {
            let payload = scenario.record.capture.as_ref().is_some_and(|capture| capture.payload);
            let longest = scenario.transports.iter().map(|t| t.config.mss).max().unwrap_or(0);
            // Half of them are ACKs.
            let bytes = PACKET + if payload { f64::from(longest) / 2.0 } else { 0.0 };
            disk.push((format!("capture.pcapng, {}", whole(packets, "packet")), bytes * packets));
        }
        let window = lookahead(scenario, &fabric);
        for Series { name, every, span, sampled } in series(scenario, &fabric, &traffic) {
            let rows = sampled * (span.secs() / every.secs() + 1.0);
            disk.push((format!("{name}.parquet, {}", whole(rows, "row")), SAMPLE_ROW * rows));
            // Samples are written at the ends of windows.
            let rows = rows.min(sampled * (window.secs() / every.secs() + 1.0));
            memory.push((format!("samples of {name} in a window of {window}"), SAMPLE * rows));
        }
        estimate
    }
}

/// A mean number of things, rounded to a whole one.
fn whole(number: f64, what: &str) -> String {
    counted(format_args!("{number:.0}"), what)
}

/// How many flows there are.
#[derive(Default)]
struct Traffic {
    /// Flows that are in memory from the start.
    listed: f64,
    /// Altogether.
    flows: f64,
    subflows: f64,
    /// Measures that flows report at their ends.
    metrics: f64,
    /// At the same time, at most, if all get through as they should.
    at_once: f64,
    subflows_at_once: f64,
    /// Of programs of ranks, and the pairs of which one waits for the other.
    nodes: f64,
    edges: f64,
}

impl Traffic {
    fn new(scenario: &Scenario, fabric: &Fabric) -> Traffic {
        let mut all = Traffic::default();
        for workload in &scenario.workloads {
            let setting = setting(workload, scenario, fabric);
            let Expected { flows, at_once, listed, .. } = workload.kind.settings().expected(&setting);
            let transport = &scenario.transports[workload.transport];
            let subflows = f64::from(transport.subflows.most());
            all.listed += if listed { flows } else { 0.0 };
            all.flows += flows;
            all.subflows += subflows * flows;
            all.metrics += transport.control.family().metrics(&transport.config) as f64 * flows;
            all.at_once += at_once;
            all.subflows_at_once += subflows * at_once;
            let (nodes, edges) = workload.kind.settings().nodes();
            (all.nodes, all.edges) = (all.nodes + nodes as f64, all.edges + edges as f64);
        }
        all
    }
}

/// Pairs of ports of the same switch.
fn pairs_of_ports(fabric: &Fabric) -> f64 {
    let switches = NodeId::first(fabric.nodes()).skip(fabric.hosts());
    switches.map(|switch| (fabric.links_from(switch).len() as f64).powi(2)).sum()
}

/// The packets that wait at the same time at ports that pause, at most as far as is known: those of all flows, of each no more than
/// RED lets a queue grow, and than a link may use before it is paused.
fn waiting(scenario: &Scenario, fabric: &Fabric) -> f64 {
    let Some(pfc) = &scenario.queue.pfc else { return 0.0 };
    let threshold = pfc.xoff.map_or(pfc.alpha * pfc.buffer as f64, |xoff| xoff.0 as f64);
    let of = |workload: &Workload| {
        let Expected { flows, at_once, bytes, .. } =
            workload.kind.settings().expected(&setting(workload, scenario, fabric));
        let mss = f64::from(scenario.transports[workload.transport].config.mss);
        let marked = scenario.queue.red.map_or(f64::INFINITY, |red| match red.max {
            QueueLimit::Packets(packets) => f64::from(packets) * mss,
            QueueLimit::Bytes(bytes) => bytes as f64,
        });
        if flows > 0.0 { at_once * ((bytes / flows).min(marked).min(threshold) / mss).ceil() } else { 0.0 }
    };
    scenario.workloads.iter().map(of).sum()
}

/// Entries of all routing tables: a row for each switch and a column for each rack, and both for each host with
/// several NICs, for each time at which routes change.
fn routes(scenario: &Scenario, fabric: &Fabric) -> f64 {
    let several = |host: &NodeId| fabric.links_from(*host).len() > 1;
    let (several, single): (Vec<NodeId>, Vec<NodeId>) = NodeId::first(fabric.hosts()).partition(several);
    let rack = |host: NodeId| fabric.links_from(host).next().map(|link| fabric.links()[link.index()].to);
    let racks: BTreeSet<NodeId> = single.into_iter().filter_map(rack).collect();
    let rows = fabric.nodes() - fabric.hosts() + several.len();
    let columns = racks.len() + several.len();
    let times = |change: &Change| [Some(change.at), change.until];
    let changes = scenario.changes.iter().filter(|change| change.state.is_some() && scenario.reconverge().is_some());
    let times: BTreeSet<Time> = changes.flat_map(times).flatten().filter(|at| *at > Time::ZERO).collect();
    rows as f64 * columns as f64 * (1.0 + times.len() as f64)
}

/// The length of a window: the least time of the smallest packet from one node to the next.
fn lookahead(scenario: &Scenario, fabric: &Fabric) -> Time {
    let smallest = scenario.transports.iter().map(|t| t.wire.ack_size.min(t.wire.header + 1)).min().unwrap_or(1);
    let bits = 8.0 * f64::from(smallest);
    let least =
        |link: &linkpool_network::LinkSpec| link.delay.saturating_add(Time::from_secs_f64(bits / link.rate.0 as f64));
    fabric.links().iter().map(least).min().unwrap_or(Time::ZERO)
}

/// The most packets that a capture may hold, data and ACKs: as many as there are, at each port that
/// they pass, and no more than ports carry.
fn captured(scenario: &Scenario, fabric: &Fabric) -> Option<f64> {
    let (plan, record) = (CapturePlan::new(scenario, fabric)?, scenario.record.capture.as_ref()?);
    let all = 2.0 * expected_segments(scenario, fabric);
    if plan.at_senders {
        return Some(all);
    }
    let mss = scenario.transports.iter().map(|t| f64::from(t.config.mss)).fold(f64::INFINITY, f64::min);
    let span = record.until.min(scenario.end()).saturating_sub(record.from).secs();
    let carried = |link: &LinkId| 2.0 * fabric.links()[link.index()].rate.0 as f64 / 8.0 * span / mss;
    Some(plan.ports.iter().map(|port| all.min(carried(port))).sum())
}

/// A time series: its interval, its length, and the number of samples at a time.
struct Series {
    name: &'static str,
    every: Time,
    span: Time,
    sampled: f64,
}

fn series(scenario: &Scenario, fabric: &Fabric, traffic: &Traffic) -> Vec<Series> {
    let record = &scenario.record;
    let end = scenario.end();
    let span = |from: Time, until: Time| until.min(end).saturating_sub(from);
    let mut all = Vec::new();
    if let Some(r) = &record.queue {
        all.push(Series { name: "queue", every: r.every, span: span(r.from, r.until), sampled: r.links.len() as f64 });
    }
    if let Some(r) = &record.counters {
        let links = r.links.as_ref().map_or(fabric.links().len(), Vec::len);
        all.push(Series { name: "counters", every: r.every, span: span(r.from, r.until), sampled: links as f64 });
    }
    for (name, r) in [("cwnd", &record.cwnd), ("rate", &record.rate)] {
        if let Some(r) = r {
            all.push(Series { name, every: r.every, span: span(r.from, r.until), sampled: traffic.subflows_at_once });
        }
    }
    all
}
