//! What this kernel has and lacks of what linkpool needs, with the remedy for each lack.

use crate::btf::KernelTypes;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// How it stands with one requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is there.
    Has,
    /// It is not there, and something works less well or not at all, but controllers load.
    Limited,
    /// It is not there, and no controller can be loaded.
    Lacks,
}

/// One requirement, and what was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is required.
    pub what: &'static str,
    /// Is it there?
    pub state: State,
    /// What was found, such as a version.
    pub found: String,
    /// What a person can do about it; empty if it is there.
    pub remedy: &'static str,
}

impl Finding {
    fn new(what: &'static str, has: bool, found: impl Into<String>, without: State, remedy: &'static str) -> Finding {
        let (state, remedy) = if has { (State::Has, "") } else { (without, remedy) };
        Finding { what, state, found: found.into(), remedy }
    }
}

/// The structs of the kernel that the controllers read, with the members they use (`bpf/kernel.h`).
pub const MEMBERS: &[(&str, &[&str])] = &[
    ("sock_common", &["skc_family", "skc_daddr", "skc_rcv_saddr", "skc_dport", "skc_num", "skc_net"]),
    ("sock", &["__sk_common", "sk_pacing_rate", "sk_max_pacing_rate"]),
    ("netns_ipv4", &["sysctl_tcp_slow_start_after_idle"]),
    ("inet_connection_sock", &["icsk_ca_state", "icsk_ack", "icsk_rto", "icsk_ulp_data", "icsk_ca_priv"]),
    (
        "tcp_sock",
        &["snd_cwnd", "snd_cwnd_clamp", "snd_ssthresh", "srtt_us", "snd_una", "snd_nxt", "delivered", "delivered_ce"],
    ),
    ("tcp_sock", &["lost", "packets_out", "sacked_out", "lost_out", "retrans_out", "prr_out", "bytes_sent"]),
    ("tcp_sock", &["max_packets_out", "is_cwnd_limited", "mss_cache", "ecn_flags", "is_mptcp", "rcv_nxt", "lsndtime"]),
    ("mptcp_subflow_context", &["conn", "local_id", "remote_id", "request_mptcp", "request_join", "backup"]),
    ("mptcp_sock", &["token"]),
];

/// Checks the running kernel and this process's rights.
pub fn running_kernel() -> Vec<Finding> {
    Machine::new(Path::new("/")).findings()
}

/// Checks the machine whose `/proc`, `/sys` and `/boot`, or copies of them, are in the directory
/// `root`. Errors: it has no `proc`.
pub fn machine_at(root: &Path) -> Result<Vec<Finding>> {
    let proc = root.join("proc");
    fs::read_dir(&proc).with_context(|| format!("{}", proc.display()))?;
    Ok(Machine::new(root).findings())
}

/// Can controllers be loaded?
pub fn loads(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.state != State::Lacks)
}

/// Checks another kernel by its BTF file, as far as types tell.
pub fn kernel_of_btf(path: &Path) -> Result<Vec<Finding>> {
    Ok(kernel_types(&KernelTypes::of_file(path)?))
}

/// What a kernel's types tell of it.
pub fn kernel_types(types: &KernelTypes) -> Vec<Finding> {
    let casts = types.has_function("bpf_rdonly_cast");
    let algorithms = types.has_struct("bpf_struct_ops_tcp_congestion_ops");
    let arguments = types.arguments("tcp_congestion_ops", "cong_control");
    let missing: Vec<String> = MEMBERS
        .iter()
        .flat_map(|(of, members)| members.iter().map(move |member| (of, member)))
        .filter(|(of, member)| !types.has_member(of, member))
        .map(|(of, member)| format!("{of}.{member}"))
        .collect();
    vec![
        Finding::new(
            "congestion control in eBPF (struct_ops)",
            algorithms && arguments.is_some(),
            "",
            State::Lacks,
            "a kernel with CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y, 5.6 or newer",
        ),
        Finding::new(
            "cast of kernel pointers (bpf_rdonly_cast)",
            casts,
            "",
            State::Lacks,
            "a kernel of 6.2 or newer: the subflows of a connection cannot be told before",
        ),
        Finding::new(
            "members of kernel structs",
            missing.is_empty(),
            if missing.is_empty() { "all that controllers read".to_owned() } else { missing.join(", ") },
            State::Lacks,
            "a kernel with CONFIG_MPTCP=y that has these members; please report which kernel this is",
        ),
        Finding::new(
            "choice by cgroup (`enable --cgroup`)",
            types.has_member("cgroup_bpf", "effective"),
            "",
            State::Limited,
            "a kernel with CONFIG_CGROUP_BPF=y; without it, `enable --netns` chooses by network namespace",
        ),
    ]
}

