//! All hosts of a partition: packets, timers and messages find their endpoints and components here.

use crate::host::component::{Component, Context, Mine};
use crate::host::connection::{Connection, Identity, Opening, OpeningFor};
use crate::host::endpoint::{Endpoint, Event, Receiving as _, Sending as _};
use crate::host::family::{Outlook, Receiver, Sender};
use crate::host::handle::Handle;
use crate::host::io::{Io, TurnsFor};
use crate::host::measured::MeasuredBytes;
use crate::host::message::Message;
use crate::host::messages::{Announced, Messages};
use crate::host::outcomes::{take_acked, take_rest};
use crate::host::slots::{Host, Late, Occupant, Receiving, Sending};
use crate::host::timer;
use crate::plan::{FlowId, Plan, PlannedFlow};
use crate::results::outcome::FlowOutcome;
use crate::results::passing::Passing;
use crate::results::sample::{Sample, Value};
use crate::results::sink::{Buffer, Limit};
use linkpool_engine::{prefetch, stream};
use linkpool_network::{
    Egress, Flags, Handler, HostId, Kind, LinkId, Network, NodeId, Packet, PauseChange, Routes, Trailer, Written,
};
use linkpool_transport::SubflowId;
use linkpool_units::Time;

/// A receiver whose sender has been silent for this long is removed when new connections arrive.
/// The time exceeds twice any sensible RTO, so a receiver whose sender still tries is never
/// removed. Usually a FIN arrives first.
const SILENCE: Time = Time::from_secs(600);

pub(crate) struct Hosts<'p> {
    pub(super) plan: &'p Plan,
    routes: &'p Routes,
    pub(crate) context: Context,
    components: Vec<Box<dyn Component + Send + 'p>>,
    /// Packets for endpoints that are gone.
    pub(crate) stray: u64,
    /// Packets given to hosts.
    pub(crate) delivered: u64,
    /// The number of endpoints, and about the bytes of each.
    endpoints: usize,
    bytes_each: usize,
    /// Do ports hold packets back, so that turns of senders are not used?
    holds_turns: bool,
}

/// About the bytes of an endpoint, without its subflows, and of each subflow.
const PART: usize = 512;

