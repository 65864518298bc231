//! The changes of a scenario, link by link.

use linkpool_engine::stream;
use linkpool_network::{Fabric, LinkChange, LinkId, Loss, NodeId, QueueLimit, Routes, Routing, Timetable};
use linkpool_scenario::{ChangedLinks, LinkState, Scenario};
use linkpool_units::{Rate, Time};
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// All that changes during a run, known before it.
#[derive(Clone, Debug, Default)]
pub struct LinkChanges {
    /// By link: its changes, in order of time.
    pub links: BTreeMap<LinkId, Vec<(Time, LinkChange)>>,
    /// The delay after which routing follows when links fail or work again; none: never.
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
}

impl LinkChanges {
    /// The changes of `scenario`; `built` is the limit of the queue at a link's port.
    pub(crate) fn new(scenario: &Scenario, fabric: &Fabric, built: impl Fn(LinkId) -> QueueLimit) -> LinkChanges {
        let mut said: BTreeMap<LinkId, Said> = BTreeMap::new();
        for (i, change) in scenario.changes.iter().enumerate() {
            let until = change.until.unwrap_or(Time::MAX);
            for link in links_of(change.changed(), fabric, scenario.seed, i as u64) {
                let said = said.entry(link).or_default();
                said.up.extend(change.state.map(|state| (change.at, until, state == LinkState::Up)));
                said.rate.extend(change.rate.map(|rate| (change.at, until, rate)));
                said.limit.extend(change.limit.map(|limit| (change.at, until, limit)));
                said.loss.extend(change.losses().map(|loss| (change.at, until, loss)));
            }
        }
        let course = |(link, said): (LinkId, Said)| {
            let rate = fabric.links()[link.index()].rate;
            let up = steps(&said.up, true).map(|(at, up)| (at, LinkChange::Up(up)));
            let rate = steps(&said.rate, rate).map(|(at, rate)| (at, LinkChange::Rate(rate)));
            let limit = steps(&said.limit, built(link)).map(|(at, limit)| (at, LinkChange::Limit(limit)));
            let loss = steps(&said.loss, Loss::NONE).map(|(at, loss)| (at, LinkChange::Loss(loss)));
            let mut all: Vec<(Time, LinkChange)> = up.chain(rate).chain(limit).chain(loss).collect();
            all.retain(|(at, _)| *at < scenario.end());
            all.sort_by_key(|(at, _)| *at);
            (link, all)
        };
        let links = said.into_iter().map(course).filter(|(_, all)| !all.is_empty()).collect();
        LinkChanges { links, reconverge: scenario.reconverge() }
    }

    /// Which links are down at `now`.
    fn down_at(&self, now: Time) -> HashSet<LinkId> {
        let is_down = |(link, changes): (&LinkId, &Vec<(Time, LinkChange)>)| {
            let states = changes.iter().take_while(|(at, _)| *at <= now);
            let last = states.filter(|(_, change)| matches!(change, LinkChange::Up(_))).last();
            matches!(last, Some((_, LinkChange::Up(false)))).then_some(*link)
        };
        self.links.iter().filter_map(is_down).collect()
    }

    /// When routing changes, and which links it avoids from then on; not that of the start.
    pub fn reroutes(&self) -> Vec<(Time, HashSet<LinkId>)> {
        let Some(after) = self.reconverge else { return Vec::new() };
        let states = self.links.values().flatten().filter(|(_, change)| matches!(change, LinkChange::Up(_)));
        let times: BTreeSet<Time> = states.map(|(at, _)| *at).filter(|at| *at > Time::ZERO).collect();
        times.into_iter().map(|at| (at.saturating_add(after), self.down_at(at))).collect()
    }

    /// For the network: changes, and routes around links that are down. Links that are down at time
    /// 0 are excluded from routes, unless routing never follows.
    pub(crate) fn timetable(&self, fabric: &Fabric, routing: &Routing, seed: u64, end: Time) -> Timetable {
        let first = if self.reconverge.is_some() { self.down_at(Time::ZERO) } else { HashSet::new() };
        let reroutes = self.reroutes().into_iter().filter(|(at, _)| *at < end);
        let routes = std::iter::once((Time::ZERO, first)).chain(reroutes);
        let routes = routes.map(|(at, down)| (at, Arc::new(Routes::with(fabric, seed, routing, &down))));
        Timetable { seed, links: self.links.clone(), routes: routes.collect() }
    }

