//! The tables of the file. Each is declared once: its documentation, its key, its form, and its
//! value in the scenario as run.

use linkpool_settings::{Names, Preset, Settings, one_line};
use schemars::SchemaGenerator;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use super::queue::QueueTable;
use super::roles::Roles;
use super::settings::Table;
use super::topology::TopologyTable;
use super::transport::Transports;
use super::workload::WorkloadTables;
use crate::model::{Change, Measure, Nic, Record, Routing, Scenario, SlowHost};

macro_rules! tables {
    (|$scenario:ident, $names:ident| $(
        $(#[doc = $doc:literal])+
        $key:literal $($required:ident)?: $form:ty = $value:expr;
    )+) => {
        /// Their keys.
        pub(crate) const TABLES: &[&str] = &[$($key),+];

        /// Of each table: its key, whether a scenario must have it, and its documentation.
        pub(crate) const DESCRIBED: &[(&str, bool, &[&str])] =
            &[$(($key, tables!(@required $($required)?), &[$($doc),+])),+];

        /// Their schemas.
        pub(super) fn properties(generator: &mut SchemaGenerator) -> Map<String, Value> {
            let mut all = Map::new();
            $(
                let mut schema = generator.subschema_for::<$form>();
                schema.insert("description".to_string(), one_line(&[$($doc),+]).into());
                all.insert($key.to_string(), schema.into());
            )+
            all
        }

        /// Writes the tables that the scenario as run has.
        pub(super) fn write<M: SerializeMap>(
            $scenario: &Scenario,
            $names: &dyn Names,
            map: &mut M,
        ) -> Result<(), M::Error> {
            $(
                let table: Option<$form> = $value;
                if let Some(table) = table {
                    map.serialize_entry($key, &table)?;
                }
            )+
            Ok(())
        }
    };
    (@required required) => { true };
    (@required) => { false };
}

tables! {
    |scenario, names|
    /// Which flows statistics are about.
    "measure": Table<'_, Measure> = Some(Table { settings: scenario.measure, names });
    /// The fabric: exactly one kind.
    "topology" required: TopologyTable<'_> = Some(TopologyTable(&scenario.topology));
    /// How switches choose among links of equal cost.
    "routing": Table<'_, Routing> = Some(Table { settings: scenario.routing.clone(), names });
    /// Every output port, of hosts and switches.
    "queue": QueueTable<'_> = Some(QueueTable(&scenario.queue, &scenario.layer_queues));
    /// Changes of links during the run.
    "change": Vec<Table<'_, Change>> = {
        let changes = scenario.changes.iter().map(|change| Table { settings: change.clone(), names });
        Some(changes.collect()).filter(|changes: &Vec<_>| !changes.is_empty())
    };
    /// The adapters of hosts: their time for messages and packets, and their limits.
    "nic": Table<'_, Nic> = scenario.nic.map(|settings| Table { settings, names });
    /// Hosts that take what comes to them more slowly than their links bring it.
    "slow_host": Vec<Table<'_, SlowHost>> = {
        let slow = scenario.slow_hosts.iter().map(|slow| Table { settings: slow.clone(), names });
        Some(slow.collect()).filter(|slow: &Vec<_>| !slow.is_empty())
    };
    /// Transports, by names of your own.
    "transport" required: Transports<'_> = Some(Transports(&scenario.transports));
    /// Roles of hosts, by names of your own: how many hosts each has, or their share.
    "roles": Roles<'_> = Some(Roles(&scenario.roles)).filter(|roles| !roles.0.is_empty());
    /// Sources of flows: any number, of any kinds.
    "workload" required: WorkloadTables<'_> = Some(WorkloadTables { workloads: &scenario.workloads, names });
    /// Time series and packets to record, only where asked.
    "record": Table<'_, Record> = {
        let asked = scenario.record != Record::defaults(Preset::Linux);
        asked.then(|| Table { settings: scenario.record.clone(), names })
    };
}
