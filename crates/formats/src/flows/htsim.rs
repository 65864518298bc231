//! The connection matrices of htsim (csg-htsim, `connection_matrix.cpp`).
//!
//! What htsim's reader refuses is refused here: counts that do not fit, a connection without a
//! start or with two, a trigger of no kind or of two, words that are not known. So is what it takes
//! in silence, the last one counting: a key or a trigger that stands there twice. A header may lack
//! counts, which htsim takes for zero.

use std::collections::HashMap;

use linkpool_settings::nearest;
use linkpool_units::{Time, counted};

use super::{At, Read, Row, Wrong, lines, size};
use crate::quoted;

/// More pairs of flows of which one waits for the other are a slip of the pen: triggers multiply
/// them.
const MOST_WAITS: usize = 10_000_000;

/// A trigger of a connection matrix.
#[derive(Debug)]
struct Trigger {
    id: String,
    /// Where it stands, or where it is named first.
    at: At,
    kind: Option<TriggerKind>,
    /// The connections that set it off.
    by: Vec<String>,
    /// Connections that it has started, of a multishot.
    started: u32,
}

/// The triggers, in the order of the file, so that the first error is always the same.
#[derive(Debug, Default)]
struct Triggers {
    list: Vec<Trigger>,
    numbers: HashMap<String, usize>,
}

impl Triggers {
    /// The trigger of this id, which is named at `at`, and its place in the list.
    fn called(&mut self, id: &str, at: At) -> (usize, &mut Trigger) {
        let Triggers { list, numbers } = self;
        let number = *numbers.entry(id.to_string()).or_insert_with(|| {
            list.push(Trigger { id: id.to_string(), at, kind: None, by: Vec::new(), started: 0 });
            list.len() - 1
        });
        (number, &mut list[number])
    }
}

#[derive(Clone, Copy, Debug)]
enum TriggerKind {
    /// Starts all its connections when enough are over: one (oneshot), or more (barrier).
    All(usize),
    /// Starts one connection, in the order of the file, whenever one is over.
    OneByOne,
}

/// A link of an aggregation switch to the core that has failed from the start, both by number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Failure {
    /// The aggregation switch.
    pub switch: usize,
    /// Its link.
    pub link: usize,
}

/// The counts of a header.
const COUNTS: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];

/// Connections that start at a time in picoseconds or by a trigger, and triggers; and failures.
pub(super) fn read(text: &str) -> Result<Read, Wrong> {
    let mut file = Read::default();
    let mut counts: HashMap<&str, (At, usize)> = HashMap::new();
    // Of each row: the trigger that starts it.
    let mut started_by = Vec::new();
    let mut triggers = Triggers::default();
    for (at, text) in lines(text) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[0] {
            count if COUNTS.contains(&count) => {
                let value = words.get(1).filter(|_| words.len() == 2).and_then(|value| value.parse().ok());
                let value = value.ok_or_else(|| (at, format!("{count} is followed by a whole number alone")))?;
                if counts.insert(count, (at, value)).is_some() {
                    return Err((at, format!("a second line {count}")));
                }
            }
            "trigger" => {
                let (id, kind) = trigger(&words, at)?;
                let known = triggers.called(&id, at).1;
                if known.kind.is_some() {
                    let message = format!("trigger {} stands here twice; rename or remove one", quoted(&id));
                    return Err((at, message));
                }
                (known.at, known.kind) = (at, Some(kind));
            }
            "failure" => file.failures.push((at, failure(&words, at)?)),
            _ => {
                let connection = connection(&words, at)?;
                for id in connection.fires {
                    triggers.called(&id, at).1.by.push(connection.row.id.clone());
                }
                started_by.push(connection.starts.map(|id| triggers.called(&id, at).0));
                file.rows.push(connection.row);
            }
        }
    }
    let Triggers { mut list, .. } = triggers;
    let described = list.iter().filter(|trigger| trigger.kind.is_some()).count();
    let found = [("Connections", file.rows.len()), ("Triggers", described), ("Failures", file.failures.len())];
    for (what, found) in found {
        if let Some((at, count)) = counts.get(what).filter(|(_, count)| *count != found) {
            return Err((*at, format!("{what} {count}, but {found} follow")));
        }
    }
    file.hosts = counts.get("Nodes").copied();
    if let Some(trigger) = list.iter().find(|trigger| trigger.kind.is_none()) {
        return Err((trigger.at, format!("trigger {} is not described", quoted(&trigger.id))));
    }
    let mut waits = 0;
    for (row, number) in file.rows.iter_mut().zip(started_by) {
        let Some(known) = number.map(|number| &mut list[number]) else { continue };
        match known.kind {
            Some(TriggerKind::All(count)) if count != known.by.len() => {
                let by = known.by.len();
                return Err((
                    known.at,
                    format!("this trigger waits for {}, but {by} set it off", counted(count, "flow")),
                ));
            }
            Some(TriggerKind::OneByOne) => {
                known.started += 1;
                row.enough = Some(known.started);
                if known.started as usize > known.by.len() {
                    let by = counted(known.by.len(), "flow");
                    let why = format!("never starts: its trigger is set off by {by}, each for one flow");
                    return Err((row.at, why));
                }
            }
            _ => {}
        }
        waits += known.by.len();
        if waits > MOST_WAITS {
            return Err((row.at, format!("more than {MOST_WAITS} pairs of flows of which one waits for the other")));
        }
        row.after.clone_from(&known.by);
    }
    Ok(file)
}

