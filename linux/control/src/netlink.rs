//! Netlink to the kernel's MPTCP path manager (`include/uapi/linux/mptcp_pm.h`): opens, removes,
//! and suppresses subflows of single connections, in one network namespace.
//!
//! Messages are few and small, and each is waited for; so they are written here into one buffer,
//! which costs no allocation between a BPF event and a suppression.

use crate::address;
use crate::intf::Path;
use crate::namespace::Namespace;
use anyhow::{Context, Result, bail, ensure};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, bind, recv, send, socket};
use std::net::{IpAddr, SocketAddr};

const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NLA_F_NESTED: u16 = 1 << 15;

const MPTCP_PM_CMD_SET_FLAGS: u8 = 7;
const MPTCP_PM_CMD_SUBFLOW_CREATE: u8 = 10;
const MPTCP_PM_CMD_SUBFLOW_DESTROY: u8 = 11;
const MPTCP_PM_ATTR_ADDR: u16 = 1;
const MPTCP_PM_ATTR_TOKEN: u16 = 4;
const MPTCP_PM_ATTR_ADDR_REMOTE: u16 = 6;
const MPTCP_PM_ADDR_ATTR_FAMILY: u16 = 1;
const MPTCP_PM_ADDR_ATTR_ID: u16 = 2;
const MPTCP_PM_ADDR_ATTR_ADDR4: u16 = 3;
const MPTCP_PM_ADDR_ATTR_ADDR6: u16 = 4;
const MPTCP_PM_ADDR_ATTR_PORT: u16 = 5;
const MPTCP_PM_ADDR_ATTR_FLAGS: u16 = 6;
const MPTCP_PM_ADDR_FLAG_SUBFLOW: u32 = 2;
const MPTCP_PM_ADDR_FLAG_BACKUP: u32 = 4;

/// The path manager of one network namespace. Connections must be under the path manager in user
/// space (`net.mptcp.path_manager = userspace` when they began).
#[derive(Debug)]
pub struct PathManager {
    socket: OwnedFd,
    family: u16,
    buffer: Vec<u8>,
    answer: Vec<u8>,
}

impl PathManager {
    /// Opens it. Errors: no right to enter the namespace, or a kernel without MPTCP.
    pub fn of(namespace: &Namespace) -> Result<PathManager> {
        let socket = namespace.within(|| {
            let socket = socket(AddressFamily::NETLINK, SocketType::RAW, Some(GENERIC)).context("netlink")?;
            bind(&socket, &SocketAddrNetlink::new(0, 0)).context("netlink")?;
            Ok(socket)
        })?;
        let mut manager = PathManager { socket, family: 0, buffer: Vec::with_capacity(256), answer: vec![0; 8192] };
        manager.family = manager.resolve("mptcp_pm").context("this kernel has no MPTCP path manager (CONFIG_MPTCP)")?;
        Ok(manager)
    }

    /// Suppresses a subflow or releases it: a backup subflow gets no new data while there is
    /// another.
    pub fn set_backup(&mut self, token: u32, path: &Path, backup: bool) -> Result<()> {
        let (local, remote) = (address::of(path.family, &path.local), address::of(path.family, &path.remote));
        let flags = if backup { MPTCP_PM_ADDR_FLAG_BACKUP } else { 0 };
        self.begin(self.family, MPTCP_PM_CMD_SET_FLAGS, NLM_F_REQUEST | NLM_F_ACK);
        self.put(MPTCP_PM_ATTR_TOKEN, &token.to_ne_bytes());
        self.put_address(MPTCP_PM_ATTR_ADDR, local, Some(path.local.id), Some(flags));
        self.put_address(MPTCP_PM_ATTR_ADDR_REMOTE, remote, None, None);
        self.ask().context("suppress a subflow")
    }

    /// Opens a subflow from `local`, whose port may be 0, under the address identifier `id`.
    pub fn create(&mut self, token: u32, local: SocketAddr, id: u8, remote: SocketAddr) -> Result<()> {
        self.begin(self.family, MPTCP_PM_CMD_SUBFLOW_CREATE, NLM_F_REQUEST | NLM_F_ACK);
        self.put(MPTCP_PM_ATTR_TOKEN, &token.to_ne_bytes());
        self.put_address(MPTCP_PM_ATTR_ADDR, local, Some(id), Some(MPTCP_PM_ADDR_FLAG_SUBFLOW));
        self.put_address(MPTCP_PM_ATTR_ADDR_REMOTE, remote, None, None);
        self.ask().with_context(|| format!("open a subflow from {local} to {remote}"))
    }

