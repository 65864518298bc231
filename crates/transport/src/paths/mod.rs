//! Choice of paths by the sending host: the path information of each packet, and its changes by
//! ACKs and timeouts.
//!
//! A sender of any family of transports calls [`PathSelector::select`] for each packet, and reports
//! ACKs and timeouts to it.

mod plb;
mod reps;

pub use plb::{PlbConfig, Progress};
pub use reps::RepsConfig;

use crate::id::SubflowId;
use linkpool_units::Time;
use plb::Plb;
use rand::RngCore;
use reps::Reps;

/// The path information of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathId {
    /// The entropy that switches hash, or, if the path is pinned, the ports on the path.
    pub entropy: u32,
    /// Is the path pinned? Then switches follow the ports in `entropy` and do not hash.
    pub pinned: bool,
}

/// A set of subflows of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subflows {
    /// No subflow.
    None,
    /// The first subflow, as in MMPTCP, where only this subflow scatters its packets.
    First,
    /// All subflows.
    All,
}

impl Subflows {
    /// Is `subflow` in the set?
    #[inline]
    pub fn covers(self, subflow: SubflowId) -> bool {
        match self {
            Subflows::None => false,
            Subflows::First => subflow.is_first(),
            Subflows::All => true,
        }
    }
}

/// The method by which senders balance load over paths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Balancing {
    /// Protective load balancing (PLB): a subflow whose path stays congested takes another path.
    Plb(PlbConfig),
    /// Recycled entropies (REPS): packets use the entropies of unmarked ACKs again.
    Reps(RepsConfig),
}

impl Balancing {
    /// Does an ACK carry the entropy of the packet that it acknowledges?
    pub fn echoes(&self) -> bool {
        matches!(self, Balancing::Reps(_))
    }

    fn build(&self, subflows: usize) -> Box<Balancer> {
        Box::new(match self {
            Balancing::Plb(config) => Balancer::Plb(*config, vec![Plb::default(); subflows].into()),
            Balancing::Reps(config) => Balancer::Reps(*config, vec![Reps::new(config); subflows].into()),
        })
    }
}

/// The load balancing state of one connection, by subflow.
#[derive(Debug)]
enum Balancer {
    Plb(PlbConfig, Box<[Plb]>),
    Reps(RepsConfig, Box<[Reps]>),
}

/// The paths of packets that are neither balanced nor scattered.
#[derive(Debug)]
enum Fixed {
    /// A hash key that stands for the addresses and ports of the connection.
    Hashed(u32),
    /// The entropy of each subflow.
    Entropies(Box<[u32]>),
    /// The path of each subflow.
    Pinned(Box<[u32]>),
    /// The entropy of the last packet that arrived.
    Echo(u32),
}

/// Chooses the paths of one end of a connection.
#[derive(Debug)]
pub struct PathSelector {
    fixed: Fixed,
    /// The subflows whose data packets take random paths.
    scatter: Subflows,
    balancer: Option<Box<Balancer>>,
}

impl PathSelector {
    /// Switches choose paths by a hash. `ports` stands for the addresses and ports of the
    /// connection.
    pub fn hashed(ports: u32) -> PathSelector {
        PathSelector { fixed: Fixed::Hashed(ports), scatter: Subflows::None, balancer: None }
    }

    /// Subflow i takes path i of `paths`. A path is a list of ports.
    pub fn pinned(paths: impl IntoIterator<Item = u32>) -> PathSelector {
        let fixed = Fixed::Pinned(paths.into_iter().collect());
        PathSelector { fixed, scatter: Subflows::None, balancer: None }
    }

    /// Switches choose paths by a hash; packets of subflow i have the i-th of these entropies.
    pub fn of_subflows(entropies: impl IntoIterator<Item = u32>) -> PathSelector {
        let fixed = Fixed::Entropies(entropies.into_iter().collect());
        PathSelector { fixed, scatter: Subflows::None, balancer: None }
    }

    /// Packets take the entropy of the last packet that arrived, see [`PathSelector::on_arrival`].
    pub fn echoing() -> PathSelector {
        PathSelector { fixed: Fixed::Echo(0), scatter: Subflows::None, balancer: None }
    }

    /// Data packets of `scatter` take paths at random.
    pub fn scattering(self, scatter: Subflows) -> PathSelector {
        PathSelector { scatter, ..self }
    }

