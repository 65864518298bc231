//! Connections whose subflows are to be suppressed or released once more.

use std::collections::HashMap;
use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(1);

/// Connections with a subflow that the kernel did not take a flag for. It refuses subflows whose
/// handshake is not over (`__mptcp_subflow_active`, which `mptcp_pm_mp_prio_send_ack` asks since
/// 7.1, and in stable releases since May 2026), and the controller's event that a subflow is there
/// comes before its end. It refuses those that are just closing, too, until they are gone.
#[derive(Debug, Default)]
pub(super) struct Again {
    waiting: HashMap<u64, Wait>,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    controller: u32,
    time: Duration,
    due: Instant,
}

impl Again {
    /// After an attempt for the connection `key`: has the kernel taken all flags? If not, the next
    /// attempt is due after twice the time of the last.
    pub(super) fn note(&mut self, controller: u32, key: u64, taken: bool, now: Instant) {
        if taken {
            self.forget(key);
            return;
        }
        let time = self.waiting.get(&key).map_or(FIRST, |wait| (wait.time * 2).min(LONGEST));
        self.waiting.insert(key, Wait { controller, time, due: now + time });
    }

    pub(super) fn forget(&mut self, key: u64) {
        self.waiting.remove(&key);
    }

    /// When the next attempt is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.waiting.values().map(|wait| wait.due).min()
    }

    /// A connection whose next attempt is due, with its controller.
    pub(super) fn due(&self, now: Instant) -> Option<(u32, u64)> {
        self.waiting.iter().find(|(_, wait)| wait.due <= now).map(|(&key, wait)| (wait.controller, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_come_later_each_time_until_one_is_taken() {
        let (mut again, mut now) = (Again::default(), Instant::now());
        assert_eq!(again.next(), None);
        let mut waits = vec![];
        for _ in 0..12 {
            again.note(3, 7, false, now);
            let due = again.next().unwrap();
            assert_eq!(again.due(due - Duration::from_micros(1)), None);
            assert_eq!(again.due(due), Some((3, 7)));
            waits.push((due - now).as_millis());
            now = due;
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000]);
        again.note(3, 7, true, now);
        assert_eq!((again.next(), again.due(now)), (None, None));
    }

    #[test]
    fn connections_wait_each_for_itself() {
        let (mut again, now) = (Again::default(), Instant::now());
        again.note(1, 10, false, now);
        again.note(1, 10, false, now);
        again.note(2, 20, false, now);
        assert_eq!(again.due(now + FIRST), Some((2, 20)));
        again.forget(20);
        assert_eq!(again.due(now + FIRST), None);
        assert_eq!(again.due(now + FIRST * 2), Some((1, 10)));
    }
}
