//! What ranks do over time: spans by hand, that they have no gaps and add up, and what flows say of messages.

use crate::common::written::{differ, written};
use crate::programs::{FOUR_HOSTS, SENDS, WORKLOAD, beside};
use linkpool_scenario::Scenario;
use linkpool_sim::{TableCells, read_columns, run_to_directory};
use proptest::prelude::*;
use std::path::Path;

/// A span of a rank, in ps.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Span {
    rank: i64,
    start: u64,
    end: u64,
    doing: String,
    iteration: i64,
    restart: i64,
}

/// Whole numbers, times in ps, and texts of some columns, row by row; -1 is null.
fn numbers(directory: &Path, table: &str, names: &str) -> Vec<Vec<i64>> {
    let names: Vec<String> = names.split(' ').map(str::to_string).collect();
    let columns = read_columns(&directory.join(format!("{table}.parquet")), &names).unwrap();
    let ps = |seconds: &Option<f64>| seconds.map_or(-1, |seconds| (seconds * 1e12).round() as i64);
    let columns: Vec<Vec<i64>> = columns
        .iter()
        .map(|column| match column {
            TableCells::Integers(values) => values.iter().map(|value| value.unwrap_or(-1)).collect(),
            TableCells::Numbers(values) => values.iter().map(ps).collect(),
            other => panic!("{other:?}"),
        })
        .collect();
    (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

fn texts(directory: &Path, table: &str, name: &str) -> Vec<String> {
    let columns = read_columns(&directory.join(format!("{table}.parquet")), &[name.to_string()]).unwrap();
    let TableCells::Texts(values) = &columns[0] else { panic!("{name}") };
    values.iter().map(|value| value.clone().unwrap_or_default()).collect()
}

fn spans(directory: &Path) -> Vec<Span> {
    let rows = numbers(directory, "rank_spans", "rank start_s end_s iteration restart");
    let span = |(row, doing): (Vec<i64>, String)| Span {
        rank: row[0],
        start: row[1] as u64,
        end: row[2] as u64,
        iteration: row[3],
        restart: row[4],
        doing,
    };
    rows.into_iter().zip(texts(directory, "rank_spans", "doing")).map(span).collect()
}

fn run(scenario: &Scenario) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    run_to_directory(scenario, directory.path(), Some(1), &mut |_| true).unwrap();
    directory
}

/// The spans of a program on the four hosts, by rank: what it does, until when in us, and iteration and restart.
fn told(keys: &str, goal: &str) -> [Vec<(String, f64, i64, i64)>; 2] {
    let text = format!("{FOUR_HOSTS}{WORKLOAD}{keys}[record]\nranks = true\n");
    let all = spans(run(&beside(&text, &[("p.goal", goal.as_bytes())])).path());
    [0, 1].map(|rank| {
        let own: Vec<&Span> = all.iter().filter(|span| span.rank == rank).collect();
        assert_eq!(own[0].start, 0);
        assert!(own.windows(2).all(|two| two[0].end == two[1].start), "{own:?}");
        own.iter().map(|s| (s.doing.clone(), s.end as f64 / 1e6, s.iteration, s.restart)).collect()
    })
}

fn is(told: &[(String, f64, i64, i64)], expected: &[(&str, f64, i64, i64)]) {
    let told: Vec<_> = told.iter().map(|(doing, until, i, r)| (doing.as_str(), *until, *i, *r)).collect();
    assert_eq!(told, expected);
}

/// Rank 0 computes for 100 us, in iteration 1 for 150 as a straggler, and sends a packet, which
/// arrives 36 us later, and whose ACK comes 20.64 us after that; the first has a handshake of 41.6 us before.
/// A checkpoint takes 10 us. The job fails at 300 us, in iteration 1, and goes on 50 us later; the
/// second failure comes when it is over.
#[test]
fn two_ranks_with_a_straggler_and_a_failure_by_hand() {
    let keys = "iterations = 2\nstragglers = { ranks = [0], slowdown = 1.5, from_iteration = 1 }\n\
        failures = { at = [\"300us\", \"700us\"], recovery = \"50us\", checkpoint_time = \"10us\" }\n";
    let [zero, one] = told(keys, SENDS);
    is(
        &zero,
        &[
            ("computation", 100.0, 0, 0),
            ("communication", 198.24, 0, 0),
            ("checkpoint", 208.24, 0, 0),
            ("computation", 300.0, 1, 0),
            ("recovery", 350.0, 1, 0),
            ("computation", 450.0, 1, 1),
            ("straggling", 500.0, 1, 1),
            // Over a connection that is opened anew.
            ("communication", 598.24, 1, 1),
        ],
    );
    is(
        &one,
        &[
            ("wait", 100.0, 0, 0),
            ("communication", 177.6, 0, 0),
            ("checkpoint", 187.6, 0, 0),
            ("wait", 300.0, 1, 0),
            ("recovery", 350.0, 1, 0),
            ("wait", 500.0, 1, 1),
            ("communication", 577.6, 1, 1),
            // It is done, and rank 0 is not.
            ("wait", 598.24, 1, 1),
        ],
    );
    // Without a failure that matters nothing is recovered, and a recovery that fails again begins anew.
    let [zero, _] = told("failures = { at = [\"80ms\"], recovery = \"20us\" }\n", SENDS);
    is(&zero, &[("computation", 100.0, 0, 0), ("communication", 198.24, 0, 0)]);
    let [zero, one] = told("failures = { at = [\"150us\", \"160us\"], recovery = \"20us\" }\n", SENDS);
    let again = [("recovery", 180.0, 0, 0), ("computation", 280.0, 0, 2), ("communication", 378.24, 0, 2)];
    is(&zero, &[&[("computation", 100.0, 0, 0), ("communication", 150.0, 0, 0)][..], &again].concat());
    // The message of before comes at 177.6 us, and nobody is there.
    let again = [("recovery", 180.0, 0, 0), ("wait", 280.0, 0, 2), ("communication", 357.6, 0, 2)];
    let over = [("wait", 378.24, 0, 2)];
    is(&one, &[&[("wait", 100.0, 0, 0), ("communication", 150.0, 0, 0)][..], &again, &over].concat());
}

/// Rank 0 sends a packet, and its ACK is there at 98.24 us. It writes a checkpoint for 50 us, and sends the next, which
/// arrives at 184.24 us. Rank 1 has computed until 167.6 us, and writes a checkpoint until 217.6: it takes
/// the message then. A checkpoint that takes longer than the run: each rank has ended one
/// iteration, and after the failure at 89 ms and 20 us the same again, over a connection that is opened anew.
#[test]
fn a_message_may_come_while_a_rank_writes_a_checkpoint() {
    let goal =
        "num_ranks 2\nrank 0 {\nsend 960b to 1\n}\nrank 1 {\na: recv 960b from 0\nb: calc 90000\nb requires a\n}\n";
    let keys = "iterations = 3\nfailures = { at = [\"89ms\"], recovery = \"20us\", checkpoint_time = \"50us\" }\n";
    let [zero, one] = told(keys, goal);
    let sends = |at: f64, iteration: i64| ("communication", at, iteration, 0);
    is(&zero[..4], &[sends(98.24, 0), ("checkpoint", 148.24, 0, 0), sends(204.88, 1), ("checkpoint", 254.88, 1, 0)]);
    is(
        &one[..4],
        &[sends(77.6, 0), ("computation", 167.6, 0, 0), ("checkpoint", 217.6, 0, 0), ("computation", 307.6, 1, 0)],
    );
    let text = format!("{FOUR_HOSTS}{WORKLOAD}{}", keys.replace("50us", "1s"));
    let cut = run(&beside(&text, &[("p.goal", goal.as_bytes())]));
    let rows = numbers(cut.path(), "ranks", "rank iteration end_s left");
    let again = 89_020_000_000;
    let expected = [(0, 98_240_000), (1, 167_600_000), (0, again + 98_240_000), (1, again + 167_600_000)];
    assert_eq!(rows, expected.map(|(rank, end)| vec![rank, 0, end, 0]));
}

/// Two processors: 100 and 50 us, or 200 and 100 of a straggler. A message goes out at 0, is there
/// after 77.6 us and acknowledged after 98.24; only what is not beside a computation counts.
#[test]
fn computation_goes_before_communication() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 60000\nb: calc 30000 cpu 1\nsend 960b to 1 cpu 2\n}\n\
        rank 1 {\na: recv 960b from 0\nb: calc 1000\nb requires a\n}\n";
    let [zero, one] = told("", goal);
    is(&zero, &[("computation", 60.0, 0, 0), ("communication", 98.24, 0, 0)]);
    is(&one, &[("communication", 77.6, 0, 0), ("computation", 78.6, 0, 0), ("wait", 98.24, 0, 0)]);
    let [zero, _] = told("stragglers = { ranks = [0], slowdown = 1.5 }\n", goal);
    is(&zero, &[("computation", 60.0, 0, 0), ("straggling", 90.0, 0, 0), ("communication", 98.24, 0, 0)]);
}

