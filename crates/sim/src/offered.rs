//! What workloads offer to each tier of the fabric, before anything runs.

use linkpool_network::{Fabric, Layer, TierTraffic, traffic_between, uniform_traffic};
use linkpool_scenario::{Scenario, Workload};
use linkpool_workload::kinds::{Pairs, Workload as Kind};

/// The links from one layer to another, and what is offered to them.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLoad {
    /// The layer of the sending nodes.
    pub from: &'static str,
    /// The layer of the receiving nodes.
    pub to: &'static str,
    /// The capacity of these links together, bit/s.
    pub capacity: f64,
    /// Payload that is to pass these links, over their capacity.
    pub load: f64,
    /// The same of the link for which it is greatest, if hashes divide the traffic evenly. Of the links from hosts: where
    /// the hosts of a role alone send, that of one of these.
    pub busiest: f64,
}

/// The load that the workloads with a rate of arrivals offer to each tier, all together; none without such a workload.
/// Headers, ACKs and what is sent again are not counted.
pub fn offered_loads(scenario: &Scenario, fabric: &Fabric) -> Vec<OfferedLoad> {
    let mut loads: Vec<OfferedLoad> = Vec::new();
    // By whether hosts also send to their own racks: the traffic is the same for all workloads.
    for in_rack in [true, false] {
        // Bits a second of all workloads, and what hosts send that send most.
        let (mut bits, mut of_senders) = (0.0, 0.0);
        for workload in &scenario.workloads {
            let settings = workload.kind.settings();
            let others = matches!(settings.pairs(fabric.hosts() as u32), Pairs::Any { in_rack: false });
            if let Some(rate) = bit_rate(settings)
                && settings.bytes_between().is_none()
                && others != in_rack
            {
                bits += rate;
                of_senders += rate * fabric.hosts() as f64 / senders(scenario, workload, fabric.hosts());
            }
        }
        if bits > 0.0 {
            add(&mut loads, &uniform_traffic(fabric, in_rack), bits, of_senders);
        }
    }
    for settings in scenario.workloads.iter().map(|workload| workload.kind.settings()) {
        if let (Some(bits), Some(pairs)) = (bit_rate(settings), settings.bytes_between()) {
            add(&mut loads, &traffic_between(fabric, &pairs), bits, bits);
        }
    }
    loads
}

/// What arrives of a workload, bit/s.
fn bit_rate(settings: &dyn Kind) -> Option<f64> {
    Some(8.0 * settings.arrival_rate()? * settings.sizes().mean?)
}

/// Adds to `loads` what `bits` a second offer to `tiers`; `of_senders`: if all hosts sent as much as those that send most.
fn add(loads: &mut Vec<OfferedLoad>, tiers: &[TierTraffic], bits: f64, of_senders: f64) {
    for TierTraffic { from, to, capacity, passed, busiest } in tiers {
        let of_busiest = if *from == Layer::Host { of_senders } else { bits };
        let (from, to) = (from.name(), to.name());
        let place = loads.iter().position(|load| (load.from, load.to) == (from, to)).unwrap_or(loads.len());
        if place == loads.len() {
            loads.push(OfferedLoad { from, to, capacity: *capacity, load: 0.0, busiest: 0.0 });
        }
        loads[place].load += bits * passed / capacity;
        loads[place].busiest += of_busiest * busiest;
    }
}

