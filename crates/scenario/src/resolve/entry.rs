//! One workload that is being resolved: the keys that all kinds have.

use std::collections::HashMap;

use linkpool_network::NodeId;
use linkpool_units::Time;
use linkpool_workload::{Gaps, Sizes};

use super::hosts::names_of_hosts;
use super::section::Section;
use super::{Known, sizes};
use crate::file::{FlowSize, Gap, GapTable, Host, LogNormalTable, Size, SmallTable};
use crate::model::{OTHERS, Small};
use crate::names::nearest;

/// More flows than this are a slip of the pen: they would not fit into memory.
const MOST_FLOWS: u64 = 100_000_000;

/// One workload that is being resolved.
pub(super) struct Entry<'k, 's, 'r> {
    pub(super) known: &'k Known<'k>,
    pub(super) start: Time,
    pub(super) role: Option<&'k str>,
    pub(super) section: Section<'s, 'r>,
}

impl Entry<'_, '_, '_> {
    pub(super) fn duration(&self) -> Option<Time> {
        self.known.period.map(|period| period.duration)
    }

    pub(super) fn hosts(&self) -> Option<u32> {
        self.known.fabric.map(|fabric| fabric.hosts() as u32)
    }

    /// How many hosts send.
    pub(super) fn senders(&self) -> Option<u32> {
        let hosts = self.hosts()?;
        let Some(role) = self.role else { return Some(hosts) };
        let roles = self.known.roles?;
        match roles.iter().find(|r| r.name == role) {
            Some(role) => Some(role.hosts),
            None => hosts.checked_sub(roles.iter().map(|r| r.hosts).sum()),
        }
    }

    /// Do the hosts of every rack find enough hosts in other racks, with room for `room` flows
    /// each?
    pub(super) fn check_other_racks(&mut self, room: u32) {
        let Some(fabric) = self.known.fabric else { return };
        let mut racks: HashMap<u32, u64> = HashMap::new();
        fabric.racks_and_pods().into_iter().for_each(|(rack, _)| *racks.entry(rack).or_default() += 1);
        let (all, most) = (fabric.hosts() as u64, racks.into_values().max().unwrap_or(0));
        self.section.check(most < all, "to", "all hosts of this topology are in one rack; leave it out");
        let (others, room) = (all - most, u64::from(room));
        let message =
            format!("a rack of {most} hosts sends to {others} others, of which each may get {room}; raise it");
        self.section.check(most == all || most <= room * others, "at_most", message);
    }

    /// A share, from 0 to 1.
    pub(super) fn share(&mut self, key: &str, share: Option<f64>, example: &str) -> Option<f64> {
        let share = self.section.required(key, share, example)?;
        let good = (0.0..=1.0).contains(&share);
        self.section.check(good, key, format!("{share} is no share; it goes from 0 to 1"));
        good.then_some(share)
    }

    /// When flows start at the latest after `start`.
    pub(super) fn jitter(&mut self, jitter: Option<Time>) -> Time {
        let jitter = jitter.unwrap_or(Time::ZERO);
        self.check_in_time(self.after(1, jitter), "jitter", "the last flow");
        jitter
    }

    pub(super) fn check_start(&mut self) {
        if let Some(duration) = self.duration().filter(|duration| self.start >= *duration) {
            let message = format!("{} is not before `duration`, {duration}, after which no flow starts", self.start);
            self.section.error("start", message);
        }
    }

    /// `n` times `span` after the start of the workload, in picoseconds, which may be far away.
    pub(super) fn after(&self, n: u32, span: Time) -> u128 {
        u128::from(self.start.0) + u128::from(n) * u128::from(span.0)
    }

    /// Reports an error about `key`, which delays the start of `what` to `ps`, if this is too late.
    pub(super) fn check_in_time(&mut self, ps: u128, key: &str, what: &str) {
        let Some(duration) = self.duration().filter(|duration| self.start < *duration) else { return };
        let at = Time(u64::try_from(ps).unwrap_or(u64::MAX));
        let message = format!("{what} would start at {at}, and no flow starts at or after `duration`, {duration}");
        self.section.check(at < duration, key, message);
    }

    pub(super) fn few_flows(&mut self, key: &str, flows: u64) {
        self.section.check(
            flows <= MOST_FLOWS,
            key,
            format!("makes {flows} flows; at most {MOST_FLOWS} can be simulated"),
        );
    }

    /// The transport of small flows.
    pub(super) fn small(&mut self, SmallTable { below, transport }: SmallTable) -> Option<Small> {
        let below = self.section.required_positive("small.below", below, "\"100KB\"");
        let transport = self.transport("small.transport", transport.as_deref());
        Some(Small { below: below?.0, transport: transport? })
    }

    pub(super) fn check_role(&mut self, kind: &str) {
        let Some(role) = self.role else { return };
        let message = format!("does not apply to {kind}, which says itself who sends; leave it out");
        self.section.check(
            !["flow", "incast", "many-to-one", "partition-aggregate", "trace", "collective"].contains(&kind),
            "role",
            message,
        );
        let Some(roles) = self.known.roles else { return };
        let names = roles.iter().map(|r| r.name.as_str()).chain([OTHERS]);
        if !names.clone().any(|name| name == role) {
            self.section.error("role", format!("no role is named {role:?} in [roles]; {}", nearest(role, names)));
        }
        let some = self.senders() != Some(0);
        self.section.check(some, "role", "no host is left that has none of the [roles]; make one smaller");
    }

    pub(super) fn transport(&mut self, key: &str, name: Option<&str>) -> Option<usize> {
        let names = self.known.transports;
        let example = format!("{:?}", names.and_then(<[_]>::first).map_or("amp", String::as_str));
        let name = self.section.required(key, name, &example)?;
        let names = names?;
        let index = names.iter().position(|known| known == name);
        if index.is_none() {
            let message = match names {
                [] => format!("no transport is defined; write [transport.{name}] with its `control`"),
                _ => format!("no transport is named {name:?}; {}", nearest(name, names.iter().map(String::as_str))),
            };
            self.section.error(key, message);
        }
        index
    }

    pub(super) fn host(&mut self, key: &str, host: Option<&Host>) -> Option<u32> {
        let example = format!("{:?}", self.known.fabric.map_or("S1", |fabric| fabric.name(NodeId::default())));
        let host = self.section.required(key, host, &example)?;
        self.known.fabric?;
        let index = self.find_host(host);
        if index.is_none() {
            let written = match host {
                Host::Index(index) => index.to_string(),
                Host::Name(name) => format!("{name:?}"),
            };
            self.section.error(key, format!("there is no host {written}; {}", self.host_names()));
        }
        index
    }

    /// The index of `host`, if there is one.
    pub(super) fn find_host(&self, host: &Host) -> Option<u32> {
        let fabric = self.known.fabric?;
        let hosts = fabric.hosts() as u32;
        match host {
            Host::Index(index) => Some(*index).filter(|index| *index < hosts),
            Host::Name(name) => fabric.node(name).map(u32::from).filter(|node| *node < hosts),
        }
    }

    /// Which hosts there are.
    pub(super) fn host_names(&self) -> String {
        self.known.fabric.map_or_else(String::new, |fabric| {
            format!("hosts are {}, or their indices 0 to {}", names_of_hosts(fabric), fabric.hosts() - 1)
        })
    }

    /// A size that may be "unlimited", which is the default.
    pub(super) fn size(&mut self, size: Option<FlowSize>) -> Option<Option<Sizes>> {
        match size {
            None | Some(FlowSize::One(Size(None))) => Some(None),
            Some(size) => sizes::resolve("size", size, &mut self.section).map(Some),
        }
    }

    /// A size that has an end.
    pub(super) fn finite_size(&mut self, key: &str, size: Option<FlowSize>, example: &str) -> Option<Sizes> {
        match self.section.required(key, size, example)? {
            FlowSize::One(Size(None)) => {
                self.section.error(key, format!("these flows must end; write for example {key} = {example}"));
                None
            }
            size => sizes::resolve(key, size, &mut self.section),
        }
    }

    /// The time between an end and the next start: by default none.
    pub(super) fn gap(&mut self, gap: Option<Gap>) -> Option<Gaps> {
        let GapTable { exponential, lognormal } = match gap {
            None => return Some(Gaps::NONE),
            Some(Gap::One(gap)) => {
                self.section.span("gap", gap);
                return Some(Gaps::Constant(gap));
            }
            Some(Gap::Drawn(table)) => table,
        };
        match (exponential, lognormal) {
            (Some(mean), None) => {
                self.section.span("gap.exponential", mean);
                self.section.positive("gap.exponential", mean).map(|mean| Gaps::Exponential { mean })
            }
            (None, Some(LogNormalTable { mean, sigma })) => {
                self.section.span("gap.lognormal.mean", mean);
                // Beyond 5, a millionth of the gaps makes the mean.
                let good = (0.0..=5.0).contains(&sigma);
                self.section.check(good, "gap.lognormal.sigma", format!("{sigma}: must be from 0 to 5"));
                let mean = self.section.positive("gap.lognormal.mean", mean)?;
                good.then_some(Gaps::LogNormal { mean, sigma })
            }
            _ => {
                self.section.error("gap", "a distribution has exactly one of `exponential` and `lognormal`");
                None
            }
        }
    }

    /// When flows stop: by default at the end of the run.
    pub(super) fn stop(&mut self, stop: Option<Time>) -> Option<Time> {
        if let Some(stop) = stop {
            let message = format!("{stop} is not after the start of the workload at {}", self.start);
            self.section.check(stop > self.start, "stop", message);
        }
        stop.or(self.known.period.map(|period| period.end))
    }

    /// The number of bursts: as given, or as many as start in time, to their last flow.
    pub(super) fn bursts(&mut self, asked: Option<u32>, every: Time, senders: u32, spacing: Time) -> Option<u64> {
        let first = self.after(senders - 1, spacing);
        self.check_in_time(first, "spacing", "the last flow of the first burst");
        match asked {
            Some(bursts) => {
                self.section.positive("bursts", bursts);
                let last = first + u128::from(bursts.saturating_sub(1)) * u128::from(every.0);
                self.check_in_time(last, "bursts", "the last flow of the last burst");
                Some(bursts.into())
            }
            None => {
                let left = u128::from(self.duration()?.0).saturating_sub(first + 1);
                u64::try_from(1 + left / u128::from(every.0)).ok()
            }
        }
    }
}
