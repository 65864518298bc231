//! The rate at which the receivers of a host grant credit, where fabrics are oversubscribed (oversubscribed_cc.cpp): less when
//! packets come marked, or as headers that were trimmed elsewhere than before the last link.
//!
//! uet-htsim looks at it by a timer. Here a look that is due is made up for when a packet comes or credit is to be granted:
//! nothing else changes what it sees.

use linkpool_units::Time;

/// The least rate is this part of what the fabric's hosts have if all send (`setOversubscriptionRatio`), ...
const OF_SHARE: f64 = 0.9;
/// ... and never less.
const LEAST: f64 = 0.01;
/// The average share of marks above which the rate falls (`_target_congestion`), and by which part of the excess (`_Md`).
const TARGET: f64 = 0.3;
const CUT: f64 = 0.5;
/// Gain of the average (`_alpha`).
const GAIN: f64 = 0.5;
/// The first step up (`_Ai`).
const STEP: f64 = 0.01;
/// Base RTTs between two looks, on average (`nextInterval`).
const ROUNDS: f64 = 1.5;
/// After so many looks that saw no packet the rate is whole again, and the average below 2^-64.
const FORGETS_AFTER: u64 = 64;

/// What the rate depends on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CreditRules {
    base_rtt: Time,
    least: f64,
}

impl CreditRules {
    /// Of a fabric whose hosts send `oversubscription` times as much as it carries.
    pub(super) fn new(base_rtt: Time, oversubscription: f64) -> CreditRules {
        CreditRules { base_rtt, least: (OF_SHARE / oversubscription).max(LEAST) }
    }

    /// The time to the next look. `drawn`: a random number from 0 to 1.
    fn interval(&self, drawn: f64) -> Time {
        Time(((0.75 + drawn / 2.0) * ROUNDS * self.base_rtt.0 as f64) as u64).max(Time(1))
    }
}

/// How a packet came to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// As its sender made it.
    Well,
    /// With a mark.
    Marked,
    /// As a header, trimmed before its last link.
    TrimmedAtLast,
    /// As a header, trimmed elsewhere.
    Trimmed,
}

/// The rate of a host.
#[derive(Clone, Copy, Debug)]
pub struct CreditRate {
    /// The part of the full rate.
    rate: f64,
    /// The average share of marks.
    marks: f64,
    /// Looks in a row that raised the rate.
    raised: i32,
    /// When the next look is; none: it has not been drawn yet.
    next: Option<Time>,
    /// Packets since the last look: all, with marks, trimmed before the last link, and elsewhere.
    packets: [u32; 4],
}

impl Default for CreditRate {
    fn default() -> CreditRate {
        CreditRate { rate: 1.0, marks: 0.0, raised: 0, next: None, packets: [0; 4] }
    }
}

impl CreditRate {
    /// A packet for one of the receivers came.
    pub fn on_packet(&mut self, came: Came, now: Time, rules: &CreditRules, random: &mut impl FnMut() -> f64) {
        self.look_until(now, rules, random);
        self.packets[0] += 1;
        match came {
            Came::Well => {}
            Came::Marked => self.packets[1] += 1,
            Came::TrimmedAtLast => self.packets[2] += 1,
            Came::Trimmed => self.packets[3] += 1,
        }
    }

    /// The part of the full rate for which receivers grant credit.
    pub fn rate(&mut self, now: Time, rules: &CreditRules, random: &mut impl FnMut() -> f64) -> f64 {
        self.look_until(now, rules, random);
        self.rate
    }

    fn look_until(&mut self, now: Time, rules: &CreditRules, random: &mut impl FnMut() -> f64) {
        // As the timers of uet-htsim, they begin with the run.
        let mut next = self.next.unwrap_or_else(|| rules.interval(random()));
        if now.saturating_sub(next) > rules.interval(1.0) * FORGETS_AFTER {
            *self = CreditRate::default();
            next = now + Time((rules.interval(random()).0 as f64 * random()) as u64);
        }
        while next <= now {
            self.look(rules);
            next += rules.interval(random());
        }
        self.next = Some(next);
    }

