//! Forwarding: which link a node sends a packet on.

use crate::balancer::{MakeOf, Spreading, balancer, one_of, spray};
use crate::fabric::{Fabric, LinkId, NodeId};
use crate::forwarding::{Next, Table, TableRow};
use crate::nearer::Nearer;
use crate::packet::{Flags, Packet, hash};
use crate::weights::{self, Weights};
use linkpool_engine::hash_u64;
use linkpool_units::{HostId, Time};
use std::collections::HashSet;

/// Shortest-path forwarding with ECMP over equal-cost links.
///
/// Each node has a row with an entry per *column*; a host with one NIC shares the column of its
/// switch. Where an entry leaves a choice of links, a hash of the packet's entropy chooses, salted
/// per switch (the same hash at every hop would send all traffic of an edge switch over one core).
/// A pinned packet knows its way (see [`crate::source_route`]).
#[derive(Debug)]
pub struct Routes {
    nodes: Vec<Row>,
    /// Per host: its only link, or [`LinkId::NONE`] if it has several. Every packet to a host and from it asks
    /// for it, so it is apart from the rows.
    only_links: Vec<LinkId>,
    table: Table,
    /// Per host: its column, and the link to it from the switch of that column.
    columns: Vec<u32>,
    last_links: Vec<LinkId>,
    spreading: Spreading,
    gap: Option<Time>,
    seed: u64,
}

/// How switches choose among links of equal cost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routing {
    /// By what.
    pub spreading: Spreading,
    /// The least pause between two flowlets, where there are flowlets.
    pub gap: Option<Time>,
    /// In which shares.
    pub weights: Weights,
}

/// What a node needs to forward packets. It is in one cache line.
#[derive(Debug)]
#[repr(align(32))]
struct Row {
    /// Its row in the table; a host with one NIC needs none.
    row: TableRow,
    /// Its own column, or none.
    column: u32,
    /// Its links: their number, and the first.
    ports: u32,
    first_link: LinkId,
    salt: u32,
}

const NO_COLUMN: u32 = u32::MAX;

impl Routes {
    /// Finds all shortest paths (by number of links) of `fabric`, for plain ECMP; `seed` salts the
    /// hashes.
    pub fn new(fabric: &Fabric, seed: u64) -> Routes {
        Routes::with(fabric, seed, &Routing::default(), &HashSet::new())
    }

