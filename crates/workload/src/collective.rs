//! Collective operations, as in training clusters: their messages, and the messages for which each
//! waits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How ranks exchange their data. Of each: its messages, for `size` of data, in `chunks` of which
/// each takes all steps by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveAlgorithm {
    /// All-reduce round a ring: a reduce-scatter, then an all-gather, each in n - 1 steps of 1/n of
    /// the data.
    RingAllReduce,
    /// Reduce-scatter round a ring: n - 1 steps of 1/n of the data.
    RingReduceScatter,
    /// All-gather round a ring: n - 1 steps of 1/n of the data.
    RingAllGather,
    /// Broadcast along a chain: each rank passes the data of rank 0 on to the next.
    ChainBroadcast,
    /// Broadcast down a binomial tree: in round k, each rank below 2^k sends to the rank 2^k
    /// further on (Thakur et al., 2005, section 4.5).
    BinomialBroadcast,
    /// All-reduce by recursive doubling (a butterfly): log2 n steps of all the data; n is a power
    /// of 2 (Thakur et al., 2005, section 4.5).
    DoublingAllReduce,
    /// All-reduce by recursive halving, then doubling, in 2 log2 n steps; n is a power of 2 (Thakur
    /// et al., 2005, section 4.5).
    HalvingDoublingAllReduce,
    /// All-reduce up and down a binary tree: each rank sends the sum of its subtree to its parent,
    /// and the result comes back.
    TreeAllReduce,
    /// All-to-all: rank r sends 1/n of its data to rank r + 1, then to r + 2, and so on, with
    /// `outstanding` messages that are not acknowledged.
    AllToAll,
    /// Reduce up a binomial tree, the reverse of its broadcast: each rank sends the sum of its
    /// subtree to its parent, and rank 0 has the result (Thakur et al., 2005, section 4.5).
    BinomialReduce,
    /// Gather: each rank sends 1/n of the data to rank 0, all at once, as NCCL has it from sends
    /// and receives (NCCL user guide, "Point-to-point communication", all-to-one).
    Gather,
    /// Scatter: rank 0 sends 1/n of the data to each rank, all at once, as NCCL has it from sends
    /// and receives (one-to-all, there).
    Scatter,
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
    /// The messages for which it waits, by places in the list: to its sender, until they have
    /// arrived, or of its sender, until they are acknowledged.
    pub after: Vec<u32>,
    /// The message of its sender that must have started, by its place in the list.
    pub behind: Option<u32>,
}

/// The messages of an operation, as they are added.
#[derive(Debug)]
struct Messages {
    all: Vec<Message>,
    /// By rank: its last message.
    last: Vec<Option<u32>>,
}

impl Messages {
    fn of(ranks: u32) -> Messages {
        Messages { all: Vec::new(), last: vec![None; ranks as usize] }
    }

    /// Adds a message, and returns its place.
    fn send(&mut self, from: u32, to: u32, size: u64, after: impl IntoIterator<Item = u32>) -> u32 {
        let place = self.all.len() as u32;
        let behind = self.last[from as usize].replace(place);
        self.all.push(Message { from, to, size, after: after.into_iter().collect(), behind });
        place
    }

