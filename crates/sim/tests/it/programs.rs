//! Programs of ranks: the same operation as a trace and as a collective, times worked out by hand,
//! and threads.

use crate::common::written::{differ, written};
use crate::common::{Kept, Run, run_on};
use linkpool_network::HostId;
use linkpool_scenario::{Scenario, load};
use linkpool_sim::{Plan, RankOutcome, Sink, simulate};
use linkpool_units::Time;
use std::fmt::Write as _;
use tempfile::TempDir;

/// A scenario beside files.
pub fn beside(text: &str, files: &[(&str, &[u8])]) -> Scenario {
    let place = TempDir::new().unwrap();
    for (name, content) in files {
        std::fs::write(place.path().join(name), content).unwrap();
    }
    let path = place.path().join("test.toml");
    load(text, path.to_str().unwrap(), None, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Hosts `S1` to `S3` and `R` at one switch, 1 Gbps, 10 us a link, packets of 1,000 bytes with 40
/// of them headers and ACKs of 40, one for each packet.
pub const FOUR_HOSTS: &str = "duration = \"90ms\"\ndrain = \"9ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\n\
    delay = \"10us\"\n[transport.t]\ncontrol = \"reno\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\n\
    ack_every = 1\n";

pub const WORKLOAD: &str = "[[workload.program]]\ntransport = \"t\"\nfile = \"p.goal\"\nformat = \"goal\"\n";

/// Outcomes with those of ranks.
#[derive(Default)]
struct All {
    kept: Kept,
    ranks: Vec<RankOutcome>,
}

impl Sink for All {
    fn sample(&mut self, sample: linkpool_sim::Sample) {
        self.kept.sample(sample);
    }
    fn flow(&mut self, flow: linkpool_sim::FlowOutcome) {
        self.kept.flow(flow);
    }
    fn job(&mut self, job: linkpool_sim::JobOutcome) {
        self.kept.job(job);
    }
    fn rank(&mut self, rank: RankOutcome) {
        self.ranks.push(rank);
    }
}

fn ranks(keys: &str, goal: &str) -> All {
    let scenario = beside(&format!("{FOUR_HOSTS}{WORKLOAD}{keys}"), &[("p.goal", goal.as_bytes())]);
    let (plan, mut all) = (Plan::new(&scenario), All::default());
    simulate(&plan, &plan.timetable(), 1, &mut all, &mut |_| true).unwrap();
    all
}

fn us(time: Option<Time>) -> f64 {
    time.unwrap().secs() * 1e6
}

/// Two ranks with two interfaces each, on the hosts S1 and S2, S3 and R. Rank 0 sends two packets from each interface at
/// once, each message over links of its own. Interface 1 of rank 1, on R, answers when both are there: that of interface 0
/// it learns a lookahead later, which is the 10 us of a link and a packet of 40 bytes.
#[test]
fn each_interface_of_a_rank_is_a_host() {
    let goal = "num_ranks 2\nrank 0 {\nsend 1920b to 1 tag 1\nsend 1920b to 1 tag 2 nic 1\nrecv 960b from 1\n}\n\
        rank 1 {\nx: recv 1920b from 0 tag 1\ny: recv 1920b from 0 tag 2 nic 1\nz: send 960b to 0 nic 1\n\
        z requires x\nz requires y\n}\n";
    let all = ranks("nic = \"host\"\n", goal);
    let delivered = |from: usize, to: usize| {
        let ends = (HostId::new(from), HostId::new(to));
        let flow = all.kept.flows.iter().find(|f| (f.planned.flow.src, f.planned.flow.dst) == ends);
        us(flow.expect("it was sent").delivered)
    };
    let handshake = 4.0 * 10.32 + 0.32;
    let message = 2.0 * 8.0 + 10.0 + 8.0 + 10.0;
    let arrived = handshake + message;
    assert_eq!(all.kept.flows.len(), 3);
    assert!((delivered(0, 2) - arrived).abs() < 1e-6 && (delivered(1, 3) - arrived).abs() < 1e-6);
    let lookahead = 10.32;
    let answered = arrived + lookahead + handshake + message - 8.0;
    assert!((delivered(3, 0) - answered).abs() < 1e-6, "{}", delivered(3, 0));
    let received = |rank: u32| us(all.ranks.iter().find(|r| r.rank == rank).unwrap().received);
    assert!((received(0) - answered).abs() < 1e-6 && (received(2) - arrived).abs() < 1e-6);

    // One host a rank: the packets of both messages share the links, and the second ends two packets later.
    let one = ranks("nic = \"ignore\"\n", goal);
    let last = one.ranks.iter().find(|r| r.rank == 1).map(|r| us(r.received)).unwrap();
    assert!((last - (arrived + 16.0)).abs() < 1e-6, "{last}");
}

/// Eight ranks of two interfaces, whose messages and waits cross: the same on any number of threads.
#[test]
fn interfaces_on_any_number_of_threads() {
    let mut goal = String::from("num_ranks 8\n");
    for rank in 0..8 {
        let (next, before) = ((rank + 1) % 8, (rank + 7) % 8);
        write!(
            goal,
            "rank {rank} {{\na: calc 3000 cpu 1\nb: send 20000b to {next} tag 1 cpu 1\nc: recv 20000b from {before} tag 1 nic 1\n\
             d: send 30000b to {next} tag 2 cpu 2 nic 1\ne: recv 30000b from {before} tag 2\nb requires a\nd requires c\n\
             d irequires b\nf: calc 500 cpu 1\nf requires e\nf requires c\n}}\n"
        )
        .unwrap();
    }
    let text = format!("{FOUR_HOSTS}{WORKLOAD}nic = \"host\"\n").replace(
        "[topology.many-to-one]\nsenders = 3\n",
        "[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n",
    );
    let scenario = beside(&text, &[("p.goal", goal.as_bytes())]);
    let plan = Plan::new(&scenario);
    assert!(plan.partitions(&plan.timetable(), 3).of_host(HostId::new(15)) > 0);
    let one = written(&scenario, 1);
    for threads in [2, 3] {
        assert_eq!(differ(&one, &written(&scenario, threads)), [] as [&str; 0], "{threads} threads");
    }
}

/// Two ranks of which the first computes for 100 us on each of two processors, one calc after the
/// other on processor 0, then sends two packets. Handshake 41.6 us; packets of 8 us one behind the
/// other over one link, one over the next, 10 us each.
#[test]
fn computation_and_messages_by_hand() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 100000\nb: calc 100000\nc: calc 50000 cpu 1\nd: send 1920b to 1 tag 7\n\
        d requires a\nd requires b\nd irequires c\n}\nrank 1 {\nx: recv 1920b from 0 tag 7\ny: calc 1000\ny requires x\n}\n";
    let all = ranks("iterations = 2\n", goal);
    let of = |rank: u32, iteration: u32| {
        *all.ranks.iter().find(|r| (r.rank, r.iteration) == (rank, iteration)).expect("it has ended")
    };
    let handshake = 4.0 * 10.32 + 0.32;
    let message = 2.0 * 8.0 + 10.0 + 8.0 + 10.0;
    let arrived = 200.0 + handshake + message;
    let (first, second) = (of(1, 0), of(0, 0));
    assert!((us(first.end) - (arrived + 1.0)).abs() < 1e-6, "{first:?}");
    assert!((us(second.received) - 200.0).abs() < 1e-6);
    assert!((us(second.end) - (arrived + 2.0 * 10.32)).abs() < 1e-6);
    // The next iteration of rank 0 begins there; the connection is open.
    let next = us(second.end) + 200.0 + message;
    assert!((us(of(1, 1).end) - (next + 1.0)).abs() < 1e-6, "{:?}", of(1, 1));
    let jobs: Vec<f64> = all.kept.jobs.iter().map(|job| us(job.job.end)).collect();
    assert_eq!(jobs, [us(first.end), us(of(1, 1).end)]);
}

