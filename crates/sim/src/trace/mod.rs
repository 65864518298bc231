//! Traces of single flows: repeats a run and records each event of some flows.
//!
//! [`watch::Watch`] is a handler around the hosts. It compares their state before and after each
//! event. The hosts do not know of it.

mod row;
mod rows;
mod watch;
mod watched;

pub use crate::host::endpoint::WaitsOn;
pub use row::{Because, End, Row, Sight, State, What};

use crate::host::component::Mine;
use crate::host::hosts::Hosts;
use crate::plan::{FlowId, Plan};
use crate::results::sample::Sample;
use crate::results::sink::{Buffer, failure, take};
use crate::run::{Progress, RunError, WINDOWS_PER_STEP, check_limits, check_undriven, components};
use crate::start::ranks::Checkpoints;
use crate::start::serving::Served;
use linkpool_network::{Ended, LinkId, Network, Partitions, run_partitions};
use linkpool_scenario::Scenario;
use linkpool_units::Time;
use rows::Rows;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use watch::Watch;

/// A flow to trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traced {
    /// Its number.
    pub flow: FlowId,
    /// The number of the first message of its connection, if that stays open; its own number
    /// otherwise.
    pub connection: FlowId,
}

impl From<FlowId> for Traced {
    /// A flow that is alone on its connection, or the first message of one.
    fn from(flow: FlowId) -> Traced {
        Traced { flow, connection: flow }
    }
}

/// Simulates `scenario` on one thread until `flows` have ended, and returns their events in order
/// of time. A flow that does not start has no row. The events of a message are those of its
/// connection, from when the message is given to it until it is acknowledged. `progress` is as in [`crate::simulate`].
///
/// # Errors
/// The run has no result.
pub fn trace(
    scenario: &Scenario,
    flows: &[Traced],
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Row>, RunError> {
    follow(scenario, flows, None, progress).map(|followed| followed.rows)
}

/// What came of a run that was followed.
pub(crate) struct Followed {
    /// The events that have not been given before.
    pub(crate) rows: Vec<Row>,
    /// The end of a run that was not stopped.
    pub(crate) until: Time,
}

/// Simulates `scenario` as [`trace`] does, and gives what happens to `take_rows` as it comes, if
/// there is one: events, and samples of time series that the scenario asks for; where these are of
/// ranks, to the end of the run. When a packet arrives that has waited at a port with service
/// events is not known then.
pub(crate) fn follow(
    scenario: &Scenario,
    flows: &[Traced],
    mut take_rows: Option<&mut dyn FnMut(Vec<Row>, Vec<Sample>)>,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Followed, RunError> {
    let plan = Plan::new(scenario);
    check_undriven(&plan)?;
    let timetable = plan.timetable();
    let routes = timetable.routes_at(Time::ZERO);
    plan.transports.iter().try_for_each(|t| t.paths.check((&plan.fabric, routes))).map_err(RunError::Paths)?;
    let whole = Arc::new(Partitions::whole(&plan.fabric));
    let buffers = Buffer::of_partitions(1);
    let smallest = plan.smallest_packet();
    let mut network = Network::partition(&plan.fabric, plan.policies.clone(), timetable.clone(), smallest, &whole, 0);
    plan.slow_down(&mut network);
    network.watch(plan.fabric.hosts());
    let served = LinkId::first(plan.fabric.links().len()).map(|id| network.is_served(id)).collect();
    let lookahead = network.lookahead();
    let mine = Mine::new(&plan.fabric, &whole, 0);
    let all = components(&plan, routes, (&Served::new(&plan), &Checkpoints::new(&plan)));
    let hosts = Hosts::new(&plan, routes, buffers[0].clone(), lookahead, mine, all);
    let over = AtomicBool::new(false);
    let to_the_end = take_rows.is_some() && plan.record.ranks;
    let is_over = || over.load(Ordering::Relaxed) && !to_the_end;
    let rows = Mutex::new(Rows::default());
    let taken = || rows.lock().expect("nothing panics while it holds rows");
    let mut watch = Watch::new(hosts, &plan, served, flows, &rows, &over, lookahead);
    plan.fabric.node_ids().for_each(|node| network.wake(node, &watch));
    let ended = run_partitions(
        vec![(&mut network, &mut watch)],
        plan.end,
        plan.goal.as_ref().map_or(u64::MAX, |goal| goal.flows),
        WINDOWS_PER_STEP,
        &mut |now, hops| {
            let samples = take(&buffers, now).samples;
            if let Some(take_rows) = &mut take_rows {
                take_rows(taken().take(lookahead), samples);
            }
            !is_over() && failure(&buffers).is_none() && progress(Progress { now, end: plan.end, hops })
        },
    );
    check_limits(&buffers, &plan)?;
    if ended == Ended::Stopped && !is_over() {
        return Err(RunError::Stopped);
    }
    if let Some(take_rows) = take_rows {
        take_rows(taken().take_all(), take(&buffers, Time::MAX).samples);
    }
    match ended {
        Ended::Deadlock(at, links) => Err(RunError::deadlock(&plan, &links, at)),
        Ended::Done(until) => Ok(Followed { rows: taken().take_all(), until }),
        _ => Ok(Followed { rows: taken().take_all(), until: plan.end }),
    }
}

/// Rows as JSON: a list of objects.
pub fn to_json(rows: &[Row]) -> String {
    serde_json::to_string(rows).expect("plain values")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_objects() {
        let rows = [
            Row { at: 5, flow: FlowId::new(2), what: What::Turn },
            Row { at: 6, flow: FlowId::new(2), what: What::Ends { finished: true } },
        ];
        let expected =
            "[{\"at\":5,\"flow\":2,\"what\":\"turn\"},{\"at\":6,\"flow\":2,\"what\":\"ends\",\"finished\":true}]";
        assert_eq!(to_json(&rows), expected);
    }
}
