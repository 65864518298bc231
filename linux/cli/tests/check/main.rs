//! `linkpool-linux check` on machines that lack something: directories with their `/proc`, `/sys`
//! and `/boot`.

mod btf;

use btf::Btf;
use linkpool_linux_control::check::MEMBERS;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const BTF: &str = "sys/kernel/btf/vmlinux";
const CONFIG: &str = "boot/config-6.12.0-test";
const MPTCP: &str = "proc/sys/net/mptcp/enabled";
const JIT: &str = "proc/sys/net/core/bpf_jit_enable";
const STATUS: &str = "proc/self/status";
const MOUNTS: &str = "proc/self/mounts";
const MANAGERS: &str = "proc/sys/net/mptcp/available_path_managers";
const MANAGER: &str = "proc/sys/net/mptcp/pm_type";

/// The files of a machine.
#[derive(Clone)]
struct Files(BTreeMap<&'static str, Vec<u8>>);

impl Files {
    /// Of one that has all.
    fn of_complete_machine() -> Files {
        Files(BTreeMap::from([
            ("proc/sys/kernel/osrelease", b"6.12.0-test\n".to_vec()),
            (BTF, types(|_, _| true)),
            (CONFIG, b"CONFIG_DEBUG_INFO_BTF=y\nCONFIG_BPF_JIT=y\nCONFIG_MPTCP=y\n".to_vec()),
            (JIT, b"1\n".to_vec()),
            (MPTCP, b"1\n".to_vec()),
            (MANAGERS, b"kernel userspace\n".to_vec()),
            (STATUS, b"Name:\tcheck\nCapEff:\t000000c000001000\n".to_vec()),
            ("proc/sys/net/ipv4/tcp_ecn", b"2\n".to_vec()),
            (MOUNTS, b"proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n".to_vec()),
        ]))
    }

    fn with(mut self, path: &'static str, text: impl Into<Vec<u8>>) -> Files {
        self.0.insert(path, text.into());
        self
    }

    fn without(mut self, path: &'static str) -> Files {
        self.0.remove(path);
        self
    }
}

/// Type information with the structs that `has` wants, and their members: `has` is asked for each
/// struct with an empty name of a member, and then for each member.
fn types(has: impl Fn(&str, &str) -> bool) -> Vec<u8> {
    let mut btf = Btf::new();
    let mut structures: BTreeMap<&str, Vec<(&str, u32)>> = BTreeMap::new();
    for (name, members) in MEMBERS {
        structures.entry(name).or_default().extend(members.iter().map(|member| (*member, 1)));
    }
    let hook = btf.hook(2);
    structures.insert("tcp_congestion_ops", vec![("cong_control", hook)]);
    structures.insert("bpf_struct_ops_tcp_congestion_ops", vec![("data", 1)]);
    structures.insert("cgroup_bpf", vec![("effective", 1)]);
    for (name, members) in structures.into_iter().filter(|(name, _)| has(name, "")) {
        let members: Vec<_> = members.into_iter().filter(|(member, _)| has(name, member)).collect();
        btf.structure(name, &members);
    }
    if has("bpf_rdonly_cast", "") {
        btf.function("bpf_rdonly_cast");
    }
    btf.bytes()
}

/// A directory that goes with the test.
struct Root(PathBuf);

impl Root {
    fn new(files: &Files) -> Root {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("lpcheck-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let root = Root(std::env::temp_dir().join(name));
        for (path, bytes) in &files.0 {
            let path = root.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        root
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What it prints, and its exit code.
fn check(files: &Files) -> (String, Option<i32>) {
    let root = Root::new(files);
    let check = Command::new(env!("CARGO_BIN_EXE_linkpool-linux")).args(["check", "--root"]).arg(&root.0).output();
    let check = check.unwrap();
    assert!(check.stderr.is_empty(), "{}", String::from_utf8_lossy(&check.stderr));
    (String::from_utf8(check.stdout).unwrap(), check.status.code())
}

#[test]
fn a_complete_machine_has_all() {
    let (text, code) = check(&Files::of_complete_machine());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.lines().all(|line| line.starts_with("ok ")), "{text}");
    assert_eq!(text.lines().count(), 12, "{text}");
}

/// Each lack has its two lines, and no other line than these says that something is missing.
#[track_caller]
fn lacks(files: &Files, code: i32, lines: &[(&str, &str)]) {
    let (text, exit) = check(files);
    let wrong: Vec<&str> = text.lines().filter(|line| !line.starts_with("ok ")).collect();
    assert_eq!(wrong.len(), 2 * lines.len(), "{text}");
    for (pair, (found, remedy)) in wrong.chunks(2).zip(lines) {
        assert_eq!(pair[0], *found);
        assert!(pair[1].starts_with(&format!("           remedy: {remedy}")), "{}", pair[1]);
    }
    assert_eq!(exit, Some(code), "{text}");
}

const STRUCT_OPS: (&str, &str) =
    ("LACKS    congestion control in eBPF (struct_ops)", "a kernel with CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y");

#[test]
fn without_type_information() {
    let machine = Files::of_complete_machine().without(BTF);
    let built = "LACKS    type information (BTF): no /sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF is set in \
                 /boot/config-6.12.0-test";
    lacks(&machine, 1, &[(built, "mount -t sysfs sysfs /sys")]);
    let machine = machine.with(CONFIG, "# CONFIG_DEBUG_INFO_BTF is not set\nCONFIG_BPF_JIT=y\nCONFIG_MPTCP=y\n");
    let unset = "LACKS    type information (BTF): no /sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF is not set in \
                 /boot/config-6.12.0-test";
    lacks(&machine, 1, &[(unset, "a kernel with CONFIG_DEBUG_INFO_BTF=y")]);
    let unknown = "LACKS    type information (BTF): no /sys/kernel/btf/vmlinux";
    lacks(&machine.without(CONFIG), 1, &[(unknown, "a kernel with CONFIG_DEBUG_INFO_BTF=y")]);
}

#[test]
fn type_information_that_is_none() {
    let (text, code) = check(&Files::of_complete_machine().with(BTF, "no types"));
    let line = text.lines().find(|line| line.starts_with("LACKS    type information (BTF): ")).unwrap();
    assert!(line.contains("sys/kernel/btf/vmlinux: "), "{line}");
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn without_struct_ops() {
    let machine = Files::of_complete_machine();
    let without = |missing: &'static str| machine.clone().with(BTF, types(|name, _| name != missing));
    lacks(&without("bpf_struct_ops_tcp_congestion_ops"), 1, &[STRUCT_OPS]);
    lacks(&machine.with(BTF, types(|_, member| member != "cong_control")), 1, &[STRUCT_OPS]);
}

#[test]
fn too_old() {
    let casts = ("LACKS    cast of kernel pointers (bpf_rdonly_cast)", "a kernel of 6.2 or newer");
    for (release, is_old) in [("6.1.0-48-cloud-amd64", true), ("5.15.0", true), ("6.2.0-rc1", false), ("10.0", false)] {
        let machine = Files::of_complete_machine().with("proc/sys/kernel/osrelease", format!("{release}\n"));
        let line = format!("LACKS    kernel 6.2 or newer: {release}");
        let expected = (line.as_str(), "install a newer kernel");
        if is_old {
            let machine = machine.with(BTF, types(|name, _| name != "bpf_rdonly_cast"));
            lacks(&machine, 1, &[expected, casts]);
        } else {
            assert_eq!(check(&machine).1, Some(0), "{release}");
        }
    }
}

/// Controllers run on plain TCP there, so this limits, if only the setting is off; without MPTCP's
/// types they do not load.
#[test]
fn without_mptcp() {
    let machine = Files::of_complete_machine();
    let off = ("limited  MPTCP: net.mptcp.enabled = 0", "sysctl -w net.mptcp.enabled=1");
    lacks(&machine.clone().with(MPTCP, "0\n"), 0, &[off]);

    let config = "CONFIG_DEBUG_INFO_BTF=y\nCONFIG_BPF_JIT=y\n# CONFIG_MPTCP is not set\n";
    let not_built = machine.with(CONFIG, config).without(MPTCP).without(MANAGERS);
    let not_built = not_built.with(BTF, types(|name, _| !name.starts_with("mptcp_")));
    let missing: Vec<String> = MEMBERS
        .iter()
        .filter(|(name, _)| name.starts_with("mptcp_"))
        .flat_map(|(name, members)| members.iter().map(move |member| format!("{name}.{member}")))
        .collect();
    let members = format!("LACKS    members of kernel structs: {}", missing.join(", "));
    lacks(
        &not_built,
        1,
        &[
            (&members, "a kernel with CONFIG_MPTCP=y that has these members"),
            (
                "limited  MPTCP: no net.mptcp; CONFIG_MPTCP is not set in /boot/config-6.12.0-test",
                "a kernel with CONFIG_MPTCP=y",
            ),
            ("limited  path manager in user space", "a kernel of 5.19 or newer with CONFIG_MPTCP=y"),
        ],
    );
}

#[test]
fn a_member_that_is_missing_is_named() {
    let machine = Files::of_complete_machine().with(BTF, types(|_, member| member != "delivered_ce"));
    let line = "LACKS    members of kernel structs: tcp_sock.delivered_ce";
    lacks(&machine, 1, &[(line, "a kernel with CONFIG_MPTCP=y that has these members; please report")]);
}

/// The setting has another name before 6.16, and there is none before 5.19.
#[test]
fn path_managers() {
    let machine = Files::of_complete_machine().without(MANAGERS);
    assert_eq!(check(&machine.clone().with(MANAGER, "0\n")).1, Some(0));
    let remedy = "a kernel of 5.19 or newer with CONFIG_MPTCP=y: without it nobody can open or suppress";
    lacks(&machine.clone(), 0, &[("limited  path manager in user space", remedy)]);
    let kernel_only = machine.with(MANAGERS, "kernel\n");
    lacks(&kernel_only, 0, &[("limited  path manager in user space: kernel", remedy)]);
}

/// Network namespaces other than the first do not show the setting.
#[test]
fn without_compiler() {
    let machine = Files::of_complete_machine();
    let off = ("LACKS    BPF compiler (JIT): net.core.bpf_jit_enable = 0", "sysctl -w net.core.bpf_jit_enable=1");
    lacks(&machine.clone().with(JIT, "0\n"), 1, &[off]);
    let hidden = machine.without(JIT);
    assert_eq!(check(&hidden).1, Some(0));
    assert_eq!(check(&hidden.clone().without(CONFIG)).1, Some(0));
    let unset = "CONFIG_DEBUG_INFO_BTF=y\n# CONFIG_BPF_JIT is not set\nCONFIG_MPTCP=y\n";
    let found = "LACKS    BPF compiler (JIT): no net.core.bpf_jit_enable; CONFIG_BPF_JIT is not set in \
                 /boot/config-6.12.0-test";
    lacks(&hidden.with(CONFIG, unset), 1, &[(found, "a kernel with CONFIG_BPF_JIT=y")]);
}

/// CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, and not CAP_NET_ADMIN.
#[test]
fn without_rights() {
    let machine = |bits: u64| Files::of_complete_machine().with(STATUS, format!("CapEff:\t{bits:016x}\n"));
    let (bpf, net_admin, perfmon, admin) = (1 << 39, 1 << 12, 1 << 38, 1 << 21);
    for (held, missing) in [
        (0, "CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON"),
        (bpf | net_admin, "CAP_PERFMON"),
        (perfmon | net_admin, "CAP_BPF"),
        (bpf | perfmon, "CAP_NET_ADMIN"),
        (admin, "CAP_NET_ADMIN"),
    ] {
        let line = format!("LACKS    rights (capabilities): not held: {missing}");
        lacks(&machine(held), 1, &[(&line, "run it as root, e.g. by sudo")]);
    }
    assert_eq!(check(&machine(admin | net_admin)).1, Some(0));
}

#[test]
fn without_cgroups() {
    let machine = Files::of_complete_machine();
    let version_1 = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n";
    let remedy = "mount -t cgroup2 none /sys/fs/cgroup, or boot with systemd.unified_cgroup_hierarchy=1";
    lacks(&machine.clone().with(MOUNTS, version_1), 0, &[("limited  cgroups of version 2: not mounted", remedy)]);
    let no_choice = machine.with(BTF, types(|name, _| name != "cgroup_bpf"));
    let remedy = "a kernel with CONFIG_CGROUP_BPF=y; without it, `enable --netns` chooses";
    lacks(&no_choice, 0, &[("limited  choice by cgroup (`enable --cgroup`)", remedy)]);
}

#[test]
fn receivers_without_ecn() {
    let machine = Files::of_complete_machine().with("proc/sys/net/ipv4/tcp_ecn", "0\n");
    let line = "limited  ECN of incoming connections: net.ipv4.tcp_ecn = 0";
    lacks(&machine, 0, &[(line, "sysctl -w net.ipv4.tcp_ecn=2")]);
}

/// All at once: each has its line still.
#[test]
fn an_empty_machine_lacks_all() {
    let (text, code) = check(&Files(BTreeMap::from([("proc/version", Vec::new())])));
    assert_eq!(code, Some(1), "{text}");
    for what in ["kernel 6.2 or newer", "type information", "MPTCP", "path manager", "rights", "cgroups"] {
        assert!(text.lines().any(|line| !line.starts_with("ok ") && line.contains(what)), "{what}: {text}");
    }
}

/// A directory that is not there is no machine.
#[test]
fn a_root_that_is_not_there_is_an_error() {
    let check = Command::new(env!("CARGO_BIN_EXE_linkpool-linux")).args(["check", "--root", "/nowhere"]).output();
    let check = check.unwrap();
    assert_eq!(check.status.code(), Some(1));
    let said = String::from_utf8(check.stderr).unwrap();
    assert!(said.starts_with("linkpool-linux: /nowhere/proc: "), "{said}");
}
