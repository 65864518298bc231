//! Maps by numbers that the simulation itself gives: nobody chooses them so that they collide, so a
//! cheap hash is enough.

use linkpool_engine::hash_u64;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by an id, or by several.
pub(crate) type ById<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Mixes numbers one after another.
#[derive(Debug, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = hash_u64(self.0 ^ number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_units::HostId;
    use std::hash::{BuildHasher, Hash};

    fn hash(of: impl Hash) -> u64 {
        BuildHasherDefault::<IdHasher>::default().hash_one(of)
    }

    /// The hash of a number is its own; that of several depends on their order. Maps take places from
    /// the low bits, and tags from the high ones: neighbours differ in both.
    #[test]
    fn ids_are_spread() {
        assert_eq!(hash(HostId::new(7)), hash_u64(7));
        assert_eq!(hash((HostId::new(7), HostId::new(9))), hash_u64(hash_u64(7) ^ 9));
        assert_ne!(hash((HostId::new(7), HostId::new(9))), hash((HostId::new(9), HostId::new(7))));
        let all: Vec<u64> = (0..256).map(|i| hash(HostId::new(i))).collect();
        for part in [|hash: u64| hash & 127, |hash| hash >> 57] {
            let mut places = [0; 128];
            all.iter().for_each(|hash| places[part(*hash) as usize] += 1);
            assert!(places.iter().all(|count| *count <= 8), "{places:?}");
        }
        let map: ById<HostId, usize> = (0..1000).map(|i| (HostId::new(i), i)).collect();
        assert!((0..1000).all(|i| map[&HostId::new(i)] == i));
    }
}