/// Rank 0, which computes for 100 us and sends a packet, is slow by a factor of 2.5 in the second of
/// three iterations: that takes 150 us more, to the picosecond, and the others what they take
/// without. A training job of two copies whose rank 1 is slow by a factor of 3 takes
/// 2 (20 + 30 + 10) us more, as its ring waits for rank 1.
#[test]
fn slow_ranks_compute_longer() {
    let goal =
        "num_ranks 2\nrank 0 {\na: calc 100000\nb: send 960b to 1\nb requires a\n}\nrank 1 {\nrecv 960b from 0\n}\n";
    let ends = |stragglers: &str| -> Vec<Time> {
        let all = ranks(&format!("iterations = 3\n{stragglers}"), goal);
        (0..3).map(|i| all.ranks.iter().find(|r| (r.rank, r.iteration) == (0, i)).unwrap().end.unwrap()).collect()
    };
    let usual = ends("");
    let slow = ends("stragglers = { ranks = [0], slowdown = 2.5, from_iteration = 1, until_iteration = 2 }\n");
    let later = Time::from_us(150);
    assert_eq!(slow, [usual[0], usual[1] + later, usual[2] + later]);
    assert_eq!(ends("stragglers = { ranks = [1], slowdown = 2.5 }\n"), usual);

    let training = |stragglers: &str| {
        let text = format!(
            "{FOUR_HOSTS}[[workload.training]]\ntransport = \"t\"\ndp = 2\nforward = \"20us\"\nbackward = \"30us\"\n\
             update = \"10us\"\ngradients = \"1920B\"\n{stragglers}"
        );
        let run = run_on(&beside(&text, &[]), 1);
        run.outcome.jobs[0].job.end.unwrap()
    };
    let [usual, slow] = ["", "stragglers = { ranks = [1], slowdown = 3 }\n"].map(training);
    assert_eq!(slow, usual + Time::from_us(120));
}

