//! Where results go while a run goes on: nothing that grows with simulated time is kept in memory.

use crate::results::outcome::{FlowOutcome, JobOutcome};
use crate::results::sample::Sample;
use linkpool_units::Time;
use std::sync::{Arc, Mutex, MutexGuard};

/// Is given what a run records, in an order that does not depend on threads.
pub trait Sink {
    /// A row of a time series: by time, and at one time by what is sampled.
    fn sample(&mut self, sample: Sample);
    /// A flow is over: by the time of its end, and at one time by number. What the end of the run cuts off comes last.
    fn flow(&mut self, flow: FlowOutcome);
    /// A job is over: by the time of its end, and at one time by label and number; what the end of the run cuts off comes last.
    fn job(&mut self, job: JobOutcome);
    /// Nothing more can be taken: the run ends.
    fn is_broken(&self) -> bool {
        false
    }
}

/// Forgets everything.
impl Sink for () {
    fn sample(&mut self, _: Sample) {}
    fn flow(&mut self, _: FlowOutcome) {}
    fn job(&mut self, _: JobOutcome) {}
}

/// What one part of the simulation has recorded and nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) samples: Vec<Sample>,
    pub(crate) flows: Vec<FlowOutcome>,
    pub(crate) jobs: Vec<JobOutcome>,
}

/// Between a part, which adds to it, and the run, which takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer(Arc<Mutex<Recorded>>);

impl Buffer {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().expect("nothing panics while it holds a record")
    }
}

/// Takes in order what the parts have recorded before `before`, when all of them have come so far.
pub(crate) fn take(buffers: &[Buffer], before: Time) -> Recorded {
    let mut ready = Recorded::default();
    for buffer in buffers {
        let mut buffer = buffer.lock();
        ready.samples.extend(buffer.samples.extract_if(.., |s| s.at < before));
        ready.jobs.extend(buffer.jobs.extract_if(.., |j| j.active_until < before));
        ready.flows.extend(buffer.flows.extract_if(.., |f| f.active_until < before));
    }
    ready.samples.sort_unstable_by_key(Sample::order);
    ready.flows.sort_unstable_by_key(|f| (f.active_until, f.flow));
    ready
}
