//! Programs whose ranks have several interfaces.

use linkpool_formats::program::read_goal;
use linkpool_workload::program::{Action, Machine, Op, Programs, Rank};

fn read(zero: &str, one: &str) -> Result<Programs, String> {
    let text = format!("num_ranks 2\nrank 0 {{\n{zero}\n}}\nrank 1 {{\n{one}\n}}\n");
    read_goal("p", text.as_bytes()).unwrap().matched().unwrap().by_interface()
}

/// The sends and receives of each rank: with the other rank, and the tag.
fn messages(programs: &Programs) -> Vec<Vec<(Op, u32, u32)>> {
    let of = |rank: &Rank| rank.nodes().iter().map(|node| (node.op, node.peer, node.tag)).collect();
    programs.ranks.iter().map(of).collect()
}

/// Three interfaces: those of rank 0 are ranks 0 to 2, those of rank 1 are 3 to 5.
#[test]
fn a_message_goes_from_the_interface_of_its_send_to_that_of_its_receive() {
    let zero = "send 5b to 1 tag 2 nic 1\nsend 6b to 1 nic 2\nrecv 7b from 1 nic 2";
    let programs = read(zero, "recv 5b from 0 tag 2 nic 0\nsend 7b to 0 nic 1\nrecv 6b from 0 nic 2").unwrap();
    let expected = [
        vec![],
        vec![(Op::Send, 3, 2)],
        vec![(Op::Send, 5, 0), (Op::Recv, 4, 0)],
        vec![(Op::Recv, 1, 2)],
        vec![(Op::Send, 2, 0)],
        vec![(Op::Recv, 2, 0)],
    ];
    assert_eq!(messages(&programs), expected);
    assert_eq!(programs.pairs, [(4, 2), (1, 3), (2, 5)]);
    assert!(programs.ranks.iter().all(|rank| !rank.is_tied()));
}

#[test]
fn a_trace_without_interfaces_stays_as_it_is() {
    let text =
        "num_ranks 2\nrank 0 {\na: calc 7 cpu 3\nb: send 5b to 1\nb requires a\n}\nrank 1 {\nrecv 5b from 0\n}\n";
    let programs = read_goal("p", text.as_bytes()).unwrap().matched().unwrap();
    assert_eq!(programs.clone().by_interface(), Ok(programs));
}

/// Computation belongs to the interface of its processor's messages. Interface 0 computes
/// before both interfaces send, and a message of interface 1 waits for the start of the one of
/// interface 0.
#[test]
fn what_waits_for_another_interface_is_told() {
    let zero = "a: calc 9\nb: send 5b to 1 tag 1 cpu 1\nc: calc 8 cpu 2\nd: send 5b to 1 tag 2 cpu 2 nic 1\n\
                b requires a\nc requires a\nd requires c\nd irequires b";
    let programs = read(zero, "recv 5b from 0 tag 1\nrecv 5b from 0 tag 2 nic 1").unwrap();
    let count = |rank: usize| programs.ranks[rank].nodes().len();
    assert_eq!([0, 1, 2, 3].map(count), [2, 2, 1, 1]);
    assert_eq!([0, 1].map(|rank| programs.ranks[rank].needs().to_vec()), [vec![0, 1], vec![1, 2]]);
    assert_eq!([0, 1, 2, 3].map(|rank| programs.ranks[rank].is_tied()), [true, false, false, false]);
    let mut machines: Vec<Machine<'_>> = programs.ranks.iter().map(Machine::new).collect();
    let mut actions = Vec::new();
    machines[0].begin(&mut actions);
    machines[1].begin(&mut actions);
    assert_eq!(actions, [Action::Calculate(0)]);
    actions.clear();
    machines[0].ended(0, &mut actions);
    assert_eq!(actions, [Action::Send(1), Action::Tell(1, 0), Action::Tell(1, 1)]);
    actions.clear();
    machines[1].told(1, &mut actions);
    assert_eq!(actions, []);
    machines[1].told(0, &mut actions);
    assert_eq!(actions, [Action::Calculate(0)]);
    actions.clear();
    machines[1].ended(0, &mut actions);
    assert_eq!(actions, [Action::Send(1)]);
    machines[1].ended(1, &mut actions);
    assert!(machines[1].is_done() && !machines[0].is_done());
}

#[test]
fn each_interface_must_be_known_before_the_run() {
    let wild = read("send 5b to 1 nic 1", "recv 5b from -1 nic 1").unwrap_err();
    assert!(wild.starts_with("p:3: send 5b to 1 tag 0, and rank 1 receives by a wildcard"), "{wild}");
    let receives = read("send 5b to 1\nsend 5b to 1", "recv 5b from 0 nic 1\nrecv 5b from 0").unwrap_err();
    assert_eq!(
        receives,
        "p:8: recv 5b from 0 tag 0 at interface 0, and p:7 has interface 1; with nic = \"host\" those of one source \
         and tag have one interface"
    );
    let sends = read("send 5b to 1\nsend 5b to 1 nic 2", "recv 5b from 0\nrecv 5b from 0").unwrap_err();
    assert!(sends.starts_with("p:4: send 5b to 1 tag 0 at interface 2, and p:3 has interface 0"), "{sends}");
    let both = "send 5b to 1\nsend 5b to 1 tag 1 nic 1\n";
    let received = "recv 5b from 0\nrecv 5b from 0 tag 1";
    assert!(read(&format!("{both}calc 0"), received).is_ok());
    let computes = read(&format!("{both}calc 3"), received).unwrap_err();
    assert!(computes.starts_with("p:5: calc 3 occupies processor 0, which has messages at several"), "{computes}");
}
