//! Files of flows that traces name.

use linkpool_units::counted;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use linkpool_network::Fabric;
use linkpool_workload::kinds::{Session, Trace, TraceFlow, TraceFormat};
use sha2::{Digest, Sha256};

use super::failures::cable;
use super::section::Section;
use crate::included::{self, check_digest, hex};
use crate::known::Known;
use crate::model::Change;
use linkpool_formats::flows::{Read, Row, Wrong, read};
use linkpool_formats::quoted;

/// Reads the flows of the trace's file, if it names one; the result is the links that the file
/// takes down from the start, as a change.
pub(super) fn read_file(trace: &mut Trace, known: &Known<'_>, section: &mut Section<'_, '_>) -> Option<Change> {
    let file = trace.file.clone().filter(|_| !section.has("flows"))?;
    let format = section.required("format", trace.format, "\"csv\"")?;
    let path = known.directory.join(&file);
    let bytes = included::bytes(&path).map_err(|why| section.error("file", format!("{file}: {why}"))).ok()?;
    let digest = hex(Sha256::new_with_prefix(&bytes));
    if let Err(why) = check_digest(&file, trace.sha256.as_deref(), &digest) {
        section.error("file", why);
        return None;
    }
    // The scenario as run names the trace wherever it is read.
    trace.file = Some(std::path::absolute(path).ok()?.to_string_lossy().into_owned());
    let fabric = known.fabric?;
    let content = content(&digest, format, fabric);
    trace.sha256 = Some(digest);
    if let Some(flows) = last_read(&content) {
        trace.flows = flows;
        return None;
    }
    let read = read(bytes, format).and_then(|Read { rows, failures, hosts }| {
        if let Some((at, hosts)) = hosts.filter(|(_, hosts)| *hosts != fabric.hosts()) {
            return Err((at, format!("is for {}, and the topology has {}", counted(hosts, "host"), fabric.hosts())));
        }
        trace.flows = Arc::new(flows(&rows, known)?);
        if failures.is_empty() && trace.flows.len() <= MOST_KEPT {
            keep(content, trace.flows.clone());
        }
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

/// Reads the messages of the session's file, if it names one.
pub(super) fn read_messages(session: &mut Session, known: &Known<'_>, section: &mut Section<'_, '_>) {
    let Some(file) = session.file.clone() else { return };
    let path = known.directory.join(&file);
    let bytes = match included::bytes(&path) {
        Ok(bytes) => bytes,
        Err(why) => return section.error("file", format!("{file}: {why}")),
    };
    let digest = hex(Sha256::new_with_prefix(&bytes));
    if let Err(why) = check_digest(&file, session.sha256.as_deref(), &digest) {
        return section.error("file", why);
    }
    if let Ok(path) = std::path::absolute(path) {
        if !Session::is_of_result(&file) {
            // The scenario as run names the file wherever it is read.
            session.file = Some(path.to_string_lossy().into_owned());
        }
        session.path = path;
    }
    session.sha256 = Some(digest);
    if known.fabric.is_some() {
        match read(bytes, TraceFormat::Csv).and_then(|Read { rows, .. }| flows(&rows, known)) {
            Ok(messages) => session.messages = messages,
            Err((at, why)) => section.error("file", format!("{file}{at}: {why}")),
        }
    }
}

/// The flows of the file that was read last, by what determines them: a study reads the same file
/// again for each of its runs, which share the flows.
static LAST: Mutex<Option<(String, Arc<Vec<TraceFlow>>)>> = Mutex::new(None);

/// Of more flows none are kept, for their memory.
const MOST_KEPT: usize = 1 << 20;

/// What determines the flows of a file: its content, how it is read, and the names of the nodes.
fn content(digest: &str, format: TraceFormat, fabric: &Fabric) -> String {
    let mut sha256 = Sha256::new_with_prefix(format!("{digest} {format:?} {}", fabric.hosts()));
    for node in fabric.node_ids() {
        let name = fabric.name(node);
        sha256.update(name.len().to_le_bytes());
        sha256.update(name);
    }
    hex(sha256)
}

fn last_read(content: &str) -> Option<Arc<Vec<TraceFlow>>> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.as_ref().filter(|(of, _)| of == content).map(|(_, flows)| flows.clone())
}

fn keep(content: String, flows: Arc<Vec<TraceFlow>>) {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((content, flows));
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
        Ok(TraceFlow { from, to, size: row.size, start: row.start, after, enough, priority: row.priority })
    };
    let flows: Vec<TraceFlow> = rows.iter().map(flow).collect::<Result<_, _>>()?;
    Trace::circle(&flows).map_or(Ok(flows), |i| Err((rows[i].at, Trace::WAITS_FOR_ITSELF.to_string())))
}
