//! The sending end of a flow: a socket, what was written to it, and what the kernel tells of it.

use crate::info::{self, ESTABLISHED, NO_SSTHRESH, TcpInfo};
use crate::suppression::Identity;
use linkpool_linux_control::intf::Conn;
use linkpool_sim::{Acked, FlowId, FlowOutcome, MeasuredBytes, PlannedFlow, SubflowOutcome};
use linkpool_transport::{Metric, SubflowStats};
use linkpool_units::Time;
use rustix::io::Errno;
use socket2::Socket;
use std::io::{ErrorKind, Write as _};

/// So much is written at once.
const CHUNK: usize = 256 << 10;
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// A subflow as it was last seen.
#[derive(Clone, Debug)]
pub(crate) struct SubflowState {
    /// Which of its transport's subflows it is: this says its path.
    pub(crate) place: usize,
    /// The sender's.
    pub(crate) port: u16,
    /// What its packets show to ECMP, or their path.
    pub(crate) entropy: u32,
    pub(crate) pinned: bool,
    pub(crate) established: Option<Time>,
    /// The test bed has closed it.
    pub(crate) closed: bool,
    pub(crate) info: TcpInfo,
    /// Acknowledged when its rate was last sampled.
    pub(crate) sampled: u64,
}

/// A flow under way.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) flow: FlowId,
    pub(crate) planned: PlannedFlow,
    pub(crate) socket: Socket,
    pub(crate) is_mptcp: bool,
    pub(crate) measured: MeasuredBytes,
    pub(crate) subflows: Vec<SubflowState>,
    /// By which its controller is asked of suppression; none: it does not suppress.
    pub(crate) identity: Option<Identity>,
    written: u64,
    failed: bool,
}

impl Sending {
    pub(crate) fn new(
        (flow, planned): (FlowId, PlannedFlow),
        (socket, is_mptcp): (Socket, bool),
        measured: MeasuredBytes,
        subflows: Vec<SubflowState>,
    ) -> Sending {
        Sending { flow, planned, socket, is_mptcp, measured, subflows, identity: None, written: 0, failed: false }
    }

    /// Has the first subflow been established?
    pub(crate) fn is_established(&self) -> bool {
        self.subflows[0].established.is_some()
    }

    /// The handshake of the first subflow is over, or has failed.
    pub(crate) fn connected(&mut self, now: Time) {
        match self.socket.take_error() {
            Ok(None) => self.subflows[0].established = Some(now),
            _ => self.failed = true,
        }
    }

    /// Writes as much as the socket takes. Is all of it written?
    pub(crate) fn write(&mut self) -> bool {
        loop {
            let left = self.planned.flow.size.map_or(u64::MAX, |size| size - self.written);
            if left == 0 {
                return true;
            }
            match (&self.socket).write(&ZEROS[..CHUNK.min(left.min(CHUNK as u64) as usize)]) {
                Ok(n) => self.written += n as u64,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
                Err(_) => {
                    self.failed = true;
                    return false;
                }
            }
        }
    }

    /// Has the connection been given up?
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Is all that it has to carry acknowledged?
    pub(crate) fn is_done(&self) -> bool {
        Some(self.written) == self.planned.flow.size && info::unacknowledged(&self.socket) == Ok(0)
    }

    /// Payload acknowledged by now.
    pub(crate) fn acked(&self) -> Acked {
        let waiting = info::unacknowledged(&self.socket).unwrap_or(self.written);
        let in_order = self.written.saturating_sub(waiting);
        let on_subflows = if self.is_mptcp { self.subflows.iter().map(SubflowState::acked).sum() } else { in_order };
        Acked { in_order, on_subflows }
    }

    /// Asks the kernel how its subflows are.
    pub(crate) fn look(&mut self, now: Time) -> Result<(), Errno> {
        if !self.is_mptcp {
            self.subflows[0].info = info::tcp(&self.socket)?;
            return Ok(());
        }
        for seen in info::subflows(&self.socket)? {
            if let Some(subflow) = self.subflows.iter_mut().find(|s| s.port == seen.port) {
                subflow.info = seen.tcp;
                if seen.tcp.state == ESTABLISHED {
                    subflow.established.get_or_insert(now);
                }
            }
        }
        Ok(())
    }

    /// What it has come to; `finished`: all is acknowledged; `told`: by a controller that
    /// suppresses subflows.
    pub(crate) fn outcome(&mut self, now: Time, finished: bool, told: Option<Conn>) -> FlowOutcome {
        // A connection that has failed tells nothing more: what was seen last holds.
        let _ = self.look(now);
        let acked = self.acked();
        let measured = self.measured.bytes(acked);
        let mut subflows: Vec<SubflowOutcome> = self.subflows.iter().map(SubflowState::outcome).collect();
        if !self.is_mptcp {
            subflows[0].stats.acked_bytes = acked.in_order;
        }
        FlowOutcome {
            flow: self.flow,
            connection: self.flow,
            planned: self.planned,
            finished: finished.then_some(now),
            delivered: None,
            active_until: now,
            acked_bytes: acked.in_order,
            measured_bytes: measured.in_order,
            measured_subflow_bytes: measured.on_subflows,
            failed: self.failed,
            metrics: told.as_ref().map_or_else(Vec::new, metrics),
            hook_error: None,
            subflows,
        }
    }
}

/// As the simulator's AMP reports them.
fn metrics(conn: &Conn) -> Vec<Metric> {
    [("suppressions", conn.suppressions), ("releases", conn.releases)]
        .map(|(name, n)| Metric::count(name, n.into()))
        .into()
}

impl SubflowState {
    /// Payload acknowledged on it, without the SYN.
    pub(crate) fn acked(&self) -> u64 {
        self.info.bytes_acked.saturating_sub(1)
    }

    /// Slow start threshold, packets; infinite: unlimited.
    pub(crate) fn ssthresh(&self) -> f64 {
        if self.info.snd_ssthresh >= NO_SSTHRESH { f64::INFINITY } else { self.info.snd_ssthresh.into() }
    }

    /// Smoothed RTT, s.
    pub(crate) fn srtt(&self) -> Option<f64> {
        (self.info.rtt > 0).then(|| f64::from(self.info.rtt) / 1e6)
    }

    fn outcome(&self) -> SubflowOutcome {
        let i = &self.info;
        // The kernel does not tell the others; their columns are null (see `UNKNOWN`).
        let stats = SubflowStats {
            established: self.established,
            acked_bytes: self.acked(),
            segments: i.data_segs_out.into(),
            retransmits: i.total_retrans.into(),
            timeouts: i.total_rto.into(),
            recoveries: 0,
            undos: 0,
            probes: 0,
            marked_acks: 0,
            cuts: 0,
            reinjected_bytes: 0,
        };
        SubflowOutcome {
            entropy: self.entropy,
            pinned: self.pinned,
            stats,
            cwnd: i.snd_cwnd.into(),
            ssthresh: self.ssthresh(),
            srtt: self.srtt(),
            min_rtt: (i.min_rtt > 0 && i.min_rtt < u32::MAX).then(|| Time::from_us(i.min_rtt.into())),
            rto: Time::from_us(i.rto.into()),
        }
    }
}
