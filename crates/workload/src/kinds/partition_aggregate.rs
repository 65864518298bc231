//! Jobs, each of which starts the next.

use std::sync::Arc;

use linkpool_engine::stream;
use linkpool_settings::{Bounds, settings};
use linkpool_units::{Time, counted};
use rand::RngCore;

use super::{Demand, Expected, JobKind, Place, ProcessStart, Run, Second, Setting, SizesOf, Workload};
use crate::gaps::{Gap, Gaps};
use crate::process::{self, Chain, Process};
use crate::sizes::{FlowSize, Sizes};

settings! {
    /// Jobs: a client asks several servers, each answers when it has the request whole; when all
    /// answers are in, the next begins.
    pub struct PartitionAggregate {
        /// Number of servers of a job.
        servers: u32, required 10, within Bounds::POSITIVE;
        /// Number of jobs at the same time.
        chains: u32 = 1, within Bounds::POSITIVE;
        /// Payload from the client to each server.
        request: Sizes as FlowSize = Sizes::Constant(2_000);
        /// Payload from each server to the client.
        answer: Sizes as FlowSize = Sizes::Constant(64_000);
        /// Time between the end of a job and the start of the next.
        gap: Gaps as Gap = Gaps::NONE;
        /// No job starts at or after this.
        stop: Time, from |_p| Time::MAX => "`duration`";
    }
}

impl Workload for PartitionAggregate {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_stop(&mut self.stop, place.duration);
        let (servers, others) = (self.servers, place.hosts - 1);
        let (wanted, there) = (counted(servers, "server"), counted(others, "host"));
        let message = format!("{wanted}, but the topology has only {there} beside the client");
        place.check(servers <= others, "servers", message);
        place.check_few_flows("chains", u128::from(self.chains) * 2 * u128::from(servers));
    }

    fn expected(&self, setting: &Setting) -> Expected {
        let chains = f64::from(self.chains);
        let flows = 2.0 * f64::from(self.servers) * chains;
        let bytes = setting.busy(flows, chains, setting.starting_until(self.stop));
        Expected { flows, at_once: flows, listed: false, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        let all = Arc::new(process::PartitionAggregate {
            hosts: run.hosts(),
            servers: self.servers,
            chains: self.chains,
            request: self.request.clone(),
            answer: self.answer.clone(),
            gap: self.gap,
            answers: stream(run.seed, "partition-aggregate answers", run.index).next_u64(),
        });
        let chain = |i| {
            let (chain, client) = Chain::new(all.clone(), i, run.random_of_process(i));
            let until = run.duration.min(self.stop);
            ProcessStart { process: Process::Chain(chain), home: client, after: Time::ZERO, until }
        };
        Demand { processes: (0..self.chains).map(chain).collect(), ..Demand::default() }
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::from(&self.request)
    }

    /// Answers.
    fn second(&self) -> Option<Second> {
        Some(Second { of_first: " request", of_second: "", sizes: SizesOf::from(&self.answer) })
    }

    fn jobs(&self, kind: &'static str) -> Option<JobKind> {
        Some(JobKind { name: kind, operation: None })
    }
}
