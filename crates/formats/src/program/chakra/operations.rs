//! The collective operations of a trace: which ranks take part, with which nodes.

use linkpool_units::counted;
use std::collections::HashMap;

use super::{ChakraRules, NONE, REDUCING};
use linkpool_workload::program::{Member, Reducing, add_operation};
use linkpool_workload::program::{Node, Op, RankBuilder};
use linkpool_workload::{CollectiveAlgorithm, Message};

/// Tags of messages of operations begin here; those of other messages are below it.
pub(super) const FIRST_TAG: u32 = 1 << 31;

/// What an operation does; all its ranks must agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct What {
    pub(super) algorithm: CollectiveAlgorithm,
    /// The data of a rank, as [`CollectiveAlgorithm::messages`] counts it.
    pub(super) size: u64,
    /// The rank that has the data of a broadcast or a scatter, or gets those of a reduce or a
    /// gather; none: the first of the group.
    pub(super) root: Option<u32>,
}

#[derive(Debug)]
struct Operation {
    group: u32,
    what: What,
    /// With the id of the node.
    members: Vec<Member>,
}

/// The operations of all ranks: the k-th of a group at one rank is the k-th at its other ranks.
#[derive(Debug)]
pub(super) struct Operations<'r> {
    pub(super) rules: &'r ChakraRules,
    /// The ranks of each group: all of them, then those that have names.
    groups: Vec<Vec<u32>>,
    names: HashMap<&'r str, u32>,
    all: Vec<Operation>,
    /// Computations whose time was taken from their operations.
    pub(super) estimated: u64,
    /// By group and number: its place.
    places: HashMap<(u32, u32), usize>,
}

impl<'r> Operations<'r> {
    pub(super) fn new(rules: &'r ChakraRules, ranks: u32) -> Operations<'r> {
        let mut groups = vec![(0..ranks).collect()];
        groups.extend(rules.groups.values().cloned());
        let names = rules.groups.keys().map(String::as_str).zip(1..).collect();
        Operations { rules, groups, names, all: Vec::new(), estimated: 0, places: HashMap::new() }
    }

    /// The group with this name, or of all ranks without one.
    pub(super) fn group(&self, name: Option<&str>) -> Option<u32> {
        name.map_or(Some(0), |name| self.names.get(name).copied())
    }

    /// Is there none?
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The ranks of a group.
    pub(super) fn ranks(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }

    /// `member` takes part in operation `number` of `group`.
    pub(super) fn join(&mut self, (group, number): (u32, u32), what: What, member: Member) -> Result<(), String> {
        let new = self.all.len();
        let place = *self.places.entry((group, number)).or_insert(new);
        if place == new {
            self.all.push(Operation { group, what, members: Vec::new() });
        }
        let operation = &mut self.all[place];
        if let Some(first) = operation.members.first().filter(|_| operation.what != what) {
            return Err(format!(
                "operation {number} of the group is {}, {}, and at rank {} {}, {} (node {})",
                what.algorithm.name(),
                counted(what.size, "byte"),
                first.rank,
                operation.what.algorithm.name(),
                counted(operation.what.size, "byte"),
                first.place,
            ));
        }
        operation.members.push(member);
        Ok(())
    }

    /// Adds the messages of all operations to the programs. Does `reduce_rate` decide something? An
    /// error has the rank of a file.
    pub(super) fn add_to(self, builders: &mut [RankBuilder]) -> Result<bool, (u32, String)> {
        let (mut tag, mut reduced) = (FIRST_TAG, false);
        for Operation { group, what, members } in &self.all {
            let ranks = &self.groups[*group as usize];
            let of: HashMap<u32, Member> = members.iter().map(|member| (member.rank, *member)).collect();
            let first = members[0];
            let at = |why: String| (first.rank, format!("node {}: {why}", first.place));
            let missing = ranks.iter().find(|rank| !of.contains_key(rank));
            if let Some(rank) = missing {
                return Err(at(format!("rank {rank} of its group never takes part in this operation")));
            }
            let root = what.root.map_or(Some(0), |root| ranks.iter().position(|rank| *rank == root));
            let root = root.ok_or_else(|| at(format!("its root {:?} is no rank of its group", what.root)))?;
            // From the root on, round the end.
            let order: Vec<Member> =
                ranks[root..].iter().chain(&ranks[..root]).filter_map(|rank| of.get(rank).copied()).collect();
            let splits = self.rules.splits;
            let messages = self.messages(What { size: what.size.div_ceil(splits.into()), ..*what }, order.len() as u32);
            let reducing = self.rules.reduce_rate.map(|rate| {
                let messages =
                    if messages.is_empty() { 0 } else { what.algorithm.reduced(order.len() as u32, self.rules.chunks) };
                Reducing { rate, cpu: REDUCING, messages }
            });
            reduced |= reducing.is_some_and(|reducing| reducing.messages > 0);
            let too_many = || at("too many messages of operations".to_string());
            let mut parts: Vec<Vec<Member>> = Vec::new();
            for split in 0..splits as usize {
                let before = split.checked_sub(self.rules.active_splits as usize).map(|before| &parts[before]);
                let part = if splits == 1 { Some(order.clone()) } else { part_of(&order, before, builders) };
                let part = part.ok_or_else(too_many)?;
                let next = tag.checked_add(messages.len() as u32);
                let next = next.ok_or_else(|| at("more than 2,147,483,648 messages of operations".to_string()))?;
                add_operation(&messages, &part, (tag, NONE), reducing, builders).ok_or_else(too_many)?;
                tag = next;
                parts.push(part);
            }
        }
        Ok(reduced)
    }

    fn messages(&self, what: What, ranks: u32) -> Vec<Message> {
        if ranks < 2 {
            return Vec::new();
        }
        what.algorithm.messages(ranks, what.size, self.rules.chunks, self.rules.outstanding)
    }
}

/// A split of an operation at its members: it begins there with the operation, or when the split
/// `before` has ended there, and the operation waits for its end. None if there are too many nodes.
fn part_of(members: &[Member], before: Option<&Vec<Member>>, builders: &mut [RankBuilder]) -> Option<Vec<Member>> {
    let node = |place| Node { size: 0, peer: 0, tag: 0, place, op: Op::Calc, cpu: NONE, nic: 0 };
    let part = members.iter().enumerate().map(|(i, member)| {
        let rank = &mut builders[member.rank as usize];
        let (entry, exit) = (rank.add(node(member.place))?, rank.add(node(member.place))?);
        let begin = before.map_or(member.entry, |before| before[i].exit);
        begin.into_iter().for_each(|begin| rank.requires(entry, begin));
        rank.requires(exit, entry);
        member.exit.into_iter().for_each(|end| rank.requires(end, exit));
        Some(Member { entry: Some(entry), exit: Some(exit), ..*member })
    });
    part.collect()
}
