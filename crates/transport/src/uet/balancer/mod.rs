//! Load balancing by the sender: the entropy value of each packet, which switches hash.

mod bitmap;
mod clocked;
mod flowlets;
mod oblivious;
mod rehash;
mod reps;
mod rss;

use bitmap::Bitmap;
use clocked::Clocked;
use flowlets::Flowlets;
use linkpool_units::Time;
use oblivious::Oblivious;
use rehash::Rehash;
use reps::{Recycled, Reps};
use rss::Rss;
pub use rss::Section;
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
    /// One value, until a round has many marks.
    Flowbender,
    /// One value, until many rounds have many marks.
    Plb,
    /// One value, until a gap.
    Flowlets,
    /// A value for each subflow, the slowest of which gets another.
    Rss,
    /// The value of the ACK that lets a packet go.
    MpRdma,
}

impl BalancerKind {
    /// Does it move by rounds of marks?
    pub(super) fn rehashes(self) -> bool {
        matches!(self, BalancerKind::Flowbender | BalancerKind::Plb)
    }
}

/// The settings of balancers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spraying {
    /// Number of entropy values, a power of two.
    pub entropies: u16,
    /// REPS: the time after a timeout in which only remembered values are used.
    pub freezing: Time,
    /// Round-trip time of the network without load.
    pub base_rtt: Time,
    /// FlowBender, PLB: the share of marks above which a round is congested.
    pub rehash_above: f64,
    /// FlowBender, PLB: congested rounds in a row that change the value.
    pub rehash_after: u32,
    /// Flowlets: the gap that ends one.
    pub flowlet_gap: Time,
    /// Flowlets: gaps are those between ACKs, and so long a rest follows a change; none: between packets.
    pub flowlet_rest: Option<Time>,
    /// RSS: the number of subflows.
    pub rss_subflows: u16,
    /// RSS: the mean period.
    pub rss_period: Time,
    /// RSS: by how much the worst mean must be above the best, in best means.
    pub rss_margin: f64,
    /// RSS: is a subflow with a timeout the worst?
    pub rss_heeds_timeouts: bool,
    /// MP-RDMA: the chance that a packet takes a random value, once in a base RTT.
    pub mp_rdma_probe: f64,
}

#[cfg(test)]
impl Spraying {
    /// Over so many values, with a base RTT of 10 us.
    fn for_tests(entropies: u16) -> Spraying {
        let us = Time::from_us;
        Spraying {
            entropies,
            freezing: Time::from_ms(10),
            base_rtt: us(10),
            rehash_above: 0.5,
            rehash_after: 1,
            flowlet_gap: us(5),
            flowlet_rest: None,
            rss_subflows: 4,
            rss_period: us(15),
            rss_margin: 0.0,
            rss_heeds_timeouts: true,
            mp_rdma_probe: 0.0,
        }
    }
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
    /// One value, until its path is congested.
    Rehash(Box<Rehash>),
    /// One value, until a gap.
    Flowlets(Box<Flowlets>),
    /// A value for each subflow.
    Rss(Box<Rss>),
    /// The value of an ACK.
    Clocked(Box<Clocked>),
}

impl Balancer {
    /// A balancer of this kind. `drawn` is a random number.
    pub fn new(kind: BalancerKind, spraying: &Spraying, drawn: u32) -> Balancer {
        let Spraying { entropies, freezing, .. } = *spraying;
        let bitmap = || Bitmap::new(entropies, drawn);
        match kind {
            BalancerKind::Oblivious => Balancer::Oblivious(Oblivious::new(entropies, drawn)),
            BalancerKind::Bitmap => Balancer::Bitmap(Box::new(bitmap())),
            BalancerKind::Reps => Balancer::Reps(Box::new(Reps::new(entropies, freezing))),
            BalancerKind::RepsLegacy => Balancer::RepsLegacy(Box::new(Recycled::new(entropies))),
            BalancerKind::Mixed => Balancer::Mixed(Box::new((Recycled::new(entropies), bitmap()))),
            BalancerKind::Flowbender | BalancerKind::Plb => Balancer::Rehash(Box::new(Rehash::new(spraying, drawn))),
            BalancerKind::Flowlets => Balancer::Flowlets(Box::new(Flowlets::new(spraying, drawn))),
            BalancerKind::Rss => Balancer::Rss(Box::new(Rss::new(spraying, drawn))),
            BalancerKind::MpRdma => Balancer::Clocked(Box::new(Clocked::new(spraying))),
        }
    }

    /// The entropy value of packet `psn`, which is sent now; `sent` new packets were sent before it, and the
    /// window is of so many packets. `random` draws a number below its argument.
    #[inline]
    pub fn next(
        &mut self,
        (psn, sent): (u32, u32),
        (window, entropies): (f64, u16),
        now: Time,
        random: impl FnMut(u32) -> u32,
    ) -> u16 {
        match self {
            Balancer::Oblivious(rounds) => rounds.next(random),
            Balancer::Bitmap(bitmap) => bitmap.next(random),
            Balancer::Reps(reps) => reps.next(random),
            Balancer::RepsLegacy(back) => {
                let first_window = f64::from(sent) < window.floor().min(entropies.into());
                back.next(first_window, random)
            }
            Balancer::Mixed(both) => both.0.take().unwrap_or_else(|| both.1.next(random)),
            Balancer::Rehash(rehash) => rehash.next(random),
            Balancer::Flowlets(flowlets) => flowlets.next(now, random),
            Balancer::Rss(rss) => rss.next(psn, now, random),
            Balancer::Clocked(clocked) => clocked.next(now, random),
        }
    }

    /// RSS: the first PSN that the subflow of `psn` sends for the first time with its value; else 0.
    pub fn section(&self, psn: u32) -> u32 {
        if let Balancer::Rss(rss) = self { rss.section(psn) } else { 0 }
    }

    /// RSS: what a subflow has sent with the value that was taken from it last, once.
    pub fn take_ended(&mut self) -> Option<Section> {
        if let Balancer::Rss(rss) = self { rss.take_ended() } else { None }
    }

    /// A packet with this entropy value had this fate, and this round-trip time if it is known.
    #[inline]
    pub fn on_feedback(&mut self, entropy: u16, feedback: Feedback, rtt: Option<Time>, now: Time) {
        match self {
            Balancer::Oblivious(_) | Balancer::Clocked(_) => {}
            Balancer::Bitmap(bitmap) => bitmap.on_feedback(entropy, feedback),
            Balancer::Reps(reps) => reps.on_feedback(entropy, feedback, now),
            Balancer::RepsLegacy(back) => back.on_feedback(entropy, feedback),
            Balancer::Mixed(both) => {
                both.0.on_feedback(entropy, feedback);
                both.1.on_feedback(entropy, feedback);
            }
            Balancer::Rehash(rehash) => rehash.on_feedback(feedback, now),
            Balancer::Flowlets(flowlets) => flowlets.on_feedback(feedback, now),
            Balancer::Rss(rss) => rss.on_feedback(entropy, feedback, rtt),
        }
    }

    /// An ACK has come with this entropy value, after which the window has room for so many packets.
    #[inline]
    pub fn on_room(&mut self, entropy: u16, room: impl FnOnce() -> usize) {
        if let Balancer::Clocked(clocked) = self {
            clocked.on_ack(entropy, room());
        }
    }
}
