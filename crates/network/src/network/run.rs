//! A network while it runs: window by window, node by node.

use super::ahead::{self, AHEAD};
use super::egress::Egress;
use super::handler::Handler;
use super::inputs::{Input, TIMERS};
use super::order::VisitingOrder;
use crate::fabric::{LinkId, NodeId};
use crate::link::{Link, LinkKind, LinkStats, RareEvents};
use crate::packet::Packet;
use crate::ports::Ports;
use crate::routing::Routes;
use crate::spreading::Chooser;
use crate::trailer::Trailers;
use linkpool_engine::{Calendar, Windows, prefetch};
use linkpool_units::Time;
use std::sync::Arc;

/// Links, switches and the clock, of a whole fabric or of a partition of it.
///
/// A partition runs some of the nodes; numbers of nodes, links and inputs are those of the whole fabric. Of a link between two
/// partitions the sender's partition holds the queue, the receiver's partition the packets in flight; at the end of each
/// window the packets go from one to the other. Nothing else is shared.
#[derive(Debug)]
pub struct Network {
    pub(super) links: Vec<Link>,
    pub(super) kinds: Vec<LinkKind>,
    pub(super) rare: Vec<RareEvents>,
    pub(super) ports: Ports,
    pub(super) routes: Arc<Routes>,
    /// Later ones, the next one last.
    pub(super) later_routes: Vec<(Time, Arc<Routes>)>,
    pub(super) chooser: Chooser,
    pub(super) calendar: Calendar,
    pub(super) windows: Windows,
    pub(super) inputs: Vec<Input>,
    pub(super) timer_inputs: Vec<u32>,
    /// Per node: the soonest window in which its timers are due in the calendar already.
    pub(super) timer_windows: Vec<u64>,
    pub(super) hosts: NodeId,
    pub(super) lookahead: Time,
    /// Of every host, the partition that runs it.
    pub(super) partitions: Box<[u8]>,
    pub(super) hops: u64,
    /// In the last window: nothing beyond it will happen, and what is left of it must not be scheduled again.
    pub(super) ending: bool,
    /// Inputs due in this window: hosts come first, and those of a node are neighbours, its timers the last.
    pub(super) woken: Vec<Input>,
    /// Packets due at the node at hand, in the order of arrival.
    pub(super) order: VisitingOrder,
    /// Packets that switches have routed in this window and not queued yet. Queueing waits for a few nodes, so that the
    /// links concerned are in the cache when it comes; each link still gets its packets in order.
    pub(super) routed: Vec<Packet>,
    /// And the link for each. Apart from the packets, which are copied as two aligned halves that way.
    pub(super) routed_to: Vec<LinkId>,
    /// By partition, the links to it on which something has been sent in this window.
    pub(super) handed: Box<[Vec<LinkId>]>,
    /// Of the packets that are here.
    pub(super) trailers: Trailers,
}

/// Queueing happens when so many packets have been routed.
const BATCH: usize = 64;

impl Network {
    /// No packet and no inter-partition message takes less to get from one node to another.
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

    /// Keeps the packets that are lost from now on for [`Egress::take_discarded`].
    pub fn watch_losses(&mut self) {
        self.trailers.witness = Some(Vec::new());
    }

    /// Is `link` served packet by packet, so that [`Egress::queued_since`] cannot tell?
    pub fn is_served(&mut self, link: LinkId) -> bool {
        self.ports.has(link)
    }

    /// Packets here that have a trailer, queued or in flight.
    pub fn trailers(&self) -> usize {
        self.trailers.in_use()
    }

    /// What link `id` has done, what it has put on the wire by `now` in bytes, and how many packets are queued
    /// or in flight.
    pub fn link_outcome(&mut self, id: LinkId, now: Time) -> (LinkStats, u64, u32) {
        self.egress(NodeId::default()).outcome(id, now)
    }

    /// Makes sure that `node` is woken for its next timer. Needed before the first step only: during the run, a
    /// node's timers are looked at whenever it has run.
    pub fn wake<H: Handler>(&mut self, node: NodeId, handler: &H) {
        let at = handler.next_timer(node);
        let window = if at == Time::MAX { u64::MAX } else { self.windows.of(at) };
        // An earlier wake will ask again.
        if window < self.timer_windows[node.index()] {
            self.timer_windows[node.index()] = window;
            self.calendar.schedule(window, self.timer_inputs[node.index()]);
        }
    }

    /// The next window in which something is due.
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

