//! RSS with rerouting: a number of subflows, each with a value, take packets by their PSNs; once in a period that
//! with the longest mean round-trip time has another value ("Ordered Chaos", SC 2026).

use super::{Feedback, Spraying};
use linkpool_units::Time;

/// What a subflow has sent with one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// The value.
    pub value: u16,
    /// The first and the last PSN that it sent for the first time.
    pub first: u32,
    /// See `first`.
    pub last: u32,
}

/// A subflow in this period.
#[derive(Clone, Debug)]
struct Subflow {
    value: u16,
    /// The first PSN that it sends, or is to send, for the first time with this value, and the next one.
    first: u32,
    next: u32,
    /// Round-trip times, their sum in ps.
    heard: u32,
    sum: u64,
    /// The last that was heard of it is that a packet had no answer in time.
    dead: bool,
}

/// The subflows of a sender.
#[derive(Debug)]
pub struct Rss {
    entropies: u16,
    subflows: Box<[Subflow]>,
    period: Time,
    /// The end of this period; none before the first packet.
    end: Option<Time>,
    /// By how much the longest mean must be above the shortest, in shortest means.
    margin: f64,
    /// What a subflow sent before it was given another value, until someone asks.
    ended: Option<Section>,
    /// Is a subflow with a timeout the worst? If not, one without ACKs has a mean of 0.
    heeds_timeouts: bool,
}

impl Rss {
    pub(super) fn new(spraying: &Spraying, drawn: u32) -> Rss {
        let mask = spraying.entropies - 1;
        // An odd step visits all values of a power of two before it comes to one again.
        let step = (drawn >> 16) as u16 | 1;
        let value = |i: u16| (drawn as u16).wrapping_add(step.wrapping_mul(i)) & mask;
        let subflow = |i| Subflow { value: value(i), first: i.into(), next: i.into(), heard: 0, sum: 0, dead: false };
        Rss {
            entropies: spraying.entropies,
            subflows: (0..spraying.rss_subflows).map(subflow).collect(),
            period: spraying.rss_period,
            end: None,
            margin: spraying.rss_margin,
            ended: None,
            heeds_timeouts: spraying.rss_heeds_timeouts,
        }
    }

    pub(super) fn next(&mut self, psn: u32, now: Time, mut random: impl FnMut(u32) -> u32) -> u16 {
        if self.end.is_none_or(|end| now >= end) {
            if self.end.is_some() {
                self.reroute(&mut random);
            }
            // Periods are longer or shorter by up to a quarter.
            let thousandths = 750 + u64::from(random(501));
            self.end = Some(now + Time(self.period.0 / 1_000 * thousandths));
        }
        let subflows = self.subflows.len();
        let subflow = &mut self.subflows[psn as usize % subflows];
        if psn >= subflow.next {
            subflow.next = psn + subflows as u32;
        }
        subflow.value
    }

    /// The first PSN that the subflow of `psn` sends for the first time with its value.
    pub(super) fn section(&self, psn: u32) -> u32 {
        self.subflows[psn as usize % self.subflows.len()].first
    }

    /// What a subflow has sent with the value that was taken from it last, once.
    pub(super) fn take_ended(&mut self) -> Option<Section> {
        self.ended.take()
    }