    /// In each of `steps`, every rank sends each chunk to the next rank, which waits for it.
    fn ring(&mut self, n: u32, steps: u32, chunks: u32, size: u64) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); chunks as usize];
        for _ in 0..steps {
            for received in &mut before {
                let now = (0..n).map(|rank| {
                    let from_left = received.get(((rank + n - 1) % n) as usize).copied();
                    self.send(rank, (rank + 1) % n, size, from_left)
                });
                *received = now.collect();
            }
        }
    }

    /// In each step, each rank exchanges a message of some size with the rank at some distance.
    fn butterfly(&mut self, n: u32, chunks: u32, steps: &[(u32, u64)]) {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); chunks as usize];
        let mut distance_before = 0;
        for (distance, size) in steps {
            for received in &mut before {
                let now = (0..n).map(|rank| {
                    let last = received.get((rank ^ distance_before) as usize).copied();
                    self.send(rank, rank ^ distance, *size, last)
                });
                *received = now.collect();
            }
            distance_before = *distance;
        }
    }

    /// Up a binary tree with rank 0 at its root, whose rank r has the parent (r - 1) / 2, and down.
    fn tree(&mut self, n: u32, chunks: u32, size: u64) {
        let mut up = vec![vec![None; n as usize]; chunks as usize];
        for up in &mut up {
            for rank in (1..n).rev() {
                let children: Vec<u32> = (2 * rank + 1..n.min(2 * rank + 3)).filter_map(|c| up[c as usize]).collect();
                up[rank as usize] = Some(self.send(rank, (rank - 1) / 2, size, children));
            }
        }
        for up in up {
            let mut down = vec![None; n as usize];
            for rank in 1..n {
                let parent = (rank - 1) / 2;
                let sums = (1..n.min(3)).filter_map(|c| up[c as usize]);
                let after: Vec<u32> =
                    if parent == 0 { sums.collect() } else { down[parent as usize].into_iter().collect() };
                down[rank as usize] = Some(self.send(parent, rank, size, after));
            }
        }
    }
}

