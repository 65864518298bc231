//! Buffers that the ports of a switch share: Choudhury and Hahne, "Dynamic queue length thresholds
//! for shared-memory packet switches", IEEE/ACM ToN 6(2), 1998.

use linkpool_settings::{Bounds, settings};
use linkpool_units::Bytes;

settings! {
    /// A buffer for all ports of a switch, with dynamic thresholds (Choudhury and Hahne, 1998).
    #[derive(Copy)]
    pub struct SharedBuffer {
        /// Size of the buffer.
        bytes "size": u64 as Bytes, required 4_000_000;
        /// A queue may be as long as `alpha` times the free part of the buffer.
        alpha: f64 = 1.0, within Bounds::above(0.0, "{} is not above 0");
    }
}

/// The buffer of one switch: the bytes queued or in service at its ports.
#[derive(Debug)]
pub(crate) struct Buffer {
    shape: SharedBuffer,
    used: u64,
    /// The ports that use it.
    pub(crate) members: Vec<u32>,
}

impl Buffer {
    pub(crate) fn new(shape: SharedBuffer) -> Buffer {
        Buffer { shape, used: 0, members: Vec::new() }
    }

    /// May a queue that holds `queued` bytes take `size` more? It may grow while it is below the
    /// threshold T(t) = alpha (B - Q(t)), equation (1) of the paper, and while there is room.
    pub(crate) fn has_room(&self, size: u16, queued: u64) -> bool {
        let free = self.shape.bytes - self.used;
        (queued as f64) < self.shape.alpha * free as f64 && size as u64 <= free
    }

    /// A port that held `before` bytes now holds `now` bytes, for which there was room.
    pub(crate) fn resize(&mut self, before: u64, now: u64) {
        self.used = self.used + now - before;
    }

    /// `bytes` have left it.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.used -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(buffer: &mut Buffer, size: u16, queued: u64) -> bool {
        let room = buffer.has_room(size, queued);
        if room {
            buffer.resize(0, size.into());
        }
        room
    }

    /// One overloaded queue takes alpha / (1 + alpha) of the buffer, and n of them n alpha / (1 + n
    /// alpha): equation (2).
    #[test]
    fn queues_take_their_shares() {
        for (alpha, n) in [(1.0, 1), (1.0, 3), (2.0, 2), (0.5, 4)] {
            let mut buffer = Buffer::new(SharedBuffer { bytes: 1_000_000, alpha });
            let mut queues = vec![0u64; n];
            for _ in 0..10_000 {
                for queue in &mut queues {
                    *queue += if admits(&mut buffer, 100, *queue) { 100 } else { 0 };
                }
            }
            let share = 1e6 * alpha / (1.0 + n as f64 * alpha);
            assert!(queues.iter().all(|q| (*q as f64 - share).abs() <= 200.0), "{queues:?}, not {share}");
            assert_eq!(buffer.used, queues.iter().sum::<u64>());
        }
    }

    #[test]
    fn never_more_than_there_is() {
        let mut buffer = Buffer::new(SharedBuffer { bytes: 1_000, alpha: 100.0 });
        assert!(admits(&mut buffer, 600, 0));
        assert!(!admits(&mut buffer, 600, 0));
        assert!(admits(&mut buffer, 400, 0));
        assert!(!admits(&mut buffer, 1, 0));
        buffer.release(600);
        assert!(admits(&mut buffer, 600, 0));
    }

    /// Equation (1): a queue grows while it is below alpha (B - Q), and not when it is there.
    #[test]
    fn a_queue_at_the_threshold_does_not_grow() {
        let buffer = Buffer::new(SharedBuffer { bytes: 1_000, alpha: 0.5 });
        assert!(buffer.has_room(1, 499) && !buffer.has_room(1, 500));
    }
}
