//! The algorithms of `bpf/`, compiled natively: the same source that the kernel runs, for tests to
//! call.

#![allow(unsafe_code, reason = "calls of the C that the kernel runs")]

use linkpool_linux_control::intf::{Ack, Conn, Params};
use linkpool_transport::SubflowId;

/// The four hooks of one algorithm (`bpf/algorithm.h`). Pointers must be valid, and slots below 8.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    in_ack_event: unsafe extern "C" fn(*mut Conn, u32, *const Ack, *const Params) -> bool,
    cut_after_growth: unsafe extern "C" fn(*mut Conn, u32, *const Params) -> bool,
    cong_avoid: unsafe extern "C" fn(*mut Conn, u32, u32, *const Params),
    ssthresh: unsafe extern "C" fn(*mut Conn, u32, u32, *const Params) -> u64,
}

impl Hooks {
    /// An ACK has come on subflow `s`; was the window cut for a mark?
    pub fn in_ack_event(&self, conn: &mut Conn, s: SubflowId, ack: Ack, params: &Params) -> bool {
        // SAFETY: references are valid pointers, and the hook keeps none.
        unsafe { (self.in_ack_event)(conn, s.into(), &ack, params) }
    }

    /// The same ACK echoes a mark, and has grown the window.
    pub fn cut_after_growth(&self, conn: &mut Conn, s: SubflowId, params: &Params) -> bool {
        // SAFETY: as above.
        unsafe { (self.cut_after_growth)(conn, s.into(), params) }
    }

    /// `acked` packets are acknowledged outside recovery.
    pub fn cong_avoid(&self, conn: &mut Conn, s: SubflowId, acked: u32, params: &Params) {
        // SAFETY: as above.
        unsafe { (self.cong_avoid)(conn, s.into(), acked, params) }
    }

    /// The threshold after a loss with `flight` packets outstanding.
    pub fn ssthresh(&self, conn: &mut Conn, s: SubflowId, flight: u32, params: &Params) -> u64 {
        // SAFETY: as above.
        unsafe { (self.ssthresh)(conn, s.into(), flight, params) }
    }
}

macro_rules! hooks {
    ($($name:literal $ack:ident $cut:ident $grow:ident $loss:ident;)*) => {
        unsafe extern "C" {$(
            fn $ack(conn: *mut Conn, s: u32, ack: *const Ack, params: *const Params) -> bool;
            fn $cut(conn: *mut Conn, s: u32, params: *const Params) -> bool;
            fn $grow(conn: *mut Conn, s: u32, acked: u32, params: *const Params);
            fn $loss(conn: *mut Conn, s: u32, flight: u32, params: *const Params) -> u64;
        )*}

        /// The hooks of all algorithms, by the names that scenarios give them.
        pub const ALL: &[(&str, Hooks)] = &[$(
            ($name, Hooks { in_ack_event: $ack, cut_after_growth: $cut, cong_avoid: $grow, ssthresh: $loss }),
        )*];
    };
}

hooks! {
    "amp" lp_amp_in_ack_event lp_amp_cut_after_growth lp_amp_cong_avoid lp_amp_ssthresh;
    "xmp" lp_xmp_in_ack_event lp_xmp_cut_after_growth lp_xmp_cong_avoid lp_xmp_ssthresh;
    "dcm" lp_dcm_in_ack_event lp_dcm_cut_after_growth lp_dcm_cong_avoid lp_dcm_ssthresh;
    "mptcp-cut" lp_mptcp_cut_in_ack_event lp_mptcp_cut_cut_after_growth lp_mptcp_cut_cong_avoid lp_mptcp_cut_ssthresh;
    "dctcp" lp_dctcp_in_ack_event lp_dctcp_cut_after_growth lp_dctcp_cong_avoid lp_dctcp_ssthresh;
    "lia" lp_lia_in_ack_event lp_lia_cut_after_growth lp_lia_cong_avoid lp_lia_ssthresh;
    "olia" lp_olia_in_ack_event lp_olia_cut_after_growth lp_olia_cong_avoid lp_olia_ssthresh;
    "balia" lp_balia_in_ack_event lp_balia_cut_after_growth lp_balia_cong_avoid lp_balia_ssthresh;
    "ewtcp" lp_ewtcp_in_ack_event lp_ewtcp_cut_after_growth lp_ewtcp_cong_avoid lp_ewtcp_ssthresh;
    "uncoupled" lp_uncoupled_in_ack_event lp_uncoupled_cut_after_growth lp_uncoupled_cong_avoid lp_uncoupled_ssthresh;
}

unsafe extern "C" {
    static lp_layout: [usize; 64];
    static lp_layout_length: usize;
}

/// Sizes and offsets of `bpf/intf.h`, in the order of `layout.c`.
pub fn layout() -> &'static [usize] {
    // SAFETY: both are constants of layout.c, and the array has that many members.
    unsafe { std::slice::from_raw_parts((&raw const lp_layout).cast(), lp_layout_length) }
}
