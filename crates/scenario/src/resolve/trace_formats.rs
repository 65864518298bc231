//! Files of flows: CSV, the flow files of HPCC's simulator, and htsim's connection matrices.

use std::collections::HashMap;

use linkpool_units::Time;

use crate::quote::quoted;
use linkpool_settings::nearest;

/// A flow as its line says it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) id: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) size: u64,
    pub(super) start: Time,
    /// Ids of flows that must be over.
    pub(super) after: Vec<String>,
    /// How many of them; `None`: all.
    pub(super) enough: Option<u32>,
}

/// More pairs of flows of which one waits for the other are a slip of the pen: triggers multiply
/// them.
const MOST_WAITS: usize = 10_000_000;

/// The line of an error, and a message.
type LineError = (usize, String);

/// Numbered lines that say something, without comments behind `#`.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines()).map(|(n, line)| (n, line.split('#').next().unwrap_or_default().trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

fn size(text: &str, line: usize) -> Result<u64, LineError> {
    let size = text.parse().ok().filter(|size| *size > 0);
    size.ok_or_else(|| (line, format!("{} is no size: a whole number of bytes above zero", quoted(text))))
}

fn seconds(text: &str, line: usize) -> Result<Time, LineError> {
    let good = text.parse::<f64>().ok().filter(|s| (0.0..=1e6).contains(s));
    good.map(Time::from_secs_f64)
        .ok_or_else(|| (line, format!("{} is no time in seconds, from 0 to 1000000", quoted(text))))
}

/// With a header that names the columns, in any order.
pub(super) fn csv(text: &str) -> Result<Vec<Row>, LineError> {
    const KNOWN: [&str; 6] = ["src", "dst", "size_bytes", "start_s", "id", "after"];
    let mut lines = lines(text);
    let (number, header) = lines
        .next()
        .ok_or_else(|| (1, format!("an empty file; its first line names columns: {}", KNOWN.join(", "))))?;
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    if !names.iter().any(|name| KNOWN.contains(name)) {
        // The file is of another format, so its content is not quoted.
        return Err((
            number,
            format!("is no header of a trace: it names columns, between commas: {}", KNOWN.join(", ")),
        ));
    }
    if let Some(unknown) = names.iter().find(|name| !KNOWN.contains(name)) {
        let (unknown, known) = (quoted(unknown), nearest(unknown, KNOWN));
        return Err((number, format!("{unknown} is no column of a trace; they stand between commas; {known}")));
    }
    let place = |name| names.iter().position(|known| *known == name);
    let needed = |name| place(name).ok_or_else(|| (number, format!("the header names no column {name}")));
    let (src, dst, bytes, start) = (needed("src")?, needed("dst")?, needed("size_bytes")?, place("start_s"));
    let (id, after) = (place("id"), place("after"));
    if start.is_none() && after.is_none() {
        return Err((number, "the header names neither start_s nor after: when do flows start?".to_string()));
    }
    let row = |(i, (line, text)): (usize, (usize, &str))| {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            return Err((line, format!("{} values under {} columns", cells.len(), names.len())));
        }
        Ok(Row {
            line,
            id: id.map_or_else(|| i.to_string(), |c| cells[c].to_string()),
            from: cells[src].to_string(),
            to: cells[dst].to_string(),
            size: size(cells[bytes], line)?,
            start: start.filter(|c| !cells[*c].is_empty()).map_or(Ok(Time::ZERO), |c| seconds(cells[c], line))?,
            after: after.map_or_else(Vec::new, |c| cells[c].split_whitespace().map(str::to_string).collect()),
            enough: None,
        })
    };
    lines.enumerate().map(row).collect()
}

