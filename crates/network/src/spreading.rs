//! How switches spread packets over links of equal cost.

use crate::fabric::{Fabric, NodeId};
use crate::least_queue::LeastQueue;
use crate::packet::{Packet, hash};
use linkpool_engine::{Stream, stream};
use linkpool_units::Time;
use rand::RngCore;

/// How a switch chooses among several links that lead nearer to the destination. Hosts with several
/// NICs always choose by hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spreading {
    /// By the entropy of addresses and ports, hashed with a salt of the switch (ECMP, RFC 2992).
    #[default]
    Flows,
    /// Nothing: each packet goes over a random one (Dixit et al., INFOCOM 2013).
    Packets,
    /// By the time: packets of a flow follow each other unless there is a gap of at least this
    /// length between them, after which a random link is chosen (LetFlow: Vanini et al., NSDI
    /// 2017).
    Flowlets(Time),
    /// By the queues: each packet, or with a time each flowlet, goes over the link that has the
    /// fewest bytes to send; of several, over a random one.
    LeastQueue(Option<Time>),
}

/// Entries of a switch's table of flowlets. Flows whose hashes fall together share one, as they do
/// in hardware.
const FLOWLETS: usize = 4096;

/// The state of the switches of a network for their choices.
#[derive(Debug)]
pub(crate) enum Chooser {
    Flows,
    /// By node.
    Packets(Vec<Stream>),
    /// By node; the tables are made when the first packet comes.
    Flowlets(Time, Vec<(Stream, Vec<Flowlet>)>),
    /// It must see queues, so packets are routed one by one.
    LeastQueue(Box<LeastQueue>),
}

/// The last packets of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flowlet {
    /// A packet from then on chooses a new link.
    expires: Time,
    /// The random number of the last packets' choice.
    draw: u32,
}

impl Chooser {
    pub(crate) fn new(spreading: Spreading, fabric: &Fabric, seed: u64) -> Chooser {
        let streams = || (0..fabric.nodes()).map(|node| stream(seed, "spreading", node as u64));
        match spreading {
            Spreading::Flows => Chooser::Flows,
            Spreading::Packets => Chooser::Packets(streams().collect()),
            Spreading::LeastQueue(gap) => Chooser::LeastQueue(Box::new(LeastQueue::new(gap, fabric, seed))),
            Spreading::Flowlets(gap) => Chooser::Flowlets(gap, streams().map(|stream| (stream, Vec::new())).collect()),
        }
    }

    /// 32 bits by which the switch `node` chooses one of `n` links for `packet`, which has come
    /// just now.
    #[inline]
    pub(crate) fn draw(&mut self, node: NodeId, by: (u32, u32), packet: &Packet) -> u32 {
        match self {
            Chooser::Flows => hash(by.0, packet),
            _ => self.draw_otherwise(node, by, packet),
        }
    }

    #[inline(never)]
    fn draw_otherwise(&mut self, node: NodeId, (salt, n): (u32, u32), packet: &Packet) -> u32 {
        match self {
            Chooser::Packets(streams) if n > 1 => streams[node.index()].next_u32(),
            Chooser::Flowlets(gap, tables) if n > 1 => {
                let (stream, table) = &mut tables[node.index()];
                Chooser::draw_for_flowlet(stream, table, *gap, salt, packet)
            }
            // A single link is chosen whatever the number.
            _ => hash(salt, packet),
        }
    }

    #[inline(never)]
    fn draw_for_flowlet(stream: &mut Stream, table: &mut Vec<Flowlet>, gap: Time, salt: u32, packet: &Packet) -> u32 {
        table.resize(FLOWLETS, Flowlet::default());
        let flow = &mut table[hash(salt ^ u32::from(packet.dst()), packet) as usize % FLOWLETS];
        if packet.arrival >= flow.expires {
            flow.draw = stream.next_u32();
        }
        flow.expires = packet.arrival + gap;
        flow.draw
    }
}