    /// Closes a subflow.
    pub fn destroy(&mut self, token: u32, local: SocketAddr, remote: SocketAddr) -> Result<()> {
        self.begin(self.family, MPTCP_PM_CMD_SUBFLOW_DESTROY, NLM_F_REQUEST | NLM_F_ACK);
        self.put(MPTCP_PM_ATTR_TOKEN, &token.to_ne_bytes());
        self.put_address(MPTCP_PM_ATTR_ADDR, local, None, None);
        self.put_address(MPTCP_PM_ATTR_ADDR_REMOTE, remote, None, None);
        self.ask().with_context(|| format!("close the subflow from {local} to {remote}"))
    }

    fn resolve(&mut self, name: &str) -> Result<u16> {
        self.begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_REQUEST);
        self.put(CTRL_ATTR_FAMILY_NAME, &[name.as_bytes(), &[0]].concat());
        let length = self.exchange()?;
        let message = &self.answer[..length];
        ensure!(message.len() > 20 && u16_at(message, 4) != NLMSG_ERROR, "no family {name}");
        let mut attributes = &message[20..];
        while attributes.len() >= 4 {
            let (length, kind) = (usize::from(u16_at(attributes, 0)), u16_at(attributes, 2));
            ensure!(length >= 4 && length <= attributes.len(), "an attribute of {length} bytes");
            if kind == CTRL_ATTR_FAMILY_ID {
                return Ok(u16_at(attributes, 4));
            }
            attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
        }
        bail!("no number of family {name}")
    }

    /// struct nlmsghdr (16 bytes), then struct genlmsghdr (4 bytes).
    fn begin(&mut self, family: u16, command: u8, flags: u16) {
        self.buffer.clear();
        self.buffer.extend([0; 4]);
        self.buffer.extend(family.to_ne_bytes());
        self.buffer.extend(flags.to_ne_bytes());
        self.buffer.extend([0; 8]);
        self.buffer.extend([command, 1, 0, 0]);
    }

    fn put(&mut self, kind: u16, value: &[u8]) {
        self.buffer.extend(((value.len() + 4) as u16).to_ne_bytes());
        self.buffer.extend(kind.to_ne_bytes());
        self.buffer.extend(value);
        self.buffer.resize(self.buffer.len().next_multiple_of(4), 0);
    }

    fn put_address(&mut self, kind: u16, address: SocketAddr, id: Option<u8>, flags: Option<u32>) {
        let start = self.buffer.len();
        self.put(kind | NLA_F_NESTED, &[]);
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        self.put(MPTCP_PM_ADDR_ATTR_FAMILY, &family.as_raw().to_ne_bytes());
        match address.ip() {
            IpAddr::V4(ip) => self.put(MPTCP_PM_ADDR_ATTR_ADDR4, &ip.octets()),
            IpAddr::V6(ip) => self.put(MPTCP_PM_ADDR_ATTR_ADDR6, &ip.octets()),
        }
        if address.port() != 0 {
            self.put(MPTCP_PM_ADDR_ATTR_PORT, &address.port().to_ne_bytes());
        }
        if let Some(id) = id {
            self.put(MPTCP_PM_ADDR_ATTR_ID, &[id]);
        }
        if let Some(flags) = flags {
            self.put(MPTCP_PM_ADDR_ATTR_FLAGS, &flags.to_ne_bytes());
        }
        let length = (self.buffer.len() - start) as u16;
        self.buffer[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }

    /// Sends what is in the buffer and waits for the answer: how long it is.
    fn exchange(&mut self) -> Result<usize> {
        let length = self.buffer.len() as u32;
        self.buffer[..4].copy_from_slice(&length.to_ne_bytes());
        send(&self.socket, &self.buffer, SendFlags::empty()).context("netlink")?;
        let (length, _) = recv(&self.socket, &mut self.answer[..], RecvFlags::empty()).context("netlink")?;
        Ok(length)
    }

    fn ask(&mut self) -> Result<()> {
        let length = self.exchange()?;
        ensure!(length >= 20 && u16_at(&self.answer, 4) == NLMSG_ERROR, "netlink: no acknowledgement");
        match i32::from_ne_bytes(self.answer[16..20].try_into()?) {
            0 => Ok(()),
            error => Err(Errno::from_raw_os_error(-error).into()),
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}
