//! The settings of connections with several subflows.

use linkpool_settings::{Bounds, Timeouts, Written, settings};
use linkpool_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// Settings of connections with several subflows.
    pub struct Multipath {
        /// Further subflows open with the first ACK after more than this amount of data has been
        /// sent. `"1B"`: with the first ACK of data, as in Linux, which opens no subflow before it
        /// knows that the receiver has the keys (`mptcp_is_fully_established`). `"0B"`: as soon as
        /// the first subflow is established.
        join_after: u64 as Bytes = 1, paper_2013 = 0, of Joins;
        /// Does a further subflow wait with its data until the receiver has acknowledged the third
        /// segment of its handshake (RFC 8684, section 3.2)?
        join_confirmed: bool = true, paper_2013 = false, of Several;
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
        /// Linux. `"blest"`: as `"lowest-rtt"`, but data waits for the fastest subflow if data on a
        /// slower one would leave it too little of the receiver's window (BLEST; Ferlin et al., 2016).
        /// `"ecf"`: as `"lowest-rtt"`, but data waits for the fastest subflow if all data is expected to
        /// arrive sooner so (ECF; Lim et al., 2017). `"redundant"`: each subflow carries all data (ReMP;
        /// Frömmgen et al., 2016) ([more](scenario/subflows.md)).
        scheduler: PacketScheduler = PacketScheduler::LowestTimeToSend, paper_2013 = PacketScheduler::RoundRobin, of Several;
        /// Number of timeouts in a row after which a subflow is stale, or `"never"`. Other subflows
        /// send the data of a stale subflow again. A stale subflow gets new data only if all
        /// subflows are stale. It is stale until new data on it is acknowledged.
        stale_after: u32 as Timeouts = 1, paper_2013 = u32::MAX, within Bounds::POSITIVE_OR_NEVER, of Several;
        /// Faults of the implementation of AMP's and MMPTCP's authors, any of `["join-syn-once",
        /// "join-stall", "fin-reset", "held-unacknowledged", "no-data-ack", "fin-timeouts",
        /// "dupacks-kept"]` ([what each does](scenario/subflows.md)).
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

/// Faults of the implementation that the authors of AMP and MMPTCP published. They make MPTCP
/// collapse under incast.
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
    /// The receiver does not acknowledge a segment on its subflow if it holds the segment already
    /// and the connection's stream has a gap before it.
    pub held_unacknowledged: bool,
    /// The sender does not use the DATA_ACK: the connection ends when the data of each subflow is
    /// acknowledged on that subflow.
    pub no_data_ack: bool,
    /// The sender sends a FIN on all subflows as soon as the last data has been sent, and repeats
    /// it by timeouts. The receiver answers it only when it arrives in order, or with a segment
    /// that is in order on its subflow and in the connection's stream.
    pub fin_timeouts: bool,
    /// A timeout does not reset the number of duplicate ACKs, and duplicate ACKs of data that was
    /// sent before the timeout start a fast retransmit.
    pub dupacks_kept: bool,
}

impl Faults {
    /// Is one of them a fault of endpoints without SACKs?
    pub fn need_newreno(self) -> bool {
        self.held_unacknowledged || self.fin_timeouts || self.dupacks_kept
    }

    /// Does each subflow send a FIN with the last data?
    pub(crate) fn sends_fins(self) -> bool {
        self.fin_reset || self.fin_timeouts
    }
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
    /// A segment that is held already is not acknowledged while a gap is before it.
    HeldUnacknowledged,
    /// The connection ends when each subflow's data is acknowledged on the subflow.
    NoDataAck,
    /// FINs follow the last data, and are repeated by timeouts.
    FinTimeouts,
    /// A timeout does not reset the number of duplicate ACKs.
    DupacksKept,
}

impl Fault {
    const ALL: [Fault; 7] = [
        Fault::JoinSynOnce,
        Fault::JoinStall,
        Fault::FinReset,
        Fault::HeldUnacknowledged,
        Fault::NoDataAck,
        Fault::FinTimeouts,
        Fault::DupacksKept,
    ];

    /// Where `faults` says whether this fault is there.
    fn of(self, faults: &mut Faults) -> &mut bool {
        match self {
            Fault::JoinSynOnce => &mut faults.join_syn_once,
            Fault::JoinStall => &mut faults.join_stall,
            Fault::FinReset => &mut faults.fin_reset,
            Fault::HeldUnacknowledged => &mut faults.held_unacknowledged,
            Fault::NoDataAck => &mut faults.no_data_ack,
            Fault::FinTimeouts => &mut faults.fin_timeouts,
            Fault::DupacksKept => &mut faults.dupacks_kept,
        }
    }
}

impl Written<Faults> for Vec<Fault> {
    fn of(faults: &Faults) -> Vec<Fault> {
        let mut faults = *faults;
        Fault::ALL.into_iter().filter(|fault| *fault.of(&mut faults)).collect()
    }
    fn value(self) -> Faults {
        let mut faults = Faults::default();
        self.into_iter().for_each(|fault| *fault.of(&mut faults) = true);
        faults
    }
}

impl Default for Multipath {
    fn default() -> Multipath {
        Multipath {
            scheduler: PacketScheduler::RoundRobin,
            backup: 0,
            join_after: 0,
            join_confirmed: false,
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
    /// The subflow with the least smoothed RTT, unless data on a slow one would block the fastest.
    Blest,
    /// The subflow with the least smoothed RTT, unless all data arrives sooner if it waits for the fastest.
    Ecf,
    /// Each subflow carries all data.
    Redundant,
}

impl PacketScheduler {
    /// Does the subflow with the least smoothed RTT come first?
    #[inline]
    pub(crate) fn goes_by_rtt(self) -> bool {
        matches!(self, PacketScheduler::LowestRtt | PacketScheduler::Blest | PacketScheduler::Ecf)
    }

    /// Does data wait for the fastest subflow while a slower one has room? So windows may stay unfilled.
    pub fn waits(self) -> bool {
        matches!(self, PacketScheduler::Blest | PacketScheduler::Ecf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_subflows_is_written_as_their_numbers() {
        let set = SubflowSet::try_from(vec![0, 3, 31]).unwrap();
        let bits: u32 = set.value();
        assert_eq!(bits, 1 << 31 | 0b1001);
        assert_eq!(SubflowSet::of(&(1 << 31 | 0b1001)).0, [0, 3, 31]);
        let none: u32 = SubflowSet(Vec::new()).value();
        assert_eq!((SubflowSet::of(&0).0.len(), none), (0, 0));
        assert!(SubflowSet::try_from(vec![32]).is_err());
    }

    #[test]
    fn faults_are_written_as_their_names() {
        for (fault, newreno, fins) in [
            (Fault::JoinSynOnce, false, false),
            (Fault::JoinStall, false, false),
            (Fault::FinReset, false, true),
            (Fault::HeldUnacknowledged, true, false),
            (Fault::NoDataAck, false, false),
            (Fault::FinTimeouts, true, true),
            (Fault::DupacksKept, true, false),
        ] {
            let faults: Faults = vec![fault].value();
            assert_eq!(<Vec<Fault> as Written<Faults>>::of(&faults), [fault]);
            assert_eq!((faults.need_newreno(), faults.sends_fins()), (newreno, fins), "{fault:?}");
        }
        assert_eq!(<Vec<Fault> as Written<Faults>>::of(&Faults::default()), []);
    }
}
