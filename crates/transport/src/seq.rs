//! Sequence numbers that wrap.

/// The first byte of a subflow's stream. The SYN takes the sequence number before it (RFC 9293,
/// section 3.4).
pub(crate) const FIRST_BYTE: u64 = 1;

/// A sequence number as the wire carries it: 32 bits that wrap (RFC 9293, section 3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// The sequence number of a position in the stream.
    #[inline]
    pub fn of(position: u64) -> Seq {
        Seq(position as u32)
    }

    /// The position that this number means: the one within 2^31 of `reference`.
    #[inline]
    pub fn near(self, reference: u64) -> u64 {
        let ahead = self.0.wrapping_sub(reference as u32) as i32;
        reference.wrapping_add_signed(ahead as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn survives_the_wire(reference in 1u64 << 31..1 << 60, off in -(1i64 << 31) + 1..1 << 31) {
            let position = reference.wrapping_add_signed(off);
            prop_assert_eq!(Seq::of(position).near(reference), position);
        }
    }
}
