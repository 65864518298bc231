//! Closed loops: the end of a flow starts the next.

use super::Action;
use crate::destination::{random_in_other_rack, random_other, staggered_destination};
use crate::flow::Flow;
use crate::gaps::Gaps;
use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_units::{HostId, Time};
use std::sync::Arc;

/// Flows of one host, each started by the end of the one before it.
#[derive(Clone, PartialEq, Debug)]
pub struct ClosedLoop {
    /// The receivers of its flows.
    pub to: Destinations,
    /// The size of each flow.
    pub size: Sizes,
    /// Time between the end of a flow and the start of the next.
    pub gap: Gaps,
    /// Flows stop here.
    pub stop: Time,
    /// Number of the next flow.
    pub next: u32,
    /// Draws sizes and destinations.
    pub random: Stream,
}

/// The rule for the destination of each flow of a host.
#[derive(Clone, PartialEq, Debug)]
pub enum Destinations {
    /// All go to this host.
    Fixed(HostId),
    /// Any other of this many hosts.
    Uniform(usize),
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
    fn draw(&self, src: HostId, random: &mut Stream) -> HostId {
        match self {
            Destinations::Fixed(dst) => *dst,
            Destinations::Uniform(hosts) => random_other(*hosts, src, random),
            Destinations::OtherRacks(places) => random_in_other_rack(src, places, random),
            Destinations::Staggered { places, shares } => staggered_destination(src, places, *shares, random),
        }
    }
}

impl ClosedLoop {
    pub(super) fn begin(&mut self, src: HostId, now: Time, out: &mut Vec<Action>) {
        let dst = self.to.draw(src, &mut self.random);
        let size = Some(self.size.draw(&mut self.random));
        out.push(Action::Start(self.next, Flow { stop: self.stop, ..Flow::new((src, dst), size, now) }));
        self.next += 1;
    }

    pub(super) fn on_end(&mut self, src: HostId, now: Time, out: &mut Vec<Action>) {
        let at = now + self.gap.draw(&mut self.random);
        self.begin(src, at, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    fn closed_loop(to: Destinations) -> ClosedLoop {
        ClosedLoop {
            to,
            size: Sizes::Constant(70_000),
            gap: Gaps::Constant(Time::from_us(5)),
            stop: Time::from_ms(9),
            next: 0,
            random: stream(1, "closed loop", 0),
        }
    }

    #[test]
    fn a_flow_begins_the_gap_after_the_end_of_the_one_before() {
        let [src, dst] = [3, 7].map(HostId::new);
        let (mut process, mut out) = (closed_loop(Destinations::Fixed(dst)), Vec::new());
        process.begin(src, Time::from_us(100), &mut out);
        process.on_end(src, Time::from_us(200), &mut out);
        process.on_end(src, Time::from_us(300), &mut out);
        let flow = |at| Flow { stop: Time::from_ms(9), ..Flow::new((src, dst), Some(70_000), Time::from_us(at)) };
        assert_eq!(out, [Action::Start(0, flow(100)), Action::Start(1, flow(205)), Action::Start(2, flow(305))]);
    }

    /// Of two racks with two hosts each, host 1 reaches: any other; the other rack; its own rack.
    #[test]
    fn destinations_are_those_that_the_rule_allows() {
        let places: Arc<[(u32, u32)]> = [(0, 0), (0, 0), (1, 0), (1, 0)].into();
        let shares = (1.0, 0.0);
        for (to, allowed) in [
            (Destinations::Uniform(4), vec![0, 2, 3]),
            (Destinations::OtherRacks(places.clone()), vec![2, 3]),
            (Destinations::Staggered { places, shares }, vec![0]),
        ] {
            let mut random = stream(2, "destinations", 0);
            let mut found: Vec<usize> = (0..200).map(|_| to.draw(HostId::new(1), &mut random).index()).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, allowed, "{to:?}");
        }
    }
}
