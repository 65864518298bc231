//! Notes of daemons in a directory, and locks on them.
//!
//! A lock goes with its process, whatever ends it. So a note without a lock is that of a daemon
//! that was killed. Whoever can open a file, if only to read it, can lock it: nobody else may enter
//! the directory, or any user could keep daemons from starting.

use anyhow::{Context, Result, ensure};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Where the notes are.
pub(super) const DIRECTORY: &str = "/run/linkpool";

/// The note of this name.
pub(super) fn note(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

/// While the result lives, no other daemon makes notes or removes some: so a note that is not
/// locked is that of a killed one. Makes the directory if it is not there.
pub(super) fn alone() -> Result<File> {
    make_private(Path::new(DIRECTORY)).context(DIRECTORY)?;
    let file = open(&note("lock"), true)?.0;
    flock(&file, FlockOperation::LockExclusive).context(DIRECTORY)?;
    Ok(file)
}

/// The access of the directory: its owner's alone.
const PRIVATE: u32 = 0o700;

/// Makes a directory that others cannot enter, or closes one that is there.
fn make_private(directory: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE).create(directory)?;
    let found = fs::symlink_metadata(directory)?;
    ensure!(found.is_dir(), "is a link; remove it, the daemon makes a directory of its own");
    ensure!(
        found.uid() == geteuid().as_raw(),
        "belongs to another user, who could keep the daemon from starting; remove it"
    );
    if found.mode() & !PRIVATE & 0o777 != 0 {
        fs::set_permissions(directory, Permissions::from_mode(PRIVATE))?;
    }
    Ok(())
}

/// The notes whose names begin with `prefix`, each with the number that follows.
pub(super) fn all(prefix: &str) -> Result<Vec<(PathBuf, u32)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(DIRECTORY).context(DIRECTORY)? {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix(prefix)?.parse().ok());
        found.extend(number.map(|number| (path, number)));
    }
    Ok(found)
}

/// Opens a note, or creates it if `create`, and reads it.
pub(super) fn open(path: &Path, create: bool) -> Result<(File, String)> {
    let open = File::options().read(true).write(true).create(create).truncate(false).open(path);
    let mut note = open.with_context(|| format!("{}", path.display()))?;
    let mut text = String::new();
    note.read_to_string(&mut text)?;
    Ok((note, text))
}

/// Locks a note. Returns false if another daemon has it locked.
pub(super) fn lock(note: &File) -> bool {
    flock(note, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_cannot_enter_the_directory_of_notes() {
        let folder = std::env::temp_dir().join(format!("linkpool-notes-{}", std::process::id()));
        let access = |directory: &Path| fs::metadata(directory).unwrap().mode() & 0o777;
        let new = folder.join("new");
        make_private(&new).unwrap();
        assert_eq!(access(&new), 0o700);
        // As versions before made it.
        fs::set_permissions(&new, Permissions::from_mode(0o755)).unwrap();
        fs::write(new.join("lock"), "").unwrap();
        make_private(&new).unwrap();
        assert_eq!(access(&new), 0o700);
        assert!(new.join("lock").exists());
        let link = folder.join("link");
        std::os::unix::fs::symlink(&new, &link).unwrap();
        assert!(make_private(&link).unwrap_err().to_string().starts_with("is a link"));
        if geteuid().is_root() {
            std::os::unix::fs::chown(&new, Some(12345), None).unwrap();
            assert!(make_private(&new).unwrap_err().to_string().starts_with("belongs to another user"));
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
