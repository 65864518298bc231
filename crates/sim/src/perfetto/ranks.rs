//! The tracks of ranks: a group for each job, a track for each rank, with its iterations as slices,
//! and in these what it does.

use super::file::{File, Track};
use crate::plan::Plan;
use crate::results::timeline::{RankEvent, RankSpan, Timeline};
use linkpool_units::{Time, counted};

/// Writes what ranks do to their tracks.
pub(super) struct RankTracks {
    timeline: Timeline,
    open: Open,
}

/// By place of the programs, and by rank: iteration and restart of the slice that is open, and the
/// end of what is known in it.
type Open = Vec<Vec<Option<((u32, u32), Time)>>>;

/// The first number of tracks of ranks.
pub(super) const RANKS: u64 = 1 << 61;

/// The group of a job.
pub(super) fn group(programs: u32) -> u64 {
    RANKS + ((u64::from(programs) + 1) << 33)
}

pub(super) fn track(programs: u32, rank: u32) -> u64 {
    group(programs) + u64::from(rank) + 1
}

impl RankTracks {
    /// Describes them: all are there from the start.
    pub(super) fn new(plan: &Plan, file: &mut File) -> RankTracks {
        let mut open = Vec::new();
        for (programs, planned) in (0u32..).zip(&plan.programs) {
            let name = format!("ranks of {}", plan.labels[planned.label.index()]);
            file.track(Track { uuid: group(programs), name, parent: None });
            for (rank, host) in (0u32..).zip(&planned.hosts) {
                let name = format!("rank {rank} on {}", plan.fabric.name((*host).into()));
                file.track(Track { uuid: track(programs, rank), name, parent: Some(group(programs)) });
            }
            open.push(vec![None; planned.hosts.len()]);
        }
        RankTracks { timeline: Timeline::new(plan), open }
    }

    /// Something happens to a rank.
    pub(super) fn event(&mut self, at: Time, event: RankEvent, file: &mut File) {
        let RankTracks { timeline, open } = self;
        timeline.push(at, event, &mut |span| slice(file, open, span));
    }

    /// The run ends.
    pub(super) fn finish(&mut self, at: Time, file: &mut File) {
        let RankTracks { timeline, open } = self;
        timeline.finish(at, &mut |span| slice(file, open, span));
        for (programs, ranks) in (0u32..).zip(open) {
            for (rank, open) in (0u32..).zip(ranks) {
                open.iter().for_each(|(_, end)| file.end(end.0, track(programs, rank)));
            }
        }
    }
}

/// A slice in that of its iteration.
fn slice(file: &mut File, open: &mut Open, span: RankSpan) {
    let RankSpan { programs, rank, iteration, restart, doing, start, end } = span;
    let uuid = track(programs, rank);
    let of = &mut open[programs as usize][rank as usize];
    if of.is_none_or(|(of, _)| of != (iteration, restart)) {
        of.iter().for_each(|(_, end)| file.end(end.0, uuid));
        let again = if restart == 0 { String::new() } else { format!(", after {}", counted(restart, "restart")) };
        file.begin(start.0, uuid, &format!("iteration {iteration}{again}"), Vec::new());
    }
    *of = Some(((iteration, restart), end));
    file.begin(start.0, uuid, doing.name(), Vec::new());
    file.end(end.0, uuid);
}
