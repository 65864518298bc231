//! Prefetches the memory that a batch of packets needs (why: `docs/engine.md`).
//!
//! What takes no more than [`NEAR`] or [`NEAR_ENDPOINTS`] is not prefetched, except hosts: it is in the cache anyway, and
//! finding it would take longer than waiting for it. Routes have a bound of their own, see [`routes_are_far`].

use super::handler::Handler;
use super::order::Step;
use crate::in_flight::Incoming;
use crate::link::Link;
use crate::ports::{Ports, STAGE as STAGE_OF_PORTS, STAGES};
use crate::routing::Routes;
use linkpool_engine::{prefetch, prefetch_place};
use std::slice::from_ref;

/// Links and queues of so many bytes are at hand without prefetching. Measured: with 0.3 MB a hop takes less time without
/// prefetching (`docs/reports/2026-11-23-fast-path.md`), with 0.5 to 1 MB more (`docs/reports/2026-11-27-queues.md`).
const NEAR: usize = 1 << 19;

/// Endpoints of so many bytes are at hand without prefetching. Measured: with 1.2 MB a hop takes as long without prefetching,
/// with 2 MB a tenth more (`docs/reports/2026-11-27-queues.md`).
pub(super) const NEAR_ENDPOINTS: usize = 3 << 19;

/// Switches prefetch the queue for the packet so many places after the one that they queue, and the link twice as far on: the
/// time that a line takes from memory (140 ns) is that of some seven packets.
const AHEAD: usize = 16;

/// Where nodes take packets one by one: telemetry is prefetched for the packet so many places after the one that is taken.
/// Measured: HPCC on 128 hosts takes 17% less time (`docs/reports/2026-11-30-ports-with-pauses.md`).
pub(super) const RECORDS_AHEAD: usize = 6;

/// In this window the network asks again how much memory its links take, having asked in `window`.
/// Queues grow most when flows begin: it asks in windows 0, 16, 64, 256, 1,024 and then after as
/// many windows each time.
pub(super) fn next_question(window: u64) -> u64 {
    window + (3 * window).clamp(16, 1024)
}

/// Do `links` with their queues, and `ports`, take more than [`NEAR`]?
pub(super) fn are_far(links: &[Link], ports: &Ports) -> bool {
    links.iter().map(Link::memory).sum::<usize>() + ports.memory() > NEAR
}

/// Is a network of so many `links` so large that its routes and the heads of its chains leave the cache between two windows?
/// Measured: prefetching them takes time with 6,144 links, and saves time with 49,152
/// (`docs/reports/2026-11-26-memory.md`).
pub(super) fn routes_are_far(links: usize) -> bool {
    links > 1 << 14
}

/// What an endpoint needs is prefetched in stages that are so many packets apart. So prefetches are spread over the work at hosts:
/// a processor ignores them if too many are under way (`docs/reports/2026-11-27-queues.md`).
const STAGE: usize = 4;

/// [`prefetch_for_hosts`] begins so many packets ahead of the one whose host is visited.
pub(super) const HOSTS_AHEAD: usize = 5 * STAGE;

/// Prefetches the host to which packet `number` of `packets` comes, and for packets before it what follows from pointers that have
/// come.
#[inline(always)]
pub(super) fn prefetch_for_hosts<H: Handler>(
    (links, routes): (&[Link], &Routes),
    packets: &[Incoming],
    number: usize,
    handler: &H,
) {
    let at = |stage: usize| packets.get(number.wrapping_sub(stage * STAGE));
    at(0).into_iter().for_each(|incoming| prefetch_hosts(links, routes, from_ref(incoming), handler));
    at(1).into_iter().for_each(|incoming| handler.prefetch(&incoming.packet, 1));
    at(2).into_iter().for_each(|incoming| handler.prefetch(&incoming.packet, 2));
    at(3).into_iter().for_each(|incoming| handler.prefetch(&incoming.packet, 3));
    at(4).into_iter().for_each(|incoming| handler.prefetch(&incoming.packet, 4));
    at(4).into_iter().for_each(|incoming| prefetch_answers(links, routes, from_ref(incoming)));
}

/// For a `batch` of packets that come to hosts: the hosts, and the links on which they will answer.
#[inline]
pub(super) fn prefetch_hosts<H: Handler>(links: &[Link], routes: &Routes, batch: &[Incoming], handler: &H) {
    for incoming in batch {
        handler.prefetch_host(incoming.node);
        routes.only_link(incoming.node).into_iter().for_each(|link| prefetch(&links[link.index()]));
    }
}

/// For a `batch` of packets that hosts are about to get, the places in the queues for their answers, for which [`prefetch_hosts`] has
/// fetched the links.
#[inline]
pub(super) fn prefetch_answers(links: &[Link], routes: &Routes, batch: &[Incoming]) {
    let own = batch.iter().filter_map(|incoming| routes.only_link(incoming.node));
    own.for_each(|link| links[link.index()].prefetch_end());
}

/// Before packets are queued that take these `steps`: prefetches what [`prefetch_next`] leaves out, for the first of them.
#[inline]
pub(super) fn prefetch_first(links: &[Link], steps: &[Step]) {
    steps.iter().take(2 * AHEAD).for_each(|step| prefetch_place(links, step.link.index()));
    steps.iter().take(AHEAD).for_each(|step| links[step.link.index()].prefetch_end());
}

/// Before packet `number` is queued: prefetches the link of a later packet, and for a packet between, whose link has come, the
/// place in the queue.
#[inline(always)]
pub(super) fn prefetch_next(links: &[Link], steps: &[Step], number: usize) {
    steps.get(number + 2 * AHEAD).into_iter().for_each(|step| prefetch_place(links, step.link.index()));
    steps.get(number + AHEAD).into_iter().for_each(|step| links[step.link.index()].prefetch_end());
}

/// Before the packets of chain `place` are queued at their port: prefetches what the ports of later
/// chains need.
#[inline(always)]
pub(super) fn prefetch_ports((links, ports): (&[Link], &Ports), ends: &[(Step, u32)], place: usize) {
    for stage in 1..=STAGES {
        let later = ends.get(place + (STAGES + 1 - stage) * STAGE_OF_PORTS);
        later.into_iter().for_each(|(step, _)| ports.prefetch_of(step.link, stage));
    }
    let later = ends.get(place + STAGES * STAGE_OF_PORTS);
    later.into_iter().for_each(|(step, _)| prefetch_place(links, step.link.index()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_asks_often_at_first() {
        let asked: Vec<u64> = std::iter::successors(Some(0), |window| Some(next_question(*window))).take(7).collect();
        assert_eq!(asked, [0, 16, 64, 256, 1024, 2048, 3072]);
        assert_eq!(next_question(5000), 6024);
    }
}
