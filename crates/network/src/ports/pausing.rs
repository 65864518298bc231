//! Ports that pause each other: in which order they are looked at, what they tell, and what waits.
//!
//! What leaves by a port matters to the others of its switch only where it keeps a link paused ([`super::account`]). These ports
//! are brought up to date together, in order of time. All others are brought up to date when a packet comes to
//! them, and, where packets wait, at the end of the window in which the next may leave.

use super::adapter::{Intake, Taken};
use super::counted::Counted;
use super::pause::PauseStats;
use super::{NONE, Ports, Served};
use crate::class::CLASSES;
use crate::fabric::{Fabric, LinkId};
use crate::in_flight::Incoming;
use crate::packet::Packet;
use crate::pauses::{PauseChange, PauseReason};
use crate::transmitter::Transmitter;
use linkpool_units::Time;

impl Ports {
    /// Joins ports that pause to those that they pause, once all are added.
    pub(crate) fn join(&mut self, fabric: &Fabric) {
        if self.groups.is_empty() {
            return;
        }
        self.accounts = vec![(NONE, NONE); fabric.links().len()];
        self.paused_by =
            LinkId::first(fabric.links().len()).map(|link| self.of_link[fabric.reverse(link).index()]).collect();
        for (number, group) in (0..).zip(&mut self.groups) {
            group.events.resize(group.ports.len());
            if group.node.index() < fabric.hosts() {
                continue;
            }
            self.switches.push(number);
            for port in group.ports.clone() {
                let link = fabric.reverse(self.ports[port as usize].port.link);
                let spec = &fabric.links()[link.index()];
                self.accounts[link.index()] = (number, group.accounts.len() as u32);
                group.add(link, port, (spec.rate, spec.delay));
            }
        }
    }

    /// The switch to which `link` leads, and its account there; none: a host, or a switch of another partition.
    pub(super) fn account_of(&self, link: LinkId) -> Option<(u32, u32)> {
        self.accounts.get(link.index()).copied().filter(|(group, _)| *group != NONE)
    }

