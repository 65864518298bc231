//! Collective operations, one after the other, of one group of ranks or of several.

use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, HostId, Time, counted};

use super::{Demand, Expected, JobKind, Operation, Pairs, Place, Run, Setting, SizesOf, Wait, Workload};
use crate::collective::{CollectiveAlgorithm, Message};
use crate::flow::Flow;
use crate::program::{Member, Node, Op, Programs, RankBuilder, Source, add_operation};

settings! {
    /// Collective operations, as in training clusters.
    #[derive(Copy)]
    pub struct Collective {
        /// How ranks exchange their data.
        algorithm: CollectiveAlgorithm, required CollectiveAlgorithm::RingAllReduce;
        /// Number of ranks of a group.
        ranks: u32, from |_c| u32::MAX => "all hosts from `first_host` on, `stride` apart",
            within Bounds::from(2.0, "a group of {} has nothing to exchange; write 2 ranks or more");
        /// Index of the host of the first rank.
        first_host: u32 = 0;
        /// From the host of a rank to the host of the next rank of its group.
        stride: u32 = 1, within Bounds::POSITIVE;
        /// Groups of ranks, side by side: each has operations of its own.
        groups: u32 = 1, within Bounds::POSITIVE;
        /// From the first host of a group to the first host of the next group.
        group_stride: u32, from |_c| u32::MAX => "`ranks` times `stride`: one group behind another",
            within Bounds::POSITIVE, when |c| c.groups > 1 => "several `groups`";
        /// Data of each rank; of an all-gather after it, of a reduce-scatter before it.
        size: u64 as Bytes, required 100_000_000, within Bounds::POSITIVE;
        /// Parts of the data that take all steps one behind another, each by itself.
        chunks: u32 = 1, within Bounds::POSITIVE;
        /// Messages of a rank that are not acknowledged, at the most.
        outstanding: u32 = 1, within Bounds::POSITIVE,
            when |c| c.algorithm == CollectiveAlgorithm::AllToAll => "`algorithm = \"all-to-all\"`";
        /// Operations, one after the other.
        iterations: u32 = 1, within Bounds::POSITIVE;
        /// Do the messages from one rank to another share a connection, which stays open, as in
        /// communication libraries? `false`: each message opens a connection of its own.
        persistent: bool, from |_c| true => "true; false with a transport whose connections do not stay open";
        /// From the end of an operation at a rank to its next.
        compute: Time = Time::ZERO, within Bounds::SPAN;
    }
}

impl Collective {
    /// The messages of one operation of one group.
    fn messages(&self) -> Vec<Message> {
        self.algorithm.messages(self.ranks, self.size, self.chunks, self.outstanding)
    }

    /// The number of those.
    fn count(&self) -> u128 {
        self.algorithm.count(self.ranks, self.chunks)
    }

    /// The operations of all groups.
    fn operations(&self) -> u32 {
        self.iterations * self.groups
    }

    /// The host of a rank.
    fn host(&self, group: u32, rank: u32) -> HostId {
        (self.first_host + group * self.group_stride + rank * self.stride).into()
    }

    /// Which flows wait for which. Operation `o` is of group `o % groups`; its flows are its
    /// `messages` in their order.
    fn waits(&self, messages: &[Message]) -> Vec<Wait> {
        let mut waits = Vec::new();
        let n = messages.len() as u32;
        // By rank: the messages with which an operation ends there.
        let mut last: Vec<Vec<u32>> = vec![Vec::new(); self.ranks as usize];
        (0..).zip(messages).for_each(|(i, m)| last[m.to as usize].push(i));
        for rank in 0..self.ranks {
            if last[rank as usize].is_empty() {
                // It receives nothing, so it is done when its messages are acknowledged.
                last[rank as usize] = (0..n).filter(|i| messages[*i as usize].from == rank).collect();
            }
        }
        for operation in 0..self.operations() {
            let place = |i: u32| operation * n + i;
            for (i, m) in (0..).zip(messages) {
                waits.extend(m.after.iter().map(|before| Wait::for_end(place(*before), place(i))));
                waits.extend(m.behind.map(|before| Wait::for_start(place(before), place(i))));
                if let (None, Some(previous)) = (m.behind, operation.checked_sub(self.groups)) {
                    let delay = self.compute;
                    let last = last[m.from as usize].iter();
                    waits.extend(last.map(|j| Wait { delay, ..Wait::for_end(previous * n + j, place(i)) }));
                }
            }
        }
        waits
    }