/// The values of the keys in `words`, which come in pairs. Other words are among `single`.
fn pairs<'t>(
    words: &[&'t str],
    (keys, single): (&[&str], &[&str]),
    at: At,
) -> Result<(HashMap<&'t str, &'t str>, Vec<&'t str>), Wrong> {
    let (mut values, mut alone) = (HashMap::new(), Vec::new());
    let mut words = words.iter();
    while let Some(key) = words.next() {
        let twice = || (at, format!("{} stands here twice", quoted(key)));
        if single.contains(key) {
            if alone.contains(key) {
                return Err(twice());
            }
            alone.push(*key);
        } else if keys.contains(key) {
            let value = words.next().ok_or_else(|| (at, format!("{} has no value", quoted(key))))?;
            if values.insert(*key, *value).is_some() {
                return Err(twice());
            }
        } else {
            let known = nearest(key, keys.iter().chain(single).copied());
            return Err((at, format!("{} is not known here; {known}", quoted(key))));
        }
    }
    Ok((values, alone))
}

fn failure(words: &[&str], at: At) -> Result<Failure, Wrong> {
    let (values, _) = pairs(&words[1..], (&["switch_type", "switch_id", "link_id"], &[]), at)?;
    let number = |key| {
        let number = values.get(key).and_then(|number| number.parse().ok());
        number.ok_or_else(|| (at, format!("a failure has a {key}, a whole number")))
    };
    // htsim refuses all others too.
    if values.get("switch_type") != Some(&"AGG") {
        return Err((at, "only links between aggregation and core fail: write switch_type AGG".to_string()));
    }
    Ok(Failure { switch: number("switch_id")?, link: number("link_id")? })
}

/// A connection, the trigger that starts it, and the triggers that it sets off.
struct Connection {
    row: Row,
    starts: Option<String>,
    fires: Vec<String>,
}

