//! Records the events of some flows: packets that their ends get and send, and changes of state.

use super::Traced;
use super::row::{Because, End, Sight, State, What};
use super::rows::Rows;
use super::watched::{Watched, row};
use crate::host::connection::{Opening, OpeningFor};
use crate::host::endpoint::Sending as _;
use crate::host::handle::Handle;
use crate::host::hosts::Hosts;
use crate::host::message::Message;
use crate::host::slots::Occupant;
use crate::host::timer;
use crate::plan::{FlowId, Plan};
use linkpool_network::{
    Cause, Discarded, Egress, Handler, Held, Kind, LinkId, NodeId, Observer, Packet, PauseChange, Seen, Trailer,
};
use linkpool_transport::{Family, SendBuffer, SenderState, SubflowId};
use linkpool_units::Time;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// [`Hosts`], with a record of some of their flows. It does not change the run.
pub(crate) struct Watch<'p> {
    hosts: Hosts<'p>,
    plan: &'p Plan,
    /// The watched connections, by the number of their flow or first message.
    connections: BTreeMap<FlowId, Watched>,
    /// The rows that have not been taken yet.
    rows: &'p Mutex<Rows>,
    /// By link: has its port service events?
    served: Vec<bool>,
    /// Packets that wait at such a port of their host, with the rows of their sending.
    waiting: Vec<(LinkId, Packet, usize)>,
    /// Set when all watched flows have ended.
    over: &'p AtomicBool,
    /// The length of a window, in which hosts run one after another.
    window: Time,
}

