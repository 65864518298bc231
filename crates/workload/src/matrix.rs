//! Who sends to whom.

use linkpool_engine::Stream;
use rand::Rng;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Who sends to whom.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    /// By which rule.
    pub rule: Rule,
    /// The rack and the pod of each host.
    pub places: Arc<[(u32, u32)]>,
    /// The hosts that send.
    pub senders: Senders,
}

/// Hosts that send: all, or those that are so marked.
#[derive(Clone, PartialEq, Debug)]
pub enum Senders {
    /// All hosts.
    All,
    /// Of every host: does it?
    Some(Arc<[bool]>),
}

impl Senders {
    fn contain(&self, host: u16) -> bool {
        match self {
            Senders::All => true,
            Senders::Some(hosts) => hosts[host as usize],
        }
    }
}

/// How hosts find those whom they send to.
#[derive(Clone, PartialEq, Debug)]
pub enum Rule {
    /// Every host sends to one other and receives from one, drawn at random.
    Permutation,
    /// Every host sends to one other, drawn at random.
    Random {
        /// Flows into a host at most; none: as chance has it.
        at_most: Option<u32>,
        /// Do none stay in their rack?
        other_racks: bool,
    },
    /// Host i sends to host i + step, round the end.
    Stride {
        /// From a host to the one that it sends to.
        step: u16,
    },
    /// Every host sends to every other.
    AllToAll,
    /// Flows that go to a few hosts more often than to others.
    Hotspot {
        /// Number of flows.
        flows: u32,
        /// The hosts that get more.
        hosts: Vec<u16>,
        /// The share of flows that go to them.
        share: f64,
    },
    /// Every host sends to one other, some within their racks, some within their pods.
    Staggered {
        /// The share of flows that stay in their rack.
        rack: f64,
        /// The share of flows that leave their rack and stay in their pod.
        pod: f64,
    },
}

impl Matrix {
    /// The pairs of sender and receiver: those of all hosts, without those of hosts that do not send.
    pub fn draw(&self, random: &mut Stream) -> Vec<(u16, u16)> {
        let mut pairs = self.draw_all(random);
        pairs.retain(|(src, _)| self.senders.contain(*src));
        pairs
    }

    /// May a flow go from one host to another, as far as where they are goes?
    pub(crate) fn allows(&self, src: u16, dst: u16) -> bool {
        match self.rule {
            Rule::Random { other_racks: true, .. } => !same_rack(&self.places, src, dst),
            _ => src != dst,
        }
    }

    fn draw_all(&self, random: &mut Stream) -> Vec<(u16, u16)> {
        let hosts = self.places.len() as u16;
        let each = |to: Vec<u16>| (0..).zip(to).collect();
        match &self.rule {
            Rule::Permutation => each(permutation(hosts, random)),
            Rule::Random { at_most, other_racks: false } => {
                each(random_matrix(hosts, at_most.unwrap_or(u32::MAX), random))
            }
            Rule::Random { at_most, other_racks: true } => {
                each(matrix_across_racks(&self.places, at_most.unwrap_or(u32::MAX), random))
            }
            Rule::Stride { step } => each(stride(hosts, *step)),
            Rule::AllToAll => {
                let to = |src: u16| (0..hosts).filter(move |dst| *dst != src).map(move |dst| (src, dst));
                (0..hosts).flat_map(to).collect()
            }
            Rule::Hotspot { flows, hosts: hot, share } => {
                (0..*flows).map(|_| hotspot_pair(hosts, hot, *share, random)).collect()
            }
            Rule::Staggered { rack, pod } => {
                each((0..hosts).map(|src| staggered_destination(src, &self.places, (*rack, *pod), random)).collect())
            }
        }
    }
}

impl Rule {
    /// Its name, as scenarios write it.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::Permutation => "permutation",
            Rule::Random { .. } => "random",
            Rule::Stride { .. } => "stride",
            Rule::AllToAll => "all-to-all",
            Rule::Hotspot { .. } => "hotspot",
            Rule::Staggered { .. } => "staggered",
        }
    }
}

/// A permutation without fixed points, uniform among them: host i sends to entry i.
///
/// # Panics
/// With fewer than 2 hosts, which have none.
pub fn permutation(hosts: u16, random: &mut Stream) -> Vec<u16> {
    assert!(hosts >= 2, "one host cannot send to another");
    let mut to: Vec<u16> = (0..hosts).collect();
    // About one permutation in e has no fixed point, so this ends soon.
    loop {
        to.shuffle(random);
        if to.iter().enumerate().all(|(from, to)| from != *to as usize) {
            return to;
        }
    }
}

/// A host other than `host`, uniformly.
pub fn random_other(hosts: u16, host: u16, random: &mut Stream) -> u16 {
    let other = random.random_range(0..hosts - 1);
    other + u16::from(other >= host)
}

