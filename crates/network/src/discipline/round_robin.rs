//! Deficit round robin: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin",
//! IEEE/ACM ToN 4(3), 1996, section III.

use crate::class::{CLASSES, ClassSet};

/// The turns of queues, numbered from 0, which share a link by their quanta.
#[derive(Debug)]
pub(super) struct RoundRobin {
    /// Bytes that each may send in a turn.
    quanta: [u32; CLASSES],
    /// How many queues there are.
    count: u8,
    /// Bytes that each may still send, in this turn or with the next.
    deficits: [u32; CLASSES],
    /// Whose turn it is, and whether it has had the quantum of this turn.
    turn: u8,
    has_begun: bool,
}

impl RoundRobin {
    /// Of queues with these quanta. The turn of none is empty, as the smallest is as large as a packet
    /// (section III: then each packet takes a constant time).
    pub(super) fn new(of: &[u32]) -> RoundRobin {
        let mut quanta = [0; CLASSES];
        quanta[..of.len()].copy_from_slice(of);
        RoundRobin { quanta, count: of.len() as u8, deficits: [0; CLASSES], turn: 0, has_begun: false }
    }

    /// Which of the queues that are `ready`, of which there is one, sends next; `size` is that of the packet
    /// that it would send.
    pub(super) fn next(&mut self, ready: ClassSet, size: impl Fn(usize) -> u16) -> usize {
        loop {
            let turn = usize::from(self.turn);
            if ready.has(self.turn) {
                if !self.has_begun {
                    self.deficits[turn] += self.quanta[turn];
                    self.has_begun = true;
                }
                if u32::from(size(turn)) <= self.deficits[turn] {
                    return turn;
                }
            } else {
                // Nothing is kept for a queue that is paused.
                self.deficits[turn] = 0;
            }
            self.pass_on();
        }
    }

    /// The queue that [`RoundRobin::next`] has named sends a packet of this size. If that was its last, its turn is over,
    /// and it keeps nothing (Figure 2 of the paper).
    pub(super) fn spend(&mut self, size: u16, is_last: bool) {
        let deficit = &mut self.deficits[usize::from(self.turn)];
        *deficit -= u32::from(size);
        if is_last {
            *deficit = 0;
            self.pass_on();
        }
    }

    /// The next turn is that of the next queue.
    fn pass_on(&mut self) {
        self.turn = (self.turn + 1) % self.count;
        self.has_begun = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `round` sends of queues that always have packets of these sizes, in so many packets.
    fn sent(round: &mut RoundRobin, ready: u16, sizes: [u16; 3], packets: usize) -> Vec<usize> {
        let mut next = || {
            let queue = round.next(ClassSet::of(ready), |queue| sizes[queue]);
            round.spend(sizes[queue], false);
            queue
        };
        (0..packets).map(|_| next()).collect()
    }

    /// By hand: quanta of 3,000, 1,000 and 1,000 B, packets of 1,000, 600 and 1,000 B. The second sends one packet, and keeps 400
    /// B; with 1,400 it sends two, and keeps 200; with 1,200 two, and keeps none.
    #[test]
    fn turns_are_those_by_hand() {
        let mut round = RoundRobin::new(&[3_000, 1_000, 1_000]);
        let expected = [0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 2, 0];
        assert_eq!(sent(&mut round, 0b111, [1_000, 600, 1_000], expected.len()), expected);
    }

    /// A queue that has nothing to send loses what is left of its turn, and its share goes to the others.
    #[test]
    fn a_queue_without_packets_gives_its_share_away() {
        let mut round = RoundRobin::new(&[3_000, 1_000, 1_000]);
        assert_eq!(sent(&mut round, 0b111, [1_000; 3], 1), [0]);
        assert_eq!(round.deficits[0], 2_000);
        assert_eq!(sent(&mut round, 0b110, [1_000; 3], 4), [1, 2, 1, 2]);
        assert_eq!(round.deficits[..3], [0; 3]);
        assert_eq!(sent(&mut round, 0b111, [1_000; 3], 5), [0, 0, 0, 1, 2]);
    }

    /// What is left of a turn whose queue has become empty is lost, also if the queue has packets again before others are asked.
    #[test]
    fn a_queue_that_becomes_empty_ends_its_turn() {
        let mut round = RoundRobin::new(&[3_000, 1_000]);
        assert_eq!(round.next(ClassSet::of(0b01), |_| 1_000), 0);
        round.spend(1_000, true);
        assert_eq!((round.deficits[0], round.turn, round.has_begun), (0, 1, false));
        // Then the second has its turn, and the first a whole one.
        let sent: Vec<usize> = (0..5)
            .map(|_| {
                let queue = round.next(ClassSet::of(0b11), |_| 1_000);
                round.spend(1_000, false);
                queue
            })
            .collect();
        assert_eq!(sent, [1, 0, 0, 0, 1]);
    }

    /// The paper's lemma 1: while a queue has packets, no deficit is as large as the largest packet at the end of a turn; and
    /// theorem 3: what two queues send in proportion to their quanta differs by less than a quantum and a packet each.
    #[test]
    fn shares_are_those_of_the_quanta() {
        for (quanta, sizes) in [([1_538, 3_076, 4_614], [1_538, 90, 700]), ([1_500, 1_500, 1_500], [1_500, 1_499, 64])]
        {
            let mut round = RoundRobin::new(&quanta);
            let mut bytes = [0u64; 3];
            for _ in 0..50_000 {
                let queue = sent(&mut round, 0b111, sizes, 1)[0];
                bytes[queue] += u64::from(sizes[queue]);
                let shares = [0, 1, 2].map(|queue| bytes[queue] as f64 / f64::from(quanta[queue]));
                let apart =
                    shares.iter().copied().fold(0.0, f64::max) - shares.iter().copied().fold(f64::MAX, f64::min);
                assert!(apart < 2.0, "{bytes:?}");
                let ended = (0..3).filter(|queue| !round.has_begun || *queue != usize::from(round.turn));
                assert!(ended.into_iter().all(|queue| round.deficits[queue] < u32::from(sizes[queue])));
            }
        }
    }
}
