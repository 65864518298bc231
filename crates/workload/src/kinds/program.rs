//! Programs of ranks, from traces.

use std::sync::Arc;

use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::job::Job;
use super::{
    Demand, Expected, Failures, JobKind, Pairs, Place, RankHosts, Run, Setting, SizesOf, Stragglers, Workload,
};
use crate::collective::CollectiveAlgorithm;
use crate::program::Programs;

settings! {
    /// Programs of ranks from a trace: messages, computation, and which waits for which.
    pub struct Program {
        /// The file of the trace, relative to the scenario's directory; of Chakra, the files
        /// `FILE.0.et`, `FILE.1.et` and so on, one for each rank.
        file: String, required "all-reduce.goal".to_string();
        /// The format of `file`.
        format: ProgramFormat, required ProgramFormat::Goal;
        /// The SHA-256 of the trace, in hex: another trace is an error. Results have it.
        sha256: Option<String>, from |_p| None => "that of `file`";
        /// The time of one unit of `calc`. LogGOPSim's unit is a nanosecond.
        calc_unit: Time = Time::from_ns(1), within Bounds::SPAN, when |p| p.format.is_goal() => "GOAL";
        /// What `nic`, a network interface of a rank, means. Without it, a `nic` other than 0 is an
        /// error.
        nic: Option<Interfaces> = None, when |p| p.format.is_goal() => "GOAL";
        /// The algorithm of all-reduces.
        all_reduce: CollectiveAlgorithm = CollectiveAlgorithm::RingAllReduce,
            refused |p| !ALL_REDUCES.contains(&p.all_reduce) => "is no all-reduce",
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// The algorithm of broadcasts.
        broadcast: CollectiveAlgorithm = CollectiveAlgorithm::BinomialBroadcast,
            refused |p| !BROADCASTS.contains(&p.broadcast) => "is no broadcast",
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// Parts of the data of a collective operation that take all steps one behind another.
        chunks: u32 = 1, within Bounds::POSITIVE,
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// Parts of a collective operation that a rank takes one after another, each with all
        /// steps. ASTRA-sim calls them `preferred-dataset-splits`.
        splits: u32 = 1, within Bounds::POSITIVE, when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// So many of these parts at a time: `active-chunks-per-dimension` of ASTRA-sim.
        active_splits: u32 = 1, within Bounds::POSITIVE, when |p| p.splits > 1 => "several `splits`";
        /// What a rank sends and takes part in at a time: all that may start, or `"serial"`, one
        /// message or operation, and of nodes that wait, the lowest id first, as ASTRA-sim does.
        communication: Communication = Communication::Parallel,
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// Messages of a rank in an all-to-all that are not acknowledged, at the most.
        outstanding: u32 = 1, within Bounds::POSITIVE,
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// A file with the ranks of each process group: a JSON object of lists, by the names of
        /// groups.
        groups_file: Option<String> = None, when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// Operations per second of a computation that has `num_ops` and no duration: its time is
        /// `num_ops / compute_rate`, or that of its data, if that is longer.
        compute_rate: Option<f64> = None, within Bounds::above(0.0, "{} is no rate; it must be above zero"),
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// The rate of memory: the data of such a computation take `tensor_size / memory_rate`.
        memory_rate: Option<Rate> = None, within Bounds::POSITIVE,
            refused |p| p.memory_rate.is_some() && p.compute_rate.is_none() => "stands beside `compute_rate`; write that, too",
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// The rate at which a rank adds what it receives to its data, in all-reduces and
        /// reduce-scatters. Without it that takes no time.
        reduce_rate: Option<Rate> = None, within Bounds::POSITIVE,
            when |p| p.format == ProgramFormat::Chakra => "`format = \"chakra\"`";
        /// Number of times that each rank runs its program, one after another.
        iterations: u32 = 1, within Bounds::POSITIVE,
            when |p| p.nic != Some(Interfaces::Host) => "traces without `nic = \"host\"`";
        /// Do the messages from one rank to another share a connection, which stays open?
        /// `false`: each message opens a connection of its own.
        persistent: bool, from |_p| true => "true; false with a transport whose connections do not stay open";
    }
    tables {
        /// Ranks that compute slower than others.
        stragglers: Stragglers;
        /// The job fails: all its ranks stop, and go on from the last checkpoint.
        failures: Failures;
    }
    groups {
        /// The hosts of ranks.
        placed: RankHosts;
    }
    others {
        /// The programs, once the trace is read.
        programs: Option<Arc<Programs>> = None;
    }
}

/// The format of a trace of programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramFormat {
    /// GOAL as text.
    Goal,
    /// GOAL as `LogGOPSim` stores it.
    GoalBinary,
    /// Execution traces of MLCommons Chakra.
    Chakra,
    /// Flows of collective operations as SimCCL of SimAI writes them, in CSV.
    Simccl,
}

impl ProgramFormat {
    fn is_goal(self) -> bool {
        matches!(self, ProgramFormat::Goal | ProgramFormat::GoalBinary)
    }
}