/// The number of flows; then in each line source, destination, priority class, port, bytes, start
/// in seconds.
pub(super) fn hpcc(text: &str) -> Result<Vec<Row>, LineError> {
    let mut lines = lines(text);
    let (number, count) = lines.next().ok_or((1, "an empty file".to_string()))?;
    let count: usize =
        count.parse().map_err(|_| (number, "is no number of flows, which the first line is".to_string()))?;
    let row = |(i, (line, text)): (usize, (usize, &str))| {
        let cells: Vec<&str> = text.split_whitespace().collect();
        let [from, to, _, _, bytes, start] = cells[..] else {
            return Err((line, format!("{} values; a flow has 6: src dst class port bytes seconds", cells.len())));
        };
        let (size, start) = (size(bytes, line)?, seconds(start, line)?);
        let (from, to, id) = (from.to_string(), to.to_string(), i.to_string());
        Ok(Row { line, id, from, to, size, start, after: Vec::new(), enough: None })
    };
    let rows: Vec<Row> = lines.enumerate().map(row).collect::<Result<_, _>>()?;
    if rows.len() != count {
        return Err((number, format!("{count} flows are announced, but {} follow", rows.len())));
    }
    Ok(rows)
}

/// A trigger of a connection matrix.
#[derive(Default)]
struct Trigger {
    line: usize,
    kind: Option<TriggerKind>,
    /// The connections that set it off.
    by: Vec<String>,
    /// Connections that it has started, of a multishot.
    started: u32,
}

#[derive(Clone, Copy)]
enum TriggerKind {
    /// Starts all its connections when enough are over: one (oneshot), or more (barrier).
    All(usize),
    /// Starts one connection, in the order of the file, whenever one is over.
    OneByOne,
}

/// Connections that start at a time in picoseconds or by a trigger, and triggers; and failures,
/// with their lines.
pub(super) fn htsim(text: &str) -> Result<(Vec<Row>, Failures), LineError> {
    let mut failures = Vec::new();
    let mut rows = Vec::new();
    // Of each row: the trigger that starts it.
    let mut started_by = Vec::new();
    let mut triggers: HashMap<String, Trigger> = HashMap::new();
    for (line, text) in lines(text) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[0] {
            "Nodes" | "Connections" | "Triggers" | "Failures" => {}
            "trigger" => {
                let (id, kind) = trigger(&words, line)?;
                let known = triggers.entry(id).or_default();
                (known.line, known.kind) = (line, Some(kind));
            }
            "failure" => failures.push((line, failure(&words, line)?)),
            _ => {
                let (row, starts, fires) = connection(&words, line)?;
                for trigger in fires {
                    triggers.entry(trigger).or_default().by.push(row.id.clone());
                }
                started_by.push(starts);
                rows.push(row);
            }
        }
    }
    let mut waits = 0;
    for (row, trigger) in rows.iter_mut().zip(started_by) {
        let Some(id) = trigger else { continue };
        let known = triggers.get_mut(&id).and_then(|t| t.kind.map(|kind| (t, kind)));
        let (known, kind) = known.ok_or_else(|| (row.line, format!("trigger {} is not described", quoted(&id))))?;
        match kind {
            TriggerKind::All(count) if count != known.by.len() => {
                let message =
                    format!("trigger {} waits for {count} flows, but {} set it off", quoted(&id), known.by.len());
                return Err((known.line, message));
            }
            TriggerKind::All(_) => {}
            TriggerKind::OneByOne => {
                known.started += 1;
                row.enough = Some(known.started);
                if known.started as usize > known.by.len() {
                    let by = known.by.len();
                    return Err((
                        row.line,
                        format!("never starts: {by} flows set trigger {} off, each for one flow", quoted(&id)),
                    ));
                }
            }
        }
        waits += known.by.len();
        if waits > MOST_WAITS {
            return Err((row.line, format!("more than {MOST_WAITS} pairs of flows of which one waits for the other")));
        }
        row.after.clone_from(&known.by);
    }
    Ok((rows, failures))
}

/// Failures, with their lines.
pub(super) type Failures = Vec<(usize, Failure)>;

