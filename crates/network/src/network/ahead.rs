//! Prefetches the memory that the next batch of inputs needs (why: `docs/performance.md`).

use super::handler::Handler;
use super::inputs::Input;
use crate::link::Link;
use crate::packet::Packet;
use crate::routing::Routes;
use linkpool_engine::prefetch;

/// Prefetches the links of a `batch` of inputs, and the packets at their heads.
#[inline]
pub(super) fn prefetch_links(links: &[Link], batch: &[Input]) {
    // There is no link of the number that stands for timers.
    let links = || batch.iter().filter_map(|input| links.get(input.link.index()));
    links().for_each(prefetch);
    links().for_each(Link::prefetch_head);
}

/// For a `batch` of inputs of hosts: the hosts, and the links on which they will answer.
#[inline]
pub(super) fn prefetch_hosts<H: Handler>(links: &[Link], routes: &Routes, batch: &[Input], handler: &H) {
    for input in batch {
        handler.prefetch_host(input.node);
        routes.only_link(input.node).into_iter().for_each(|link| prefetch(&links[link.index()]));
    }
}

/// For a `batch` of inputs of hosts: the places in the rings for their answers. The links must be in
/// the cache.
#[inline]
pub(super) fn prefetch_answers(links: &[Link], routes: &Routes, batch: &[Input]) {
    let own = batch.iter().filter_map(|input| routes.only_link(input.node));
    own.for_each(|link| links[link.index()].prefetch_end());
}

/// For `packets` that hosts are about to get, in stages, the memory that they need for them. Each
/// stage follows the pointers that the one before it has fetched.
#[inline]
pub(super) fn prefetch_endpoints<'p, H: Handler>(packets: impl Iterator<Item = &'p Packet> + Clone, handler: &H) {
    // Loops of their own, since the compiler makes each of them short.
    packets.clone().for_each(|packet| handler.prefetch(packet, 1));
    packets.clone().for_each(|packet| handler.prefetch(packet, 2));
    packets.clone().for_each(|packet| handler.prefetch(packet, 3));
    packets.for_each(|packet| handler.prefetch(packet, 4));
}