/// What a rank sends and takes part in at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Communication {
    /// All that its dependencies allow.
    Parallel,
    /// One message, until it is acknowledged, or one collective operation, as in ASTRA-sim; and of
    /// nodes that wait for the same, the one with the lowest id goes first.
    Serial,
}

/// What the network interfaces of ranks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interfaces {
    /// Nothing: the transport chooses among the ports of a host.
    Ignore,
    /// Hosts: with n interfaces, interface i of rank r is the host at place r n + i, and runs its
    /// part of the program. ATLAHS writes such traces with `--unique-nic`.
    Host,
}

const ALL_REDUCES: [CollectiveAlgorithm; 4] = [
    CollectiveAlgorithm::RingAllReduce,
    CollectiveAlgorithm::DoublingAllReduce,
    CollectiveAlgorithm::HalvingDoublingAllReduce,
    CollectiveAlgorithm::TreeAllReduce,
];

const BROADCASTS: [CollectiveAlgorithm; 2] =
    [CollectiveAlgorithm::ChainBroadcast, CollectiveAlgorithm::BinomialBroadcast];

impl Program {
    fn ranks(&self) -> u32 {
        self.programs.as_ref().map_or(0, |programs| programs.ranks.len() as u32)
    }

    fn job(&self) -> Job<'_> {
        Job {
            ranks: self.ranks().into(),
            iterations: self.iterations,
            placed: &self.placed,
            stragglers: self.stragglers.as_ref(),
            failures: self.failures.as_ref(),
        }
    }

    /// The messages of all iterations.
    fn messages(&self) -> u128 {
        self.programs.as_ref().map_or(0, |p| u128::from(p.sends) * u128::from(self.iterations))
    }

    /// The trace must not name what a run does not follow.
    fn check_interfaces(&self, programs: &Programs, place: &mut Place<'_>) {
        let named = programs.ranks.iter().enumerate().find_map(|(rank, program)| {
            let node = (0u32..).zip(program.nodes()).find(|(_, node)| node.nic != 0);
            node.map(|(i, node)| (programs.place(rank, i), node.nic))
        });
        if let Some((at, nic)) = named {
            let message = format!(
                "{at}: names network interface {nic}; write nic = \"host\" if each interface of a rank is a host, or \
                 nic = \"ignore\" to let the transport choose among the ports of a host"
            );
            place.check(self.nic.is_some(), "file", message);
        }
    }
}

impl Workload for Program {
    /// The scenario has read the trace, and checked it.
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_persistent(&mut self.persistent);
        let Some(programs) = self.programs.clone() else { return };
        place.check(programs.sends > 0, "file", "no rank of the trace sends a message");
        let key = if place.has("iterations") { "iterations" } else { "file" };
        place.check_few_flows(key, self.messages().max(u128::from(self.ranks()) * u128::from(self.iterations)));
        let numbers = u128::from(programs.nodes()) * u128::from(self.iterations);
        let most = u128::from(u32::MAX);
        place.check(numbers <= most, key, format!("{numbers} nodes of all iterations; at most {most}"));
        let interfaces = self.nic == Some(Interfaces::Host);
        let what = if interfaces { "interfaces of ranks of the trace" } else { "ranks of the trace" };
        self.placed.complete((self.ranks().into(), what), "file", place);
        self.check_interfaces(&programs, place);
        self.job().check(place);
        let message = "a job whose ranks have several hosts (nic = \"host\") has no checkpoints";
        place.check(self.failures.is_none() || !interfaces, "failures", message);
    }

    fn expected(&self, _: &Setting) -> Expected {
        let (pairs, bytes) = self.programs.as_ref().map_or((0, 0.0), |p| (p.pairs.len(), p.bytes));
        let flows = self.messages() as f64;
        // Connections that stay open, or as many messages as ranks that send one each.
        let at_once = if self.persistent { pairs as f64 } else { f64::from(self.ranks()).min(flows) };
        Expected { flows, at_once, listed: false, bytes: bytes * f64::from(self.iterations) }
    }

    fn demand(&self, run: &Run) -> Demand {
        self.job().demand(self.programs.as_ref(), self.calc_unit, run)
    }

    fn nodes(&self) -> (u64, u64) {
        self.programs.as_ref().map_or((0, 0), |programs| (programs.nodes(), programs.edges()))
    }

    fn persistent(&self) -> bool {
        self.persistent
    }

    fn sizes(&self) -> SizesOf {
        let (sends, bytes) = self.programs.as_ref().map_or((0, 0.0), |p| (p.sends, p.bytes));
        SizesOf { name: "messages".into(), interpolation: None, mean: (sends > 0).then(|| bytes / sends as f64) }
    }

    fn listed(&self) -> Option<u32> {
        // After a failure, messages are sent again.
        self.failures.is_none().then(|| self.messages() as u32)
    }

    fn jobs(&self, kind: &'static str) -> Option<JobKind> {
        Some(JobKind { name: kind, operation: None })
    }

    fn pairs(&self, _: u32) -> Pairs {
        self.job().pairs(self.programs.as_ref())
    }
}
