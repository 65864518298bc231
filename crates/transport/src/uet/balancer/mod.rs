//! Load balancing by the sender: the entropy value of each packet, which switches hash.

mod bitmap;
mod oblivious;
mod reps;

use bitmap::Bitmap;
use linkpool_units::Time;
use oblivious::Oblivious;
use reps::{Recycled, Reps};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a sender chooses entropy values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalancerKind {
    /// Each value once a round, whatever comes back.
    Oblivious,
    /// The same, but for values with a penalty.
    Bitmap,
    /// The last values that came back without a mark, or a random one.
    Reps,
    /// All values that came back without a mark, or a random one.
    RepsLegacy,
    /// All values that came back without a mark, or those of `Bitmap`.
    Mixed,
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
    /// It had no answer in time.
    Lost,
}

/// The balancer of a sender.
#[derive(Debug)]
pub enum Balancer {
    /// Each value once a round.
    Oblivious(Oblivious),
    /// The same, but for values with a penalty.
    Bitmap(Box<Bitmap>),
    /// The last values that came back.
    Reps(Box<Reps>),
    /// All values that came back.
    RepsLegacy(Box<Recycled>),
    /// All values that came back, and those without a penalty.
    Mixed(Box<(Recycled, Bitmap)>),
}

impl Balancer {
    /// A balancer of this kind over `entropies` values, a power of two. `drawn` is a random number; `trims`:
    /// switches trim, so that a timeout means that a path has failed.
    pub fn new(kind: BalancerKind, entropies: u16, trims: bool, drawn: u32) -> Balancer {
        let bitmap = || Bitmap::new(entropies, drawn);
        match kind {
            BalancerKind::Oblivious => Balancer::Oblivious(Oblivious::new(entropies, drawn)),
            BalancerKind::Bitmap => Balancer::Bitmap(Box::new(bitmap())),
            BalancerKind::Reps => Balancer::Reps(Box::new(Reps::new(entropies, trims))),
            BalancerKind::RepsLegacy => Balancer::RepsLegacy(Box::new(Recycled::new(entropies))),
            BalancerKind::Mixed => Balancer::Mixed(Box::new((Recycled::new(entropies), bitmap()))),
        }
    }

    /// The entropy value of the next packet, before which `sent` new ones were sent, with a window of so
    /// many packets. `random` draws a number below its argument.
    #[inline]
    pub fn next(&mut self, sent: u32, window: f64, entropies: u16, random: impl FnMut(u32) -> u32) -> u16 {
        match self {
            Balancer::Oblivious(rounds) => rounds.next(random),
            Balancer::Bitmap(bitmap) => bitmap.next(random),
            Balancer::Reps(reps) => reps.next(random),
            Balancer::RepsLegacy(back) => {
                let first_window = f64::from(sent) < window.floor().min(entropies.into());
                back.next(first_window, random)
            }
            Balancer::Mixed(both) => both.0.take().unwrap_or_else(|| both.1.next(random)),
        }
    }

    /// A packet with this entropy value had this fate.
    #[inline]
    pub fn on_feedback(&mut self, entropy: u16, feedback: Feedback, now: Time) {
        match self {
            Balancer::Oblivious(_) => {}
            Balancer::Bitmap(bitmap) => bitmap.on_feedback(entropy, feedback),
            Balancer::Reps(reps) => reps.on_feedback(entropy, feedback, now),
            Balancer::RepsLegacy(back) => back.on_feedback(entropy, feedback),
            Balancer::Mixed(both) => {
                both.0.on_feedback(entropy, feedback);
                both.1.on_feedback(entropy, feedback);
            }
        }
    }
}
