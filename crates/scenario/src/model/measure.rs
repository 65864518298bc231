//! The measured period.

use linkpool_settings::settings;
use linkpool_units::Time;

settings! {
    /// The flows that statistics cover.
    #[derive(Copy, Eq)]
    pub struct Measure {
        /// Flows that start before this are left out of statistics.
        warm_up: Time = Time::ZERO;
        /// Flows that start at or after this are left out of statistics.
        cut_off: Time, from |_m| Time::MAX => "`duration`";
    }
}
