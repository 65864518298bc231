//! Network namespaces: which there are, doing something in one, and their settings.

use anyhow::{Context, Result, ensure};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

/// The controller of new connections in a namespace.
pub const DEFAULT: &str = "net/ipv4/tcp_congestion_control";

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
        Namespace::found().find(|n| n.inode == inode)
    }

    /// All that `ip netns` has named or a process is in; those of several processes come again.
    fn found() -> impl Iterator<Item = Namespace> {
        let within = |directory| fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let of_processes = within("/proc").map(|process| process.join("ns/net"));
        within("/run/netns").chain(of_processes).filter_map(|path| Namespace::at(&path).ok())
    }

    /// The namespaces whose new connections use the controller `name`, each once, in words.
    /// Namespaces that it has no right to look into are left out.
    pub fn that_use(name: &str) -> Vec<String> {
        let own = Namespace::own().ok().map(|own| own.inode);
        let mut seen = HashSet::new();
        let uses = |n: &Namespace| n.setting(DEFAULT).is_ok_and(|set| set.as_deref() == Some(name));
        let all = Namespace::found().filter(|n| seen.insert(n.inode) && uses(n));
        all.map(|n| if Some(n.inode) == own { "the one it runs in".to_owned() } else { n.described() }).collect()
    }

    /// Its name by `ip netns`, or a process that is in it.
    fn described(&self) -> String {
        let named = self.path.strip_prefix("/run/netns").ok().map(|name| name.display().to_string());
        named.unwrap_or_else(|| {
            let process = self.path.ancestors().nth(2).unwrap_or(&self.path);
            let number = process.file_name().unwrap_or_default().display();
            let command = fs::read_to_string(process.join("comm")).unwrap_or_default();
            format!("that of process {number} ({})", command.trim())
        })
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
        self.within(|| {
            write().or_else(|error| {
                ensure!(
                    error.kind() != io::ErrorKind::PermissionDenied,
                    "no right to set {} (CAP_NET_ADMIN): run it as root, e.g. by sudo",
                    name.replace('/', ".")
                );
                Err(error).with_context(|| format!("{name} = {value}"))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_without_a_name_is_that_of_a_process() {
        let number = std::process::id();
        let of_process = Namespace::at(Path::new(&format!("/proc/{number}/ns/net"))).unwrap();
        let command = fs::read_to_string("/proc/self/comm").unwrap();
        assert_eq!(of_process.described(), format!("that of process {number} ({})", command.trim()));
        let named = Namespace { path: "/run/netns/blue".into(), inode: 1 };
        assert_eq!(named.described(), "blue");
    }
}
