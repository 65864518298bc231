//! Traces for Perfetto (ui.perfetto.dev): a flow, or a connection that stays open, is a process; a
//! subflow is a track with its phases as slices, a message a slice; windows, round-trip times and
//! queues are counters. A rank is a track, with what it does as slices.

mod file;
mod message;
mod ranks;
#[cfg(test)]
mod tests;
mod tracks;

use crate::plan::{FlowId, Plan};
use crate::run::{Progress, RunError};
use crate::trace::{Followed, Row, Traced, What, follow};
use file::File;
use linkpool_scenario::{PauseSeries, Scenario};
use linkpool_units::Time;
use std::collections::BTreeMap;
use std::path::Path;
use tracks::Tracks;

/// Why there is no trace for Perfetto.
#[derive(Debug, thiserror::Error)]
pub enum PerfettoError {
    /// The run has no result.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file could not be written.
    #[error("cannot write {0}: {1}")]
    Write(String, std::io::Error),
}

/// When a traced flow began and ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// Its number.
    pub flow: FlowId,
    /// When its first SYN was sent, or the message was given to its connection, ps.
    pub opened: u64,
    /// When its last data was acknowledged, ps; none: it did not finish.
    pub finished: Option<u64>,
}

/// Simulates `scenario` until `flows` have ended, as [`crate::trace()`] does, and writes their
/// events, the queue lengths that the scenario records, and all pauses of ports, to `path`. Memory is bounded: the file
/// is written while the run goes on. If the scenario records ranks, they have tracks, too, and the run goes on to its end. Returns when the flows began and ended, of those that started.
///
/// # Errors
/// The run has no result, or the file cannot be written.
pub fn perfetto(
    scenario: &Scenario,
    flows: &[Traced],
    path: &Path,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Lifetime>, PerfettoError> {
    let mut scenario = scenario.clone();
    if scenario.queue.pfc.is_some() {
        scenario.record.pauses.get_or_insert(PauseSeries { from: Time::ZERO, until: Time::MAX });
    }
    let scenario = &scenario;
    let failed = |e| PerfettoError::Write(path.display().to_string(), e);
    let fabric = scenario.topology.fabric();
    let tracks = std::cell::RefCell::new(Tracks::new(File::create(path).map_err(failed)?, &fabric));
    if scenario.record.ranks {
        tracks.borrow_mut().add_ranks(&Plan::new(scenario));
    }
    let mut lifetimes = flows.iter().map(|of| (of.flow, None)).collect();
    let mut take = |rows: Vec<Row>, samples: Vec<_>| {
        let mut tracks = tracks.borrow_mut();
        samples.iter().for_each(|sample| tracks.sample(sample));
        for row in &rows {
            note(row, &mut lifetimes);
            tracks.row(row);
        }
    };
    let followed =
        follow(scenario, flows, Some(&mut take), &mut |at| !tracks.borrow().file.is_broken() && progress(at));
    if let Ok(Followed { until, .. }) = &followed {
        tracks.borrow_mut().finish(*until);
    }
    // A failure to write also stops the run: report it first.
    tracks.into_inner().file.close().map_err(failed)?;
    followed?;
    Ok(lifetimes.into_values().flatten().collect())
}

/// Notes when a traced flow begins and ends.
fn note(row: &Row, lifetimes: &mut BTreeMap<FlowId, Option<Lifetime>>) {
    let begins = |flow| Some(Lifetime { flow, opened: row.at, finished: None });
    match row.what {
        What::Opens { stays_open: false, .. } | What::Given { .. } => {
            let flow = if let What::Given { message, .. } = row.what { message } else { row.flow };
            lifetimes.entry(flow).and_modify(|lifetime| *lifetime = begins(flow));
        }
        What::Ends { finished: true } | What::Done { finished: true, .. } => {
            let flow = if let What::Done { message, .. } = row.what { message } else { row.flow };
            if let Some(Some(lifetime)) = lifetimes.get_mut(&flow)
                && lifetime.finished.is_none()
            {
                lifetime.finished = Some(row.at);
            }
        }
        _ => {}
    }
}
