//! The descriptions of all settings, for the JSON Schema, for messages and for the reference page.

use std::sync::LazyLock;

use linkpool_settings::{Declared, Fallback, Kinds, Preset, Scope, Setting, Settings, State, Visit, Written, Wrong};
use linkpool_transport::Family;
use serde::Serialize;

use crate::model::{Control, Transport};
use crate::situation;

/// A setting, as it is described.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) setting: Setting,
    /// Its condition beside the algorithm.
    condition: Option<&'static str>,
    /// Its defaults, as TOML, of the presets "linux" and "paper-2013".
    defaults: [String; 2],
    /// The algorithms that have it, with their default settings.
    controls: Vec<Control>,
}

/// Every setting of transports, once, in the order of the declarations.
pub(crate) fn transport() -> &'static [Entry] {
    /// Made once: each key that does not apply asks for it.
    static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let mut all = Collector::default();
        for control in Control::all() {
            all.control = Some(control);
            for (i, preset) in [Preset::Linux, Preset::Paper2013].into_iter().enumerate() {
                all.preset = i;
                Transport::of(control, preset).each(&mut all);
            }
        }
        all.entries
    });
    &ALL
}

/// The keys of all transports.
pub(crate) fn transport_keys() -> &'static [&'static str] {
    static KEYS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let own = transport().iter().map(|entry| entry.setting.key);
        ["preset", "control"].into_iter().chain(own).collect()
    });
    &KEYS
}

/// The names of the algorithms that `key` is for, or none if it is no key at all.
pub(crate) fn controls_with(key: &str) -> Option<String> {
    let entry = transport().iter().find(|entry| entry.setting.key == key)?;
    Some(names(entry.controls()))
}

fn names(controls: impl IntoIterator<Item = Control>) -> String {
    controls.into_iter().map(Control::name).collect::<Vec<_>>().join(", ")
}

/// The same, with the name of a family in place of those of all its laws, if it has several.
fn families(controls: &[Control]) -> String {
    let of = |family: Family| controls.iter().copied().filter(move |control| control.family() == family);
    let named = |family: &Family| {
        let all = Control::all().filter(|control| control.family() == *family).count();
        let has = of(*family).count();
        match has {
            0 => None,
            _ if has == all && all > 1 => Some(family.title().to_string()),
            _ => Some(names(of(*family))),
        }
    };
    Family::ALL.iter().filter_map(named).collect::<Vec<_>>().join(", ")
}

impl Entry {
    fn controls(&self) -> Vec<Control> {
        situation::controls(&self.setting).filter(|control| self.controls.contains(control)).collect()
    }

    /// To which transports it applies.
    fn applies_to(&self) -> String {
        let controls = self.controls();
        // TCP's algorithms for several subflows are many; families beside it are named.
        let several = |text: &str| {
            let others: Vec<Control> =
                controls.iter().filter(|control| control.family() != Family::Tcp).copied().collect();
            if others.is_empty() { text.to_string() } else { format!("{text}, {}", families(&others)) }
        };
        let to = match self.setting.scope {
            Scope::Multipath | Scope::Several => several("several subflows"),
            Scope::Joins => several("several subflows, not mmptcp"),
            _ if controls.len() == Control::all().count() => "all".to_string(),
            _ => families(&controls),
        };
        self.condition.map_or(to.clone(), |condition| format!("{to}, with {condition}"))
    }

    /// In a sentence or two.
    pub(crate) fn sentence(&self) -> String {
        let [linux, paper] = &self.defaults;
        let default = if linux == paper { linux.clone() } else { format!("{linux}; paper-2013: {paper}") };
        let to = self.applies_to();
        let applies = if to == "all" { String::new() } else { format!(" Applies to {to}.") };
        format!("{}{applies} Default: {default}.", self.setting.text())
    }

    /// As a row of the reference page.
    pub(crate) fn row(&self) -> String {
        let [linux, paper] = &self.defaults;
        let text = self.setting.text();
        let text = text.strip_suffix('.').unwrap_or(&text);
        let cell = |default: &str| match self.setting.fallback {
            Fallback::From(text) => text.to_string(),
            _ => format!("`{default}`"),
        };
        let [linux, paper] = [cell(linux), cell(paper)];
        format!("| `{}` | {linux} | {paper} | {} | {text} |", self.setting.key, self.applies_to())
    }
}

#[derive(Default)]
struct Collector {
    control: Option<Control>,
    preset: usize,
    entries: Vec<Entry>,
}

impl Visit for Collector {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, value: &mut T, state: State) {
        let at = self.entries.iter().position(|entry| entry.setting.key == setting.key).unwrap_or_else(|| {
            let (defaults, controls) = (Default::default(), Vec::new());
            self.entries.push(Entry { setting: *setting, condition: state.condition, defaults, controls });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[at];
        // The defaults of other families are their own, and are listed elsewhere.
        if entry.defaults[self.preset].is_empty() {
            entry.defaults[self.preset] = default_of::<T, W>(setting, value).unwrap_or_default();
        }
        entry.controls.extend(self.control.filter(|control| !entry.controls.contains(control)));
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        unreachable!("a transport has no table such as {key}");
    }

    fn chosen<K: Kinds>(&mut self, key: &'static str, _: &mut K) {
        unreachable!("a transport has no kinds such as those of {key}");
    }
}

/// A value as TOML; "none" for a missing one.
fn written(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("a setting is a TOML value");
    // A whole number needs no fraction.
    let whole = value.as_f64().filter(|x| value.is_f64() && x.fract() == 0.0);
    if value.is_null() { "none".to_string() } else { whole.map_or(value.to_string(), |x| format!("{x}")) }
}

/// The default of a setting, whose `value` is that; none if it must be said.
pub(crate) fn default_of<T, W: Written<T>>(setting: &Setting, value: &T) -> Option<String> {
    match setting.fallback {
        Fallback::Preset => Some(written(&W::of(value))),
        Fallback::From(text) => Some(text.to_string()),
        Fallback::Required => None,
    }
}

/// The keys of a table.
#[derive(Debug, Default)]
pub(crate) struct KeysOf(pub(crate) Vec<&'static str>);

impl Visit for KeysOf {
    fn setting<T, W: Written<T>>(&mut self, setting: &Setting, _: &mut T, _: State) {
        self.0.push(setting.key);
    }

    fn table<S: Declared>(
        &mut self,
        key: &'static str,
        _: &'static [&'static str],
        _: &mut Option<S>,
        _: Option<Wrong>,
    ) {
        self.0.push(key);
    }

    fn chosen<K: Kinds>(&mut self, _: &'static str, _: &mut K) {
        self.0.extend(K::NAMES.iter().filter(|name| K::has_settings(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_transport::Keys;

    /// The common settings that families name are settings, and not those of one family alone.
    #[test]
    fn families_name_settings_that_there_are() {
        let all = transport();
        for family in Family::ALL {
            let Keys::Only(keys) = family.keys() else { continue };
            for key in keys {
                let entry = all.iter().find(|entry| entry.setting.key == *key);
                let scope = entry.map(|entry| entry.setting.scope);
                assert!(scope.is_some_and(|scope| !matches!(scope, Scope::Own(_))), "{family:?}: {key}");
            }
        }
    }
}