    /// As [`Routes::new`], for any way to choose, and avoiding the links that are `down`. Where no
    /// path is left, packets go on as if all links worked, until they come to one that does not:
    /// every switch without a way left agrees on that, so they go round in no circle.
    pub fn with(fabric: &Fabric, seed: u64, routing: &Routing, down: &HashSet<LinkId>) -> Routes {
        let links = fabric.links();
        // The node that stands for a host: its switch if it has one NIC, else itself. Where there are servers, which way a packet
        // takes depends on the host.
        let attachment = |host: NodeId| {
            let mut own = fabric.links_from(host);
            if own.len() == 1 && fabric.servers().is_none() {
                own.next().map_or(host, |link| links[link.index()].to)
            } else {
                host
            }
        };
        let mut column_of_node = vec![NO_COLUMN; fabric.nodes()];
        let mut column_nodes = Vec::new();
        let mut columns = Vec::with_capacity(fabric.hosts());
        let mut last_links = Vec::with_capacity(fabric.hosts());
        for host in NodeId::first(fabric.hosts()) {
            let node = attachment(host);
            let column = &mut column_of_node[node.index()];
            if *column == NO_COLUMN {
                *column = column_nodes.len() as u32;
                column_nodes.push(node);
            }
            columns.push(*column);
            let only = fabric.links_from(host).next().filter(|_| node != host);
            last_links.push(only.map_or(LinkId::NONE, |only| fabric.reverse(only)));
        }
        // Hosts with one NIC need no row.
        let needs_row = |node: NodeId| node.index() >= fabric.hosts() || fabric.links_from(node).len() != 1;
        let with_row: Vec<NodeId> = NodeId::first(fabric.nodes()).filter(|n| needs_row(*n)).collect();
        // A host that needs no row is on no way, unless hosts forward.
        let counts = |node: NodeId| fabric.hosts_forward() || needs_row(node);
        let mut nearer = Nearer::new(fabric, down, counts);
        // Where nothing is left: the links that would lead nearer if all worked.
        let mut once = (!down.is_empty()).then(|| Nearer::new(fabric, &HashSet::new(), counts));
        let mut table = Table::default();
        let mut ways = vec![vec![Next::NOWHERE; column_nodes.len()]; with_row.len()];
        // Of each node, the links to the target before, and their entry.
        let mut before: Vec<(Vec<u64>, Next)> = vec![(Vec::new(), Next::NOWHERE); with_row.len()];
        for (column, target) in column_nodes.iter().enumerate() {
            nearer.search(*target);
            if let Some(once) = &mut once {
                once.search(*target);
            }
            let capacity = match routing.weights {
                Weights::Capacity => {
                    weights::capacities(fabric, nearer.distance(), *target, |node| nearer.links(fabric, node))
                }
                _ => Vec::new(),
            };
            let weight = |link: &LinkId| match &routing.weights {
                Weights::Equal => 1,
                Weights::Capacity => weights::over(fabric, *link, &capacity),
                Weights::Given(given) => given.get(link).copied().unwrap_or(1).into(),
            };
            let columns = with_row.iter().zip(&mut before).zip(&mut ways).filter(|((n, _), _)| *n != target);
            for ((node, before), ways) in columns {
                let (mut bits, mut weighted) = (nearer.bits(*node), routing.weights != Weights::Equal);
                let mut of = &nearer;
                if let (Some(once), true) = (&once, bits.iter().all(|word| *word == 0)) {
                    (bits, weighted, of) = (once.bits(*node), false, once);
                }
                if weighted {
                    let links = of.links(fabric, *node);
                    ways[column] =
                        table.next_of(&weights::repeated(&links, &links.iter().map(weight).collect::<Vec<_>>()));
                    continue;
                }
                if bits != before.0 {
                    *before = (bits.to_vec(), table.next_of(&of.links(fabric, *node)));
                }
                ways[column] = before.1;
            }
        }
        let mut rows = vec![TableRow::NONE; fabric.nodes()];
        for (node, ways) in with_row.iter().zip(&ways) {
            let own = column_of_node[node.index()];
            rows[node.index()] = table.push_row(ways, (own != NO_COLUMN).then_some(own as usize));
        }
        let nodes = NodeId::first(fabric.nodes())
            .map(|node| Row {
                row: rows[node.index()],
                column: column_of_node[node.index()],
                ports: fabric.links_from(node).len() as u32,
                first_link: fabric.links_from(node).next().unwrap_or(LinkId::NONE),
                salt: hash_u64(hash_u64(seed) ^ u64::from(node)) as u32,
            })
            .collect();
        let only_link = |host: NodeId| {
            let only = fabric.links_from(host).next().filter(|_| !needs_row(host));
            only.unwrap_or(LinkId::NONE)
        };
        let only_links = NodeId::first(fabric.hosts()).map(only_link).collect();
        let Routing { spreading, gap, .. } = *routing;
        Routes { nodes, only_links, table, columns, last_links, spreading, gap, seed }
    }

    /// By host: what `find` finds for the first host of its column. Hosts of one column have the same ways but
    /// for the last link.
    pub(crate) fn by_column<T: Copy>(&self, mut find: impl FnMut(HostId) -> T) -> Vec<T> {
        let mut found: Vec<Option<T>> = Vec::new();
        let hosts = self.columns.iter().enumerate();
        hosts
            .map(|(host, column)| {
                let column = *column as usize;
                found.resize(found.len().max(column + 1), None);
                *found[column].get_or_insert_with(|| find(HostId::new(host)))
            })
            .collect()
    }

    /// How switches choose among links of equal cost.
    pub(crate) fn spreading(&self) -> Spreading {
        self.spreading
    }

    /// Do switches spray packets?
    pub(crate) fn spray(&self) -> bool {
        self.spreading == Spreading::Spray
    }

