//! Components run beside the endpoints of a partition: they start flows, follow their ends, place
//! them, or take samples. They do not know each other; each acts on the [`Context`] at its hooks.

use crate::host::inbox::Inbox;
use crate::host::message::Message;
use crate::host::slots::{Host, Sending};
use crate::host::timer;
use crate::plan::{FlowId, PlannedFlow};
use crate::results::passing::Passing;
use crate::results::sample::Sample;
use crate::results::sink::{Buffer, Failure, Limit, Recorded};
use linkpool_engine::Timers;
use linkpool_network::{Egress, Fabric, HostId, LinkId, Network, NodeId, Partitions};
use linkpool_units::Time;
use std::sync::MutexGuard;

/// A component beside the endpoints.
pub(crate) trait Component {
    /// The run is about to begin.
    fn on_start(&mut self, _context: &mut Context) {}

    /// A timer of `node` is due; the component looks whether `key` is one of its own (see
    /// [`crate::host::timer`]).
    fn on_timer(&mut self, _node: NodeId, _key: u64, _network: &mut Egress, _context: &mut Context) {}

    /// `host` has got `message`; the component gives it back if it is not one of its own.
    fn on_message(&mut self, _host: NodeId, message: Message, _context: &mut Context) -> Option<Message> {
        Some(message)
    }

    /// The sender of a flow, or of the first message of a connection that stays open, is about to
    /// open the connection.
    fn on_flow_start(&mut self, _sending: &mut Sending, _context: &mut Context) {}

    /// `flow` has started: its data is given to a connection of its own, or to one that stays open.
    fn on_begin(&mut self, _flow: FlowId, _planned: &PlannedFlow, _context: &mut Context) {}

    /// All data of `flow` has arrived at `ends.1`, from `ends.0`.
    fn on_delivery(&mut self, _flow: FlowId, _ends: (HostId, HostId), _context: &mut Context) {}

    /// `flow` has ended at its sender: it has `finished` (all data is acknowledged), or was given
    /// up.
    fn on_flow_end(&mut self, _flow: FlowId, _planned: &PlannedFlow, _finished: bool, _context: &mut Context) {}

    /// The connection of `sending` has ended at its sender.
    fn on_close(&mut self, _sending: &Sending, _context: &mut Context) {}

    /// The run ends; flows that have not ended are still there.
    fn on_end(&mut self, _network: &mut Network, _context: &mut Context) {}
}

/// The context of components: the hosts of a partition, their timers and messages, and the records.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) now: Time,
    /// The least time of a message between hosts.
    pub(crate) lookahead: Time,
    /// By host; the hosts of other partitions stay empty.
    pub(crate) hosts: Vec<Host>,
    mine: Mine,
    pub(super) timers: Timers,
    /// By host.
    pub(super) inboxes: Vec<Inbox>,
    /// Messages for hosts that other partitions may run; each is due a lookahead after it was sent,
    /// or later.
    pub(super) outbox: Vec<(NodeId, Time, Message)>,
    /// The number of flows that have finished and count for the goal of the run.
    pub(crate) done: u64,
    recorded: Buffer,
}

/// The nodes and the links of a partition.
#[derive(Debug)]
pub(crate) struct Mine {
    /// By node: does the partition run it?
    nodes: Vec<bool>,
    /// By link: does the partition queue packets for it?
    links: Vec<bool>,
}

impl Mine {
    /// Those of partition `me`.
    pub(crate) fn new(fabric: &Fabric, partitions: &Partitions, me: u8) -> Mine {
        Mine {
            nodes: NodeId::first(fabric.nodes()).map(|node| partitions.runs(me, node)).collect(),
            links: LinkId::first(fabric.links().len()).map(|link| partitions.sender(link) == me).collect(),
        }
    }
}

impl Context {
    pub(crate) fn new(hosts: Vec<Host>, mine: Mine, lookahead: Time, recorded: Buffer) -> Context {
        Context {
            now: Time::ZERO,
            lookahead,
            timers: Timers::new(mine.nodes.len()),
            inboxes: hosts.iter().map(|_| Inbox::default()).collect(),
            hosts,
            mine,
            outbox: Vec::new(),
            done: 0,
            recorded,
        }
    }

    /// Does this partition run `node`? Of a switch that is split by output, each does.
    pub(crate) fn is_mine(&self, node: NodeId) -> bool {
        self.mine.nodes[node.index()]
    }

    /// Does this partition queue packets for `link`?
    pub(crate) fn queues_for(&self, link: LinkId) -> bool {
        self.mine.links[link.index()]
    }

    /// The hosts that this partition runs.
    pub(crate) fn my_hosts(&self) -> impl Iterator<Item = NodeId> + use<> {
        let mine: Vec<NodeId> = NodeId::first(self.hosts.len()).filter(|host| self.is_mine(*host)).collect();
        mine.into_iter()
    }

    /// Sets a timer of `node`, which is running or about to run: [`Component::on_timer`] is called
    /// with `key` at `at`.
    pub(crate) fn set_timer(&mut self, node: NodeId, at: Time, key: u64) {
        self.timers.push(node.index(), at, key);
    }

    /// Gives `message` to `host`, which is running or about to run, at `at`.
    pub(crate) fn leave(&mut self, host: NodeId, at: Time, message: Message) {
        self.inboxes[host.index()].insert(at, message);
        self.timers.push(host.index(), at, timer::INBOX);
    }

    /// Drops messages for `host`, which is running, that are not due yet.
    pub(crate) fn cancel(&mut self, host: NodeId, is: impl Fn(&Message) -> bool) {
        self.inboxes[host.index()].cancel(is);
    }

    /// Sends `message` to `host`, which gets it at `at`: a lookahead from now, or later.
    pub(crate) fn send(&mut self, host: NodeId, at: Time, message: Message) {
        self.outbox.push((host, at, message));
    }

    /// Sends `message` from `here` to `host`, which gets it at `at`; if that is another host, a
    /// lookahead from now, or later.
    pub(crate) fn send_or_leave(&mut self, here: NodeId, host: NodeId, at: Time, message: Message) {
        if here == host {
            self.leave(host, at, message);
        } else {
            self.send(host, at, message);
        }
    }

    /// Ends the run: it cannot go on.
    pub(crate) fn fail(&self, what: Limit) {
        self.recorded.fail(Failure { at: self.now, what });
    }

    /// The records of the run.
    pub(crate) fn record(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock()
    }

    /// Records rows of time series.
    pub(crate) fn sample(&self, samples: impl IntoIterator<Item = Sample>) {
        self.recorded.sample(samples);
    }

    /// Records a packet that passes a recorded port.
    pub(crate) fn passing(&self, passing: Passing) {
        self.recorded.passing(passing);
    }

    /// Must the records be taken now?
    pub(crate) fn is_full(&self) -> bool {
        self.recorded.is_full()
    }

    /// The buffer of the records, to record later.
    pub(crate) fn buffer(&self) -> Buffer {
        self.recorded.clone()
    }
}
