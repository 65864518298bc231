//! Paths that are written into packets.
//!
//! A pinned packet carries the ports that it takes, from node to node, as one number of 32 bits in
//! mixed radix: each node takes the remainder by the number of its own ports and leaves the
//! quotient. So any path can be pinned, shortest or not, and no node keeps a table of them. That is
//! 2^30 for six hops in a fat-tree of 64-port switches.

use crate::fabric::{Fabric, LinkId};

/// The entropy of a pinned packet that takes `path`; none if the path has too many hops over too
/// many ports for 32 bits.
pub fn source_route(fabric: &Fabric, path: &[LinkId]) -> Option<u32> {
    path.iter().rev().try_fold(0u32, |rest, link| {
        let ports = fabric.links_from(fabric.links()[link.index()].from).len();
        rest.checked_mul(ports as u32)?.checked_add(fabric.port(*link) as u32)
    })
}

/// The way back: the other direction of each cable of `path`, in reverse.
pub fn reversed(fabric: &Fabric, path: &[LinkId]) -> Vec<LinkId> {
    path.iter().rev().map(|link| fabric.reverse(*link)).collect()
}
