//! Flows of collective operations as SimCCL writes them (`ncclFlowModel_detailed_flows.csv`, SimCCL
//! of SimAI, 2026-06): a line for each message, with the messages that must have come before its
//! sender may send it.
//!
//! `parent_flow_ids` are these messages, between semicolons. `prev_flow_ids` are, against their
//! name, the ranks from which the sender receives (`MockNcclGroup.cc`, `prevranks`); they say
//! nothing that parents do not say, and are not read.

use csv::{ReaderBuilder, StringRecord, Trim};
use linkpool_workload::program::{MOST_RANKS, Node, Op, Programs, RankBuilder, Source};
use std::collections::HashMap;
use std::io::Read;

use crate::quoted;

/// The columns that are read. The others say how the messages were found: `op`, `data_size`,
/// `algorithm` and `protocol` (not in the files of NCCL 2.20), `channel_id`, `chunk_id`,
/// `chunk_count` and `prev_flow_ids`.
const COLUMNS: [&str; 7] = ["collective", "flow_id", "src", "dest", "flow_size", "conn_type", "parent_flow_ids"];

/// A message of the file.
struct Flow {
    line: u32,
    id: u64,
    src: u32,
    dest: u32,
    size: u64,
    parents: Vec<u64>,
}

/// Reads the programs of the ranks in `file`, whose content is `input`.
///
/// A rank receives each message that is for it, and sends each when its parents have come. It
/// begins a collective operation when it has sent and received all its messages of the one before.
///
/// # Errors
///
/// A message that begins with the file and the line.
pub fn read_simccl(file: &str, input: impl Read) -> Result<Programs, String> {
    let mut reader = ReaderBuilder::new().has_headers(true).trim(Trim::All).from_reader(input);
    let header = reader.headers().map_err(|why| format!("{file}:1: is not CSV: {why}"))?.clone();
    let place = |name: &str| header.iter().position(|known| known == name);
    if let Some(missing) = COLUMNS.iter().find(|name| place(name).is_none()) {
        return Err(format!("{file}:1: lacks the column {missing}; SimCCL writes {}", COLUMNS.join(", ")));
    }
    let places = COLUMNS.map(|name| place(name).unwrap_or_default());
    let mut ranks = Ranks::default();
    let (mut collective, mut flows) = (String::new(), Vec::new());
    let mut record = StringRecord::new();
    loop {
        let line = |record: &StringRecord| record.position().map_or(0, |place| place.line() as u32);
        let is_row = reader.read_record(&mut record).map_err(|why| format!("{file}: is not CSV: {why}"))?;
        let of = |(line, why): (u32, String)| format!("{file}:{line}: {why}");
        if !is_row || record[places[0]] != collective {
            ranks.add(&std::mem::take(&mut flows)).map_err(of)?;
            collective = if is_row { record[places[0]].to_string() } else { String::new() };
        }
        if !is_row {
            break;
        }
        flows.push(flow(&record, places, line(&record)).map_err(|why| of((line(&record), why)))?);
    }
    let programs = ranks.builders.into_iter().map(|rank| rank.program.finish());
    let programs: Option<Vec<_>> = programs.collect();
    Ok(Programs::new(programs.ok_or_else(|| format!("{file}: too many messages wait for each other"))?, {
        Source::Lines(file.to_string())
    }))
}

/// The message of a line.
fn flow(record: &StringRecord, places: [usize; 7], line: u32) -> Result<Flow, String> {
    let [_, id, src, dest, size, connection, parents] = places.map(|place| &record[place]);
    let number = |name: &str, text: &str| {
        text.parse::<u64>().map_err(|_| format!("{name} is {}, and must be a whole number, 0 or more", quoted(text)))
    };
    let rank = |name: &str, text: &str| match number(name, text)? {
        rank if rank < u64::from(MOST_RANKS) => Ok(rank as u32),
        rank => Err(format!("{name} is rank {rank}; there may be {MOST_RANKS} ranks, from 0 on")),
    };
    if connection == "NVLS" {
        let to_switches = "is a message from or to an NVSwitch that adds up data (NVLS), which is no rank";
        return Err(format!("{to_switches}; let SimCCL write the file with AS_NVLS_ENABLE=0"));
    }
    let (src, dest) = (rank("src", src)?, rank("dest", dest)?);
    if src == dest {
        return Err(format!("rank {src} sends to itself"));
    }
    let parents = parents.split(';').filter(|id| !id.is_empty()).map(|id| number("parent_flow_ids", id));
    let flow = Flow {
        line,
        id: number("flow_id", id)?,
        src,
        dest,
        size: number("flow_size", size)?,
        parents: parents.collect::<Result<_, _>>()?,
    };
    if flow.size == 0 { Err("flow_size is 0, and must be above that".into()) } else { Ok(flow) }
}

