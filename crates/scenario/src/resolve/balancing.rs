//! Load balancing by the sending host.

use super::section::Section;
use crate::model::{Control, Paths, Subflows, Transport};

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    let by_marks = matches!(t.paths.rule, Paths::Plb | Paths::Reps);
    let control = t.control.name();
    let has_paths = |control: &Control| control.heeds_marks() && control.family().has("paths");
    let marked: Vec<_> = Control::all().filter(has_paths).map(Control::name).collect();
    let marked = marked.join(", ");
    let ecn = format!("goes by marks, and {control} asks for no ECN; take one of {marked}, or another `paths`");
    section.check(!by_marks || t.is_mmptcp() || t.heeds_marks(), "paths", ecn);
    let both = "chooses paths by itself, and MMPTCP scatters its first packets; leave one of them out";
    section.check(!by_marks || !t.is_mmptcp(), "paths", both);
    let whole =
        "is for connections of one subflow, whose flow is placed whole; leave `subflows` out, or take another `paths`";
    let several = t.subflows != Subflows::Count(1) || t.is_mmptcp();
    section.check(t.paths.rule != Paths::Placed || !several, "paths", whole);
}
