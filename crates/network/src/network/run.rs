//! A network while it runs: its state, and what others ask of it.

use super::balanced::Balanced;
use super::egress::Egress;
use super::handler::Handler;
use super::header_room::HeaderRoom;
use super::order::Arrivals;
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::link::{LinkStats, OnWire};
use crate::observer::{Observer, Seen};
use crate::packet::Kind;
use crate::partition::Partitions;
use crate::ports::{Intake, PauseStats, Ports};
use crate::routing::Routes;
use crate::stages::Stages;
use linkpool_units::{HostId, Time};
use std::sync::Arc;

/// So many packets are given to hosts, or are routed, at a time: the memory for all of them is prefetched first.
pub(super) const BATCH: usize = 64;
/// So often it is asked whether ports wait for each other for ever.
const LOOK_EVERY: Time = Time::from_us(20);

/// Links, switches and the clock, of a whole fabric or of a partition of it.
///
/// A partition runs some of the nodes. Ids of nodes and links are those of the whole fabric. Of a
/// link between two partitions, the sender's partition knows the queue and the receiver's partition
/// has the packets. When partitions meet, packets move from one to the other. The partitions
/// share nothing else. Nor do two partitions share a cache line, or a pair of lines, which processors
/// fetch together: it would move from one processor to the other at each write.
#[derive(Debug)]
#[repr(align(128))]
pub struct Network {
    /// What sends: links and routes.
    pub(super) egress: Egress,
    /// Routes that apply later, the next ones last.
    pub(super) later_routes: Vec<(Time, Arc<Routes>)>,
    /// What chooses among links of equal cost at switches; none: a hash.
    pub(super) balancer: Option<Box<dyn Balanced>>,
    /// Does the balancer choose among all links?
    pub(super) steers: bool,
    /// By link, if the balancer sees queues: is it one of those among which a switch chooses?
    pub(super) seen_queues: Box<[bool]>,
    /// Where ports send headers back: for how many they have room.
    pub(super) header_room: HeaderRoom,
    /// The packets of this window that wait for the balancer.
    pub(super) undecided: Vec<u32>,
    /// The stages of each partition, if they meet less often than in each window.
    pub(super) stages: Option<Arc<Stages>>,
    /// Are there other partitions?
    pub(super) is_divided: bool,
    /// Do packets from other partitions come to hosts?
    pub(super) mail_to_hosts: bool,
    /// Per node: the first window for which the calendar has its timers; `u64::MAX`: none.
    pub(super) timer_windows: Vec<u64>,
    pub(super) hosts: NodeId,
    pub(super) lookahead: Time,
    /// The partitions that run the nodes.
    pub(super) partitions: Arc<Partitions>,
    pub(super) hops: u64,
    /// All windows are over that end by this time, in all partitions.
    pub(super) over: Time,
    /// The window that runs ends before this time.
    pub(super) limit: Time,
    /// The run ends, or pauses, in this window.
    pub(super) ending: bool,
    /// The nodes whose timers are due in this window, in order.
    pub(super) woken: Vec<NodeId>,
    /// The packets that come to hosts in this window, and those that come to switches.
    pub(super) to_hosts: Arrivals,
    pub(super) to_switches: Arrivals,
    /// Have the switches that are not at the border still to run in this window?
    pub(super) inner_waits: bool,
    /// By node, while nodes run: the number of the latest packet that comes to it in this window.
    pub(super) latest: Box<[u32]>,
    /// By link, while switches run: the number of the latest packet that takes it in this window.
    pub(super) latest_on: Box<[u32]>,
    /// By link: the flags of the packets that are shown to the handler; none: there is no tap.
    pub(super) taps: Option<Box<[Kind]>>,
    /// If there are taps: pause frames that come in this window, and packets that come to hosts that take them later.
    pub(super) aside: Vec<(LinkId, Seen)>,
    /// Do queues take so much memory that their places are prefetched?
    pub(super) queues_are_far: bool,
    /// The window in which that is asked next.
    pub(super) ask_at: u64,
    /// When it is looked next whether ports wait for each other for ever.
    pub(super) look_at: Time,
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

