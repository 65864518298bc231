//! Traces of Chakra, message by message.

use std::collections::BTreeMap;

use prost::Message;

use super::proto::{Attribute, Bools, GlobalMetadata, Node, Value};
use super::*;
use linkpool_workload::program::{Action, Machine, Op, Rank, check};

fn attribute(name: &str, value: Value) -> Attribute {
    Attribute { name: name.to_string(), value: Some(value) }
}

fn node(id: u64, kind: i32, attr: &[(&str, i64)], deps: &[u64]) -> Node {
    let attr = attr.iter().map(|(name, n)| attribute(name, Value::Int64(*n))).collect();
    Node { id, kind, data_deps: deps.to_vec(), attr, ..Node::default() }
}

fn file(nodes: &[Node]) -> Vec<u8> {
    let mut bytes = GlobalMetadata { version: "0.0.4".to_string() }.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
    bytes
}

fn read_all(files: &[Vec<u8>], groups: &[(&str, &[u32])]) -> Result<Programs, String> {
    read_with(None, files, groups)
}

fn read_with(roofline: Option<Roofline>, files: &[Vec<u8>], groups: &[(&str, &[u32])]) -> Result<Programs, String> {
    read_by((roofline, None), files, groups)
}

fn read_by(
    rates: (Option<Roofline>, Option<Rate>),
    files: &[Vec<u8>],
    groups: &[(&str, &[u32])],
) -> Result<Programs, String> {
    read_split((1, 1), false, rates, files, groups)
}

fn read_split(
    (splits, active_splits): (u32, u32),
    serial: bool,
    (roofline, reduce_rate): (Option<Roofline>, Option<Rate>),
    files: &[Vec<u8>],
    groups: &[(&str, &[u32])],
) -> Result<Programs, String> {
    let groups: BTreeMap<_, _> = groups.iter().map(|(name, ranks)| (name.to_string(), ranks.to_vec())).collect();
    let rules = ChakraRules {
        all_reduce: CollectiveAlgorithm::RingAllReduce,
        broadcast: CollectiveAlgorithm::BinomialBroadcast,
        chunks: 1,
        splits,
        active_splits,
        serial,
        outstanding: 1,
        groups,
        roofline,
        reduce_rate,
    };
    let programs = read_chakra("p", files.len() as u32, &rules, |rank| Ok(&files[rank as usize][..]))?.matched()?;
    check(&programs)?;
    Ok(programs)
}

/// The kinds and sizes of a rank's nodes.
fn nodes(programs: &Programs, rank: usize) -> Vec<(Op, u64)> {
    programs.ranks[rank].nodes().iter().map(|node| (node.op, node.size)).collect()
}

#[test]
fn computation_and_messages() {
    let computes = Node { duration_micros: 7, ..node(1, 4, &[], &[]) };
    let zero = file(&[node(9, 5, &[("comm_size", 50), ("comm_dst", 1), ("comm_tag", 3)], &[1]), computes]);
    let one = file(&[node(2, 6, &[("comm_size", 50), ("comm_src", 0), ("comm_tag", 3)], &[])]);
    let programs = read_all(&[zero, one], &[]).unwrap();
    assert_eq!(nodes(&programs, 0), [(Op::Send, 50), (Op::Calc, 7000)]);
    // The send waits for the computation, which stands behind it.
    assert_eq!((programs.ranks[0].needs(), nodes(&programs, 1)), (&[1, 0][..], vec![(Op::Recv, 50)]));
    assert_eq!(programs.place(0, 0), "p.0.et, node 9");
}

