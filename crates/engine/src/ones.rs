//! The bits of a word.

/// The numbers of the bits that are set in `word`, in order.
#[inline]
pub fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (word != 0).then(|| word &= word - 1).map(|()| bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_a_word() {
        assert_eq!(ones(0).count(), 0);
        assert_eq!(ones(1 << 63 | 0b1001).collect::<Vec<_>>(), [0, 3, 63]);
        assert_eq!(ones(u64::MAX).count(), 64);
    }
}
