//! Plans the processes of one workload, which start its flows during the run.

use crate::plan::workload::WorkloadPlan;
use linkpool_engine::{Stream, stream};
use linkpool_network::HostId;
use linkpool_scenario::WorkloadKind;
use linkpool_settings::Kinds;
use linkpool_units::Time;
use linkpool_workload::kinds::{self, MatrixFlows, Repeat, Workload as _};
use linkpool_workload::{
    self as workload, Chain, ClosedLoop, Destinations, Gaps, JointLoop, Matrix, PartitionAggregate, Process, Redraw,
    Rounds, Rule, Sizes,
};
use rand::RngCore;
use std::sync::Arc;

impl WorkloadPlan<'_> {
    /// A process that starts flows during the run: the process, the host and time (after the start
    /// of the workload) at which it begins, and the time at which it stops starting flows.
    pub(crate) fn processes(&self) -> Vec<(Process, HostId, Time, Time)> {
        let duration = self.scenario.duration;
        if let Some((rule, MatrixFlows { size: Some(size), stop, jitter, repeat: Some(repeat), gap })) =
            self.workload.kind.matrix()
        {
            let set = |(process, home, after)| (process, home, after, duration.min(*stop));
            let repeat = (*repeat, *gap);
            return self.repeated(&rule, size, (*stop, *jitter), repeat).into_iter().map(set).collect();
        }
        match &self.workload.kind {
            WorkloadKind::PartitionAggregate(jobs) => {
                let kinds::PartitionAggregate { servers, chains, request, answer, gap, stop } = jobs;
                let all = Arc::new(PartitionAggregate {
                    hosts: self.hosts(),
                    servers: *servers,
                    chains: *chains,
                    request: request.clone(),
                    answer: answer.clone(),
                    gap: *gap,
                    answers: stream(self.scenario.seed, "partition-aggregate answers", self.index).next_u64(),
                });
                let chain = |i| {
                    let (chain, client) = Chain::new(all.clone(), i, self.stream_of(i));
                    (Process::Chain(chain), client, Time::ZERO, duration.min(*stop))
                };
                (0..*chains).map(chain).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The stream of the i-th process.
    fn stream_of(&self, i: u32) -> Stream {
        stream(self.scenario.seed, &format!("{} process", self.workload.kind.name()), self.index << 32 | u64::from(i))
    }

    fn repeated(
        &self,
        rule: &Rule,
        size: &Sizes,
        (stop, jitter): (Time, Time),
        (repeat, gap): (Repeat, Gaps),
    ) -> Vec<(Process, HostId, Time)> {
        let (matrix, size) = (self.matrix(rule), size.clone());
        let mut random = self.random();
        if repeat == Repeat::All {
            let (open, round) = (0, 0);
            let rounds = Rounds { matrix, size, jitter, gap, stop, next: 0, open, round, random };
            return vec![(Process::Rounds(rounds), HostId::default(), Time::ZERO)];
        }
        let hosts = self.hosts();
        let redraw = match rule {
            Rule::Random { at_most: Some(n), .. } => Redraw::Room(vec![*n; hosts]),
            Rule::Hotspot { hosts: hot, share, .. } => Redraw::Hotspot { hosts, hot: hot.clone(), share: *share },
            _ => return self.loops(&matrix, &size, (stop, jitter), gap, &mut random),
        };
        let scheduler = JointLoop { matrix, redraw, size, jitter, gap, stop, next: 0, random };
        vec![(Process::JointLoop(scheduler), HostId::default(), Time::ZERO)]
    }

    /// A closed loop for each pair of the matrix, or for each host that draws its destinations.
    fn loops(
        &self,
        matrix: &Matrix,
        size: &Sizes,
        (stop, jitter): (Time, Time),
        gap: Gaps,
        random: &mut Stream,
    ) -> Vec<(Process, HostId, Time)> {
        let pairs = matrix.draw(random);
        let one = |(i, (src, dst)): (u32, (HostId, HostId))| {
            let to = match &matrix.rule {
                Rule::Random { other_racks: true, .. } => Destinations::OtherRacks(matrix.places.clone()),
                Rule::Random { .. } => Destinations::Uniform(self.hosts()),
                Rule::Staggered { rack, pod } => {
                    Destinations::Staggered { places: matrix.places.clone(), shares: (*rack, *pod) }
                }
                _ => Destinations::Fixed(dst),
            };
            let looped = ClosedLoop { to, size: size.clone(), gap, stop, next: 0, random: self.stream_of(i) };
            (Process::ClosedLoop(looped), src, workload::jitter(jitter, random))
        };
        (0..).zip(pairs).map(one).collect()
    }
}
