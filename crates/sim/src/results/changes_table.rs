//! The table of what has changed during a run.

use crate::plan::Plan;
use crate::results::table::{Kind, Table};
use linkpool_network::{Change, LinkId, QueueLimit};
use linkpool_units::Time;
use parquet::errors::Result;
use std::path::Path;

/// One change; of routing if there is no link.
struct Row {
    at: Time,
    link: Option<LinkId>,
    change: &'static str,
    value: Option<(f64, Option<&'static str>)>,
}

/// Writes `changes.parquet`, if anything changes.
pub(crate) fn write(directory: &Path, plan: &Plan) -> Result<()> {
    let of_link = |(link, changes): (&LinkId, &Vec<(Time, Change)>)| {
        let link = *link;
        let row = move |(at, change): &(Time, Change)| {
            let (change, value) = describe(*change);
            Row { at: *at, link: Some(link), change, value }
        };
        changes.iter().map(row).collect::<Vec<_>>()
    };
    let reroutes = plan.changes.reroutes().into_iter().filter(|(at, _)| *at < plan.end);
    let reroutes = reroutes.map(|(at, _)| Row { at, link: None, change: "routes", value: None });
    let mut rows: Vec<Row> = plan.changes.links.iter().flat_map(of_link).chain(reroutes).collect();
    if rows.is_empty() {
        return Ok(());
    }
    rows.sort_by_key(|row| (row.at, row.link));
    use Kind::{F64, Text};
    let columns = [("time_s", F64), ("link", Text), ("change", Text), ("value", F64), ("unit", Text)];
    let mut table = Table::create(&directory.join("changes.parquet"), &columns)?;
    for Row { at, link, change, value } in rows {
        let link = link.map(|link| plan.fabric.link_name(link));
        let (value, unit) = (value.map(|v| v.0), value.and_then(|v| v.1));
        table.push([at.secs().into(), link.as_deref().into(), change.into(), value.into(), unit.into()])?;
    }
    table.close()
}

/// The name of a change, its value and the value's unit.
fn describe(change: Change) -> (&'static str, Option<(f64, Option<&'static str>)>) {
    match change {
        Change::Up(true) => ("up", None),
        Change::Up(false) => ("down", None),
        Change::Rate(rate) => ("rate", Some((rate.0 as f64, Some("bit/s")))),
        Change::Limit(QueueLimit::Packets(n)) => ("limit", Some((n as f64, Some("packets")))),
        Change::Limit(QueueLimit::Bytes(n)) => ("limit", Some((n as f64, Some("bytes")))),
        Change::Loss(loss) => ("loss", Some((loss.rate(), None))),
    }
}
