//! Lazy timers.

use crate::id::SubflowId;
use crate::segment::Output;
use linkpool_units::Time;

/// A deadline that is often moved and seldom reached.
///
/// The endpoint asks for a wake-up only if no earlier one is pending. An early wake-up finds that
/// the deadline has moved, and asks again. So restarting a retransmission timer with every ACK
/// costs one comparison.
#[derive(Debug)]
pub(crate) struct Timer {
    deadline: Time,
    /// The earliest wake-up that has been requested.
    asked: Time,
}

impl Timer {
    pub(crate) fn new() -> Timer {
        Timer { deadline: Time::MAX, asked: Time::MAX }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.deadline != Time::MAX
    }

    #[inline]
    pub(crate) fn set(&mut self, subflow: SubflowId, at: Time, out: &mut impl Output) {
        self.deadline = at;
        if at < self.asked {
            self.asked = at;
            out.wake(subflow, at);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.deadline = Time::MAX;
    }

    /// Call it on a wake-up at `now`. Returns whether the deadline has passed, and then clears it.
    pub(crate) fn has_passed(&mut self, subflow: SubflowId, now: Time, out: &mut impl Output) -> bool {
        if now >= self.asked {
            self.asked = Time::MAX;
        }
        if self.deadline <= now {
            self.deadline = Time::MAX;
            return true;
        }
        if self.is_set() {
            self.set(subflow, self.deadline, out);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::S;
    use crate::segment::Segment;

    #[derive(Default)]
    struct Wakes(Vec<Time>);

    impl Output for Wakes {
        fn send(&mut self, _: SubflowId, _: Segment) {}
        fn wake(&mut self, _: SubflowId, at: Time) {
            self.0.push(at);
        }
        fn jitter(&mut self, _: Time) -> Time {
            Time::ZERO
        }
    }

    /// A deadline that moves later, or stays, requests no wake-up; an earlier deadline does. An
    /// early wake-up requests another one.
    #[test]
    fn asks_only_for_what_it_would_not_be_woken_for() {
        let (mut timer, mut out) = (Timer::new(), Wakes::default());
        for at in [Time(10), Time(10), Time(30), Time(5), Time(30)] {
            timer.set(S[0], at, &mut out);
        }
        assert_eq!(out.0, [Time(10), Time(5)]);
        assert!(!timer.has_passed(S[0], Time(5), &mut out));
        assert!(!timer.has_passed(S[0], Time(10), &mut out));
        assert_eq!(out.0, [Time(10), Time(5), Time(30)]);
        assert!(timer.has_passed(S[0], Time(30), &mut out));
        assert!(!timer.is_set());
        timer.clear();
        assert!(!timer.has_passed(S[0], Time(40), &mut out));
        assert_eq!(out.0.len(), 3);
    }
}
