//! Traces that workloads of kind `program` run: their files, and the hosts of their ranks.

use linkpool_scenario::{ScenarioError, WorkloadKind, load};
use linkpool_workload::kinds::Program;
use linkpool_workload::program::Op;

use crate::graph::directory;

const GOAL: &str = "num_ranks 2\nrank 0 {\nl1: send 3b to 1\n}\nrank 1 {\nl1: recv 3b from 0\n}\n";

/// The workload with these keys, on four hosts, beside files.
fn run(test: &str, files: &[(&str, &[u8])], topology: &str, keys: &str) -> Result<Program, Vec<ScenarioError>> {
    let directory = directory(test);
    for (name, content) in files {
        std::fs::write(directory.join(name), content).unwrap();
    }
    let text = format!(
        "duration = \"1s\"\n[topology.{topology}]\npairs = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n[transport.t]\n\
         control = \"reno\"\n[[workload.program]]\ntransport = \"t\"\n{keys}\n"
    );
    let loaded = load(&text, directory.join("x.toml").to_str().unwrap(), None, &[]);
    std::fs::remove_dir_all(&directory).unwrap();
    let scenario = loaded?;
    let WorkloadKind::Program(program) = &scenario.workloads[0].kind else { panic!("a program") };
    assert!(program.file.starts_with(directory.to_str().unwrap()), "{}", program.file);
    Ok(program.clone())
}

/// Key and message of the only error.
fn wrong(test: &str, files: &[(&str, &[u8])], keys: &str) -> (String, String) {
    let errors = run(test, files, "dumbbell", keys).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let key = errors[0].key.strip_prefix("workload.program.0.").unwrap_or(&errors[0].key);
    (key.to_string(), errors[0].message.clone())
}

const OF_GOAL: &str = "file = \"p.goal\"\nformat = \"goal\"";

#[test]
fn rates_of_operations_are_of_chakra() {
    let files = [("p.goal", GOAL.as_bytes())];
    let of_goal = wrong("rates", &files, &format!("{OF_GOAL}\ncompute_rate = 1e12"));
    assert_eq!(of_goal.0, "compute_rate");
    assert!(of_goal.1.contains("format = \"chakra\""), "{}", of_goal.1);
    assert_eq!(wrong("rates", &files, &format!("{OF_GOAL}\nreduce_rate = \"1Tbps\"")).0, "reduce_rate");
    let of_chakra = "file = \"p\"\nformat = \"chakra\"";
    let alone = wrong("rates", &files, &format!("{of_chakra}\nmemory_rate = \"1Tbps\""));
    assert_eq!(alone, ("memory_rate".to_string(), "stands beside `compute_rate`; write that, too".to_string()));
    let none = wrong("rates", &files, &format!("{of_chakra}\ncompute_rate = 0.0"));
    assert_eq!(none, ("compute_rate".to_string(), "0 is no rate; it must be above zero".to_string()));
}

#[test]
fn stragglers_are_ranks_of_the_job() {
    let files = [("p.goal", GOAL.as_bytes())];
    let with = |keys: &str| format!("{OF_GOAL}\niterations = 3\nstragglers = {{ slowdown = 2, {keys} }}");
    for (keys, key, message) in [
        ("from_iteration = 1", "ranks", "missing; write for example ranks = [0], number = 1, or probability = 0.01"),
        ("ranks = [0, 2]", "ranks", "there is no rank 2; they are 0 to 1"),
        ("ranks = []", "ranks", "there is no rank in it; leave `stragglers` out"),
        ("ranks = [0], number = 1", "ranks", "there are several of `ranks`, `number` and `probability`; leave one"),
        ("number = 3", "number", "3 of 2 ranks"),
        ("number = 0", "number", "must be above zero"),
        ("probability = 1.5", "probability", "1.5 is no share; it goes from 0 to 1"),
        ("number = 1, from_iteration = 3", "from_iteration", "the last iteration is 2, counted from 0"),
        (
            "number = 1, from_iteration = 2, until_iteration = 2",
            "until_iteration",
            "it must be above from_iteration, 2",
        ),
    ] {
        let found = wrong("stragglers", &files, &with(keys));
        assert_eq!(found, (format!("stragglers.{key}"), message.to_string()));
    }
    let (key, message) =
        wrong("stragglers", &files, &format!("{OF_GOAL}\nstragglers = {{ slowdown = 0.5, number = 1 }}"));
    assert_eq!((key.as_str(), &message[..20]), ("stragglers.slowdown", "0.5 is no slowdown; "));
    let program = run("stragglers", &files, "dumbbell", &with("ranks = [1]")).unwrap();
    assert_eq!(program.stragglers.unwrap().until_iteration, u32::MAX);
}

