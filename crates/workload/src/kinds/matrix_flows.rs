//! The settings that all matrices have, and the flows of a matrix.

use linkpool_settings::settings;
use linkpool_units::{HostId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demand, Expected, Pairs, Place, ProcessStart, Run, Setting, SizesOf, Workload};
use crate::arrivals::jitter;
use crate::flow::Flow;
use crate::gaps::{Gap, Gaps};
use crate::matrix::{Matrix, Rule, Senders};
use crate::process::{ClosedLoop, Destinations, JointLoop, Process, Redraw, Rounds};
use crate::sizes::{FlowSize, Sizes};

settings! {
    /// The settings that all matrices have.
    pub struct MatrixFlows {
        /// Payload of each flow. With `repeat` it must be limited.
        size: Option<Sizes> as FlowSize = None;
        /// Time at which the flows stop.
        stop: Time, from |_m| Time::MAX => "the end of the run, `duration` and `drain`";
        /// Flows start at random, uniformly in [start, start + jitter].
        jitter: Time = Time::ZERO;
        /// The flows that start when flows end. `"each"`: the end of a flow starts the next flow of
        /// its sender. `"all"`: when all flows have ended, all start again, with another draw.
        repeat: Option<Repeat> = None;
        /// Time between the end of a flow and the start of the next.
        gap: Gaps as Gap = Gaps::NONE, when |m| m.repeat.is_some() => "flows that `repeat` starts";
    }
}

/// The flows that the end of a flow of a matrix starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// The next flow of its sender.
    Each,
    /// When all flows have ended, all start again, with another draw.
    All,
}

/// The settings of a matrix: its rule, and the settings that all matrices have.
pub trait MatrixKind {
    /// The pairs of senders and receivers.
    fn rule(&self) -> Rule;

    /// The settings that all matrices have.
    fn flows(&self) -> &MatrixFlows;

    /// The same, to be filled in.
    fn flows_mut(&mut self) -> &mut MatrixFlows;

    /// Checks the settings of the rule against the rest of the scenario.
    fn check(&self, _place: &mut Place<'_>) {}

    /// The number of flows if there are `hosts` hosts.
    fn count(&self, hosts: f64) -> f64 {
        hosts
    }

    /// The pairs that may have flows, if there are `hosts` hosts.
    fn pairs(&self, _hosts: u32) -> Pairs {
        Pairs::Any { in_rack: true }
    }
}

impl<M: MatrixKind> Workload for M {
    fn complete(&mut self, place: &mut Place<'_>) {
        self.flows_mut().complete(place);
        self.check(place);
    }

    fn expected(&self, setting: &Setting) -> Expected {
        self.flows().expected(self.count(setting.hosts), setting)
    }

    fn demand(&self, run: &Run) -> Demand {
        self.flows().demand(self.rule(), run)
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::from(&self.flows().size)
    }

    fn pairs(&self, hosts: u32) -> Pairs {
        MatrixKind::pairs(self, hosts)
    }

    fn has_role(&self) -> bool {
        true
    }
}

impl MatrixFlows {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_stop(&mut self.stop, place.end);
        place.check_in_time(place.after(1, self.jitter), "jitter", "the last flow");
        if self.repeat.is_some() && self.size.is_none() {
            let said = if place.has("size") { "these flows must end" } else { "missing" };
            place.check(false, "size", format!("{said}; write for example size = \"10MB\""));
        }
    }

    /// What to expect of this many flows.
    fn expected(&self, flows: f64, setting: &Setting) -> Expected {
        let bytes = match (&self.size, self.repeat) {
            (Some(size), None) => size.mean() * flows,
            _ => setting.busy(flows, setting.hosts, setting.until(self.stop)),
        };
        Expected::listed(flows, bytes)
    }

    /// The pairs of hosts are drawn first, then for each flow its size and its delay.
    fn demand(&self, rule: Rule, run: &Run) -> Demand {
        let marked = |hosts: &Vec<HostId>| {
            let mut marked = vec![false; run.hosts()];
            hosts.iter().for_each(|host| marked[host.index()] = true);
            Senders::Some(marked.into())
        };
        let senders = run.senders.as_ref().map_or(Senders::All, marked);
        let matrix = Matrix { rule, places: run.racks_and_pods.clone(), senders };
        let Some(repeat) = self.repeat else {
            let random = &mut run.random();
            let pairs = matrix.draw(random);
            let flow = |pair| {
                let size = self.size.as_ref().map(|size| size.draw(random));
                Flow { stop: self.stop, ..Flow::new(pair, size, run.start + jitter(self.jitter, random)) }
            };
            return Demand { listed: pairs.into_iter().map(flow).collect(), ..Demand::default() };
        };
        let size = self.size.clone().expect("flows that repeat have a size");
        let until = run.duration.min(self.stop);
        let start = |(process, home, after)| ProcessStart { process, home, after, until };
        let processes = self.processes(repeat, matrix, size, run).into_iter().map(start).collect();
        Demand { processes, ..Demand::default() }
    }

    /// The processes that start the flows, of each the host and the time at which it begins.
    fn processes(&self, repeat: Repeat, matrix: Matrix, size: Sizes, run: &Run) -> Vec<(Process, HostId, Time)> {
        let MatrixFlows { jitter, gap, stop, .. } = *self;
        let random = run.random();
        if repeat == Repeat::All {
            let rounds = Rounds { matrix, size, jitter, gap, stop, next: 0, open: 0, round: 0, random };
            return vec![(Process::Rounds(rounds), HostId::default(), Time::ZERO)];
        }
        let hosts = run.hosts();
        let redraw = match &matrix.rule {
            Rule::Random { at_most: Some(n), .. } => Redraw::Room(vec![*n; hosts]),
            Rule::Hotspot { hosts: hot, share, .. } => Redraw::Hotspot { hosts, hot: hot.clone(), share: *share },
            _ => return self.loops(&matrix, &size, run),
        };
        let scheduler = JointLoop { matrix, redraw, size, jitter, gap, stop, next: 0, random };
        vec![(Process::JointLoop(scheduler), HostId::default(), Time::ZERO)]
    }

    /// A closed loop for each pair of the matrix, or for each host that draws its destinations.
    fn loops(&self, matrix: &Matrix, size: &Sizes, run: &Run) -> Vec<(Process, HostId, Time)> {
        let random = &mut run.random();
        let pairs = matrix.draw(random);
        let one = |(i, (src, dst)): (u32, (HostId, HostId))| {
            let to = match &matrix.rule {
                Rule::Random { other_racks: true, .. } => Destinations::OtherRacks(matrix.places.clone()),
                Rule::Random { .. } => Destinations::Uniform(run.hosts()),
                Rule::Staggered { rack, pod } => {
                    Destinations::Staggered { places: matrix.places.clone(), shares: (*rack, *pod) }
                }
                _ => Destinations::Fixed(dst),
            };
            let (gap, stop, random_of_loop) = (self.gap, self.stop, run.random_of_process(i));
            let looped = ClosedLoop { to, size: size.clone(), gap, stop, next: 0, random: random_of_loop };
            (Process::ClosedLoop(looped), src, jitter(self.jitter, random))
        };
        (0..).zip(pairs).map(one).collect()
    }
}
