//! How switches choose among links of equal cost: balancers, one a file.
//!
//! [`Spreading`] lists them, and [`balancer`] makes them. A hash of each packet's addresses and ports, or of how it has
//! come ([`spray`]), needs no state and no order, so it has no balancer: it is part of routing ([`crate::routing`]).

mod conga;
mod detours;
mod drill;
mod flowlet_table;
mod flowlets;
mod least_queue;
pub(crate) mod spray;
mod ugal;
mod valiant;

pub use conga::Conga;
pub use drill::Drill;
pub use ugal::Ugal;
pub use valiant::{Per, Valiant};

use crate::fabric::{Fabric, LinkId, NodeId};
use crate::packet::Packet;
use crate::trailer::{Tag, Trailers};
use linkpool_settings::{Kinds, kinds};
use linkpool_units::{HostId, Time};
use std::fmt::Debug;

kinds! {
    /// The rule by which a switch chooses among several links that lead nearer to the destination.
    /// Hosts with several NICs always choose by hash.
    #[derive(Copy, Eq)]
    pub enum Spreading {
        /// By a hash of addresses and ports, salted per switch (RFC 2992).
        Ecmp = "ecmp";
        /// At random for each packet (Dixit et al., INFOCOM 2013).
        Spray = "spray";
        /// At random for each flowlet (LetFlow: Vanini et al., NSDI 2017).
        Flowlets = "flowlets";
        /// Over the link with the fewest bytes to send, for each packet, or with `gap` for each flowlet.
        Adaptive = "adaptive";
        /// Over the link with the fewest bytes to send of a few that are drawn or remembered (DRILL).
        Drill(Drill) = "drill";
        /// Over the link by which the path is least congested, for each flowlet: switches of hosts tell each other (CONGA).
        Conga(Conga) = "conga";
        /// Over a random group of a dragonfly, or a random switch of a Slim Fly or another fabric whose switches all have hosts,
        /// and then on (Valiant).
        Valiant(Valiant) = "valiant";
        /// As `valiant` or over a minimal path, by the queues of the first switch, for each packet, or with `gap` for each
        /// flowlet (UGAL-L).
        Ugal(Ugal) = "ugal";
        /// By the address of the destination, of which each host has several: hosts know the paths.
        TwoLevel = "two-level";
    }
}

#[expect(clippy::derivable_impls, reason = "`kinds!` passes no attributes of variants on")]
impl Default for Spreading {
    fn default() -> Spreading {
        Spreading::Ecmp
    }
}

impl Spreading {
    /// Do switches choose for each packet or flowlet anew? Otherwise a flow has one path.
    pub fn moves_flows(&self) -> bool {
        !matches!(self, Spreading::Ecmp | Spreading::TwoLevel)
    }

    /// May packets take paths that are not the shortest?
    pub fn leaves_shortest_paths(&self) -> bool {
        matches!(self, Spreading::Valiant(_) | Spreading::Ugal(_))
    }

    /// Why switches of `fabric` cannot choose so; none: they can.
    pub fn misfit(&self, fabric: &Fabric) -> Option<String> {
        match self {
            Spreading::Conga(_) => conga::misfit(fabric),
            _ if self.leaves_shortest_paths() => {
                detours::misfit(fabric).map(|why| format!("\"{}\" {why}", self.name()))
            }
            _ => None,
        }
    }

    /// Does it choose for flowlets, by `gap`: the least pause between two packets of a flow after which the second may
    /// take another link? None: it has no flowlets; false: it may go without.
    pub fn needs_gap(&self) -> Option<bool> {
        match self {
            Spreading::Flowlets => Some(true),
            Spreading::Adaptive | Spreading::Ugal(_) => Some(false),
            _ => None,
        }
    }
}

/// The links of equal cost among which a switch chooses for a packet.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'a> {
    /// The switch.
    pub(crate) node: NodeId,
    /// The link by which the packet has come to it.
    pub(crate) ingress: LinkId,
    /// What tells its hashes from those of other switches.
    pub(crate) salt: u32,
    /// The number of links, at least two.
    pub(crate) links: u32,
    /// Which link has a number.
    pub(crate) link: &'a dyn Fn(u32) -> LinkId,
}

/// The link by which a packet goes nearer to a host: of several, that with the number that is chosen.
pub(crate) type Towards<'a> = &'a dyn Fn(HostId, &mut dyn FnMut(Choice<'_>) -> u32) -> LinkId;

/// A packet's arrival at a switch, for a balancer that steers.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    /// The switch.
    pub(crate) node: NodeId,
    /// The link by which the packet has come to it.
    pub(crate) ingress: LinkId,
    /// What tells its hashes from those of other switches.
    pub(crate) salt: u32,
    /// The routes there.
    pub(crate) towards: Towards<'a>,
    /// What switches have written on the packet.
    pub(crate) tag: Option<Tag>,
}

/// The links by which a packet comes to a switch and leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// The switch.
    pub(crate) node: NodeId,
    pub(crate) ingress: LinkId,
    pub(crate) egress: LinkId,
}