    /// The bits that `link`, built with `rate`, could carry by `end`; none while it is down.
    pub(crate) fn capacity(&self, link: LinkId, rate: Rate, end: Time) -> f64 {
        let (mut since, mut rate, mut up, mut bits) = (Time::ZERO, rate, true, 0.0);
        let carried = |span: Time, rate: Rate, up: bool| if up { rate.0 as f64 * span.secs() } else { 0.0 };
        for (at, change) in self.links.get(&link).into_iter().flatten().take_while(|(at, _)| *at < end) {
            bits += carried(*at - since, rate, up);
            since = *at;
            match change {
                LinkChange::Rate(new) => rate = *new,
                LinkChange::Up(new) => up = *new,
                _ => {}
            }
        }
        bits + carried(end.saturating_sub(since), rate, up)
    }
}

/// The links that a change is about, each once.
fn links_of(changed: ChangedLinks<'_>, fabric: &Fabric, seed: u64, index: u64) -> BTreeSet<LinkId> {
    let at_any = |nodes: &[NodeId]| {
        let links = fabric.links().iter().enumerate();
        links.filter(|(_, l)| nodes.contains(&l.from) || nodes.contains(&l.to)).map(|(id, _)| LinkId::new(id)).collect()
    };
    match changed {
        ChangedLinks::Listed(links) => {
            let link = |(from, to): &(String, String)| fabric.link(fabric.node(from)?, fabric.node(to)?);
            links.iter().filter_map(link).collect()
        }
        ChangedLinks::OfNodes(names) => at_any(&names.iter().filter_map(|name| fabric.node(name)).collect::<Vec<_>>()),
        ChangedLinks::OfLayer(layer, share) => {
            let nodes = NodeId::first(fabric.nodes()).filter(|node| fabric.layer(*node) == layer);
            let mut nodes: Vec<NodeId> = nodes.collect();
            // A larger share of one seed has all the nodes of a smaller one.
            nodes.shuffle(&mut stream(seed, "change", index));
            nodes.truncate((nodes.len() as f64 * share).round() as usize);
            at_any(&nodes)
        }
    }
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

    #[test]
    fn a_larger_share_has_the_smaller() {
        let fabric = topology::fat_tree(4, 2, Rate::gbps(10), s(0));
        let links = |share| links_of(ChangedLinks::OfLayer(linkpool_network::Layer::Core, share), &fabric, 7, 0);
        // Each of the four core switches has four cables.
        let counts: Vec<usize> = [0.0, 0.25, 0.5, 0.75, 1.0].iter().map(|share| links(*share).len()).collect();
        assert_eq!(counts, [0, 8, 16, 24, 32]);
        assert!(links(0.25).is_subset(&links(0.5)) && links(0.5).is_subset(&links(0.75)));
    }

    #[test]
    fn capacity_follows_rate_and_state() {
        let (gbps, down) = (Rate::gbps(1), LinkChange::Up(false));
        let course = vec![(s(1), LinkChange::Rate(gbps)), (s(3), down), (s(4), LinkChange::Up(true))];
        let [link, other] = [0, 1].map(LinkId::new);
        let changes = LinkChanges { links: BTreeMap::from([(link, course)]), reconverge: Some(s(1)) };
        // 10 Gbit/s for 1 s, 1 Gbit/s for 2 s, nothing for 1 s, 1 Gbit/s for 6 s.
        assert_eq!(changes.capacity(link, Rate::gbps(10), s(10)), 18e9);
        assert_eq!(changes.capacity(other, Rate::gbps(10), s(10)), 100e9);
        // By an end before some of the changes, or all, or at one.
        let by = |end| changes.capacity(link, Rate::gbps(10), end);
        assert_eq!(
            [Time::ZERO, Time::from_ms(500), s(1), s(2), s(3), s(4), s(5)].map(by),
            [0.0, 5e9, 10e9, 11e9, 12e9, 12e9, 13e9]
        );
        assert_eq!(changes.reroutes(), [(s(4), HashSet::from([link])), (s(5), HashSet::new())]);
    }
}
