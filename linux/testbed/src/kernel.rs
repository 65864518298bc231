//! What the kernel of this machine is and has.

use anyhow::{Context as _, Result, ensure};
use linkpool_transport::SendBuffer;
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

/// Has the kernel this congestion control algorithm itself?
pub(crate) fn has_algorithm(name: &str) -> Result<bool> {
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .context("cannot read which congestion control algorithms the kernel has")?;
    Ok(available.split_whitespace().any(|known| known == name))
}

/// Has it MPTCP with a path manager in user space?
pub(crate) fn has_mptcp() -> bool {
    std::fs::read_to_string("/proc/sys/net/mptcp/pm_type").is_ok()
}

/// The send buffer that it gives to a new connection, bytes: one over the loopback device whose
/// segments have `mss` bytes of payload, and timestamps.
pub(crate) fn first_send_buffer(mss: u16) -> Result<u64> {
    let socket = || -> Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_tcp_mss(u32::from(mss) + 12)?;
        Ok(socket)
    };
    let (listener, sender) = (socket()?, socket()?);
    // BBR asks for more than other algorithms do.
    sender.set_tcp_congestion(b"reno")?;
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    listener.listen(1)?;
    sender.connect(&listener.local_addr()?)?;
    Ok(sender.send_buffer_size()? as u64)
}

/// The memory that this kernel counts in send buffers for the headers of a packet, by the size with
/// which they begin; none: neither of the two that there are.
pub(crate) fn send_buffer_headers(mss: u16) -> Option<u32> {
    let first = first_send_buffer(mss).ok()?;
    [256, 320].into_iter().find(|&headers| SendBuffer::first(mss, headers) == first)
}

/// Its release, such as `6.18.44`.
pub(crate) fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Lines of its log that tell of a fault in it.
pub(crate) fn complaints() -> Result<Vec<String>> {
    let log = Command::new("dmesg").output().context("cannot run dmesg (util-linux is needed)")?;
    ensure!(log.status.success(), "dmesg: {}", String::from_utf8_lossy(&log.stderr).trim());
    let faults = ["WARNING:", "BUG:", "Oops", "general protection", "Call Trace"];
    let log = String::from_utf8_lossy(&log.stdout);
    Ok(log.lines().filter(|line| faults.iter().any(|fault| line.contains(fault))).map(str::to_string).collect())
}
