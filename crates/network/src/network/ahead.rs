//! Prefetches the memory of inputs that are due a little later (why: `docs/performance.md`).

use super::handler::Handler;
use super::inputs::Input;
use crate::link::Link;
use crate::routing::Routes;

/// Links are prefetched this many due inputs ahead, and the packets at their heads three quarters
/// as many ahead.
pub(super) const AHEAD: usize = 16;
/// The memory that a host needs for a packet is prefetched in stages, the last of them this many
/// inputs ahead. Nearer inputs are not prefetched.
const LAST: usize = AHEAD / 8;

/// Prefetches, of the inputs that are `due`, the link of one and the packets at the head of a
/// nearer one.
#[inline]
pub(super) fn prefetch_links(links: &[Link], due: &[Input]) {
    // There is no link of the number that stands for timers.
    let link = |ahead: usize| due.get(ahead).and_then(|input| links.get(input.link.index()));
    link(AHEAD).into_iter().for_each(linkpool_engine::prefetch);
    link(AHEAD * 3 / 4).into_iter().for_each(Link::prefetch_head);
}

/// For the inputs of hosts: the link on which they will answer, and in stages the memory that they
/// need for the packets.
#[inline]
pub(super) fn prefetch_endpoints<H: Handler>(links: &[Link], routes: &Routes, due: &[Input], handler: &H) {
    let answer = |input: &Input| routes.only_link(input.node).map(|link| &links[link.index()]);
    if let Some(input) = due.get(AHEAD) {
        handler.prefetch(input.node, None, 0);
        answer(input).into_iter().for_each(linkpool_engine::prefetch);
    }
    due.get(AHEAD * 3 / 4).and_then(answer).into_iter().for_each(Link::prefetch_end);
    for (stage, ahead) in [(1, AHEAD / 2), (2, AHEAD * 3 / 8), (3, AHEAD / 4), (4, LAST)] {
        if let Some(input) = due.get(ahead)
            && let Some(packet) = links.get(input.link.index()).and_then(Link::head_packet)
        {
            handler.prefetch(input.node, Some(packet), stage);
        }
    }
}
