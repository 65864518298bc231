//! Records the events of some flows: packets that their ends get and send, and changes of state.

use super::row::{End, Row, Sight, State, What};
use crate::host::connection::{Opening, OpeningFor};
use crate::host::endpoint::Sending as _;
use crate::host::handle::Handle;
use crate::host::hosts::Hosts;
use crate::host::message::Message;
use crate::host::slots::Occupant;
use crate::host::timer;
use crate::plan::{FlowId, Plan};
use linkpool_network::{Cause, Discarded, Egress, Flags, Handler, LinkId, NodeId, Packet, Seen, Trailer};
use linkpool_transport::{SenderState, SubflowId};
use linkpool_units::Time;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// [`Hosts`], with a record of some of their flows. It does not change the run.
pub(crate) struct Watch<'p> {
    hosts: Hosts<'p>,
    plan: &'p Plan,
    /// The watched flows.
    flows: BTreeMap<FlowId, Known>,
    pub(crate) rows: Vec<Row>,
    /// Set when all watched flows have ended.
    over: &'p AtomicBool,
}

/// A flow as it was last seen.
#[derive(Debug, Default)]
struct Known {
    sender: Option<(NodeId, Handle)>,
    states: Vec<State>,
    acked: u64,
    ended: bool,
}

impl<'p> Watch<'p> {
    pub(crate) fn new(hosts: Hosts<'p>, plan: &'p Plan, flows: &[FlowId], over: &'p AtomicBool) -> Watch<'p> {
        let flows = flows.iter().map(|flow| (*flow, Known::default())).collect();
        Watch { hosts, plan, flows, rows: Vec::new(), over }
    }

    fn row(&mut self, at: Time, flow: FlowId, what: What) {
        self.rows.push(Row { at: at.0, flow, what });
    }

    /// Is `flow` watched, and has it not ended?
    fn watches(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|known| !known.ended)
    }

    /// The flow and the end of the endpoint `handle` at `host`.
    fn owner(&mut self, host: NodeId, handle: Handle) -> Option<(FlowId, End)> {
        match self.hosts.context.hosts[host.index()].endpoint(handle)? {
            (Occupant::Sender(sending), _) => Some((sending.flow, End::Sender)),
            (Occupant::Receiver(receiving), _) => Some((receiving.flow, End::Receiver)),
            (Occupant::Free, _) => None,
        }
    }

    /// The flow of `packet`, the end that it is for, and the subflow.
    fn addressee(&mut self, packet: &Packet, trailer: Option<&Trailer>) -> Option<(FlowId, End, SubflowId)> {
        let (handle, subflow) = Handle::split(packet.endpoint);
        let to = NodeId::from(packet.dst());
        if is_opening(packet) {
            return match Opening::read(packet, trailer?).to {
                OpeningFor::Flow(flow) => Some((flow, End::Receiver, subflow)),
                OpeningFor::Join(receiver) => self.owner(to, receiver).map(|(flow, end)| (flow, end, subflow)),
            };
        }
        self.owner(to, handle).map(|(flow, end)| (flow, end, subflow))
    }

    /// The positions of the queues of the host's links.
    fn marks(&self, host: NodeId, network: &Egress<'_>) -> Vec<(LinkId, u32)> {
        self.plan.fabric.links_from(host).map(|link| (link, network.mark(link))).collect()
    }

    /// Records the packets that an end of `flow` has sent since `marks`.
    fn sent(&mut self, (flow, by): (FlowId, End), now: Time, marks: &[(LinkId, u32)], network: &Egress<'_>) {
        for (link, mark) in marks {
            for packet in network.queued_since(*link, *mark) {
                let sight = Sight::of(packet, Handle::split(packet.endpoint).1);
                self.row(now, flow, What::Sent { by, packet: sight, next: packet.arrival.0 });
            }
        }
    }

    /// Records the changes of the sender of `flow`.
    fn look(&mut self, flow: FlowId, now: Time) {
        let Some(known) = self.flows.get(&flow) else { return };
        let Some((host, handle)) = known.sender.filter(|_| !known.ended) else { return };
        let mut found: Vec<What> = Vec::new();
        let mut states = Vec::new();
        let (mut acked, mut ended) = (known.acked, false);
        match self.hosts.context.hosts[host.index()].endpoint(handle) {
            Some((Occupant::Sender(sending), _)) if sending.flow == flow => {
                let end = &sending.end;
                for s in SubflowId::first(end.subflows()) {
                    let state = State::of(&end.subflow(s), end.is_established(s), end.is_suppressed(s));
                    if known.states.get(s.index()) != Some(&state) {
                        found.push(What::State { subflow: s, state });
                    }
                    states.push(state);
                }
                if end.acked() != acked {
                    acked = end.acked();
                    found.push(What::Acked { bytes: acked });
                }
                debug_assert!(end.state() == SenderState::Open, "who is done is forgotten");
            }
            _ => {
                ended = true;
                let recorded = self.hosts.context.record();
                let outcome = recorded.flows.iter().rev().find(|outcome| outcome.flow == flow);
                let finished = outcome.is_some_and(|outcome| outcome.finished.is_some());
                found.push(What::Ends { finished });
            }
        }
        found.into_iter().for_each(|what| self.row(now, flow, what));
        if let Some(known) = self.flows.get_mut(&flow) {
            (known.acked, known.ended) = (acked, ended);
            if !ended {
                known.states = states;
            }
        }
        if ended && self.flows.values().all(|known| known.ended) {
            self.over.store(true, Ordering::Relaxed);
        }
    }

    /// Notes the losses of watched flows since the last time.
    fn losses(&mut self, network: &mut Egress<'_>) {
        let lost = network.take_discarded();
        self.lost(&lost);
    }

