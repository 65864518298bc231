//! Properties of a workload that checks and results need: its pairs of hosts, its sizes and its
//! jobs.

use linkpool_units::HostId;

use crate::sizes::Sizes;

/// The pairs of hosts that may have flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pairs {
    /// These pairs of sender and receiver; a pair may occur more than once.
    Listed(Vec<(HostId, HostId)>),
    /// Every host to every other.
    Any {
        /// Do hosts also send to hosts of their own rack?
        in_rack: bool,
    },
}

/// The flows of a workload that have a label of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct Second {
    /// What stands behind the workload's label in that of its first flows.
    pub of_first: &'static str,
    /// The same in the label of these.
    pub of_second: &'static str,
    /// Their sizes.
    pub sizes: SizesOf,
}

/// The sizes of flows.
#[derive(Clone, PartialEq, Debug)]
pub struct SizesOf {
    /// The name of the distribution.
    pub name: String,
    /// The interpolation of its table, if it is a table.
    pub interpolation: Option<&'static str>,
    /// Its mean in bytes, if it has one.
    pub mean: Option<f64>,
}

impl From<&Sizes> for SizesOf {
    fn from(sizes: &Sizes) -> SizesOf {
        let interpolation = match sizes {
            Sizes::Cdf { interpolation, .. } => Some(interpolation.name()),
            _ => None,
        };
        SizesOf { name: sizes.name(), interpolation, mean: Some(sizes.mean()) }
    }
}

impl From<&Option<Sizes>> for SizesOf {
    fn from(sizes: &Option<Sizes>) -> SizesOf {
        let unlimited = || SizesOf { name: "unlimited".into(), interpolation: None, mean: None };
        sizes.as_ref().map_or_else(unlimited, SizesOf::from)
    }
}

impl SizesOf {
    /// The sizes of listed flows.
    pub(super) fn listed(name: &str, sizes: impl ExactSizeIterator<Item = u64>) -> SizesOf {
        let n = sizes.len() as f64;
        SizesOf { name: name.into(), interpolation: None, mean: (n > 0.0).then(|| sizes.sum::<u64>() as f64 / n) }
    }
}

/// The jobs that the flows of a workload form.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JobKind {
    /// Its name in results.
    pub name: &'static str,
    /// The operation, if the jobs are collective operations.
    pub operation: Option<Operation>,
}

/// A collective operation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Operation {
    /// Number of hosts that take part.
    pub ranks: u32,
    /// Data of each host, bytes.
    pub size: u64,
    /// Messages, each a flow.
    pub flows: u32,
    /// Bus bandwidth over algorithm bandwidth.
    pub bus_factor: f64,
}
