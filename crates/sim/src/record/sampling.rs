//! Time series: sampled by timers of the nodes that hold the sampled state.

use crate::by_id::ById;
use crate::host::component::{Component, Context};
use crate::host::endpoint::Sending as _;
use crate::host::rtts::RttRecorder;
use crate::host::slots::Sending;
use crate::host::timer;
use crate::plan::{FlowId, Plan};
use crate::record::counters::Counters;
use crate::results::sample::{Sample, Value};
use linkpool_network::{Egress, LinkId, Network, NodeId};
use linkpool_scenario as scenario;
use linkpool_transport::SubflowId;
use linkpool_units::Time;

/// The times of a series, and the labels of the flows that it samples.
#[derive(Debug)]
struct Series {
    every: Time,
    from: Time,
    until: Time,
    /// By label of the plan.
    wanted: Vec<bool>,
}

impl Series {
    fn again(&self, node: NodeId, key: u64, context: &mut Context) {
        let next = context.now + self.every;
        if next <= self.until {
            context.set_timer(node, next, key);
        }
    }
}

/// A flow when its rate was last sampled.
#[derive(Debug)]
struct Sampled {
    at: Time,
    /// Payload acknowledged on each subflow.
    acked: Box<[u64]>,
}

/// Takes the samples of a partition.
pub(crate) struct Sampling<'p> {
    plan: &'p Plan,
    queue: Option<Series>,
    links: Vec<LinkId>,
    cwnd: Option<Series>,
    rate: Option<Series>,
    /// By number, the flows whose rates are sampled.
    rates: ById<FlowId, Sampled>,
    rtt: Option<scenario::Series>,
    /// By label of the plan: are RTTs wanted?
    rtt_wanted: Vec<bool>,
    counters: Option<Counters>,
}

impl<'p> Sampling<'p> {
    /// Samples the series that `plan` asks for.
    pub(crate) fn new(plan: &'p Plan) -> Sampling<'p> {
        let wanted = |s: &scenario::Series| -> Vec<bool> {
            plan.labels.iter().map(|l| s.labels.as_ref().is_none_or(|wanted| wanted.contains(l))).collect()
        };
        let series = |s: &scenario::Series| Series { every: s.every, from: s.from, until: s.until, wanted: wanted(s) };
        let links = plan.record.queue.iter().flat_map(|q| &q.links);
        let links = links.flat_map(|(from, to)| plan.fabric.links_named(from, to));
        Sampling {
            plan,
            links: links.collect(),
            queue: plan.record.queue.as_ref().map(|q| Series {
                every: q.every,
                from: q.from,
                until: q.until,
                wanted: Vec::new(),
            }),
            cwnd: plan.record.cwnd.as_ref().map(series),
            rate: plan.record.rate.as_ref().map(series),
            rates: ById::default(),
            rtt: plan.record.rtt.clone(),
            rtt_wanted: plan.record.rtt.as_ref().map_or(Vec::new(), wanted),
            counters: plan.record.counters.as_ref().map(|record| Counters::new(record, &plan.fabric)),
        }
    }

    /// The node whose queue feeds `link`.
    fn sender_of(&self, link: LinkId) -> NodeId {
        self.plan.fabric.links()[link.index()].from
    }

    fn count(&mut self, node: NodeId, link: LinkId, network: &mut Egress, context: &mut Context) {
        let Some(counters) = &mut self.counters else { return };
        let now = context.now;
        let (counted, paused) = (network.counters(link, now), network.paused(link, now));
        let sample = counters.count(link, now, counted, paused);
        if let Some(next) = counters.next(context.now) {
            context.set_timer(node, next, timer::SAMPLE_COUNTERS | u64::from(link));
        }
        context.sample(sample);
    }

    fn queue(&mut self, node: NodeId, link: LinkId, network: &mut Egress, context: &mut Context) {
        let Some(series) = &self.queue else { return };
        let (packets, bytes) = network.queue(link, context.now);
        context.sample([Sample { at: context.now, value: Value::Queue { link, packets, bytes } }]);
        series.again(node, timer::SAMPLE_QUEUE | u64::from(link), context);
    }

    fn windows(&mut self, host: NodeId, context: &mut Context) {
        let Some(series) = &self.cwnd else { return };
        let mut samples = Vec::new();
        for (_, Sending { end, flow, planned, .. }) in context.hosts[host.index()].senders() {
            if !series.wanted[planned.label.index()] {
                continue;
            }
            for s in SubflowId::first(end.subflows()) {
                let subflow = end.subflow(s);
                if end.is_established(s) {
                    let value = Value::Cwnd {
                        flow: *flow,
                        subflow: s,
                        cwnd: subflow.cwnd,
                        ssthresh: subflow.ssthresh,
                        srtt: subflow.srtt,
                        suppressed: end.is_suppressed(s),
                    };
                    samples.push(Sample { at: context.now, value });
                }
            }
        }
        context.sample(samples);
        series.again(host, timer::SAMPLE_CWND, context);
    }

    fn rates(&mut self, host: NodeId, context: &mut Context) {
        let mut samples = Vec::new();
        for (_, sending) in context.hosts[host.index()].senders() {
            self.rate(sending, context.now, &mut samples);
        }
        context.sample(samples);
        if let Some(series) = &self.rate {
            series.again(host, timer::SAMPLE_RATE, context);
        }
    }

    /// The rates of one flow since its last sample.
    fn rate(&mut self, sending: &Sending, now: Time, samples: &mut Vec<Sample>) {
        let (Some(sampled), Some(series)) = (self.rates.get_mut(&sending.flow), &self.rate) else { return };
        let end = &sending.end;
        let since = sampled.at.max(end.started()).max(series.from);
        if now > series.until.saturating_add(series.every) {
            return;
        }
        for (s, before) in SubflowId::first(end.subflows()).zip(&mut sampled.acked) {
            let acked = end.acked_on(s);
            // The first sample, at `from`, only notes the data acknowledged before.
            if now > since && end.is_established(s) {
                let goodput = 8.0 * (acked - *before) as f64 / (now - since).secs();
                samples.push(Sample { at: now, value: Value::Rate { flow: sending.flow, subflow: s, goodput } });
            }
            *before = acked;
        }
        sampled.at = now;
    }
}

impl Component for Sampling<'_> {
    /// Sets the first timer of each series at each node concerned.
    fn on_start(&mut self, context: &mut Context) {
        if let Some(queue) = &self.queue {
            for link in &self.links {
                let node = self.sender_of(*link);
                if context.queues_for(*link) {
                    context.set_timer(node, queue.from, timer::SAMPLE_QUEUE | u64::from(*link));
                }
            }
        }
        if let Some(counters) = &self.counters {
            for link in counters.links() {
                let node = self.sender_of(link);
                if context.queues_for(link) {
                    context.set_timer(node, counters.first(), timer::SAMPLE_COUNTERS | u64::from(link));
                }
            }
        }
        let series = [(&self.cwnd, timer::SAMPLE_CWND), (&self.rate, timer::SAMPLE_RATE)];
        for host in self.plan.senders().map(NodeId::from) {
            if context.is_mine(host) {
                for (series, key) in &series {
                    if let Some(series) = series {
                        context.set_timer(host, series.from, *key);
                    }
                }
            }
        }
    }

