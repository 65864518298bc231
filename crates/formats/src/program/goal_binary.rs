//! GOAL as LogGOPSim and ATLAHS store it: numbers of the least byte first, without gaps.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | 4223 |
//! | 4, 1, 1 | number of ranks, greatest processor, greatest network interface |
//! | 16 for each rank | where its program begins and ends, counted from byte 8 |
//!
//! A program has the number of its nodes and of its roots (nodes that wait for none), 4 bytes each;
//! 4 for each root; 39 for each node; and an appendix of followers, 4 each. A node has the number
//! of nodes that it waits for (4), its kind (1), peer (4), size (8), tag (4), processor (1) and
//! interface (1); then twice a number and a place in the appendix, 4 each: of the nodes that wait
//! for its end, and of the nodes that wait for its start.

use linkpool_units::counted;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};

use linkpool_workload::program::{ANY, MOST_NODES, MOST_RANKS, Node, Op, Programs, Rank, RankBuilder, Source};

const MAGIC: u64 = 4223;
/// LogGOPSim writes this over the first number when it has used up a file.
const USED_UP: u64 = 2342;
const NODE: u64 = 39;
/// Before the jump table, behind the first number.
const HEADER: u64 = 6;

/// Reads the programs of `file`, whose content is `input`: one rank after another, node by node.
///
/// # Errors
///
/// A message that begins with the file, and names the rank and the node.
pub fn read_goal_binary(file: &str, input: impl Read + Seek) -> Result<Programs, String> {
    let mut input = BufReader::with_capacity(1 << 16, input);
    let failed = |why: String| format!("{file}: {why}");
    let length = input.seek(SeekFrom::End(0)).and_then(|length| input.rewind().map(|()| length));
    let length = length.map_err(|why| failed(format!("cannot be read: {why}")))?;
    match u64::from_le_bytes(bytes(&mut input).map_err(failed)?) {
        MAGIC => {}
        USED_UP => return Err(failed("a simulator has used it up as memory; convert its text again".to_string())),
        other => {
            return Err(failed(format!(
                "begins with {other} instead of {MAGIC}, so it is no binary GOAL; text has format = \"goal\""
            )));
        }
    }
    let ranks = u32::from_le_bytes(bytes(&mut input).map_err(failed)?);
    let _greatest: [u8; 2] = bytes(&mut input).map_err(failed)?;
    if !(1..=MOST_RANKS).contains(&ranks) {
        return Err(failed(format!("{ranks} ranks; it may have 1 to {MOST_RANKS}")));
    }
    let least = HEADER + 16 * u64::from(ranks);
    let mut places = Vec::new();
    for rank in 0..ranks {
        let begin = u64::from_le_bytes(bytes(&mut input).map_err(failed)?);
        let end = u64::from_le_bytes(bytes(&mut input).map_err(failed)?);
        if begin < least || end < begin || end > length - 8 {
            return Err(failed(format!("rank {rank}: from byte {begin} to {end}, which are not in the file")));
        }
        places.push((begin, end));
    }
    let (mut programs, mut nodes) = (Vec::new(), 0);
    for (rank, (begin, end)) in (0..ranks).zip(places) {
        let seek = input.seek(SeekFrom::Start(begin + 8)).map_err(|why| why.to_string());
        let one = seek.and_then(|_| program((rank, ranks), end - begin, &mut nodes, &mut input));
        programs.push(one.map_err(|why| failed(format!("rank {rank}: {why}")))?);
    }
    Ok(Programs::new(programs, Source::Nodes(file.to_string())))
}

fn bytes<const N: usize>(input: &mut impl Read) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map_err(|why| match why.kind() {
        ErrorKind::UnexpectedEof => "ends too early".to_string(),
        _ => format!("cannot be read: {why}"),
    })?;
    Ok(bytes)
}

/// The followers of a node in the appendix: how many, and from where.
type Followers = [(u32, u32); 2];

