//! Routing: spreading, weights, placement, and new routes after failures.

use linkpool_network::{Fabric, LinkId, Spreading, Weights};
use linkpool_settings::{Bounds, Name, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reconverge;

settings! {
    /// How switches choose among the links of equal cost to a destination.
    pub struct Routing {
        /// The rule by which a switch chooses, see the next table.
        kind: Spreading as Name<Spreading> = Spreading::Ecmp;
        /// Least pause between two packets of a flow at a switch after which the second may take
        /// another link.
        gap: Option<Time>, from |_r| None => "required with `\"flowlets\"`", within Bounds::POSITIVE_SPAN,
            when |r| r.kind.needs_gap().is_some() => "kind = \"flowlets\", kind = \"adaptive\" and kind = \"ugal\"";
        /// Number of addresses of each host, 1 to k/2. Subflow i uses address i.
        addresses: Option<u32>, from |_r| None => "k/2, half of the ports of a switch", within Bounds::POSITIVE,
            when |r| r.kind == Spreading::TwoLevel => "kind = \"two-level\"";
        /// The weights of links: `"equal"`, or `"capacity"`: in proportion to the capacity to the
        /// destination over each link and the links behind it.
        weights: Option<WeightRule>, from |_r| None => "`\"equal\"`",
            refused |r| r.weights.is_some() && r.kind == Spreading::TwoLevel => NO_CHOICE,
            refused |r| r.weights.is_some() && r.link.is_some() =>
                "links have weights by rule or one by one; leave out `weights` or `link`";
        /// Weights of single links; all others have the weight 1: `[{ name = "l0->s1", weight = 3
        /// }]`.
        link: Option<Vec<LinkWeight>> = None,
            refused |r| r.link.is_some() && r.weights.is_none() && r.kind == Spreading::TwoLevel => NO_CHOICE;
        /// The time from a failure or repair of links until routes follow, or `"never"`; see below.
        /// Pinned paths of flows and subflows, and paths of two-level routing, never follow.
        reconverge: Option<Reconverge>, from |_r| None => "required where a [[change]] has a `state`";
    }
    tables {
        /// The central scheduler, which transports with `paths = "placed"` need; see below.
        placement: Placement;
    }
    chosen {
        kind "kind";
    }
}

const NO_CHOICE: &str = "two-level routing leaves no choice that could be weighted; leave it out";

settings! {
    /// A central scheduler.
    #[derive(Copy)]
    pub struct Placement {
        /// Time between two decisions of the scheduler.
        period: Time, required Time::from_ms(10), within Bounds::POSITIVE_SPAN;
        /// A flow is long if it got this share of the capacity of its host's links in a period.
        share: f64 = 0.1, within Bounds::above(0.0, "{} is no share of a link; it is above 0 and at most 1").to(1.0);
    }
}

/// The rule for the weights of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WeightRule {
    /// All links have the same weight.
    Equal,
    /// In proportion to the capacity to the destination.
    Capacity,
}

/// The weight of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkWeight {
    /// The link, as FROM->TO; of parallel cables FROM->TO#n, or all of them.
    pub name: String,
    /// Its share relative to the other links.
    #[schemars(range(min = 1, max = 64))]
    pub weight: u32,
}

impl LinkWeight {
    /// The link, or all of the parallel cables.
    pub fn links(&self, fabric: &Fabric) -> Vec<LinkId> {
        let ends = self.name.split_once("->");
        ends.map_or_else(Vec::new, |(from, to)| fabric.links_named(from.trim(), to.trim()))
    }
}

impl Routing {
    /// The spreading for the network; with two-level routing hosts know the paths of their packets.
    pub fn network(&self, fabric: &Fabric) -> linkpool_network::Routing {
        let given = |link: &LinkWeight| {
            let weight = link.weight;
            link.links(fabric).into_iter().map(move |link| (link, weight))
        };
        let weights = match (&self.link, self.weights) {
            (Some(links), _) => Weights::Given(links.iter().flat_map(given).collect()),
            (None, Some(WeightRule::Capacity)) => Weights::Capacity,
            (None, _) => Weights::Equal,
        };
        linkpool_network::Routing { spreading: self.kind, gap: self.gap, weights }
    }
}
