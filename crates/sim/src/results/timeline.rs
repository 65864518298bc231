//! What ranks do over time: from events at ranks to spans without gaps.

use crate::plan::Plan;
use linkpool_units::Time;

/// Something happens to a rank of programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankEvent {
    /// Place of the programs in the plan.
    pub programs: u32,
    /// The rank.
    pub rank: u32,
    /// Number among the events of the rank.
    pub number: u32,
    /// What happens.
    pub change: RankChange,
}

/// What happens to a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankChange {
    /// It begins this iteration.
    Begins(u32),
    /// A computation begins, which would be over at this time without stragglers.
    Computes(Time),
    /// A computation is over.
    Computed,
    /// It gives its connection a message to this rank, in a job that has begun again so often.
    Sends(u32, u32),
    /// A message of its has been acknowledged, or one to it has arrived whole.
    Heard,
    /// It begins to write a checkpoint.
    Saves,
    /// Its job fails.
    Fails,
    /// It has ended its last iteration.
    Done,
    /// The run ends.
    Cut,
}

/// What a rank does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// A computation is under way, and would be without stragglers.
    Computation,
    /// A computation is under way that would be over, were the rank no straggler.
    Straggling,
    /// No computation is under way, but a message from it or to it.
    Communication,
    /// Nothing of it is under way: it waits for other ranks.
    Wait,
    /// It writes a checkpoint.
    Checkpoint,
    /// Its job has failed, and has not gone on.
    Recovery,
}

impl Doing {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Doing::Computation => "computation",
            Doing::Straggling => "straggling",
            Doing::Communication => "communication",
            Doing::Wait => "wait",
            Doing::Checkpoint => "checkpoint",
            Doing::Recovery => "recovery",
        }
    }
}

/// A time for which a rank does the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankSpan {
    /// Place of the programs in the plan.
    pub programs: u32,
    /// The rank.
    pub rank: u32,
    /// The iteration; of a checkpoint the one before it, of a recovery the one that was cut off.
    pub iteration: u32,
    /// How often the job had begun again before that.
    pub restart: u32,
    /// What it does.
    pub doing: Doing,
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// It has not begun, or its job is over.
    Away,
    Running,
    Saving,
    Down,
    Done,
}

/// A rank.
#[derive(Clone, Copy, Debug)]
struct Line {
    phase: Phase,
    /// How often its job has failed.
    failed: u32,
    /// Restart and iteration of what it does.
    attempt: (u32, u32),
    /// Computations under way, and when the last of all would be over without stragglers.
    computations: u32,
    computes_until: Time,
    /// Messages under way from it or to it.
    messages: u32,
    /// What it did until then is known.
    known: Time,
    last: Option<RankSpan>,
}

/// The ranks of all programs of a run.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// By place of the programs in the plan, and by rank.
    lines: Vec<Vec<Line>>,
    /// By place of the programs: the ranks that are not done.
    left: Vec<usize>,
}

impl Timeline {
    pub(crate) fn new(plan: &Plan) -> Timeline {
        let line = Line {
            phase: Phase::Away,
            failed: 0,
            attempt: (0, 0),
            computations: 0,
            computes_until: Time::ZERO,
            messages: 0,
            known: Time::ZERO,
            last: None,
        };
        let ranks: Vec<usize> = plan.programs.iter().map(|planned| planned.hosts.len()).collect();
        Timeline { lines: ranks.iter().map(|ranks| vec![line; *ranks]).collect(), left: ranks }
    }

    /// An event, in order of time; those of one rank at one time come as they happened. Spans that
    /// are known to be over go to `out`, those of a rank in order of time.
    pub(crate) fn push(&mut self, at: Time, event: RankEvent, out: &mut impl FnMut(RankSpan)) {
        let RankEvent { programs, rank, change, .. } = event;
        let place = programs as usize;
        if self.left[place] == 0 {
            return;
        }
        let line = self.line((programs, rank), at, out);
        match change {
            RankChange::Begins(iteration) => {
                line.attempt = (line.failed, iteration);
                line.phase = Phase::Running;
            }
            RankChange::Computes(until) => {
                line.computations += 1;
                line.computes_until = line.computes_until.max(until);
            }
            RankChange::Computed => line.computations -= 1,
            RankChange::Sends(to, failed) => {
                line.messages += 1;
                let to = self.line((programs, to), at, out);
                // The other rank may have been told of a failure in this instant.
                to.messages += u32::from(to.failed == failed);
            }
            RankChange::Heard => line.messages -= 1,
            RankChange::Saves => line.phase = Phase::Saving,
            RankChange::Fails => {
                let was_done = line.phase == Phase::Done;
                line.phase = Phase::Down;
                line.failed += 1;
                (line.computations, line.messages) = (0, 0);
                self.left[place] += usize::from(was_done);
            }
            RankChange::Done => {
                line.phase = Phase::Done;
                self.left[place] -= 1;
                if self.left[place] == 0 {
                    (0..self.lines[place].len() as u32).for_each(|rank| self.close((programs, rank), at, out));
                }
            }
            RankChange::Cut => self.close((programs, rank), at, out),
        }
    }

    /// The run ends at `at`; no event says so.
    pub(crate) fn finish(&mut self, at: Time, out: &mut impl FnMut(RankSpan)) {
        for programs in 0..self.lines.len() as u32 {
            (0..self.lines[programs as usize].len() as u32).for_each(|rank| self.close((programs, rank), at, out));
        }
    }

