//! Network namespaces: which there are, doing something in one, and their settings.

use anyhow::{Context, Result, ensure};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

/// A network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    path: PathBuf,
    /// Its inode number, by which the programs tell of it.
    pub inode: u32,
}

impl Namespace {
    /// That of this process.
    pub fn own() -> Result<Namespace> {
        Namespace::at(Path::new("/proc/self/ns/net"))
    }

    /// One that `ip netns` has named.
    pub fn named(name: &str) -> Result<Namespace> {
        ensure!(!name.is_empty() && !name.contains('/'), "{name}: not the name of a network namespace");
        let path = Path::new("/run/netns").join(name);
        ensure!(path.exists(), "no network namespace {name}: `ip netns list` shows all");
        Namespace::at(&path)
    }

    /// That of this inode number, if `ip netns` has named it or a process is in it.
    pub(crate) fn of_inode(inode: u32) -> Option<Namespace> {
        let within = |directory| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let of_processes = within("/proc").map(|process| process.join("ns/net"));
        within("/run/netns").chain(of_processes).filter_map(|path| Namespace::at(&path).ok()).find(|n| n.inode == inode)
    }

    fn at(path: &Path) -> Result<Namespace> {
        let inode = fs::metadata(path).with_context(|| format!("{}", path.display()))?.ino();
        Ok(Namespace { path: path.to_owned(), inode: inode.try_into()? })
    }

    /// Does `work` on a thread that is in the namespace.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let there = File::open(&self.path).with_context(|| format!("{}", self.path.display()))?;
        let own = Namespace::own()?.inode == self.inode;
        let enter = move || {
            if !own {
                move_into_link_name_space(there.as_fd(), Some(LinkNameSpaceType::Network))
                    .context("no right to enter the network namespace: it needs CAP_SYS_ADMIN")?;
            }
            work()
        };
        thread::scope(|scope| scope.spawn(enter).join()).expect("the thread does not panic")
    }

    /// Reads a setting, such as `net/mptcp/enabled`; `None` if this kernel does not have it.
    pub fn setting(&self, name: &str) -> Result<Option<String>> {
        self.within(|| {
            Ok(fs::read_to_string(Path::new("/proc/sys").join(name)).ok().map(|text| text.trim().to_owned()))
        })
    }

    /// Changes a setting.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        let write = || fs::write(Path::new("/proc/sys").join(name), value);
        self.within(|| write().with_context(|| format!("{name} = {value}")))
    }
}
