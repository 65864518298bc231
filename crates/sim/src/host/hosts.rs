//! All hosts: packets and timers find their endpoints here.

use crate::host::endpoint::{Address, Endpoint, Out, ReceivingEnd, Sampled, SendingEnd, key};
use crate::host::senders::{new_sender, outcome};
use crate::host::slots::Host;
use crate::host::wire::{Handle, decode};
use crate::plan::paths::PathChoice;
use crate::plan::transports::Scatter;
use crate::plan::{Plan, PlannedFlow};
use crate::record::period::InPeriod;
use crate::record::sampling::Sampling;
use crate::results::sink::Buffer;
use crate::start::agenda::{Agenda, Notice};
use crate::start::feed::Feed;
use crate::start::placement::{Controller, Placement, Scanned};
use linkpool_engine::{Timers, hash_u64, prefetch, stream};
use linkpool_network::{Egress, Flags, Handler, NodeId, Packet, Routes};
use linkpool_transport::{Delivery, Receiver, SenderState};
use linkpool_units::Time;

/// A receiver whose sender has been silent for so long is forgotten when new connections come; it exceeds twice any sensible
/// RTO, so a sender that still tries is never forgotten. Usually a FIN comes first.
const SILENCE: Time = Time::from_secs(600);

pub(crate) struct Hosts<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) routes: &'p Routes,
    /// Of every node.
    pub(crate) timers: Vec<Timers>,
    pub(crate) hosts: Vec<Host>,
    /// Of every host.
    pub(crate) agendas: Vec<Agenda>,
    pub(crate) feed: Feed<'p>,
    /// For hosts that others may run, the soonest a lookahead from when they were made.
    pub(crate) notices: Vec<(NodeId, Time, Notice)>,
    pub(crate) lookahead: Time,
    pub(crate) sampling: Sampling,
    /// Of the scheduler that places flows, where it is.
    pub(crate) controller: Controller,
    /// Of flows and jobs that have ended.
    pub(crate) ended: Buffer,
    /// Flows finished that count for the end of the run.
    done: u64,
    /// Packets for endpoints that are gone.
    pub(crate) stray: u64,
    /// Packets given to hosts.
    pub(crate) delivered: u64,
}

