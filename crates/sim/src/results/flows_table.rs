//! The tables of flows and of their subflows.

use crate::plan::{FlowId, Plan, PlannedTransport};
use crate::results::column::table;
use crate::results::outcome::{FlowOutcome, SubflowOutcome};
use linkpool_network::{Envelope, Flags, Packet, Timetable};
use linkpool_scenario::Measure;
use linkpool_transport::paths::Balancing;
use linkpool_transport::{Metric, SubflowId};
use linkpool_units::Time;
use linkpool_workload::Flow;
use std::borrow::Cow;

/// A flow, and the values computed from it.
#[derive(Debug)]
pub(crate) struct FlowRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) flow: &'a FlowOutcome,
    /// The least completion time that any transport could reach.
    pub(crate) ideal: Option<Time>,
    /// Rack and pod of every host.
    pub(crate) places: &'a [(u32, u32)],
}

table! {
    /// A row per flow, in order of end (at one time, of number); flows that the end of the run cut
    /// off come last.
    "flows" of FlowRow<'_>, always, |row|
    /// Number of the flow: first the flows that are known before the run, in order of start, then
    /// those that others have started.
    flow: FlowId, "" = row.flow.flow;
    /// Label of the workload.
    label: str, "" = row.plan.labels[row.flow.planned.label.index()].as_str();
    /// Number of the workload in workloads: labels may be alike.
    workload: u32, "" = row.plan.workloads[row.flow.planned.label.index()];
    /// Number of the first flow on its connection: its own, unless it is a message on a connection
    /// that stays open (`persistent`). The time series of the connection have this number.
    connection: FlowId, "" = row.flow.connection;
    /// Number of the burst, or of the round of `repeat = "all"`; 0 for flows that are in none.
    burst: u32, "" = row.asked().burst;
    /// Number of the job among those of its workload; null: of no job.
    job: u32, "" = row.asked().job;
    /// Name of the transport in the scenario.
    transport: str, "" = row.transport().name.as_str();
    /// Its congestion control algorithm.
    control: str, "" = row.transport().control;
    /// Sending host.
    src: str, "" = row.plan.fabric.name(row.asked().src.into());
    /// Receiving host.
    dst: str, "" = row.plan.fabric.name(row.asked().dst.into());
    /// `in-rack`: the first NICs of both hosts are at one switch; `in-pod`: at two that are joined
    /// below the core; `between-pods`. A host that is cabled to hosts alone is at the switch of the nearest
    /// one; hosts without any switch between them are `in-rack`.
    locality: str, "" = row.locality();
    /// Payload to carry; null: unlimited.
    size_bytes: u64, "B" = row.asked().size;
    /// The first SYN was sent; of a message on an open connection, it was given to the connection.
    start_s: f64, "s" = row.asked().start.secs();
    /// The first SYN-ACK arrived; of a message on a connection that was established before, its
    /// start; null: never.
    established_s: f64, "s" = row.flow.established().map(Time::secs);
    /// The last data was delivered in order at the receiver; null: not before the end of the run.
    delivered_s: f64, "s" = row.flow.delivered.map(Time::secs);
    /// The last data was acknowledged; null: unfinished at the end of the run.
    end_s: f64, "s" = row.flow.finished.map(Time::secs);
    /// `end_s - start_s`: with the handshake.
    fct_s: f64, "s" = row.fct().map(Time::secs);
    /// `end_s - established_s`: without the handshake, as the papers' simulations measure.
    fct_established_s: f64, "s" = row.fct_established().map(Time::secs);
    /// The least `fct_s` that any transport could reach alone in the network; null: unlimited.
    ideal_fct_s: f64, "s" = row.ideal.map(Time::secs);
    /// `fct_s / ideal_fct_s`, 1 at the least; null: unfinished.
    slowdown: f64, "" = row.slowdown();
    /// From `start_s` to the end of the flow, its stop, or the end of the run.
    active_s: f64, "s" = row.active().secs();
    /// Payload acknowledged at connection level, in order.
    acked_bytes: u64, "B" = row.flow.acked_bytes;
    /// What the application received: `8 acked_bytes / active_s`. Payload that arrived ahead of a
    /// gap does not count before the gap is closed.
    goodput_bps: f64, "bit/s" = row.rate(row.flow.acked_bytes);
    /// What the subflows delivered: 8 times their acknowledged payload, over `active_s`. Payload
    /// ahead of a gap counts, and payload that came on two subflows counts twice.
    subflow_goodput_bps: f64, "bit/s" = row.rate(row.flow.total(|s| s.acked_bytes));
    /// Data segments sent, retransmissions included. This and the other counters of a message on a
    /// connection that stays open count from the end of the message before it.
    segments: u64, "packets" = row.flow.total(|s| s.segments);
    /// Data segments sent again.
    retransmits: u64, "packets" = row.flow.total(|s| s.retransmits);
    /// Retransmission timeouts, of SYNs too.
    timeouts: u64, "" = row.flow.total(|s| s.timeouts);
    /// Fast recoveries entered.
    recoveries: u64, "" = row.flow.total(|s| s.recoveries);
    /// Windows restored, because nothing had been lost.
    undos: u64, "" = row.flow.total(|s| s.undos);
    /// Tail loss probes sent.
    probes: u64, "packets" = row.flow.total(|s| s.probes);
    /// ACKs that carried an ECN echo.
    marked_acks: u64, "packets" = row.flow.total(|s| s.marked_acks);
    /// Payload sent on a subflow after another that did not get through (`stale_after`,
    /// `fail_after`).
    reinjected_bytes: u64, "B" = row.flow.total(|s| s.reinjected_bytes);
    /// Subflows established.
    subflows: u32, "" = row.flow.subflows.iter().filter(|s| s.stats.established.is_some()).count() as u32;
    /// AMP: times the flow became single-path.
    suppressions: u32, "" = row.flow.metric("suppressions").unwrap_or(0.0) as u32;
    /// AMP: times the flow became multipath again.
    releases: u32, "" = row.flow.metric("releases").unwrap_or(0.0) as u32;
    /// The connection was given up, or its job failed.
    failed: bool, "" = row.flow.failed;
    /// The flow counts in statistics: it started in the measured period, or it is unlimited and was
    /// active in it.
    measured: bool, "" = row.measured();
    /// The part of `active_s` that lies in the measured period.
    measured_s: f64, "s" = row.measured_time().secs();
    /// Payload acknowledged at connection level in the measured period.
    measured_bytes: u64, "B" = row.flow.measured_bytes;
    /// Payload acknowledged on the subflows in the measured period.
    measured_subflow_bytes: u64, "B" = row.flow.measured_subflow_bytes;
}

