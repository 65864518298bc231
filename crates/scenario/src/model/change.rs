//! Changes of links.

use linkpool_network::{Fabric, Layer, Loss, NodeId, QueueLimit};
use linkpool_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of some links from some time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When; zero: from the start.
    pub at: Time,
    /// When they are again as they were built; none: never.
    pub until: Option<Time>,
    /// Whose links.
    pub of: ChangeOf,
    /// Do they work?
    pub state: Option<LinkState>,
    /// Their rate.
    pub rate: Option<Rate>,
    /// The limit of their queues.
    pub limit: Option<QueueLimit>,
    /// How they lose packets.
    pub loss: Option<Loss>,
}

/// Which links change.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeOf {
    /// Directed links, each a pair of names of hosts or switches: from, to.
    Links(Vec<(String, String)>),
    /// All from and to these nodes.
    Nodes(Vec<String>),
    /// All from and to a share of the nodes of a layer, drawn at random.
    Layer(Layer, f64),
}

impl ChangeOf {
    /// Is the link from one node to another among these, or may it be, where chance decides?
    pub fn concerns(&self, fabric: &Fabric, from: NodeId, to: NodeId) -> bool {
        match self {
            ChangeOf::Links(links) => links.iter().any(|(a, b)| a == fabric.name(from) && b == fabric.name(to)),
            ChangeOf::Nodes(nodes) => [from, to].iter().any(|node| nodes.iter().any(|name| name == fabric.name(*node))),
            ChangeOf::Layer(layer, share) => {
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
