//! A controller for the processes of one cgroup.

use crate::net::{Loaded, Net, mptcp_connect, run, send, skipped};
use linkpool_linux_control::cgroup;
use linkpool_linux_control::namespace::Namespace;
use linkpool_linux_control::settings::Settings;
use std::fs;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A cgroup that goes with the test.
struct Group(PathBuf);

impl Group {
    fn new() -> Option<Group> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let root = mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            let at = words.next()?;
            (words.next()? == "cgroup2").then(|| PathBuf::from(at))
        })?;
        let group = root.join(format!("lptest-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        Some(Group(group))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

const BYTES: u64 = 200_000;

/// Sends them from a process that is in the cgroup.
fn transfer(net: &Net, group: &Group, port: u16) {
    let server = net.serve(port);
    let send = format!("exec 3<>/dev/tcp/10.9.0.2/{port} && head -c {BYTES} /dev/zero >&3");
    // It enters the cgroup first: `ip netns exec` mounts another /sys.
    let enter = format!(
        "echo $$ > {}/cgroup.procs && exec ip netns exec {} bash -c '{send}'",
        group.0.display(),
        net.client_name()
    );
    let done = Command::new("bash").args(["-c", &enter]).status().unwrap();
    assert!(done.success());
    assert_eq!(server.join().unwrap(), BYTES);
}

/// A cgroup, where the kernel and rights allow it.
fn group_for(test: &str) -> Option<Group> {
    if skipped(test) {
        return None;
    }
    let findings = linkpool_linux_control::check::running_kernel();
    if let Some(lack) = findings.iter().find(|f| f.what.contains("cgroup") && !f.remedy.is_empty()) {
        eprintln!("{test} skipped: {}", lack.remedy);
        return None;
    }
    let group = Group::new();
    if group.is_none() {
        eprintln!("{test} skipped: no right to make a cgroup");
    }
    group
}

#[test]
fn processes_of_a_cgroup_use_the_controller_chosen_for_it() {
    let Some(group) = group_for("processes_of_a_cgroup_use_the_controller_chosen_for_it") else { return };
    let net = Net::new(1);
    let [lia, dctcp] = ["lia", "dctcp"].map(|name| Loaded::new(name, &Settings::default()));
    let acks = |loaded: &Loaded| loaded.0.counters().unwrap()[4];
    transfer(&net, &group, 7400);
    assert_eq!((acks(&lia), acks(&dctcp)), (0, 0), "nothing was chosen yet");
    cgroup::choose(&group.0, lia.name(), false).unwrap();
    transfer(&net, &group, 7401);
    let of_lia = acks(&lia);
    assert!(of_lia > 1 && acks(&dctcp) == 0, "{of_lia} ACKs");
    cgroup::choose(&group.0, dctcp.name(), true).unwrap();
    transfer(&net, &group, 7402);
    assert!(acks(&dctcp) > 1 && acks(&lia) == of_lia, "the second choice takes the place of the first");
    assert!(cgroup::clear(&group.0).unwrap());
    assert!(!cgroup::clear(&group.0).unwrap(), "nothing is left");
    let of_dctcp = acks(&dctcp);
    transfer(&net, &group, 7403);
    assert_eq!((acks(&lia), acks(&dctcp)), (of_lia, of_dctcp));
    assert_eq!(lia.0.counters().unwrap()[2..4], [0, 0]);

    let error = cgroup::choose(std::path::Path::new("/tmp"), lia.name(), false).unwrap_err().to_string();
    assert!(error.contains("/tmp: not a cgroup of version 2"), "{error}");
}

/// What the process below is to do: the namespace, and the port of the server.
const TASK: &str = "LINKPOOL_TEST_CGROUP_TASK";

/// A process of its own, since a cgroup has processes and not threads: connects, sends, and stays
/// until its input ends. Does nothing as a test.
#[test]
fn a_process_that_sends_over_mptcp() {
    let Ok(task) = std::env::var(TASK) else { return };
    let (namespace, port) = task.split_once(' ').unwrap();
    let address = (Ipv4Addr::new(10, 9, 0, 2), port.parse().unwrap()).into();
    let mut stream = Namespace::named(namespace).unwrap().within(|| Ok(mptcp_connect(address))).unwrap();
    for _ in 0..20 {
        send(&mut stream, BYTES / 20);
        sleep(Duration::from_millis(50));
    }
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// That process; it ends with the test.
struct Sender(Child);

impl Sender {
    /// In `group`, or outside.
    fn new(net: &Net, group: Option<&Group>, port: u16) -> Sender {
        let enter = group.map_or(String::new(), |group| format!("echo $$ > {}/cgroup.procs && ", group.0.display()));
        let child = Command::new("bash")
            .args(["-c", &format!("{enter}exec \"$0\" --exact cgroup::a_process_that_sends_over_mptcp")])
            .arg(std::env::current_exe().unwrap())
            .env(TASK, format!("{} {port}", net.client_name()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        Sender(child.unwrap())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The congestion control of each subflow to `port` that the client's namespace has, as the kernel
/// tells it, once there are so many.
fn controls(net: &Net, port: u16, subflows: usize) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let listed = run(&format!("ip netns exec {} ss -tinOH state established dport = :{port}", net.client_name()));
        // The first word after the ends of the connection; `ts` and `sack` may come before it.
        let known = run("sysctl -n net.ipv4.tcp_available_congestion_control");
        let control = |line: &str| {
            line.split_whitespace()
                .find(|word| word.starts_with("lpt") || known.split_whitespace().any(|k| k == *word))
                .map(str::to_owned)
        };
        let found: Vec<String> = listed.lines().filter_map(control).collect();
        if found.len() == subflows {
            return found;
        }
        assert!(Instant::now() < end, "{found:?} of {subflows} subflows: {listed}");
        sleep(Duration::from_millis(20));
    }
}

/// Two connections of MPTCP with three subflows each, side by side: the choice holds for all
/// subflows of the one that a process of the cgroup opened, also for those that the kernel opened
/// for it, and for none of the other. It does not matter that the servers use what their namespace
/// has.
#[test]
fn all_subflows_of_a_cgroup_use_the_controller_chosen_for_it() {
    let Some(group) = group_for("all_subflows_of_a_cgroup_use_the_controller_chosen_for_it") else { return };
    let net = Net::new(3);
    let lia = Loaded::new("lia", &Settings::default());
    net.enable("reno");
    net.subflow_on_each_link(3);
    cgroup::choose(&group.0, lia.name(), false).unwrap();
    let servers = [7500, 7501].map(|port| net.serve(port));
    let senders = [Sender::new(&net, Some(&group), 7500), Sender::new(&net, None, 7501)];
    assert_eq!(controls(&net, 7500, 3), [lia.name(); 3]);
    assert_eq!(controls(&net, 7501, 3), ["reno"; 3]);
    let coupled: Vec<_> = lia.0.connections().unwrap().into_iter().map(|(_, entry)| entry.conn).collect();
    let [conn] = &coupled[..] else { panic!("one connection, of the cgroup's process: {coupled:?}") };
    assert_eq!((conn.netns, conn.subflows), (net.client.inode, 3));
    drop(senders);
    assert_eq!(servers.map(|server| server.join().unwrap()), [BYTES; 2]);
    assert_eq!(lia.0.counters().unwrap()[2..4], [0, 0], "no window out of bounds, no subflow alone");
}
