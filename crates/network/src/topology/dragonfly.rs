//! Dragonflies.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time, counted};

settings! {
    /// A dragonfly (Kim, Dally, Scott, Abts, ISCA 2008): groups of routers, a cable between any two
    /// routers of a group, and as many cables between any two groups.
    #[derive(Copy, Eq)]
    pub struct Dragonfly {
        /// Routers of a group (the paper's a).
        routers_per_group: u32, required 4, within Bounds::POSITIVE;
        /// Hosts at each router (p).
        hosts_per_router: u32, from |t| t.routers_per_group.div_ceil(2) => "half of `routers_per_group`",
            within Bounds::POSITIVE;
        /// Global ports of each router (h).
        global_ports: u32, from |t| t.routers_per_group.div_ceil(2) => "half of `routers_per_group`",
            within Bounds::POSITIVE;
        /// Groups (g), 2 to a h + 1: between any two groups there are a h / (g - 1) cables, rounded
        /// down; global ports that are left are not used.
        groups: u32, from |t| t.most_groups().min(u32::MAX.into()) as u32 => "a h + 1, the most",
            within Bounds::from(2.0, "{} group; a dragonfly has 2 or more"),
            refused |t| u64::from(t.groups) > t.most_groups() => format!(
                "{} groups; the global ports of a group reach {}", t.groups, counted(t.most_groups() - 1, "other")
            );
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(100), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(1), within Bounds::SPAN;
        /// Rate of the links within a group.
        local_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links within a group.
        local_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
        /// Rate of the links between groups.
        global_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links between groups.
        global_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl Dragonfly {
    /// a h: the global ports of a group.
    fn ports(&self) -> u64 {
        u64::from(self.routers_per_group) * u64::from(self.global_ports)
    }

    fn most_groups(&self) -> u64 {
        self.ports() + 1
    }

    /// Cables between any two groups.
    fn cables_between(&self) -> u64 {
        self.ports() / u64::from(self.groups.max(2) - 1)
    }
}

impl Generator for Dragonfly {
    fn size_keys(&self) -> &'static [&'static str] {
        &["groups", "routers_per_group"]
    }

    fn hosts(&self) -> u64 {
        (u64::from(self.groups) * u64::from(self.routers_per_group)).saturating_mul(self.hosts_per_router.into())
    }

    fn cables(&self) -> u64 {
        let (groups, routers) = (u64::from(self.groups), u64::from(self.routers_per_group));
        let local = groups.saturating_mul(routers * (routers - 1) / 2);
        let global = (groups * (groups - 1) / 2).saturating_mul(self.cables_between());
        self.hosts().saturating_add(local).saturating_add(global)
    }

    /// Hosts `h0..`, routers `r<group>.<i>`. Global port k of a group is at its router k / h. It is
    /// one of the ports to the group that stands k mod (g - 1) + 1 further in the ring of all
    /// groups: each group has the same cables.
    fn fabric(&self) -> Fabric {
        let host = Cable { rate: self.rate, delay: self.delay };
        let local = Cable { rate: self.local_rate, delay: self.local_delay };
        let global = Cable { rate: self.global_rate, delay: self.global_delay };
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let group = |g| (0..self.routers_per_group).map(move |i| format!("r{g}.{i}"));
        let routers: Vec<Vec<_>> =
            (0..self.groups).map(|g| group(g).map(|name| b.node(name, Layer::Switch)).collect()).collect();
        for (hosts, router) in hosts.chunks(self.hosts_per_router as usize).zip(routers.iter().flatten()) {
            hosts.iter().for_each(|h| b.lay(*h, *router, host));
        }
        for group in &routers {
            for (i, router) in group.iter().enumerate() {
                group[i + 1..].iter().for_each(|other| b.lay(*router, *other, local));
            }
            b.group(group.clone());
        }
        let (groups, others) = (routers.len(), routers.len() - 1);
        for (g, group) in routers.iter().enumerate() {
            for port in 0..self.cables_between() as usize * others {
                let (copy, further) = (port / others, port % others + 1);
                let peer = (g + further) % groups;
                // From there it is the rest of the ring back.
                let back = copy * others + (groups - further) - 1;
                if g < peer {
                    let router = |ports: &[_], port: usize| ports[port / self.global_ports as usize];
                    b.lay(router(group, port), router(&routers[peer], back), global);
                }
            }
        }
        b.build()
    }
}
