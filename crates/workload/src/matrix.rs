//! Traffic matrices: the pairs of senders and receivers.

use crate::destination::{hotspot_pair, permutation, same_rack, staggered_destination, stride};
use crate::room::{matrix_across_racks, random_matrix};
use linkpool_engine::Stream;
use linkpool_units::HostId;
use std::sync::Arc;

/// A traffic matrix.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    /// By which rule.
    pub rule: Rule,
    /// The rack and the pod of each host.
    pub places: Arc<[(u32, u32)]>,
    /// The hosts that send.
    pub senders: Senders,
}

/// Hosts that send: all, or the marked ones.
#[derive(Clone, PartialEq, Debug)]
pub enum Senders {
    /// All hosts.
    All,
    /// By host: does it send?
    Some(Arc<[bool]>),
}

impl Senders {
    fn contain(&self, host: HostId) -> bool {
        match self {
            Senders::All => true,
            Senders::Some(hosts) => hosts[host.index()],
        }
    }
}

/// How hosts choose their destinations.
#[derive(Clone, PartialEq, Debug)]
pub enum Rule {
    /// Every host sends to one other and receives from one, drawn at random.
    Permutation,
    /// Every host sends to one other, drawn at random.
    Random {
        /// The most flows into a host; `None`: no limit.
        at_most: Option<u32>,
        /// Do none stay in their rack?
        other_racks: bool,
    },
    /// Host i sends to host i + step, round the end.
    Stride {
        /// From a host to the one that it sends to.
        step: u32,
    },
    /// Every host sends to every other.
    AllToAll,
    /// Flows that go to a few hosts more often than to others.
    Hotspot {
        /// Number of flows.
        flows: u32,
        /// The hosts that get more.
        hosts: Vec<HostId>,
        /// The share of flows that go to them.
        share: f64,
    },
    /// Every host sends to one other, some within their racks, some within their pods.
    Staggered {
        /// The share of flows that stay in their rack.
        rack: f64,
        /// The share of flows that leave their rack and stay in their pod.
        pod: f64,
    },
}

impl Matrix {
    /// The pairs of sender and receiver, without pairs of hosts that do not send.
    pub fn draw(&self, random: &mut Stream) -> Vec<(HostId, HostId)> {
        let mut pairs = self.draw_all(random);
        pairs.retain(|(src, _)| self.senders.contain(*src));
        pairs
    }

    /// May a flow go from one host to another, as far as where they are goes?
    pub(crate) fn allows(&self, src: HostId, dst: HostId) -> bool {
        match self.rule {
            Rule::Random { other_racks: true, .. } => !same_rack(&self.places, src, dst),
            _ => src != dst,
        }
    }

    fn draw_all(&self, random: &mut Stream) -> Vec<(HostId, HostId)> {
        let hosts = self.places.len();
        let each = |to: Vec<HostId>| HostId::first(hosts).zip(to).collect();
        match &self.rule {
            Rule::Permutation => each(permutation(hosts, random)),
            Rule::Random { at_most, other_racks: false } => {
                each(random_matrix(hosts, at_most.unwrap_or(u32::MAX), random))
            }
            Rule::Random { at_most, other_racks: true } => {
                each(matrix_across_racks(&self.places, at_most.unwrap_or(u32::MAX), random))
            }
            Rule::Stride { step } => each(stride(hosts, *step as usize)),
            Rule::AllToAll => {
                let to = |src| HostId::first(hosts).filter(move |dst| *dst != src).map(move |dst| (src, dst));
                HostId::first(hosts).flat_map(to).collect()
            }
            Rule::Hotspot { flows, hosts: hot, share } => {
                (0..*flows).map(|_| hotspot_pair(hosts, hot, *share, random)).collect()
            }
            Rule::Staggered { rack, pod } => each(
                HostId::first(hosts)
                    .map(|src| staggered_destination(src, &self.places, (*rack, *pod), random))
                    .collect(),
            ),
        }
    }
}

