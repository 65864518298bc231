//! Deadlock of ports that pause each other: a circle of ports that wait for each other for ever.
//!
//! A port is in deadlock if the next switch will not resume it, since packets that came from it stand at other ports of this kind, even
//! when all others have left. Only ports that are paused, and at which packets wait, are looked at. So where nothing is paused nothing
//! is done, and the rest grows with what is paused, not with the fabric.

use super::counted::Counted;
use super::{Ports, Served};
use crate::class::CONTROL;
use crate::fabric::LinkId;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// A switch: the partition that runs it, and its number there.
type Switch = (usize, u32);

/// A port that is paused by the next switch, and at which packets wait.
struct Waiting {
    /// The next switch, and the account that keeps it paused.
    next: Switch,
    account: u32,
    /// The switch whose port it is, or host.
    at: Switch,
    number: u32,
    /// The bytes that wait there, by the account by which they have come; counted when asked for.
    standing: OnceCell<BTreeMap<u32, u64>>,
}

/// The ports that wait with packets of a class, by their links.
struct Class<'a> {
    parts: &'a [&'a Ports],
    class: u8,
    ports: BTreeMap<LinkId, Waiting>,
}

impl Ports {
    /// A circle of links whose ports wait for each other for ever, all of them paused, if there is one. `parts` are the ports of all
    /// partitions, up to date.
    pub(crate) fn deadlock(parts: &[&Ports]) -> Option<Vec<LinkId>> {
        let switches = parts.iter().flat_map(|ports| ports.switches.iter().map(|group| &ports.groups[*group as usize]));
        let paused = switches.flat_map(|group| group.paused());
        let mut paused: Vec<(u8, LinkId)> = paused.filter(|(class, _)| *class < CONTROL).collect();
        paused.sort_unstable();
        let mut classes = paused.chunk_by(|(one, _), (other, _)| one == other);
        classes.find_map(|paused| Class::new(parts, paused).circle())
    }

    /// Do packets of `class` wait at a port that is paused for them, and serves none?
    fn waits_at(&self, number: u32, class: u8) -> bool {
        let Served { port, queues, .. } = &self.ports[number as usize];
        let gate = port.gate.as_ref();
        gate.is_some_and(|gate| gate.closed.has(class)) && !port.is_serving() && queues.waits(class)
    }
}

