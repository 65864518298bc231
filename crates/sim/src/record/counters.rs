//! Counters of links per interval.

use crate::results::sample::{Sample, Value};
use linkpool_network::{Fabric, LinkId, LinkStats, OnWire, RareEvents};
use linkpool_scenario::CounterSeries;
use linkpool_units::Time;

/// The counters of links at the last sample.
#[derive(Debug)]
pub(crate) struct Counters {
    every: Time,
    from: Time,
    until: Time,
    links: Vec<LinkId>,
    /// By link.
    before: Vec<Counted>,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    at: Option<Time>,
    packets: u64,
    on_wire: OnWire,
    rare: RareEvents,
    paused: Option<Time>,
}

impl Counters {
    pub(crate) fn new(record: &CounterSeries, fabric: &Fabric) -> Counters {
        let mut links: Vec<LinkId> = match &record.links {
            Some(links) => links.iter().flat_map(|(from, to)| fabric.links_named(from, to)).collect(),
            None => LinkId::first(fabric.links().len()).collect(),
        };
        // Two timers of one link would halve its intervals.
        links.sort_unstable();
        links.dedup();
        // At the start nothing has been counted, though something may be sent at once.
        let at = (record.from == Time::ZERO).then_some(Time::ZERO);
        let before = vec![Counted { at, ..Counted::default() }; fabric.links().len()];
        Counters { every: record.every, from: record.from, until: record.until, links, before }
    }

    pub(crate) fn links(&self) -> Vec<LinkId> {
        self.links.clone()
    }

    /// When to look first.
    pub(crate) fn first(&self) -> Time {
        if self.from == Time::ZERO { self.every } else { self.from }
    }

    /// When to look after `now`.
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        Some(now + self.every).filter(|next| *next <= self.until)
    }

    /// Is counting not over before `now`, the end of the run?
    pub(crate) fn lasts(&self, now: Time) -> bool {
        now <= self.until
    }

    /// Takes the counters of `link`, what it has put on the wire and for how long it was paused at `now`. Returns the
    /// difference, unless this is the first sample.
    pub(crate) fn count(
        &mut self,
        link: LinkId,
        now: Time,
        (stats, on_wire): (LinkStats, OnWire),
        paused: Option<Time>,
    ) -> Option<Sample> {
        let before = &mut self.before[link.index()];
        // A packet that is cut off with its link was accepted, and partly on the wire: neither is
        // taken back.
        let (packets, on_wire) = (stats.packets.max(before.packets), on_wire.max(before.on_wire));
        let sample = before.at.filter(|at| *at < now).map(|since| Sample {
            at: now,
            value: Value::Counters {
                link,
                since,
                packets: packets - before.packets,
                bytes: on_wire.bytes() - before.on_wire.bytes(),
                sent: on_wire.since(before.on_wire),
                rare: Box::new(stats.rare - before.rare),
                paused: paused.map(|paused| paused - before.paused.unwrap_or_default()),
            },
        });
        *before = Counted { at: Some(now), packets, on_wire, rare: stats.rare, paused };
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::topology;
    use linkpool_units::Rate;

    fn counters(from: u64, links: Option<Vec<(String, String)>>) -> Counters {
        let record = CounterSeries { links, every: Time(10), from: Time(from), until: Time(30) };
        Counters::new(&record, &topology::fat_tree(4, 2, Rate::gbps(1), Time(1)))
    }

    /// A count at the time of the last one has no interval, and what is cut off with a link is not taken
    /// back.
    #[test]
    fn intervals_have_a_length() {
        let (mut counters, link) = (counters(0, None), LinkId::new(3));
        let mut count = |at: u64, packets, bytes| {
            let stats = LinkStats { packets, ..LinkStats::default() };
            // 8 Gbit/s: a byte a nanosecond.
            let on_wire = OnWire::at_rate(Rate::gbps(8), Time::from_ns(bytes));
            let paused = Some(Time(at / 2));
            counters.count(link, Time(at), (stats, on_wire), paused).map(|sample| match sample.value {
                Value::Counters { since, packets, bytes, paused, .. } => {
                    assert_eq!(paused, Some(Time(at / 2 - since.0 / 2)));
                    (since.0, packets, bytes)
                }
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(count(0, 1, 100), None);
        assert_eq!(count(10, 3, 250), Some((0, 2, 150)));
        assert_eq!(count(10, 4, 300), None);
        assert_eq!(count(20, 2, 260), Some((10, 0, 0)));
        assert_eq!(count(30, 7, 400), Some((20, 3, 100)));
    }

    #[test]
    fn counts_are_an_interval_apart() {
        let (first, late) = (counters(0, None), counters(5, None));
        assert_eq!((first.first(), late.first()), (Time(10), Time(5)));
        assert_eq!([Time(10), Time(20), Time(21)].map(|now| first.next(now)), [Some(Time(20)), Some(Time(30)), None]);
        assert_eq!([Time(30), Time(31)].map(|end| first.lasts(end)), [true, false]);
        let named = |from: &str, to: &str| (from.to_string(), to.to_string());
        let twice = vec![named("e0.0", "h0"), named("h0", "e0.0"), named("e0.0", "h0")];
        assert_eq!(counters(0, Some(twice)).links().len(), 2);
    }
}
