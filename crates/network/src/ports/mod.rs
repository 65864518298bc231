//! Output ports with a queue discipline ([`crate::discipline`]), and ports of links that fail,
//! change or lose packets.
//!
//! They stand beside the fast FIFO queues ([`crate::link`]). They cost an event for each
//! transmission behind which packets wait. A port is private to its node, and a packet reaches
//! another node no earlier than a lookahead after its transmission began. So a port needs to be
//! brought up to date only when a packet arrives at it, and at the end of each window in which it
//! may begin to transmit.

mod account;
mod adapter;
mod counted;
mod deadlock;
mod inconstant;
mod loss;
mod pause;
mod pausing;
mod places;
mod port;
mod reasons;
mod soonest;

use crate::chain::Chain;
use crate::change::Course;
use crate::digest::Utilisation;
use crate::discipline::{Buffer, Discipline, MakeOf, Order};
use crate::fabric::{LinkId, LinkSpec, NodeId};
use crate::headers::Headers;
use crate::link::{Link, LinkKind, LinkStats, OnWire};
use crate::packet::Packet;
use crate::pauses::PauseChange;
use crate::policy::QueuePolicy;
use crate::transmitter::Transmitter;
use account::Group;
use adapter::Adapter;
pub use adapter::Intake;
use linkpool_engine::{prefetch, stream};
use linkpool_units::Time;
use pause::Gate;
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
    /// Those of them that are switches.
    switches: Vec<u32>,
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
    /// The window in which the port is due, as packets wait: this one, or that in which the next transmission begins; `u64::MAX`: none.
    due_in: u64,
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