    /// What `make` makes of that which chooses at switches by these routes; none: a hash chooses.
    pub(crate) fn balancer<M: MakeOf>(&self, fabric: &Fabric, make: M) -> Option<M::Made> {
        balancer((self.spreading, self.gap), fabric, self.seed, make)
    }

    /// By link, of `links`: does some node have it as one of several for a destination?
    pub(crate) fn choice_links(&self, links: usize) -> Box<[bool]> {
        let mut are_choices = vec![false; links].into_boxed_slice();
        self.table.choice_links(|link| are_choices[link.index()] = true);
        are_choices
    }

    /// The link on which `node` sends `packet` on if it chooses by hash; of a pinned packet's route
    /// this hop is taken off.
    #[inline(always)]
    pub fn next_link(&self, node: NodeId, packet: &mut Packet) -> LinkId {
        match self.only_link(node) {
            Some(only) => only,
            None => self.one_of_several(node, packet),
        }
    }

    /// The same, where `node` has several links or is a switch.
    #[inline(never)]
    fn one_of_several(&self, node: NodeId, packet: &mut Packet) -> LinkId {
        self.at(node).next_link(packet)
    }

    /// The link on which switch `node`, which has no balancer, sends on `packet`, which has come to it by link `ingress`.
    pub(crate) fn onward(&self, node: NodeId, ingress: LinkId, packet: &mut Packet) -> LinkId {
        if self.spray() {
            self.at(node).onward::<true>(ingress, packet)
        } else {
            self.at(node).onward::<false>(ingress, packet)
        }
    }

    /// The state that `node`, which has several links or is a switch, needs to forward packets.
    #[inline]
    pub(crate) fn at(&self, node: NodeId) -> RoutesAt<'_> {
        let Routes { nodes, table, columns, last_links, .. } = self;
        RoutesAt { row: &nodes[node.index()], table, columns, last_links }
    }

    /// The only link that leaves `node`, if it has one link.
    #[inline]
    pub(crate) fn only_link(&self, node: NodeId) -> Option<LinkId> {
        self.only_links.get(node.index()).copied().filter(|link| *link != LinkId::NONE)
    }

    /// Is there a path from one host to another?
    pub fn reachable(&self, fabric: &Fabric, from: HostId, to: HostId) -> bool {
        let first = self.only_link(NodeId::from(from)).map_or(NodeId::from(from), |l| fabric.links()[l.index()].to);
        !self.links_towards(first, to).is_empty()
    }

    /// The links that lead nearer to host `to` at `node`.
    pub fn links_towards(&self, node: NodeId, to: HostId) -> Vec<LinkId> {
        if let Some(only) = self.only_link(node) {
            return vec![only];
        }
        let row = &self.nodes[node.index()];
        let column = self.columns[to.index()];
        if row.column == column {
            return vec![self.last_links[to.index()]];
        }
        let mut links = self.table.links(self.table.next(row.row, column));
        links.dedup(); // weights repeat them
        links
    }

    /// The number of columns.
    pub(crate) fn columns(&self) -> u32 {
        self.columns.iter().max().map_or(0, |last| last + 1)
    }

    /// What `node`, which has several links or is a switch, knows of `column`; none: it is its own.
    pub(crate) fn entry(&self, node: NodeId, column: u32) -> Option<Next> {
        let row = &self.nodes[node.index()];
        let knows = self.only_link(node).is_none() && row.column != column;
        knows.then(|| self.table.next(row.row, column))
    }

    /// The links that lead from `node`, which has several links or is a switch, to the hosts of `column`.
    pub(crate) fn links_to_column(&self, fabric: &Fabric, node: NodeId, column: u32) -> Vec<LinkId> {
        match self.entry(node, column) {
            Some(next) => self.table.links(next),
            None if self.nodes[node.index()].column == column => fabric
                .links_from(node)
                .filter(|link| self.columns.get(fabric.links()[link.index()].to.index()) == Some(&column))
                .collect(),
            None => Vec::new(),
        }
    }

    /// The links that a packet of this entropy takes from `from`.
    pub fn path(&self, fabric: &Fabric, from: HostId, mut packet: Packet) -> Vec<LinkId> {
        let mut node = NodeId::from(from);
        let mut path = Vec::new();
        while node != NodeId::from(packet.dst()) {
            let link = self.next_link(node, &mut packet);
            path.push(link);
            node = fabric.links()[link.index()].to;
        }
        path
    }
}