/// 4,000,000 operations at 2 a ps take 2 us, and 1 MB at 100 GB/s 10 us. A duration goes before.
#[test]
fn operations_take_their_time() {
    let message = |kind, peer| node(9, kind, &[("comm_size", 50), (peer, 1)], &[]);
    let of = |attr: &[(&str, i64)], memory_rate: Option<u64>, change: fn(&mut Node)| {
        let mut computes = node(1, 4, attr, &[]);
        change(&mut computes);
        let roofline = Roofline { compute_rate: 2e12, memory_rate: memory_rate.map(linkpool_units::Rate) };
        let one = file(&[node(9, 6, &[("comm_size", 50), ("comm_src", 0)], &[])]);
        let zero = file(&[computes, message(5, "comm_dst")]);
        read_with(Some(roofline), &[zero, one], &[]).map(|programs| nodes(&programs, 0)[0].1)
    };
    let both = [("num_ops", 4_000_000), ("tensor_size", 1_000_000)];
    assert_eq!(of(&both, None, |_| {}), Ok(2_000));
    assert_eq!(of(&both[..1], None, |_| {}), Ok(2_000));
    assert_eq!(of(&both, Some(800_000_000_000), |_| {}), Ok(10_000));
    let on_cpu = |of: &mut Node| of.attr.push(attribute("is_cpu_op", Value::Bool(true)));
    for (found, why) in [
        (of(&both[..1], Some(8), |_| {}), "p.0.et: node 1: has num_ops and no tensor_size, which memory_rate needs"),
        (of(&both, None, on_cpu), "p.0.et: node 1: has num_ops and no duration, and is_cpu_op"),
        (
            of(&both, Some(1), |of| of.attr[1] = attribute("tensor_size", Value::Int64(i64::MAX))),
            "p.0.et: node 1: has more",
        ),
        (
            of(&both, None, |of| of.duration_micros = 7),
            "p: no computation has num_ops and no duration, so compute_rate",
        ),
        (of(&[("num_ops", 0)], None, |_| {}), "p: no computation has num_ops"),
    ] {
        assert!(found.as_ref().is_err_and(|error| error.starts_with(why)), "{found:?} {why}");
    }
}

/// An all-reduce of 2,001 bytes of two ranks, in halves of 1,001: at 1 Tbit/s it takes 8 ns to add
/// one, which 8.008 are, and at 16 Gbit/s 501 ns, which 500.5 are. The second message waits for it.
#[test]
fn what_is_received_is_added() {
    let rank = file(&[node(1, 7, &[("comm_type", 0), ("comm_size", 2001)], &[])]);
    let with = |rate: u64| read_by((None, Some(Rate(rate))), &[rank.clone(), rank.clone()], &[]).unwrap();
    for (rate, ns) in [(1_000_000_000_000, 8), (16_000_000_000, 501)] {
        let programs = with(rate);
        let of_rank = nodes(&programs, 0);
        let work: Vec<_> = of_rank.into_iter().filter(|node| node.1 > 0).collect();
        let [send, recv] = [(Op::Send, 1001), (Op::Recv, 1001)];
        assert_eq!(work, [send, recv, (Op::Calc, ns), send, recv]);
        let calc = programs.ranks[0].nodes().iter().position(|node| node.op == Op::Calc && node.size > 0).unwrap();
        assert_eq!(programs.ranks[0].nodes()[calc].cpu, 3, "no computation waits for it");
    }
    let gather = file(&[node(1, 7, &[("comm_type", 2), ("comm_size", 2000)], &[])]);
    let error = read_by((None, Some(Rate(1))), &[gather.clone(), gather], &[]).unwrap_err();
    assert_eq!(error, "p: no operation reduces data, so reduce_rate decides nothing; leave it out");
}