/// What a port needs is prefetched in so many stages, which are so many ports or packets apart: the time that a line takes from memory.
pub(crate) const STAGES: usize = 3;
pub(crate) const STAGE: usize = 4;

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
        let unseen = (queues.passes(&kind.thresholds), queues.leaves_at_once(&kind.thresholds));
        let utilisation = policy
            .digests
            .as_ref()
            .map(|digests| Box::new(Utilisation::new(digests.clone(), stream(seed, "pint", link.into()))));
        let port = Port::new(link, spec, (kind, course), (unseen, policy.stamps, buffer), (gate, utilisation), seed);
        self.of_link[link.index()] = number;
        let passes = port.passes();
        self.ports.push(Served { port, queues, due_in: u64::MAX });
        passes
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

    /// May port `number` send packets back if these `headers` come, too?
    #[inline]
    pub(crate) fn may_return(&self, number: u32, headers: Headers) -> bool {
        !self.ports[number as usize].queues.room_for_headers().has_room_for(headers)
    }

    /// None of all ports sends a header back unless more than these come to it.
    pub(crate) fn room_for_headers(&self) -> Headers {
        self.ports.iter().map(|served| served.queues.room_for_headers()).fold(Headers::ENDLESS, Headers::min)
    }

    /// The memory that ports take, without that of packets that wait.
    pub(crate) fn memory(&self) -> usize {
        self.ports.iter().map(|served| size_of::<Served>() + size_of_val(&*served.queues)).sum()
    }

    /// Before the port of `link` is used: brings closer what it needs, in three stages, of which each follows pointers that the one
    /// before has fetched.
    #[inline(always)]
    pub(crate) fn prefetch_of(&self, link: LinkId, stage: usize) {
        if let Some(number) = self.of(link) {
            self.prefetch(number, stage);
        }
    }

    #[inline(always)]
    fn prefetch(&self, number: u32, stage: usize) {
        let served = &self.ports[number as usize];
        match stage {
            1 => prefetch(served),
            2 => prefetch(&*served.queues),
            _ => served.queues.prefetch(),
        }
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
    #[inline]
    pub(crate) fn take(
        &mut self,
        number: u32,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<(NodeId, Packet)> {
        let Served { port, queues, due_in } = &mut self.ports[number as usize];
        if port.buffer.is_some() {
            return self.take_shared(number, now, packet, transmitter);
        }
        if port.gate.is_some() {
            self.take_paused(number, now, packet, transmitter);
            return None;
        }
        let returned = if port.is_alone() {
            queues.take_alone(port, now, packet, transmitter)
        } else {
            transmitter.trailers.note_sent(port.node, port.link, packet);
            queues.take(port, now, packet, &mut None, transmitter)
        };
        let node = port.node;
        // A port that is expected lets no packet pass, and is asked again when it is due.
        if *due_in == u64::MAX {
            self.expect(number, transmitter);
        }
        returned.map(|packet| (node, packet))
    }

    /// Queues the packets of `chain` at the port of `link`, and brings it up to `limit`, when the window ends: nothing else comes to
    /// it before, and none of these packets goes back to its sender. False: nothing is done, as the link has no port, or one that is not
    /// alone ([`Port::is_alone`]).
    #[inline]
    pub(crate) fn take_chain(
        &mut self,
        link: LinkId,
        chain: Chain<'_>,
        limit: Time,
        transmitter: &mut Transmitter<'_>,
    ) -> bool {
        let Some(number) = self.of(link) else { return false };
        let Served { port, queues, due_in } = &mut self.ports[number as usize];
        if !port.is_alone() {
            return false;
        }
        queues.take_chain(port, chain, limit, transmitter);
        // If it is due in this window, and has nothing left to do in it, it is due later, or not at all.
        let now = transmitter.calendar.now();
        let is_done = |until| !port.waits || transmitter.windows.of(until) > now;
        if *due_in == now && is_done(transmitter.links[link.index()].busy_until()) {
            *due_in = u64::MAX;
        }
        if *due_in == u64::MAX {
            self.expect(number, transmitter);
        }
        true
    }

    /// The same at a port that shares a buffer; none of these sends packets back.
    #[inline(never)]
    fn take_shared(
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

    /// Makes sure that port `number` is due when its next transmission begins, if packets wait, and when a pause of it is
    /// over. Packets pass it again when none wait.
    #[inline]
    fn expect(&mut self, number: u32, transmitter: &mut Transmitter<'_>) {
        let Served { port, due_in, .. } = &mut self.ports[number as usize];
        let link = &mut transmitter.links[port.link.index()];
        let waits = match &port.gate {
            Some(gate) => {
                let matters = || self.groups[gate.group as usize].is_strict_at(gate.place);
                port.is_serving() && (port.waits || gate.has_frame() || matters())
            }
            None => {
                link.let_pass(!port.waits && port.passes());
                port.waits
            }
        };
        if waits && *due_in == u64::MAX {
            let (window, now) = (transmitter.windows.of(link.busy_until()), transmitter.calendar.now());
            *due_in = window.max(now);
            if window > now {
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
            self.settle(now, group, transmitter);
            return self.catch_up(now, number, transmitter);
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
    /// wait. `far`: what ports need is prefetched.
    #[inline(never)]
    pub(crate) fn end_window(&mut self, limit: Time, far: bool, transmitter: &mut Transmitter<'_>) {
        let due = self.due.len();
        for i in 0..due {
            if far {
                (1..=STAGES).for_each(|stage| {
                    let later = self.due.get(i + (STAGES + 1 - stage) * STAGE);
                    later.into_iter().for_each(|number| self.prefetch(*number, stage));
                });
            }
            let number = self.due[i];
            let Served { port, queues, due_in } = &mut self.ports[number as usize];
            // A port that neighbours pause is looked at in other windows, too.
            if port.gate.is_none() && *due_in != transmitter.calendar.now() {
                continue; // it has been brought up to date, and is due later
            }
            *due_in = u64::MAX;
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

    /// The bytes at `now` that the port of `link`, which has one, has not yet put on the wire; none: the link is down. Out of line, so
    /// that balancers ask links without ports quickly.
    #[inline(never)]
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

    /// Have ports classes of data that wait for themselves?
    pub(crate) fn separate(&self) -> bool {
        self.separate
    }

    /// Bytes that wait at the port of `link`, where ports have classes, in those that are paused. The port is up to date.
    pub(crate) fn held_by_class(&self, link: LinkId) -> u64 {
        let number = self.of(link).filter(|_| self.separate);
        number.map_or(0, |number| self.ports[number as usize].queues.held())
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
