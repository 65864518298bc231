//! Senders as they are made for flows, and what flows have come to when they end.

use crate::host::endpoint::SendingEnd;
use crate::plan::transports::{PlannedTransport, Scatter};
use crate::results::outcome::{FlowOutcome, SubflowOutcome};
use linkpool_network::{Flags, Packet};
use linkpool_transport::{Sender, SenderState};
use linkpool_units::Time;

/// A sender of `transport`, to a host to which so many equal-cost `paths` lead.
pub(crate) fn new_sender(transport: &PlannedTransport, size: Option<u64>, paths: impl Fn() -> u64) -> Sender {
    let config = transport.config.clone();
    let mut sender = if transport.auto_subflows {
        // Subflow 0 of MMPTCP is not one of those that the paths are for.
        let before = transport.scatter == Scatter::First;
        let most = config.subflows - before as usize;
        Sender::with_subflows(config, paths().min(most as u64) as usize + before as usize, size)
    } else {
        Sender::new(config, size)
    };
    if transport.auto_dupack {
        sender.expect_reordering(dupack_threshold(paths()));
    }
    sender
}

/// Duplicate ACKs that mean a loss, of packets scattered over so many paths (MMPTCP paper, section 2.4): 3, and one more for each if
/// there is more than one. In a fat-tree these are the aggregation switches of a pod, or the core switches.
fn dupack_threshold(paths: u64) -> u32 {
    let more = if paths == 1 { 0 } else { paths };
    u32::try_from(more).unwrap_or(u32::MAX).saturating_add(3)
}

pub(crate) fn outcome(end: &SendingEnd, now: Time) -> FlowOutcome {
    let sender = &end.sender;
    let subflow = |s| {
        let mut syn = Packet::default();
        end.address.path.apply(s, &mut syn);
        let path = sender.path(s);
        SubflowOutcome {
            entropy: syn.entropy,
            pinned: syn.flags.has(Flags::PINNED),
            stats: sender.stats(s),
            cwnd: path.cwnd,
            ssthresh: path.ssthresh,
            srtt: (path.srtt > 0.0).then_some(path.srtt / 1e12),
            min_rtt: sender.min_rtt(s),
            rto: sender.rto(s),
        }
    };
    let finished = if sender.state() == SenderState::Finished { sender.ended() } else { None };
    FlowOutcome {
        flow: end.address.flow,
        planned: end.planned,
        finished,
        active_until: sender.ended().unwrap_or(now),
        acked_bytes: sender.acked(),
        measured_bytes: end.period.bytes(sender.acked()),
        failed: sender.state() == SenderState::Failed,
        suppressions: sender.suppressions(),
        subflows: (0..sender.subflows()).map(subflow).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_of_a_fat_tree_with_k_8() {
        // In a rack, in a pod with 4 aggregation switches, over 16 core switches.
        assert_eq!([1, 4, 16].map(dupack_threshold), [3, 7, 19]);
        assert_eq!(dupack_threshold(u64::MAX), u32::MAX);
    }
}
