//! The tables of time series.

use crate::plan::{FlowId, Plan};
use crate::results::column::{Row, TableInfo, table};
use crate::results::decode_steps_table::DecodeStepRow;
use crate::results::rank_spans_table::RankSpanRow;
use crate::results::sample::{Sample, Value};
use crate::results::table::Table;
use crate::results::timeline::Timeline;
use linkpool_network::{LinkId, OnWire, PauseChange, PauseEvent, RareEvents};
use linkpool_transport::SubflowId;
use linkpool_units::Time;
use parquet::errors::Result;
use std::path::Path;

/// The length of a queue.
struct QueueRow<'a> {
    at: Time,
    link: &'a str,
    packets: u32,
    bytes: u64,
}

table! {
    /// Queue lengths, by time and link.
    "queue" of QueueRow<'_>,
    unless "to record it, write `queue = { links = [\"W->R\"], every = \"10us\" }` under [record]", |row|
    /// Time of the sample.
    time_s: f64, "s" = row.at.secs();
    /// `FROM->TO`.
    link: str, "" = row.link;
    /// Packets that wait, without the one in service unless `count_in_service`.
    queue_pkts: u32, "packets" = row.packets;
    /// All bytes not yet on the wire, with the rest of the packet in service.
    queue_bytes: u64, "B" = row.bytes;
}

/// The window of a subflow.
struct CwndRow {
    at: Time,
    flow: FlowId,
    subflow: SubflowId,
    cwnd: f64,
    ssthresh: f64,
    srtt: Option<f64>,
    suppressed: bool,
}

table! {
    /// Windows of subflows, by time, flow and subflow.
    "cwnd" of CwndRow, unless "to record it, write `cwnd = { every = \"10us\" }` under [record]", |row|
    /// Time of the sample.
    time_s: f64, "s" = row.at.secs();
    /// Number of the flow.
    flow: FlowId, "" = row.flow;
    /// Number of the subflow.
    subflow: SubflowId, "" = row.subflow;
    /// Congestion window.
    cwnd_pkts: f64, "packets" = row.cwnd;
    /// Slow-start threshold; null: unlimited.
    ssthresh_pkts: f64, "packets" = Some(row.ssthresh).filter(|s| s.is_finite());
    /// Smoothed RTT; null: no sample.
    srtt_s: f64, "s" = row.srtt;
    /// Congestion control keeps the subflow from sending new data (AMP, and the phases of MMPTCP).
    suppressed: bool, "" = row.suppressed;
}

/// The goodput of a subflow.
struct RateRow {
    at: Time,
    flow: FlowId,
    subflow: SubflowId,
    goodput: f64,
}

table! {
    /// Goodputs of subflows, by time, flow and subflow.
    "rate" of RateRow, unless "to record it, write `rate = { every = \"1ms\" }` under [record]", |row|
    /// End of the interval.
    time_s: f64, "s" = row.at.secs();
    /// Number of the flow.
    flow: FlowId, "" = row.flow;
    /// Number of the subflow.
    subflow: SubflowId, "" = row.subflow;
    /// Payload acknowledged on the subflow in the interval.
    goodput_bps: f64, "bit/s" = row.goodput;
}

/// A round-trip time.
struct RttRow {
    at: Time,
    flow: FlowId,
    subflow: SubflowId,
    rtt: Time,
}

table! {
    /// Round-trip times of subflows, by time, flow and subflow.
    "rtt" of RttRow, unless "to record it, write `rtt = { every = \"1ms\" }` under [record]", |row|
    /// The ACK arrived.
    time_s: f64, "s" = row.at.secs();
    /// Number of the flow.
    flow: FlowId, "" = row.flow;
    /// Number of the subflow.
    subflow: SubflowId, "" = row.subflow;
    /// From a segment that was sent once, or the SYN, to its ACK, as the retransmission timer takes
    /// it.
    rtt_s: f64, "s" = row.rtt.secs();
}

