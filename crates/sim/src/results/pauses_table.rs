//! The table of pauses.

use crate::plan::Plan;
use crate::results::column::table;
use crate::results::outcome::{LinkOutcome, Outcome};
use crate::results::table::Table;
use linkpool_network::{LinkId, PauseStats};
use linkpool_units::Time;
use parquet::errors::Result;
use std::path::Path;

/// A link whose port neighbours pause.
pub(super) struct PauseRow<'a> {
    plan: &'a Plan,
    link: LinkId,
    stats: PauseStats,
    simulated: Time,
}

table! {
    /// A row per directed link, where ports pause their neighbours.
    "pauses" of PauseRow<'_>, unless "its scenario has no `pfc` in `[queue]`", |row|
    /// `FROM->TO`.
    link: str, "" = row.plan.fabric.link_name(row.link).as_str();
    /// How often `TO` has paused a priority of this port; priorities count each.
    pauses: u64, "" = row.stats.pauses;
    /// How often a pause was over by itself, as the frame was not repeated in time.
    lapsed: u64, "" = row.stats.lapsed;
    /// Time for which at least one of its priorities was paused.
    paused_s: f64, "s" = row.stats.paused.secs();
    /// That time over the simulated time.
    paused_share: f64, "" = row.share();
    /// Frames that this port has sent, to pause or to resume the port of `TO` that leads back. They count in `packets` and
    /// `bytes` of `links`, too.
    frames_sent: u64, "frames" = row.stats.frames;
}

impl PauseRow<'_> {
    fn share(&self) -> Option<f64> {
        (self.simulated > Time::ZERO).then(|| self.stats.paused.secs() / self.simulated.secs())
    }
}

/// Writes `pauses.parquet`, if ports pause their neighbours.
pub(crate) fn write(directory: &Path, plan: &Plan, outcome: &Outcome) -> Result<()> {
    let links = LinkId::first(outcome.links.len()).zip(&outcome.links);
    let row = |(link, LinkOutcome { pauses, .. }): (LinkId, &LinkOutcome)| {
        pauses.map(|stats| PauseRow { plan, link, stats, simulated: outcome.simulated })
    };
    let rows: Vec<_> = links.filter_map(row).collect();
    if rows.is_empty() { Ok(()) } else { Table::write(directory, rows) }
}
