//! `bpf/intf.h` in Rust: what the BPF programs share with user space. `linkpool-linux-twins` tests
//! that both are the same.

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// Fractional bits of windows and rates.
pub const FIX_BITS: u32 = 20;
/// Coupled subflows of one connection.
pub const SUBFLOWS: usize = 8;

/// A fixed-point number of the programs as a real number.
pub fn real(fixed: u64) -> f64 {
    fixed as f64 / (1u64 << FIX_BITS) as f64
}

/// A real number, at least 0, as a fixed-point number of the programs.
pub fn fixed(real: f64) -> u64 {
    (real * (1u64 << FIX_BITS) as f64).round() as u64
}

/// `struct lp_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(missing_docs)]
pub struct Params {
    pub beta: u64,
    pub alpha0: u64,
    pub g: u64,
    pub join_bytes: u64,
    pub cwnd_min: u32,
    pub gamma: u32,
    pub tau: u32,
    pub suppression: u8,
    pub release: u8,
    pub ack_order: u8,
    pub ssthresh_below: u8,
    pub ewtcp_increase: u8,
    pub observe: u8,
    pub unused: [u8; 6],
}

/// `struct lp_endpoint`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(missing_docs)]
pub struct Endpoint {
    pub address: [u8; 16],
    pub port: u16,
    pub id: u8,
    pub unused: u8,
}

/// `struct lp_path`.
#[repr(C)]
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(missing_docs)]
pub struct Path {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub srtt: u32,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub cut_until: u32,
    pub established: u8,
    pub in_recovery: u8,
    pub reduced: u8,
    pub family: u8,
    pub backup: u8,
    pub initiated: u8,
    pub unused: [u8; 2],
    /// The algorithm's own: `fraction`, `trash` or `distance`.
    pub own: [u64; 3],
    pub delivered: u64,
    pub marked: u64,
    pub lost: u64,
    pub rounds: u64,
    pub cuts: u64,
    pub losses: u64,
    pub local: Endpoint,
    pub remote: Endpoint,
}

/// `struct lp_conn`.
#[repr(C)]
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(missing_docs)]
pub struct Conn {
    pub token: u32,
    pub netns: u32,
    pub subflows: u8,
    pub first: u8,
    pub join_told: u8,
    pub unused1: [u8; 5],
    pub opened: u64,
    pub suppressed: u32,
    pub rounds: u32,
    pub marked: u32,
    pub suppressions: u32,
    pub releases: u32,
    pub unused: u32,
    pub paths: [Path; SUBFLOWS],
}

impl Conn {
    /// Of which nothing is known yet.
    pub fn zeroed() -> Conn {
        Conn::new_zeroed()
    }

    /// The subflows that are established, with their slots.
    pub fn established(&self) -> impl Iterator<Item = (usize, &Path)> {
        self.paths.iter().enumerate().filter(|(_, path)| path.established != 0)
    }
}

/// `struct lp_entry`.
#[repr(C)]
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(missing_docs)]
pub struct Entry {
    pub lock: u32,
    pub dead: u32,
    pub conn: Conn,
}

/// `struct lp_ack`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Ack {
    pub acked: u32,
    pub marked: u8,
    pub round_ended: u8,
}

/// `struct lp_event`.
#[repr(C)]
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[allow(missing_docs)]
pub struct Event {
    pub time: u64,
    pub conn: u64,
    pub cwnd: u64,
    pub ssthresh: u64,
    pub delivered: u64,
    pub marked: u64,
    pub lost: u64,
    pub token: u32,
    pub netns: u32,
    pub srtt: u32,
    pub kind: u8,
    pub slot: u8,
    pub suppressed: u8,
    pub in_recovery: u8,
    pub ca_state: u8,
    pub slow_start: u8,
    pub backup: u8,
    pub first: u8,
    pub flight: u32,
}

/// `enum lp_event_kind`.
pub mod kind {
    /// A subflow is established.
    pub const UP: u8 = 1;
    /// A subflow has gone.
    pub const DOWN: u8 = 2;
    /// All subflows but the first are to carry no new data.
    pub const SUPPRESS: u8 = 3;
    /// They may again.
    pub const RELEASE: u8 = 4;
    /// `join_bytes` were sent.
    pub const JOIN_BYTES: u8 = 5;
    /// A round of a subflow has ended.
    pub const ROUND: u8 = 6;
}

/// `enum lp_counter`, by position, in words.
pub const COUNTERS: [&str; 6] = [
    "events lost",
    "rounds lost",
    "windows out of bounds",
    "subflows uncoupled (no room)",
    "ACKs",
    "changes of state not told",
];
