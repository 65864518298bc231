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
use thin_vec::ThinVec;

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
    /// The entropy of each subflow, or of each entropy value.
    Entropies(ThinVec<u32>),
    /// The path of each subflow.
    Pinned(ThinVec<u32>),
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

    /// Switches choose paths by a hash; packets of subflow i, or with entropy value i, have the i-th of these
    /// entropies.
    pub fn of_each(entropies: impl IntoIterator<Item = u32>) -> PathSelector {
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
    #[inline(always)]
    pub fn select(&mut self, s: SubflowId, data: bool, random: &mut impl RngCore) -> PathId {
        match (&self.fixed, self.scatter, &self.balancer) {
            // Most connections have such paths.
            (Fixed::Hashed(ports), Subflows::None, None) => hashed(*ports, s),
            _ => self.select_by_rules(s, data, random),
        }
    }

    #[inline(never)]
    fn select_by_rules(&mut self, s: SubflowId, data: bool, random: &mut impl RngCore) -> PathId {
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
            Fixed::Hashed(ports) => hashed(*ports, s),
            Fixed::Echo(entropy) => PathId { entropy: *entropy, pinned: false },
            Fixed::Entropies(entropies) => PathId { entropy: entropies[s.index()], pinned: false },
            Fixed::Pinned(paths) => PathId { entropy: paths[s.index()], pinned: true },
        }
    }

    /// The entropy of a packet, by the entropy value in its bits `mask`: that of the value, where each has
    /// one, else `entropy` itself.
    #[inline]
    pub fn by_value(&self, entropy: u32, mask: u32) -> u32 {
        match &self.fixed {
            Fixed::Entropies(entropies) => entropies[(entropy & mask) as usize],
            _ => entropy,
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

/// The path of subflow `s` of a connection whose addresses and ports are `ports`.
#[inline]
fn hashed(ports: u32, s: SubflowId) -> PathId {
    PathId { entropy: ports.wrapping_add(spread(s)), pinned: false }
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

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings};
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    const S: [SubflowId; 2] = [SubflowId::new(0), SubflowId::new(1)];

    fn random() -> SmallRng {
        SmallRng::seed_from_u64(1)
    }

    /// The paths of two subflows, of packets without data.
    fn paths(selector: &mut PathSelector) -> [(u32, bool); 2] {
        S.map(|s| {
            let path = selector.select(s, false, &mut random());
            (path.entropy, path.pinned)
        })
    }

    /// Subflow i adds i times the golden ratio to the ports, so that hashes differ.
    #[test]
    fn hashed_subflows_have_ports_of_their_own_and_one_way_back() {
        let mut hashed = PathSelector::hashed(7);
        assert_eq!(paths(&mut hashed), [(7, false), (7 + 0x9e37_79b9, false)]);
        let back = S.map(|s| reverse_ports(hashed.fixed(s).entropy, s));
        // 7, turned by half a word, with the bits of 0x5bd1_e995 turned over.
        assert_eq!(back, [0x5bd6_e995; 2]);
    }

    #[test]
    fn paths_that_are_given_are_taken_and_replaced() {
        let mut pinned = PathSelector::pinned([5, 6]);
        assert_eq!(paths(&mut pinned), [(5, true), (6, true)]);
        pinned.replace_paths(PathSelector::of_each([8, 9]));
        assert_eq!(paths(&mut pinned), [(8, false), (9, false)]);
        let mut echoing = PathSelector::echoing();
        assert_eq!(paths(&mut echoing)[0], (0, false));
        echoing.on_arrival(3);
        assert_eq!(paths(&mut echoing), [(3, false); 2]);
        pinned.on_arrival(3);
        assert_eq!(paths(&mut pinned)[0], (8, false));
    }

    /// Of data packets of the subflows that scatter, each takes the next random number.
    #[test]
    fn data_of_scattered_subflows_goes_at_random() {
        let (mut numbers, mut drawn) = (random(), random());
        let mut first = PathSelector::pinned([5, 6]).scattering(Subflows::First);
        for _ in 0..3 {
            let path = first.select(S[0], true, &mut drawn);
            assert_eq!((path.entropy, path.pinned), (numbers.next_u32(), false));
        }
        assert_eq!((first.select(S[1], true, &mut drawn).entropy, paths(&mut first)), (6, [(5, true), (6, true)]));
        let mut all = PathSelector::hashed(7).scattering(Subflows::All);
        assert_eq!(all.select(S[1], true, &mut drawn).entropy, numbers.next_u32());
        assert!(!Subflows::None.covers(S[0]));
    }

    /// Every packet of a subflow moves with PLB, away from congestion and after a timeout.
    #[test]
    fn plb_moves_a_subflow_that_stays_congested_or_times_out() {
        let config = PlbConfig { rounds: 1, idle_rounds: 1, congested: 0.5, suspend: Time::ZERO };
        let plb = || PathSelector::hashed(7).balanced(Some(&Balancing::Plb(config)), 2);
        let moved = |selector: &mut PathSelector| paths(selector).map(|(entropy, _)| entropy) != [7, 7 + 0x9e37_79b9];
        let mut congested = plb();
        assert!(!moved(&mut congested));
        for round in 1..4 {
            let progress = || Progress {
                acked_bytes: 100 * round,
                snd_una: 1 + 100 * round,
                snd_nxt: 1 + 100 * (round + 1),
                in_flight: 1,
            };
            congested.after_ack(S[1], true, progress, &mut random(), Time::from_us(round));
        }
        assert_eq!(paths(&mut congested)[0].0, 7);
        assert!(moved(&mut congested));
        let mut timed_out = plb();
        timed_out.on_timeout(S[0], &mut random(), Time::from_us(1));
        assert_ne!(paths(&mut timed_out)[0].0, 7);
    }

    /// Data recycles the entropies of unmarked ACKs; other packets keep the hash.
    #[test]
    fn reps_recycles_what_came_back_unmarked() {
        let reps = Balancing::Reps(RepsConfig { buffer: 4, freezing: Time::from_ms(1) });
        assert!(reps.echoes());
        let mut recycling = PathSelector::hashed(7).balanced(Some(&reps), 2);
        // The first packets of a window explore.
        recycling.before_ack(S[0], 11, true, || 1.0, Time::ZERO);
        recycling.before_ack(S[0], 12, false, || 1.0, Time::ZERO);
        let (mut drawn, mut numbers) = (random(), random());
        let taken = [(); 3].map(|()| recycling.select(S[0], true, &mut drawn).entropy);
        assert!(taken.contains(&12) && !taken.contains(&11), "{taken:?} {}", numbers.next_u32());
        assert_eq!(paths(&mut recycling), [(7, false), (7 + 0x9e37_79b9, false)]);
    }

    /// REPS uses again what ACKs return; PLB looks at the marks of a subflow only.
    #[test]
    fn only_reps_has_entropies_echoed() {
        let plb = Balancing::Plb(PlbConfig::defaults(Preset::Linux));
        let reps = Balancing::Reps(RepsConfig::defaults(Preset::Linux));
        assert_eq!([plb.echoes(), reps.echoes()], [false, true]);
    }
}
