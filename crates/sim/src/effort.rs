//! Estimates the work of a run, to order runs and to predict their time.

use linkpool_network::{Carried, Fabric, carried_between, carried_uniform};
use linkpool_scenario::{Scenario, Workload};
use linkpool_workload::kinds::{Expected, Pairs, Setting};

/// Segments and ACKs beside those of the data of a flow: of the handshake and of the end.
const OF_A_FLOW: f64 = 2.0;

/// The packet-hops that `scenario` lets expect: of data and ACKs, with no loss. A flow without a
/// size, and hosts that always have one more to send, are taken to fill the links that they pass;
/// no workload sends more than these links carry.
pub fn expected_hops(scenario: &Scenario) -> f64 {
    let fabric = scenario.topology.fabric();
    let hops = |workload: &Workload| {
        let carried = carried(workload, &fabric);
        2.0 * carried.passed * segments(workload, scenario, &fabric, carried)
    };
    scenario.workloads.iter().map(hops).sum()
}

/// The data segments that `scenario` lets expect, with those that open and end connections, as [`expected_hops`] counts
/// them.
pub(crate) fn expected_segments(scenario: &Scenario, fabric: &Fabric) -> f64 {
    let segments = |workload| segments(workload, scenario, fabric, carried(workload, fabric));
    scenario.workloads.iter().map(segments).sum()
}

fn segments(workload: &Workload, scenario: &Scenario, fabric: &Fabric, carried: Carried) -> f64 {
    let mss = f64::from(scenario.transports[workload.transport].config.mss);
    let (setting, settings) = (setting(workload, scenario, fabric), workload.kind.settings());
    let Expected { flows, bytes, .. } = settings.expected(&setting);
    let span = scenario.end().saturating_sub(workload.start).secs();
    let most = setting.most_bytes().min(carried.rate / 8.0 * span);
    // A flow of a few bytes is a segment too.
    let data = (bytes.min(most) / mss).max(flows.min(most));
    data + if settings.persistent() { 0.0 } else { OF_A_FLOW * flows.min(most) }
}

/// What the fabric carries of the flows of `workload`.
fn carried(workload: &Workload, fabric: &Fabric) -> Carried {
    match workload.kind.settings().pairs(fabric.hosts() as u32) {
        Pairs::Listed(pairs) => carried_between(fabric, &pairs),
        Pairs::Any { in_rack } => carried_uniform(fabric, in_rack),
    }
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

    /// Three links there and back for each of 5 packets, and two to open and end.
    #[test]
    fn links_are_those_that_flows_pass() {
        let text = "duration = \"1s\"\n[topology.dumbbell]\npairs = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n\
                    [transport.t]\ncontrol = \"reno\"\nmss = \"1000B\"\n[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\n\
                    to = \"D1\"\nsize = \"5KB\"\n";
        let hops = expected_hops(&crate::scenario(text));
        assert!((hops - 2.0 * 3.0 * 7.0).abs() < 1e-9, "{hops}");
    }

    #[test]
    fn flows_of_a_size_are_counted_by_hand() {
        // 4 senders, 3 bursts, 50 packets and 2 each, two links there and two back.
        let incast = "[[workload.incast]]\ntransport = \"t\"\nsenders = 4\nreceiver = \"R\"\nsize = \"50KB\"\nevery = \"1ms\"\nbursts = 3";
        assert!((hops(incast) - 4.0 * 3.0 * 52.0 * 4.0).abs() < 1e-6);
    }

    /// A flow of 8 B has one segment, and not 8 thousandths of one.
    #[test]
    fn a_flow_of_a_few_bytes_is_a_segment() {
        let few = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"8B\"\ncount = 100\n";
        assert!((hops(few) - 100.0 * 3.0 * 4.0).abs() < 1e-6, "{}", hops(few));
    }

    #[test]
    fn a_flow_without_a_size_fills_its_link() {
        let flow = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"";
        assert!((hops(flow) - (1.25e9 / 1000.0 + 2.0) * 4.0).abs() < 1.0);
    }

    /// Four flows without a size to one receiver share its link.
    #[test]
    fn flows_to_one_receiver_send_what_its_link_carries() {
        let flows = "[[workload.many-to-one]]\ntransport = \"t\"\nflows = 4\nreceiver = \"R\"";
        assert!((hops(flows) - (1.25e9 / 1000.0 + 8.0) * 4.0).abs() < 1.0, "{}", hops(flows));
    }

    #[test]
    fn nobody_sends_more_than_the_links_carry() {
        let overload = "[[workload.flow]]\ntransport = \"t\"\nfrom = \"S1\"\nto = \"R\"\nsize = \"1000GB\"";
        assert!(hops(overload) <= 1.25e9 / 1000.0 * 4.0 + 9.0);
    }
}
