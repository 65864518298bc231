//! Taking a namespace's path manager over, and giving it back, also after a daemon that was killed.
//!
//! A note for each namespace says which path manager there was before. The daemon that serves the
//! namespace has the note locked.

use super::notes;
use crate::namespace::Namespace;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

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
        let _alone = notes::alone()?;
        let taken = namespaces.iter().map(Takeover::of).collect::<Result<Vec<_>>>()?;
        clean_up()?;
        Ok(taken)
    }

    fn of(namespace: &Namespace) -> Result<Takeover> {
        let (name, ours) = setting(namespace)?;
        let now = namespace.setting(name)?.context("this kernel has no path manager in user space (5.19 or newer)")?;
        let path = notes::note(&format!("{NOTE}{}", namespace.inode));
        let (note, text) = notes::open(&path, true)?;
        ensure!(
            notes::lock(&note),
            "another daemon serves this network namespace; end it first, or name others by --netns"
        );
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
    for (path, inode) in notes::all(NOTE)? {
        let Ok((note, before)) = notes::open(&path, false) else { continue }; // its daemon has just ended
        if !notes::lock(&note) {
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