impl CollectiveAlgorithm {
    /// As scenario files and results write it.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveAlgorithm::RingAllReduce => "ring-all-reduce",
            CollectiveAlgorithm::RingReduceScatter => "ring-reduce-scatter",
            CollectiveAlgorithm::RingAllGather => "ring-all-gather",
            CollectiveAlgorithm::ChainBroadcast => "chain-broadcast",
            CollectiveAlgorithm::BinomialBroadcast => "binomial-broadcast",
            CollectiveAlgorithm::DoublingAllReduce => "doubling-all-reduce",
            CollectiveAlgorithm::HalvingDoublingAllReduce => "halving-doubling-all-reduce",
            CollectiveAlgorithm::TreeAllReduce => "tree-all-reduce",
            CollectiveAlgorithm::AllToAll => "all-to-all",
            CollectiveAlgorithm::BinomialReduce => "binomial-reduce",
            CollectiveAlgorithm::Gather => "gather",
            CollectiveAlgorithm::Scatter => "scatter",
        }
    }

    /// Does it need a number of ranks that is a power of 2?
    pub fn needs_power_of_two(self) -> bool {
        matches!(self, CollectiveAlgorithm::DoublingAllReduce | CollectiveAlgorithm::HalvingDoublingAllReduce)
    }

    /// The messages of one operation of `n` ranks, 2 or more.
    pub fn count(self, n: u32, chunks: u32) -> u128 {
        let (n, log) = (u128::from(n), u128::from(n.ilog2()));
        let each_chunk = match self {
            CollectiveAlgorithm::RingAllReduce => 2 * (n - 1) * n,
            CollectiveAlgorithm::RingReduceScatter
            | CollectiveAlgorithm::RingAllGather
            | CollectiveAlgorithm::AllToAll => (n - 1) * n,
            CollectiveAlgorithm::ChainBroadcast
            | CollectiveAlgorithm::BinomialBroadcast
            | CollectiveAlgorithm::BinomialReduce
            | CollectiveAlgorithm::Gather
            | CollectiveAlgorithm::Scatter => n - 1,
            CollectiveAlgorithm::DoublingAllReduce => n * log,
            CollectiveAlgorithm::HalvingDoublingAllReduce => 2 * n * log,
            CollectiveAlgorithm::TreeAllReduce => 2 * (n - 1),
        };
        each_chunk * u128::from(chunks)
    }

    /// So many of the messages of one operation of `n` ranks, 2 or more, are added to the data of
    /// their receiver: they stand before all others.
    pub fn reduced(self, n: u32, chunks: u32) -> usize {
        let (n, log) = (n as usize, n.ilog2() as usize);
        let each_chunk = match self {
            CollectiveAlgorithm::RingAllReduce | CollectiveAlgorithm::RingReduceScatter => (n - 1) * n,
            CollectiveAlgorithm::DoublingAllReduce | CollectiveAlgorithm::HalvingDoublingAllReduce => n * log,
            CollectiveAlgorithm::TreeAllReduce | CollectiveAlgorithm::BinomialReduce => n - 1,
            CollectiveAlgorithm::RingAllGather
            | CollectiveAlgorithm::ChainBroadcast
            | CollectiveAlgorithm::BinomialBroadcast
            | CollectiveAlgorithm::AllToAll
            | CollectiveAlgorithm::Gather
            | CollectiveAlgorithm::Scatter => 0,
        };
        each_chunk * chunks as usize
    }

    /// What all `n` ranks send together, over the data of one.
    pub fn sent(self, n: u32) -> f64 {
        let others = f64::from(n - 1);
        match self {
            CollectiveAlgorithm::RingAllReduce
            | CollectiveAlgorithm::HalvingDoublingAllReduce
            | CollectiveAlgorithm::TreeAllReduce => 2.0 * others,
            CollectiveAlgorithm::DoublingAllReduce => f64::from(n * n.ilog2()),
            CollectiveAlgorithm::RingReduceScatter
            | CollectiveAlgorithm::RingAllGather
            | CollectiveAlgorithm::ChainBroadcast
            | CollectiveAlgorithm::BinomialBroadcast
            | CollectiveAlgorithm::AllToAll
            | CollectiveAlgorithm::BinomialReduce => others,
            CollectiveAlgorithm::Gather | CollectiveAlgorithm::Scatter => others / f64::from(n),
        }
    }

    /// Bus bandwidth over algorithm bandwidth, as nccl-tests define them (PERFORMANCE.md): the
    /// least data that a rank must send or receive, over the data of the operation.
    pub fn bus_factor(self, n: u32) -> f64 {
        let share = f64::from(n - 1) / f64::from(n);
        match self {
            CollectiveAlgorithm::RingAllReduce
            | CollectiveAlgorithm::DoublingAllReduce
            | CollectiveAlgorithm::HalvingDoublingAllReduce
            | CollectiveAlgorithm::TreeAllReduce => 2.0 * share,
            CollectiveAlgorithm::RingReduceScatter
            | CollectiveAlgorithm::RingAllGather
            | CollectiveAlgorithm::AllToAll
            | CollectiveAlgorithm::Gather
            | CollectiveAlgorithm::Scatter => share,
            CollectiveAlgorithm::ChainBroadcast
            | CollectiveAlgorithm::BinomialBroadcast
            | CollectiveAlgorithm::BinomialReduce => 1.0,
        }
    }

    /// The messages of one operation of `n` ranks, 2 or more, with `size` bytes each, in so many
    /// `chunks`; in an all-to-all a rank has so many `outstanding` messages. The messages of a rank
    /// stand in the order in which it sends them.
    pub fn messages(self, n: u32, size: u64, chunks: u32, outstanding: u32) -> Vec<Message> {
        let part = |parts: u32| size.div_ceil(u64::from(parts) * u64::from(chunks)).max(1);
        let mut messages = Messages::of(n);
        match self {
            CollectiveAlgorithm::RingAllReduce => messages.ring(n, 2 * (n - 1), chunks, part(n)),
            CollectiveAlgorithm::RingReduceScatter | CollectiveAlgorithm::RingAllGather => {
                messages.ring(n, n - 1, chunks, part(n));
            }
            CollectiveAlgorithm::ChainBroadcast => {
                for _ in 0..chunks {
                    let mut received = None;
                    for rank in 1..n {
                        received = Some(messages.send(rank - 1, rank, part(1), received));
                    }
                }
            }
            CollectiveAlgorithm::BinomialBroadcast => {
                for _ in 0..chunks {
                    let mut received = vec![None; n as usize];
                    for to in 1..n {
                        let from = to - (1 << to.ilog2());
                        received[to as usize] = Some(messages.send(from, to, part(1), received[from as usize]));
                    }
                }
            }
            CollectiveAlgorithm::BinomialReduce => {
                for _ in 0..chunks {
                    let mut sums: Vec<Vec<u32>> = vec![Vec::new(); n as usize];
                    for from in (1..n).rev() {
                        let to = from - (1 << from.ilog2());
                        let after = std::mem::take(&mut sums[from as usize]);
                        sums[to as usize].push(messages.send(from, to, part(1), after));
                    }
                }
            }
            CollectiveAlgorithm::Gather => {
                for _ in 0..chunks {
                    for from in 1..n {
                        messages.send(from, 0, part(n), None);
                    }
                }
            }
            CollectiveAlgorithm::Scatter => {
                for _ in 0..chunks {
                    for to in 1..n {
                        messages.send(0, to, part(n), None);
                    }
                }
            }
            CollectiveAlgorithm::DoublingAllReduce => {
                let steps: Vec<_> = (0..n.ilog2()).map(|k| (1 << k, part(1))).collect();
                messages.butterfly(n, chunks, &steps);
            }
            CollectiveAlgorithm::HalvingDoublingAllReduce => {
                let halving = (0..n.ilog2()).map(|k| n >> (k + 1));
                let doubling = (0..n.ilog2()).map(|k| 1 << k);
                let steps: Vec<_> = halving.chain(doubling).map(|d| (d, part(n / d))).collect();
                messages.butterfly(n, chunks, &steps);
            }
            CollectiveAlgorithm::TreeAllReduce => messages.tree(n, chunks, part(1)),
            CollectiveAlgorithm::AllToAll => {
                let mut sent: Vec<Vec<u32>> = vec![Vec::new(); n as usize];
                for step in 1..n {
                    for _ in 0..chunks {
                        for from in 0..n {
                            let sent = &mut sent[from as usize];
                            let first = sent.len().checked_sub(outstanding as usize).map(|first| sent[first]);
                            sent.push(messages.send(from, (from + step) % n, part(n), first));
                        }
                    }
                }
            }
        }
        messages.all
    }
}

