//! Taking a namespace's path manager over, and giving it back, also after a daemon that was killed.

use crate::namespace::Namespace;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "/run/linkpool";

/// While it lives, new connections of the namespace are under the path manager in user space.
pub(super) struct Takeover {
    /// The setting, open: entering the namespace again may not be allowed any more.
    setting: File,
    before: String,
    note: PathBuf,
}

impl Takeover {
    pub(super) fn of(namespace: &Namespace) -> Result<Takeover> {
        // 6.16 calls it by name; before it was a number.
        let (setting, ours) = match namespace.setting("net/mptcp/path_manager")? {
            Some(_) => ("net/mptcp/path_manager", "userspace"),
            None => ("net/mptcp/pm_type", "1"),
        };
        let now =
            namespace.setting(setting)?.context("this kernel has no path manager in user space (5.19 or newer)")?;
        let note = PathBuf::from(DIRECTORY).join(format!("path-manager-{}", namespace.inode));
        // A daemon that was killed has left what there was before it.
        let before = match fs::read_to_string(&note) {
            Ok(text) if now == ours => text.trim().to_owned(),
            _ => now,
        };
        fs::create_dir_all(DIRECTORY).context(DIRECTORY)?;
        fs::write(&note, &before).with_context(|| format!("{}", note.display()))?;
        let path = Path::new("/proc/sys").join(setting);
        let open = || File::options().write(true).open(&path).with_context(|| format!("{}", path.display()));
        let mut setting = namespace.within(open)?;
        setting.write_all(ours.as_bytes()).with_context(|| format!("{} = {ours}", path.display()))?;
        Ok(Takeover { setting, before, note })
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        // The namespace may have gone.
        let _ = self.setting.write_at(self.before.as_bytes(), 0);
        let _ = fs::remove_file(&self.note);
    }
}
