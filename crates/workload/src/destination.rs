//! Random choice of receivers.

use linkpool_engine::Stream;
use linkpool_units::HostId;
use rand::Rng;
use rand::seq::SliceRandom;

/// A permutation without fixed points, uniform among them: host i sends to entry i.
///
/// # Panics
/// With fewer than 2 hosts, which have none.
pub fn permutation(hosts: usize, random: &mut Stream) -> Vec<HostId> {
    assert!(hosts >= 2, "one host cannot send to another");
    let mut to: Vec<HostId> = HostId::first(hosts).collect();
    // About one permutation in e has no fixed point, so this ends soon.
    loop {
        to.shuffle(random);
        if HostId::first(hosts).zip(&to).all(|(from, to)| from != *to) {
            return to;
        }
    }
}

/// A host other than `host`, uniformly.
pub fn random_other(hosts: usize, host: HostId, random: &mut Stream) -> HostId {
    let other = random.random_range(0..hosts - 1);
    HostId::new(other + usize::from(other >= host.index()))
}

/// Are two hosts in one rack? `places` are the rack and the pod of each host.
pub(crate) fn same_rack(places: &[(u32, u32)], one: HostId, other: HostId) -> bool {
    places[one.index()].0 == places[other.index()].0
}

/// A host of another rack than that of `host`, uniformly. `places` are the rack and the pod of each
/// host.
pub fn random_in_other_rack(host: HostId, places: &[(u32, u32)], random: &mut Stream) -> HostId {
    assert!(HostId::first(places.len()).any(|other| !same_rack(places, host, other)), "all hosts are in one rack");
    loop {
        let other = random_other(places.len(), host, random);
        if !same_rack(places, host, other) {
            return other;
        }
    }
}

/// Host i sends to host i + `step`, round the end: host i sends to entry i.
pub(crate) fn stride(hosts: usize, step: usize) -> Vec<HostId> {
    (0..hosts).map(|i| HostId::new((i + step) % hosts)).collect()
}

/// A host of `hot` with probability `share`, else any host; and a sender, uniform over the other
/// hosts.
pub(crate) fn hotspot_pair(hosts: usize, hot: &[HostId], share: f64, random: &mut Stream) -> (HostId, HostId) {
    let dst = if random.random::<f64>() < share {
        hot[random.random_range(0..hot.len())]
    } else {
        HostId::new(random.random_range(0..hosts))
    };
    (random_other(hosts, dst, random), dst)
}

/// A destination for `src`: with probability `rack` another host of its rack, with `pod` one of its
/// pod in another rack, else one of another pod. `places` are the rack and the pod of each host.
/// Where there is no such host, any other.
pub(crate) fn staggered_destination(
    src: HostId,
    places: &[(u32, u32)],
    (rack, pod): (f64, f64),
    random: &mut Stream,
) -> HostId {
    let (my_rack, my_pod) = places[src.index()];
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
    let others = |fits: &dyn Fn((u32, u32)) -> bool| -> Vec<HostId> {
        HostId::first(places.len()).filter(|h| *h != src && fits(places[h.index()])).collect()
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
            assert!(HostId::first(17).zip(&to).all(|(from, to)| from != *to));
            to.sort_unstable();
            assert!(HostId::first(17).eq(to));
        }
    }

    #[test]
    fn another_host_is_any_other() {
        let mut random = stream(3, "pairs", 0);
        for a in HostId::first(5) {
            let mut seen = [false; 5];
            (0..200).for_each(|_| seen[random_other(5, a, &mut random).index()] = true);
            assert!(HostId::first(5).zip(seen).all(|(b, seen)| seen == (a != b)), "{a:?}: {seen:?}");
        }
    }

    proptest! {
        #[test]
        fn staggered_flows_stay_where_they_should(seed: u64) {
            // Two pods of two racks of three hosts.
            let places: Vec<(u32, u32)> = (0..12).map(|h| (h / 3, h / 6)).collect();
            let mut random = stream(seed, "staggered", 0);
            for src in HostId::first(12) {
                let mut place = |shares| places[staggered_destination(src, &places, shares, &mut random).index()];
                let (rack, pod) = places[src.index()];
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
        (0..8_000).for_each(|_| got[random_in_other_rack(HostId::new(0), &places, &mut random).index()] += 1);
        assert_eq!(got[..2], [0, 0]);
        // Each of four 2,000 times, with a standard deviation of 39.
        assert!(got[2..].iter().all(|n| n.abs_diff(2_000) < 160), "{got:?}");
    }

    #[test]
    fn hot_hosts_get_their_share() {
        let mut random = stream(1, "hotspot", 0);
        let hosts = [7, 8].map(HostId::new);
        let hot = (0..10_000).filter(|_| {
            let (src, dst) = hotspot_pair(100, &hosts, 0.5, &mut random);
            assert_ne!(src, dst);
            hosts.contains(&dst)
        });
        // Half, and of the others two in a hundred.
        let hot = hot.count() as f64 / 10_000.0;
        assert!((hot - 0.51).abs() < 0.02, "{hot}");
        // A tenth, and two in a hundred of the others: 0.118, with a standard deviation of 0.003.
        let drawn = (0..10_000).map(|_| hotspot_pair(100, &hosts, 0.1, &mut random).1);
        let hot = drawn.filter(|dst| hosts.contains(dst)).count() as f64 / 10_000.0;
        assert!((hot - 0.118).abs() < 0.016, "{hot}");
    }

    #[test]
    fn a_stride_goes_round() {
        assert_eq!(stride(5, 2), [2, 3, 4, 0, 1].map(HostId::new));
    }
}
