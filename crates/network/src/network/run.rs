//! A network while it runs, window by window.

use super::ahead;
use super::egress::Egress;
use super::handler::Handler;
use super::order::{Arrivals, NONE, Step};
use crate::fabric::{LinkId, NodeId};
use crate::link::{Link, LinkStats};
use crate::on_the_way::Incoming;
use crate::packet::{Flags, Packet};
use crate::partition::Partitions;
use crate::routing::Routes;
use crate::spreading::Chooser;
use crate::witness::Witness;
use linkpool_engine::prefetch_place;
use linkpool_units::{HostId, Time};
use std::sync::Arc;

/// So many packets are routed, then queued, or given to hosts. So what one needs is in the cache when
/// it is needed, prefetched while others were at work.
const BATCH: usize = 64;

/// Links, switches and the clock, of a whole fabric or of a partition of it.
///
/// A partition runs some of the nodes. Ids of nodes and links are those of the whole fabric. Of a
/// link between two partitions, the sender's partition knows the queue and the receiver's partition
/// has the packets. At the end of each window the packets move from one partition to the other. The
/// partitions share nothing else.
#[derive(Debug)]
pub struct Network {
    /// What sends: links and routes.
    pub(super) egress: Egress,
    /// Routes that apply later, the next ones last.
    pub(super) later_routes: Vec<(Time, Arc<Routes>)>,
    pub(super) chooser: Chooser,
    /// Per node: the first window for which the calendar has its timers; `u64::MAX`: none.
    pub(super) timer_windows: Vec<u64>,
    pub(super) hosts: NodeId,
    pub(super) lookahead: Time,
    /// The partitions that run the nodes.
    pub(super) partitions: Arc<Partitions>,
    pub(super) hops: u64,
    /// True in the last window of the run: later timers need not be scheduled.
    pub(super) ending: bool,
    /// The nodes whose timers are due in this window, in order.
    pub(super) woken: Vec<NodeId>,
    /// The packets that come to hosts in this window, and those that come to switches.
    pub(super) to_hosts: Arrivals,
    pub(super) to_switches: Arrivals,
    /// By node, while nodes run: the number of the latest packet that comes to it in this window.
    pub(super) latest: Box<[u32]>,
    /// By link: the flags of the packets that are shown to the handler; none: there is no tap.
    pub(super) taps: Option<Box<[Flags]>>,
    /// Do queues take so much memory that their places are prefetched?
    pub(super) queues_are_far: bool,
    /// The window in which that is asked next.
    pub(super) ask_at: u64,
}

impl Network {
    /// The least time that a packet or an inter-partition message takes from one node to another.
    pub fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// The partition that runs `host`.
    pub(crate) fn partition_of(&self, host: NodeId) -> usize {
        self.partitions.of_host(HostId::from(host)).into()
    }

    /// Packets that have crossed a link, counted once per link.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// Keeps what happens to packets from now on for [`Egress::take_witnessed`]. The first `hosts`
    /// nodes are hosts.
    pub fn watch(&mut self, hosts: usize) {
        self.egress.trailers.witness = Some(Box::new(Witness::new(hosts)));
    }

    /// Has `link` a port with service events?
    pub fn is_served(&self, link: LinkId) -> bool {
        self.egress.ports.has(link)
    }

    /// Packets with a trailer that are queued or in flight in this partition.
    pub fn trailers(&self) -> usize {
        self.egress.trailers.in_use()
    }

    /// The counters of link `id`, and the bytes that it has sent by `now`.
    pub fn link_outcome(&mut self, id: LinkId, now: Time) -> (LinkStats, u64) {
        self.egress(NodeId::default()).outcome(id, now)
    }

    /// By link: its packets that are queued or in flight in this partition at `now`, the end of the
    /// run.
    pub fn on_the_way(&mut self, now: Time) -> Vec<u32> {
        let mut counts = vec![0; self.egress.links.len()];
        let egress = self.egress(NodeId::default());
        let (ports, mut transmitter) = egress.ports();
        ports.held(now, &mut transmitter).into_iter().for_each(|(link, held)| counts[link.index()] += held);
        self.egress.on_the_way.iter().for_each(|incoming| counts[incoming.link.index()] += 1);
        counts
    }

