//! Limits that only show while a run goes on: it stops, and says where and when.

use crate::common::scenario;
use linkpool_sim::{FlowOutcome, JobOutcome, PathRule, Plan, RunError, Sample, Sink, simulate};
use linkpool_units::Time;

/// Four senders of a flow each, 1 us apart: the last SYN arrives before
/// the first data packet.
fn many_to_one() -> String {
    let flow =
        |i| format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"S{}\"\nto = \"R\"\nstart = \"{i}us\"\n", i + 1);
    let flows: String = (0..4).map(flow).collect();
    let topology = "[topology.many-to-one]\nsenders = 4\nrate = \"1Gbps\"\ndelay = \"2us\"\n";
    format!("duration = \"9ms\"\n{topology}[transport.t]\ncontrol = \"reno\"\n{flows}")
}

fn error(most_connections: usize, threads: u8) -> Option<RunError> {
    let mut plan = Plan::new(&scenario(&many_to_one()));
    plan.most_connections = most_connections;
    simulate(&plan, &plan.timetable(), threads, &mut (), &mut |_| true).err()
}

#[test]
fn a_run_stops_when_a_host_has_too_many_open_connections() {
    for threads in [1, 2] {
        assert!(error(4, threads).is_none());
        let Some(RunError::Connections { host, at, limit }) = error(3, threads) else { panic!("it went on") };
        assert_eq!((host.as_str(), limit), ("R", 3));
        // The fourth SYN crosses two links of 2 us, and takes 0.72 us on each.
        assert_eq!(at, Time::from_us(3) + Time::from_ns(5_440));
        let message = error(3, threads).unwrap().to_string();
        assert_eq!(message, "at 8440ns host R has more than 3 open connections; no packet can name another one");
    }
}

/// Eleven switches of 13 or 14 ports in a row, a host at each end: 13^10 ways to go are more than a
/// packet can name. The scenario lets switches choose; where it has so many racks that not all pairs
/// are looked at before the run, the run finds it.
#[test]
fn a_run_stops_where_a_path_does_not_fit_into_a_packet() {
    let host = |name| format!("{{ id = {name:?}, kind = \"host\" }}, ");
    let switch = |name: &str| format!("{{ id = {name:?}, kind = \"switch\" }}, ");
    let cable = |from: &str, to: &str| format!("{{ source = {from:?}, target = {to:?} }}, ");
    let mut nodes = [host("a"), host("b")].concat();
    let mut cables = [cable("a", "w0"), cable("b", "w10")].concat();
    for i in 0..11 {
        let w = format!("w{i}");
        nodes += &switch(&w);
        cables += &(if i > 0 { cable(&format!("w{}", i - 1), &w) } else { String::new() });
        for leaf in (0..12).map(|leaf| format!("l{i}.{leaf}")) {
            nodes += &switch(&leaf);
            cables += &cable(&w, &leaf);
        }
    }
    let mut plan = Plan::new(&scenario(&format!(
        "duration = \"1ms\"\n[topology.graph]\nnodes = [{nodes}]\nedges = [{cables}]\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
         [transport.t]\ncontrol = \"lia\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"b\"\nto = \"a\"\n"
    )));
    let run = |plan: &Plan| simulate(plan, &plan.timetable(), 1, &mut (), &mut |_| true).err().map(|e| e.to_string());
    assert_eq!(run(&plan), None);
    plan.transports[0].paths = PathRule::Disjoint;
    let stopped = "a path from b to a has too many hops over too many ports to be pinned; use paths = \"hash\"";
    assert_eq!(run(&plan).as_deref(), Some(stopped));
}

/// Nothing more can be written.
struct Broken;

impl Sink for Broken {
    fn sample(&mut self, _: Sample) {}
    fn flow(&mut self, _: FlowOutcome) {}
    fn job(&mut self, _: JobOutcome) {}
    fn is_broken(&self) -> bool {
        true
    }
}

/// A run reports its progress before the first window and after some 2,000 of them, and stops if its
/// results cannot be taken.
#[test]
fn progress_is_told_now_and_again() {
    let plan = Plan::new(&scenario(&many_to_one()));
    let mut told = Vec::new();
    let mut tell = |progress: linkpool_sim::Progress| {
        told.push((progress.now, progress.hops));
        true
    };
    simulate(&plan, &plan.timetable(), 1, &mut (), &mut tell).unwrap();
    assert_eq!(told[0], (Time::ZERO, 0));
    // 9 ms are 3,309 windows of 2.72 us at most.
    assert!(told.len() <= 3 && told.iter().skip(1).all(|(now, _)| *now > Time::from_ms(1)), "{told:?}");
    let stopped = simulate(&plan, &plan.timetable(), 1, &mut Broken, &mut |_| true);
    assert!(matches!(stopped, Err(RunError::Stopped)));
}

/// Two flows come to each of two hosts, which may have one connection open. h14 fails 100 ns before h1, in a window of
/// more than 2 us in which h1 runs first: the first to fail is reported, on any number of threads.
#[test]
fn the_first_failure_in_time_is_reported() {
    let flow = |from: u32, to: u32, ns: u32| {
        format!("[[workload.flow]]\ntransport = \"t\"\nfrom = {from}\nto = {to}\nsize = \"1MB\"\nstart = \"{ns}ns\"\n")
    };
    let flows = [flow(0, 1, 0), flow(3, 1, 200), flow(12, 14, 0), flow(15, 14, 100)].concat();
    let text = format!(
        "duration = \"1ms\"\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [transport.t]\ncontrol = \"reno\"\n{flows}"
    );
    let mut plan = Plan::new(&scenario(&text));
    plan.most_connections = 1;
    for threads in 1..=4 {
        let error = simulate(&plan, &plan.timetable(), threads, &mut (), &mut |_| true).err();
        let Some(RunError::Connections { host, at, .. }) = error else { panic!("{error:?}") };
        // Two links of 2 us and 72 ns.
        assert_eq!((host.as_str(), at), ("h14", Time::from_ns(100 + 4_144)), "on {threads} threads");
    }
}

/// Hosts fail at random times, those of a fat-tree whose partitions run ahead of each other too.
#[test]
fn the_first_failure_is_that_of_one_thread() {
    for seed in 1..=4 {
        let text = format!(
            "seed = {seed}\nduration = \"2ms\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"3us\"\n\
             [transport.t]\ncontrol = \"reno\"\n[[workload.poisson]]\ntransport = \"t\"\nflows_per_second = 200000\n\
             size = \"30KB\"\nallow_overload = true\n"
        );
        let mut plan = Plan::new(&scenario(&text));
        plan.most_connections = 6;
        let run = |threads| {
            let error = simulate(&plan, &plan.timetable(), threads, &mut (), &mut |_| true).err();
            error.expect("a host has too many").to_string()
        };
        let first = run(1);
        (2..=4).for_each(|threads| assert_eq!(run(threads), first, "seed {seed}, {threads} threads"));
    }
}
