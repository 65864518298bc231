//! Load balancing by the sender: the entropy value of each packet, which switches hash.

mod oblivious;

use oblivious::Oblivious;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a sender chooses entropy values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalancerKind {
    /// Each value once a round, whatever comes back.
    Oblivious,
}

/// What became of a packet with an entropy value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// It came whole and without a mark.
    Good,
    /// It came with a mark.
    Marked,
    /// It was trimmed.
    Trimmed,
}

/// The balancer of a sender.
#[derive(Debug)]
pub enum Balancer {
    /// Each value once a round.
    Oblivious(Oblivious),
}

impl Balancer {
    /// A balancer of this kind over `entropies` values, a power of two. `drawn` is a random
    /// number.
    pub fn new(kind: BalancerKind, entropies: u16, drawn: u32) -> Balancer {
        match kind {
            BalancerKind::Oblivious => Balancer::Oblivious(Oblivious::new(entropies, drawn)),
        }
    }

    /// The entropy value of the next packet. `random` draws a number below its argument.
    #[inline]
    pub fn next(&mut self, random: impl FnMut(u32) -> u32) -> u16 {
        match self {
            Balancer::Oblivious(rounds) => rounds.next(random),
        }
    }

    /// A packet with this entropy value had this fate.
    #[inline]
    pub fn on_feedback(&mut self, _entropy: u16, _feedback: Feedback) {
        match self {
            Balancer::Oblivious(_) => {}
        }
    }
}
