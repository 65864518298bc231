//! Who sends to whom.

use crate::destination::{hotspot_pair, permutation, same_rack, staggered_destination, stride};
use crate::room::{matrix_across_racks, random_matrix};
use linkpool_engine::Stream;
use std::sync::Arc;

/// Who sends to whom.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    /// By which rule.
    pub rule: Rule,
    /// The rack and the pod of each host.
    pub places: Arc<[(u32, u32)]>,
    /// The hosts that send.
    pub senders: Senders,
}

/// Hosts that send: all, or those that are so marked.
#[derive(Clone, PartialEq, Debug)]
pub enum Senders {
    /// All hosts.
    All,
    /// Of every host: does it?
    Some(Arc<[bool]>),
}

impl Senders {
    fn contain(&self, host: u16) -> bool {
        match self {
            Senders::All => true,
            Senders::Some(hosts) => hosts[host as usize],
        }
    }
}

/// How hosts find those whom they send to.
#[derive(Clone, PartialEq, Debug)]
pub enum Rule {
    /// Every host sends to one other and receives from one, drawn at random.
    Permutation,
    /// Every host sends to one other, drawn at random.
    Random {
        /// Flows into a host at most; none: as chance has it.
        at_most: Option<u32>,
        /// Do none stay in their rack?
        other_racks: bool,
    },
    /// Host i sends to host i + step, round the end.
    Stride {
        /// From a host to the one that it sends to.
        step: u16,
    },
    /// Every host sends to every other.
    AllToAll,
    /// Flows that go to a few hosts more often than to others.
    Hotspot {
        /// Number of flows.
        flows: u32,
        /// The hosts that get more.
        hosts: Vec<u16>,
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
    /// The pairs of sender and receiver: those of all hosts, without those of hosts that do not send.
    pub fn draw(&self, random: &mut Stream) -> Vec<(u16, u16)> {
        let mut pairs = self.draw_all(random);
        pairs.retain(|(src, _)| self.senders.contain(*src));
        pairs
    }

    /// May a flow go from one host to another, as far as where they are goes?
    pub(crate) fn allows(&self, src: u16, dst: u16) -> bool {
        match self.rule {
            Rule::Random { other_racks: true, .. } => !same_rack(&self.places, src, dst),
            _ => src != dst,
        }
    }

    fn draw_all(&self, random: &mut Stream) -> Vec<(u16, u16)> {
        let hosts = self.places.len() as u16;
        let each = |to: Vec<u16>| (0..).zip(to).collect();
        match &self.rule {
            Rule::Permutation => each(permutation(hosts, random)),
            Rule::Random { at_most, other_racks: false } => {
                each(random_matrix(hosts, at_most.unwrap_or(u32::MAX), random))
            }
            Rule::Random { at_most, other_racks: true } => {
                each(matrix_across_racks(&self.places, at_most.unwrap_or(u32::MAX), random))
            }
            Rule::Stride { step } => each(stride(hosts, *step)),
            Rule::AllToAll => {
                let to = |src: u16| (0..hosts).filter(move |dst| *dst != src).map(move |dst| (src, dst));
                (0..hosts).flat_map(to).collect()
            }
            Rule::Hotspot { flows, hosts: hot, share } => {
                (0..*flows).map(|_| hotspot_pair(hosts, hot, *share, random)).collect()
            }
            Rule::Staggered { rack, pod } => {
                each((0..hosts).map(|src| staggered_destination(src, &self.places, (*rack, *pod), random)).collect())
            }
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