/// An all-gather of 10 bytes of each of the ranks 2 and 0: between two joins, each sends 10 bytes.
#[test]
fn collectives_of_groups() {
    let named = |id, kind, size| {
        let mut gather = node(id, 7, &[("comm_type", kind), ("comm_size", size)], &[]);
        gather.attr.push(attribute("pg_name", Value::Text("x".to_string())));
        gather
    };
    let barrier = node(8, 7, &[("comm_type", 9)], &[]);
    let files = [
        file(&[named(1, 2, 10), barrier.clone()]),
        file(std::slice::from_ref(&barrier)),
        file(&[barrier, named(3, 2, 10)]),
    ];
    let programs = read_all(&files, &[("x", &[2, 0])]).unwrap();
    let sends = |rank: usize| -> Vec<(u32, u64)> {
        let sends = programs.ranks[rank].nodes().iter().filter(|node| node.op == Op::Send);
        sends.map(|node| (node.peer, node.size)).collect()
    };
    assert_eq!((sends(0)[0], sends(2)), ((2, 10), vec![(0, 10), (0, 1)]));
    let other = [files[0].clone(), files[1].clone(), file(&[node(8, 7, &[("comm_type", 9)], &[]), named(3, 2, 11)])];
    assert_eq!(
        read_all(&other, &[("x", &[2, 0])]).unwrap_err(),
        "p.2.et: node 3: operation 0 of the group is ring-all-gather, 22 bytes, and at rank 0 ring-all-gather, 20 bytes (node 1)"
    );
}

/// A collective operation in all dimensions runs; one that leaves some out would be another
/// operation.
#[test]
fn all_dimensions_are_involved() {
    let read = |involved: Value| {
        let mut barrier = node(8, 7, &[("comm_type", 9)], &[]);
        barrier.attr.push(attribute("involved_dim", involved));
        let bytes = file(&[barrier]);
        read_all(&[bytes.clone(), bytes], &[]).map(|_| ())
    };
    let list = |values: &[bool]| Value::Bools(Bools { values: values.to_vec() });
    assert_eq!([list(&[true, true]), list(&[]), Value::Bool(true)].map(read), [Ok(()), Ok(()), Ok(())]);
    for left_out in [list(&[true, false]), list(&[false]), Value::Bool(false)] {
        let message = read(left_out).unwrap_err();
        assert!(message.starts_with("p.0.et: node 8: involved_dim leaves dimensions out"), "{message}");
    }
    assert_eq!(read(Value::Int64(3)).unwrap_err(), "p.0.et: node 8: involved_dim is no list of truth values");
    // As protobuf writes it: field 10 of the node, with a name and field 28, of which field 1 is
    // packed.
    let written = attribute("involved_dim", list(&[true, false])).encode_to_vec();
    assert_eq!(written, [&[0x0a, 12][..], b"involved_dim", &[0xe2, 0x01, 4, 0x0a, 2, 1, 0]].concat());
}

#[test]
fn a_group_that_is_not_known_is_named() {
    let mut barrier = node(8, 7, &[("comm_type", 9)], &[]);
    barrier.attr.push(attribute("pg_name", Value::Text("x".to_string())));
    let message = read_all(&[file(&[barrier])], &[]).unwrap_err();
    assert_eq!(message, "p.0.et: node 8: no group is called \"x\"; give `groups_file` a file with it");
}

