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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{HIGH, LOW};

    const LINK: LinkId = LinkId::new(4);

    fn reason(us: u64) -> PauseReason {
        PauseReason { told: Time::from_us(us), shared: us, headroom: 0, threshold: 0, behind: None }
    }

    /// Packets come at 5, 12 and 40 us. The class is paused from 10 to 20 us, and from 30 us, told again at 33, until it goes on by itself at
    /// 36. The first leaves at 25, when it was paused for 10 us, and the second, which came 2 us later, at 36: 8 and 6 us. The third and
    /// packets of another class were not held.
    #[test]
    fn a_packet_is_held_for_as_long_as_its_class_is_paused() {
        let (mut reasons, us) = (Reasons::default(), Time::from_us);
        reasons.join(LOW, us(5));
        reasons.join(HIGH, us(5));
        for (number, at) in [(1, 9), (2, 19), (3, 29), (4, 32)] {
            reasons.tell(number, LOW, reason(at));
        }
        let change = |reasons: &mut Reasons, number, at, change| {
            reasons.hear(number);
            reasons.change(LOW, change, us(at), LINK);
        };
        change(&mut reasons, 1, 10, (false, true));
        reasons.join(LOW, us(12));
        change(&mut reasons, 2, 20, (true, false));
        let first = Pause { since: us(10), priority: LOW, reason: reason(9) };
        assert_eq!(reasons.leave(LOW, us(25)), Some((us(10), first)));
        change(&mut reasons, 3, 30, (false, true));
        change(&mut reasons, 4, 33, (true, true));
        let second = Pause { since: us(30), priority: LOW, reason: reason(29) };
        assert_eq!(reasons.paused_by(LOW, us(34)), us(14));
        reasons.lapse(LOW, us(36), LINK);
        assert_eq!(reasons.leave(LOW, us(36)), Some((us(14), second)));
        reasons.join(LOW, us(40));
        assert_eq!(
            (reasons.leave(LOW, us(50)), reasons.leave(HIGH, us(50)), reasons.leave(LOW, us(50))),
            (None, None, None)
        );
        let changes: Vec<_> =
            reasons.changes.iter().map(|change| (change.at, change.event, change.reason.told)).collect();
        use PauseEvent::{Lapse, Refresh, Resume};
        let expected = [
            (10, PauseEvent::Pause, 9),
            (20, Resume, 19),
            (30, PauseEvent::Pause, 29),
            (33, Refresh, 32),
            (36, Lapse, 29),
        ];
        assert_eq!(changes, expected.map(|(at, event, told)| (us(at), event, us(told))));
    }
}
