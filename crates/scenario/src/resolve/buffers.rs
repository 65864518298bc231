//! The keys of a transport that concern buffers.

use linkpool_units::Bytes;

use super::section::Section;
use crate::model::Transport;

/// What a TCP header can offer (RFC 7323, section 2.2).
const LARGEST_WINDOW: u64 = 1 << 30;

pub(super) fn check(t: &Transport, section: &mut Section<'_, '_>) {
    let least = format!("must hold a segment, `mss` = {}, at least", Bytes(t.mss.into()));
    for (key, buffer) in [("send_buffer", t.send_buffer), ("receive_buffer", t.receive_buffer)] {
        section.check(buffer.is_none_or(|bytes| bytes >= t.mss.into()), key, &least);
    }
    let most = "at most 1GiB, the largest window of TCP, or \"unlimited\"";
    section.check(t.receive_buffer.is_none_or(|bytes| bytes <= LARGEST_WINDOW), "receive_buffer", most);
    if let Some(rate) = t.read_rate {
        section.positive("read_rate", rate);
    }
}