    /// Makes sure that `node` is woken for its next timer. Call it before the first window; after
    /// that, the network calls it for each node that it has run.
    pub fn wake<H: Handler>(&mut self, node: NodeId, handler: &H) {
        let at = handler.next_timer(node);
        let window = if at == Time::MAX { u64::MAX } else { self.egress.windows.of(at) };
        // If the node wakes earlier, this is called again then.
        if window < self.timer_windows[node.index()] {
            self.timer_windows[node.index()] = window;
            self.egress.calendar.schedule(window, node.into());
        }
    }

    /// The next window in which a packet, a timer or a port is due.
    pub(crate) fn next_window(&self) -> Option<u64> {
        let (packets, others) = (self.egress.on_the_way.peek(), self.egress.calendar.peek());
        packets.into_iter().chain(others).min()
    }

    /// When the current window ends.
    pub(crate) fn window_end(&self) -> Time {
        self.egress.windows.end(self.egress.calendar.now())
    }

    /// When the current window began.
    pub(crate) fn window_start(&self) -> Time {
        self.egress.windows.start(self.egress.calendar.now())
    }

    /// When `window` begins.
    pub(super) fn start_of(&self, window: u64) -> Time {
        self.egress.windows.start(window)
    }

    /// The window that holds `t`.
    pub(crate) fn window_of(&self, t: Time) -> u64 {
        self.egress.windows.of(t)
    }

    /// Runs `window`, up to `end`; nothing is due before it. Returns true if `end` is reached.
    pub(crate) fn run_window<H: Handler>(&mut self, window: u64, end: Time, handler: &mut H) -> bool {
        self.egress.calendar.advance_to(window);
        self.egress.on_the_way.advance_to(window);
        let start = self.egress.windows.start(window);
        let limit = self.egress.windows.end(window).min(end);
        self.ending = limit == end;
        while let Some((_, routes)) = self.later_routes.pop_if(|(at, _)| *at <= start) {
            self.egress.routes = routes;
        }
        if window >= self.ask_at {
            self.queues_are_far = ahead::are_far(&self.egress.links);
            self.ask_at = ahead::next_question(window);
        }
        self.take_due();
        self.take_arrivals(limit);
        if let Some(taps) = &self.taps {
            self.show_passing(taps, handler);
        }
        let woken = std::mem::take(&mut self.woken);
        let hosts = woken.partition_point(|node| *node < self.hosts);
        self.visit_hosts(&woken[..hosts], limit, handler);
        self.visit_switches(&woken[hosts..], limit, handler);
        self.woken = woken;
        if self.egress.ports.are_due() {
            let egress = self.egress(NodeId::default());
            let (ports, mut transmitter) = egress.ports();
            ports.end_window(limit, limit == end, &mut transmitter);
        }
        self.ending
    }

    /// Finds the nodes whose timers are due in this window, and the ports.
    #[inline(never)]
    fn take_due(&mut self) {
        let Network { egress: Egress { calendar, ports, .. }, woken, timer_windows, .. } = self;
        woken.clear();
        calendar.take_due(|input| match timer_windows.get_mut(input as usize) {
            Some(timers) => {
                *timers = u64::MAX;
                woken.push(NodeId::from(input));
            }
            None => ports.wake(input),
        });
    }

    /// Takes the packets that arrive in this window before `limit`.
    fn take_arrivals(&mut self, limit: Time) {
        for (to_switch, arrivals) in [(false, &mut self.to_hosts), (true, &mut self.to_switches)] {
            arrivals.packets.clear();
            self.egress.on_the_way.take(to_switch, &mut arrivals.packets);
            if self.ending {
                // The run ends in this window, and packets that arrive later stay on their way.
                let late = arrivals.packets.extract_if(.., |incoming| incoming.packet.arrival >= limit);
                late.for_each(|incoming| self.egress.on_the_way.push(to_switch, incoming));
            }
            self.hops += arrivals.packets.len() as u64;
        }
    }

    /// Gives hosts the packets that come to them in this window, and runs the timers of these hosts
    /// and of those that are `woken`.
    fn visit_hosts<H: Handler>(&mut self, woken: &[NodeId], limit: Time, handler: &mut H) {
        let mut arrivals = std::mem::take(&mut self.to_hosts);
        self.chain_by_node(&mut arrivals);
        for first in (0..arrivals.packets.len()).step_by(BATCH) {
            let last = arrivals.packets.len().min(first + BATCH);
            let batch = &arrivals.packets[first..last];
            ahead::prefetch_hosts(&self.egress.links, &self.egress.routes, batch, handler);
            if handler.endpoint_bytes() > ahead::NEAR {
                handler.prefetch(batch.iter().map(|incoming| &incoming.packet));
            }
            if self.queues_are_far {
                ahead::prefetch_answers(&self.egress.links, &self.egress.routes, batch);
            }
            (first..last).for_each(|number| self.visit_with(&mut arrivals, number, limit, handler));
        }
        woken.iter().for_each(|node| self.finish(*node, limit, handler));
        self.to_hosts = arrivals;
    }

