//! Settings of several subflows that must fit their number.

use linkpool_transport::{Faults, PacketScheduler};
use linkpool_units::counted;

use super::section::Section;
use crate::model::{Subflows, Transport};

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    let config = &t.config.multipath;
    let turns = "\"join-stall\" is a fault of `scheduler = \"round-robin\"`; set that, or leave the fault out";
    section.check(!config.faults.join_stall || config.scheduler == PacketScheduler::RoundRobin, "faults", turns);
    let window = "waits for room in the receiver's window, which is unlimited: set `receive_buffer`, or `scheduler = \
                  \"lowest-rtt\"`, which does the same without one";
    let unlimited = t.config.buffers.receive == u64::MAX;
    section.check(config.scheduler != PacketScheduler::Blest || !unlimited, "scheduler", window);
    let once = "are of an implementation that sends each byte on one subflow; leave them out, or choose another \
                `scheduler` than \"redundant\"";
    let copies = config.scheduler == PacketScheduler::Redundant;
    section.check(!copies || config.faults == Faults::default(), "faults", once);
    match t.subflows {
        Subflows::Count(subflows) => check_each(t, subflows, section),
        Subflows::Auto => {
            let each = "says something of each subflow; write their number instead of `subflows = \"auto\"`";
            section.check(config.join_at.is_empty(), "join_at", each);
            section.check(config.backup == 0, "backup", each);
        }
    }
}

fn check_each(t: &Transport, subflows: u32, section: &mut Section<'_, '_>) {
    let last = subflows.saturating_sub(1);
    let times = t.config.multipath.join_at.len();
    let message = format!(
        "has {}, but `subflows = {subflows}` has {last} beside the first; write one for each of these",
        counted(times, "time")
    );
    section.check(times == 0 || times == last as usize, "join_at", message);
    let all = u64::MAX >> (64 - subflows.clamp(1, 32));
    let backup = u64::from(t.config.multipath.backup);
    let beyond = backup & !all != 0;
    section.check(!beyond, "backup", format!("subflows are numbered from 0, and the last is {last}"));
    section.check(backup != all, "backup", "names all subflows; leave out the subflows that carry data first");
}
