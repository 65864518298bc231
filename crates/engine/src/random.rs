//! Streams of random numbers, each derived from the seed, a name and an index.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of randomness of its own.
pub type Stream = Xoshiro256PlusPlus;

/// The stream called `name` (and numbered `index`) under `seed`.
///
/// Each source of randomness has its own name, so adding one does not shift the others.
pub fn stream(seed: u64, name: &str, index: u64) -> Stream {
    let mut h = hash_u64(seed);
    for byte in name.bytes() {
        h = hash_u64(h ^ byte as u64);
    }
    Stream::seed_from_u64(hash_u64(h ^ index))
}

/// A well-mixed hash of `x`: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#[inline]
pub fn hash_u64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngCore;
    use std::collections::HashSet;

    #[test]
    fn streams_are_independent_of_each_other() {
        let mut a = stream(1, "ecmp", 0);
        assert_eq!(a.next_u64(), stream(1, "ecmp", 0).next_u64());
        let others = [stream(2, "ecmp", 0), stream(1, "ecmq", 0), stream(1, "ecmp", 1)];
        let first = stream(1, "ecmp", 0).next_u64();
        for mut o in others {
            assert_ne!(o.next_u64(), first);
        }
    }

    /// The first outputs of SplitMix64 with seed 0, as its authors' program prints them: output i
    /// is the hash of i times the constant that each step adds.
    #[test]
    fn the_hash_is_that_of_splitmix64() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        let outputs = [0, 1, 2].map(|i| hash_u64(step.wrapping_mul(i)));
        assert_eq!(outputs, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    /// No bit of a name or an index is lost.
    #[test]
    fn names_and_indices_each_have_a_stream() {
        let first = |name: &str, index| stream(7, name, index).next_u64();
        let names: HashSet<u64> = (0..128u8).map(|c| first(&char::from(c).to_string(), 0)).collect();
        let indices: HashSet<u64> = (0..128).map(|i| first("", i)).collect();
        assert_eq!((names.len(), indices.len()), (128, 128));
    }
}