    /// Forwards the packets that come to switches in this window, and runs the timers of the
    /// switches that are `woken`.
    ///
    /// With ECMP a packet's link does not depend on other packets, so all are routed first. Then
    /// the order matters only of those that take the same link. Other ways to choose, timers, and
    /// ports that depend on each other need the packets of each switch in order.
    fn visit_switches<H: Handler>(&mut self, woken: &[NodeId], limit: Time, handler: &mut H) {
        let mut arrivals = std::mem::take(&mut self.to_switches);
        if woken.is_empty() && matches!(self.chooser, Chooser::Flows) && !self.egress.ports.are_related() {
            self.route(&mut arrivals);
            self.queue(&mut arrivals);
        } else {
            self.chain_by_node(&mut arrivals);
            let all = 0..arrivals.packets.len();
            all.for_each(|number| self.visit_with(&mut arrivals, number, limit, handler));
            woken.iter().for_each(|node| self.finish(*node, limit, handler));
        }
        self.to_switches = arrivals;
    }

    /// Chains the packets that come to one node.
    fn chain_by_node(&mut self, arrivals: &mut Arrivals) {
        let Arrivals { packets, steps, .. } = arrivals;
        steps.clear();
        steps.extend(packets.iter().zip(0..).map(|(incoming, number)| {
            let before = std::mem::replace(&mut self.latest[incoming.node.index()], number);
            Step { before, ..Step::default() }
        }));
    }

    /// Visits the node to which packet `number` comes, with all packets that come to it, if the
    /// packet is the latest of them.
    #[inline(always)]
    fn visit_with<H: Handler>(&mut self, arrivals: &mut Arrivals, number: usize, limit: Time, handler: &mut H) {
        let incoming = &arrivals.packets[number];
        let node = incoming.node;
        let latest = &mut self.latest[node.index()];
        if *latest as usize != number {
            return;
        }
        *latest = NONE;
        if arrivals.steps[number].before == NONE {
            self.take_in(node, &incoming.packet, handler);
        } else {
            self.take_in_chain(arrivals, number, handler);
        }
        self.finish(node, limit, handler);
    }

    /// Gives a node the packets of the chain of packet `number`, in order.
    #[inline(never)]
    fn take_in_chain<H: Handler>(&mut self, arrivals: &mut Arrivals, number: usize, handler: &mut H) {
        let Arrivals { packets, steps, order } = arrivals;
        for number in order.of(packets, steps, number as u32) {
            let incoming = &packets[number];
            self.take_in(incoming.node, &incoming.packet, handler);
        }
    }

    /// What `node` sends with.
    #[inline]
    pub(super) fn egress(&mut self, node: NodeId) -> &mut Egress {
        self.egress.node = node;
        &mut self.egress
    }

    /// Chooses the links that packets take from the switches to which they come, and chains the
    /// packets that take the same link.
    #[inline(never)]
    fn route(&mut self, arrivals: &mut Arrivals) {
        let Network { egress: Egress { links, routes, .. }, queues_are_far, .. } = self;
        let Arrivals { packets, steps, .. } = arrivals;
        steps.clear();
        if !*queues_are_far {
            return route_near(routes, links, packets, steps);
        }
        for batch in packets.chunks_mut(BATCH) {
            let first = steps.len();
            steps.extend(batch.iter_mut().map(|incoming| {
                let link = routes.at(incoming.node).next_link(&mut incoming.packet);
                prefetch_place(links, link.index());
                Step { link, before: NONE }
            }));
            for (step, number) in steps[first..].iter_mut().zip(first as u32..) {
                step.before = std::mem::replace(&mut links[step.link.index()].latest, number);
            }
        }
    }

