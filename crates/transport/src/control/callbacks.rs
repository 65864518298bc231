//! Hooks that another compiler made: native functions with the C calling convention.
//!
//! Beside prefetching, this is the only place with unsafe code. Every call rests on one invariant,
//! for which the caller of [`Callbacks::at`] vouches. `Block` and [`layout`] are the memory that
//! both sides share.

use super::Ack;
use crate::congestion::CongestionState;
use crate::id::SubflowId;
use std::cell::Cell;
use std::mem::offset_of;

/// The layout of a type in memory, for compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes between two elements of an array.
    pub size: usize,
    /// The fields that hooks see: name, offset in bytes, and kind (`f`: `f64`; `i`: 64-bit integer;
    /// `b`: bool, one byte).
    pub fields: Vec<(&'static str, usize, char)>,
}

/// The layout of a [`CongestionState`].
pub fn layout() -> Layout {
    let fields = vec![
        ("cwnd", offset_of!(CongestionState, cwnd), 'f'),
        ("ssthresh", offset_of!(CongestionState, ssthresh), 'f'),
        ("srtt", offset_of!(CongestionState, srtt), 'f'),
        ("snd_una", offset_of!(CongestionState, snd_una), 'i'),
        ("snd_nxt", offset_of!(CongestionState, snd_nxt), 'i'),
        ("cut_until", offset_of!(CongestionState, cut_until), 'i'),
        ("established", offset_of!(CongestionState, established), 'b'),
        ("in_recovery", offset_of!(CongestionState, in_recovery), 'b'),
    ];
    Layout { size: size_of::<CongestionState>(), fields }
}

/// The memory of one connection: words of the connection, then as many words for each subflow. A
/// number takes a word (`f64`, or `i64`), a bool the first byte of one.
///
/// The words are cells, since hooks that only read may be called while the algorithm is borrowed.
#[derive(Debug)]
pub(super) struct Block {
    words: Box<[Cell<u64>]>,
    /// Words of the connection.
    head: usize,
    /// Subflows.
    n: usize,
}

impl Block {
    pub(super) fn new(connection: &[u64], subflow: &[u64], n: usize) -> Block {
        let all = connection.iter().chain(std::iter::repeat_n(subflow, n).flatten());
        Block { words: all.copied().map(Cell::new).collect(), head: connection.len(), n }
    }

    /// A word of the connection.
    pub(super) fn word(&self, at: usize) -> u64 {
        self.words[at].get()
    }

    /// The addresses of the connection's words, and of those of the subflows, of which there are
    /// `n`.
    #[inline]
    fn parts(&self, n: usize) -> (*mut u64, *mut u64) {
        assert_eq!(n, self.n, "as many subflows as when the connection was made");
        let start = self.words.as_ptr().cast::<u64>().cast_mut();
        (start, start.wrapping_add(self.head))
    }
}

/// The bit pattern of a bool in its word.
pub(super) fn word_of(flag: bool) -> u64 {
    u64::from_ne_bytes([flag.into(), 0, 0, 0, 0, 0, 0, 0])
}

/// The error that the function of a hook has raised an exception.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raised;

/// The answer of a hook.
pub(super) type Answer = Result<bool, Raised>;

/// A function returns 0 or 1, its answer, or something negative: it has raised an exception.
fn answer(returned: i32) -> Answer {
    if returned < 0 { Err(Raised) } else { Ok(returned != 0) }
}

/// The number of a subflow as functions take it.
#[inline]
fn number(s: SubflowId) -> i64 {
    u32::from(s).into()
}

// In all: the words of the connection, those of the subflows, the congestion states, and the number
// of both.
type InAckEvent = unsafe extern "C" fn(*mut u64, *mut u64, *mut CongestionState, i64, i64, i64, u8, u8, i64) -> i32;
type OnStates = unsafe extern "C" fn(*mut u64, *mut u64, *mut CongestionState, i64, i64) -> i32;
type CongAvoid = unsafe extern "C" fn(*mut u64, *mut u64, *mut CongestionState, i64, i64, f64) -> i32;
type Ssthresh = unsafe extern "C" fn(*mut u64, *mut u64, *mut CongestionState, i64, i64, i64, *mut f64) -> i32;
pub(super) type OnSubflow = unsafe extern "C" fn(*mut u64, *mut u64, i64, i64) -> i32;

