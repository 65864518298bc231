//! Collective operations as parts of programs: the sends and receives of each rank.

use super::{MOST_NODES, Node, Op, RankBuilder};
use crate::collective::Message;
use linkpool_units::Rate;

/// A rank that takes part in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its number among all ranks.
    pub rank: u32,
    /// Its node after which it may send, if there is one.
    pub entry: Option<u32>,
    /// Its node that waits until it has received everything, if there is one.
    pub exit: Option<u32>,
    /// The place of its nodes, for messages.
    pub place: u32,
}

/// How ranks add what they receive to their data.
#[derive(Clone, Copy, Debug)]
pub struct Reducing {
    /// Of data received.
    pub rate: Rate,
    /// The processor that is busy with it.
    pub cpu: u8,
    /// So many messages are added, the first ones.
    pub messages: usize,
}

impl Reducing {
    /// Nanoseconds for so many bytes, to the nearest.
    fn nanoseconds(&self, bytes: u64) -> u64 {
        let ns = (u128::from(bytes) * 8_000_000_000 + u128::from(self.rate.0) / 2) / u128::from(self.rate.0);
        ns.try_into().unwrap_or(u64::MAX)
    }
}

/// Adds the `messages` of an operation to the programs of its `members`; message i has the tag
/// `first_tag` + i, so each matches one receive, and is sent by processor `cpu`. The result is, by
/// member, the nodes with which the operation ends there: its receives, or what reduces them, or,
/// if it receives nothing, its sends. None if there are too many nodes.
pub fn add_operation(
    messages: &[Message],
    members: &[Member],
    (first_tag, cpu): (u32, u8),
    reducing: Option<Reducing>,
    ranks: &mut [RankBuilder],
) -> Option<Vec<Vec<u32>>> {
    let all: usize = ranks.iter().map(RankBuilder::len).sum();
    let reduced = reducing.map_or(0, |reducing| reducing.messages);
    if (all + 2 * messages.len() + reduced) as u64 > MOST_NODES {
        return None;
    }
    let [mut receives, mut sends] = [vec![0u32; messages.len()], vec![0u32; messages.len()]];
    let mut last: Vec<(Vec<u32>, Vec<u32>)> = vec![Default::default(); members.len()];
    for (i, m) in messages.iter().enumerate() {
        let (from, to) = (members[m.from as usize], members[m.to as usize]);
        let tag = first_tag + i as u32;
        let node = |op, peer, place| Node { size: m.size, peer, tag, place, op, cpu, nic: 0 };
        let reducing = reducing.filter(|_| i < reduced);
        let sender = &mut ranks[from.rank as usize];
        sends[i] = sender.add(node(Op::Send, to.rank, from.place))?;
        for before in &m.after {
            let before = *before as usize;
            let here = if messages[before].to == m.from { receives[before] } else { sends[before] };
            sender.requires(sends[i], here);
        }
        match (m.behind, from.entry) {
            (Some(before), _) => sender.irequires(sends[i], sends[before as usize]),
            (None, Some(entry)) => sender.requires(sends[i], entry),
            (None, None) => {}
        }
        let receiver = &mut ranks[to.rank as usize];
        receives[i] = receiver.add(node(Op::Recv, from.rank, to.place))?;
        if let Some(reducing) = reducing {
            let size = reducing.nanoseconds(m.size);
            let calc = Node { size, peer: 0, tag: 0, place: to.place, op: Op::Calc, cpu: reducing.cpu, nic: 0 };
            let received = std::mem::replace(&mut receives[i], receiver.add(calc)?);
            receiver.requires(receives[i], received);
        }
        last[m.to as usize].0.push(receives[i]);
        last[m.from as usize].1.push(sends[i]);
    }
    let last: Vec<Vec<u32>> =
        last.into_iter().map(|(receives, sends)| if receives.is_empty() { sends } else { receives }).collect();
    for (member, last) in members.iter().zip(&last) {
        let rank = &mut ranks[member.rank as usize];
        if let Some(exit) = member.exit {
            last.iter().chain(&member.entry).for_each(|before| rank.requires(exit, *before));
        }
    }
    Some(last)
}