    /// The rank, when it is known what it did until `at`.
    fn line(&mut self, of: (u32, u32), at: Time, out: &mut impl FnMut(RankSpan)) -> &mut Line {
        let line = &mut self.lines[of.0 as usize][of.1 as usize];
        let known = std::mem::replace(&mut line.known, at);
        let computes_until = line.computes_until.clamp(known, at);
        match line.phase {
            Phase::Away => {}
            Phase::Running if line.computations > 0 => {
                line.does(of, Doing::Computation, (known, computes_until), out);
                line.does(of, Doing::Straggling, (computes_until, at), out);
            }
            Phase::Running if line.messages > 0 => line.does(of, Doing::Communication, (known, at), out),
            Phase::Running | Phase::Done => line.does(of, Doing::Wait, (known, at), out),
            Phase::Saving => line.does(of, Doing::Checkpoint, (known, at), out),
            Phase::Down => line.does(of, Doing::Recovery, (known, at), out),
        }
        line
    }

    /// The rank does nothing any more.
    fn close(&mut self, of: (u32, u32), at: Time, out: &mut impl FnMut(RankSpan)) {
        let line = self.line(of, at, out);
        line.phase = Phase::Away;
        line.last.take().into_iter().for_each(out);
    }
}

impl Line {
    /// The rank has done this from `start` to `end`, which lengthens its last span or begins another.
    fn does(
        &mut self,
        (programs, rank): (u32, u32),
        doing: Doing,
        (start, end): (Time, Time),
        out: &mut impl FnMut(RankSpan),
    ) {
        if start == end {
            return;
        }
        let (restart, iteration) = self.attempt;
        let span = RankSpan { programs, rank, iteration, restart, doing, start, end };
        match &mut self.last {
            // Between two restarts there is a recovery.
            Some(last) if (last.doing, last.iteration) == (doing, iteration) => last.end = end,
            last => last.replace(span).into_iter().for_each(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of a job.
    const JOB: &str = "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
        [transport.t]\ncontrol = \"reno\"\n[[workload.training]]\ntransport = \"t\"\ndp = 3\n";

    /// What a rank does, from when, until when, and iteration and restart.
    type Told = (Doing, u64, u64, u32, u32);

    /// The spans that follow from events (when, at which rank, what), and the end of the run at 100.
    fn spans(events: &[(u64, u32, RankChange)]) -> [Vec<Told>; 3] {
        let mut timeline = Timeline::new(&Plan::new(&crate::scenario(JOB)));
        let mut told: [Vec<Told>; 3] = Default::default();
        let mut out = |RankSpan { rank, iteration, restart, doing, start, end, .. }: RankSpan| {
            told[rank as usize].push((doing, start.0, end.0, iteration, restart));
        };
        for (number, (at, rank, change)) in (0u32..).zip(events) {
            timeline.push(Time(*at), RankEvent { programs: 0, rank: *rank, number, change: *change }, &mut out);
        }
        timeline.finish(Time(100), &mut out);
        told
    }

    use Doing::{Communication, Computation, Recovery, Straggling, Wait};
    use RankChange::{Begins, Computed, Computes, Done, Fails, Heard, Sends};

    /// Rank 1 sends to rank 0 in the instant in which the job fails, and is told of that after it: the
    /// message does not count when both have gone on, nor do those that they had sent before.
    #[test]
    fn messages_of_the_instant_of_a_failure_count_no_more() {
        let [zero, one, _] = spans(&[
            (0, 0, Begins(0)),
            (0, 1, Begins(0)),
            (4, 0, Sends(2, 0)),
            (10, 0, Fails),
            (10, 1, Sends(0, 0)),
            (10, 1, Fails),
            (20, 0, Begins(0)),
            (20, 1, Begins(0)),
        ]);
        let again = [(Recovery, 10, 20, 0, 0), (Wait, 20, 100, 0, 1)];
        assert_eq!(zero, [&[(Wait, 0, 4, 0, 0), (Communication, 4, 10, 0, 0)][..], &again].concat());
        assert_eq!(one, [&[(Wait, 0, 10, 0, 0)][..], &again].concat());
    }

    /// Two computations, of which the second would be over at 12 and the first at 30, and ends at 40; then one is left,
    /// which is late from its begin on.
    #[test]
    fn of_several_computations_the_last_decides() {
        let [zero, ..] = spans(&[
            (0, 0, Begins(3)),
            (0, 0, Computes(Time(30))),
            (2, 0, Computes(Time(12))),
            (25, 0, Computed),
            (40, 0, Computed),
            (40, 0, Sends(1, 0)),
            (40, 0, Computes(Time(40))),
            (50, 0, Computed),
            (60, 0, Heard),
        ]);
        let expected = [
            (Computation, 0, 30, 3, 0),
            (Straggling, 30, 50, 3, 0),
            (Communication, 50, 60, 3, 0),
            (Wait, 60, 100, 3, 0),
        ];
        assert_eq!(zero, expected);
    }

    /// A rank that is done waits until all are; if the job fails before, it begins again; what comes after is not the job's.
    #[test]
    fn a_job_is_over_when_all_its_ranks_are_done() {
        let begin = |at| (0..3).map(move |rank| (at, rank, Begins(0)));
        let mut events: Vec<_> = begin(0).collect();
        events.push((5, 0, Done));
        events.extend((0..3).map(|rank| (10, rank, Fails)));
        events.extend(begin(20));
        events.extend([(30, 0, Done), (40, 1, Done), (50, 2, Done), (60, 0, Fails), (70, 1, Begins(0))]);
        for told in spans(&events) {
            assert_eq!(told, [(Wait, 0, 10, 0, 0), (Recovery, 10, 20, 0, 0), (Wait, 20, 50, 0, 1)]);
        }
    }
}
