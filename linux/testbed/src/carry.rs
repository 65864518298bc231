//! Hosts and fabric side by side, from their making to their end.

use crate::address::{End, Side};
use crate::clock::Clock;
use crate::conditions::Conditions;
use crate::ends::Settings;
use crate::fabric::{FabricOutcome, Made};
use crate::hosts::Hosts;
use crate::suppression::{Suppression, SuppressionSummary, Told};
use anyhow::{Result, anyhow};
use linkpool_linux_control::realtime::hurry;
use linkpool_network::{HostId, Routes};
use linkpool_sim::Plan;
use linkpool_units::Time;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// So long after all is set up time zero is.
const BEFORE: Duration = Duration::from_millis(20);
/// So long the fabric goes on when the hosts have ended, for what is still on its way.
const AFTER: Duration = Duration::from_millis(50);

/// Real-time priorities of fabric and hosts.
const FABRIC: i32 = 10;
const HOSTS: i32 = 5;

/// The congestion control algorithms of a run, by the kernel's names.
#[derive(Clone, Debug)]
pub(crate) struct Algorithms {
    pub(crate) by_transport: Vec<String>,
    /// Those that suppress subflows.
    pub(crate) suppressing: Vec<String>,
}

/// What a run has come to.
pub(crate) struct Carried<'p> {
    pub(crate) ended: Time,
    pub(crate) of_hosts: Hosts<'p>,
    pub(crate) of_fabric: FabricOutcome,
    pub(crate) suppression: Option<SuppressionSummary>,
    /// Have fabric and hosts real-time priority?
    pub(crate) hurried: std::io::Result<()>,
}

/// Makes hosts and fabric, and has them run to the end.
pub(crate) fn carry<'p>(
    (plan, routes): (&'p Plan, &'p Routes),
    (settings, conditions): (&Settings, &Conditions),
    algorithms: Algorithms,
    stop: &dyn Fn() -> bool,
) -> Result<Carried<'p>> {
    let Made { hosts, ways, fabric } = conditions.switches.make((plan, routes), &taking_part(plan), settings)?;
    let Algorithms { by_transport, suppressing } = algorithms;
    let suppression = match &suppressing[..] {
        [] => None,
        names => Some(Suppression::begin(names, &hosts)?),
    };
    let clock = Clock::starting_in(BEFORE);
    let (has_ended, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut of_hosts =
        Hosts::new((plan, routes), clock, (by_transport, Told::by(&suppressing)?), (hosts, conditions), ways)?;
    let (ended, of_fabric) = thread::scope(|scope| {
        let fabric = scope.spawn(|| {
            let hurried = hurry(FABRIC);
            fabric.run(clock, &has_ended, &over).map(|outcome| (outcome, hurried))
        });
        // A sender that does not come to write has nothing to send.
        let hosts_hurried = hurry(HOSTS);
        let ended = of_hosts.run(&|| stop() || fabric.is_finished());
        let hurried = hosts_hurried.and_then(|()| hurry(0));
        has_ended.store(true, Ordering::Relaxed);
        thread::sleep(AFTER);
        over.store(true, Ordering::Relaxed);
        (ended.map(|ended| (ended, hurried)), fabric.join())
    });
    let (of_fabric, fabric_hurried) = of_fabric.map_err(|_| anyhow!("the fabric has panicked"))??;
    let (ended, hosts_hurried) = ended?;
    let events_lost = of_hosts.told.events_lost()?;
    let suppression = suppression.map(|suppression| suppression.end(events_lost)).transpose()?;
    Ok(Carried { ended, of_hosts, of_fabric, suppression, hurried: fabric_hurried.and(hosts_hurried) })
}

/// The ends of all flows that there may be.
fn taking_part(plan: &Plan) -> Vec<End> {
    let mut ends = BTreeSet::new();
    let mut add = |host: HostId, side: Side| ends.insert((host, side as u8));
    plan.flows.iter().for_each(|f| {
        add(f.flow.src, Side::Sending);
        add(f.flow.dst, Side::Receiving);
    });
    if !plan.processes.is_empty() {
        HostId::first(plan.fabric.hosts()).for_each(|host| {
            add(host, Side::Sending);
            add(host, Side::Receiving);
        });
    }
    let side = |n: u8| if n == Side::Sending as u8 { Side::Sending } else { Side::Receiving };
    ends.into_iter().map(|(host, n)| End { host, side: side(n) }).collect()
}
