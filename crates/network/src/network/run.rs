//! A network while it runs: window by window, node by node.

use super::ahead;
use super::egress::Egress;
use super::handler::Handler;
use super::inputs::Input;
use super::order::Arrivals;
use crate::fabric::{LinkId, NodeId};
use crate::link::{Link, LinkKind, LinkStats, RareEvents};
use crate::packet::{Flags, Packet};
use crate::ports::Ports;
use crate::routing::Routes;
use crate::spreading::Chooser;
use crate::trailer::Trailers;
use crate::witness::Witness;
use linkpool_engine::{Calendar, Windows, prefetch_place};
use linkpool_units::Time;
use std::sync::Arc;

/// Links, switches and the clock, of a whole fabric or of a partition of it.
///
/// A partition runs some of the nodes. Ids of nodes, links and inputs are those of the whole
/// fabric. Of a link between two partitions, the sender's partition holds the queue and the
/// receiver's partition the packets in flight. At the end of each window the packets move from one
/// partition to the other. The partitions share nothing else.
#[derive(Debug)]
pub struct Network {
    pub(super) links: Vec<Link>,
    pub(super) kinds: Vec<LinkKind>,
    pub(super) rare: Vec<RareEvents>,
    pub(super) ports: Ports,
    pub(super) routes: Arc<Routes>,
    /// Routes that apply later, the next ones last.
    pub(super) later_routes: Vec<(Time, Arc<Routes>)>,
    pub(super) chooser: Chooser,
    pub(super) calendar: Calendar,
    pub(super) windows: Windows,
    pub(super) inputs: Vec<Input>,
    pub(super) timer_inputs: Vec<u32>,
    /// Per node: the first window for which the calendar has its timers; `u64::MAX`: none.
    pub(super) timer_windows: Vec<u64>,
    pub(super) hosts: NodeId,
    pub(super) lookahead: Time,
    /// By host: the partition that runs it.
    pub(super) partitions: Box<[u8]>,
    pub(super) hops: u64,
    /// True in the last window of the run: later arrivals need not be scheduled.
    pub(super) ending: bool,
    /// Inputs due in this window. Inputs of hosts come first. Inputs of a node are neighbours, with
    /// its timers last.
    pub(super) woken: Vec<Input>,
    /// Packets due at the host that is being run, or at a few switches.
    pub(super) arrivals: Arrivals,
    /// By partition: the links to it that have sent packets in this window.
    pub(super) handed: Box<[Vec<LinkId>]>,
    /// The trailers of the packets in this partition.
    pub(super) trailers: Trailers,
    /// By link: the flags of the packets that are shown to the handler; none: there is no tap.
    pub(super) taps: Option<Box<[Flags]>>,
}

/// The packets of about this many inputs are taken, then routed or given to hosts. So what one
/// needs is in the cache when it is needed, prefetched while others were at work. Each link still
/// gets its packets in order.
const BATCH: usize = 64;

impl Network {
    /// The least time that a packet or an inter-partition message takes from one node to another.
    pub fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// The partition that runs `host`.
    pub(crate) fn partition_of(&self, host: NodeId) -> usize {
        self.partitions[host.index()] as usize
    }

    /// Packets that have crossed a link, counted once per link.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// Keeps what happens to packets from now on for [`Egress::take_witnessed`]. The first `hosts`
    /// nodes are hosts.
    pub fn watch(&mut self, hosts: usize) {
        self.trailers.witness = Some(Box::new(Witness::new(hosts)));
    }

    /// Has `link` a port with service events?
    pub fn is_served(&self, link: LinkId) -> bool {
        self.ports.has(link)
    }

    /// Packets with a trailer that are queued or in flight in this partition.
    pub fn trailers(&self) -> usize {
        self.trailers.in_use()
    }

    /// The counters of link `id`, the bytes that it has sent by `now`, and its packets that are
    /// queued or in flight.
    pub fn link_outcome(&mut self, id: LinkId, now: Time) -> (LinkStats, u64, u32) {
        self.egress(NodeId::default()).outcome(id, now)
    }

    /// Makes sure that `node` is woken for its next timer. Call it before the first window; after
    /// that, the network calls it for each node that it has run.
    pub fn wake<H: Handler>(&mut self, node: NodeId, handler: &H) {
        let at = handler.next_timer(node);
        let window = if at == Time::MAX { u64::MAX } else { self.windows.of(at) };
        // If the node wakes earlier, this is called again then.
        if window < self.timer_windows[node.index()] {
            self.timer_windows[node.index()] = window;
            self.calendar.schedule(window, self.timer_inputs[node.index()]);
        }
    }

    /// The next window in which an input is due.
    pub(crate) fn next_window(&self) -> Option<u64> {
        self.calendar.peek()
    }

    /// When the current window ends.
    pub(crate) fn window_end(&self) -> Time {
        self.windows.end(self.calendar.now())
    }

    /// When the current window began.
    pub(crate) fn window_start(&self) -> Time {
        self.windows.start(self.calendar.now())
    }

