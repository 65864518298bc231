//! The memory of a run that writes everything does not grow with the simulated time, though timers
//! outlive their flows (the timer of a SYN lasts a second), and however often queues are sampled.
//! It stays below the estimate, also if the estimate is ignored.

#[path = "it/common/mod.rs"]
#[expect(dead_code)]
mod common;
use common::scenario;
use linkpool_scenario::Scenario;
use linkpool_sim::{Estimate, run_to_directory};
use peak_alloc::PeakAlloc;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// All tests of a process share the allocator: one measures at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs the scenario on one thread. Returns the packets with data, the most bytes that were
/// allocated at a time, and how often records were written.
fn peak(s: &Scenario) -> (usize, usize, u32) {
    peak_on(1, s)
}

fn peak_on(threads: u8, s: &Scenario) -> (usize, usize, u32) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut steps = 0;
    let info = run_to_directory(s, directory.path(), Some(threads), &mut |_| {
        steps += 1;
        true
    })
    .unwrap();
    (info.data_packets as usize, MEMORY.peak_usage() - before, steps)
}

fn estimated(s: &Scenario) -> usize {
    Estimate::new(s).memory.iter().map(|(_, bytes)| bytes).sum::<f64>() as usize
}

/// Flows of one packet, recorded with their windows and rates, for so many simulated milliseconds.
fn short_flows(milliseconds: u32) -> Scenario {
    scenario(&format!(
        r#"
        duration = "{milliseconds}ms"
        [topology.fat-tree]
        k = 4
        rate = "10Gbps"
        delay = "1us"
        [transport.t]
        control = "lia"
        subflows = 2
        [[workload.poisson]]
        transport = "t"
        flows_per_second = 1000000
        size = "1KB"
        [record]
        cwnd = {{ every = "50us" }}
        rate = {{ every = "50us" }}
        "#
    ))
}

/// Flows from one host to another: the rest of their table, and other tables.
fn from_one_to_another(duration: &str, (rate, delay): (&str, &str), rest: &str) -> Scenario {
    scenario(&format!(
        r#"
        duration = "{duration}"
        drain = "0s"
        [topology.many-to-one]
        senders = 1
        rate = "{rate}"
        delay = "{delay}"
        [transport.t]
        control = "dctcp"
        [[workload.flow]]
        transport = "t"
        from = "S1"
        to = "R"
        {rest}
        "#
    ))
}

/// A flow to a host whose queue is sampled each picosecond, for so many simulated nanoseconds.
fn fine_samples(nanoseconds: u32) -> Scenario {
    let record = "[record]\nqueue = { links = [\"W->R\"], every = \"1ps\" }";
    from_one_to_another(&format!("{nanoseconds}ns"), ("10Gbps", "100ns"), record)
}

/// So many flows between two hosts, all at once.
fn many_flows(count: u32) -> Scenario {
    from_one_to_another("10ms", ("100Gbps", "2us"), &format!("size = \"2KB\"\ncount = {count}"))
}

#[test]
fn four_times_the_time_takes_no_more_memory() {
    let (flows, short, steps) = peak(&short_flows(30));
    let (more_flows, long, later) = peak(&short_flows(120));
    assert!(steps > 1, "what is recorded is written now and again");
    assert!(flows > 25_000 && more_flows > 3 * flows, "{flows} flows, then {more_flows}");
    // The writers of tables remember where each group of rows begins, by column, until the end.
    let groups = 30_000 * (later - steps) as usize;
    assert!(long < short + groups, "{short} B, then {long} B, with {groups} B of groups");
    let a_timer_of_each_flow = 16 * (more_flows - flows);
    assert!(groups < a_timer_of_each_flow, "the bound would hide timers that stay");
}

/// A window, 134 ns, holds 134,000 samples.
#[test]
fn samples_of_each_picosecond_wait_for_the_end_of_a_window_only() {
    let (short, long) = (fine_samples(500), fine_samples(2_000));
    let [(_, little, steps), (_, more, _)] = [&short, &long].map(peak);
    assert!(steps > 1, "what is recorded is written now and again");
    assert!(more < little + little / 4, "{little} B, then {more} B");
    assert!(more < estimated(&long), "{more} B; estimated: {}", estimated(&long));
}

#[test]
fn flows_that_start_together_take_less_than_is_estimated() {
    for count in [1_000, 20_000] {
        let s = many_flows(count);
        let (packets, taken, _) = peak(&s);
        assert!(packets > 100, "{packets} packets");
        assert!(taken < estimated(&s), "{taken} B; estimated: {}", estimated(&s));
    }
}

/// Nodes are many and hosts few: four leaves with four hosts each and so many spines between them. No memory grows with the square of
/// the ports of a switch, which the estimate would not see (100,000 spines took 5.1 GB, 400,000 ended the process).
#[test]
fn memory_grows_with_the_spines_not_with_their_square() {
    let spines = |n: usize| {
        let s = scenario(&format!(
            r#"
            duration = "1ms"
            [topology.leaf-spine]
            leaves = 4
            spines = {n}
            hosts_per_leaf = 4
            rate = "10Gbps"
            delay = "1us"
            [transport.t]
            control = "dctcp"
            [[workload.permutation]]
            transport = "t"
            size = "10KB"
            "#
        ));
        let taken = [1, 2].map(|threads| {
            let (packets, taken, _) = peak_on(threads, &s);
            assert!(packets >= 112, "{packets} packets");
            taken
        });
        (taken, estimated(&s))
    };
    let (few, _) = spines(4_000);
    let (many, estimate) = spines(16_000);
    for (few, many) in few.into_iter().zip(many) {
        assert!(many < 5 * few, "{few} B, then {many} B");
    }
    // Each thread more has some arrays of all links.
    let of_a_thread = (many[1] - many[0]) / 128_000;
    assert!(many[0] < estimate && of_a_thread < 250, "{} B; estimated: {estimate}; {of_a_thread} B a link", many[0]);
}
