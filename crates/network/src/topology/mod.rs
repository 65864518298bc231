//! Topologies, of the papers and of the field. One file holds one topology: its settings, its size
//! and its construction.

mod bcube;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod galois;
mod gpu_servers;
mod leaf_spine;
mod many_to_one;
mod multi_plane;
mod ring;
mod slim_fly;
mod traffic_shift;
mod triangle;
mod two_level;
mod vl2;
mod xpander;

pub use bcube::BCube;
pub use dragonfly::Dragonfly;
pub use dumbbell::Dumbbell;
pub use fat_tree::{FatTree, fat_tree};
pub use gpu_servers::GpuServers;
pub use leaf_spine::LeafSpine;
pub use many_to_one::ManyToOne;
pub use multi_plane::MultiPlane;
pub use ring::Ring;
pub use slim_fly::SlimFly;
pub use traffic_shift::TrafficShift;
pub use triangle::Triangle;
pub use vl2::Vl2;
pub use xpander::Xpander;

use crate::fabric::Fabric;
use linkpool_settings::kinds;

/// Constructs a fabric from its settings. Its size is checked before.
pub trait Generator {
    /// The settings that make it large, the first that a scenario says being to blame for too large
    /// a fabric.
    fn size_keys(&self) -> &'static [&'static str];
    /// Number of hosts.
    fn hosts(&self) -> u64;
    /// Number of cables.
    fn cables(&self) -> u64;
    /// Its hosts, switches and links. A host's number in a scenario is its number here.
    fn fabric(&self) -> Fabric;
}

/// Declares the topologies: of each its documentation, which names its hosts and switches, its
/// type, and its name in scenarios.
macro_rules! topologies {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal;)+) => {
        kinds! {
            /// The fabric: exactly one kind. Links are full duplex, with one rate and one
            /// propagation delay for both directions.
            #[derive(Eq)]
            pub enum Topology {
                $($(#[doc = $doc])+ $kind($kind) = $name;)+
            }
        }

        impl Topology {
            /// Constructs it.
            pub fn generator(&self) -> &dyn Generator {
                match self { $(Topology::$kind(generator) => generator,)+ }
            }
        }
    };
}

topologies! {
    /// Hosts `S1..Sn`, `R`; switch `W` (AMP, Figure 1).
    ManyToOne = "many-to-one";
    /// Hosts `S1 S2 S3 D1 D2 D3`; switches `A1 B1 A2 B2`. Bottlenecks `A1->B1` and `A2->B2`. S1, D1
    /// are on the first, S3, D3 on the second, S2 and D2 have a NIC on each (AMP, Figure 5).
    TrafficShift = "traffic-shift";
    /// Hosts `S1..Sn`, `D1..Dn`; switches `L`, `R`.
    Dumbbell = "dumbbell";
    /// Hosts `h0..`; edge `e<pod>.<i>`, aggregation `a<pod>.<i>`, core `c<i>`; of two tiers: edge
    /// `e<i>`, core `c<i>`.
    FatTree = "fat-tree";
    /// Hosts `h0..`; leaves `l<i>`, spines `s<i>`.
    LeafSpine = "leaf-spine";
    /// Hosts `h0..` with a port in each plane; leaves `l<plane>.<i>`, spines `s<plane>.<i>`, or
    /// `s<i>` if all planes share them.
    MultiPlane = "multi-plane";
    /// GPUs `g<server>.<i>`, which are the hosts; NVLink switches `n<server>.<i>`, PCIe switches
    /// `p<server>.<nic>`; leaves `l<rail>.<group>` or `l<group>`; spines `s<i>` or `s<rail>.<i>`.
    GpuServers = "gpu-servers";
    /// Hosts `h0..`; D_A D_I / 4 top-of-rack `t<i>`, D_I aggregation `a<i>`, D_A / 2 intermediate
    /// `i<i>`.
    Vl2 = "vl2";
    /// n^(k+1) hosts `h0..` with k + 1 NICs that forward for others; switches `s<level>.<i>`.
    BCube = "bcube";
    /// Hosts `h0..`; routers `r<group>.<i>`.
    Dragonfly = "dragonfly";
    /// Hosts `h0..`; routers `a<x>.<y>` and `b<m>.<c>`, q^2 of each.
    SlimFly = "slim-fly";
    /// Hosts `h0..`; switches `x<group>.<i>`.
    Xpander = "xpander";
    /// For each bottleneck `Ai->Bi`: hosts `Si` and `Di` with a NIC on it and one on the next,
    /// hosts `Xi` and `Yi` on it alone (XMP, Figure 5).
    Ring = "ring";
    /// Hosts `S1 S2 S3 D1 D2 D3`; bottlenecks `A1->B1`, `A2->B2`, `A3->B3`, joined by `C1 C2 C3`:
    /// `B1` over `C1` to `A2`, and so on. From `Si` to `Di` the short way is over bottleneck i, the
    /// long way over the two others.
    Triangle = "triangle";
}
