//! The program of one rank: its nodes, and for each node the nodes that wait for it.

use super::{ANY, MOST_NODES};

/// The kind of a node; the numbers are those of binary GOAL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    /// Sends a message.
    Send = 1,
    /// Receives a message.
    Recv = 2,
    /// Computes.
    Calc = 3,
}

impl Op {
    /// Its name in GOAL.
    pub fn name(self) -> &'static str {
        match self {
            Op::Send => "send",
            Op::Recv => "recv",
            Op::Calc => "calc",
        }
    }
}

/// A node of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Bytes of a message; units of time of a calc.
    pub size: u64,
    /// The rank at the other end, or [`ANY`] of a receive; 0 of a calc.
    pub peer: u32,
    /// The tag of a message, or [`ANY`]; 0 of a calc.
    pub tag: u32,
    /// Its line, or its number.
    pub place: u32,
    /// What it does.
    pub op: Op,
    /// The processor that computes, or that sends.
    pub cpu: u8,
    /// The network interface: a rank of its own in [`super::Programs::by_interface`]; else kept for
    /// files, as the transport chooses among the ports of a host.
    pub nic: u8,
}

impl Node {
    /// In the words of GOAL.
    pub fn text(&self) -> String {
        let or_any = |n: u32| if n == ANY { "-1".to_string() } else { n.to_string() };
        let Node { size, op, .. } = self;
        match op {
            Op::Calc => format!("calc {size}"),
            Op::Send => format!("send {size}b to {} tag {}", self.peer, or_any(self.tag)),
            Op::Recv => format!("recv {size}b from {} tag {}", or_any(self.peer), or_any(self.tag)),
        }
    }
}

/// A follower waits for the start, not the end, of the node before it.
const ON_START: u32 = 1 << 31;

/// A node of another rank waits for a node of this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tie {
    /// The node of this rank.
    pub before: u32,
    /// For its start, not its end.
    pub on_start: bool,
    /// The other rank, and its node.
    pub after: (u32, u32),
}

/// What a rank does one at a time: messages, and operations from their first node to their last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Turns {
    /// The processor of these nodes, which each occupies.
    pub cpu: u8,
    /// The first nodes of operations, in order.
    pub first: Vec<u32>,
    /// Their last nodes, in order.
    pub last: Vec<u32>,
}

/// The program of a rank: 44 bytes a node with its channel, and 4 for each pair of nodes of which
/// one waits for the other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rank {
    nodes: Vec<Node>,
    /// By node: how many it waits for.
    needs: Vec<u32>,
    /// By node: where its followers begin.
    first: Vec<u32>,
    /// The nodes that wait for a node, and on what.
    followers: Vec<u32>,
    /// The nodes of other ranks that wait for nodes of this one, in order of these.
    ties: Vec<Tie>,
    /// By node: the channel of a message, at its receiver.
    pub(super) channels: Vec<u32>,
    /// The number of its channels, on which it receives.
    pub(super) channel_count: u32,
    /// May a message match by a wildcard here?
    pub(super) wild: bool,
    /// Does it send one message at a time? Then nodes start in order of their places, too.
    pub(super) turns: Option<Turns>,
}

impl Rank {
    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of nodes for which each node waits.
    pub fn needs(&self) -> &[u32] {
        &self.needs
    }

    /// The number of pairs of nodes of which one waits for the other.
    pub fn edges(&self) -> usize {
        self.followers.len()
    }

    /// The nodes that wait for `node`, each with: does it wait for its start?
    pub fn followers(&self, node: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let range = self.first[node as usize] as usize..self.first[node as usize + 1] as usize;
        self.followers[range].iter().map(|follower| (follower & !ON_START, follower & ON_START != 0))
    }

    /// Do nodes of other ranks wait for nodes of this one?
    pub fn is_tied(&self) -> bool {
        !self.ties.is_empty()
    }