    fn on_timer(&mut self, node: NodeId, key: u64, network: &mut Egress, context: &mut Context) {
        let link = LinkId::from(key as u32);
        match timer::kind(key) {
            timer::SAMPLE_QUEUE => self.queue(node, link, network, context),
            timer::SAMPLE_COUNTERS => self.count(node, link, network, context),
            timer::SAMPLE_CWND => self.windows(node, context),
            timer::SAMPLE_RATE => self.rates(node, context),
            _ => {}
        }
    }

    fn on_flow_start(&mut self, sending: &mut Sending, context: &mut Context) {
        let label = sending.planned.label.index();
        let subflows = self.plan.transports[sending.planned.transport.index()].config.subflows;
        if let Some(series) = self.rtt.as_ref().filter(|_| self.rtt_wanted[label]) {
            sending.end.record_rtts(Box::new(RttRecorder::new(series, subflows, context.buffer())));
        }
        if self.rate.as_ref().is_some_and(|rate| rate.wanted[label]) {
            let acked = vec![0; sending.end.subflows()].into();
            self.rates.insert(sending.flow, Sampled { at: Time::ZERO, acked });
        }
    }

    fn on_close(&mut self, sending: &Sending, context: &mut Context) {
        let mut samples = Vec::new();
        self.rate(sending, context.now, &mut samples);
        self.rates.remove(&sending.flow);
        context.sample(samples);
    }

    /// The run ends, in the middle of an interval perhaps.
    fn on_end(&mut self, network: &mut Network, context: &mut Context) {
        let (now, mut samples) = (context.now, Vec::new());
        for host in context.my_hosts() {
            for (_, sending) in context.hosts[host.index()].senders() {
                self.rate(sending, now, &mut samples);
            }
        }
        if let Some(counters) = self.counters.as_mut().filter(|counters| counters.lasts(now)) {
            for link in counters.links().into_iter().filter(|link| context.queues_for(*link)) {
                let paused = network.pauses(link, now).map(|stats| stats.paused);
                samples.extend(counters.count(link, now, network.link_outcome(link, now), paused));
            }
        }
        context.sample(samples);
    }
}
