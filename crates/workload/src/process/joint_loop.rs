//! A closed loop of all hosts together: the next destination depends on all other flows.

use super::{Action, FlowEnd};
use crate::arrivals::jitter;
use crate::destination::hotspot_pair;
use crate::flow::Flow;
use crate::gaps::Gaps;
use crate::matrix::Matrix;
use crate::sizes::Sizes;
use linkpool_engine::Stream;
use linkpool_units::{HostId, Time};
use rand::Rng;

/// A closed loop of all hosts together: the destination of the next flow depends on all other
/// flows, for example if the number of flows into a host is limited (XMP, section 5.2.1, "Random").
#[derive(Clone, PartialEq, Debug)]
pub struct JointLoop {
    /// The first flows.
    pub matrix: Matrix,
    /// The rule for the flow that follows the end of a flow.
    pub redraw: Redraw,
    /// The size of each flow.
    pub size: Sizes,
    /// The first flows start at random, uniformly over this time.
    pub jitter: Time,
    /// Time between the end of a flow and the start of the next.
    pub gap: Gaps,
    /// Flows stop here.
    pub stop: Time,
    /// Number of the next flow.
    pub next: u32,
    /// Draws sizes and destinations.
    pub random: Stream,
}

/// The rule by which a [`JointLoop`] draws the flow that follows another.
#[derive(Clone, PartialEq, Debug)]
pub enum Redraw {
    /// From the same sender, to a host that has room; itself excepted.
    Room(Vec<u32>),
    /// Both sender and receiver are drawn again.
    Hotspot {
        /// Hosts of the network.
        hosts: usize,
        /// The hosts that get more flows.
        hot: Vec<HostId>,
        /// The share of flows that these hosts get.
        share: f64,
    },
}

impl JointLoop {
    pub(super) fn begin(&mut self, now: Time, out: &mut Vec<Action>) {
        for pair in self.matrix.draw(&mut self.random) {
            if let Redraw::Room(room) = &mut self.redraw {
                room[pair.1.index()] -= 1;
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
                room[flow.dst.index()] += 1;
                // The host whose flow has ended has room at least, and may be sent to.
                let matrix = &self.matrix;
                let open = HostId::first(room.len())
                    .zip(room.iter())
                    .filter(|(h, room)| **room > 0 && matrix.allows(flow.src, *h));
                let open: Vec<HostId> = open.map(|(h, _)| h).collect();
                let dst = open[self.random.random_range(0..open.len())];
                room[dst.index()] -= 1;
                (flow.src, dst)
            }
            Redraw::Hotspot { hosts, hot, share } => hotspot_pair(*hosts, hot, *share, &mut self.random),
        };
        let size = self.size.draw(&mut self.random);
        self.start(pair, size, at, out);
    }

    fn start(&mut self, pair: (HostId, HostId), size: u64, at: Time, out: &mut Vec<Action>) {
        out.push(Action::Start(self.next, Flow { stop: self.stop, ..Flow::new(pair, Some(size), at) }));
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Rule, Senders};
    use linkpool_engine::stream;

    fn scheduler(redraw: Redraw, other_racks: bool) -> JointLoop {
        let places = [(0, 0), (0, 0), (1, 0), (1, 0)].into();
        let rule = Rule::Random { at_most: Some(2), other_racks };
        JointLoop {
            matrix: Matrix { rule, places, senders: Senders::All },
            redraw,
            size: Sizes::Constant(2_000),
            jitter: Time::from_us(10),
            gap: Gaps::Constant(Time::from_us(50)),
            stop: Time::from_ms(1),
            next: 0,
            random: stream(1, "scheduler", 0),
        }
    }

    fn started(out: &mut Vec<Action>) -> Vec<(u32, Flow)> {
        let start = |action| match action {
            Action::Start(number, flow) => (number, flow),
            other => panic!("{other:?}"),
        };
        out.drain(..).map(start).collect()
    }

    /// Each flow that ends gives its receiver's room back, and the next of the same sender takes
    /// that of another: at no time do more than two flows go to one host, and with eight places for
    /// four flows every host is drawn.
    #[test]
    fn no_host_gets_more_flows_than_it_has_room_for() {
        for other_racks in [false, true] {
            let mut process = scheduler(Redraw::Room(vec![2; 4]), other_racks);
            let (mut out, mut running, mut number) = (Vec::new(), Vec::new(), 0);
            process.begin(Time::from_us(100), &mut out);
            let mut drawn = [0; 4];
            for turn in 0..400 {
                let now = Time::from_us(100 + 100 * turn);
                for (n, flow) in started(&mut out) {
                    assert_eq!(n, number);
                    number += 1;
                    let least = if turn == 0 { now } else { now - Time::from_us(50) };
                    assert!(flow.start >= least && flow.start <= least + Time::from_us(10));
                    let pair = (flow.src, flow.dst);
                    assert_eq!(flow, Flow { stop: Time::from_ms(1), ..Flow::new(pair, Some(2_000), flow.start) });
                    assert!(
                        if other_racks { flow.src.index() / 2 != flow.dst.index() / 2 } else { flow.src != flow.dst },
                        "{flow:?}"
                    );
                    drawn[flow.dst.index()] += 1;
                    running.push((n, flow));
                }
                let Redraw::Room(room) = &process.redraw else { unreachable!() };
                let to = |host| running.iter().filter(|(_, flow)| flow.dst.index() == host).count() as u32;
                assert_eq!(*room, [0, 1, 2, 3].map(|host| 2 - to(host)));
                let mut senders: Vec<usize> = running.iter().map(|(_, flow)| flow.src.index()).collect();
                senders.sort_unstable();
                assert_eq!(senders, [0, 1, 2, 3]);
                let (ended, flow) = running.remove(turn as usize % 4);
                let end = FlowEnd { number: ended, src: flow.src, dst: flow.dst, at: now };
                process.on_end(end, now, &mut out);
            }
            assert!(drawn.iter().all(|n| *n > 50), "{drawn:?}");
        }
    }

    /// All flows go to host 3, from any other.
    #[test]
    fn a_hotspot_is_drawn_anew_with_its_sender() {
        let mut process = scheduler(Redraw::Hotspot { hosts: 4, hot: vec![HostId::new(3)], share: 1.0 }, false);
        let mut out = Vec::new();
        let end = FlowEnd { number: 0, src: HostId::new(1), dst: HostId::new(2), at: Time::from_us(200) };
        (0..100).for_each(|_| process.on_end(end, end.at, &mut out));
        let mut senders: Vec<usize> = started(&mut out)
            .iter()
            .map(|(_, flow)| (flow.dst.index(), flow.src.index()))
            .map(|(dst, src)| {
                assert_eq!(dst, 3);
                src
            })
            .collect();
        senders.sort_unstable();
        senders.dedup();
        assert_eq!(senders, [0, 1, 2]);
    }
}
