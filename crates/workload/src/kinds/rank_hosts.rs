//! The hosts of ranks: of programs, of training, of the instances of inference.

use linkpool_settings::{Bounds, HostName, settings};
use linkpool_units::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;

settings! {
    /// Where ranks are.
    pub struct RankHosts {
        /// The hosts of the ranks, one each.
        hosts: Option<Vec<HostId>> as Option<Vec<HostName>>, from |_p| None => "those of `hosts_file` or of `placement`";
        /// A file with the host of each rank, by name or index, one a line.
        hosts_file: Option<String> = None;
        /// The rule that places ranks on hosts.
        placement: RankPlacement = RankPlacement::Linear,
            when |p| p.hosts.is_none() => "ranks without `hosts` and `hosts_file`";
        /// Place of the host of rank 0 in the order of `placement`; of `"linear"`, its index.
        first_host: u32 = 0,
            when |p| p.in_order() => "`placement = \"linear\"` or `\"spread\"`";
        /// From the host of a rank to the host of the next rank, in this order.
        stride: u32 = 1, within Bounds::POSITIVE,
            when |p| p.in_order() => "`placement = \"linear\"` or `\"spread\"`";
    }
    others {
        /// All hosts in the order of `placement = "spread"`, once it is known.
        spread: Vec<HostId> = Vec::new();
    }
}

/// A rule that places ranks on hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankPlacement {
    /// Rank r is on the host with the index `first_host + r stride`; with a stride of 1, ranks fill
    /// one rack after the other.
    Linear,
    /// The same, but hosts stand in another order: the first host of each rack, then the second of
    /// each, and so on. With a stride of 1, neighbouring ranks are in different racks.
    Spread,
    /// On hosts that are drawn at random, as the seed says.
    Random,
}

impl RankHosts {
    fn in_order(&self) -> bool {
        self.hosts.is_none() && self.placement != RankPlacement::Random
    }

    /// Are the hosts known only when the seed is?
    pub fn are_drawn(&self) -> bool {
        self.hosts.is_none() && self.placement == RankPlacement::Random
    }

    /// The hosts of so many ranks; `random` are all hosts in a random order.
    pub fn of(&self, ranks: u32, random: impl FnOnce() -> Vec<HostId>) -> Vec<HostId> {
        let places = (0..ranks).map(|rank| self.first_host + rank * self.stride);
        match (&self.hosts, self.placement) {
            (Some(hosts), _) => hosts.clone(),
            (None, RankPlacement::Linear) => places.map(HostId::from).collect(),
            (None, RankPlacement::Spread) => places.map(|place| self.spread[place as usize]).collect(),
            (None, RankPlacement::Random) => random().into_iter().take(ranks as usize).collect(),
        }
    }

    /// Checks that so many ranks have a host each. Messages call them `what`; `key` is the one that
    /// says how many they are.
    pub fn complete(&mut self, (ranks, what): (u128, &str), key: &str, place: &mut Place<'_>) {
        let hosts = place.hosts;
        if let Some(listed) = &self.hosts {
            let key = if place.has("hosts_file") { "hosts_file" } else { "hosts" };
            let count = listed.len();
            place.check(count as u128 == ranks, key, format!("{count} hosts for the {ranks} {what}"));
            let mut sorted = listed.clone();
            sorted.sort_unstable();
            let apart = sorted.windows(2).all(|pair| pair[0] != pair[1]);
            place.check(apart, key, "two ranks are on one host; each host has one rank at the most");
        } else if self.placement == RankPlacement::Random {
            let message = format!("there are {ranks} {what} and {hosts} hosts");
            place.check(ranks <= hosts.into(), "placement", message);
        } else {
            let last = u128::from(self.first_host) + ranks.saturating_sub(1) * u128::from(self.stride);
            let key = if place.has("stride") { "stride" } else { key };
            let message = format!(
                "the last of the {ranks} {what} would be on host number {last}, counted from 0, among {hosts} hosts"
            );
            place.check(last < hosts.into(), key, message);
            if self.placement == RankPlacement::Spread {
                self.spread = spread(place.racks_and_pods);
            }
        }
    }
}

/// The first host of each rack, then the second of each, and so on.
fn spread(racks_and_pods: &[(u32, u32)]) -> Vec<HostId> {
    let mut order: Vec<(u32, u32, HostId)> = Vec::new();
    let mut in_rack = std::collections::HashMap::new();
    for (host, (rack, _)) in HostId::first(racks_and_pods.len()).zip(racks_and_pods) {
        let before = in_rack.entry(*rack).or_insert(0);
        order.push((*before, *rack, host));
        *before += 1;
    }
    order.sort_unstable();
    order.into_iter().map(|(_, _, host)| host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings};

    /// Racks of three, one and two hosts.
    #[test]
    fn ranks_are_in_order_or_in_different_racks() {
        let racks = [(0, 0), (0, 0), (0, 0), (1, 0), (2, 0), (2, 0)];
        let spread = spread(&racks);
        let of = |placement, first_host, stride| {
            let all = RankHosts { placement, first_host, stride, ..RankHosts::defaults(Preset::Linux) };
            let all = RankHosts { spread: spread.clone(), ..all };
            all.of(3, || [5, 1, 0, 2, 3, 4].map(HostId::new).to_vec()).iter().map(|h| h.index()).collect::<Vec<_>>()
        };
        assert_eq!(spread.iter().map(|host| host.index()).collect::<Vec<_>>(), [0, 3, 4, 1, 5, 2]);
        assert_eq!(of(RankPlacement::Linear, 0, 1), [0, 1, 2]);
        assert_eq!(of(RankPlacement::Linear, 1, 2), [1, 3, 5]);
        assert_eq!(of(RankPlacement::Spread, 0, 1), [0, 3, 4]);
        assert_eq!(of(RankPlacement::Spread, 1, 2), [3, 1, 2]);
        assert_eq!(of(RankPlacement::Random, 0, 1), [5, 1, 0]);
    }
}