    /// Balances the paths of `subflows` subflows.
    pub fn balanced(self, balancing: Option<&Balancing>, subflows: usize) -> PathSelector {
        PathSelector { balancer: balancing.map(|balancing| balancing.build(subflows)), ..self }
    }

    /// Takes over the fixed paths of `other`.
    pub fn replace_paths(&mut self, other: PathSelector) {
        self.fixed = other.fixed;
    }

    /// Returns the path of the next packet of subflow `s`. `data`: the packet carries data.
    #[inline]
    pub fn select(&mut self, s: SubflowId, data: bool, random: &mut impl RngCore) -> PathId {
        if data && self.scatter.covers(s) {
            return PathId { entropy: random.next_u32(), pinned: false };
        }
        let path = self.fixed(s);
        match &mut self.balancer {
            None => path,
            Some(balancer) => PathId { entropy: balancer.entropy(s, path.entropy, data, random), ..path },
        }
    }

    /// The path of subflow `s` if nothing balances or scatters its packets.
    #[inline]
    pub fn fixed(&self, s: SubflowId) -> PathId {
        match &self.fixed {
            Fixed::Hashed(ports) => PathId { entropy: ports.wrapping_add(spread(s)), pinned: false },
            Fixed::Echo(entropy) => PathId { entropy: *entropy, pinned: false },
            Fixed::Entropies(entropies) => PathId { entropy: entropies[s], pinned: false },
            Fixed::Pinned(paths) => PathId { entropy: paths[s], pinned: true },
        }
    }

    /// Records the entropy of a packet that has arrived. An end that echoes uses it for its next
    /// packets.
    #[inline]
    pub fn on_arrival(&mut self, entropy: u32) {
        if let Fixed::Echo(last) = &mut self.fixed {
            *last = entropy;
        }
    }

    /// Call it when an ACK of subflow `s` has arrived, before the sender processes it. `window`:
    /// the congestion window, packets.
    #[inline]
    pub fn before_ack(&mut self, s: SubflowId, entropy: u32, marked: bool, window: impl FnOnce() -> f64, now: Time) {
        if let Some(Balancer::Reps(_, subflows)) = self.balancer.as_deref_mut() {
            subflows[s].on_ack(entropy, marked, window() as u32, now);
        }
    }

    /// Call it after the sender has processed the ACK of subflow `s`. `progress` is the state of
    /// the sender after that.
    #[inline]
    pub fn after_ack(
        &mut self,
        s: SubflowId,
        marked: bool,
        progress: impl FnOnce() -> Progress,
        random: &mut impl RngCore,
        now: Time,
    ) {
        if let Some(Balancer::Plb(config, subflows)) = self.balancer.as_deref_mut() {
            subflows[s].on_ack(config, &progress(), marked, random, now);
        }
    }

    /// Call it when the retransmission timer of subflow `s` has expired, before any retransmission.
    pub fn on_timeout(&mut self, s: SubflowId, random: &mut impl RngCore, now: Time) {
        match self.balancer.as_deref_mut() {
            Some(Balancer::Plb(config, subflows)) => subflows[s].on_timeout(config, random, now),
            Some(Balancer::Reps(config, subflows)) => subflows[s].on_timeout(config, now),
            None => {}
        }
    }
}

impl Balancer {
    /// The entropy of a packet of subflow `s`; `hashed` is that of the addresses and ports.
    fn entropy(&mut self, s: SubflowId, hashed: u32, data: bool, random: &mut impl RngCore) -> u32 {
        match self {
            Balancer::Plb(_, subflows) => hashed.wrapping_add(subflows[s].shift()),
            Balancer::Reps(_, subflows) if data => subflows[s].next(random),
            Balancer::Reps(..) => hashed,
        }
    }
}

/// The number that subflow `s` adds to the ports of its connection; subflow 0 adds 0.
#[inline]
fn spread(s: SubflowId) -> u32 {
    u32::from(s).wrapping_mul(0x9e37_79b9)
}

/// The entropy of packets in the reverse direction, where addresses and ports are swapped. A packet
/// of subflow `s` has arrived with `entropy`.
pub fn reverse_ports(entropy: u32, s: SubflowId) -> u32 {
    entropy.wrapping_sub(spread(s)).rotate_left(16) ^ 0x5bd1_e995
}
