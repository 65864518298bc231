//! The columns of traces as tables: those of CSV, JSON Lines and Parquet alike.

use linkpool_settings::nearest;
use linkpool_units::Time;

use super::{At, Row, Wrong, priority, seconds, size};
use crate::quoted;

/// All columns of a trace. A tag is of use to who reads the file: the simulation has none.
pub(super) const COLUMNS: [&str; 8] = ["src", "dst", "size_bytes", "start_s", "id", "after", "priority", "tag"];

/// What stands in the columns of one row, as text; `None`: nothing.
#[derive(Debug, Default)]
pub(super) struct Cells<'t> {
    pub(super) src: Option<&'t str>,
    pub(super) dst: Option<&'t str>,
    pub(super) size_bytes: Option<&'t str>,
    pub(super) start_s: Option<&'t str>,
    pub(super) id: Option<&'t str>,
    pub(super) after: Vec<String>,
    pub(super) priority: Option<&'t str>,
    pub(super) tag: Option<&'t str>,
}

impl Cells<'_> {
    /// The flow at `at`, which is number `i` of the file.
    pub(super) fn row(self, i: usize, at: At) -> Result<Row, Wrong> {
        let needed = |cell: Option<&str>, column: &str| {
            let cell = cell.filter(|cell| !cell.is_empty());
            cell.map(str::to_string).ok_or_else(|| (at, format!("column {column}: nothing stands here")))
        };
        let of = |column: &str| {
            let column = format!("column {column}: ");
            move |(at, why): Wrong| (at, column + &why)
        };
        if let Some(tag) = self.tag.filter(|tag| !tag.is_empty() && tag.parse::<u64>().is_err()) {
            let tag = quoted(tag);
            return Err((at, format!("column tag: {tag} is no tag, which is a whole number from 0 to 2^64 - 1")));
        }
        let bytes = needed(self.size_bytes, "size_bytes")?;
        let start = self.start_s.filter(|start| !start.is_empty());
        Ok(Row {
            at,
            id: self.id.map_or_else(|| Ok(i.to_string()), |id| needed(Some(id), "id"))?,
            from: needed(self.src, "src")?,
            to: needed(self.dst, "dst")?,
            size: size(&bytes, at).map_err(of("size_bytes"))?,
            start: start.map_or(Ok(Time::ZERO), |start| seconds(start, at)).map_err(of("start_s"))?,
            after: self.after,
            enough: None,
            priority: priority(self.priority.unwrap_or_default(), at).map_err(of("priority"))?,
        })
    }
}

/// Ids with blanks between them.
pub(super) fn ids(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// Does a table with these columns, which are named at `at`, hold a trace?
pub(super) fn check(names: &[&str], at: At) -> Result<(), Wrong> {
    if !names.iter().any(|name| COLUMNS.contains(name)) {
        // The file is of another format, so its content is not quoted.
        let known = COLUMNS.join(", ");
        return Err((at, format!("names none of the columns of a trace, which are {known}")));
    }
    for (i, name) in names.iter().enumerate() {
        if !COLUMNS.contains(name) {
            let (unknown, known) = (quoted(name), nearest(name, COLUMNS));
            return Err((at, format!("{unknown} is no column of a trace; {known}")));
        }
        if names[..i].contains(name) {
            return Err((at, format!("names the column {name} twice")));
        }
    }
    if let Some(missing) = COLUMNS[..3].iter().find(|name| !names.contains(name)) {
        return Err((at, format!("names no column {missing}")));
    }
    if !names.contains(&"start_s") && !names.contains(&"after") {
        return Err((at, "names neither the column start_s nor after: when do flows start?".to_string()));
    }
    Ok(())
}