#[test]
fn failures_of_a_job_are_in_its_time() {
    let files = [("p.goal", GOAL.as_bytes())];
    let with = |keys: &str| format!("{OF_GOAL}\nfailures = {{ recovery = \"1ms\", {keys} }}");
    for (keys, key, message) in [
        ("checkpoint_every = 2", "at", "missing; write for example at = [\"10ms\"] or mtbf = \"1s\""),
        ("at = []", "at", "must have a time"),
        ("at = [\"2ms\", \"1ms\"]", "at", "must ascend, and have no time twice"),
        ("at = [\"1ms\", \"1ms\"]", "at", "must ascend, and have no time twice"),
        ("at = [\"1ms\"], mtbf = \"1s\"", "at", "there is `mtbf`, too; leave one out"),
        ("at = [\"1s\"]", "at", "1s after the start of the job is not before `duration`"),
        ("mtbf = \"1us\"", "mtbf", "about 1000000 failures; at most 5000"),
        ("mtbf = \"1s\", checkpoint_every = 0", "checkpoint_every", "must be above zero"),
    ] {
        assert_eq!(wrong("failures", &files, &with(keys)), (format!("failures.{key}"), message.to_string()));
    }
    // An ACK of 90 B takes 720 ns at 1 Gbit/s, and 1 us; a header and a byte are longer.
    let recovery = |time: &str| format!("{OF_GOAL}\nfailures = {{ mtbf = \"1s\", recovery = \"{time}\" }}");
    let (key, message) = wrong("failures", &files, &recovery("1719ns"));
    assert_eq!(key, "failures.recovery");
    assert!(message.contains("smallest packet takes over a link, 1720ns"), "{message}");
    run("failures", &files, "dumbbell", &recovery("1720ns")).unwrap();
    let (key, message) = wrong("failures", &files, &with("mtbf = \"1s\" }\nnic = \"host\"\n# {"));
    assert_eq!((key.as_str(), &message[..26]), ("failures", "a job whose ranks have sev"));
    let program = run("failures", &files, "dumbbell", &with("mtbf = \"1s\"")).unwrap();
    assert_eq!(program.failures.unwrap().checkpoint_every, 1);
}

#[test]
fn hosts_of_ranks_stand_in_a_file_line_by_line() {
    let with = |hosts: &'static str| [("p.goal", GOAL.as_bytes()), ("hosts", hosts.as_bytes())];
    let keys = format!("{OF_GOAL}\nhosts_file = \"hosts\"");
    let program = run("hosts", &with("# ranks\nS2 # by name\n\n2\n"), "dumbbell", &keys).unwrap();
    assert_eq!(program.placed.hosts, Some(vec![1.into(), 2.into()]));
    let of = |hosts, more: &str| wrong("hosts-bad", &with(hosts), &format!("{keys}{more}"));
    for (hosts, message) in [
        ("S1\n\nS9\n", "hosts:3: there is no host \"S9\"; hosts are S1 to S2 and D1 to D2, or their indices 0 to 3"),
        ("S1\n4\n", "hosts:2: there is no host 4; hosts are"),
    ] {
        let (key, found) = of(hosts, "");
        assert!(key == "hosts_file" && found.starts_with(message), "{found}");
    }
    let (key, found) = of("S1\nS2\n", "\nhosts = [0, 1]");
    assert_eq!((key.as_str(), &found[..30]), ("hosts_file", "stands beside `hosts`, which s"));
    // Where the topology is wrong, nothing is said of hosts.
    let errors = run("no-hosts", &with("S1\n2\n"), "dumbbel", &keys).unwrap_err();
    assert!(matches!(&errors[..], [error] if error.key == "topology.dumbbel"), "{errors:#?}");
}

