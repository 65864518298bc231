use crate::fabric::{Fabric, HostId, LinkId, NodeId};
use crate::packet::{Flags, Packet};
use linkpool_engine::hash_u64;
use std::collections::{HashMap, VecDeque};

/// In an entry of the table: not a link but the number of a group of equal-cost links.
const GROUP: u32 = 1 << 31;
const UNREACHABLE: u32 = u32::MAX;

/// Shortest-path forwarding with ECMP over equal-cost links.
///
/// Each node has a row with an entry per *column*; a host with one NIC shares the column of its switch, so that the
/// tables of a large fabric stay in the cache. An entry is a link, or a group of links from which the packet's
/// entropy chooses: by a hash salted per switch (the same hash at every hop would send all traffic of an edge
/// switch over one core), or, if the path is pinned, by its remainder, the quotient being left for the next group.
#[derive(Debug)]
pub struct Routes {
    /// Per node: start of its row in `table`, its own column (or none), its salt.
    nodes: Vec<Row>,
    table: Vec<u32>,
    groups: Vec<Vec<LinkId>>,
    /// Per host: its column, and the link to it from the switch of that column.
    columns: Vec<u16>,
    last_links: Vec<LinkId>,
}

#[derive(Debug)]
struct Row {
    start: u32,
    column: u16,
    salt: u32,
    /// The one link of a host with one NIC, which needs no row.
    only: LinkId,
}

const NO_COLUMN: u16 = u16::MAX;

impl Routes {
    /// Finds all shortest paths (by number of links) of `fabric`; `seed` salts the hashes.
    #[inline(never)]
    pub fn new(fabric: &Fabric, seed: u64) -> Routes {
        let links = fabric.links();
        // The node that stands for a host: its switch if it has one NIC, else itself.
        let attachment = |host: NodeId| {
            let own = fabric.links_from(host);
            if own.len() == 1 { links[own.start as usize].to } else { host }
        };
        let mut column_of_node = vec![NO_COLUMN; fabric.nodes()];
        let mut column_nodes = Vec::new();
        let mut columns = Vec::with_capacity(fabric.hosts());
        let mut last_links = Vec::with_capacity(fabric.hosts());
        for host in 0..fabric.hosts() as NodeId {
            let node = attachment(host);
            let column = &mut column_of_node[node as usize];
            if *column == NO_COLUMN {
                *column = column_nodes.len() as u16;
                column_nodes.push(node);
            }
            columns.push(*column);
            last_links.push(fabric.link(node, host).unwrap_or(UNREACHABLE));
        }
        let into: Vec<Vec<NodeId>> = neighbours_into(fabric);
        let mut groups = Vec::new();
        let mut group_ids: HashMap<Vec<LinkId>, u32> = HashMap::new();
        // Hosts with one NIC need no row; the others' rows stand behind one another.
        let needs_row = |node: NodeId| node as usize >= fabric.hosts() || fabric.links_from(node).len() != 1;
        let mut next_row = 0;
        let starts: Vec<usize> = (0..fabric.nodes() as NodeId)
            .map(|node| {
                let start = next_row;
                next_row += if needs_row(node) { column_nodes.len() } else { 0 };
                start
            })
            .collect();
        let mut table = vec![UNREACHABLE; next_row];
        for (column, target) in column_nodes.iter().enumerate() {
            let distance = distances(&into, *target);
            for node in (0..fabric.nodes() as NodeId).filter(|n| n != target && needs_row(*n)) {
                let nearer = |l: &LinkId| {
                    let to = links[*l as usize].to;
                    // A host does not forward what is for others.
                    let passes = to as usize >= fabric.hosts() || to == *target;
                    let (here, there) = (distance[node as usize], distance[to as usize]);
                    passes && there != u32::MAX && there.checked_add(1) == Some(here)
                };
                let next: Vec<LinkId> = fabric.links_from(node).filter(nearer).collect();
                table[starts[node as usize] + column] = match next.as_slice() {
                    [] => UNREACHABLE,
                    [one] => *one,
                    _ => {
                        GROUP
                            | *group_ids.entry(next.clone()).or_insert_with(|| {
                                groups.push(next);
                                groups.len() as u32 - 1
                            })
                    }
                };
            }
        }
        let nodes = (0..fabric.nodes())
            .map(|n| Row {
                start: starts[n] as u32,
                column: column_of_node[n],
                salt: hash_u64(hash_u64(seed) ^ n as u64) as u32,
                only: if needs_row(n as NodeId) { UNREACHABLE } else { fabric.links_from(n as NodeId).start },
            })
            .collect();
        Routes { nodes, table, groups, columns, last_links }
    }

