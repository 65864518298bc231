//! The namespaces of the fabric: one for each host and switch of the plan, with a device for each
//! of its links, and, of hosts, one for each of their ends.

#![allow(unsafe_code, reason = "a call of the C library")]

use super::{device, port, qdisc, routes};
use crate::address::End;
use crate::ends::DEVICE;
use crate::namespace::{Namespace, ip, sysctl, tc};
use anyhow::{Context as _, Result};
use linkpool_engine::hash_u64;
use linkpool_linux_control::switch::Switches as Programs;
use linkpool_network::{LinkId, NodeId, Routes};
use linkpool_sim::Plan;
use std::path::Path;

/// The seed of the hash by which a namespace chooses among links; kernels have it since 6.11.
const HASH_SEED: &str = "net/ipv4/fib_multipath_hash_seed";

/// All of them, by node.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Namespace>,
    mtu: u32,
}

impl Nodes {
    /// Makes them, with the cables between them.
    pub(super) fn new(plan: &Plan, mtu: u32) -> Result<Nodes> {
        lacking()?;
        let node = |node: NodeId| Namespace::new(|| set_up(plan.seed, node)).map(|(namespace, ())| namespace);
        let nodes = Nodes { nodes: plan.fabric.node_ids().map(node).collect::<Result<_>>()?, mtu };
        for node in plan.fabric.node_ids() {
            let cables = plan.fabric.links_from(node).filter(|link| *link < plan.fabric.reverse(*link));
            let cables: String = cables.map(|link| nodes.cable(plan, link)).collect();
            nodes.of(node).within(|| ip(&cables))?;
        }
        Ok(nodes)
    }

    /// The words that make the devices of a cable, in the namespace from which `link` comes.
    fn cable(&self, plan: &Plan, link: LinkId) -> String {
        let [near, far] = [link, plan.fabric.reverse(link)].map(|link| {
            let number = device::of_link(link);
            device::words(&device::name(number), number, self.mtu)
        });
        let there = self.of(plan.fabric.links()[link.index()].to).path();
        format!("link add {near} type veth peer name {far} netns {there}\n")
    }

    /// Connects `end`, in its namespace, to its host's.
    pub(super) fn connect(&self, end: End) -> Result<()> {
        keep_order()?;
        let number = device::of_end(end);
        let near = device::words(DEVICE, 2, self.mtu);
        let far = device::words(&device::name(number), number, self.mtu);
        let there = self.of(end.host.into()).path();
        ip(&format!("link add {near} type veth peer name {far} netns {there}\nlink set {DEVICE} arp off\n"))
    }

    /// Opens all ports, and sets all routes; all `ends` are connected.
    pub(super) fn open(
        &self,
        (plan, network): (&Plan, &Routes),
        ends: &[End],
        programs: &Programs,
        has_paths: bool,
    ) -> Result<()> {
        for node in plan.fabric.node_ids() {
            let links: Vec<LinkId> = plan.fabric.links_from(node).collect();
            let own = ends.iter().filter(|end| node == end.host.into()).map(|end| device::of_end(*end));
            let own: Vec<u32> = own.collect();
            let devices = links.iter().map(|link| device::of_link(*link)).chain(own.iter().copied());
            let up: String = devices.map(|n| format!("link set {} arp off up\n", device::name(n))).collect();
            let marked: String = links.iter().filter(|_| has_paths).map(|link| routes::of_marked(*link)).collect();
            let ports: String = links.iter().map(|link| port::words(plan, *link, self.mtu)).collect();
            let open = || {
                ip(&format!("link set lo up\n{up}{}{marked}", routes::words(network, node, ends)))?;
                tc(&ports)?;
                links.iter().try_for_each(|link| programs.attach(device::of_link(*link), true, has_paths))?;
                own.iter().filter(|_| has_paths).try_for_each(|device| programs.attach(*device, false, true))
            };
            self.of(node).within(open).with_context(|| format!("switch {}", plan.fabric.name(node)))?;
        }
        Ok(())
    }

    /// Opens what tells of the queues of `node`.
    pub(super) fn queues(&self, node: NodeId) -> Result<qdisc::Queues> {
        self.of(node).within(qdisc::Queues::open)
    }

    fn of(&self, node: NodeId) -> &Namespace {
        &self.nodes[node.index()]
    }
}

/// In its namespace.
fn set_up(seed: u64, node: NodeId) -> Result<()> {
    keep_order()?;
    sysctl("net/ipv6/conf/default/disable_ipv6", 1)?;
    sysctl("net/ipv4/ip_forward", 1)?;
    for which in ["all", "default"] {
        // Packets may come by another device than that of the way back.
        sysctl(&format!("net/ipv4/conf/{which}/rp_filter"), 0)?;
        sysctl(&format!("net/ipv4/conf/{which}/send_redirects"), 0)?;
    }
    // By addresses, protocol and ports. With policy 1 the kernel would take what the sender's
    // socket has drawn at random, which is the same at all switches.
    sysctl("net/ipv4/fib_multipath_hash_policy", 3)?;
    sysctl("net/ipv4/fib_multipath_hash_fields", 0x37)?;
    if has_seeds() {
        sysctl(HASH_SEED, hash_u64(hash_u64(seed) ^ u64::from(node)) as u32)?;
    }
    Ok(())
}

/// Has packets of one flow that come by devices made later, in the namespace of the calling thread,
/// be handled by one processor. Else one that a link sends after another, from another processor,
/// can overtake it.
fn keep_order() -> Result<()> {
    let setting = "net/core/rps_default_mask"; // since 6.3
    // SAFETY: the call takes a number and returns one.
    let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.clamp(1, 32);
    if Path::new("/proc/sys").join(setting).exists() {
        sysctl(setting, format!("{:x}", u32::MAX >> (32 - processors)))?;
    }
    Ok(())
}

/// Can each switch choose by a hash of its own?
pub(super) fn has_seeds() -> bool {
    Path::new("/proc/sys").join(HASH_SEED).exists()
}

/// What this kernel lacks for switches, found out in a namespace that goes at once.
fn lacking() -> Result<()> {
    let tries = [
        ("link add lp0 type veth peer name lp1", true, "veth (CONFIG_VETH)"),
        ("qdisc add dev lp0 root handle 1: tbf rate 1mbit burst 2000b limit 2000b", false, "tbf (CONFIG_NET_SCH_TBF)"),
        ("qdisc add dev lp0 clsact", false, "clsact (CONFIG_NET_SCH_INGRESS)"),
        ("rule add fwmark 1 lookup 1", true, "policy routing (CONFIG_IP_MULTIPLE_TABLES)"),
    ];
    let attempt = || {
        tries.iter().try_for_each(|(words, is_ip, what)| {
            let done = if *is_ip { ip(words) } else { tc(words) };
            done.with_context(|| format!("this kernel has no {what}"))
        })
    };
    Namespace::new(attempt).map(drop)
}
