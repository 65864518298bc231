//! Which subflows may send: whose windows have room, and who may get new data.

use crate::control::{CongestionControl, Control};
use crate::id::SubflowId;

/// The subflows that may send, a bit for each in each set.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Schedule {
    /// Those whose windows have room.
    pub(super) open: u32,
    /// Eligible ones: they may get new data if the algorithm allows it.
    pub(super) eligible: u32,
    /// The number of the next subflow of round robin.
    next: u8,
    /// Do further subflows wait until `joins_now` of the algorithm returns true?
    pub(super) joins_wait: bool,
    /// The stale ones: their data is not acknowledged in time.
    pub(super) stale: u32,
    /// The stale ones whose data other subflows have taken over.
    rescued: u32,
}

impl Schedule {
    /// The window of subflow `s` has room or has none.
    #[inline(always)]
    pub(super) fn set_open(&mut self, s: SubflowId, room: bool) {
        self.open = self.open & !s.bit() | u32::from(room) << s.index();
    }

    /// The next of `candidates` in turn: the first set bit from `next` on, else the first of all.
    #[inline(always)]
    pub(super) fn in_turn(&self, candidates: u32) -> SubflowId {
        let beyond = candidates >> self.next << self.next;
        if beyond != 0 { beyond } else { candidates }.trailing_zeros().into()
    }

    /// Subflow `s` of `n` has had its turn.
    #[inline(always)]
    pub(super) fn end_turn(&mut self, s: SubflowId, n: usize) {
        self.next = if s.index() + 1 == n { 0 } else { s.index() as u8 + 1 };
    }

    /// It is still the turn of subflow `s`.
    pub(super) fn keep_turn(&mut self, s: SubflowId) {
        self.next = s.index() as u8;
    }

    /// May subflow `s` get new data?
    #[inline]
    pub(super) fn may_carry(&self, control: &Control, s: SubflowId) -> bool {
        s.is_in(self.eligible) && (control.is_active(s) || self.nobody_else_can(control))
    }

    /// All subflows that the algorithm allows are stale or failed, so the algorithm is ignored.
    #[inline(never)]
    fn nobody_else_can(&self, control: &Control) -> bool {
        !SubflowId::first(32).any(|s| s.is_in(self.eligible) && control.is_active(s))
    }

    /// Decides which subflows may get new data, of those that are `established`. Subflows in the set
    /// `backup` get data only while no other subflow works, and stale subflows only while all
    /// subflows are stale. Returns the stale ones whose data others have to take over.
    pub(super) fn choose(&mut self, established: u32, backup: u32) -> u32 {
        let live = established & !self.stale;
        let regular = live & !backup;
        self.eligible = [regular, live].into_iter().find(|set| *set != 0).unwrap_or(established);
        if live == 0 {
            self.rescued = 0; // these subflows may get data again
            return 0;
        }
        established & self.stale & !self.rescued
    }

    /// Others have taken over the data of `subflows`.
    pub(super) fn note_rescued(&mut self, subflows: u32) {
        self.rescued |= subflows;
    }

    /// The path of subflow `s` works again. Returns whether it was stale.
    pub(super) fn revive(&mut self, s: SubflowId) -> bool {
        let was_stale = s.is_in(self.stale);
        (self.stale, self.rescued) = (self.stale & !s.bit(), self.rescued & !s.bit());
        was_stale
    }

    /// Subflow `s` is given up.
    pub(super) fn remove(&mut self, s: SubflowId) {
        self.open &= !s.bit();
        self.revive(s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(schedule: &mut Schedule, candidates: u32, turns: usize) -> Vec<usize> {
        let mut turn = || {
            let s = schedule.in_turn(candidates);
            schedule.end_turn(s, 3);
            s.index()
        };
        (0..turns).map(|_| turn()).collect()
    }

    #[test]
    fn subflows_take_turns() {
        let mut schedule = Schedule::default();
        assert_eq!(order(&mut schedule, 0b111, 4), [0, 1, 2, 0]);
        assert_eq!(order(&mut schedule, 0b101, 3), [2, 0, 2]);
        schedule.keep_turn(SubflowId::new(1));
        assert_eq!(order(&mut schedule, 0b111, 2), [1, 2]);
    }

    /// Of four subflows the last is a backup, and the stale get data when no other works.
    #[test]
    fn backups_and_stale_subflows_come_last() {
        let mut schedule = Schedule::default();
        assert_eq!((schedule.choose(0b1111, 0b1000), schedule.eligible), (0, 0b0111));
        schedule.stale = 0b0011;
        assert_eq!((schedule.choose(0b1111, 0b1000), schedule.eligible), (0b0011, 0b0100));
        schedule.note_rescued(0b0011);
        assert_eq!((schedule.choose(0b1111, 0b1000), schedule.eligible), (0, 0b0100));
        schedule.stale = 0b0111;
        assert_eq!((schedule.choose(0b1111, 0b1000), schedule.eligible), (0b0100, 0b1000));
        schedule.stale = 0b1111;
        assert_eq!((schedule.choose(0b1111, 0b1000), schedule.eligible), (0, 0b1111));
        // All got data again: what waits in them is to be taken over anew.
        schedule.stale = 0b0011;
        assert_eq!(schedule.choose(0b1111, 0b1000), 0b0011);
        assert!(schedule.revive(SubflowId::new(1)) && !schedule.revive(SubflowId::new(1)));
        assert_eq!(schedule.stale, 0b0001);
    }
}