impl<'p> Hosts<'p> {
    /// The hosts that are `mine`, with `components` beside their endpoints; the others stay empty.
    pub(crate) fn new(
        plan: &'p Plan,
        routes: &'p Routes,
        recorded: Buffer,
        lookahead: Time,
        mine: Mine,
        components: Vec<Box<dyn Component + Send + 'p>>,
    ) -> Hosts<'p> {
        let rates = |h| plan.fabric.links_from(NodeId::new(h)).map(|l| plan.fabric.links()[l.index()].rate);
        let host = |h| Host::new(stream(plan.seed, "host", h as u64), rates(h), plan.most_connections);
        let hosts = (0..plan.fabric.hosts()).map(|h| host(h).with_adapter(plan.nic)).collect();
        let mut context = Context::new(hosts, mine, lookahead, recorded);
        let mut components = components;
        components.iter_mut().for_each(|component| component.on_start(&mut context));
        let subflows = plan.transports.iter().map(|transport| transport.config.subflows).max();
        let bytes_each = (1 + subflows.unwrap_or(0)) * PART;
        let holds_turns = plan.policies.pause();
        Hosts { plan, routes, context, components, stray: 0, delivered: 0, endpoints: 0, bytes_each, holds_turns }
    }

    /// Starts flow `id` at its sender: on a connection that stays open, or on one of its own.
    fn start(&mut self, host: NodeId, id: FlowId, planned: PlannedFlow, network: &mut Egress) {
        let stays_open = self.plan.persistent[planned.label.index()];
        let key = (planned.label, planned.transport, planned.flow.dst);
        match self.context.hosts[host.index()].held.get(&key).copied().filter(|_| stays_open) {
            Some(handle) => self.extend(host, handle, id, planned, network),
            None => self.open(host, id, planned, network),
        }
        for component in &mut self.components {
            component.on_begin(id, &planned, &mut self.context);
        }
    }

    /// Gives message `id` to the sender `handle`, whose connection stays open.
    fn extend(&mut self, host: NodeId, handle: Handle, id: FlowId, planned: PlannedFlow, network: &mut Egress) {
        let (now, timers) = (self.context.now, &mut self.context.timers);
        if let Some((Occupant::Sender(sending), shared)) = self.context.hosts[host.index()].endpoint(handle)
            && let (Some(messages), Some(size)) = (&mut sending.messages, planned.flow.size)
        {
            let announced = Announced { connection: sending.flow, flow: id, end: messages.push(id, planned) };
            let passes = shared.takes_messages_in();
            if !passes {
                sending.end.extend(size, &mut Io::new((now, host), shared, network, timers));
            }
            self.announce(planned.flow.dst, announced);
            if passes {
                self.take_in(host, handle);
            }
        }
    }

    /// Lets the application at `dst` know of a message.
    fn announce(&mut self, dst: HostId, announced: Announced) {
        let at = self.context.now + self.context.lookahead;
        self.context.send(dst.into(), at, Message::Announce(announced));
    }

    /// A message will come to `host`, or has just come.
    fn expect(&mut self, host: NodeId, Announced { connection, flow, end }: Announced) {
        let h = &mut self.context.hosts[host.index()];
        let Some(handle) = h.by_flow.get(&connection).copied() else {
            if !self.plan.is_reset(connection, self.context.now) {
                h.announced.entry(connection).or_default().expect(end, flow);
            }
            return;
        };
        if let Some((Occupant::Receiver(receiving), _)) = h.endpoint(handle) {
            receiving.arriving.iter_mut().for_each(|arriving| arriving.expect(end, flow));
        }
        self.on_receiver(host, handle, Event::Progress);
    }

    /// Opens the connection of flow `id` at its sender.
    fn open(&mut self, host: NodeId, id: FlowId, planned: PlannedFlow, network: &mut Egress) {
        let now = self.context.now;
        let transport = &self.plan.transports[planned.transport.index()];
        let (src, dst) = (HostId::from(host), planned.flow.dst);
        let path_count = || self.routes.path_count(&self.plan.fabric, src, dst);
        let ports = self.ports(host, id, &planned);
        let paths = transport.sender_paths((&self.plan.fabric, self.routes), (src, dst), ports, path_count);
        let Some(paths) = paths else { return self.context.fail(Limit::PathLength(host, dst.into())) };
        let Some(me) = self.context.hosts[host.index()].allocate() else {
            return self.context.fail(Limit::Connections(host));
        };
        let identity = Identity { flow: id, host: src, transport: planned.transport, me, ports };
        let (high, priority) = transport.priority_of(&planned.flow);
        let connection = Connection {
            peer_host: dst,
            peer: Handle::default(),
            sizes: transport.sizes,
            paths,
            high,
            priority,
            trimming: transport.trimming,
            stays_open: self.plan.persistent[planned.label.index()],
            rtts: None,
        };
        let stays_open = connection.stays_open;
        if planned.flow.stop < self.plan.end {
            self.context.set_timer(host, planned.flow.stop, timer::STOP | u64::from(me.raw()));
        }
        let idle = || transport.idle((&self.plan.fabric, self.routes), (src, dst), ports);
        let outlook = Outlook { paths: &path_count, idle: &idle };
        let mut end = Sender::new(transport, (connection, identity), planned.flow.size, &outlook);
        if transport.config.control.counts_hops() {
            end.know_hops(&transport.hops((&self.plan.fabric, self.routes), (src, dst), ports));
        }
        let measured = MeasuredBytes::new(&self.plan.measure, now);
        let messages = stays_open.then(Box::<Messages>::default);
        let opened = !self.context.hosts[host.index()].shared().takes_messages_in();
        let mut sending =
            Box::new(Sending { end, flow: id, planned, measured, messages, opened, entering: 0, queues: false });
        let first = sending.messages.as_mut().map(|messages| messages.push(id, planned));
        for component in &mut self.components {
            component.on_flow_start(&mut sending, &mut self.context);
        }
        let (h, timers) = (&mut self.context.hosts[host.index()], &mut self.context.timers);
        if opened {
            sending.end.open(&mut Io::new((now, host), h.shared(), network, timers));
        }
        h.fill(me, Occupant::Sender(sending));
        self.endpoints += 1;
        if let Some(end) = first {
            h.held.insert((planned.label, planned.transport, dst), me);
            self.announce(dst, Announced { connection: id, flow: id, end });
        }
        if !opened {
            self.take_in(host, me);
        }
    }

    /// The ports of the connection that `host` opens for flow `id`.
    fn ports(&mut self, host: NodeId, id: FlowId, planned: &PlannedFlow) -> u32 {
        if !self.plan.by_pair[planned.label.index()] {
            return self.plan.ports(id);
        }
        let opened = self.context.hosts[host.index()].opened.entry(planned.flow.dst).or_default();
        let number = *opened;
        *opened += 1;
        self.plan.ports_between((host.into(), planned.flow.dst), number)
    }

    /// A packet that opens a connection, or a subflow, has come to `host`.
    fn accept(&mut self, host: NodeId, packet: &Packet, network: &mut Egress) {
        if self.context.hosts[host.index()].swept + SILENCE <= self.context.now {
            self.sweep(host);
        }
        let opening = Opening::read(packet, network.trailer(packet).expect("who opens a connection says whose it is"));
        let handle = match opening.to {
            OpeningFor::Join(receiver) => receiver,
            OpeningFor::Flow(flow) => match self.context.hosts[host.index()].by_flow.get(&flow).copied() {
                Some(handle) => handle,
                None if self.context.hosts[host.index()].is_late(flow) => return self.stray += 1,
                None if self.plan.is_reset(flow, self.context.now) => return self.stray += 1,
                None => match self.new_receiver(host, flow, opening, packet.entropy) {
                    Some(handle) => handle,
                    None => return self.context.fail(Limit::Connections(host)),
                },
            },
        };
        self.deliver(host, (handle, opening.subflow), packet, network);
    }

    /// The receiver of `flow`; none if `host` has no place for it.
    fn new_receiver(&mut self, host: NodeId, flow: FlowId, opening: Opening, entropy: u32) -> Option<Handle> {
        let transport = &self.plan.transports[opening.transport.index()];
        let h = &mut self.context.hosts[host.index()];
        let me = h.allocate()?;
        let (network, ports) = ((&self.plan.fabric, self.routes), opening.ports);
        let paths = transport.receiver_paths(network, (opening.src, host.into()), ports, (entropy, opening.subflow));
        let identity = Identity { flow, host: host.into(), transport: opening.transport, me, ports };
        let connection = Connection {
            peer_host: opening.src,
            peer: opening.peer,
            sizes: transport.sizes,
            paths,
            high: opening.high,
            priority: opening.priority,
            trimming: transport.trimming,
            stays_open: opening.stays_open,
            rtts: None,
        };
        let end = Receiver::new(transport, (connection, identity));
        let arriving = opening.stays_open.then(|| Box::new(h.announced.remove(&flow).unwrap_or_default()));
        h.fill(me, Occupant::Receiver(Box::new(Receiving { end, flow, src: opening.src, arriving })));
        h.by_flow.insert(flow, me);
        self.endpoints += 1;
        Some(me)
    }

    #[inline]
    fn deliver(&mut self, host: NodeId, (handle, subflow): (Handle, SubflowId), packet: &Packet, network: &mut Egress) {
        let now = self.context.now;
        let timers = &mut self.context.timers;
        match self.context.hosts[host.index()].endpoint(handle) {
            Some((Occupant::Sender(sending), shared)) => {
                let event = sending.end.on_packet(subflow, packet, &mut Io::new((now, host), shared, network, timers));
                if event != Event::None {
                    self.on_sender(host, handle, event);
                }
            }
            Some((Occupant::Receiver(receiving), shared)) => {
                let event =
                    receiving.end.on_packet(subflow, packet, &mut Io::new((now, host), shared, network, timers));
                if event != Event::None {
                    self.on_receiver(host, handle, event);
                }
            }
            _ => self.stray += 1,
        }
    }

    /// The state of a sender.
    fn on_sender(&mut self, host: NodeId, handle: Handle, event: Event) {
        let (now, mut acked) = (self.context.now, 0);
        while let Some((Occupant::Sender(sending), _)) = self.context.hosts[host.index()].endpoint(handle)
            && let Some(outcome) = take_acked(sending, now)
        {
            self.record(outcome);
            acked += 1;
        }
        if acked > 0 {
            self.leave_adapter(host, acked);
            self.take_in(host, handle);
        }
        if event == Event::Closed {
            self.close(host, handle);
        }
    }

    /// The state of a receiver.
    fn on_receiver(&mut self, host: NodeId, handle: Handle, event: Event) {
        match event {
            Event::None => {}
            Event::Closed => self.forget_receiver(host, handle),
            Event::Delivered => {
                if let Some((Occupant::Receiver(receiving), _)) = self.context.hosts[host.index()].endpoint(handle) {
                    let (flow, src) = (receiving.flow, receiving.src);
                    self.delivered(flow, (src, host.into()));
                }
            }
            Event::Progress => {
                while let Some((Occupant::Receiver(receiving), _)) = self.context.hosts[host.index()].endpoint(handle)
                    && let Some(arriving) = &mut receiving.arriving
                    && let Some(flow) = arriving.take(receiving.end.delivered())
                {
                    let src = receiving.src;
                    self.delivered(flow, (src, host.into()));
                }
            }
        }
    }

    /// All data of `flow` has arrived in order.
    fn delivered(&mut self, flow: FlowId, ends: (HostId, HostId)) {
        let now = self.context.now;
        self.context.record().delivered.push((flow, now));
        for component in &mut self.components {
            component.on_delivery(flow, ends, &mut self.context);
        }
    }

    pub(super) fn forget_receiver(&mut self, host: NodeId, handle: Handle) {
        let h = &mut self.context.hosts[host.index()];
        if let Occupant::Receiver(receiving) = h.remove(handle) {
            h.by_flow.remove(&receiving.flow);
            self.endpoints -= 1;
            self.tidy_timers(host);
        }
    }

    /// An endpoint of `host` is gone: its timers may go, some of which would be due only after the
    /// longest timeout.
    fn tidy_timers(&mut self, host: NodeId) {
        let h = &self.context.hosts[host.index()];
        self.context.timers.tidy(host.index(), |key| match timer::kind(key) {
            timer::ENDPOINT | timer::STOP => h.has(Handle::split(key as u32).0),
            _ => true,
        });
    }

    /// The sender `handle` is done: keeps its outcome, frees its slot.
    fn close(&mut self, host: NodeId, handle: Handle) {
        if let Occupant::Sender(sending) = self.context.hosts[host.index()].remove(handle) {
            self.closed(host, sending, false);
        }
    }

    /// The sender of `host` that has just left its slot is done, or was reset with its job: keeps its outcome.
    pub(super) fn closed(&mut self, host: NodeId, mut sending: Box<Sending>, reset: bool) {
        let h = &mut self.context.hosts[host.index()];
        self.endpoints -= 1;
        let inside = sending.inside();
        if sending.messages.is_some() {
            h.held.remove(&(sending.planned.label, sending.planned.transport, sending.planned.flow.dst));
        }
        self.tidy_timers(host);
        if let Some(openings) = sending.end.openings() {
            let (to, at) = (sending.planned.flow.dst.into(), self.context.now + self.context.lookahead);
            self.context.send(to, at, Message::Closed(sending.flow, openings));
        }
        self.leave_adapter(host, inside);
        for outcome in take_rest(&mut sending, self.context.now) {
            self.record(FlowOutcome { failed: outcome.failed || reset, ..outcome });
        }
        for component in &mut self.components {
            component.on_close(&sending, &mut self.context);
        }
    }

    /// The connection of `flow` to `host` is closed at its sender, which has sent `openings` packets that may
    /// open it: the receiver goes. Those that have not come may come later, and must not make another.
    fn on_closed(&mut self, host: NodeId, flow: FlowId, openings: u32) {
        let (now, h) = (self.context.now, &mut self.context.hosts[host.index()]);
        let Some(handle) = h.by_flow.get(&flow).copied() else { return };
        let Some((Occupant::Receiver(receiving), _)) = h.endpoint(handle) else { return };
        let left = openings - receiving.end.openings();
        if left > 0 {
            h.late.insert(flow, Late { left, since: now });
        }
        self.forget_receiver(host, handle);
    }

    /// A flow has ended at its sender.
    fn record(&mut self, outcome: FlowOutcome) {
        let (flow, planned, finished) = (outcome.flow, outcome.planned, outcome.finished.is_some());
        self.context.record().flows.push(outcome);
        for component in &mut self.components {
            component.on_flow_end(flow, &planned, finished, &mut self.context);
        }
    }

    fn wake_endpoint(&mut self, host: NodeId, raw: u32, network: &mut Egress) {
        let (handle, subflow) = Handle::split(raw);
        self.with_endpoint(host, handle, network, |end, io| end.on_timer(subflow, io));
    }

    /// Gives the endpoints of `host` the turns that are due.
    fn take_turns(&mut self, host: NodeId, turns: TurnsFor, network: &mut Egress) {
        let (now, which) = (self.context.now, turns as usize);
        if !self.io(host, network).begin_turns(turns) {
            return;
        }
        while let Some(name) = self.context.hosts[host.index()].shared().turns[which].queue.next(now) {
            self.with_endpoint(host, Handle::split(name).0, network, |end, io| end.on_turn(io));
        }
        self.io(host, network).end_turns(turns);
    }

    /// The surroundings of the endpoints of `host`.
    fn io<'h>(&'h mut self, host: NodeId, network: &'h mut Egress) -> Io<'h> {
        let (now, shared) = (self.context.now, self.context.hosts[host.index()].shared());
        Io::new((now, host), shared, network, &mut self.context.timers)
    }

    /// Calls `act` with the endpoint `handle` of `host`, if it is still there.
    fn with_endpoint(
        &mut self,
        host: NodeId,
        handle: Handle,
        network: &mut Egress,
        act: impl Fn(&mut dyn Endpoint, &mut Io<'_>) -> Event,
    ) {
        let (now, timers) = (self.context.now, &mut self.context.timers);
        match self.context.hosts[host.index()].endpoint(handle) {
            Some((Occupant::Sender(sending), shared)) => {
                let event = act(&mut sending.end, &mut Io::new((now, host), shared, network, timers));
                self.on_sender(host, handle, event);
            }
            Some((Occupant::Receiver(receiving), shared)) => {
                let event = act(&mut receiving.end, &mut Io::new((now, host), shared, network, timers));
                self.on_receiver(host, handle, event);
            }
            _ => {} // it ended before
        }
    }

    /// A switch has sent `packet` back to this host. One that may have opened its connection is for
    /// its sender by name; the name of others is that of the receiver.
    #[cold]
    fn take_back(&mut self, host: NodeId, packet: &Packet, network: &mut Egress) {
        match self.sender_of_returned(host, packet) {
            Some(handle) => self.deliver(host, (handle, SubflowId::FIRST), packet, network),
            None => self.stray += 1,
        }
    }

    /// The endpoint of `host` that has sent `packet`, which a switch has sent back.
    pub(crate) fn sender_of_returned(&mut self, host: NodeId, packet: &Packet) -> Option<Handle> {
        let (named, _) = Handle::split(packet.endpoint);
        if packet.kind.has(Kind::SYN) {
            return Some(named);
        }
        let receiver = HostId::from(packet.ack);
        let sends = |sending: &Sending| sending.end.connection().is_with(receiver, named);
        let found = self.context.hosts[host.index()].senders().find(|(_, sending)| sends(sending));
        found.map(|(handle, _)| handle)
    }

    fn stop_flow(&mut self, host: NodeId, raw: u32, network: &mut Egress) {
        let handle = Handle::split(raw).0;
        let (now, timers) = (self.context.now, &mut self.context.timers);
        if let Some((Occupant::Sender(sending), shared)) = self.context.hosts[host.index()].endpoint(handle) {
            // Names come round: the timer may have been that of a flow that is long over.
            if sending.planned.flow.stop > now {
                return;
            }
            let event = sending.end.stop(&mut Io::new((now, host), shared, network, timers));
            self.on_sender(host, handle, event);
        }
    }

    /// Forgets receivers that wait in vain for a FIN, and packets that will not come any more.
    fn sweep(&mut self, host: NodeId) {
        let (now, h) = (self.context.now, &mut self.context.hosts[host.index()]);
        // A connection that stays open may be silent for as long as its application likes.
        let silent = h
            .receivers()
            .filter(|(_, receiving)| receiving.arriving.is_none() && receiving.end.last_heard() + SILENCE <= now);
        let silent: Vec<Handle> = silent.map(|(handle, _)| handle).collect();
        h.forget_late(now, SILENCE);
        h.swept = now;
        silent.into_iter().for_each(|handle| self.forget_receiver(host, handle));
    }

    /// Hands out the messages that are due at `host`.
    fn read_inbox(&mut self, host: NodeId, network: &mut Egress) {
        while let Some(message) = self.context.inboxes[host.index()].due(self.context.now) {
            match message {
                Message::Start(id, planned) => self.start(host, id, planned, network),
                Message::Announce(announced) => self.expect(host, announced),
                Message::Closed(flow, openings) => self.on_closed(host, flow, openings),
                message => {
                    if let Message::Failed(..) = message {
                        self.reset(host);
                    }
                    let context = &mut self.context;
                    let unread = self
                        .components
                        .iter_mut()
                        .try_fold(message, |message, component| component.on_message(host, message, context));
                    debug_assert!(unread.is_none(), "a message that is for no component: {unread:?}");
                }
            }
        }
    }

    /// The key of the timer of `node` that is due next.
    pub(crate) fn next_key(&self, node: NodeId) -> Option<u64> {
        self.context.timers.peek(node.index()).map(|(_, key)| key)
    }

    /// Ends the run at `now`: the state of each flow is its outcome.
    pub(crate) fn finish(&mut self, now: Time, network: &mut Network) {
        self.context.now = now;
        for component in &mut self.components {
            component.on_end(network, &mut self.context);
        }
        let senders = self.context.hosts.iter_mut().flat_map(Host::senders);
        let outcomes: Vec<FlowOutcome> = senders.flat_map(|(_, sending)| take_rest(sending, now)).collect();
        self.context.record().flows.extend(outcomes);
    }
}

