//! Time that a hypervisor takes from this machine.

use anyhow::{Context as _, Result};
use std::time::Duration;

/// More than this share of a run, all processors together, is told.
const MOST: f64 = 0.05;

/// What all processors have lost since the machine began: the eighth number of the first line of
/// `/proc/stat`, in ticks (proc_stat(5)). It stays 0 on a machine without a hypervisor, and under
/// one that does not tell.
pub(crate) fn until_now() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
    let ticks = ticks(&text).context("/proc/stat does not tell what a hypervisor takes")?;
    Ok(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

fn ticks(stat: &str) -> Option<u64> {
    stat.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()
}

/// Why a run of `run_s` seconds may not be what it would be, if so, when `stolen_s` were taken in
/// it.
pub(crate) fn doubt(stolen_s: f64, run_s: f64) -> Option<String> {
    (stolen_s > MOST * run_s).then(|| {
        format!(
            "the hypervisor took {:.0} ms from this machine's processors in {run_s:.1} s (steal in /proc/stat): hosts and switches stood still",
            1e3 * stolen_s
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_number_of_the_first_line() {
        let stat = "cpu  93185 0 7518 597190 736 0 1512 248 0 0\ncpu0 49474 0 3790 295498 433 0 843 122 0 0\n";
        assert_eq!(ticks(stat), Some(248));
        assert_eq!(ticks("cpu0 1 2 3 4 5 6 7 8"), None);
        let (before, after) = (until_now().unwrap(), until_now().unwrap());
        assert!(before <= after);
    }

    #[test]
    fn a_run_that_lost_a_twentieth_is_doubted() {
        assert_eq!(doubt(0.1, 2.0), None);
        let doubt = doubt(0.25, 2.0).unwrap();
        assert!(doubt.starts_with("the hypervisor took 250 ms from this machine's processors in 2.0 s"), "{doubt}");
    }
}
