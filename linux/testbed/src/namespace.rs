//! Network namespaces without names: they live as long as this process, whatever ends it, and leave
//! nothing behind.

#![allow(unsafe_code, reason = "a call of the kernel")]

use anyhow::{Context as _, Result, bail, ensure};
use linkpool_linux_control::namespace::Namespace as Named;
use linkpool_linux_control::netlink::PathManager;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::thread;

/// A network namespace.
#[derive(Debug)]
pub(crate) struct Namespace {
    file: OwnedFd,
}

impl Namespace {
    /// Makes one, and has `set_up` run in it.
    pub(crate) fn new<T: Send>(set_up: impl FnOnce() -> Result<T> + Send) -> Result<(Namespace, T)> {
        let made = thread::scope(|scope| {
            let work = move || {
                // SAFETY: only this thread moves, and it shares its file descriptors as before.
                unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
                    .context("cannot make a network namespace (CAP_SYS_ADMIN is needed)")?;
                let file = OwnedFd::from(File::open("/proc/thread-self/ns/net")?);
                Ok((Namespace { file }, set_up()?))
            };
            scope.spawn(work).join()
        });
        made.unwrap_or_else(|_| bail!("the thread that sets a namespace up has panicked"))
    }

    /// Its inode number, by which eBPF programs tell of it.
    pub(crate) fn inode(&self) -> Result<u32> {
        Ok(rustix::fs::fstat(&self.file)?.st_ino.try_into()?)
    }

    /// Its MPTCP path manager.
    pub(crate) fn path_manager(&self) -> Result<PathManager> {
        // What it takes for the namespace of the process is that of this thread, which ends here.
        self.within(|| PathManager::of(&Named::own()?))
    }

    /// Does `work` on a thread that is in it.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let there = || self.enter().and_then(|()| work());
        thread::scope(|scope| scope.spawn(there).join())
            .unwrap_or_else(|_| bail!("the thread in a namespace has panicked"))
    }

    /// A path by which other processes find it while this one has it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Moves the calling thread into it.
    pub(crate) fn enter(&self) -> Result<()> {
        enter(self.file.as_fd())
    }
}

/// The network namespace of the calling thread, to go back to.
pub(crate) fn current() -> Result<Namespace> {
    Ok(Namespace { file: OwnedFd::from(File::open("/proc/thread-self/ns/net")?) })
}

fn enter(file: BorrowedFd<'_>) -> Result<()> {
    move_into_link_name_space(file, Some(LinkNameSpaceType::Network)).context("cannot enter a network namespace")
}

/// Has iproute2 run `commands`, one a line without the word `ip`, in the namespace of the calling
/// thread.
pub(crate) fn ip(commands: &str) -> Result<()> {
    batch("ip", commands)
}

/// The same for `tc`.
pub(crate) fn tc(commands: &str) -> Result<()> {
    batch("tc", commands)
}

fn batch(program: &str, commands: &str) -> Result<()> {
    let mut child = Command::new(program)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {program} (iproute2 is needed)"))?;
    child.stdin.take().context("a pipe to it")?.write_all(commands.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{program}: {}\nin: {commands}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// Sets a variable below /proc/sys, such as `net/ipv4/tcp_ecn`, in the namespace of the calling
/// thread.
pub(crate) fn sysctl(name: &str, value: impl std::fmt::Display) -> Result<()> {
    std::fs::write(format!("/proc/sys/{name}"), value.to_string()).with_context(|| format!("cannot set {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its devices are its own, and the thread that made it stays where it was.
    #[test]
    fn a_namespace_has_devices_of_its_own() {
        if !rustix::process::geteuid().is_root() {
            return eprintln!("skipped: making network namespaces needs root");
        }
        let devices = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap().lines().count();
        let before = devices();
        let (namespace, inside) = Namespace::new(|| {
            ip("link add lp0 type veth peer name lp1")?;
            Ok(devices())
        })
        .unwrap();
        // Two lines of headings, the loopback device and the pair that was made.
        assert_eq!((inside, devices()), (5, before));
        let seen = thread::spawn(move || namespace.enter().map(|()| devices())).join().unwrap().unwrap();
        assert_eq!(seen, 5);
        let error = Namespace::new(|| ip("link add lp0 type nonsense")).unwrap_err().to_string();
        assert!(error.contains("nonsense"), "{error}");
    }
}
