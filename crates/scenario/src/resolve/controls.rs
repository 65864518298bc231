//! Congestion control algorithms that files of the scenario define.

use linkpool_settings::{Preset, Settings};
use linkpool_transport::control::{Algorithm, Definition};

use super::section::Section;
use crate::compile::Compile;
use crate::descriptions::KeysOf;
use crate::errors::Report;
use crate::foreign::instead_of_value;
use crate::included;
use crate::model::{Control, ControlFile, Transport};
use crate::tree::{KeyPath, Value};

/// The algorithms of all files.
#[derive(Debug, Default)]
pub(super) struct Controls {
    files: Vec<(ControlFile, Vec<&'static Definition>)>,
    /// A file has an error, so there may be further algorithms.
    lacking: bool,
}

impl Controls {
    /// Reads and compiles `files`; `None`: the scenario has none.
    pub(super) fn resolve(files: Option<Vec<ControlFile>>, compile: &dyn Compile, report: &mut Report<'_>) -> Controls {
        let top = &Section::new(report, KeyPath::default());
        // An array that could not be read has files too.
        let mut all = Controls { lacking: top.has("controls") && files.is_none(), ..Controls::default() };
        let section = &mut Section::new(report, KeyPath::default().at("controls"));
        for (i, file) in files.into_iter().flatten().enumerate() {
            match all.read(file, compile, section) {
                Ok(file) => all.files.push(file),
                Err(message) => {
                    all.lacking = true;
                    section.error(&i.to_string(), message);
                }
            }
        }
        all
    }

    fn read(
        &self,
        ControlFile { file, source }: ControlFile,
        compile: &dyn Compile,
        section: &Section<'_, '_>,
    ) -> Result<(ControlFile, Vec<&'static Definition>), String> {
        let (file, source) = match source {
            Some(source) => (file, source),
            None => {
                let path = section.beside(&file);
                let source = included::read(&path).map_err(|why| format!("{} {why}", path.display()))?;
                (path.file_name().map_or(file, |file| file.to_string_lossy().into_owned()), source)
            }
        };
        let definitions = compile.compile(&file, &source)?;
        for definition in &definitions {
            self.check(definition, &definitions).map_err(|why| format!("{file}: {:?} {why}", definition.name))?;
        }
        Ok((ControlFile { file, source: Some(source) }, definitions))
    }

    /// Names of algorithms, and keys of transports, mean one thing.
    fn check(&self, definition: &Definition, beside: &[&Definition]) -> Result<(), String> {
        let name = definition.name;
        if Control::all().any(|control| control.name() == name) {
            return Err("is an algorithm of linkpool; choose another name".to_string());
        }
        let twice = beside.iter().filter(|other| other.name == name).count() > 1;
        if twice || self.named(name).is_some() {
            return Err("is defined twice; choose another name".to_string());
        }
        let mut taken = KeysOf(vec!["preset", "control"]);
        Transport::of(Control::Tcp(Algorithm::Reno), Preset::Linux).each(&mut taken);
        match definition.parameters.iter().find(|parameter| taken.0.contains(&parameter.key)) {
            Some(p) => {
                Err(format!("has a parameter `{}`, which is a key of all transports; choose another name", p.key))
            }
            None => Ok(()),
        }
    }

    fn named(&self, name: &str) -> Option<&'static Definition> {
        self.definitions().find(|definition| definition.name == name)
    }

    fn definitions(&self) -> impl Iterator<Item = &'static Definition> {
        self.files.iter().flat_map(|(_, definitions)| definitions.iter().copied())
    }

    /// The control of a transport, if there is one of the name that stands there.
    pub(super) fn of(&self, section: &mut Section<'_, '_>) -> Option<Control> {
        let node = section.node().and_then(|node| node.child("control"));
        let Some(Value::String(name)) = node.map(|node| node.value.clone()) else { return section.read("control") };
        if let Some(definition) = self.named(&name) {
            return Some(Control::Tcp(Algorithm::Defined(definition)));
        }
        let known = Control::all().find(|control| control.name() == name);
        if known.is_none() && !self.lacking {
            let names = Control::all().map(Control::name).chain(self.definitions().map(|d| d.name));
            section.error("control", format!("unknown value {name:?}; {}", instead_of_value(&name, names)));
        }
        known
    }

    /// May there be algorithms that are not known, as a file has an error?
    pub(super) fn is_lacking(&self) -> bool {
        self.lacking
    }

    /// The files whose algorithms `transports` use.
    pub(super) fn used_by(self, transports: &[Transport]) -> Option<Vec<ControlFile>> {
        let used = |d: &&'static Definition| transports.iter().any(|t| t.config.control.definition() == Some(*d));
        let files: Vec<_> =
            self.files.into_iter().filter(|(_, all)| all.iter().any(used)).map(|(file, _)| file).collect();
        (!files.is_empty()).then_some(files)
    }
}
