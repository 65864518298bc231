//! ACKs that are not delayed though others are, as in Linux (`tcp_event_data_recv`,
//! `tcp_incr_quickack` in net/ipv4/tcp_input.c), so that a sender with a small window does not wait
//! for the receiver's timer.

use crate::config::Config;
use linkpool_units::Time;

/// The most ACKs that are sent at once (Linux, `TCP_MAX_QUICKACKS`).
const MOST: u64 = 16;

/// The quick ACKs of one subflow at the receiver.
#[derive(Debug, Default)]
pub(crate) struct Quickack {
    /// The number of ACKs that are still to be sent at once.
    left: u32,
    /// When data came last.
    heard: Option<Time>,
}

impl Quickack {
    /// Data has come: the first, or after a silence so long that the sender has probably had a
    /// timeout, is acknowledged at once, and so are some that follow. Linux takes its own RTO for
    /// the latter; a receiver that sends no data has the least.
    #[inline]
    pub(crate) fn on_data(&mut self, config: &Config, now: Time) {
        if self.heard.is_none_or(|at| now > at + config.rtt.min_rto) {
            self.begin(config);
        }
        self.heard = Some(now);
    }

    /// Acknowledges at once from now on, for half a window of segments.
    pub(crate) fn begin(&mut self, config: &Config) {
        let half = match config.buffers.receive / (2 * config.mss as u64) {
            0 => 2,
            half => half.min(MOST) as u32,
        };
        self.left = self.left.max(half);
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
