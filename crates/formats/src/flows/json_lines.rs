//! Traces in JSON Lines: an object a line, with the columns of a trace as its keys.

use serde::Deserialize;

use super::columns::{Cells, check, ids};
use super::{At, Row, Wrong};
use crate::one_line;

/// A name or a number, as text.
#[derive(Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Text;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string or a number")
            }
            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_string()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }
            // Libraries for tables write whole numbers as 1000.0, of which 1000 remains.
            fn visit_f64<E>(self, number: f64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Ids in a list, or in a string with blanks between them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Ids {
    List(Vec<Text>),
    One(Text),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    src: Option<Text>,
    dst: Option<Text>,
    size_bytes: Option<Text>,
    start_s: Option<Text>,
    id: Option<Text>,
    after: Option<Ids>,
    priority: Option<Text>,
    tag: Option<Text>,
}

pub(super) fn read(text: &str) -> Result<Vec<Row>, Wrong> {
    let mut rows = Vec::new();
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    for (number, line) in lines {
        let at = At::Line(number);
        // The file of another format is not quoted.
        if !line.trim_start().starts_with('{') {
            return Err((at, "is no JSON object; each line is one, such as {\"src\": \"h0\", ...}".to_string()));
        }
        let object: Object = serde_json::from_str(line).map_err(|why| (at, reason(&why)))?;
        let given = [
            ("src", object.src.is_some()),
            ("dst", object.dst.is_some()),
            ("size_bytes", object.size_bytes.is_some()),
            ("start_s", object.start_s.is_some()),
            ("after", object.after.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
        check(&given, at)?;
        let text = |cell: &'_ Option<Text>| cell.as_ref().map(|Text(text)| text.clone());
        let Object { src, dst, size_bytes, start_s, id, priority, tag, .. } = &object;
        let [src, dst, size_bytes, start_s, id, priority, tag] =
            [src, dst, size_bytes, start_s, id, priority, tag].map(text);
        let cells = Cells {
            src: src.as_deref(),
            dst: dst.as_deref(),
            size_bytes: size_bytes.as_deref(),
            start_s: start_s.as_deref(),
            id: id.as_deref(),
            after: match object.after {
                Some(Ids::List(list)) => list.into_iter().map(|Text(id)| id).collect(),
                Some(Ids::One(Text(text))) => ids(&text),
                None => Vec::new(),
            },
            priority: priority.as_deref(),
            tag: tag.as_deref(),
        };
        rows.push(cells.row(rows.len(), at)?);
    }
    if rows.is_empty() {
        return Err((At::Line(1), "an empty file; each line is a JSON object with a flow".to_string()));
    }
    Ok(rows)
}

/// Why an object is not read, without the line, which is always the first of its own text.
fn reason(why: &serde_json::Error) -> String {
    let text = why.to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    one_line(&format!("character {}: {message}", why.column()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_units::Time;
    use linkpool_workload::FlowPriority;

    #[test]
    fn an_object_says_who_sends_how_much_when_and_after_what() {
        let rows = read(
            "{\"src\": \"h0\", \"dst\": 3, \"size_bytes\": 1000.0, \"start_s\": 1e-3, \"id\": 7}\n\n\
             {\"src\": 1, \"dst\": \"h2\", \"size_bytes\": 7, \"after\": [7, \"0\"]}\n\
             {\"src\": 1, \"dst\": \"h2\", \"size_bytes\": 7, \"start_s\": null, \"after\": \"7 0\", \"priority\": \"high\", \"tag\": 7}\n",
        )
        .unwrap();
        assert_eq!((rows[0].id.as_str(), rows[0].from.as_str(), rows[0].to.as_str()), ("7", "h0", "3"));
        assert_eq!((rows[0].size, rows[0].start), (1000, Time::from_ms(1)));
        assert_eq!((rows[1].at, rows[1].id.as_str(), rows[1].start), (At::Line(3), "1", Time::ZERO));
        assert_eq!((&rows[1].after, &rows[2].after), (&vec!["7".to_string(), "0".to_string()], &rows[1].after));
        assert_eq!((rows[1].priority, rows[2].priority), (None, Some(FlowPriority::High)));
        let good = "{\"src\": 0, \"dst\": 1, \"size_bytes\": 9, \"start_s\": 0}";
        for (text, line, why) in [
            ("", 1, "empty"),
            ("src,dst\n", 1, "is no JSON object"),
            (&good.replace("src", "sender"), 1, "unknown field `sender`"),
            (&good.replace("\"dst\": 1, ", ""), 1, "names no column dst"),
            (&good.replace(", \"start_s\": 0", ""), 1, "when do flows start"),
            (&good.replace(": 9", ": 9.5"), 1, "column size_bytes: \"9.5\" is no size"),
            (&good.replace(": 9", ": -9"), 1, "column size_bytes: \"-9\" is no size"),
            (&good.replace(": 9", ": [9]"), 1, "expected a string or a number"),
            (&good.replace("}", ", \"src\": 2}"), 1, "duplicate field `src`"),
            (&good.replace("}", ", \"priority\": 8}"), 1, "column priority: \"8\" is no priority"),
            (&good.replace("}", ", \"tag\": -3}"), 1, "column tag: \"-3\" is no tag"),
            (&format!("{good}\n\n{}", &good[..20]), 3, "EOF while parsing"),
        ] {
            let (at, message) = read(text).unwrap_err();
            assert!(at == At::Line(line) && message.contains(why), "{text:?}: {at}: {message}");
        }
    }
}
