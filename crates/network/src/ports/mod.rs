//! Output ports with a queue discipline ([`crate::discipline`]), and ports of links that fail,
//! change or lose packets.
//!
//! They stand beside the fast FIFO queues ([`crate::link`]). They cost an event for each
//! transmission behind which packets wait. A port is private to its node, and a packet reaches
//! another node no earlier than a lookahead after its transmission began. So a port needs to be
//! brought up to date only when a packet arrives at it, and at the end of each window in which it
//! may begin to transmit.

mod loss;
mod port;

use crate::change::Course;
use crate::discipline::{Buffer, Order};
use crate::fabric::{LinkId, LinkSpec, NodeId};
use crate::link::{LinkKind, LinkStats, OnWire};
use crate::packet::Packet;
use crate::policy::QueuePolicy;
use crate::transmitter::Transmitter;
use linkpool_units::Time;
use port::Port;
use std::collections::BTreeMap;

/// The ports of a network that are served packet by packet.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    ports: Vec<Port>,
    /// By link: the number of its port, or [`NONE`].
    of_link: Vec<u32>,
    buffers: Vec<Buffer>,
    buffer_of_node: BTreeMap<NodeId, u32>,
    /// Ports at which something waits since this window, or is due in it.
    due: Vec<u32>,
    /// See [`Ports::are_related`].
    related: bool,
    /// Their inputs in the calendar are numbered from here, after those of nodes.
    first_input: u32,
}

const NONE: u32 = u32::MAX;

impl Ports {
    pub(crate) fn new(links: usize, first_input: usize) -> Ports {
        Ports { of_link: vec![NONE; links], first_input: first_input as u32, ..Ports::default() }
    }

    /// Adds the port of `link`, which is `spec` with `policy`.
    pub(crate) fn add(&mut self, link: LinkId, spec: &LinkSpec, policy: QueuePolicy, course: &Course<'_>, seed: u64) {
        let number = self.ports.len() as u32;
        let mut port = Port::new(link, spec, policy, course, seed);
        if let Some(shape) = policy.shared {
            let buffers = &mut self.buffers;
            let buffer = *self.buffer_of_node.entry(spec.from).or_insert_with(|| {
                buffers.push(Buffer::new(shape));
                buffers.len() as u32 - 1
            });
            port.buffer = Some(buffer);
            self.buffers[buffer as usize].members.push(number);
        }
        let returns = |order| matches!(order, Order::Trimming(trimming) if trimming.return_to_sender);
        self.related |= policy.shared.is_some() || returns(policy.discipline.order);
        self.of_link[link.index()] = number;
        self.ports.push(port);
    }

    /// Does `link` have a port?
    pub(crate) fn has(&self, link: LinkId) -> bool {
        self.of_link[link.index()] != NONE
    }

    /// Has `link` a port that has failed, by the time to which the port is up to date?
    pub(crate) fn is_down(&self, link: LinkId) -> bool {
        self.ports.get(self.of_link[link.index()] as usize).is_some_and(Port::is_down)
    }

    /// The present state of `link`, if it has a port.
    pub(crate) fn kind(&self, link: LinkId) -> Option<&LinkKind> {
        self.ports.get(self.of_link[link.index()] as usize).map(Port::kind)
    }

    /// Does it matter for some port in which order packets come to other ports of its node? So it is
    /// where ports share a buffer, and where packets go back.
    pub(crate) fn are_related(&self) -> bool {
        self.related
    }

    /// The number of ports.
    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    /// The input of a port, number `input` of the calendar, is due.
    #[cold]
    pub(crate) fn wake(&mut self, input: u32) {
        self.due.push(input - self.first_input);
    }

    /// Queues `packet` at `now` at the port of `link`, which has one. Returns the packet that its
    /// node must send back, if there is one.
    #[cold]
    pub(crate) fn enqueue(
        &mut self,
        link: LinkId,
        now: Time,
        packet: Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<(NodeId, Packet)> {
        let number = self.of_link[link.index()];
        self.bring_up_to(now, number, transmitter);
        let port = &mut self.ports[number as usize];
        transmitter.trailers.note_sent(port.node, link, &packet);
        let waited = port.is_waiting();
        let mut buffer = port.buffer.map(|b| &mut self.buffers[b as usize]);
        let returned = port.enqueue(now, packet, &mut buffer, transmitter);
        if port.is_waiting() && !waited {
            self.due.push(number);
        }
        returned.map(|packet| (port.node, packet))
    }

    /// Processes the events due by `now` at a port, and at the ports with which it shares a buffer.
    fn bring_up_to(&mut self, now: Time, number: u32, transmitter: &mut Transmitter<'_>) {
        match self.ports[number as usize].buffer {
            None => self.ports[number as usize].advance(now, &mut None, transmitter),
            Some(b) => {
                let buffer = &mut self.buffers[b as usize];
                for place in 0..buffer.members.len() {
                    let member = buffer.members[place];
                    self.ports[member as usize].advance(now, &mut Some(&mut *buffer), transmitter);
                }
            }
        }
    }

    /// Ends a window: processes the events due before `limit`, and schedules ports where packets
    /// wait.
    #[cold]
    pub(crate) fn end_window(&mut self, limit: Time, ending: bool, transmitter: &mut Transmitter<'_>) {
        for i in 0..self.due.len() {
            let number = self.due[i];
            let port = &mut self.ports[number as usize];
            let mut buffer = port.buffer.map(|b| &mut self.buffers[b as usize]);
            port.advance(Time(limit.0 - 1), &mut buffer, transmitter);
            if port.is_waiting()
                && !ending
                && let Some(next) = port.next_service()
            {
                transmitter.calendar.schedule(transmitter.windows.of(next), self.first_input + number);
            }
        }
        self.due.clear();
    }

    /// Are ports due in this window?
    #[inline]
    pub(crate) fn are_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The queue at `now` of the port of `link`, if it has one of these: packets, counted as its
    /// policy counts, and all bytes not yet on the wire.
    pub(crate) fn queue(&mut self, link: LinkId, now: Time, transmitter: &mut Transmitter<'_>) -> Option<(u32, u64)> {
        let number = self.of_link[link.index()];
        if number == NONE {
            return None;
        }
        self.bring_up_to(now, number, transmitter);
        let port = &self.ports[number as usize];
        Some((port.queue_packets(), port.backlog_bytes(now)))
    }

    /// The state of `link`'s port by `now`, the end of the run, if it has a port: counters, and
    /// what it has put on the wire.
    pub(crate) fn outcome(
        &mut self,
        link: LinkId,
        now: Time,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<(LinkStats, OnWire)> {
        let number = self.of_link[link.index()];
        if number == NONE {
            return None;
        }
        self.bring_up_to(Time(now.0.saturating_sub(1)), number, transmitter);
        Some(self.ports[number as usize].outcome(now))
    }

    /// The packets that each port still holds by `now`, the end of the run, with its link.
    pub(crate) fn held(&mut self, now: Time, transmitter: &mut Transmitter<'_>) -> Vec<(LinkId, u32)> {
        let before = Time(now.0.saturating_sub(1));
        (0..self.ports.len() as u32).for_each(|number| self.bring_up_to(before, number, transmitter));
        self.ports.iter().map(|port| (port.link, port.held())).collect()
    }
}