/// Each host sends to one other, drawn at random, but none gets more than `at_most` flows: host i sends to entry i.
///
/// # Panics
/// With fewer than 2 hosts, or `at_most` 0: then there is no such matrix.
pub(crate) fn random_matrix(hosts: u16, at_most: u32, random: &mut Stream) -> Vec<u16> {
    assert!(hosts >= 2 && at_most >= 1, "there is no such matrix");
    let mut room = vec![at_most; hosts as usize];
    // Hosts with room, and where each stands among them.
    let mut open: Vec<u16> = (0..hosts).collect();
    let mut place: Vec<usize> = (0..hosts as usize).collect();
    let mut to = vec![0; hosts as usize];
    let mut senders: Vec<u16> = (0..hosts).collect();
    senders.shuffle(random);
    for (done, src) in senders.iter().copied().enumerate() {
        let itself = room[src as usize] > 0;
        let others = open.len() - usize::from(itself);
        if others == 0 {
            // With room for one each, the last may find room only at itself: it takes what another had, who sends here.
            let earlier = senders[random.random_range(0..done)];
            to[src as usize] = std::mem::replace(&mut to[earlier as usize], src);
            continue;
        }
        let mut choice = random.random_range(0..others);
        if itself && choice >= place[src as usize] {
            choice += 1;
        }
        let dst = open[choice];
        to[src as usize] = dst;
        room[dst as usize] -= 1;
        if room[dst as usize] == 0 {
            open.swap_remove(choice);
            if let Some(moved) = open.get(choice) {
                place[*moved as usize] = choice;
            }
        }
    }
    to
}

fn same_rack(places: &[(u32, u32)], one: u16, other: u16) -> bool {
    places[one as usize].0 == places[other as usize].0
}

/// A host of another rack than that of `host`, uniformly. `places` are the rack and the pod of each host.
pub fn random_in_other_rack(host: u16, places: &[(u32, u32)], random: &mut Stream) -> u16 {
    assert!((0..places.len() as u16).any(|other| !same_rack(places, host, other)), "all hosts are in one rack");
    loop {
        let other = random_other(places.len() as u16, host, random);
        if !same_rack(places, host, other) {
            return other;
        }
    }
}

/// Each host sends to one of another rack, drawn at random, but none gets more than `at_most` flows: host i sends to entry i.
///
/// # Panics
/// If the hosts of some rack are more than all others may get flows: then there is no such matrix.
pub(crate) fn matrix_across_racks(places: &[(u32, u32)], at_most: u32, random: &mut Stream) -> Vec<u16> {
    let hosts = places.len() as u16;
    let mut room = vec![at_most; hosts as usize];
    let mut to = vec![0; hosts as usize];
    let mut senders: Vec<u16> = (0..hosts).collect();
    senders.shuffle(random);
    for (done, src) in senders.iter().copied().enumerate() {
        let pick = |hosts: Vec<u16>, random: &mut Stream| hosts[random.random_range(0..hosts.len())];
        let open = |room: &[u32], far: bool| -> Vec<u16> {
            (0..hosts).filter(|h| room[*h as usize] > 0 && same_rack(places, src, *h) != far).collect()
        };
        let far = open(&room, true);
        let dst = if far.is_empty() {
            // There is room in its own rack only. More flows come to the others than its rack has sent them, so that one
            // of these goes from a third host to a fourth, neither in this rack: the fourth is taken, the third sends here.
            let passes = |e: &u16| !same_rack(places, src, *e) && !same_rack(places, src, to[*e as usize]);
            let third = pick(senders[..done].iter().copied().filter(passes).collect(), random);
            let here = pick(open(&room, false), random);
            room[here as usize] -= 1;
            std::mem::replace(&mut to[third as usize], here)
        } else {
            let dst = pick(far, random);
            room[dst as usize] -= 1;
            dst
        };
        to[src as usize] = dst;
    }
    to
}

/// Host i sends to host i + `step`, round the end: host i sends to entry i.
pub(crate) fn stride(hosts: u16, step: u16) -> Vec<u16> {
    (0..u32::from(hosts)).map(|i| ((i + u32::from(step)) % u32::from(hosts)) as u16).collect()
}

/// A host of `hot` with probability `share`, else any host; and a sender, uniform over the other hosts.
pub(crate) fn hotspot_pair(hosts: u16, hot: &[u16], share: f64, random: &mut Stream) -> (u16, u16) {
    let dst = if random.random::<f64>() < share {
        hot[random.random_range(0..hot.len())]
    } else {
        random.random_range(0..hosts)
    };
    (random_other(hosts, dst, random), dst)
}

