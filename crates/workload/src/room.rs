//! Random matrices with a limit: each host sends one flow, and no host gets more flows than
//! allowed.

use crate::destination::same_rack;
use linkpool_engine::Stream;
use linkpool_units::HostId;
use rand::Rng;
use rand::seq::SliceRandom;

/// Each host sends to one other, drawn at random, but none gets more than `at_most` flows: host i
/// sends to entry i.
///
/// # Panics
/// With fewer than 2 hosts, or `at_most` 0, no such matrix exists.
pub(crate) fn random_matrix(hosts: usize, at_most: u32, random: &mut Stream) -> Vec<HostId> {
    assert!(hosts >= 2 && at_most >= 1, "there is no such matrix");
    let mut room = vec![at_most; hosts];
    // Hosts with room, and where each stands among them.
    let mut open: Vec<HostId> = HostId::first(hosts).collect();
    let mut place: Vec<usize> = (0..hosts).collect();
    let mut to = vec![HostId::default(); hosts];
    let mut senders: Vec<HostId> = HostId::first(hosts).collect();
    senders.shuffle(random);
    for (done, src) in senders.iter().copied().enumerate() {
        let itself = room[src.index()] > 0;
        let others = open.len() - usize::from(itself);
        if others == 0 {
            // With room for one each, the last may find room only at itself: it takes what another
            // had, who sends here.
            let earlier = senders[random.random_range(0..done)];
            to[src.index()] = std::mem::replace(&mut to[earlier.index()], src);
            continue;
        }
        let mut choice = random.random_range(0..others);
        if itself && choice >= place[src.index()] {
            choice += 1;
        }
        let dst = open[choice];
        to[src.index()] = dst;
        room[dst.index()] -= 1;
        if room[dst.index()] == 0 {
            open.swap_remove(choice);
            if let Some(moved) = open.get(choice) {
                place[moved.index()] = choice;
            }
        }
    }
    to
}

/// Each host sends to one of another rack, drawn at random, but none gets more than `at_most`
/// flows: host i sends to entry i.
///
/// # Panics
/// If the hosts of some rack are more than all others may get flows: then there is no such matrix.
pub(crate) fn matrix_across_racks(places: &[(u32, u32)], at_most: u32, random: &mut Stream) -> Vec<HostId> {
    let hosts = places.len();
    let mut room = vec![at_most; hosts];
    let mut to = vec![HostId::default(); hosts];
    let mut senders: Vec<HostId> = HostId::first(hosts).collect();
    senders.shuffle(random);
    for (done, src) in senders.iter().copied().enumerate() {
        let pick = |hosts: Vec<HostId>, random: &mut Stream| hosts[random.random_range(0..hosts.len())];
        let open = |room: &[u32], far: bool| -> Vec<HostId> {
            HostId::first(hosts).filter(|h| room[h.index()] > 0 && same_rack(places, src, *h) != far).collect()
        };
        let far = open(&room, true);
        let dst = if far.is_empty() {
            // There is room in its own rack only. More flows come to the others than its rack has
            // sent them, so that one of these goes from a third host to a fourth, neither in this
            // rack: the fourth is taken, the third sends here.
            let passes = |e: &HostId| !same_rack(places, src, *e) && !same_rack(places, src, to[e.index()]);
            let third = pick(senders[..done].iter().copied().filter(passes).collect(), random);
            let here = pick(open(&room, false), random);
            room[here.index()] -= 1;
            std::mem::replace(&mut to[third.index()], here)
        } else {
            let dst = pick(far, random);
            room[dst.index()] -= 1;
            dst
        };
        to[src.index()] = dst;
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nobody_gets_more_than_allowed(hosts in 2usize..40, at_most in 1u32..5, seed: u64) {
            let to = random_matrix(hosts, at_most, &mut stream(seed, "random", 0));
            prop_assert_eq!(to.len(), hosts);
            let mut got = vec![0; hosts];
            for (src, dst) in HostId::first(hosts).zip(to) {
                prop_assert!(src != dst);
                got[dst.index()] += 1;
            }
            prop_assert!(got.iter().all(|n| *n <= at_most), "{got:?}");
        }

        /// As long as there is such a matrix at all, which is so if the largest rack finds room
        /// outside.
        #[test]
        fn flows_leave_their_racks_and_nobody_gets_more_than_allowed(
            racks in proptest::collection::vec(1u32..7, 2..6), at_most in 1u32..4, seed: u64,
        ) {
            let places: Vec<(u32, u32)> =
                (0..).zip(&racks).flat_map(|(rack, hosts)| (0..*hosts).map(move |_| (rack, 0))).collect();
            let (all, most) = (places.len() as u32, racks.iter().copied().max().unwrap());
            prop_assume!(most <= at_most * (all - most));
            let to = matrix_across_racks(&places, at_most, &mut stream(seed, "random", 0));
            prop_assert_eq!(to.len(), places.len());
            let mut got = vec![0; places.len()];
            for (src, dst) in to.iter().enumerate() {
                prop_assert!(places[src].0 != places[dst.index()].0, "{src} sends to {dst:?}");
                got[dst.index()] += 1;
            }
            prop_assert!(got.iter().all(|n| *n <= at_most), "{got:?}");
        }
    }

    /// Six hosts with room for one flow each. A rack of three of them, which hears from the other
    /// three alone, is often what has room at the end.
    #[test]
    fn where_there_is_room_for_no_more_everybody_gets_one() {
        let places = [(0, 0), (0, 0), (0, 0), (1, 0), (2, 0), (3, 0)];
        for seed in 0..300 {
            let mut to = matrix_across_racks(&places, 1, &mut stream(seed, "random", 0));
            to.sort_unstable();
            assert!(HostId::first(6).eq(to), "seed {seed}");
        }
    }
}