/// A link of an aggregation switch to the core that has failed from the start, both by number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Failure {
    pub(super) switch: usize,
    pub(super) link: usize,
}

fn failure(words: &[&str], line: usize) -> Result<Failure, LineError> {
    let value = |key| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1));
    let number = |key| {
        let number = value(key).and_then(|number| number.parse().ok());
        number.ok_or_else(|| (line, format!("a failure has a {key}, a whole number")))
    };
    // htsim refuses all others too.
    if value("switch_type") != Some(&"AGG") {
        return Err((line, "only links between aggregation and core fail: write switch_type AGG".to_string()));
    }
    Ok(Failure { switch: number("switch_id")?, link: number("link_id")? })
}

/// A connection, the trigger that starts it, and the triggers that it sets off.
fn connection(words: &[&str], line: usize) -> Result<(Row, Option<String>, Vec<String>), LineError> {
    let ends = words[0].split_once("->");
    let (from, to) =
        ends.ok_or_else(|| (line, "is neither a connection, SRC->DST, nor a trigger or failure".to_string()))?;
    let (from, to, id) = (from.to_string(), to.to_string(), format!("of line {line}"));
    let mut row = Row { line, id, from, to, size: 0, start: Time::ZERO, after: Vec::new(), enough: None };
    let (mut starts, mut fires) = (None, Vec::new());
    for pair in words[1..].chunks(2) {
        let [key, value] = *pair else { return Err((line, format!("{} has no value", quoted(pair[0])))) };
        match key {
            "id" => row.id = value.to_string(),
            "size" => row.size = size(value, line)?,
            "start" => {
                let ps = value.parse::<f64>().ok().filter(|ps| (0.0..=1e18).contains(ps));
                row.start =
                    Time(ps.ok_or_else(|| (line, format!("{} is no time in picoseconds", quoted(value))))? as u64);
            }
            "trigger" => starts = Some(value.to_string()),
            "send_done_trigger" | "recv_done_trigger" => fires.push(value.to_string()),
            "prio" => {}
            other => return Err((line, format!("{} is not known of a connection", quoted(other)))),
        }
    }
    if row.size == 0 {
        return Err((line, "a connection without a size never ends; write size BYTES".to_string()));
    }
    Ok((row, starts, fires))
}

