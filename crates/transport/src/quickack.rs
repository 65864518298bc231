//! Quick ACKs: ACKs that a receiver with delayed ACKs sends at once, as Linux does
//! (`tcp_event_data_recv`, `tcp_incr_quickack` in net/ipv4/tcp_input.c). With quick ACKs a sender
//! with a small window does not wait for the receiver's timer.

use crate::config::Config;
use linkpool_units::Time;

/// The most ACKs that are sent at once (Linux, `TCP_MAX_QUICKACKS`).
const MOST: u64 = 16;

/// Half of the receive buffer, in segments, and [`MOST`] at most.
pub(crate) fn half_a_window(config: &Config) -> u32 {
    match config.buffers.receive / (2 * config.mss as u64) {
        0 => 2,
        half => half.min(MOST) as u32,
    }
}

/// The quick ACKs of one subflow at the receiver.
#[derive(Debug, Default)]
pub(crate) struct Quickack {
    /// The number of ACKs that are still to be sent at once.
    left: u32,
    /// The time at which the last data arrived.
    heard: Option<Time>,
}

impl Quickack {
    /// Data has arrived. The first data of a subflow, and data after a long silence, are
    /// acknowledged at once, and so are some segments that follow. A silence is long if the sender
    /// has probably had a timeout. Linux compares it with the receiver's own RTO, which is the
    /// least RTO if the receiver sends no data.
    #[inline]
    pub(crate) fn on_data(&mut self, config: &Config, now: Time) {
        if self.heard.is_none_or(|at| now > at + config.rtt.min_rto) {
            self.begin(config);
        }
        self.heard = Some(now);
    }

    /// Acknowledges the next segments at once, half a window of them.
    pub(crate) fn begin(&mut self, config: &Config) {
        self.left = self.left.max(half_a_window(config));
    }

    pub(crate) fn is_on(&self) -> bool {
        self.left > 0
    }

    /// An ACK has been sent.
    #[inline]
    pub(crate) fn spend(&mut self) {
        self.left = self.left.saturating_sub(1);
    }
}
