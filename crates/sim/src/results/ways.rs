//! What the paths between two nodes cost a packet, and what they carry together.

use linkpool_network::{Fabric, LinkId, LinkSpec, NodeId};
use std::collections::{BTreeMap, VecDeque};

/// The cost of a path for one packet, stored and forwarded at each node.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Cost {
    /// Propagation, ps.
    pub(crate) delay: f64,
    /// Serialisation of a byte on all links, ps.
    pub(crate) byte: f64,
}

impl Cost {
    pub(crate) fn of(link: &LinkSpec) -> Cost {
        Cost { delay: link.delay.0 as f64, byte: 8e12 / link.rate.0 as f64 }
    }

    /// Picoseconds for a packet of this size.
    pub(crate) fn at(self, bytes: u64) -> f64 {
        self.delay + self.byte * bytes as f64
    }

    fn then(self, next: Cost) -> Cost {
        Cost { delay: self.delay + next.delay, byte: self.byte + next.byte }
    }

    fn is_as_good_as(self, other: Cost) -> bool {
        self.delay <= other.delay && self.byte <= other.byte
    }
}

/// The costs of the paths of which none is better for packets of all sizes, the least delay first.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Costs(Vec<Cost>);

impl Costs {
    /// Of the way from a node to itself.
    fn here() -> Costs {
        Costs(vec![Cost::default()])
    }

    /// Picoseconds for a packet of this size on the quickest path.
    pub(crate) fn at(&self, bytes: u64) -> f64 {
        self.0.iter().map(|cost| cost.at(bytes)).fold(f64::INFINITY, f64::min)
    }

    fn add(&mut self, cost: Cost) {
        if !self.0.iter().any(|known| known.is_as_good_as(cost)) {
            self.0.retain(|known| !cost.is_as_good_as(*known));
            let place = self.0.partition_point(|known| known.delay < cost.delay);
            self.0.insert(place, cost);
        }
    }

    fn extend(&mut self, costs: impl Iterator<Item = Cost>) {
        costs.for_each(|cost| self.add(cost));
    }

    fn then(&self, next: Cost) -> impl Iterator<Item = Cost> {
        self.0.iter().map(move |cost| cost.then(next))
    }
}

/// Links of a cut with the same ways to and from them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Part {
    pub(crate) links: usize,
    /// Of all these links together, bytes/ps.
    pub(crate) rate: f64,
    /// From the first node to the links.
    pub(crate) before: Costs,
    /// From their queues to the last node, but for their own serialisation.
    pub(crate) after: Costs,
}

/// The paths from one node to another.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ways {
    /// The most links on a path.
    pub(crate) hops: usize,
    pub(crate) whole: Costs,
    /// Each path has one link in each cut.
    pub(crate) cuts: Vec<Vec<Part>>,
}

/// Links of a level from one node to another.
#[derive(Clone, Copy)]
struct Edge {
    links: usize,
    from: u32,
    to: u32,
    cost: Cost,
}

impl Ways {
    /// Those that have one link of each of these levels, as [`linkpool_network::Routes::levels`] lists them.
    pub(crate) fn by_levels(fabric: &Fabric, levels: &[Vec<LinkId>]) -> Ways {
        let spec = |link: &LinkId| &fabric.links()[link.index()];
        let edge = |link: &LinkId| {
            let spec = spec(link);
            Edge { links: 1, from: spec.from.into(), to: spec.to.into(), cost: Cost::of(spec) }
        };
        let alike = |level: &Vec<LinkId>| {
            let first = edge(&level[0]);
            let all = level.iter().all(|link| Cost::of(spec(link)) == first.cost);
            all.then_some(vec![Edge { links: level.len(), from: 0, to: 0, ..first }])
        };
        // If the links of each level are alike, all paths are: nodes need not be distinguished.
        let alike: Option<Vec<Vec<Edge>>> = levels.iter().map(alike).collect();
        Ways::by_edges(&alike.unwrap_or_else(|| levels.iter().map(|level| level.iter().map(edge).collect()).collect()))
    }