    /// The same operations as programs: rank r of group g is rank g `ranks` + r. None if they have
    /// too many nodes. Where the operation says when the next one begins, `compute` after it, a
    /// calc of nanoseconds stands.
    pub fn programs(&self) -> Option<Programs> {
        let messages = self.messages();
        let mut ranks: Vec<RankBuilder> = Vec::new();
        ranks.resize_with((self.ranks * self.groups) as usize, RankBuilder::default);
        let calc = Node { size: self.compute.0 / 1000, peer: 0, tag: 0, place: 0, op: Op::Calc, cpu: 0, nic: 0 };
        for group in 0..self.groups {
            let mut last: Vec<Vec<u32>> = vec![Vec::new(); self.ranks as usize];
            for iteration in 0..self.iterations {
                let mut members = Vec::new();
                for (rank, last) in (group * self.ranks..).zip(&last) {
                    let program = &mut ranks[rank as usize];
                    let entry = if iteration > 0 { Some(program.add(calc)?) } else { None };
                    last.iter().for_each(|before| program.requires(entry.unwrap_or(0), *before));
                    members.push(Member { rank, entry, exit: None, place: 0 });
                }
                let first_tag = u32::try_from(u64::from(iteration) * messages.len() as u64).ok()?;
                last = add_operation(&messages, &members, (first_tag, 0), None, &mut ranks)?;
            }
        }
        let ranks: Option<Vec<_>> = ranks.into_iter().map(RankBuilder::finish).collect();
        Some(Programs::new(ranks?, Source::Nodes("collective".to_string())))
    }

    /// Checks the hosts of ranks.
    fn complete_hosts(&mut self, place: &mut Place<'_>) {
        let hosts = place.hosts;
        let rest = hosts.saturating_sub(self.first_host);
        if !place.has("ranks") {
            place.check(self.groups == 1, "ranks", "missing: each of several groups has so many ranks");
            self.ranks = rest.div_ceil(self.stride);
        }
        let ranks = self.ranks;
        if !place.has("group_stride") {
            self.group_stride = ranks.saturating_mul(self.stride);
        }
        let reach = |times: u32, stride: u32| u128::from(times.saturating_sub(1)) * u128::from(stride);
        let last = u128::from(self.first_host) + reach(ranks, self.stride) + reach(self.groups, self.group_stride);
        let message = match (self.groups, self.first_host, self.stride) {
            (1, 0, 1) => format!("{} among {hosts} hosts; write 2 to {hosts}", counted(ranks, "rank")),
            _ => format!("the last rank would be on host number {last}, counted from 0, among {hosts} hosts"),
        };
        let fits = ranks >= 2 && last < u128::from(hosts);
        place.check(fits, "ranks", message);
        let apart = u64::from(ranks) * u64::from(self.groups) <= u64::from(hosts);
        let shared = "two groups would share a host; each host has one rank at the most";
        place.check(!fits || apart, "group_stride", shared);
        if fits && apart {
            let ranks = (0..self.groups).flat_map(|group| (0..ranks).map(move |rank| (group, rank)));
            let mut taken: Vec<HostId> = ranks.map(|(group, rank)| self.host(group, rank)).collect();
            taken.sort_unstable();
            let apart = taken.windows(2).all(|pair| pair[0] != pair[1]);
            place.check(apart, "group_stride", shared);
        }
    }
}

impl Workload for Collective {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_persistent(&mut self.persistent);
        self.complete_hosts(place);
        let ranks = self.ranks;
        let power = !self.algorithm.needs_power_of_two() || ranks.is_power_of_two();
        place.check(power, "ranks", format!("recursive halving and doubling need a power of 2, not {ranks}"));
        if ranks >= 2 {
            // Waiting flows are held in memory by pairs.
            let operations = u128::from(self.iterations) * u128::from(self.groups);
            place.check_few_flows("iterations", 4 * self.count() * operations);
        }
    }

    fn expected(&self, _: &Setting) -> Expected {
        let operations = f64::from(self.operations());
        let bytes = self.algorithm.sent(self.ranks) * self.size as f64 * operations;
        let at_once = f64::from(self.ranks) * f64::from(self.groups);
        Expected { flows: self.count() as f64 * operations, at_once, listed: true, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        let messages = self.messages();
        let flow = |operation: u32, m: &Message| {
            let group = operation % self.groups;
            let waits = !m.after.is_empty() || m.behind.is_some() || operation >= self.groups;
            let start = if waits { Time::ZERO } else { run.start };
            let ends = (self.host(group, m.from), self.host(group, m.to));
            Flow { job: Some(operation), ..Flow::new(ends, Some(m.size), start) }
        };
        let listed = (0..self.operations()).flat_map(|o| messages.iter().map(move |m| flow(o, m))).collect();
        Demand { listed, waits: self.waits(&messages), ..Demand::default() }
    }

    fn persistent(&self) -> bool {
        self.persistent
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::listed("messages", self.messages().iter().map(|m| m.size))
    }

    fn listed(&self) -> Option<u32> {
        Some(self.count() as u32 * self.operations())
    }

    fn jobs(&self, _: &'static str) -> Option<JobKind> {
        let bus_factor = self.algorithm.bus_factor(self.ranks);
        let operation = Operation { ranks: self.ranks, size: self.size, flows: self.count() as u32, bus_factor };
        Some(JobKind { name: self.algorithm.name(), operation: Some(operation) })
    }

    fn pairs(&self, _: u32) -> Pairs {
        if self.algorithm == CollectiveAlgorithm::AllToAll {
            return Pairs::Any { in_rack: true };
        }
        let one = self.algorithm.messages(self.ranks, 1, 1, 1);
        let of = |group: u32| one.iter().map(move |m| (self.host(group, m.from), self.host(group, m.to)));
        let mut pairs: Vec<_> = (0..self.groups).flat_map(of).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Pairs::Listed(pairs)
    }
}
