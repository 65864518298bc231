//! Programs of ranks on their hosts, and the numbers of their messages.

use crate::plan::ids::{LabelId, TransportId};
use crate::plan::planned::{PlannedFlow, by_size};
use linkpool_network::HostId;
use linkpool_units::Time;
use linkpool_workload::kinds::RankPrograms;
use linkpool_workload::program::Programs;
use linkpool_workload::{Flow, Restarts, SlowRanks};
use std::sync::Arc;

/// The programs of the ranks of a workload, and how their messages are carried.
#[derive(Clone, Debug)]
pub struct PlannedPrograms {
    /// The programs.
    pub programs: Arc<Programs>,
    /// By rank: its host.
    pub hosts: Vec<HostId>,
    /// When all ranks begin.
    pub start: Time,
    /// How often each rank runs its program.
    pub iterations: u32,
    /// The time of a unit of computation.
    pub unit: Time,
    /// Ranks that compute slower than that, if there are any.
    pub slow: Option<SlowRanks>,
    /// When the job fails, and from where it goes on, if it does.
    pub restarts: Option<Restarts>,
    /// The transport of messages.
    pub transport: TransportId,
    /// Messages below this many bytes have this other transport.
    pub small: Option<(u64, TransportId)>,
    /// The label of messages.
    pub label: LabelId,
    /// By rank: the number of nodes of all ranks before it; then that of all.
    before: Vec<u64>,
    /// The number of nodes, iterations included, of the programs of all workloads before.
    first: u64,
}

/// A message of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageOf {
    /// How often the job of its sender had begun again.
    pub restart: u32,
    /// The iteration of its sender.
    pub iteration: u32,
    /// The sending rank.
    pub rank: u32,
    /// The node that sends it.
    pub node: u32,
}

impl PlannedPrograms {
    pub(crate) fn new(
        RankPrograms { programs, hosts, iterations, unit, slow, restarts }: RankPrograms,
        start: Time,
        (transport, small, label): (TransportId, Option<(u64, TransportId)>, LabelId),
        first: u64,
    ) -> PlannedPrograms {
        let mut before = vec![0];
        for rank in &programs.ranks {
            before.push(before[before.len() - 1] + rank.nodes().len() as u64);
        }
        PlannedPrograms {
            programs,
            hosts,
            start,
            iterations,
            unit,
            slow,
            restarts,
            transport,
            small,
            label,
            before,
            first,
        }
    }

    /// How long a rank computes for so many units: usually, and in this iteration.
    pub(crate) fn computation(&self, units: u64, rank: u32, iteration: u32) -> (Time, Time) {
        let usual = Time(self.unit.0.saturating_mul(units));
        (usual, self.slow.as_ref().map_or(usual, |slow| slow.time(usual, rank, iteration)))
    }

    /// How many times as long as the others a rank computes.
    pub(crate) fn slowdown(&self, rank: u32, iteration: u32) -> f64 {
        self.slow.as_ref().map_or(1.0, |slow| slow.slowdown(rank, iteration))
    }

    fn nodes(&self) -> u64 {
        self.before[self.before.len() - 1]
    }

    /// The number of nodes, iterations included, of these and all programs before.
    pub(crate) fn end(&self) -> u64 {
        let restarts = self.restarts.as_ref().map_or(0, |restarts| restarts.failures.len() as u64);
        self.first + self.nodes() * u64::from(self.iterations) * (1 + restarts)
    }

    /// The number of a message: that of its node among the nodes of all iterations; those after each
    /// restart follow those before.
    pub(crate) fn number(&self, MessageOf { restart, iteration, rank, node }: MessageOf) -> u64 {
        let iterations = u64::from(restart) * u64::from(self.iterations) + u64::from(iteration);
        self.first + iterations * self.nodes() + self.before[rank as usize] + u64::from(node)
    }

    /// The message with this number.
    pub(crate) fn message(&self, number: u64) -> MessageOf {
        let (iterations, place) = ((number - self.first) / self.nodes(), (number - self.first) % self.nodes());
        let of_job = u64::from(self.iterations);
        let (restart, iteration) = ((iterations / of_job) as u32, (iterations % of_job) as u32);
        let rank = self.before.partition_point(|before| *before <= place) - 1;
        MessageOf { restart, iteration, rank: rank as u32, node: (place - self.before[rank]) as u32 }
    }

