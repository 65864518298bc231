//! Chakra execution traces (MLCommons): a file for each rank, `NAME.RANK.et`, of protobuf messages,
//! each behind its length. Computation becomes calcs of nanoseconds, and collective operations the
//! sends and receives of the algorithms of [`CollectiveAlgorithm`].

mod operations;
mod proto;
mod rank;
mod roofline;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Read;

use linkpool_units::{Rate, counted};
use linkpool_workload::CollectiveAlgorithm;
use linkpool_workload::program::{MOST_RANKS, Programs, RankBuilder, Source};
use operations::Operations;
pub use roofline::Roofline;

/// Processors of a rank: of computations on the CPU, and of all others.
const CPU: u8 = 0;
const GPU: u8 = 1;
/// Of nodes that join others, and of messages of operations: they do not occupy it.
const NONE: u8 = 2;
/// What adds what operations receive.
const REDUCING: u8 = 3;
/// Of messages, and of operations, which occupy it if a rank has one of them at a time. Memory has
/// no other then, as in ASTRA-sim.
const COMMUNICATION: u8 = 4;
/// Of memory, if a rank has any number of messages at a time.
const MEMORY: u8 = 5;

/// How collective operations of a trace are carried out.
#[derive(Clone, Debug)]
pub struct ChakraRules {
    /// Of all-reduces.
    pub all_reduce: CollectiveAlgorithm,
    /// Of broadcasts.
    pub broadcast: CollectiveAlgorithm,
    /// Parts of the data that take all steps one behind another.
    pub chunks: u32,
    /// Parts of an operation that a rank takes one after another.
    pub splits: u32,
    /// So many of these at a time.
    pub active_splits: u32,
    /// Does a rank send one message, or take part in one operation, at a time, and do nodes start
    /// in order of their ids?
    pub serial: bool,
    /// Messages of a rank in an all-to-all that are not acknowledged.
    pub outstanding: u32,
    /// The ranks of each process group, by its name. A node without a group is of all ranks.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// The time of computations that have operations and no time; none: they are an error.
    pub roofline: Option<Roofline>,
    /// The rate at which ranks add what they receive to their data; none: that takes no time.
    pub reduce_rate: Option<Rate>,
}

/// Reads the programs of the files `name.0.et` and so on; `open` opens the file of a rank, of which
/// there are `ranks`.
///
/// # Errors
///
/// A message that begins with a file, and names the node.
pub fn read_chakra<R: Read>(
    name: &str,
    ranks: u32,
    rules: &ChakraRules,
    open: impl Fn(u32) -> Result<R, String>,
) -> Result<Programs, String> {
    if ranks > MOST_RANKS {
        return Err(format!("{name}: {ranks} files; at most {MOST_RANKS}"));
    }
    let outside = |(_, members): &(&String, &Vec<u32>)| members.iter().any(|rank| *rank >= ranks);
    if let Some((group, members)) = rules.groups.iter().find(outside) {
        return Err(format!(
            "{name}: group {group:?} has ranks {members:?}, and the trace has {}",
            counted(ranks, "file")
        ));
    }
    let mut operations = Operations::new(rules, ranks);
    let mut builders: Vec<RankBuilder> = Vec::new();
    for rank in 0..ranks {
        let file = format!("{name}.{rank}.et");
        let input = open(rank).map_err(|why| format!("{file}: {why}"))?;
        let builder = rank::read((rank, ranks), input, &mut operations);
        builders.push(builder.map_err(|why| format!("{file}: {why}"))?);
    }
    if rules.roofline.is_some() && operations.estimated == 0 {
        return Err(format!(
            "{name}: no computation has num_ops and no duration, so compute_rate decides nothing; leave it out"
        ));
    }
    if rules.splits > 1 && operations.is_empty() {
        return Err(format!("{name}: there is no collective operation, so splits decides nothing; leave it out"));
    }
    let reduced = operations.add_to(&mut builders).map_err(|(rank, why)| format!("{name}.{rank}.et: {why}"))?;
    if rules.reduce_rate.is_some() && !reduced {
        return Err(format!("{name}: no operation reduces data, so reduce_rate decides nothing; leave it out"));
    }
    let all: Option<Vec<_>> = builders.into_iter().map(RankBuilder::finish).collect();
    let all = all.ok_or_else(|| format!("{name}: too many dependencies"))?;
    Ok(Programs::new(all, Source::Files(name.to_string())))
}