/// Rank 0 computes for 100 us and sends a packet to rank 1, again and again.
pub const SENDS: &str =
    "num_ranks 2\nrank 0 {\na: calc 100000\nb: send 960b to 1\nb requires a\n}\nrank 1 {\nrecv 960b from 0\n}\n";

/// Restart, iteration, start and end in us, and whether it failed.
type Iteration = (u32, u32, f64, Option<f64>, bool);

/// The iterations of `SENDS`, and how many of ranks a failure has cut off.
fn iterations(keys: &str) -> (Vec<Iteration>, usize) {
    let all = ranks(keys, SENDS);
    let us = |time: Time| time.0 as f64 / 1e6;
    let row =
        |of: &linkpool_sim::JobOutcome| (of.restart, of.job.number, us(of.job.start), of.job.end.map(us), of.failed);
    let mut rows: Vec<_> = all.kept.jobs.iter().map(row).collect();
    rows.sort_by_key(|(restart, iteration, ..)| (*restart, *iteration));
    (rows, all.ranks.iter().filter(|rank| rank.end.is_none()).count())
}

/// A packet arrives 36 us after its connection is open, which takes 41.6 us, and its ACK comes back
/// 20.64 us later. So rank 0 ends its iterations at 198.24, 354.88 and 511.52 us, rank 1 at 177.6,
/// 334.24 and 490.88. The job fails at 600 us, in iteration 3, and goes on 1 ms later from the
/// checkpoint after iteration 1, over a connection that is opened anew: iteration 2 is done twice.
#[test]
fn a_job_goes_on_from_its_last_checkpoint() {
    let keys = "iterations = 5\nfailures = { at = [\"600us\"], recovery = \"1ms\", checkpoint_every = 2 }\n";
    let (rows, cut) = iterations(keys);
    assert_eq!(
        rows,
        [
            (0, 0, 0.0, Some(177.6), false),
            (0, 1, 177.6, Some(334.24), false),
            (0, 2, 334.24, Some(490.88), false),
            (0, 3, 490.88, None, true),
            (1, 2, 1600.0, Some(1777.6), false),
            (1, 3, 1777.6, Some(1934.24), false),
            (1, 4, 1934.24, Some(2090.88), false),
        ]
    );
    assert_eq!(cut, 2);
}

