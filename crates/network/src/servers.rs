//! Servers of several hosts: which of the shortest paths are taken inside of them, and between them.

/// What a node is to its server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It is in no server.
    Outside,
    /// A host (a GPU) of this server, with its NIC on this rail.
    Host {
        /// The number of the server.
        server: u32,
        /// The number of the rail: hosts of equal rails have a NIC at leaves of the rail.
        rail: Option<u32>,
    },
    /// A switch over which hosts of this server reach each other (NVLink).
    Inner {
        /// The number of the server.
        server: u32,
    },
    /// A switch between hosts of this server and their NIC (PCIe).
    Shared {
        /// The number of the server.
        server: u32,
    },
}

impl Place {
    /// The number of the server.
    pub fn server(self) -> Option<u32> {
        match self {
            Place::Outside => None,
            Place::Host { server, .. } | Place::Inner { server } | Place::Shared { server } => Some(server),
        }
    }

    /// May it be on a way between two hosts of its server?
    pub fn is_inner(self) -> bool {
        matches!(self, Place::Host { .. } | Place::Inner { .. })
    }

    /// The rail of a host.
    pub fn rail(self) -> Option<u32> {
        if let Place::Host { rail, .. } = self { rail } else { None }
    }
}

/// The servers of a fabric. Hosts of one server reach each other over links inside of it alone, and over those of its inner
/// switches if there are any, whatever else joins them.
///
/// With `relays`, packets to another server leave by the NIC of the rail of their destination: a host
/// of another rail sends them over the inner switches to a host of this one, which passes them on (PXN of NCCL: Jeaugey, "Doubling
/// all2all Performance with NCCL 2.12", NVIDIA Technical Blog, 2022). Otherwise they leave by the sender's own NIC.
#[derive(Clone, Debug)]
pub struct Servers {
    places: Vec<Place>,
    relays: bool,
}

impl Servers {
    /// By node: its place; do packets leave a server by the NIC of their rail?
    pub fn new(places: Vec<Place>, relays: bool) -> Servers {
        Servers { places, relays }
    }

    /// The place of a node.
    pub fn place(&self, node: usize) -> Place {
        self.places[node]
    }

    /// Do packets leave a server by the NIC of their rail?
    pub fn relays(&self) -> bool {
        self.relays
    }

    /// May a packet to `target` go from one node to another, which a link joins?
    pub(crate) fn leads(&self, from: usize, to: usize, target: usize) -> bool {
        let (Some(here), Some(home)) = (self.place(from).server(), self.place(target).server()) else { return true };
        let stays = self.place(to).server() == Some(here);
        let Place::Host { rail, .. } = self.place(from) else { return stays || here != home };
        if stays && self.place(to).is_inner() {
            return true;
        }
        let other_rail = |target: u32| rail.is_some_and(|own| own != target);
        here != home && !(self.relays && self.place(target).rail().is_some_and(other_rail))
    }
}
