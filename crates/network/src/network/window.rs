//! A window: its packets and timers, at hosts, then at switches at the border of the partition, then at the others.

use super::ahead;
use super::egress::Egress;
use super::handler::Handler;
use super::order::{Arrivals, NONE, Step, in_order};
use super::run::{BATCH, Network};
use crate::fabric::NodeId;
use crate::in_flight::Incoming;
use crate::packet::Kind;
use crate::stages::{BORDER, HOSTS, INNER, Stage};
use linkpool_units::Time;
use std::ops::Range;

impl Network {
    /// Runs `window`, up to `end`; nothing is due before it. Returns true if `end` is reached.
    pub(crate) fn run_window<H: Handler>(&mut self, window: u64, end: Time, handler: &mut H) -> bool {
        self.run_hosts(window, end, handler);
        self.run_border(handler);
        self.run_inner()
    }

    /// Must packets from other partitions have come before [`Network::run_hosts`]? Otherwise they are
    /// needed in [`Network::run_border`].
    pub(crate) fn needs_mail_first(&self) -> bool {
        self.mail_to_hosts || self.taps.is_some()
    }

    /// Begins `window`, which is up to `end`; nothing is due before it. Runs the hosts.
    pub(crate) fn run_hosts<H: Handler>(&mut self, window: u64, end: Time, handler: &mut H) {
        self.egress.in_flight.advance_to(window);
        self.over = self.egress.windows.start(window);
        while let Some((_, routes)) = self.later_routes.pop_if(|(at, _)| *at <= self.over) {
            self.egress.routes = routes;
            self.find_seen_queues();
        }
        let limit = self.egress.windows.end(window).min(end);
        self.ending = limit == end;
        self.begin_hosts(window, limit);
        if self.taps.is_some() {
            self.take_all_to_switches();
            self.show_passing(handler);
        }
        self.visit_hosts(handler);
    }

    /// Begins `window`, which ends at `limit`, at hosts: finds their packets, and the timers that are due.
    #[inline]
    pub(super) fn begin_hosts(&mut self, window: u64, limit: Time) {
        self.egress.calendar.advance_to(window);
        (self.limit, self.egress.limit) = (limit, limit);
        if window >= self.ask_at {
            self.queues_are_far = ahead::are_far(&self.egress.links, &self.egress.ports);
            self.ask_at = ahead::next_question(window);
        }
        self.egress.taken.clear();
        self.take_due();
        self.take(window, HOSTS);
    }

    /// Runs the switches from which packets may go to other partitions. After it, all packets are queued
    /// that this partition sends to others in this window.
    pub(crate) fn run_border<H: Handler>(&mut self, handler: &mut H) {
        if self.runs_border_first() {
            let window = self.egress.calendar.now();
            self.take(window, BORDER);
            self.forward();
            self.take(window, INNER);
            // These packets wait if the next window is known without them.
            self.inner_waits = self.next_window() == Some(window + 1);
            if !self.inner_waits {
                self.forward();
            }
            return;
        }
        self.take_all_to_switches();
        self.visit_switches(handler);
        if self.egress.ports.are_due() {
            let (limit, far) = (self.limit, self.queues_are_far);
            let (ports, mut transmitter) = self.egress(NodeId::default()).ports();
            ports.end_window(limit, far, &mut transmitter);
            ports.take_changes().iter().for_each(|change| handler.on_pause(change));
        }
    }

    /// Does the run end in the window that runs?
    pub(crate) fn is_ending(&self) -> bool {
        self.ending
    }

    /// Runs the other switches, if they have not run. Returns true if the end is reached.
    pub(crate) fn run_inner(&mut self) -> bool {
        if std::mem::take(&mut self.inner_waits) {
            self.forward();
        }
        self.ending
    }

    /// Do switches at the border run before the others? Then other partitions wait for less. It needs switches whose
    /// packets do not depend on each other, and no port that transmits at the end of the window.
    #[inline]
    fn runs_border_first(&self) -> bool {
        let is_plain = self.balancer.is_none() && self.egress.ports.len() == 0;
        self.is_divided && self.stages.is_none() && is_plain && self.forwards_in_batches()
    }

