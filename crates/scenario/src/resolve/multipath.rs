//! The keys of a transport that concern several subflows.

use super::section::Section;
use crate::model::Transport;

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    if t.scatter_bytes > 0 {
        let phases = "does not apply with `scatter_bytes`, whose switch opens the subflows; leave one of them out";
        section.check(t.join_after == 0, "join_after", phases);
        section.check(t.join_at.is_empty(), "join_at", phases);
        section.check(t.backup.is_empty(), "backup", "does not apply with `scatter_bytes`; leave one of them out");
    }
    let further = t.subflows.saturating_sub(1) as usize;
    let times = format!(
        "has {} times, but `subflows = {}` has {further} beside the first; write one for each of these",
        t.join_at.len(),
        t.subflows
    );
    section.check(t.join_at.is_empty() || t.join_at.len() == further, "join_at", times);
    if let Some(longest) = t.join_at.iter().max() {
        section.span("join_at", *longest);
    }
    let last = t.subflows.saturating_sub(1);
    let beyond = t.backup.iter().find(|s| **s >= t.subflows);
    section.check(beyond.is_none(), "backup", format!("subflows are numbered from 0, and the last is {last}"));
    let all = beyond.is_none() && (0..t.subflows).all(|s| t.backup.contains(&s)) && t.subflows > 0;
    section.check(!all, "backup", "names all subflows; leave out those that are to carry data first");
}
