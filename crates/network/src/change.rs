//! Changes of links, and of routing, at set times during a run.

use crate::fabric::{Fabric, LinkId};
use crate::policy::{Policies, QueuePolicy};
use crate::queue_limit::QueueLimit;
use crate::routing::Routes;
use linkpool_units::{Rate, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A change of a link from some time on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LinkChange {
    /// It works (true), or fails (false): its port loses the queued packets, the packet in service,
    /// and all that arrive until it works again. Packets that have left the port arrive.
    Up(bool),
    /// Its rate. The rest of the packet in service is sent at the new rate.
    Rate(Rate),
    /// The limit of the queue at its port, for packets that come from then on.
    Limit(QueueLimit),
    /// The random loss of packets on it.
    Loss(Loss),
    /// The probability that a bit is wrong on it; a packet with a wrong bit is lost.
    BitErrors(f64),
}

/// Random loss of packets on a link: the model of Gilbert and Elliott, a Markov chain of a good and
/// a bad state. Each packet is lost with the probability of the state that it meets; then the state
/// changes with its probability.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Loss {
    /// Probability of loss in the good state.
    pub in_good: f64,
    /// Probability of loss in the bad state.
    pub in_bad: f64,
    /// Probability that the bad state follows the good one, per packet.
    pub to_bad: f64,
    /// Probability that the good state follows the bad one, per packet.
    pub to_good: f64,
}

impl Loss {
    /// No packet is lost.
    pub const NONE: Loss = Loss::random(0.0);

    /// Each packet is lost with `probability`, whatever became of others.
    pub const fn random(probability: f64) -> Loss {
        Loss { in_good: probability, in_bad: 0.0, to_bad: 0.0, to_good: 0.0 }
    }

    /// The share of packets lost in the long run: the chain is in the bad state for to_bad /
    /// (to_bad + to_good) of the packets.
    pub fn rate(&self) -> f64 {
        let moves = self.to_bad + self.to_good;
        let bad = if moves > 0.0 { self.to_bad / moves } else { 0.0 };
        bad * self.in_bad + (1.0 - bad) * self.in_good
    }
}

/// The changes during a run, with their times. All are known before the run, and the same in all
/// partitions of a network.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// The seed of the random numbers of ports, and of the order of packets that reach a node at
    /// the same instant.
    pub seed: u64,
    /// Changes of links, in order of time; at one time, in the order in which they take effect.
    /// Changes at time zero hold from the start.
    pub links: BTreeMap<LinkId, Vec<(Time, LinkChange)>>,
    /// Routes in order of time, the first from time zero. A packet is routed by the routes in force
    /// at the beginning of the window in which it arrives at a switch.
    pub routes: Vec<(Time, Arc<Routes>)>,
}

impl From<Arc<Routes>> for Timetable {
    /// Nothing changes.
    fn from(routes: Arc<Routes>) -> Timetable {
        Timetable { seed: 0, links: BTreeMap::new(), routes: vec![(Time::ZERO, routes)] }
    }
}

/// A link as it is at the start, and its changes.
#[derive(Debug)]
pub(crate) struct Course<'t> {
    pub(crate) rate: Rate,
    pub(crate) limit: Option<QueueLimit>,
    pub(crate) up: bool,
    pub(crate) loss: Loss,
    pub(crate) bit_errors: f64,
    pub(crate) later: &'t [(Time, LinkChange)],
}

impl Timetable {
    /// The routes in force at `now`.
    pub fn routes_at(&self, now: Time) -> &Arc<Routes> {
        let later = self.routes.partition_point(|(at, _)| *at <= now);
        &self.routes[later.saturating_sub(1)].1
    }

    /// The course of `link`, built with `rate`.
    pub(crate) fn course(&self, link: LinkId, rate: Rate) -> Course<'_> {
        let all = self.links.get(&link).map_or(&[][..], Vec::as_slice);
        let (first, later) = all.split_at(all.partition_point(|(at, _)| *at == Time::ZERO));
        let mut course = Course { rate, limit: None, up: true, loss: Loss::NONE, bit_errors: 0.0, later };
        for (_, change) in first {
            match *change {
                LinkChange::Up(up) => course.up = up,
                LinkChange::Rate(rate) => course.rate = rate,
                LinkChange::Limit(limit) => course.limit = Some(limit),
                LinkChange::Loss(loss) => course.loss = loss,
                LinkChange::BitErrors(rate) => course.bit_errors = rate,
            }
        }
        course
    }
}

impl Timetable {
    /// The routes, if they do not change and switches choose among them by hash: then packets do not depend on each other.
    pub(crate) fn hashed(&self) -> Option<&Routes> {
        match self.routes.as_slice() {
            [(_, routes)] if !routes.spreading().moves_flows() => Some(routes),
            _ => None,
        }
    }

