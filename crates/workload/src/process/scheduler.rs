use super::{Action, FlowEnd};
use crate::arrivals::jitter;
use crate::destination::hotspot_pair;
use crate::flow::Flow;
use crate::gaps::Gaps;
use crate::matrix::Matrix;
use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_units::Time;
use rand::Rng;

/// A closed loop over the whole network: where the next flow goes depends on all others, as where at most so many may go
/// into a host (XMP, section 5.2.1, "Random").
#[derive(Clone, PartialEq, Debug)]
pub struct Scheduler {
    /// The first flows.
    pub matrix: Matrix,
    /// What follows the end of a flow.
    pub redraw: Redraw,
    /// Of each flow.
    pub size: Sizes,
    /// Starts of the first flows are uniform over this.
    pub jitter: Time,
    /// From the end of a flow to the start of the next.
    pub gap: Gaps,
    /// Flows stop here.
    pub stop: Time,
    /// Number of the next flow.
    pub next: u32,
    /// Of what is drawn.
    pub random: Stream,
}

/// How a [`Scheduler`] draws the flow that follows another.
#[derive(Clone, PartialEq, Debug)]
pub enum Redraw {
    /// From the same sender, to a host that has room; itself excepted.
    Room(Vec<u32>),
    /// Sender and receiver anew.
    Hotspot {
        /// Hosts of the network.
        hosts: u16,
        /// Those that get more.
        hot: Vec<u16>,
        /// The share of flows that they get.
        share: f64,
    },
}

impl Scheduler {
    pub(super) fn begin(&mut self, now: Time, out: &mut Vec<Action>) {
        for pair in self.matrix.draw(&mut self.random) {
            if let Redraw::Room(room) = &mut self.redraw {
                room[pair.1 as usize] -= 1;
            }
            let size = self.size.draw(&mut self.random);
            let at = now + jitter(self.jitter, &mut self.random);
            self.start(pair, size, at, out);
        }
    }

    pub(super) fn on_end(&mut self, flow: FlowEnd, now: Time, out: &mut Vec<Action>) {
        let at = now + self.gap.draw(&mut self.random);
        let pair = match &mut self.redraw {
            Redraw::Room(room) => {
                room[flow.dst as usize] += 1;
                // The host whose flow has ended has room at least, and may be sent to.
                let matrix = &self.matrix;
                let open = (0..).zip(room.iter()).filter(|(h, room)| **room > 0 && matrix.allows(flow.src, *h));
                let open: Vec<u16> = open.map(|(h, _)| h).collect();
                let dst = open[self.random.random_range(0..open.len())];
                room[dst as usize] -= 1;
                (flow.src, dst)
            }
            Redraw::Hotspot { hosts, hot, share } => hotspot_pair(*hosts, hot, *share, &mut self.random),
        };
        let size = self.size.draw(&mut self.random);
        self.start(pair, size, at, out);
    }

    fn start(&mut self, pair: (u16, u16), size: u64, at: Time, out: &mut Vec<Action>) {
        out.push(Action::Start(self.next, Flow { stop: self.stop, ..Flow::new(pair, Some(size), at) }));
        self.next += 1;
    }
}
