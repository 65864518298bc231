//! Which links change.

use std::borrow::Cow;
use std::fmt;

use linkpool_network::{Fabric, Layer, LinkId, NodeId};
use linkpool_settings::{LinkEnds, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which links change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangedLinks<'c> {
    /// Directed links, each a pair of names of hosts or switches: from, to.
    Listed(&'c [LinkEnds]),
    /// All from and to these nodes.
    OfNodes(&'c [String]),
    /// All from and to nodes of a layer, or to and from those that chance chooses.
    OfLayer(Layer),
    /// The cables between two layers, or those that chance chooses.
    Between(Tier),
}

/// How many victims chance chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// This share of all.
    Share(f64),
    /// So many.
    Count(u32),
}

/// The cables between two layers: one direction, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The one layer. In a tier, [`Layer::Switch`] stands for any switch.
    pub from: Layer,
    /// The other.
    pub to: Layer,
    /// Both directions of a cable, which change together.
    pub both: bool,
}

impl ChangedLinks<'_> {
    /// The links by victim: one alone, those of a cable, or those of a node. Chance chooses among
    /// victims.
    pub fn victims(&self, fabric: &Fabric) -> Vec<Vec<LinkId>> {
        let named = |name: &String| fabric.node(name);
        match self {
            ChangedLinks::Listed(links) => {
                links.iter().flat_map(|(from, to)| fabric.links_named(from, to)).map(|link| vec![link]).collect()
            }
            ChangedLinks::OfNodes(names) => names.iter().filter_map(named).map(|node| links_at(fabric, node)).collect(),
            ChangedLinks::OfLayer(layer) => {
                let nodes = NodeId::first(fabric.nodes()).filter(|node| fabric.layer(*node) == *layer);
                nodes.map(|node| links_at(fabric, node)).collect()
            }
            ChangedLinks::Between(tier) => tier.victims(fabric),
        }
    }
}

/// All links from and to `node`.
fn links_at(fabric: &Fabric, node: NodeId) -> Vec<LinkId> {
    fabric.links_from(node).flat_map(|link| [link, fabric.reverse(link)]).collect()
}

impl Draw {
    /// How many of `all`: a share is rounded.
    pub fn of(self, all: usize) -> usize {
        match self {
            Draw::Share(share) => (all as f64 * share).round() as usize,
            Draw::Count(count) => count as usize,
        }
    }
}

impl Tier {
    /// Does `link` go from the one layer to the other?
    fn has(&self, fabric: &Fabric, link: LinkId) -> bool {
        let l = &fabric.links()[link.index()];
        let is = |node: NodeId, layer: Layer| match layer {
            Layer::Switch => fabric.layer(node) != Layer::Host,
            layer => fabric.layer(node) == layer,
        };
        is(l.from, self.from) && is(l.to, self.to)
    }

    fn victims(&self, fabric: &Fabric) -> Vec<Vec<LinkId>> {
        let forth = (0..fabric.links().len()).map(LinkId::new).filter(|link| self.has(fabric, *link));
        if !self.both {
            return forth.map(|link| vec![link]).collect();
        }
        let cable = |link: LinkId| {
            let back = fabric.reverse(link);
            // Between nodes of which each may be the first, a cable is there twice.
            (link < back || !self.has(fabric, back)).then(|| vec![link, back])
        };
        forth.filter_map(cable).collect()
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.from.name(), if self.both { "<->" } else { "->" }, self.to.name())
    }
}

impl Serialize for Tier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Tier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tier, D::Error> {
        deserializer.deserialize_str(TierVisitor)
    }
}

struct TierVisitor;

impl Visitor<'_> for TierVisitor {
    type Value = Tier;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two layers, such as \"edge<->core\", or \"edge->core\" for one direction")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Tier, E> {
        let both = text.split_once("<->");
        let ends = both.or_else(|| text.split_once("->"));
        let (from, to) = ends.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))?;
        let layer = |name: &str| {
            let found = Layer::ALL.into_iter().find(|layer| layer.name() == name.trim());
            let known = || nearest(name.trim(), Layer::ALL.map(Layer::name));
            found.ok_or_else(|| E::custom(format!("no layer is named {:?}; {}", name.trim(), known())))
        };
        Ok(Tier { from: layer(from)?, to: layer(to)?, both: both.is_some() })
    }
}

impl JsonSchema for Tier {
    fn schema_name() -> Cow<'static, str> {
        "Tier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let layers = Layer::ALL.map(Layer::name).join("|");
        json_schema!({
            "description": "The cables between two layers: \"A<->B\", or one direction of them: \"A->B\".",
            "type": "string",
            "pattern": format!("^\\s*({layers})\\s*<?->\\s*({layers})\\s*$"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::topology;
    use linkpool_units::{Rate, Time};

    /// k = 4: 16 hosts, 8 edge and 8 aggregation switches, 4 cores; 16 cables in each of three
    /// tiers.
    #[test]
    fn cables_are_counted_by_tier() {
        let fabric = topology::fat_tree(4, 2, Rate::gbps(10), Time::ZERO);
        let tier = |text: &str| -> Tier { serde_json::from_value(text.into()).unwrap() };
        let victims = |text: &str| ChangedLinks::Between(tier(text)).victims(&fabric);
        for (text, count, links) in [
            ("host<->edge", 16, 2),
            ("edge<->host", 16, 2),
            ("edge <-> aggregation", 16, 2),
            ("aggregation->core", 16, 1),
            ("switch<->switch", 32, 2),
            ("switch->switch", 64, 1),
            ("host<->switch", 16, 2),
            ("edge<->core", 0, 2),
        ] {
            let victims = victims(text);
            assert_eq!(victims.len(), count, "{text}");
            assert!(victims.iter().all(|victim| victim.len() == links), "{text}");
            let mut all = victims.concat();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count * links, "{text}: no link is there twice");
        }
        // A cable between equals stands where its first link does, so that a seed draws the same
        // ones.
        assert!(victims("switch<->switch").iter().all(|cable| cable[0] < cable[1]));
        let up = victims("aggregation->core").concat();
        assert!(up.iter().all(|link| fabric.layer(fabric.links()[link.index()].to) == Layer::Core));
        assert_eq!(tier("core -> edge").to_string(), "core->edge");
        let switches = ChangedLinks::OfLayer(Layer::Core).victims(&fabric);
        assert_eq!((switches.len(), switches.concat().len()), (4, 4 * 8));
    }
}
