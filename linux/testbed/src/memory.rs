//! A limit to the kernel memory of sockets: a control group of the memory controller, version 1,
//! for the sockets that a thread makes while it is in it (`memory.kmem.tcp.limit_in_bytes`).

use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Groups are called this, the number of their process, and a number.
const PREFIX: &str = "linkpool-";
const LIMIT: &str = "memory.kmem.tcp.limit_in_bytes";

/// A control group. It goes when it is dropped; that of a process that was killed goes with the
/// next run.
#[derive(Debug)]
pub(crate) struct Memory {
    group: PathBuf,
    home: PathBuf,
}

impl Memory {
    /// Makes the `number`-th of this process, for sockets of `limit` bytes in all. None: this
    /// machine has no such groups.
    pub(crate) fn new(number: usize, limit: u64) -> Result<Option<Memory>> {
        let Some(home) = home()? else { return Ok(None) };
        remove_abandoned(&home);
        let group = home.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&group).with_context(|| format!("cannot make the control group {}", group.display()))?;
        let memory = Memory { group, home };
        let file = memory.group.join(LIMIT);
        fs::write(&file, limit.to_string()).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Some(memory))
    }

    /// Runs `work`; the sockets that it makes are of the group.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        enter(&self.group)?;
        let done = work();
        enter(&self.home)?;
        done
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Err(e) = fs::remove_dir(&self.group) {
            eprintln!("cannot remove the control group {}: {e}", self.group.display());
        }
    }
}

/// Moves the calling thread.
fn enter(group: &Path) -> Result<()> {
    fs::write(group.join("tasks"), "0").with_context(|| format!("cannot enter the control group {}", group.display()))
}

/// The group of this process; none: there is none that limits the memory of sockets.
fn home() -> Result<Option<PathBuf>> {
    let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read which control groups there are")?;
    let groups = fs::read_to_string("/proc/self/cgroup").context("cannot read the control groups of this process")?;
    let is_memory = |list: &str| list.split(',').any(|controller| controller == "memory");
    let mount = mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        (fields.len() > 3 && fields[2] == "cgroup" && is_memory(fields[3])).then(|| fields[1])
    });
    let own = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        is_memory(controllers).then_some(path)
    });
    let (Some(mount), Some(own)) = (mount, own) else { return Ok(None) };
    let home = Path::new(mount).join(own.trim_start_matches('/'));
    Ok(home.join(LIMIT).exists().then_some(home))
}

/// Removes groups whose process is no more.
fn remove_abandoned(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()) else { continue };
        if !Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir(entry.path()); // another run may have been first
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups are made, entered, and removed, those of processes that are gone too.
    #[test]
    fn a_group_comes_and_goes() {
        if !rustix::process::geteuid().is_root() {
            return eprintln!("skipped: control groups need root");
        }
        let Some(memory) = Memory::new(0, 1 << 20).unwrap() else {
            return eprintln!("skipped: no control groups with {LIMIT}");
        };
        let gone = memory.home.join(format!("{PREFIX}{}-7", u32::MAX));
        fs::create_dir(&gone).unwrap();
        let group = memory.group.clone();
        let inside = memory.within(|| Ok(fs::read_to_string("/proc/thread-self/cgroup")?)).unwrap();
        assert!(inside.contains(group.file_name().unwrap().to_str().unwrap()), "{inside}");
        let second = Memory::new(1, 1 << 20).unwrap().unwrap();
        assert!(!gone.exists() && second.group.exists());
        drop((memory, second));
        assert!(!group.exists());
    }
}