    /// The link on which `node` sends `packet` on; a pinned packet's entropy is used up accordingly.
    #[inline]
    pub fn next_link(&self, node: NodeId, packet: &mut Packet) -> LinkId {
        let row = &self.nodes[node as usize];
        if row.only != UNREACHABLE {
            return row.only;
        }
        let column = self.columns[packet.dst as usize];
        if row.column == column {
            return self.last_links[packet.dst as usize];
        }
        let entry = self.table[row.start as usize + column as usize];
        if entry & GROUP == 0 {
            return entry;
        }
        let group = &self.groups[(entry & !GROUP) as usize];
        let n = group.len() as u32;
        if packet.flags.has(Flags::PINNED) {
            let choice = packet.entropy % n;
            packet.entropy /= n;
            return group[choice as usize];
        }
        // Lemire's multiply-and-shift maps the hash to 0..n without a division.
        let hash = hash_u64((row.salt as u64) << 32 | packet.entropy as u64) as u32;
        group[((hash as u64 * n as u64) >> 32) as usize]
    }

    /// The only link that leaves `node`, if it has one link.
    #[inline]
    pub(crate) fn only_link(&self, node: NodeId) -> Option<LinkId> {
        Some(self.nodes[node as usize].only).filter(|l| *l != UNREACHABLE)
    }

    /// Is there a path from one host to another?
    pub fn reachable(&self, fabric: &Fabric, from: HostId, to: HostId) -> bool {
        let row = &self.nodes[from as usize];
        let first = match row.only {
            UNREACHABLE => from as NodeId,
            link => fabric.links()[link as usize].to,
        };
        self.entry(first, to) != UNREACHABLE
    }

    /// What the table says at `node` of the way to host `to`.
    fn entry(&self, node: NodeId, to: HostId) -> u32 {
        let row = &self.nodes[node as usize];
        let column = self.columns[to as usize];
        match row.only {
            UNREACHABLE if row.column == column => self.last_links[to as usize],
            UNREACHABLE => self.table[row.start as usize + column as usize],
            link => link,
        }
    }

    /// The links that a packet of this entropy takes from `from`.
    pub fn path(&self, fabric: &Fabric, from: HostId, mut packet: Packet) -> Vec<LinkId> {
        let mut node = from as NodeId;
        let mut path = Vec::new();
        while node != packet.dst as NodeId {
            let link = self.next_link(node, &mut packet);
            path.push(link);
            node = fabric.links()[link as usize].to;
        }
        path
    }

    /// How many equal-cost paths lead from one host to another (what pinned entropies choose from).
    pub fn path_count(&self, fabric: &Fabric, from: HostId, to: HostId) -> u32 {
        let mut node = from as NodeId;
        let mut count = 1;
        // Every member of a group stands before equal groups in a symmetric fabric; follow the first.
        while node != to as NodeId {
            let link = match self.entry(node, to) {
                UNREACHABLE => return 0,
                link if link & GROUP == 0 => link,
                group => {
                    let group = &self.groups[(group & !GROUP) as usize];
                    count *= group.len() as u32;
                    group[0]
                }
            };
            node = fabric.links()[link as usize].to;
        }
        count
    }
}

fn neighbours_into(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let mut into = vec![Vec::new(); fabric.nodes()];
    for l in fabric.links() {
        into[l.to as usize].push(l.from);
    }
    into
}

/// Links from each node to `target`, breadth first; hosts are ends, not passages.
fn distances(into: &[Vec<NodeId>], target: NodeId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; into.len()];
    let mut queue = VecDeque::from([target]);
    distance[target as usize] = 0;
    while let Some(node) = queue.pop_front() {
        for from in &into[node as usize] {
            if distance[*from as usize] == u32::MAX {
                distance[*from as usize] = distance[node as usize] + 1;
                queue.push_back(*from);
            }
        }
    }
    distance
}
