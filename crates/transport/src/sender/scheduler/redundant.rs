//! The redundant scheduler: each subflow carries the whole stream (ReMP; Frömmgen, Erbshäußer, Buchmann,
//! Zimmermann, Wehrle, "ReMP TCP: Low Latency Multipath TCP", ICC 2016; mptcp_redundant.c of
//! multipath-tcp.org).
//!
//! A subflow takes the pieces of the stream in order. It leaves out what is acknowledged for the connection
//! when its turn comes, so a slow subflow does not fall behind for ever (`redsched_correct_skb_pointers`).

use super::super::limits::Limits;
use super::super::stream::{Piece, Stream};
use crate::config::Config;
use crate::id::SubflowId;

/// Where each subflow is in the stream.
#[derive(Debug)]
pub(in super::super) struct Redundant {
    /// The first byte that the subflow has not sent.
    next: Box<[u64]>,
}

impl Redundant {
    pub(super) fn new(subflows: usize) -> Redundant {
        Redundant { next: vec![0; subflows].into() }
    }

    /// The next piece for subflow `s`: one that another subflow has sent, else new data.
    pub(in super::super) fn take(
        &mut self,
        s: SubflowId,
        stream: &mut Stream,
        limits: &mut Limits,
        config: &Config,
    ) -> Option<Piece> {
        let first = self.next[s].max(stream.una);
        let piece =
            if first < stream.nxt { limits.piece(stream, first, config) } else { limits.fresh(stream, config)? };
        self.next[s] = piece.0 + u64::from(piece.1);
        Some(piece)
    }
}
