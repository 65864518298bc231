//! What hosts are expected to send each other, as far as it is known before the run.

use crate::plan::flows::Flows;
use crate::plan::transports::PlannedTransport;
use linkpool_network::{Exchange, Fabric, NodeId};
use linkpool_units::Time;
use linkpool_workload::Flow;

/// The packets of the `flows` of a run that ends at `end`: flows that are known before the run, and that processes and
/// programs do not start.
///
/// A flow has its size, or, if that is less, what its host can send from its start to its stop. If the flows of a host
/// have more than its links can carry until `end`, all have less, by the same factor.
pub(crate) fn expected(
    fabric: &Fabric,
    flows: &Flows,
    transports: &[PlannedTransport],
    end: Time,
) -> impl Iterator<Item = Exchange> {
    let bytes_in = |host: usize, time: Time| {
        let links = fabric.links_from(NodeId::new(host));
        links.map(|link| fabric.links()[link.index()].rate.0 as f64).sum::<f64>() / 8.0 * time.secs()
    };
    let whole: Vec<f64> = (0..fabric.hosts()).map(|host| bytes_in(host, end)).collect();
    let wanted = move |flow: &Flow| {
        let most = bytes_in(flow.src.index(), flow.stop.min(end).saturating_sub(flow.start));
        flow.size.map_or(most, |size| most.min(size as f64))
    };
    let (mut sent, mut received) = (vec![0.0; whole.len()], vec![0.0; whole.len()]);
    for planned in flows.iter() {
        sent[planned.flow.src.index()] += wanted(&planned.flow);
        received[planned.flow.dst.index()] += wanted(&planned.flow);
    }
    flows.iter().map(move |planned| {
        let flow = &planned.flow;
        let carried = |wanted: &[f64], host: usize| (whole[host] / wanted[host]).min(1.0);
        let share = carried(&sent, flow.src.index()).min(carried(&received, flow.dst.index()));
        let mss = transports[planned.transport.index()].config.mss;
        Exchange { from: flow.src, to: flow.dst, packets: wanted(flow) * share / f64::from(mss) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    /// Packets of 1,000 B. A link carries 1.25 MB in 1 ms.
    fn packets(workloads: &str) -> Vec<f64> {
        let text = format!(
            "duration = \"1ms\"\n[topology.many-to-one]\nsenders = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n[queue]\nlimit = 100\n\
             [transport.t]\ncontrol = \"reno\"\nmss = \"1000B\"\n{workloads}"
        );
        let plan = Plan::new(&crate::scenario(&text));
        let found = expected(&plan.fabric, &plan.flows, &plan.transports, plan.end);
        found.map(|exchange| exchange.packets.round()).collect()
    }

    fn between(from: &str, to: &str, more: &str) -> String {
        format!("[[workload.flow]]\ntransport = \"t\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
    }

    fn flow(from: &str, more: &str) -> String {
        between(from, "R", more)
    }

    #[test]
    fn a_flow_has_its_size_or_what_its_links_carry() {
        assert_eq!(packets(&flow("S1", "size = \"50KB\"")), [50.0]);
        assert_eq!(packets(&flow("S1", "")), [1250.0]);
        assert_eq!(packets(&flow("S1", "size = \"9MB\"")), [1250.0]);
        assert_eq!(packets(&flow("S1", "start = \"200us\"\nstop = \"600us\"")), [500.0]);
    }

    #[test]
    fn flows_share_the_links_of_their_hosts() {
        assert_eq!(packets(&(flow("S1", "") + &flow("S2", ""))), [625.0, 625.0], "into one host");
        assert_eq!(packets(&(flow("S1", "size = \"1.25MB\"") + &flow("S1", ""))), [625.0, 625.0], "between two hosts");
        assert_eq!(packets(&(between("R", "S1", "") + &between("R", "S2", ""))), [625.0, 625.0], "from one host");
        assert_eq!(
            packets(&(flow("S1", "size = \"9MB\"") + &flow("S1", ""))),
            [625.0, 625.0],
            "a size counts as far as links carry it"
        );
        assert_eq!(packets(&(flow("S1", "size = \"250KB\"") + &flow("S2", "size = \"250KB\""))), [250.0, 250.0]);
    }
}
