//! Xpanders: fabrics that are expander graphs.

use super::Generator;
use crate::fabric::{Cable, Fabric, FabricBuilder, Layer, NodeId};
use linkpool_engine::stream;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Rate, Time};
use rand::seq::SliceRandom;

settings! {
    /// An Xpander (Valadarsky, Shahaf, Dinitz, Schapira, CoNEXT 2016): a random lift of the complete
    /// graph of d + 1 nodes. Each node is a group of `lift` switches, and each edge a perfect
    /// matching of two groups.
    #[derive(Copy, Eq)]
    pub struct Xpander {
        /// Ports of each switch to others (the paper's d): there are d + 1 groups.
        degree: u32, required 5, within Bounds::from(3.0, "{}; an expander has switches with 3 ports to others or more").to(4096.0);
        /// Switches of each group (k).
        lift: u32, required 4, within Bounds::POSITIVE;
        /// Hosts at each switch.
        hosts_per_switch: u32, required 3, within Bounds::POSITIVE;
        /// The matchings are drawn from this number, whatever the seed of the scenario is.
        seed: u64 = 1;
        /// Rate of the hosts' links.
        rate: Rate, required Rate::gbps(100), within Bounds::POSITIVE;
        /// Propagation delay of the hosts' links.
        delay: Time, required Time::from_us(1), within Bounds::SPAN;
        /// Rate of the links between switches.
        switch_rate: Rate, from |t| t.rate => "`rate`", within Bounds::POSITIVE;
        /// Propagation delay of the links between switches.
        switch_delay: Time, from |t| t.delay => "`delay`", within Bounds::SPAN;
    }
}

impl Xpander {
    /// Number of groups.
    fn groups(&self) -> u64 {
        u64::from(self.degree) + 1
    }

    /// For each pair of groups, the second after the first: by switch of the first, to which switch
    /// of the second a cable leads. Of random lifts, numbered from 0, the first connected one.
    fn lift(&self) -> Vec<Vec<u32>> {
        let pairs = self.groups() * (self.groups() - 1) / 2;
        let draw = |number| -> Vec<Vec<u32>> {
            let mut random = stream(self.seed, "xpander", number);
            let mut matching = || {
                let mut to: Vec<u32> = (0..self.lift).collect();
                to.shuffle(&mut random);
                to
            };
            (0..pairs).map(|_| matching()).collect()
        };
        (0..).map(draw).find(|drawn| self.is_connected(drawn)).expect("a random lift is connected in the end")
    }

    /// The pairs of groups, in order.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let groups = self.groups() as usize;
        (0..groups).flat_map(move |one| (one + 1..groups).map(move |other| (one, other)))
    }

    /// Is each switch reached from the first one?
    fn is_connected(&self, matchings: &[Vec<u32>]) -> bool {
        let lift = self.lift as usize;
        let mut neighbours = vec![Vec::new(); self.groups() as usize * lift];
        for ((one, other), to) in self.pairs().zip(matchings) {
            for (i, j) in to.iter().enumerate() {
                let (a, b) = (one * lift + i, other * lift + *j as usize);
                neighbours[a].push(b);
                neighbours[b].push(a);
            }
        }
        let mut is_reached = vec![false; neighbours.len()];
        let mut reached = vec![0];
        is_reached[0] = true;
        while let Some(switch) = reached.pop() {
            for other in &neighbours[switch] {
                if !std::mem::replace(&mut is_reached[*other], true) {
                    reached.push(*other);
                }
            }
        }
        is_reached.into_iter().all(|reached| reached)
    }
}

impl Generator for Xpander {
    fn size_keys(&self) -> &'static [&'static str] {
        &["lift", "degree", "hosts_per_switch"]
    }

    fn hosts(&self) -> u64 {
        (self.groups() * u64::from(self.lift)).saturating_mul(self.hosts_per_switch.into())
    }

    fn cables(&self) -> u64 {
        // Each switch has d of them, and each cable two ends.
        let between = (self.groups() * u64::from(self.degree) / 2).saturating_mul(self.lift.into());
        self.hosts().saturating_add(between)
    }

    /// Hosts `h0..`; switches `x<group>.<i>`.
    fn fabric(&self) -> Fabric {
        let host = Cable { rate: self.rate, delay: self.delay };
        let between = Cable { rate: self.switch_rate, delay: self.switch_delay };
        let mut b = FabricBuilder::default();
        let hosts: Vec<_> = (0..self.hosts()).map(|i| b.node(format!("h{i}"), Layer::Host)).collect();
        let mut group =
            |g: u64| (0..self.lift).map(|i| b.node(format!("x{g}.{i}"), Layer::Switch)).collect::<Vec<NodeId>>();
        let groups: Vec<Vec<NodeId>> = (0..self.groups()).map(&mut group).collect();
        for (hosts, switch) in hosts.chunks(self.hosts_per_switch as usize).zip(groups.iter().flatten()) {
            hosts.iter().for_each(|h| b.lay(*h, *switch, host));
        }
        for ((one, other), to) in self.pairs().zip(self.lift()) {
            for (i, j) in to.into_iter().enumerate() {
                b.lay(groups[one][i], groups[other][j as usize], between);
            }
        }
        b.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four groups of two switches: joined switch i to switch i they are two fabrics; one matching
    /// that crosses joins them.
    #[test]
    fn a_lift_whose_matchings_never_cross_is_not_connected() {
        let wire = Rate::gbps(1);
        let xpander = Xpander {
            degree: 3,
            lift: 2,
            hosts_per_switch: 1,
            seed: 1,
            rate: wire,
            delay: Time::ZERO,
            switch_rate: wire,
            switch_delay: Time::ZERO,
        };
        let mut matchings = vec![vec![0, 1]; 6];
        assert!(!xpander.is_connected(&matchings));
        // Of the last two groups.
        matchings[5] = vec![1, 0];
        assert!(xpander.is_connected(&matchings));
    }
}
