//! The blocks that a receiver reports in SACK options (RFC 2018, section 4; RFC 2883, section 4).

use crate::options::SackBlocks;
use crate::reassembly::Reassembly;
use crate::seq::Seq;

/// The ranges that are remembered: one more than is reported, for when the gap before one is filled.
const REMEMBERED: usize = SackBlocks::MOST + 1;

/// The ranges after a gap that were reported recently, the latest first. Each is given by a
/// position in it.
#[derive(Debug, Default)]
pub(crate) struct Reporting(Vec<u64>);

impl Reporting {
    /// A segment at `start` has arrived after a gap of `bytes`. Its range is reported first.
    pub(crate) fn note(&mut self, bytes: &Reassembly, start: u64) {
        let range = range_at(bytes, start);
        self.0.retain(|position| range_at(bytes, *position).is_some_and(|other| Some(other) != range));
        self.0.insert(0, start);
        self.0.truncate(REMEMBERED);
    }

    /// The blocks to report: first the `duplicate` that has just arrived, then its range if it is
    /// after the gap, then the other ranges, the latest first; as many as an ACK has room for.
    pub(crate) fn blocks(&self, bytes: &Reassembly, duplicate: Option<(u64, u64)>) -> SackBlocks {
        let around = duplicate.and_then(|(start, _)| range_at(bytes, start));
        let latest = self.0.iter().filter_map(|position| range_at(bytes, *position));
        let others = latest.filter(|range| Some(*range) != around);
        let all = duplicate.into_iter().chain(around).chain(others);
        all.map(|(start, end)| (Seq::of(start), Seq::of(end))).collect()
    }
}

/// The range after a gap that contains `position`.
fn range_at(bytes: &Reassembly, position: u64) -> Option<(u64, u64)> {
    let ranges = bytes.ranges();
    let after = ranges.partition_point(|(start, _)| *start <= position);
    ranges[..after].last().copied().filter(|(_, end)| position < *end)
}
