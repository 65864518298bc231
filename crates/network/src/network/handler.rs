//! The interface of hosts to the network.

use super::egress::Egress;
use crate::fabric::{LinkId, NodeId};
use crate::packet::{Packet, Trailer};
use crate::pauses::PauseChange;
use crate::telemetry::Written;
use linkpool_units::Time;

/// The hosts on the network: a handler gets the packets that reach hosts, and timers of any node.
pub trait Handler {
    /// Messages between hosts without a packet, for example of a scheduler; `()` if there are none.
    type Message: Send;
    /// `packet` has reached `host`.
    fn on_packet(&mut self, host: NodeId, now: Time, packet: &Packet, out: &mut Egress);
    /// A timer of `node` is due: [`Handler::next_timer`] said `now`. It must say something later
    /// afterwards, or more of the same instant until all is done.
    fn on_timer(&mut self, node: NodeId, now: Time, out: &mut Egress);
    /// When `node` next wants to be woken; [`Time::MAX`]: not at all.
    fn next_timer(&self, node: NodeId) -> Time;
    /// About the bytes of all endpoints. Where they are few, [`Handler::prefetch`] is not called.
    fn endpoint_bytes(&self) -> usize {
        0
    }
    /// `host` will run soon: a chance to prefetch the memory that [`Handler::next_timer`] and
    /// [`Handler::prefetch`] will read.
    fn prefetch_host(&self, _host: NodeId) {}
    /// A host will get `packet` soon: a chance to prefetch the memory that [`Handler::on_packet`] will read. It is called with
    /// `stage` 1, 2, 3 and 4, and for other packets in between: a stage follows the pointers that the one before it has fetched.
    fn prefetch(&self, _packet: &Packet, _stage: usize) {}
    /// Takes one of the messages to hosts, whichever partition runs them: the host, the time, the
    /// message. As a packet does, a message takes at least [`crate::Network::lookahead`]; the
    /// messages of one window come in any order.
    fn take_message(&mut self) -> Option<(NodeId, Time, Self::Message)> {
        None
    }
    /// May [`Handler::take_message`] return a message to a host that another partition runs? If so, partitions meet in each
    /// window.
    fn sends_messages(&self) -> bool {
        true
    }
    /// `message` reaches `host` at `at`, which is later than all that it has seen.
    fn on_message(&mut self, _host: NodeId, _at: Time, _message: Self::Message) {}
    /// `packet` will come through `link`, which has a tap ([`crate::Network::tap`]), at
    /// `packet.arrival`, in the window that is about to run. The packets of a link come in order. `written`: what ports
    /// have written on it so far, or on the packet of which it tells.
    fn on_passing(&mut self, _link: LinkId, _packet: &Packet, _trailer: Option<&Trailer>, _written: Written<'_>) {}
    /// What neighbours have told a port has changed something, in the window that has just run. It is told where it is kept
    /// ([`crate::Network::keep_pauses`]), in no order within a window.
    fn on_pause(&mut self, _change: &PauseChange) {}
    /// Must progress be reported now, so that records are taken?
    fn is_full(&self) -> bool {
        false
    }
    /// Progress towards the goal: the run ends when all partitions together have reached it.
    fn done(&self) -> u64 {
        0
    }
}
