//! When a job fails, and from where it goes on.

use linkpool_units::Time;

/// Failures of a job, and its checkpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Restarts {
    /// When a rank fails, in order of time.
    pub failures: Vec<Time>,
    /// From a failure until the ranks go on.
    pub recovery: Time,
    /// Iterations from one checkpoint to the next.
    pub every: u32,
    /// How long each rank writes one.
    pub write: Time,
}

impl Restarts {
    /// Does a rank write a checkpoint when it has ended `iteration` of `iterations`? After the last
    /// one the job is over.
    pub fn saves(&self, iteration: u32, iterations: u32) -> bool {
        (iteration + 1).is_multiple_of(self.every) && iteration + 1 < iterations
    }
}

/// What the ranks of a job have saved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saved {
    /// By rank: the iterations before its last checkpoint; all, once it is done.
    by_rank: Vec<u32>,
    /// By restart: the iteration from which the ranks go on, once one of them has asked.
    from: Vec<u32>,
}

impl Saved {
    /// Nothing, of so many ranks.
    pub fn new(ranks: usize) -> Saved {
        Saved { by_rank: vec![0; ranks], from: Vec::new() }
    }

    /// A rank has saved all before `iteration`.
    pub fn save(&mut self, rank: u32, iteration: u32) {
        self.by_rank[rank as usize] = iteration;
    }

    /// The iteration from which a rank goes on at restart number `restart`, counted from 1: a
    /// checkpoint is whole when all ranks have written it. All of them ask before any goes on, and
    /// a checkpoint that was not whole is of no use from then on.
    pub fn go_on(&mut self, rank: u32, restart: u32) -> u32 {
        let whole = *self.by_rank.iter().min().expect("a job has ranks");
        // Failures in quick succession may leave restarts out.
        self.from.resize((restart as usize).max(self.from.len()), whole);
        let from = self.from[restart as usize - 1];
        self.save(rank, from);
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 7 iterations with a checkpoint after every third: after iterations 2 and 5, and none when
    /// the job is over.
    #[test]
    fn checkpoints_come_every_so_many_iterations() {
        let saved = |every: u32, iterations: u32| -> Vec<u32> {
            let restarts = Restarts { failures: Vec::new(), recovery: Time(1), every, write: Time(1) };
            (0..iterations).filter(|iteration| restarts.saves(*iteration, iterations)).collect()
        };
        assert_eq!(saved(3, 7), [2, 5]);
        assert_eq!(saved(3, 6), [2]);
        assert_eq!(saved(1, 3), [0, 1]);
        assert_eq!(saved(9, 3), [] as [u32; 0]);
    }

    /// Rank 0 has saved 6 iterations, rank 1 only 3 when the job fails: both go on from 3, even if
    /// rank 0 asks again after rank 1 has saved more. The next failure finds the new 6 of both.
    #[test]
    fn a_checkpoint_counts_when_all_ranks_have_written_it() {
        let mut saved = Saved::new(2);
        saved.save(0, 3);
        saved.save(1, 3);
        saved.save(0, 6);
        assert_eq!(saved.go_on(1, 1), 3);
        saved.save(1, 6);
        assert_eq!(saved.go_on(0, 1), 3);
        // The second failure comes before rank 0 has written it again.
        assert_eq!((saved.go_on(0, 2), saved.go_on(1, 2)), (3, 3));
        saved.save(0, 6);
        saved.save(1, 6);
        assert_eq!((saved.go_on(0, 4), saved.go_on(1, 4)), (6, 6));
    }
}
