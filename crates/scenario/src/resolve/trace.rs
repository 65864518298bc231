//! Files of flows that traces name.

use std::collections::HashMap;

use linkpool_network::Fabric;
use linkpool_settings::Names;
use linkpool_workload::kinds::{Trace, TraceFlow, TraceFormat};

use super::failures::cable;
use super::section::Section;
use super::trace_formats::{self, Failures, Row};
use crate::known::Known;
use crate::model::Change;
use crate::quote::quoted;

/// Reads the flows of the trace's file, if it names one; the result is the links that the file
/// takes down from the start, as a change.
pub(super) fn read_file(trace: &mut Trace, known: &Known<'_>, section: &mut Section<'_, '_>) -> Option<Change> {
    let file = trace.file.take_if(|_| !section.has("flows"))?;
    let format = section.required("format", trace.format.take(), "\"csv\"")?;
    let text = known.content(&file).map_err(|why| section.error("file", format!("{file}: {why}"))).ok()?;
    let fabric = known.fabric?;
    let read = read(&text, format).and_then(|(rows, failures)| {
        trace.flows = flows(&rows, fabric, known)?;
        let cable = |(line, failure)| cable(fabric, failure).map_err(|why| (line, why));
        failures.into_iter().map(cable).collect::<Result<Vec<_>, _>>()
    });
    match read {
        Ok(cables) if Vec::is_empty(&cables) => None,
        Ok(cables) => Some(Change::down(cables.into_iter().flatten().collect())),
        Err((line, why)) => {
            section.error("file", format!("{file}:{line}: {why}"));
            None
        }
    }
}

fn read(text: &str, format: TraceFormat) -> Result<(Vec<Row>, Failures), (usize, String)> {
    match format {
        TraceFormat::Csv => trace_formats::csv(text).map(|rows| (rows, Vec::new())),
        TraceFormat::Hpcc => trace_formats::hpcc(text).map(|rows| (rows, Vec::new())),
        TraceFormat::Htsim => trace_formats::htsim(text),
    }
}

/// Finds the hosts of rows, and the flows for which they wait. An error is its line and a message.
fn flows(rows: &[Row], fabric: &Fabric, known: &Known<'_>) -> Result<Vec<TraceFlow>, (usize, String)> {
    let mut numbers = HashMap::new();
    for (i, row) in (0..).zip(rows) {
        if numbers.insert(row.id.as_str(), i).is_some() {
            return Err((row.line, format!("a second flow has the id {}", quoted(&row.id))));
        }
    }
    let host = |name: &str, line| {
        // A number that is no name is an index.
        let named = fabric.node(name).filter(|node| node.index() < fabric.hosts()).map(u32::from);
        let index = || name.parse().ok().filter(|index: &u32| (*index as usize) < fabric.hosts());
        let missing = || (line, format!("there is no host {}; {}", quoted(name), known.host_names()));
        named.or_else(index).map(Into::into).ok_or_else(missing)
    };
    let flow = |row: &Row| {
        let (from, to) = (host(&row.from, row.line)?, host(&row.to, row.line)?);
        if from == to {
            return Err((row.line, format!("{} sends to itself", row.from)));
        }
        let missing = |id: &String| (row.line, format!("waits for flow {}, which is not in the file", quoted(id)));
        let after = row.after.iter().map(|id| numbers.get(id.as_str()).copied().ok_or_else(|| missing(id)));
        let after: Vec<u32> = after.collect::<Result<_, _>>()?;
        let enough = row.enough.unwrap_or(after.len() as u32);
        Ok(TraceFlow { from, to, size: row.size, start: row.start, after, enough })
    };
    let flows: Vec<TraceFlow> = rows.iter().map(flow).collect::<Result<_, _>>()?;
    Trace::circle(&flows).map_or(Ok(flows), |i| Err((rows[i].line, Trace::WAITS_FOR_ITSELF.to_string())))
}