    /// `doCongestionControl`.
    fn look(&mut self, rules: &CreditRules) {
        let [all, marked, at_last, elsewhere] = std::mem::take(&mut self.packets).map(f64::from);
        let whole = all - at_last - elsewhere;
        let share = if whole > 0.0 { marked / whole } else { 0.0 };
        self.marks = self.marks * (1.0 - GAIN) + GAIN * share;
        let congested = self.marks > TARGET;
        if elsewhere > 0.0 {
            self.rate -= elsewhere / all;
        }
        if congested {
            self.rate *= 1.0 - (self.marks - TARGET) * CUT;
        }
        if elsewhere > 0.0 || congested {
            self.raised = 0;
        } else {
            self.rate += if marked == 0.0 { STEP * 2f64.powi(self.raised) } else { STEP };
            self.raised += 1;
        }
        self.rate = self.rate.clamp(rules.least, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Time = Time::from_us(10);

    /// Looks are 11.25 to 18.75 us apart; here all are 15.
    fn rate_after(looks: &[&[(Came, u32)]]) -> Vec<f64> {
        let rules = CreditRules::new(BASE, 4.0);
        let (mut rate, mut half, mut now) = (CreditRate::default(), || 0.5, Time::from_us(0));
        let mut rates = Vec::new();
        for look in looks {
            for (came, packets) in look.iter() {
                (0..*packets).for_each(|_| rate.on_packet(*came, now, &rules, &mut half));
            }
            now += Time::from_us(15);
            rates.push(rate.rate(now, &rules, &mut half));
        }
        rates
    }

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// By hand. 10 of 50 trimmed elsewhere take a fifth; those of the last link nothing, and they are no whole packets for
    /// the share of marks. Then 0.01, 0.02, 0.04 more; with a mark again 0.01.
    #[test]
    fn trims_elsewhere_take_their_share() {
        use Came::{Marked, Trimmed, TrimmedAtLast, Well};
        let found = rate_after(&[
            &[(Well, 20), (TrimmedAtLast, 20), (Trimmed, 10)],
            &[(Well, 30), (TrimmedAtLast, 30)],
            &[(Well, 30)],
            &[(Well, 30)],
            &[(Well, 99), (Marked, 1)],
            &[],
        ]);
        near(&found, &[0.8, 0.81, 0.83, 0.87, 0.88, 1.0]);
        // A fall begins the steps anew.
        let half: &[_] = &[(Well, 5), (Trimmed, 5)];
        near(
            &rate_after(&[half, &[(Well, 1)], &[(Well, 1)], &[(Well, 9), (Trimmed, 1)], &[(Well, 1)]]),
            &[0.5, 0.51, 0.53, 0.43, 0.44],
        );
    }

    /// 80 of 100 marked: the average is 0.4, then 0.6 and 0.7; the cuts are half of what is above 0.3. 0.225 is the least.
    #[test]
    fn marks_take_half_of_the_excess() {
        use Came::{Marked, Trimmed, TrimmedAtLast, Well};
        let most: &[_] = &[(Marked, 80), (Well, 20)];
        let first = 1.0 - 0.1 * 0.5;
        near(&rate_after(&[most, most]), &[first, first * (1.0 - 0.3 * 0.5)]);
        // Trimmed packets are no part of the share: 8 of 20.
        near(&rate_after(&[&[(Marked, 8), (Well, 12), (Trimmed, 80)]]), &[0.225]);
        near(&rate_after(&[&[(Marked, 6), (Well, 4)]]), &[1.0]);
        near(&rate_after(&[&[(Marked, 16), (Well, 4), (TrimmedAtLast, 20)]]), &[0.95]);
        near(&rate_after(&[&[(Marked, 16), (Well, 4), (Trimmed, 4)]]), &[20.0 / 24.0 * 0.95]);
        // The least is 0.01 where hosts send more than 90 times as much.
        assert_eq!(CreditRules::new(BASE, 1_000.0).least, 0.01);
    }

    /// The share is that of the time between looks, whoever asks when; after a long silence all is as at the start.
    #[test]
    fn looks_are_made_up_for() {
        let rules = CreditRules::new(BASE, 4.0);
        let us = Time::from_us;
        let (mut rate, mut half) = (CreditRate::default(), || 0.5);
        (0..4).for_each(|_| rate.on_packet(Came::Trimmed, us(0), &rules, &mut half));
        assert_eq!(rate.rate(us(14), &rules, &mut half), 1.0);
        assert_eq!(rate.rate(us(15), &rules, &mut half), 0.225);
        // Looks at 30, 45 and 60.
        let now = rate.rate(us(74), &rules, &mut half);
        assert!((now - (0.225 + 0.01 + 0.02 + 0.04)).abs() < 1e-12, "{now}");
        assert_eq!(rate.rate(us(400), &rules, &mut half), 1.0);
        rate.on_packet(Came::Trimmed, us(400), &rules, &mut half);
        assert_eq!(rate.rate(us(406), &rules, &mut half), 0.225);
        // Somewhere in an interval: here in its middle.
        rate.on_packet(Came::Trimmed, us(9_000), &rules, &mut half);
        assert_eq!((rate.next, rate.packets), (Some(Time(9_007_500_000)), [1, 0, 0, 1]));
        assert_eq!((rate.rate, rate.marks, rate.raised), (1.0, 0.0, 0));
        let intervals = [0.0, 1.0].map(|drawn| rules.interval(drawn));
        assert_eq!(intervals, [Time(11_250_000), Time(18_750_000)]);
    }
}
