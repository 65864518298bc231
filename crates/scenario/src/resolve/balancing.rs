//! Load balancing by the sending host.

use super::applies::MARKED;
use super::section::Section;
use crate::model::{Paths, Subflows, Transport};

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    let by_marks = matches!(t.paths, Paths::Plb | Paths::Reps);
    let control = t.control.name();
    let marked: Vec<_> = MARKED.iter().map(|control| control.name()).collect();
    let marked = marked.join(", ");
    let ecn = format!("goes by marks, and {control} asks for no ECN; take one of {marked}, or another `paths`");
    section.check(!by_marks || MARKED.contains(&t.control), "paths", ecn);
    let both = "chooses paths by itself, and MMPTCP scatters its first packets; leave one of them out";
    section.check(!by_marks || !t.is_mmptcp(), "paths", both);
    let whole =
        "is for connections of one subflow, whose flow is placed whole; leave `subflows` out, or take another `paths`";
    let several = t.subflows != Subflows::Count(1) || t.is_mmptcp();
    section.check(t.paths != Paths::Placed || !several, "paths", whole);
    section.positive("plb_rounds", t.plb_rounds);
    section.positive("plb_idle_rounds", t.plb_idle_rounds);
    section.gain("plb_congested", t.plb_congested);
    section.span("plb_suspend", t.plb_suspend);
    section.check((1..=65_536).contains(&t.reps_buffer), "reps_buffer", "must be 1 to 65536");
    section.span("reps_freezing", t.reps_freezing);
}
