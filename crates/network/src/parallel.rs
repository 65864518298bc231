//! One simulation on one thread or on several, with the same result to the bit.
//!
//! In a window no partition can affect another, so threads meet once a window, at a barrier. Before the barrier each partition puts
//! its packets and messages for another into a mailbox, and says which window it needs next. Behind it each takes what was sent to it,
//! and all go to the earliest window that any needs. Mailboxes and words are double-buffered: a thread that is slow to read finds them
//! untouched until it comes to the next barrier. A network in one partition meets nobody: it goes from window to window.

use crate::fabric::NodeId;
use crate::network::{Handler, Network, PacketMailbox};
use linkpool_units::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// At its end.
    End,
    /// Before it: enough is done. The window that began before this time was the last.
    Done(Time),
    /// Before it: nothing is left that could ever happen; the last event was before this time.
    Silent(Time),
    /// It was told to stop.
    Stopped,
}

/// No window.
const NEVER: u64 = u64::MAX;

/// What partitions agree upon after a window.
struct Agreed {
    /// The next window that any of them needs, or [`NEVER`].
    next: u64,
    /// The sum of [`Handler::done`].
    done: u64,
}

/// A partition as it goes from window to window.
struct Partition<'a, H> {
    me: usize,
    network: &'a mut Network,
    handler: &'a mut H,
}

/// Called regularly with the progress; returns false to stop the run.
struct Progress<'a> {
    every: u64,
    /// Windows before it is called again.
    left: u64,
    tell: &'a mut dyn FnMut(Time, u64) -> bool,
}

impl Progress<'_> {
    /// Counts a window. Is the run to go on? If it `is_due`, progress is told before its time.
    #[inline]
    fn goes_on(&mut self, is_due: bool, state: impl FnOnce() -> (Time, u64)) -> bool {
        self.left -= 1;
        if self.left > 0 && !is_due {
            return true;
        }
        self.left = self.every;
        let (now, hops) = state();
        (self.tell)(now, hops)
    }
}

/// Runs the partitions of a network to `end`: the first, with its handler, on the calling thread, each other on one of its own.
///
/// It ends sooner when the partitions have [`Handler::done`] `goal` together, with the window in which they have.
/// `progress` is called on the calling thread every `every` windows, or when the first handler [`Handler::is_full`], with the start of
/// the window, before which all is done,
/// and the packet-hops so far; it ends the run by returning false.
pub fn run_partitions<H: Handler + Send>(
    partitions: Vec<(&mut Network, &mut H)>,
    end: Time,
    goal: u64,
    every: u64,
    progress: &mut dyn FnMut(Time, u64) -> bool,
) -> Ended {
    let shared = &Shared::new(partitions.len());
    let mut progress = Progress { every, left: every, tell: progress };
    let mut partitions = (0..).zip(partitions).map(|(me, (network, handler))| Partition { me, network, handler });
    let Some(mut first) = partitions.next() else {
        return Ended::Silent(Time::ZERO);
    };
    if shared.partitions == 1 {
        return first.run(end, goal, |partition, _| partition.alone(&mut progress));
    }
    std::thread::scope(|scope| {
        for mut partition in partitions {
            scope.spawn(move || {
                let _guard = Guard(shared);
                partition.run(end, goal, |partition, round| partition.meet(round, shared, true))
            });
        }
        let _guard = Guard(shared);
        first.run(end, goal, |partition, round| {
            let state = || (partition.network.window_start(), shared.hops(round));
            let goes_on = progress.goes_on(partition.handler.is_full(), state);
            partition.meet(round, shared, goes_on)
        })
    })
}