/// The counters of a link over an interval.
struct CounterRow<'a> {
    at: Time,
    link: &'a str,
    packets: u64,
    bytes: u64,
    rare: RareEvents,
    /// Its bytes, with parts of bytes.
    sent: OnWire,
    /// What it could have sent.
    could: OnWire,
    paused: Option<Time>,
}

table! {
    /// What links did, by time and link.
    "counters" of CounterRow<'_>,
    unless "to record it, write `counters = { every = \"1ms\" }` under [record]", |row|
    /// End of the interval; the last one may be shorter.
    time_s: f64, "s" = row.at.secs();
    /// `FROM->TO`.
    link: str, "" = row.link;
    /// Accepted for transmission in the interval; also those that were cut off as their link failed, which `links` leaves out.
    packets: u64, "packets" = row.packets;
    /// Put on the wire in the interval, headers included: the whole bytes of the run so far that had not been
    /// counted.
    bytes: u64, "B" = row.bytes;
    /// Packets dropped by the queue of this port.
    drops: u64, "packets" = row.rare.drops;
    /// Packets lost because the link was down.
    drops_down: u64, "packets" = row.rare.drops_down;
    /// Packets lost on the wire at random.
    drops_loss: u64, "packets" = row.rare.drops_loss;
    /// Packets marked CE here.
    marks: u64, "packets" = row.rare.marks;
    /// Packets whose payload this port cut off.
    trims: u64, "packets" = row.rare.trims;
    /// What the link sent in the interval, with parts of bytes, over what it could have sent, at the rates that
    /// it had while it was up; 1 at the most. Null: it was down.
    utilisation: f64, "" = row.sent.share(row.could);
    /// Time in the interval for which at least one priority of this port was paused; null: neighbours do not pause it.
    paused_s: f64, "s" = row.paused.map(Time::secs);
}

/// A pause of a port begins, goes on, or ends.
struct PauseEventRow<'a> {
    at: Time,
    link: &'a str,
    change: PauseChange,
    behind: Option<&'a str>,
}

table! {
    /// Pauses that begin, go on, or end, by time, link and priority.
    "pause_events" of PauseEventRow<'_>,
    unless "to record it, write `pauses = {}` under [record], where `[queue]` has `pfc`", |row|
    /// It takes effect at the port: the frame has come, or its time is over.
    time_s: f64, "s" = row.at.secs();
    /// `FROM->TO`: `TO` pauses the port of `FROM`.
    link: str, "" = row.link;
    /// Priority, 0 to 7; `"low"` is 0, and `"high"` 7.
    priority: u32, "" = u32::from(row.change.priority);
    /// `pause`; `refresh`: the frame was repeated; `resume`; `lapse`: the pause was over, and the frame was not repeated.
    event: str, "" = name(row.change.event);
    /// When `TO` decided so; of a lapse, when it had decided to pause.
    told_s: f64, "s" = row.change.reason.told.secs();
    /// Bytes of the priority that had come by the link and were still in the buffer of `TO` then, above the reserve.
    shared_bytes: u64, "B" = row.change.reason.shared;
    /// Bytes of them in the headroom.
    headroom_bytes: u64, "B" = row.change.reason.headroom;
    /// So many bytes it might have used of the shared buffer then.
    threshold_bytes: u64, "B" = row.change.reason.threshold;
    /// The link for which most of them waited; null: for none.
    behind: str, "" = row.behind;
}

fn name(event: PauseEvent) -> &'static str {
    match event {
        PauseEvent::Pause => "pause",
        PauseEvent::Refresh => "refresh",
        PauseEvent::Resume => "resume",
        PauseEvent::Lapse => "lapse",
    }
}

/// The time series that the scenario asks for, written as they are sampled.
pub(crate) struct SeriesTables<'p> {
    plan: &'p Plan,
    link_names: Vec<String>,
    queue: Option<Table>,
    cwnd: Option<Table>,
    rate: Option<Table>,
    rtt: Option<Table>,
    counters: Option<Table>,
    pauses: Option<Table>,
    ranks: Option<(Timeline, Table)>,
    steps: Option<Table>,
}

