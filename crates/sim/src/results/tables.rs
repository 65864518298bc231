//! The tables of a result directory. Their columns are declared beside the types of their rows.

use crate::offered::OfferedLoad;
use crate::plan::Plan;
use crate::results::changes_table::{self, ChangeRow};
use crate::results::column::{Row, TableInfo};
use crate::results::flows_table::{FlowRow, MetricRow, SubflowRow};
use crate::results::ideal::Ideal;
use crate::results::jobs_table::JobRow;
use crate::results::links_table::LinkRow;
use crate::results::outcome::{FlowOutcome, JobOutcome, Outcome, RankOutcome, RequestOutcome};
use crate::results::pauses_table::{self, PauseRow};
use crate::results::ranks_table::RankRow;
use crate::results::requests_table::RequestRow;
use crate::results::sample::Sample;
use crate::results::series::{SERIES, SeriesTables};
use crate::results::sink::Sink;
use crate::results::summary::summarise;
use crate::results::table::Table;
use crate::results::tiers_table;
use crate::results::workloads_table::{self, WorkloadRow};
use linkpool_network::Timetable;
use linkpool_scenario::Scenario;
use linkpool_transport::SubflowId;
use linkpool_units::Time;
use parquet::errors::{ParquetError, Result};
use std::path::Path;

/// Columns whose values are unknown in a run that was not simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unknown {
    /// Columns of the table of flows.
    pub of_flows: &'static [&'static str],
    /// Columns of the table of subflows.
    pub of_subflows: &'static [&'static str],
}

/// The tables that are written during the run.
pub(crate) struct Tables<'p> {
    plan: &'p Plan,
    timetable: &'p Timetable,
    flows: Table,
    subflows: Table,
    /// Created with the first measure.
    metrics: Option<Table>,
    directory: &'p Path,
    ideal: Ideal<'p>,
    /// Rack and pod of every host.
    places: Vec<(u32, u32)>,
    jobs: Option<Table>,
    ranks: Option<Table>,
    requests: Option<Table>,
    /// By label: the number of flows that have started.
    started: Vec<u32>,
    series: SeriesTables<'p>,
    /// The first failure to write, which ends the run.
    failure: Option<ParquetError>,
}

impl<'p> Tables<'p> {
    /// Creates them in `directory`; columns that are `unknown` are null.
    pub(crate) fn create(
        directory: &'p Path,
        plan: &'p Plan,
        timetable: &'p Timetable,
        unknown: &Unknown,
    ) -> Result<Tables<'p>> {
        let has_jobs = plan.jobs.iter().any(Option::is_some);
        Ok(Tables {
            plan,
            timetable,
            flows: Table::create::<FlowRow<'_>>(directory)?.without::<FlowRow<'_>>(unknown.of_flows),
            subflows: Table::create::<SubflowRow<'_>>(directory)?.without::<SubflowRow<'_>>(unknown.of_subflows),
            metrics: None,
            directory,
            places: plan.fabric.racks_and_pods(),
            ideal: Ideal::new(plan, timetable.routes_at(Time::ZERO)),
            jobs: has_jobs.then(|| Table::create::<JobRow<'_>>(directory)).transpose()?,
            ranks: (!plan.programs.is_empty()).then(|| Table::create::<RankRow<'_>>(directory)).transpose()?,
            requests: (!plan.served.is_empty()).then(|| Table::create::<RequestRow<'_>>(directory)).transpose()?,
            started: vec![0; plan.labels.len()],
            series: SeriesTables::create(directory, plan)?,
            failure: None,
        })
    }

    /// Writes the measures of `flow`.
    fn metrics(&mut self, flow: &FlowOutcome) -> Result<()> {
        for metric in &flow.metrics {
            let table = match &mut self.metrics {
                Some(table) => table,
                none => none.insert(Table::create::<MetricRow>(self.directory)?),
            };
            table.push(&MetricRow { flow: flow.flow, metric: *metric })?;
        }
        Ok(())
    }

    fn note(&mut self, written: Result<()>) {
        if let Err(e) = written {
            self.failure.get_or_insert(e);
        }
    }

    /// Closes the tables, and returns the number of flows that have started, by label.
    ///
    /// # Errors
    /// The first failure of any write so far.
    pub(crate) fn close(self) -> Result<Vec<u32>> {
        match self.failure {
            Some(failure) => Err(failure),
            None => {
                let rest = [self.jobs, self.ranks, self.requests, self.metrics]
                    .into_iter()
                    .flatten()
                    .try_for_each(Table::close);
                self.series.close().and(self.flows.close()).and(self.subflows.close()).and(rest)?;
                Ok(self.started)
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
        let (plan, flow) = (self.plan, &flow);
        self.started[flow.planned.label.index()] += 1;
        let ideal = self.ideal.fct(&flow.planned, flow.connection != flow.flow);
        let mut written = self.flows.push(&FlowRow { plan, flow, ideal, places: &self.places });
        for (number, subflow) in SubflowId::first(flow.subflows.len()).zip(&flow.subflows) {
            let row = SubflowRow { plan, timetable: self.timetable, flow, number, subflow };
            written = written.and_then(|()| self.subflows.push(&row));
        }
        written = written.and_then(|()| self.metrics(flow));
        self.note(written);
    }

    fn job(&mut self, job: JobOutcome) {
        let row = JobRow { plan: self.plan, outcome: &job };
        let written = self.jobs.as_mut().map_or(Ok(()), |table| table.push(&row));
        self.note(written);
    }

    fn rank(&mut self, rank: RankOutcome) {
        let row = RankRow { plan: self.plan, outcome: &rank };
        let written = self.ranks.as_mut().map_or(Ok(()), |table| table.push(&row));
        self.note(written);
    }

    fn request(&mut self, request: RequestOutcome) {
        let row = RequestRow { plan: self.plan, outcome: &request };
        let written = self.requests.as_mut().map_or(Ok(()), |table| table.push(&row));
        self.note(written);
    }

    fn is_broken(&self) -> bool {
        self.failure.is_some()
    }
}

/// Writes the tables that are known only at the end of a run, and the summary of all; `started` is the
/// result of [`Tables::close`].
pub(crate) fn write_rest(
    directory: &Path,
    scenario: &Scenario,
    plan: &Plan,
    outcome: &Outcome,
    started: &[u32],
) -> Result<()> {
    Table::write(directory, LinkRow::all(plan, outcome))?;
    workloads_table::write(directory, scenario, plan, started)?;
    tiers_table::write(directory, scenario, plan)?;
    pauses_table::write(directory, plan, outcome)?;
    changes_table::write(directory, plan)?;
    let end = outcome.simulated;
    let period = (plan.measure.warm_up.secs(), plan.measure.cut_off.min(end).secs());
    let summary = summarise(directory, period, end.secs()).map_err(ParquetError::General)?;
    Ok(std::fs::write(directory.join("summary.json"), summary + "\n")?)
}

/// The tables that a result may have, with their columns.
pub fn tables() -> Vec<TableInfo> {
    let mut tables = vec![FlowRow::TABLE, SubflowRow::TABLE, MetricRow::TABLE];
    tables.extend([
        JobRow::TABLE,
        RankRow::TABLE,
        RequestRow::TABLE,
        WorkloadRow::TABLE,
        OfferedLoad::TABLE,
        LinkRow::TABLE,
        PauseRow::TABLE,
        ChangeRow::TABLE,
    ]);
    tables.extend(SERIES);
    tables
}