/// Routes as seen from one node.
#[derive(Debug)]
pub(crate) struct RoutesAt<'a> {
    row: &'a Row,
    table: &'a Table,
    columns: &'a [u32],
    last_links: &'a [LinkId],
}

impl RoutesAt<'_> {
    /// Prefetches the entry of the table that [`RoutesAt::next_link`] will read first.
    #[inline]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        self.table.prefetch(self.row.row, self.columns[packet.dst().index()]);
    }

    /// As [`Routes::next_link`], where `node` has several links or is a switch.
    #[inline(always)]
    pub(crate) fn next_link(&self, packet: &mut Packet) -> LinkId {
        self.onward::<false>(LinkId::NONE, packet)
    }

    /// The link on which a switch without a balancer sends on `packet`, which has come to it by link `ingress`. `SPRAY`: switches spray
    /// packets; otherwise a hash of the packet's entropy chooses.
    #[inline(always)]
    pub(crate) fn onward<const SPRAY: bool>(&self, ingress: LinkId, packet: &mut Packet) -> LinkId {
        match self.next(packet) {
            Ok(link) => link,
            Err(next) => self.table.choose(next, |links| {
                let salt = self.row.salt;
                one_of(links, if SPRAY { spray::draw(salt, ingress, packet.arrival) } else { hash(salt, packet) })
            }),
        }
    }

    /// The link on which `packet` goes on, if there is only one; `Err`: the links among which a balancer chooses.
    #[inline(always)]
    pub(crate) fn way(&self, packet: &mut Packet) -> Result<LinkId, Links<'_>> {
        self.next(packet).or_else(|next| self.links(next))
    }

    /// The link that leads to `host`, if there is only one; `Err`: the links of equal cost to it.
    pub(crate) fn towards(&self, host: HostId) -> Result<LinkId, Links<'_>> {
        self.next_towards(host).or_else(|next| self.links(next))
    }

    /// What tells the hashes of the node from those of others.
    pub(crate) fn salt(&self) -> u32 {
        self.row.salt
    }

    #[inline(always)]
    fn links(&self, next: Next) -> Result<LinkId, Links<'_>> {
        match self.table.choices(next) {
            1 => Ok(self.table.choice(next, 0)),
            count => Err(Links { count, salt: self.row.salt, next, table: self.table }),
        }
    }

    /// The link on which `packet` goes on, if there is nothing to choose; `Err`: the table leaves a
    /// choice of links.
    #[inline(always)]
    fn next(&self, packet: &mut Packet) -> Result<LinkId, Next> {
        let row = self.row;
        if packet.flags.has(Flags::PINNED) {
            return Ok(row.next_pinned_link(packet));
        }
        self.next_towards(packet.dst())
    }

    /// The same, of a packet to `host` whose path is not pinned.
    #[inline(always)]
    fn next_towards(&self, host: HostId) -> Result<LinkId, Next> {
        let (row, column) = (self.row, self.columns[host.index()]);
        if row.column == column {
            return Ok(self.last_links[host.index()]);
        }
        Err(self.table.next(row.row, column))
    }
}

/// The links of a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links<'a> {
    /// Their number.
    pub(crate) count: u32,
    /// What tells the hashes of the node from those of others.
    pub(crate) salt: u32,
    next: Next,
    table: &'a Table,
}

impl Links<'_> {
    /// Link number `i`.
    #[inline]
    pub(crate) fn link(&self, i: u32) -> LinkId {
        self.table.choice(self.next, i)
    }

    /// The first, if each link but the first follows the one before it.
    #[inline]
    pub(crate) fn first_of_run(&self) -> Option<LinkId> {
        self.next.first_of_run()
    }
}

impl Row {
    /// The packet knows its way.
    #[cold]
    #[inline(never)]
    fn next_pinned_link(&self, packet: &mut Packet) -> LinkId {
        let port = packet.entropy % self.ports;
        packet.entropy /= self.ports;
        self.first_link.plus(port)
    }
}
