//! The table of changes during a run.

use crate::plan::Plan;
use crate::results::column::table;
use crate::results::table::Table;
use linkpool_network::{LinkChange, LinkId, QueueLimit};
use linkpool_units::Time;
use parquet::errors::Result;
use std::path::Path;

/// One change; of routing if there is no link.
pub(super) struct ChangeRow<'a> {
    plan: &'a Plan,
    at: Time,
    link: Option<LinkId>,
    change: &'static str,
    value: Option<(f64, Option<&'static str>)>,
}

table! {
    /// A row for each change of a link, and for each time at which routing follows; in order of
    /// time.
    "changes" of ChangeRow<'_>, unless "its scenario has no `[[change]]`", |row|
    /// When; 0: from the start.
    time_s: f64, "s" = row.at.secs();
    /// `FROM->TO`; null for `routes`.
    link: str, "" = row.link.map(|link| row.plan.fabric.link_name(link)).as_deref();
    /// `down`, `up`, `rate`, `limit`, `loss`, `bit_errors`, or `routes`: paths avoid the links that
    /// were down `reconverge` before.
    change: str, "" = row.change;
    /// The new rate or limit; of `loss`, the share lost in the long run; of `bit_errors`, the
    /// probability for a bit.
    value: f64, "`unit`" = row.value.map(|(value, _)| value);
    /// `bit/s`, `packets` or `bytes`.
    unit: str, "" = row.value.and_then(|(_, unit)| unit);
}

/// Writes `changes.parquet`, if anything changes.
pub(crate) fn write(directory: &Path, plan: &Plan) -> Result<()> {
    let of_link = |(link, changes): (&LinkId, &Vec<(Time, LinkChange)>)| {
        let link = *link;
        let row = move |(at, change): &(Time, LinkChange)| {
            let (change, value) = describe(*change);
            ChangeRow { plan, at: *at, link: Some(link), change, value }
        };
        changes.iter().map(row).collect::<Vec<_>>()
    };
    let reroutes = plan.changes.reroutes().into_iter().filter(|(at, _)| *at < plan.end);
    let reroutes = reroutes.map(|(at, _)| ChangeRow { plan, at, link: None, change: "routes", value: None });
    let mut rows: Vec<ChangeRow<'_>> = plan.changes.links.iter().flat_map(of_link).chain(reroutes).collect();
    if rows.is_empty() {
        return Ok(());
    }
    rows.sort_by_key(|row| (row.at, row.link));
    Table::write(directory, rows)
}

/// The name of a change, its value and the value's unit.
fn describe(change: LinkChange) -> (&'static str, Option<(f64, Option<&'static str>)>) {
    match change {
        LinkChange::Up(true) => ("up", None),
        LinkChange::Up(false) => ("down", None),
        LinkChange::Rate(rate) => ("rate", Some((rate.0 as f64, Some("bit/s")))),
        LinkChange::Limit(QueueLimit::Packets(n)) => ("limit", Some((n as f64, Some("packets")))),
        LinkChange::Limit(QueueLimit::Bytes(n)) => ("limit", Some((n as f64, Some("bytes")))),
        LinkChange::Loss(loss) => ("loss", Some((loss.rate(), None))),
        LinkChange::BitErrors(rate) => ("bit_errors", Some((rate, None))),
    }
}
