//! Which settings a transport's control and its number of subflows leave something to say.

use linkpool_settings::{Scope, Setting};
use linkpool_transport::Family;
use linkpool_transport::control::Algorithm;

use crate::model::{Control, Transport};

/// The facts on which scopes depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    family: Family,
    control: Control,
    marks: bool,
    multipath: bool,
    several: bool,
    mmptcp: bool,
}

/// Why a setting does not apply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unmet {
    /// It is for other algorithms.
    Algorithm,
    /// It applies only to this.
    Only(&'static str),
}

impl Situation {
    pub(crate) fn of(t: &Transport) -> Situation {
        Situation {
            family: t.control.family(),
            control: t.control,
            marks: t.heeds_marks(),
            multipath: t.config.control.algorithm().is_multipath(),
            several: t.is_several(),
            mmptcp: t.is_mmptcp(),
        }
    }

    /// The reason why `setting` does not apply.
    pub(crate) fn unmet(&self, setting: &Setting) -> Option<Unmet> {
        let of_control = match setting.scope {
            Scope::Own(family) => self.family.name() == family,
            Scope::Laws(laws) => laws.contains(&self.control.name()),
            _ if self.family != Family::Tcp => self.family.has(setting.key),
            Scope::Tcp => true,
            Scope::Marks => self.marks,
            Scope::Multipath | Scope::Several | Scope::Joins => self.multipath,
        };
        match setting.scope {
            _ if !of_control => Some(Unmet::Algorithm),
            Scope::Several | Scope::Joins if !self.several => {
                Some(Unmet::Only("several subflows, and this transport has `subflows = 1`"))
            }
            Scope::Joins if self.mmptcp => {
                Some(Unmet::Only("transports other than MMPTCP, whose switch opens the subflows"))
            }
            _ => None,
        }
    }
}

/// The transports to which `setting` applies.
pub(crate) fn controls(setting: &Setting) -> impl Iterator<Item = Control> {
    Control::all().filter(move |control| match (setting.scope, control) {
        (Scope::Own(family), control) => control.family().name() == family,
        (Scope::Laws(laws), control) => laws.contains(&control.name()),
        (_, Control::Of(family, _)) => family.has(setting.key),
        (Scope::Tcp, Control::Tcp(_)) => true,
        (Scope::Marks, Control::Tcp(algorithm)) => algorithm.heeds_marks(),
        (Scope::Multipath | Scope::Several, Control::Tcp(algorithm)) => algorithm.is_multipath(),
        (Scope::Joins, Control::Tcp(algorithm)) => algorithm.is_multipath() && *algorithm != Algorithm::Mmptcp,
    })
}