    /// When `window` begins.
    pub(super) fn start_of(&self, window: u64) -> Time {
        self.windows.start(window)
    }

    /// The window that holds `t`.
    pub(crate) fn window_of(&self, t: Time) -> u64 {
        self.windows.of(t)
    }

    /// Runs `window`, up to `end`; no input is due before it. Returns true if `end` is reached.
    pub(crate) fn run_window<H: Handler>(&mut self, window: u64, end: Time, handler: &mut H) -> bool {
        self.calendar.advance_to(window);
        let start = self.windows.start(window);
        let limit = self.windows.end(window).min(end);
        self.ending = limit == end;
        while let Some((_, routes)) = self.later_routes.pop_if(|(at, _)| *at <= start) {
            self.routes = routes;
        }
        self.take_due();
        if let Some(taps) = &self.taps {
            self.show_passing(taps, limit, handler);
        }
        let woken = std::mem::take(&mut self.woken);
        let hosts = woken.partition_point(|input| input.node < self.hosts);
        self.visit_hosts(&woken[..hosts], (start, limit), handler);
        self.visit_switches(&woken[hosts..], (start, limit), handler);
        self.woken = woken;
        if self.ports.are_due() {
            let mut egress = self.egress(NodeId::default());
            let (ports, mut transmitter) = egress.ports();
            ports.end_window(limit, limit == end, &mut transmitter);
        }
        self.ending
    }

    /// Finds the inputs that are due in this window.
    #[inline(never)]
    fn take_due(&mut self) {
        let mut woken = std::mem::take(&mut self.woken);
        let (inputs, ports) = (&self.inputs[..], &mut self.ports);
        woken.clear();
        self.calendar.take_due(|input| match inputs.get(input as usize) {
            Some(input) => woken.push(*input),
            None => ports.wake(input),
        });
        self.woken = woken;
    }

    /// Visits the hosts whose inputs are `due`: takes the packets of many, then visits each in turn.
    fn visit_hosts<H: Handler>(&mut self, mut due: &[Input], span: (Time, Time), handler: &mut H) {
        while !due.is_empty() {
            let batch = next_batch(due);
            ahead::prefetch_hosts(&self.links, &self.routes, batch, handler);
            (due, _) = self.gather(due, span);
            ahead::prefetch_answers(&self.links, &self.routes, batch);
            ahead::prefetch_endpoints(self.arrivals.packets(), handler);
            let arrivals = std::mem::take(&mut self.arrivals);
            for (node, packets) in arrivals.nodes() {
                self.visit(node, packets, span.1, handler);
            }
            self.arrivals = arrivals;
        }
    }

    /// Visits the switches whose inputs are `due`, many at a time.
    fn visit_switches<H: Handler>(&mut self, mut due: &[Input], span: (Time, Time), handler: &mut H) {
        while !due.is_empty() {
            let has_timer;
            (due, has_timer) = self.gather(due, span);
            let timed = if has_timer { self.arrivals.take_last() } else { None };
            if let Chooser::LeastQueue(_) = self.chooser {
                self.forward_one_by_one();
            } else {
                self.route_batch();
                self.queue_batch();
            }
            if let Some((node, packets)) = timed {
                self.visit(node, packets.iter(), span.1, handler);
            }
        }
    }

