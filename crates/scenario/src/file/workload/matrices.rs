//! Flows by a matrix: who sends to whom follows a rule.

use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{FlowSize, Gap, Host};
use super::{AnyWorkload, Common, DestinationName, SmallTable};

/// A kind of workload by a matrix: the keys that all of these have, then its own.
macro_rules! matrix {
    (
        $(#[$meta:meta])*
        $table:ident, $schema:literal { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
    ) => {
        workload! {
            $(#[$meta])*
            $table, $schema {
                $($(#[$key_meta])* $key: $type,)*
                /// Payload of each flow. Default: "unlimited".
                size: Option<FlowSize>,
                /// When the flows stop. Default: the end of the run, `duration` and `drain`.
                stop: Option<Time>,
                /// Starts are uniform in [start, start + jitter]. Default: "0s".
                jitter: Option<Time>,
                /// The flows that ends of flows start. Default: none.
                repeat: Option<RepeatName>,
                /// With `repeat`, from the end to the next start. Default: "0s".
                gap: Option<Gap>,
            }
        }

        impl From<MatrixKeys> for $table {
            fn from(keys: MatrixKeys) -> $table {
                let MatrixKeys { common, size, stop, jitter, repeat, gap } = keys;
                let Common { label, transport, small, role, start } = common;
                $table { label, transport, small, role, start, size, stop, jitter, repeat, gap, $($key: None,)* }
            }
        }

        impl $table {
            /// The keys that all matrices have.
            pub(crate) fn keys(&self) -> MatrixKeys {
                MatrixKeys {
                    common: self.common(),
                    size: self.size.clone(),
                    stop: self.stop,
                    jitter: self.jitter,
                    repeat: self.repeat,
                    gap: self.gap.clone(),
                }
            }
        }
    };
}

/// The keys that all workloads by a matrix have.
#[derive(Clone, Debug)]
pub(crate) struct MatrixKeys {
    pub(crate) common: Common,
    pub(crate) size: Option<FlowSize>,
    pub(crate) stop: Option<Time>,
    pub(crate) jitter: Option<Time>,
    pub(crate) repeat: Option<RepeatName>,
    pub(crate) gap: Option<Gap>,
}

/// The flows that the end of a flow of a matrix starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Repeat")]
pub(crate) enum RepeatName {
    /// The next flow of its sender.
    Each,
    /// When all have ended: all again, with another draw.
    All,
}

matrix! {
    /// Every host sends to one other and receives from one, drawn at random.
    PermutationTable, "Permutation" {}
}

matrix! {
    /// Every host sends to one other, drawn at random.
    RandomTable, "Random" {
        /// Flows into a host at most. Default: no limit.
        #[schemars(range(min = 1))]
        at_most: Option<u32>,
        /// Where they send to; not "permutation". Default: "random".
        to: Option<DestinationName>,
    }
}

matrix! {
    /// Host i sends to host i + `step`, round the end.
    StrideTable, "Stride" {
        /// From a host to the one that it sends to.
        #[schemars(required, range(min = 1))]
        step: Option<u32>,
    }
}

matrix! {
    /// Every host sends to every other.
    AllToAllTable, "AllToAll" {}
}

matrix! {
    /// Flows that go to a few hosts more often than to others.
    HotspotTable, "Hotspot" {
        /// Number of flows.
        #[schemars(required, range(min = 1))]
        flows: Option<u32>,
        /// The hosts that get more.
        #[schemars(required, length(min = 1))]
        hosts: Option<Vec<Host>>,
        /// The share of flows that go to them; the others go to any host.
        #[schemars(required, range(min = 0, max = 1))]
        share: Option<f64>,
    }
}

matrix! {
    /// Every host sends to one other, some within their racks, some within their pods.
    StaggeredTable, "Staggered" {
        /// The share of flows that stay in their rack.
        #[schemars(required, range(min = 0, max = 1))]
        rack: Option<f64>,
        /// The share of flows that leave their rack and stay in their pod.
        #[schemars(required, range(min = 0, max = 1))]
        pod: Option<f64>,
    }
}
