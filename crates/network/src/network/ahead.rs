//! Prefetches the memory that a batch of packets needs (why: `docs/performance.md`).

use super::handler::Handler;
use crate::link::Link;
use crate::on_the_way::Incoming;
use crate::routing::Routes;
use linkpool_engine::prefetch;

/// For a `batch` of packets that come to hosts: the hosts, and the links on which they will answer.
#[inline]
pub(super) fn prefetch_hosts<H: Handler>(links: &[Link], routes: &Routes, batch: &[Incoming], handler: &H) {
    for incoming in batch {
        handler.prefetch_host(incoming.node);
        routes.only_link(incoming.node).into_iter().for_each(|link| prefetch(&links[link.index()]));
    }
}

/// For a `batch` of packets that hosts are about to get, in stages, the memory that they need for
/// them. Each stage follows the pointers that the one before it has fetched. At last, the places in
/// the queues for their answers, for which [`prefetch_hosts`] has fetched the links.
#[inline]
pub(super) fn prefetch_endpoints<H: Handler>(links: &[Link], routes: &Routes, batch: &[Incoming], handler: &H) {
    // Loops of their own, since the compiler makes each of them short.
    batch.iter().for_each(|incoming| handler.prefetch(&incoming.packet, 1));
    batch.iter().for_each(|incoming| handler.prefetch(&incoming.packet, 2));
    batch.iter().for_each(|incoming| handler.prefetch(&incoming.packet, 3));
    batch.iter().for_each(|incoming| handler.prefetch(&incoming.packet, 4));
    let own = batch.iter().filter_map(|incoming| routes.only_link(incoming.node));
    own.for_each(|link| links[link.index()].prefetch_end());
}
