//! Prefetching: with the calls of compiled hooks (`transport::control`), the only unsafe code of
//! the workspace.

/// Asks the processor to bring the cache lines of `place` closer; means nothing but time.
///
/// A packet-hop touches the link that it leaves, the link that it takes and a place in the ring of
/// each, all at random in a large fabric. A window knows long before which these are: waiting for
/// memory was half the time of a hop on a fat-tree of 1,024 hosts
/// (`docs/reports/2026-11-21-performance.md`).
#[inline(always)]
pub fn prefetch<T: ?Sized>(place: &T) {
    prefetch_at(std::ptr::from_ref(place).cast::<u8>(), size_of_val(place).div_ceil(64));
}

/// The same for the first cache lines of `place` only.
#[inline(always)]
pub fn prefetch_lines<const LINES: usize, T>(place: &T) {
    const { assert!(64 * LINES <= size_of::<T>()) };
    prefetch_at(place, LINES);
}

/// The same for the place of this number, counted from the start of `places`, which it may be
/// beyond.
#[inline(always)]
pub fn prefetch_place<T>(places: &[T], number: usize) {
    prefetch_at(places.as_ptr().wrapping_add(number), size_of::<T>().div_ceil(64));
}

/// The same for all of `places`.
#[inline(always)]
pub(crate) fn prefetch_all<T>(places: &[T]) {
    prefetch_at(places.as_ptr(), size_of_val(places).div_ceil(64));
}

#[inline(always)]
#[allow(unsafe_code)]
fn prefetch_at<T>(place: *const T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = place.cast::<i8>().wrapping_add(line * 64);
        // SAFETY: a prefetch reads nothing and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, lines);
}
