//! The receiving end of a flow.

use linkpool_sim::{FlowId, PlannedFlow};
use linkpool_units::Time;
use socket2::Socket;
use std::io::{ErrorKind, Read as _};

/// A receiving end.
#[derive(Debug)]
pub(crate) struct Receiving {
    pub(crate) socket: Socket,
    pub(crate) flow: FlowId,
    pub(crate) planned: PlannedFlow,
    received: u64,
    /// When the application last got data, or the connection was accepted.
    last: Time,
    longest_pause: Time,
}

/// What came of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// Data, or nothing yet.
    Open,
    /// All data of the flow has arrived by now.
    Delivered,
    /// The connection has ended.
    Ended,
}

impl Receiving {
    pub(crate) fn new(socket: Socket, (flow, planned): (FlowId, PlannedFlow), now: Time) -> Receiving {
        Receiving { socket, flow, planned, received: 0, last: now, longest_pause: Time::ZERO }
    }

    /// Reads what has come, as much as `buffer` takes.
    pub(crate) fn read(&mut self, buffer: &mut [u8], now: Time) -> Read {
        match self.socket.read(buffer) {
            Ok(0) => Read::Ended,
            Ok(n) => {
                self.longest_pause = self.longest_pause(now);
                self.last = now;
                let before = self.received;
                self.received += n as u64;
                let size = self.planned.flow.size.unwrap_or(u64::MAX);
                if before < size && self.received >= size { Read::Delivered } else { Read::Open }
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Read::Open,
            Err(_) => Read::Ended,
        }
    }

    /// The longest time until `now` in which the application got no data.
    pub(crate) fn longest_pause(&self, now: Time) -> Time {
        self.longest_pause.max(now.saturating_sub(self.last))
    }
}
