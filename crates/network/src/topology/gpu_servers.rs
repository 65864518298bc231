//! Clusters of GPU servers: switches inside each server, and rails or racks between them.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer, NodeId};
use crate::servers::{Place, Servers};
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time, counted};

settings! {
    /// Servers of several GPUs, each of which is a host. NVLink switches join the GPUs of a server. NIC i of a
    /// server is on rail i, at leaf i of its group (Wang et al., Rail-only, HOTI 2024, section 2), or all NICs of
    /// a group are at one leaf.
    #[derive(Copy, Eq)]
    pub struct GpuServers {
        /// Groups of servers; the servers of a group share leaves.
        groups: u32, required 2, within Bounds::POSITIVE;
        /// Servers of a group.
        servers_per_group: u32, required 4, within Bounds::POSITIVE;
        /// GPUs of a server.
        gpus: u32 = 8, within Bounds::from(2.0, "{} GPU; a server has 2 or more").to(1024.0);
        /// NICs of a server. Where there are fewer than GPUs, a PCIe switch joins neighbouring GPUs to each.
        nics: u32, from |t| t.gpus => "`gpus`", within Bounds::POSITIVE,
            refused |t| !t.gpus.is_multiple_of(t.nics.max(1)) => format!(
                "{} GPUs cannot share {} evenly; write a number that divides `gpus`", t.gpus, counted(t.nics, "NIC")
            );
        /// Is NIC i of each server at a leaf of rail i? Otherwise all NICs of a group are at one leaf.
        rails: bool = true;
        /// Does a packet to another server first go over NVLink to a GPU whose NIC is on the rail of its
        /// destination (PXN)? Otherwise it leaves by the NIC of its sender.
        pxn: bool = false, when |t| t.rails => "`rails = true`";
        /// Do spines join the leaves of all rails? Otherwise each rail has spines of its own (rail-only), which `pxn` needs.
        shared_spines: bool = true,
            refused |t| !t.shared_spines && t.are_apart() => "no switch joins the rails; write true, or pxn = true",
            when |t| t.rails => "`rails = true`";
        /// Spine switches; without `shared_spines`, of each rail. 0 is possible with one group, and needs `pxn` if it has several rails.
        spines: u32, required 4,
            refused |t| t.spines == 0 && t.groups > 1 => "no spine joins the groups; write 1 or more",
            refused |t| t.spines == 0 && t.are_apart() => "no spine joins the rails; write 1 or more, or pxn = true";
        /// NVLink switches of a server, each with a link to every GPU.
        nvlink_switches: u32 = 1, within Bounds::from(1.0, "{} switches; 1 to 64 are possible").to(64.0);
        /// Rate of the link from a GPU to an NVLink switch.
        nvlink_rate: Rate, required Rate::gbps(3600), within Bounds::POSITIVE;
        /// Propagation delay of these links.
        nvlink_delay: Time, required Time::from_ns(150), within Bounds::SPAN;
        /// Rate of the link from a GPU to a PCIe switch.
        pcie_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE,
            when |t| t.nics < t.gpus => "fewer `nics` than `gpus`";
        /// Propagation delay of these links.
        pcie_delay: Time, from |t| t.nvlink_delay => "`nvlink_delay`", within Bounds::SPAN,
            when |t| t.nics < t.gpus => "fewer `nics` than `gpus`";
        /// Rate of a NIC.
        rate: Rate, required Rate::gbps(400), within Bounds::POSITIVE;
        /// Propagation delay of the links between NICs and leaves.
        delay: Time, required Time::from_ns(500), within Bounds::SPAN;
        /// Rate of the links between leaves and spines.
        uplink_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links between leaves and spines.
        uplink_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl GpuServers {
    /// Does only PXN lead from one rail to another of another server?
    fn are_apart(&self) -> bool {
        self.rails && self.nics > 1 && !self.pxn
    }

    fn servers(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.servers_per_group)
    }

    /// Leaves of a group.
    fn leaves(&self) -> u32 {
        if self.rails { self.nics } else { 1 }
    }

    /// The rail of a GPU, by its number in its server: neighbours share a NIC.
    fn rail(&self, gpu: u32) -> u32 {
        gpu / (self.gpus / self.nics)
    }

    /// PCIe switches of a server.
    fn shared(&self) -> u32 {
        if self.nics < self.gpus { self.nics } else { 0 }
    }
}

impl Generator for GpuServers {
    fn size_keys(&self) -> &'static [&'static str] {
        &["groups", "servers_per_group"]
    }

    fn hosts(&self) -> u64 {
        self.servers().saturating_mul(self.gpus.into())
    }

    fn cables(&self) -> u64 {
        let inside = u64::from(self.gpus) * u64::from(self.nvlink_switches);
        let to_leaves = u64::from(self.gpus) + u64::from(self.shared());
        let uplinks = u64::from(self.leaves()).saturating_mul(self.groups.into()).saturating_mul(self.spines.into());
        self.servers().saturating_mul(inside + to_leaves).saturating_add(uplinks)
    }

    /// Hosts `g<server>.<gpu>`, server by server; NVLink switches `n<server>.<i>`; PCIe switches `p<server>.<nic>`;
    /// leaves and spines. A host's links to NVLink switches are its first ports, that to its NIC is the last.
    fn fabric(&self) -> Fabric {
        let GpuServers { rate, delay, .. } = *self;
        let nvlink = Cable { rate: self.nvlink_rate, delay: self.nvlink_delay };
        let pcie = Cable { rate: self.pcie_rate, delay: self.pcie_delay };
        let uplink = Cable { rate: self.uplink_rate, delay: self.uplink_delay };
        let servers = self.servers() as u32;
        let mut b = FabricBuilder::default();
        let mut places = Vec::new();
        let mut inside = |name: char, of_server: u32, layer: Layer, place: &dyn Fn(u32, u32) -> Place| {
            let of = |b: &mut FabricBuilder, server: u32| -> Vec<NodeId> {
                (0..of_server).map(|i| b.node(format!("{name}{server}.{i}"), layer)).collect()
            };
            let nodes: Vec<Vec<NodeId>> = (0..servers).map(|server| of(&mut b, server)).collect();
            places.extend(
                (0..servers).flat_map(|server| (0..of_server).map(move |i| (server, i))).map(|(s, i)| place(s, i)),
            );
            nodes
        };
        let gpus =
            inside('g', self.gpus, Layer::Host, &|server, gpu| Place::Host { server, rail: Some(self.rail(gpu)) });
        let inner = inside('n', self.nvlink_switches, Layer::Nvlink, &|server, _| Place::Inner { server });
        let shared = inside('p', self.shared(), Layer::Pcie, &|server, _| Place::Shared { server });
        // By group, then by rail.
        let leaves: Vec<Vec<NodeId>> = (0..self.groups)
            .map(|group| {
                let name = |i: u32| if self.rails { format!("l{i}.{group}") } else { format!("l{group}") };
                (0..self.leaves()).map(|i| b.node(name(i), Layer::Edge)).collect()
            })
            .collect();
        let own_spines = self.rails && !self.shared_spines;
        // By rail.
        let spines: Vec<Vec<NodeId>> = (0..if own_spines { self.leaves() } else { 1 })
            .map(|rail| {
                let name = |i: u32| if own_spines { format!("s{rail}.{i}") } else { format!("s{i}") };
                (0..self.spines).map(|i| b.node(name(i), Layer::Core)).collect()
            })
            .collect();
        for (server, gpus) in gpus.iter().enumerate() {
            let leaves = &leaves[server / self.servers_per_group as usize];
            let leaf = |nic: usize| leaves[if self.rails { nic } else { 0 }];
            for (gpu, host) in (0..).zip(gpus) {
                inner[server].iter().for_each(|switch| b.lay(*host, *switch, nvlink));
                let nic = self.rail(gpu) as usize;
                match shared[server].get(nic) {
                    Some(switch) => b.lay(*host, *switch, pcie),
                    None => b.lay(*host, leaf(nic), Cable { rate, delay }),
                }
            }
            for (nic, switch) in shared[server].iter().enumerate() {
                b.lay(*switch, leaf(nic), Cable { rate, delay });
            }
        }
        for (rail, leaf) in leaves.iter().flat_map(|of_group| of_group.iter().enumerate()) {
            spines[if own_spines { rail } else { 0 }].iter().for_each(|spine| b.lay(*leaf, *spine, uplink));
        }
        places.resize(b.nodes(), Place::Outside);
        if self.pxn {
            b.hosts_forward();
        }
        b.servers(Servers::new(places, self.pxn));
        b.build()
    }
}
