//! Collective operations, as in training clusters: their messages, and the messages for which each
//! waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How ranks exchange their data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveAlgorithm {
    /// All-reduce round a ring: a reduce-scatter, then an all-gather, each in n - 1 steps of a
    /// chunk of 1/n.
    RingAllReduce,
    /// All-reduce by recursive halving, then doubling, in 2 log2 n steps; n is a power of 2 (Thakur
    /// et al., 2005, section 4.4).
    TreeAllReduce,
    /// All-to-all by pairs: in step s, rank r sends 1/n of its data to rank r + s.
    AllToAll,
}

/// One message of a collective operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Sending rank.
    pub from: u32,
    /// Receiving rank.
    pub to: u32,
    /// Payload, bytes.
    pub size: u64,
    /// The messages that the sender has received and sent in the step before, by places in the
    /// list.
    pub after: Vec<u32>,
}

/// The receiver of each rank in a step.
#[derive(Clone, Copy)]
enum Step {
    /// The rank this many places on, round the end.
    Round(u32),
    /// To the rank whose number differs in this bit.
    Across(u32),
}

impl CollectiveAlgorithm {
    /// As scenario files and results write it.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveAlgorithm::RingAllReduce => "ring-all-reduce",
            CollectiveAlgorithm::TreeAllReduce => "tree-all-reduce",
            CollectiveAlgorithm::AllToAll => "all-to-all",
        }
    }

    /// The messages of one operation of `n` ranks, 2 or more, with `size` bytes each. Step s of
    /// rank r is message s n + r.
    pub fn messages(self, n: u32, size: u64) -> Vec<Message> {
        let chunk = |parts: u64| size.div_ceil(parts).max(1);
        let all = u64::from(n);
        let steps: Vec<(Step, u64)> = match self {
            CollectiveAlgorithm::RingAllReduce => (0..2 * (n - 1)).map(|_| (Step::Round(1), chunk(all))).collect(),
            CollectiveAlgorithm::TreeAllReduce => {
                let halving = (0..n.ilog2()).map(|k| n >> (k + 1));
                let doubling = (0..n.ilog2()).map(|k| 1 << k);
                let step = |distance: u32| (Step::Across(distance), chunk(all / u64::from(distance)));
                halving.chain(doubling).map(step).collect()
            }
            CollectiveAlgorithm::AllToAll => (1..n).map(|s| (Step::Round(s), chunk(all))).collect(),
        };
        let mut messages: Vec<Message> = Vec::new();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); n as usize];
        for (step, size) in steps {
            let mut next = vec![Vec::new(); n as usize];
            for (from, after) in (0..n).zip(before) {
                let to = match step {
                    Step::Round(places) => (from + places) % n,
                    Step::Across(distance) => from ^ distance,
                };
                // A step is over for a rank when it has received its message and its own message is
                // acknowledged: no step overtakes another.
                next[to as usize].push(messages.len() as u32);
                next[from as usize].push(messages.len() as u32);
                messages.push(Message { from, to, size, after });
            }
            before = next;
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_of_three_by_hand() {
        let m = CollectiveAlgorithm::RingAllReduce.messages(3, 300);
        assert_eq!(m.len(), 12);
        assert!(m.iter().all(|m| m.size == 100 && m.to == (m.from + 1) % 3));
        // In step 1, rank 1 passes on the chunk that rank 0 sent in step 0.
        assert_eq!((m[4].from, &m[4].after[..], m[1].after.len()), (1, &[0, 1][..], 0));
    }

    #[test]
    fn a_tree_of_four_by_hand() {
        let m = CollectiveAlgorithm::TreeAllReduce.messages(4, 400);
        let of_rank_0: Vec<_> = m.iter().filter(|m| m.from == 0).map(|m| (m.to, m.size)).collect();
        assert_eq!(of_rank_0, [(2, 200), (1, 100), (1, 100), (2, 200)]);
        assert_eq!(m[4].after, [0, 2], "rank 0 goes on when it has heard of rank 2");
    }

    /// An all-reduce must move 2 (n - 1) / n of the data out of each rank, whatever the way; an
    /// all-to-all half of this.
    #[test]
    fn each_rank_sends_what_it_must() {
        for n in [2, 4, 8, 16] {
            let size = 1024 * u64::from(n);
            for (collective, times) in [
                (CollectiveAlgorithm::RingAllReduce, 2),
                (CollectiveAlgorithm::TreeAllReduce, 2),
                (CollectiveAlgorithm::AllToAll, 1),
            ] {
                for rank in 0..n {
                    let messages = collective.messages(n, size);
                    let sent: u64 = messages.iter().filter(|m| m.from == rank).map(|m| m.size).sum();
                    assert_eq!(sent, times * 1024 * u64::from(n - 1), "{collective:?} of {n}");
                    assert!(messages.iter().all(|m| {
                        m.from != m.to
                            && m.after
                                .iter()
                                .all(|a| [messages[*a as usize].to, messages[*a as usize].from].contains(&m.from))
                    }));
                }
            }
        }
    }

    #[test]
    fn collectives_have_their_names() {
        let all =
            [CollectiveAlgorithm::RingAllReduce, CollectiveAlgorithm::TreeAllReduce, CollectiveAlgorithm::AllToAll];
        assert_eq!(all.map(CollectiveAlgorithm::name), ["ring-all-reduce", "tree-all-reduce", "all-to-all"]);
    }
}
