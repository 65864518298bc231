//! The interface for results during a run: memory does not grow with simulated time.

use crate::plan::FlowId;
use crate::results::event::Event;
use crate::results::outcome::{FlowOutcome, JobOutcome, MeasuredLink, RankOutcome, RequestOutcome};
use crate::results::passing::{Passed, Passing};
use crate::results::sample::Sample;
use linkpool_network::{LinkId, NodeId};
use linkpool_units::Time;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Takes the records of a run, in an order that does not depend on threads.
pub trait Sink {
    /// A row of a time series: by time, and at one time by the sampled object.
    fn sample(&mut self, sample: Sample);
    /// A flow is over: by the time of its end, and at one time by number. Flows that the end of the
    /// run cuts off come last.
    fn flow(&mut self, flow: FlowOutcome);
    /// A job is over: by the time of its end, and at one time by label and number; jobs that the
    /// end of the run cuts off come last.
    fn job(&mut self, job: JobOutcome);
    /// A rank has ended an iteration of its program: by the time of its end, and at one time by
    /// programs and rank; iterations that the end of the run cuts off come last.
    fn rank(&mut self, _rank: RankOutcome) {}
    /// A request to a model is answered: by the time of its end, and at one time by model and number; requests that the
    /// end of the run cuts off come last.
    fn request(&mut self, _request: RequestOutcome) {}
    /// A packet passes a port that is recorded: by the time at which it passes.
    fn packet(&mut self, _passed: Passed) {}
    /// Something has happened to a message of a driven run: by time, and at one time by what, and by number.
    fn event(&mut self, _event: Event) {}
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

/// A limit that a run has reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Limit {
    /// The connections that are open at this host.
    Connections(NodeId),
    /// The numbers of flows.
    FlowNumbers,
    /// The length of a pinned path between these hosts.
    PathLength(NodeId, NodeId),
}

/// Why, and when, a run cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Failure {
    pub(crate) at: Time,
    pub(crate) what: Limit,
}

/// The records of one partition that have not been taken yet.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) samples: Vec<Sample>,
    pub(crate) flows: Vec<FlowOutcome>,
    pub(crate) jobs: Vec<JobOutcome>,
    pub(crate) ranks: Vec<RankOutcome>,
    pub(crate) requests: Vec<RequestOutcome>,
    pub(crate) passing: Vec<Passing>,
    pub(crate) events: Vec<Event>,
    /// Flows whose data has been delivered whole, and when.
    pub(crate) delivered: Vec<(FlowId, Time)>,
    /// At the end of the run: bytes that links put on the wire in the measured period.
    pub(crate) measured_links: Vec<(LinkId, MeasuredLink)>,
    /// The first failure.
    pub(crate) failure: Option<Failure>,
}

/// Samples, or packets, of a partition are taken when there are this many: 5 or 7 MB.
const MANY: usize = 1 << 16;

/// The buffer between a partition, which adds to it, and the run, which takes from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    recorded: Arc<Mutex<Recorded>>,
    /// Does any partition hold many samples, or a failure? All partitions of a run share it.
    is_full: Arc<AtomicBool>,
}

impl Buffer {
    /// One buffer for each of `count` partitions.
    pub(crate) fn of_partitions(count: u8) -> Vec<Buffer> {
        let is_full = Arc::new(AtomicBool::new(false));
        (0..count).map(|_| Buffer { is_full: is_full.clone(), ..Buffer::default() }).collect()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().expect("nothing panics while it holds a record")
    }