/// How many of `hosts` hosts send flows of `workload`: all, those of its role, or those without one.
fn senders(scenario: &Scenario, workload: &Workload, hosts: usize) -> f64 {
    let Some(role) = &workload.role else { return hosts as f64 };
    let named = scenario.roles.iter().find(|one| one.name == *role).map(|one| f64::from(one.hosts));
    named.unwrap_or_else(|| hosts as f64 - scenario.roles.iter().map(|one| f64::from(one.hosts)).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(workloads: &str) -> Vec<(String, f64, f64)> {
        let text = format!(
            "duration = \"1ms\"\n[topology.fat-tree]\nk = 4\nhosts_per_edge = 8\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
             [transport.t]\ncontrol = \"reno\"\n{workloads}"
        );
        let scenario = crate::scenario(&text);
        let round = |x: f64| (x * 1e4).round() / 1e4;
        let named = |load: OfferedLoad| (format!("{}->{}", load.from, load.to), round(load.load), round(load.busiest));
        offered_loads(&scenario, &scenario.topology.fabric()).into_iter().map(named).collect()
    }

    fn poisson(more: &str) -> String {
        format!("[[workload.poisson]]\ntransport = \"t\"\nsize = \"10KB\"\n{more}\n")
    }

    /// 64 hosts on 16 uplinks of edge switches and as many of aggregation switches, all of one rate: 0.6 of the hosts'
    /// links is 4 x 0.6 of the uplinks, of which 56 of 63 leave the rack and 48 of 63 the pod.
    #[test]
    fn a_tree_of_four_to_one_is_offered_more_than_its_uplinks_carry() {
        let tier = |name: &str, load: f64| (name.to_string(), load, load);
        let expected = [
            tier("host->edge", 0.6),
            tier("edge->aggregation", 2.1333),
            tier("aggregation->core", 1.8286),
            tier("core->aggregation", 1.8286),
            tier("aggregation->edge", 2.1333),
            tier("edge->host", 0.6),
        ];
        assert_eq!(loads(&poisson("load = 0.6")), expected);
        let others = loads(&poisson("load = 0.3\nto = \"other-racks\""));
        assert_eq!(others[1..3], [tier("edge->aggregation", 1.2), tier("aggregation->core", 1.0286)]);
        // Two workloads offer what both offer.
        let both = format!("{}{}", poisson("load = 0.3"), poisson("load = 0.3"));
        assert_eq!(loads(&both), expected);
        assert_eq!(loads("[[workload.permutation]]\ntransport = \"t\"\n"), []);
    }

    /// Flows of 62.5 kB, 50 us apart, are 10 Gbit/s: all of the link of one host of 64, and of that of the one that receives.
    /// They stay in the pod, where each of two links has a half. Ten flows of a sender have a rate of arrivals; fewer have
    /// none, nor have those of one instant or that wait for others.
    #[test]
    fn a_trace_has_the_load_of_its_flows() {
        let flows = |count: u32, apart: u32, more: &str| {
            let flow = |i| format!("{{ from = 0, to = 8, size = \"62500B\", start = \"{}us\"{more} }}", i * apart);
            let all: Vec<String> = (0..count).map(flow).collect();
            loads(&format!("[[workload.trace]]\ntransport = \"t\"\nflows = [{}]\n", all.join(", ")))
        };
        let tier = |name: &str, load: f64, busiest: f64| (name.to_string(), load, busiest);
        let expected = [
            tier("host->edge", 0.0156, 1.0),
            tier("edge->aggregation", 0.0625, 0.5),
            tier("aggregation->edge", 0.0625, 0.5),
            tier("edge->host", 0.0156, 1.0),
        ];
        let passed = |loads: Vec<(String, f64, f64)>| loads.into_iter().filter(|tier| tier.1 > 0.0).collect::<Vec<_>>();
        assert_eq!(passed(flows(20, 50, "")), expected);
        assert_eq!(flows(10, 50, "").len(), 6);
        assert_eq!(flows(9, 50, ""), []);
        assert_eq!(flows(20, 0, ""), []);
        let waits = "[[workload.trace]]\ntransport = \"t\"\nflows = [";
        let more = (0..10).map(|i| format!("{{ from = 0, to = 8, size = \"1KB\", start = \"{i}us\" }}, "));
        let last = "{ from = 0, to = 8, size = \"1KB\", after = [0] }]\n";
        assert_eq!(loads(&format!("{waits}{}{last}", more.collect::<String>())), []);
    }

    /// 16 of 64 hosts send all that is 0.3 of the links from all hosts: 1.2 of their own links. The others are 48. Those
    /// that send to other racks send beside them; of two roles the busiest host may be in both.
    #[test]
    fn hosts_of_a_role_have_fuller_links() {
        let of = |more: &str| {
            let loads = loads(&format!("[roles]\nfew = 16\n{more}"));
            (loads[0].1, loads[0].2, loads[1].2 / loads[1].1)
        };
        let few = poisson("load = 0.3\nrole = \"few\"");
        assert_eq!(of(&few), (0.3, 1.2, 1.0));
        assert_eq!(of(&poisson("load = 0.3\nrole = \"others\"")), (0.3, 0.4, 1.0));
        assert_eq!(of(&format!("{few}{}", poisson("load = 0.3\nto = \"other-racks\""))), (0.6, 1.5, 1.0));
    }

    /// A load of the core is less of the hosts' links.
    #[test]
    fn a_load_may_be_that_of_another_tier() {
        let at_core = loads(&poisson("load = 0.6\nload_of = \"aggregation->core\""));
        assert_eq!(at_core[2].1, 0.6);
        assert_eq!(at_core[0].1, 0.1969);
    }
}