/// What failures cost stands at the first iteration after them: with the iterations of the tests beside, from the start of
/// the first that is made again, and since the first failure.
#[test]
fn what_failures_cost_is_told() {
    let lost = |keys: &str| {
        let all = ranks(keys, SENDS);
        let us = |time: Time| time.0 as f64 / 1e6;
        let of = |of: &linkpool_sim::JobOutcome| {
            of.lost.map(|lost| (of.restart, of.job.number, us(lost.all), us(lost.recovery)))
        };
        all.kept.jobs.iter().filter_map(of).collect::<Vec<_>>()
    };
    let failures = |keys: &str| format!("iterations = 5\nfailures = {{ {keys} }}\n");
    let every = failures("at = [\"600us\"], recovery = \"1ms\", checkpoint_every = 2");
    assert_eq!(lost(&every), [(1, 2, 1600.0 - 334.24, 1000.0)]);
    let written = |at: &str| failures(&format!("at = [{at}], recovery = \"100us\", checkpoint_time = \"50us\""));
    assert_eq!(lost(&written("\"240us\"")), [(1, 0, 340.0, 100.0)]);
    assert_eq!(lost(&written("\"249us\"")), [(1, 1, 349.0 - 227.6, 100.0)]);
    let twice = failures("at = [\"150us\", \"160us\", \"300us\"], recovery = \"20us\"");
    assert_eq!(lost(&twice), [(2, 0, 180.0, 30.0), (3, 0, 140.0, 20.0)]);
    // The run ends in the iteration that is made again, and after a failure of which the job has not gone on.
    let late = |recovery: &str| {
        let failures = format!("at = [\"89.9ms\"], recovery = \"{recovery}\", checkpoint_every = 1000");
        lost(&format!("iterations = 1000\nfailures = {{ {failures} }}\n"))
    };
    assert_eq!(late("9ms"), [(1, 0, 98_900.0, 9_000.0)]);
    assert_eq!([late("10ms"), lost("iterations = 5\n")], [[], []]);
}

/// To write a checkpoint takes 50 us: rank 1 has written the first at 227.6 us, rank 0 at 248.24.
/// So a failure in between finds none, and one after that finds it; one after the end of the job,
/// which writes none, changes nothing.
#[test]
fn checkpoints_take_time_and_count_when_all_ranks_have_them() {
    let with = |at: &str| {
        let times = "recovery = \"100us\", checkpoint_time = \"50us\"";
        iterations(&format!("iterations = 3\nfailures = {{ at = [\"{at}\"], {times} }}\n")).0
    };
    // Rank 1 begins as soon as it has written.
    let first = (0, 0, 0.0, Some(177.6), false);
    assert_eq!(with("80ms"), [first, (0, 1, 227.6, Some(384.24), false), (0, 2, 434.24, Some(590.88), false)]);
    assert_eq!(with("240us")[..3], [first, (0, 1, 227.6, None, true), (1, 0, 340.0, Some(517.6), false)]);
    assert_eq!(with("249us")[..3], [first, (0, 1, 227.6, None, true), (1, 1, 349.0, Some(526.6), false)]);
}

/// A message that is under way when the job fails, at 150 us, would arrive at 177.6 us, after the job has
/// gone on at 170; it is not taken for the one that is sent then, at 270 us. A failure during the
/// recovery begins it anew.
#[test]
fn messages_from_before_a_failure_count_no_more() {
    let with = |at: &str| iterations(&format!("failures = {{ at = [{at}], recovery = \"20us\" }}\n")).0;
    let failed = (0, 0, 0.0, None, true);
    assert_eq!(with("\"150us\""), [failed, (1, 0, 170.0, Some(347.6), false)]);
    assert_eq!(with("\"150us\", \"160us\""), [failed, (2, 0, 180.0, Some(357.6), false)]);
}

