use super::Action;
use crate::destination::{random_in_other_rack, random_other, staggered_destination};
use crate::flow::Flow;
use crate::gaps::Gaps;
use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_units::Time;
use std::sync::Arc;

/// Flows of one host, each started by the end of the one before it.
#[derive(Clone, PartialEq, Debug)]
pub struct ClosedLoop {
    /// Where they go.
    pub to: Destinations,
    /// Of each flow.
    pub size: Sizes,
    /// From the end of a flow to the start of the next.
    pub gap: Gaps,
    /// Flows stop here.
    pub stop: Time,
    /// Number of the next flow.
    pub next: u32,
    /// Of what is drawn.
    pub random: Stream,
}

/// How each flow of a host finds its destination.
#[derive(Clone, PartialEq, Debug)]
pub enum Destinations {
    /// All go to this host.
    Fixed(u16),
    /// Any other of so many hosts.
    Uniform(u16),
    /// Any host of another rack; these are the rack and the pod of each host.
    OtherRacks(Arc<[(u32, u32)]>),
    /// `staggered_destination`.
    Staggered {
        /// Rack and pod of each host.
        places: Arc<[(u32, u32)]>,
        /// Shares that stay in the rack, and in the pod.
        shares: (f64, f64),
    },
}

impl Destinations {
    fn draw(&self, src: u16, random: &mut Stream) -> u16 {
        match self {
            Destinations::Fixed(dst) => *dst,
            Destinations::Uniform(hosts) => random_other(*hosts, src, random),
            Destinations::OtherRacks(places) => random_in_other_rack(src, places, random),
            Destinations::Staggered { places, shares } => staggered_destination(src, places, *shares, random),
        }
    }
}

impl ClosedLoop {
    pub(super) fn begin(&mut self, src: u16, now: Time, out: &mut Vec<Action>) {
        let dst = self.to.draw(src, &mut self.random);
        let size = Some(self.size.draw(&mut self.random));
        out.push(Action::Start(self.next, Flow { stop: self.stop, ..Flow::new((src, dst), size, now) }));
        self.next += 1;
    }

    pub(super) fn on_end(&mut self, src: u16, now: Time, out: &mut Vec<Action>) {
        let at = now + self.gap.draw(&mut self.random);
        self.begin(src, at, out);
    }
}