/// Reads the program of a rank, of so many ranks, in so many bytes; `all` counts nodes.
fn program(ranks: (u32, u32), length: u64, all: &mut u64, input: &mut impl Read) -> Result<Rank, String> {
    let mut number = || bytes(input).map(u32::from_le_bytes);
    let (nodes, roots) = (number()?, number()?);
    let fixed = 8 + 4 * u64::from(roots) + NODE * u64::from(nodes);
    let followers = length.checked_sub(fixed).filter(|rest| rest.is_multiple_of(4)).map(|rest| rest / 4);
    let wrong = || {
        let [nodes, roots] = [(nodes, "node"), (roots, "root")].map(|(number, what)| counted(number, what));
        format!("{nodes} and {roots} do not fit into its {}", counted(length, "byte"))
    };
    let followers = followers.filter(|_| roots <= nodes).ok_or_else(wrong)?;
    *all += u64::from(nodes);
    if *all > MOST_NODES {
        return Err(format!("more than {MOST_NODES} nodes"));
    }
    for _ in 0..roots {
        number()?;
    }
    let mut builder = RankBuilder::default();
    // The number of nodes that each waits for, and its followers.
    let mut edges: Vec<(u32, Followers)> = Vec::new();
    for i in 0..nodes {
        let at = |why: String| format!("node {i}: {why}");
        let (node, needs, followers) = node(i, &bytes::<39>(input).map_err(at)?).map_err(at)?;
        check_peer(&node, ranks).map_err(at)?;
        builder.add(node).ok_or_else(|| format!("more than {MOST_NODES} nodes"))?;
        edges.push((needs, followers));
    }
    let mut appendix: Vec<u32> = Vec::new();
    for _ in 0..followers {
        appendix.push(u32::from_le_bytes(bytes(input)?));
    }
    let named: u64 = edges.iter().flat_map(|(_, followers)| followers).map(|(count, _)| u64::from(*count)).sum();
    if named != followers {
        return Err(format!("dependencies of its nodes: {named}; in its appendix: {followers}"));
    }
    let mut needs = vec![0u32; nodes as usize];
    for (i, (_, followers)) in (0u32..).zip(&edges) {
        for (kind, (count, first)) in followers.iter().enumerate() {
            let end = u64::from(*first) + u64::from(*count);
            let range = *first as usize..end as usize;
            let those = if *count == 0 { Some(&[][..]) } else { appendix.get(range) };
            let those = those.ok_or_else(|| format!("node {i}: its dependencies are not in the appendix"))?;
            for after in those {
                let need = needs.get_mut(*after as usize);
                *need.ok_or_else(|| format!("node {i}: node {after} waits for it, and there is none"))? += 1;
                if kind == 0 { builder.requires(*after, i) } else { builder.irequires(*after, i) }
            }
        }
    }
    for (i, ((stated, _), found)) in edges.iter().zip(&needs).enumerate() {
        if stated != found {
            return Err(format!("node {i}: waits for {}, and {found} name it", counted(stated, "node")));
        }
    }
    builder.finish().ok_or_else(|| "too many dependencies".to_string())
}

/// A node: itself, the number of nodes that it waits for, and its followers.
fn node(i: u32, from: &[u8; 39]) -> Result<(Node, u32, Followers), String> {
    let number = |at: usize| u32::from_le_bytes(from[at..at + 4].try_into().expect("4 bytes"));
    let op = match from[4] {
        1 => Op::Send,
        2 => Op::Recv,
        3 => Op::Calc,
        other => return Err(format!("is of kind {other}; kinds are 1 (send), 2 (recv) and 3 (calc)")),
    };
    let size = u64::from_le_bytes(from[9..17].try_into().expect("8 bytes"));
    let mut node = Node { size, peer: number(5), tag: number(17), place: i, op, cpu: from[21], nic: from[22] };
    if op == Op::Calc {
        (node.peer, node.tag) = (0, 0);
    }
    Ok((node, number(0), [(number(23), number(27)), (number(31), number(35))]))
}

fn check_peer(node: &Node, (me, ranks): (u32, u32)) -> Result<(), String> {
    match node.op {
        Op::Calc => Ok(()),
        Op::Recv if node.peer == ANY => Ok(()),
        _ if node.peer == me => Err("exchanges a message with its own rank".to_string()),
        _ if node.peer >= ranks => Err(format!("there is no rank {} of {ranks}", node.peer)),
        _ => Ok(()),
    }
}

