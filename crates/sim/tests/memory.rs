//! The memory of a run that writes everything does not grow with the simulated time, though timers
//! outlive their flows: the timer of a SYN lasts a second.

#[path = "it/common/mod.rs"]
#[expect(dead_code)]
mod common;
use common::scenario;
use linkpool_sim::run_to_directory;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Flows of one packet, recorded with their windows and rates, for so many simulated milliseconds.
/// Returns how many there were, and the most bytes that were allocated at a time.
fn peak(milliseconds: u32) -> (usize, usize) {
    let s = scenario(&format!(
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
    ));
    let directory = tempfile::tempdir().unwrap();
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut steps = 0;
    let info = run_to_directory(&s, directory.path(), Some(1), &mut |_| {
        steps += 1;
        true
    })
    .unwrap();
    assert!(steps > 1, "what is recorded is written now and again");
    (info.data_packets as usize, MEMORY.peak_usage() - before)
}

#[test]
fn four_times_the_time_takes_no_more_memory() {
    let (flows, short) = peak(30);
    let (more_flows, long) = peak(120);
    assert!(flows > 25_000 && more_flows > 3 * flows, "{flows} flows, then {more_flows}");
    assert!(long < short + (1 << 20), "{short} B, then {long} B");
}
