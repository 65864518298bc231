//! The numbers of devices, which tell of what they are: in all namespaces of the fabric, so that
//! programs need no other name for them.

use crate::address::End;
use linkpool_linux_control::switch::FIRST_LINK;
use linkpool_network::LinkId;

/// The first of those that lead to the ends of hosts; a fabric has fewer links.
const FIRST_END: u32 = 1_000_000;

/// All devices have the same address: so what one sends is for the other, and no neighbour has to
/// be asked.
pub(super) const ADDRESS: &str = "02:00:00:00:00:01";

/// The device from which packets leave over `link`; what the other direction of its cable carries
/// comes by it.
pub(super) fn of_link(link: LinkId) -> u32 {
    FIRST_LINK + u32::from(link)
}

/// The device that leads to `end`, in the namespace of its host in the fabric.
pub(super) fn of_end(end: End) -> u32 {
    FIRST_END + 2 * u32::from(end.host) + end.side as u32
}

/// The name of a device of this number.
pub(super) fn name(number: u32) -> String {
    format!("lp{number}")
}

/// The words for `ip` that make a device of this number, and for its other end.
pub(super) fn words(name: &str, number: u32, mtu: u32) -> String {
    format!("{name} index {number} address {ADDRESS} mtu {mtu} numtxqueues 1 numrxqueues 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Side;
    use linkpool_network::HostId;

    #[test]
    fn numbers_differ_and_names_are_short_enough() {
        let ends = [0, 1, 63].map(HostId::new).into_iter();
        let ends = ends.flat_map(|host| [Side::Sending, Side::Receiving].map(|side| of_end(End { host, side })));
        let mut all: Vec<u32> = ends.chain([0, 1, 4000].map(|link| of_link(LinkId::new(link)))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 9);
        // IFNAMSIZ, with a closing zero.
        assert!(name(u32::MAX).len() < 16);
    }
}
