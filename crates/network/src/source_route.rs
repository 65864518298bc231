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

/// Does `path` fit into a packet whatever ports of its nodes it takes? Then paths over the same nodes
/// fit between any two hosts at its ends.
pub fn always_fits(fabric: &Fabric, path: &[LinkId]) -> bool {
    let ports = |link: &LinkId| fabric.links_from(fabric.links()[link.index()].from).len() as u64;
    path.iter().try_fold(1u64, |ways, link| ways.checked_mul(ports(link))).is_some_and(|ways| ways <= 1 << 32)
}

/// The way back: the other direction of each cable of `path`, in reverse.
pub fn reversed(fabric: &Fabric, path: &[LinkId]) -> Vec<LinkId> {
    path.iter().rev().map(|link| fabric.reverse(*link)).collect()
}
