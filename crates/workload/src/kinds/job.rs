//! A job of ranks, as programs and training have it: what befalls it, and what a run demands of it.

use std::sync::Arc;

use linkpool_units::Time;

use super::{Demand, Failures, Pairs, Place, RankHosts, RankPrograms, Run, Stragglers};
use crate::program::Programs;

/// The parts of a job that all kinds of jobs declare.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// Number of ranks.
    pub ranks: u128,
    /// How often each rank runs its program.
    pub iterations: u32,
    /// The hosts of ranks.
    pub placed: &'a RankHosts,
    /// Ranks that compute slower than others.
    pub stragglers: Option<&'a Stragglers>,
    /// When it fails.
    pub failures: Option<&'a Failures>,
}

impl Job<'_> {
    /// Checks what befalls it.
    pub(super) fn check(&self, place: &mut Place<'_>) {
        if let Some(stragglers) = self.stragglers {
            stragglers.check(self.ranks, self.iterations, place);
        }
        if let Some(failures) = self.failures {
            failures.check(place);
        }
    }

    /// Its ranks run `programs`, in which a unit of computation takes `unit`.
    pub(super) fn demand(&self, programs: Option<&Arc<Programs>>, unit: Time, run: &Run) -> Demand {
        let Some(programs) = programs.cloned() else { return Demand::default() };
        let ranks = self.ranks as u32;
        let hosts = self.placed.of(ranks, || run.shuffled());
        let restarts = self.failures.map(|failures| failures.of(run));
        let slow = self.stragglers.map(|stragglers| stragglers.of(ranks, run));
        let programs = RankPrograms { programs, hosts, iterations: self.iterations, unit, slow, restarts };
        Demand { programs: Some(programs), ..Demand::default() }
    }

    /// The hosts whose ranks send messages to each other.
    pub(super) fn pairs(&self, programs: Option<&Arc<Programs>>) -> Pairs {
        let Some(programs) = programs else { return Pairs::Listed(Vec::new()) };
        if self.placed.are_drawn() {
            return Pairs::Any { in_rack: true };
        }
        let hosts = self.placed.of(self.ranks as u32, Vec::new);
        Pairs::Listed(programs.pairs.iter().map(|(a, b)| (hosts[*a as usize], hosts[*b as usize])).collect())
    }
}
