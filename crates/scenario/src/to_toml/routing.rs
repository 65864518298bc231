//! Writes `[routing]` of the scenario as run.

use linkpool_network::{LinkId, Weights};

use crate::file::{LinkWeightTable, PlacementTable, Reconverge, RoutingName, RoutingTable, WeightsName};
use crate::model::{RoutingKind, Scenario};

pub(super) fn table(scenario: &Scenario) -> RoutingTable {
    let routing = &scenario.routing;
    let fails = scenario.changes.iter().any(|change| change.state.is_some());
    let reconverge = fails.then_some(Reconverge(scenario.reconverge));
    let placement = routing.placement.map(|p| PlacementTable { period: Some(p.period), share: Some(p.share) });
    let mut table = RoutingTable { placement, reconverge, ..RoutingTable::default() };
    table.kind = Some(match routing.kind {
        RoutingKind::Ecmp => RoutingName::Ecmp,
        RoutingKind::Spray => RoutingName::Spray,
        RoutingKind::Flowlets { gap } => {
            table.gap = Some(gap);
            RoutingName::Flowlets
        }
        RoutingKind::TwoLevel { addresses } => {
            table.addresses = Some(addresses);
            return RoutingTable { kind: Some(RoutingName::TwoLevel), ..table };
        }
    });
    match &routing.weights {
        Weights::Equal => table.weights = Some(WeightsName::Equal),
        Weights::Capacity => table.weights = Some(WeightsName::Capacity),
        Weights::Given(given) => {
            let fabric = scenario.topology.fabric();
            let weight =
                |(link, weight): (&LinkId, &u32)| LinkWeightTable { name: fabric.link_name(*link), weight: *weight };
            table.link = Some(given.iter().map(weight).collect());
        }
    }
    table
}
