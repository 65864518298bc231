//! Traces in CSV (RFC 4180), with a header that names the columns, in any order.

use linkpool_units::counted;
use std::borrow::Cow;

use csv::{ReaderBuilder, StringRecord, Trim};

use super::columns::{COLUMNS, Cells, check, ids};
use super::{At, Row, Wrong};
use crate::LineNumbers;

pub(super) fn read(text: &str) -> Result<Vec<Row>, Wrong> {
    let text = without_comments(text);
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let lines = LineNumbers::of(&text);
    // A record is said to begin where the one before ends, before empty lines.
    let line = |record: &StringRecord| {
        let begin = record.position().map_or(0, |place| place.byte() as usize);
        At::Line(lines.at(begin + text[begin..].len() - text[begin..].trim_start_matches(['\r', '\n']).len()))
    };
    let mut record = StringRecord::new();
    let mut next = |record: &mut StringRecord| {
        // It is UTF-8, and records may have any length.
        reader.read_record(record).map_err(|why| (At::File, format!("is not CSV: {why}")))
    };
    if !next(&mut record)? {
        let known = COLUMNS.join(", ");
        return Err((At::Line(1), format!("an empty file; its first line names columns, between commas: {known}")));
    }
    let header = record.clone();
    let names: Vec<&str> = header.iter().collect();
    check(&names, line(&header))?;
    let place = |name| names.iter().position(|known| *known == name);
    let [src, dst, size_bytes, start_s, id, after, priority, tag] = COLUMNS.map(place);
    let mut rows = Vec::new();
    while next(&mut record)? {
        let at = line(&record);
        if record.len() != names.len() {
            let (values, columns) = (counted(record.len(), "value"), counted(names.len(), "column"));
            return Err((at, format!("{values} under {columns}")));
        }
        let cell = |place: Option<usize>| place.and_then(|place| record.get(place));
        let cells = Cells {
            src: cell(src),
            dst: cell(dst),
            size_bytes: cell(size_bytes),
            start_s: cell(start_s),
            id: cell(id),
            after: cell(after).map_or_else(Vec::new, ids),
            priority: cell(priority),
            tag: cell(tag),
        };
        rows.push(cells.row(rows.len(), at)?);
    }
    Ok(rows)
}

/// The text with its lines, but without what follows a `#` outside of quotes.
fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains('#') {
        return Cow::Borrowed(text);
    }
    let mut quoted = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let ends = line.char_indices().find(|(_, c)| {
            quoted ^= *c == '"';
            *c == '#' && !quoted
        });
        kept.push_str(line[..ends.map_or(line.len(), |(at, _)| at)].trim_end());
        kept.push('\n');
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_units::Time;
    use linkpool_workload::FlowPriority;

    #[test]
    fn a_row_says_who_sends_how_much_when_and_after_what() {
        let rows = read("id, src,dst,size_bytes,start_s,after\n# a comment\na,h0,h1,1000,0.5,\n\nb,h1,h2,7,,a c # x\n");
        let rows = rows.unwrap();
        let start = Time::from_ms(500);
        assert_eq!((rows[0].id.as_str(), rows[0].size, rows[0].start), ("a", 1000, start));
        assert_eq!((rows[1].at, rows[1].start), (At::Line(5), Time::ZERO));
        assert_eq!(rows[1].after, ["a", "c"]);
        for (text, line, why) in [
            ("", 1, "empty"),
            ("a,b\n", 1, "names none of the columns"),
            ("src,dst,bytes\n", 1, "\"bytes\" is no column of a trace"),
            ("src,dst,src,size_bytes,start_s\n", 1, "names the column src twice"),
            ("src,dst,start_s\n", 1, "names no column size_bytes"),
            ("src,dst,size_bytes\n", 1, "when do flows start"),
            ("src,dst,size_bytes,start_s\n0,1,0,0\n", 2, "column size_bytes: \"0\" is no size"),
            ("src,dst,size_bytes,start_s\n0,1,9,-1\n", 2, "column start_s: \"-1\" is no time"),
            ("src,dst,size_bytes,start_s\n0,,9,1\n", 2, "column dst: nothing stands here"),
            ("src,dst,size_bytes,start_s,id\n0,1,9,1,\n", 2, "column id: nothing stands here"),
            (
                "src,dst,size_bytes,start_s,priority\n0,1,9,0,8\n",
                2,
                "column priority: \"8\" is no priority: \"high\", \"low\"",
            ),
            ("src,dst,size_bytes,start_s,tag\n0,1,9,0,x\n", 2, "column tag: \"x\" is no tag"),
            ("src,dst,size_bytes,start_s,tag\n0,1,9,0,18446744073709551616\n", 2, "is no tag"),
            ("src,dst,size_bytes,start_s\n\n0,1,9\n", 3, "3 values under 4"),
        ] {
            let (at, message) = read(text).unwrap_err();
            assert!(at == At::Line(line) && message.contains(why), "{text:?}: {at}: {message}");
        }
    }

    #[test]
    fn a_row_says_which_priority() {
        let rows = read(
            "src,dst,size_bytes,start_s,priority,tag\n0,1,9,0,high,18446744073709551615\n0,1,9,0,low,\n0,1,9,0,,7\n",
        )
        .unwrap();
        let found: Vec<_> = rows.iter().map(|row| row.priority).collect();
        assert_eq!(found, [Some(FlowPriority::High), Some(FlowPriority::Low), None]);
    }

    /// As spreadsheets and libraries write it: everything in quotes, and in them what would be of
    /// meaning outside.
    #[test]
    fn values_may_stand_in_quotes() {
        let rows =
            read("\"src\",\"dst\",\"size_bytes\",\"start_s\"\r\n\"h #1\",\"a \"\"b\"\", c\",\"9\",\"0.5\" # x\r\n");
        let rows = rows.unwrap();
        assert_eq!((rows[0].from.as_str(), rows[0].to.as_str()), ("h #1", "a \"b\", c"));
        assert_eq!((rows[0].size, rows[0].start, rows[0].at), (9, Time::from_ms(500), At::Line(2)));
    }
}
