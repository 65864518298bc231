//! Resolves `[[change]]`: which links change, when, and in what.

use linkpool_network::{Fabric, LinkId, NodeId};
use linkpool_settings::{Preset, Settings, nearest};
use linkpool_units::Time;

use super::section::{LONGEST, Section};
use super::settings::{check, read};
use super::{Period, queue};
use crate::errors::Report;
use crate::known::Known;
use crate::model::{Change, ChangedLinks, LinkState, Reconverge, Routing, Tier};
use crate::tree::KeyPath;

/// All changes: first those of the file, then those `failures` that the file has not: the scenario
/// as run has them, and names the traces that have them too.
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
    let mut changes: Vec<Change> = places.into_iter().map(read).collect();
    for failure in failures {
        if !changes.contains(&failure) {
            changes.push(failure);
        }
    }
    if let Some(fabric) = known.fabric.filter(|_| top.is_good()) {
        check_repairs(&changes, fabric, top);
    }
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

/// A link is repaired where it may have failed before.
fn check_repairs(changes: &[Change], fabric: &Fabric, top: &mut Section<'_, '_>) {
    for (i, repair) in changes.iter().enumerate().filter(|(_, change)| change.state == Some(LinkState::Up)) {
        top.check(
            changes.iter().any(|change| fails_before(change, repair, fabric)),
            &format!("change.{i}.state"),
            format!("works before {} already; write a [[change]] with state = \"down\" that begins earlier", repair.at),
        );
    }
}

/// May a link that `repair` repairs have failed before by `failure`?
fn fails_before(failure: &Change, repair: &Change, fabric: &Fabric) -> bool {
    let links = |change: &Change| -> Vec<LinkId> { change.changed().victims(fabric).into_iter().flatten().collect() };
    let earlier = failure.state == Some(LinkState::Down) && failure.at < repair.at;
    earlier && {
        let failed = links(failure);
        links(repair).iter().any(|link| failed.contains(link))
    }
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
    let changes = ["state", "rate", "rate_factor", "limit", "loss", "burst_loss", "bit_errors"];
    section.check(
        changes.iter().any(|key| section.has(key)),
        "state",
        "changes nothing; write state = \"down\", a `rate`, a `rate_factor`, a `limit`, a `loss`, a `burst_loss` or `bit_errors`",
    );
    let given: Vec<&str> = ["links", "nodes", "layer", "between"].into_iter().filter(|key| section.has(key)).collect();
    match given[..] {
        [] => section.error(
            "links",
            "names no links; write for example links = [\"A->B\"], nodes = [\"c0\"], layer = \"core\" or between = \"edge<->core\"",
        ),
        [_] => {}
        [.., last] => section.error(last, format!("there are {}; leave only one", given.join(" and "))),
    }
    let draws = section.has("share") || section.has("count");
    section.check(
        draws || !change.repeat.is_some_and(|repeat| repeat.redraw),
        "repeat.redraw",
        "applies where chance chooses: write a `share` or a `count`, or leave it out",
    );
    if let Some(fabric) = known.fabric.filter(|_| section.is_good()) {
        check_nodes(&change, fabric, section);
        check_victims(&change, end, fabric, section);
    }
    change
}

/// A change may come this often in a run, counted for each of its victims.
const OFTEN: usize = 1_000_000;

/// Are there as many victims as there should be, and do they allow the change?
fn check_victims(change: &Change, end: Time, fabric: &Fabric, section: &mut Section<'_, '_>) {
    let victims = change.changed().victims(fabric);
    let all = victims.len();
    if let (0, ChangedLinks::Between(tier)) = (all, change.changed()) {
        section.error("between", format!("no cable of the topology joins these layers; {}", tiers(fabric, tier)));
    }
    if !section.is_good() {
        return;
    }
    let drawn = change.draw().map_or(all, |draw| draw.of(all));
    if let Some(count) = change.count.filter(|_| drawn > all) {
        section.error("count", format!("{count} is more than there are: {all}"));
    }
    if drawn == 0 && change.share > 0.0 {
        let (share, least) = (change.share, 0.5 / all as f64);
        section
            .error("share", format!("{share} of {all} is less than one half: none; at least {least:.3}, or count = 1"));
    }
    let slow =
        |link: &&LinkId| change.rate_factor.is_some_and(|f| fabric.links()[link.index()].rate.0 as f64 * f < 1.0);
    if let Some(link) = victims.iter().flatten().find(slow) {
        section.error("rate_factor", format!("{} would have less than 1 bit/s", fabric.link_name(*link)));
    }
    let often = change.spans(end).take(OFTEN + 1).count().saturating_mul(drawn);
    section.check(often <= OFTEN, "repeat.every", format!("too short: the links change more than {OFTEN} times"));
}

/// Which layers cables join.
fn tiers(fabric: &Fabric, mut tier: Tier) -> String {
    let layer = |node: NodeId| fabric.layer(node);
    let mut all: Vec<String> = Vec::new();
    for l in fabric.links().iter().filter(|l| l.from < l.to) {
        (tier.from, tier.to) = (layer(l.from), layer(l.to));
        if !all.contains(&tier.to_string()) {
            all.push(tier.to_string());
        }
    }
    format!("there are {}", all.join(", "))
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