    pub(super) fn on_feedback(&mut self, entropy: u16, feedback: Feedback, rtt: Option<Time>) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.value == entropy) {
            subflow.dead = feedback == Feedback::Lost;
            if let Some(rtt) = rtt {
                (subflow.heard, subflow.sum) = (subflow.heard + 1, subflow.sum + rtt.0);
            }
        }
    }

    /// Gives the worst subflow another value.
    fn reroute(&mut self, mut random: impl FnMut(u32) -> u32) {
        let mean = |subflow: &Subflow| match subflow.heard {
            _ if self.heeds_timeouts && subflow.dead => Some(f64::INFINITY),
            0 if self.heeds_timeouts => None,
            0 => Some(0.0),
            heard => Some(subflow.sum as f64 / f64::from(heard)),
        };
        let means = || self.subflows.iter().enumerate().filter_map(|(i, subflow)| Some((mean(subflow)?, i)));
        let worst = means().max_by(|a, b| a.0.total_cmp(&b.0));
        let best = means().min_by(|a, b| a.0.total_cmp(&b.0));
        let moved = worst.zip(best).filter(|((worst, _), (best, _))| *worst >= best * (1.0 + self.margin));
        if let Some(((_, worst), _)) = moved {
            let subflows = self.subflows.len() as u32;
            let Subflow { value, first, next, .. } = &mut self.subflows[worst];
            self.ended = (first < next).then(|| Section { value: *value, first: *first, last: *next - subflows });
            (*value, *first) = (random(self.entropies.into()) as u16, *next);
            self.subflows[worst].dead = false;
        }
        for subflow in &mut self.subflows {
            // Of several that are dead one is given another value: the others stay dead until it is their turn.
            (subflow.heard, subflow.sum) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three subflows over 16 values; a period of 10 us, as drawn.
    fn rss(change: impl Fn(&mut Spraying)) -> Rss {
        let mut spraying = Spraying {
            rss_subflows: 3,
            rss_period: Time::from_us(10),
            rss_margin: 0.0,
            rss_heeds_timeouts: true,
            ..Spraying::for_tests(16)
        };
        change(&mut spraying);
        let mut rss = Rss::new(&spraying, 0x0004_0000 + 14);
        assert_eq!(values(&mut rss, 0), [14, 3, 8]);
        rss
    }

    /// The values of packets 0 to 2 at `us`; a random number is 250 of 501 (no change of the period), or 7 of 16.
    fn values(rss: &mut Rss, us: u64) -> [u16; 3] {
        [0, 1, 2].map(|psn| rss.next(psn, Time::from_us(us), |n| if n == 501 { 250 } else { 7 }))
    }

    fn hear(rss: &mut Rss, all: &[(u16, u64)]) {
        for (value, us) in all {
            rss.on_feedback(*value, Feedback::Good, Some(Time::from_us(*us)));
        }
    }

    #[test]
    fn the_slowest_subflow_is_moved_once_a_period() {
        let mut rss = rss(|_| {});
        hear(&mut rss, &[(14, 12), (3, 12), (3, 17), (8, 14), (5, 99)]);
        assert_eq!(values(&mut rss, 9), [14, 3, 8]);
        assert_eq!(values(&mut rss, 10), [14, 7, 8], "14.5 us is the longest mean");
        assert_eq!(rss.next(5, Time::from_us(10), |_| 0), 8, "by the PSN");
        hear(&mut rss, &[(14, 15), (8, 14)]);
        assert_eq!(values(&mut rss, 20), [7, 7, 8], "what was measured before is forgotten");
        assert_eq!(values(&mut rss, 30), [7, 7, 8], "nothing was measured");
        assert_eq!(rss.take_ended(), Some(Section { value: 14, first: 0, last: 0 }));
        assert_eq!(rss.take_ended(), None, "once");
    }

    /// What a subflow has sent for the first time with a value: nothing, if it has sent again alone.
    #[test]
    fn a_section_is_what_was_sent_first_with_one_value() {
        let mut rss = rss(|_| {});
        rss.next(4, Time::from_us(1), |_| 0);
        assert_eq!([0, 1, 2, 7].map(|psn| rss.section(psn)), [0, 1, 2, 1]);
        hear(&mut rss, &[(14, 12), (3, 17)]);
        assert_eq!(rss.next(1, Time::from_us(10), |n| if n == 501 { 250 } else { 7 }), 7);
        assert_eq!((rss.section(1), rss.take_ended()), (7, Some(Section { value: 3, first: 1, last: 4 })));
        hear(&mut rss, &[(14, 12), (7, 17)]);
        assert_eq!(rss.next(4, Time::from_us(20), |n| if n == 501 { 250 } else { 5 }), 5);
        assert_eq!((rss.section(1), rss.take_ended()), (7, None));
    }

    #[test]
    fn a_margin_keeps_the_worst() {
        for (worst, expected) in [(14, [14, 3, 8]), (15, [14, 7, 8])] {
            let mut rss = rss(|spraying| spraying.rss_margin = 0.25);
            hear(&mut rss, &[(14, 12), (3, worst), (8, 13)]);
            assert_eq!(values(&mut rss, 10), expected);
        }
    }

    /// A subflow with a timeout is moved; with the published fault it has a mean of 0, and another one is moved.
    #[test]
    fn a_dead_path_is_left() {
        for (heeds, expected) in [(true, [14, 7, 8]), (false, [14, 3, 7])] {
            let mut rss = rss(|spraying| spraying.rss_heeds_timeouts = heeds);
            hear(&mut rss, &[(14, 12), (8, 13)]);
            rss.on_feedback(3, Feedback::Lost, None);
            assert_eq!(values(&mut rss, 10), expected);
        }
    }

    /// Of several dead subflows one is moved in a period. One that is heard of again is not dead.
    #[test]
    fn dead_subflows_are_moved_one_by_one() {
        let lost = |rss: &mut Rss, value| rss.on_feedback(value, Feedback::Lost, None);
        let mut rss = rss(|_| {});
        lost(&mut rss, 3);
        lost(&mut rss, 8);
        assert_eq!(values(&mut rss, 10), [14, 3, 7]);
        hear(&mut rss, &[(14, 12), (7, 13)]);
        assert_eq!(values(&mut rss, 20), [14, 7, 7]);
        lost(&mut rss, 14);
        rss.on_feedback(14, Feedback::Marked, None);
        hear(&mut rss, &[(7, 12)]);
        assert_eq!(values(&mut rss, 30), [14, 7, 7], "the last of two that are equal, which are given 7");
    }

    #[test]
    fn periods_vary_by_a_quarter() {
        for (drawn, end) in [(0, 7_500), (500, 12_500)] {
            let mut rss = Rss::new(&Spraying { rss_period: Time::from_us(10), ..Spraying::for_tests(16) }, 0);
            rss.next(0, Time::ZERO, |_| drawn);
            assert_eq!(rss.end, Some(Time::from_ns(end)));
        }
    }
}
