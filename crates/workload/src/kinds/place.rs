//! The scenario around a workload, against which its settings are checked.

use crate::flow::FlowPriority;
use linkpool_units::{Time, counted};

/// More flows than this would not fit into memory, so they are taken for a mistake.
const MOST_FLOWS: u64 = 100_000_000;

/// What traffic takes of the links from one layer to another.
#[derive(Clone, PartialEq, Debug)]
pub struct TierShare {
    /// Both layers, as in `edge->core`.
    pub name: String,
    /// Rate of these links together, bits a second.
    pub rate: f64,
    /// How many of them a bit of the traffic passes, on average.
    pub passed: f64,
}

/// Why a priority has no effect.
pub const WITHOUT_PRIORITIES: &str =
    "applies where ports have priorities; write discipline = \"priority\" in [queue], or classes, [[queue.class]]";

/// Why a priority that is a number has no effect.
pub const OF_CLASSES: &str = "ports with discipline = \"priority\" have two priorities, \"low\" (0) and \"high\" (7); for others write \
                              classes, [[queue.class]]";

/// The scenario around a workload, and the errors of the workload in it.
#[derive(Debug)]
pub struct Place<'a> {
    /// No flow starts at or after this.
    pub duration: Time,
    /// The end of the run.
    pub end: Time,
    /// The start of the workload.
    pub start: Time,
    /// Hosts of the topology.
    pub hosts: u32,
    /// Number of hosts that send in the workload, unless its kind names them.
    pub senders: u32,
    /// The family of one of its transports, if connections of that family do not stay open for
    /// further flows.
    pub without_connections: Option<&'static str>,
    /// The family of one of its transports, if flows of that family have no priority of their own.
    pub without_priority: Option<&'static str>,
    /// How many priorities ports know, where they know the most: 1, 2 or 8.
    pub priorities: u8,
    /// The rack and the pod of each host.
    pub racks_and_pods: &'a [(u32, u32)],
    /// Rate of the links from all hosts together, bits a second.
    pub access_rate: f64,
    /// What the workload's traffic takes of each tier of the fabric, if a key of its table asks for
    /// it.
    pub tiers: Vec<TierShare>,
    /// The keys that stand in the table of the workload.
    pub keys: Vec<String>,
    /// The errors: each has the dotted path of the key in the table, and the message.
    pub errors: Vec<(String, String)>,
}

impl Place<'_> {
    /// Does the table have `key`?
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    /// Reports an error about `key`, unless `good`.
    pub fn check(&mut self, good: bool, key: &str, message: impl Into<String>) {
        if !good {
            self.errors.push((key.to_string(), message.into()));
        }
    }

    /// Reports an error about `key` if it gives a flow a `priority` that has no effect.
    pub fn check_priority(&mut self, key: &str, priority: Option<FlowPriority>) {
        let given = priority.is_some();
        let is_number = matches!(priority, Some(FlowPriority::Number(_)));
        if let Some(family) = self.without_priority.filter(|_| !is_number) {
            let message = format!(
                "does not apply to {family}, whose packets have priorities by their kind; leave it out, or write the \
                 number of a class, [[queue.class]]"
            );
            return self.check(!given, key, message);
        }
        self.check(!given || self.priorities > 1, key, WITHOUT_PRIORITIES);
        let known = priority.is_none_or(|priority| self.priorities > 2 || priority.is_one_of_two());
        self.check(!given || self.priorities < 2 || known, key, OF_CLASSES);
        let known = self.without_priority.is_none() || self.priorities > 2;
        self.check(!is_number || known || self.priorities < 2, key, OF_CLASSES);
    }

    /// The time `n` times `span` after the start of the workload, in picoseconds; it may be larger
    /// than a [`Time`].
    pub fn after(&self, n: u32, span: Time) -> u128 {
        u128::from(self.start.0) + u128::from(n) * u128::from(span.0)
    }

    /// Reports an error about `key` if it delays the start of `what` to `ps` and this is too late.
    pub fn check_in_time(&mut self, ps: u128, key: &str, what: &str) {
        let (at, duration) = (Time(u64::try_from(ps).unwrap_or(u64::MAX)), self.duration);
        let message = format!("{what} would start at {at}, and no flow starts at or after `duration`, {duration}");
        self.check(at < duration, key, message);
    }

    /// Reports an error about `key` if it makes too many flows. No product of three settings of 32
    /// bits overflows.
    pub fn check_few_flows(&mut self, key: &str, flows: impl Into<u128>) {
        let flows = flows.into();
        self.check(
            flows <= MOST_FLOWS.into(),
            key,
            format!("makes {flows} flows; at most {MOST_FLOWS} can be simulated"),
        );
    }

    /// Do flows share connections: as said, or wherever the transports can.
    pub fn complete_persistent(&mut self, persistent: &mut bool) {
        if !self.has("persistent") {
            *persistent = self.without_connections.is_none();
        }
        if let Some(family) = self.without_connections {
            let message = format!(
                "{family} has no connections that stay open: each message is a transfer of its own; leave it out, or \
                 write false"
            );
            self.check(!*persistent, "persistent", message);
        }
    }

    /// The time at which flows stop: that of the setting, or `default`.
    pub fn complete_stop(&mut self, stop: &mut Time, default: Time) {
        if self.has("stop") {
            let message = format!("{stop} is not after the start of the workload at {}", self.start);
            self.check(*stop > self.start, "stop", message);
        } else {
            *stop = default;
        }
    }

    /// Do other racks have enough hosts for the flows of every rack, if each host takes `room`
    /// flows?
    pub fn check_other_racks(&mut self, room: u32) {
        let mut racks: Vec<u32> = self.racks_and_pods.iter().map(|(rack, _)| *rack).collect();
        racks.sort_unstable();
        let most = racks.chunk_by(|a, b| a == b).map(|rack| rack.len() as u64).max().unwrap_or(0);
        let all = u64::from(self.hosts);
        self.check(most < all, "to", "all hosts of this topology are in one rack; leave it out");
        let (others, room) = (all - most, u64::from(room));
        let (rack, to) = (counted(most, "host"), counted(others, "other host"));
        let message = format!("a rack of {rack} sends to {to}, of which each may get {room}; raise it");
        self.check(most == all || most <= room * others, "at_most", message);
    }
}
