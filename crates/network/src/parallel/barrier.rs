//! The barrier at which the threads of a run meet, and all that they exchange there.
//!
//! A thread comes to it, works on, and waits later for those that have not come. It spins at first,
//! which is far shorter than a sleep, and then sleeps until one comes: if more threads want to run
//! than there are cores, the others need the core on which it would spin.
//!
//! Everything is double-buffered: round n uses half n mod 2. A thread that is slow to read the
//! reports of round n finds them unchanged: the next to write to the same half is round n + 2, and
//! that needs this thread at barrier n + 1. With `--cfg loom` the tests below try every order that
//! the memory model allows (`./x test --long`).

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
use loom::sync::{Condvar, Mutex};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex};

/// No window.
pub(super) const NEVER: u64 = u64::MAX;

/// The report of a partition to all others at a barrier, or that of all together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Report {
    /// The next window that it needs, as far as it knows, or [`NEVER`]; of all, the first.
    pub next: u64,
    /// The next window that all stages run together, or [`NEVER`]; of all, the first.
    pub common: u64,
    /// [`crate::Handler::done`]; of all, the sum.
    pub done: u64,
    /// Packet-hops so far; of all, the sum.
    pub hops: u64,
    /// It has sent messages; of all, any has.
    pub has_messages: bool,
    /// The run is to stop; of all, any says so.
    pub stops: bool,
}

/// A [`Report`] where others read it. Written by one thread and read by all, each time that they meet: on two
/// cache lines of its own, since processors fetch cache lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Words {
    /// The number of barriers to which this partition has come. Written last: who reads it sees the
    /// rest.
    rounds: AtomicU64,
    next: AtomicU64,
    common: AtomicU64,
    done: AtomicU64,
    hops: AtomicU64,
    has_messages: AtomicBool,
    stops: AtomicBool,
}

/// A mailbox on cache lines of its own, as [`Words`] are.
#[derive(Default)]
#[repr(align(128))]
struct Aligned<M>(M);

/// The shared state of the threads: their reports, a mailbox `M` from each partition to each other,
/// and whether one has failed. Mailboxes are filled and emptied through shared references.
pub(super) struct Barrier<M> {
    partitions: usize,
    /// By half and partition.
    words: [Vec<Words>; 2],
    /// By half, sending partition and receiving partition.
    mailboxes: [Vec<Aligned<M>>; 2],
    /// A thread has panicked: the others must not wait for it.
    poisoned: AtomicBool,
    /// How often a thread looks for another before it sleeps.
    patience: u32,
    /// Threads that sleep, or are about to. Changed under `bed`.
    sleepers: AtomicU32,
    bed: Mutex<()>,
    woken: Condvar,
}

