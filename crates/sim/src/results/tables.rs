//! The tables of a result directory; `docs/results.md` documents their columns.

use crate::plan::{Plan, PlannedFlow};
use crate::results::ideal::Ideal;
use crate::results::jobs_table::{create_jobs, push_job};
use crate::results::outcome::{FlowOutcome, JobOutcome, Outcome, SubflowOutcome};
use crate::results::sample::Sample;
use crate::results::series::SeriesTables;
use crate::results::sink::Sink;
use crate::results::table::{Kind, Table};
use linkpool_network::{Flags, LinkId, NodeId, Packet, Spreading, Timetable};
use linkpool_scenario::Measure;
use linkpool_transport::paths::Balancing;
use linkpool_units::Time;
use linkpool_workload::Flow;
use parquet::errors::{ParquetError, Result};
use std::path::Path;

/// What is written while the run goes on.
pub(crate) struct Tables<'p> {
    plan: &'p Plan,
    timetable: &'p Timetable,
    flows: Table,
    subflows: Table,
    ideal: Ideal<'p>,
    /// Of every host.
    racks_and_pods: Vec<(NodeId, NodeId)>,
    jobs: Option<Table>,
    series: SeriesTables<'p>,
    /// The first failure to write; it ends the run.
    failure: Option<ParquetError>,
}

impl<'p> Tables<'p> {
    pub(crate) fn create(directory: &Path, plan: &'p Plan, timetable: &'p Timetable) -> Result<Tables<'p>> {
        Ok(Tables {
            plan,
            timetable,
            flows: create_flows(directory)?,
            subflows: create_subflows(directory)?,
            racks_and_pods: plan.fabric.racks_and_pods(),
            ideal: Ideal::new(plan, timetable.routes_at(Time::ZERO)),
            jobs: create_jobs(directory, plan)?,
            series: SeriesTables::create(directory, plan)?,
            failure: None,
        })
    }

    fn note(&mut self, written: Result<()>) {
        if let Err(e) = written {
            self.failure.get_or_insert(e);
        }
    }

    /// Closes the tables; the first failure of any write comes back here.
    pub(crate) fn close(self) -> Result<()> {
        match self.failure {
            Some(failure) => Err(failure),
            None => {
                let jobs = self.jobs.map_or(Ok(()), Table::close);
                self.series.close().and(self.flows.close()).and(self.subflows.close()).and(jobs)
            }
        }
    }
}

impl Sink for Tables<'_> {
    fn sample(&mut self, sample: Sample) {
        let written = self.series.push(sample);
        self.note(written);
    }

    fn flow(&mut self, flow: FlowOutcome) {
        let Flow { src, dst, .. } = flow.planned.flow;
        let locality = locality(self.racks_and_pods[src as usize], self.racks_and_pods[dst as usize]);
        let computed = (locality, self.ideal.fct(&flow.planned));
        let written = push_flow(&mut self.flows, self.plan, computed, &flow)
            .and_then(|()| push_subflows(&mut self.subflows, self.plan, self.timetable, &flow));
        self.note(written);
    }

    fn job(&mut self, job: JobOutcome) {
        let written = self.jobs.as_mut().map_or(Ok(()), |table| push_job(table, self.plan, &job));
        self.note(written);
    }

    fn is_broken(&self) -> bool {
        self.failure.is_some()
    }
}

fn create_flows(directory: &Path) -> Result<Table> {
    use Kind::{Bool, F64, I64, Text, U32};
    let columns = [
        ("flow", U32),
        ("label", Text),
        ("burst", U32),
        ("job", U32),
        ("transport", Text),
        ("control", Text),
        ("src", Text),
        ("dst", Text),
        ("locality", Text),
        ("size_bytes", I64),
        ("start_s", F64),
        ("established_s", F64),
        ("end_s", F64),
        ("fct_s", F64),
        ("fct_established_s", F64),
        ("ideal_fct_s", F64),
        ("slowdown", F64),
        ("active_s", F64),
        ("acked_bytes", I64),
        ("goodput_bps", F64),
        ("segments", I64),
        ("retransmits", I64),
        ("timeouts", I64),
        ("recoveries", I64),
        ("undos", I64),
        ("probes", I64),
        ("marked_acks", I64),
        ("reinjected_bytes", I64),
        ("subflows", U32),
        ("suppressions", U32),
        ("releases", U32),
        ("failed", Bool),
        ("measured", Bool),
        ("measured_s", F64),
        ("measured_bytes", I64),
    ];
    Table::create(&directory.join("flows.parquet"), &columns)
}

