//! TUN devices: what the kernel sends on one is read from a file, and what is written to the file
//! the kernel receives.

#![allow(unsafe_code, reason = "calls of the kernel")]

use crate::ends::DEVICE;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;

/// A TUN device without packet information: what is read and written are IP packets. It goes with
/// its file.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
}

impl Tun {
    /// Makes [`DEVICE`] in the namespace of the calling thread.
    pub(crate) fn new() -> Result<Tun> {
        let mut options = File::options();
        options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
        let file = options.open("/dev/net/tun").context("cannot open /dev/net/tun")?;
        // SAFETY: an interface request is plain data, for which zeros are valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes an interface request, which outlives the call.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if done < 0 {
            return Err(std::io::Error::last_os_error()).context("cannot make a TUN device (CAP_NET_ADMIN is needed)");
        }
        Ok(Tun { file })
    }

    /// The next packet that the kernel has sent; none: there is none yet.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e).context("cannot read from a TUN device"),
        }
    }

    /// Has the kernel receive `packet`.
    pub(crate) fn write(&self, packet: &[u8]) -> Result<()> {
        (&self.file).write_all(packet).context("cannot write to a TUN device")
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
