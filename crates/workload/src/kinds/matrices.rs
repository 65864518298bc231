//! Matrices: a rule gives the pairs of senders and receivers.

use linkpool_settings::{Bounds, HostName, Length, settings};
use linkpool_units::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MatrixFlows, MatrixKind, Pairs, Place};
use crate::matrix::Rule;

settings! {
    /// Every host sends to one other and receives from one, drawn at random.
    pub struct Permutation {}
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

impl MatrixKind for Permutation {
    fn rule(&self) -> Rule {
        Rule::Permutation
    }

    fn flows(&self) -> &MatrixFlows {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut MatrixFlows {
        &mut self.flows
    }
}

settings! {
    /// Every host sends to one other, drawn at random.
    pub struct Random {
        /// The most flows into a host.
        at_most: Option<u32>, from |_r| None => "no limit", within Bounds::POSITIVE;
        /// The receivers: `"random"`, any other host, or `"other-racks"`, any host of another rack.
        to: Destinations = Destinations::Random,
            refused |r| r.to == Destinations::Permutation =>
                "is that of poisson; write \"random\" or \"other-racks\", or [[workload.permutation]]";
    }
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

/// The rule that draws the receivers of flows.
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

impl MatrixKind for Random {
    fn rule(&self) -> Rule {
        Rule::Random { at_most: self.at_most, other_racks: self.to == Destinations::OtherRacks }
    }

    fn flows(&self) -> &MatrixFlows {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut MatrixFlows {
        &mut self.flows
    }

    fn check(&self, place: &mut Place<'_>) {
        if self.to == Destinations::OtherRacks {
            place.check_other_racks(self.at_most.unwrap_or(u32::MAX));
        }
    }

    fn pairs(&self, _: u32) -> Pairs {
        Pairs::Any { in_rack: self.to != Destinations::OtherRacks }
    }
}

settings! {
    /// Host i sends to host i + `step`, round the end.
    pub struct Stride {
        /// Distance from a host to its receiver, in the order of hosts.
        step: u32, required 16, within Bounds::POSITIVE;
    }
    groups {
        /// The settings that all matrices have.
        flows: MatrixFlows;
    }
}

impl MatrixKind for Stride {
    fn rule(&self) -> Rule {
        Rule::Stride { step: self.step }
    }

    fn flows(&self) -> &MatrixFlows {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut MatrixFlows {
        &mut self.flows
    }

    fn check(&self, place: &mut Place<'_>) {
        let (step, hosts) = (self.step, place.hosts);
        place.check(step < hosts, "step", format!("{step} steps among {hosts} hosts; write 1 to {}", hosts - 1));
    }

    fn pairs(&self, hosts: u32) -> Pairs {
        Pairs::Listed((0..hosts).map(|host| (host.into(), ((host + self.step) % hosts).into())).collect())
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

impl MatrixKind for AllToAll {
    fn rule(&self) -> Rule {
        Rule::AllToAll
    }

    fn flows(&self) -> &MatrixFlows {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut MatrixFlows {
        &mut self.flows
    }

    fn check(&self, place: &mut Place<'_>) {
        let hosts = u64::from(place.hosts);
        place.check_few_flows("size", hosts * (hosts - 1));
    }

    fn count(&self, hosts: f64) -> f64 {
        hosts * (hosts - 1.0)
    }
}

settings! {
    /// Flows that go to a few hosts more often than to others.
    pub struct Hotspot {
        /// Number of flows.
        flows: u32, required 100, within Bounds::POSITIVE;
        /// The hosts that get more flows.
        hosts: Vec<HostId> as Vec<HostName>, required vec![HostId::default()],
            within Length::from(1, "names no host; write for example hosts = [0]");
        /// The share of flows that go to `hosts`; the others go to any host.
        share: f64, required 0.5, within Bounds::SHARE;
    }
    groups {
        /// The settings that all matrices have.
        each: MatrixFlows;
    }
}

impl MatrixKind for Hotspot {
    fn rule(&self) -> Rule {
        Rule::Hotspot { flows: self.flows, hosts: self.hosts.clone(), share: self.share }
    }

    fn flows(&self) -> &MatrixFlows {
        &self.each
    }

    fn flows_mut(&mut self) -> &mut MatrixFlows {
        &mut self.each
    }

    fn check(&self, place: &mut Place<'_>) {
        place.check_few_flows("flows", self.flows);
        for (i, host) in self.hosts.iter().enumerate() {
            let again = self.hosts[..i].contains(host);
            place.check(!again, &format!("hosts.{i}"), "stands here twice; leave one out");
        }
    }

    fn count(&self, _: f64) -> f64 {
        self.flows.into()
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

impl MatrixKind for Staggered {
    fn rule(&self) -> Rule {
        Rule::Staggered { rack: self.rack, pod: self.pod }
    }

    fn flows(&self) -> &MatrixFlows {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut MatrixFlows {
        &mut self.flows
    }

    fn check(&self, place: &mut Place<'_>) {
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
}
