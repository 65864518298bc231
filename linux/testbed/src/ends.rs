//! The namespaces of hosts: with a device each, addresses, and the settings that the scenario has.

use crate::address::{End, Side};
use crate::namespace::{Namespace, ip, sysctl};
use anyhow::{Context as _, Result};
use linkpool_linux_control::netlink::PathManager;
use std::collections::HashMap;

/// The name of the only device in each namespace of a host.
pub(crate) const DEVICE: &str = "lp0";

/// The first port of senders.
const FIRST_PORT: u16 = 10_000;

/// What holds for all hosts.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Of the devices.
    pub(crate) mtu: u32,
    /// Does each data packet have an ACK of its own?
    pub(crate) ack_each: bool,
    /// Initial window, packets.
    pub(crate) initial_window: u32,
    /// Least retransmission timeout, us.
    pub(crate) min_rto_us: u64,
    /// Are there connections with several subflows?
    pub(crate) multipath: bool,
    /// Do senders ask for ECN whatever their algorithm? Otherwise those do whose algorithm needs
    /// it.
    pub(crate) ecn: bool,
}

/// A namespace of a host.
#[derive(Debug)]
pub(crate) struct HostEnd {
    pub(crate) namespace: Namespace,
    pub(crate) path_manager: Option<PathManager>,
    next_port: u16,
}

impl HostEnd {
    /// A port that no connection has had for long.
    pub(crate) fn port(&mut self) -> u16 {
        let port = self.next_port;
        self.next_port = port.checked_add(1).unwrap_or(FIRST_PORT);
        port
    }
}

/// What the fabric gets of the devices of ends.
pub(crate) type Devices<D> = Vec<(End, D)>;

/// Makes the namespaces of `ends`; `device` makes [`DEVICE`] in each, and what it returns is for
/// the fabric.
pub(crate) fn make<D: Send>(
    ends: &[End],
    settings: &Settings,
    device: impl Fn(End) -> Result<D> + Sync,
) -> Result<(HashMap<End, HostEnd>, Devices<D>)> {
    let (mut hosts, mut devices) = (HashMap::new(), Vec::new());
    for end in ends {
        let made = Namespace::new(|| set_up(*end, settings, &device));
        let (namespace, device) = made.with_context(|| format!("host {:?}", end.host))?;
        let opens = settings.multipath && end.side == Side::Sending;
        let path_manager = opens.then(|| namespace.path_manager()).transpose()?;
        hosts.insert(*end, HostEnd { namespace, path_manager, next_port: FIRST_PORT });
        devices.push((*end, device));
    }
    Ok((hosts, devices))
}

/// In its namespace.
fn set_up<D>(end: End, settings: &Settings, device: impl Fn(End) -> Result<D>) -> Result<D> {
    let sends = end.side == Side::Sending;
    sysctl("net/ipv6/conf/default/disable_ipv6", 1)?;
    // Each connection begins as if it were the first to its peer.
    sysctl("net/ipv4/tcp_no_metrics_save", 1)?;
    // Algorithms that need ECN ask for it whatever this says.
    sysctl("net/ipv4/tcp_ecn", if sends { u8::from(settings.ecn) } else { 2 })?;
    // A SYN that is sent again asks for ECN once more, as in the simulator (RFC 3168, section
    // 6.1.1.1, lets it ask or not). Else a subflow whose first SYN was lost has no ECN.
    sysctl("net/ipv4/tcp_ecn_fallback", 0)?;
    sysctl("net/ipv4/tcp_rto_min_us", settings.min_rto_us)?;
    // Connections that lose their process go soon, and their namespace with them.
    sysctl("net/ipv4/tcp_orphan_retries", 1)?;
    sysctl("net/ipv4/tcp_fin_timeout", 1)?;
    let device = device(end)?;
    let ack_each = if settings.ack_each { "quickack 1" } else { "" };
    // One segment a packet, as there is no device that would cut larger ones.
    ip(&format!(
        "link set lo up\n\
         link set dev {DEVICE} mtu {} txqueuelen 10000 gso_max_segs 1\n\
         addr add {}/32 dev {DEVICE}\n\
         link set dev {DEVICE} up\n\
         route add default dev {DEVICE} initcwnd {} {ack_each}\n",
        settings.mtu,
        end.address(),
        settings.initial_window,
    ))?;
    if settings.multipath && sends {
        sysctl("net/mptcp/pm_type", 1)?;
    } else if settings.multipath {
        // Receivers take what comes; the kernel's own path manager does.
        ip("mptcp limits set subflows 8 add_addr_accepted 8\n")?;
    }
    Ok(device)
}