    /// The nodes of other ranks that wait for the start or the end of `node`.
    pub(super) fn ties(&self, node: u32, on_start: bool) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first = self.ties.partition_point(|tie| tie.before < node);
        let of = self.ties[first..].iter().take_while(move |tie| tie.before == node);
        of.filter(move |tie| tie.on_start == on_start).map(|tie| tie.after)
    }

    /// Does it send one message, or take part in one operation, at a time?
    pub fn takes_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// The channel of a message, at its receiver.
    pub fn channel(&self, node: u32) -> u32 {
        self.channels[node as usize]
    }

    /// The number of processors that it names.
    pub(super) fn cpus(&self) -> usize {
        self.nodes.iter().map(|node| usize::from(node.cpu) + 1).max().unwrap_or(0)
    }
}

/// Builds the program of a rank, node by node.
#[derive(Debug, Default)]
pub struct RankBuilder {
    nodes: Vec<Node>,
    /// Pairs: before, and after with what it waits for.
    pairs: Vec<(u32, u32)>,
    ties: Vec<Tie>,
    /// Nodes that wait for nodes of other ranks, once for each of these.
    tied: Vec<u32>,
    turns: Option<Turns>,
}

impl RankBuilder {
    /// Adds a node, and returns its number; none if there are too many.
    pub fn add(&mut self, node: Node) -> Option<u32> {
        let number = self.nodes.len() as u32;
        if u64::from(number) >= MOST_NODES {
            return None;
        }
        self.nodes.push(node);
        Some(number)
    }

    /// The number of nodes so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Has it no nodes?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// `after` waits for the end of `before`.
    pub fn requires(&mut self, after: u32, before: u32) {
        self.pairs.push((before, after));
    }

    /// `after` waits for the start of `before`.
    pub fn irequires(&mut self, after: u32, before: u32) {
        self.pairs.push((before, after | ON_START));
    }

    /// Sends of processor `cpu` occupy it, so the rank has one of them at a time; and of all nodes
    /// that wait for a processor, that with the lowest place starts first.
    pub fn take_turns(&mut self, cpu: u8) {
        self.turns = Some(Turns { cpu, first: Vec::new(), last: Vec::new() });
    }

    /// An operation, from its `first` node to its `last`, occupies the processor of these sends, if
    /// they take turns. `first` is a calc of 0 units there.
    pub fn takes_turn(&mut self, first: u32, last: u32) {
        if let Some(turns) = &mut self.turns {
            turns.first.push(first);
            turns.last.push(last);
        }
    }

    /// A node of another rank waits for one of this rank.
    pub(super) fn tell(&mut self, tie: Tie) {
        self.ties.push(tie);
    }

    /// `after` waits for a node of another rank, which has a [`Tie`] to it.
    pub(super) fn is_told(&mut self, after: u32) {
        self.tied.push(after);
    }

    /// The program; none if too many nodes wait for each other.
    pub fn finish(self) -> Option<Rank> {
        let RankBuilder { mut nodes, pairs, mut ties, tied, mut turns } = self;
        u32::try_from(pairs.len()).ok()?;
        ties.sort_by_key(|tie| tie.before);
        if let Some(turns) = &mut turns {
            turns.first.sort_unstable();
            turns.last.sort_unstable();
        }
        nodes.shrink_to_fit();
        let (mut needs, mut first) = (vec![0u32; nodes.len()], vec![0u32; nodes.len() + 1]);
        for (before, after) in &pairs {
            needs[(after & !ON_START) as usize] += 1;
            first[*before as usize + 1] += 1;
        }
        tied.iter().for_each(|after| needs[*after as usize] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        // A counting sort, which keeps the order of the followers of a node.
        let (mut next, mut followers) = (first.clone(), vec![0; pairs.len()]);
        for (before, after) in pairs {
            let place = &mut next[before as usize];
            followers[*place as usize] = after;
            *place += 1;
        }
        let channels = vec![0; nodes.len()];
        Some(Rank { nodes, needs, first, followers, ties, channels, channel_count: 0, wild: false, turns })
    }
}