impl<'a> Class<'a> {
    /// Of links and classes that are `paused`, all of one class.
    fn new(parts: &'a [&'a Ports], paused: &[(u8, LinkId)]) -> Class<'a> {
        let ports = paused.iter().filter_map(|(class, link)| {
            let (at, number) = (0..).zip(parts).find_map(|(part, ports)| Some((part, ports.of(*link)?)))?;
            let (next, account) = (0..).zip(parts).find_map(|(part, ports)| {
                let (group, account) = ports.account_of(*link)?;
                Some(((part, group), account))
            })?;
            let gate = parts[at].ports[number as usize].port.gate.as_ref()?;
            let waiting = Waiting { next, account, at: (at, gate.group), number, standing: OnceCell::new() };
            parts[at].waits_at(number, *class).then_some((*link, waiting))
        });
        Class { parts, class: paused[0].0, ports: ports.collect() }
    }

    /// A circle among them.
    fn circle(mut self) -> Option<Vec<LinkId>> {
        // Where no port of the next switch waits nothing need be counted, which is so of most.
        self.keep(|all, at, link| at.contains_key(&all.ports[&link].next));
        self.keep(|all, at, link| !all.behind(link, at).is_empty());
        let at = self.by_switch(|port| port.at);
        let mut way = vec![*self.ports.first_key_value()?.0];
        loop {
            let next = self.behind(way[way.len() - 1], &at)[0];
            if let Some(first) = way.iter().position(|link| *link == next) {
                return Some(way.split_off(first));
            }
            way.push(next);
        }
    }

    /// Keeps the ports of which `holds` is true, with those that are kept by switch. It becomes false only when ports of the next
    /// switch are no longer kept.
    fn keep(&mut self, holds: impl Fn(&Self, &BTreeMap<Switch, Vec<LinkId>>, LinkId) -> bool) {
        let (mut at, leading_to) = (self.by_switch(|port| port.at), self.by_switch(|port| port.next));
        let mut left: Vec<LinkId> = self.ports.keys().copied().collect();
        while let Some(link) = left.pop() {
            if !self.ports.contains_key(&link) || holds(self, &at, link) {
                continue;
            }
            let Some(port) = self.ports.remove(&link) else { continue };
            let others = at.entry(port.at).or_default();
            others.retain(|other| *other != link);
            if others.is_empty() {
                at.remove(&port.at);
            }
            left.extend(leading_to.get(&port.at).into_iter().flatten());
        }
    }

    /// The links of the ports by a switch of each, in order.
    fn by_switch(&self, switch: impl Fn(&Waiting) -> Switch) -> BTreeMap<Switch, Vec<LinkId>> {
        let mut by_switch: BTreeMap<Switch, Vec<LinkId>> = BTreeMap::new();
        for (link, port) in &self.ports {
            by_switch.entry(switch(port)).or_default().push(*link);
        }
        by_switch
    }

    /// The links at whose ports packets stand that keep the port of `link` paused, of those that wait `at` the next switch.
    fn behind(&self, link: LinkId, at: &BTreeMap<Switch, Vec<LinkId>>) -> Vec<LinkId> {
        let Waiting { next: (part, group), account, .. } = self.ports[&link];
        let waiting = at.get(&(part, group)).map_or(&[][..], |links| links);
        let group = &self.parts[part].groups[group as usize];
        let mut stuck = vec![0; group.accounts.len()];
        for other in waiting {
            self.standing(*other).iter().for_each(|(account, bytes)| stuck[*account as usize] += bytes);
        }
        if !group.stays_paused(Counted { account, class: self.class }, &stuck) {
            return Vec::new();
        }
        waiting.iter().copied().filter(|other| self.standing(*other).contains_key(&account)).collect()
    }

    /// The bytes that wait at the port of `link`, by account. None is in service.
    fn standing(&self, link: LinkId) -> &BTreeMap<u32, u64> {
        let Waiting { at: (part, _), number, standing, .. } = &self.ports[&link];
        standing.get_or_init(|| {
            let mut standing = BTreeMap::new();
            self.parts[*part].ports[*number as usize].queues.each_waiting(self.class, &mut |packet| {
                if let Some(Counted { account, class }) = Counted::of(packet.arrival)
                    && class == self.class
                {
                    *standing.entry(account).or_default() += u64::from(packet.size());
                }
            });
            standing
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::Pfc;
    use crate::fabric::NodeId;
    use crate::ports::account::Group;
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::{Bytes, Rate, Time};
    use proptest::prelude::*;

    const CLASS: u8 = 0;

    /// Switches with a link from each to each of the others. `bytes` have come by a link of a switch and wait at a port of it, given
    /// by the numbers of the other ends; links are paused at 1,000 B, and go on at 500. Of the paused, those wait that `waits` has.
    struct Mesh {
        switches: u32,
        ports: Ports,
        standing: BTreeMap<LinkId, BTreeMap<u32, u64>>,
    }

    impl Mesh {
        fn new(switches: u32, bytes: &[(u32, u32, u32, u16)]) -> Mesh {
            let mut pfc = Pfc::defaults(Preset::Linux);
            (pfc.buffer, pfc.reserve, pfc.resume) = (1_000_000, 0, 500);
            (pfc.headroom, pfc.xoff) = (Some(Bytes(5_000)), Some(Bytes(1_000)));
            let mut mesh = Mesh { switches, ports: Ports::default(), standing: BTreeMap::new() };
            for at in 0..switches {
                let mut group = Group::new(NodeId::new(at as usize), pfc);
                group.ports = (0..switches).collect();
                (0..switches).for_each(|from| {
                    group.add(mesh.link(from, at), from, (Rate::gbps(10), Time::from_us(1)));
                });
                mesh.ports.groups.push(group);
            }
            mesh.ports.switches = (0..switches).collect();
            for (at, from, to, size) in bytes {
                let counted = Counted { account: *from, class: CLASS };
                let group = &mut mesh.ports.groups[*at as usize];
                if from != at && to != at && group.admit(counted, *size, *to) {
                    group.pauses(counted, Time::ZERO);
                    let standing = mesh.standing.entry(mesh.link(*at, *to)).or_default();
                    *standing.entry(*from).or_default() += u64::from(*size);
                }
            }
            mesh
        }

        fn link(&self, from: u32, to: u32) -> LinkId {
            LinkId::new((from * self.switches + to) as usize)
        }

        /// The numbers of the switches at the ends.
        fn ends(&self, link: LinkId) -> (u32, u32) {
            let number = link.index() as u32;
            (number / self.switches, number % self.switches)
        }

        /// The paused links, of which those wait that are in `waits`.
        fn waiting(&self, waits: &[bool]) -> BTreeMap<LinkId, Waiting> {
            let paused = self.ports.groups.iter().flat_map(|group| group.paused()).map(|(_, link)| link);
            let waiting = |link: LinkId| {
                let (from, to) = self.ends(link);
                let standing = OnceCell::from(self.standing.get(&link).cloned().unwrap_or_default());
                (link, Waiting { next: (0, to), account: from, at: (0, from), number: 0, standing })
            };
            paused.filter(|link| waits[link.index() % waits.len()]).map(waiting).collect()
        }

        /// The links at whose ports packets stand that keep `link` paused while those of `waiting` stand, by its definition.
        fn behind(&self, link: LinkId, waiting: &[LinkId]) -> Vec<LinkId> {
            let (from, at) = self.ends(link);
            let here: Vec<LinkId> = waiting.iter().copied().filter(|other| self.ends(*other).0 == at).collect();
            let none = BTreeMap::new();
            let bytes = |other: &LinkId, account: u32| {
                self.standing.get(other).unwrap_or(&none).get(&account).copied().unwrap_or(0)
            };
            let stuck: Vec<u64> =
                (0..self.switches).map(|account| here.iter().map(|other| bytes(other, account)).sum()).collect();
            let stays = self.ports.groups[at as usize].stays_paused(Counted { account: from, class: CLASS }, &stuck);
            here.into_iter().filter(|other| stays && bytes(other, from) > 0).collect()
        }
    }

    fn circle(mesh: &Mesh, waits: &[bool]) -> Option<Vec<LinkId>> {
        Class { parts: &[&mesh.ports], class: CLASS, ports: mesh.waiting(waits) }.circle()
    }

    /// Three switches in a circle: 1,200 B from each stand at the next for the one after. With 400 B less at one of them its neighbour
    /// is not paused, and all go on.
    #[test]
    fn a_circle_of_three_stands_still() {
        let bytes = [(1, 0, 2, 1_200), (2, 1, 0, 1_200), (0, 2, 1, 1_200)];
        let mesh = Mesh::new(3, &bytes);
        let links = [mesh.link(0, 1), mesh.link(1, 2), mesh.link(2, 0)];
        assert_eq!(circle(&mesh, &[true]), Some(links.to_vec()));
        assert_eq!(circle(&mesh, &[true, true, true, true, true, false]), None, "packets that leave from 1 to 2");
        let less = Mesh::new(3, &[bytes[0], bytes[1], (0, 2, 1, 800)]);
        assert_eq!(circle(&less, &[true]), None);
        assert_eq!(Ports::deadlock(&[&Ports::default()]), None);
    }

    proptest! {
        /// Ports are left if, and only if, none of them goes on when those that do are taken away one by one in any order; of those a
        /// circle is found, each of which waits for the next.
        #[test]
        fn those_are_left_that_wait_for_each_other(
            switches in 3u32..6,
            bytes in prop::collection::vec((0u32..6, 0u32..6, 0u32..6, 200u16..1_100), 5..80),
            waits in prop::collection::vec(prop::bool::weighted(0.9), 7..30),
        ) {
            let bytes: Vec<_> =
                bytes.into_iter().map(|(at, from, to, n)| (at % switches, from % switches, to % switches, n)).collect();
            let mesh = Mesh::new(switches, &bytes);
            let mut left: Vec<LinkId> = mesh.waiting(&waits).into_keys().collect();
            while let Some(place) = left.iter().rposition(|link| mesh.behind(*link, &left).is_empty()) {
                left.remove(place);
            }
            let found = circle(&mesh, &waits);
            prop_assert_eq!(found.is_some(), !left.is_empty());
            for (place, link) in found.iter().flatten().enumerate() {
                let circle = found.as_ref().expect("it has one");
                let next = circle[(place + 1) % circle.len()];
                prop_assert_eq!(mesh.behind(*link, &left).first().copied(), Some(next));
            }
        }
    }
}