#[cfg(test)]
mod tests {
    use super::CollectiveAlgorithm::*;
    use super::*;

    const ALL: [CollectiveAlgorithm; 12] = [
        RingAllReduce,
        RingReduceScatter,
        RingAllGather,
        ChainBroadcast,
        BinomialBroadcast,
        DoublingAllReduce,
        HalvingDoublingAllReduce,
        TreeAllReduce,
        AllToAll,
        BinomialReduce,
        Gather,
        Scatter,
    ];

    /// The n - 1 other ranks' data are added once to those of one rank, at whichever rank; with
    /// recursive doubling at all of them, a pair in each of log2 n steps. All that is added comes
    /// before what only copies results.
    #[test]
    fn all_data_are_added_once() {
        for (n, chunks) in [(2, 1), (4, 1), (8, 3)] {
            let size = u64::from(n * chunks) * 10;
            for algorithm in ALL {
                let messages = algorithm.messages(n, size, chunks, 2);
                let reduced = algorithm.reduced(n, chunks);
                let added: u64 = messages[..reduced].iter().map(|m| m.size).sum();
                let expected = match algorithm {
                    RingAllReduce | RingReduceScatter | HalvingDoublingAllReduce | TreeAllReduce | BinomialReduce => {
                        u64::from(n - 1) * size
                    }
                    DoublingAllReduce => u64::from(n * n.ilog2()) * size,
                    RingAllGather | ChainBroadcast | BinomialBroadcast | AllToAll | Gather | Scatter => 0,
                };
                assert_eq!(added, expected, "{algorithm:?} {n} {chunks}");
                // Up the tree to its root, from a greater number to a smaller one; then down.
                let is_up = |m: &Message| m.from > m.to;
                assert!(algorithm != TreeAllReduce || messages.iter().filter(|m| is_up(m)).count() == reduced);
            }
        }
    }

