//! The inputs of nodes in the calendar: incoming links and timers.

use crate::fabric::{Fabric, LinkId, NodeId};

/// An input of a node in the calendar: one of its incoming links, or its timers, which come last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub(super) node: NodeId,
    pub(super) link: LinkId,
}

/// Instead of a link: the node's timers.
pub(super) const TIMERS: LinkId = LinkId::NONE;

/// The inputs of nodes in the calendar; the number of each link's; the number of each node's
/// timers.
pub(super) fn inputs(fabric: &Fabric) -> (Vec<Input>, Vec<u32>, Vec<u32>) {
    let mut into = vec![Vec::new(); fabric.nodes()];
    for (id, l) in fabric.links().iter().enumerate() {
        into[l.to.index()].push(LinkId::new(id));
    }
    let (mut inputs, mut of_link, mut timers) = (Vec::new(), vec![0; fabric.links().len()], Vec::new());
    for (node, links) in into.iter().enumerate() {
        let node = NodeId::new(node);
        for link in links {
            of_link[link.index()] = inputs.len() as u32;
            inputs.push(Input { node, link: *link });
        }
        timers.push(inputs.len() as u32);
        inputs.push(Input { node, link: TIMERS });
    }
    (inputs, of_link, timers)
}
