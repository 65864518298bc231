//! What holds in a run beside its scenario: what the simulator does not have.

use crate::controllers::Controller;
use crate::fabric::Switches;
use linkpool_scenario::Transport;
use linkpool_units::Time;
use std::collections::BTreeMap;

/// What holds in a run beside its scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    /// Whose switches are between the hosts?
    pub(crate) switches: Switches,
    /// By the names of transports: what runs their connections in place of the scenario's
    /// algorithm.
    pub(crate) instead: BTreeMap<String, Controller>,
    /// Do all senders ask for ECN, whatever their algorithm?
    pub(crate) ecn: bool,
    /// So often each MPTCP connection loses a subflow, and opens another.
    pub(crate) churn: Option<Time>,
    /// Bytes of kernel memory for all sockets of a transport, at both ends.
    pub(crate) memory: Option<u64>,
}

impl Conditions {
    /// Nothing but these switches.
    pub(crate) fn over(switches: Switches) -> Conditions {
        Conditions { switches, ..Conditions::default() }
    }

    /// Puts other algorithms in place of those of the scenario.
    pub(crate) fn replace(&self, transports: &[Transport], controllers: &mut [Controller]) {
        for (transport, controller) in transports.iter().zip(controllers) {
            if let Some(another) = self.instead.get(&transport.name) {
                controller.clone_from(another);
            }
        }
    }
}
