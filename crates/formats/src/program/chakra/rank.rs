//! The trace of one rank.

use linkpool_units::counted;
use std::collections::HashMap;
use std::io::{BufReader, ErrorKind, Read};

use prost::Message;

use super::operations::{FIRST_TAG, Operations, What};
use super::proto::{Attribute, Bools, GlobalMetadata, Node as Written, Value};
use super::{COMMUNICATION, CPU, GPU, MEMORY, NONE};
use crate::quoted;
use linkpool_workload::CollectiveAlgorithm;
use linkpool_workload::program::Member;
use linkpool_workload::program::{MOST_NODES, Node, Op, RankBuilder};

/// No message of a file is longer: 64 MiB.
const LONGEST: u64 = 64 << 20;

/// Reads the file of a rank, of so many, message by message.
pub(super) fn read(
    ranks: (u32, u32),
    input: impl Read,
    operations: &mut Operations<'_>,
) -> Result<RankBuilder, String> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut bytes = Vec::new();
    if !next(&mut input, &mut bytes)? {
        return Err("is empty".to_string());
    }
    if bytes.starts_with(&[0x8b, 0x08]) {
        return Err("is compressed; unpack it with gunzip".to_string());
    }
    GlobalMetadata::decode(&bytes[..]).map_err(|why| format!("begins with no global metadata of Chakra: {why}"))?;
    let mut builder = RankBuilder::default();
    if operations.rules.serial {
        builder.take_turns(COMMUNICATION);
    }
    let mut reader = Reader { ranks, builder, ids: HashMap::new(), deps: Vec::new(), counts: HashMap::new() };
    for number in 1u64.. {
        if !next(&mut input, &mut bytes).map_err(|why| format!("message {number}: {why}"))? {
            break;
        }
        let node =
            Written::decode(&bytes[..]).map_err(|why| format!("message {number} is no node of Chakra: {why}"))?;
        let id = node.id;
        reader.node(node, operations).map_err(|why| format!("node {id}: {why}"))?;
    }
    reader.finish()
}

/// Reads the next message; false: there is none.
fn next(input: &mut impl Read, bytes: &mut Vec<u8>) -> Result<bool, String> {
    let mut length = 0u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        match input.read_exact(&mut byte) {
            Err(why) if why.kind() == ErrorKind::UnexpectedEof && shift == 0 => return Ok(false),
            Err(why) if why.kind() == ErrorKind::UnexpectedEof => return Err("ends within a length".to_string()),
            Err(why) => return Err(format!("cannot be read: {why}")),
            Ok(()) => {}
        }
        length |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            break;
        }
        if shift >= 35 {
            return Err("is no length".to_string());
        }
    }
    if length > LONGEST {
        return Err(format!("has {length} bytes; at most {LONGEST} are possible"));
    }
    bytes.clear();
    // As much as there is, whatever it says.
    input.take(length).read_to_end(bytes).map_err(|why| format!("cannot be read: {why}"))?;
    if (bytes.len() as u64) < length {
        Err(format!("ends after {} of {}", bytes.len(), counted(length, "byte")))
    } else {
        Ok(true)
    }
}

/// What has been read of a rank.
struct Reader {
    /// The rank, and how many there are.
    ranks: (u32, u32),
    builder: RankBuilder,
    /// By id: the first and the last node of the program.
    ids: HashMap<u64, (u32, u32)>,
    /// A node, and the id of one for which it waits.
    deps: Vec<(u32, u64)>,
    /// By group: operations so far.
    counts: HashMap<u32, u32>,
}

impl Reader {
    fn node(&mut self, written: Written, operations: &mut Operations<'_>) -> Result<(), String> {
        let id = u32::try_from(written.id).map_err(|_| format!("ids go up to {}", u32::MAX))?;
        let (first, last) = match written.kind {
            // Metadata take no time, but others may wait for them.
            1 => self.calc(id, 0, NONE)?,
            kind @ (2 | 3) => self.memory(id, kind, &written, operations)?,
            4 => self.computation(id, &written, operations)?,
            5 => self.message(id, Op::Send, "comm_dst", &written)?,
            6 => self.message(id, Op::Recv, "comm_src", &written)?,
            7 => self.operation(id, &written, operations)?,
            other => return Err(format!("is of type {other}; types are 1 (metadata) to 7 (collective)")),
        };
        if self.ids.insert(written.id, (first, last)).is_some() {
            return Err("another node has the same id".to_string());
        }
        self.deps.extend(written.ctrl_deps.iter().chain(&written.data_deps).map(|before| (first, *before)));
        Ok(())
    }

    fn add(&mut self, node: Node) -> Result<u32, String> {
        self.builder.add(node).ok_or_else(|| format!("more than {MOST_NODES} nodes"))
    }

