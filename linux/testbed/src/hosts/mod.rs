//! What lives on the hosts: senders and receivers, on sockets of the kernel, in one loop for all
//! namespaces. A socket stays in the namespace in which it was made, whichever thread uses it.

mod churn;
mod series;

use crate::address::{End, Side};
use crate::clock::Clock;
use crate::conditions::Conditions;
use crate::ends::HostEnd;
use crate::fabric::Ways;
use crate::fabric::wire::{Ports, entropy};
use crate::info;
use crate::memory::Memory;
use crate::namespace::{Namespace, current};
use crate::receiving::{Read, Receiving};
use crate::sending::{Sending, SubflowState};
use crate::suppression::{Identity, Told};
use crate::traffic::{Task, Tasks, Traffic};
use anyhow::{Context as _, Result};
use linkpool_network::{Routes, reversed, source_route};
use linkpool_sim::{FlowId, FlowOutcome, MeasuredBytes, Plan, PlannedFlow, Sample, TransportId};
use linkpool_transport::Metric;
use linkpool_transport::paths::Subflows as Which;
use linkpool_units::Time;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The first of the ports at which hosts accept connections, one for each transport.
const FIRST_LISTENER: u16 = 5_000;
/// A host has at most as many of these ports; senders use the ports from 10,000 on.
pub(crate) const MOST_TRANSPORTS: usize = 5_000;

/// The port at which hosts accept connections of `transport`.
fn listener_port(transport: TransportId) -> u16 {
    debug_assert!(transport.index() < MOST_TRANSPORTS);
    FIRST_LISTENER + transport.index() as u16
}

/// How often is looked whether the last data is acknowledged, or a subflow established.
const LOOK: Time = Time::from_us(100);
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// What the loop does at a time.
#[derive(Debug)]
enum Due {
    Traffic(Task),
    /// Is this flow done?
    Done(FlowId),
    /// A flow stops.
    Stop(FlowId),
    /// Further subflows of a flow are opened, or looked at.
    Join(FlowId),
    /// Each connection loses a subflow.
    Churn(Time),
    WarmUp,
    CutOff,
    Cwnd,
    Rate,
}

/// What an event of the kernel is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Token {
    Listener(u32),
    Sender(FlowId),
    Receiver(u32),
}

impl Token {
    fn data(self) -> epoll::EventData {
        let (kind, number) = match self {
            Token::Listener(n) => (0, n),
            Token::Sender(flow) => (1, flow.into()),
            Token::Receiver(n) => (2, n),
        };
        epoll::EventData::new_u64(kind << 32 | u64::from(number))
    }

    fn of(data: epoll::EventData) -> Token {
        let raw = data.u64();
        match raw >> 32 {
            0 => Token::Listener(raw as u32),
            1 => Token::Sender((raw as u32).into()),
            _ => Token::Receiver(raw as u32),
        }
    }
}

/// All senders and receivers.
#[derive(Debug)]
pub(crate) struct Hosts<'p> {
    plan: &'p Plan,
    routes: &'p Routes,
    clock: Clock,
    /// The kernel's names, by transport.
    algorithms: Vec<String>,
    pub(crate) told: Told,
    ends: HashMap<End, HostEnd>,
    home: Namespace,
    ways: Arc<dyn Ways>,
    epoll: OwnedFd,
    agenda: BTreeMap<(Time, u64), Due>,
    asked: u64,
    traffic: Traffic<'p>,
    listeners: Vec<(Socket, TransportId)>,
    /// By transport, if the memory of sockets is limited.
    memory: Vec<Memory>,
    /// Subflows opened in the place of those that connections have lost by [`Due::Churn`].
    pub(crate) reopened: u64,
    senders: HashMap<FlowId, Sending>,
    receivers: HashMap<u32, Receiving>,
    /// The flows whose connections have not been accepted yet, by the sender's address and port.
    expected: HashMap<(Ipv4Addr, u16), (FlowId, PlannedFlow)>,
    accepted: u32,
    buffer: Box<[u8]>,
    pub(crate) flows: Vec<FlowOutcome>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) warnings: Vec<String>,
}

