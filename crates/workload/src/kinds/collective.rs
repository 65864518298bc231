//! Collective operations, one after the other.

use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Time};

use super::{Demand, Expected, JobKind, Operation, Pairs, Place, Run, Setting, SizesOf, Workload};
use crate::collective::{CollectiveAlgorithm, Message};
use crate::flow::Flow;

settings! {
    /// Collective operations, as in training clusters.
    #[derive(Copy)]
    pub struct Collective {
        /// How ranks exchange their data.
        algorithm: CollectiveAlgorithm, required CollectiveAlgorithm::RingAllReduce;
        /// How many of the hosts take part, from the first on.
        ranks: u32, from |_c| u32::MAX => "all hosts", within Bounds::from(2.0, "{} ranks have nothing to exchange");
        /// Data of each rank.
        size: u64 as Bytes, required 100_000_000, within Bounds::POSITIVE;
        /// Operations, one after the other.
        iterations: u32 = 1, within Bounds::POSITIVE;
        /// Do the messages from one rank to another share a connection, which stays open, as in
        /// communication libraries? `false`: each message opens a connection of its own.
        persistent: bool, from |_c| true => "true; false with NDP, which has no connections";
        /// From the end of an operation at a rank to its next.
        compute: Time = Time::ZERO, within Bounds::SPAN;
    }
}

impl Collective {
    /// The messages of one operation.
    fn messages(&self) -> Vec<Message> {
        self.algorithm.messages(self.ranks, self.size)
    }

    /// Which flows wait for which. The flows of each operation are its `messages` in their order.
    fn waits(&self, messages: &[Message]) -> Vec<(u32, u32)> {
        let mut waits = Vec::new();
        let n = messages.len() as u32;
        for iteration in 0..self.iterations {
            for (i, m) in (0..).zip(messages) {
                let place = iteration * n + i;
                waits.extend(m.after.iter().map(|before| (iteration * n + before, place)));
                // A rank is done with an operation when it has received all that is for it.
                if m.after.is_empty() && iteration > 0 {
                    let received = (0..).zip(messages).filter(|(_, other)| other.to == m.from);
                    waits.extend(received.map(|(j, _): (u32, _)| ((iteration - 1) * n + j, place)));
                }
            }
        }
        waits
    }
}

impl Workload for Collective {
    fn complete(&mut self, place: &mut Place<'_>) {
        let hosts = place.hosts;
        if !place.has("ranks") {
            self.ranks = hosts;
        }
        place.complete_persistent(&mut self.persistent);
        let ranks = self.ranks;
        place.check(ranks <= hosts, "ranks", format!("{ranks} ranks among {hosts} hosts; write 2 to {hosts}"));
        let power = self.algorithm != CollectiveAlgorithm::TreeAllReduce || ranks.is_power_of_two();
        place.check(power, "ranks", format!("recursive halving needs a power of 2, not {ranks}"));
        let steps = match self.algorithm {
            CollectiveAlgorithm::RingAllReduce => 2 * u128::from(ranks),
            CollectiveAlgorithm::AllToAll => u128::from(ranks),
            CollectiveAlgorithm::TreeAllReduce => 64,
        };
        // Waiting flows are held in memory by pairs.
        place.check_few_flows("iterations", 4 * steps * u128::from(ranks) * u128::from(self.iterations));
    }

    fn expected(&self, _: &Setting) -> Expected {
        let (n, iterations) = (f64::from(self.ranks), f64::from(self.iterations));
        // Steps, and what a rank sends over the data that it has.
        let (steps, share) = match self.algorithm {
            CollectiveAlgorithm::TreeAllReduce => (2.0 * f64::from(self.ranks.ilog2()), 2.0),
            CollectiveAlgorithm::RingAllReduce => (2.0 * (n - 1.0), 2.0 * (n - 1.0) / n),
            CollectiveAlgorithm::AllToAll => (n - 1.0, (n - 1.0) / n),
        };
        let bytes = share * n * self.size as f64 * iterations;
        Expected { flows: n * steps * iterations, at_once: n, listed: true, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        let messages = self.messages();
        let flow = |iteration: u32, m: &Message| {
            let first = m.after.is_empty();
            let start = if !first {
                Time::ZERO
            } else if iteration == 0 {
                run.start
            } else {
                self.compute
            };
            Flow { job: Some(iteration), ..Flow::new((m.from.into(), m.to.into()), Some(m.size), start) }
        };
        let listed = (0..self.iterations).flat_map(|i| messages.iter().map(move |m| flow(i, m))).collect();
        Demand { listed, waits: self.waits(&messages), ..Demand::default() }
    }

    fn persistent(&self) -> bool {
        self.persistent
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::listed("messages", self.messages().iter().map(|m| m.size))
    }

    fn listed(&self) -> Option<u32> {
        Some(self.messages().len() as u32 * self.iterations)
    }

    fn jobs(&self, _: &'static str) -> Option<JobKind> {
        let operation = Operation { ranks: self.ranks, size: self.size, flows: self.messages().len() as u32 };
        Some(JobKind { name: self.algorithm.name(), operation: Some(operation) })
    }

    fn pairs(&self, _: u32) -> Pairs {
        let ranks = self.ranks;
        let pair = |from: u32, to: u32| (from.into(), to.into());
        match self.algorithm {
            CollectiveAlgorithm::RingAllReduce => {
                Pairs::Listed((0..ranks).map(|rank| pair(rank, (rank + 1) % ranks)).collect())
            }
            CollectiveAlgorithm::TreeAllReduce => {
                let across = |bit: u32| (0..ranks).map(move |rank| pair(rank, rank ^ (1 << bit)));
                Pairs::Listed((0..ranks.ilog2()).flat_map(across).collect())
            }
            CollectiveAlgorithm::AllToAll => Pairs::Any { in_rack: true },
        }
    }
}
