//! The interface for families of transports: an endpoint lives on a host, takes packets and
//! wake-ups, and answers with packets.
//!
//! A family is a type for each end, [`Sending`] and [`Receiving`], in a file of its own, its
//! declaration, and a line in `families!` ([`crate::host::family`]). Dispatch is static. A family
//! reports measures of its own by name, see [`Sending::metrics`].

use crate::host::connection::Connection;
use crate::host::io::Io;
use crate::host::rtts::RttRecorder;
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Kind, Packet};
use linkpool_transport::control::HookError;
use linkpool_transport::paths::PathSelector;
use linkpool_transport::{Metric, SenderState, SubflowId};
use linkpool_units::Time;
use serde::Serialize;
use std::fmt::Debug;

/// The state of an endpoint after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// It goes on.
    None,
    /// At a receiver: all data has arrived, for the first time.
    Delivered,
    /// At either end of a connection that stays open: messages may have been acknowledged or
    /// delivered.
    Progress,
    /// The endpoint is done, and may be forgotten.
    Closed,
}

/// What keeps a sender from sending, where its family tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsOn {
    /// Its rate.
    Rate,
    /// Its window.
    Window,
    /// Credit of its receiver.
    Credit,
    /// Its turn at the port of its host.
    Turn,
    /// The adapter of its host, which a message passes, or which is busy with a packet.
    Adapter,
    /// A pause of that port, while it has its turn.
    Pause,
    /// ACKs, as all is sent.
    Acks,
}

/// One end of a connection.
pub(crate) trait Endpoint: Debug {
    /// `packet` has arrived on `subflow`.
    fn on_packet(&mut self, subflow: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event;
    /// A wake-up for `subflow` is due. A wake-up that the endpoint did not ask for must do no harm.
    fn on_timer(&mut self, subflow: SubflowId, io: &mut Io<'_>) -> Event;
    /// The turn that the endpoint asked for has come ([`Io::queue_turn`]). It uses the turn with
    /// [`Io::spend_turn`], or leaves it to the next endpoint.
    fn on_turn(&mut self, _io: &mut Io<'_>) -> Event {
        Event::None
    }
    /// Prefetches the memory that a packet of `subflow` of this `kind` will touch, in stages 1 and 2. The later
    /// stage may follow the pointers that the earlier one fetched. The endpoint itself is in the
    /// cache by then.
    fn prefetch(&self, _subflow: SubflowId, _kind: Kind, _stage: usize) {}
}

/// The end that has data to send.
pub(crate) trait Sending: Endpoint {
    /// Opens the connection.
    fn open(&mut self, io: &mut Io<'_>);
    /// Adds a message of `size` bytes to a connection that stays open.
    fn extend(&mut self, _size: u64, _io: &mut Io<'_>) {
        unreachable!("connections of this family do not stay open: the scenario is checked")
    }
    /// Sends no new data from now on; the endpoint closes when all data sent is acknowledged.
    fn stop(&mut self, io: &mut Io<'_>) -> Event;
    /// The state of the connection.
    fn state(&self) -> SenderState;
    /// The time at which it was opened.
    fn started(&self) -> Time;
    /// The time at which its last data was acknowledged, or at which it was given up.
    fn ended(&self) -> Option<Time>;
    /// Payload acknowledged, bytes.
    fn acked(&self) -> u64;
    /// Where the data must end that the receiver's window lets it send, in bytes of the stream; none: anywhere.
    fn offered(&self) -> Option<u64> {
        None
    }
    /// Number of subflows, established or not.
    fn subflows(&self) -> usize;
    /// Payload acknowledged on subflow `s`, bytes.
    fn acked_on(&self, s: SubflowId) -> u64;
    /// The outcome of subflow `s` so far.
    fn subflow(&self, s: SubflowId) -> SubflowOutcome;
    /// Is the handshake of subflow `s` done, and has it not failed?
    fn is_established(&self, s: SubflowId) -> bool;
    /// Does the congestion control algorithm keep subflow `s` from sending new data?
    fn is_suppressed(&self, _s: SubflowId) -> bool {
        false
    }
    /// Does only the time of its next packet keep subflow `s` from sending?
    fn is_paced(&self, _s: SubflowId) -> bool {
        false
    }
    /// Is subflow `s` in fast recovery?
    fn is_recovering(&self, _s: SubflowId) -> bool {
        false
    }
    /// What keeps it from sending, after an event.
    fn waits(&self) -> Option<WaitsOn> {
        None
    }
    /// Reports the measures of the family, each by its name in the results.
    fn metrics(&self, _report: &mut dyn FnMut(Metric)) {}
    /// The error of a hook of its algorithm, if there is one. It ends the run.
    fn hook_error(&self) -> Option<&HookError> {
        None
    }
    /// There are so many switches on the path of each subflow.
    fn know_hops(&mut self, _hops: &[u32]) {}
    /// Its end of the connection.
    fn connection(&self) -> &Connection;
    /// The packets sent that may open the connection, but for those that switches have sent back, if
    /// its host tells the receiver's host of its end. `None`: a packet tells the receiver.
    fn openings(&self) -> Option<u32> {
        None
    }
    /// Takes these fixed paths from now on.
    fn take_paths(&mut self, paths: PathSelector);
    /// Records its round-trip times with `recorder` from now on.
    fn record_rtts(&mut self, recorder: Box<RttRecorder>);
}

/// The end that receives data.
pub(crate) trait Receiving: Endpoint {
    /// The time at which the last packet of the sender arrived.
    fn last_heard(&self) -> Time;
    /// Payload delivered in order, bytes.
    fn delivered(&self) -> u64;
    /// The packets that have come and could have opened the connection; see [`Sending::openings`].
    fn openings(&self) -> u32 {
        0
    }
}
