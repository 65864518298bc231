//! What to expect of a workload, before a run.

use linkpool_units::Time;

/// The scenario in which a workload runs.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Hosts of the topology.
    pub hosts: f64,
    /// Capacity of the links from all hosts together, bytes per second.
    pub access: f64,
    /// What the network carries of its flows together, bytes per second.
    pub together: f64,
    /// The most that a flow carries, bytes per second, however fast the network is.
    pub of_a_flow: f64,
    /// The start of the workload.
    pub start: Time,
    /// No flow starts at or after this.
    pub duration: Time,
    /// The end of the run.
    pub end: Time,
}

/// The expected flows of a workload, if no flow is slower than the network requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Number of its flows. If ends of flows start others, only the first flows count.
    pub flows: f64,
    /// Number of flows at the same time.
    pub at_once: f64,
    /// Are all flows listed before the run?
    pub listed: bool,
    /// Payload of all flows, bytes.
    pub bytes: f64,
}

impl Setting {
    /// Seconds from the start of the workload to `stop`, or to the end of the run.
    pub(super) fn until(&self, stop: Time) -> f64 {
        stop.min(self.end).saturating_sub(self.start).secs()
    }

    /// The same for flows that start at random: none starts at or after `duration`.
    pub(super) fn starting_until(&self, stop: Time) -> f64 {
        self.until(stop.min(self.duration))
    }

    /// Bytes that `flows` at a time of `senders`, which always have one more to send, carry in
    /// `seconds`: they fill the links that they pass, or have what holds each of them back.
    pub(super) fn busy(&self, flows: f64, senders: f64, seconds: f64) -> f64 {
        let links = senders.min(self.hosts) / self.hosts * self.access;
        links.min(self.together).min(flows * self.of_a_flow) * seconds
    }

    /// No workload sends more than the links from all hosts carry.
    pub fn most_bytes(&self) -> f64 {
        self.access * self.duration.saturating_sub(self.start).secs().max(self.end.secs())
    }
}

impl Expected {
    /// Listed flows, all at the same time.
    pub(super) fn listed(flows: f64, bytes: f64) -> Expected {
        Expected { flows, at_once: flows, listed: true, bytes }
    }
}