impl Rule {
    /// Its name, as scenarios write it.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::Permutation => "permutation",
            Rule::Random { .. } => "random",
            Rule::Stride { .. } => "stride",
            Rule::AllToAll => "all-to-all",
            Rule::Hotspot { .. } => "hotspot",
            Rule::Staggered { .. } => "staggered",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    fn draw(rule: Rule, senders: Senders) -> Vec<(usize, usize)> {
        // Two pods of two racks of two hosts.
        let places = (0..8).map(|host| (host / 2, host / 4)).collect();
        let pairs = Matrix { rule, places, senders }.draw(&mut stream(5, "matrix", 0));
        pairs.into_iter().map(|(src, dst)| (src.index(), dst.index())).collect()
    }

    const STRIDE: [(usize, usize); 8] = [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7), (5, 0), (6, 1), (7, 2)];

    #[test]
    fn each_rule_draws_its_pairs() {
        let random = |other_racks| Rule::Random { at_most: Some(1), other_racks };
        let staggered = Rule::Staggered { rack: 0.0, pod: 1.0 };
        for rule in [Rule::Permutation, random(false), random(true), Rule::Stride { step: 3 }, staggered.clone()] {
            let pairs = draw(rule.clone(), Senders::All);
            let senders: Vec<usize> = pairs.iter().map(|(src, _)| *src).collect();
            assert_eq!(senders, [0, 1, 2, 3, 4, 5, 6, 7], "{rule:?}");
            assert!(pairs.iter().all(|(src, dst)| src != dst && *dst < 8), "{rule:?}: {pairs:?}");
            if rule == random(true) {
                assert!(pairs.iter().all(|(src, dst)| src / 2 != dst / 2), "{pairs:?}");
            }
            if rule == staggered {
                assert!(pairs.iter().all(|(src, dst)| src / 4 == dst / 4 && src / 2 != dst / 2), "{pairs:?}");
            }
        }
        assert_eq!(draw(Rule::Stride { step: 3 }, Senders::All), STRIDE);
        let all = draw(Rule::AllToAll, Senders::All);
        assert_eq!((all.len(), all[0], all[55]), (56, (0, 1), (7, 6)));
        assert!(all.iter().all(|(src, dst)| src != dst) && all.is_sorted());
        let hot = draw(Rule::Hotspot { flows: 20, hosts: vec![HostId::new(4)], share: 1.0 }, Senders::All);
        assert_eq!((hot.len(), hot.iter().filter(|(_, dst)| *dst == 4).count()), (20, 20));
    }

    #[test]
    fn hosts_that_do_not_send_do_not() {
        let some = [false, true, true, false, false, false, false, true].into();
        assert_eq!(draw(Rule::Stride { step: 3 }, Senders::Some(some)), [(1, 4), (2, 5), (7, 2)]);
    }

    #[test]
    fn flows_are_allowed_where_the_rule_says() {
        let places: Arc<[(u32, u32)]> = [(0, 0), (0, 0), (1, 0)].into();
        for (other_racks, allowed) in [(true, [false, false, true]), (false, [false, true, true])] {
            let rule = Rule::Random { at_most: None, other_racks };
            let matrix = Matrix { rule, places: places.clone(), senders: Senders::All };
            assert_eq!([0, 1, 2].map(|dst| matrix.allows(HostId::new(0), HostId::new(dst))), allowed);
        }
    }

    #[test]
    fn rules_have_their_names() {
        let random = Rule::Random { at_most: None, other_racks: false };
        let hotspot = Rule::Hotspot { flows: 1, hosts: vec![HostId::new(0)], share: 0.5 };
        let staggered = Rule::Staggered { rack: 0.5, pod: 0.5 };
        let rules = [Rule::Permutation, random, Rule::Stride { step: 1 }, Rule::AllToAll, hotspot, staggered];
        let names = ["permutation", "random", "stride", "all-to-all", "hotspot", "staggered"];
        assert_eq!(rules.map(|rule| rule.name()), names);
    }
}
