use linkpool_units::{Rate, Time};

/// The fabric. Links are full duplex, with one rate and one propagation delay for both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Senders and one receiver around one switch (AMP, Figure 1).
    ManyToOne {
        /// Number of senders.
        senders: u32,
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Time,
    },
    /// Two bottlenecks, and one connection with a path over each (AMP, Figure 5).
    TrafficShift {
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Time,
    },
    /// Pairs of hosts that share one bottleneck between two switches.
    Dumbbell {
        /// Number of hosts on either side.
        pairs: u32,
        /// Rate of the hosts' links.
        rate: Rate,
        /// Propagation delay of the hosts' links.
        delay: Time,
        /// Rate of the link between the switches.
        bottleneck_rate: Rate,
        /// Propagation delay of the link between the switches.
        bottleneck_delay: Time,
    },
    /// A fat-tree of k-port switches.
    FatTree {
        /// Ports of a switch, number of pods; even.
        k: u32,
        /// Hosts at each edge switch; k/2 is the tree without oversubscription.
        hosts_per_edge: u32,
        /// Rate of every link.
        rate: Rate,
        /// Propagation delay of every link.
        delay: Time,
    },
}

impl Topology {
    /// The kind, as the scenario file writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Topology::ManyToOne { .. } => "many-to-one",
            Topology::TrafficShift { .. } => "traffic-shift",
            Topology::Dumbbell { .. } => "dumbbell",
            Topology::FatTree { .. } => "fat-tree",
        }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        match *self {
            Topology::ManyToOne { senders, .. } => senders + 1,
            Topology::TrafficShift { .. } => 6,
            Topology::Dumbbell { pairs, .. } => 2 * pairs,
            Topology::FatTree { k, hosts_per_edge, .. } => k * (k / 2) * hosts_per_edge,
        }
    }

    /// Names of the hosts; a host's index is its place in this list.
    pub fn host_names(&self) -> Vec<String> {
        match *self {
            Topology::ManyToOne { senders, .. } => numbered("S", senders).chain(["R".to_string()]).collect(),
            Topology::TrafficShift { .. } => numbered("S", 3).chain(numbered("D", 3)).collect(),
            Topology::Dumbbell { pairs, .. } => numbered("S", pairs).chain(numbered("D", pairs)).collect(),
            Topology::FatTree { .. } => (0..self.hosts()).map(|i| format!("h{i}")).collect(),
        }
    }

    /// Names of the switches.
    pub fn switch_names(&self) -> Vec<String> {
        match *self {
            Topology::ManyToOne { .. } => vec!["W".to_string()],
            Topology::TrafficShift { .. } => ["A1", "B1", "A2", "B2"].map(str::to_string).to_vec(),
            Topology::Dumbbell { .. } => ["L", "R"].map(str::to_string).to_vec(),
            Topology::FatTree { k, .. } => {
                let half = k / 2;
                let of_pods = |layer: &'static str| {
                    (0..k).flat_map(move |pod| (0..half).map(move |i| format!("{layer}{pod}.{i}")))
                };
                let core = (0..half * half).map(|i| format!("c{i}"));
                of_pods("e").chain(of_pods("a")).chain(core).collect()
            }
        }
    }

    /// Every directed link as the names of its ends: from, to. Both directions of a cable are
    /// neighbours in the list.
    pub fn link_names(&self) -> Vec<(String, String)> {
        self.cables().into_iter().flat_map(|(a, b)| [(a.clone(), b.clone()), (b, a)]).collect()
    }

    fn cables(&self) -> Vec<(String, String)> {
        let owned = |&(a, b): &(&str, &str)| (a.to_string(), b.to_string());
        match *self {
            Topology::ManyToOne { .. } => self.host_names().into_iter().map(|host| (host, "W".to_string())).collect(),
            Topology::TrafficShift { .. } => [
                ("S1", "A1"),
                ("S2", "A1"),
                ("S2", "A2"),
                ("S3", "A2"),
                ("A1", "B1"),
                ("A2", "B2"),
                ("B1", "D1"),
                ("B1", "D2"),
                ("B2", "D2"),
                ("B2", "D3"),
            ]
            .iter()
            .map(owned)
            .collect(),
            Topology::Dumbbell { pairs, .. } => numbered("S", pairs)
                .map(|host| (host, "L".to_string()))
                .chain([("L".to_string(), "R".to_string())])
                .chain(numbered("D", pairs).map(|host| ("R".to_string(), host)))
                .collect(),
            Topology::FatTree { k, hosts_per_edge, .. } => fat_tree_cables(k, hosts_per_edge),
        }
    }
}

fn numbered(prefix: &'static str, n: u32) -> impl Iterator<Item = String> {
    (1..=n).map(move |i| format!("{prefix}{i}"))
}

/// Hosts are numbered pod by pod and edge by edge; aggregation switch i of every pod is cabled to
/// the core switches i k/2 .. (i + 1) k/2.
fn fat_tree_cables(k: u32, hosts_per_edge: u32) -> Vec<(String, String)> {
    let half = k / 2;
    let mut cables = Vec::new();
    for pod in 0..k {
        for edge in 0..half {
            let first = (pod * half + edge) * hosts_per_edge;
            for host in first..first + hosts_per_edge {
                cables.push((format!("h{host}"), format!("e{pod}.{edge}")));
            }
            for agg in 0..half {
                cables.push((format!("e{pod}.{edge}"), format!("a{pod}.{agg}")));
            }
        }
        for agg in 0..half {
            for core in agg * half..(agg + 1) * half {
                cables.push((format!("a{pod}.{agg}"), format!("c{core}")));
            }
        }
    }
    cables
}