/// How far apart hosts are.
fn locality(a: (NodeId, NodeId), b: (NodeId, NodeId)) -> &'static str {
    match (a.0 == b.0, a.1 == b.1) {
        (true, _) => "in-rack",
        (false, true) => "in-pod",
        (false, false) => "between-pods",
    }
}

fn push_flow(
    table: &mut Table,
    plan: &Plan,
    (locality, ideal): (&'static str, Option<Time>),
    f: &FlowOutcome,
) -> Result<()> {
    let PlannedFlow { flow, transport, label } = f.planned;
    let transport = &plan.transports[transport as usize];
    let established = f.established();
    let active = f.active_until.min(flow.stop) - flow.start;
    let Measure { warm_up, cut_off } = plan.measure;
    let measured_s = (flow.start + active).min(cut_off).saturating_sub(flow.start.max(warm_up)).secs();
    let measured = if flow.size.is_some() { (warm_up..cut_off).contains(&flow.start) } else { measured_s > 0.0 };
    let goodput = (active > Time::ZERO).then(|| 8.0 * f.acked_bytes as f64 / active.secs());
    table.push([
        f.flow.into(),
        plan.labels[label as usize].as_str().into(),
        flow.burst.into(),
        flow.job.into(),
        transport.name.as_str().into(),
        transport.control.into(),
        plan.fabric.name(flow.src as NodeId).into(),
        plan.fabric.name(flow.dst as NodeId).into(),
        locality.into(),
        flow.size.into(),
        flow.start.secs().into(),
        established.map(Time::secs).into(),
        f.finished.map(Time::secs).into(),
        f.finished.map(|end| (end - flow.start).secs()).into(),
        f.finished.zip(established).map(|(end, e)| (end - e).secs()).into(),
        ideal.map(Time::secs).into(),
        f.finished.zip(ideal).map(|(end, ideal)| (end - flow.start).secs() / ideal.secs()).into(),
        active.secs().into(),
        f.acked_bytes.into(),
        goodput.into(),
        f.total(|s| s.segments).into(),
        f.total(|s| s.retransmits).into(),
        f.total(|s| s.timeouts).into(),
        f.total(|s| s.recoveries).into(),
        f.total(|s| s.undos).into(),
        f.total(|s| s.probes).into(),
        f.total(|s| s.marked_acks).into(),
        f.total(|s| s.reinjected_bytes).into(),
        (f.subflows.iter().filter(|s| s.stats.established.is_some()).count() as u32).into(),
        (f.metric("suppressions") as u32).into(),
        (f.metric("releases") as u32).into(),
        f.failed.into(),
        measured.into(),
        measured_s.into(),
        f.measured_bytes.into(),
    ])
}

fn create_subflows(directory: &Path) -> Result<Table> {
    use Kind::{F64, I64, Text, U32};
    let columns = [
        ("flow", U32),
        ("subflow", U32),
        ("path", Text),
        ("established_s", F64),
        ("acked_bytes", I64),
        ("segments", I64),
        ("retransmits", I64),
        ("timeouts", I64),
        ("recoveries", I64),
        ("undos", I64),
        ("probes", I64),
        ("marked_acks", I64),
        ("reinjected_bytes", I64),
        ("cuts", I64),
        ("cwnd_pkts", F64),
        ("ssthresh_pkts", F64),
        ("srtt_s", F64),
        ("min_rtt_s", F64),
        ("rto_s", F64),
    ];
    Table::create(&directory.join("subflows.parquet"), &columns)
}

fn push_subflows(table: &mut Table, plan: &Plan, timetable: &Timetable, f: &FlowOutcome) -> Result<()> {
    for (i, s) in f.subflows.iter().enumerate() {
        table.push([
            f.flow.into(),
            (i as u32).into(),
            (!changes_paths(plan, f, i, s)).then(|| path_names(plan, timetable, f, s)).as_deref().into(),
            s.stats.established.map(Time::secs).into(),
            s.stats.acked_bytes.into(),
            s.stats.segments.into(),
            s.stats.retransmits.into(),
            s.stats.timeouts.into(),
            s.stats.recoveries.into(),
            s.stats.undos.into(),
            s.stats.probes.into(),
            s.stats.marked_acks.into(),
            s.stats.reinjected_bytes.into(),
            s.stats.cuts.into(),
            s.cwnd.into(),
            s.ssthresh.is_finite().then_some(s.ssthresh).into(),
            s.srtt.into(),
            s.min_rtt.map(Time::secs).into(),
            s.rto.secs().into(),
        ])?;
    }
    Ok(())
}

/// Do packets of the `i`-th subflow take paths of their own, chosen by switches or at random by its host?
fn changes_paths(plan: &Plan, f: &FlowOutcome, i: usize, s: &SubflowOutcome) -> bool {
    let transport = &plan.transports[f.planned.transport as usize];
    let by_switches = plan.routing.spreading != Spreading::Flows && !s.pinned;
    by_switches || transport.scatter.covers(i) || matches!(transport.balancing, Some(Balancing::Reps(_)))
}

/// Names of the nodes on the path of a subflow when it was established, or its flow began.
fn path_names(plan: &Plan, timetable: &Timetable, f: &FlowOutcome, s: &SubflowOutcome) -> String {
    let flow = f.planned.flow;
    let flags = Flags::default().with_if(Flags::PINNED, s.pinned);
    let packet = Packet { dst: flow.dst, entropy: s.entropy, flags, ..Packet::default() };
    let mut names = plan.fabric.name(flow.src as NodeId).to_string();
    let routes = timetable.routes_at(s.stats.established.unwrap_or(flow.start));
    for link in routes.path(&plan.fabric, flow.src, packet) {
        names.push(' ');
        names.push_str(plan.fabric.name(plan.fabric.links()[link as usize].to));
    }
    names
}

/// Writes `links.parquet`.
pub(crate) fn links(directory: &Path, plan: &Plan, outcome: &Outcome) -> Result<()> {
    use Kind::{F64, I64, Text, U32};
    let columns = [
        ("link", Text),
        ("from", Text),
        ("to", Text),
        ("layer", Text),
        ("to_layer", Text),
        ("rate_bps", F64),
        ("delay_s", F64),
        ("packets", I64),
        ("bytes", I64),
        ("drops", I64),
        ("drop_bytes", I64),
        ("drops_down", I64),
        ("drops_loss", I64),
        ("marks", I64),
        ("max_queue_pkts", U32),
        ("utilisation", F64),
    ];
    let mut table = Table::create(&directory.join("links.parquet"), &columns)?;
    for (id, (spec, l)) in plan.fabric.links().iter().zip(&outcome.links).enumerate() {
        let could = plan.changes.capacity(id as LinkId, spec.rate, outcome.simulated);
        table.push([
            plan.fabric.link_name(id as LinkId).as_str().into(),
            plan.fabric.name(spec.from).into(),
            plan.fabric.name(spec.to).into(),
            plan.fabric.layer(spec.from).name().into(),
            plan.fabric.layer(spec.to).name().into(),
            (spec.rate.0 as f64).into(),
            spec.delay.secs().into(),
            l.stats.packets.into(),
            l.stats.bytes.into(),
            l.stats.rare.drops.into(),
            l.stats.rare.drop_bytes.into(),
            l.stats.rare.drops_down.into(),
            l.stats.rare.drops_loss.into(),
            l.stats.rare.marks.into(),
            l.stats.max_queue.into(),
            (could > 0.0).then(|| 8.0 * l.sent_bytes as f64 / could).into(),
        ])?;
    }
    table.close()
}
