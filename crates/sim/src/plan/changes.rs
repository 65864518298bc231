//! The changes of a scenario, link by link.

use linkpool_engine::stream;
use linkpool_network::{Fabric, LinkChange, LinkId, Loss, OnWire, QueueLimit, Routes, Routing, Timetable};
use linkpool_scenario::{Change, LinkState, Scenario};
use linkpool_units::{Rate, Time};
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// All that changes during a run, known before it.
#[derive(Clone, Debug, Default)]
pub struct LinkChanges {
    /// By link: its changes, in order of time.
    pub links: BTreeMap<LinkId, Vec<(Time, LinkChange)>>,
    /// The delay after which routing follows when links fail or work again; `None`: never.
    reconverge: Option<Time>,
}

/// One change of one property: its start, its end, its value.
type Span<T> = (Time, Time, T);

/// The changes of a link, in the order of the file.
#[derive(Default)]
struct Said {
    up: Vec<Span<bool>>,
    rate: Vec<Span<Rate>>,
    limit: Vec<Span<QueueLimit>>,
    loss: Vec<Span<Loss>>,
    bit_errors: Vec<Span<f64>>,
}

impl LinkChanges {
    /// The changes of `scenario`; `built` is the limit of the queue at a link's port.
    pub(crate) fn new(scenario: &Scenario, fabric: &Fabric, built: impl Fn(LinkId) -> QueueLimit) -> LinkChanges {
        let mut said: BTreeMap<LinkId, Said> = BTreeMap::new();
        for (i, change) in scenario.changes.iter().enumerate() {
            for (at, until, link) in occurrences(change, fabric, (scenario.seed, i as u64), scenario.end()) {
                let said = said.entry(link).or_default();
                let built = fabric.links()[link.index()].rate;
                let rate = change.rate.or(change.rate_factor.map(|factor| part(built, factor)));
                said.up.extend(change.state.map(|state| (at, until, state == LinkState::Up)));
                said.rate.extend(rate.map(|rate| (at, until, rate)));
                said.limit.extend(change.limit.map(|limit| (at, until, limit)));
                said.loss.extend(change.losses().map(|loss| (at, until, loss)));
                said.bit_errors.extend(change.bit_errors.map(|rate| (at, until, rate)));
            }
        }
        let course = |(link, said): (LinkId, Said)| {
            let rate = fabric.links()[link.index()].rate;
            let up = steps(&said.up, true).map(|(at, up)| (at, LinkChange::Up(up)));
            let rate = steps(&said.rate, rate).map(|(at, rate)| (at, LinkChange::Rate(rate)));
            let limit = steps(&said.limit, built(link)).map(|(at, limit)| (at, LinkChange::Limit(limit)));
            let loss = steps(&said.loss, Loss::NONE).map(|(at, loss)| (at, LinkChange::Loss(loss)));
            let errors = steps(&said.bit_errors, 0.0).map(|(at, rate)| (at, LinkChange::BitErrors(rate)));
            let mut all: Vec<(Time, LinkChange)> = up.chain(rate).chain(limit).chain(loss).chain(errors).collect();
            all.retain(|(at, _)| *at < scenario.end());
            all.sort_by_key(|(at, _)| *at);
            (link, all)
        };
        let links = said.into_iter().map(course).filter(|(_, all)| !all.is_empty()).collect();
        LinkChanges { links, reconverge: scenario.reconverge() }
    }

    /// At each time at which links fail or work again, and at time 0: the links that are down.
    fn down(&self) -> BTreeMap<Time, BTreeSet<LinkId>> {
        let mut turns: BTreeMap<Time, Vec<(LinkId, bool)>> = BTreeMap::from([(Time::ZERO, Vec::new())]);
        for (link, changes) in &self.links {
            for (at, change) in changes {
                if let LinkChange::Up(up) = change {
                    turns.entry(*at).or_default().push((*link, *up));
                }
            }
        }
        let mut down = BTreeSet::new();
        let after = |(at, turns): (Time, Vec<(LinkId, bool)>)| {
            for (link, up) in turns {
                if up {
                    down.remove(&link)
                } else {
                    down.insert(link)
                };
            }
            (at, down.clone())
        };
        turns.into_iter().map(after).collect()
    }

    /// When routing changes, and which links it avoids from then on; not that of the start.
    pub fn reroutes(&self) -> Vec<(Time, BTreeSet<LinkId>)> {
        let Some(after) = self.reconverge else { return Vec::new() };
        let later = self.down().into_iter().filter(|(at, _)| *at > Time::ZERO);
        later.map(|(at, down)| (at.saturating_add(after), down)).collect()
    }

