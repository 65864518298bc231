//! The addresses of hosts. Each host has two namespaces: in one its senders live, in the other its
//! receivers, as a path manager is a matter of a whole namespace, and senders need another than
//! receivers.

use linkpool_network::HostId;
use std::net::Ipv4Addr;

/// Which namespace of a host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Side {
    /// That of its senders.
    Sending = 1,
    /// That of its receivers.
    Receiving = 2,
}

/// A namespace of a host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct End {
    pub(crate) host: HostId,
    pub(crate) side: Side,
}

impl End {
    /// Its address.
    pub(crate) fn address(self) -> Ipv4Addr {
        let [high, low] = (self.host.index() as u16 + 1).to_be_bytes();
        Ipv4Addr::new(10, self.side as u8, high, low)
    }

    /// Whose address it is.
    pub(crate) fn of(address: Ipv4Addr) -> Option<End> {
        let [ten, side, high, low] = address.octets();
        let side = [Side::Sending, Side::Receiving].into_iter().find(|s| *s as u8 == side)?;
        let host = u16::from_be_bytes([high, low]).checked_sub(1)?;
        (ten == 10).then_some(End { host: HostId::new(host.into()), side })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_ends() {
        for host in [0, 1, 254, 255, 256, 65_534].map(HostId::new) {
            for side in [Side::Sending, Side::Receiving] {
                assert_eq!(End::of(End { host, side }.address()), Some(End { host, side }));
            }
        }
        assert_eq!(End { host: HostId::new(0), side: Side::Sending }.address(), Ipv4Addr::new(10, 1, 0, 1));
        for address in [[10, 3, 0, 1], [11, 1, 0, 1], [10, 1, 0, 0]] {
            assert_eq!(End::of(Ipv4Addr::from(address)), None);
        }
    }
}
