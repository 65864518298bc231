//! Files of flows that traces name.

use std::collections::HashMap;

use linkpool_workload::kinds::{Trace, TraceFlow};

use super::failures::cable;
use super::section::Section;
use super::trace_formats::{Read, Row, Wrong, read};
use crate::included;
use crate::known::Known;
use crate::model::Change;
use crate::quote::quoted;

/// Reads the flows of the trace's file, if it names one; the result is the links that the file
/// takes down from the start, as a change.
pub(super) fn read_file(trace: &mut Trace, known: &Known<'_>, section: &mut Section<'_, '_>) -> Option<Change> {
    let file = trace.file.take_if(|_| !section.has("flows"))?;
    let format = section.required("format", trace.format.take(), "\"csv\"")?;
    let bytes = included::bytes(&known.directory.join(&file));
    let bytes = bytes.map_err(|why| section.error("file", format!("{file}: {why}"))).ok()?;
    let fabric = known.fabric?;
    let read = read(bytes, format).and_then(|Read { rows, failures, hosts }| {
        if let Some((at, hosts)) = hosts.filter(|(_, hosts)| *hosts != fabric.hosts()) {
            return Err((at, format!("is for {hosts} hosts, and the topology has {}", fabric.hosts())));
        }
        trace.flows = flows(&rows, known)?;
        let cable = |(at, failure)| cable(fabric, failure).map_err(|why| (at, why));
        failures.into_iter().map(cable).collect::<Result<Vec<_>, _>>()
    });
    match read {
        Ok(cables) if Vec::is_empty(&cables) => None,
        Ok(cables) => Some(Change::down(cables.into_iter().flatten().collect())),
        Err((at, why)) => {
            section.error("file", format!("{file}{at}: {why}"));
            None
        }
    }
}

/// Finds the hosts of rows, and the flows for which they wait.
fn flows(rows: &[Row], known: &Known<'_>) -> Result<Vec<TraceFlow>, Wrong> {
    let mut numbers = HashMap::new();
    for (i, row) in (0..).zip(rows) {
        if numbers.insert(row.id.as_str(), i).is_some() {
            return Err((row.at, format!("a second flow has the id {}", quoted(&row.id))));
        }
    }
    let flow = |row: &Row| {
        let host = |name| known.host_in_file(name).map_err(|why| (row.at, why));
        let (from, to) = (host(&row.from)?, host(&row.to)?);
        if from == to {
            return Err((row.at, format!("{} sends to itself", quoted(&row.from))));
        }
        let missing = |id: &String| (row.at, format!("waits for flow {}, which is not in the file", quoted(id)));
        let after = row.after.iter().map(|id| numbers.get(id.as_str()).copied().ok_or_else(|| missing(id)));
        let after: Vec<u32> = after.collect::<Result<_, _>>()?;
        let enough = row.enough.unwrap_or(after.len() as u32);
        Ok(TraceFlow { from, to, size: row.size, start: row.start, after, enough })
    };
    let flows: Vec<TraceFlow> = rows.iter().map(flow).collect::<Result<_, _>>()?;
    Trace::circle(&flows).map_or(Ok(flows), |i| Err((rows[i].at, Trace::WAITS_FOR_ITSELF.to_string())))
}
