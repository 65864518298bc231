//! The keys of a transport that concern several subflows.

use super::section::Section;
use crate::model::{Fault, Scheduler, Subflows, Transport};

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    for (key, timeouts) in [("stale_after", t.stale_after), ("fail_after", t.fail_after)] {
        section.check(timeouts != Some(0), key, "must be above zero, or \"never\"");
    }
    let turns = "\"join-stall\" is a fault of `scheduler = \"round-robin\"`; leave it or the other scheduler out";
    let stalls = t.faults.contains(&Fault::JoinStall);
    section.check(!stalls || t.scheduler == Scheduler::RoundRobin, "faults", turns);
    match t.subflows {
        Subflows::Count(subflows) => check_each(t, subflows, section),
        Subflows::Auto => {
            let each = "says something of each subflow; write their number instead of `subflows = \"auto\"`";
            section.check(t.join_at.is_empty(), "join_at", each);
            section.check(t.backup.is_empty(), "backup", each);
        }
    }
    if let Some(longest) = t.join_at.iter().max() {
        section.span("join_at", *longest);
    }
}

fn check_each(t: &Transport, subflows: u32, section: &mut Section<'_, '_>) {
    let last = subflows.saturating_sub(1);
    let times = t.join_at.len();
    let message = format!(
        "has {times} times, but `subflows = {subflows}` has {last} beside the first; write one for each of these"
    );
    section.check(times == 0 || times == last as usize, "join_at", message);
    let beyond = t.backup.iter().find(|s| **s >= subflows);
    section.check(beyond.is_none(), "backup", format!("subflows are numbered from 0, and the last is {last}"));
    let all = beyond.is_none() && (0..subflows).all(|s| t.backup.contains(&s)) && subflows > 0;
    section.check(!all, "backup", "names all subflows; leave out those that are to carry data first");
}