impl<H: Handler> Partition<'_, H> {
    /// Runs window after window; between them `meet` finds out what all partitions agree upon, or that the run is to stop.
    fn run(&mut self, end: Time, goal: u64, mut meet: impl FnMut(&mut Self, u64) -> Option<Agreed>) -> Ended {
        for round in 0.. {
            let Some(Agreed { next, done }) = meet(self, round) else {
                return Ended::Stopped;
            };
            if done >= goal {
                return Ended::Done(self.network.window_end().min(end));
            }
            if next == NEVER {
                return Ended::Silent(self.network.window_end().min(end));
            }
            if self.network.run_window(next, end, self.handler) {
                return Ended::End;
            }
        }
        unreachable!("rounds do not run out")
    }

    /// Where there is no other partition.
    #[inline]
    fn alone(&mut self, progress: &mut Progress<'_>) -> Option<Agreed> {
        while let Some((host, at, message)) = self.handler.take_message() {
            self.tell(host, at, message);
        }
        let state = || (self.network.window_start(), self.network.hops());
        progress.goes_on(self.handler.is_full(), state).then(|| Agreed { next: self.next(), done: self.handler.done() })
    }

    /// With the others, who come to barrier number `round` too.
    fn meet(&mut self, round: u64, shared: &Shared<H::Message>, goes_on: bool) -> Option<Agreed> {
        let turn = (round % 2) as usize;
        let sent = self.send(shared, turn);
        let words = &shared.words[turn][self.me];
        words.next.store(self.next().min(sent), Ordering::Relaxed);
        words.done.store(self.handler.done(), Ordering::Relaxed);
        words.hops.store(self.network.hops(), Ordering::Relaxed);
        words.stops.store(!goes_on, Ordering::Relaxed);
        shared.wait(round, self.me);
        self.receive(shared, turn);
        shared.agreed(turn)
    }

    /// Before the barrier: what goes to other partitions, and the first window in which any of it is due.
    fn send(&mut self, shared: &Shared<H::Message>, turn: usize) -> u64 {
        let mut first = Time::MAX;
        while let Some((host, at, message)) = self.handler.take_message() {
            let to = self.network.partition_of(host);
            if to == self.me {
                self.tell(host, at, message);
            } else {
                first = first.min(at);
                shared.mailbox(turn, self.me, to).messages.push((host, at, message));
            }
        }
        for to in shared.others(self.me) {
            first = first.min(self.network.hand_over(to, &mut shared.mailbox(turn, self.me, to).packets));
        }
        if first == Time::MAX { NEVER } else { self.network.window_of(first) }
    }

    /// Behind the barrier: what the others have sent.
    fn receive(&mut self, shared: &Shared<H::Message>, turn: usize) {
        for from in shared.others(self.me) {
            let mut mailbox = shared.mailbox(turn, from, self.me);
            self.network.receive(&mut mailbox.packets);
            for (host, at, message) in mailbox.messages.drain(..) {
                self.tell(host, at, message);
            }
        }
    }

    fn tell(&mut self, host: NodeId, at: Time, message: H::Message) {
        self.handler.on_message(host, at, message);
        self.network.wake(host, self.handler);
    }

    /// The next window that this partition knows that it needs.
    #[inline]
    fn next(&self) -> u64 {
        self.network.next_window().unwrap_or(NEVER)
    }
}

/// What one partition has for another.
struct Mailbox<M> {
    packets: PacketMailbox,
    messages: Vec<(NodeId, Time, M)>,
}

/// A mailbox on cache lines of its own, as [`Words`] are.
#[repr(align(128))]
struct Locked<M>(Mutex<Mailbox<M>>);

/// What a partition tells all others at a barrier. Written by one thread and read by all, once a window: on two cache lines of its own, as
/// processors like to fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Words {
    /// To so many barriers it has come. Written last: who reads it sees the rest.
    rounds: AtomicU64,
    /// The next window that it needs, as far as it knows.
    next: AtomicU64,
    /// [`Handler::done`].
    done: AtomicU64,
    /// Packet-hops so far.
    hops: AtomicU64,
    /// All are to stop.
    stops: AtomicBool,
}

struct Shared<M> {
    partitions: usize,
    /// By turn and partition.
    words: [Vec<Words>; 2],
    /// By turn, sending partition and receiving partition.
    mailboxes: [Vec<Locked<M>>; 2],
    /// A thread has panicked: the others must not wait for it.
    poisoned: AtomicBool,
}

impl<M> Shared<M> {
    fn new(partitions: usize) -> Shared<M> {
        let words = || (0..partitions).map(|_| Words::default()).collect();
        let mailbox = |_| Locked(Mutex::new(Mailbox { packets: PacketMailbox::default(), messages: Vec::new() }));
        let mailboxes = || (0..partitions * partitions).map(mailbox).collect();
        Shared {
            partitions,
            words: [words(), words()],
            mailboxes: [mailboxes(), mailboxes()],
            poisoned: AtomicBool::new(false),
        }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> + use<M> {
        (0..self.partitions).filter(move |partition| *partition != me)
    }

    fn mailbox(&self, turn: usize, from: usize, to: usize) -> MutexGuard<'_, Mailbox<M>> {
        self.mailboxes[turn][from * self.partitions + to].0.lock().expect("a thread that fails takes the run with it")
    }

    /// Says that partition `me` has come to barrier number `round`, and waits for the others. What any did before it, all see behind it.
    fn wait(&self, round: u64, me: usize) {
        let words = &self.words[(round % 2) as usize];
        words[me].rounds.store(round + 1, Ordering::Release);
        let mut spins = 0u32;
        for other in words {
            while other.rounds.load(Ordering::Acquire) <= round {
                assert!(!self.poisoned.load(Ordering::Relaxed), "another thread of the simulation has failed");
                spins += 1;
                // Spinning is far shorter than a sleep; but if there are fewer cores than threads, let the others run.
                if spins.is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
            }
        }
    }

    /// Behind the barrier: what all have said before it.
    fn agreed(&self, turn: usize) -> Option<Agreed> {
        let words = &self.words[turn];
        let next = words.iter().map(|w| w.next.load(Ordering::Relaxed)).min().unwrap_or(NEVER);
        let done = words.iter().map(|w| w.done.load(Ordering::Relaxed)).sum();
        (!words.iter().any(|w| w.stops.load(Ordering::Relaxed))).then_some(Agreed { next, done })
    }

    /// Packet-hops of all partitions up to the barrier before `round`.
    fn hops(&self, round: u64) -> u64 {
        self.words[((round + 1) % 2) as usize].iter().map(|w| w.hops.load(Ordering::Relaxed)).sum()
    }
}

/// Tells the other threads if this one panics.
struct Guard<'a, M>(&'a Shared<M>);

impl<M> Drop for Guard<'_, M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Relaxed);
        }
    }
}
