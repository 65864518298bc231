use linkpool_units::Time;

/// What concerns connections of several subflows; the default is what one of a single subflow has.
#[derive(Clone, Debug)]
pub struct Multipath {
    /// Which subflow new data goes to.
    pub scheduler: Scheduler,
    /// Subflows that get new data only while no other can carry it, one bit each (the B flag of MP_JOIN, RFC 8684, section
    /// 3.2).
    pub backup: u32,
    /// Further subflows are opened when more than so many bytes have been sent; 0: as soon as the first is established.
    pub join_after: u64,
    /// Further subflows are opened no sooner than so long after the first SYN, one after another; beyond the list: at once.
    pub join_at: Vec<Time>,
    /// Timeouts in a row after which a subflow is stale: others send what it holds again, and it gets new data only if all
    /// are, until it gets through again. `u32::MAX`: never.
    pub stale_after: u32,
    /// What MMPTCP's authors' implementation does wrong.
    pub faults: Faults,
}

/// Faults of the implementation that MMPTCP's authors published, by which MPTCP collapses under incast.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A JOIN SYN that is lost is not sent again; of one that came, a lost SYN-ACK is.
    pub join_syn_once: bool,
    /// When it is the turn of a subflow whose handshake is not done, all new data waits for it.
    pub join_stall: bool,
    /// All subflows are sent a FIN as soon as the last data is on its way, and a receiver that gets one before the end of
    /// that subflow's handshake resets the connection.
    pub fin_reset: bool,
}

impl Default for Multipath {
    fn default() -> Multipath {
        Multipath {
            scheduler: Scheduler::RoundRobin,
            backup: 0,
            join_after: 0,
            join_at: Vec::new(),
            stale_after: u32::MAX,
            faults: Faults::default(),
        }
    }
}

/// Which of the subflows that have room in their windows gets new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// One after another, a segment at a time.
    RoundRobin,
    /// The one with the least smoothed RTT.
    LowestRtt,
    /// The one that would soonest have sent what it already has (Linux, `mptcp_subflow_get_send` in net/mptcp/protocol.c):
    /// data is set apart for it even if its window is full, rather than sent on a slower one.
    LowestTimeToSend,
}