/// The queues of the links of a choice. Balancers are compiled for it.
pub(crate) trait Queues {
    /// The bytes that link `number` has not yet put on the wire; none: it is down.
    fn bytes(&mut self, number: u32) -> Option<u64>;

    /// The number of the link, among `links`, that has the fewest bytes to send. Of several, that whose place among them `draw`
    /// makes of how many they are. Where all are down, all are equal.
    #[inline(always)]
    fn shortest(&mut self, links: u32, draw: impl FnOnce(u32) -> u32) -> u32 {
        self.shortest_one_by_one(links, draw)
    }

    /// The same by [`Queues::bytes`] of each.
    #[inline(always)]
    fn shortest_one_by_one(&mut self, links: u32, draw: impl FnOnce(u32) -> u32) -> u32 {
        let mut length = |link: u32| self.bytes(link).unwrap_or(u64::MAX);
        let (mut first, mut least, mut count) = (0, u64::MAX, 0);
        for link in 0..links {
            let length = length(link);
            // No branch, since no processor can predict it.
            let is_less = length < least;
            first = if is_less { link } else { first };
            count = if is_less { 0 } else { count } + u32::from(length <= least);
            least = least.min(length);
        }
        if count == 1 {
            return first;
        }
        let drawn = draw(count);
        (first..links).filter(|link| length(*link) == least).nth(drawn as usize).expect("one of those counted")
    }
}

impl<F: FnMut(u32) -> Option<u64>> Queues for F {
    fn bytes(&mut self, number: u32) -> Option<u64> {
        self(number)
    }
}

/// The same of any link of a switch.
pub(crate) type Backlog<'a> = &'a mut dyn FnMut(LinkId) -> Option<u64>;

/// Chooses among links of equal cost, at all switches of a network or of a partition. It is asked
/// for the packets of each switch in the order in which they come.
pub(crate) trait Balancer: Debug + Send {
    /// The number of the link of `choice` that `packet` takes, which has come at its `arrival`.
    fn choose(&mut self, choice: Choice<'_>, packet: &Packet, queues: &mut impl Queues) -> u32
    where
        Self: Sized;

    /// Does it ask for queues? Then packets are queued one by one where it chooses.
    fn sees_queues(&self) -> bool {
        false
    }

    /// Does it see all packets that switches send on, those without a choice, too? Then [`Balancer::sends`] is called for
    /// each, and all are queued one by one.
    fn sees_all(&self) -> bool {
        false
    }

    /// Does it choose among all links of a switch? Then [`Balancer::steer`] is asked for each packet whose path is not pinned, in
    /// place of [`Balancer::choose`].
    fn steers(&self) -> bool {
        false
    }

    /// The link that `packet` takes, and its tag from there on. `queue`: the bytes that a link has not yet put on the wire; none: it
    /// is down.
    fn steer(&mut self, _at: Arrival<'_>, _packet: &Packet, _queue: Backlog<'_>) -> (LinkId, Option<Tag>) {
        unreachable!("only of a balancer that steers")
    }

    /// A switch sends `packet`, which has come at its `arrival`, on by `hop`. It may read and write tags.
    fn sends(&mut self, _hop: Hop, _packet: &mut Packet, _tags: &mut Trailers) {}
}

/// Makes something of a balancer, whatever its kind: what it makes is compiled for each.
pub(crate) trait MakeOf {
    /// What it makes.
    type Made;
    /// Makes it of this balancer.
    fn of<B: Balancer + 'static>(self, balancer: B) -> Self::Made;
}

/// What `make` makes of the balancer of the switches of `fabric` with `spreading`, and the `gap` between flowlets; none: they
/// choose by a hash.
pub(crate) fn balancer<M: MakeOf>(
    (spreading, gap): (Spreading, Option<Time>),
    fabric: &Fabric,
    seed: u64,
    make: M,
) -> Option<M::Made> {
    Some(match spreading {
        Spreading::Ecmp | Spreading::Spray | Spreading::TwoLevel => return None,
        Spreading::Flowlets => make.of(flowlets::Flowlets::new(gap.unwrap_or(Time::ZERO), fabric, seed)),
        Spreading::Adaptive => make.of(least_queue::LeastQueue::new(gap, fabric, seed)),
        Spreading::Drill(settings) => make.of(drill::DrillBalancer::new(settings, fabric, seed)),
        Spreading::Conga(settings) => make.of(conga::CongaBalancer::new(settings, fabric, seed)),
        Spreading::Ugal(settings) => make.of(ugal::UgalBalancer::new(settings, gap, fabric, seed)),
        Spreading::Valiant(settings) => make.of(valiant::ValiantBalancer::new(settings, fabric, seed)),
    })
}

/// One of `n` by 32 random bits: Lemire's multiply-and-shift maps them to 0..n without a division.
#[inline]
pub(crate) fn one_of(n: u32, bits: u32) -> u32 {
    ((u64::from(bits) * u64::from(n)) >> 32) as u32
}
