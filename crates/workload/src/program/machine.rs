//! Runs the program of a rank: which nodes may start, which have ended, and which message matches
//! which receive. It knows no time and no network: its user carries out the actions.
//!
//! A calc of more than 0 units occupies its processor; other calcs and sends of this processor wait
//! until it is free, in the order in which they became ready. Receives, and calcs of 0 units, which
//! join dependencies, need no processor. Where a rank has one message at a time
//! ([`RankBuilder::take_turns`](super::RankBuilder::take_turns)), sends, and operations from their
//! first node to their last, occupy a processor, too, and of all nodes that wait for a processor,
//! that with the lowest place starts first: so ASTRA-sim does it (`HardwareResource::is_available`,
//! `Workload::issue_dep_free_nodes`). A receive ends when a message that matches has arrived
//! whole. Messages with one source and one tag match receives in the order in which they arrive;
//! with wildcards, the first receive that matches, in the order in which receives started, takes
//! the first message that matches, in the order in which messages arrived.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::rank::Turns;
use super::{ANY, Node, Op, Rank};

/// What the user of a machine must do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send the message of this node, then call [`Machine::ended`].
    Send(u32),
    /// Let the time of this node pass, then call [`Machine::ended`].
    Calculate(u32),
    /// Call [`Machine::told`] of that rank with its node.
    Tell(u32, u32),
}

/// No node.
const NONE: u32 = u32::MAX;

/// The place of a node's state that says that it has started, or ended.
const STARTED: u32 = u32::MAX - 1;
const ENDED: u32 = u32::MAX;

/// The receives that have started, in order, and the messages that have arrived for none of them,
/// of one source and one tag. One of both is empty.
#[derive(Clone, Copy, Debug)]
struct Channel {
    first: u32,
    last: u32,
    arrived: u32,
}

/// The same where wildcards may match.
#[derive(Debug, Default)]
struct Wild {
    receives: VecDeque<u32>,
    /// Source and tag.
    arrived: VecDeque<(u32, u32)>,
}

#[derive(Debug, Default)]
struct Cpu {
    is_busy: bool,
    waiting: VecDeque<u32>,
    /// The same where nodes start in order of their places: with these.
    in_order: BinaryHeap<Reverse<(u32, u32)>>,
}

/// A rank that runs its program.
#[derive(Debug)]
pub struct Machine<'p> {
    rank: &'p Rank,
    /// What it has one at a time.
    turns: Option<&'p Turns>,
    /// By node: the number of nodes for which it still waits; or [`STARTED`], or [`ENDED`].
    state: Vec<u32>,
    /// By node: the receive that started after it on its channel.
    next: Vec<u32>,
    channels: Vec<Channel>,
    wild: Option<Wild>,
    cpus: Vec<Cpu>,
    /// Nodes that may start.
    ready: VecDeque<u32>,
    /// Other ranks with their nodes, which must be told.
    tell: Vec<(u32, u32)>,
    /// The nodes that have not ended.
    left: u32,
    /// Of these, receives and calcs of more than 0 units.
    left_here: u32,
}

