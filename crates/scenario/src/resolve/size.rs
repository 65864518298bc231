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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::Report;
    use crate::tree::{KeyPath, parse};

    #[test]
    fn the_most_hosts_and_cables_still_fit() {
        let most = u64::from(MOST_HOSTS);
        let check = |hosts, cables| {
            let mut report = Report::new("x.toml", parse("").unwrap(), Vec::new());
            fits(hosts, cables, "k", &mut Section::new(&mut report, KeyPath::default()));
            report.finish(Some(())).map_err(|errors| errors[0].to_string())
        };
        assert_eq!(check(most, MOST_CABLES), Ok(()));
        let error = "x.toml: k: makes 1048577 hosts; at most 1048576 can be simulated";
        assert_eq!(check(most + 1, 0), Err(error.to_string()));
        let error = "x.toml: k: makes 2000001 links; at most 2000000 can be simulated";
        assert_eq!(check(0, MOST_CABLES + 1), Err(error.to_string()));
    }
}