/// 16 ranks that train on four racks and fail again and again: the same on any number of threads,
/// and every iteration is done in the end.
#[test]
fn failures_on_any_number_of_threads() {
    let text = format!(
        "{FOUR_HOSTS}[[workload.training]]\ntransport = \"t\"\npp = 4\ndp = 4\nmicro_batches = 4\nforward = \"20us\"\n\
         backward = \"30us\"\nactivations = \"20KB\"\ngradients = \"40KB\"\niterations = 8\n\
         stragglers = {{ probability = 0.2, slowdown = 1.5 }}\n\
         failures = {{ mtbf = \"15ms\", recovery = \"50us\", checkpoint_every = 2, checkpoint_time = \"10us\" }}\n"
    )
    .replace(
        "[topology.many-to-one]\nsenders = 3\n",
        "[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n",
    );
    let scenario = beside(&text, &[]);
    let one = written(&scenario, 1);
    for threads in [2, 4] {
        assert_eq!(differ(&one, &written(&scenario, threads)), [] as [&str; 0], "{threads} threads");
    }
    let jobs = run_on(&scenario, 1).outcome.jobs;
    let done = |number: u32| jobs.iter().any(|job| job.job.number == number && job.job.end.is_some());
    assert!((0..8).all(done));
    assert!(jobs.iter().filter(|job| job.failed).count() > 1, "{jobs:?}");
}

/// The first receive that matches takes the first message that matches.
#[test]
fn wildcards_take_what_comes_first() {
    let goal = "num_ranks 3\nrank 0 {\na: calc 300000\nb: send 960b to 2 tag 1\nb requires a\n}\n\
        rank 1 {\nsend 960b to 2 tag 2\n}\n\
        rank 2 {\na: recv 960b from -1 tag -1\nb: calc 5\nb requires a\nc: recv 960b from 0 tag -1\nc requires a\n}\n";
    let all = ranks("", goal);
    let end = all.ranks.iter().find(|r| r.rank == 2).unwrap();
    // The one of rank 0 comes last: at 300 us, after a handshake of 41.6 and 36 of one packet.
    assert!((us(end.end) - (300.0 + 41.6 + 36.0)).abs() < 1e-6, "{end:?}");
}

/// The end of the run cuts ranks off: what is left is said.
#[test]
fn what_is_cut_off_is_said() {
    let goal =
        "num_ranks 2\nrank 0 {\na: calc 200000000\nb: send 1b to 1\nb requires a\n}\nrank 1 {\nrecv 1b from 0\n}\n";
    let all = ranks("", goal);
    assert_eq!(
        all.ranks.iter().map(|r| (r.rank, r.end, r.left)).collect::<Vec<_>>(),
        [(0, None, (2, Some(0))), (1, None, (1, Some(0)))]
    );
    assert_eq!(all.kept.jobs[0].job.end, None);
    assert_eq!(all.kept.flows.len(), 0);
}

/// A program of each rank, line by line.
struct Goal(Vec<(String, u32)>);

impl Goal {
    fn new(ranks: u32) -> Goal {
        Goal((0..ranks).map(|_| (String::new(), 0)).collect())
    }

    /// Adds a line to a rank; the result is its label.
    fn add(&mut self, rank: u32, what: &str, after: &[Option<String>]) -> String {
        let (text, lines) = &mut self.0[rank as usize];
        *lines += 1;
        let label = format!("l{lines}");
        writeln!(text, "{label}: {what}").unwrap();
        after.iter().flatten().for_each(|before| writeln!(text, "{label} requires {before}").unwrap());
        label
    }

    fn text(&self) -> String {
        let mut all = format!("num_ranks {}\n", self.0.len());
        for (rank, (text, _)) in self.0.iter().enumerate() {
            write!(all, "rank {rank} {{\n{text}}}\n").unwrap();
        }
        all
    }
}

