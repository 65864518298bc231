//! A scenario as the file that says all of it.

use linkpool_settings::{Names, Settings};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::settings::Writer;
use super::tables;
use crate::known::Known;
use crate::model::Scenario;

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
        tables::write(scenario, names, &mut map)?;
        map.end()
    }
}
