//! The laws that give a queue pair its rate, one in each file.

mod dcqcn;
mod timely;

pub use dcqcn::{Dcqcn, DcqcnConfig, Reaction};
pub use timely::{Timely, TimelyConfig};

use linkpool_units::{Rate, Time};

/// What gives a queue pair its rate. [`RateLaw::advance`] brings the law to the time of an event before the event.
pub(super) trait RateLaw {
    /// The rate in bit/s, of all bytes on the wire.
    fn rate(&self) -> f64;

    /// Does all that timers do by `now`.
    fn advance(&mut self, _now: Time) {}

    /// The next time at which a timer may change the rate.
    fn next_change(&self) -> Time {
        Time::MAX
    }

    /// The receiver tells of a mark at `now`.
    fn on_cnp(&mut self, _now: Time) {}

    /// A packet of `bytes` on the wire was sent.
    fn on_sent(&mut self, _bytes: u32) {}

    /// An answer has come that acknowledges `acked` more bytes of payload in order; `rtt` is the round-trip
    /// time of the packet that it answers, if that was sent once.
    fn on_ack(&mut self, _acked: u64, _rtt: Option<Time>) {}
}

/// Without congestion control: the rate of the host's link.
#[derive(Debug)]
pub(super) struct Line(f64);

impl RateLaw for Line {
    fn rate(&self) -> f64 {
        self.0
    }
}

/// Registers laws: the type, and the type of its settings.
macro_rules! laws {
    ($($law:ident($config:ty),)+) => {
        /// A law with its settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum LawConfig {
            /// None: packets leave at the rate of the host's link.
            Line,
            $(#[doc = concat!("See [`", stringify!($law), "`].")] $law($config),)+
        }

        impl LawConfig {
            /// The state of a queue pair whose host has a link of rate `line`.
            pub(super) fn build(&self, line: Rate) -> Law {
                match self {
                    LawConfig::Line => Law::Line(Line(line.0 as f64)),
                    $(LawConfig::$law(config) => Law::$law($law::new(config.clone(), line)),)+
                }
            }
        }

        /// A law with the state of a queue pair.
        #[derive(Debug)]
        pub(super) enum Law {
            Line(Line),
            $($law($law),)+
        }

        impl RateLaw for Law {
            #[inline]
            fn rate(&self) -> f64 {
                match self { Law::Line(law) => law.rate(), $(Law::$law(law) => law.rate(),)+ }
            }
            #[inline]
            fn advance(&mut self, now: Time) {
                match self { Law::Line(law) => law.advance(now), $(Law::$law(law) => law.advance(now),)+ }
            }
            #[inline]
            fn next_change(&self) -> Time {
                match self { Law::Line(law) => law.next_change(), $(Law::$law(law) => law.next_change(),)+ }
            }
            fn on_cnp(&mut self, now: Time) {
                match self { Law::Line(law) => law.on_cnp(now), $(Law::$law(law) => law.on_cnp(now),)+ }
            }
            #[inline]
            fn on_sent(&mut self, bytes: u32) {
                match self { Law::Line(law) => law.on_sent(bytes), $(Law::$law(law) => law.on_sent(bytes),)+ }
            }
            #[inline]
            fn on_ack(&mut self, acked: u64, rtt: Option<Time>) {
                match self { Law::Line(law) => law.on_ack(acked, rtt), $(Law::$law(law) => law.on_ack(acked, rtt),)+ }
            }
        }
    };
}

laws! {
    Dcqcn(DcqcnConfig),
    Timely(TimelyConfig),
}
