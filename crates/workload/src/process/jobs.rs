//! Partition-aggregate jobs: requests, answers, the next job.

use super::{Action, FlowEnd, Job};
use crate::flow::Flow;
use crate::gaps::Gaps;
use crate::sizes::Sizes;
use linkpool_engine::{Stream, stream};
use linkpool_units::{HostId, Time};
use rand::Rng;
use rand::seq::index;
use std::sync::Arc;

/// Partition and aggregate: a client asks several servers, each answers when it has the request
/// whole, and the job is done when all answers are in (XMP, section 5.2.1, "Incast"; AMP, section
/// 5.3).
#[derive(Clone, PartialEq, Debug)]
pub struct PartitionAggregate {
    /// Hosts of the network.
    pub hosts: usize,
    /// Servers of a job; fewer than `hosts`.
    pub servers: u32,
    /// Jobs that run side by side.
    pub chains: u32,
    /// From the client to each server.
    pub request: Sizes,
    /// From each server to the client.
    pub answer: Sizes,
    /// Time between the end of a job and the start of the next in its chain.
    pub gap: Gaps,
    /// Seed of the answers' sizes, which are drawn where the servers are.
    pub answers: u64,
}

/// Jobs one after the other, each with its own client and servers. The process lives at the client.
///
/// The requests of job j are flows 2nj to 2nj + n - 1. The number of an answer is that of its
/// request plus n.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    all: Arc<PartitionAggregate>,
    chain: u32,
    /// Number of jobs before this one.
    job: u32,
    started: Time,
    /// Number of answers that have not arrived.
    missing: u32,
    random: Stream,
}

impl Chain {
    /// Creates chain number `chain`, and chooses the host at which it begins.
    pub fn new(all: Arc<PartitionAggregate>, chain: u32, mut random: Stream) -> (Chain, HostId) {
        let client = HostId::new(random.random_range(0..all.hosts));
        (Chain { all, chain, job: 0, started: Time::ZERO, missing: 0, random }, client)
    }

    pub(super) fn begin(&mut self, client: HostId, now: Time, out: &mut Vec<Action>) {
        let servers = self.all.servers;
        self.started = now;
        self.missing = servers;
        let first = self.job * 2 * servers;
        let drawn = index::sample(&mut self.random, self.all.hosts - 1, servers as usize);
        for (number, server) in (first..).zip(drawn) {
            // All but the client, who is left out of the count.
            let server = HostId::new(server + usize::from(server >= client.index()));
            let size = Some(self.all.request.draw(&mut self.random));
            let flow = Flow { job: Some(self.number()), ..Flow::new((client, server), size, now) };
            out.push(Action::Start(number, flow));
        }
    }

    /// Among the jobs of all chains.
    fn number(&self) -> u32 {
        self.job * self.all.chains + self.chain
    }

    /// `flow` has arrived at a server, if it is a request.
    pub(super) fn answer(&self, flow: FlowEnd) -> Option<Action> {
        let n = self.all.servers;
        let job = flow.number / (2 * n);
        if flow.number % (2 * n) >= n {
            return None;
        }
        let draws = u64::from(self.chain) << 32 | u64::from(flow.number);
        let size = Some(self.all.answer.draw(&mut stream(self.all.answers, "answer", draws)));
        let job = Some(job * self.all.chains + self.chain);
        Some(Action::Start(flow.number + n, Flow { job, ..Flow::new((flow.dst, flow.src), size, flow.at) }))
    }

    /// An answer has arrived.
    pub(super) fn on_arrival(&mut self, client: HostId, now: Time, out: &mut Vec<Action>) {
        self.missing -= 1;
        if self.missing == 0 {
            out.push(Action::Finish(Job { end: Some(now), ..self.at_work(client) }));
            self.job += 1;
            let next = HostId::new(self.random.random_range(0..self.all.hosts));
            out.push(Action::Move(next, now + self.all.gap.draw(&mut self.random)));
        }
    }

