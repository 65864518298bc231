//! Links that the connection matrices of htsim take down.

use linkpool_network::{Fabric, Layer, NodeId};
use linkpool_settings::LinkEnds;

use super::trace_formats::Failure;

/// The cable of an aggregation switch to the core: both are numbered as in the fabric, and as htsim
/// numbers them in fat-trees. Both directions.
pub(super) fn cable(fabric: &Fabric, Failure { switch, link }: Failure) -> Result<[LinkEnds; 2], String> {
    let mut switches = NodeId::first(fabric.nodes()).filter(|node| fabric.layer(*node) == Layer::Aggregation);
    let from = switches.nth(switch).ok_or_else(|| format!("there is no aggregation switch {switch}"))?;
    let uplinks = fabric.links_from(from).map(|l| fabric.links()[l.index()].to);
    let mut cores = uplinks.filter(|to| fabric.layer(*to) == Layer::Core);
    let name = fabric.name(from);
    let to = cores
        .nth(link)
        .ok_or_else(|| format!("{name}, aggregation switch {switch}, has no link {link} to the core"))?;
    let (from, to) = (name.to_string(), fabric.name(to).to_string());
    Ok([(from.clone(), to.clone()), (to, from)])
}
