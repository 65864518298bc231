//! The clock of a run: the time since it began.

use linkpool_units::Time;
use std::time::{Duration, Instant};

/// Tells the time of a run on all its threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// Time zero is so far ahead.
    pub(crate) fn starting_in(ahead: Duration) -> Clock {
        Clock { origin: Instant::now() + ahead }
    }

    /// The time; zero until the run begins.
    pub(crate) fn now(self) -> Time {
        let since = Instant::now().saturating_duration_since(self.origin);
        Time::from_ns(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// From now until `at`.
    pub(crate) fn until(self, at: Time) -> Duration {
        let at = self.origin.checked_add(Duration::from_nanos(at.0 / 1000));
        at.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }
}
