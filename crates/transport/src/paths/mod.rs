//! Choice of paths by the sending host: the path information of a packet, and how ACKs and timeouts
//! change it.
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
    /// The entropy that switches hash; of a pinned path, the ports on the path.
    pub entropy: u32,
    /// Is the path pinned: do switches follow `entropy` and hash nothing?
    pub pinned: bool,
}

/// Some subflows of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subflows {
    /// None.
    None,
    /// The first (of MMPTCP, the one that scatters its packets).
    First,
    /// All.
    All,
}

impl Subflows {
    /// Is `subflow` among them?
    #[inline]
    pub fn covers(self, subflow: SubflowId) -> bool {
        match self {
            Subflows::None => false,
            Subflows::First => subflow.is_first(),
            Subflows::All => true,
        }
    }
}

/// How senders balance load over paths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Balancing {
    /// Protective load balancing: a subflow whose path stays congested gets another.
    Plb(PlbConfig),
    /// Recycled entropies: packets go where ACKs came back from unmarked.
    Reps(RepsConfig),
}

impl Balancing {
    /// Does the receiver answer on the entropy of the packet that it acknowledges?
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

/// The state of one connection's load balancing, by subflow.
#[derive(Debug)]
enum Balancer {
    Plb(PlbConfig, Box<[Plb]>),
    Reps(RepsConfig, Box<[Reps]>),
}

/// The paths that packets take if nothing balances or scatters them.
#[derive(Debug)]
enum Fixed {
    /// Stands for the addresses and ports that ECMP hashes.
    Hashed(u32),
    /// The path of each subflow.
    Pinned(Box<[u32]>),
    /// The entropy of the last packet that arrived.
    Echo(u32),
}

/// Chooses the paths of one end of a connection.
#[derive(Debug)]
pub struct PathSelector {
    fixed: Fixed,
    /// The subflows whose data packets take random paths instead.
    scatter: Subflows,
    balancer: Option<Box<Balancer>>,
}

impl PathSelector {
    /// Switches choose by a hash; `ports` stands for addresses and ports of the connection.
    pub fn hashed(ports: u32) -> PathSelector {
        PathSelector { fixed: Fixed::Hashed(ports), scatter: Subflows::None, balancer: None }
    }

    /// Subflow i takes the i-th of `paths`. A path is a list of ports.
    pub fn pinned(paths: impl IntoIterator<Item = u32>) -> PathSelector {
        let fixed = Fixed::Pinned(paths.into_iter().collect());
        PathSelector { fixed, scatter: Subflows::None, balancer: None }
    }

    /// Packets take the entropy of the packet that came last, see [`PathSelector::on_arrival`].
    pub fn echoing() -> PathSelector {
        PathSelector { fixed: Fixed::Echo(0), scatter: Subflows::None, balancer: None }
    }

    /// Data packets of `scatter` take paths at random.
    pub fn scattering(self, scatter: Subflows) -> PathSelector {
        PathSelector { scatter, ..self }
    }

    /// The paths of `subflows` subflows are balanced.
    pub fn balanced(self, balancing: Option<&Balancing>, subflows: usize) -> PathSelector {
        PathSelector { balancer: balancing.map(|balancing| balancing.build(subflows)), ..self }
    }

    /// From now on the connection takes the fixed paths of `other`.
    pub fn replace_paths(&mut self, other: PathSelector) {
        self.fixed = other.fixed;
    }

    /// The path of the next packet of subflow `s`, which carries `data` or not.
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
            Fixed::Pinned(paths) => PathId { entropy: paths[s], pinned: true },
        }
    }

    /// A packet with `entropy` has arrived: an echoing end answers with it.
    #[inline]
    pub fn on_arrival(&mut self, entropy: u32) {
        if let Fixed::Echo(last) = &mut self.fixed {
            *last = entropy;
        }
    }

    /// An ACK of subflow `s` has come with `entropy`, `marked` or not, of which the sender has not
    /// been told yet; its window is `window` packets.
    #[inline]
    pub fn before_ack(&mut self, s: SubflowId, entropy: u32, marked: bool, window: impl FnOnce() -> f64, now: Time) {
        if let Some(Balancer::Reps(_, subflows)) = self.balancer.as_deref_mut() {
            subflows[s].on_ack(entropy, marked, window() as u32, now);
        }
    }

    /// The sender has been told of the ACK of subflow `s`, and stands as `progress` says.
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

    /// The retransmission timer of subflow `s` has expired; nothing has been sent again yet.
    pub fn on_timeout(&mut self, s: SubflowId, random: &mut impl RngCore, now: Time) {
        match self.balancer.as_deref_mut() {
            Some(Balancer::Plb(config, subflows)) => subflows[s].on_timeout(config, random, now),
            Some(Balancer::Reps(config, subflows)) => subflows[s].on_timeout(config, now),
            None => {}
        }
    }
}

impl Balancer {
    /// The entropy of a packet of subflow `s` whose addresses and ports have `hashed`.
    fn entropy(&mut self, s: SubflowId, hashed: u32, data: bool, random: &mut impl RngCore) -> u32 {
        match self {
            Balancer::Plb(_, subflows) => hashed.wrapping_add(subflows[s].shift()),
            Balancer::Reps(_, subflows) if data => subflows[s].next(random),
            Balancer::Reps(..) => hashed,
        }
    }
}

/// The number that subflow `s` adds to the ports of its connection; the first adds 0.
#[inline]
fn spread(s: SubflowId) -> u32 {
    u32::from(s).wrapping_mul(0x9e37_79b9)
}

/// The entropy of addresses and ports in the reverse direction, where they are swapped, for a
/// connection of which a packet of subflow `s` has arrived with `entropy`.
pub fn reverse_ports(entropy: u32, s: SubflowId) -> u32 {
    entropy.wrapping_sub(spread(s)).rotate_left(16) ^ 0x5bd1_e995
}
