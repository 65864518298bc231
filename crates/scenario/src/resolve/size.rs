//! How large a fabric may be.

use linkpool_network::MOST_HOSTS;

use super::section::Section;

/// More cables than this are a slip of the pen: they would not fit into memory.
pub(super) const MOST_CABLES: u64 = 2_000_000;

/// Are there few enough hosts and cables? If not, `key` is to blame.
pub(super) fn fits(hosts: u64, cables: u64, key: &str, section: &mut Section<'_, '_>) -> Option<()> {
    for (number, most, what) in [(hosts, u64::from(MOST_HOSTS), "hosts"), (cables, MOST_CABLES, "links")] {
        if number > most {
            section.error(key, format!("makes {number} {what}; at most {most} can be simulated"));
            return None;
        }
    }
    Some(())
}