    /// For the network: changes, and routes around links that are down. Links that are down at time
    /// 0 are excluded from routes, unless routing never follows.
    pub(crate) fn timetable(&self, fabric: &Fabric, routing: &Routing, seed: u64, end: Time) -> Timetable {
        let first = self.reconverge.and_then(|_| self.down().remove(&Time::ZERO)).unwrap_or_default();
        let reroutes = self.reroutes().into_iter().filter(|(at, _)| *at < end);
        // A cable that flaps has the same two routes again and again.
        let mut known: HashMap<BTreeSet<LinkId>, Arc<Routes>> = HashMap::new();
        let mut routes = |down: BTreeSet<LinkId>| {
            let found = |down: &BTreeSet<LinkId>| {
                let down: HashSet<LinkId> = down.iter().copied().collect();
                Arc::new(Routes::with(fabric, seed, routing, &down))
            };
            known.entry(down).or_insert_with_key(found).clone()
        };
        let all = std::iter::once((Time::ZERO, first)).chain(reroutes).map(|(at, down)| (at, routes(down)));
        Timetable { seed, links: self.links.clone(), routes: all.collect() }
    }

    /// What `link`, built with `rate`, could carry by `end`; nothing while it is down.
    pub(crate) fn capacity(&self, link: LinkId, rate: Rate, end: Time) -> OnWire {
        let (mut since, mut rate, mut up, mut all) = (Time::ZERO, rate, true, OnWire::default());
        let carried = |span: Time, rate: Rate, up: bool| OnWire::at_rate(if up { rate } else { Rate(0) }, span);
        for (at, change) in self.links.get(&link).into_iter().flatten().take_while(|(at, _)| *at < end) {
            all = all + carried(*at - since, rate, up);
            since = *at;
            match change {
                LinkChange::Rate(new) => rate = *new,
                LinkChange::Up(new) => up = *new,
                _ => {}
            }
        }
        all + carried(end.saturating_sub(since), rate, up)
    }
}

/// When a change holds, and of which link. Which change of the file it is selects the stream that
/// draws its victims.
fn occurrences(change: &Change, fabric: &Fabric, (seed, index): (u64, u64), end: Time) -> Vec<(Time, Time, LinkId)> {
    let all = change.changed().victims(fabric);
    let mut random = stream(seed, "change", index);
    let mut draw = || -> BTreeSet<LinkId> {
        let mut victims: Vec<&Vec<LinkId>> = all.iter().collect();
        if let Some(draw) = change.draw() {
            // A larger share of one seed has all the victims of a smaller one.
            victims.shuffle(&mut random);
            victims.truncate(draw.of(all.len()));
        }
        victims.into_iter().flatten().copied().collect()
    };
    let redraws = change.repeat.is_some_and(|repeat| repeat.redraw);
    let mut links = draw();
    let mut found = Vec::new();
    for (i, (at, until)) in change.spans(end).enumerate() {
        if redraws && i > 0 {
            links = draw();
        }
        found.extend(links.iter().map(|link| (at, until, *link)));
    }
    found
}

/// This part of a rate; at least 1 bit/s, as the scenario's check says.
fn part(rate: Rate, factor: f64) -> Rate {
    Rate((rate.0 as f64 * factor).round() as u64)
}

