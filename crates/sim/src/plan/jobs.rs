//! Groups of a workload's flows: partition-aggregate jobs and collective operations.

use linkpool_scenario::WorkloadKind;
use linkpool_settings::Kinds;
use linkpool_workload::kinds::Collective;

/// The jobs of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobKind {
    /// As results call it.
    pub name: &'static str,
    /// If they are collective operations.
    pub operation: Option<Operation>,
}

/// A collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Hosts that take part.
    pub ranks: u32,
    /// Data of each, bytes.
    pub size: u64,
    /// Messages, each a flow.
    pub flows: u32,
}

impl JobKind {
    pub(crate) fn of(kind: &WorkloadKind) -> Option<JobKind> {
        match kind {
            WorkloadKind::PartitionAggregate(_) => Some(JobKind { name: kind.name(), operation: None }),
            WorkloadKind::Collective(Collective { algorithm, ranks, size, .. }) => {
                let flows = algorithm.messages(*ranks, *size).len() as u32;
                let operation = Operation { ranks: *ranks, size: *size, flows };
                Some(JobKind { name: algorithm.name(), operation: Some(operation) })
            }
            _ => None,
        }
    }
}
