//! The congestion control of the sockets of a cgroup, chosen by an eBPF program (`sockops`) that is
//! attached to it.

#![allow(unsafe_code, reason = "calls of libbpf and of the kernel")]

use anyhow::{Context, Result, ensure};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{AsRawLibbpf as _, ObjectBuilder, libbpf_sys};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

const PROGRAM: &str = "lp_choose";
/// Where there is cgroup version 2, as `statfs` says (`CGROUP2_SUPER_MAGIC`).
const CGROUP2: i64 = 0x6367_7270;

/// New connections of processes in the cgroup use the congestion control that the kernel calls
/// `name`, instead of what was chosen for it before. The program stays when this process ends,
/// until [`clear`], or until the cgroup is removed.
pub fn choose(cgroup: &Path, name: &str, needs_ecn: bool) -> Result<()> {
    ensure!(name.len() < 16, "{name}: the name of a congestion control has 15 letters at most");
    clear(cgroup)?;
    let directory = open(cgroup)?;
    let mut object = ObjectBuilder::default().open_memory(include_bytes!(concat!(env!("OUT_DIR"), "/choose.o")))?;
    for mut map in object.maps_mut() {
        if map.name().to_string_lossy().ends_with(".rodata") {
            let value = map.initial_value_mut().context("the program has no constants")?;
            value[..name.len()].copy_from_slice(name.as_bytes());
            value[16..20].copy_from_slice(&u32::from(needs_ecn).to_ne_bytes());
        }
    }
    let object = object.load().context("no right to load BPF programs, or a kernel without them")?;
    let program = object.progs().find(|p| p.name() == PROGRAM).context("no program")?;
    // SAFETY: the object and the directory, whose descriptors are given, are open until after the
    // call.
    let done = unsafe {
        let fd = libbpf_sys::bpf_program__fd(program.as_libbpf_object().as_ptr());
        let (kind, flags) = (libbpf_sys::BPF_CGROUP_SOCK_OPS, libbpf_sys::BPF_F_ALLOW_MULTI);
        libbpf_sys::bpf_prog_attach(fd, directory.as_raw_fd(), kind, flags)
    };
    done_or(done).with_context(|| format!("{}: cannot attach a program (CONFIG_CGROUP_BPF)", cgroup.display()))
}

/// Takes back what was chosen for the cgroup. Returns whether anything was.
pub fn clear(cgroup: &Path) -> Result<bool> {
    let directory = open(cgroup)?;
    let mut ids = [0u32; 64];
    let mut count = ids.len() as u32;
    let kind = libbpf_sys::BPF_CGROUP_SOCK_OPS;
    // SAFETY: the kernel writes at most `count` numbers, for which there is room.
    let done = unsafe {
        let flags = std::ptr::null_mut();
        libbpf_sys::bpf_prog_query(directory.as_raw_fd(), kind, 0, flags, ids.as_mut_ptr(), &raw mut count)
    };
    done_or(done).with_context(|| format!("{}: cannot tell its programs", cgroup.display()))?;
    let attached = &ids[..count as usize];
    let own = ProgInfoIter::default().filter(|p| p.name == PROGRAM && attached.contains(&p.id));
    let mut any = false;
    for program in own {
        // SAFETY: these take numbers, and a descriptor that is closed once.
        let done = unsafe {
            let fd = libbpf_sys::bpf_prog_get_fd_by_id(program.id);
            let done = libbpf_sys::bpf_prog_detach2(fd, directory.as_raw_fd(), kind);
            libc::close(fd);
            done
        };
        done_or(done).with_context(|| format!("{}: cannot detach a program", cgroup.display()))?;
        any = true;
    }
    Ok(any)
}

fn open(cgroup: &Path) -> Result<File> {
    let directory = File::open(cgroup).with_context(|| format!("no cgroup {}", cgroup.display()))?;
    let is_one = rustix::fs::fstatfs(&directory).is_ok_and(|s| s.f_type == CGROUP2);
    ensure!(
        is_one,
        "{}: not a cgroup of version 2; name its directory, such as /sys/fs/cgroup/system.slice",
        cgroup.display()
    );
    Ok(directory)
}

/// libbpf returns a negative error number.
fn done_or(done: i32) -> io::Result<()> {
    if done < 0 { Err(io::Error::from_raw_os_error(-done)) } else { Ok(()) }
}
