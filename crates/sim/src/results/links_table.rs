//! The table of links.

use crate::plan::Plan;
use crate::results::column::table;
use crate::results::outcome::{LinkOutcome, Outcome};
use linkpool_network::{LinkId, LinkSpec};
use linkpool_scenario::Measure;
use linkpool_units::Time;

/// A link at the end of the run.
#[derive(Debug)]
pub(crate) struct LinkRow<'a> {
    plan: &'a Plan,
    id: LinkId,
    spec: &'a LinkSpec,
    link: &'a LinkOutcome,
    simulated: Time,
}

table! {
    /// A row per directed link.
    "links" of LinkRow<'_>, always, |row|
    /// `FROM->TO`; of parallel cables `FROM->TO#0` and so on.
    link: str, "" = row.plan.fabric.link_name(row.id).as_str();
    /// Sending node.
    from: str, "" = row.plan.fabric.name(row.spec.from);
    /// Receiving node.
    to: str, "" = row.plan.fabric.name(row.spec.to);
    /// Layer of the sending port: `host`, `nvlink`, `pcie`, `edge`, `aggregation`, `core` or `switch`.
    layer: str, "" = row.plan.fabric.layer(row.spec.from).name();
    /// Layer of the receiving node: `edge` to `aggregation` is upwards, `aggregation` to `edge`
    /// downwards.
    to_layer: str, "" = row.plan.fabric.layer(row.spec.to).name();
    /// Rate, as the topology has it.
    rate_bps: f64, "bit/s" = row.spec.rate.0 as f64;
    /// Propagation delay, as the topology has it.
    delay_s: f64, "s" = row.spec.delay.secs();
    /// Accepted for transmission: put on the wire, or still in the queue when the run ended.
    packets: u64, "packets" = row.link.stats.packets;
    /// Of these packets, headers included.
    bytes: u64, "B" = row.link.stats.bytes;
    /// Packets dropped by the queue of this port.
    drops: u64, "packets" = row.link.stats.rare.drops;
    /// Bytes dropped by the queue of this port.
    drop_bytes: u64, "B" = row.link.stats.rare.drop_bytes;
    /// Packets lost because the link was down.
    drops_down: u64, "packets" = row.link.stats.rare.drops_down;
    /// Packets lost on the wire at random.
    drops_loss: u64, "packets" = row.link.stats.rare.drops_loss;
    /// Packets marked CE here.
    marks: u64, "packets" = row.link.stats.rare.marks;
    /// Packets whose payload this port cut off.
    trims: u64, "packets" = row.link.stats.rare.trims;
    /// Longest queue, by the scenario's way of counting; of a port that trims, data packets alone; of a port with classes, the longest of one class.
    max_queue_pkts: u32, "packets" = row.link.stats.max_queue;
    /// Bytes put on the wire in the measured period, headers included.
    measured_bytes: u64, "B" = row.link.measured.bytes;
    /// Utilisation in the measured period: `measured_bytes`, with parts of bytes, over what the link could
    /// have sent, at the rates that it had while it was up; 1 at the most. Null: it could send nothing.
    utilisation: f64, "" = row.utilisation();
}

impl<'a> LinkRow<'a> {
    /// All links of a run.
    pub(crate) fn all(plan: &'a Plan, outcome: &'a Outcome) -> impl Iterator<Item = LinkRow<'a>> {
        let ids = LinkId::first(outcome.links.len());
        let links = ids.zip(plan.fabric.links()).zip(&outcome.links);
        links.map(move |((id, spec), link)| LinkRow { plan, id, spec, link, simulated: outcome.simulated })
    }

    fn utilisation(&self) -> Option<f64> {
        let Measure { warm_up, cut_off } = self.plan.measure;
        let by = |at: Time| self.plan.changes.capacity(self.id, self.spec.rate, at.min(self.simulated));
        self.link.measured.sent.share(by(cut_off).since(by(warm_up)))
    }
}