    /// Do ports pause others? Then it matters for each in which order packets come to the others of its
    /// node.
    pub(crate) fn pause(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Lets the host to which `link` leads take what comes by it as `intake` says, where ports pause. No packet has come yet.
    pub(crate) fn slow_down(&mut self, link: LinkId, intake: Intake, fabric: &Fabric) {
        // A host of another partition has its port there.
        let Some(back) = self.of(fabric.reverse(link)) else { return };
        let Some(group) = self.ports[back as usize].port.gate.as_ref().map(|gate| gate.group) else { return };
        let spec = &fabric.links()[link.index()];
        let adapter = self.groups[group as usize].add_adapter((group, link), back, (spec.rate, spec.delay), intake);
        self.adapter_of.resize(fabric.links().len(), NONE);
        self.adapter_of[link.index()] = self.adapters.len() as u32;
        self.adapters.push(adapter);
    }

    /// Are there hosts that take slowly what comes?
    pub(crate) fn have_adapters(&self) -> bool {
        !self.adapters.is_empty()
    }

    /// Does what comes by `link` wait for its host?
    pub(crate) fn is_slow(&self, link: LinkId) -> bool {
        self.adapter_of.get(link.index()).is_some_and(|adapter| *adapter != NONE)
    }

    /// `arrivals` come to slow hosts in a window that ends at `limit`. Returns what these have taken in it, with that time as
    /// arrival.
    pub(crate) fn take_slowly(
        &mut self,
        mut arrivals: Vec<Incoming>,
        limit: Time,
        transmitter: &mut Transmitter<'_>,
    ) -> Vec<Incoming> {
        arrivals.sort_unstable_by_key(|incoming| (self.adapter_of[incoming.link.index()], incoming.packet.arrival));
        let mut taken = Taken::default();
        for (number, adapter) in (0..).zip(&mut self.adapters) {
            let begin = arrivals.partition_point(|incoming| self.adapter_of[incoming.link.index()] < number);
            let end = arrivals.partition_point(|incoming| self.adapter_of[incoming.link.index()] <= number);
            adapter.take(&arrivals[begin..end], limit, &mut taken);
            if !taken.told.is_empty() {
                self.groups[adapter.group as usize].planned.extend(taken.told.drain(..));
                self.due.push(adapter.back);
            }
        }
        for Incoming { packet, link, .. } in &taken.lost {
            let number = self.of_link[link.index()] as usize;
            let adapter = &self.adapters[self.adapter_of[link.index()] as usize];
            let at = packet.arrival;
            self.ports[number].port.refuse_unqueued((adapter.waiting(), at), packet, transmitter);
        }
        for number in 0..self.adapters.len() {
            let adapter = &mut self.adapters[number];
            let (at, back) = (adapter.next(), adapter.back);
            if at < Time::MAX && at != std::mem::replace(&mut adapter.wakes_at, at) {
                self.wake_at(back, at, transmitter);
            }
        }
        taken.packets
    }

    /// Keeps from now on why ports are paused, for [`Ports::take_changes`] and the observer. No packet has come yet.
    pub(crate) fn keep_reasons(&mut self) {
        self.keeps_reasons = true;
        for group in &mut self.groups {
            group.strict = true;
            group.know_places();
        }
        for gate in self.ports.iter_mut().filter_map(|served| served.port.gate.as_mut()) {
            gate.reasons.get_or_insert_default();
        }
    }

    /// What has changed at ports that are paused since the last call, in no order.
    pub(crate) fn take_changes(&mut self) -> Vec<PauseChange> {
        std::mem::take(&mut self.changes)
    }

    /// The packets that are queued now have come by `link`.
    pub(crate) fn come_by(&mut self, link: LinkId) {
        self.ingress = link;
    }

    /// The pause frame `frame` comes by `link` in the window that begins.
    pub(crate) fn take_frame(&mut self, link: LinkId, frame: &Packet) {
        let number = self.paused_by[link.index()];
        if let Some(gate) = &mut self.ports[number as usize].port.gate {
            gate.expect(frame);
            self.groups[gate.group as usize].events.set_before(gate.place, frame.arrival);
            self.due.push(number);
        }
    }

    /// Queues `packet` at `now` at port `number`, which neighbours pause.
    #[inline(never)]
    pub(super) fn take_paused(&mut self, number: u32, now: Time, packet: &Packet, transmitter: &mut Transmitter<'_>) {
        let Some(gate) = &self.ports[number as usize].port.gate else { return };
        let (place, group) = (gate.place, gate.group);
        self.settle(now, group, transmitter);
        self.catch_up(now, number, transmitter);
        let of = &mut self.groups[group as usize];
        let counted = of.counted(packet, || self.accounts[self.ingress.index()].1);
        let mut told = None;
        if let Some(counted) = counted
            && !of.count_plainly(counted, packet.size(), place)
        {
            match self.admit((group, counted), place, (now, packet.size()), transmitter) {
                Some(pauses) => told = Some(counted).filter(|_| pauses),
                None => {
                    let Served { port, queues, .. } = &mut self.ports[number as usize];
                    transmitter.trailers.note_sent(port.node, port.link, packet);
                    return port.refuse_unqueued((queues.waiting().0, now), packet, transmitter);
                }
            }
        }
        let Served { port, queues, .. } = &mut self.ports[number as usize];
        transmitter.trailers.note_sent(port.node, port.link, packet);
        queues.join(port, now, (packet, counted), transmitter);
        let of = &mut self.groups[group as usize];
        of.note_event(place, || port.next_event(transmitter));
        // Beside packets that wait, only the end of a pause and what matters to others is to be expected.
        let is_paused = || port.gate.as_ref().is_some_and(|gate| !gate.closed.is_empty());
        if port.waits || of.is_strict_at(place) || is_paused() {
            self.expect(number, transmitter);
        }
        if let Some(counted) = told {
            let back = self.tell((group, counted), true, (now, now), transmitter);
            self.expect_strict(group, transmitter);
            self.expect(back, transmitter);
            self.expect_refresh(group, transmitter);
        }
    }

    /// Counts a packet of `size` that goes at `now` to the port with this place, where it may matter what has left the other
    /// ports. Returns whether its neighbour is to be told to pause; none: there is no room for it.
    #[inline(never)]
    fn admit(
        &mut self,
        (group, counted): (u32, Counted),
        place: u32,
        (now, size): (Time, u16),
        transmitter: &mut Transmitter<'_>,
    ) -> Option<bool> {
        if !self.groups[group as usize].is_certain(counted, size) {
            self.catch_up_all(now, group, transmitter);
        }
        let of = &mut self.groups[group as usize];
        of.admit(counted, size, place).then(|| of.pauses(counted, now))
    }

    /// `group` tells at `now` the neighbour from which packets have come that are `counted` to pause their class, or to resume
    /// it. Events by `done` come before that at the port that leads there. Returns the port.
    fn tell(
        &mut self,
        (group, counted): (u32, Counted),
        pauses: bool,
        (now, done): (Time, Time),
        transmitter: &mut Transmitter<'_>,
    ) -> u32 {
        let back = self.groups[group as usize].accounts[counted.account as usize].back;
        self.catch_up(done, back, transmitter);
        let of = &self.groups[group as usize];
        let reason = self.keeps_reasons.then(|| {
            let (reason, behind) = of.reason(counted, now);
            let link = |place: u32| self.ports[of.ports[place as usize] as usize].port.link;
            match self.adapters.iter().find(|adapter| adapter.back == back) {
                Some(adapter) => {
                    PauseReason { shared: of.buffered, headroom: 0, threshold: adapter.xoff, behind: None, ..reason }
                }
                None => PauseReason { behind: behind.map(link), ..reason },
            }
        });
        let Served { port, queues, .. } = &mut self.ports[back as usize];
        let Some(gate) = &mut port.gate else { return back };
        let (number, place, link) = (gate.say(counted.class, pauses), gate.place, port.link);
        queues.start(port, now, transmitter);
        self.groups[group as usize].note_event(place, || port.next_event(transmitter));
        if let Some(reason) = reason {
            // Who keeps reasons has one partition, so the port that is paused is here.
            let paused = self.paused_by[link.index()];
            let gate = self.ports[paused as usize].port.gate.as_mut();
            if let Some(reasons) = gate.and_then(|gate| gate.reasons.as_mut()) {
                reasons.tell(number, counted.class, reason);
            }
        }
        back
    }

    /// Makes sure that a port of `group` is due when a neighbour must be told again to pause.
    fn expect_refresh(&mut self, group: u32, transmitter: &mut Transmitter<'_>) {
        let group = &mut self.groups[group as usize];
        let at = group.next_refresh();
        if at < Time::MAX && at != std::mem::replace(&mut group.wakes_at, at) {
            let number = group.ports[0];
            self.wake_at(number, at, transmitter);
        }
    }

    /// Makes port `number` due at `at`.
    pub(super) fn wake_at(&mut self, number: u32, at: Time, transmitter: &mut Transmitter<'_>) {
        let window = transmitter.windows.of(at);
        if window > transmitter.calendar.now() {
            transmitter.calendar.schedule(window, self.first_input + number);
        } else {
            self.due.push(number);
        }
    }

    /// Processes the events due by `now` at the ports of a node whose ports pause, if they matter to others: in order of time, at
    /// one time by the numbers of ports.
    #[inline]
    pub(super) fn settle(&mut self, now: Time, group: u32, transmitter: &mut Transmitter<'_>) {
        if !self.groups[group as usize].is_up_to(now) {
            self.process(now, group, transmitter);
        }
    }

    #[inline(never)]
    fn process(&mut self, now: Time, group: u32, transmitter: &mut Transmitter<'_>) {
        loop {
            let of = &mut self.groups[group as usize];
            let at = of.events.at();
            // What leaves at the same instant may end a pause.
            let refresh = of.next_refresh();
            if refresh < at && refresh <= now {
                if let Some(counted) = of.refresh(refresh) {
                    let back = self.tell((group, counted), true, (refresh, refresh), transmitter);
                    self.touched.push(back);
                }
                continue;
            }
            if let Some(planned) = of.planned.front().copied()
                && planned.at < at
                && planned.at <= now
            {
                of.planned.pop_front();
                of.tell_planned(planned);
                let times = (planned.at, planned.at);
                let back = self.tell((group, planned.counted), planned.pauses, times, transmitter);
                self.touched.push(back);
                continue;
            }
            if at > now || at == Time::MAX {
                break;
            }
            let place = of.events.place();
            let number = of.ports[place as usize];
            self.touched.push(number);
            let Served { port, queues, .. } = &mut self.ports[number as usize];
            queues.advance(port, at, &mut None, transmitter);
            let Some(gate) = &mut port.gate else { continue };
            if let Some(reasons) = &mut gate.reasons {
                self.changes.append(&mut reasons.changes);
            }
            let resumed = of.release_all(gate);
            of.note_event(place, || port.next_event(transmitter));
            if let Some(counted) = resumed {
                // At one instant, ports before this one are done; the accounts of a switch are in the order of its ports.
                let is_done = counted.account < place;
                let done = if is_done { at } else { Time(at.0.saturating_sub(1)) };
                let back = self.tell((group, counted), false, (at, done), transmitter);
                self.touched.push(back);
            }
        }
        for place in 0..self.touched.len() {
            self.expect(self.touched[place], transmitter);
        }
        self.touched.clear();
        self.expect_refresh(group, transmitter);
    }

    /// Processes the events due by `now` at port `number`; those that matter to others are done.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time, number: u32, transmitter: &mut Transmitter<'_>) {
        let Served { port, queues, .. } = &mut self.ports[number as usize];
        if let Some((counted, size)) = port.end_alone(now, transmitter) {
            if let (Some(counted), Some(gate)) = (counted, &port.gate) {
                self.groups[gate.group as usize].release(counted, size, gate.place);
            }
            return;
        }
        if port.next_event(transmitter) > now {
            return;
        }
        queues.advance(port, now, &mut None, transmitter);
        if let Some(gate) = &mut port.gate {
            let of = &mut self.groups[gate.group as usize];
            _ = of.release_all(gate);
        }
    }