    /// All paths from node `from`, shortest or not, by the node to which they lead; hosts pass nothing on. What
    /// they carry together is not known.
    pub(crate) fn of_any_length(fabric: &Fabric, from: NodeId) -> Vec<Ways> {
        let mut costs = vec![Costs::default(); fabric.nodes()];
        costs[from.index()] = Costs::here();
        let mut changed = VecDeque::from([from]);
        while let Some(node) = changed.pop_front() {
            let here = costs[node.index()].clone();
            for link in fabric.links_from(node).map(|link| &fabric.links()[link.index()]) {
                let there = &mut costs[link.to.index()];
                let before = there.clone();
                there.extend(here.then(Cost::of(link)));
                if *there != before && link.to.index() >= fabric.hosts() {
                    changed.push_back(link.to);
                }
            }
        }
        // Rounding adds up to less than on a path over all switches.
        let hops = fabric.nodes() - fabric.hosts();
        costs.into_iter().map(|whole| Ways { hops, whole, cuts: Vec::new() }).collect()
    }

    fn by_edges(levels: &[Vec<Edge>]) -> Ways {
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
            return Ways { hops: 0, whole: Costs::here(), cuts: Vec::new() };
        };
        // By level: what leads to the nodes before it, and what leads on from those behind it.
        let mut before = vec![BTreeMap::from([(first[0].from, Costs::here())])];
        for level in levels {
            let mut next: BTreeMap<u32, Costs> = BTreeMap::new();
            for edge in level {
                next.entry(edge.to).or_default().extend(before[before.len() - 1][&edge.from].then(edge.cost));
            }
            before.push(next);
        }
        let mut after = vec![BTreeMap::from([(last[0].to, Costs::here())])];
        for level in levels.iter().rev() {
            let mut next: BTreeMap<u32, Costs> = BTreeMap::new();
            for edge in level {
                next.entry(edge.from).or_default().extend(after[after.len() - 1][&edge.to].then(edge.cost));
            }
            after.push(next);
        }
        let cut = |(i, level): (usize, &Vec<Edge>)| {
            let crossing = |edge: &Edge| {
                (edge.links, edge.cost, before[i][&edge.from].clone(), after[levels.len() - 1 - i][&edge.to].clone())
            };
            parts(level.iter().map(crossing))
        };
        Ways {
            hops: levels.len(),
            whole: before[levels.len()][&last[0].to].clone(),
            cuts: levels.iter().enumerate().map(cut).collect(),
        }
    }

    /// These, which need not be equally long. Cuts are their first links, their second, ..., the last of
    /// a shorter path in place of what it lacks; and the slowest.
    pub(crate) fn by_paths(fabric: &Fabric, paths: &[Vec<LinkId>]) -> Ways {
        let costs = |links: &[LinkId]| -> Cost {
            links.iter().map(|link| Cost::of(&fabric.links()[link.index()])).fold(Cost::default(), Cost::then)
        };
        let cut = |place: &dyn Fn(&[LinkId]) -> usize| {
            // Paths that share the link have it once.
            let mut crossed: BTreeMap<LinkId, (Costs, Costs)> = BTreeMap::new();
            for path in paths {
                let place = place(path);
                let (before, after) = crossed.entry(path[place]).or_default();
                before.add(costs(&path[..place]));
                after.add(costs(&path[place + 1..]));
            }
            parts(crossed.into_iter().map(|(link, (before, after))| (1, costs(&[link]), before, after)))
        };
        let slowness = |link: &LinkId| costs(&[*link]).byte;
        let slowest = |path: &[LinkId]| {
            let slowest = path.iter().map(slowness).fold(0.0, f64::max);
            path.iter().position(|link| slowness(link) == slowest).expect("a path has a link")
        };
        let mut whole = Costs::default();
        whole.extend(paths.iter().map(|path| costs(path)));
        let hops = paths.iter().map(Vec::len).max().unwrap_or_default();
        let mut cuts: Vec<Vec<Part>> = (0..hops).map(|i| cut(&|path| i.min(path.len() - 1))).collect();
        cuts.push(cut(&slowest));
        Ways { hops, whole, cuts }
    }
}

/// Numbers of links and their cost, with the ways to them and from their other ends.
fn parts(links: impl Iterator<Item = (usize, Cost, Costs, Costs)>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (links, cost, before, Costs(behind)) in links {
        let propagation = Cost { delay: cost.delay, byte: 0.0 };
        let after = Costs(behind.into_iter().map(|cost| propagation.then(cost)).collect());
        let rate = links as f64 / cost.byte;
        match parts.iter_mut().find(|part| part.before == before && part.after == after) {
            Some(part) => {
                part.links += links;
                part.rate += rate;
            }
            None => parts.push(Part { links, rate, before, after }),
        }
    }
    parts
}
