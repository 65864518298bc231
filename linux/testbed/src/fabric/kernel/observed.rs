//! What is seen of the switches of the kernel: samples of queues, and what links have done.

use super::device;
use super::namespaces::{Nodes, has_seeds};
use super::qdisc::{Queue, Queues};
use crate::fabric::FabricOutcome;
use crate::timing::LostTime;
use anyhow::{Context as _, Result};
use linkpool_linux_control::switch::Switches as Programs;
use linkpool_network::{LinkId, LinkStats, NodeId, OnWire, RareEvents};
use linkpool_sim::{LinkOutcome, MeasuredLink, PathRule, Plan, Sample, Value};
use linkpool_units::{Time, counted};

/// Of a run so far.
pub(super) struct Observed<'a> {
    plan: &'a Plan,
    programs: &'a Programs,
    /// By node.
    queues: Vec<Queues>,
    /// Links whose queues are sampled, and when next.
    sampled: Vec<LinkId>,
    next: Time,
    samples: Vec<Sample>,
    /// Bytes that links had sent when the measured period began and ended.
    by_warm_up: Option<Vec<u64>>,
    by_cut_off: Option<Vec<u64>>,
    by_end: Option<Vec<LinkOutcome>>,
    /// Packets that the kernel had dropped between devices before.
    dropped_before: u64,
}