/// The run ends at 99 ms, when rank 0 still computes; the message of another program is due after
/// `duration`, and is never sent.
#[test]
fn what_the_end_of_the_run_cuts_off_is_there() {
    let [zero, one] = told("", &SENDS.replace("100000", "200000000"));
    is(&zero, &[("computation", 99_000.0, 0, 0)]);
    is(&one, &[("wait", 99_000.0, 0, 0)]);
    let [zero, one] = told("", &SENDS.replace("100000", "95000000"));
    is(&zero, &[("computation", 95_000.0, 0, 0), ("wait", 99_000.0, 0, 0)]);
    is(&one, &[("wait", 99_000.0, 0, 0)]);
}

/// A model in training on four racks: tensor groups, stages, copies, and micro-batches.
fn training((tp, pp, dp, micro_batches): (u32, u32, u32, u32), keys: &str) -> Scenario {
    let of_groups =
        [(tp, "layers = 2\ntensor = \"4KB\"\n"), (pp, "activations = \"20KB\"\n"), (dp, "gradients = \"40KB\"\n")];
    let of_groups: String = of_groups.iter().filter(|(size, _)| *size > 1).map(|(_, keys)| *keys).collect();
    let text = format!(
        "{FOUR_HOSTS}[[workload.training]]\ntransport = \"t\"\nstart = \"3us\"\nforward = \"20us\"\n\
         backward = \"30us\"\nupdate = \"7us\"\ntp = {tp}\npp = {pp}\ndp = {dp}\nmicro_batches = {micro_batches}\n\
         {of_groups}{keys}[record]\nranks = true\n"
    );
    let fabric = "[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 2\n";
    beside(&text.replace("[topology.many-to-one]\nsenders = 3\n", fabric), &[])
}