    /// The same at all ports of `group`.
    #[inline(never)]
    fn catch_up_all(&mut self, now: Time, group: u32, transmitter: &mut Transmitter<'_>) {
        for place in 0..self.groups[group as usize].ports.len() {
            let number = self.groups[group as usize].ports[place];
            self.catch_up(now, number, transmitter);
        }
    }

    /// Some more ports of `group` may matter to others from now on. All are up to date.
    fn expect_strict(&mut self, group: u32, transmitter: &mut Transmitter<'_>) {
        for place in 0..self.groups[group as usize].ports.len() {
            let of = &mut self.groups[group as usize];
            if of.is_strict_at(place as u32) {
                let number = of.ports[place];
                of.note_event(place as u32, || self.ports[number as usize].port.next_event(transmitter));
                self.expect(number, transmitter);
            }
        }
    }

    /// What the port of `link` knows of pauses by `now`, the end of the run, if neighbours pause it.
    pub(crate) fn pauses(&self, link: LinkId, now: Time) -> Option<PauseStats> {
        let number = self.of(link)?;
        self.ports[number as usize].port.gate.as_ref().map(|gate| gate.stats(now))
    }

    /// Do packets wait at `now` at the port of `link` that a neighbour has paused? Where ports have classes, data of this
    /// priority. If so, when that may change first, as far as is known.
    pub(crate) fn held_until(
        &mut self,
        (link, priority): (LinkId, u8),
        now: Time,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Time> {
        let number = self.of(link)?;
        self.bring_up_to(now, number, transmitter);
        let Served { port, queues, .. } = &self.ports[number as usize];
        let gate = port.gate.as_ref()?;
        let is_held = |class| gate.closed.has(class) && queues.waits(class);
        let held = if self.separate { is_held(priority) } else { (0..CLASSES as u8).any(is_held) };
        held.then(|| gate.next_change())
    }
}
