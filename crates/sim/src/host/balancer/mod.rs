//! Load balancing by the sending host: which path the packets of a subflow take, by what its ACKs tell of paths.

mod plb;
mod reps;

pub use plb::PlbConfig;
pub use reps::RepsConfig;

use linkpool_engine::Stream;
use linkpool_network::{Flags, Packet};
use linkpool_transport::Sender;
use linkpool_units::Time;
use plb::Plb;
use reps::Reps;

/// How a transport's senders balance load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Balancing {
    /// Protective load balancing: a subflow whose path stays congested gets another.
    Plb(PlbConfig),
    /// Recycled entropies: packets go where ACKs came back from unmarked.
    Reps(RepsConfig),
}

impl Balancing {
    /// The state of a new connection.
    pub(crate) fn build(&self, subflows: usize) -> Box<Balancer> {
        Box::new(match self {
            Balancing::Plb(config) => Balancer::Plb(*config, vec![Plb::default(); subflows].into()),
            Balancing::Reps(config) => Balancer::Reps(*config, vec![Reps::new(config); subflows].into()),
        })
    }

    /// Does the receiver answer on the entropy of the packet that it acknowledges?
    pub(crate) fn echoes(&self) -> bool {
        matches!(self, Balancing::Reps(_))
    }
}

/// The state of one connection, by subflow.
#[derive(Debug)]
pub(crate) enum Balancer {
    Plb(PlbConfig, Box<[Plb]>),
    Reps(RepsConfig, Box<[Reps]>),
}

impl Balancer {
    /// Gives `packet` of subflow `s`, which has the entropy of its addresses and ports, that of its path.
    pub(crate) fn apply(&mut self, s: usize, packet: &mut Packet, random: &mut Stream) {
        match self {
            Balancer::Plb(_, subflows) => packet.entropy = packet.entropy.wrapping_add(subflows[s].shift()),
            Balancer::Reps(_, subflows) if packet.flags.has(Flags::DATA) => packet.entropy = subflows[s].next(random),
            Balancer::Reps(..) => {}
        }
    }

    /// An ACK of subflow `s` has come, of which the sender has not been told yet.
    pub(crate) fn before_ack(&mut self, s: usize, ack: &Packet, window: f64, now: Time) {
        if let Balancer::Reps(_, subflows) = self {
            subflows[s].on_ack(ack.entropy, ack.flags.has(Flags::ECE), window as u32, now);
        }
    }

    /// The sender has been told.
    pub(crate) fn after_ack(&mut self, s: usize, ack: &Packet, sender: &Sender, random: &mut Stream, now: Time) {
        if let Balancer::Plb(config, subflows) = self {
            subflows[s].on_ack(config, &plb::View::of(sender, s), ack.flags.has(Flags::ECE), random, now);
        }
    }

    /// The retransmission timer of subflow `s` has expired; nothing has been sent again yet.
    pub(crate) fn on_timeout(&mut self, s: usize, random: &mut Stream, now: Time) {
        match self {
            Balancer::Plb(config, subflows) => subflows[s].on_timeout(config, random, now),
            Balancer::Reps(config, subflows) => subflows[s].on_timeout(config, now),
        }
    }
}