impl<'a> FlowRow<'a> {
    /// The planned flow.
    fn asked(&self) -> &'a Flow {
        &self.flow.planned.flow
    }

    fn transport(&self) -> &'a PlannedTransport {
        &self.plan.transports[self.flow.planned.transport.index()]
    }

    /// The distance of its hosts.
    fn locality(&self) -> &'static str {
        let [a, b] = [self.asked().src, self.asked().dst].map(|host| self.places[host.index()]);
        match (a.0 == b.0, a.1 == b.1) {
            (true, _) => "in-rack",
            (false, true) => "in-pod",
            (false, false) => "between-pods",
        }
    }

    fn fct(&self) -> Option<Time> {
        Some(self.flow.finished? - self.asked().start)
    }

    fn fct_established(&self) -> Option<Time> {
        Some(self.flow.finished? - self.flow.established()?)
    }

    fn slowdown(&self) -> Option<f64> {
        Some(self.fct()?.secs() / self.ideal?.secs())
    }

    fn active(&self) -> Time {
        self.flow.active_until.min(self.asked().stop) - self.asked().start
    }

    /// So much payload over the time that it was active, bit/s.
    fn rate(&self, bytes: u64) -> Option<f64> {
        let active = self.active();
        (active > Time::ZERO).then(|| 8.0 * bytes as f64 / active.secs())
    }

    fn measured_time(&self) -> Time {
        let Measure { warm_up, cut_off } = self.plan.measure;
        let start = self.asked().start;
        (start + self.active()).min(cut_off).saturating_sub(start.max(warm_up))
    }

    fn measured(&self) -> bool {
        let Measure { warm_up, cut_off } = self.plan.measure;
        match self.asked().size {
            Some(_) => (warm_up..cut_off).contains(&self.asked().start),
            None => self.measured_time() > Time::ZERO,
        }
    }
}

/// The `number`-th subflow of a flow.
#[derive(Debug)]
pub(crate) struct SubflowRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) timetable: &'a Timetable,
    pub(crate) flow: &'a FlowOutcome,
    pub(crate) number: SubflowId,
    pub(crate) subflow: &'a SubflowOutcome,
}

