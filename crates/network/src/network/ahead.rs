//! What inputs that are due a little later will need is fetched into the cache meanwhile (why: `docs/performance.md`).

use super::handler::Handler;
use super::inputs::Input;
use crate::link::Link;
use crate::routing::Routes;

/// So many due inputs ahead, links are fetched; three quarters as many ahead, the packets at their heads.
pub(super) const AHEAD: usize = 16;
/// What a host will do with a packet is fetched in stages, the last so many inputs ahead. Nothing is fetched for what is nearer.
const LAST: usize = AHEAD / 8;

/// Fetches what is needed for the inputs that are `due`, of which so many, the first, are those of `hosts`.
#[inline]
pub(super) fn prefetch<H: Handler>(links: &[Link], routes: &Routes, due: &[Input], hosts: usize, handler: &H) {
    if due.len() > LAST {
        prefetch_links(links, due);
    }
    if hosts > LAST {
        prefetch_endpoints(links, routes, &due[..hosts], handler);
    }
}

/// The links, then the packets at their heads.
#[inline]
fn prefetch_links(links: &[Link], due: &[Input]) {
    // There is no link of the number that stands for timers.
    let link = |ahead: usize| due.get(ahead).and_then(|input| links.get(input.link.index()));
    link(AHEAD).into_iter().for_each(linkpool_engine::prefetch);
    link(AHEAD * 3 / 4).into_iter().for_each(Link::prefetch_head);
}

/// For hosts: the link on which these will answer, and in stages what they will do with the packets.
#[inline]
fn prefetch_endpoints<H: Handler>(links: &[Link], routes: &Routes, due: &[Input], handler: &H) {
    let answer = |input: &Input| routes.only_link(input.node).map(|link| &links[link.index()]);
    if let Some(input) = due.get(AHEAD) {
        handler.prefetch(input.node, None, 0);
        answer(input).into_iter().for_each(linkpool_engine::prefetch);
    }
    due.get(AHEAD * 3 / 4).and_then(answer).into_iter().for_each(Link::prefetch_tail);
    for (stage, ahead) in [(1, AHEAD / 2), (2, AHEAD * 3 / 8), (3, AHEAD / 4), (4, LAST)] {
        if let Some(input) = due.get(ahead)
            && let Some(packet) = links.get(input.link.index()).and_then(Link::head_packet)
        {
            handler.prefetch(input.node, Some(packet), stage);
        }
    }
}