/// How much of `span` is in one of `others`, whose parts that overlap count once.
fn within(span: &Span, others: &[(u64, u64)]) -> u64 {
    let mut parts: Vec<(u64, u64)> =
        others.iter().map(|(a, b)| ((*a).max(span.start), (*b).min(span.end))).filter(|(a, b)| a < b).collect();
    parts.sort_unstable();
    let (mut total, mut until) = (0, 0);
    for (a, b) in parts {
        total += b.max(until) - a.max(until);
        until = until.max(b);
    }
    total
}

const STRAGGLERS: &str = "stragglers = { ranks = [1], slowdown = 1.5 }\n";
const FAILURES: &str = "failures = { mtbf = \"2ms\", recovery = \"50us\", checkpoint_time = \"10us\" }\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// The spans of a rank follow each other without gaps, from the start of the job to its end. They take the time of
    /// each iteration as `ranks.parquet` has it, and no two beside each other are alike. A rank computes
    /// for m (F + B) + U in an iteration, and a straggler half of that longer. Of communication every instant has a
    /// message in `flows.parquet`, of waits none.
    #[test]
    fn spans_have_no_gaps_and_add_up(
        sizes in (1u32..3, 1u32..3, 1u32..3, 1u32..4).prop_filter("ranks", |(tp, pp, dp, _)| tp * pp * dp > 1),
        iterations in 1u32..4,
        slow in any::<bool>(),
        fails in any::<bool>(),
    ) {
        let keys = [(true, &format!("iterations = {iterations}\n")[..]), (slow, STRAGGLERS), (fails, FAILURES)];
        let keys: String = keys.iter().filter(|(wanted, _)| *wanted).map(|(_, keys)| *keys).collect();
        let scenario = training(sizes, &keys);
        let directory = run(&scenario);
        let all = spans(directory.path());
        let rows = numbers(directory.path(), "ranks", "rank iteration restart start_s end_s");
        let ranks = i64::from(sizes.0 * sizes.1 * sizes.2);
        // A job that fails too often is cut off by the end of the run, at 99 ms.
        let last = rows.iter().map(|row| row[2]).max().unwrap();
        let is_last = |row: &&Vec<i64>| (row[1], row[2]) == (i64::from(iterations) - 1, last) && row[4] >= 0;
        let is_done = rows.iter().filter(is_last).count() as i64 == ranks;
        let end = if is_done { rows.iter().map(|row| row[4]).max().unwrap() as u64 } else { 99_000_000_000 };
        let flows = numbers(directory.path(), "flows", "start_s delivered_s end_s");
        let [from, to] = ["src", "dst"].map(|name| texts(directory.path(), "flows", name));
        for rank in 0..ranks {
            let own: Vec<&Span> = all.iter().filter(|span| span.rank == rank).collect();
            prop_assert_eq!((own[0].start, own[own.len() - 1].end), (3_000_000, end));
            for two in own.windows(2) {
                prop_assert_eq!(two[0].end, two[1].start);
                let key = |of: &Span| (of.doing.clone(), of.iteration, of.restart);
                prop_assert!(key(two[0]) != key(two[1]), "{:?}", two);
            }
            for row in rows.iter().filter(|row| row[0] == rank && row[4] >= 0) {
                let of = own.iter().filter(|span| (span.iteration, span.restart) == (row[1], row[2]));
                let of = of.filter(|span| !["checkpoint", "recovery"].contains(&&span.doing[..]));
                let (start, end) = (row[3] as u64, row[4] as u64);
                prop_assert_eq!(of.map(|span| within(span, &[(start, end)])).sum::<u64>(), end - start);
            }
            let of_kind = |kind: &str| own.iter().filter(|span| span.doing == kind).map(|s| s.end - s.start).sum::<u64>();
            prop_assert_eq!(of_kind("recovery") > 0 || of_kind("checkpoint") > 0, fails && (end > 2_000_000_000 || iterations > 1));
            if fails {
                continue;
            }
            let computes = u64::from(iterations) * (u64::from(sizes.3) * 50 + 7) * 1_000_000;
            let longer = if slow && rank == 1 { computes / 2 } else { 0 };
            prop_assert_eq!((of_kind("computation"), of_kind("straggling")), (computes, longer));
            let host = format!("h{rank}");
            let sent = flows.iter().zip(&from).filter(|(_, from)| **from == host).map(|(row, _)| (row[0] as u64, row[2] as u64));
            let got = flows.iter().zip(&to).filter(|(_, to)| **to == host).map(|(row, _)| (row[0] as u64, row[1] as u64));
            let messages: Vec<(u64, u64)> = sent.chain(got).collect();
            for span in own {
                match &span.doing[..] {
                    "communication" => prop_assert_eq!(within(span, &messages), span.end - span.start),
                    "wait" => prop_assert_eq!(within(span, &messages), 0),
                    _ => {}
                }
            }
        }
    }
}