/// A rank whose program is under way.
#[derive(Default)]
struct Open {
    program: RankBuilder,
    /// The node that ends the last operation in which it took part.
    ended: Option<u32>,
}

/// The ranks so far.
#[derive(Default)]
struct Ranks {
    builders: Vec<Open>,
    /// Messages so far. The number of each is its tag, so that it matches no other.
    messages: u32,
}

impl Ranks {
    /// Adds a collective operation of these messages.
    fn add(&mut self, flows: &[Flow]) -> Result<(), (u32, String)> {
        let mut by_id = HashMap::with_capacity(flows.len());
        let mut nodes = Vec::with_capacity(flows.len());
        for (number, flow) in flows.iter().enumerate() {
            if by_id.insert(flow.id, number).is_some() {
                return Err((flow.line, format!("flow {} is there twice in this operation", flow.id)));
            }
            let ranks = flow.src.max(flow.dest) as usize + 1;
            if self.builders.len() < ranks {
                self.builders.resize_with(ranks, Open::default);
            }
            let tag = self.messages;
            self.messages += 1;
            let node = |op, peer| Node { size: flow.size, peer, tag, place: flow.line, op, cpu: 0, nic: 0 };
            let many = || (flow.line, "there are too many messages".to_string());
            let received = self.builders[flow.dest as usize].program.add(node(Op::Recv, flow.src)).ok_or_else(many)?;
            let sent = self.builders[flow.src as usize].program.add(node(Op::Send, flow.dest)).ok_or_else(many)?;
            nodes.push((sent, received));
        }
        for (flow, (sent, _)) in flows.iter().zip(&nodes) {
            let Open { program, ended } = &mut self.builders[flow.src as usize];
            ended.iter().for_each(|before| program.requires(*sent, *before));
            for id in &flow.parents {
                let Some(parent) = by_id.get(id) else {
                    return Err((flow.line, format!("waits for flow {id}, which is not in this operation")));
                };
                let Flow { dest, line, .. } = &flows[*parent];
                if *dest != flow.src {
                    let why =
                        format!("waits for flow {id} (line {line}), which goes to rank {dest} and not to {}", flow.src);
                    return Err((flow.line, why));
                }
                program.requires(*sent, nodes[*parent].1);
            }
        }
        self.end(flows, &nodes)
    }

