//! Taking a namespace's path manager over, and giving it back, also after a daemon that was killed.
//!
//! A note for each namespace says which path manager there was before. The daemon that serves the
//! namespace has the note locked, and a lock goes with its process, whatever ends it. So a note
//! without a lock is that of a daemon that was killed.

use crate::namespace::Namespace;
use anyhow::{Context, Result, ensure};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "/run/linkpool";
const NOTE: &str = "path-manager-";

/// While it lives, new connections of the namespace are under the path manager in user space.
pub(super) struct Takeover {
    /// The setting, open: entering the namespace again may not be allowed any more.
    setting: File,
    before: String,
    path: PathBuf,
    /// Open for its lock.
    _note: File,
}

impl Takeover {
    /// Takes `namespaces` over. First gives back what daemons had taken over that were killed, if
    /// it is not among these. Errors: another daemon serves one of them, or no right to.
    pub(super) fn of_all(namespaces: &[Namespace]) -> Result<Vec<Takeover>> {
        fs::create_dir_all(DIRECTORY).context(DIRECTORY)?;
        // One daemon at a time: a note that is not locked yet is not that of a killed one.
        let one_at_a_time = open_note(&Path::new(DIRECTORY).join("lock"), true)?.0;
        flock(&one_at_a_time, FlockOperation::LockExclusive).context(DIRECTORY)?;
        let taken = namespaces.iter().map(Takeover::of).collect::<Result<Vec<_>>>()?;
        clean_up()?;
        Ok(taken)
    }

    fn of(namespace: &Namespace) -> Result<Takeover> {
        let (name, ours) = setting(namespace)?;
        let now = namespace.setting(name)?.context("this kernel has no path manager in user space (5.19 or newer)")?;
        let path = Path::new(DIRECTORY).join(format!("{NOTE}{}", namespace.inode));
        let (note, text) = open_note(&path, true)?;
        ensure!(lock(&note), "another daemon serves this network namespace; end it first, or name others by --netns");
        // A daemon that was killed has left what there was before it.
        let before = if now == ours && !text.trim().is_empty() { text.trim().to_owned() } else { now };
        note.set_len(0)?;
        note.write_all_at(before.as_bytes(), 0).with_context(|| format!("{}", path.display()))?;
        let mut setting = namespace.within(|| open_setting(name))?;
        setting.write_all(ours.as_bytes()).with_context(|| format!("{name} = {ours}"))?;
        Ok(Takeover { setting, before, path, _note: note })
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        // The namespace may have gone.
        let _ = self.setting.write_at(self.before.as_bytes(), 0);
        let _ = fs::remove_file(&self.path);
    }
}

/// Gives path managers back that daemons which were killed had taken over, and removes their notes.
fn clean_up() -> Result<()> {
    for entry in fs::read_dir(DIRECTORY).context(DIRECTORY)? {
        let path = entry?.path();
        let inode = path.file_name().and_then(|name| name.to_str()?.strip_prefix(NOTE)?.parse().ok());
        let Some(inode) = inode else { continue };
        let Ok((note, before)) = open_note(&path, false) else { continue }; // its daemon has just ended
        if !lock(&note) {
            continue; // its daemon serves
        }
        if let Some(namespace) = Namespace::of_inode(inode) {
            let (name, ours) = setting(&namespace)?;
            if namespace.setting(name)?.as_deref() == Some(ours) && !before.trim().is_empty() {
                namespace.set(name, before.trim())?;
            }
        }
        let _ = fs::remove_file(&path); // it may be gone
    }
    Ok(())
}

/// The setting that says which path manager new connections have, and its value for that in user
/// space: 6.16 calls it by name; before it was a number.
fn setting(namespace: &Namespace) -> Result<(&'static str, &'static str)> {
    Ok(match namespace.setting("net/mptcp/path_manager")? {
        Some(_) => ("net/mptcp/path_manager", "userspace"),
        None => ("net/mptcp/pm_type", "1"),
    })
}

fn open_setting(name: &str) -> Result<File> {
    let path = Path::new("/proc/sys").join(name);
    File::options().write(true).open(&path).with_context(|| format!("{}", path.display()))
}

/// Opens a note, or creates it if `create`, and reads it.
fn open_note(path: &Path, create: bool) -> Result<(File, String)> {
    let open = File::options().read(true).write(true).create(create).truncate(false).open(path);
    let mut note = open.with_context(|| format!("{}", path.display()))?;
    let mut text = String::new();
    note.read_to_string(&mut text)?;
    Ok((note, text))
}

/// Locks a note. Returns false if a daemon has it locked.
fn lock(note: &File) -> bool {
    flock(note, FlockOperation::NonBlockingLockExclusive).is_ok()
}
