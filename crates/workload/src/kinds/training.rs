//! Training a model with tensor, pipeline and data parallelism.

use std::sync::Arc;

use linkpool_settings::{Bounds, settings};
use linkpool_units::{Bytes, Time};

use super::job::Job;
use super::{
    Demand, Expected, Failures, JobKind, Pairs, Place, RankHosts, Run, Setting, SizesOf, Stragglers, Workload,
};
use crate::program::{Programs, RankOrder, Schedule, Training as Model};

settings! {
    /// Iterations of training a model, whose ranks are in tensor groups, pipelines and copies.
    pub struct Training {
        /// Ranks of a tensor group (tensor-model-parallel size).
        tp: u32 = 1, within Bounds::POSITIVE;
        /// Stages of a pipeline (pipeline-model-parallel size).
        pp: u32 = 1, within Bounds::POSITIVE;
        /// Copies of the model (data-parallel size): there are tp pp dp ranks.
        dp: u32 = 1, within Bounds::POSITIVE;
        /// How ranks are numbered, the groups with neighbouring numbers first.
        order: RankOrder = RankOrder::TpDpPp;
        /// Micro-batches of a pipeline in an iteration.
        micro_batches: u32 = 1, within Bounds::POSITIVE;
        /// The order in which a stage works on its micro-batches.
        schedule: Schedule = Schedule::OneForwardOneBackward, when |t| t.pp > 1 => "`pp` above 1";
        /// Layers of a stage: in each, a tensor group has two all-reduces forward and two backward.
        layers: u32 = 1, within Bounds::POSITIVE, when |t| t.tp > 1 => "`tp` above 1";
        /// An all-gather before and a reduce-scatter after each half of a layer, in place of an
        /// all-reduce after it.
        sequence_parallel: bool = false, when |t| t.tp > 1 => "`tp` above 1";
        /// Computation of a stage in the forward pass of a micro-batch.
        forward: Time = Time::ZERO, within Bounds::SPAN;
        /// Computation of a stage in the backward pass of a micro-batch.
        backward: Time = Time::ZERO, within Bounds::SPAN;
        /// Computation of each rank at the end of an iteration.
        update: Time = Time::ZERO, within Bounds::SPAN;
        /// Activations of a micro-batch that a rank sends to the next stage; gradients of the same
        /// size come back.
        activations: u64 as Bytes = 1_000_000, within Bounds::POSITIVE, when |t| t.pp > 1 => "`pp` above 1";
        /// Data of an all-reduce in a tensor group.
        tensor: u64 as Bytes = 1_000_000, within Bounds::POSITIVE, when |t| t.tp > 1 => "`tp` above 1";
        /// Gradients of a rank, which the copies add up at the end of an iteration.
        gradients: u64 as Bytes = 100_000_000, within Bounds::POSITIVE, when |t| t.dp > 1 => "`dp` above 1";
        /// Iterations, one after the other.
        iterations: u32 = 1, within Bounds::POSITIVE;
        /// Do the messages from one rank to another share a connection, which stays open? `false`:
        /// each message opens a connection of its own.
        persistent: bool, from |_t| true => "true; false with a transport whose connections do not stay open";
    }
    tables {
        /// Ranks that compute slower than others.
        stragglers: Stragglers;
        /// The job fails: all its ranks stop, and go on from the last checkpoint.
        failures: Failures;
    }
    groups {
        /// The hosts of ranks.
        placed: RankHosts;
    }
    others {
        /// The programs of its ranks, once all is checked.
        programs: Option<Arc<Programs>> = None;
    }
}

impl Training {
    fn model(&self) -> Model {
        Model {
            tp: self.tp,
            pp: self.pp,
            dp: self.dp,
            order: self.order,
            micro_batches: self.micro_batches,
            schedule: self.schedule,
            layers: self.layers,
            sequence_parallel: self.sequence_parallel,
            forward: self.forward,
            backward: self.backward,
            update: self.update,
            activations: self.activations,
            tensor: self.tensor,
            gradients: self.gradients,
        }
    }

    /// Number of ranks.
    fn ranks(&self) -> u128 {
        [self.tp, self.pp, self.dp].into_iter().map(u128::from).product()
    }

    fn job(&self) -> Job<'_> {
        Job {
            ranks: self.ranks(),
            iterations: self.iterations,
            placed: &self.placed,
            stragglers: self.stragglers.as_ref(),
            failures: self.failures.as_ref(),
        }
    }
}

impl Workload for Training {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_persistent(&mut self.persistent);
        let ranks = self.ranks();
        place.check(ranks >= 2, "pp", "a single rank has nobody to send to; raise tp, pp or dp");
        let key = ["dp", "pp", "tp"].into_iter().find(|key| place.has(key)).unwrap_or("pp");
        self.placed.complete((ranks, "ranks"), key, place);
        self.job().check(place);
        if !place.errors.is_empty() {
            return;
        }
        let all = self.model().count() * u128::from(self.iterations);
        // A message is two nodes, and computations are fewer than messages and passes together.
        let passes = 4 * u128::from(self.micro_batches) * u128::from(self.layers) * u128::from(self.iterations);
        place.check_few_flows("iterations", 4 * (all + ranks * passes));
        if place.errors.is_empty() {
            self.programs = self.model().programs().map(Arc::new);
        }
    }

    fn expected(&self, _: &Setting) -> Expected {
        let iterations = f64::from(self.iterations);
        let (flows, bytes) = (self.model().count() as f64 * iterations, self.model().bytes() * iterations);
        Expected { flows, at_once: self.ranks() as f64, listed: false, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        self.job().demand(self.programs.as_ref(), Time(1), run)
    }

    fn nodes(&self) -> (u64, u64) {
        self.programs.as_ref().map_or((0, 0), |programs| (programs.nodes(), programs.edges()))
    }

    fn persistent(&self) -> bool {
        self.persistent
    }

    fn sizes(&self) -> SizesOf {
        let messages = self.model().count() as f64;
        SizesOf { name: "messages".into(), interpolation: None, mean: Some(self.model().bytes() / messages) }
    }

    fn listed(&self) -> Option<u32> {
        // After a failure, messages are sent again.
        self.failures.is_none().then(|| self.model().count() as u32 * self.iterations)
    }

    fn jobs(&self, kind: &'static str) -> Option<JobKind> {
        Some(JobKind { name: kind, operation: None })
    }

    fn pairs(&self, _: u32) -> Pairs {
        self.job().pairs(self.programs.as_ref())
    }
}
