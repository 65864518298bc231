//! Time series: sampled by timers of the nodes that hold what is sampled.

use crate::host::endpoint::{Endpoint, SendingEnd, key};
use crate::host::slots::Host;
use crate::plan::Plan;
use crate::record::counters::Counters;
use crate::record::rtts::RttRecorder;
use crate::results::sink::Buffer;
use linkpool_engine::Timers;
use linkpool_network::{Egress, LinkId, LinkStats, NodeId, RareEvents};
use linkpool_scenario::SeriesRecord;
use linkpool_units::Time;

/// A row of a time series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// What.
    pub value: Value,
}

/// What is sampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// Length of a queue.
    Queue {
        /// The link whose queue it is.
        link: LinkId,
        /// Packets, counted as the queue's policy counts.
        packets: u32,
        /// All bytes not yet on the wire.
        bytes: u64,
    },
    /// Window of a subflow.
    Cwnd {
        /// Index of the flow.
        flow: u32,
        /// Index of the subflow.
        subflow: u32,
        /// Congestion window, packets.
        cwnd: f64,
        /// Slow start threshold, packets; infinite: unlimited.
        ssthresh: f64,
        /// Smoothed RTT in seconds, once known.
        srtt: Option<f64>,
        /// Is it kept from sending new data?
        suppressed: bool,
    },
    /// Payload acknowledged on a subflow in the interval that ends now.
    Rate {
        /// Index of the flow.
        flow: u32,
        /// Index of the subflow.
        subflow: u32,
        /// bit/s.
        goodput: f64,
    },
    /// A round-trip time that a sender has measured.
    Rtt {
        /// Index of the flow.
        flow: u32,
        /// Index of the subflow.
        subflow: u32,
        /// From a segment to its ACK.
        rtt: Time,
    },
    /// What a link has done in the interval that ends now.
    Counters {
        /// The link.
        link: LinkId,
        /// When the interval began.
        since: Time,
        /// Packets accepted for transmission.
        packets: u64,
        /// Bytes put on the wire.
        bytes: u64,
        /// What happens less often.
        rare: RareEvents,
    },
}

impl Sample {
    /// The order of rows: by time, and at one time by what is sampled. It does not depend on which thread samples.
    pub(crate) fn order(&self) -> (Time, u8, u32, u32) {
        match self.value {
            Value::Queue { link, .. } => (self.at, 0, link, 0),
            Value::Cwnd { flow, subflow, .. } => (self.at, 1, flow, subflow),
            Value::Rate { flow, subflow, .. } => (self.at, 2, flow, subflow),
            Value::Rtt { flow, subflow, .. } => (self.at, 3, flow, subflow),
            Value::Counters { link, .. } => (self.at, 4, link, 0),
        }
    }
}

/// When a series is sampled, and whose.
#[derive(Debug)]
struct Series {
    every: Time,
    from: Time,
    until: Time,
    /// By label of the plan.
    wanted: Vec<bool>,
}

impl Series {
    fn again(&self, now: Time, key: u64, timers: &mut Timers) {
        let next = now + self.every;
        if next <= self.until {
            timers.push(next, key);
        }
    }
}

pub(crate) struct Sampling {
    queue: Option<Series>,
    links: Vec<LinkId>,
    cwnd: Option<Series>,
    rate: Option<Series>,
    rtt: Option<SeriesRecord>,
    /// By label of the plan: are RTTs wanted?
    rtt_wanted: Vec<bool>,
    counters: Option<Counters>,
    buffer: Buffer,
}

impl Sampling {
    pub(crate) fn new(plan: &Plan, buffer: Buffer) -> Sampling {
        let wanted = |s: &SeriesRecord| -> Vec<bool> {
            plan.labels.iter().map(|l| s.labels.as_ref().is_none_or(|wanted| wanted.contains(l))).collect()
        };
        let series = |s: &SeriesRecord| Series { every: s.every, from: s.from, until: s.until, wanted: wanted(s) };
        let links = plan.record.queue.iter().flat_map(|q| &q.links);
        let links = links.filter_map(|(from, to)| plan.fabric.link(plan.fabric.node(from)?, plan.fabric.node(to)?));
        Sampling {
            links: links.collect(),
            queue: plan.record.queue.as_ref().map(|q| Series {
                every: q.every,
                from: q.from,
                until: q.until,
                wanted: Vec::new(),
            }),
            cwnd: plan.record.cwnd.as_ref().map(series),
            rate: plan.record.rate.as_ref().map(series),
            rtt: plan.record.rtt.clone(),
            rtt_wanted: plan.record.rtt.as_ref().map_or(Vec::new(), wanted),
            counters: plan.record.counters.as_ref().map(|record| Counters::new(record, &plan.fabric)),
            buffer,
        }
    }

    fn push(&self, at: Time, value: Value) {
        self.buffer.lock().samples.push(Sample { at, value });
    }

