//! The families of transports, made of the list `families!` in `lib.rs`.

use crate::config::Config;
use crate::declaration::{Declaration, Declare, Facts, Keys, Law, Surroundings, Telemetry};
use crate::wire::WireConfig;
use linkpool_settings::{OfFamily, Preset, Settings, Visit};

macro_rules! make {
    ($($family:ident: $module:ident,)+) => {
        /// A family of transports.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Family { $(#[doc = concat!("See [`crate::", stringify!($module), "`].")] $family),+ }

        /// The settings that each family alone has.
        #[derive(Clone, Debug, PartialEq)]
        pub struct OwnSettings {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")]
            pub $module: <crate::$module::$family as Declare>::Settings,)+
        }

        /// What the endpoints of a family read of the settings of a transport.
        #[derive(Clone, Debug)]
        pub enum FamilyConfig {
            $(#[doc = concat!("See [`crate::", stringify!($module), "`].")]
            $family(<crate::$module::$family as Declare>::Config)),+
        }

        impl Family {
            /// All there are.
            pub const ALL: &'static [Family] = &[$(Family::$family),+];

            const fn declaration(self) -> &'static Declaration {
                match self { $(Family::$family => &<crate::$module::$family as Declare>::DECLARATION),+ }
            }

            /// Sets the defaults of `law` that differ: those of common settings from TCP's with the
            /// preset `linux`, and those of settings that the family alone has.
            pub fn defaults(self, law: &Law, own: &mut OwnSettings, config: &mut Config, wire: &mut WireConfig) {
                match self {
                    $(Family::$family => {
                        <crate::$module::$family as Declare>::defaults(law, &mut own.$module, config, wire)
                    })+
                }
            }

            /// Tells settings of its own the common ones on which their limits depend.
            pub fn know(self, own: &mut OwnSettings, config: &Config) {
                match self {
                    $(Family::$family => <crate::$module::$family as Declare>::know(&mut own.$module, config)),+
                }
            }

            /// Fills in settings of its own whose defaults follow from the network.
            pub fn complete(self, own: &mut OwnSettings, around: &dyn Fn() -> Surroundings) {
                match self {
                    $(Family::$family => <crate::$module::$family as Declare>::complete(&mut own.$module, around)),+
                }
            }

            /// The key by which the scenario says that ports trim its packets, if they must.
            pub fn needs_trimming(self, own: &OwnSettings) -> Option<&'static str> {
                match self {
                    $(Family::$family => <crate::$module::$family as Declare>::needs_trimming(&own.$module)),+
                }
            }

            /// The key by which its packets must stay in order on a path, if they must.
            pub fn needs_order(self, own: &OwnSettings) -> Option<&'static str> {
                match self {
                    $(Family::$family => <crate::$module::$family as Declare>::needs_order(&own.$module)),+
                }
            }

            /// What switches write on its packets, if they do.
            pub fn telemetry(self, own: &OwnSettings) -> Option<Telemetry> {
                match self {
                    $(Family::$family => <crate::$module::$family as Declare>::telemetry(&own.$module)),+
                }
            }

            /// What its endpoints read of these settings.
            pub fn config(self, own: &OwnSettings, config: &Config, wire: WireConfig) -> FamilyConfig {
                match self {
                    $(Family::$family => FamilyConfig::$family(
                        <crate::$module::$family as Declare>::config(&own.$module, config, wire),
                    )),+
                }
            }

            /// The most measures that a flow with this config reports at its end.
            pub fn metrics(self, config: &Config) -> usize {
                match self { $(Family::$family => <crate::$module::$family as Declare>::metrics(config)),+ }
            }
        }

        impl FamilyConfig {
            /// Its family.
            pub const fn family(&self) -> Family {
                match self { $(FamilyConfig::$family(_) => Family::$family),+ }
            }

            /// The number of entropy values over which its senders spread packets; 1 where there are none.
            pub fn entropies(&self) -> usize {
                match self {
                    $(FamilyConfig::$family(config) => <crate::$module::$family as Declare>::entropies(config)),+
                }
            }

            /// The packets that its receivers send for each packet of data of a flow of `packets`, if none is lost.
            /// `config` has the common settings.
            pub fn answers(&self, config: &Config, packets: f64) -> f64 {
                match self {
                    $(FamilyConfig::$family(own) => <crate::$module::$family as Declare>::answers(own, config, packets)),+
                }
            }
        }

        impl Settings for OwnSettings {
            fn defaults(preset: Preset) -> OwnSettings {
                OwnSettings { $($module: Settings::defaults(preset)),+ }
            }

            fn each<V: Visit>(&mut self, visit: &mut V) {
                $(self.$module.each(&mut OfFamily { visit: &mut *visit, family: Family::$family.name() });)+
            }
        }
    };
}
crate::families!(make);

impl Family {
    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Its name in sentences.
    pub const fn title(self) -> &'static str {
        self.declaration().title
    }

    /// The values of `control` that choose it, but for the algorithms of TCP.
    pub const fn laws(self) -> &'static [Law] {
        self.declaration().laws
    }

    /// What others must know of it.
    pub const fn facts(self) -> Facts {
        self.declaration().facts
    }

    /// Which of the common settings it has.
    pub const fn keys(self) -> Keys {
        self.declaration().keys
    }

    /// Has it the common setting of this key?
    pub fn has(self, key: &str) -> bool {
        match self.keys() {
            Keys::All => true,
            Keys::Only(keys) => keys.contains(&key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Algorithm;
    use std::collections::HashSet;

    /// Names of families, and values of `control`, mean one thing each.
    #[test]
    fn names_are_unique() {
        let names: HashSet<_> = Family::ALL.iter().flat_map(|family| [family.name(), family.title()]).collect();
        assert_eq!(names.len(), 2 * Family::ALL.len());
        let laws: Vec<_> = Family::ALL.iter().flat_map(|family| family.laws()).map(|law| law.name).collect();
        let all: HashSet<_> = laws.iter().copied().chain(Algorithm::ALL.iter().map(|a| a.name())).collect();
        assert_eq!(all.len(), laws.len() + Algorithm::ALL.len());
    }

    /// A config is of the family that made it.
    #[test]
    fn a_config_knows_its_family() {
        let (own, config) = (OwnSettings::defaults(Preset::Linux), Config::defaults(Preset::Linux));
        for family in Family::ALL {
            assert_eq!(family.config(&own, &config, WireConfig { header: 64, ack_size: 64 }).family(), *family);
        }
    }
}
