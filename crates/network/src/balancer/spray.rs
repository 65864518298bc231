//! Packets are sprayed: each goes over a random link (Dixit et al., "On the impact of packet spraying
//! in data center networks", INFOCOM 2013).

use crate::fabric::LinkId;
use linkpool_engine::hash_u64;
use linkpool_units::Time;

/// 32 random bits for the packet that comes to a switch by link `ingress` at `arrival`. No other packet comes by that link at that
/// instant, so switches need neither a stream of random numbers nor the order of their packets. `salt` is the switch's.
#[inline]
pub(crate) fn draw(salt: u32, ingress: LinkId, arrival: Time) -> u32 {
    let of_link = u64::from(salt.wrapping_add(u32::from(ingress)));
    (hash_u64(of_link << 32 ^ arrival.0) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancer::one_of;

    /// Packets that come one after another, as regularly as a link at line rate brings them, over four links: each of them a quarter,
    /// of 40,000 with a standard deviation of 87; and what one packet takes says nothing of what the next takes, nor of what a packet takes
    /// that comes by another link at the same instant.
    #[test]
    fn each_packet_has_a_link_of_its_own_at_random() {
        let link = |ingress, number: u64| {
            let at = Time::from_ns(7_312) * number;
            one_of(4, draw(77, LinkId::new(ingress), at)) as usize
        };
        let (mut one, mut next, mut beside) = ([0; 4], [0; 16], [0; 16]);
        for number in 0..40_000 {
            one[link(5, number)] += 1;
            next[link(5, number) * 4 + link(5, number + 1)] += 1;
            beside[link(5, number) * 4 + link(6, number)] += 1;
        }
        let within = |counts: &[i32], mean: i32, most: i32| counts.iter().all(|count| (count - mean).abs() < most);
        assert!(within(&one, 10_000, 350), "{one:?}");
        // Standard deviation 48.
        assert!(within(&next, 2_500, 200), "{next:?}");
        assert!(within(&beside, 2_500, 200), "{beside:?}");
    }

    #[test]
    fn switches_and_seeds_differ_by_their_salt() {
        let choices = |salt| (0..64).map(move |at| one_of(2, draw(salt, LinkId::new(9), Time::from_us(at))));
        assert!(choices(1).eq(choices(1)));
        let same = choices(1).zip(choices(2)).filter(|(a, b)| a == b).count();
        assert!((16..48).contains(&same), "{same}");
    }
}