    #[inline]
    pub(super) fn egress(&mut self, node: NodeId) -> Egress<'_> {
        Egress {
            node,
            links: &mut self.links,
            kinds: &self.kinds,
            rare: &mut self.rare,
            ports: &mut self.ports,
            routes: &self.routes,
            calendar: &mut self.calendar,
            handed: &mut self.handed,
            trailers: &mut self.trailers,
            windows: self.windows,
        }
    }

    /// Takes the packets that come to the first of the nodes that are `due`: those of
    /// [`next_batch`], but none after a switch with a timer. Returns the inputs that are left, and
    /// whether the last node is such a switch.
    #[inline(never)]
    fn gather<'d>(&mut self, due: &'d [Input], (start, limit): (Time, Time)) -> (&'d [Input], bool) {
        let batch = next_batch(due);
        ahead::prefetch_links(&self.links, batch);
        let Network { links, arrivals, calendar, windows, ending, timer_windows, hosts, .. } = self;
        let (links, windows, ending, hosts) = (&mut links[..], *windows, *ending, *hosts);
        arrivals.clear();
        let (mut taken, mut has_timer) = (0, false);
        for input in batch {
            taken += 1;
            if let Some(from) = links.get_mut(input.link.index()) {
                let next = from.take_before(limit, |packet| arrivals.push(*input, packet));
                if let Some(arrival) = next
                    && !ending
                {
                    calendar.schedule(windows.of(arrival), from.input);
                }
            } else {
                // There is no link of the number that stands for timers.
                timer_windows[input.node.index()] = u64::MAX;
                has_timer = input.node >= hosts;
            }
            if has_timer || batch.get(taken).is_none_or(|next| next.node != input.node) {
                arrivals.end(input.node);
            }
            if has_timer {
                break;
            }
        }
        arrivals.sort(start);
        self.hops += self.arrivals.len() as u64;
        (&due[taken..], has_timer)
    }

    /// Chooses the links that the packets of the batch take.
    #[inline(never)]
    fn route_batch(&mut self) {
        let Network { links, routes, chooser, arrivals, .. } = self;
        arrivals.route(|node, packet| {
            let link = routes.at(node).forward(node, packet, chooser);
            prefetch_place(links, link.index());
            link
        });
    }

    /// Queues the packets of the batch; a packet's `arrival` is when it came.
    #[inline(never)]
    fn queue_batch(&mut self) {
        let arrivals = std::mem::take(&mut self.arrivals);
        let mut egress = self.egress(NodeId::default());
        arrivals.links().for_each(|link| egress.links[link.index()].prefetch_end());
        for (link, packet) in arrivals.routed() {
            egress.enqueue(link, packet.arrival, packet);
        }
        self.arrivals = arrivals;
    }

    /// Routes and queues the packets of the batch one by one, so that each choice sees the queues
    /// that the packets before have left.
    #[inline(never)]
    fn forward_one_by_one(&mut self) {
        let arrivals = std::mem::take(&mut self.arrivals);
        for (node, packets) in arrivals.nodes() {
            packets.for_each(|packet| self.forward_by_queues(node, *packet));
        }
        self.arrivals = arrivals;
    }

    /// Sends `packet`, which has come to the switch `node`, over the link with the shortest queue.
    #[inline(never)]
    fn forward_by_queues(&mut self, node: NodeId, mut packet: Packet) {
        let Chooser::LeastQueue(mut chooser) = std::mem::replace(&mut self.chooser, Chooser::Flows) else { return };
        let (routes, now) = (self.routes.clone(), packet.arrival);
        let mut egress = self.egress(node);
        let link = routes.at(node).forward_by(&mut packet, |by, packet, link| {
            chooser.choose(node, by, packet, |i| egress.backlog(link(i), now))
        });
        egress.enqueue_one(link, now, &packet);
        self.chooser = Chooser::LeastQueue(chooser);
    }

    /// A host, or a switch with a timer: `packets` and timers in order of time, packets first where
    /// they tie.
    #[inline(always)]
    fn visit<'p, H: Handler>(
        &mut self,
        node: NodeId,
        packets: impl Iterator<Item = &'p Packet>,
        limit: Time,
        handler: &mut H,
    ) {
        packets.for_each(|packet| self.take_in(node, packet, handler));
        self.run_timers(node, limit, handler);
        if !self.ending {
            self.wake(node, handler);
        }
    }

    /// `packet` comes to `node`, after the timers that are due before.
    #[inline(always)]
    fn take_in<H: Handler>(&mut self, node: NodeId, packet: &Packet, handler: &mut H) {
        self.run_timers(node, packet.arrival, handler);
        if node < self.hosts && NodeId::from(packet.dst()) == node {
            let mut out = self.egress(node);
            handler.on_packet(node, packet.arrival, packet, &mut out);
            out.trailers.release(packet);
        } else {
            self.pass_on(node, *packet);
        }
    }

    /// Forwards `packet` at a switch with a timer, or at a host to which others' packets come.
    #[inline(never)]
    fn pass_on(&mut self, node: NodeId, mut packet: Packet) {
        if node < self.hosts {
            self.egress(node).send(packet.arrival, packet);
        } else if matches!(self.chooser, Chooser::LeastQueue(_)) {
            self.forward_by_queues(node, packet);
        } else {
            let link = self.routes.at(node).forward(node, &mut packet, &mut self.chooser);
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
            handler.on_timer(node, at, &mut self.egress(node));
            at = handler.next_timer(node);
        }
    }
}

/// The first of the inputs that are `due`: a batch of them, with all those of its last node.
#[inline]
fn next_batch(due: &[Input]) -> &[Input] {
    let Some(last) = due.get(BATCH - 1) else { return due };
    let more = due[BATCH..].iter().take_while(|input| input.node == last.node).count();
    &due[..BATCH + more]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch ends where a node ends: with the 64th input, if that is the last of its node.
    #[test]
    fn a_batch_has_all_inputs_of_its_last_node() {
        let due = |nodes: &[u32]| -> Vec<Input> {
            nodes.iter().map(|node| Input { node: NodeId::new(*node as usize), link: LinkId::NONE }).collect()
        };
        let of = |nodes: &[u32]| next_batch(&due(nodes)).len();
        assert_eq!(of(&[7; BATCH - 1]), BATCH - 1);
        assert_eq!(of(&[7; BATCH + 3]), BATCH + 3);
        let mut nodes: Vec<u32> = (0..BATCH as u32 + 6).collect();
        assert_eq!(of(&nodes), BATCH);
        nodes[BATCH - 2..BATCH + 2].fill(99);
        assert_eq!(of(&nodes), BATCH + 2);
    }
}
