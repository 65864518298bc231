//! One simulation on one thread or on several, with the same result to the bit.
//!
//! In a window no partition can affect another, so threads meet once a window, at a barrier. A partition
//! comes to it when it has run its hosts, and the switches at its border: then it has queued all packets that it
//! sends to others in the window. Before, it puts packets and messages for other partitions into mailboxes, and
//! reports the next window that it needs. Then it runs its other switches, and waits for the other partitions only
//! after that. All run the earliest window that any partition needs. Switches need the packets of other partitions,
//! so each partition first runs the hosts of the next window, while these packets are fetched from the other
//! processor.
//!
//! Where packets do not come back soon to the partition that they have left ([`crate::lookahead`]), partitions meet once in
//! several windows. In the last of them they run the switches at their border, come to the barrier, run all others, and wait.
//!
//! Mailboxes and words are double-buffered: a thread that is slow to read finds them unchanged until it comes to the next
//! barrier. A network in one partition needs no barrier: it goes from window to window.

mod barrier;

use crate::fabric::{LinkId, NodeId};
use crate::network::{Handler, Network, PacketMailbox, Phase, Round, lock};
use crate::stages::Stages;
use barrier::{Barrier, Guard, NEVER, Report};
use linkpool_units::Time;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It reached its end.
    End,
    /// The goal was reached. The window that began before this time was the last.
    Done(Time),
    /// No event is left; the last event was before this time.
    Silent(Time),
    /// The progress callback stopped it.
    Stopped,
    /// The ports of these links wait for each other for ever, each for the next, and the last for the first, since before this
    /// time.
    Deadlock(Time, Vec<LinkId>),
}

/// A partition that runs window after window.
struct Partition<'a, H> {
    me: usize,
    network: &'a mut Network,
    handler: &'a mut H,
    /// The stages, if partitions run ahead of each other in this run.
    stages: Option<Arc<Stages>>,
    /// The windows that stages run at different times.
    phase: Option<Phase>,
    /// The next window that all stages run together, as far as this partition knows: its switches have timers, or the run
    /// ends in it.
    common: u64,
}

/// Called regularly with the progress; returns false to stop the run.
struct Progress<'a> {
    every: u64,
    /// Windows before it is called again.
    left: u64,
    tell: &'a mut dyn FnMut(Time, u64) -> bool,
}

impl Progress<'_> {
    /// Counts `windows`. Returns whether the run continues. If progress `is_due`, it is reported
    /// early.
    #[inline]
    fn goes_on(&mut self, windows: u64, is_due: bool, state: impl FnOnce() -> (Time, u64)) -> bool {
        self.left = self.left.saturating_sub(windows);
        if self.left > 0 && !is_due {
            return true;
        }
        self.left = self.every;
        let (now, hops) = state();
        (self.tell)(now, hops)
    }
}

/// Runs the partitions of a network to `end`: the first, with its handler, on the calling thread,
/// each other on one of its own. What is due at `end` or later waits: a further call goes on from there, as if
/// the run had not paused.
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
    let mut progress = Progress { every, left: 1, tell: progress };
    // The run ends with the window in which the goal is reached, so all stages must be at one window.
    let run_ahead = goal == NEVER
        && partitions.iter().all(|(network, handler)| network.stages().is_some() && !handler.sends_messages());
    let partition = |(me, (network, handler)): (usize, (_, _))| {
        let network: &mut Network = network;
        let stages = network.stages().filter(|_| run_ahead).cloned();
        Partition { me, network, handler, stages, phase: None, common: 0 }
    };
    let mut partitions: Vec<_> = partitions.into_iter().enumerate().map(partition).collect();
    if partitions.is_empty() {
        return Ended::Silent(Time::ZERO);
    }
    // Where ports pause, the run halts now and then to see whether any goes on.
    loop {
        let look_at = partitions[0].network.look_at().filter(|at| *at <= end);
        let ended = run_until(&mut partitions, look_at.unwrap_or(end), goal, &mut progress);
        let Some(at) = look_at.filter(|_| ended == Ended::End) else { return ended };
        if let Some(links) = Network::deadlock(partitions.iter().map(|partition| &*partition.network)) {
            return Ended::Deadlock(at, links);
        }
        // Nothing changes before the next packet or timer, so a run that idles does not halt.
        let next = partitions.iter().filter_map(|partition| partition.network.next_window()).min();
        let network = &mut partitions[0].network;
        network.look(next.map_or(end, |window| network.start_of(window)).max(at));
        if at == end {
            return ended;
        }
    }
}

