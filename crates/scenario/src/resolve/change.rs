//! Resolves `[[change]]`: which links change, when, and in what.

use linkpool_network::{Fabric, NodeId};
use linkpool_settings::{Preset, Settings, nearest};

use super::section::{LONGEST, Section};
use super::settings::{check, read};
use super::{Period, queue};
use crate::errors::Report;
use crate::known::Known;
use crate::model::{Change, Reconverge, Routing};
use crate::tree::KeyPath;

/// All changes: first those of the file, then `failures`.
pub(super) fn resolve(
    failures: Vec<Change>,
    routing: &Routing,
    known: &Known<'_>,
    period: Option<Period>,
    report: &mut Report<'_>,
) -> Vec<Change> {
    let top = &mut Section::new(report, KeyPath::default());
    let places = top.elements("change");
    let read = |path| change(known, period, &mut top.at(path));
    let changes: Vec<Change> = places.into_iter().map(read).chain(failures).collect();
    let fails = changes.iter().any(|change| change.state.is_some());
    let is_readable = top.is_good();
    if let Some(Reconverge(Some(after))) = routing.reconverge {
        top.check(after <= LONGEST, "routing.reconverge", format!("{after} is too long; at most {LONGEST}"));
    }
    let stated = routing.reconverge.is_some();
    top.check(
        !stated || fails || !is_readable,
        "routing.reconverge",
        "applies where a [[change]] has a `state`, and none has; leave it out",
    );
    top.check(
        stated || !fails,
        "routing.reconverge",
        "missing: links fail, and routing must know when to follow; write for example reconverge = \"10ms\", or \"never\"",
    );
    changes
}

fn change(known: &Known<'_>, period: Option<Period>, section: &mut Section<'_, '_>) -> Change {
    let mut change = Change::defaults(Preset::Linux);
    read(&mut change, &[], known, section);
    check(&mut change, section);
    let at = change.at;
    let end = period.map_or(LONGEST, |period| period.end);
    section.check(at < end, "at", format!("{at} is not before the end of the run at {end}"));
    if let Some(until) = change.until {
        section.check(until > at, "until", format!("{until} is not after `at`, {at}"));
    }
    let changes = ["state", "rate", "limit", "loss", "burst_loss"].iter().any(|key| section.has(key));
    section.check(
        changes,
        "state",
        "changes nothing; write state = \"down\", a `rate`, a `limit`, a `loss` or a `burst_loss`",
    );
    let given: Vec<&str> = ["links", "nodes", "layer"].into_iter().filter(|key| section.has(key)).collect();
    match given[..] {
        [] => section.error(
            "links",
            "names no links; write for example links = [\"A->B\"], nodes = [\"c0\"] or layer = \"core\"",
        ),
        [_] => {}
        [.., last] => section.error(last, format!("there are {}; leave only one", given.join(" and "))),
    }
    if let Some(fabric) = known.fabric {
        check_nodes(&change, fabric, section);
    }
    change
}

fn check_nodes(change: &Change, fabric: &Fabric, section: &mut Section<'_, '_>) {
    if let Some(message) = change.layer.and_then(|layer| queue::lacks(fabric, layer)) {
        section.error("layer", message);
    }
    let nodes = change.nodes.iter().flatten().enumerate();
    for (i, name) in nodes.filter(|(_, name)| fabric.node(name).is_none()) {
        let hint = nearest(name, NodeId::first(fabric.nodes()).map(|node| fabric.name(node)));
        section.error(&format!("nodes.{i}"), format!("no host or switch is named {name:?}; {hint}"));
    }
}