#[test]
fn a_trace_is_the_one_of_its_digest() {
    let files = [("p.goal", GOAL.as_bytes())];
    let digest = run("digest", &files, "dumbbell", OF_GOAL).unwrap().sha256.unwrap();
    // As sha256sum prints it.
    assert_eq!(digest, "4fc3f16d8f01f348810469179c1c6c48dbc9b824fa3103b8f643a9ceb7b60c68");
    let same = run("digest-same", &files, "dumbbell", &format!("{OF_GOAL}\nsha256 = \"{digest}\"")).unwrap();
    assert_eq!(same.sha256, Some(digest.clone()));
    let (key, message) = wrong("digest-other", &files, &format!("{OF_GOAL}\nsha256 = \"00\""));
    assert_eq!(
        (key.as_str(), message),
        ("file", format!("p.goal: has the SHA-256 {digest}; it is another trace than 00"))
    );
}

/// A number of protobuf, field by field: <https://protobuf.dev/programming-guides/encoding>.
fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n > 127 {
        bytes.push(n as u8 | 128);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn number(field: u64, n: u64) -> Vec<u8> {
    [varint(field << 3), varint(n)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// A file of Chakra with one node (MLCommons' `et_def.proto`): an all-gather of 10 bytes in the
/// process group "x".
fn all_gather() -> Vec<u8> {
    let whole = |name: &str, n| bytes(10, &[bytes(1, name.as_bytes()), number(9, n)].concat());
    let group = bytes(10, &[bytes(1, b"pg_name"), bytes(29, b"x")].concat());
    let node = [number(1, 1), number(3, 7), whole("comm_type", 2), whole("comm_size", 10), group].concat();
    // Empty metadata; the node behind its length.
    [vec![0], varint(node.len() as u64), node].concat()
}

const OF_CHAKRA: &str = "file = \"p\"\nformat = \"chakra\"";

#[test]
fn process_groups_stand_in_a_file() {
    let rank = all_gather();
    let with = |groups: &'static str| [("p.0.et", &rank[..]), ("p.1.et", &rank), ("groups.json", groups.as_bytes())];
    let keys = format!("{OF_CHAKRA}\ngroups_file = \"groups.json\"");
    let program = run("groups", &with(r#"{"x": [1, 0]}"#), "dumbbell", &keys).unwrap();
    assert!(program.groups_file.unwrap().ends_with("/groups.json"));
    let sends: usize = program
        .programs
        .unwrap()
        .ranks
        .iter()
        .map(|rank| rank.nodes().iter().filter(|node| node.op == Op::Send && node.size == 10).count())
        .sum();
    assert_eq!(sends, 2, "each rank sends its 10 bytes to the other");
    for (groups, message) in [
        ("[]", "groups.json: is no JSON object of lists of ranks: "),
        (r#"{"x": []}"#, "groups.json: group \"x\" has no rank, or one of them twice"),
        (r#"{"x": [1, 0, 1]}"#, "groups.json: group \"x\" has no rank, or one of them twice"),
    ] {
        let (key, found) = wrong("groups-bad", &with(groups), &keys);
        assert!(key == "file" && found.starts_with(message), "{found}");
    }
}

#[test]
fn a_trace_of_chakra_has_a_file_for_each_rank() {
    let rank = all_gather();
    let (_, message) = wrong("chakra-none", &[], OF_CHAKRA);
    assert!(message.starts_with("p.0.et: cannot be read: there is no such file"), "{message}");
    let files = [("p.0.et", &rank[..]), ("p.3.et", &rank), ("p.2.et", &rank), ("q.1.et", &rank)];
    assert_eq!(wrong("chakra-gap", &files, OF_CHAKRA).1, "p.1.et: is missing, and there is p.2.et");
}
