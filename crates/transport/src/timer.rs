use crate::segment::Output;
use linkpool_units::Time;

/// A deadline that is moved often and passes seldom.
///
/// Whoever keeps time is asked to wake the endpoint only if it would not be woken early enough anyway; an early
/// wake finds that the deadline has moved and asks again. Restarting a retransmission timer with every ACK
/// so costs a comparison.
#[derive(Debug)]
pub(crate) struct Timer {
    deadline: Time,
    /// The soonest wake that has been asked for.
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
    pub(crate) fn set(&mut self, subflow: usize, at: Time, out: &mut impl Output) {
        self.deadline = at;
        if at < self.asked {
            self.asked = at;
            out.wake(subflow, at);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.deadline = Time::MAX;
    }

    /// Told of a wake at `now`: has the deadline passed? If so it is cleared.
    pub(crate) fn has_passed(&mut self, subflow: usize, now: Time, out: &mut impl Output) -> bool {
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