/// A destination for `src`: with probability `rack` another host of its rack, with `pod` one of its pod in another
/// rack, else one of another pod. `places` are the rack and the pod of each host. Where there is no such host, any other.
pub(crate) fn staggered_destination(
    src: u16,
    places: &[(u32, u32)],
    (rack, pod): (f64, f64),
    random: &mut Stream,
) -> u16 {
    let (my_rack, my_pod) = places[src as usize];
    let u = random.random::<f64>();
    let fits = |(r, p): (u32, u32)| {
        if u < rack {
            r == my_rack
        } else if u < rack + pod {
            p == my_pod && r != my_rack
        } else {
            p != my_pod
        }
    };
    let others = |fits: &dyn Fn((u32, u32)) -> bool| -> Vec<u16> {
        (0..places.len() as u16).filter(|h| *h != src && fits(places[*h as usize])).collect()
    };
    let mut candidates = others(&fits);
    if candidates.is_empty() {
        candidates = others(&|_| true);
    }
    candidates[random.random_range(0..candidates.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;
    use proptest::prelude::*;

    #[test]
    fn a_permutation_sends_to_everyone_once_and_never_to_itself() {
        for seed in 0..50 {
            let mut to = permutation(17, &mut stream(seed, "permutation", 0));
            assert!(to.iter().enumerate().all(|(i, t)| i as u16 != *t));
            to.sort_unstable();
            assert!(to.iter().enumerate().all(|(i, t)| i as u16 == *t));
        }
    }

    #[test]
    fn another_host_is_any_other() {
        let mut random = stream(3, "pairs", 0);
        for a in 0..5 {
            let mut seen = [false; 5];
            (0..200).for_each(|_| seen[random_other(5, a, &mut random) as usize] = true);
            assert!((0..).zip(seen).all(|(b, seen)| seen == (a != b)), "{a}: {seen:?}");
        }
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_allowed(hosts in 2u16..40, at_most in 1u32..5, seed: u64) {
            let to = random_matrix(hosts, at_most, &mut stream(seed, "random", 0));
            let mut got = vec![0; hosts as usize];
            for (src, dst) in to.iter().enumerate() {
                prop_assert!(src as u16 != *dst);
                got[*dst as usize] += 1;
            }
            prop_assert!(got.iter().all(|n| *n <= at_most), "{got:?}");
        }

        /// As long as there is such a matrix at all, which is so if the largest rack finds room outside.
        #[test]
        fn flows_leave_their_racks_and_nobody_gets_more_than_allowed(
            racks in proptest::collection::vec(1u32..7, 2..6), at_most in 1u32..4, seed: u64,
        ) {
            let places: Vec<(u32, u32)> =
                (0..).zip(&racks).flat_map(|(rack, hosts)| (0..*hosts).map(move |_| (rack, 0))).collect();
            let (all, most) = (places.len() as u32, racks.iter().copied().max().unwrap());
            prop_assume!(most <= at_most * (all - most));
            let to = matrix_across_racks(&places, at_most, &mut stream(seed, "random", 0));
            let mut got = vec![0; places.len()];
            for (src, dst) in to.iter().enumerate() {
                prop_assert!(places[src].0 != places[*dst as usize].0, "{src} sends to {dst}");
                got[*dst as usize] += 1;
            }
            prop_assert!(got.iter().all(|n| *n <= at_most), "{got:?}");
        }

        #[test]
        fn staggered_flows_stay_where_they_should(seed: u64) {
            // Two pods of two racks of three hosts.
            let places: Vec<(u32, u32)> = (0..12).map(|h| (h / 3, h / 6)).collect();
            let mut random = stream(seed, "staggered", 0);
            for src in 0..12 {
                let mut place = |shares| places[staggered_destination(src, &places, shares, &mut random) as usize];
                let (rack, pod) = places[src as usize];
                prop_assert_eq!(place((1.0, 0.0)), (rack, pod));
                prop_assert!(matches!(place((0.0, 1.0)), (r, p) if r != rack && p == pod));
                prop_assert!(place((0.0, 0.0)).1 != pod);
            }
        }
    }

    #[test]
    fn any_host_of_another_rack_is_as_likely() {
        let places = [(0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (2, 0)];
        let mut random = stream(9, "racks", 0);
        let mut got = [0u32; 6];
        (0..8_000).for_each(|_| got[random_in_other_rack(0, &places, &mut random) as usize] += 1);
        assert_eq!(got[..2], [0, 0]);
        // Each of four 2,000 times, with a standard deviation of 39.
        assert!(got[2..].iter().all(|n| n.abs_diff(2_000) < 160), "{got:?}");
    }

    #[test]
    fn hot_hosts_get_their_share() {
        let mut random = stream(1, "hotspot", 0);
        let hot = (0..10_000).filter(|_| {
            let (src, dst) = hotspot_pair(100, &[7, 8], 0.5, &mut random);
            assert_ne!(src, dst);
            [7, 8].contains(&dst)
        });
        // Half, and of the others two in a hundred.
        let hot = hot.count() as f64 / 10_000.0;
        assert!((hot - 0.51).abs() < 0.02, "{hot}");
    }

    #[test]
    fn a_stride_goes_round() {
        assert_eq!(stride(5, 2), [2, 3, 4, 0, 1]);
    }
}
