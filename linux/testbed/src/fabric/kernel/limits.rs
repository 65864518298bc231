//! What switches of the kernel do not have, and so a scenario cannot ask for.

use anyhow::{Result, ensure};
use linkpool_network::{Fabric, LinkId, MarkAt, Order, Queue, Spreading};
use linkpool_scenario::{Scenario, WeightRule};
use linkpool_units::Time;

/// A link of the kernel takes no time of its own. What it takes a packet to be forwarded from one
/// namespace to the next passes for a delay of up to this.
const LONGEST_DELAY: Time = Time::from_us(20);
/// Queues are sampled by a thread that sleeps meanwhile.
const LEAST_INTERVAL: Time = Time::from_ms(1);
/// What else would do.
const OTHERWISE: &str = "leave it out, or take the simulator's switches (--switches simulator)";

/// Checks that `scenario`, whose fabric this is, can run over them.
pub(crate) fn check(scenario: &Scenario, fabric: &Fabric) -> Result<()> {
    for (link, spec) in LinkId::first(fabric.links().len()).zip(fabric.links()) {
        ensure!(
            spec.delay <= LONGEST_DELAY,
            "[topology] delay: {} takes {}, and the kernel's switches cannot delay packets; set all delays to at most \
             {LONGEST_DELAY}, as in --set topology.many-to-one.delay=10us, or take the simulator's switches (--switches simulator)",
            fabric.link_name(link),
            spec.delay,
        );
    }
    ensure!(
        scenario.changes.is_empty(),
        "[[change]]: links of the kernel's switches neither fail nor lose packets; {OTHERWISE}"
    );
    let routing = &scenario.routing;
    ensure!(
        routing.kind == Spreading::Ecmp,
        "[routing] kind: the kernel's switches choose by a hash of addresses and ports, \"ecmp\"; {OTHERWISE}"
    );
    let weighted = routing.weights.is_some_and(|rule| rule != WeightRule::Equal) || routing.link.is_some();
    ensure!(!weighted, "[routing] weights: the kernel's switches give all links the same; {OTHERWISE}");
    queue(&scenario.queue, "[queue]")?;
    for (layer, of_layer) in &scenario.layer_queues {
        queue(of_layer, &format!("[queue.layer.{}]", layer.name()))?;
    }
    if let Some(series) = &scenario.record.queue {
        ensure!(
            series.every >= LEAST_INTERVAL,
            "[record] queue: every = {:?}: the queues of the kernel's switches can be read each 1ms, and not more often; \
             take --set record.queue.every=1ms, or the simulator's switches (--switches simulator)",
            series.every.to_string()
        );
    }
    Ok(())
}

/// Is it a FIFO queue that drops and marks at its entrance, by what waits in it?
fn queue(queue: &Queue, table: &str) -> Result<()> {
    let refused = [
        ("discipline", queue.order != Order::Fifo),
        ("red", queue.red.is_some()),
        ("shared_buffer", queue.shared_buffer.is_some()),
        ("mark_at", queue.mark_at != MarkAt::Enqueue),
        ("exempt", !queue.exempt.is_empty()),
        ("count_in_service", queue.count_in_service),
    ];
    for (key, is_refused) in refused {
        ensure!(
            !is_refused,
            "{table} {key}: a port of the kernel's switches is one FIFO queue (tbf), which drops and marks arriving packets by what \
             waits in it; {OTHERWISE}"
        );
    }
    Ok(())
}