fn connection(words: &[&str], at: At) -> Result<Connection, Wrong> {
    let ends = words[0].split_once("->");
    let (from, to) =
        ends.ok_or_else(|| (at, "is neither a connection, SRC->DST, nor a trigger or failure".to_string()))?;
    const KEYS: [&str; 7] = ["id", "size", "start", "trigger", "send_done_trigger", "recv_done_trigger", "prio"];
    let (values, _) = pairs(&words[1..], (&KEYS, &[]), at)?;
    if values.contains_key("prio") {
        let why = "a priority of one connection has numbers of htsim's own; leave prio out, and write a trace in CSV with the column priority";
        return Err((at, why.to_string()));
    }
    let bytes = match values.get("size") {
        Some(&"0") => {
            let why = "size 0 has no end in htsim, and a flow of a trace ends; write its size, or take it out and write a [[workload.flow]] without `size`";
            return Err((at, why.to_string()));
        }
        Some(value) => size(value, at)?,
        None => return Err((at, "a connection without a size never ends; write size BYTES".to_string())),
    };
    let start = match (values.get("start"), values.get("trigger")) {
        (Some(_), Some(_)) => {
            return Err((at, "has a start and a trigger that starts it; leave one of the two out".to_string()));
        }
        (None, None) => {
            return Err((at, "says not when it starts; write start PICOSECONDS or trigger ID".to_string()));
        }
        (Some(value), None) => {
            let ps = value.parse::<f64>().ok().filter(|ps| (0.0..=1e18).contains(ps));
            Time(ps.ok_or_else(|| (at, format!("{} is no time in picoseconds", quoted(value))))? as u64)
        }
        (None, Some(_)) => Time::ZERO,
    };
    let At::Line(line) = at else { unreachable!("connections stand in lines") };
    let text = |key| values.get(key).map(|value| value.to_string());
    let (from, to, id) = (from.to_string(), to.to_string(), text("id").unwrap_or_else(|| format!("of line {line}")));
    let fires = ["send_done_trigger", "recv_done_trigger"].into_iter().filter_map(text).collect();
    let row = Row { at, id, from, to, size: bytes, start, after: Vec::new(), enough: None, priority: None };
    Ok(Connection { row, starts: text("trigger"), fires })
}

