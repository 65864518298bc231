//! Fat-trees in the `.topo` files of htsim (csg-htsim).
//!
//! A header with `Nodes`, `Tiers` and `Podsize`, and a section `Tier n` for each tier from the edge
//! upwards. A tier's links are the links below it, between two switches as many as its `Bundle`:
//! parallel cables. Half of a switch's latency goes to each of the two links by which a packet
//! arrives and leaves.

use linkpool_network::{Layer, MOST_HOSTS};
use linkpool_units::{Rate, Time, counted};

use super::GraphFile;
use super::MOST_CABLES;
use super::{EdgeTable, NodeKind, NodeTable};
use crate::quoted;

/// The keys of a tier; in lower case, as their case does not matter.
const KEYS_AND_TIER: [&str; 8] = [
    "tier",
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "radix_down",
    "radix_up",
    "bundle",
    "oversubscribed",
    "switch_latency_ns",
];

/// The defaults: one link, no oversubscription, no latency.
const DEFAULTS: [(&str, u64); 3] = [("bundle", 1), ("oversubscribed", 1), ("switch_latency_ns", 0)];

/// No number in a file is larger: in nanoseconds, some of them still fit into [`Time`] together.
const LARGEST_NUMBER: u64 = 1_000_000_000_000_000;

/// A number and the line that it stands in; none where a default stands.
#[derive(Clone, Copy)]
struct Number(u64, usize);

/// Names in lower case, with their numbers.
type Section = Vec<(String, Number)>;

pub(super) fn parse(text: &str) -> Result<GraphFile, String> {
    let (header, tiers) = sections(text)?;
    let of_header = |key| find(&header, key).ok_or(format!("says no {key:?} before its tiers"));
    let [nodes, number, pod] = [of_header("nodes")?, of_header("tiers")?, of_header("podsize")?];
    if !(2..=3).contains(&number.0) || tiers.len() as u64 != number.0 {
        return Err(format!(
            "line {}: has {} tiers and describes {}; 2 or 3 are possible",
            number.1,
            number.0,
            tiers.len()
        ));
    }
    let divide = |a: u64, b: u64, line: usize, what: &str| match b {
        0 => Err(format!("line {line}: must be above zero")),
        _ if a.is_multiple_of(b) => Ok(a / b),
        _ => Err(format!("line {line}: {what}, {a}, cannot be shared out evenly by {b}")),
    };
    let pods = divide(nodes.0, pod.0, pod.1, "nodes")?;
    let tier = |t: usize, key: &str| of_tier(&tiers, t, key);
    // Switches of a pod by tier, from the numbers of ports.
    let edges = divide(pod.0, tier(0, "radix_down")?.0, tier(0, "radix_down")?.1, "hosts of a pod")?;
    let links_up = edges.saturating_mul(tier(0, "radix_up")?.0);
    let (pods, edges, aggregations) = if tiers.len() == 3 {
        let down = tier(1, "radix_down")?;
        (pods, edges, divide(links_up, down.0, down.1, "links to the aggregation switches of a pod")?)
    } else {
        // Of two tiers, pods are nothing of their own: all edge switches are joined to all above.
        let down = tier(1, "radix_down")?;
        let (edges, links_up) = (pods.saturating_mul(edges), pods.saturating_mul(links_up));
        (1, edges, divide(links_up, down.0, down.1, "links to the core")?)
    };
    // With three tiers, the number of core switches to which an aggregation switch is joined.
    let each = if tiers.len() == 3 {
        let (up, bundle) = (tier(1, "radix_up")?, tier(2, "bundle")?);
        divide(up.0, bundle.0, up.1, "links of an aggregation switch")?
    } else {
        0
    };
    let bundles = [0, 1, 2].map(|t| if t < tiers.len() { tier(t, "bundle") } else { Ok(Number(1, 0)) });
    let [of_hosts, of_edges, of_core] = bundles;
    let (of_hosts, of_edges, of_core) = (of_hosts?, of_edges?.0, of_core?.0);
    if of_hosts.0 != 1 {
        return Err(format!("line {}: bundles of {} to a host; write 1, or leave it out", of_hosts.1, of_hosts.0));
    }
    let ports = edges.saturating_mul(of_edges).saturating_add(each.saturating_mul(of_core));
    fits(nodes, nodes.0.saturating_add(pods.saturating_mul(aggregations).saturating_mul(ports)))?;
    let mut file = Builder { file: GraphFile::default() };
    (0..nodes.0).for_each(|i| file.node(format!("h{i}"), Layer::Host, nodes.1));
    let top = if tiers.len() == 3 { Layer::Aggregation } else { Layer::Core };
    let letter = if tiers.len() == 3 { 'a' } else { 'c' };
    for pod in 0..pods {
        (0..edges).for_each(|i| file.node(format!("e{pod}.{i}"), Layer::Edge, nodes.1));
        (0..aggregations).for_each(|i| file.node(format!("{letter}{pod}.{i}"), top, nodes.1));
    }
    let wire = |t: usize| wire(&tiers, t);
    let hosts_per_edge = tier(0, "radix_down")?.0;
    for host in 0..nodes.0 {
        let edge = host / hosts_per_edge;
        file.edge(format!("h{host}"), format!("e{}.{}", edge / edges, edge % edges), wire(0)?);
    }
    for pod in 0..pods {
        full_mesh(tier(0, "radix_up")?, tier(1, "bundle")?, aggregations, "aggregation switches of a pod")?;
        for (edge, aggregation) in (0..edges).flat_map(|e| (0..aggregations).map(move |a| (e, a))) {
            for _ in 0..of_edges {
                file.edge(format!("e{pod}.{edge}"), format!("{letter}{pod}.{aggregation}"), wire(1)?);
            }
        }
    }
    if tiers.len() == 3 {
        full_mesh(tier(2, "radix_down")?, tier(2, "bundle")?, pods, "pods")?;
        (0..aggregations * each).for_each(|i| file.node(format!("c{i}"), Layer::Core, nodes.1));
        for (pod, aggregation) in (0..pods).flat_map(|p| (0..aggregations).map(move |a| (p, a))) {
            for core in aggregation * each..(aggregation + 1) * each {
                for _ in 0..of_core {
                    file.edge(format!("a{pod}.{aggregation}"), format!("c{core}"), wire(2)?);
                }
            }
        }
    }
    Ok(file.file)
}

