//! REPS: packets use the entropies of unmarked ACKs again.

use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use rand::RngCore;

settings! {
    /// Parameters of REPS.
    #[derive(Copy)]
    pub struct RepsConfig {
        /// Entropies that a subflow remembers.
        buffer "reps_buffer": u32 = 8, within Bounds::from(1.0, "must be 1 to 65536").to(65_536.0), of Marks;
        /// The time after a timeout during which packets use only remembered entropies.
        freezing "reps_freezing": Time = Time::from_ms(10), within Bounds::SPAN, of Marks;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    entropy: u32,
    /// Has an ACK returned it since it was used?
    valid: bool,
}

/// REPS of one subflow (Bonato et al., "REPS: Recycled Entropy Packet Spraying", arXiv:2407.21625).
/// A packet takes the oldest entropy that an unmarked ACK returned. Each returned entropy is used
/// once. If there is none, the packet takes a random entropy.
///
/// A timeout indicates a failed path. For some time after it the subflow is frozen: it uses the
/// entropies that have worked again and again, and no random ones. Then a window of packets
/// explores with random entropies.
#[derive(Clone, Debug)]
pub(super) struct Reps {
    entries: Box<[Entry]>,
    /// The place of the next entropy to store, or, while frozen, to use.
    head: usize,
    valid: usize,
    /// Number of entropies in the buffer.
    filled: usize,
    frozen_until: Option<Time>,
    /// Number of packets that must still take random entropies.
    explore: u32,
}

impl Reps {
    pub(super) fn new(config: &RepsConfig) -> Reps {
        Reps {
            entries: vec![Entry::default(); config.buffer as usize].into(),
            head: 0,
            valid: 0,
            filled: 0,
            frozen_until: None,
            explore: 0,
        }
    }

    /// The entropy of the next packet.
    pub(super) fn next(&mut self, random: &mut impl RngCore) -> u32 {
        let size = self.entries.len();
        let frozen = self.frozen_until.is_some();
        if self.explore > 0 || self.filled == 0 || self.valid == 0 && !frozen {
            self.explore = self.explore.saturating_sub(1);
            return random.next_u32();
        }
        if self.valid > 0 {
            let oldest = (self.head + size - self.valid) % size;
            self.valid -= 1;
            self.entries[oldest].valid = false;
            return self.entries[oldest].entropy;
        }
        let at = self.head % self.filled;
        self.head = (at + 1) % self.filled;
        self.entries[at].entropy
    }

    pub(super) fn on_ack(&mut self, entropy: u32, marked: bool, window: u32, now: Time) {
        if self.frozen_until.is_some_and(|until| now >= until) {
            self.frozen_until = None;
            self.explore = window;
        }
        if marked {
            return;
        }
        let (size, at) = (self.entries.len(), self.head);
        self.valid += !self.entries[at].valid as usize;
        self.entries[at] = Entry { entropy, valid: true };
        self.head = (at + 1) % size;
        self.filled = self.filled.max(at + 1);
    }

    pub(super) fn on_timeout(&mut self, config: &RepsConfig, now: Time) {
        if self.frozen_until.is_none() && self.explore == 0 {
            self.frozen_until = Some(now + config.freezing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    const CONFIG: RepsConfig = RepsConfig { buffer: 4, freezing: Time::from_ms(1) };

    fn fed(entropies: &[u32]) -> (Reps, SmallRng) {
        let mut reps = Reps::new(&CONFIG);
        entropies.iter().for_each(|e| reps.on_ack(*e, false, 10, Time::ZERO));
        (reps, SmallRng::seed_from_u64(1))
    }

    fn next(reps: &mut Reps, random: &mut impl RngCore, n: usize) -> Vec<u32> {
        (0..n).map(|_| reps.next(random)).collect()
    }

    #[test]
    fn without_acks_entropies_are_random() {
        let (mut reps, mut random) = fed(&[]);
        let drawn = next(&mut reps, &mut random, 3);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2]);
    }

    #[test]
    fn each_is_used_once_the_oldest_first() {
        let (mut reps, mut random) = fed(&[1, 2, 3]);
        assert_eq!(next(&mut reps, &mut random, 2), [1, 2]);
        reps.on_ack(4, false, 10, Time::ZERO);
        assert_eq!(next(&mut reps, &mut random, 2), [3, 4]);
        assert!(reps.next(&mut random) > 4, "then random ones");
    }

    #[test]
    fn marked_ones_are_forgotten() {
        let (mut reps, mut random) = fed(&[1]);
        reps.on_ack(2, true, 10, Time::ZERO);
        reps.on_ack(3, false, 10, Time::ZERO);
        assert_eq!(next(&mut reps, &mut random, 2), [1, 3]);
    }

    #[test]
    fn a_full_buffer_keeps_the_latest() {
        let (mut reps, mut random) = fed(&[1, 2, 3, 4, 5, 6]);
        assert_eq!(next(&mut reps, &mut random, 4), [3, 4, 5, 6]);
    }

    #[test]
    fn frozen_it_uses_again_what_has_worked_and_then_explores() {
        let (mut reps, mut random) = fed(&[1, 2, 3]);
        reps.on_timeout(&CONFIG, Time::ZERO);
        assert_eq!(next(&mut reps, &mut random, 9), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
        // The freeze is over, and a window of two packets explores.
        reps.on_ack(9, false, 2, Time::from_ms(1));
        assert!(next(&mut reps, &mut random, 2).iter().all(|e| *e > 9));
        assert_eq!(reps.next(&mut random), 9);
    }

    /// A buffer of eight of which three are filled. Entropy 9 takes the place of 2, the next that
    /// would be used again.
    #[test]
    fn frozen_it_uses_no_entropy_that_no_ack_has_returned() {
        let config = RepsConfig { buffer: 8, ..CONFIG };
        let (mut reps, mut random) = (Reps::new(&config), SmallRng::seed_from_u64(1));
        [1, 2, 3].into_iter().for_each(|entropy| reps.on_ack(entropy, false, 10, Time::ZERO));
        reps.on_timeout(&config, Time::ZERO);
        assert_eq!(next(&mut reps, &mut random, 4), [1, 2, 3, 1]);
        reps.on_ack(9, false, 10, Time::ZERO);
        assert_eq!(next(&mut reps, &mut random, 7), [9, 3, 1, 9, 3, 1, 9]);
    }

    /// Neither a second timeout nor one while it explores begins a freeze.
    #[test]
    fn timeouts_of_one_failure_freeze_once() {
        let (mut reps, mut random) = fed(&[1, 2, 3]);
        reps.on_timeout(&CONFIG, Time::ZERO);
        reps.on_timeout(&CONFIG, Time::from_us(900));
        reps.on_ack(4, false, 2, Time::from_ms(1));
        assert!(reps.next(&mut random) > 4, "it explores at 1 ms");
        reps.on_timeout(&CONFIG, Time::from_ms(1));
        assert!(reps.next(&mut random) > 4);
        assert_eq!(next(&mut reps, &mut random, 4), [1, 2, 3, 4]);
        assert!(reps.next(&mut random) > 4, "it is not frozen");
    }
}