/// A ring all-reduce of `n` ranks: in each of 2 (n - 1) steps, each rank sends what it received in
/// the step before.
fn ring(n: u32, part: u64) -> String {
    let mut goal = Goal::new(n);
    for rank in 0..n {
        let mut received = None;
        for step in 0..2 * (n - 1) {
            goal.add(rank, &format!("send {part}b to {} tag {step}", (rank + 1) % n), &[received]);
            received = Some(goal.add(rank, &format!("recv {part}b from {} tag {step}", (rank + n - 1) % n), &[]));
        }
    }
    goal.text()
}

/// An all-to-all: each message after the one before is acknowledged.
fn all_to_all(n: u32, part: u64) -> String {
    let mut goal = Goal::new(n);
    for rank in 0..n {
        let mut sent = None;
        for step in 1..n {
            sent = Some(goal.add(rank, &format!("send {part}b to {}", (rank + step) % n), &[sent]));
            goal.add(rank, &format!("recv {part}b from {}", (rank + n - step) % n), &[]);
        }
    }
    goal.text()
}

/// A broadcast down a binomial tree: rank r receives from r without its highest bit.
fn tree(n: u32, size: u64) -> String {
    let mut goal = Goal::new(n);
    for rank in 0..n {
        let highest = |r: u32| 1 << r.ilog2();
        let received = (rank > 0).then(|| goal.add(rank, &format!("recv {size}b from {}", rank - highest(rank)), &[]));
        let mut bit = if rank == 0 { 1 } else { 2 * highest(rank) };
        while rank + bit < n {
            goal.add(rank, &format!("send {size}b to {}", rank + bit), std::slice::from_ref(&received));
            bit *= 2;
        }
    }
    goal.text()
}

/// A trace of Chakra, with one collective on all ranks, field by field of its schema.
mod chakra {
    fn varint(mut n: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while n > 0x7f {
            bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
        bytes
    }

    fn number(field: u64, n: u64) -> Vec<u8> {
        [varint(field << 3), varint(n)].concat()
    }

    fn block(field: u64, content: &[u8]) -> Vec<u8> {
        [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
    }

    fn integer(name: &str, n: u64) -> Vec<u8> {
        block(10, &[block(1, name.as_bytes()), number(9, n)].concat())
    }

    /// A rank that takes part in a collective of this type and size.
    pub fn rank(kind: u64, size: u64) -> Vec<u8> {
        let metadata = block(1, b"0.0.4");
        let node = [number(1, 3), number(3, 7), integer("comm_type", kind), integer("comm_size", size)].concat();
        [varint(metadata.len() as u64), metadata, varint(node.len() as u64), node].concat()
    }
}

/// Flows by ends, start and end, and the completion of the whole.
type Times = (Vec<(u32, u32, u64, Time, Option<Time>, Option<Time>)>, Time);

fn times(run: &Run) -> Times {
    let flow = |f: &linkpool_sim::FlowOutcome| {
        let flow = &f.planned.flow;
        (flow.src.into(), flow.dst.into(), flow.size.unwrap(), flow.start, f.delivered, f.finished)
    };
    let mut flows: Vec<_> = run.outcome.flows.iter().map(flow).collect();
    flows.sort_unstable();
    (flows, run.outcome.jobs[0].job.end.expect("it has ended"))
}

/// The same small programs, as a collective, as GOAL and as Chakra, end at the same picosecond, and so does
/// each of their messages: on one path, and over two planes with a subflow in each.
#[test]
fn a_trace_and_a_collective_take_the_same_time() {
    let one = "[topology.many-to-one]\nsenders = 7\nrate = \"10Gbps\"\ndelay = \"1us\"\n";
    let planes = "[topology.multi-plane]\nplanes = 2\nleaves = 1\nspines = 0\nhosts_per_leaf = 8\n\
        rate = \"10Gbps\"\ndelay = \"1us\"\n";
    let transports = [
        ("control = \"dctcp\"", one),
        ("control = \"lia\"\nsubflows = 4", one),
        ("control = \"lia\"\nsubflows = 2\npaths = \"planes\"", planes),
        ("control = \"amp\"\nsubflows = 2\npaths = \"planes\"", planes),
    ];
    for (transport, topology) in transports {
        let head = format!(
            "duration = \"90ms\"\n{topology}[queue]\nlimit = 60\nmark = 20\n[transport.t]\n{transport}\nmin_rto = \"2ms\"\n"
        );
        for (algorithm, kind, size, goal) in [
            ("ring-all-reduce", 0, 800_000, ring(8, 100_000)),
            ("all-to-all", 6, 400_000, all_to_all(8, 50_000)),
            ("binomial-broadcast", 5, 300_000, tree(8, 300_000)),
        ] {
            let collective = format!(
                "[[workload.collective]]\ntransport = \"t\"\nalgorithm = \"{algorithm}\"\nsize = \"{size}B\"\n"
            );
            let collective = times(&run_on(&beside(&format!("{head}{collective}"), &[]), 1));
            let trace = times(&run_on(&beside(&format!("{head}{WORKLOAD}"), &[("p.goal", goal.as_bytes())]), 1));
            let names: Vec<String> = (0..8).map(|rank| format!("p.{rank}.et")).collect();
            let et = chakra::rank(kind, size);
            let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &et[..])).collect();
            let keys = "[[workload.program]]\ntransport = \"t\"\nfile = \"p\"\nformat = \"chakra\"\n";
            let execution = times(&run_on(&beside(&format!("{head}{keys}"), &files), 1));
            assert!(collective.0.len() >= 7 && collective.1 > Time::ZERO);
            assert_eq!(collective, execution, "{algorithm} {transport}, Chakra");
            assert_eq!(collective, trace, "{algorithm} {transport}");
        }
    }
}

