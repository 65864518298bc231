//! Changes of links.

use linkpool_network::{Fabric, Layer, Loss, NodeId, QueueLimit};
use linkpool_settings::{Bounds, Length, LinkEnds, LinkName, Preset, Settings, settings};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PROBABILITY: Bounds = Bounds::from(0.0, "{} is not between 0 and 1").to(1.0);

settings! {
    /// A change of some links at some time: exactly one of `links`, `nodes` and `layer`, and at
    /// least one of `state`, `rate`, `limit`, `loss` and `burst_loss`.
    pub struct Change {
        /// When; `"0s"`: it is so from the start.
        at: Time = Time::ZERO;
        /// Until when: then the links are again as the topology and `[queue]` have them.
        until: Option<Time>, from |_c| None => "for good", within Bounds::SPAN;
        /// These links: "A->B" is one direction, "A<->B" both.
        links: Option<Vec<LinkEnds>> as Option<Vec<LinkName>> = None,
            within Length::from(1, "names none; write for example links = [\"A->B\"]");
        /// All links from and to these switches or hosts.
        nodes: Option<Vec<String>> = None, within Length::from(1, "names none; write for example nodes = [\"c0\"]");
        /// All links from and to the switches of this layer (or hosts).
        layer: Option<Layer> = None;
        /// Only this share of the `layer`, drawn at random; of one seed a larger share has all
        /// those of a smaller.
        share: f64 = 1.0, within PROBABILITY, when |c| c.layer.is_some() => "`layer`";
        /// `"down"`: packets that are queued or in service are lost, and all that arrive, until
        /// `"up"`.
        state: Option<LinkState> = None;
        /// The rate of the links.
        rate: Option<Rate> = None, within Bounds::POSITIVE;
        /// The limit of the queues at their ports, in packets or as a size, for packets that come
        /// from then on.
        limit: Option<QueueLimit> = None,
            within Bounds::above(0.0, "a queue with a limit of 0 drops every packet; write for example limit = 10");
        /// Probability that a packet is lost on the wire, each by itself.
        loss: Option<f64> = None, within PROBABILITY;
    }
    tables {
        /// Loss in bursts instead of `loss`.
        burst_loss: BurstLoss,
            refused |c| c.loss.is_some() && c.burst_loss.is_some() => "there is `loss` too; leave one out";
    }
}

settings! {
    /// Loss by the model of Gilbert and Elliott: a good and a bad state, one step per packet.
    #[derive(Copy)]
    pub struct BurstLoss {
        /// Probability that the bad state follows the good one.
        to_bad: f64, required 0.001, within PROBABILITY;
        /// Probability that the good state follows the bad one: 1 / the mean length of a burst.
        to_good: f64, required 0.25, within PROBABILITY;
        /// Probability of loss in the good state.
        in_good: f64 = 0.0, within PROBABILITY;
        /// Probability of loss in the bad state.
        in_bad: f64 = 1.0, within PROBABILITY;
    }
}

/// Which links change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangedLinks<'c> {
    /// Directed links, each a pair of names of hosts or switches: from, to.
    Listed(&'c [LinkEnds]),
    /// All from and to these nodes.
    OfNodes(&'c [String]),
    /// All from and to a share of the nodes of a layer, drawn at random.
    OfLayer(Layer, f64),
}

impl Change {
    /// These links fail at the start.
    pub fn down(links: Vec<LinkEnds>) -> Change {
        Change { links: Some(links), state: Some(LinkState::Down), ..Change::defaults(Preset::Linux) }
    }

    /// Which links change.
    pub fn changed(&self) -> ChangedLinks<'_> {
        match (&self.links, &self.nodes, self.layer) {
            (_, _, Some(layer)) => ChangedLinks::OfLayer(layer, self.share),
            (_, Some(nodes), _) => ChangedLinks::OfNodes(nodes),
            (links, ..) => ChangedLinks::Listed(links.as_deref().unwrap_or_default()),
        }
    }

    /// How the links lose packets, if that changes.
    pub fn losses(&self) -> Option<Loss> {
        let of = |BurstLoss { to_bad, to_good, in_good, in_bad }| Loss { in_good, in_bad, to_bad, to_good };
        self.loss.map(Loss::random).or(self.burst_loss.map(of))
    }
}

impl ChangedLinks<'_> {
    /// Is the link from one node to another among these, or may it be, where chance decides?
    pub fn concern(&self, fabric: &Fabric, from: NodeId, to: NodeId) -> bool {
        match self {
            ChangedLinks::Listed(links) => links.iter().any(|(a, b)| a == fabric.name(from) && b == fabric.name(to)),
            ChangedLinks::OfNodes(nodes) => {
                [from, to].iter().any(|node| nodes.iter().any(|name| name == fabric.name(*node)))
            }
            ChangedLinks::OfLayer(layer, share) => {
                *share > 0.0 && [from, to].iter().any(|node| fabric.layer(*node) == *layer)
            }
        }
    }
}

/// Does a link work?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// It works.
    Up,
    /// It has failed.
    Down,
}