/// The id of a trigger, and its kind.
fn trigger(words: &[&str], at: At) -> Result<(String, TriggerKind), Wrong> {
    let (values, kinds) = pairs(&words[1..], (&["id", "count"], &["oneshot", "multishot", "barrier"]), at)?;
    let id = values.get("id").ok_or_else(|| (at, "a trigger has an id".to_string()))?.to_string();
    let [kind] = kinds[..] else {
        return Err((at, "a trigger is either oneshot, multishot or barrier".to_string()));
    };
    let count =
        values.get("count").map(|count| count.parse().map_err(|_| (at, "a count is a whole number".to_string())));
    let kind = match (kind, count.transpose()?) {
        ("oneshot", None) => TriggerKind::All(1),
        ("multishot", None) => TriggerKind::OneByOne,
        ("barrier", Some(count)) => TriggerKind::All(count),
        ("barrier", None) => return Err((at, "a barrier has a count".to_string())),
        (kind, Some(_)) => return Err((at, format!("a count is of a barrier, and not of a {kind}"))),
        (_, None) => unreachable!("all kinds are here"),
    };
    Ok((id, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read_beside_connections() {
        let text = "0->1 id 1 start 0 size 9\nfailure switch_type AGG switch_id 3 link_id 1\n";
        let file = read(text).unwrap();
        assert_eq!((file.rows.len(), file.failures), (1, vec![(At::Line(2), Failure { switch: 3, link: 1 })]));
        for (from, to, why) in [
            ("AGG", "TOR", "write switch_type AGG"),
            ("link_id 1", "", "a failure has a link_id"),
            ("link_id 1", "link 1", "\"link\" is not known here; did you mean `link_id`?"),
            ("link_id 1", "link_id 1 link_id 2", "\"link_id\" stands here twice"),
        ] {
            let (at, message) = read(&text.replace(from, to)).unwrap_err();
            assert!(at == At::Line(2) && message.contains(why), "{message}");
        }
    }

    /// Two connections set the trigger off; each time one more of its connections starts.
    #[test]
    fn a_multishot_starts_one_after_the_other() {
        let text = "0->1 id 1 start 0 size 9 send_done_trigger 7\n1->2 id 2 start 0 size 9 recv_done_trigger 7\n\
                    2->3 id 3 trigger 7 size 8\n2->0 id 4 trigger 7 size 8\ntrigger id 7 multishot\n";
        let rows = read(text).unwrap().rows;
        let both = ["1".to_string(), "2".to_string()];
        assert_eq!((&rows[2].after[..], rows[2].enough), (&both[..], Some(1)));
        assert_eq!((&rows[3].after[..], rows[3].enough), (&both[..], Some(2)));
        let (at, why) = read(&text.replace(" send_done_trigger 7", "")).unwrap_err();
        assert!(at == At::Line(4) && why.contains("never starts: its trigger is set off by 1 flow,"), "{at}: {why}");
    }

    const MATRIX: &str = "Nodes 4\nConnections 3\nTriggers 2\n0->1 id 1 start 2000000 size 9 send_done_trigger 1\n\
                          1->2 id 2 trigger 1 size 8 recv_done_trigger 2\n2->3 id 3 trigger 2 size 7\n\
                          trigger id 1 oneshot\ntrigger id 2 barrier count 1\n";

    #[test]
    fn connections_start_at_a_time_or_by_a_trigger() {
        let file = read(MATRIX).unwrap();
        let rows = file.rows;
        assert_eq!(file.hosts, Some((At::Line(1), 4)));
        assert_eq!((rows[0].start, rows[0].size, rows[0].after.len()), (Time::from_us(2), 9, 0));
        assert_eq!((&rows[1].after[..], &rows[2].after[..]), (&["1".to_string()][..], &["2".to_string()][..]));
        for (from, to, line, why) in [
            ("count 1", "count 2", 8, "waits for 2 flows, but 1"),
            ("oneshot", "manyshot", 7, "\"manyshot\" is not known here; did you mean `oneshot`?"),
            ("trigger id 1 oneshot\n", "", 3, "Triggers 2, but 1 follow"),
            (" size 7", "", 6, "without a size"),
            (" start 2000000", " begin 2", 4, "\"begin\" is not known"),
        ] {
            let (at, message) = read(&MATRIX.replace(from, to)).unwrap_err();
            assert!(at == At::Line(line) && message.contains(why), "{to:?}: {at}: {message}");
        }
    }

    /// What htsim refuses, and what it takes in silence so that only the last one counts.
    #[test]
    fn contradictions_are_refused() {
        for (from, to, line, why) in [
            ("Connections 3", "Connections 2", 2, "Connections 2, but 3 follow"),
            ("Connections 3", "Connections 4", 2, "Connections 4, but 3 follow"),
            ("Triggers 2", "Triggers 2\nFailures 1", 4, "Failures 1, but 0 follow"),
            ("Nodes 4", "Nodes", 1, "Nodes is followed by a whole number"),
            ("Nodes 4", "Nodes 4 5", 1, "Nodes is followed by a whole number"),
            ("Nodes 4", "Nodes 4\nNodes 4", 2, "a second line Nodes"),
            (" start 2000000", "", 4, "says not when it starts"),
            ("id 2 trigger", "id 2 start 5 trigger", 5, "has a start and a trigger"),
            ("size 9", "size 9 size 8", 4, "\"size\" stands here twice"),
            ("size 9", "size 0", 4, "size 0 has no end in htsim"),
            ("size 9", "size 9 prio 7", 4, "a priority of one connection"),
            ("size 7", "size 7 prio", 6, "\"prio\" has no value"),
            ("trigger id 2", "trigger id 1", 8, "trigger \"1\" stands here twice"),
            ("oneshot", "oneshot barrier", 7, "either oneshot, multishot or barrier"),
            ("oneshot", "oneshot oneshot", 7, "\"oneshot\" stands here twice"),
            ("oneshot", "oneshot count 1", 7, "a count is of a barrier, and not of a oneshot"),
            ("barrier count 1", "barrier", 8, "a barrier has a count"),
            ("barrier count 1", "barrier count x", 8, "a count is a whole number"),
            ("Triggers 2", "", 4, "trigger \"1\" is not described"),
        ] {
            let mut text = MATRIX.replacen(from, to, 1);
            if to.is_empty() && from.starts_with('T') {
                text = text.replace("trigger id 1 oneshot\n", "");
            }
            let (at, message) = read(&text).unwrap_err();
            assert!(at == At::Line(line) && message.contains(why), "{to:?}: {at}: {message}");
        }
    }
}
