//! The routes of a namespace of the fabric, by the words for `ip`: to each end of a host one, over
//! the links that the plan's routes allow, and a table for each link that a packet of its mark
//! takes.

use super::device;
use crate::address::End;
use linkpool_network::{LinkId, NodeId, Routes};

/// The next hop, whose address nobody has and nobody asks for: so a device has one neighbour,
/// whichever the destination.
const NEXT: &str = "169.254.0.1";

/// The devices over which packets leave `node` to `end`; the kernel chooses among several by a
/// hash.
fn towards(routes: &Routes, node: NodeId, end: End) -> Vec<u32> {
    if node == end.host.into() {
        return vec![device::of_end(end)];
    }
    routes.links_towards(node, end.host).into_iter().map(device::of_link).collect()
}

/// All routes of `node` to `ends`.
pub(super) fn words(routes: &Routes, node: NodeId, ends: &[End]) -> String {
    let route = |end: &End| {
        let hops: String =
            towards(routes, node, *end).into_iter().map(|device| format!(" nexthop {}", over(device))).collect();
        if hops.is_empty() { String::new() } else { format!("route add {}/32{hops}\n", end.address()) }
    };
    ends.iter().map(route).collect()
}

/// What sends packets with the mark of `link` over it.
pub(super) fn of_marked(link: LinkId) -> String {
    let device = device::of_link(link);
    format!("route add default {} table {device}\nrule add fwmark {device} lookup {device}\n", over(device))
}

fn over(device: u32) -> String {
    format!("via {NEXT} dev {} onlink", device::name(device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Side;
    use linkpool_network::{Fabric, HostId};
    use std::collections::HashSet;

    fn fat_tree() -> Fabric {
        let text = "duration = \"1s\"\n[topology.fat-tree]\nk = 4\nrate = \"1Gbps\"\ndelay = \"1us\"\n[transport.x]\n\
            control = \"reno\"\n[[workload.permutation]]\ntransport = \"x\"\n";
        linkpool_scenario::load(text, "test", None, &[]).unwrap().topology.fabric()
    }

    /// Whatever the switches choose, a packet of a fat-tree comes to its host over the links of a
    /// shortest path, and all of these can be chosen.
    #[test]
    fn each_choice_leads_to_the_end() {
        let fabric = fat_tree();
        let routes = Routes::new(&fabric, 1);
        let end = |host| End { host: HostId::new(host), side: Side::Receiving };
        for (from, to, hops, paths) in [(0, 1, 2, 1), (0, 2, 4, 2), (0, 15, 6, 4), (9, 3, 6, 4)] {
            let mut complete = HashSet::new();
            let mut begun: Vec<(NodeId, Vec<u32>)> = vec![(HostId::new(from).into(), Vec::new())];
            while let Some((node, path)) = begun.pop() {
                for device in towards(&routes, node, end(to)) {
                    let path: Vec<u32> = path.iter().copied().chain([device]).collect();
                    let link = LinkId::first(fabric.links().len()).find(|link| device::of_link(*link) == device);
                    match link {
                        Some(link) => begun.push((fabric.links()[link.index()].to, path)),
                        None => _ = complete.insert((device, path.len() - 1)),
                    }
                }
            }
            assert_eq!(complete, HashSet::from([(device::of_end(end(to)), hops)]));
            let all = ways(&fabric, &routes, HostId::new(from).into(), end(to));
            assert_eq!(all, paths, "{from} to {to}");
        }
    }

    /// The number of ways from `node` to `end`.
    fn ways(fabric: &Fabric, routes: &Routes, node: NodeId, end: End) -> usize {
        if node == end.host.into() {
            return 1;
        }
        let next = routes.links_towards(node, end.host);
        next.iter().map(|link| ways(fabric, routes, fabric.links()[link.index()].to, end)).sum()
    }

    #[test]
    fn routes_name_every_device() {
        let fabric = fat_tree();
        let routes = Routes::new(&fabric, 1);
        let end = |host| End { host: HostId::new(host), side: Side::Sending };
        let edge = fabric.links()[routes.links_towards(HostId::new(0).into(), HostId::new(1))[0].index()].to;
        let words = words(&routes, edge, &[end(0), end(15)]);
        let lines: Vec<&str> = words.lines().collect();
        assert!(lines[0].starts_with("route add 10.1.0.1/32 nexthop via") && lines[0].matches("nexthop").count() == 1);
        assert!(lines[1].starts_with("route add 10.1.0.16/32 ") && lines[1].matches("nexthop").count() == 2, "{words}");
        let marked = of_marked(LinkId::new(7));
        assert!(marked.contains("dev lp1007 onlink table 1007\nrule add fwmark 1007 lookup 1007\n"), "{marked}");
    }
}
