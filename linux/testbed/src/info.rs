//! What the kernel tells of a connection: `struct tcp_info`, and of MPTCP `struct mptcp_full_info`
//! (include/uapi/linux).

#![allow(unsafe_code, reason = "calls of the kernel")]

use rustix::io::Errno;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd as _};

const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_FULL_INFO: libc::c_int = 4;
/// Subflows that a connection may have, with those that have ended.
const MOST: usize = 32;

/// The beginning of `struct tcp_info`; a kernel that knows less leaves zeros.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpInfo {
    pub(crate) state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    window_scales: u8,
    bits: u8,
    /// us.
    pub(crate) rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    /// Smoothed, us.
    pub(crate) rtt: u32,
    rttvar: u32,
    /// Packets.
    pub(crate) snd_ssthresh: u32,
    /// Packets.
    pub(crate) snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    pub(crate) total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    /// With one each for SYN and FIN.
    pub(crate) bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    /// us.
    pub(crate) min_rtt: u32,
    data_segs_in: u32,
    pub(crate) data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    pub(crate) delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    pub(crate) total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
}

const _: () = assert!(size_of::<TcpInfo>() == 248);

/// TCP_ESTABLISHED of include/net/tcp_states.h.
pub(crate) const ESTABLISHED: u8 = 1;
/// Slow start without a threshold: TCP_INFINITE_SSTHRESH.
pub(crate) const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// `struct mptcp_subflow_info`.
#[repr(C)]
#[derive(Clone, Copy)]
struct SubflowInfo {
    id: u32,
    // The kernel's structure is aligned to 8.
    _pad: u32,
    local: [u8; 128],
    remote: [u8; 128],
}

/// `struct mptcp_full_info`.
#[repr(C)]
struct FullInfo {
    size_tcpinfo_kernel: u32,
    size_tcpinfo_user: u32,
    size_sfinfo_kernel: u32,
    size_sfinfo_user: u32,
    num_subflows: u32,
    size_arrays_user: u32,
    subflow_info: u64,
    tcp_info: u64,
    info: MptcpInfo,
}

/// The beginning of `struct mptcp_info`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct MptcpInfo {
    counts: [u8; 6],
    _pad: [u8; 2],
    flags: u32,
    token: u32,
    write_seq: u64,
    snd_una: u64,
    rcv_nxt: u64,
    locals: [u8; 3],
    _pad2: u8,
    retransmits: u32,
    bytes: [u64; 4],
    subflows_total: u8,
    reserved: [u8; 3],
    last: [u32; 3],
}

/// A subflow of an MPTCP connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subflow {
    /// The sender's port.
    pub(crate) port: u16,
    pub(crate) tcp: TcpInfo,
}

/// Of a TCP connection.
pub(crate) fn tcp(socket: &impl AsFd) -> Result<TcpInfo, Errno> {
    let mut info = TcpInfo::default();
    get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info)?;
    Ok(info)
}

/// The token of an MPTCP connection, by which path managers know it.
pub(crate) fn token(socket: &impl AsFd) -> Result<u32, Errno> {
    let mut info = MptcpInfo::default();
    get(socket, SOL_MPTCP, MPTCP_INFO, &mut info)?;
    Ok(info.token)
}

/// The subflows of an MPTCP connection that have not ended; an error if it has fallen back to TCP.
pub(crate) fn subflows(socket: &impl AsFd) -> Result<Vec<Subflow>, Errno> {
    let mut tcp = [TcpInfo::default(); MOST];
    let mut ends = [SubflowInfo { id: 0, _pad: 0, local: [0; 128], remote: [0; 128] }; MOST];
    let mut full = FullInfo {
        size_tcpinfo_kernel: 0,
        size_tcpinfo_user: size_of::<TcpInfo>() as u32,
        size_sfinfo_kernel: 0,
        size_sfinfo_user: size_of::<SubflowInfo>() as u32,
        num_subflows: 0,
        size_arrays_user: MOST as u32,
        subflow_info: (&raw mut ends) as u64,
        tcp_info: (&raw mut tcp) as u64,
        info: MptcpInfo::default(),
    };
    get(socket, SOL_MPTCP, MPTCP_FULL_INFO, &mut full)?;
    let n = (full.num_subflows as usize).min(MOST);
    let port = |end: &SubflowInfo| u16::from_be_bytes([end.local[2], end.local[3]]);
    Ok(ends[..n].iter().zip(&tcp[..n]).map(|(end, tcp)| Subflow { port: port(end), tcp: *tcp }).collect())
}

/// Bytes that were written to a socket and are not acknowledged.
pub(crate) fn unacknowledged(socket: &impl AsFd) -> Result<u64, Errno> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: SIOCOUTQ (TIOCOUTQ) writes an int, which outlives the call.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if done < 0 { Err(last_error()) } else { Ok(bytes.max(0) as u64) }
}

/// Has the kernel fill `value`, as far as it knows it.
fn get<T>(socket: &impl AsFd, level: libc::c_int, name: libc::c_int, value: &mut T) -> Result<(), Errno> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `length` bytes to `value`, of which any bits are valid;
    // what `FullInfo` points to lives in the caller, and is as long as it says.
    let done = unsafe { libc::getsockopt(fd, level, name, (value as *mut T).cast(), &raw mut length) };
    if done < 0 { Err(last_error()) } else { Ok(()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