impl<'p> SeriesTables<'p> {
    pub(crate) fn create(directory: &Path, plan: &'p Plan) -> Result<SeriesTables<'p>> {
        let record = &plan.record;
        let wanted = |wanted: bool, create: fn(&Path) -> Result<Table>| wanted.then(|| create(directory)).transpose();
        Ok(SeriesTables {
            plan,
            link_names: LinkId::first(plan.fabric.links().len()).map(|link| plan.fabric.link_name(link)).collect(),
            queue: wanted(record.queue.is_some(), Table::create::<QueueRow<'_>>)?,
            cwnd: wanted(record.cwnd.is_some(), Table::create::<CwndRow>)?,
            rate: wanted(record.rate.is_some(), Table::create::<RateRow>)?,
            rtt: wanted(record.rtt.is_some(), Table::create::<RttRow>)?,
            counters: wanted(record.counters.is_some(), Table::create::<CounterRow<'_>>)?,
            pauses: wanted(record.pauses.is_some(), Table::create::<PauseEventRow<'_>>)?,
            ranks: wanted(record.ranks, Table::create::<RankSpanRow<'_>>)?.map(|table| (Timeline::new(plan), table)),
            steps: wanted(record.steps, Table::create::<DecodeStepRow<'_>>)?,
        })
    }

    pub(crate) fn push(&mut self, Sample { at, value }: Sample) -> Result<()> {
        // There are samples only of the requested objects.
        match value {
            Value::Queue { link, packets, bytes } => {
                let link = self.link_names[link.index()].as_str();
                push(&mut self.queue, &QueueRow { at, link, packets, bytes })
            }
            Value::Cwnd { flow, subflow, cwnd, ssthresh, srtt, suppressed } => {
                push(&mut self.cwnd, &CwndRow { at, flow, subflow, cwnd, ssthresh, srtt, suppressed })
            }
            Value::Rate { flow, subflow, goodput } => push(&mut self.rate, &RateRow { at, flow, subflow, goodput }),
            Value::Rtt { flow, subflow, rtt } => push(&mut self.rtt, &RttRow { at, flow, subflow, rtt }),
            Value::Counters { link, since, packets, bytes, sent, rare, paused } => {
                let rate = self.plan.fabric.links()[link.index()].rate;
                let could = |by| self.plan.changes.capacity(link, rate, by);
                let could = could(at).since(could(since));
                let link = self.link_names[link.index()].as_str();
                push(&mut self.counters, &CounterRow { at, link, packets, bytes, rare: *rare, sent, could, paused })
            }
            Value::Pause(change) => {
                let name = |link: LinkId| self.link_names[link.index()].as_str();
                let (link, behind) = (name(change.link), change.reason.behind.map(name));
                push(&mut self.pauses, &PauseEventRow { at, link, change, behind })
            }
            Value::Rank(event) => {
                let (plan, Some((timeline, table))) = (self.plan, &mut self.ranks) else { return Ok(()) };
                let mut written = Ok(());
                timeline.push(at, event, &mut |span| {
                    if written.is_ok() {
                        written = table.push(&RankSpanRow { plan, span });
                    }
                });
                written
            }
            Value::Step(of) => push(&mut self.steps, &DecodeStepRow { plan: self.plan, at, of }),
        }
    }

    pub(crate) fn close(self) -> Result<()> {
        let ranks = self.ranks.map(|(_, table)| table);
        let all = [self.queue, self.cwnd, self.rate, self.rtt, self.counters, self.pauses, ranks, self.steps];
        all.into_iter().flatten().try_for_each(Table::close)
    }
}

fn push<R: Row>(table: &mut Option<Table>, row: &R) -> Result<()> {
    table.as_mut().map_or(Ok(()), |table| table.push(row))
}

/// The tables of series.
pub(super) const SERIES: [TableInfo; 8] = [
    QueueRow::TABLE,
    CwndRow::TABLE,
    RateRow::TABLE,
    RttRow::TABLE,
    CounterRow::TABLE,
    PauseEventRow::TABLE,
    RankSpanRow::TABLE,
    DecodeStepRow::TABLE,
];