    /// Have all these `links` of `fabric` FIFO queues that do not change?
    pub(crate) fn are_plain(
        &self,
        fabric: &Fabric,
        policies: &Policies,
        mut links: impl Iterator<Item = LinkId>,
    ) -> bool {
        links.all(|link| {
            let spec = &fabric.links()[link.index()];
            let course = self.course(link, spec.rate);
            course.is_plain(&course.limited(policies.at(fabric, spec)))
        })
    }
}

impl Course<'_> {
    /// `policy` with the limit from the start, if it has one.
    pub(crate) fn limited(&self, mut policy: QueuePolicy) -> QueuePolicy {
        policy.thresholds = self.limit.map_or(policy.thresholds, |limit| policy.thresholds.limited_to(limit));
        policy
    }

    /// Does the link stay as it is at the start, up and without loss?
    pub(crate) fn is_constant(&self) -> bool {
        self.up && self.loss == Loss::NONE && self.bit_errors == 0.0 && self.later.is_empty()
    }

    /// Is the queue of a link with `policy`, the limit from the start included, a FIFO queue whose rate and limit stay?
    pub(crate) fn is_plain(&self, policy: &QueuePolicy) -> bool {
        self.is_constant() && policy.is_plain()
    }

    /// The highest rate that the link ever has.
    pub(crate) fn fastest(&self) -> Rate {
        let rates = self.later.iter().filter_map(|(_, change)| match change {
            LinkChange::Rate(rate) => Some(*rate),
            _ => None,
        });
        rates.fold(self.rate, |most, rate| if rate.0 > most.0 { rate } else { most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Generator, ManyToOne};

    #[test]
    fn the_long_run_loss_of_a_gilbert_elliott_chain() {
        let loss = Loss { in_good: 0.01, in_bad: 0.5, to_bad: 0.1, to_good: 0.3 };
        // A quarter of the packets meet the bad state.
        assert!((loss.rate() - (0.25 * 0.5 + 0.75 * 0.01)).abs() < 1e-15);
        assert_eq!(Loss::random(0.125).rate(), 0.125);
    }

    #[test]
    fn routes_are_those_of_the_last_change() {
        let fabric = ManyToOne { senders: 2, rate: Rate::gbps(1), delay: Time::from_us(1) }.fabric();
        let [first, second] = [1, 2].map(|seed| Arc::new(Routes::new(&fabric, seed)));
        let routes = vec![(Time::ZERO, first.clone()), (Time::from_us(10), second.clone())];
        let timetable = Timetable { routes, ..Timetable::from(first.clone()) };
        for (at, routes) in [(0, &first), (9, &first), (10, &second), (11, &second)] {
            assert!(Arc::ptr_eq(timetable.routes_at(Time::from_us(at)), routes), "at {at} us");
        }
    }

    #[test]
    fn a_course_is_plain_unless_a_port_must_know_more_than_a_rate_and_a_limit() {
        let fabric = ManyToOne { senders: 2, rate: Rate::gbps(1), delay: Time::from_us(1) }.fabric();
        let policy = QueuePolicy::drop_tail(QueueLimit::Packets(100));
        let is_plain = |changes: &[(Time, LinkChange)]| {
            let policy = policy.clone();
            let mut timetable = Timetable::from(Arc::new(Routes::new(&fabric, 1)));
            timetable.links.insert(LinkId::new(0), changes.to_vec());
            let course = timetable.course(LinkId::new(0), Rate::gbps(1));
            course.is_plain(&course.limited(policy))
        };
        assert!(is_plain(&[]));
        assert!(is_plain(&[(Time::ZERO, LinkChange::Rate(Rate::gbps(2)))]));
        assert!(is_plain(&[(Time::ZERO, LinkChange::Limit(QueueLimit::Packets(3)))]));
        assert!(!is_plain(&[(Time::ZERO, LinkChange::Limit(QueueLimit::Packets(200_000)))]));
        assert!(!is_plain(&[(Time(1), LinkChange::Rate(Rate::gbps(2)))]));
        assert!(!is_plain(&[(Time::ZERO, LinkChange::Up(false))]));
        assert!(!is_plain(&[(Time::ZERO, LinkChange::Loss(Loss::random(0.1)))]));
        assert!(!is_plain(&[(Time::ZERO, LinkChange::BitErrors(1e-9))]));
    }

    /// It sets the lookahead: a packet is never there sooner than at the highest rate.
    #[test]
    fn the_fastest_rate_is_the_highest_of_all_times() {
        let changes = |rates: &[u64]| -> Vec<(Time, LinkChange)> {
            (1..).zip(rates).map(|(us, gbps)| (Time::from_us(us), LinkChange::Rate(Rate::gbps(*gbps)))).collect()
        };
        for (rates, fastest) in [(vec![], 4), (vec![1, 2], 4), (vec![1, 9, 5], 9)] {
            let mut later = changes(&rates);
            later.push((Time::from_us(8), LinkChange::Up(false)));
            let (rate, loss) = (Rate::gbps(4), Loss::NONE);
            let course = Course { rate, limit: None, up: true, loss, bit_errors: 0.0, later: &later };
            assert_eq!(course.fastest(), Rate::gbps(fastest), "{rates:?}");
        }
    }
}
