//! Programs in C and C++ are compiled against the header, with sanitizers where the compiler has
//! them, and run.

#[path = "../../sim/examples/session.rs"]
#[allow(dead_code, unreachable_pub)]
mod session;

use linkpool_sim::{FlowOutcome, JobOutcome, Plan, RankOutcome, Sample, Sink, simulate};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads/session.toml");
const C: [&str; 2] = ["cc", "-std=c11"];
const CXX: [&str; 2] = ["c++", "-std=c++17"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo has put `liblinkpool.so`, beside this test.
fn libraries() -> PathBuf {
    let beside = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    assert!(beside.join("liblinkpool.so").exists(), "no liblinkpool.so in {}", beside.display());
    beside
}

fn is_there(compiler: &str) -> bool {
    let there = Command::new(compiler).arg("--version").output().is_ok_and(|run| run.status.success());
    if !there {
        eprintln!("not tested: there is no {compiler}");
    }
    there
}

/// Compiles `sources`; `None`: there is no compiler of the language.
fn compile([compiler, standard]: [&str; 2], sources: &[PathBuf], include: &[PathBuf], to: &Path) -> Option<PathBuf> {
    if !is_there(compiler) {
        return None;
    }
    let program = to.join("program");
    let compiled = |sanitize: &[&str]| {
        let mut command = Command::new(compiler);
        command.arg(standard).args(["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-g", "-O1"]);
        command.args(sanitize).arg("-I").arg(root().join("include"));
        include.iter().for_each(|include| _ = command.arg("-I").arg(include));
        command.args(sources).arg("-L").arg(libraries()).arg("-llinkpool");
        command.arg(format!("-Wl,-rpath,{}", libraries().display())).arg("-o").arg(&program);
        command.output().unwrap()
    };
    let with = compiled(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    if !with.status.success() {
        eprintln!("no sanitizers: {}", String::from_utf8_lossy(&with.stderr));
        let without = compiled(&[]);
        assert!(without.status.success(), "{}", String::from_utf8_lossy(&without.stderr));
    }
    Some(program)
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The ring in C takes as long as the ring in Rust.
#[test]
fn the_example_in_c_gives_the_same_picosecond() {
    let directory = tempfile::tempdir().unwrap();
    let Some(ring) = compile(C, &[root().join("examples/ring.c")], &[], directory.path()) else { return };
    let out = directory.path().join("out");
    let ran = run(&ring, &[SCENARIO, "1000000", out.to_str().unwrap()]);
    let took = session::all_reduce(SCENARIO, 1_000_000, 1).unwrap();
    // 16 hosts, 30 steps.
    assert_eq!(text(&ran.stdout), format!("480 messages take {} ps\n", took.0), "{}", text(&ran.stderr));
    assert!(out.join("flows.parquet").exists());
    let failed = run(&ring, &["no such file", "1"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(text(&failed.stderr).starts_with("the scenario cannot run: no such file"), "{}", text(&failed.stderr));
}

/// Four stages and eight micro-batches: 11 computations of 50 us one after another, and three
/// transfers of 1 MB at 100 Gbps over the links of the fat-tree, of which each takes 83 us and some
/// more. The stage that sends is the slowest.
#[test]
fn the_example_in_cpp_runs_a_pipeline() {
    let directory = tempfile::tempdir().unwrap();
    let Some(pipeline) = compile(CXX, &[root().join("examples/pipeline.cc")], &[], directory.path()) else { return };
    let took = |stages: &str, batches: &str| {
        let ran = run(&pipeline, &[SCENARIO, stages, batches]);
        let said = text(&ran.stdout);
        let ns = said.strip_prefix("the pipeline takes ").and_then(|rest| rest.strip_suffix(" ns\n"));
        ns.unwrap_or_else(|| panic!("{said}{}", text(&ran.stderr))).parse::<u64>().unwrap()
    };
    // The clock is up to a lookahead beyond an event when the next computation begins.
    let lookahead = 600;
    assert!(took("1", "1") == 50_000 && (50_000 * 5..(50_000 + lookahead) * 5).contains(&took("1", "5")));
    let one = took("2", "1");
    assert!((100_000 + 83_000..100_000 + 95_000).contains(&one), "{one}");
    // The second transfer waits for the first. DCTCP, which shares the port with nobody but itself,
    // stays within a fifth of the link's rate.
    let many = took("4", "8");
    let least = 4 * 50_000 + (7 + 3) * 83_000;
    assert!((least..least * 6 / 5).contains(&many), "{many}");
}

/// One path between any two of 8 hosts, so that both ways to run a program take the same.
const ONE_PATH: &str = "duration = \"400ms\"\ndrain = \"200ms\"\n[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n\
    rate = \"100Gbps\"\ndelay = \"500ns\"\n[queue]\nlimit = 200\nmark = 65\n[transport.t]\ncontrol = \"dctcp\"\n";
const SESSION: &str = "[[workload.session]]\ntransport = \"t\"\n";

/// The ends of ranks in the order of ranks, in picoseconds, of the double of ASTRA-sim's ranks.
fn ranks(program: &Path, scenario: &Path, arguments: &[&str]) -> Vec<u64> {
    let ran = run(program, &[&[scenario.to_str().unwrap()], arguments].concat());
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    text(&ran.stdout).lines().map(|line| line.parse().unwrap()).collect()
}

/// A ring in which a rank goes on when it has received and its own send is acknowledged, as GOAL.
fn ring_in_goal(ranks: usize, bytes: u64) -> String {
    let part = bytes.div_ceil(ranks as u64);
    let mut goal = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        writeln!(goal, "rank {rank} {{").unwrap();
        for step in 0..2 * (ranks - 1) {
            writeln!(goal, "s{step}: send {part}b to {next} tag {step}").unwrap();
            writeln!(goal, "r{step}: recv {part}b from {before} tag {step}").unwrap();
            if step > 0 {
                let before = step - 1;
                for waits in ["s", "r"] {
                    writeln!(goal, "{waits}{step} requires s{before}\n{waits}{step} requires r{before}").unwrap();
                }
            }
        }
        goal.push_str("}\n");
    }
    goal
}

/// A ring of 14 steps, in each of which a rank computes, sends, and receives when its send is
/// complete, as GOAL.
fn computing_in_goal(ranks: usize, bytes: u64) -> String {
    let mut goal = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        writeln!(goal, "rank {rank} {{").unwrap();
        for step in 0..14 {
            writeln!(goal, "c{step}: calc {}", 1000 * (1 + (7 * rank + 3 * step) % 5)).unwrap();
            writeln!(goal, "s{step}: send {bytes}b to {next} tag {step}\ns{step} requires c{step}").unwrap();
            writeln!(goal, "r{step}: recv {bytes}b from {before} tag {step}\nr{step} requires s{step}").unwrap();
            if step > 0 {
                writeln!(goal, "c{step} requires r{}", step - 1).unwrap();
            }
        }
        goal.push_str("}\n");
    }
    goal
}

#[derive(Default)]
struct Ends(Vec<(u32, u64)>);

impl Sink for Ends {
    fn sample(&mut self, _: Sample) {}
    fn flow(&mut self, _: FlowOutcome) {}
    fn job(&mut self, _: JobOutcome) {}
    fn rank(&mut self, rank: RankOutcome) {
        self.0.push((rank.rank, rank.end.expect("the rank ends").0));
    }
}

/// The ends of the ranks of a GOAL program.
fn imported(directory: &Path, goal: &str) -> Vec<u64> {
    std::fs::write(directory.join("ring.goal"), goal).unwrap();
    let program = "[[workload.program]]\ntransport = \"t\"\nfile = \"ring.goal\"\nformat = \"goal\"\n";
    let path = directory.join("goal.toml");
    let loaded = linkpool_scenario::load(&format!("{ONE_PATH}{program}"), path.to_str().unwrap(), None, &[]);
    let plan = Plan::new(&loaded.unwrap_or_else(|why| panic!("{why:?}")));
    let mut ends = Ends::default();
    simulate(&plan, &plan.timetable(), 1, &mut ends, &mut |_| true).unwrap();
    ends.0.sort_unstable();
    ends.0.into_iter().map(|(_, end)| end).collect()
}

/// ASTRA-sim's front end with ranks of our own: collectives, which the importer of GOAL runs in the
/// same picosecond, and whatever receives may come across.
#[test]
fn the_front_end_of_astra_sim_runs_ranks() {
    let directory = tempfile::tempdir().unwrap();
    let astra = root().join("../../frontends/astra-sim");
    let sources = [astra.join("tests/ranks.cc"), astra.join("network.cc")];
    let Some(program) = compile(CXX, &sources, &[astra.join("tests/checkout")], directory.path()) else { return };
    let scenario = directory.path().join("session.toml");
    std::fs::write(&scenario, format!("{ONE_PATH}{SESSION}")).unwrap();
    let acknowledged = ranks(&program, &scenario, &["acknowledgement", "ring", "1000000"]);
    assert_eq!(acknowledged, imported(directory.path(), &ring_in_goal(8, 1_000_000)));
    let computing = ranks(&program, &scenario, &["acknowledgement", "computing", "131072"]);
    assert_eq!(computing, imported(directory.path(), &computing_in_goal(8, 131_072)));
    let arrived = ranks(&program, &scenario, &["arrival", "ring", "1000000"]);
    // 14 steps, in each of which the rank knows sooner that its send is complete.
    assert!(arrived.iter().zip(&acknowledged).all(|(soon, late)| soon < late), "{arrived:?}, {acknowledged:?}");
    // 1 MB less an eighth, out and back: 14 parts of an eighth on the wire at least.
    let wire = 14 * 10_000_000;
    assert!(acknowledged.iter().chain(&arrived).all(|end| (wire..3 * wire).contains(end)), "{acknowledged:?}");
    let halving = ranks(&program, &scenario, &["acknowledgement", "halving", "1000000"]);
    assert!(halving.len() == 8 && halving.iter().all(|end| (wire..3 * wire).contains(end)), "{halving:?}");
    // Few packets, as there are gigabytes.
    std::fs::write(&scenario, format!("{ONE_PATH}mss = \"16KB\"\n{SESSION}")).unwrap();
    for complete in ["arrival", "acknowledgement"] {
        let ran = run(&program, &[scenario.to_str().unwrap(), complete, "matching"]);
        assert_eq!((text(&ran.stdout).as_str(), text(&ran.stderr).as_str()), ("ok\n", ""), "{complete}");
    }
}

/// What `./x capi` installs is found by pkg-config, and says the version of the library.
#[test]
fn pkg_config_finds_what_is_installed() {
    let template = std::fs::read_to_string(root().join("linkpool.pc.in")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().to_str().unwrap();
    let written = template.replace("@PREFIX@", prefix).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    std::fs::write(directory.path().join("linkpool.pc"), written).unwrap();
    if !is_there("pkg-config") {
        return;
    }
    let asked = |what: &str| {
        let mut command = Command::new("pkg-config");
        let said = command.env("PKG_CONFIG_PATH", prefix).args([what, "linkpool"]).output().unwrap();
        text(&said.stdout).trim().to_string()
    };
    assert_eq!(asked("--modversion"), env!("CARGO_PKG_VERSION"));
    assert_eq!(asked("--cflags"), format!("-I{prefix}/include"));
    assert_eq!(asked("--libs"), format!("-L{prefix}/lib -llinkpool"));
}
