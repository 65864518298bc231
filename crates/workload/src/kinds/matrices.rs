//! Matrices: who sends to whom follows a rule.

use linkpool_settings::{Bounds, HostName, Length, settings};
use linkpool_units::{HostId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expected, Place, Setting, Workload};
use crate::gaps::{Gap, Gaps};
use crate::matrix::Rule;
use crate::sizes::{FlowSize, Sizes};

settings! {
    /// The settings that all matrices have.
    pub struct MatrixFlows {
        /// Payload of each flow; with `repeat` it must end.
        size: Option<Sizes> as FlowSize = None;
        /// When the flows stop.
        stop: Time, from |_m| Time::MAX => "the end of the run, `duration` and `drain`";
        /// Starts are uniform in [start, start + jitter].
        jitter: Time = Time::ZERO;
        /// The flows that ends of flows start: `"each"`: the next flow of its sender; `"all"`: when
        /// all have ended, all again, with another draw.
        repeat: Option<Repeat> = None;
        /// From the end of a flow to the start of the next.
        gap: Gaps as Gap = Gaps::NONE, when |m| m.repeat.is_some() => "flows that `repeat` starts";
    }
}

/// The flows that the end of a flow of a matrix starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// The next flow of its sender.
    Each,
    /// When all have ended: all again, with another draw.
    All,
}

impl MatrixFlows {
    /// What to expect of so many flows.
    fn expected(&self, flows: f64, setting: &Setting) -> Expected {
        let bytes = match (&self.size, self.repeat) {
            (Some(size), None) => size.mean() * flows,
            _ => setting.busy(setting.hosts, setting.until(self.stop)),
        };
        Expected::listed(flows, bytes)
    }

    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_stop(&mut self.stop, place.end);
        place.check_in_time(place.after(1, self.jitter), "jitter", "the last flow");
        if self.repeat.is_some() && self.size.is_none() {
            let said = if place.has("size") { "these flows must end" } else { "missing" };
            place.check(false, "size", format!("{said}; write for example size = \"10MB\""));
        }
    }
}

settings! {
    /// Every host sends to one other and receives from one, drawn at random.
    pub struct Permutation {}
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

impl Workload for Permutation {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.flows.complete(place);
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        Some((Rule::Permutation, &self.flows))
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.flows.expected(setting.hosts, setting)
    }
}

settings! {
    /// Every host sends to one other, drawn at random.
    pub struct Random {
        /// Flows into a host at most.
        at_most: Option<u32>, from |_r| None => "no limit", within Bounds::POSITIVE;
        /// Where they send to: `"random"` or `"other-racks"`.
        to: Destinations = Destinations::Random,
            refused |r| r.to == Destinations::Permutation =>
                "is that of poisson; write \"random\" or \"other-racks\", or [[workload.permutation]]";
    }
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

/// Where flows go that are drawn at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Destinations {
    /// To any other host.
    Random,
    /// To any host of another rack.
    OtherRacks,
    /// To the host that the first workload "permutation" has for the sender.
    Permutation,
}

impl Workload for Random {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.flows.complete(place);
        if self.to == Destinations::OtherRacks {
            place.check_other_racks(self.at_most.unwrap_or(u32::MAX));
        }
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        let other_racks = self.to == Destinations::OtherRacks;
        Some((Rule::Random { at_most: self.at_most, other_racks }, &self.flows))
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.flows.expected(setting.hosts, setting)
    }
}

settings! {
    /// Host i sends to host i + `step`, round the end.
    pub struct Stride {
        /// From a host to the one that it sends to.
        step: u32, required 16, within Bounds::POSITIVE;
    }
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

impl Workload for Stride {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.flows.complete(place);
        let (step, hosts) = (self.step, place.hosts);
        place.check(step < hosts, "step", format!("{step} steps among {hosts} hosts; write 1 to {}", hosts - 1));
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        Some((Rule::Stride { step: self.step }, &self.flows))
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.flows.expected(setting.hosts, setting)
    }
}

settings! {
    /// Every host sends to every other.
    pub struct AllToAll {}
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

impl Workload for AllToAll {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.flows.complete(place);
        let hosts = u64::from(place.hosts);
        place.check_few_flows("size", hosts * (hosts - 1));
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        Some((Rule::AllToAll, &self.flows))
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.flows.expected(setting.hosts * (setting.hosts - 1.0), setting)
    }
}

settings! {
    /// Flows that go to a few hosts more often than to others.
    pub struct Hotspot {
        /// Number of flows.
        flows: u32, required 100, within Bounds::POSITIVE;
        /// The hosts that get more.
        hosts: Vec<HostId> as Vec<HostName>, required vec![HostId::default()],
            within Length::from(1, "names no host; write for example hosts = [0]");
        /// The share of flows that go to them; the others go to any host.
        share: f64, required 0.5, within Bounds::SHARE;
    }
    groups {
        /// The settings that all matrices have.
        each: MatrixFlows;
    }
}

impl Workload for Hotspot {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.each.complete(place);
        place.check_few_flows("flows", self.flows.into());
        for (i, host) in self.hosts.iter().enumerate() {
            let again = self.hosts[..i].contains(host);
            place.check(!again, &format!("hosts.{i}"), "stands here twice; leave one out");
        }
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        let (flows, hosts, share) = (self.flows, self.hosts.clone(), self.share);
        Some((Rule::Hotspot { flows, hosts, share }, &self.each))
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.each.expected(self.flows.into(), setting)
    }
}

settings! {
    /// Every host sends to one other, some within their racks, some within their pods.
    pub struct Staggered {
        /// The share of flows that stay in their rack.
        rack: f64, required 0.5, within Bounds::SHARE;
        /// The share of flows that leave their rack and stay in their pod.
        pod: f64, required 0.3, within Bounds::SHARE;
    }
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

impl Workload for Staggered {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.flows.complete(place);
        let (rack, pod, places) = (self.rack, self.pod, place.racks_and_pods);
        let beyond = 1.0 - rack - pod;
        place.check(beyond > -1e-9, "pod", format!("`rack` and `pod` add up to {}, above 1", rack + pod));
        // Is there for every host another one with this relation to it?
        let all = |fits: &dyn Fn((u32, u32), (u32, u32)) -> bool| {
            (0..places.len()).all(|h| (0..places.len()).any(|o| o != h && fits(places[h], places[o])))
        };
        let own_rack = rack <= 0.0 || all(&|(rack, _), (other, _)| rack == other);
        place.check(own_rack, "rack", "some hosts are alone in their racks; write rack = 0.0");
        let own_pod = pod <= 0.0 || all(&|(rack, pod), (r, p)| pod == p && rack != r);
        place.check(own_pod, "pod", "the pods of this topology have one rack; write pod = 0.0");
        let other_pods = beyond < 1e-9 || all(&|(_, pod), (_, p)| pod != p);
        place.check(other_pods, "pod", "this topology is one pod, so `rack` and `pod` must add up to 1");
    }

    fn matrix(&self) -> Option<(Rule, &MatrixFlows)> {
        Some((Rule::Staggered { rack: self.rack, pod: self.pod }, &self.flows))
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.flows.expected(setting.hosts, setting)
    }
}
