//! Resolves `[[change]]`: links, times and values.

use linkpool_network::{Fabric, Layer, Loss, NodeId, QueueLimit};
use linkpool_units::Time;

use super::record::resolve_links;
use super::section::{LONGEST, Section};
use super::{Known, queue};
use crate::errors::Report;
use crate::file::{BurstLossTable, ChangeTable, Reconverge};
use crate::model::{Change, ChangeOf};
use crate::names::nearest;
use crate::source::Path;

/// All changes, and after which time routing follows them; none: never.
pub(super) fn resolve(
    tables: Vec<ChangeTable>,
    reconverge: Option<Reconverge>,
    known: &Known<'_>,
    report: &mut Report<'_>,
) -> Option<(Vec<Change>, Option<Time>)> {
    let path = Path::default().at("change");
    let fails = tables.iter().any(|table| table.state.is_some());
    let readable = !report.unreadable("change");
    let change =
        |(i, table): (usize, ChangeTable)| change(table, known, &mut Section::new(report, path.at(i.to_string())));
    let changes: Vec<Option<Change>> = tables.into_iter().enumerate().map(change).collect();
    let section = &mut Section::new(report, Path::default().at("routing"));
    if let Some(Reconverge(Some(after))) = reconverge {
        section.span("reconverge", after);
    }
    let stated = reconverge.is_some();
    section.check(
        !stated || fails || !readable,
        "reconverge",
        "applies where a [[change]] has a `state`, and none has; leave it out",
    );
    section.check(
        stated || !fails,
        "reconverge",
        "missing: links fail, and routing must know when to follow; write for example reconverge = \"10ms\", or \"never\"",
    );
    let changes = changes.into_iter().collect::<Option<_>>()?;
    section.is_good().then_some((changes, reconverge.and_then(|after| after.0)))
}

fn change(table: ChangeTable, known: &Known<'_>, section: &mut Section<'_, '_>) -> Option<Change> {
    let at = table.at.unwrap_or(Time::ZERO);
    let end = known.period.map_or(LONGEST, |period| period.end);
    section.check(at < end, "at", format!("{at} is not before the end of the run at {end}"));
    if let Some(until) = table.until {
        section.check(until > at, "until", format!("{until} is not after `at`, {at}"));
        section.span("until", until);
    }
    section.check(
        table.loss.is_none() || table.burst_loss.is_none(),
        "burst_loss",
        "there is `loss` too; leave one out",
    );
    let none = table.state.is_none() && table.rate.is_none() && table.limit.is_none();
    section.check(
        !none || table.loss.is_some() || table.burst_loss.is_some(),
        "state",
        "changes nothing; write state = \"down\", a `rate`, a `limit`, a `loss` or a `burst_loss`",
    );
    let rate = table.rate.map(|rate| section.positive("rate", rate));
    if matches!(table.limit, Some(QueueLimit::Packets(0) | QueueLimit::Bytes(0))) {
        section.error("limit", "a queue with a limit of 0 drops every packet; write for example limit = 10");
    }
    let loss = table.loss.map(|loss| {
        probability("loss", loss, section);
        Loss::random(loss)
    });
    let burst = table.burst_loss.map(|table| burst_loss(&table, section));
    let of = of(table.links, table.nodes, table.layer, table.share, known.fabric, section);
    section.is_good().then_some(Change {
        at,
        until: table.until,
        of: of?,
        state: table.state,
        rate: rate.flatten(),
        limit: table.limit,
        loss: loss.or(burst.flatten()),
    })
}

fn of(
    links: Option<Vec<String>>,
    nodes: Option<Vec<String>>,
    layer: Option<Layer>,
    share: Option<f64>,
    fabric: Option<&Fabric>,
    section: &mut Section<'_, '_>,
) -> Option<ChangeOf> {
    let given = [("links", links.is_some()), ("nodes", nodes.is_some()), ("layer", layer.is_some())];
    let given: Vec<&str> = given.into_iter().filter(|(_, there)| *there).map(|(key, _)| key).collect();
    match given[..] {
        // Values that could not be read have been reported.
        [] if ["links", "nodes", "layer"].iter().any(|key| section.has(key)) => {}
        [] => section.error(
            "links",
            "names no links; write for example links = [\"A->B\"], nodes = [\"c0\"] or layer = \"core\"",
        ),
        [_] => {}
        [.., last] => section.error(last, format!("there are {}; leave only one", given.join(" and "))),
    }
    section.check(share.is_none() || layer.is_some(), "share", "applies to `layer`; leave it out");
    let share = share.unwrap_or(1.0);
    probability("share", share, section);
    let fabric = fabric?;
    if let Some(layer) = layer {
        if let Some(message) = queue::lacks(fabric, layer) {
            section.error("layer", message);
        }
        return Some(ChangeOf::Layer(layer, share));
    }
    if let Some(nodes) = nodes {
        section.check(!nodes.is_empty(), "nodes", "names none; write for example nodes = [\"c0\"]");
        for (i, name) in nodes.iter().enumerate().filter(|(_, name)| fabric.node(name).is_none()) {
            let hint = nearest(name, NodeId::first(fabric.nodes()).map(|node| fabric.name(node)));
            section.error(&format!("nodes.{i}"), format!("no host or switch is named {name:?}; {hint}"));
        }
        return Some(ChangeOf::Nodes(nodes));
    }
    let links = links?;
    section.check(!links.is_empty(), "links", "names none; write for example links = [\"A->B\"]");
    resolve_links(&links, fabric, section).map(ChangeOf::Links)
}

fn burst_loss(table: &BurstLossTable, section: &mut Section<'_, '_>) -> Option<Loss> {
    let to_bad = section.required("burst_loss.to_bad", table.to_bad, "0.001");
    let to_good = section.required("burst_loss.to_good", table.to_good, "0.25");
    let loss = Loss {
        in_good: table.in_good.unwrap_or(0.0),
        in_bad: table.in_bad.unwrap_or(1.0),
        to_bad: to_bad?,
        to_good: to_good?,
    };
    for (key, value) in
        [("in_good", loss.in_good), ("in_bad", loss.in_bad), ("to_bad", loss.to_bad), ("to_good", loss.to_good)]
    {
        probability(&format!("burst_loss.{key}"), value, section);
    }
    Some(loss)
}

fn probability(key: &str, value: f64, section: &mut Section<'_, '_>) {
    section.check((0.0..=1.0).contains(&value), key, format!("{value} is not between 0 and 1"));
}