    fn calc(&mut self, place: u32, ns: u64, cpu: u8) -> Result<(u32, u32), String> {
        let node = self.add(Node { size: ns, peer: 0, tag: 0, place, op: Op::Calc, cpu, nic: 0 })?;
        Ok((node, node))
    }

    fn memory(
        &mut self,
        id: u32,
        kind: i32,
        written: &Written,
        operations: &Operations<'_>,
    ) -> Result<(u32, u32), String> {
        match duration(written)? {
            0 => {
                let what = if kind == 2 { "loads from" } else { "stores to" };
                Err(format!(
                    "{what} remote memory and has no duration; memory is not simulated: give it duration_micros"
                ))
            }
            ns => self.calc(id, ns, if operations.rules.serial { COMMUNICATION } else { MEMORY }),
        }
    }

    fn computation(
        &mut self,
        id: u32,
        written: &Written,
        operations: &mut Operations<'_>,
    ) -> Result<(u32, u32), String> {
        let on_cpu = matches!(attribute(written, "is_cpu_op").and_then(|a| a.value.as_ref()), Some(Value::Bool(true)));
        let ns = match duration(written)? {
            0 => estimated(written, on_cpu, operations)?,
            ns => ns,
        };
        self.calc(id, ns, if on_cpu { CPU } else { GPU })
    }

    fn message(&mut self, id: u32, op: Op, peer: &str, written: &Written) -> Result<(u32, u32), String> {
        let size = needed::<u64>(written, "comm_size")?;
        let (me, ranks) = self.ranks;
        let other = needed::<u32>(written, peer)?;
        if other >= ranks || other == me {
            return Err(format!("{peer} is {other}; write another rank of 0 to {}", ranks - 1));
        }
        let own = if op == Op::Send { "comm_src" } else { "comm_dst" };
        if let Some(stated) = whole(written, own)?.filter(|stated| *stated != i128::from(me)) {
            return Err(format!("{own} is {stated}, and this is the file of rank {me}"));
        }
        let tag = whole(written, "comm_tag")?.unwrap_or(0);
        let tag = u32::try_from(tag).ok().filter(|tag| *tag < FIRST_TAG);
        let tag = tag.ok_or_else(|| format!("comm_tag is not between 0 and {}", FIRST_TAG - 1))?;
        let node = self.add(Node { size, peer: other, tag, place: id, op, cpu: COMMUNICATION, nic: 0 })?;
        Ok((node, node))
    }

    fn operation(&mut self, id: u32, written: &Written, operations: &mut Operations<'_>) -> Result<(u32, u32), String> {
        let name = match ["pg_name", "comm_group"].iter().find_map(|name| attribute(written, name)) {
            None => None,
            Some(Attribute { value: Some(Value::Text(name)), .. }) => {
                Some(name.clone()).filter(|name| !name.is_empty())
            }
            Some(other) => Some(other.whole().ok_or("the name of its group is no text and no number")?.to_string()),
        };
        let known = || {
            format!("no group is called {}; give `groups_file` a file with it", quoted(name.as_deref().unwrap_or("")))
        };
        let group = operations.group(name.as_deref()).ok_or_else(known)?;
        let members = operations.ranks(group);
        if !members.contains(&self.ranks.0) {
            return Err(format!("its group {} has not this rank", quoted(name.as_deref().unwrap_or("of all"))));
        }
        check_dimensions(written)?;
        let (ranks, rules) = (members.len() as u64, operations.rules);
        let stated = || needed::<u64>(written, "comm_size");
        let (algorithm, size) = match whole(written, "comm_type")? {
            Some(0) => (rules.all_reduce, stated()?),
            Some(1) => (CollectiveAlgorithm::BinomialReduce, stated()?),
            // Of an all-gather and a gather, Chakra has the data of a rank before it, and
            // `messages` all data after it.
            Some(3) => (CollectiveAlgorithm::Gather, stated()?.saturating_mul(ranks)),
            Some(4) => (CollectiveAlgorithm::Scatter, stated()?),
            Some(2) => (CollectiveAlgorithm::RingAllGather, stated()?.saturating_mul(ranks)),
            Some(5) => (rules.broadcast, stated()?),
            Some(6) => (CollectiveAlgorithm::AllToAll, stated()?),
            Some(7 | 8) => (CollectiveAlgorithm::RingReduceScatter, stated()?),
            Some(9) => (CollectiveAlgorithm::TreeAllReduce, 1),
            Some(other) => return Err(format!("comm_type is {other}; types are 0 (all-reduce) to 9 (barrier)")),
            None => return Err("has no comm_type".to_string()),
        };
        if size == 0 {
            return Err("comm_size must be above zero".to_string());
        }
        if ranks >= 2 && algorithm.needs_power_of_two() && !ranks.is_power_of_two() {
            return Err(format!("{} needs a power of 2, and its group has {ranks} ranks", algorithm.name()));
        }
        let count = algorithm.count(ranks.max(2) as u32, rules.chunks).saturating_mul(rules.splits.into());
        if count > u128::from(MOST_NODES) {
            return Err("takes too many messages".to_string());
        }
        // The rank that has the data or gets them, where there is one.
        let end = match whole(written, "comm_type")? {
            Some(1 | 3) => Some("comm_dst"),
            Some(4 | 5) => Some("comm_src"),
            _ => None,
        };
        let root = match end {
            Some(end) => whole(written, "root_rank")?.or(whole(written, end)?),
            None => None,
        };
        let root = root.map(|root| u32::try_from(root).map_err(|_| format!("its root is {root}"))).transpose()?;
        let number = self.counts.entry(group).or_default();
        *number += 1;
        let number = *number - 1;
        let (entry, _) = self.calc(id, 0, COMMUNICATION)?;
        let (exit, _) = self.calc(id, 0, NONE)?;
        self.builder.requires(exit, entry);
        self.builder.takes_turn(entry, exit);
        let member = Member { rank: self.ranks.0, entry: Some(entry), exit: Some(exit), place: id };
        operations.join((group, number), What { algorithm, size, root }, member)?;
        Ok((entry, exit))
    }