    /// Runs `window`, before which nothing is due, but nothing at or after `end`. Returns whether that is reached.
    pub(crate) fn run_window<H: Handler>(&mut self, window: u64, end: Time, handler: &mut H) -> bool {
        self.calendar.advance_to(window);
        let start = self.windows.start(window);
        let limit = self.windows.end(window).min(end);
        self.ending = limit == end;
        while let Some((_, routes)) = self.later_routes.pop_if(|(at, _)| *at <= start) {
            self.routes = routes;
        }
        let mut woken = std::mem::take(&mut self.woken);
        woken.clear();
        self.calendar.take_due(|input| match self.inputs.get(input as usize) {
            Some(input) => woken.push(*input),
            None => self.ports.wake(input),
        });
        let hosts = woken.partition_point(|input| input.node < self.hosts);
        let mut next = 0;
        for due in woken.chunk_by(|a, b| a.node == b.node) {
            for _ in due {
                ahead::prefetch(&self.links, &self.routes, &woken[next..], hosts.saturating_sub(next), handler);
                next += 1;
            }
            match due {
                [due @ .., Input { link: TIMERS, node }] => {
                    self.timer_windows[node.index()] = u64::MAX;
                    self.visit(*node, due, start, limit, handler);
                }
                [Input { node, .. }, ..] if *node < self.hosts => self.visit(*node, due, start, limit, handler),
                [Input { node, .. }, ..] => self.visit_switch(*node, due, start, limit),
                [] => {}
            }
        }
        self.woken = woken;
        if !self.routed.is_empty() {
            self.queue_routed();
        }
        if self.ports.are_due() {
            let mut egress = self.egress(NodeId::default());
            let (ports, mut wires) = egress.ports();
            ports.end_window(limit, limit == end, &mut wires);
        }
        self.ending
    }

    /// Has the receiving node of the due links woken for what is still on its way.
    #[inline]
    fn schedule_rest(&mut self, due: &[Input]) {
        if self.ending {
            return;
        }
        for Input { link, .. } in due {
            let link = &self.links[link.index()];
            if let Some(arrival) = link.next_arrival() {
                self.calendar.schedule(self.windows.of(arrival), link.input);
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

    fn visit_switch(&mut self, node: NodeId, due: &[Input], start: Time, limit: Time) {
        let (links, chooser) = (&mut self.links[..], &mut self.chooser);
        self.order.sort(links, due, (start, limit));
        self.hops += self.order.len() as u64;
        let routes = self.routes.at(node);
        for from in self.order.links() {
            let mut packet = links[from].pop();
            let link = routes.next_link_by(&mut packet, |by, packet| chooser.draw(node, by, packet));
            prefetch(&links[link.index()]);
            self.routed.push(packet);
            self.routed_to.push(link);
        }
        if self.routed.len() >= BATCH {
            self.queue_routed();
        }
        self.schedule_rest(due);
    }

    /// The link on which the switch `node` sends `packet` on.
    #[inline]
    fn next_link(&mut self, node: NodeId, packet: &mut Packet) -> LinkId {
        let chooser = &mut self.chooser;
        self.routes.at(node).next_link_by(packet, |by, packet| chooser.draw(node, by, packet))
    }

    /// Queues what switches have routed; a packet's `arrival` is when it came.
    fn queue_routed(&mut self) {
        let (mut routed, mut links) = (std::mem::take(&mut self.routed), std::mem::take(&mut self.routed_to));
        let mut egress = self.egress(NodeId::default());
        links.iter().take(AHEAD / 2).for_each(|link| egress.links[link.index()].prefetch_tail());
        for (i, (link, packet)) in links.iter().zip(&routed).enumerate() {
            if let Some(later) = links.get(i + AHEAD / 2) {
                egress.links[later.index()].prefetch_tail();
            }
            egress.enqueue(*link, packet.arrival, packet);
        }
        routed.clear();
        links.clear();
        (self.routed, self.routed_to) = (routed, links);
    }

    /// A host, or a switch with a timer: arrivals and timers in order of time, arrivals first where they tie.
    fn visit<H: Handler>(&mut self, node: NodeId, due: &[Input], start: Time, limit: Time, handler: &mut H) {
        self.order.sort(&self.links, due, (start, limit));
        self.hops += self.order.len() as u64;
        let is_host = node < self.hosts;
        for i in 0..self.order.len() {
            let mut packet = self.links[self.order.link(i)].pop();
            self.run_timers(node, packet.arrival, handler);
            if !is_host {
                let link = self.next_link(node, &mut packet);
                self.egress(node).enqueue_one(link, packet.arrival, &packet);
            } else if NodeId::from(packet.dst()) == node {
                let mut out = self.egress(node);
                handler.on_packet(node, packet.arrival, &packet, &mut out);
                out.trailers.release(&packet);
            } else {
                // Hosts forward here, and packets for others come by.
                self.egress(node).send(packet.arrival, packet);
            }
        }
        self.run_timers(node, limit, handler);
        self.schedule_rest(due);
        if !self.ending {
            self.wake(node, handler);
        }
    }

    /// Runs the timers of `node` that are due before `limit`.
    #[inline]
    fn run_timers<H: Handler>(&mut self, node: NodeId, limit: Time, handler: &mut H) {
        loop {
            let at = handler.next_timer(node);
            if at >= limit {
                return;
            }
            handler.on_timer(node, at, &mut self.egress(node));
        }
    }
}
