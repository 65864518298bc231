//! The commands of a script, which set up the kernel: what they mean for our transport.

use super::parse::Wrong;
use linkpool_units::Time;

/// What the commands of a script ask for, beside the `linux` preset.
#[derive(Debug, PartialEq)]
pub struct Setup {
    /// Largest difference between the time of an event and its time in the script.
    pub tolerance: Time,
    pub slow_start_after_idle: bool,
    /// Is ECN in use?
    pub ecn: bool,
    /// Are probes of lost tails forbidden?
    pub no_probes: bool,
    /// Does a queue of the host pace its packets (`fq`)?
    pub paced: bool,
    /// Does the host's own queue refuse packets?
    pub refuses: bool,
}

impl Default for Setup {
    /// The settings of packetdrill, and of the file with defaults that each script runs first.
    fn default() -> Setup {
        Setup {
            tolerance: Time::from_ms(4),
            slow_start_after_idle: false,
            ecn: false,
            no_probes: false,
            paced: false,
            refuses: false,
        }
    }
}

impl Setup {
    /// Takes an option of packetdrill's command line.
    pub fn flag(&mut self, line: usize, flag: &str) -> Result<(), Wrong> {
        match flag.split_once('=').map(|(name, value)| (name, value.parse())) {
            Some(("tolerance_usecs", Ok(microseconds))) => self.tolerance = Time::from_us(microseconds),
            _ => return Wrong::at(line, format!("the option `--{flag}`")),
        }
        Ok(())
    }

    /// Takes the commands of a block.
    pub fn commands(&mut self, block: &[(usize, String)]) -> Result<(), Wrong> {
        for (line, text) in block {
            let command = text.split('#').next().unwrap_or("").trim().trim_end_matches('\\').trim();
            self.command(*line, command)?;
        }
        Ok(())
    }

    fn command(&mut self, line: usize, command: &str) -> Result<(), Wrong> {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            [] => Ok(()),
            [file] if file.ends_with("/common/defaults.sh") || file.starts_with("/tmp/sysctl_restore_") => Ok(()),
            ["sysctl", .., setting] => self.sysctl(line, setting),
            [file, ref settings @ ..] if file.ends_with("/common/set_sysctls.py") => {
                settings.iter().try_for_each(|setting| self.sysctl(line, setting))
            }
            // A line that goes on.
            [setting] if setting.starts_with("/proc/sys/") => self.sysctl(line, setting),
            ["tc", "qdisc", "replace", "dev", "tun0", "root", "fq"] => {
                self.paced = true;
                Ok(())
            }
            ["tc", "qdisc", "replace", "dev", "tun0", "root", "pfifo", "limit", "0"] => {
                self.refuses = true;
                Ok(())
            }
            // Both of CUBIC's ways to find the end of slow start, which is what Linux does anyway.
            ["echo", "3", ">", "/sys/module/tcp_cubic/parameters/hystart_detect"] => Ok(()),
            _ => Wrong::at(line, format!("the command `{command}`")),
        }
    }

    fn sysctl(&mut self, line: usize, setting: &str) -> Result<(), Wrong> {
        let name = setting.split('=').next().unwrap_or("").rsplit(['/', '.']).next().unwrap_or("");
        let value = setting.split_once('=').map_or("", |(_, value)| value);
        match (name, value) {
            ("tcp_slow_start_after_idle", "0" | "1") => self.slow_start_after_idle = value == "1",
            ("tcp_ecn", "1" | "2") => self.ecn = true,
            ("tcp_early_retrans", "0") => self.no_probes = true,
            // These choose what is the default; or they join segments, which we send one by one.
            ("tcp_congestion_control", "cubic") | ("tcp_pacing_ss_ratio", "200") => {}
            ("tcp_tso_win_divisor" | "tcp_min_tso_segs", _) => {}
            _ => return Wrong::at(line, format!("the setting `{setting}`")),
        }
        Ok(())
    }
}
