//! Programs of ranks: messages to send and to receive, computation, and which waits for which.
//!
//! A program comes from a trace (GOAL, as text or binary, or Chakra), from a collective operation,
//! or from a model in training. [`Programs::matched`] gives each send and receive its channel,
//! [`check`] runs the programs without time to find deadlocks, and a [`Machine`] runs the program
//! of one rank.

mod channels;
mod check;
mod interfaces;
mod machine;
mod operation;
mod rank;
mod training;

pub use check::check;
pub use machine::{Action, Machine};
pub use operation::{Member, Reducing, add_operation};
pub use rank::{Node, Op, Rank, RankBuilder};
use std::mem::discriminant;
pub use training::{RankOrder, Schedule, Training};

/// As a source: a message of any rank matches. As a tag: a message with any tag.
pub const ANY: u32 = u32::MAX;

/// More ranks are taken for a mistake.
pub const MOST_RANKS: u32 = 1 << 20;

/// More nodes would not fit into memory, so they are taken for a mistake.
pub const MOST_NODES: u64 = 100_000_000;

/// The programs of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Programs {
    /// By rank.
    pub ranks: Vec<Rank>,
    /// Where the nodes stand, for messages.
    pub source: Source,
    /// The pairs of ranks of which the first sends to the second, in order; known when matched.
    pub pairs: Vec<(u32, u32)>,
    /// The number of sends; known when matched.
    pub sends: u64,
    /// What they send altogether; known when matched.
    pub bytes: f64,
}

/// Where programs were read. All sources of one kind are equal: a file has several names, and a
/// scenario as run has another than the scenario.
#[derive(Clone, Debug)]
pub enum Source {
    /// Lines of a text file.
    Lines(String),
    /// Nodes of a binary file, counted from 0 in each rank.
    Nodes(String),
    /// Nodes, by their ids, of files of one rank each: the name before `.RANK.et`.
    Files(String),
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        discriminant(self) == discriminant(other)
    }
}

impl Programs {
    /// The programs of `ranks`, which are not matched yet.
    pub fn new(ranks: Vec<Rank>, source: Source) -> Programs {
        Programs { ranks, source, pairs: Vec::new(), sends: 0, bytes: 0.0 }
    }

    /// The number of nodes of all ranks.
    pub fn nodes(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.nodes().len() as u64).sum()
    }

    /// The number of pairs of nodes of which one waits for the other.
    pub fn edges(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.edges() as u64).sum()
    }

    /// Where a node stands: a file with a line, or a file with a rank and a node.
    pub fn place(&self, rank: usize, node: u32) -> String {
        let place = self.ranks[rank].nodes()[node as usize].place;
        match &self.source {
            Source::Lines(file) => format!("{file}:{place}"),
            Source::Nodes(file) => format!("{file}, rank {rank}, node {place}"),
            Source::Files(file) => format!("{file}.{rank}.et, node {place}"),
        }
    }

    /// Where a node stands in its rank's program, in a few words.
    pub fn short_place(&self, rank: usize, node: u32) -> String {
        let place = self.ranks[rank].nodes()[node as usize].place;
        match &self.source {
            Source::Lines(_) => format!("line {place}"),
            Source::Nodes(_) | Source::Files(_) => format!("node {place}"),
        }
    }
}