    /// From, to, size and what it waits for.
    fn plain(messages: &[Message]) -> Vec<(u32, u32, u64, &[u32])> {
        messages.iter().map(|m| (m.from, m.to, m.size, &m.after[..])).collect()
    }

    #[test]
    fn a_ring_of_three_by_hand() {
        let m = RingAllReduce.messages(3, 300, 1, 1);
        assert_eq!(m.len(), 12);
        assert!(m.iter().all(|m| m.size == 100 && m.to == (m.from + 1) % 3));
        // In step 1, rank 1 passes on the chunk that rank 0 sent in step 0, after its own of step
        // 0.
        assert_eq!((m[4].from, &m[4].after[..], m[4].behind), (1, &[0][..], Some(1)));
        // In two chunks: the second goes its own way, behind the first.
        let m = RingAllGather.messages(3, 300, 2, 1);
        assert_eq!((m.len(), m[9].from, m[9].size, &m[9].after[..], m[9].behind), (12, 0, 50, &[5][..], Some(6)));
    }

    #[test]
    fn broadcasts_of_four_by_hand() {
        let chain = ChainBroadcast.messages(4, 300, 1, 1);
        assert_eq!(plain(&chain), [(0, 1, 300, &[][..]), (1, 2, 300, &[0][..]), (2, 3, 300, &[1][..])]);
        let tree = BinomialBroadcast.messages(4, 300, 1, 1);
        assert_eq!(plain(&tree), [(0, 1, 300, &[][..]), (0, 2, 300, &[][..]), (1, 3, 300, &[0][..])]);
        assert_eq!(tree[1].behind, Some(0));
    }

    /// Of six ranks, 4 and 5 are below 0 and 1, as 2 and 3 are, and 1 is below 0.
    #[test]
    fn a_reduce_of_six_by_hand() {
        let m = BinomialReduce.messages(6, 300, 1, 1);
        let expected: [(u32, u32, u64, &[u32]); 5] =
            [(5, 1, 300, &[]), (4, 0, 300, &[]), (3, 1, 300, &[]), (2, 0, 300, &[]), (1, 0, 300, &[0, 2])];
        assert_eq!(plain(&m), expected);
        assert_eq!(plain(&Gather.messages(3, 300, 1, 1)), [(1, 0, 100, &[][..]), (2, 0, 100, &[])]);
        assert_eq!(plain(&Scatter.messages(3, 300, 1, 1)), [(0, 1, 100, &[][..]), (0, 2, 100, &[])]);
    }

    #[test]
    fn butterflies_of_four_by_hand() {
        let of_rank_0 =
            |m: &[Message]| -> Vec<(u32, u64)> { m.iter().filter(|m| m.from == 0).map(|m| (m.to, m.size)).collect() };
        let halving = HalvingDoublingAllReduce.messages(4, 400, 1, 1);
        assert_eq!(of_rank_0(&halving), [(2, 200), (1, 100), (1, 100), (2, 200)]);
        assert_eq!(halving[4].after, [2], "rank 0 goes on when it has heard of rank 2");
        assert_eq!(of_rank_0(&DoublingAllReduce.messages(4, 400, 1, 1)), [(1, 400), (2, 400)]);
    }

    /// Ranks 3 and 4 are below 1, which is below 0 with 2.
    #[test]
    fn a_tree_of_five_by_hand() {
        let m = TreeAllReduce.messages(5, 10, 1, 1);
        let expected: [(u32, u32, u64, &[u32]); 8] = [
            (4, 1, 10, &[]),
            (3, 1, 10, &[]),
            (2, 0, 10, &[]),
            (1, 0, 10, &[1, 0]),
            (0, 1, 10, &[3, 2]),
            (0, 2, 10, &[3, 2]),
            (1, 3, 10, &[4]),
            (1, 4, 10, &[4]),
        ];
        assert_eq!(plain(&m), expected);
    }