    /// Each rank of the operation has a node that waits for all its messages.
    fn end(&mut self, flows: &[Flow], nodes: &[(u32, u32)]) -> Result<(), (u32, String)> {
        let mut last = HashMap::new();
        for (flow, (sent, received)) in flows.iter().zip(nodes) {
            for (rank, node) in [(flow.src, *sent), (flow.dest, *received)] {
                let Open { program, .. } = &mut self.builders[rank as usize];
                let end = match last.get(&rank) {
                    Some(end) => *end,
                    None => {
                        let calc = Node { size: 0, peer: 0, tag: 0, place: flow.line, op: Op::Calc, cpu: 0, nic: 0 };
                        let many = || (flow.line, "there are too many messages".to_string());
                        *last.entry(rank).or_insert(program.add(calc).ok_or_else(many)?)
                    }
                };
                program.requires(end, node);
            }
        }
        for (rank, end) in last {
            self.builders[rank as usize].ended = Some(end);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_workload::program::check;

    const HEADER: &str = "collective,op,data_size,algorithm,protocol,channel_id,flow_id,src,dest,flow_size,chunk_id,chunk_count,\
                          conn_type,parent_flow_ids,prev_flow_ids\n";

    /// Each rank sends half of 8,192 B to the other in two steps: what came in the first goes back
    /// in the second. And then rank 0 sends to rank 2.
    const TWO: &str = "TP_0_0_0_1_8192,1,8192,1,0,0,0,0,1,4096,0,2,RING,,1\n\
                       TP_0_0_0_1_8192,1,8192,1,0,0,2,0,1,4096,1,2,RING,1,1\n\
                       TP_0_0_0_1_8192,1,8192,1,0,0,1,1,0,4096,0,2,RING,,0\n\
                       TP_0_0_0_1_8192,1,8192,1,0,0,3,1,0,4096,1,2,RING,0,0\n\
                       TP_0_1_0_1_64,1,64,1,0,0,4,0,2,64,0,1,RING,,1\n";

    fn text(rank: usize, programs: &Programs) -> Vec<String> {
        let rank = &programs.ranks[rank];
        let waits = |node: u32| {
            let before =
                (0..rank.nodes().len() as u32).filter(|other| rank.followers(*other).any(|(it, _)| it == node));
            before.map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
        };
        (0..).zip(rank.nodes()).map(|(number, node)| format!("{} after {}", node.text(), waits(number))).collect()
    }

    #[test]
    fn messages_wait_for_their_parents_and_operations_for_each_other() {
        let programs = read_simccl("f.csv", (HEADER.to_string() + TWO).as_bytes()).unwrap();
        assert_eq!(
            text(0, &programs),
            [
                "send 4096b to 1 tag 0 after ",
                "send 4096b to 1 tag 1 after 2",
                "recv 4096b from 1 tag 2 after ",
                "recv 4096b from 1 tag 3 after ",
                "calc 0 after 0 1 2 3",
                "send 64b to 2 tag 4 after 4",
                "calc 0 after 5",
            ]
        );
        assert_eq!(text(2, &programs), ["recv 64b from 0 tag 4 after ", "calc 0 after 0"]);
        assert_eq!(programs.place(1, 0), "f.csv:2");
        let matched = programs.matched().unwrap();
        assert_eq!((matched.sends, matched.bytes), (5, 16_448.0));
        check(&matched).unwrap();
    }

    /// Files of NCCL 2.20 lack two columns; lines of an operation may stand in any order.
    #[test]
    fn columns_are_found_by_their_names() {
        let older = "flow_id,collective,src,dest,flow_size,conn_type,parent_flow_ids\n7,a,1,0,5,RING,9;8\n8,a,0,1,5,RING,\n9,a,2,1,5,PXN,\n";
        let programs = read_simccl("f.csv", older.as_bytes()).unwrap();
        assert_eq!(text(1, &programs)[0], "send 5b to 0 tag 0 after 1 2");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let of = |lines: &str| read_simccl("f.csv", (HEADER.to_string() + lines).as_bytes()).unwrap_err();
        let line = |flow: &str| format!("a,1,8192,1,0,0,{flow}\n");
        for (rows, expected) in [
            ("0,0,0,4096,0,1,RING,,", "f.csv:2: rank 0 sends to itself"),
            ("0,0,x,4096,0,1,RING,,", "f.csv:2: dest is \"x\", and must be a whole number, 0 or more"),
            ("0,0,1,-1,0,1,RING,,", "f.csv:2: flow_size is \"-1\", and must be a whole number, 0 or more"),
            ("0,0,1,0,0,1,RING,,", "f.csv:2: flow_size is 0, and must be above that"),
            ("0,0,1048576,1,0,1,RING,,", "f.csv:2: dest is rank 1048576; there may be 1048576 ranks, from 0 on"),
            ("0,0,1,9,0,1,RING,5,", "f.csv:2: waits for flow 5, which is not in this operation"),
            (
                "0,0,8,9,0,4,NVLS,,",
                "f.csv:2: is a message from or to an NVSwitch that adds up data (NVLS), which is no rank; let SimCCL write the file with AS_NVLS_ENABLE=0",
            ),
        ] {
            assert_eq!(of(&line(rows)), expected);
        }
        let twice = line("0,0,1,9,0,1,RING,,").repeat(2);
        assert_eq!(of(&twice), "f.csv:3: flow 0 is there twice in this operation");
        let elsewhere = line("0,0,1,9,0,1,RING,,") + &line("1,0,2,9,0,1,RING,0,");
        assert_eq!(of(&elsewhere), "f.csv:3: waits for flow 0 (line 2), which goes to rank 1 and not to 0");
        let lacking = read_simccl("f.csv", "flow_id,src\n".as_bytes()).unwrap_err();
        assert!(
            lacking.starts_with("f.csv:1: lacks the column collective; SimCCL writes collective, flow_id"),
            "{lacking}"
        );
        // Two that wait for each other end nowhere.
        let circle = line("0,0,1,9,0,1,RING,1,") + &line("1,1,0,9,0,1,RING,0,");
        let programs = read_simccl("f.csv", (HEADER.to_string() + &circle).as_bytes()).unwrap().matched().unwrap();
        assert!(check(&programs).unwrap_err().starts_with("f.csv:"));
    }
}
