//! The addresses of hosts and of network cards.

use linkpool_network::{HostId, NodeId};

/// The address of a host: 10.0.0.1 and so on.
pub(super) fn address(host: HostId) -> [u8; 4] {
    (u32::from_be_bytes([10, 0, 0, 1]) + u32::from(host)).to_be_bytes()
}

/// The address of a node's network card, of those that are assigned locally.
pub(super) fn hardware_address(node: NodeId) -> [u8; 6] {
    let [a, b, c, d] = u32::from(node).to_be_bytes();
    [2, 0, a, b, c, d]
}