impl<'p> Hosts<'p> {
    /// The hosts that are `mine`; the others stay empty.
    pub(crate) fn new(
        plan: &'p Plan,
        routes: &'p Routes,
        buffer: Buffer,
        lookahead: Time,
        mine: impl Fn(NodeId) -> bool,
    ) -> Hosts<'p> {
        let mut timers: Vec<Timers> = (0..plan.fabric.nodes()).map(|_| Timers::default()).collect();
        let host = |h| Host::new(stream(plan.seed, "host", h as u64));
        let hosts: Vec<Host> = (0..plan.fabric.hosts()).map(host).collect();
        let sampling = Sampling::new(plan, buffer.clone());
        sampling.first_timers(plan, &mine, &mut timers);
        let mut hosts = Hosts {
            plan,
            routes,
            timers,
            agendas: hosts.iter().map(|_| Agenda::default()).collect(),
            feed: Feed::new(plan.flows.iter(), (0..hosts.len()).map(|h| mine(h as NodeId)).collect()),
            hosts,
            notices: Vec::new(),
            lookahead,
            sampling,
            controller: Controller::default(),
            ended: buffer,
            done: 0,
            stray: 0,
            delivered: 0,
        };
        for (i, p) in (0..).zip(&plan.processes).filter(|(_, p)| mine(p.home.into())) {
            hosts.enter(p.home.into(), p.start, Notice::Begin(i, Box::new(p.process.clone())));
        }
        if let Some(Placement { period, .. }) = plan.placement {
            (0..plan.fabric.hosts() as NodeId).filter(|h| mine(*h)).for_each(|h| hosts.enter(h, period, Notice::Scan));
        }
        for (host, at, notice) in hosts.feed(Time::ZERO) {
            hosts.enter(host, at, notice);
        }
        hosts.time_period(mine);
        hosts
    }

    /// Opens the connection of a flow at its sender.
    pub(crate) fn open(&mut self, host: NodeId, id: u32, planned: PlannedFlow, now: Time, network: &mut Egress<'_>) {
        let h = &mut self.hosts[host as usize];
        let timers = &mut self.timers[host as usize];
        let transport = &self.plan.transports[planned.transport as usize];
        let me = h.allocate();
        let ports = hash_u64(hash_u64(self.plan.seed) ^ id as u64) as u32;
        let address = Address {
            flow: id,
            host: host as u16,
            peer_host: planned.flow.dst,
            me,
            peer: Handle::default(),
            transport: planned.transport,
            sizes: transport.sizes,
            path: transport.paths.there(
                (&self.plan.fabric, self.routes),
                (host as u16, planned.flow.dst),
                transport.config.subflows,
                ports,
            ),
            scatter: transport.scatter,
            high: transport.high,
            balancer: transport.balancing.map(|balancing| balancing.build(transport.config.subflows)),
            echoes: false,
            rtts: self.sampling.rtts(planned.label, transport.config.subflows),
        };
        if planned.flow.stop < self.plan.end {
            timers.push(planned.flow.stop, key::STOP | me.raw() as u64);
        }
        let sender = new_sender(transport, planned.flow.size, || {
            self.routes.path_count(&self.plan.fabric, host as u16, planned.flow.dst)
        });
        let mut end = Box::new(SendingEnd {
            sender,
            address,
            planned,
            sampled: self.sampling.wants_rate(planned.label).then(|| Sampled::new(transport.config.subflows)),
            period: InPeriod::new(&self.plan.measure, now),
            scanned: Scanned::of(&transport.paths),
        });
        end.sender.open(now, &mut Out { address: &mut end.address, now, network, timers, random: &mut h.random });
        h.fill(me, Endpoint::Sender(end));
    }

    fn on_syn(&mut self, host: NodeId, now: Time, packet: &Packet, network: &mut Egress<'_>) {
        if self.hosts[host as usize].swept + SILENCE <= now {
            self.sweep(host, now);
        }
        let (src, transport) = (packet.seq as u16, (packet.seq >> 16) as u16);
        let (peer, subflow) = Handle::split(packet.endpoint);
        let h = &mut self.hosts[host as usize];
        let handle = if packet.flags.has(Flags::JOIN) {
            Handle::split(packet.ack).0
        } else if let Some(handle) = h.receivers.get(&packet.ack) {
            *handle
        } else {
            let planned = &self.plan.transports[transport as usize];
            let me = h.allocate();
            let address = Address {
                flow: packet.ack,
                host: host as u16,
                peer_host: src,
                me,
                peer,
                transport,
                sizes: planned.sizes,
                path: planned.paths.back(
                    (&self.plan.fabric, self.routes),
                    (src, host as u16),
                    planned.config.subflows,
                    (packet, subflow),
                ),
                scatter: Scatter::None,
                high: planned.high,
                balancer: None,
                echoes: planned.balancing.is_some_and(|balancing| balancing.echoes()),
                rtts: None,
            };
            let receiver = Receiver::new(planned.config.clone());
            h.fill(me, Endpoint::Receiver(Box::new(ReceivingEnd { receiver, address })));
            h.receivers.insert(packet.ack, me);
            me
        };
        self.deliver(host, handle, subflow, now, packet, network);
    }

    #[inline]
    fn deliver(
        &mut self,
        host: NodeId,
        handle: Handle,
        subflow: usize,
        now: Time,
        packet: &Packet,
        network: &mut Egress<'_>,
    ) {
        let h = &mut self.hosts[host as usize];
        let timers = &mut self.timers[host as usize];
        match h.endpoint(handle) {
            Some((Endpoint::Sender(end), random)) => {
                if packet.flags.has(Flags::SYN | Flags::ACK) {
                    end.address.peer = Handle::split(packet.seq).0;
                }
                let segment = decode(packet, network.trailer(packet), end.address.sizes);
                if let Some(balancer) = &mut end.address.balancer {
                    balancer.before_ack(subflow, packet, end.sender.path(subflow).cwnd, now);
                }
                let mut out = Out { address: &mut end.address, now, network, timers, random };
                end.sender.on_segment(subflow, segment, now, &mut out);
                if let Some(balancer) = &mut end.address.balancer {
                    balancer.after_ack(subflow, packet, &end.sender, random, now);
                }
                if end.sender.state() != SenderState::Open {
                    self.end_flow(host, handle, now);
                }
            }
            Some((Endpoint::Receiver(end), random)) => {
                let segment = decode(packet, network.trailer(packet), end.address.sizes);
                let ce = packet.flags.has(Flags::CE);
                if end.address.echoes {
                    end.address.path = PathChoice::Echo(packet.entropy);
                }
                let mut out = Out { address: &mut end.address, now, network, timers, random };
                match end.receiver.on_segment(subflow, segment, ce, now, &mut out) {
                    Delivery::None => {}
                    Delivery::Complete => {
                        let (id, src) = (end.address.flow, end.address.peer_host);
                        self.on_flow_arrival(id, (src, host), now);
                    }
                    Delivery::Closed => self.forget_receiver(host, handle),
                }
            }
            _ => self.stray += 1,
        }
    }

    fn forget_receiver(&mut self, host: NodeId, handle: Handle) {
        let h = &mut self.hosts[host as usize];
        if let Endpoint::Receiver(end) = h.remove(handle) {
            h.receivers.remove(&end.address.flow);
            self.tidy_timers(host);
        }
    }

    /// An endpoint of `host` is gone: its timers may go, some of which would be due only after the longest timeout.
    fn tidy_timers(&mut self, host: NodeId) {
        let h = &self.hosts[host as usize];
        self.timers[host as usize].tidy(|timer| match timer & key::KIND {
            key::ENDPOINT | key::STOP => h.has(Handle::split(timer as u32).0),
            _ => true,
        });
    }

    /// The sender called `handle` is done: keeps what it did, frees its slot.
    fn end_flow(&mut self, host: NodeId, handle: Handle, now: Time) {
        if let Endpoint::Sender(mut end) = self.hosts[host as usize].remove(handle) {
            self.sampling.rate(&mut end, now);
            if end.scanned.as_ref().is_some_and(|scanned| scanned.is_long()) {
                self.hosts[host as usize].unplaced.push(end.address.flow);
            }
            let outcome = outcome(&end, now);
            let counts = self.plan.goal.as_ref().is_some_and(|goal| goal.labels[end.planned.label as usize]);
            let finished = outcome.finished.is_some();
            self.done += u64::from(counts && finished);
            self.ended.lock().flows.push(outcome);
            self.tidy_timers(host);
            self.on_flow_end(end.address.flow, &end.planned, finished, now);
        }
    }

    fn wake_endpoint(&mut self, host: NodeId, raw: u32, now: Time, network: &mut Egress<'_>) {
        let (handle, subflow) = Handle::split(raw);
        let h = &mut self.hosts[host as usize];
        let timers = &mut self.timers[host as usize];
        match h.endpoint(handle) {
            Some((Endpoint::Sender(end), random)) => {
                let mut out = Out { address: &mut end.address, now, network, timers, random };
                end.sender.on_timer(subflow, now, &mut out);
                if end.sender.state() != SenderState::Open {
                    self.end_flow(host, handle, now);
                }
            }
            Some((Endpoint::Receiver(end), random)) => {
                let mut out = Out { address: &mut end.address, now, network, timers, random };
                end.receiver.on_timer(subflow, now, &mut out);
            }
            _ => {} // it ended before its timer
        }
    }

    fn stop_flow(&mut self, host: NodeId, raw: u32, now: Time, network: &mut Egress<'_>) {
        let handle = Handle::split(raw).0;
        let timers = &mut self.timers[host as usize];
        if let Some((Endpoint::Sender(end), random)) = self.hosts[host as usize].endpoint(handle) {
            // Names come round: the timer may have been that of a flow that is long over.
            if end.planned.flow.stop > now {
                return;
            }
            let mut out = Out { address: &mut end.address, now, network, timers, random };
            end.sender.stop(now, &mut out);
            if end.sender.state() != SenderState::Open {
                self.end_flow(host, handle, now);
            }
        }
    }

    /// Forgets receivers that wait in vain for a FIN.
    fn sweep(&mut self, host: NodeId, now: Time) {
        let silent = |(handle, endpoint): (Handle, &mut Endpoint)| match endpoint {
            Endpoint::Receiver(end) if end.receiver.last_heard() + SILENCE <= now => Some(handle),
            _ => None,
        };
        let silent: Vec<Handle> = self.hosts[host as usize].endpoints().filter_map(silent).collect();
        silent.into_iter().for_each(|handle| self.forget_receiver(host, handle));
        self.hosts[host as usize].swept = now;
    }

    /// Ends the run at `now`: what flows have done so far is their outcome.
    pub(crate) fn finish(&mut self, now: Time) {
        for h in &mut self.hosts {
            for (_, endpoint) in h.endpoints() {
                if let Endpoint::Sender(end) = endpoint {
                    self.sampling.rate(end, now);
                    self.ended.lock().flows.push(outcome(end, now));
                }
            }
        }
        self.unfinished_jobs(now);
    }
}

