//! The barrier at which the threads of a run meet once a window, and all that they exchange there.
//!
//! Everything is double-buffered: round n uses half n mod 2. A thread that is slow to read the
//! reports of round n finds them unchanged: the next to write to the same half is round n + 2, and
//! that needs this thread at barrier n + 1. With `--cfg loom` the tests below try every order that
//! the memory model allows (`./x test --long`).

#[cfg(loom)]
use loom::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    sync::{Mutex, MutexGuard},
};
#[cfg(not(loom))]
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    sync::{Mutex, MutexGuard},
};

/// No window.
pub(super) const NEVER: u64 = u64::MAX;

/// The report of a partition to all others at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Report {
    /// The next window that it needs, as far as it knows, or [`NEVER`].
    pub next: u64,
    /// [`crate::Handler::done`].
    pub done: u64,
    /// Packet-hops so far.
    pub hops: u64,
    /// All are to stop.
    pub stops: bool,
}

/// The common knowledge of all partitions after a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Agreed {
    /// The next window that any of them needs, or [`NEVER`].
    pub next: u64,
    /// The sum of [`crate::Handler::done`].
    pub done: u64,
}

/// A [`Report`] where others read it. Written by one thread and read by all, once a window: on two
/// cache lines of its own, since processors fetch cache lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Words {
    /// The number of barriers to which this partition has come. Written last: who reads it sees the
    /// rest.
    rounds: AtomicU64,
    next: AtomicU64,
    done: AtomicU64,
    hops: AtomicU64,
    stops: AtomicBool,
}

/// A mailbox on cache lines of its own, as [`Words`] are.
#[derive(Default)]
#[repr(align(128))]
struct Locked<M>(Mutex<M>);

/// The shared state of the threads: their reports, a mailbox `M` from each partition to each other,
/// and whether one has failed.
pub(super) struct Barrier<M> {
    partitions: usize,
    /// By half and partition.
    words: [Vec<Words>; 2],
    /// By half, sending partition and receiving partition.
    mailboxes: [Vec<Locked<M>>; 2],
    /// A thread has panicked: the others must not wait for it.
    poisoned: AtomicBool,
}

impl<M: Default> Barrier<M> {
    pub fn new(partitions: usize) -> Barrier<M> {
        let words = || (0..partitions).map(|_| Words::default()).collect();
        let mailboxes = || (0..partitions * partitions).map(|_| Locked::default()).collect();
        Barrier {
            partitions,
            words: [words(), words()],
            mailboxes: [mailboxes(), mailboxes()],
            poisoned: AtomicBool::new(false),
        }
    }

    pub fn partitions(&self) -> usize {
        self.partitions
    }

    pub fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<M> {
        (0..self.partitions).filter(move |partition| *partition != me)
    }

    /// The mailbox of round `round`: before the barrier it is the sender's, after it the
    /// receiver's.
    pub fn mailbox(&self, round: u64, from: usize, to: usize) -> MutexGuard<'_, M> {
        let half = &self.mailboxes[(round % 2) as usize];
        half[from * self.partitions + to].0.lock().expect("a thread that fails takes the run with it")
    }

    /// Comes to barrier number `round` as partition `me`, and waits for the others. After it, all
    /// threads see the writes of any thread before it.
    pub fn wait(&self, round: u64, me: usize, report: Report) {
        let half = &self.words[(round % 2) as usize];
        half[me].next.store(report.next, Ordering::Relaxed);
        half[me].done.store(report.done, Ordering::Relaxed);
        half[me].hops.store(report.hops, Ordering::Relaxed);
        half[me].stops.store(report.stops, Ordering::Relaxed);
        half[me].rounds.store(round + 1, Ordering::Release);
        let mut spins = 0u32;
        for other in half {
            while other.rounds.load(Ordering::Acquire) <= round {
                assert!(!self.poisoned.load(Ordering::Relaxed), "another thread of the simulation has failed");
                spins += 1;
                pause(spins);
            }
        }
    }

    /// After barrier `round`: the reports of all; none if one of them stops.
    pub fn agreed(&self, round: u64) -> Option<Agreed> {
        let half = &self.words[(round % 2) as usize];
        let next = half.iter().map(|w| w.next.load(Ordering::Relaxed)).min().unwrap_or(NEVER);
        let done = half.iter().map(|w| w.done.load(Ordering::Relaxed)).sum();
        (!half.iter().any(|w| w.stops.load(Ordering::Relaxed))).then_some(Agreed { next, done })
    }

    /// Packet-hops of all partitions up to the barrier before `round`, to which this thread has not
    /// yet come.
    pub fn hops(&self, round: u64) -> u64 {
        self.words[((round + 1) % 2) as usize].iter().map(|w| w.hops.load(Ordering::Relaxed)).sum()
    }
}