struct Builder {
    file: GraphFile,
}

impl Builder {
    fn node(&mut self, id: String, layer: Layer, line: usize) {
        let kind = if layer == Layer::Host { NodeKind::Host } else { NodeKind::Switch };
        self.file.nodes.push((format!("line {line}"), NodeTable::new(id, kind, Some(layer))));
    }

    fn edge(&mut self, source: String, target: String, (rate, delay, line): (Rate, Time, usize)) {
        let edge = EdgeTable { source, target, rate: Some(rate), delay: Some(delay) };
        self.file.edges.push((format!("line {line}"), edge));
    }
}

/// Are there few enough hosts, whose number stands in the file, and cables? Nothing is built before
/// that is known.
fn fits(Number(hosts, line): Number, cables: u64) -> Result<(), String> {
    if hosts > u64::from(MOST_HOSTS) {
        return Err(format!("line {line}: makes {hosts} hosts; at most {MOST_HOSTS} can be simulated"));
    }
    if cables > MOST_CABLES {
        return Err(format!("makes {cables} links; at most {MOST_CABLES} can be simulated"));
    }
    Ok(())
}

/// Do the ports, in bundles, reach each of `others` once?
fn full_mesh(ports: Number, bundle: Number, others: u64, what: &str) -> Result<(), String> {
    if bundle.0.checked_mul(others) == Some(ports.0) {
        return Ok(());
    }
    let found = counted(ports.0, "port");
    Err(format!("line {}: {found} in bundles of {} cannot join each of {others} {what}", ports.1, bundle.0))
}