/// Writes `programs`.
///
/// # Errors
///
/// Those of `output`.
pub fn write_goal_binary(programs: &Programs, output: &mut impl Write) -> std::io::Result<()> {
    let greatest =
        |of: fn(&Node) -> u8| -> u8 { programs.ranks.iter().flat_map(|rank| rank.nodes()).map(of).max().unwrap_or(0) };
    output.write_all(&MAGIC.to_le_bytes())?;
    output.write_all(&(programs.ranks.len() as u32).to_le_bytes())?;
    output.write_all(&[greatest(|node| node.cpu), greatest(|node| node.nic)])?;
    let roots = |rank: &Rank| rank.needs().iter().filter(|needs| **needs == 0).count() as u64;
    let mut begin = HEADER + 16 * programs.ranks.len() as u64;
    for rank in &programs.ranks {
        let end = begin + 8 + 4 * (roots(rank) + rank.edges() as u64) + NODE * rank.nodes().len() as u64;
        output.write_all(&begin.to_le_bytes())?;
        output.write_all(&end.to_le_bytes())?;
        begin = end;
    }
    for rank in &programs.ranks {
        output.write_all(&(rank.nodes().len() as u32).to_le_bytes())?;
        output.write_all(&(roots(rank) as u32).to_le_bytes())?;
        for (i, _) in (0u32..).zip(rank.needs()).filter(|(_, needs)| **needs == 0) {
            output.write_all(&i.to_le_bytes())?;
        }
        let count = |i: u32, start: bool| rank.followers(i).filter(|(_, on_start)| *on_start == start).count() as u32;
        let mut place = 0u32;
        for ((i, node), needs) in (0u32..).zip(rank.nodes()).zip(rank.needs()) {
            output.write_all(&needs.to_le_bytes())?;
            output.write_all(&[node.op as u8])?;
            output.write_all(&node.peer.to_le_bytes())?;
            output.write_all(&node.size.to_le_bytes())?;
            output.write_all(&node.tag.to_le_bytes())?;
            output.write_all(&[node.cpu, node.nic])?;
            for start in [false, true] {
                let count = count(i, start);
                output.write_all(&count.to_le_bytes())?;
                output.write_all(&(if count == 0 { 0 } else { place }).to_le_bytes())?;
                place += count;
            }
        }
        for i in 0..rank.nodes().len() as u32 {
            for start in [false, true] {
                for (follower, _) in rank.followers(i).filter(|(_, on_start)| *on_start == start) {
                    output.write_all(&follower.to_le_bytes())?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::read_goal;
    use std::io::Cursor;

    const PING: &str = "num_ranks 2\nrank 0 {\nl1: calc 100 cpu 3\nl2: send 16b to 1 tag 5 nic 2\nl2 requires l1\n}\n\
        rank 1 {\nl1: recv 16b from -1 tag -1\nx: calc 0\nx irequires l1\n}\n";

    fn binary() -> Vec<u8> {
        let (mut bytes, programs) = (Vec::new(), read_goal("p", PING.as_bytes()).unwrap());
        write_goal_binary(&programs, &mut bytes).unwrap();
        bytes
    }

    /// Byte for byte, by hand from the layout above.
    #[test]
    fn the_layout_by_hand() {
        let bytes = binary();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((long(0), number(8), bytes[12], bytes[13]), (4223, 2, 3, 2));
        // A program of two nodes with one root and one dependency has 8 + 4 + 78 + 4 bytes.
        assert_eq!((long(14), long(22), long(30), long(38)), (38, 132, 132, 226));
        assert_eq!(bytes.len(), 8 + 226);
        assert_eq!([number(46), number(50), number(54)], [2, 1, 0]);
        // The calc: it waits for none; one waits for it, at place 0 of the appendix.
        assert_eq!((number(58), bytes[62], long(67), bytes[79]), (0, 3, 100, 3));
        assert_eq!([number(81), number(85), number(89)], [1, 0, 0]);
        // The send.
        assert_eq!((number(97), bytes[101], number(102), long(106), number(114)), (1, 1, 1, 16, 5));
        assert_eq!((bytes[118], bytes[119], number(136)), (0, 2, 1));
        // The receive, of which another waits for the start.
        assert_eq!((bytes[156], number(157), number(169)), (2, ANY, ANY));
        assert_eq!([number(175), number(183), number(187)], [0, 1, 0]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let programs = read_goal_binary("p", Cursor::new(binary())).unwrap();
        let mut again = Vec::new();
        write_goal_binary(&programs, &mut again).unwrap();
        assert_eq!(again, binary());
        assert_eq!(programs.place(1, 1), "p, rank 1, node 1");
    }

    #[test]
    fn errors_name_the_rank_and_the_node() {
        let changed = |at: usize, to: u8| {
            let mut bytes = binary();
            bytes[at] = to;
            read_goal_binary("p", Cursor::new(bytes)).unwrap_err()
        };
        assert_eq!(
            changed(0, 0),
            "p: begins with 4096 instead of 4223, so it is no binary GOAL; text has format = \"goal\""
        );
        assert_eq!(changed(8, 0), "p: 0 ranks; it may have 1 to 1048576");
        assert_eq!(changed(22, 255), "p: rank 0: from byte 38 to 255, which are not in the file");
        assert_eq!(changed(46, 9), "p: rank 0: 9 nodes and 1 root do not fit into its 94 bytes");
        assert_eq!(changed(62, 4), "p: rank 0: node 0: is of kind 4; kinds are 1 (send), 2 (recv) and 3 (calc)");
        assert_eq!(changed(102, 2), "p: rank 0: node 1: there is no rank 2 of 2");
        assert_eq!(changed(81, 2), "p: rank 0: dependencies of its nodes: 2; in its appendix: 1");
        assert_eq!(changed(85, 7), "p: rank 0: node 0: its dependencies are not in the appendix");
        assert_eq!(changed(136, 5), "p: rank 0: node 0: node 5 waits for it, and there is none");
        assert_eq!(changed(97, 3), "p: rank 0: node 1: waits for 3 nodes, and 1 name it");
        let cut = read_goal_binary("p", Cursor::new(&binary()[..12]));
        assert_eq!(cut.unwrap_err(), "p: ends too early");
    }
}
