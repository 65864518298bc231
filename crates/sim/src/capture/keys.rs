//! The keys of MPTCP connections, and what follows from them (RFC 8684).

use crate::plan::FlowId;
use hmac::{Hmac, KeyInit, Mac};
use linkpool_engine::hash_u64;
use linkpool_transport::SubflowId;
use sha2::{Digest, Sha256};

/// What one end of a connection draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key(pub(super) u64);

/// The keys of both ends: of the sender of data, and of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keys {
    pub(super) sender: Key,
    pub(super) receiver: Key,
}

impl Key {
    fn hash(self) -> [u8; 32] {
        Sha256::digest(self.0.to_be_bytes()).into()
    }

    /// The most significant 32 bits of the hash (section 3.2).
    pub(super) fn token(self) -> u32 {
        let [a, b, c, d, ..] = self.hash();
        u32::from_be_bytes([a, b, c, d])
    }

    /// The lower half of the initial data sequence number, which is the least significant 64 bits
    /// of the hash (section 3.1).
    pub(super) fn first_data_sequence(self) -> u32 {
        let [.., a, b, c, d] = self.hash();
        u32::from_be_bytes([a, b, c, d])
    }
}

impl Keys {
    /// The keys of `flow` in a run with `seed`. They are not secret.
    pub(super) fn of(flow: FlowId, seed: u64) -> Keys {
        let key = |end: u64| Key(hash_u64(hash_u64(hash_u64(seed) ^ u64::from(flow)) ^ end));
        Keys { sender: key(0), receiver: key(1) }
    }

    /// The random numbers of the two ends for `subflow`: of the sender, and of the receiver.
    pub(super) fn nonces(self, subflow: SubflowId) -> (u32, u32) {
        let nonce = |Key(key): Key| hash_u64(key ^ u64::from(u32::from(subflow))) as u32;
        (nonce(self.sender), nonce(self.receiver))
    }

    /// The code by which the receiver shows that it has the keys: the left 64 bits (section 3.2).
    pub(super) fn receiver_code(self, subflow: SubflowId) -> [u8; 8] {
        let (sender, receiver) = self.nonces(subflow);
        left(&code((self.receiver, self.sender), (receiver, sender)))
    }

    /// The code by which the sender shows that it has the keys: the left 160 bits (section 3.2).
    pub(super) fn sender_code(self, subflow: SubflowId) -> [u8; 20] {
        left(&code((self.sender, self.receiver), self.nonces(subflow)))
    }
}

/// HMAC-SHA256 of the random numbers under the keys, those of the end that sends it first.
fn code((mine, other): (Key, Key), (my_nonce, other_nonce): (u32, u32)) -> [u8; 32] {
    let key = [mine.0.to_be_bytes(), other.0.to_be_bytes()].concat();
    let mut code = Hmac::<Sha256>::new_from_slice(&key).expect("a key may have any length");
    code.update(&my_nonce.to_be_bytes());
    code.update(&other_nonce.to_be_bytes());
    code.finalize().into_bytes().into()
}

fn left<const N: usize>(bytes: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's `hashlib` and `hmac`.
    #[test]
    fn tokens_and_codes_are_those_of_another_implementation() {
        let keys = Keys { sender: Key(0x0102_0304_0506_0708), receiver: Key(0x1112_1314_1516_1718) };
        assert_eq!((keys.sender.token(), keys.sender.first_data_sequence()), (0x6684_0dda, 0xd29d_6f72));
        let code = code((keys.sender, keys.receiver), (0xaabb_ccdd, 0x0011_2233));
        assert_eq!(left(&code), [0x0a, 0x2b, 0x39, 0x13, 0x81, 0x26, 0x2a, 0x88]);
    }
    /// With the random numbers of subflow 3, which SplitMix64 makes of the keys.
    #[test]
    fn both_ends_show_that_they_have_the_keys() {
        let keys = Keys { sender: Key(0x0102_0304_0506_0708), receiver: Key(0x1112_1314_1516_1718) };
        let three = SubflowId::new(3);
        assert_eq!(keys.nonces(three), (0x0a5e_6acc, 0xa03c_8710));
        assert_eq!(u64::from_be_bytes(keys.receiver_code(three)), 0xc690_ace6_8568_2b32);
        let code: String = keys.sender_code(three).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(code, "898c827d5665cd5245f5065bb33edcd03fdc34e7");
    }

    /// Keys differ by run, by flow and by end, and random numbers by subflow.
    #[test]
    fn nothing_is_drawn_twice() {
        let mut all = std::collections::HashSet::new();
        for (seed, flow) in (0..8).flat_map(|seed| (0..64).map(move |flow| (seed, flow))) {
            let keys = Keys::of(FlowId::new(flow), seed);
            assert!(all.insert(keys.sender.0) && all.insert(keys.receiver.0), "seed {seed}, flow {flow}");
        }
        let keys = Keys::of(FlowId::new(3), 1);
        let drawn: std::collections::HashSet<u32> =
            (0..32).map(|s| keys.nonces(SubflowId::new(s))).flat_map(|(sender, receiver)| [sender, receiver]).collect();
        assert_eq!(drawn.len(), 64);
    }
}