/// Waits a little. Spinning is far shorter than a sleep; but if there are fewer cores than threads,
/// the others must run.
#[cfg(not(loom))]
fn pause(spins: u32) {
    if spins.is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
}

#[cfg(loom)]
fn pause(_spins: u32) {
    loom::thread::yield_now();
}

/// Tells the other threads if this one panics.
pub(super) struct Guard<'a, M>(pub &'a Barrier<M>);

impl<M> Drop for Guard<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{Barrier, Report};
    use loom::model::Builder;
    use loom::sync::Arc;
    use loom::thread;

    /// The report of partition `me` in `round`: its numbers differ for each round and partition.
    fn report(round: u64, me: usize) -> Report {
        let own = 10 * round + me as u64;
        Report { next: 100 + own, done: own, hops: 1000 + own, stops: false }
    }

    /// The work of a thread: in each round it sends, reports, waits, and finds the mail and reports
    /// of all others in this round.
    fn take_part(barrier: &Barrier<Vec<u64>>, me: usize, rounds: u64) {
        let all = 0..barrier.partitions();
        for round in 0..rounds {
            if round > 0 {
                let hops: u64 = all.clone().map(|of| report(round - 1, of).hops).sum();
                assert_eq!(barrier.hops(round), hops, "the hops of the round before");
            }
            for to in barrier.others(me) {
                barrier.mailbox(round, me, to).push(10 * round + me as u64);
            }
            barrier.wait(round, me, report(round, me));
            for from in barrier.others(me) {
                let found = std::mem::take(&mut *barrier.mailbox(round, from, me));
                assert_eq!(found, [10 * round + from as u64], "one message, of this round");
            }
            let agreed = barrier.agreed(round).expect("nobody stops");
            assert_eq!(agreed.next, report(round, 0).next, "the least");
            assert_eq!(agreed.done, all.clone().map(|of| report(round, of).done).sum::<u64>());
        }
    }

    fn model(partitions: usize, rounds: u64, preemptions: usize) {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(preemptions);
        builder.max_branches = 100_000;
        builder.check(move || {
            let barrier = Arc::new(Barrier::new(partitions));
            let threads: Vec<_> = (1..partitions)
                .map(|me| {
                    let barrier = barrier.clone();
                    thread::spawn(move || take_part(&barrier, me, rounds))
                })
                .collect();
            take_part(&barrier, 0, rounds);
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }

    /// Four rounds use each half twice. (With three threads a model does not end in minutes.)
    #[test]
    fn loom_two_threads_exchange_what_belongs_to_each_round() {
        model(2, 4, 3);
    }

    #[test]
    fn loom_one_that_stops_stops_all() {
        loom::model(|| {
            let barrier = Arc::new(Barrier::<Vec<u64>>::new(2));
            let other = barrier.clone();
            let thread = thread::spawn(move || {
                other.wait(0, 1, Report { stops: true, ..report(0, 1) });
                other.agreed(0)
            });
            barrier.wait(0, 0, report(0, 0));
            assert_eq!(barrier.agreed(0), None);
            assert_eq!(thread.join().unwrap(), None);
        });
    }
}