/// Four hosts as in `collectives.rs`: a message of two packets takes 16 + 10 + 8 + 10 us, a handshake 4 of 10.32 and the
/// third segment. Adding 1,920 B takes 10 us at 1.536 Gbit/s, in which the ACK goes that else stands before the next message.
#[test]
fn what_ranks_add_takes_its_time() {
    let took = |kind: u64, size: u64, keys: &str, threads: u8| -> f64 {
        let names: Vec<String> = (0..4).map(|rank| format!("p.{rank}.et")).collect();
        let et = chakra::rank(kind, size);
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &et[..])).collect();
        let text = format!(
            "duration = \"90ms\"\n[topology.many-to-one]\nsenders = 3\nrate = \"1Gbps\"\ndelay = \"10us\"\n[transport.t]\n\
             control = \"reno\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"40B\"\nack_every = 1\n\
             [[workload.program]]\ntransport = \"t\"\nfile = \"p\"\nformat = \"chakra\"\n{keys}"
        );
        times(&run_on(&beside(&text, &files), threads)).1.secs() * 1e6
    };
    let (message, ack, handshake, adding) = (44.0, 0.32, 4.0 * 10.32 + 0.32, 10.0);
    let rate = "reduce_rate = \"1.536Gbps\"\n";
    let doubling = format!("all_reduce = \"doubling-all-reduce\"\n{rate}");
    for (kind, size, keys, expected) in [
        (0, 7_680, "", handshake + 6.0 * message + 5.0 * ack),
        // Three steps that add, then three that pass results on.
        (0, 7_680, rate, handshake + 6.0 * message + 3.0 * adding + 2.0 * ack),
        (7, 7_680, rate, handshake + 3.0 * message + 3.0 * adding),
        (0, 1_920, &doubling, 2.0 * (handshake + message + adding)),
    ] {
        for threads in [1, 2] {
            let found = took(kind, size, keys, threads);
            assert!((found - expected).abs() < 1e-6, "{kind} {keys}: {found} instead of {expected}");
        }
    }
}

