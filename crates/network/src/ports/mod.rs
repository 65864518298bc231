//! Output ports with a queue discipline ([`crate::discipline`]), and ports of links that fail,
//! change or lose packets.
//!
//! They stand beside the fast FIFO queues ([`crate::link`]). They cost an event for each
//! transmission behind which packets wait. A port is private to its node, and a packet reaches
//! another node no earlier than a lookahead after its transmission began. So a port needs to be
//! brought up to date only when a packet arrives at it, and at the end of each window in which it
//! may begin to transmit.

mod adapter;
mod counted;
mod inconstant;
mod loss;
mod pause;
mod port;
mod reasons;
mod soonest;

use crate::change::Course;
use crate::class::{CLASSES, CONTROL};
use crate::discipline::{Buffer, Discipline, MakeOf, Order};
use crate::fabric::{Fabric, LinkId, LinkSpec, NodeId};
use crate::link::{Link, LinkKind, LinkStats, OnWire};
use crate::on_the_way::Incoming;
use crate::packet::Packet;
use crate::pauses::{PauseChange, PauseReason};
use crate::policy::QueuePolicy;
use crate::transmitter::Transmitter;
pub use adapter::Intake;
use adapter::{Adapter, Taken};
use counted::Counted;
use linkpool_units::Time;
use pause::{Gate, Group};
pub use pause::{PauseFrame, PauseStats};
use port::{Port, Server};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The ports of a network that are served packet by packet.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    ports: Vec<Served>,
    /// By link: the number of its port, or [`NONE`].
    of_link: Vec<u32>,
    buffers: Vec<Buffer>,
    buffer_of_node: BTreeMap<NodeId, u32>,
    /// The kinds of links, as they are at the start.
    kinds: Vec<Arc<LinkKind>>,
    /// Ports at which something waits since this window, or is due in it.
    due: Vec<u32>,
    /// The nodes whose ports pause and are paused.
    groups: Vec<Group>,
    group_of_node: BTreeMap<NodeId, u32>,
    /// By link that leads to such a switch: the number of the switch among them, and that of the link's
    /// account there; [`NONE`]: it leads to a host.
    accounts: Vec<(u32, u32)>,
    /// By link: the port that the frames pause that come by it.
    paused_by: Vec<u32>,
    /// Adapters of hosts that take slowly what comes.
    adapters: Vec<Adapter>,
    /// By link that leads to one: its number, otherwise [`NONE`]; empty: there is none.
    adapter_of: Vec<u32>,
    /// The link by which packets have come that are queued now.
    ingress: LinkId,
    /// Ports that have been looked at.
    touched: Vec<u32>,
    /// Is it kept why ports are paused?
    keeps_reasons: bool,
    /// What has changed at ports that are paused, if so.
    changes: Vec<PauseChange>,
    /// Does the scenario declare classes of data, which wait for themselves?
    separate: bool,
    /// See [`Ports::return_packets`].
    returning: bool,
    /// Their inputs in the calendar are numbered from here, after those of nodes.
    first_input: u32,
}

/// A port with its queues.
#[derive(Debug)]
struct Served {
    port: Port,
    queues: Box<dyn Server>,
    /// Do packets wait, so that the port is due in this window or in that in which the next transmission begins?
    is_expected: bool,
}

/// Makes the [`Server`] of a port of its queues.
struct MakeServer;

impl MakeOf for MakeServer {
    type Made = Box<dyn Server>;

    fn of<D: Discipline + 'static>(self, queues: D) -> Box<dyn Server> {
        Box::new(queues)
    }
}

const NONE: u32 = u32::MAX;

impl Ports {
    pub(crate) fn new(links: usize, first_input: usize) -> Ports {
        Ports { of_link: vec![NONE; links], first_input: first_input as u32, ..Ports::default() }
    }