/// On any number of threads the same bytes, and each job by itself: two jobs, of which one fails again and again.
#[test]
fn spans_on_any_number_of_threads() {
    let second = "[[workload.training]]\ntransport = \"t\"\nlabel = \"second\"\nplacement = \"spread\"\ndp = 8\n\
        forward = \"90us\"\ngradients = \"60KB\"\niterations = 5\nstragglers = { probability = 0.3, slowdown = 2 }\n";
    let scenario = training((2, 2, 2, 3), &format!("iterations = 6\n{STRAGGLERS}{FAILURES}{second}"));
    let one = written(&scenario, 1);
    for threads in [2, 4] {
        assert_eq!(differ(&one, &written(&scenario, threads)), [] as [&str; 0], "{threads} threads");
    }
    let directory = run(&scenario);
    let (labels, doing) =
        (texts(directory.path(), "rank_spans", "label"), texts(directory.path(), "rank_spans", "doing"));
    let has = |label: &str, kind: &str| labels.iter().zip(&doing).any(|(l, d)| (&l[..], &d[..]) == (label, kind));
    assert!(has("training", "recovery") && has("second", "straggling") && !has("second", "recovery"));
}

/// Nothing else changes, and nothing is written, if it is not asked for.
#[test]
fn recording_ranks_changes_nothing_else() {
    let with = training((1, 2, 2, 2), "iterations = 2\n");
    let mut without = with.clone();
    without.record.ranks = false;
    let (mut with, without) = (written(&with, 1), written(&without, 1));
    assert!(with.remove("rank_spans.parquet").is_some());
    with.remove("scenario.toml");
    assert!(without.keys().filter(|name| *name != "scenario.toml").eq(with.keys()));
    assert!(with.iter().all(|(name, bytes)| without[name] == *bytes));
}
