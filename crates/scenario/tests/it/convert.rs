//! Traces of programs, written in another format.

use std::path::Path;

use linkpool_scenario::convert;

use crate::graph::directory;

/// Rank 0 sends 3 bytes to rank 1.
const GOAL: &str = "num_ranks 2\nrank 0 {\nl1: send 3b to 1 tag 5\n}\nrank 1 {\nl1: recv 3b from 0 tag 5\n}\n";

/// A scenario of four hosts with this workload of kind `kind`.
fn scenario(kind: &str, keys: &str) -> String {
    format!(
        "duration = \"1s\"\n[topology.dumbbell]\npairs = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n[transport.t]\n\
         control = \"reno\"\n[[workload.{kind}]]\ntransport = \"t\"\n{keys}\n"
    )
}

/// What `text`, as the file `name`, becomes in a file with each ending.
fn converted(test: &str, name: &str, text: &str) -> Result<(String, Vec<u8>), String> {
    let directory = directory(test);
    std::fs::write(directory.join("p.goal"), GOAL).unwrap();
    std::fs::write(directory.join(name), text).unwrap();
    let [goal, binary] = ["out.goal", "out.bin"].map(|out| directory.join(out));
    let from = directory.join(name);
    let both = convert(&from, &goal).and_then(|()| convert(&from, &binary)).map(|()| {
        let text = std::fs::read_to_string(&goal).unwrap();
        // The binary form says the same.
        convert(&binary, &directory.join("again.goal")).unwrap();
        assert_eq!(std::fs::read_to_string(directory.join("again.goal")).unwrap(), text);
        (text, std::fs::read(&binary).unwrap())
    });
    std::fs::remove_dir_all(directory).unwrap();
    both.map_err(|why| why.replace(&from.display().to_string(), name))
}

fn count(text: &str, word: &str) -> usize {
    text.split_whitespace().filter(|found| *found == word).count()
}

#[test]
fn goal_becomes_text_or_binary() {
    let (text, binary) = converted("convert-goal", "from.goal", GOAL).unwrap();
    assert!(text.contains("num_ranks 2") && text.contains("send 3b to 1 tag 5"), "{text}");
    assert!(binary.contains(&0));
}

#[test]
fn the_programs_of_a_scenario_are_written() {
    let program = scenario("program", "file = \"p.goal\"\nformat = \"goal\"");
    let (text, _) = converted("convert-program", "from.toml", &program).unwrap();
    assert!(text.contains("send 3b to 1 tag 5"), "{text}");
    // Ring all-reduce of 4 ranks: each sends a quarter of the data in 2 (4 - 1) steps.
    let keys = "algorithm = \"ring-all-reduce\"\nsize = \"400B\"";
    let (text, _) = converted("convert-collective", "from.toml", &scenario("collective", keys)).unwrap();
    assert!(text.contains("num_ranks 4"), "{text}");
    assert_eq!((count(&text, "send"), count(&text, "recv"), count(&text, "100b")), (24, 24, 48), "{text}");
    // Two copies of a model add up their gradients: a ring of 2, so 2 steps of one half.
    let keys = "dp = 2\ngradients = \"200B\"";
    let (text, _) = converted("convert-training", "from.toml", &scenario("training", keys)).unwrap();
    assert!(text.contains("num_ranks 2"), "{text}");
    assert_eq!((count(&text, "send"), count(&text, "100b")), (4, 8), "{text}");
}

#[test]
fn what_cannot_be_converted_is_named() {
    let cannot = |name: &str, text: &str| converted("convert-errors", name, text).unwrap_err();
    assert_eq!(
        cannot("from.toml", &scenario("permutation", "")),
        "from.toml: has no workload of kind program, collective or training"
    );
    assert!(cannot("from.toml", "duration = 1").starts_with("from.toml:1: duration: expected a time"));
    assert!(cannot("from.goal", "num_ranks none").starts_with("from.goal:1: "));
    let ending = convert(Path::new("from.goal"), Path::new("to.txt")).unwrap_err();
    assert_eq!(ending, "to.txt: its name must end in .goal (text) or .bin (binary GOAL)");
    let missing = convert(Path::new("no-such.goal"), Path::new("to.goal")).unwrap_err();
    assert!(missing.starts_with("no-such.goal: cannot be read: "), "{missing}");
}
