//! The settings of connections with several subflows.

use linkpool_settings::{Bounds, Timeouts, Written, settings};
use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of connections with several subflows.
    pub struct Multipath {
        /// Further subflows open with the first ACK after more than this amount of data has been
        /// sent. `"0B"`: as soon as the first subflow is established.
        join_after: u64 as Bytes = 0, of Joins;
        /// The earliest time at which each further subflow opens, counted from the flow's start:
        /// `["5s", "15s"]` for `subflows = 3`.
        join_at: Vec<Time> = Vec::new(), of Joins;
        /// Numbers of the backup subflows (the first subflow is 0). They open like the others, but
        /// get new data only while no other subflow can carry it (the B flag of MP_JOIN, RFC 8684,
        /// section 3.2).
        backup: u32 as SubflowSet = 0, of Joins;
        /// Which subflow gets new data, of all with room in their windows. `"round-robin"`: they
        /// take turns, a segment each. `"lowest-rtt"`: the subflow with the least smoothed RTT.
        /// `"lowest-time-to-send"`: the subflow that needs the least time to send its data, as in
        /// Linux (see below).
        scheduler: PacketScheduler = PacketScheduler::RoundRobin, of Several;
        /// Number of timeouts in a row after which a subflow is stale, or `"never"`. Other subflows
        /// send the data of a stale subflow again. A stale subflow gets new data only if all
        /// subflows are stale. It is stale until new data on it is acknowledged.
        stale_after: u32 as Timeouts = 1, paper_2013 = u32::MAX, within Bounds::POSITIVE_OR_NEVER, of Several;
        /// Faults of the MMPTCP authors' implementation, any of `["join-syn-once", "join-stall",
        /// "fin-reset"]`; see below.
        faults: Faults as Vec<Fault> = Faults::default(), of Several;
    }
}

/// A list of subflow numbers in a file; code holds it as a set of bits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u32>")]
pub struct SubflowSet(Vec<u32>);

impl TryFrom<Vec<u32>> for SubflowSet {
    type Error = &'static str;

    fn try_from(numbers: Vec<u32>) -> Result<SubflowSet, &'static str> {
        let good = numbers.iter().all(|s| *s < u32::BITS);
        good.then_some(SubflowSet(numbers)).ok_or("subflows are numbered from 0, and there are at most 32")
    }
}

impl Written<u32> for SubflowSet {
    fn of(bits: &u32) -> SubflowSet {
        SubflowSet((0..32).filter(|s| bits >> s & 1 == 1).collect())
    }
    fn value(self) -> u32 {
        self.0.iter().fold(0, |bits, s| bits | 1 << s)
    }
}

/// Faults of the implementation that MMPTCP's authors published. They make MPTCP collapse under
/// incast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A lost JOIN SYN is not sent again. If the SYN arrives and its SYN-ACK is lost, the SYN-ACK
    /// is sent again.
    pub join_syn_once: bool,
    /// When it is the turn of a subflow whose handshake is not done, all new data waits for that
    /// subflow.
    pub join_stall: bool,
    /// The sender sends a FIN on all subflows as soon as the last data has been sent. A receiver
    /// that gets a FIN before the end of that subflow's handshake resets the connection.
    pub fin_reset: bool,
}

/// A fault, as a scenario names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A lost JOIN SYN is not sent again.
    JoinSynOnce,
    /// New data waits for a subflow whose turn it is, even if its handshake is not done.
    JoinStall,
    /// FINs follow the last data. A FIN that arrives before the end of its subflow's handshake
    /// resets the connection.
    FinReset,
}

impl Written<Faults> for Vec<Fault> {
    fn of(faults: &Faults) -> Vec<Fault> {
        let Faults { join_syn_once, join_stall, fin_reset } = *faults;
        let all = [(Fault::JoinSynOnce, join_syn_once), (Fault::JoinStall, join_stall), (Fault::FinReset, fin_reset)];
        all.into_iter().filter(|(_, is_there)| *is_there).map(|(fault, _)| fault).collect()
    }
    fn value(self) -> Faults {
        Faults {
            join_syn_once: self.contains(&Fault::JoinSynOnce),
            join_stall: self.contains(&Fault::JoinStall),
            fin_reset: self.contains(&Fault::FinReset),
        }
    }
}

impl Default for Multipath {
    fn default() -> Multipath {
        Multipath {
            scheduler: PacketScheduler::RoundRobin,
            backup: 0,
            join_after: 0,
            join_at: Vec::new(),
            stale_after: u32::MAX,
            faults: Faults::default(),
        }
    }
}

/// The scheduler: it chooses the subflow that gets new data, of all with room in their windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketScheduler {
    /// The subflows take turns, a segment each.
    RoundRobin,
    /// The subflow with the least smoothed RTT.
    LowestRtt,
    /// The subflow that needs the least time to send its data (Linux, `mptcp_subflow_get_send` in
    /// net/mptcp/protocol.c). Data is assigned to it even if its window is full, rather than sent
    /// on a slower subflow.
    LowestTimeToSend,
}
