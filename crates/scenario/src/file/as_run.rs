//! A scenario as the file that says all of it.

use linkpool_settings::{Names, Preset, Settings};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::queue::QueueTable;
use super::settings::{Table, Writer};
use super::topology::TopologyTable;
use super::transport::TransportTable;
use super::workload::WorkloadTables;
use crate::known::Known;
use crate::model::{Record, Scenario};

impl Scenario {
    /// The scenario as run: a file with every default written out, which loads as this scenario.
    pub fn to_toml(&self) -> String {
        let fabric = self.topology.fabric();
        let transports = self.transports.iter().map(|t| t.name.clone()).collect();
        let names = Known { fabric: Some(&fabric), transports: Some(transports), directory: "".into() };
        let file = AsRun { scenario: self, names: &names };
        toml_edit::ser::to_string_pretty(&file).expect("a scenario has no value that TOML lacks")
    }
}

struct AsRun<'s> {
    scenario: &'s Scenario,
    names: &'s dyn Names,
}

impl Serialize for AsRun<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AsRun { scenario, names } = *self;
        let mut map = serializer.serialize_map(None)?;
        let mut writer = Writer::new(&mut map, names, None);
        scenario.clone().each(&mut writer);
        writer.end()?;
        map.serialize_entry("measure", &Table { settings: scenario.measure, names })?;
        map.serialize_entry("topology", &TopologyTable(&scenario.topology))?;
        map.serialize_entry("routing", &Table { settings: scenario.routing.clone(), names })?;
        map.serialize_entry("queue", &QueueTable(&scenario.queue, &scenario.layer_queues))?;
        if !scenario.changes.is_empty() {
            let changes = scenario.changes.iter().map(|change| Table { settings: change.clone(), names });
            map.serialize_entry("change", &changes.collect::<Vec<_>>())?;
        }
        map.serialize_entry("transport", &Transports(scenario))?;
        if !scenario.roles.is_empty() {
            map.serialize_entry("roles", &Roles(scenario))?;
        }
        map.serialize_entry("workload", &WorkloadTables { workloads: &scenario.workloads, names })?;
        if scenario.record != Record::defaults(Preset::Linux) {
            map.serialize_entry("record", &Table { settings: scenario.record.clone(), names })?;
        }
        map.end()
    }
}

struct Transports<'s>(&'s Scenario);

impl Serialize for Transports<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.transports.iter().map(|t| (&t.name, TransportTable(t))))
    }
}

struct Roles<'s>(&'s Scenario);

impl Serialize for Roles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.roles.iter().map(|role| (&role.name, role.hosts)))
    }
}