impl<'p> Machine<'p> {
    /// At rest, before the first iteration.
    pub fn new(rank: &'p Rank) -> Machine<'p> {
        let channel = Channel { first: NONE, last: NONE, arrived: 0 };
        Machine {
            rank,
            turns: rank.turns.as_ref(),
            state: Vec::new(),
            next: vec![NONE; rank.nodes().len()],
            channels: vec![channel; if rank.wild { 0 } else { rank.channel_count as usize }],
            wild: rank.wild.then(Wild::default),
            cpus: (0..rank.cpus()).map(|_| Cpu::default()).collect(),
            ready: VecDeque::new(),
            tell: Vec::new(),
            left: 0,
            left_here: 0,
        }
    }

    /// The same without turns: all that may start starts.
    pub(super) fn without_turns(rank: &'p Rank) -> Machine<'p> {
        Machine { turns: None, ..Machine::new(rank) }
    }

    /// Begins an iteration; the one before has ended. Messages that have arrived early stay.
    pub fn begin(&mut self, actions: &mut Vec<Action>) {
        debug_assert_eq!(self.left, 0, "an iteration is under way");
        self.state.clear();
        self.state.extend_from_slice(self.rank.needs());
        self.left = self.state.len() as u32;
        self.left_here = self.rank.nodes().iter().filter(|node| is_of_the_rank(node)).count() as u32;
        self.ready.extend((0u32..).zip(&self.state).filter(|(_, needs)| **needs == 0).map(|(node, _)| node));
        self.advance(actions);
    }

    /// Have all nodes ended?
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The nodes that have not ended.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Have all receives and calcs of more than 0 units ended? Each message ends with its receive,
    /// and not with its acknowledgement; a calc of 0 units may wait for that.
    pub fn has_received_all(&self) -> bool {
        self.left_here == 0
    }

    /// Has `node` started?
    pub fn has_started(&self, node: u32) -> bool {
        self.state[node as usize] >= STARTED
    }

    /// Has `node` ended?
    pub fn has_ended(&self, node: u32) -> bool {
        self.state[node as usize] == ENDED
    }

    /// The first node that has not ended: one that has started, if there is one.
    pub fn first_left(&self) -> Option<u32> {
        let place = |wanted: &dyn Fn(u32) -> bool| self.state.iter().position(|state| wanted(*state));
        let found = place(&|state| state == STARTED).or_else(|| place(&|state| state != ENDED));
        found.map(|node| node as u32)
    }

    /// A send or a calc has ended.
    pub fn ended(&mut self, node: u32, actions: &mut Vec<Action>) {
        let Node { op, cpu, .. } = self.rank.nodes()[node as usize];
        let cpu = usize::from(cpu);
        if op == Op::Calc || self.takes_turn(node) {
            self.cpus[cpu].is_busy = false;
        }
        self.end(node);
        while op == Op::Calc && !self.cpus[cpu].is_busy {
            let Some(waiting) = self.cpus[cpu].waiting.pop_front() else { break };
            self.start(waiting, actions);
        }
        self.advance(actions);
    }

    /// The message of `send`, a node of rank `from`, has arrived whole. `channel` is its channel.
    pub fn arrived(&mut self, from: u32, send: &Node, channel: u32, actions: &mut Vec<Action>) {
        let receive = match &mut self.wild {
            None => {
                let channel = &mut self.channels[channel as usize];
                let first = channel.first;
                if first == NONE {
                    channel.arrived += 1;
                    return;
                }
                channel.first = self.next[first as usize];
                first
            }
            Some(wild) => {
                let rank = self.rank;
                let takes = |node: &u32| matches(&rank.nodes()[*node as usize], (from, send.tag));
                let Some(place) = wild.receives.iter().position(takes) else {
                    wild.arrived.push_back((from, send.tag));
                    return;
                };
                wild.receives.remove(place).expect("it is there")
            }
        };
        self.end(receive);
        self.advance(actions);
    }

    /// A node of another rank, for which `node` waits, has started or ended as `node` wants it.
    pub fn told(&mut self, node: u32, actions: &mut Vec<Action>) {
        self.waits_for_one_less(node);
        self.advance(actions);
    }

    /// Starts all nodes that may start.
    fn advance(&mut self, actions: &mut Vec<Action>) {
        loop {
            while let Some(node) = self.ready.pop_front() {
                let Node { op, size, cpu, place, .. } = self.rank.nodes()[node as usize];
                if self.turns.is_some() && (op == Op::Calc && size > 0 || self.takes_turn(node)) {
                    self.cpus[usize::from(cpu)].in_order.push(Reverse((place, node)));
                } else {
                    self.start(node, actions);
                }
            }
            if self.turns.is_none() {
                break;
            }
            let free = self.cpus.iter_mut().filter(|cpu| !cpu.is_busy && !cpu.in_order.is_empty());
            let Some(cpu) = free.max_by_key(|cpu| cpu.in_order.peek().copied()) else { break };
            let Some(Reverse((_, node))) = cpu.in_order.pop() else { break };
            self.start(node, actions);
        }
        actions.extend(self.tell.drain(..).map(|(rank, node)| Action::Tell(rank, node)));
    }

    /// Does `node` occupy the processor of what the rank has one at a time?
    fn takes_turn(&self, node: u32) -> bool {
        self.turns.is_some_and(|turns| {
            let Node { op, cpu, .. } = self.rank.nodes()[node as usize];
            cpu == turns.cpu && (op == Op::Send || turns.first.binary_search(&node).is_ok())
        })
    }

    /// Starts `node`, or lets it wait for its processor.
    fn start(&mut self, node: u32, actions: &mut Vec<Action>) {
        let Node { op, size, cpu, .. } = self.rank.nodes()[node as usize];
        match op {
            Op::Calc if size == 0 => {
                if self.takes_turn(node) {
                    self.cpus[usize::from(cpu)].is_busy = true;
                }
                self.started(node);
                self.end(node);
                if let Some(turns) = self.turns.filter(|turns| turns.last.binary_search(&node).is_ok()) {
                    self.cpus[usize::from(turns.cpu)].is_busy = false;
                }
            }
            Op::Recv => {
                self.started(node);
                if self.receive(node) {
                    self.end(node);
                }
            }
            Op::Send | Op::Calc => {
                let takes_turn = self.takes_turn(node);
                let processor = &mut self.cpus[usize::from(cpu)];
                if processor.is_busy {
                    processor.waiting.push_back(node);
                    return;
                }
                processor.is_busy = op == Op::Calc || takes_turn;
                self.started(node);
                actions.push(if op == Op::Calc { Action::Calculate(node) } else { Action::Send(node) });
            }
        }
    }

    /// Has a message arrived for this receive? Otherwise it waits for one.
    fn receive(&mut self, node: u32) -> bool {
        let Some(wild) = &mut self.wild else {
            let channel = &mut self.channels[self.rank.channel(node) as usize];
            if channel.arrived > 0 {
                channel.arrived -= 1;
                return true;
            }
            self.next[node as usize] = NONE;
            match channel.first {
                NONE => channel.first = node,
                _ => self.next[channel.last as usize] = node,
            }
            channel.last = node;
            return false;
        };
        let receive = &self.rank.nodes()[node as usize];
        let Some(place) = wild.arrived.iter().position(|message| matches(receive, *message)) else {
            wild.receives.push_back(node);
            return false;
        };
        wild.arrived.remove(place);
        true
    }

    fn started(&mut self, node: u32) {
        self.state[node as usize] = STARTED;
        self.inform(node, true);
    }

    fn end(&mut self, node: u32) {
        self.state[node as usize] = ENDED;
        self.left -= 1;
        self.left_here -= u32::from(is_of_the_rank(&self.rank.nodes()[node as usize]));
        self.inform(node, false);
    }

    /// `node` has started, or ended: the nodes that wait for that wait for one node less.
    fn inform(&mut self, node: u32, start: bool) {
        let rank = self.rank;
        for (follower, on_start) in rank.followers(node) {
            if on_start == start {
                self.waits_for_one_less(follower);
            }
        }
        if rank.is_tied() {
            self.tell.extend(rank.ties(node, start));
        }
    }

    fn waits_for_one_less(&mut self, node: u32) {
        let state = &mut self.state[node as usize];
        *state -= 1;
        if *state == 0 {
            self.ready.push_back(node);
        }
    }
}

/// Is the node a receive, or a calc that takes time?
fn is_of_the_rank(node: &Node) -> bool {
    node.op == Op::Recv || node.op == Op::Calc && node.size > 0
}

/// May `receive` take a message with this source and tag?
fn matches(receive: &Node, (source, tag): (u32, u32)) -> bool {
    (receive.peer == ANY || receive.peer == source) && (receive.tag == ANY || tag == ANY || receive.tag == tag)
}
