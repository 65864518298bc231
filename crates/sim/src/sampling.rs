//! Time series: sampled by timers of the nodes that hold what is sampled.

use crate::endpoint::{Endpoint, SendingEnd, key};
use crate::host::Host;
use crate::plan::Plan;
use linkpool_engine::Timers;
use linkpool_network::{Egress, LinkId};
use linkpool_units::Time;

/// Where samples go.
pub trait Samples {
    /// Length of a queue.
    fn queue(&mut self, at: Time, link: LinkId, packets: u32, bytes: u64);
    /// Window of a subflow; `srtt` in seconds.
    fn cwnd(&mut self, at: Time, flow: u32, subflow: usize, sample: CwndSample);
    /// Payload acknowledged per second on a subflow in the interval that ends at `at`, bit/s.
    fn rate(&mut self, at: Time, flow: u32, subflow: usize, goodput: f64);
}

/// A subflow's window at an instant.
#[derive(Clone, Copy, Debug)]
pub struct CwndSample {
    /// Packets.
    pub cwnd: f64,
    /// Packets; infinite: unlimited.
    pub ssthresh: f64,
    /// Seconds, once known.
    pub srtt: Option<f64>,
    /// Is it kept from sending new data?
    pub suppressed: bool,
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
    last_rate: Vec<Time>,
    samples: Box<dyn Samples + Send>,
}

impl Sampling {
    pub(crate) fn new(plan: &Plan, samples: Box<dyn Samples + Send>) -> Sampling {
        let series = |s: &linkpool_scenario::SeriesRecord| Series {
            every: s.every,
            from: s.from,
            until: s.until,
            wanted: plan.labels.iter().map(|l| s.labels.as_ref().is_none_or(|wanted| wanted.contains(l))).collect(),
        };
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
            last_rate: vec![Time::ZERO; plan.flows.len()],
            samples,
        }
    }

    /// Sets the first timer of each series at each node concerned.
    pub(crate) fn first_timers(&self, plan: &Plan, timers: &mut [Timers]) {
        if let Some(queue) = &self.queue {
            for link in &self.links {
                let node = plan.fabric.links()[*link as usize].from;
                timers[node as usize].push(queue.from, key::SAMPLE_QUEUE | *link as u64);
            }
        }
        let mut senders: Vec<u16> = plan.flows.iter().map(|f| f.flow.src).collect();
        senders.sort_unstable();
        senders.dedup();
        for host in senders {
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

    pub(crate) fn queue(&mut self, link: LinkId, now: Time, network: &mut Egress<'_>, timers: &mut Timers) {
        let Some(series) = &self.queue else { return };
        let (packets, bytes) = network.queue(link, now);
        self.samples.queue(now, link, packets, bytes);
        series.again(now, key::SAMPLE_QUEUE | link as u64, timers);
    }

    pub(crate) fn cwnd(&mut self, plan: &Plan, host: &mut Host, now: Time, timers: &mut Timers) {
        let Some(series) = &self.cwnd else { return };
        for (_, endpoint) in host.endpoints() {
            let Endpoint::Sender(end) = endpoint else { continue };
            if !series.wanted[plan.flows[end.flow as usize].label as usize] {
                continue;
            }
            for s in (0..end.sender.subflows()).filter(|s| end.sender.path(*s).established) {
                let path = end.sender.path(s);
                let sample = CwndSample {
                    cwnd: path.cwnd,
                    ssthresh: path.ssthresh,
                    srtt: (path.srtt > 0.0).then_some(path.srtt / 1e12),
                    suppressed: end.sender.is_suppressed(s),
                };
                self.samples.cwnd(now, end.flow, s, sample);
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
        let last = &mut self.last_rate[end.flow as usize];
        let since = (*last).max(end.sender.started()).max(series.from);
        if now <= since || now > series.until.saturating_add(series.every) {
            return;
        }
        for (s, before) in sampled.iter_mut().enumerate() {
            let acked = end.sender.stats(s).acked_bytes;
            if end.sender.path(s).established {
                let goodput = 8.0 * (acked - *before) as f64 / (now - since).secs();
                self.samples.rate(now, end.flow, s, goodput);
            }
            *before = acked;
        }
        *last = now;
    }
}
