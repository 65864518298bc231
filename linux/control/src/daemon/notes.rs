//! Notes of daemons in a directory, and locks on them.
//!
//! A lock goes with its process, whatever ends it. So a note without a lock is that of a daemon
//! that was killed.

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::Read as _;
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
    fs::create_dir_all(DIRECTORY).context(DIRECTORY)?;
    let file = open(&note("lock"), true)?.0;
    flock(&file, FlockOperation::LockExclusive).context(DIRECTORY)?;
    Ok(file)
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
