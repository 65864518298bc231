//! AMP's delay signal: a target of the round-trip time and a cut in proportion, as Swift has them.
//!
//! G. Kumar et al.: Swift: Delay is Simple and Effective for Congestion Control in the Datacenter,
//! SIGCOMM 2020. Its target grows with the hops of a path (section 3.5); here the scenario states
//! the sum, base round-trip time plus hops times the delay that a hop may add, for all paths.

use crate::congestion::CongestionState;
use linkpool_settings::mixed::quantity;
use linkpool_settings::{Form, Mixed, mixed};
use linkpool_units::Time;
use schemars::{Schema, SchemaGenerator};

/// The signal by which AMP learns of congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// ECN marks. A cut takes 1/beta of the window.
    Marks,
    /// Round-trip times at or above this target.
    Delay(Time),
}

impl Mixed for Signal {
    const NAME: &'static str = "TargetDelay";
    const FORMS: &'static str = "a time above zero with its unit, such as \"40us\", or \"none\"";
    const WORDS: &'static [(&'static str, Signal)] = &[("none", Signal::Marks)];

    fn of_text(text: &str) -> Option<Result<Signal, String>> {
        let target = quantity::<Time>(text)?;
        Some(target.and_then(|target| {
            if target > Time::ZERO { Ok(Signal::Delay(target)) } else { Err("must be above zero".to_string()) }
        }))
    }

    fn written(&self) -> Option<Form> {
        match self {
            Signal::Marks => None,
            Signal::Delay(target) => Some(Form::text(target)),
        }
    }

    fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<Time>())
    }
}

mixed!(Signal);

/// Gain of the cut (beta of Swift's Algorithm 1).
const GAIN: f64 = 0.8;

/// The window after a round-trip time of `rtt` at or above `target`, Swift's multiplicative
/// decrease (Algorithm 1): `w max(1 - 0.8 (rtt - target) / rtt, 1 - 1/beta)`. Swift's `max_mdf`
/// is 1/beta here, AMP's constant cut.
fn decreased(cwnd: f64, rtt: Time, target: Time, beta: f64) -> f64 {
    let excess = (rtt - target).0 as f64 / rtt.0 as f64;
    cwnd * (1.0 - GAIN * excess).max(1.0 - 1.0 / beta)
}

/// Cuts the window for a round-trip time at or above the target, not below `floor`, and at most once
/// in a window of data, which takes a round-trip time (Swift: once in an RTT, `can_decrease`).
/// Returns whether it was cut.
pub(super) fn respond_to_delay(
    state: &mut CongestionState,
    (rtt, target): (Time, Time),
    (beta, floor): (f64, f64),
) -> bool {
    let cut = state.first_mark_of_window();
    if cut {
        state.cut_to(decreased(state.cwnd, rtt, target, beta).max(floor));
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::super::testing::state;
    use super::*;

    const TARGET: Time = Time::from_us(40);

    /// By hand: at 50 us the excess is 10/50 = 0.2, so 10 packets become 10 (1 - 0.8 x 0.2) = 8.4.
    #[test]
    fn the_cut_is_in_proportion_to_the_excess() {
        let window = decreased(10.0, Time::from_us(50), TARGET, 2.0);
        assert!((window - 8.4).abs() < 1e-12, "{window}");
        assert_eq!(decreased(10.0, TARGET, TARGET, 2.0), 10.0);
    }

    /// At 160 us the excess is 0.75, and 0.8 x 0.75 = 0.6 is more than 1/4.
    #[test]
    fn the_cut_is_at_most_that_of_a_mark() {
        assert_eq!(decreased(8.0, Time::from_us(160), TARGET, 4.0), 6.0);
        assert!((decreased(8.0, Time::from_us(160), TARGET, 1.25) - 3.2).abs() < 1e-12);
    }

    #[test]
    fn it_cuts_once_in_a_window_and_not_below_the_floor() {
        let mut p = state(2.4);
        (p.snd_una, p.snd_nxt) = (100, 500);
        let rtts = (Time::from_us(160), TARGET);
        assert!(respond_to_delay(&mut p, rtts, (4.0, 2.0)));
        assert_eq!((p.cwnd, p.ssthresh), (2.0, 2.0)); // 2.4 x 3/4 = 1.8
        p.cwnd = 8.0;
        p.snd_una = 500;
        assert!(!respond_to_delay(&mut p, rtts, (4.0, 2.0)));
        p.snd_una = 501;
        assert!(respond_to_delay(&mut p, rtts, (4.0, 2.0)));
        assert_eq!(p.cwnd, 6.0);
    }

    /// A target is a time above zero.
    #[test]
    fn a_target_is_written_as_it_is_read() {
        let read = |text| Signal::of_text(text).expect("a quantity");
        assert_eq!(read("40us"), Ok(Signal::Delay(TARGET)));
        assert!(read("0us").is_err());
        let Some(Form::Text(text)) = Signal::Delay(TARGET).written() else { panic!("a time is a text") };
        assert_eq!((read(&text), Signal::Marks.written()), (Ok(Signal::Delay(TARGET)), None));
    }
}
