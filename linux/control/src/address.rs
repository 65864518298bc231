//! Addresses of subflows, as the kernel has them and as people read them.

use crate::intf::Endpoint;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const AF_INET: u8 = 2;

/// One end of a subflow. IPv4 addresses in IPv6 form are IPv4 addresses.
pub fn of(family: u8, end: &Endpoint) -> SocketAddr {
    let ip = if family == AF_INET {
        IpAddr::from([end.address[0], end.address[1], end.address[2], end.address[3]])
    } else {
        let wide = Ipv6Addr::from(end.address);
        wide.to_ipv4_mapped().map_or(IpAddr::V6(wide), IpAddr::V4)
    };
    SocketAddr::new(ip, end.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_and_mapped_addresses() {
        let mut end = Endpoint { port: 443, ..Endpoint::default() };
        end.address[..4].copy_from_slice(&[10, 0, 1, 2]);
        assert_eq!(of(2, &end).to_string(), "10.0.1.2:443");
        end.address = "::ffff:10.0.1.2".parse::<Ipv6Addr>().unwrap().octets();
        assert_eq!(of(10, &end).to_string(), "10.0.1.2:443");
        end.address = "fd00::1".parse::<Ipv6Addr>().unwrap().octets();
        assert_eq!(of(10, &end).to_string(), "[fd00::1]:443");
    }
}