table! {
    /// A row per subflow, in the order of their flows.
    "subflows" of SubflowRow<'_>, always, |row|
    /// Flow that it belongs to.
    flow: FlowId, "" = row.flow.flow;
    /// Number within the flow, from 0.
    subflow: SubflowId, "" = row.number;
    /// Names of the nodes, `S1 W R`, when it was established; a name with a blank or `"` stands as a JSON string. Null: packets take paths of their own
    /// (spraying by host or switches, flowlets, `"reps"`).
    path: str, "" = row.path().as_deref();
    /// Its SYN-ACK arrived, or with `join_confirmed` the answer to the third segment of its handshake;
    /// null: never.
    established_s: f64, "s" = row.subflow.stats.established.map(Time::secs);
    /// Payload acknowledged on this subflow.
    acked_bytes: u64, "B" = row.subflow.stats.acked_bytes;
    /// Data segments sent, retransmissions included.
    segments: u64, "packets" = row.subflow.stats.segments;
    /// Data segments sent again.
    retransmits: u64, "packets" = row.subflow.stats.retransmits;
    /// Retransmission timeouts, of SYNs too.
    timeouts: u64, "" = row.subflow.stats.timeouts;
    /// Fast recoveries entered.
    recoveries: u64, "" = row.subflow.stats.recoveries;
    /// Windows restored, because nothing had been lost.
    undos: u64, "" = row.subflow.stats.undos;
    /// Tail loss probes sent.
    probes: u64, "packets" = row.subflow.stats.probes;
    /// ACKs that carried an ECN echo.
    marked_acks: u64, "packets" = row.subflow.stats.marked_acks;
    /// Payload sent on this subflow after another that did not get through (`stale_after`,
    /// `fail_after`).
    reinjected_bytes: u64, "B" = row.subflow.stats.reinjected_bytes;
    /// Window cuts by ECN marks; of UET, ACKs of marked packets at which the window fell.
    cuts: u64, "" = row.subflow.stats.cuts;
    /// Congestion window at the end.
    cwnd_pkts: f64, "packets" = row.subflow.cwnd;
    /// Slow-start threshold at the end; null: unlimited.
    ssthresh_pkts: f64, "packets" = Some(row.subflow.ssthresh).filter(|s| s.is_finite());
    /// Smoothed RTT at the end; null: no sample.
    srtt_s: f64, "s" = row.subflow.srtt;
    /// Smallest RTT; null: no sample.
    min_rtt_s: f64, "s" = row.subflow.min_rtt.map(Time::secs);
    /// Retransmission timeout at the end, back-off included.
    rto_s: f64, "s" = row.subflow.rto.secs();
}

/// A measure that the family or the congestion control algorithm of a flow reports.
#[derive(Debug)]
pub(crate) struct MetricRow {
    pub(crate) flow: FlowId,
    pub(crate) metric: Metric,
}

table! {
    /// A row per measure that only one congestion control algorithm or one family of transports
    /// has, in the order of their flows.
    "metrics" of MetricRow, unless "no flow of it has measures of its congestion control algorithm or family", |row|
    /// Number of the flow.
    flow: FlowId, "" = row.flow;
    /// Name of the measure.
    metric: str, "" = row.metric.name;
    /// Value.
    value: f64, "`unit`" = row.metric.value;
    /// `s` or `bit/s`; null: a count.
    unit: str, "" = Some(row.metric.unit).filter(|unit| !unit.is_empty());
}

/// A name as it stands between the blanks of a path.
fn in_path(name: &str) -> Cow<'_, str> {
    let stands_alone = !name.contains(|c: char| c.is_whitespace() || c == '"');
    if stands_alone { name.into() } else { serde_json::to_string(name).expect("a string is JSON").into() }
}

impl SubflowRow<'_> {
    /// Do its packets take paths of their own, chosen by switches or at random by its host?
    fn changes_paths(&self) -> bool {
        let transport = &self.plan.transports[self.flow.planned.transport.index()];
        let by_switches = self.plan.routing.spreading.moves_flows() && !self.subflow.pinned;
        by_switches || transport.scatter.covers(self.number) || matches!(transport.balancing, Some(Balancing::Reps(_)))
    }

    /// Names of the nodes on its path when it was established, or its flow began.
    fn path(&self) -> Option<String> {
        if self.changes_paths() {
            return None;
        }
        let (fabric, flow) = (&self.plan.fabric, self.flow.planned.flow);
        let flags = Flags::default().with_if(Flags::PINNED, self.subflow.pinned);
        let envelope = Envelope::new(flow.dst, 0, 0);
        let packet = Packet { envelope, entropy: self.subflow.entropy, flags, ..Packet::default() };
        let mut names = in_path(fabric.name(flow.src.into())).into_owned();
        let routes = self.timetable.routes_at(self.subflow.stats.established.unwrap_or(flow.start));
        for link in routes.path(fabric, flow.src, packet) {
            names.push(' ');
            names.push_str(&in_path(fabric.name(fabric.links()[link.index()].to)));
        }
        Some(names)
    }
}