impl Handler for Hosts<'_> {
    type Message = Message;

    #[inline]
    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, network: &mut Egress) {
        self.context.now = now;
        self.delivered += 1;
        if self.holds_turns {
            self.io(host, network).settle_turns();
        }
        // Endpoints see packets as their senders made them.
        let unmarked;
        let packet = if packet.is_marked() {
            unmarked = packet.unmarked();
            &unmarked
        } else {
            packet
        };
        if packet.flags.has(Flags::TRIMMED) && packet.is_returned() {
            return self.take_back(host, packet, network);
        }
        if packet.kind.has(Kind::SYN) && !packet.kind.has(Kind::ACK) {
            return self.accept(host, packet, network);
        }
        self.deliver(host, Handle::split(packet.endpoint), packet, network);
    }

    fn on_timer(&mut self, node: NodeId, now: Time, network: &mut Egress) {
        self.context.now = now;
        let Some((_, key)) = self.context.timers.pop(node.index()) else {
            return;
        };
        let is_host = node.index() < self.context.hosts.len();
        if self.holds_turns && is_host && timer::kind(key) != timer::TURNS {
            self.io(node, network).settle_turns();
        }
        match timer::kind(key) {
            timer::ENDPOINT => self.wake_endpoint(node, key as u32, network),
            timer::TURNS => self.take_turns(node, TurnsFor::of_key(key), network),
            timer::STOP => self.stop_flow(node, key as u32, network),
            timer::NIC => self.pass_adapter(node, network),
            timer::INBOX => self.read_inbox(node, network),
            _ => {
                for component in &mut self.components {
                    component.on_timer(node, key, network, &mut self.context);
                }
            }
        }
    }

    #[inline]
    fn next_timer(&self, node: NodeId) -> Time {
        self.context.timers.next(node.index())
    }

    fn sends_messages(&self) -> bool {
        self.plan.sends_messages()
    }

    fn endpoint_bytes(&self) -> usize {
        self.endpoints * self.bytes_each
    }

    #[inline]
    fn prefetch_host(&self, host: NodeId) {
        self.context.hosts[host.index()].prefetch_slots();
    }

    #[inline(always)]
    fn prefetch(&self, packet: &Packet, stage: usize) {
        let (handle, subflow) = Handle::split(packet.endpoint);
        let Some(slot) = self.context.hosts[packet.dst().index()].slot(handle) else { return };
        match stage {
            1 => prefetch(slot),
            2 => slot.prefetch_end(),
            _ => slot.prefetch(subflow, packet.kind, stage - 2),
        }
    }

    #[inline]
    fn take_message(&mut self) -> Option<(NodeId, Time, Message)> {
        self.context.outbox.pop()
    }

    fn on_message(&mut self, host: NodeId, at: Time, message: Message) {
        self.context.leave(host, at, message);
    }

    fn on_passing(&mut self, link: LinkId, packet: &Packet, trailer: Option<&Trailer>, written: Written<'_>) {
        let (priority, packet) = (packet.priority(), packet.unmarked());
        let (trailer, hops) = (trailer.copied(), written.hops.to_vec());
        self.context.passing(Passing { link, packet, priority, trailer, hops, digest: written.digest });
    }

    fn on_pause(&mut self, change: &PauseChange) {
        if self.plan.record.pauses.as_ref().is_some_and(|pauses| (pauses.from..=pauses.until).contains(&change.at)) {
            self.context.sample([Sample { at: change.at, value: Value::Pause(*change) }]);
        }
    }

    fn is_full(&self) -> bool {
        self.context.is_full()
    }

    fn done(&self) -> u64 {
        self.context.done
    }
}