    /// Adds rows of time series.
    pub(crate) fn sample(&self, samples: impl IntoIterator<Item = Sample>) {
        let mut recorded = self.lock();
        recorded.samples.extend(samples);
        if recorded.samples.len() >= MANY {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Adds a packet that passes a recorded port.
    pub(crate) fn passing(&self, passing: Passing) {
        let mut recorded = self.lock();
        recorded.passing.push(passing);
        if recorded.passing.len() >= MANY {
            self.is_full.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the run as soon as the records of this time are taken. Hosts run in any order in a window, so the first
    /// to tell need not be the first to fail.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut recorded = self.lock();
        recorded.failure = Some(recorded.failure.map_or(failure, |first| first.min(failure)));
        self.is_full.store(true, Ordering::Relaxed);
    }

    /// Must the records be taken now?
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
}

/// Takes in order the records of all partitions from before `before`, when all partitions have
/// passed this time.
pub(crate) fn take(buffers: &[Buffer], before: Time) -> Recorded {
    let mut ready = Recorded::default();
    for buffer in buffers {
        buffer.is_full.store(false, Ordering::Relaxed);
    }
    for buffer in buffers {
        let full = &buffer.is_full;
        let mut buffer = buffer.lock();
        if buffer.failure.is_some() {
            // Not all partitions have passed its time, perhaps.
            full.store(true, Ordering::Relaxed);
        }
        ready.samples.extend(buffer.samples.extract_if(.., |s| s.at < before));
        ready.passing.extend(buffer.passing.extract_if(.., |p| p.packet.arrival < before));
        ready.delivered.append(&mut buffer.delivered);
        ready.jobs.extend(buffer.jobs.extract_if(.., |j| j.active_until < before));
        ready.ranks.extend(buffer.ranks.extract_if(.., |r| r.active_until < before));
        ready.requests.extend(buffer.requests.extract_if(.., |r| r.active_until < before));
        ready.events.extend(buffer.events.extract_if(.., |e| e.at < before));
        ready.flows.extend(buffer.flows.extract_if(.., |f| f.active_until < before));
    }
    ready.samples.sort_unstable_by_key(Sample::order);
    ready.flows.sort_unstable_by_key(|f| (f.active_until, f.flow));
    ready.events.sort_unstable_by_key(Event::order);
    ready.ranks.sort_unstable_by_key(|r| (r.active_until, r.programs, r.rank, r.iteration));
    ready.requests.sort_unstable_by_key(|r| (r.active_until, r.served, r.request));
    ready
}

/// The first failure of all partitions. An earlier one may still come until all have passed its time.
pub(crate) fn failure(buffers: &[Buffer]) -> Option<Failure> {
    buffers.iter().filter_map(|buffer| buffer.lock().failure).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LabelId, PlannedFlow, TransportId};
    use crate::results::sample::Value;
    use linkpool_network::{HostId, Packet};
    use linkpool_workload::{Flow, Job};

    fn sample(at: Time) -> Sample {
        Sample { at, value: Value::Queue { link: LinkId::new(0), packets: 0, bytes: 0 } }
    }

    fn passing(arrival: Time) -> Passing {
        let packet = Packet { arrival, ..Packet::default() };
        Passing { link: LinkId::new(0), packet, priority: 0, trailer: None, hops: Vec::new(), digest: None }
    }

    /// A record of each kind at `at`.
    fn add(buffer: &Buffer, at: Time) {
        buffer.sample([sample(at)]);
        buffer.passing(passing(at));
        let mut recorded = buffer.lock();
        let job = Job { number: 0, of: None, start: Time::ZERO, end: None, flows: 0 };
        recorded.jobs.push(JobOutcome::new(LabelId::new(0), job, at));
        recorded.ranks.push(RankOutcome {
            programs: 0,
            rank: 0,
            restart: 0,
            iteration: 0,
            start: Time::ZERO,
            received: None,
            end: None,
            active_until: at,
            left: (0, None),
        });
        recorded.requests.push(RequestOutcome { active_until: at, ..RequestOutcome::new(0, 0) });
        let flow = Flow::new((HostId::new(0), HostId::new(1)), None, Time::ZERO);
        recorded.flows.push(FlowOutcome {
            flow: FlowId::new(0),
            connection: FlowId::new(0),
            planned: PlannedFlow { flow, transport: TransportId::new(0), label: LabelId::new(0) },
            finished: None,
            delivered: None,
            active_until: at,
            acked_bytes: 0,
            measured_bytes: 0,
            measured_subflow_bytes: 0,
            failed: false,
            metrics: Vec::new(),
            hook_error: None,
            subflows: Vec::new(),
        });
    }

    /// Records of an instant are taken when all partitions have passed it, as others may follow until
    /// then.
    #[test]
    fn records_are_taken_in_order_of_time() {
        let buffers = Buffer::of_partitions(2);
        [5, 3].into_iter().zip(&buffers).for_each(|(at, buffer)| add(buffer, Time(at)));
        add(&buffers[1], Time(4));
        let times = |before: u64| {
            let taken = take(&buffers, Time(before));
            let flows: Vec<u64> = taken.flows.iter().map(|flow| flow.active_until.0).collect();
            assert!(taken.samples.iter().map(|sample| sample.at.0).eq(flows.iter().copied()));
            assert!(taken.ranks.iter().map(|rank| rank.active_until.0).eq(flows.iter().copied()));
            assert!(taken.requests.iter().map(|request| request.active_until.0).eq(flows.iter().copied()));
            assert_eq!((taken.jobs.len(), taken.passing.len()), (flows.len(), flows.len()));
            flows
        };
        assert_eq!(times(3), Vec::<u64>::new());
        assert_eq!(times(5), [3, 4]);
        assert_eq!(times(6), [5]);
        assert_eq!(times(u64::MAX), Vec::<u64>::new());
    }

    /// All partitions stop when one of them has 65,536 samples, or packets, or a failure.
    #[test]
    fn buffers_are_full_together() {
        let buffers = Buffer::of_partitions(2);
        let are_full = || buffers.iter().map(Buffer::is_full).collect::<Vec<_>>();
        buffers[0].sample((1..MANY as u64).map(|at| sample(Time(at))));
        (1..MANY as u64).for_each(|at| buffers[1].passing(passing(Time(at))));
        assert_eq!(are_full(), [false, false]);
        buffers[0].sample([sample(Time(1))]);
        assert_eq!(are_full(), [true, true]);
        take(&buffers, Time::ZERO);
        assert_eq!(are_full(), [false, false]);
        buffers[1].passing(passing(Time(1)));
        assert_eq!(are_full(), [true, true]);
        take(&buffers, Time::MAX);
        assert!(failure(&buffers).is_none());
        let fail = |buffer: &Buffer, at| buffer.fail(Failure { at: Time(at), what: Limit::FlowNumbers });
        [(0, 7), (0, 5), (1, 6)].into_iter().for_each(|(buffer, at)| fail(&buffers[buffer], at));
        assert_eq!(are_full(), [true, true]);
        assert_eq!(failure(&buffers).unwrap().at, Time(5), "the earliest, whichever was told first");
        // Not all partitions have passed its time.
        take(&buffers, Time(4));
        assert_eq!(are_full(), [true, true]);
    }
}
