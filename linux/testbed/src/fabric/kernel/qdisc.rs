//! What the kernel tells of the queue of a device, by netlink (`include/uapi/linux/rtnetlink.h`,
//! `pkt_sched.h` and `gen_stats.h`).

use anyhow::{Context as _, Result, ensure};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, bind, recv, send, socket};

const NLMSG_ERROR: u16 = 2;
const RTM_GETQDISC: u16 = 38;
/// A request whose answer comes to the one who asks.
const NLM_F_REQUEST_ECHO: u16 = 1 | 8;
const TC_H_ROOT: u32 = u32::MAX;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
/// struct nlmsghdr and struct tcmsg.
const HEADERS: usize = 16 + 20;

/// The root queue of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Queue {
    /// Sent, with the bytes that the wire has around them.
    pub(super) sent_bytes: u64,
    pub(super) sent_packets: u64,
    /// Waiting.
    pub(super) packets: u32,
    pub(super) bytes: u32,
    pub(super) drops: u32,
    /// How often a packet had to wait.
    pub(super) waits: u32,
}

/// The queues of the devices of a namespace.
#[derive(Debug)]
pub(super) struct Queues {
    socket: OwnedFd,
    answer: Vec<u8>,
}

impl Queues {
    /// Those of the namespace of the calling thread.
    pub(super) fn open() -> Result<Queues> {
        // Protocol 0 is NETLINK_ROUTE.
        let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None).context("netlink")?;
        bind(&socket, &SocketAddrNetlink::new(0, 0)).context("netlink")?;
        Ok(Queues { socket, answer: vec![0; 8192] })
    }

    /// The root queue of the device of this number.
    pub(super) fn read(&mut self, device: u32) -> Result<Queue> {
        let mut request = Vec::with_capacity(HEADERS);
        request.extend((HEADERS as u32).to_ne_bytes());
        request.extend(RTM_GETQDISC.to_ne_bytes().into_iter().chain(NLM_F_REQUEST_ECHO.to_ne_bytes()));
        request.extend([0; 8]);
        // Family, device, handle, parent, info.
        request.extend([0; 4].into_iter().chain(device.to_ne_bytes()).chain([0; 4]));
        request.extend(TC_H_ROOT.to_ne_bytes().into_iter().chain([0; 4]));
        send(&self.socket, &request, SendFlags::empty()).context("netlink")?;
        let (length, _) = recv(&self.socket, &mut self.answer[..], RecvFlags::empty()).context("netlink")?;
        let answer = &self.answer[..length];
        ensure!(length >= HEADERS, "netlink: an answer of {length} bytes");
        if u16_at(answer, 4) == NLMSG_ERROR {
            let error = i32::from_ne_bytes(answer[16..20].try_into()?);
            return Err(Errno::from_raw_os_error(-error)).with_context(|| format!("the queue of device {device}"));
        }
        let stats = attribute(&answer[HEADERS..], TCA_STATS2).context("netlink tells nothing of a queue")?;
        let basic = attribute(stats, TCA_STATS_BASIC).context("netlink does not tell what a queue has sent")?;
        let queue = attribute(stats, TCA_STATS_QUEUE).context("netlink does not tell how long a queue is")?;
        ensure!(basic.len() >= 12 && queue.len() >= 20, "netlink: counters of another kind");
        let number = |from: &[u8], at: usize| u32::from_ne_bytes([from[at], from[at + 1], from[at + 2], from[at + 3]]);
        Ok(Queue {
            sent_bytes: u64::from_ne_bytes(basic[..8].try_into()?),
            sent_packets: number(basic, 8).into(),
            packets: number(queue, 0),
            bytes: number(queue, 4),
            drops: number(queue, 8),
            waits: number(queue, 16),
        })
    }
}

/// The value of the attribute of this kind.
fn attribute(mut all: &[u8], wanted: u16) -> Option<&[u8]> {
    while all.len() >= 4 {
        let (length, kind) = (usize::from(u16_at(all, 0)), u16_at(all, 2));
        let value = all.get(4..length)?;
        if kind & 0x3fff == wanted {
            return Some(value);
        }
        all = all.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}
