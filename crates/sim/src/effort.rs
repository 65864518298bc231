//! Estimates the work of a run, to order runs and to predict their time.

use linkpool_network::{Fabric, NodeId};
use linkpool_scenario::{Scenario, Workload};
use linkpool_workload::kinds::Setting;

/// The packet-hops that `scenario` lets expect: of data and ACKs, with no loss. A flow without a
/// size, and hosts that always have one more to send, are taken to fill the links of their hosts;
/// no workload sends more than the links from all hosts carry.
pub fn expected_hops(scenario: &Scenario) -> f64 {
    let fabric = scenario.topology.fabric();
    2.0 * mean_distance(&fabric) * expected_segments(scenario, &fabric)
}

/// The data segments that `scenario` lets expect, as [`expected_hops`] counts them.
pub(crate) fn expected_segments(scenario: &Scenario, fabric: &Fabric) -> f64 {
    let packets = |workload: &Workload| {
        let mss = f64::from(scenario.transports[workload.transport].config.mss);
        let setting = setting(workload, scenario, fabric);
        workload.kind.settings().expected(&setting).bytes.min(setting.most_bytes()) / mss
    };
    scenario.workloads.iter().map(packets).sum::<f64>()
}

/// Where `workload` runs.
pub(crate) fn setting(workload: &Workload, scenario: &Scenario, fabric: &Fabric) -> Setting {
    Setting {
        hosts: fabric.hosts() as f64,
        access: fabric.access_rate() / 8.0,
        start: workload.start,
        duration: scenario.duration,
        end: scenario.end(),
    }
}

/// Links from the first host to another, on average over the others.
fn mean_distance(fabric: &Fabric) -> f64 {
    let distances = fabric.distances_from(NodeId::default());
    let reached: Vec<f64> = distances[1..fabric.hosts()].iter().flatten().copied().map(f64::from).collect();
    reached.iter().sum::<f64>() / (reached.len() as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(workload: &str) -> f64 {
        let text = format!(
            "duration = \"1s\"\n[topology.many-to-one]\nsenders = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n[queue]\nlimit = 100\n\
             [transport.t]\ncontrol = \"reno\"\nmss = \"1000B\"\n{workload}"
        );
        expected_hops(&crate::scenario(&text))
    }

    /// From the first of four hosts it is three links to two of them and two links to one: 8/3 there and
    /// back for each of 5 packets.
    #[test]
    fn distances_are_those_of_the_first_host() {
        let text = "duration = \"1s\"\n[topology.dumbbell]\npairs = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
                    [transport.t]\ncontrol = \"reno\"\nmss = \"1000B\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\n\
                    to = \"D1\"\nsize = \"5KB\"\n";
        let hops = expected_hops(&crate::scenario(text));
        assert!((hops - 2.0 * 8.0 / 3.0 * 5.0).abs() < 1e-9, "{hops}");
    }

    #[test]
    fn flows_of_a_size_are_counted_by_hand() {
        // 4 senders, 3 bursts, 50 packets each, two links there and two back.
        let incast = "[[workload.incast]]\ntransport = \"t\"\nsenders = 4\nreceiver = \"R\"\nsize = \"50KB\"\nevery = \"1ms\"\nbursts = 3";
        assert!((hops(incast) - 4.0 * 3.0 * 50.0 * 4.0).abs() < 1e-6);
    }

    #[test]
    fn a_flow_without_a_size_fills_its_link() {
        let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"";
        assert!((hops(flow) - 1.25e9 / 1000.0 * 4.0).abs() < 1.0);
    }

    #[test]
    fn nobody_sends_more_than_the_links_of_all_hosts_carry() {
        let overload = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1000GB\"";
        assert!(hops(overload) <= 5.0 * 1.25e9 / 1000.0 * 4.0 + 1.0);
    }
}