impl<'p> Watch<'p> {
    /// The watch on `flows` of `hosts`. `served` says of each link whether its port has service
    /// events. They run in windows of length `window`.
    pub(crate) fn new(
        hosts: Hosts<'p>,
        plan: &'p Plan,
        served: Vec<bool>,
        flows: &[Traced],
        rows: &'p Mutex<Rows>,
        over: &'p AtomicBool,
        window: Time,
    ) -> Watch<'p> {
        let mut connections: BTreeMap<FlowId, Watched> = BTreeMap::new();
        flows.iter().for_each(|of| connections.entry(of.connection).or_default().want(of.flow));
        Watch { hosts, plan, connections, rows, served, waiting: Vec::new(), over, window }
    }

    fn rows(&self) -> MutexGuard<'p, Rows> {
        self.rows.lock().expect("nothing panics while it holds rows")
    }

    /// Records an event of `connection`, or only notes it if no wanted flow of it has begun.
    fn row(&mut self, at: Time, connection: FlowId, what: What) {
        let row = row(at, connection, what);
        match self.connections.get_mut(&connection) {
            Some(known) if !known.is_recorded => known.note(row, self.window),
            _ => self.rows().push(row),
        }
    }

    /// Is `connection` watched, and has it flows that have not ended?
    fn watches(&self, connection: FlowId) -> bool {
        self.connections.get(&connection).is_some_and(Watched::is_live)
    }

    /// Are events of `connection` recorded?
    fn records(&self, connection: FlowId) -> bool {
        self.connections.get(&connection).is_some_and(|known| known.is_recorded)
    }

    /// The connection and the end of the endpoint `handle` at `host`.
    fn owner(&mut self, host: NodeId, handle: Handle) -> Option<(FlowId, End)> {
        match self.hosts.context.hosts[host.index()].endpoint(handle)? {
            (Occupant::Sender(sending), _) => Some((sending.flow, End::Sender)),
            (Occupant::Receiver(receiving), _) => Some((receiving.flow, End::Receiver)),
            (Occupant::Free, _) => None,
        }
    }

    /// The connection of `packet`, the end that it is for, and the subflow.
    fn addressee(&mut self, packet: &Packet, trailer: Option<&Trailer>) -> Option<(FlowId, End, SubflowId)> {
        let (handle, subflow) = Handle::split(packet.endpoint);
        let to = NodeId::from(packet.dst());
        if packet.is_returned() {
            let sender = self.hosts.sender_of_returned(to, packet)?;
            return self.owner(to, sender).map(|(flow, end)| (flow, end, SubflowId::FIRST));
        }
        if is_opening(packet) {
            return match Opening::read(packet, trailer?).to {
                OpeningFor::Flow(flow) => Some((flow, End::Receiver, subflow)),
                OpeningFor::Join(receiver) => self.owner(to, receiver).map(|(flow, end)| (flow, end, subflow)),
            };
        }
        self.owner(to, handle).map(|(flow, end)| (flow, end, subflow))
    }

    /// Records that an end of `flow` has sent a packet.
    fn sent(&mut self, (flow, by): (FlowId, End), now: Time, link: LinkId, Seen { packet, trailer }: &Seen) {
        let (subflow, is_served) = (Handle::split(packet.endpoint).1, self.served[link.index()]);
        if is_served && self.records(flow) {
            let row = self.rows().len();
            self.waiting.push((link, *packet, row));
        }
        let next = (!is_served).then_some(packet.arrival.0);
        let packet = Sight::of(packet, trailer.as_ref(), subflow, self.family(flow));
        if let Some(known) = self.connections.get_mut(&flow).filter(|_| by == End::Sender && packet.kind == "data") {
            known.reaches(packet.ack.wrapping_add(packet.payload.into()));
        }
        self.row(now, flow, What::Sent { by, packet, next });
    }

    /// The family of the transport of `flow`, and the payload of a full packet. Nothing is seen of a
    /// connection before it opens.
    fn family(&self, flow: FlowId) -> (Family, u16) {
        let known = self.connections.get(&flow).and_then(|known| known.family);
        known.expect("a connection opens before its packets are seen")
    }

    /// Records the changes of the sender of `flow`.
    fn look(&mut self, flow: FlowId, now: Time) {
        let Some(known) = self.connections.get_mut(&flow).filter(|known| known.is_live()) else { return };
        let Some((host, handle)) = known.sender else { return };
        let mut found: Vec<What> = Vec::new();
        let mut over: Vec<FlowId> = Vec::new();
        let mut finished = true;
        match self.hosts.context.hosts[host.index()].endpoint(handle) {
            Some((Occupant::Sender(sending), shared)) if sending.flow == flow => {
                let (end, waits) = (&sending.end, sending.waits(shared.nic.as_deref(), now));
                for s in SubflowId::first(end.subflows()) {
                    let state = State::of(end, s);
                    match known.states.get_mut(s.index()) {
                        Some(before) if *before == state => continue,
                        Some(before) => *before = state,
                        None => known.states.push(state),
                    }
                    found.push(What::State { subflow: s, state });
                }
                if end.offered() != known.offered {
                    known.offered = end.offered();
                    found.extend(known.offered.map(|end| What::Offered { end }));
                }
                if waits != known.waits {
                    known.waits = waits;
                    found.extend(known.waits.map(|on| What::Waits { on }));
                }
                if end.acked() != known.acked {
                    known.acked = end.acked();
                    found.push(What::Acked { bytes: known.acked });
                }
                if let Some(messages) = &sending.messages {
                    over = known.take_done(Some(messages));
                    found.extend(over.iter().map(|message| What::Done { message: *message, finished: true }));
                }
                debug_assert!(end.state() == SenderState::Open, "who is done is forgotten");
            }
            _ => {
                let recorded = self.hosts.context.record();
                let outcome = |flow| recorded.flows.iter().rev().find(|outcome| outcome.flow == flow);
                let is_finished = |flow| outcome(flow).is_some_and(|outcome| outcome.finished.is_some());
                over = known.take_done(None);
                found.extend(over.iter().map(|&message| What::Done { message, finished: is_finished(message) }));
                // Of a connection that stays open, whose first message may have ended long ago, the last ones tell.
                finished = if over.is_empty() { is_finished(flow) } else { over.iter().all(|flow| is_finished(*flow)) };
                over.push(flow);
            }
        }
        over.iter().for_each(|flow| known.is_over(*flow));
        if !known.is_live() {
            found.push(What::Ends { finished });
        }
        found.into_iter().for_each(|what| self.row(now, flow, what));
        if !over.is_empty() && !self.connections.values().any(Watched::is_live) {
            self.over.store(true, Ordering::Relaxed);
        }
    }

    /// Notes what the network has seen of watched flows since the last time.
    fn catch_up(&mut self, network: &mut Egress) {
        let seen = network.take_observed();
        self.note(&seen);
    }

    /// Notes packets that have left their hosts, and losses.
    fn note(&mut self, seen: &Observer) {
        for (link, packet) in &seen.departed {
            if let Some((.., row)) = self.take_waiting(*link, packet)
                && let Some(What::Sent { next, .. }) = self.rows().get_mut(row).map(|row| &mut row.what)
            {
                *next = Some(packet.arrival.0);
            }
        }
        self.lost(&seen.discarded);
        self.held(&seen.held);
    }

    /// Notes packets that pauses have held back.
    fn held(&mut self, held: &[Held]) {
        for Held { at, link, packet: Seen { packet, trailer }, paused, pause } in held {
            let Some((flow, to, subflow)) = self.addressee(packet, trailer.as_ref()) else { continue };
            if !self.records(flow) || !self.watches(flow) {
                continue;
            }
            let (fabric, reason) = (&self.plan.fabric, pause.reason);
            let pause = Because {
                since: pause.since.0,
                priority: pause.priority,
                shared: reason.shared,
                headroom: reason.headroom,
                threshold: reason.threshold,
                behind: reason.behind.map(|link| fabric.link_name(link)),
            };
            let packet = Sight::of(packet, trailer.as_ref(), subflow, self.family(flow));
            let link = fabric.link_name(*link);
            self.row(*at, flow, What::Held { to, packet, link, paused: paused.0, pause });
        }
    }

    /// Takes what is known of a packet that waits at a port of its host.
    fn take_waiting(&mut self, link: LinkId, packet: &Packet) -> Option<(LinkId, Packet, usize)> {
        let name = |p: &Packet| (p.endpoint, p.seq, p.ack, p.flags, p.kind, p.envelope);
        let place = self.waiting.iter().position(|(of, waits, _)| *of == link && name(waits) == name(packet))?;
        Some(self.waiting.remove(place))
    }

    fn lost(&mut self, lost: &[Discarded]) {
        for lost in lost {
            let Discarded { loss, packet: Seen { packet, trailer }, queue } = lost;
            let Some((flow, mut to, subflow)) = self.addressee(packet, trailer.as_ref()) else { continue };
            if !self.watches(flow) {
                continue;
            }
            if loss.cause == Cause::Returned {
                to = End::Receiver;
            }
            let mut held: BTreeMap<Option<FlowId>, u32> = BTreeMap::new();
            for Seen { packet, trailer } in queue {
                let whose = self.addressee(packet, trailer.as_ref()).map(|(flow, _, _)| flow);
                *held.entry(whose).or_default() += 1;
            }
            let fabric = &self.plan.fabric;
            // Other hosts may pass packets on, in a BCube.
            let origin = self.connections.get(&flow).and_then(|known| match to {
                End::Receiver => known.sender.map(|(host, _)| host),
                End::Sender => known.receiver,
            });
            let at_host = origin == Some(fabric.links()[loss.link.index()].from);
            if at_host && self.served[loss.link.index()] {
                self.take_waiting(loss.link, packet);
            }
            let packet = Sight::of(packet, trailer.as_ref(), subflow, self.family(flow));
            if at_host && !self.served[loss.link.index()] {
                // It was not accepted by the link of its host, so the observer does not tell that it was sent.
                let by = if to == End::Receiver { End::Sender } else { End::Receiver };
                self.row(loss.at, flow, What::Sent { by, packet: packet.clone(), next: None });
            }
            let cause = match loss.cause {
                Cause::Full => "full",
                Cause::Down => "down",
                Cause::Random => "wire",
                Cause::Trimmed => "trimmed",
                Cause::Returned => "returned",
            };
            let (link, queue) = (fabric.link_name(loss.link), held.into_iter().collect());
            self.row(loss.at, flow, What::Lost { to, packet, link, cause, queued: loss.queued, queue });
        }
    }

    /// Notes the watched connections that `host` has opened, whether or not they have sent a packet. Returns them.
    fn opened(&mut self, host: NodeId, now: Time) -> Vec<FlowId> {
        let is_new = |known: Option<&Watched>| known.is_some_and(|known| known.sender.is_none());
        if !self.connections.values().any(|known| is_new(Some(known))) {
            return Vec::new();
        }
        let (senders, known) = (self.hosts.context.hosts[host.index()].senders(), &self.connections);
        let new = senders.filter(|(_, sending)| is_new(known.get(&sending.flow)));
        let new: Vec<(FlowId, Handle)> = new.map(|(handle, sending)| (sending.flow, handle)).collect();
        for (flow, handle) in &new {
            self.connections.entry(*flow).or_default().sender = Some((host, *handle));
            self.opens(*flow, (host, *handle), now);
        }
        new.into_iter().map(|(flow, _)| flow).collect()
    }

    /// The watched connections that `host` has opened and that have not ended.
    fn senders_at(&self, host: NodeId) -> Vec<FlowId> {
        let here = |known: &Watched| known.is_live() && known.sender.is_some_and(|(at, _)| at == host);
        self.connections.iter().filter(|(_, known)| here(known)).map(|(flow, _)| *flow).collect()
    }

    /// A host may have opened watched connections, or given them messages: what they sent is on its
    /// links, or had no room there.
    fn started(&mut self, host: NodeId, now: Time, seen: &Observer) {
        let mut touched = self.opened(host, now);
        for flow in self.senders_at(host) {
            if self.given(flow, now) && !touched.contains(&flow) {
                touched.push(flow);
            }
        }
        for (link, packet) in &seen.sent {
            if let Some((flow, End::Receiver, _)) = self.addressee(&packet.packet, packet.trailer.as_ref())
                && touched.contains(&flow)
            {
                self.sent((flow, End::Sender), now, *link, packet);
            }
        }
        // A job that fails takes its connections along.
        let (here, hosts) = (self.senders_at(host), &self.hosts.context.hosts);
        let is_gone = |handle| !hosts[host.index()].has(handle);
        let sender = |flow| self.connections.get(flow).and_then(|known| known.sender);
        touched.extend(here.iter().filter(|flow| sender(flow).is_some_and(|(_, handle)| is_gone(handle))));
        touched.into_iter().for_each(|flow| self.look(flow, now));
    }

    /// Records the messages that `connection` has just been given. Are there any?
    fn given(&mut self, connection: FlowId, now: Time) -> bool {
        let Some(known) = self.connections.get_mut(&connection) else { return false };
        let Some((host, handle)) = known.sender else { return false };
        let Some((Occupant::Sender(sending), _)) = self.hosts.context.hosts[host.index()].endpoint(handle) else {
            return false;
        };
        let given = sending.messages.as_ref().map_or_else(Vec::new, |messages| known.take_given(messages));
        for (message, what) in &given {
            let Some(known) = self.connections.get_mut(&connection) else { continue };
            if known.wants(*message) {
                // Their whole state is recorded again.
                known.states.clear();
                known.offered = None;
                known.waits = None;
                if !known.is_recorded {
                    let rows = known.record(now);
                    rows.into_iter().for_each(|row| self.rows().push(row));
                    self.opens(connection, (host, handle), now);
                }
            }
            self.row(now, connection, what.clone());
        }
        !given.is_empty()
    }

    /// Endpoints have had their turns: receivers have `sent` PULLs, or senders data.
    fn had_turns(&mut self, now: Time, sent: &[(LinkId, Seen)]) {
        for (link, seen) in sent {
            let found = self.addressee(&seen.packet, seen.trailer.as_ref());
            let Some((flow, to, _)) = found.filter(|(flow, ..)| self.watches(*flow)) else { continue };
            if to == End::Sender {
                self.row(now, flow, What::Turn);
                self.sent((flow, End::Receiver), now, *link, seen);
            } else {
                self.sent((flow, End::Sender), now, *link, seen);
                self.look(flow, now);
            }
        }
    }

    /// Records what the sender of `flow` is: as it opens its connection, or as the first wanted
    /// message is given to it.
    fn opens(&mut self, flow: FlowId, (host, sender): (NodeId, Handle), now: Time) {
        let Some((Occupant::Sender(sending), _)) = self.hosts.context.hosts[host.index()].endpoint(sender) else {
            return;
        };
        let (planned, stays_open, plan) = (sending.planned, sending.messages.is_some(), self.plan);
        let transport = &plan.transports[planned.transport.index()];
        let buffers = transport.config.buffers;
        let buffer = buffers.send.fixed();
        let name = |node: NodeId| plan.fabric.name(node).to_owned();
        let what = What::Opens {
            src: name(host),
            dst: name(planned.flow.dst.into()),
            transport: transport.name.clone(),
            control: transport.control,
            size: planned.flow.size.filter(|_| !stays_open),
            stays_open,
            mss: transport.config.mss,
            buffer: (buffer < u64::MAX).then_some(buffer),
            subflow_window: Some(buffers.subflow_window).filter(|most| *most < u64::MAX),
            grows: buffers.send == SendBuffer::Auto
                && transport.config.subflows > 1
                && transport.family.family().has("send_buffer"),
            reads: buffers.read_rate.is_some(),
            ack_delay: transport.config.ack_delay.0,
            pulled: transport.facts.pulled,
            phases: transport.facts.handshake,
        };
        if let Some(known) = self.connections.get_mut(&flow) {
            known.family = Some((transport.family.family(), transport.config.mss));
            known.receiver = Some(planned.flow.dst.into());
            known.is_recorded |= !stays_open;
        }
        self.row(now, flow, what);
    }
}