/// Rate and delay of the links below tier `t`, and the line of their speed.
fn wire(tiers: &[Section], t: usize) -> Result<(Rate, Time, usize), String> {
    let get = |key| of_tier(tiers, t, key);
    let speed = get("downlink_speed_gbps")?;
    let below = if t == 0 { 0 } else { of_tier(tiers, t - 1, "switch_latency_ns")?.0 };
    let half_latencies = Time::from_ns(below + get("switch_latency_ns")?.0).0 / 2;
    let delay = Time(Time::from_ns(get("downlink_latency_ns")?.0).0 + half_latencies);
    if speed.0 > Rate::LARGEST.0 / Rate::gbps(1).0 {
        return Err(format!("line {}: a cable of {}Gbps; a rate is at most {}", speed.1, speed.0, Rate::LARGEST));
    }
    Ok((Rate::gbps(speed.0), delay, speed.1))
}

fn find(section: &Section, key: &str) -> Option<Number> {
    section.iter().find(|(known, _)| known == key).map(|(_, number)| *number)
}

fn of_tier(tiers: &[Section], t: usize, key: &str) -> Result<Number, String> {
    let default = DEFAULTS.iter().find(|(known, _)| *known == key).map(|(_, n)| Number(*n, 0));
    find(&tiers[t], key).or(default).ok_or(format!("says no {key:?} of tier {t}"))
}

/// The header, and the tiers in order.
fn sections(text: &str) -> Result<(Section, Vec<Section>), String> {
    let (mut header, mut tiers): (Section, Vec<Section>) = (Vec::new(), Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let mut words = content.split_whitespace();
        let Some(name) = words.next().filter(|word| !word.starts_with('#')) else { continue };
        let key = name.to_lowercase();
        let known = if tiers.is_empty() { &["tier", "nodes", "tiers", "podsize"][..] } else { &KEYS_AND_TIER[..] };
        if !known.contains(&key.as_str()) {
            let known = known.join(", ");
            // A file of another format is not quoted.
            let what = if header.is_empty() { "its first word".to_string() } else { quoted(name) };
            return Err(format!("line {line}: {what} is not known here; known: {known}"));
        }
        let number = words.next().and_then(|word| word.parse().ok()).filter(|n| *n <= LARGEST_NUMBER);
        let number = number.ok_or(format!("line {line}: {name} must be followed by a whole number, up to 10^15"))?;
        let number = Number(number, line);
        if key == "tier" {
            if number.0 != tiers.len() as u64 {
                return Err(format!("line {line}: tier {} where tier {} is due", number.0, tiers.len()));
            }
            tiers.push(Vec::new());
            continue;
        }
        let section = tiers.last_mut().unwrap_or(&mut header);
        if find(section, &key).is_some() {
            return Err(format!("line {line}: {name} stands here twice"));
        }
        section.push((key, number));
    }
    Ok((header, tiers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_hosts_and_cables_fit_as_anywhere() {
        let most = u64::from(MOST_HOSTS);
        assert_eq!(fits(Number(most, 3), MOST_CABLES), Ok(()));
        assert!(fits(Number(most + 1, 3), 0).unwrap_err().starts_with("line 3: makes 1048577 hosts; at most 1048576"));
        assert!(fits(Number(2, 3), MOST_CABLES + 1).unwrap_err().starts_with("makes 500001 links; at most 500000"));
    }

    #[test]
    fn a_cable_is_as_fast_as_a_rate_can_be() {
        let tier = |speed| {
            let section = [("downlink_speed_gbps", speed), ("bundle", 2), ("downlink_latency_ns", 5)];
            vec![section.map(|(key, n)| (key.to_string(), Number(n, 9))).to_vec()]
        };
        let most = Rate::LARGEST.0 / Rate::gbps(1).0;
        assert_eq!(wire(&tier(most), 0), Ok((Rate::gbps(most), Time::from_ns(5), 9)));
        let error = wire(&tier(most + 1), 0).unwrap_err();
        assert!(error.starts_with(&format!("line 9: a cable of {}Gbps", most + 1)), "{error}");
    }
}