/// What a machine shows of itself in files.
#[derive(Debug)]
struct Machine {
    root: PathBuf,
    release: String,
    /// How its kernel was configured, where `/boot` has that.
    config: Option<String>,
}

impl Machine {
    fn new(root: &Path) -> Machine {
        let mut machine = Machine { root: root.to_owned(), release: String::new(), config: None };
        machine.release = machine.read("proc/sys/kernel/osrelease").unwrap_or_default();
        machine.config = machine.read(&format!("boot/config-{}", machine.release));
        machine
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![self.kernel_version()];
        findings.extend(self.types());
        findings.extend([self.jit(), self.mptcp(), self.path_manager()]);
        findings.extend([self.capabilities(), self.receiver_ecn(), self.cgroups()]);
        findings
    }

    fn read(&self, path: &str) -> Option<String> {
        Some(fs::read_to_string(self.root.join(path)).ok()?.trim().to_owned())
    }

    /// Was the kernel built with this option? `None`: it is not known.
    fn configured(&self, option: &str) -> Option<bool> {
        let has = |line: &str| line.split_once('=').is_some_and(|(name, value)| name == option && value != "n");
        self.config.as_deref().map(|config| config.lines().any(has))
    }

    /// In words, behind something that is missing.
    fn configuration(&self, option: &str) -> String {
        match self.configured(option) {
            Some(false) => format!("; {option} is not set in /boot/config-{}", self.release),
            Some(true) => format!("; {option} is set in /boot/config-{}", self.release),
            None => String::new(),
        }
    }

    fn kernel_version(&self) -> Finding {
        let mut numbers = self.release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let release = self.release.as_str();
        Finding::new("kernel 6.2 or newer", version >= (6, 2), release, State::Lacks, "install a newer kernel")
    }

    /// Whether there is type information, and what it says.
    fn types(&self) -> Vec<Finding> {
        const WHAT: &str = "type information (BTF)";
        const FILE: &str = "sys/kernel/btf/vmlinux";
        let lacks = |found: String, remedy| vec![Finding::new(WHAT, false, found, State::Lacks, remedy)];
        if !self.root.join(FILE).exists() {
            let found = format!("no /{FILE}{}", self.configuration("CONFIG_DEBUG_INFO_BTF"));
            return match self.configured("CONFIG_DEBUG_INFO_BTF") {
                Some(true) => lacks(found, "mount -t sysfs sysfs /sys"),
                _ => lacks(found, "a kernel with CONFIG_DEBUG_INFO_BTF=y; those of all large distributions have it"),
            };
        }
        match KernelTypes::of_file(&self.root.join(FILE)) {
            Err(error) => lacks(format!("{error:#}"), "a kernel whose type information can be read, e.g. as root"),
            Ok(types) => {
                let there = Finding::new(WHAT, true, format!("/{FILE}"), State::Lacks, "");
                [there].into_iter().chain(kernel_types(&types)).collect()
            }
        }
    }

    /// The setting is one of the whole machine, and only its first network namespace shows it.
    fn jit(&self) -> Finding {
        let value = self.read("proc/sys/net/core/bpf_jit_enable");
        let is_built_in = self.configured("CONFIG_BPF_JIT") != Some(false);
        let on = value.as_deref().map_or(is_built_in, |value| matches!(value, "1" | "2"));
        let (found, remedy) = match value {
            Some(value) => (format!("net.core.bpf_jit_enable = {value}"), "sysctl -w net.core.bpf_jit_enable=1"),
            None if is_built_in => ("not shown in this network namespace".to_owned(), ""),
            None => {
                let found = format!("no net.core.bpf_jit_enable{}", self.configuration("CONFIG_BPF_JIT"));
                (found, "a kernel with CONFIG_BPF_JIT=y")
            }
        };
        Finding::new("BPF compiler (JIT)", on, found, State::Lacks, remedy)
    }