/// Runs all that is due before `end`.
fn run_until<H: Handler + Send>(
    partitions: &mut [Partition<'_, H>],
    end: Time,
    goal: u64,
    progress: &mut Progress<'_>,
) -> Ended {
    let barrier = &Barrier::new(partitions.len());
    let (first, others) = partitions.split_first_mut().expect("there is a partition");
    if others.is_empty() {
        return first.run_alone(end, goal, progress);
    }
    std::thread::scope(|scope| {
        for partition in others {
            scope.spawn(move || {
                let _guard = Guard(barrier);
                partition.run(end, goal, barrier, |_, _, _| true)
            });
        }
        let _guard = Guard(barrier);
        first.run(end, goal, barrier, |partition, windows, hops| {
            progress.goes_on(windows, partition.handler.is_full(), || (partition.network.over(), hops))
        })
    })
}

impl<H: Handler> Partition<'_, H> {
    /// Runs window after window without other partitions.
    fn run_alone(&mut self, end: Time, goal: u64, progress: &mut Progress<'_>) -> Ended {
        loop {
            self.tell_own();
            let state = || (self.network.over(), self.network.hops());
            let goes_on = progress.goes_on(1, self.handler.is_full(), state);
            let report = self.report(goes_on);
            if let Some(ended) = self.ended(&report, end, goal) {
                return ended;
            }
            let is_end = self.network.run_window(report.next, end, self.handler);
            if is_end {
                return Ended::End;
            }
        }
    }

    /// Runs window after window with other partitions, which all meet at a barrier again and again. `goes_on` gets the
    /// number of windows since they met, and the packet-hops of all, and says whether the run continues.
    fn run(
        &mut self,
        end: Time,
        goal: u64,
        barrier: &Barrier<Mailbox<H::Message>>,
        mut goes_on: impl FnMut(&Self, u64, u64) -> bool,
    ) -> Ended {
        let last = self.last_window(end);
        self.common = last.min(self.network.first_timer_of_switches());
        self.come(barrier, 0, goes_on(self, 1, 0));
        for round in 0.. {
            barrier.wait(round);
            let together = barrier.together(round);
            if let Some(ended) = self.ended(&together, end, goal) {
                // A further call may go on from here.
                self.receive_messages(barrier, round);
                self.receive_packets(barrier, round);
                return ended;
            }
            if let Some(stages) = self.stages.clone()
                && let Round::Epochs(epochs) = Phase::next(&mut self.phase, &stages, together.next, together.common)
            {
                self.run_epochs(epochs, &stages, (barrier, round), |own| goes_on(own, stages.windows, together.hops));
                continue;
            }
            if together.has_messages {
                self.receive_messages(barrier, round);
            }
            let needs_mail_first = self.network.needs_mail_first();
            if needs_mail_first {
                self.receive_packets(barrier, round);
            } else {
                self.prefetch_packets(barrier, round);
            }
            self.network.run_hosts(together.next, end, self.handler);
            if !needs_mail_first {
                self.receive_packets(barrier, round);
            }
            self.network.run_border(self.handler);
            if self.stages.is_some() {
                self.common = last.min(self.network.first_timer_of_switches());
            }
            if !self.network.is_ending() {
                self.come(barrier, round + 1, goes_on(self, 1, together.hops));
            }
            if self.network.run_inner() {
                return Ended::End;
            }
        }
        unreachable!("rounds do not run out")
    }

    /// Runs these `epochs` with the packets that other partitions have sent before `round`, and comes to the next barrier.
    fn run_epochs(
        &mut self,
        epochs: Range<u64>,
        stages: &Stages,
        (barrier, round): (&Barrier<Mailbox<H::Message>>, u64),
        mut goes_on: impl FnMut(&Self) -> bool,
    ) {
        let phase = self.phase.clone().expect("epochs are of a phase");
        let (border, others) = stages.steps.split_at(stages.border);
        self.prefetch_packets(barrier, round);
        self.network.begin_epochs(epochs.start, &phase, stages);
        for epoch in epochs.clone() {
            self.network.begin_epoch(epoch, &phase, stages);
            self.network.run_steps(border, (epoch, &phase, stages), self.handler);
            if epoch == epochs.start {
                self.receive_packets(barrier, round);
            }
            if epoch + 1 == epochs.end {
                self.come(barrier, round + 1, goes_on(self));
            }
            self.network.run_steps(others, (epoch, &phase, stages), self.handler);
            self.tell_own();
        }
    }

    /// How the run ends before the next window, if it does.
    fn ended(&self, together: &Report, end: Time, goal: u64) -> Option<Ended> {
        let by = || {
            let phase = self.phase.as_ref().map(|phase| self.network.start_of(phase.epoch()));
            phase.unwrap_or_else(|| self.network.window_end()).min(end)
        };
        match together {
            Report { stops: true, .. } => Some(Ended::Stopped),
            Report { done, .. } if *done >= goal => Some(Ended::Done(by())),
            Report { next: NEVER, .. } => Some(Ended::Silent(by())),
            Report { next, .. } if *next > self.last_window(end) => Some(Ended::End),
            _ => None,
        }
    }

    /// The last window in which something is due before `end`.
    fn last_window(&self, end: Time) -> u64 {
        self.network.window_of(Time(end.0.saturating_sub(1)))
    }

    /// The report without regard to other partitions.
    fn report(&self, goes_on: bool) -> Report {
        Report {
            next: self.network.next_window().unwrap_or(NEVER),
            common: self.common,
            done: self.handler.done(),
            hops: self.network.hops(),
            has_messages: false,
            stops: !goes_on,
        }
    }

    /// Comes to barrier number `round`, with packets and messages for others.
    fn come(&mut self, barrier: &Barrier<Mailbox<H::Message>>, round: u64, goes_on: bool) {
        let (mut first, mut has_messages) = (Time::MAX, false);
        while let Some((host, at, message)) = self.handler.take_message() {
            let to = self.network.partition_of(host);
            if to == self.me {
                self.tell(host, at, message);
            } else {
                (first, has_messages) = (first.min(at), true);
                lock(&barrier.mailbox(round, self.me, to).messages).push((host, at, message));
            }
        }
        for to in barrier.others(self.me) {
            first = first.min(self.network.hand_over(to, &barrier.mailbox(round, self.me, to).packets));
        }
        let sent = if first == Time::MAX { NEVER } else { self.network.window_of(first) };
        let report = self.report(goes_on);
        barrier.come(round, self.me, Report { next: report.next.min(sent), has_messages, ..report });
    }

    /// After the barrier: takes the messages of other partitions.
    fn receive_messages(&mut self, barrier: &Barrier<Mailbox<H::Message>>, round: u64) {
        for from in barrier.others(self.me) {
            for (host, at, message) in lock(&barrier.mailbox(round, from, self.me).messages).drain(..) {
                self.tell(host, at, message);
            }
        }
    }

    /// After the barrier, and before the next one: takes the packets of other partitions.
    fn receive_packets(&mut self, barrier: &Barrier<Mailbox<H::Message>>, round: u64) {
        for from in barrier.others(self.me) {
            self.network.receive(&barrier.mailbox(round, from, self.me).packets);
        }
    }

    /// Prefetches the packets of other partitions.
    fn prefetch_packets(&self, barrier: &Barrier<Mailbox<H::Message>>, round: u64) {
        barrier.others(self.me).for_each(|from| barrier.mailbox(round, from, self.me).packets.prefetch());
    }

    /// Gives hosts the messages, which are all for hosts of this partition.
    fn tell_own(&mut self) {
        while let Some((host, at, message)) = self.handler.take_message() {
            assert_eq!(self.network.partition_of(host), self.me, "no messages are sent to other partitions");
            self.tell(host, at, message);
        }
    }

    fn tell(&mut self, host: NodeId, at: Time, message: H::Message) {
        self.handler.on_message(host, at, message);
        self.network.wake(host, self.handler);
    }
}

/// The mailbox from one partition to another.
struct Mailbox<M> {
    packets: PacketMailbox,
    messages: Mutex<Vec<(NodeId, Time, M)>>,
}

impl<M> Default for Mailbox<M> {
    fn default() -> Self {
        Mailbox { packets: PacketMailbox::default(), messages: Mutex::default() }
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
            (0..).zip(due).map(|(window, due)| progress.goes_on(1, due, || (Time(window), 10 * window))).collect();
        assert_eq!(goes_on, [true, true, true, true, true, true, true, false]);
        assert_eq!(told, [(Time(2), 20), (Time(4), 40), (Time(7), 70)]);
    }

    /// Partitions that run ahead of each other count all windows between two meetings: of five each, those of two make ten.
    #[test]
    fn progress_counts_windows_not_meetings() {
        let mut told = Vec::new();
        let mut progress = Progress { every: 10, left: 1, tell: &mut |now, _| (told.push(now.0), true).1 };
        assert!((0..6).all(|meeting| progress.goes_on(5, false, || (Time(meeting), 0))));
        assert_eq!(told, [0, 2, 4]);
    }
}
