//! A network whose packets come from outside, in real time: a test bed that moves the packets of
//! real hosts.
//!
//! In a window no node can affect another, so what comes to nodes in a window is known when it
//! begins. Hence a window runs as soon as the clock reaches it: handlers are told of each packet up
//! to a lookahead before it is due, at the exact time when it is.

use super::handler::Handler;
use super::run::Network;
use crate::fabric::NodeId;
use crate::packet::{Packet, Trailer};
use linkpool_units::Time;

impl Network {
    /// Sends `packet` from `host` at `now`, and returns the number of the place that is the
    /// packet's own until it reaches a host or is lost: its `seq` on arrival. Time does not go
    /// back: a `now` before the window that has run last counts as its start.
    ///
    /// The port of `host` must be one FIFO queue that does not change.
    pub fn inject(&mut self, host: NodeId, now: Time, mut packet: Packet) -> u32 {
        let now = now.max(self.window_start());
        let egress = self.egress(host);
        egress.trailers.attach(&mut packet, Trailer::default());
        let place = packet.seq;
        egress.send(now, &packet);
        place
    }

    /// Runs all windows that have begun by `now`.
    pub fn run_to<H: Handler>(&mut self, now: Time, handler: &mut H) {
        let last = self.window_of(now);
        while let Some(window) = self.next_window().filter(|window| *window <= last) {
            self.run_window(window, Time::MAX, handler);
        }
    }

    /// When the next window begins in which something is due.
    pub fn next_due(&self) -> Option<Time> {
        self.next_window().map(|window| self.start_of(window))
    }

    /// The end of the last window that has run: what happens at switches by then has happened.
    /// Links are to be asked for their counters at this time, or later.
    pub fn known_until(&self) -> Time {
        self.window_end()
    }
}