    fn mptcp(&self) -> Finding {
        let value = self.read("proc/sys/net/mptcp/enabled");
        let on = value.as_deref() == Some("1");
        let (found, remedy) = match value {
            Some(value) => (format!("net.mptcp.enabled = {value}"), "sysctl -w net.mptcp.enabled=1"),
            None => (format!("no net.mptcp{}", self.configuration("CONFIG_MPTCP")), "a kernel with CONFIG_MPTCP=y"),
        };
        Finding::new("MPTCP", on, found, State::Limited, remedy)
    }

    /// Netlink commands for one connection came with 5.19 (`pm_type`); 6.16 calls the setting
    /// `path_manager`.
    fn path_manager(&self) -> Finding {
        let by_name = self.read("proc/sys/net/mptcp/available_path_managers");
        let by_number = self.read("proc/sys/net/mptcp/pm_type");
        let there = by_name.as_deref().map_or(by_number.is_some(), |all| all.contains("userspace"));
        Finding::new(
            "path manager in user space",
            there,
            by_name.or_else(|| by_number.map(|number| format!("net.mptcp.pm_type = {number}"))).unwrap_or_default(),
            State::Limited,
            "a kernel of 5.19 or newer with CONFIG_MPTCP=y: without it nobody can open or suppress single subflows",
        )
    }

    /// CAP_BPF (39), CAP_NET_ADMIN (12) and CAP_PERFMON (38), or CAP_SYS_ADMIN (21), which includes
    /// the first and the last.
    fn capabilities(&self) -> Finding {
        let status = self.read("proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
        let has = |bit: u32| mask >> bit & 1 == 1;
        let admin = has(21);
        let lacking: Vec<&str> =
            [("CAP_BPF", has(39) || admin), ("CAP_NET_ADMIN", has(12)), ("CAP_PERFMON", has(38) || admin)]
                .into_iter()
                .filter_map(|(name, held)| (!held).then_some(name))
                .collect();
        let found = if lacking.is_empty() { "held".to_owned() } else { format!("not held: {}", lacking.join(", ")) };
        Finding::new("rights (capabilities)", lacking.is_empty(), found, State::Lacks, "run it as root, e.g. by sudo")
    }

    /// Receivers echo marks by each packet only if their own algorithm asks for ECN; accepting ECN
    /// at all is `tcp_ecn`.
    fn receiver_ecn(&self) -> Finding {
        let value = self.read("proc/sys/net/ipv4/tcp_ecn").unwrap_or_else(|| "unknown".to_owned());
        let found = format!("net.ipv4.tcp_ecn = {value}");
        let remedy = "sysctl -w net.ipv4.tcp_ecn=2";
        Finding::new("ECN of incoming connections", value != "0", found, State::Limited, remedy)
    }

    fn cgroups(&self) -> Finding {
        let mounts = self.read("proc/self/mounts").unwrap_or_default();
        let at = mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            words.next().filter(|_| words.next() == Some("cgroup2"))
        });
        Finding::new(
            "cgroups of version 2",
            at.is_some(),
            at.unwrap_or("not mounted"),
            State::Limited,
            "mount -t cgroup2 none /sys/fs/cgroup, or boot with systemd.unified_cgroup_hierarchy=1; without \
             them, `enable --netns` chooses by network namespace",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not an assertion about this machine: each lack has a remedy, and what is there has none.
    #[test]
    fn each_lack_has_a_remedy() {
        let findings = running_kernel();
        assert!(findings.len() >= 7);
        for finding in findings {
            assert_eq!(finding.remedy.is_empty(), finding.state == State::Has, "{finding:?}");
        }
    }

    #[test]
    fn a_file_that_is_no_btf_is_named() {
        let error = kernel_of_btf(Path::new("/proc/version")).unwrap_err();
        assert!(format!("{error:#}").starts_with("/proc/version: "), "{error:#}");
    }
}
