//! One simulation on one thread or on several, with the same result to the bit.
//!
//! In a window no partition can affect another, so threads meet once a window, at a barrier. Before
//! the barrier, each partition puts its packets and messages for another partition into a mailbox,
//! and reports the next window that it needs. After the barrier, each partition empties its
//! mailboxes, and all run the earliest window that any partition needs. Mailboxes and words are
//! double-buffered: a thread that is slow to read finds them unchanged until it comes to the next
//! barrier. A network in one partition needs no barrier: it goes from window to window.

mod barrier;

use crate::fabric::NodeId;
use crate::network::{Handler, Network, PacketMailbox};
use barrier::{Agreed, Barrier, Guard, NEVER, Report};
use linkpool_units::Time;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It reached its end.
    End,
    /// The goal was reached. The window that began before this time was the last.
    Done(Time),
    /// No event is left; the last event was before this time.
    Silent(Time),
    /// The progress callback stopped it.
    Stopped,
}

/// A partition that runs window after window.
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
    /// Counts a window. Returns whether the run continues. If progress `is_due`, it is reported
    /// early.
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

/// Runs the partitions of a network to `end`: the first, with its handler, on the calling thread,
/// each other on one of its own.
///
/// It ends sooner when the partitions have [`Handler::done`] `goal` together, with the window in
/// which they have. `progress` is called on the calling thread before the first window and then every
/// `every` windows, or when the first handler [`Handler::is_full`], with the start of the window, before
/// which all is done, and the packet-hops so far; it ends the run by returning false.
pub fn run_partitions<H: Handler + Send>(
    partitions: Vec<(&mut Network, &mut H)>,
    end: Time,
    goal: u64,
    every: u64,
    progress: &mut dyn FnMut(Time, u64) -> bool,
) -> Ended {
    let barrier = &Barrier::new(partitions.len());
    let mut progress = Progress { every, left: 1, tell: progress };
    let mut partitions = (0..).zip(partitions).map(|(me, (network, handler))| Partition { me, network, handler });
    let Some(mut first) = partitions.next() else {
        return Ended::Silent(Time::ZERO);
    };
    if barrier.partitions() == 1 {
        return first.run(end, goal, |partition, _| partition.alone(&mut progress));
    }
    std::thread::scope(|scope| {
        for mut partition in partitions {
            scope.spawn(move || {
                let _guard = Guard(barrier);
                partition.run(end, goal, |partition, round| partition.meet(round, barrier, true))
            });
        }
        let _guard = Guard(barrier);
        first.run(end, goal, |partition, round| {
            let state = || (partition.network.window_start(), barrier.hops(round));
            let goes_on = progress.goes_on(partition.handler.is_full(), state);
            partition.meet(round, barrier, goes_on)
        })
    })
}

impl<H: Handler> Partition<'_, H> {
    /// Runs window after window. Between them `meet` returns the common knowledge of all
    /// partitions, or none if the run must stop.
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

    /// The end of a window without other partitions.
    #[inline]
    fn alone(&mut self, progress: &mut Progress<'_>) -> Option<Agreed> {
        while let Some((host, at, message)) = self.handler.take_message() {
            self.tell(host, at, message);
        }
        let state = || (self.network.window_start(), self.network.hops());
        progress.goes_on(self.handler.is_full(), state).then(|| Agreed { next: self.next(), done: self.handler.done() })
    }

    /// The end of a window with other partitions: all meet at barrier number `round`.
    fn meet(&mut self, round: u64, barrier: &Barrier<Mailbox<H::Message>>, goes_on: bool) -> Option<Agreed> {
        let sent = self.send(barrier, round);
        let report = Report {
            next: self.next().min(sent),
            done: self.handler.done(),
            hops: self.network.hops(),
            stops: !goes_on,
        };
        barrier.wait(round, self.me, report);
        self.receive(barrier, round);
        barrier.agreed(round)
    }

    /// Before the barrier: fills the mailboxes for other partitions. Returns the first window in
    /// which a packet or message in them is due.
    fn send(&mut self, barrier: &Barrier<Mailbox<H::Message>>, round: u64) -> u64 {
        let mut first = Time::MAX;
        while let Some((host, at, message)) = self.handler.take_message() {
            let to = self.network.partition_of(host);
            if to == self.me {
                self.tell(host, at, message);
            } else {
                first = first.min(at);
                barrier.mailbox(round, self.me, to).messages.push((host, at, message));
            }
        }
        for to in barrier.others(self.me) {
            first = first.min(self.network.hand_over(to, &mut barrier.mailbox(round, self.me, to).packets));
        }
        if first == Time::MAX { NEVER } else { self.network.window_of(first) }
    }

    /// After the barrier: empties the mailboxes from other partitions.
    fn receive(&mut self, barrier: &Barrier<Mailbox<H::Message>>, round: u64) {
        for from in barrier.others(self.me) {
            let mut mailbox = barrier.mailbox(round, from, self.me);
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

    /// The next window in which an input of this partition is due.
    #[inline]
    fn next(&self) -> u64 {
        self.network.next_window().unwrap_or(NEVER)
    }
}

/// The mailbox from one partition to another.
struct Mailbox<M> {
    packets: PacketMailbox,
    messages: Vec<(NodeId, Time, M)>,
}

impl<M> Default for Mailbox<M> {
    fn default() -> Self {
        Mailbox { packets: PacketMailbox::default(), messages: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_every_so_many_windows_and_when_it_is_due() {
        let mut told = Vec::new();
        let mut tell = |now, hops| {
            told.push((now, hops));
            told.len() < 3
        };
        let mut progress = Progress { every: 3, left: 3, tell: &mut tell };
        let due = [false, false, false, false, true, false, false, false];
        let goes_on: Vec<bool> =
            (0..).zip(due).map(|(window, due)| progress.goes_on(due, || (Time(window), 10 * window))).collect();
        assert_eq!(goes_on, [true, true, true, true, true, true, true, false]);
        assert_eq!(told, [(Time(2), 20), (Time(4), 40), (Time(7), 70)]);
    }
}