impl<'a> Observed<'a> {
    pub(super) fn begin(plan: &'a Plan, (nodes, programs): (&Nodes, &'a Programs)) -> Result<Observed<'a>> {
        let record = plan.record.queue.as_ref();
        let link = |(from, to): &(String, String)| plan.fabric.link(plan.fabric.node(from)?, plan.fabric.node(to)?);
        let links = plan.fabric.links().len();
        Ok(Observed {
            plan,
            programs,
            queues: plan.fabric.node_ids().map(|node| nodes.queues(node)).collect::<Result<_>>()?,
            sampled: record.into_iter().flat_map(|record| record.links.iter().filter_map(link)).collect(),
            next: record.map_or(Time::MAX, |record| record.from),
            samples: Vec::new(),
            by_warm_up: (plan.measure.warm_up == Time::ZERO).then(|| vec![0; links]),
            by_cut_off: None,
            by_end: None,
            dropped_before: dropped()?,
        })
    }

    /// Notes what is to be noted by `now`, and returns when to look again.
    pub(super) fn look(&mut self, now: Time, ended: bool) -> Result<Time> {
        if now >= self.next {
            self.sample(now)?;
        }
        let measure = &self.plan.measure;
        if self.by_warm_up.is_none() && now >= measure.warm_up {
            self.by_warm_up = Some(self.sent()?);
        }
        if self.by_cut_off.is_none() && now >= measure.cut_off {
            self.by_cut_off = Some(self.sent()?);
        }
        if self.by_end.is_none() && (ended || now >= self.plan.end) {
            self.by_end = Some(self.outcomes()?);
        }
        let period = [measure.warm_up, measure.cut_off, self.plan.end].into_iter();
        Ok(period.filter(|at| *at > now).fold(self.next, Time::min))
    }

    /// The run is over.
    pub(super) fn finish(mut self, now: Time) -> Result<FabricOutcome> {
        self.look(now, true)?;
        let links = self.by_end.take().context("the end of the run has been noted")?;
        let sent = |link: &LinkOutcome| link.stats.packets - u64::from(link.in_flight);
        let is_last = |(link, _): &(&linkpool_network::LinkSpec, _)| link.to.index() < self.plan.fabric.hosts();
        let delivered = self.plan.fabric.links().iter().zip(&links).filter(is_last).map(|(_, link)| sent(link)).sum();
        Ok(FabricOutcome {
            hops: links.iter().map(sent).sum(),
            delivered,
            warnings: self.warnings()?,
            lost: Some(self.lost()?),
            links,
            samples: self.samples,
            timing: None,
        })
    }

    /// The kernel tells of queues as they are: a sample that is late has the time at which it was
    /// taken, and one that is later than the next is left out.
    fn sample(&mut self, now: Time) -> Result<()> {
        let Some(record) = &self.plan.record.queue else { return Ok(()) };
        for link in self.sampled.clone() {
            let queue = self.queue(link)?;
            let value = Value::Queue { link, packets: queue.packets, bytes: queue.bytes.into() };
            self.samples.push(Sample { at: now, value });
        }
        while self.next <= now {
            self.next += record.every;
        }
        if self.next > record.until {
            self.next = Time::MAX;
        }
        Ok(())
    }

    fn queue(&mut self, link: LinkId) -> Result<Queue> {
        let from: NodeId = self.plan.fabric.links()[link.index()].from;
        self.queues[from.index()].read(device::of_link(link))
    }

    fn sent(&mut self) -> Result<Vec<u64>> {
        let links = LinkId::first(self.plan.fabric.links().len());
        links.map(|link| Ok(self.queue(link)?.sent_bytes)).collect()
    }

    fn outcomes(&mut self) -> Result<Vec<LinkOutcome>> {
        let links = LinkId::first(self.plan.fabric.links().len());
        links.map(|link| self.outcome(link)).collect()
    }

    fn outcome(&mut self, link: LinkId) -> Result<LinkOutcome> {
        let queue = self.queue(link)?;
        let counted = self.programs.counters(link.into())?;
        let bytes = queue.sent_bytes + u64::from(queue.bytes);
        let drops = u64::from(queue.drops) + counted.drops;
        // The program has seen all that came; the queue does not tell how long dropped packets
        // were.
        let drop_bytes = if drops > 0 { counted.bytes.saturating_sub(bytes) } else { 0 };
        // A queue of one packet that was there when no other came was not seen by the program.
        let longest = (counted.longest as u32).max(u32::from(queue.waits > 0));
        let by = |noted: &Option<Vec<u64>>| noted.as_ref().map(|all| all[link.index()]);
        let by_cut_off = by(&self.by_cut_off).unwrap_or(queue.sent_bytes);
        let between = |before, after| MeasuredLink::between(OnWire::all(before), OnWire::all(after));
        Ok(LinkOutcome {
            stats: LinkStats {
                packets: queue.sent_packets + u64::from(queue.packets),
                bytes,
                max_queue: longest,
                rare: RareEvents { drops, drop_bytes, marks: counted.marks, ..RareEvents::default() },
            },
            sent_bytes: queue.sent_bytes,
            measured: by(&self.by_warm_up).map(|before| between(before, by_cut_off)).unwrap_or_default(),
            in_flight: queue.packets,
            pauses: None,
        })
    }

    /// The port that has lost most time.
    fn lost(&self) -> Result<LostTime> {
        let links = LinkId::first(self.plan.fabric.links().len());
        let all: Vec<_> = links.map(|link| Ok((self.programs.lost(link.into())?, link))).collect::<Result<_>>()?;
        let (time, link) = all.into_iter().max().context("a fabric has links")?;
        Ok(LostTime { link: self.plan.fabric.link_name(link), s: time.as_secs_f64() })
    }

    fn warnings(&self) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        let dropped = dropped()?.saturating_sub(self.dropped_before);
        if dropped > 0 {
            warnings.push(format!(
                "the kernel has dropped {} between devices, which no queue of the scenario did (net.core.netdev_max_backlog)",
                counted(dropped, "packet")
            ));
        }
        let chooses = self.plan.transports.iter().any(|transport| transport.paths == PathRule::Hash);
        if chooses && !has_seeds() {
            warnings.push(
                "[routing]: on this kernel all switches choose among links by the same hash (net.ipv4.fib_multipath_hash_seed is there \
                 since Linux 6.11)"
                    .to_string(),
            );
        }
        Ok(warnings)
    }
}

/// Packets that found no room in the kernel's queues before protocols, on all processors.
fn dropped() -> Result<u64> {
    let path = "/proc/net/softnet_stat";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let of_processor = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    Ok(text.lines().filter_map(of_processor).sum())
}
