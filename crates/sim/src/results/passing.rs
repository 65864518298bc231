//! Packets that pass recorded ports.

use crate::plan::View;
use linkpool_network::{HopRecord, LinkId, Packet, Trailer};
use linkpool_units::Time;

/// A packet that has come through a link.
#[derive(Debug)]
pub(crate) struct Passing {
    pub(crate) link: LinkId,
    /// As it arrives, but for its priority.
    pub(crate) packet: Packet,
    pub(crate) priority: u8,
    pub(crate) trailer: Option<Trailer>,
    /// What ports have written on it so far, or on the packet of which it tells.
    pub(crate) hops: Vec<HopRecord>,
    /// The digest that ports have written so far, on a packet that has one.
    pub(crate) digest: Option<u16>,
}

/// A packet at a port.
#[derive(Debug)]
pub struct Passed {
    /// When its last bit passes the port.
    pub at: Time,
    /// The link that carries it, away from the port or to it.
    pub link: LinkId,
    /// The port; `None`: the port is not recorded, and the packet tells whose others are.
    pub view: Option<View>,
    /// The packet, without its priority.
    pub packet: Packet,
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// Its trailer, if it has one.
    pub trailer: Option<Trailer>,
    /// What ports have written on it so far, or on the packet of which it tells.
    pub hops: Vec<HopRecord>,
    /// The digest that ports have written so far, on a packet that has one.
    pub digest: Option<u16>,
}
