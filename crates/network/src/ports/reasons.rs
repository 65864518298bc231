//! Why ports are paused, and what that delays: for traces and tables, where somebody asks.

use crate::class::CLASSES;
use crate::fabric::LinkId;
use crate::pauses::{Pause, PauseChange, PauseEvent, PauseReason};
use linkpool_units::Time;
use std::collections::VecDeque;

/// What a port knows of why it is paused, and of packets that wait at it.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// What the neighbour has told, and frames have not brought: the number of that, and the class.
    told: VecDeque<(u32, u8, PauseReason)>,
    /// By class: the last reason that frames have brought.
    why: [Option<PauseReason>; CLASSES],
    /// By class: the last pause.
    last: [Option<Pause>; CLASSES],
    /// By class: is it paused?
    is_closed: [bool; CLASSES],
    /// By class: for how long it was paused, up to the last pause.
    before: [Time; CLASSES],
    /// By class, of each packet that waits: for how long the class had been paused when it came.
    waiting: [VecDeque<Time>; CLASSES],
    /// What has changed since somebody last asked.
    pub(super) changes: Vec<PauseChange>,
}

impl Reasons {
    /// The neighbour tells something of `class`, number `number` of what it tells.
    pub(super) fn tell(&mut self, number: u32, class: u8, reason: PauseReason) {
        self.told.push_back((number, class, reason));
    }

    /// A frame has come that was made after what has this number.
    pub(super) fn hear(&mut self, number: u32) {
        let heard = self.told.partition_point(|(told, ..)| *told <= number);
        for (_, class, reason) in self.told.drain(..heard) {
            self.why[usize::from(class)] = Some(reason);
        }
    }

    /// A frame, which was heard, closes or opens `class` of `link` at `at`, which was closed before or not.
    pub(super) fn change(&mut self, class: u8, (was_closed, closes): (bool, bool), at: Time, link: LinkId) {
        let event = match (was_closed, closes) {
            (false, true) => PauseEvent::Pause,
            (true, true) => PauseEvent::Refresh,
            (true, false) => PauseEvent::Resume,
            (false, false) => return,
        };
        let Some(reason) = self.why[usize::from(class)] else { return };
        if event == PauseEvent::Pause {
            self.last[usize::from(class)] = Some(Pause { since: at, priority: class, reason });
            self.is_closed[usize::from(class)] = true;
        }
        if event == PauseEvent::Resume {
            self.end(class, at);
        }
        self.changes.push(PauseChange { at, link, priority: class, event, reason });
    }

    /// `class` of `link` goes on at `at` by itself.
    pub(super) fn lapse(&mut self, class: u8, at: Time, link: LinkId) {
        self.end(class, at);
        if let Some(Pause { reason, .. }) = self.last[usize::from(class)] {
            self.changes.push(PauseChange { at, link, priority: class, event: PauseEvent::Lapse, reason });
        }
    }

    /// The pause of `class` ends at `at`.
    fn end(&mut self, class: u8, at: Time) {
        self.before[usize::from(class)] = self.paused_by(class, at);
        self.is_closed[usize::from(class)] = false;
    }

    /// For how long `class` was paused by `at`.
    fn paused_by(&self, class: u8, at: Time) -> Time {
        let since = self.last[usize::from(class)].filter(|_| self.is_closed[usize::from(class)]);
        self.before[usize::from(class)] + since.map_or(Time::ZERO, |pause| at - pause.since)
    }

    /// A packet of `class` waits from `now` on, the last of that class.
    pub(super) fn join(&mut self, class: u8, now: Time) {
        let paused = self.paused_by(class, now);
        self.waiting[usize::from(class)].push_back(paused);
    }

    /// The first packet of `class` waits no longer at `now`. Returns for how long the class was paused meanwhile, and the last
    /// pause, if it was.
    pub(super) fn leave(&mut self, class: u8, now: Time) -> Option<(Time, Pause)> {
        let came = self.waiting[usize::from(class)].pop_front()?;
        let paused = self.paused_by(class, now) - came;
        self.last[usize::from(class)].filter(|_| paused > Time::ZERO).map(|pause| (paused, pause))
    }
}
