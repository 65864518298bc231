//! Routing: spreading, weights, placement, and what follows failures.

use linkpool_network::{Fabric, LinkId, Spreading, Weights};
use linkpool_settings::{Bounds, settings};
use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reconverge;

settings! {
    /// How switches choose among the links of equal cost to a destination.
    pub struct Routing {
        /// `"ecmp"`: by a hash of addresses and ports, salted per switch; `"spray"`: at random for
        /// each packet; `"flowlets"`: at random for each flowlet (LetFlow); `"two-level"`: by the
        /// address of the destination, of which each host has several.
        kind: RoutingKind = RoutingKind::Ecmp;
        /// Packets of a flow that come to a switch so far apart, or further, may part.
        gap: Option<Time>, from |_r| None => "required with `\"flowlets\"`", within Bounds::POSITIVE_SPAN,
            when |r| r.kind == RoutingKind::Flowlets => "kind = \"flowlets\"";
        /// Addresses of each host, 1 to k/2; subflow i uses the i-th.
        addresses: Option<u32>, from |_r| None => "k/2, half of the ports of a switch", within Bounds::POSITIVE,
            when |r| r.kind == RoutingKind::TwoLevel => "kind = \"two-level\"";
        /// `"equal"`; `"capacity"`: links get shares in proportion to the capacity to the
        /// destination over them, the links behind them considered.
        weights: Option<WeightRule>, from |_r| None => "`\"equal\"`",
            refused |r| r.weights.is_some() && r.kind == RoutingKind::TwoLevel => NO_CHOICE,
            refused |r| r.weights.is_some() && r.link.is_some() =>
                "links have weights by rule or one by one; leave out `weights` or `link`";
        /// Weights one by one, 1 for all others: `[{ name = "l0->s1", weight = 3 }]`.
        link: Option<Vec<LinkWeight>> = None,
            refused |r| r.link.is_some() && r.weights.is_none() && r.kind == RoutingKind::TwoLevel => NO_CHOICE;
        /// How long after links fail or work again routes follow, or `"never"`; see below. Paths
        /// that flows or subflows are pinned to never follow, nor do those of two-level routing.
        reconverge: Option<Reconverge>, from |_r| None => "required where a [[change]] has a `state`";
    }
    tables {
        /// The central scheduler of transports with `paths = "placed"`, which need it, see below.
        placement: Placement;
    }
}

const NO_CHOICE: &str = "two-level routing leaves no choice that could be weighted; leave it out";

settings! {
    /// A central scheduler.
    #[derive(Copy)]
    pub struct Placement {
        /// From one look at all flows to the next.
        period: Time, required Time::from_ms(10), within Bounds::POSITIVE_SPAN;
        /// A flow is long if it got this share of the capacity of its host's links in a period.
        share: f64 = 0.1, within Bounds::above(0.0, "{} is no share of a link; it is above 0 and at most 1").to(1.0);
    }
}

/// How a switch chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingKind {
    /// A hash of addresses and ports.
    Ecmp,
    /// Nothing: a random link for each packet.
    Spray,
    /// A random link for each flowlet.
    Flowlets,
    /// The address of the destination (Al-Fares et al., SIGCOMM 2008).
    TwoLevel,
}

/// The rule for the weights of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WeightRule {
    /// All are alike.
    Equal,
    /// In proportion to the capacity to the destination.
    Capacity,
}

/// The weight of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkWeight {
    /// The link, as FROM->TO.
    pub name: String,
    /// Its share relative to the other links.
    #[schemars(range(min = 1, max = 64))]
    pub weight: u32,
}

impl LinkWeight {
    /// The link.
    pub fn link(&self, fabric: &Fabric) -> Option<LinkId> {
        let (from, to) = self.name.split_once("->")?;
        fabric.link(fabric.node(from.trim())?, fabric.node(to.trim())?)
    }
}

impl Routing {
    /// The spreading for the network; with two-level routing hosts know the paths of their packets.
    pub fn network(&self, fabric: &Fabric) -> linkpool_network::Routing {
        let spreading = match (self.kind, self.gap) {
            (RoutingKind::Spray, _) => Spreading::Packets,
            (RoutingKind::Flowlets, Some(gap)) => Spreading::Flowlets(gap),
            _ => Spreading::Flows,
        };
        let given = |link: &LinkWeight| Some((link.link(fabric)?, link.weight));
        let weights = match (&self.link, self.weights) {
            (Some(links), _) => Weights::Given(links.iter().filter_map(given).collect()),
            (None, Some(WeightRule::Capacity)) => Weights::Capacity,
            (None, _) => Weights::Equal,
        };
        linkpool_network::Routing { spreading, weights }
    }
}
