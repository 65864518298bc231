//! A controller for the processes of one cgroup.

use crate::net::{Loaded, Net, skipped};
use linkpool_linux_control::cgroup;
use linkpool_linux_control::settings::Settings;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

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

#[test]
fn processes_of_a_cgroup_use_the_controller_chosen_for_it() {
    if skipped("processes_of_a_cgroup_use_the_controller_chosen_for_it") {
        return;
    }
    let findings = linkpool_linux_control::check::running_kernel();
    let lack = findings.iter().find(|f| f.what.contains("cgroup") && !f.remedy.is_empty());
    if let Some(lack) = lack {
        return eprintln!("processes_of_a_cgroup_use_the_controller_chosen_for_it skipped: {}", lack.remedy);
    }
    let Some(group) = Group::new() else {
        return eprintln!("processes_of_a_cgroup_use_the_controller_chosen_for_it skipped: no cgroup of version 2");
    };
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