/// Any number of threads writes the same bytes: with computation, wildcards and iterations.
#[test]
fn threads_make_no_difference() {
    let mut goal = Goal::new(16);
    for rank in 0..16u32 {
        let mut before = None;
        for step in 0..6 {
            let calc = goal.add(rank, &format!("calc {} cpu {}", 1000 * (1 + (rank + step) % 5), step % 2), &[before]);
            let (to, from) = ((rank + 1 + step) % 16, (rank + 15 - step) % 16);
            goal.add(rank, &format!("send {}b to {to} tag {step}", 20_000 + 977 * rank), &[Some(calc)]);
            let from = if rank == 3 { "-1".to_string() } else { from.to_string() };
            before = Some(goal.add(rank, &format!("recv 50000b from {from} tag {step}"), &[]));
        }
    }
    for keys in ["persistent = false\n", "iterations = 3\nplacement = \"random\"\n"] {
        let text = format!(
            "duration = \"80ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n\
             [queue]\nlimit = 40\nmark = 10\n[transport.t]\ncontrol = \"amp\"\nsubflows = 2\nmin_rto = \"1ms\"\n{WORKLOAD}{keys}"
        );
        let scenario = beside(&text, &[("p.goal", goal.text().as_bytes())]);
        let one = written(&scenario, 1);
        for threads in 2..=4 {
            assert_eq!(differ(&one, &written(&scenario, threads)), Vec::<String>::new(), "{keys} {threads}");
        }
    }
}

/// Runs a model in training on the four hosts.
fn training(keys: &str) -> All {
    let scenario = beside(&format!("{FOUR_HOSTS}[[workload.training]]\ntransport = \"t\"\n{keys}"), &[]);
    let (plan, mut all) = (Plan::new(&scenario), All::default());
    simulate(&plan, &plan.timetable(), 1, &mut all, &mut |_| true).unwrap();
    all
}

/// Two stages, two micro-batches of one packet: 36 us, and 41.6 more with the handshake. Stage 0 takes
/// F until 100 and F until 200. Activations arrive at 177.6 and 236; stage 1 takes F B until 477.6, F B
/// until 777.6. Gradients arrive at 555.2 and 813.6; stage 0 takes B until 755.2 and B until 1,013.6,
/// and the update takes 7 us.
#[test]
fn a_pipeline_by_hand() {
    let keys = "pp = 2\nmicro_batches = 2\nactivations = \"960B\"\n\
        forward = \"100us\"\nbackward = \"200us\"\nupdate = \"7us\"\n";
    for (order, schedule) in [("tp-dp-pp", "1f1b"), ("tp-pp-dp", "1f1b"), ("tp-dp-pp", "gpipe")] {
        let all = training(&format!("{keys}order = \"{order}\"\nschedule = \"{schedule}\""));
        let ends: Vec<f64> = all.kept.jobs.iter().map(|job| us(job.job.end)).collect();
        // GPipe: stage 1 takes F F B B, so its first gradients leave at 177.6 + 400, and arrive 77.6
        // later; the second ones leave at 777.6.
        let expected = if schedule == "1f1b" { 813.6 + 207.0 } else { 655.2 + 400.0 + 7.0 };
        assert!(ends.len() == 1 && (ends[0] - expected).abs() < 1e-6, "{ends:?} {expected}");
    }
}

/// Copies of a model that compute nothing are a ring all-reduce: to the picosecond.
#[test]
fn copies_of_a_model_are_an_all_reduce() {
    let times = |kind: &str, keys: &str| {
        let scenario = beside(&format!("{FOUR_HOSTS}[[workload.{kind}]]\ntransport = \"t\"\n{keys}"), &[]);
        let (plan, mut all) = (Plan::new(&scenario), All::default());
        simulate(&plan, &plan.timetable(), 1, &mut all, &mut |_| true).unwrap();
        let flows = all.kept.flows.iter();
        let mut flows: Vec<_> =
            flows.map(|f| (f.planned.flow.src, f.planned.flow.start, f.delivered, f.finished)).collect();
        flows.sort_unstable();
        flows
    };
    let ring = times("collective", "algorithm = \"ring-all-reduce\"\nranks = 4\nsize = \"100KB\"");
    assert_eq!(ring.len(), 24);
    assert_eq!(times("training", "dp = 4\ngradients = \"100KB\""), ring);
}