#[test]
fn errors_name_the_file_and_the_node() {
    let wrong = |node: Node| read_all(&[file(&[node])], &[]).unwrap_err();
    assert_eq!(wrong(node(4, 9, &[], &[])), "p.0.et: node 4: is of type 9; types are 1 (metadata) to 7 (collective)");
    assert_eq!(wrong(node(4, 4, &[], &[5])), "p.0.et: a node waits for node 5, and there is none");
    assert_eq!(wrong(node(4, 5, &[], &[])), "p.0.et: node 4: has no comm_size");
    assert_eq!(
        wrong(node(4, 5, &[("comm_size", 1), ("comm_dst", 0)], &[])),
        "p.0.et: node 4: comm_dst is 0; write another rank of 0 to 0"
    );
    assert_eq!(
        wrong(node(4, 7, &[("comm_type", 10), ("comm_size", 1)], &[])),
        "p.0.et: node 4: comm_type is 10; types are 0 (all-reduce) to 9 (barrier)"
    );
    let memory = "loads from remote memory and has no duration; memory is not simulated: give it duration_micros";
    assert_eq!(wrong(node(4, 2, &[], &[])), format!("p.0.et: node 4: {memory}"));
    let circle = [node(1, 4, &[], &[2]), node(2, 4, &[], &[1])];
    assert!(read_all(&[file(&circle)], &[]).unwrap_err().starts_with("p.0.et, node 1: can never end: rank 0, node 1"));
    let alone = [file(&[node(1, 7, &[("comm_type", 9)], &[])]), file(&[])];
    assert_eq!(
        read_all(&alone, &[]).unwrap_err(),
        "p.0.et: node 1: rank 1 of its group never takes part in this operation"
    );
    let mut cut = file(&[node(1, 4, &[("runtime", 5)], &[])]);
    cut.pop();
    assert!(read_all(&[cut], &[]).unwrap_err().starts_with("p.0.et: message 1: ends after"));
    assert_eq!(read_all(&[vec![]], &[]).unwrap_err(), "p.0.et: is empty");
    assert!(read_all(&[vec![0x1f; 40]], &[]).unwrap_err().contains("begins with no global metadata"));
}

/// Three ranks of which the last is the root: the others send to it, or it to them. A reduce is up
/// a tree from it: ranks 0 and 1, which follow it round the end, send to it.
#[test]
fn reduces_gathers_and_scatters_have_their_root() {
    let of = |kind: i64, end: &str| {
        let one = file(&[node(1, 7, &[("comm_type", kind), ("comm_size", 30), (end, 2)], &[])]);
        let programs = read_all(&[one.clone(), one.clone(), one], &[]).unwrap();
        let sends = |rank: usize| -> Vec<(u32, u64)> {
            let nodes = programs.ranks[rank].nodes().iter();
            nodes.filter(|node| node.op == Op::Send).map(|node| (node.peer, node.size)).collect()
        };
        [sends(0), sends(1), sends(2)]
    };
    for end in ["root_rank", "comm_dst"] {
        assert_eq!(of(1, end), [vec![(2, 30)], vec![(2, 30)], vec![]], "reduce");
        assert_eq!(of(3, end), [vec![(2, 30)], vec![(2, 30)], vec![]], "gather");
    }
    for end in ["root_rank", "comm_src"] {
        assert_eq!(of(4, end), [vec![], vec![], vec![(0, 10), (1, 10)]], "scatter");
    }
    // Without a root it is the first.
    assert_eq!(of(4, "comm_priority"), [vec![(1, 10), (2, 10)], vec![], vec![]]);
}

/// An all-gather of two ranks in three splits: the second begins when the first has ended, or, with
/// two at a time, with it, and the third when the first has. A computation that waits for the
/// operation waits for all.
#[test]
fn splits_follow_one_another() {
    let rank = file(&[
        node(1, 7, &[("comm_type", 2), ("comm_size", 300)], &[]),
        Node { duration_micros: 1, ..node(2, 4, &[], &[1]) },
    ]);
    // Of the computation, then of each send: for how many receives it waits, over all nodes
    // between.
    let before = |splits| -> Vec<usize> {
        let programs = read_split(splits, false, (None, None), &[rank.clone(), rank.clone()], &[]).unwrap();
        let program = &programs.ranks[0];
        let nodes = program.nodes();
        let mut all: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        let after = |before: u32| program.followers(before).map(move |(after, _)| (before, after));
        let pairs: Vec<(u32, u32)> = (0..nodes.len() as u32).flat_map(after).collect();
        for _ in 0..nodes.len() {
            for (before, after) in &pairs {
                let more = [all[*before as usize].clone(), vec![*before as usize]].concat();
                all[*after as usize].extend(more);
                all[*after as usize].sort_unstable();
                all[*after as usize].dedup();
            }
        }
        let works = |i: &usize| nodes[*i].op == Op::Recv;
        let counted = (0..nodes.len()).filter(|i| nodes[*i].op == Op::Send || nodes[*i].size == 1000);
        counted.map(|i| all[i].iter().filter(|before| works(before)).count()).collect()
    };
    assert_eq!(before((1, 1)), [1, 0]);
    assert_eq!(before((3, 1)), [3, 0, 1, 2]);
    assert_eq!(before((3, 2)), [3, 0, 0, 1]);
    assert_eq!(before((3, 3)), [3, 0, 0, 0]);
    let none = file(&[Node { duration_micros: 1, ..node(2, 4, &[], &[]) }]);
    let error = read_split((2, 1), false, (None, None), &[none], &[]).unwrap_err();
    assert_eq!(error, "p: there is no collective operation, so splits decides nothing; leave it out");
}