/// The times and values of a property that is `built` first. At an instant the change that began
/// last holds, and the later in the file if two began together.
fn steps<T: Copy + PartialEq>(said: &[Span<T>], built: T) -> impl Iterator<Item = (Time, T)> + use<T> {
    let times: BTreeSet<Time> = said.iter().flat_map(|(at, until, _)| [*at, *until]).collect();
    let at = |time: Time| {
        let holding = said.iter().filter(|(at, until, _)| *at <= time && time < *until);
        holding.max_by_key(|(at, ..)| *at).map_or(built, |(.., value)| *value)
    };
    let mut now = built;
    let mut steps = Vec::new();
    for time in times {
        let next = at(time);
        if next != now {
            steps.push((time, next));
            now = next;
        }
    }
    steps.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::topology;

    fn s(n: u64) -> Time {
        Time::from_secs(n)
    }

    #[test]
    fn the_last_that_began_holds() {
        let said = [(s(1), s(5), 'a'), (s(2), s(3), 'b'), (s(4), s(7), 'c'), (s(4), s(6), 'd')];
        let steps: Vec<_> = steps(&said, '-').collect();
        assert_eq!(steps, [(s(1), 'a'), (s(2), 'b'), (s(3), 'a'), (s(4), 'd'), (s(6), 'c'), (s(7), '-')]);
    }

    fn change(text: &str) -> Change {
        let bed = "duration = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
                   [transport.t]\ncontrol = \"reno\"\n[[workload.permutation]]\ntransport = \"t\"\n\
                   [routing]\nreconverge = \"never\"\n[[change]]\nstate = \"down\"\n";
        crate::scenario(&format!("{bed}{text}")).changes.remove(0)
    }

    fn fabric() -> Fabric {
        topology::fat_tree(4, 2, Rate::gbps(10), Time::ZERO)
    }

    #[test]
    fn a_larger_share_has_the_smaller() {
        let links = |of: &str, share: f64| -> BTreeSet<LinkId> {
            let change = change(&format!("{of}\nshare = {share:?}\n"));
            occurrences(&change, &fabric(), (7, 0), s(1)).into_iter().map(|(.., link)| link).collect()
        };
        // Each of the four core switches has four cables; sixteen cables join aggregation and core.
        for (of, links_of_a_quarter) in [("layer = \"core\"", 8), ("between = \"aggregation<->core\"", 8)] {
            let found: Vec<_> = [0.0, 0.25, 0.5, 0.75, 1.0].iter().map(|share| links(of, *share)).collect();
            let counts: Vec<usize> = found.iter().map(BTreeSet::len).collect();
            assert_eq!(counts, [0, 1, 2, 3, 4].map(|quarters| quarters * links_of_a_quarter), "{of}");
            assert!(found.windows(2).all(|pair| pair[0].is_subset(&pair[1])), "{of}");
        }
    }

    /// Down for 2 ms of every 5, from 10 ms to 21 ms: the last time it is cut short.
    #[test]
    fn a_cable_flaps() {
        let repeat =
            "links = [\"e0.0->a0.0\"]\nat = \"10ms\"\nuntil = \"21ms\"\nrepeat = { every = \"5ms\", lasts = \"2ms\" }";
        let times: Vec<(Time, Time)> = occurrences(&change(repeat), &fabric(), (7, 0), s(1))
            .into_iter()
            .map(|(at, until, _)| (at, until))
            .collect();
        assert_eq!(times, [(10, 12), (15, 17), (20, 21)].map(|(at, until)| (Time::from_ms(at), Time::from_ms(until))));
    }

    /// One of 32 cables a time: of 100 draws, some are the same as before and no cable has them
    /// all.
    #[test]
    fn each_time_another_cable_is_drawn() {
        let repeat = |redraw: bool| {
            let text = format!(
                "between = \"switch<->switch\"\ncount = 1\nuntil = \"100ms\"\n\
                 repeat = {{ every = \"1ms\", lasts = \"1us\", redraw = {redraw} }}"
            );
            occurrences(&change(&text), &fabric(), (7, 0), s(1))
        };
        let links =
            |found: &[(Time, Time, LinkId)]| found.iter().map(|(.., link)| *link).collect::<BTreeSet<_>>().len();
        let (same, drawn) = (repeat(false), repeat(true));
        assert_eq!((same.len(), drawn.len()), (200, 200));
        assert_eq!(links(&same), 2);
        // A cable is never drawn with the probability (31/32)^100 = 4%; so 61 of 64 links on
        // average.
        assert!((50..=64).contains(&links(&drawn)), "{}", links(&drawn));
        assert_eq!(drawn[..2], same[..2], "the first draw is the same");
    }

    #[test]
    fn a_tenth_of_a_rate() {
        assert_eq!(part(Rate::gbps(400), 0.1), Rate::gbps(40));
        assert_eq!(part(Rate(3), 0.5), Rate(2));
    }

    #[test]
    fn capacity_follows_rate_and_state() {
        let (gbps, down) = (Rate::gbps(1), LinkChange::Up(false));
        let course = vec![(s(1), LinkChange::Rate(gbps)), (s(3), down), (s(4), LinkChange::Up(true))];
        let [link, other] = [0, 1].map(LinkId::new);
        let changes = LinkChanges { links: BTreeMap::from([(link, course)]), reconverge: Some(s(1)) };
        // 10 Gbit/s for 1 s, 1 Gbit/s for 2 s, nothing for 1 s, 1 Gbit/s for 6 s.
        let gbit = |n| OnWire::at_rate(gbps, s(n));
        assert_eq!(changes.capacity(link, Rate::gbps(10), s(10)), gbit(18));
        assert_eq!(changes.capacity(other, Rate::gbps(10), s(10)), gbit(100));
        // By an end before some of the changes, or all, or at one.
        let by = |end| changes.capacity(link, Rate::gbps(10), end);
        assert_eq!(
            [Time::ZERO, Time::from_ms(500), s(1), s(2), s(3), s(4), s(5)].map(by),
            [0, 5, 10, 11, 12, 12, 13].map(gbit)
        );
        assert_eq!(changes.reroutes(), [(s(4), BTreeSet::from([link])), (s(5), BTreeSet::new())]);
    }
}
