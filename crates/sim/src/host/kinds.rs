//! Kinds of packets, with their names in traces and in what is made of them.

use linkpool_network::{Flags, Kind, Packet};

/// What packets are for, by which the causes of waiting are distinguished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// To open a connection or a subflow.
    Handshake,
    /// To say what has arrived.
    Ack,
    /// To say what has lost its payload, or is missing.
    Nack,
    /// To let the sender send.
    Grant,
    /// To say that packets were marked, and no more.
    Congestion,
    /// To end a connection or a subflow.
    Close,
    /// To make the receiver say something.
    Request,
}

impl Role {
    /// Its name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Handshake => "handshake",
            Role::Ack => "ack",
            Role::Nack => "nack",
            Role::Grant => "grant",
            Role::Congestion => "congestion",
            Role::Close => "close",
            Role::Request => "request",
        }
    }
}

/// A kind of packets of one family. Those of them that have the bit of data stand in queues with
/// data and have no payload; packets with data have the same names in all families ([`name`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketKind {
    /// The bits by which it is known, of those in `among`.
    pub(crate) bits: Kind,
    /// The bits that distinguish it from others.
    pub(crate) among: Kind,
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) role: Role,
}

impl PacketKind {
    /// Packets that have `bits` of those in `among`.
    pub(crate) const fn new(bits: Kind, among: Kind, name: &'static str, role: Role) -> PacketKind {
        PacketKind { bits, among, name, role }
    }
}

/// What a packet says, as traces show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    /// Of data: its first byte in the subflow, or the number of the packet.
    pub(crate) seq: u32,
    /// Of data: its first byte in the connection's stream.
    pub(crate) ack: u32,
    /// It echoes a mark.
    pub(crate) ece: bool,
}

/// The names of packets with data: whole, trimmed by a switch, and then sent back to their sender.
pub(crate) const WITH_DATA: [&str; 3] = ["data", "header", "returned"];

/// The name of `packet`, of a family with these kinds.
pub(crate) fn name(packet: &Packet, kinds: &[PacketKind]) -> &'static str {
    let has_data = packet.kind.has(Kind::DATA);
    let is =
        |known: &&PacketKind| known.bits.has(Kind::DATA) == has_data && packet.kind.0 & known.among.0 == known.bits.0;
    let known = kinds.iter().find(is);
    if has_data && known.is_none() {
        let [data, header, returned] = WITH_DATA;
        return match packet.flags.has(Flags::TRIMMED) {
            _ if packet.is_returned() => returned,
            true => header,
            false => data,
        };
    }
    known.expect("a family declares all its kinds of packets").name
}