/// Two sends, of which the file has that with the higher id first, an all-gather, and computations
/// on both processors. In parallel all that may start starts, in the order of the file. ASTRA-sim
/// begins with the lowest id, and a rank does one of the first three at a time: a send until it is
/// acknowledged, the all-gather until the other rank's part has come. It computes beside them.
#[test]
fn a_rank_communicates_in_turn() {
    let message = |id: u64, kind, peer| {
        node(id, kind, &[("comm_size", 50), (peer, i64::from(kind == 5)), ("comm_tag", id as i64)], &[])
    };
    let gather = node(1, 7, &[("comm_type", 2), ("comm_size", 10)], &[]);
    let computes = |id| Node { duration_micros: 9, ..node(id, 4, &[], &[]) };
    let mut on_cpu = computes(6);
    on_cpu.attr.push(attribute("is_cpu_op", Value::Bool(true)));
    let zero = [on_cpu, message(5, 5, "comm_dst"), message(3, 5, "comm_dst"), gather.clone(), computes(8), computes(7)];
    let one = [gather, message(5, 6, "comm_src"), message(3, 6, "comm_src")];
    let begin = |serial| read_split((1, 1), serial, (None, None), &[file(&zero), file(&one)], &[]).unwrap();
    let named = |programs: &Programs, actions: &mut Vec<Action>| -> Vec<u32> {
        let nodes = programs.ranks[0].nodes();
        let id = |action: Action| match action {
            Action::Send(node) | Action::Calculate(node) => nodes[node as usize].place,
            Action::Tell(..) => unreachable!("there are no interfaces"),
        };
        actions.drain(..).map(id).collect()
    };

    let (programs, mut actions) = (begin(false), Vec::new());
    Machine::new(&programs.ranks[0]).begin(&mut actions);
    assert_eq!(named(&programs, &mut actions), [6, 5, 3, 8, 1], "nothing of the operation waits for processor 0");

    let programs = begin(true);
    let [zero, one] = [&programs.ranks[0], &programs.ranks[1]];
    let find =
        |rank: &Rank, op, id| rank.nodes().iter().position(|node| (node.op, node.place) == (op, id)).unwrap() as u32;
    let mut machine = Machine::new(zero);
    machine.begin(&mut actions);
    assert_eq!(named(&programs, &mut actions), [1, 6, 7]);
    let part = find(one, Op::Send, 1);
    machine.arrived(1, &one.nodes()[part as usize], one.channel(part), &mut actions);
    assert_eq!(named(&programs, &mut actions), [3]);
    for (op, id, then) in [(Op::Send, 1, None), (Op::Calc, 7, Some(8)), (Op::Send, 3, Some(5)), (Op::Send, 5, None)] {
        machine.ended(find(zero, op, id), &mut actions);
        assert_eq!(named(&programs, &mut actions), Vec::from_iter(then), "{op:?} {id}");
    }
    machine.ended(find(zero, Op::Calc, 6), &mut actions);
    machine.ended(find(zero, Op::Calc, 8), &mut actions);
    assert!(machine.is_done());
}
