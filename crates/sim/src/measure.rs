//! Measures the cost of a simulation: the core of `linkpool bench`.

use crate::plan::Plan;
use crate::run::{RunError, simulate};
use cpu_time::ProcessTime;
use linkpool_network::HostId;
use linkpool_scenario::Scenario;
use std::time::Instant;

/// A simulation and its cost; no files are written.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Packets times links that they crossed, data and ACKs.
    pub hops: u64,
    /// Data segments sent.
    pub data_packets: u64,
    /// CPU seconds of all threads, without set-up.
    pub user_s: f64,
    /// Wall-clock seconds, without set-up.
    pub wall_s: f64,
    /// Wall-clock seconds of set-up: fabric, routes, flows, endpoints.
    pub setup_s: f64,
    /// Payload acknowledged on all subflows over the capacity of the receiving hosts' links.
    pub goodput_over_line_rate: f64,
    /// Simulated seconds.
    pub simulated_s: f64,
}

/// Simulates `scenario` on `threads` threads and measures it.
pub fn measure(scenario: &Scenario, threads: u8) -> Result<Measurement, RunError> {
    let began = Instant::now();
    let plan = Plan::new(scenario);
    let timetable = plan.timetable();
    let mut ready = None;
    let outcome = simulate(&plan, &timetable, threads, &mut (), &mut |at| {
        // The first report comes after next to nothing has been simulated: set-up ends where it
        // begins.
        if at.hops == 0 && ready.is_none() {
            ready = Some((Instant::now(), ProcessTime::now()));
        }
        true
    })?;
    let (ready, cpu) = ready.unwrap_or((began, ProcessTime::now()));
    let rate = |host: HostId| -> f64 {
        plan.fabric.links_from(host.into()).map(|l| plan.fabric.links()[l.index()].rate.0 as f64).sum()
    };
    let capacity = plan.receivers().map(rate).sum::<f64>() * outcome.simulated.secs();
    Ok(Measurement {
        hops: outcome.hops,
        data_packets: outcome.data_packets,
        user_s: cpu.elapsed().as_secs_f64(),
        wall_s: ready.elapsed().as_secs_f64(),
        setup_s: (ready - began).as_secs_f64(),
        goodput_over_line_rate: 8.0 * outcome.acked_bytes as f64 / capacity,
        simulated_s: outcome.simulated.secs(),
    })
}
