//! Deadlocks of programs.

use linkpool_formats::program::read_goal;
use linkpool_workload::program::check;

fn checked(ranks: &[&str]) -> String {
    let mut text = format!("num_ranks {}\n", ranks.len());
    for (i, rank) in ranks.iter().enumerate() {
        text += &format!("rank {i} {{\n{rank}\n}}\n");
    }
    let programs = read_goal("p", text.as_bytes()).unwrap().matched().unwrap();
    check(&programs).err().unwrap_or_default()
}

#[test]
fn programs_that_end_are_good() {
    assert_eq!(checked(&["a: send 1b to 1\nb: recv 1b from 1\nb requires a", "recv 1b from 0\nsend 1b to 0"]), "");
    // Both receive first, and what they send waits for nothing.
    assert_eq!(checked(&["recv 1b from 1\nsend 1b to 1", "recv 1b from 0\nsend 1b to 0"]), "");
}

/// Two ranks that each wait to receive before they send.
#[test]
fn a_crossing_is_explained() {
    let both = |other| format!("a: recv 1b from {other}\nb: send 1b to {other}\nb requires a");
    assert_eq!(
        checked(&[&both(1), &both(0)]),
        "p:3: can never end: rank 0, line 3 (recv 1b from 1 tag 0), which waits for rank 1, line 9 (send 1b to 0 tag 0), \
         which waits for rank 1, line 8 (recv 1b from 0 tag 0), which waits for rank 0, line 4 (send 1b to 1 tag 0), \
         which waits for the first"
    );
}

#[test]
fn a_circle_of_dependencies_is_explained() {
    assert_eq!(
        checked(&["calc 1\na: calc 2\nb: calc 3\na requires b\nb irequires a"]),
        "p:4: can never end: rank 0, line 4 (calc 2), which waits for rank 0, line 5 (calc 3), which waits for the first"
    );
    assert_eq!(
        checked(&["a: calc 2\na requires a"]),
        "p:3: can never end: rank 0, line 3 (calc 2), which waits for itself"
    );
}

/// Of two receives of one source and tag the second can end only after a third message, which
/// waits for it: no order helps, as the second comes after the first.
#[test]
fn the_second_receive_of_a_channel_is_refused() {
    let zero = "a: recv 1b from 1\nb: recv 1b from 1\nb requires a\nc: send 1b to 1\nc requires b";
    let one = "send 1b to 0\nx: recv 1b from 0\ny: send 1b to 0\ny requires x";
    assert!(checked(&[zero, one]).starts_with("p:4: can never end: rank 0, line 4"));
}

/// If the receives do not wait for each other, another order may end: what stands first takes
/// the message.
#[test]
fn what_depends_on_order_is_not_refused() {
    let zero = "a: recv 1b from 1\nb: recv 1b from 1\nc: send 1b to 1\nc requires b";
    let one = "send 1b to 0\nx: recv 1b from 0\ny: send 1b to 0\ny requires x";
    assert_eq!(checked(&[zero, one]), "");
}
