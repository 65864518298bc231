//! Which settings a transport's algorithm and its number of subflows leave something to say.

use linkpool_settings::Scope;
use linkpool_transport::control::Algorithm;

use crate::model::{Control, Transport};

/// The facts on which scopes depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    marks: bool,
    multipath: bool,
    several: bool,
    mmptcp: bool,
    ndp: bool,
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
            marks: t.config.control.heeds_marks(),
            multipath: t.config.control.algorithm().is_multipath(),
            several: t.is_several(),
            mmptcp: t.is_mmptcp(),
            ndp: t.control == Control::Ndp,
        }
    }

    /// The reason why a setting of this scope does not apply.
    pub(crate) fn unmet(&self, scope: Scope) -> Option<Unmet> {
        let of_algorithm = match scope {
            Scope::Any => true,
            Scope::Tcp => !self.ndp,
            Scope::Ndp => self.ndp,
            Scope::Marks => self.marks,
            Scope::Multipath | Scope::Several | Scope::Joins => self.multipath,
        };
        match scope {
            _ if !of_algorithm => Some(Unmet::Algorithm),
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

/// The transports to which settings of this scope apply.
pub(crate) fn controls(scope: Scope) -> impl Iterator<Item = Control> {
    Control::all().filter(move |control| match scope {
        Scope::Any => true,
        Scope::Tcp => *control != Control::Ndp,
        Scope::Ndp => *control == Control::Ndp,
        Scope::Marks => control.heeds_marks(),
        Scope::Multipath | Scope::Several => control.algorithm().is_some_and(Algorithm::is_multipath),
        Scope::Joins => {
            control.algorithm().is_some_and(|algorithm| algorithm.is_multipath() && algorithm != Algorithm::Mmptcp)
        }
    })
}
