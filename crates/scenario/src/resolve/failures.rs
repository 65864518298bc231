//! Links that the connection matrices of htsim take down.

use linkpool_network::{Fabric, Layer, NodeId};
use linkpool_settings::LinkEnds;

use linkpool_formats::flows::Failure;

/// The cable of an aggregation switch to the core: both are numbered as in the fabric, and as htsim
/// numbers them in fat-trees. Both directions.
pub(super) fn cable(fabric: &Fabric, Failure { switch, link }: Failure) -> Result<[LinkEnds; 2], String> {
    let mut switches = NodeId::first(fabric.nodes()).filter(|node| fabric.layer(*node) == Layer::Aggregation);
    let from = switches.nth(switch).ok_or_else(|| format!("there is no aggregation switch {switch}"))?;
    let mut uplinks = fabric.links_from(from).filter(|l| fabric.layer(fabric.links()[l.index()].to) == Layer::Core);
    let uplink = uplinks
        .nth(link)
        .ok_or_else(|| format!("{}, aggregation switch {switch}, has no link {link} to the core", fabric.name(from)))?;
    Ok([uplink, fabric.reverse(uplink)].map(|link| fabric.link_ends(link)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_network::FabricBuilder;
    use linkpool_units::{Rate, Time};

    /// An aggregation switch with two cables to a core switch and one to another: its links are 0,
    /// 1 and 2.
    #[test]
    fn one_cable_of_a_bundle_fails() {
        let mut b = FabricBuilder::default();
        let [edge, aggregation] = [("e", Layer::Edge), ("a", Layer::Aggregation)].map(|(name, of)| b.node(name, of));
        let [c0, c1] = ["c0", "c1"].map(|name| b.node(name, Layer::Core));
        for to in [edge, c0, c0, c1] {
            b.cable(aggregation, to, Rate::gbps(1), Time(1));
        }
        let fabric = b.build();
        let fails =
            |link| cable(&fabric, Failure { switch: 0, link }).map(|ends| ends.map(|(a, b)| format!("{a}->{b}")));
        let named = |there: &str, back: &str| Ok([there.to_string(), back.to_string()]);
        assert_eq!(fails(0), named("a->c0#0", "c0->a#0"));
        assert_eq!(fails(1), named("a->c0#1", "c0->a#1"));
        assert_eq!(fails(2), named("a->c1", "c1->a"));
        assert!(fails(3).is_err());
    }
}