    /// The flow of a message that starts at `start`. One without data has a byte, as something must
    /// arrive.
    pub(crate) fn flow(&self, MessageOf { iteration, rank, node, .. }: MessageOf, start: Time) -> PlannedFlow {
        let send = &self.programs.ranks[rank as usize].nodes()[node as usize];
        let size = Some(send.size.max(1));
        let ends = (self.hosts[rank as usize], self.hosts[send.peer as usize]);
        let flow = Flow { job: Some(iteration), ..Flow::new(ends, size, start) };
        PlannedFlow { flow, transport: by_size(self.small, size, self.transport), label: self.label }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{FlowId, Plan};

    /// Two nodes of rank 0 and three of rank 1.
    const GOAL: &str = "num_ranks 2\nrank 0 {\nl1: send 1000b to 1\nl2: recv 1000b from 1\nl2 requires l1\n}\n\
                        rank 1 {\nl1: recv 1000b from 0\nl2: calc 10\nl3: send 1000b to 0\nl2 requires l1\nl3 requires l2\n}\n";

    /// One node of rank 0 and two of rank 1.
    const SHORT: &str = "num_ranks 2\nrank 0 {\nl1: send 10b to 1\n}\nrank 1 {\nl1: recv 10b from 0\nl2: calc 10\n}\n";

    /// A listed flow, programs that run twice, and others that run three times: the nodes of all
    /// iterations have the numbers that follow, one after another.
    #[test]
    fn messages_have_numbers_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("two.goal"), GOAL).unwrap();
        std::fs::write(directory.path().join("three.goal"), SHORT).unwrap();
        let program = |label: &str, iterations: u32| {
            format!(
                "[[workload.program]]\ntransport = \"t\"\nfile = \"{label}.goal\"\nformat = \"goal\"\nlabel = \"{label}\"\n\
                 iterations = {iterations}\n"
            )
        };
        let text = format!(
            "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"10Gbps\"\ndelay = \"2us\"\n[transport.t]\n\
             control = \"reno\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1KB\"\n{}{}",
            program("two", 2),
            program("three", 3)
        );
        let path = directory.path().join("test.toml");
        let plan = Plan::new(&linkpool_scenario::load(&text, path.to_str().unwrap(), None, &[]).unwrap());
        let mut next = 1;
        let nodes = [&[(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)][..], &[(0, 0), (1, 0), (1, 1)][..]];
        for ((programs, iterations), nodes) in [(0, 2), (1, 3)].into_iter().zip(nodes) {
            for iteration in 0..iterations {
                for &(rank, node) in nodes {
                    let message = MessageOf { restart: 0, iteration, rank, node };
                    assert_eq!(plan.message_id(programs, message), Some(FlowId::new(next)));
                    assert_eq!(plan.of_programs(FlowId::new(next)), Some((programs, message)));
                    next += 1;
                }
            }
        }
        assert_eq!((next, plan.of_programs(FlowId::new(next)), plan.of_programs(FlowId::new(0))), (20, None, None));
        // Of a job that may fail twice, the messages after each restart follow those before.
        let failing = text
            .replace("iterations = 2", "iterations = 2\nfailures = { at = [\"1us\", \"2us\"], recovery = \"1ms\" }");
        let failing = Plan::new(&linkpool_scenario::load(&failing, path.to_str().unwrap(), None, &[]).unwrap());
        for (restart, iteration, number) in [(0, 0, 1), (0, 1, 6), (1, 0, 11), (1, 1, 16), (2, 0, 21), (2, 1, 26)] {
            let message = MessageOf { restart, iteration, rank: 0, node: 0 };
            assert_eq!(failing.message_id(0, message), Some(FlowId::new(number)));
            assert_eq!(failing.of_programs(FlowId::new(number)), Some((0, message)));
        }
        let next = MessageOf { restart: 0, iteration: 0, rank: 0, node: 0 };
        assert_eq!(failing.message_id(1, next), Some(FlowId::new(31)));
        let message = MessageOf { restart: 0, iteration: 1, rank: 0, node: 0 };
        let flow = plan.programs[0].flow(message, Time::from_us(7)).flow;
        assert_eq!((flow.job, flow.size, flow.start), (Some(1), Some(1_000), Time::from_us(7)));
        assert_eq!((flow.src, flow.dst), (HostId::new(0), HostId::new(1)));
    }
}