    /// Adds the port of `link`, which is `spec` with `policy`. Returns whether packets that find nobody
    /// at the port pass it unseen.
    pub(crate) fn add(
        &mut self,
        link: LinkId,
        spec: &LinkSpec,
        policy: &QueuePolicy,
        course: &Course<'_>,
        seed: u64,
    ) -> bool {
        let number = self.ports.len() as u32;
        let buffer = policy.shared.map(|shape| {
            let buffers = &mut self.buffers;
            let buffer = *self.buffer_of_node.entry(spec.from).or_insert_with(|| {
                buffers.push(Buffer::new(shape));
                buffers.len() as u32 - 1
            });
            self.buffers[buffer as usize].members.push(number);
            buffer
        });
        self.separate |= policy.discipline.classes.is_some();
        let returns = |order| matches!(order, Order::Trimming(trimming) if trimming.return_to_sender);
        self.returning |= returns(policy.discipline.order);
        let queues = policy.discipline.build((policy.pfc.as_ref(), policy.thresholds), link, seed, MakeServer);
        let gate = policy.pfc.map(|pfc| {
            let groups = &mut self.groups;
            let group = *self.group_of_node.entry(spec.from).or_insert_with(|| {
                groups.push(Group::new(spec.from, pfc));
                groups.len() as u32 - 1
            });
            let ports = &mut self.groups[group as usize].ports;
            ports.push(number);
            let place = ports.len() as u32 - 1;
            Box::new(Gate::new(group, place, self.groups[group as usize].quanta()))
        });
        let kind = self.shared_kind(LinkKind::new(course.rate, spec.delay, policy.thresholds));
        let passes = queues.passes(&kind.thresholds);
        let port = Port::new(link, spec, (kind, course), (passes, policy.stamps, buffer), gate, seed);
        self.of_link[link.index()] = number;
        let passes = port.passes();
        self.ports.push(Served { port, queues, is_expected: false });
        passes
    }

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
            for port in group.ports.clone() {
                let link = fabric.reverse(self.ports[port as usize].port.link);
                let spec = &fabric.links()[link.index()];
                self.accounts[link.index()] = (number, group.accounts.len() as u32);
                group.add(port, (spec.rate, spec.delay));
            }
        }
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
        let adapter = self.groups[group as usize].add_adapter(group, back, (spec.rate, spec.delay), intake);
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

    /// Keeps from now on why ports are paused, for [`Ports::take_changes`] and the witness. No packet has come yet.
    pub(crate) fn keep_reasons(&mut self) {
        self.keeps_reasons = true;
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

    /// Lets no packet pass unseen from now on, at `links` of all ports. No packet has come yet.
    pub(crate) fn look_at_all(&mut self, links: &mut [Link]) {
        for Served { port, .. } in &mut self.ports {
            port.look_at_all();
            links[port.link.index()].belongs_to_port(false);
        }
    }

    /// `kind`, or one that is like it: links that are alike share one, so that it stays in the cache.
    fn shared_kind(&mut self, kind: LinkKind) -> Arc<LinkKind> {
        let known = self.kinds.iter().position(|known| known.is_like(&kind)).unwrap_or_else(|| {
            self.kinds.push(Arc::new(kind));
            self.kinds.len() - 1
        });
        self.kinds[known].clone()
    }

    /// The number of the port of `link`, if it has one.
    #[inline]
    pub(crate) fn of(&self, link: LinkId) -> Option<u32> {
        Some(self.of_link[link.index()]).filter(|number| *number != NONE)
    }

    /// The present state of `link`, if it has a port.
    pub(crate) fn kind(&self, link: LinkId) -> Option<&LinkKind> {
        self.of(link).map(|number| self.ports[number as usize].port.kind())
    }

    /// Do ports share buffers? Then it matters for each in which order packets come to the others of
    /// its node.
    pub(crate) fn share_buffers(&self) -> bool {
        !self.buffers.is_empty()
    }

    /// Do ports send packets back that they cannot queue? Where one does, it matters for others of its
    /// node in which order packets come to all.
    pub(crate) fn return_packets(&self) -> bool {
        self.returning
    }

    /// May port `number` send packets back if `packets` more come, with headers of so many `bytes`
    /// together?
    #[inline]
    pub(crate) fn may_return(&self, number: u32, packets: u32, bytes: u64) -> bool {
        self.ports[number as usize].queues.may_return(packets, bytes)
    }

    /// The number of ports.
    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    /// The input of a port, number `input` of the calendar, is due.
    #[inline]
    pub(crate) fn wake(&mut self, input: u32) {
        self.due.push(input - self.first_input);
    }

    /// Queues `packet` at `now` at port `number`. Returns the packet that its node must send back, if
    /// there is one.
    #[inline(never)]
    pub(crate) fn enqueue(
        &mut self,
        number: u32,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<(NodeId, Packet)> {
        let Served { port, queues, .. } = &mut self.ports[number as usize];
        if port.buffer.is_some() {
            return self.enqueue_shared(number, now, packet, transmitter);
        }
        if port.gate.is_some() {
            self.enqueue_paused(number, now, packet, transmitter);
            return None;
        }
        transmitter.trailers.note_sent(port.node, port.link, packet);
        let returned = queues.take(port, now, packet, &mut None, transmitter);
        let node = port.node;
        self.expect(number, transmitter);
        returned.map(|packet| (node, packet))
    }

    /// The same at a port that shares a buffer; none of these sends packets back.
    #[inline(never)]
    fn enqueue_shared(
        &mut self,
        number: u32,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<(NodeId, Packet)> {
        self.bring_up_to(now, number, transmitter);
        let Served { port, queues, .. } = &mut self.ports[number as usize];
        transmitter.trailers.note_sent(port.node, port.link, packet);
        let mut buffer = port.buffer.map(|b| &mut self.buffers[b as usize]);
        let returned = queues.take(port, now, packet, &mut buffer, transmitter);
        let node = port.node;
        self.expect(number, transmitter);
        returned.map(|packet| (node, packet))
    }

    /// The same at a port that neighbours pause.
    #[inline(never)]
    fn enqueue_paused(&mut self, number: u32, now: Time, packet: &Packet, transmitter: &mut Transmitter<'_>) {
        self.bring_up_to(now, number, transmitter);
        let Served { port, queues, .. } = &mut self.ports[number as usize];
        let Some(gate) = &port.gate else { return };
        let (place, gate_group) = (gate.place, gate.group);
        let group = &mut self.groups[gate_group as usize];
        transmitter.trailers.note_sent(port.node, port.link, packet);
        let counted = group.counted(packet, || self.accounts[self.ingress.index()].1);
        if counted.is_some_and(|counted| !group.admit(counted, packet.size(), place)) {
            return port.refuse_unqueued((queues.waiting().0, now), packet, transmitter);
        }
        let packet = Packet { arrival: Counted::write(counted), ..*packet };
        queues.join(port, now, &packet, transmitter);
        group.events.set(place, port.next_event(transmitter));
        let (group, told) = (gate_group, counted.filter(|counted| group.pauses(*counted, now)));
        self.expect(number, transmitter);
        if let Some(counted) = told {
            let back = self.tell(group, counted, true, now, transmitter);
            self.expect(back, transmitter);
            self.expect_refresh(group, transmitter);
        }
    }

    /// `group` tells at `now` the neighbour from which packets have come that are `counted` to pause their class, or to resume
    /// it. Returns the port that leads there.
    fn tell(
        &mut self,
        group: u32,
        counted: Counted,
        pauses: bool,
        now: Time,
        transmitter: &mut Transmitter<'_>,
    ) -> u32 {
        let of = &self.groups[group as usize];
        let back = of.accounts[counted.account as usize].back;
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
        self.groups[group as usize].events.set(place, port.next_event(transmitter));
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
    fn wake_at(&mut self, number: u32, at: Time, transmitter: &mut Transmitter<'_>) {
        let window = transmitter.windows.of(at);
        if window > transmitter.calendar.now() {
            transmitter.calendar.schedule(window, self.first_input + number);
        } else {
            self.due.push(number);
        }
    }

    /// Processes the events due by `now` at all ports of a node whose ports pause, in order of time; at one time by the
    /// numbers of ports.
    fn bring_group_up_to(&mut self, now: Time, group: u32, transmitter: &mut Transmitter<'_>) {
        if self.groups[group as usize].is_up_to(now) {
            return;
        }
        loop {
            let of = &mut self.groups[group as usize];
            let at = of.events.at();
            // What leaves at the same instant may end a pause.
            let refresh = of.next_refresh();
            if refresh < at && refresh <= now {
                if let Some(counted) = of.refresh(refresh) {
                    let back = self.tell(group, counted, true, refresh, transmitter);
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
                let back = self.tell(group, planned.counted, planned.pauses, planned.at, transmitter);
                self.touched.push(back);
                continue;
            }
            if at > now || at == Time::MAX {
                break;
            }
            let place = of.events.place();
            let number = of.ports[place as usize];
            let Served { port, queues, .. } = &mut self.ports[number as usize];
            queues.advance(port, at, &mut None, transmitter);
            of.events.set(place, port.next_event(transmitter));
            self.touched.push(number);
            if let Some(reasons) = port.gate.as_mut().and_then(|gate| gate.reasons.as_mut()) {
                self.changes.append(&mut reasons.changes);
            }
            let Some((counted, size)) = port.gate.as_mut().and_then(|gate| gate.left.take()) else { continue };
            of.release(counted, size, place);
            if of.resumes(counted) {
                let back = self.tell(group, counted, false, at, transmitter);
                self.touched.push(back);
            }
        }
        for place in 0..self.touched.len() {
            self.expect(self.touched[place], transmitter);
        }
        self.touched.clear();
        self.expect_refresh(group, transmitter);
    }

    /// Makes sure that port `number` is due when its next transmission begins, if packets wait, and when a pause of it is
    /// over. Packets pass it again when none wait.
    #[inline]
    fn expect(&mut self, number: u32, transmitter: &mut Transmitter<'_>) {
        let Served { port, queues, is_expected } = &mut self.ports[number as usize];
        let link = &mut transmitter.links[port.link.index()];
        // Of a port that neighbours pause each end of a transmission matters, and nothing else by itself.
        let waits = if port.gate.is_some() { port.is_serving() } else { queues.waiting().0 > 0 };
        link.let_pass(!waits && port.passes());
        if waits && !std::mem::replace(is_expected, true) {
            let window = transmitter.windows.of(link.busy_until());
            if window > transmitter.calendar.now() {
                transmitter.calendar.schedule(window, self.first_input + number);
            } else {
                self.due.push(number);
            }
        }
        if let Some(gate) = &mut port.gate {
            let at = gate.lapses_at();
            if at < Time::MAX && at != std::mem::replace(&mut gate.wakes_at, at) {
                self.wake_at(number, at, transmitter);
            }
        }
    }

    /// Processes the events due by `now` at a port, and at the ports with which it shares a buffer.
    fn bring_up_to(&mut self, now: Time, number: u32, transmitter: &mut Transmitter<'_>) {
        let Served { port, queues, .. } = &mut self.ports[number as usize];
        if let Some(gate) = &port.gate {
            let group = gate.group;
            return self.bring_group_up_to(now, group, transmitter);
        }
        match port.buffer {
            None => queues.advance(port, now, &mut None, transmitter),
            Some(b) => {
                let buffer = &mut self.buffers[b as usize];
                for place in 0..buffer.members.len() {
                    let Served { port, queues, .. } = &mut self.ports[buffer.members[place] as usize];
                    queues.advance(port, now, &mut Some(&mut *buffer), transmitter);
                }
            }
        }
    }

    /// Ends a window: processes the events due before `limit`, and schedules ports where packets
    /// wait.
    #[inline(never)]
    pub(crate) fn end_window(&mut self, limit: Time, transmitter: &mut Transmitter<'_>) {
        let due = self.due.len();
        for i in 0..due {
            let number = self.due[i];
            let Served { port, queues, is_expected } = &mut self.ports[number as usize];
            *is_expected = false;
            if port.gate.is_some() {
                self.bring_up_to(Time(limit.0 - 1), number, transmitter);
                self.expect(number, transmitter);
                continue;
            }
            let mut buffer = port.buffer.map(|b| &mut self.buffers[b as usize]);
            queues.advance(port, Time(limit.0 - 1), &mut buffer, transmitter);
            self.expect(number, transmitter);
        }
        // Where a run pauses in the middle of a window, ports go on in the same one.
        for number in self.due.drain(..).skip(due) {
            let window = transmitter.calendar.now();
            transmitter.calendar.schedule(window, self.first_input + number);
        }
    }

    /// Are ports due in this window?
    #[inline]
    pub(crate) fn are_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The queue at `now` of the port of `link`, if it has one of these: packets, counted as its
    /// policy counts, and all bytes not yet on the wire.
    pub(crate) fn queue(&mut self, link: LinkId, now: Time, transmitter: &mut Transmitter<'_>) -> Option<(u32, u64)> {
        let number = self.of(link)?;
        self.bring_up_to(now, number, transmitter);
        let Served { port, queues, .. } = &self.ports[number as usize];
        let link = &transmitter.links[link.index()];
        Some((queues.counted(&port.kind().thresholds), port.backlog_bytes(link, queues.waiting().1, now)))
    }

    /// The bytes at `now` that the port of `link`, which has one, has not yet put on the wire; none: the link is down.
    pub(crate) fn backlog(&mut self, link: LinkId, now: Time, transmitter: &mut Transmitter<'_>) -> Option<u64> {
        let (_, bytes) = self.queue(link, now, transmitter)?;
        let number = self.of(link)?;
        (!self.ports[number as usize].port.is_down()).then_some(bytes)
    }

    /// The state of `link`'s port by `now`, the end of the run, if it has a port: counters, and
    /// what it has put on the wire.
    pub(crate) fn outcome(
        &mut self,
        link: LinkId,
        now: Time,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<(LinkStats, OnWire)> {
        let number = self.of(link)?;
        self.bring_up_to(Time(now.0.saturating_sub(1)), number, transmitter);
        let Served { port, queues, .. } = &self.ports[number as usize];
        Some(port.outcome(&transmitter.links[link.index()], queues.waiting(), now))
    }

    /// What the port of `link` knows of pauses by `now`, the end of the run, if neighbours pause it.
    pub(crate) fn pauses(&self, link: LinkId, now: Time) -> Option<PauseStats> {
        let number = self.of(link)?;
        self.ports[number as usize].port.gate.as_ref().map(|gate| gate.stats(now))
    }

    /// Have ports classes of data that wait for themselves?
    pub(crate) fn separate(&self) -> bool {
        self.separate
    }

    /// Bytes that wait at the port of `link`, where ports have classes, in those that are paused. The port is up to date.
    pub(crate) fn held_by_class(&self, link: LinkId) -> u64 {
        let number = self.of(link).filter(|_| self.separate);
        number.map_or(0, |number| self.ports[number as usize].queues.held())
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

    /// A circle of links whose ports wait for each other for ever, all of them paused, if there is one. `parts` are the ports of all
    /// partitions, up to date. A port is in one if the next switch will not resume it, since packets that came from it stand at other
    /// ports of this kind, even when all others have left.
    pub(crate) fn deadlock(parts: &[&Ports]) -> Option<Vec<LinkId>> {
        let links = parts.first().map_or(0, |ports| ports.of_link.len());
        let is_waiting = |link: LinkId, class: u8| {
            let of = |ports: &&Ports| ports.of(link).is_some_and(|number| ports.waits_at(number, class));
            parts.iter().any(of)
        };
        (0..CONTROL).find_map(|class| {
            let mut waiting: Vec<bool> = LinkId::first(links).map(|link| is_waiting(link, class)).collect();
            let behind = |link: LinkId, waiting: &[bool]| -> Vec<LinkId> {
                parts.iter().find_map(|ports| ports.behind((link, class), waiting)).unwrap_or_default()
            };
            let mut left: Vec<LinkId> = LinkId::first(links).filter(|link| waiting[link.index()]).collect();
            while let Some(place) = left.iter().position(|link| behind(*link, &waiting).is_empty()) {
                waiting[left.remove(place).index()] = false;
            }
            let mut way = vec![*left.first()?];
            loop {
                let next = behind(way[way.len() - 1], &waiting)[0];
                if let Some(first) = way.iter().position(|link| *link == next) {
                    return Some(way.split_off(first));
                }
                way.push(next);
            }
        })
    }

    /// Do packets of `class` wait at a port that is paused for them, and serves none?
    fn waits_at(&self, number: u32, class: u8) -> bool {
        let Served { port, queues, .. } = &self.ports[number as usize];
        let gate = port.gate.as_ref();
        gate.is_some_and(|gate| gate.closed.has(class)) && !port.is_serving() && queues.waits(class)
    }

    /// The links, of those that are `waiting`, at whose ports packets of a class stand that keep the port of `link` paused. None: the
    /// switch to which it leads is not of this partition.
    fn behind(&self, (link, class): (LinkId, u8), waiting: &[bool]) -> Option<Vec<LinkId>> {
        let (group, account) = *self.accounts.get(link.index()).filter(|(group, _)| *group != NONE)?;
        let group = &self.groups[group as usize];
        let leads = |place: u32| self.ports[group.ports[place as usize] as usize].port.link;
        let stuck = group.stuck_at(Counted { account, class }, |place| waiting[leads(place).index()]);
        Some(stuck.into_iter().map(leads).collect())
    }

    /// The packets that each port still holds by `now`, the end of the run, with its link: waiting,
    /// or in service and not to arrive.
    pub(crate) fn held(&mut self, now: Time, transmitter: &mut Transmitter<'_>) -> Vec<(LinkId, u32)> {
        let before = Time(now.0.saturating_sub(1));
        (0..self.ports.len() as u32).for_each(|number| self.bring_up_to(before, number, transmitter));
        let held = |Served { port, queues, .. }: &Served| queues.waiting().0 + u32::from(port.is_doomed());
        let links = (0..).map(LinkId::new).zip(&self.adapter_of).filter(|(_, number)| **number != NONE);
        let adapters = links.map(|(link, number)| (link, self.adapters[*number as usize].waiting()));
        self.ports.iter().map(|served| (served.port.link, held(served))).chain(adapters).collect()
    }
}
