//! Paths of MP-RDMA (Lu et al., NSDI 2018) as the-sure/htsim has them (`htsim/sim/mprdma.cpp` at 05ccbd0): the entropy value of an ACK is that of the packets which the ACK lets go. An ACK that lets none go ends its
//! path's place in the window.

use super::Spraying;
use linkpool_units::Time;
use std::collections::VecDeque;

/// The most packets that one ACK gives its value to (`processAck`: `send_cnt < 2`).
const BURST: usize = 2;
/// Of a chance in a million.
const MILLION: u32 = 1_000_000;

/// The values that ACKs have brought back for the packets that follow.
#[derive(Debug)]
pub struct Clocked {
    entropies: u16,
    /// The values of the next packets.
    next: VecDeque<u16>,
    /// The value of the last ACK; none before the first.
    last: Option<u16>,
    /// The chance that a packet takes a random value, in millionths, once in a base RTT.
    probe: u32,
    base_rtt: Time,
    probes_at: Time,
}

impl Clocked {
    pub(super) fn new(spraying: &Spraying) -> Clocked {
        Clocked {
            entropies: spraying.entropies,
            next: VecDeque::new(),
            last: None,
            probe: (spraying.mp_rdma_probe * f64::from(MILLION)).round() as u32,
            base_rtt: spraying.base_rtt,
            probes_at: Time::ZERO,
        }
    }

    /// Before the first ACK each packet has a random value. A packet that no ACK has let go, as after a timeout, has that of
    /// the last one.
    pub(super) fn next(&mut self, now: Time, mut random: impl FnMut(u32) -> u32) -> u16 {
        let Some(last) = self.last else { return random(self.entropies.into()) as u16 };
        let clocked = self.next.pop_front().unwrap_or(last);
        if now < self.probes_at {
            return clocked;
        }
        self.probes_at = now + self.base_rtt;
        if random(MILLION) < self.probe { random(self.entropies.into()) as u16 } else { clocked }
    }

    /// An ACK has come with this value, after which the window has room for so many packets.
    pub(super) fn on_ack(&mut self, entropy: u16, room: usize) {
        self.last = Some(entropy);
        // Packets that wait for the links of their host have their values already. Where the window has shrunk, the last have
        // no place in it.
        self.next.extend([entropy; BURST]);
        self.next.truncate(room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocked(probe: f64) -> Clocked {
        Clocked::new(&Spraying { mp_rdma_probe: probe, ..Spraying::for_tests(16) })
    }

    /// The next value, where a random number is 9, or the highest.
    fn next(clocked: &mut Clocked) -> u16 {
        clocked.next(Time::ZERO, |n| if n == MILLION { MILLION - 1 } else { 9 })
    }

    /// An ACK lets one packet go, two, or three, of which the third has the value of the last ACK, too; one that lets none go
    /// leaves nothing.
    #[test]
    fn packets_take_the_paths_of_the_acks_that_let_them_go() {
        let mut clocked = clocked(0.0);
        assert_eq!([next(&mut clocked), next(&mut clocked)], [9, 9], "random");
        clocked.on_ack(3, 1);
        clocked.on_ack(4, 3);
        assert_eq!(Vec::from(clocked.next.clone()), [3, 4, 4]);
        clocked.on_ack(5, 3);
        assert_eq!([next(&mut clocked), next(&mut clocked), next(&mut clocked)], [3, 4, 4], "5 has let none go");
        assert_eq!(next(&mut clocked), 5, "after a timeout");
        clocked.on_ack(6, 4);
        assert_eq!(Vec::from(clocked.next.clone()), [6, 6]);
        clocked.on_ack(7, 1);
        assert_eq!([next(&mut clocked), next(&mut clocked)], [6, 7], "the window has shrunk");
        clocked.on_ack(8, 0);
        assert_eq!(Vec::from(clocked.next.clone()), [0; 0]);
    }

    /// Once in a base RTT of 10 us, and not before the first ACK; the value that would have been its turn is lost.
    #[test]
    fn a_random_path_is_tried_once_in_a_round_trip() {
        let mut clocked = clocked(0.25);
        let at = |clocked: &mut Clocked, us, drawn| {
            clocked.next(Time::from_us(us), |n| if n == MILLION { drawn } else { 9 })
        };
        clocked.on_ack(3, 2);
        clocked.on_ack(4, 4);
        assert_eq!(at(&mut clocked, 1, 249_999), 9);
        assert_eq!(at(&mut clocked, 10, 0), 3, "10 us have not passed");
        assert_eq!(at(&mut clocked, 11, 250_000), 4, "by chance not");
        assert_eq!(at(&mut clocked, 20, 0), 4);
        clocked.on_ack(5, 1);
        assert_eq!(at(&mut clocked, 21, 0), 9);
    }
}