impl Handler for Hosts<'_> {
    type Notice = Notice;

    #[inline]
    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, network: &mut Egress<'_>) {
        self.delivered += 1;
        if packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK) {
            return self.on_syn(host, now, packet, network);
        }
        let (handle, subflow) = Handle::split(packet.endpoint);
        self.deliver(host, handle, subflow, now, packet, network);
    }

    fn on_timer(&mut self, node: NodeId, now: Time, network: &mut Egress<'_>) {
        let Some((_, key)) = self.timers[node as usize].pop() else {
            return;
        };
        let target = key as u32;
        let timers = &mut self.timers[node as usize];
        match key & key::KIND {
            key::ENDPOINT => self.wake_endpoint(node, target, now, network),
            key::FEED => {
                let notices = self.feed(now);
                self.notices.extend(notices);
            }
            key::STOP => self.stop_flow(node, target, now, network),
            key::AGENDA => self.on_agenda(node, now, network),
            key::SAMPLE_QUEUE => self.sampling.queue(target, now, network, timers),
            key::SAMPLE_CWND => self.sampling.cwnd(&mut self.hosts[node as usize], now, timers),
            key::PERIOD => self.note_period(node, now),
            key::SAMPLE_COUNTERS => self.sampling.count(target, now, network.counters(target, now), timers),
            key::SAMPLE_RATE => self.sampling.rates(&mut self.hosts[node as usize], now, timers),
            _ => unreachable!("a timer key that nobody sets"),
        }
    }

    #[inline]
    fn next_timer(&self, node: NodeId) -> Time {
        self.timers[node as usize].next()
    }

    #[inline]
    fn prefetch(&self, host: NodeId, packet: Option<&Packet>, stage: usize) {
        let host = host as usize;
        match packet {
            None => {
                self.hosts[host].prefetch_slots();
                prefetch(&self.timers[host]);
            }
            Some(packet) => self.hosts[host].prefetch(Handle::split(packet.endpoint), stage),
        }
    }

    #[inline]
    fn take_notice(&mut self) -> Option<(NodeId, Time, Notice)> {
        self.notices.pop()
    }

    fn on_notice(&mut self, host: NodeId, at: Time, notice: Notice) {
        self.enter(host, at, notice);
    }

    fn done(&self) -> u64 {
        self.done
    }
}
