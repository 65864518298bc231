//! Writes `[[change]]` of the scenario as run.

use crate::file::{BurstLossTable, ChangeTable};
use crate::model::{Change, ChangeOf, Scenario};

pub(super) fn tables(scenario: &Scenario) -> Option<Vec<ChangeTable>> {
    (!scenario.changes.is_empty()).then(|| scenario.changes.iter().map(table).collect())
}

fn table(change: &Change) -> ChangeTable {
    let mut table = ChangeTable {
        at: Some(change.at),
        until: change.until,
        state: change.state,
        rate: change.rate,
        limit: change.limit,
        ..ChangeTable::default()
    };
    match &change.of {
        ChangeOf::Links(links) => table.links = Some(links.iter().map(|(from, to)| format!("{from}->{to}")).collect()),
        ChangeOf::Nodes(nodes) => table.nodes = Some(nodes.clone()),
        ChangeOf::Layer(layer, share) => (table.layer, table.share) = (Some(*layer), Some(*share)),
    }
    if let Some(loss) = change.loss {
        if loss.to_bad == 0.0 && loss.to_good == 0.0 && loss.in_bad == 0.0 {
            table.loss = Some(loss.in_good);
        } else {
            table.burst_loss = Some(BurstLossTable {
                to_bad: Some(loss.to_bad),
                to_good: Some(loss.to_good),
                in_good: Some(loss.in_good),
                in_bad: Some(loss.in_bad),
            });
        }
    }
    table
}
