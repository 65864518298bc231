//! Files that a scenario includes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

/// No included file is larger: 1 GiB.
const MOST_BYTES: u64 = 1 << 30;

/// The text of the file at `path`, or why there is none.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    linkpool_formats::text(bytes(path)?)
}

/// The content of the file at `path`, or why there is none.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |why: std::io::Error| format!("cannot be read: {why}");
    // A pipe could keep the reader waiting for ever, and a device never ends.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err("is not a regular file".to_string());
    }
    read_at_most(File::open(path).map_err(cannot)?, MOST_BYTES)
}

/// What a SHA-256 has come to, in hex.
/// The SHA-256 of `bytes`, in hex, as a key `sha256` has it.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

pub(crate) fn hex(sha256: Sha256) -> String {
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Why a file is not the one that is asked for.
pub(crate) fn check_digest(file: &str, expected: Option<&str>, digest: &str) -> Result<(), String> {
    match expected {
        Some(expected) if expected != digest => {
            Err(format!("{file}: has the SHA-256 {digest}; it is another trace than {expected}"))
        }
        _ => Ok(()),
    }
}

fn read_at_most(file: impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|why| format!("cannot be read: {why}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("is larger than {} MiB, the most that a scenario may include", most >> 20));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_the_bound_and_no_further() {
        assert_eq!(read_at_most(&b"abcd"[..], 4).unwrap(), b"abcd");
        assert!(read_at_most(std::io::repeat(b'x'), 4).unwrap_err().contains("is larger than"));
    }

    #[test]
    fn devices_and_directories_are_refused() {
        for path in ["/dev/zero", "/"] {
            assert_eq!(read(Path::new(path)).unwrap_err(), "is not a regular file", "{path}");
        }
    }
}