    /// Are packets at switches routed in batches, and queued in others? Otherwise the packets of each switch are taken one by
    /// one, in order, with its timers: where it has timers, and where a port depends on packets at another.
    #[inline]
    fn forwards_in_batches(&self) -> bool {
        let wakes_switches = self.woken.last().is_some_and(|node| *node >= self.hosts);
        let ports = &self.egress.ports;
        // What comes back to a queue that a balancer sees matters for its choices.
        let come_back = ports.return_packets() && !self.seen_queues.is_empty();
        !wakes_switches && !ports.share_buffers() && !ports.pause() && !come_back
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

    /// Takes the packets of `stage` that come in `window` before its end.
    #[inline]
    pub(super) fn take(&mut self, window: u64, stage: Stage) {
        let arrivals = if stage == HOSTS { &mut self.to_hosts } else { &mut self.to_switches };
        let first = arrivals.packets.len();
        self.egress.in_flight.take(window, stage, &mut arrivals.packets);
        if self.ending {
            // The run ends in this window, or pauses: packets that arrive later stay on their way.
            let late = arrivals.packets.extract_if(first.., |incoming| incoming.packet.arrival >= self.limit);
            late.for_each(|incoming| self.egress.in_flight.push(stage, incoming));
        }
        if self.egress.ports.pause() {
            self.take_aside(stage, first);
        }
        let arrivals = if stage == HOSTS { &self.to_hosts } else { &self.to_switches };
        self.hops += (arrivals.packets.len() - first) as u64;
        if self.egress.trailers.observer.is_some() {
            let Egress { taken, trailers, .. } = &mut self.egress;
            taken.extend(arrivals.packets[first..].iter().map(|i| (i.link, trailers.see(&i.packet))));
        }
    }

    /// Takes pause frames out of the packets of `stage` from number `first` on. Lets slow hosts take what they can of what comes
    /// to them in this window, and of what came before.
    fn take_aside(&mut self, stage: Stage, first: usize) {
        let Network { egress: Egress { ports, trailers, .. }, to_hosts, to_switches, taps, aside, .. } = self;
        let arrivals = if stage == HOSTS { to_hosts } else { to_switches };
        let mut note = |incoming: &Incoming| {
            if taps.is_some() {
                aside.push((incoming.link, trailers.see(&incoming.packet)));
            }
        };
        for incoming in arrivals.packets.extract_if(first.., |incoming| incoming.packet.kind == Kind::PAUSE) {
            ports.take_frame(incoming.link, &incoming.packet);
            note(&incoming);
        }
        if stage != HOSTS || !ports.have_adapters() {
            return;
        }
        let slow = arrivals.packets.extract_if(first.., |incoming| ports.is_slow(incoming.link));
        let slow: Vec<Incoming> = slow.inspect(note).collect();
        let limit = self.limit;
        let (ports, mut transmitter) = self.egress(NodeId::default()).ports();
        let taken = ports.take_slowly(slow, limit, &mut transmitter);
        self.to_hosts.packets.extend(taken);
    }

    /// Takes the packets that come to switches in this window.
    fn take_all_to_switches(&mut self) {
        let window = self.egress.calendar.now();
        let stages = self.stages.as_ref().map_or(INNER + 1, |stages| stages.steps.len() as Stage);
        (HOSTS + 1..stages).for_each(|stage| self.take(window, stage));
    }

    /// Gives hosts the packets that come to them in this window, and runs the timers of these hosts
    /// and of those that are woken.
    pub(super) fn visit_hosts<H: Handler>(&mut self, handler: &mut H) {
        let mut arrivals = std::mem::take(&mut self.to_hosts);
        self.chain_by_node(&mut arrivals);
        if handler.endpoint_bytes() > ahead::NEAR_ENDPOINTS {
            self.visit_far_hosts(&mut arrivals, handler);
        } else {
            self.visit_near_hosts(&mut arrivals, handler);
        }
        arrivals.packets.clear();
        self.to_hosts = arrivals;
        self.finish_woken(0..self.woken_hosts(), handler);
    }

    /// Visits hosts whose endpoints are at hand.
    #[inline(always)]
    fn visit_near_hosts<H: Handler>(&mut self, arrivals: &mut Arrivals, handler: &mut H) {
        for first in (0..arrivals.packets.len()).step_by(BATCH) {
            let last = arrivals.packets.len().min(first + BATCH);
            let batch = &arrivals.packets[first..last];
            ahead::prefetch_hosts(&self.egress.links, &self.egress.routes, batch, handler);
            if self.queues_are_far {
                ahead::prefetch_answers(&self.egress.links, &self.egress.routes, batch);
            }
            (first..last).for_each(|number| self.visit_with(arrivals, number, handler));
        }
    }

    /// Visits hosts, and prefetches the endpoints of those that follow.
    #[inline(never)]
    fn visit_far_hosts<H: Handler>(&mut self, arrivals: &mut Arrivals, handler: &mut H) {
        for ahead in 0..arrivals.packets.len() + ahead::HOSTS_AHEAD {
            ahead::prefetch_for_hosts((&self.egress.links, &self.egress.routes), &arrivals.packets, ahead, handler);
            if let Some(number) = ahead.checked_sub(ahead::HOSTS_AHEAD) {
                self.visit_with(arrivals, number, handler);
            }
        }
    }

    /// Forwards the packets that come to switches in this window, and runs the timers of the
    /// switches that are woken.
    fn visit_switches<H: Handler>(&mut self, handler: &mut H) {
        if self.forwards_in_batches() {
            return self.forward();
        }
        self.header_room.forget();
        let mut arrivals = std::mem::take(&mut self.to_switches);
        self.chain_by_node(&mut arrivals);
        (0..arrivals.packets.len()).for_each(|number| self.visit_with(&mut arrivals, number, handler));
        arrivals.packets.clear();
        self.to_switches = arrivals;
        self.finish_woken(self.woken_hosts()..self.woken.len(), handler);
    }

    /// How many of the woken nodes are hosts; these are the first.
    fn woken_hosts(&self) -> usize {
        self.woken.partition_point(|node| *node < self.hosts)
    }

    /// Runs the timers that are left of the woken nodes with these numbers.
    fn finish_woken<H: Handler>(&mut self, numbers: Range<usize>, handler: &mut H) {
        let woken = std::mem::take(&mut self.woken);
        woken[numbers].iter().for_each(|node| self.finish(*node, handler));
        self.woken = woken;
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
    fn visit_with<H: Handler>(&mut self, arrivals: &mut Arrivals, number: usize, handler: &mut H) {
        let incoming = &arrivals.packets[number];
        let node = incoming.node;
        let latest = &mut self.latest[node.index()];
        if *latest as usize != number {
            return;
        }
        *latest = NONE;
        if arrivals.steps[number].before == NONE {
            self.take_in(incoming, handler);
        } else {
            self.take_in_chain(arrivals, number, handler);
        }
        self.finish(node, handler);
    }

    /// Gives a node the packets of the chain of packet `number`, in order.
    #[inline(never)]
    fn take_in_chain<H: Handler>(&mut self, arrivals: &mut Arrivals, number: usize, handler: &mut H) {
        let Arrivals { packets, steps, order, .. } = arrivals;
        let chain = order.of(packets, steps, number as u32);
        for (place, number) in in_order(chain).enumerate() {
            if let Some(later) = in_order(chain).nth(place + ahead::RECORDS_AHEAD) {
                self.egress.trailers.prefetch(&packets[later].packet);
            }
            self.take_in(&packets[number], handler);
        }
    }

    /// `node` has got all packets of the window: runs its timers that are left.
    #[inline(always)]
    fn finish<H: Handler>(&mut self, node: NodeId, handler: &mut H) {
        self.run_timers(node, self.limit, handler);
        self.wake(node, handler);
    }

    /// A packet comes to its node, after the timers that are due before; where they tie, the packet is
    /// first.
    #[inline(always)]
    fn take_in<H: Handler>(&mut self, incoming: &Incoming, handler: &mut H) {
        let (node, packet) = (incoming.node, &incoming.packet);
        self.run_timers(node, packet.arrival, handler);
        if node < self.hosts && NodeId::from(packet.dst()) == node {
            let out = self.egress(node);
            handler.on_packet(node, packet.arrival, packet, out);
            out.trailers.release(packet);
        } else {
            self.pass_on(*incoming);
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