/// The id of a trigger, and its kind.
fn trigger(words: &[&str], line: usize) -> Result<(String, TriggerKind), LineError> {
    let value = |key| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1));
    let id = value("id").ok_or_else(|| (line, "a trigger has an id".to_string()))?.to_string();
    if words.contains(&"oneshot") {
        return Ok((id, TriggerKind::All(1)));
    }
    if words.contains(&"barrier") {
        let count = value("count").and_then(|count| count.parse().ok());
        return count
            .map(|count| (id, TriggerKind::All(count)))
            .ok_or_else(|| (line, "a barrier has a count".to_string()));
    }
    if words.contains(&"multishot") {
        return Ok((id, TriggerKind::OneByOne));
    }
    Err((line, "a trigger is of type oneshot, multishot or barrier".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_says_who_sends_how_much_when_and_after_what() {
        let rows = csv("id, src,dst,size_bytes,start_s,after\n# a comment\na,h0,h1,1000,0.5,\nb,h1,h2,7,,a\n").unwrap();
        let start = Time::from_ms(500);
        assert_eq!((rows[0].id.as_str(), rows[0].size, rows[0].start), ("a", 1000, start));
        assert_eq!((rows[1].line, rows[1].start, &rows[1].after[..]), (4, Time::ZERO, &["a".to_string()][..]));
        for (text, line, why) in [
            ("", 1, "empty"),
            ("src,dst,bytes\n", 1, "\"bytes\" is no column of a trace"),
            ("src,dst,size_bytes\n", 1, "when do flows start"),
            ("src,dst,size_bytes,start_s\n0,1,0,0\n", 2, "no size"),
            ("src,dst,size_bytes,start_s\n0,1,9,-1\n", 2, "no time"),
            ("src,dst,size_bytes,start_s\n0,1,9\n", 2, "3 values under 4"),
        ] {
            let (at, message) = csv(text).unwrap_err();
            assert!(at == line && message.contains(why), "{text:?}: {at}: {message}");
        }
    }

    #[test]
    fn flow_files_of_hpcc_are_read() {
        let rows = hpcc("2\n0 3 3 100 60000 2.5\n1 2 3 100 70 2.75\n").unwrap();
        assert_eq!((rows[0].from.as_str(), rows[0].to.as_str(), rows[0].size), ("0", "3", 60_000));
        assert_eq!(rows[1].start, Time::from_ms(2_750));
        assert!(hpcc("3\n0 3 3 100 60000 2.0\n").unwrap_err().1.contains("3 flows are announced, but 1"));
        assert_eq!(hpcc("1\n0 3 3 60000 2.0\n").unwrap_err().0, 2);
    }

    #[test]
    fn failures_are_read_beside_connections() {
        let text = "0->1 id 1 start 0 size 9\nfailure switch_type AGG switch_id 3 link_id 1\n";
        let (rows, failures) = htsim(text).unwrap();
        assert_eq!((rows.len(), failures), (1, vec![(2, Failure { switch: 3, link: 1 })]));
        for (from, to, why) in [("AGG", "TOR", "write switch_type AGG"), ("link_id 1", "", "a failure has a link_id")] {
            let (line, message) = htsim(&text.replace(from, to)).unwrap_err();
            assert!(line == 2 && message.contains(why), "{message}");
        }
    }

    /// Two connections set the trigger off; each time one more of its connections starts.
    #[test]
    fn a_multishot_starts_one_after_the_other() {
        let text = "0->1 id 1 start 0 size 9 send_done_trigger 7\n1->2 id 2 start 0 size 9 recv_done_trigger 7\n\
                    2->3 id 3 trigger 7 size 8\n2->0 id 4 trigger 7 size 8\ntrigger id 7 multishot\n";
        let (rows, _) = htsim(text).unwrap();
        let both = ["1".to_string(), "2".to_string()];
        assert_eq!((&rows[2].after[..], rows[2].enough), (&both[..], Some(1)));
        assert_eq!((&rows[3].after[..], rows[3].enough), (&both[..], Some(2)));
        let (line, why) = htsim(&text.replace(" send_done_trigger 7", "")).unwrap_err();
        assert!(line == 4 && why.contains("never starts: 1 flows"), "{line}: {why}");
    }

    #[test]
    fn connection_matrices_of_htsim_are_read_with_their_triggers() {
        let text = "Nodes 4\nConnections 3\nTriggers 2\n0->1 id 1 start 2000000 size 9 send_done_trigger 1\n\
                    1->2 id 2 trigger 1 size 8 recv_done_trigger 2\n2->3 id 3 trigger 2 size 7\n\
                    trigger id 1 oneshot\ntrigger id 2 barrier count 1\n";
        let (rows, _) = htsim(text).unwrap();
        assert_eq!((rows[0].start, rows[0].size, rows[0].after.len()), (Time::from_us(2), 9, 0));
        assert_eq!((&rows[1].after[..], &rows[2].after[..]), (&["1".to_string()][..], &["2".to_string()][..]));
        for (from, to, line, why) in [
            ("count 1", "count 2", 8, "waits for 2 flows, but 1"),
            ("oneshot", "manyshot", 7, "oneshot, multishot or barrier"),
            ("trigger id 1 oneshot\n", "", 5, "trigger \"1\" is not described"),
            (" size 7", "", 6, "without a size"),
            (" start 2000000", " begin 2", 4, "\"begin\" is not known"),
        ] {
            let (at, message) = htsim(&text.replace(from, to)).unwrap_err();
            assert!(at == line && message.contains(why), "{to:?}: {at}: {message}");
        }
    }
}
