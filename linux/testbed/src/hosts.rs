//! What lives on the hosts: senders and receivers, on sockets of the kernel, in one loop for all
//! namespaces. A socket stays in the namespace in which it was made, whichever thread uses it.

use crate::address::{End, Side};
use crate::clock::Clock;
use crate::ends::HostEnd;
use crate::fabric::{Known, Pin};
use crate::info;
use crate::namespace::{Namespace, current};
use crate::sending::{Sending, SubflowState};
use crate::suppression::{Identity, Told, is_suppressed};
use crate::traffic::{Task, Tasks, Traffic};
use crate::wire::{Ports, entropy};
use anyhow::{Context as _, Result};
use linkpool_network::{LinkId, Routes, reversed, source_route};
use linkpool_sim::{FlowId, FlowOutcome, MeasuredBytes, Plan, PlannedFlow, Sample, TransportId, Value};
use linkpool_transport::SubflowId;
use linkpool_transport::paths::Subflows as Which;
use linkpool_units::Time;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::{BTreeMap, HashMap};
use std::io::{ErrorKind, Read as _};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
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

/// A receiving end.
#[derive(Debug)]
struct Receiving {
    socket: Socket,
    flow: FlowId,
    planned: PlannedFlow,
    received: u64,
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
    known: Known,
    epoll: OwnedFd,
    agenda: BTreeMap<(Time, u64), Due>,
    asked: u64,
    traffic: Traffic<'p>,
    listeners: Vec<Socket>,
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
        ends: HashMap<End, HostEnd>,
        known: Known,
    ) -> Result<Hosts<'p>> {
        let (traffic, tasks) = Traffic::new(plan);
        let mut hosts = Hosts {
            plan,
            routes,
            clock,
            algorithms,
            told,
            ends,
            home: current()?,
            known,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            agenda: BTreeMap::new(),
            asked: 0,
            traffic,
            listeners: Vec::new(),
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
                self.listeners.push(socket);
            }
        }
        Ok(())
    }

    /// A socket of `transport` in the namespace `end`; is it MPTCP's?
    fn socket(&self, end: End, transport: TransportId) -> Result<(Socket, bool)> {
        let is_mptcp = self.plan.transports[transport.index()].config.subflows > 1;
        let protocol = if is_mptcp { Protocol::MPTCP } else { Protocol::TCP };
        self.ends.get(&end).context("hosts that take part have namespaces")?.namespace.enter()?;
        let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(protocol));
        self.home.enter()?;
        let socket = socket.context("cannot make a socket")?;
        let algorithm = &self.algorithms[transport.index()];
        socket
            .set_tcp_congestion(algorithm.as_bytes())
            .with_context(|| format!("the kernel does not let a socket have the algorithm {algorithm}"))?;
        socket.set_tcp_nodelay(true)?;
        Ok((socket, is_mptcp))
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
        let subflows = self.subflows(&planned, &ports, to);
        let (socket, is_mptcp) = self.socket(from, planned.transport)?;
        socket.bind(&SockAddr::from(SocketAddrV4::new(from.address(), ports[0])))?;
        self.expected.insert((from.address(), ports[0]), (flow, planned));
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

    /// The subflows of a flow with these ports of the sender; the fabric learns which paths they
    /// take.
    fn subflows(&self, planned: &PlannedFlow, ports: &[u16], to: SocketAddrV4) -> Vec<SubflowState> {
        let transport = &self.plan.transports[planned.transport.index()];
        let (src, dst) = (planned.flow.src, planned.flow.dst);
        let paths = transport.paths.paths((&self.plan.fabric, self.routes), (src, dst), ports.len());
        let pin = |path: &[LinkId]| source_route(&self.plan.fabric, path);
        let from = End { host: src, side: Side::Sending }.address();
        let priority = transport.high != Which::None;
        let mut known = self.known.write().expect("no thread panics with it");
        let subflow = |(i, port): (usize, &u16)| {
            let path = paths.as_ref().and_then(|paths| paths.get(i));
            let there: Ports = ((from, *port), (*to.ip(), to.port()));
            let there_path = path.and_then(|path| pin(path));
            let back_path = path.and_then(|path| pin(&reversed(&self.plan.fabric, path)));
            if path.is_some() || priority {
                known.insert(there, Pin { path: there_path, priority });
                known.insert((there.1, there.0), Pin { path: back_path, priority });
            }
            SubflowState {
                port: *port,
                entropy: there_path.unwrap_or_else(|| entropy(there)),
                pinned: there_path.is_some(),
                established: None,
                info: info::TcpInfo::default(),
                sampled: 0,
            }
        };
        ports.iter().enumerate().map(subflow).collect()
    }

    fn wake_sender(&mut self, flow: FlowId) {
        let now = self.clock.now();
        let Some(sending) = self.senders.get_mut(&flow) else { return };
        if !sending.is_established() {
            sending.connected(now);
        }
        let (written, failed) = (sending.write(), sending.has_failed());
        let joins = sending.subflows.len() > 1 && sending.subflows[1].established.is_none();
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
        if let Err(e) = sending.look(now) {
            self.warnings.push(format!("flow {flow:?} is no MPTCP connection: {e}"));
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
        for (id, subflow) in (0u8..).zip(&mut sending.subflows).skip(1) {
            if subflow.info.state == 0 {
                let local = SocketAddrV4::new(end.address(), subflow.port);
                // The connection takes no subflow before its first data is acknowledged; then the
                // next look asks again.
                if manager.create(token, local.into(), id, to.into()).is_ok() {
                    subflow.info.state = 2;
                }
            }
        }
        if sending.subflows.iter().any(|subflow| subflow.established.is_none()) {
            self.at(now + LOOK * 5, Due::Join(flow));
        }
        Ok(())
    }

    fn accept(&mut self, listener: u32) -> Result<()> {
        while let Ok((socket, from)) = self.listeners[listener as usize].accept() {
            let from = from.as_socket_ipv4().context("senders have IPv4 addresses")?;
            let Some((flow, planned)) = self.expected.remove(&(*from.ip(), from.port())) else { continue };
            socket.set_nonblocking(true)?;
            let number = self.accepted;
            self.accepted += 1;
            epoll::add(&self.epoll, &socket, Token::Receiver(number).data(), epoll::EventFlags::IN)?;
            self.receivers.insert(number, Receiving { socket, flow, planned, received: 0 });
        }
        Ok(())
    }

    fn receive(&mut self, number: u32) {
        let Some(receiving) = self.receivers.get_mut(&number) else { return };
        match receiving.socket.read(&mut self.buffer) {
            Ok(0) => drop(self.receivers.remove(&number)),
            Ok(n) => {
                let before = receiving.received;
                receiving.received += n as u64;
                let size = receiving.planned.flow.size.unwrap_or(u64::MAX);
                if before < size && receiving.received >= size {
                    let (flow, planned) = (receiving.flow, receiving.planned);
                    let tasks = self.traffic.delivered(flow, &planned, self.clock.now());
                    self.add(tasks);
                }
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(_) => drop(self.receivers.remove(&number)),
        }
    }

    /// A flow is over; `finished`: it has carried what it had to carry.
    fn end(&mut self, flow: FlowId, finished: bool) {
        let Some(mut sending) = self.senders.remove(&flow) else { return };
        let now = self.clock.now();
        let algorithm = &self.algorithms[sending.planned.transport.index()];
        let told = self.told.of(algorithm, &mut sending.identity);
        let outcome = sending.outcome(now, finished, told);
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
            self.flows.push(sending.outcome(now, false, told));
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

    fn wanted<'s>(&self, labels: &'s Option<Vec<String>>, sending: &Sending) -> bool {
        let label = &self.plan.labels[sending.planned.label.index()];
        labels.as_ref().is_none_or(|wanted: &'s Vec<String>| wanted.contains(label))
    }

    fn sample_windows(&mut self, due: Time, now: Time) {
        let Some(series) = &self.plan.record.cwnd else { return };
        let mut flows: Vec<FlowId> = self.senders.keys().copied().collect();
        flows.retain(|flow| self.wanted(&series.labels, &self.senders[flow]));
        for flow in flows {
            let Some(sending) = self.senders.get_mut(&flow) else { continue };
            let _ = sending.look(now); // one that has just failed has no more samples
            let algorithm = &self.algorithms[sending.planned.transport.index()];
            let told = self.told.of(algorithm, &mut sending.identity);
            let numbers = SubflowId::first(sending.subflows.len());
            for (subflow, s) in numbers.zip(&sending.subflows).filter(|(_, s)| s.established.is_some()) {
                let (cwnd, ssthresh, srtt) = (s.info.snd_cwnd.into(), s.ssthresh(), s.srtt());
                let suppressed = told.as_ref().is_some_and(|conn| is_suppressed(conn, s.port));
                let value = Value::Cwnd { flow, subflow, cwnd, ssthresh, srtt, suppressed };
                self.samples.push(Sample { at: now, value });
            }
        }
        if due + series.every <= series.until {
            self.at(due + series.every, Due::Cwnd);
        }
    }

    fn sample_rates(&mut self, due: Time, now: Time) {
        let Some(series) = &self.plan.record.rate else { return };
        let mut flows: Vec<FlowId> = self.senders.keys().copied().collect();
        flows.retain(|flow| self.wanted(&series.labels, &self.senders[flow]));
        for flow in flows {
            let Some(sending) = self.senders.get_mut(&flow) else { continue };
            let _ = sending.look(now); // one that has just failed has no more samples
            let since = sending.planned.flow.start.max(due.saturating_sub(series.every));
            let numbers = SubflowId::first(sending.subflows.len());
            for (subflow, s) in numbers.zip(&mut sending.subflows).filter(|(_, s)| s.established.is_some()) {
                let acked = s.acked();
                if due > series.from && now > since {
                    let goodput = 8.0 * acked.saturating_sub(s.sampled) as f64 / (now - since).secs();
                    self.samples.push(Sample { at: now, value: Value::Rate { flow, subflow, goodput } });
                }
                s.sampled = acked;
            }
        }
        if due + series.every <= series.until.saturating_add(series.every) {
            self.at(due + series.every, Due::Rate);
        }
    }
}