impl<M: Default> Barrier<M> {
    pub fn new(partitions: usize) -> Barrier<M> {
        let words = || (0..partitions).map(|_| Words::default()).collect();
        let mailboxes = || (0..partitions * partitions).map(|_| Aligned::default()).collect();
        Barrier {
            partitions,
            words: [words(), words()],
            mailboxes: [mailboxes(), mailboxes()],
            poisoned: AtomicBool::new(false),
            patience: patience(partitions),
            sleepers: AtomicU32::new(0),
            bed: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    pub fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<M> {
        (0..self.partitions).filter(move |partition| *partition != me)
    }

    /// The mailbox of round `round`: before the barrier it is the sender's, after it the
    /// receiver's.
    pub fn mailbox(&self, round: u64, from: usize, to: usize) -> &M {
        let half = &self.mailboxes[(round % 2) as usize];
        &half[from * self.partitions + to].0
    }

    /// Comes to barrier number `round` as partition `me`.
    pub fn come(&self, round: u64, me: usize, report: Report) {
        let half = &self.words[(round % 2) as usize];
        half[me].next.store(report.next, Ordering::Relaxed);
        half[me].common.store(report.common, Ordering::Relaxed);
        half[me].done.store(report.done, Ordering::Relaxed);
        half[me].hops.store(report.hops, Ordering::Relaxed);
        half[me].has_messages.store(report.has_messages, Ordering::Relaxed);
        half[me].stops.store(report.stops, Ordering::Relaxed);
        half[me].rounds.store(round + 1, Ordering::Release);
        self.wake();
    }

    /// Waits until all have come to barrier number `round`. After it, this thread sees what any thread wrote before
    /// it came.
    pub fn wait(&self, round: u64) {
        let mut looks = 0u32;
        for other in &self.words[(round % 2) as usize] {
            let is_there = || other.rounds.load(Ordering::Acquire) > round;
            while !is_there() {
                assert!(!self.poisoned.load(Ordering::Relaxed), "another thread of the simulation has failed");
                looks += 1;
                if looks < self.patience { std::hint::spin_loop() } else { self.sleep_until(is_there) }
            }
        }
    }

    /// Sleeps until `is_there`, or a thread has failed.
    fn sleep_until(&self, is_there: impl Fn() -> bool) {
        let mut asleep = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // With the fence of `wake`: either this thread sees that the other has come, or that one
        // sees a sleeper.
        fence(Ordering::SeqCst);
        while !is_there() && !self.poisoned.load(Ordering::Relaxed) {
            asleep = self.woken.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes those that sleep.
    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            // One that is about to sleep holds it until it does.
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.woken.notify_all();
        }
    }

    /// After barrier `round`: the report of all together.
    pub fn together(&self, round: u64) -> Report {
        let nothing = Report { next: NEVER, common: NEVER, done: 0, hops: 0, has_messages: false, stops: false };
        self.words[(round % 2) as usize].iter().fold(nothing, |all, one| Report {
            next: all.next.min(one.next.load(Ordering::Relaxed)),
            common: all.common.min(one.common.load(Ordering::Relaxed)),
            done: all.done + one.done.load(Ordering::Relaxed),
            hops: all.hops + one.hops.load(Ordering::Relaxed),
            has_messages: all.has_messages | one.has_messages.load(Ordering::Relaxed),
            stops: all.stops | one.stops.load(Ordering::Relaxed),
        })
    }
}

/// A thread that has a core of its own comes soon: most windows take less than the tenths of a
/// millisecond that these looks do. One that waits for a core does not come before another sleeps.
#[cfg(not(loom))]
fn patience(threads: usize) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if threads > cores { 256 } else { 1 << 14 }
}

/// The model tries the orders in which one sleeps.
#[cfg(loom)]
fn patience(_threads: usize) -> u32 {
    0
}

/// Tells the other threads if this one panics.
pub(super) struct Guard<'a, M: Default>(pub &'a Barrier<M>);

impl<M: Default> Drop for Guard<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Relaxed);
            self.0.wake();
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::{AtomicU64, Barrier, Ordering, Report};
    use loom::model::Builder;
    use loom::sync::Arc;
    use loom::thread;

    /// The report of partition `me` in `round`: its numbers differ for each round and partition.
    fn report(round: u64, me: usize) -> Report {
        let own = 10 * round + me as u64;
        Report {
            next: 100 + own,
            common: 200 + own,
            done: own,
            hops: 1000 + own,
            has_messages: me as u64 == round,
            stops: false,
        }
    }

    /// The work of a thread: in each round it sends, reports, waits, and finds the mail and reports
    /// of all others in this round.
    fn take_part(barrier: &Barrier<AtomicU64>, me: usize, rounds: u64) {
        let all = 0..barrier.partitions;
        for round in 0..rounds {
            for to in barrier.others(me) {
                barrier.mailbox(round, me, to).store(10 * round + me as u64, Ordering::Relaxed);
            }
            barrier.come(round, me, report(round, me));
            barrier.wait(round);
            for from in barrier.others(me) {
                let found = barrier.mailbox(round, from, me).load(Ordering::Relaxed);
                assert_eq!(found, 10 * round + from as u64, "the message of this round");
            }
            let together = barrier.together(round);
            assert_eq!((together.next, together.common), (report(round, 0).next, report(round, 0).common), "the least");
            assert_eq!(together.done, all.clone().map(|of| report(round, of).done).sum::<u64>());
            assert_eq!(together.hops, all.clone().map(|of| report(round, of).hops).sum::<u64>());
            assert_eq!((together.has_messages, together.stops), (round < barrier.partitions as u64, false));
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
            let barrier = Arc::new(Barrier::<AtomicU64>::new(2));
            let other = barrier.clone();
            let thread = thread::spawn(move || {
                other.come(0, 1, Report { stops: true, ..report(0, 1) });
                other.wait(0);
                other.together(0).stops
            });
            barrier.come(0, 0, report(0, 0));
            barrier.wait(0);
            assert!(barrier.together(0).stops);
            assert!(thread.join().unwrap());
        });
    }
}