    /// Keeps what happens to packets from now on for [`Egress::take_observed`]. The first `hosts`
    /// nodes are hosts.
    pub fn watch(&mut self, hosts: usize) {
        self.egress.trailers.observer = Some(Box::new(Observer::new(hosts)));
        // It is told of each packet that a port begins to send.
        let Egress { ports, links, .. } = &mut self.egress;
        ports.look_at_all(links);
        ports.keep_reasons();
    }

    /// Lets the host to which `link` leads take what comes by it as `intake` says, where ports pause.
    pub fn slow_down(&mut self, link: LinkId, intake: Intake, fabric: &Fabric) {
        self.egress.ports.slow_down(link, intake, fabric);
    }

    /// Keeps from now on why ports are paused, and tells the handler ([`Handler::on_pause`]).
    pub fn keep_pauses(&mut self) {
        self.egress.ports.keep_reasons();
    }

    /// Has `link` a port with service events?
    pub fn is_served(&self, link: LinkId) -> bool {
        self.egress.ports.of(link).is_some()
    }

    /// Packets with a trailer that are queued or in flight in this partition.
    pub fn trailers(&self) -> usize {
        self.egress.trailers.in_use()
    }

    /// The counters of link `id`, and what it has put on the wire by `now`.
    pub fn link_outcome(&mut self, id: LinkId, now: Time) -> (LinkStats, OnWire) {
        self.egress(NodeId::default()).outcome(id, now)
    }

    /// What the port of link `id` knows of pauses by `now`, the end of the run, if neighbours pause it.
    pub fn pauses(&self, id: LinkId, now: Time) -> Option<PauseStats> {
        self.egress.ports.pauses(id, now)
    }

    /// Links whose ports wait for each other for ever, each for the next, and the last for the first: each is paused by the
    /// switch to which it leads. `partitions` are all of one network, between two windows.
    pub(crate) fn deadlock<'a>(partitions: impl Iterator<Item = &'a Network>) -> Option<Vec<LinkId>> {
        Ports::deadlock(&partitions.map(|network| &network.egress.ports).collect::<Vec<_>>())
    }

    /// When it is looked next whether ports wait for each other for ever; none: no port pauses another.
    pub(crate) fn look_at(&self) -> Option<Time> {
        self.egress.ports.pause().then_some(self.look_at)
    }

    /// It is looked at `now`, and next at the end of the first window that ends [`LOOK_EVERY`] later, or after that.
    pub(crate) fn look(&mut self, now: Time) {
        let windows = &self.egress.windows;
        self.look_at = windows.end(windows.of(now + LOOK_EVERY - Time(1)));
    }

    /// By link: its packets that are queued or in flight in this partition at `now`, the end of the
    /// run.
    pub fn in_flight(&mut self, now: Time) -> Vec<u32> {
        let mut counts = vec![0; self.egress.links.len()];
        let egress = self.egress(NodeId::default());
        let (ports, mut transmitter) = egress.ports();
        ports.held(now, &mut transmitter).into_iter().for_each(|(link, held)| counts[link.index()] += held);
        self.egress.in_flight.iter().for_each(|incoming| counts[incoming.link.index()] += 1);
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
        let (packets, others) = (self.egress.in_flight.peek(), self.egress.calendar.peek());
        packets.into_iter().chain(others).min()
    }

    /// When the current window ends.
    pub(crate) fn window_end(&self) -> Time {
        self.egress.windows.end(self.egress.calendar.now())
    }

    /// All that is before this time is over, in all partitions.
    pub(crate) fn over(&self) -> Time {
        self.over
    }

    /// When the current window began.
    pub(crate) fn window_start(&self) -> Time {
        self.egress.windows.start(self.egress.calendar.now())
    }

    /// When `window` begins.
    pub(crate) fn start_of(&self, window: u64) -> Time {
        self.egress.windows.start(window)
    }

    /// The window that holds `t`.
    pub(crate) fn window_of(&self, t: Time) -> u64 {
        self.egress.windows.of(t)
    }

    /// What `node` sends with.
    #[inline]
    pub(super) fn egress(&mut self, node: NodeId) -> &mut Egress {
        self.egress.node = node;
        &mut self.egress
    }
}
