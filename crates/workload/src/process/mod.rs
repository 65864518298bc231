//! Processes: they start flows while a simulation runs, in answer to the ends of other flows.
//!
//! A process does no I/O: it receives the events at a host, and returns actions. It lives at one
//! host at a time, its home, and has its own random numbers. So its actions depend only on the
//! events that it receives.

mod closed_loop;
mod jobs;
mod joint_loop;
mod rounds;

pub use closed_loop::{ClosedLoop, Destinations};
pub use jobs::{Chain, PartitionAggregate};
pub use joint_loop::{JointLoop, Redraw};
pub use rounds::Rounds;

use crate::flow::Flow;
use linkpool_units::{HostId, Time};

/// An action that a process asks for.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Starts a flow, numbered among the flows of the process, at its start time.
    Start(u32, Flow),
    /// The process moves to this host at this time, where [`Process::begin`] is called.
    Move(HostId, Time),
    /// A job is done.
    Finish(Job),
}

/// A set of flows with a purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// Among the jobs of its workload.
    pub number: u32,
    /// The chain to which the job belongs, and the client's host; `None`: the job of all hosts that
    /// take part.
    pub of: Option<(u32, HostId)>,
    /// When the first of its flows begins.
    pub start: Time,
    /// When the client has all that it asked for, or all flows are acknowledged.
    pub end: Option<Time>,
    /// Flows of the job.
    pub flows: u32,
}

/// A flow of the process has come to an end at one of its hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowEnd {
    /// Among those of the process.
    pub number: u32,
    /// Sending host.
    pub src: HostId,
    /// Receiving host.
    pub dst: HostId,
    /// When.
    pub at: Time,
}

/// Who is informed of the end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listens {
    /// A process that lives at the sending host, when all data is acknowledged there.
    Sender,
    /// A process at any host, one inter-host message later.
    Anywhere,
    /// A process that lives at the receiving host, when all data has arrived there.
    Receiver,
}

/// Any process.
#[derive(Clone, PartialEq, Debug)]
pub enum Process {
    /// See [`ClosedLoop`].
    ClosedLoop(ClosedLoop),
    /// See [`Rounds`].
    Rounds(Rounds),
    /// See [`JointLoop`].
    JointLoop(JointLoop),
    /// See [`Chain`].
    Chain(Chain),
}

impl Process {
    /// The process starts at `home`, or has moved there.
    pub fn begin(&mut self, home: HostId, now: Time, out: &mut Vec<Action>) {
        match self {
            Process::ClosedLoop(p) => p.begin(home, now, out),
            Process::Rounds(p) => p.begin(now, out),
            Process::JointLoop(p) => p.begin(now, out),
            Process::Chain(p) => p.begin(home, now, out),
        }
    }

    /// Who is informed of the ends of its flows.
    pub fn listens(&self) -> Listens {
        match self {
            Process::ClosedLoop(_) => Listens::Sender,
            Process::Rounds(_) | Process::JointLoop(_) => Listens::Anywhere,
            Process::Chain(_) => Listens::Receiver,
        }
    }

    /// One of its flows has ended, where it [`Process::listens`].
    pub fn on_end(&mut self, flow: FlowEnd, now: Time, out: &mut Vec<Action>) {
        match self {
            Process::ClosedLoop(p) => p.on_end(flow.src, now, out),
            Process::Rounds(p) => p.on_end(now, out),
            Process::JointLoop(p) => p.on_end(flow, now, out),
            Process::Chain(p) => p.on_arrival(flow.dst, now, out),
        }
    }

    /// The action of a flow's receiving host when the flow has arrived, wherever the process lives.
    pub fn answer(&self, flow: FlowEnd) -> Option<Action> {
        match self {
            Process::Chain(p) => p.answer(flow),
            _ => None,
        }
    }

    /// The job that is not done yet.
    pub fn unfinished(&self, home: HostId) -> Option<Job> {
        match self {
            Process::Chain(p) => p.unfinished(home),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaps, Matrix, Redraw, Rule, Senders, Sizes};
    use linkpool_engine::stream;
    use std::sync::Arc;

    fn each_process() -> [(Process, Listens); 4] {
        let (size, gap, random) = (Sizes::Constant(1), Gaps::NONE, stream(1, "process", 0));
        let matrix = Matrix { rule: Rule::AllToAll, places: [(0, 0); 2].into(), senders: Senders::All };
        let (jitter, stop, next) = (Time::ZERO, Time::MAX, 0);
        let jobs = PartitionAggregate {
            hosts: 2,
            servers: 1,
            chains: 1,
            request: size.clone(),
            answer: size.clone(),
            gap,
            answers: 0,
        };
        let closed = ClosedLoop {
            to: Destinations::Fixed(HostId::new(1)),
            size: size.clone(),
            gap,
            stop,
            next,
            random: random.clone(),
        };
        let rounds = Rounds {
            matrix: matrix.clone(),
            size: size.clone(),
            jitter,
            gap,
            stop,
            next,
            open: 0,
            round: 0,
            random: random.clone(),
        };
        let redraw = Redraw::Room(vec![1; 2]);
        let scheduler = JointLoop { matrix, redraw, size, jitter, gap, stop, next, random: random.clone() };
        [
            (Process::ClosedLoop(closed), Listens::Sender),
            (Process::Rounds(rounds), Listens::Anywhere),
            (Process::JointLoop(scheduler), Listens::Anywhere),
            (Process::Chain(Chain::new(Arc::new(jobs), 0, random).0), Listens::Receiver),
        ]
    }

    /// Two hosts and flows of 1 B: each process starts some, and goes on when they have ended.
    #[test]
    fn each_process_goes_on_with_the_ends_of_its_flows() {
        for (mut process, listens) in each_process() {
            assert_eq!(process.listens(), listens);
            assert_eq!(process.unfinished(HostId::new(0)), None);
            let mut out = Vec::new();
            process.begin(HostId::new(0), Time::from_us(1), &mut out);
            let mut ends = Vec::new();
            for action in out.drain(..) {
                let Action::Start(number, flow) = action else { panic!("{action:?}") };
                ends.push(FlowEnd { number, src: flow.src, dst: flow.dst, at: Time::from_us(2) });
            }
            assert!(!ends.is_empty(), "{process:?}");
            let is_job = listens == Listens::Receiver;
            assert_eq!(process.unfinished(HostId::new(0)).is_some(), is_job);
            for end in ends {
                assert_eq!(process.answer(end).is_some(), is_job);
                process.on_end(end, end.at, &mut out);
            }
            assert!(!out.is_empty(), "{process:?}");
            assert_eq!(process.unfinished(HostId::new(0)), None);
        }
    }
}
