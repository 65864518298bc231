//! A packet as an Ethernet frame with a header of IPv4, and what its transport puts behind it.

use super::address::{address, hardware_address};
use super::connections::Known;
use super::{payload, roce, tcp, uet};
use crate::plan::Plan;
use crate::results::passing::Passed;
use etherparse::{EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header};
use linkpool_network::Flags;
use linkpool_transport::{FamilyConfig, Telemetry};

/// Bytes of a frame before the header of IPv4.
const ETHERNET: usize = Ethernet2Header::LEN;

/// Makes frames.
#[derive(Debug)]
pub(super) struct Framer<'p> {
    plan: &'p Plan,
    tcp: tcp::Headers,
    /// What follows the header of IPv4, up to the payload.
    headers: Vec<u8>,
    /// The last frame.
    bytes: Vec<u8>,
}

impl<'p> Framer<'p> {
    pub(super) fn new(plan: &'p Plan) -> Framer<'p> {
        Framer { plan, tcp: tcp::Headers::default(), headers: Vec::new(), bytes: Vec::new() }
    }

    /// The frame of the packet that has `passed`, with its payload or without, and its length with the payload.
    pub(super) fn frame(&mut self, passed: &Passed, known: &Known, payload: bool) -> (&[u8], u32) {
        let (packet, trailer) = (&passed.packet, passed.trailer.as_ref());
        let (src, dst) = (known.connection.src, known.connection.dst);
        let (from, to) = if known.forth { (src, dst) } else { (dst, src) };
        self.headers.clear();
        let transport = &self.plan.transports[known.connection.transport.index()].family;
        // Zeros after the headers, and whether a check sequence follows them.
        let (protocol, zeros, has_check) = match transport {
            FamilyConfig::Tcp(_) => {
                let said = (packet, trailer);
                let zeros = self.tcp.append(self.plan, said, known, (from, to), &mut self.headers);
                (IpNumber::TCP, zeros, false)
            }
            FamilyConfig::Roce(config) => {
                let room = config.telemetry.map(|telemetry| match telemetry {
                    Telemetry::Records => roce::Written::Records(&passed.hops),
                    Telemetry::Digest(_) => roce::Written::Digest(passed.digest.unwrap_or(0)),
                });
                (IpNumber::UDP, roce::append((packet, trailer), room, known, &mut self.headers), true)
            }
            FamilyConfig::Uet(config) => {
                (IpNumber::UDP, uet::append((packet, trailer), config.entropies, known, &mut self.headers), false)
            }
            FamilyConfig::Ndp(_) => unreachable!("scenarios with NDP record no packets"),
        };
        let zeros = payload::zeros(zeros);
        let check = if has_check { roce::CHECK } else { 0 };
        let length = (self.headers.len() + zeros.len() + check) as u16;
        let mut ip = Ipv4Header::new(length, 64, protocol, address(from), address(to)).expect("a packet is short");
        (ip.dont_fragment, ip.ecn, ip.dscp) = (true, ecn(packet.flags), dscp(passed.priority));
        ip.header_checksum = ip.calc_header_checksum();
        let (source, destination) = (hardware_address(from.into()), hardware_address(to.into()));
        self.bytes.clear();
        self.bytes.extend(Ethernet2Header { source, destination, ether_type: EtherType::IPV4 }.to_bytes());
        self.bytes.extend_from_slice(&ip.to_bytes());
        self.bytes.extend_from_slice(&self.headers);
        let whole = (self.bytes.len() + zeros.len() + check) as u32;
        if payload || zeros.is_empty() {
            self.bytes.extend_from_slice(zeros);
            if has_check {
                let check = roce::invariant_check(&self.bytes[ETHERNET..]);
                self.bytes.extend_from_slice(&check);
            }
        }
        (&self.bytes, whole)
    }
}

fn ecn(flags: Flags) -> IpEcn {
    if flags.has(Flags::CE) {
        IpEcn::CongestionExperienced
    } else if flags.has(Flags::ECT) {
        IpEcn::Ect0
    } else {
        IpEcn::NotEct
    }
}

/// Packets of high priority, 7, have expedited forwarding (RFC 3246), others the class selector of their priority
/// (RFC 2474, section 4.2.2).
fn dscp(priority: u8) -> IpDscp {
    const SELECTORS: [IpDscp; 7] =
        [IpDscp::CS0, IpDscp::CS1, IpDscp::CS2, IpDscp::CS3, IpDscp::CS4, IpDscp::CS5, IpDscp::CS6];
    SELECTORS.get(usize::from(priority)).copied().unwrap_or(IpDscp::EF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::connections::Connections;
    use crate::host::connection::{Opening, OpeningFor};
    use crate::host::encoding::encode;
    use crate::host::handle::Handle;
    use crate::plan::{FlowId, TransportId};
    use etherparse::TcpHeader;
    use linkpool_network::{HostId, LinkId, Packet};
    use linkpool_transport::paths::Subflows;
    use linkpool_transport::{Family, Segment, SubflowId};
    use linkpool_units::Time;

    fn passed(packet: Packet) -> Passed {
        let (at, link) = (Time::ZERO, LinkId::new(0));
        Passed { at, link, view: None, packet, priority: 0, trailer: None, hops: Vec::new(), digest: None }
    }

    /// A receiver that resets the connection has sent nothing but its SYN-ACK, and acknowledges the SYN.
    #[test]
    fn a_reset_acknowledges_the_syn() {
        let text = "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 1\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
                    [transport.t]\ncontrol = \"lia\"\nsubflows = 2\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\n\
                    to = \"R\"\n[record]\ncapture = {}\n";
        let plan = Plan::new(&crate::scenario(text));
        let (sizes, mut connections) = (plan.transports[0].sizes, Connections::new([Family::Tcp]));
        let mut syn = encode(Segment::Syn { join: false, ecn: false }, sizes);
        let opening = Opening {
            src: HostId::new(0),
            peer: Handle::new(3, 1),
            subflow: SubflowId::FIRST,
            transport: TransportId::new(0),
            to: OpeningFor::Flow(FlowId::new(0)),
            stays_open: false,
            high: Subflows::None,
            priority: 0,
            ports: 0,
        };
        let trailer = opening.write(&mut syn);
        syn.envelope = syn.envelope.with_dst(HostId::new(1));
        connections.know(&syn, Some(&trailer)).unwrap();
        let mut reset = encode(Segment::Reset, sizes);
        reset.endpoint = Handle::new(3, 1).of_subflow(SubflowId::new(1));
        reset.envelope = reset.envelope.with_dst(HostId::new(0));
        let known = connections.know(&reset, None).unwrap();
        let mut framer = Framer::new(&plan);
        let (bytes, length) = framer.frame(&passed(reset), &known, false);
        assert_eq!((bytes.len(), length), (14 + 20 + 20, 54));
        let (tcp, _) = TcpHeader::from_slice(&bytes[34..]).unwrap();
        assert!(tcp.rst && tcp.ack && !tcp.syn && !tcp.fin);
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number, tcp.window_size), (1, 1, 0));
        assert_eq!((tcp.source_port, tcp.destination_port), (49_152, 36_001));
    }
}
