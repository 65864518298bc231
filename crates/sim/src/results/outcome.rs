//! The outcomes of a run, as in the tables.

use crate::plan::{FlowId, LabelId, PlannedFlow};
use linkpool_network::{LinkStats, OnWire};
use linkpool_transport::control::HookError;
use linkpool_transport::{Metric, SubflowStats};
use linkpool_units::Time;
use linkpool_workload::Job;

/// A flow at its end, or at the end of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    /// Its number; a flow of the plan's list has its place there as its number.
    pub flow: FlowId,
    /// The number of the first message on its connection, if that stays open; else its own.
    pub connection: FlowId,
    /// The planned flow.
    pub planned: PlannedFlow,
    /// When the last data was acknowledged.
    pub finished: Option<Time>,
    /// When the last data was delivered in order at the receiver.
    pub delivered: Option<Time>,
    /// Until when it was active: its end, or that of the run.
    pub active_until: Time,
    /// Payload acknowledged at connection level.
    pub acked_bytes: u64,
    /// The part of it that was acknowledged in the measured period.
    pub measured_bytes: u64,
    /// Payload acknowledged on the subflows in the measured period.
    pub measured_subflow_bytes: u64,
    /// The connection was given up, or its job failed.
    pub failed: bool,
    /// The measures that its family of transports and its congestion control report.
    pub metrics: Vec<Metric>,
    /// Why a hook of its algorithm ends the run, if one does.
    pub hook_error: Option<HookError>,
    /// All of them, established or not.
    pub subflows: Vec<SubflowOutcome>,
}

impl FlowOutcome {
    /// When the first SYN-ACK arrived, or the flow started on a connection that was open.
    pub fn established(&self) -> Option<Time> {
        let at = self.subflows.first().and_then(|s| s.stats.established)?;
        Some(at.max(self.planned.flow.start))
    }

    /// The measure with this name of its family of transports or its congestion control; none if
    /// neither reports it.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    }

    /// A sum over the subflows.
    pub fn total(&self, of: impl Fn(&SubflowStats) -> u64) -> u64 {
        self.subflows.iter().map(|s| of(&s.stats)).sum()
    }
}

/// A subflow at the end of its flow, or of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowOutcome {
    /// The entropy that its SYN showed to ECMP: it names the path.
    pub entropy: u32,
    /// It says the path itself, and is no hash.
    pub pinned: bool,
    /// Its counters.
    pub stats: SubflowStats,
    /// Congestion window, packets.
    pub cwnd: f64,
    /// Slow start threshold, packets.
    pub ssthresh: f64,
    /// Smoothed RTT, s.
    pub srtt: Option<f64>,
    /// Least RTT sample.
    pub min_rtt: Option<Time>,
    /// Retransmission timeout, back-off included.
    pub rto: Time,
}

/// A job, done or under way at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobOutcome {
    /// Index into the plan's labels.
    pub label: LabelId,
    /// The kind of the job.
    pub job: Job,
    /// Its end, or that of the run.
    pub active_until: Time,
    /// Messages of a collective operation that did not start before the end of the run.
    pub not_started: Option<u32>,
    /// How often the job of an iteration had begun again before it.
    pub restart: u32,
    /// A failure of the job cut it off.
    pub failed: bool,
    /// What failures before it cost the job, if it is the first iteration after them.
    pub lost: Option<Lost>,
}

/// What failures of a job cost, after which it has gone on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    /// From the start of the first iteration that is made again until the job goes on.
    pub all: Time,
    /// The part of it from the failure on.
    pub recovery: Time,
}

impl JobOutcome {
    /// Of a job that cannot fail, and whose messages start whenever they can.
    pub(crate) fn new(label: LabelId, job: Job, active_until: Time) -> JobOutcome {
        JobOutcome { label, job, active_until, not_started: None, restart: 0, failed: false, lost: None }
    }
}

/// An iteration of the program of a rank, done or under way at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankOutcome {
    /// Place in the plan's programs.
    pub programs: usize,
    /// The rank.
    pub rank: u32,
    /// How often the job had begun again before it.
    pub restart: u32,
    /// The iteration, from 0.
    pub iteration: u32,
    /// When it began.
    pub start: Time,
    /// When all receives, and calcs of more than 0 units, had ended.
    pub received: Option<Time>,
    /// When all nodes had ended.
    pub end: Option<Time>,
    /// Its end, or that of the run, or a failure of the job.
    pub active_until: Time,
    /// The number of nodes that have not ended, and the first of them.
    pub left: (u32, Option<u32>),
}

/// A request to a model, answered or not at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestOutcome {
    /// Place in the plan's models that are served.
    pub served: usize,
    /// The request, by its place there.
    pub request: u32,
    /// Its decode instance; none if it has none yet, or needs none.
    pub decode: Option<u32>,
    /// When its keys and values were sent.
    pub sent: Option<Time>,
    /// When they had arrived.
    pub arrived: Option<Time>,
    /// When its first token was there.
    pub first_token: Option<Time>,
    /// When its last token was there.
    pub end: Option<Time>,
    /// Tokens that were there.
    pub tokens: u32,
    /// Its end, or that of the run.
    pub active_until: Time,
}

impl RequestOutcome {
    /// Nothing has happened to it.
    pub(crate) fn new(served: usize, request: u32) -> RequestOutcome {
        let (decode, sent, arrived, first_token, end) = (None, None, None, None, None);
        RequestOutcome { served, request, decode, sent, arrived, first_token, end, tokens: 0, active_until: Time::ZERO }
    }
}

/// What a link put on the wire in the measured period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeasuredLink {
    /// Bytes: the whole ones of the run so far that had not been counted.
    pub bytes: u64,
    /// The same with parts of bytes.
    pub sent: OnWire,
}

impl MeasuredLink {
    /// From what it had put on the wire when the period began to what it had when it ended. What was cut off with the
    /// link meanwhile is not taken back.
    pub fn between(before: OnWire, after: OnWire) -> MeasuredLink {
        MeasuredLink { bytes: after.bytes().saturating_sub(before.bytes()), sent: after.since(before) }
    }
}

/// A link at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkOutcome {
    /// Counters.
    pub stats: LinkStats,
    /// Bytes put on the wire by the end of the run.
    pub sent_bytes: u64,
    /// Of these, those of the measured period.
    pub measured: MeasuredLink,
    /// Packets still queued or in flight.
    pub in_flight: u32,
    /// Pauses, where ports pause their neighbours.
    pub pauses: Option<linkpool_network::PauseStats>,
}

/// A whole run, except for the outcomes that went to its [`Sink`](crate::Sink).
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// By link.
    pub links: Vec<LinkOutcome>,
    /// Packet-hops.
    pub hops: u64,
    /// Data segments sent.
    pub data_packets: u64,
    /// Payload acknowledged on all subflows.
    pub acked_bytes: u64,
    /// Packets for connections that were closed already.
    pub stray: u64,
    /// Packets delivered to hosts.
    pub delivered: u64,
    /// When the run ended.
    pub simulated: Time,
}