    #[test]
    fn an_all_to_all_has_a_window() {
        let m = AllToAll.messages(4, 400, 1, 2);
        let of_rank_1: Vec<_> = m.iter().filter(|m| m.from == 1).map(|m| (m.to, m.after.len())).collect();
        assert_eq!(of_rank_1, [(2, 0), (3, 0), (0, 1)]);
        assert_eq!(m[9].after, [1], "the third waits for the ACK of the first");
    }

    /// An all-reduce must move 2 (n - 1) / n of the data out of each rank if it is balanced, a
    /// reduce-scatter, an all-gather and an all-to-all half of this; a broadcast all of it into
    /// each rank but the first. Each waits for messages that end at its sender, and none for a
    /// later one.
    #[test]
    fn each_rank_sends_what_it_must() {
        for (n, chunks) in [(2, 1), (4, 1), (8, 3), (16, 2)] {
            let size = 1024 * u64::from(n * chunks);
            let unit = u64::from(1024 * chunks);
            for collective in ALL {
                let messages = collective.messages(n, size, chunks, 3);
                assert_eq!(messages.len() as u128, collective.count(n, chunks), "{collective:?}");
                let all: u64 = messages.iter().map(|m| m.size).sum();
                assert_eq!(all as f64, collective.sent(n) * size as f64, "{collective:?}");
                for rank in 0..n {
                    let sum =
                        |is: &dyn Fn(&Message) -> bool| messages.iter().filter(|m| is(m)).map(|m| m.size).sum::<u64>();
                    let (sent, received) = (sum(&|m| m.from == rank), sum(&|m| m.to == rank));
                    let others = u64::from(n - 1);
                    match collective {
                        RingAllReduce | HalvingDoublingAllReduce => assert_eq!(sent, 2 * unit * others),
                        RingReduceScatter | RingAllGather | AllToAll => assert_eq!(sent, unit * others),
                        DoublingAllReduce => assert_eq!(sent, size * u64::from(n.ilog2())),
                        ChainBroadcast | BinomialBroadcast => assert_eq!(received, if rank == 0 { 0 } else { size }),
                        TreeAllReduce => assert!(sent >= size && received >= size),
                        BinomialReduce => assert_eq!(sent, if rank == 0 { 0 } else { size }),
                        Gather => assert_eq!((sent, received), if rank == 0 { (0, unit * others) } else { (unit, 0) }),
                        Scatter => assert_eq!((sent, received), if rank == 0 { (unit * others, 0) } else { (0, unit) }),
                    }
                }
                for (i, m) in (0u32..).zip(&messages) {
                    let ends = |a: &u32| [messages[*a as usize].to, messages[*a as usize].from];
                    assert!(m.from != m.to && m.after.iter().all(|a| *a < i && ends(a).contains(&m.from)));
                    assert!(m.behind.is_none_or(|b| b < i && messages[b as usize].from == m.from));
                }
            }
        }
    }

    #[test]
    fn collectives_have_their_names() {
        let names = [
            "ring-all-reduce",
            "ring-reduce-scatter",
            "ring-all-gather",
            "chain-broadcast",
            "binomial-broadcast",
            "doubling-all-reduce",
            "halving-doubling-all-reduce",
            "tree-all-reduce",
            "all-to-all",
            "binomial-reduce",
            "gather",
            "scatter",
        ];
        assert_eq!(ALL.map(CollectiveAlgorithm::name), names);
    }

    /// As nccl-tests: 8 ranks, all-reduce 1.75, all-gather, gather and scatter 0.875, reduce 1.
    #[test]
    fn bus_factors_are_those_of_nccl_tests() {
        assert_eq!(
            [RingAllReduce, RingAllGather, AllToAll, ChainBroadcast, BinomialReduce, Gather, Scatter]
                .map(|c| c.bus_factor(8)),
            [1.75, 0.875, 0.875, 1.0, 1.0, 0.875, 0.875]
        );
    }
}
