//! The settings of connections with several subflows.

use linkpool_settings::{Bounds, Timeouts, Written, settings};
use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of connections with several subflows; the defaults are those of a single subflow.
    pub struct Multipath {
        /// Further subflows are opened with the first ACK after more than so much has been sent;
        /// `"0B"`: once the first is established.
        join_after: u64 as Bytes = 0, of Joins;
        /// When further subflows are opened at the soonest, a time after the flow's start for each:
        /// `["5s", "15s"]` for `subflows = 3`.
        join_at: Vec<Time> = Vec::new(), of Joins;
        /// Numbers of the subflows (the first is 0) that are opened like the others but get new
        /// data only while no other can carry it (the B flag of MP_JOIN, RFC 8684, section 3.2).
        backup: u32 as SubflowSet = 0, of Joins;
        /// Which of the subflows with room in their windows gets new data: `"round-robin"`, a
        /// segment at a time; `"lowest-rtt"`; `"lowest-time-to-send"`, the one that needs the least
        /// time to send its data, as Linux (see below).
        scheduler: PacketScheduler = PacketScheduler::RoundRobin, of Several;
        /// Timeouts in a row after which a subflow is stale, or `"never"`. Other subflows send its
        /// data again, and it gets new data only if all are stale, until new data on it is
        /// acknowledged.
        stale_after: u32 as Timeouts = 1, paper_2013 = u32::MAX, within Bounds::POSITIVE_OR_NEVER, of Several;
        /// `["join-syn-once", "join-stall", "fin-reset"]` or some of them: faults of the
        /// implementation of MMPTCP's authors, see below.
        faults: Faults as Vec<Fault> = Faults::default(), of Several;
    }
}

/// The numbers of some subflows; code holds them as one bit each.
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

/// Faults of the implementation that MMPTCP's authors published, by which MPTCP collapses under
/// incast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A JOIN SYN that is lost is not sent again; of one that came, a lost SYN-ACK is.
    pub join_syn_once: bool,
    /// When it is the turn of a subflow whose handshake is not done, all new data waits for it.
    pub join_stall: bool,
    /// The sender sends a FIN on all subflows as soon as the last data has been sent. A receiver
    /// that gets a FIN before the end of that subflow's handshake resets the connection.
    pub fin_reset: bool,
}

/// A fault, as a scenario names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A JOIN SYN that is lost is not sent again.
    JoinSynOnce,
    /// New data waits for a subflow whose turn it is and whose handshake is not done.
    JoinStall,
    /// FINs follow the last data; one that comes before the end of its subflow's handshake resets
    /// the connection.
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

/// Which of the subflows that have room in their windows gets new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketScheduler {
    /// One after another, a segment at a time.
    RoundRobin,
    /// The one with the least smoothed RTT.
    LowestRtt,
    /// The subflow that needs the least time to send its data (Linux, `mptcp_subflow_get_send` in
    /// net/mptcp/protocol.c). Data is assigned to it even if its window is full, rather than sent
    /// on a slower subflow.
    LowestTimeToSend,
}