    /// Sets the first timer of each series at each node concerned of those that are `mine`.
    pub(crate) fn first_timers(&self, plan: &Plan, mine: impl Fn(NodeId) -> bool, timers: &mut [Timers]) {
        if let Some(queue) = &self.queue {
            for link in &self.links {
                let node = plan.fabric.links()[*link as usize].from;
                if mine(node) {
                    timers[node as usize].push(queue.from, key::SAMPLE_QUEUE | *link as u64);
                }
            }
        }
        if let Some(counters) = &self.counters {
            for link in counters.links() {
                let node = plan.fabric.links()[link as usize].from;
                if mine(node) {
                    timers[node as usize].push(counters.first(), key::SAMPLE_COUNTERS | link as u64);
                }
            }
        }
        for host in plan.senders().filter(|h| mine(*h as NodeId)) {
            for (series, key) in [(&self.cwnd, key::SAMPLE_CWND), (&self.rate, key::SAMPLE_RATE)] {
                if let Some(series) = series {
                    timers[host as usize].push(series.from, key);
                }
            }
        }
    }

    pub(crate) fn wants_rate(&self, label: u16) -> bool {
        self.rate.as_ref().is_some_and(|r| r.wanted[label as usize])
    }

    /// What records the RTTs of a flow with this label, if they are wanted.
    pub(crate) fn rtts(&self, label: u16, subflows: usize) -> Option<Box<RttRecorder>> {
        let series = self.rtt.as_ref().filter(|_| self.rtt_wanted[label as usize])?;
        Some(Box::new(RttRecorder::new(series, subflows, self.buffer.clone())))
    }

    /// The counters of `link` are `now` as `counted` says.
    pub(crate) fn count(&mut self, link: LinkId, now: Time, counted: (LinkStats, u64), timers: &mut Timers) {
        let Some(counters) = &mut self.counters else { return };
        let sample = counters.count(link, now, counted);
        if let Some(next) = counters.next(now) {
            timers.push(next, key::SAMPLE_COUNTERS | link as u64);
        }
        self.buffer.lock().samples.extend(sample);
    }

    /// The run ends `now`, in the middle of an interval perhaps, for the links that are `mine`.
    pub(crate) fn last_count(
        &mut self,
        now: Time,
        mine: impl Fn(LinkId) -> bool,
        mut counted: impl FnMut(LinkId) -> (LinkStats, u64),
    ) {
        let Some(counters) = &mut self.counters else { return };
        for link in counters.links().into_iter().filter(|link| mine(*link)) {
            if counters.lasts(now) {
                self.buffer.lock().samples.extend(counters.count(link, now, counted(link)));
            }
        }
    }

    pub(crate) fn queue(&mut self, link: LinkId, now: Time, network: &mut Egress<'_>, timers: &mut Timers) {
        let Some(series) = &self.queue else { return };
        let (packets, bytes) = network.queue(link, now);
        self.push(now, Value::Queue { link, packets, bytes });
        series.again(now, key::SAMPLE_QUEUE | link as u64, timers);
    }

    pub(crate) fn cwnd(&mut self, host: &mut Host, now: Time, timers: &mut Timers) {
        let Some(series) = &self.cwnd else { return };
        for (_, endpoint) in host.endpoints() {
            let Endpoint::Sender(end) = endpoint else { continue };
            if !series.wanted[end.planned.label as usize] {
                continue;
            }
            for s in (0..end.sender.subflows()).filter(|s| end.sender.path(*s).established) {
                let path = end.sender.path(s);
                let value = Value::Cwnd {
                    flow: end.address.flow,
                    subflow: s as u32,
                    cwnd: path.cwnd,
                    ssthresh: path.ssthresh,
                    srtt: (path.srtt > 0.0).then_some(path.srtt / 1e12),
                    suppressed: end.sender.is_suppressed(s),
                };
                self.push(now, value);
            }
        }
        series.again(now, key::SAMPLE_CWND, timers);
    }

    pub(crate) fn rates(&mut self, host: &mut Host, now: Time, timers: &mut Timers) {
        for (_, endpoint) in host.endpoints() {
            if let Endpoint::Sender(end) = endpoint {
                self.rate(end, now);
            }
        }
        if let Some(series) = &self.rate {
            series.again(now, key::SAMPLE_RATE, timers);
        }
    }

    /// The rates of one flow since its last sample.
    pub(crate) fn rate(&mut self, end: &mut SendingEnd, now: Time) {
        let (Some(sampled), Some(series)) = (&mut end.sampled, &self.rate) else { return };
        let since = sampled.at.max(end.sender.started()).max(series.from);
        if now > series.until.saturating_add(series.every) {
            return;
        }
        for (s, before) in sampled.acked.iter_mut().enumerate() {
            let acked = end.sender.acked_on(s);
            // The first sample, at `from`, only notes what was acknowledged before.
            if now > since && end.sender.path(s).established {
                let goodput = 8.0 * (acked - *before) as f64 / (now - since).secs();
                let value = Value::Rate { flow: end.address.flow, subflow: s as u32, goodput };
                self.buffer.lock().samples.push(Sample { at: now, value });
            }
            *before = acked;
        }
        sampled.at = now;
    }
}