/// Declares the hooks: each has a field, and a place in the array of addresses.
macro_rules! callbacks {
    ($($hook:ident: $signature:ty;)*) => {
        /// The functions of an algorithm, by the names of the hooks of
        /// [`CongestionControl`](super::CongestionControl), and `init`, which is called once before
        /// the others. A hook that it lacks is none.
        #[derive(Clone, Copy, Debug)]
        pub struct Callbacks { $(pub(super) $hook: Option<$signature>),* }

        impl Callbacks {
            /// The names of all hooks.
            pub const NAMES: &[&str] = &[$(stringify!($hook)),*];

            /// No hook at all: an algorithm that leaves windows as they are.
            pub const fn none() -> Callbacks {
                Callbacks { $($hook: None),* }
            }

            /// The functions at these addresses, one for each of [`Callbacks::NAMES`]; 0: none.
            ///
            /// # Safety
            ///
            /// Each address other than 0 is that of a function with the C calling convention and
            /// the signature of its hook. The function stays there until the process ends. It may
            /// be called by any thread, does not unwind, keeps no pointer, and touches only this
            /// memory of the caller:
            ///
            /// - behind the first pointer as many words as [`Definition`](super::Definition) has for
            ///   the connection, and behind the second those of `n` subflows;
            /// - behind the third pointer `n` congestion states, as [`layout`] describes them;
            /// - behind the last pointer of `ssthresh` the `f64` that it writes.
            #[allow(unsafe_code)]
            pub unsafe fn at(addresses: [usize; Callbacks::NAMES.len()]) -> Callbacks {
                let [$($hook),*] = addresses;
                Callbacks {
                    // SAFETY: none is 0, and any other address is that of such a function.
                    $($hook: unsafe { std::mem::transmute::<usize, Option<$signature>>($hook) }),*
                }
            }
        }
    };
}

callbacks! {
    init: OnSubflow;
    in_ack_event: InAckEvent;
    cut_after_growth: OnStates;
    cong_avoid: CongAvoid;
    ssthresh: Ssthresh;
    on_timeout: OnSubflow;
    undo: OnSubflow;
    on_established: OnSubflow;
    on_failed: OnSubflow;
    joins_now: OnStates;
    is_active: OnSubflow;
    needs_ecn_on: OnSubflow;
}

// SAFETY of all calls: the function is one that the caller of `Callbacks::at` has vouched for, and
// the pointers are to the memory that it may touch: `Block` has the words of as many subflows as
// there are congestion states.
#[allow(unsafe_code)]
impl Callbacks {
    #[inline]
    pub(super) fn in_ack_event(&self, block: &Block, states: &mut [CongestionState], s: SubflowId, ack: Ack) -> Answer {
        let Some(call) = self.in_ack_event else { return Ok(false) };
        let ((connection, subflows), n) = (block.parts(states.len()), states.len() as i64);
        let (acked, now, states) = (ack.acked.into(), ack.now.0 as i64, states.as_mut_ptr());
        let (marked, ended) = (ack.marked.into(), ack.round_ended.into());
        // SAFETY: as above.
        answer(unsafe { call(connection, subflows, states, n, number(s), acked, marked, ended, now) })
    }

    #[inline]
    pub(super) fn cut_after_growth(&self, block: &Block, states: &mut [CongestionState], s: SubflowId) -> Answer {
        let Some(call) = self.cut_after_growth else { return Ok(false) };
        let ((connection, subflows), n) = (block.parts(states.len()), states.len() as i64);
        // SAFETY: as above.
        answer(unsafe { call(connection, subflows, states.as_mut_ptr(), n, number(s)) })
    }

    #[inline]
    pub(super) fn cong_avoid(&self, block: &Block, states: &mut [CongestionState], s: SubflowId, acked: f64) -> Answer {
        let Some(call) = self.cong_avoid else { return Ok(false) };
        let ((connection, subflows), n) = (block.parts(states.len()), states.len() as i64);
        // SAFETY: as above.
        answer(unsafe { call(connection, subflows, states.as_mut_ptr(), n, number(s), acked) })
    }

    /// The slow start threshold after a loss; none if the algorithm leaves it to the default. It
    /// gets a copy of the congestion states, as it may not change them.
    pub(super) fn ssthresh(
        &self,
        block: &Block,
        states: &[CongestionState],
        s: SubflowId,
        flight: u32,
    ) -> Option<Result<f64, Raised>> {
        let call = self.ssthresh?;
        let ((connection, subflows), n) = (block.parts(states.len()), states.len() as i64);
        let (mut states, mut value) = (states.to_vec(), f64::NAN);
        let states = states.as_mut_ptr();
        // SAFETY: as above.
        let returned = unsafe { call(connection, subflows, states, n, number(s), flight.into(), &raw mut value) };
        Some(answer(returned).map(|_| value))
    }

    /// It gets a copy of the congestion states, as it may not change them.
    pub(super) fn joins_now(&self, block: &Block, states: &[CongestionState], sent: u64) -> Answer {
        let Some(call) = self.joins_now else { return Ok(true) };
        let ((connection, subflows), n) = (block.parts(states.len()), states.len() as i64);
        let mut states = states.to_vec();
        // SAFETY: as above.
        answer(unsafe { call(connection, subflows, states.as_mut_ptr(), n, sent as i64) })
    }

    /// Calls one of the hooks that see no congestion states.
    #[inline]
    pub(super) fn on_subflow(hook: Option<OnSubflow>, block: &Block, s: SubflowId) -> Answer {
        let Some(call) = hook else { return Ok(false) };
        let (connection, subflows) = block.parts(block.n);
        // SAFETY: as above.
        answer(unsafe { call(connection, subflows, block.n as i64, number(s)) })
    }
}
