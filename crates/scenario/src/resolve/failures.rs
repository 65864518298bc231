//! Links that the connection matrices of htsim take down.

use linkpool_network::{Fabric, Layer, NodeId};

use super::included;
use super::section::Section;
use super::trace_formats::{self, Failure};
use crate::errors::Report;
use crate::file::{ChangeTable, TraceFormat, TraceTable};
use crate::model::LinkState;
use crate::source::Path;

/// The failures in the files of `traces`, as changes from the start. Other errors of a file are
/// reported where its flows are read.
pub(super) fn of_traces(traces: &[TraceTable], fabric: Option<&Fabric>, report: &mut Report<'_>) -> Vec<ChangeTable> {
    let Some(fabric) = fabric else { return Vec::new() };
    let mut changes = Vec::new();
    for (i, table) in traces.iter().enumerate() {
        let (Some(file), Some(TraceFormat::Htsim)) = (&table.file, table.format) else { continue };
        let section = &mut Section::new(report, Path::default().at("workload").at("trace").at(i.to_string()));
        let Ok(text) = included::read(&section.beside(file)) else { continue };
        let cables = trace_formats::failures(&text).and_then(|failures| {
            failures.into_iter().map(|(line, failure)| cable(fabric, failure).map_err(|why| (line, why))).collect()
        });
        match cables {
            Ok(links) if Vec::is_empty(&links) => {}
            Ok(links) => {
                changes.push(ChangeTable { links: Some(links), state: Some(LinkState::Down), ..ChangeTable::default() })
            }
            Err((line, why)) => section.error("file", format!("{file}:{line}: {why}")),
        }
    }
    changes
}

/// The cable of an aggregation switch to the core: both are numbered as in the fabric, and as htsim
/// numbers them in fat-trees.
fn cable(fabric: &Fabric, Failure { switch, link }: Failure) -> Result<String, String> {
    let mut switches = NodeId::first(fabric.nodes()).filter(|node| fabric.layer(*node) == Layer::Aggregation);
    let from = switches.nth(switch).ok_or_else(|| format!("there is no aggregation switch {switch}"))?;
    let uplinks = fabric.links_from(from).map(|l| fabric.links()[l.index()].to);
    let mut cores = uplinks.filter(|to| fabric.layer(*to) == Layer::Core);
    let name = fabric.name(from);
    let to = cores
        .nth(link)
        .ok_or_else(|| format!("{name}, aggregation switch {switch}, has no link {link} to the core"))?;
    Ok(format!("{name}<->{}", fabric.name(to)))
}