impl<'p> Hosts<'p> {
    pub(crate) fn new(
        (plan, routes): (&'p Plan, &'p Routes),
        clock: Clock,
        (algorithms, told): (Vec<String>, Told),
        (ends, conditions): (HashMap<End, HostEnd>, &Conditions),
        ways: Arc<dyn Ways>,
    ) -> Result<Hosts<'p>> {
        let (traffic, tasks) = Traffic::new(plan);
        let memory = |limit| (0..plan.transports.len()).map(move |number| Memory::new(number, limit)).collect();
        let memory: Option<Vec<Memory>> = conditions.memory.map_or(Ok(Some(Vec::new())), memory)?;
        let mut hosts = Hosts {
            plan,
            routes,
            clock,
            algorithms,
            told,
            ends,
            home: current()?,
            ways,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            agenda: BTreeMap::new(),
            asked: 0,
            traffic,
            listeners: Vec::new(),
            memory: memory.context("this machine has no control groups that limit the memory of sockets")?,
            reopened: 0,
            senders: HashMap::new(),
            receivers: HashMap::new(),
            expected: HashMap::new(),
            accepted: 0,
            buffer: vec![0; 256 << 10].into(),
            flows: Vec::new(),
            samples: Vec::new(),
            warnings: Vec::new(),
        };
        hosts.add(tasks);
        if let Some(every) = conditions.churn {
            hosts.at(every, Due::Churn(every));
        }
        let record = &plan.record;
        let series = [(&record.cwnd, Due::Cwnd), (&record.rate, Due::Rate)];
        let series = series.into_iter().filter_map(|(series, due)| Some((series.as_ref()?.from, due)));
        let period = [(plan.measure.warm_up, Due::WarmUp), (plan.measure.cut_off, Due::CutOff)];
        for (at, due) in series.chain(period.into_iter().filter(|(at, _)| *at > Time::ZERO)) {
            hosts.at(at, due);
        }
        hosts.listen()?;
        Ok(hosts)
    }

    /// A listener for each transport at each receiving host.
    fn listen(&mut self) -> Result<()> {
        let hosts: Vec<End> = self.ends.keys().filter(|end| end.side == Side::Receiving).copied().collect();
        for end in hosts {
            for transport in TransportId::first(self.plan.transports.len()) {
                let (socket, _) = self.socket(end, transport)?;
                socket.bind(&SockAddr::from(SocketAddrV4::new(end.address(), listener_port(transport))))?;
                socket.listen(1024)?;
                let token = Token::Listener(self.listeners.len() as u32);
                epoll::add(&self.epoll, &socket, token.data(), epoll::EventFlags::IN)?;
                self.listeners.push((socket, transport));
            }
        }
        Ok(())
    }

    /// A socket of `transport` in the namespace `end`; is it MPTCP's?
    fn socket(&self, end: End, transport: TransportId) -> Result<(Socket, bool)> {
        let is_mptcp = self.plan.transports[transport.index()].config.subflows > 1;
        let protocol = if is_mptcp { Protocol::MPTCP } else { Protocol::TCP };
        self.ends.get(&end).context("hosts that take part have namespaces")?.namespace.enter()?;
        let socket =
            self.in_memory(transport, || Ok(Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(protocol))?));
        self.home.enter()?;
        let socket = socket.context("cannot make a socket")?;
        let algorithm = &self.algorithms[transport.index()];
        socket
            .set_tcp_congestion(algorithm.as_bytes())
            .with_context(|| format!("the kernel does not let a socket have the algorithm {algorithm}"))?;
        socket.set_tcp_nodelay(true)?;
        Ok((socket, is_mptcp))
    }

    /// Runs `work`, whose sockets take the memory of `transport` if that is limited.
    fn in_memory<T>(&self, transport: TransportId, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.memory.get(transport.index()) {
            Some(memory) => memory.within(work),
            None => work(),
        }
    }

    /// Until the end of the run, or `stop` says so. Returns when that was.
    pub(crate) fn run(&mut self, stop: &dyn Fn() -> bool) -> Result<Time> {
        let mut events = Vec::with_capacity(256);
        loop {
            let now = self.clock.now();
            if now >= self.plan.end || self.traffic.is_enough() || stop() {
                self.finish(now.min(self.plan.end));
                return Ok(now.min(self.plan.end));
            }
            while let Some(first) = self.agenda.first_entry().filter(|first| first.key().0 <= now) {
                let ((due, _), what) = first.remove_entry();
                self.act(due, what)?;
            }
            let next = self.agenda.first_key_value().map_or(self.plan.end, |((at, _), _)| *at).min(self.plan.end);
            let wait = self.clock.until(next).min(LONGEST_WAIT);
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => return Err(e).context("cannot wait for sockets"),
            }
            for event in &events {
                match Token::of(event.data) {
                    Token::Listener(n) => self.accept(n)?,
                    Token::Sender(flow) => self.wake_sender(flow),
                    Token::Receiver(n) => self.receive(n),
                }
            }
        }
    }

    fn at(&mut self, at: Time, due: Due) {
        self.agenda.insert((at, self.asked), due);
        self.asked += 1;
    }

    fn add(&mut self, tasks: Tasks) {
        tasks.into_iter().for_each(|(at, task)| self.at(at, Due::Traffic(task)));
    }

    fn act(&mut self, due: Time, what: Due) -> Result<()> {
        let now = self.clock.now();
        match what {
            Due::Traffic(Task::Start(flow, planned)) => self.start(flow, planned)?,
            Due::Traffic(Task::Begin(number, host, process)) => {
                let tasks = self.traffic.begin(number, host, *process, now);
                self.add(tasks);
            }
            Due::Done(flow) => self.look_whether_done(flow),
            Due::Stop(flow) => self.end(flow, false),
            Due::Join(flow) => self.join(flow)?,
            Due::Churn(every) => {
                self.churn()?;
                self.at(due + every, Due::Churn(every));
            }
            Due::WarmUp | Due::CutOff => {
                for sending in self.senders.values_mut() {
                    let _ = sending.look(now); // one that has just failed counts as it was
                    let acked = sending.acked();
                    sending.measured.note(&self.plan.measure, acked, due);
                }
            }
            Due::Cwnd => self.sample_windows(due, now),
            Due::Rate => self.sample_rates(due, now),
        }
        Ok(())
    }

    fn start(&mut self, flow: FlowId, mut planned: PlannedFlow) -> Result<()> {
        let (src, dst) = (planned.flow.src, planned.flow.dst);
        let from = End { host: src, side: Side::Sending };
        let subflows = self.plan.transports[planned.transport.index()].config.subflows;
        let host = self.ends.get_mut(&from).context("hosts that take part have namespaces")?;
        let ports: Vec<u16> = (0..subflows).map(|_| host.port()).collect();
        let to =
            SocketAddrV4::new(End { host: dst, side: Side::Receiving }.address(), listener_port(planned.transport));
        let subflows = self.subflows((flow, &planned), &ports.into_iter().enumerate().collect::<Vec<_>>(), to)?;
        let (socket, is_mptcp) = self.socket(from, planned.transport)?;
        let port = subflows[0].port;
        socket.bind(&SockAddr::from(SocketAddrV4::new(from.address(), port)))?;
        self.expected.insert((from.address(), port), (flow, planned));
        let now = self.clock.now();
        planned.flow.start = now;
        match socket.connect(&SockAddr::from(to)) {
            Err(e) if e.raw_os_error() != Some(libc::EINPROGRESS) => return Err(e).context("cannot connect"),
            _ => {}
        }
        epoll::add(&self.epoll, &socket, Token::Sender(flow).data(), epoll::EventFlags::OUT | epoll::EventFlags::ET)?;
        let measured = MeasuredBytes::new(&self.plan.measure, now);
        self.senders.insert(flow, Sending::new((flow, planned), (socket, is_mptcp), measured, subflows));
        if planned.flow.stop < self.plan.end {
            self.at(planned.flow.stop, Due::Stop(flow));
        }
        Ok(())
    }

    /// Subflows of a flow: which of its transport's they are, and their ports of the sender. The
    /// fabric learns which paths they take.
    fn subflows(
        &self,
        (flow, planned): (FlowId, &PlannedFlow),
        wanted: &[(usize, u16)],
        to: SocketAddrV4,
    ) -> Result<Vec<SubflowState>> {
        let transport = &self.plan.transports[planned.transport.index()];
        let (src, dst) = (planned.flow.src, planned.flow.dst);
        let all = transport.config.subflows;
        let paths = transport.paths.paths((&self.plan.fabric, self.routes), (src, dst), all, self.plan.ports(flow));
        let from = End { host: src, side: Side::Sending }.address();
        let priority = transport.priority_of(&planned.flow).0 != Which::None;
        let subflow = |&(place, ref port): &(usize, u16)| {
            let path = paths.as_ref().and_then(|paths| paths.get(place));
            let there: Ports = ((from, *port), (*to.ip(), to.port()));
            let there_path = path.and_then(|path| source_route(&self.plan.fabric, path));
            if path.is_some() || priority {
                let back = path.map(|path| reversed(&self.plan.fabric, path));
                self.ways.set(there, path.map(Vec::as_slice), priority)?;
                self.ways.set((there.1, there.0), back.as_deref(), priority)?;
            }
            Ok(SubflowState {
                place,
                port: *port,
                entropy: there_path.unwrap_or_else(|| entropy(there)),
                pinned: there_path.is_some(),
                established: None,
                closed: false,
                info: info::TcpInfo::default(),
                sampled: 0,
            })
        };
        wanted.iter().map(subflow).collect()
    }

    fn wake_sender(&mut self, flow: FlowId) {
        let now = self.clock.now();
        let Some(sending) = self.senders.get_mut(&flow) else { return };
        if !sending.is_established() {
            sending.connected(now);
        }
        let (written, failed) = (sending.write(), sending.has_failed());
        let joins = sending.subflows.get(1).is_some_and(|second| second.established.is_none() && !second.closed);
        if failed {
            return self.end(flow, false);
        }
        if joins {
            self.at(now, Due::Join(flow));
        }
        if written {
            self.look_whether_done(flow);
        }
    }

    fn look_whether_done(&mut self, flow: FlowId) {
        let Some(sending) = self.senders.get(&flow) else { return };
        if sending.is_done() {
            self.end(flow, true);
        } else {
            let next = self.clock.now() + LOOK;
            self.at(next, Due::Done(flow));
        }
    }

    /// Opens the subflows that are missing, one at a time, and looks again soon until all are
    /// there.
    fn join(&mut self, flow: FlowId) -> Result<()> {
        let now = self.clock.now();
        let Some(sending) = self.senders.get_mut(&flow) else { return Ok(()) };
        let planned = sending.planned;
        if sending.look(now).is_err() {
            // It has fallen back to TCP (RFC 8684, section 3.7), and gets no further subflows.
            sending.subflows.iter_mut().skip(1).for_each(|subflow| subflow.closed = true);
            self.warnings.push(format!("flow {flow:?} has fallen back from MPTCP to TCP"));
            return Ok(());
        }
        let end = End { host: planned.flow.src, side: Side::Sending };
        let to = End { host: planned.flow.dst, side: Side::Receiving };
        let to = SocketAddrV4::new(to.address(), listener_port(planned.transport));
        let host = self.ends.get_mut(&end).context("hosts that take part have namespaces")?;
        let token = info::token(&sending.socket).context("an MPTCP connection has a token")?;
        if sending.identity.is_none() && self.told.suppresses(&self.algorithms[planned.transport.index()]) {
            sending.identity = Some(Identity::new(host.namespace.inode()?, token));
        }
        let manager = host.path_manager.as_mut();
        let manager = manager.context("hosts that send over several subflows have a path manager")?;
        // The number of an address: 1 to 255, and another than that of subflows opened shortly
        // before.
        for (id, subflow) in (0u8..=255).zip(&mut sending.subflows).skip(1) {
            if subflow.info.state == 0 && !subflow.closed {
                let local = SocketAddrV4::new(end.address(), subflow.port);
                // The connection takes no subflow before its first data is acknowledged; then the
                // next look asks again.
                if manager.create(token, local.into(), id, to.into()).is_ok() {
                    subflow.info.state = 2;
                }
            }
        }
        if sending.subflows.iter().any(|subflow| subflow.established.is_none() && !subflow.closed) {
            self.at(now + LOOK * 5, Due::Join(flow));
        }
        Ok(())
    }

    fn accept(&mut self, listener: u32) -> Result<()> {
        loop {
            let (socket, transport) = &self.listeners[listener as usize];
            let Ok((socket, from)) = self.in_memory(*transport, || Ok(socket.accept()?)) else { return Ok(()) };
            let from = from.as_socket_ipv4().context("senders have IPv4 addresses")?;
            let Some((flow, planned)) = self.expected.remove(&(*from.ip(), from.port())) else { continue };
            socket.set_nonblocking(true)?;
            let number = self.accepted;
            self.accepted += 1;
            epoll::add(&self.epoll, &socket, Token::Receiver(number).data(), epoll::EventFlags::IN)?;
            self.receivers.insert(number, Receiving::new(socket, (flow, planned), self.clock.now()));
        }
    }

    fn receive(&mut self, number: u32) {
        let Some(receiving) = self.receivers.get_mut(&number) else { return };
        let now = self.clock.now();
        match receiving.read(&mut self.buffer, now) {
            Read::Open => {}
            Read::Delivered => {
                let (flow, planned) = (receiving.flow, receiving.planned);
                let tasks = self.traffic.delivered(flow, &planned, now);
                self.add(tasks);
            }
            Read::Ended => drop(self.receivers.remove(&number)),
        }
    }

    /// A flow is over; `finished`: it has carried what it had to carry.
    fn end(&mut self, flow: FlowId, finished: bool) {
        let Some(mut sending) = self.senders.remove(&flow) else { return };
        let now = self.clock.now();
        let algorithm = &self.algorithms[sending.planned.transport.index()];
        let told = self.told.of(algorithm, &mut sending.identity);
        let mut outcome = sending.outcome(now, finished, told);
        outcome.metrics.extend(pause(&self.receivers, flow, now));
        if !finished {
            // What is on its way is of no use to anybody.
            let _ = sending.socket.set_linger(Some(Duration::ZERO));
        }
        let tasks = self.traffic.ended(&outcome, now);
        self.flows.push(outcome);
        self.add(tasks);
    }

    /// The run is over: what flows have done so far is their outcome, and all sockets go at once.
    fn finish(&mut self, now: Time) {
        for (_, mut sending) in self.senders.drain() {
            let algorithm = &self.algorithms[sending.planned.transport.index()];
            let told = self.told.of(algorithm, &mut sending.identity);
            let mut outcome = sending.outcome(now, false, told);
            outcome.metrics.extend(pause(&self.receivers, outcome.flow, now));
            self.flows.push(outcome);
            let _ = sending.socket.set_linger(Some(Duration::ZERO));
        }
        for (_, receiving) in self.receivers.drain() {
            let _ = receiving.socket.set_linger(Some(Duration::ZERO));
        }
        self.traffic.finish(now);
    }

    /// Jobs that are done, or were under way at the end.
    pub(crate) fn jobs(&mut self) -> Vec<linkpool_sim::JobOutcome> {
        std::mem::take(&mut self.traffic.jobs)
    }
}

/// The longest time for which the application at the receiver of `flow` got no data.
fn pause(receivers: &HashMap<u32, Receiving>, flow: FlowId, now: Time) -> Option<Metric> {
    let receiving = receivers.values().find(|receiving| receiving.flow == flow)?;
    Some(Metric::time("longest_pause", receiving.longest_pause(now)))
}