    /// Finds the nodes for which others wait.
    fn finish(mut self) -> Result<RankBuilder, String> {
        for (node, before) in self.deps {
            let (_, last) =
                self.ids.get(&before).ok_or_else(|| format!("a node waits for node {before}, and there is none"))?;
            self.builder.requires(node, *last);
        }
        Ok(self.builder)
    }
}

/// The time in nanoseconds of a computation for which the trace has none: that of its operations.
fn estimated(written: &Written, on_cpu: bool, operations: &mut Operations<'_>) -> Result<u64, String> {
    let needed = whole(written, "num_ops")?.unwrap_or(0);
    if needed <= 0 {
        return Ok(0);
    }
    let Some(roofline) = operations.rules.roofline else {
        return Err("has num_ops and no duration; give it duration_micros, or the workload a compute_rate".to_string());
    };
    if on_cpu {
        let why = "has num_ops and no duration, and is_cpu_op; compute_rate is of the other processor: give it duration_micros";
        return Err(why.to_string());
    }
    let bytes = whole(written, "tensor_size")?.unwrap_or(0);
    if roofline.memory_rate.is_some() && bytes <= 0 {
        return Err("has num_ops and no tensor_size, which memory_rate needs; give it both, or leave memory_rate out"
            .to_string());
    }
    operations.estimated += 1;
    let [needed, bytes] = [needed, bytes].map(u64::try_from);
    let ns = needed.ok().zip(bytes.ok()).and_then(|(needed, bytes)| roofline.nanoseconds(needed, bytes));
    ns.ok_or_else(|| "has more operations than compute_rate does in a hundred years".to_string())
}

fn attribute<'w>(written: &'w Written, name: &str) -> Option<&'w Attribute> {
    written.attr.iter().find(|attribute| attribute.name == name)
}

/// ASTRA-sim runs a collective operation in the dimensions of its network whose `involved_dim` is
/// true. A network here has no dimensions: the group says who takes part.
fn check_dimensions(written: &Written) -> Result<(), String> {
    let all = match attribute(written, "involved_dim").map(|found| found.value.as_ref()) {
        None => true,
        Some(Some(Value::Bools(Bools { values }))) => values.iter().all(|involved| *involved),
        Some(Some(Value::Bool(involved))) => *involved,
        Some(_) => return Err("involved_dim is no list of truth values".to_string()),
    };
    let message = "involved_dim leaves dimensions out, which are not known here; name the ranks that take part by \
        pg_name and `groups_file`, and write true for all dimensions";
    if all { Ok(()) } else { Err(message.to_string()) }
}

/// A whole number; an error if it is something else.
fn whole(written: &Written, name: &str) -> Result<Option<i128>, String> {
    let Some(found) = attribute(written, name) else { return Ok(None) };
    found.whole().map(Some).ok_or_else(|| format!("{name} is no whole number"))
}

fn needed<N: TryFrom<i128>>(written: &Written, name: &str) -> Result<N, String> {
    let found = whole(written, name)?.ok_or_else(|| format!("has no {name}"))?;
    N::try_from(found).map_err(|_| format!("{name} is {found}"))
}

/// The time of a node in nanoseconds: `duration_micros`, or the property `runtime` of older traces,
/// in microseconds.
fn duration(written: &Written) -> Result<u64, String> {
    let micros = match written.duration_micros {
        0 => whole(written, "runtime")?.unwrap_or(0),
        micros => micros.into(),
    };
    let ns = u64::try_from(micros).ok().and_then(|micros| micros.checked_mul(1000));
    ns.ok_or_else(|| format!("takes {micros} us"))
}
