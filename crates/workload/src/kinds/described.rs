//! What checks and results ask of a workload: its pairs of hosts, its sizes and its jobs.

use linkpool_units::HostId;

use crate::sizes::Sizes;

/// Who may send to whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pairs {
    /// These senders to these receivers; a pair may stand here more than once.
    Listed(Vec<(HostId, HostId)>),
    /// Every host to every other.
    Any {
        /// Also to hosts of its own rack?
        in_rack: bool,
    },
}

/// The sizes of flows.
#[derive(Clone, PartialEq, Debug)]
pub struct SizesOf {
    /// The name of the distribution.
    pub name: String,
    /// How its table is read, if it is one.
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