    /// Queues packets that are routed, those of a chain in order; a packet's `arrival` is when it
    /// came.
    #[inline(never)]
    fn queue(&mut self, arrivals: &mut Arrivals) {
        let queues_are_far = self.queues_are_far;
        let egress = self.egress(NodeId::default());
        let Arrivals { packets, steps, order } = arrivals;
        for first in (0..packets.len()).step_by(BATCH) {
            let last = packets.len().min(first + BATCH);
            let batch = &steps[first..last];
            if queues_are_far {
                batch.iter().for_each(|step| egress.links[step.link.index()].prefetch_end());
            }
            for ((step, incoming), number) in batch.iter().copied().zip(&packets[first..last]).zip(first as u32..) {
                let Egress { links, kinds, on_the_way, .. } = &mut *egress;
                let (link, packet) = (&mut links[step.link.index()], &incoming.packet);
                if link.latest != number {
                    continue; // it is queued with the latest of its chain
                }
                link.latest = NONE;
                if step.before != NONE {
                    egress.enqueue_chain(step.link, packets, order.of(packets, steps, number));
                } else if let Some(arrival) = link.enqueue(&kinds[link.kind as usize], packet.arrival, packet) {
                    on_the_way.add(step.link, link, arrival, packet);
                } else {
                    egress.enqueue_by_thresholds(step.link, packet.arrival, *packet);
                }
            }
        }
    }

    /// Sends `packet`, which has come to the switch `node`, over the link with the shortest queue.
    #[inline(never)]
    fn forward_by_queues(&mut self, node: NodeId, mut packet: Packet) {
        let Chooser::LeastQueue(mut chooser) = std::mem::replace(&mut self.chooser, Chooser::Flows) else { return };
        let (routes, now) = (self.egress.routes.clone(), packet.arrival);
        let egress = self.egress(node);
        let link = routes.at(node).forward_by(&mut packet, |by, packet, link| {
            chooser.choose(node, by, packet, |i| egress.backlog(link(i), now))
        });
        egress.enqueue_one(link, now, &packet);
        self.chooser = Chooser::LeastQueue(chooser);
    }

    /// `node` has got all packets of the window: runs its timers that are left.
    #[inline(always)]
    fn finish<H: Handler>(&mut self, node: NodeId, limit: Time, handler: &mut H) {
        self.run_timers(node, limit, handler);
        if !self.ending {
            self.wake(node, handler);
        }
    }

    /// `packet` comes to `node`, after the timers that are due before; where they tie, the packet is
    /// first.
    #[inline(always)]
    fn take_in<H: Handler>(&mut self, node: NodeId, packet: &Packet, handler: &mut H) {
        self.run_timers(node, packet.arrival, handler);
        if node < self.hosts && NodeId::from(packet.dst()) == node {
            let out = self.egress(node);
            handler.on_packet(node, packet.arrival, packet, out);
            out.trailers.release(packet);
        } else {
            self.pass_on(node, *packet);
        }
    }

    /// Forwards `packet` on its own: at a switch, or at a host to which others' packets come.
    #[inline(never)]
    fn pass_on(&mut self, node: NodeId, mut packet: Packet) {
        if node < self.hosts {
            self.egress(node).send(packet.arrival, &packet);
        } else if matches!(self.chooser, Chooser::LeastQueue(_)) {
            self.forward_by_queues(node, packet);
        } else {
            let link = self.egress.routes.at(node).forward(node, &mut packet, &mut self.chooser);
            self.egress(node).enqueue_one(link, packet.arrival, &packet);
        }
    }

    /// Runs the timers of `node` that are due before `limit`.
    #[inline(always)]
    fn run_timers<H: Handler>(&mut self, node: NodeId, limit: Time, handler: &mut H) {
        let at = handler.next_timer(node);
        if at < limit {
            self.run_due_timers(node, at, limit, handler);
        }
    }

    /// The same, the first `at` that time.
    #[inline(never)]
    fn run_due_timers<H: Handler>(&mut self, node: NodeId, mut at: Time, limit: Time, handler: &mut H) {
        while at < limit {
            handler.on_timer(node, at, self.egress(node));
            at = handler.next_timer(node);
        }
    }
}

/// As [`Network::route`], where the links are at hand.
#[inline(never)]
fn route_near(routes: &Routes, links: &mut [Link], packets: &mut [Incoming], steps: &mut Vec<Step>) {
    steps.extend(packets.iter_mut().zip(0..).map(|(incoming, number)| {
        let link = routes.at(incoming.node).next_link(&mut incoming.packet);
        Step { link, before: std::mem::replace(&mut links[link.index()].latest, number) }
    }));
}