    fn lost(&mut self, lost: &[Discarded]) {
        for lost in lost {
            let Discarded { loss, packet: Seen { packet, trailer }, queue } = lost;
            let Some((flow, to, subflow)) = self.addressee(packet, trailer.as_ref()) else { continue };
            if !self.watches(flow) {
                continue;
            }
            let mut held: BTreeMap<Option<FlowId>, u32> = BTreeMap::new();
            for Seen { packet, trailer } in queue {
                let whose = self.addressee(packet, trailer.as_ref()).map(|(flow, _, _)| flow);
                *held.entry(whose).or_default() += 1;
            }
            let packet = Sight::of(packet, subflow);
            let fabric = &self.plan.fabric;
            if fabric.links()[loss.link.index()].from.index() < fabric.hosts() {
                // It has not come as far as the queue of its host, where `sent` looks.
                let by = if to == End::Receiver { End::Sender } else { End::Receiver };
                self.row(loss.at, flow, What::Sent { by, packet: packet.clone(), next: loss.at.0 });
            }
            let cause = match loss.cause {
                Cause::Full => "full",
                Cause::Down => "down",
                Cause::Random => "wire",
            };
            let (link, queue) = (fabric.link_name(loss.link), held.into_iter().collect());
            self.row(loss.at, flow, What::Lost { to, packet, link, cause, queued: loss.queued, queue });
        }
    }

    /// A host may have opened watched flows: their SYNs stand in its queues, or had no room there.
    fn opened(&mut self, host: NodeId, now: Time, marks: &[(LinkId, u32)], network: &mut Egress<'_>) {
        let lost = network.take_discarded();
        let mut syns: Vec<(Packet, Trailer, bool)> = Vec::new();
        for (link, mark) in marks {
            let opening = network.queued_since(*link, *mark).filter(|packet| is_opening(packet));
            syns.extend(opening.filter_map(|packet| Some((*packet, *network.trailer(packet)?, true))));
        }
        let refused = lost.iter().map(|lost| &lost.packet).filter(|seen| is_opening(&seen.packet));
        syns.extend(refused.filter_map(|seen| Some((seen.packet, seen.trailer?, false))));
        for (packet, trailer, is_queued) in syns {
            let Opening { peer, subflow, to: OpeningFor::Flow(flow), .. } = Opening::read(&packet, &trailer) else {
                continue;
            };
            let Some(known) = self.flows.get_mut(&flow).filter(|known| known.sender.is_none()) else { continue };
            known.sender = Some((host, peer));
            self.opens(flow, (host, peer), now);
            if is_queued {
                let next = packet.arrival.0;
                self.row(now, flow, What::Sent { by: End::Sender, packet: Sight::of(&packet, subflow), next });
            }
            self.look(flow, now);
        }
        self.lost(&lost);
    }

    /// Records that the sender of `flow` has opened its connection.
    fn opens(&mut self, flow: FlowId, (host, sender): (NodeId, Handle), now: Time) {
        let Some((Occupant::Sender(sending), _)) = self.hosts.context.hosts[host.index()].endpoint(sender) else {
            return;
        };
        let (planned, plan) = (sending.planned, self.plan);
        let transport = &plan.transports[planned.transport.index()];
        let buffers = transport.config.buffers;
        let buffer = buffers.send.min(buffers.receive);
        let name = |node: NodeId| plan.fabric.name(node).to_owned();
        let what = What::Opens {
            src: name(host),
            dst: name(planned.flow.dst.into()),
            transport: transport.name.clone(),
            size: planned.flow.size,
            mss: transport.config.mss,
            buffer: (buffer < u64::MAX).then_some(buffer),
        };
        self.row(now, flow, what);
    }
}

impl Handler for Watch<'_> {
    type Message = Message;

    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, network: &mut Egress<'_>) {
        self.losses(network);
        let watched = self.addressee(packet, network.trailer(packet)).filter(|(flow, ..)| self.watches(*flow));
        let Some((flow, end, subflow)) = watched else {
            return self.hosts.on_packet(host, now, packet, network);
        };
        self.row(now, flow, What::Arrived { at_end: end, packet: Sight::of(packet, subflow) });
        let marks = self.marks(host, network);
        self.hosts.on_packet(host, now, packet, network);
        self.sent((flow, end), now, &marks, network);
        self.losses(network);
        if end == End::Sender {
            self.look(flow, now);
        }
    }

    fn on_timer(&mut self, node: NodeId, now: Time, network: &mut Egress<'_>) {
        self.losses(network);
        let Some(key) = self.hosts.next_key(node) else {
            return self.hosts.on_timer(node, now, network);
        };
        if node.index() >= self.plan.fabric.hosts() {
            return self.hosts.on_timer(node, now, network);
        }
        let marks = self.marks(node, network);
        let (handle, subflow) = Handle::split(key as u32);
        let owner = match timer::kind(key) {
            timer::ENDPOINT | timer::STOP => self.owner(node, handle),
            _ => None,
        };
        let Some((flow, end)) = owner.filter(|(flow, _)| self.watches(*flow)) else {
            self.hosts.on_timer(node, now, network);
            return self.opened(node, now, &marks, network);
        };
        self.row(now, flow, What::Timer { of: end, subflow });
        let so_far = self.rows.len();
        self.hosts.on_timer(node, now, network);
        self.sent((flow, end), now, &marks, network);
        self.losses(network);
        self.look(flow, now);
        if self.rows.len() == so_far {
            // The deadline had moved: the endpoint did nothing.
            self.rows.pop();
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

    fn is_full(&self) -> bool {
        self.hosts.is_full()
    }

    fn done(&self) -> u64 {
        self.hosts.done()
    }
}

/// Does `packet` open a connection, or a further subflow?
fn is_opening(packet: &Packet) -> bool {
    packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK)
}