    fn at_work(&self, client: HostId) -> Job {
        let flows = 2 * self.all.servers;
        Job { number: self.number(), of: Some((self.chain, client)), start: self.started, end: None, flows }
    }

    pub(super) fn unfinished(&self, client: HostId) -> Option<Job> {
        (self.missing > 0).then(|| self.at_work(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chain(hosts: usize, servers: u32, chain: u32, seed: u64) -> (Chain, HostId) {
        let all = PartitionAggregate {
            hosts,
            servers,
            chains: 3,
            request: Sizes::Constant(2_000),
            answer: Sizes::Constant(64_000),
            gap: Gaps::Constant(Time::from_us(5)),
            answers: seed,
        };
        Chain::new(Arc::new(all), chain, stream(seed, "jobs", chain.into()))
    }

    proptest! {
        /// The client asks as many others as it should, once each; all answer; then the next job
        /// begins, elsewhere.
        #[test]
        fn a_job_is_requests_and_answers(hosts in 2usize..40, n in 1u32..40, c in 0u32..3, seed: u64) {
            prop_assume!((n as usize) < hosts);
            let (mut chain, mut client) = chain(hosts, n, c, seed);
            for job in 0..3 {
                let now = Time::from_ms(job.into());
                let mut out = Vec::new();
                chain.begin(client, now, &mut out);
                let mut servers = Vec::new();
                let mut last = Vec::new();
                for (i, action) in (0..).zip(&out) {
                    let Action::Start(number, flow) = action else { panic!("{action:?}") };
                    prop_assert_eq!(*number, job * 2 * n + i);
                    prop_assert!(flow.src == client && flow.dst != client && flow.dst.index() < hosts && flow.start == now);
                    prop_assert_eq!((flow.size, flow.job), (Some(2_000), Some(job * 3 + c)));
                    servers.push(flow.dst);
                    let at = now + Time::from_us(u64::from(i) + 1);
                    let request = FlowEnd { number: *number, src: client, dst: flow.dst, at };
                    let Some(Action::Start(answer, back)) = chain.answer(request) else { panic!("no answer") };
                    prop_assert_eq!(answer, number + n);
                    prop_assert_eq!((back.src, back.dst, back.start), (flow.dst, client, at));
                    prop_assert_eq!((back.size, back.job), (Some(64_000), flow.job));
                    prop_assert_eq!(chain.answer(FlowEnd { number: answer, ..request }), None);
                    prop_assert!(last.is_empty(), "before all answers are in");
                    prop_assert!(chain.unfinished(client).is_some());
                    chain.on_arrival(client, at, &mut last);
                }
                prop_assert_eq!(servers.len(), n as usize);
                servers.sort_unstable();
                servers.dedup();
                prop_assert_eq!(servers.len(), n as usize);
                let end = now + Time::from_us(n.into());
                let done = Job { number: job * 3 + c, of: Some((c, client)), start: now, end: Some(end), flows: 2 * n };
                prop_assert_eq!(&last[0], &Action::Finish(done));
                let Action::Move(next, at) = last[1] else { panic!("{last:?}") };
                prop_assert!(next.index() < hosts && at == end + Time::from_us(5));
                client = next;
            }
        }
    }

    /// A server knows no more than the number of the request: from that and the chain comes a
    /// stream of its own.
    #[test]
    fn each_answer_has_a_size_of_its_own() {
        let mut sizes = Vec::new();
        for c in 0..3 {
            let (mut chain, _) = chain(9, 4, c, 1);
            Arc::make_mut(&mut chain.all).answer = Sizes::Uniform { min: 1, max: 1 << 50 };
            for number in [0, 1, 2, 3, 8, 9] {
                let request = FlowEnd { number, src: HostId::new(0), dst: HostId::new(1), at: Time::ZERO };
                let Some(Action::Start(_, answer)) = chain.answer(request) else { panic!("no answer") };
                sizes.push(answer.size);
            }
        }
        sizes.sort_unstable();
        sizes.dedup();
        assert_eq!(sizes.len(), 18);
    }
}
