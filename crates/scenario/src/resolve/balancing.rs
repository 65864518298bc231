//! Load balancing by the sending host.

use super::section::Section;
use crate::model::{Control, Paths, Subflows, Transport};
use crate::tree::Value;

/// The most entropy values of a connection that are bound to ports of its hosts.
const MOST_BOUND: usize = 1024;

/// Balancers of UET that TCP's families lack, and why.
const OF_UET: &[(&str, &str)] = &[
    (
        "mp-rdma",
        "needs an ACK of each packet, which lets the next go the same way, and one window that heeds all paths by these ACKs. \
         TCP acknowledges two packets with one ACK, sends by the window of each subflow, and in recovery by what SACK shows; \
         write `paths = \"reps\"`, or `control = \"uet\"` with `balancer = \"mp-rdma\"`",
    ),
    ("oblivious", "goes through the entropy values of uet; write `paths = \"scatter\"`"),
    (
        "bitmap",
        "avoids entropy values of packets that were trimmed or lost, which TCP does not keep; write `paths = \"reps\"`",
    ),
    ("flowbender", "is of uet; write `paths = \"plb\"`, which changes the path of a subflow by marks, too"),
    ("rss", "places packets by uet's PSN; write `subflows`, which have a path each"),
];

/// Why `paths` of a TCP cannot be what is written there, if it names a balancer of UET.
pub(super) fn why_not(control: Control, section: &Section<'_, '_>) -> Option<&'static str> {
    if !control.family().has("plb_rounds") {
        return None;
    }
    let written = section.node()?.child("paths")?;
    let Value::String(written) = &written.value else { return None };
    OF_UET.iter().find(|(name, _)| name == written).map(|(_, why)| *why)
}

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    let by_marks = matches!(t.paths.rule, Paths::Plb | Paths::Reps);
    let control = t.control.name();
    let balances = |control: Control| control.family().has("plb_rounds");
    let other = format!("senders of {} do not choose paths by marks; take another `paths`", t.control.family().title());
    section.check(!by_marks || balances(t.control), "paths", other);
    let marked = Control::all().filter(|control| control.heeds_marks() && balances(*control));
    let marked: Vec<_> = marked.map(Control::name).collect();
    let marked = marked.join(", ");
    let ecn = format!("goes by marks, and {control} asks for no ECN; take one of {marked}, or another `paths`");
    section.check(!by_marks || !balances(t.control) || t.is_mmptcp() || t.heeds_marks(), "paths", ecn);
    let both = "chooses paths by itself, and MMPTCP scatters its first packets; leave one of them out";
    section.check(!by_marks || !t.is_mmptcp(), "paths", both);
    let whole =
        "is for connections of one subflow, whose flow is placed whole; leave `subflows` out, or take another `paths`";
    let several = t.subflows != Subflows::Count(1) || t.is_mmptcp();
    section.check(t.paths.rule != Paths::Placed || !several, "paths", whole);
    if t.control.family().facts().spread.is_any() {
        let values = "packets of this transport take a path by their entropy value: write \"hash\", or \"planes\" to \
                      bind values to the ports of hosts";
        section.check(matches!(t.paths.rule, Paths::Hash | Paths::Planes), "paths", values);
        let entropies = || t.control.family().config(&t.own, &t.config, t.wire).entropies();
        let many = format!("each connection keeps a path for each of at most {MOST_BOUND} values; write fewer");
        section.check(t.paths.rule != Paths::Planes || entropies() <= MOST_BOUND, "entropies", many);
    }
}
