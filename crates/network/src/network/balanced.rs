//! What switches do with packets where a balancer chooses, compiled for each kind of balancer.

use super::egress::Egress;
use super::order::{Arrivals, NONE, Step};
use crate::balancer::{Balancer, MakeOf};
use crate::fabric::LinkId;
use crate::in_flight::Incoming;

/// A balancer with the loops over packets that ask it.
pub(super) trait Balanced: Balancer {
    /// Routes the packets that wait for it. It needs those of each switch in order. If it sees queues, packets that join these
    /// are queued at once.
    fn route(&mut self, undecided: Undecided<'_>);

    /// The link that a packet takes, which has come to a switch.
    fn next_link(&mut self, egress: &mut Egress, incoming: &mut Incoming) -> LinkId;
}

/// The packets of a window that wait for a balancer, and what is needed to route and to queue them.
pub(super) struct Undecided<'a> {
    pub(super) numbers: &'a [u32],
    pub(super) arrivals: &'a mut Arrivals,
    pub(super) egress: &'a mut Egress,
    /// By node: the latest of the packets that wait and come to it.
    pub(super) latest: &'a mut [u32],
    /// By link: the latest of the packets that take it.
    pub(super) latest_on: &'a mut [u32],
    /// Does the balancer see queues?
    pub(super) sees_queues: bool,
}

/// Makes a [`Balanced`] of a balancer.
pub(super) struct MakeBalanced;

impl MakeOf for MakeBalanced {
    type Made = Box<dyn Balanced>;

    fn of<B: Balancer + 'static>(self, balancer: B) -> Box<dyn Balanced> {
        Box::new(balancer)
    }
}

impl<B: Balancer> Balanced for B {
    fn route(&mut self, undecided: Undecided<'_>) {
        let Undecided { numbers, arrivals, egress, latest, latest_on, sees_queues } = undecided;
        let Arrivals { packets, steps, order, .. } = arrivals;
        for latest_number in numbers.iter().copied() {
            let latest = &mut latest[packets[latest_number as usize].node.index()];
            if *latest != latest_number {
                continue; // it is routed with the latest of its chain
            }
            *latest = NONE;
            let alone = [(packets[latest_number as usize].packet.arrival, latest_number)];
            let is_alone = steps[latest_number as usize].before == NONE;
            let chain = if is_alone { &alone[..] } else { order.of(packets, steps, latest_number) };
            for (_, number) in chain.iter().rev() {
                let (incoming, step) = (&mut packets[*number as usize], &mut steps[*number as usize]);
                let has_way = step.link != LinkId::NONE;
                if sees_queues {
                    if !has_way {
                        step.link = link_of(self, egress, incoming);
                    }
                    egress.show(self, incoming, step.link);
                    egress.enqueue(step.link, incoming.packet.arrival, &incoming.packet);
                } else {
                    // Only packets without a way wait where no queue is seen.
                    let link = link_of(self, egress, incoming);
                    *step = Step { link, before: std::mem::replace(&mut latest_on[link.index()], *number) };
                }
            }
        }
    }

    fn next_link(&mut self, egress: &mut Egress, incoming: &mut Incoming) -> LinkId {
        let link = link_of(self, egress, incoming);
        egress.show(self, incoming, link);
        link
    }
}

/// The link that a packet takes, as `balancer` chooses or steers.
#[inline(always)]
fn link_of<B: Balancer>(balancer: &mut B, egress: &mut Egress, incoming: &mut Incoming) -> LinkId {
    if balancer.steers() { egress.steer(balancer, incoming) } else { egress.choose(balancer, incoming) }
}