impl Handler for Watch<'_> {
    type Message = Message;

    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, network: &mut Egress) {
        self.catch_up(network);
        let trailer = network.trailer(packet).copied();
        let watched = self.addressee(packet, trailer.as_ref()).filter(|(flow, ..)| self.watches(*flow));
        let Some((flow, end, subflow)) = watched else {
            return self.hosts.on_packet(host, now, packet, network);
        };
        let sight = Sight::of(&network.as_sent(packet), trailer.as_ref(), subflow, self.family(flow));
        self.row(now, flow, What::Arrived { at_end: end, packet: sight });
        self.hosts.on_packet(host, now, packet, network);
        let seen = network.take_observed();
        for (link, packet) in &seen.sent {
            self.sent((flow, end), now, *link, packet);
        }
        self.note(&seen);
        if end == End::Sender {
            self.look(flow, now);
        }
    }

    fn on_timer(&mut self, node: NodeId, now: Time, network: &mut Egress) {
        self.catch_up(network);
        let Some(key) = self.hosts.next_key(node) else {
            return self.hosts.on_timer(node, now, network);
        };
        if node.index() >= self.plan.fabric.hosts() {
            return self.hosts.on_timer(node, now, network);
        }
        let (handle, subflow) = Handle::split(key as u32);
        let kind = timer::kind(key);
        let owner = match kind {
            timer::ENDPOINT | timer::STOP => self.owner(node, handle),
            _ => None,
        };
        let owner = owner.filter(|(flow, _)| self.watches(*flow));
        if let Some((flow, end)) = owner {
            self.row(now, flow, What::Timer { of: end, subflow });
        }
        let (so_far, recorded) = (self.rows().len(), owner.is_some_and(|(flow, _)| self.records(flow)));
        self.hosts.on_timer(node, now, network);
        let seen = network.take_observed();
        match owner {
            Some((flow, end)) => seen.sent.iter().for_each(|(link, packet)| self.sent((flow, end), now, *link, packet)),
            None if kind == timer::TURNS || kind == timer::NIC => {
                self.had_turns(now, &seen.sent);
                // A turn that was not used may change what a sender waits for.
                self.senders_at(node).into_iter().for_each(|flow| self.look(flow, now));
            }
            None => self.started(node, now, &seen),
        }
        self.note(&seen);
        if let Some((flow, _)) = owner {
            self.look(flow, now);
            // If it did nothing, the deadline had moved.
            if !recorded {
                self.connections.get_mut(&flow).into_iter().for_each(Watched::forget_idle_timer);
            } else if self.rows().len() == so_far {
                self.rows().pop();
            }
        }
    }

    fn next_timer(&self, node: NodeId) -> Time {
        self.hosts.next_timer(node)
    }

    fn take_message(&mut self) -> Option<(NodeId, Time, Message)> {
        self.hosts.take_message()
    }

    fn on_message(&mut self, host: NodeId, at: Time, message: Message) {
        self.hosts.on_message(host, at, message);
    }

    fn on_pause(&mut self, change: &PauseChange) {
        self.hosts.on_pause(change);
    }

    fn is_full(&self) -> bool {
        self.hosts.is_full() || self.rows().are_many()
    }

    fn done(&self) -> u64 {
        self.hosts.done()
    }
}

/// Does `packet` open a connection, or a further subflow?
fn is_opening(packet: &Packet) -> bool {
    packet.kind.has(Kind::SYN) && !packet.kind.has(Kind::ACK)
}
