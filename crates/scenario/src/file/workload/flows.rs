//! Flows between hosts that the scenario names, and flows that arrive at random.

use linkpool_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{FlowSize, Host};
use super::{AnyWorkload, Common, DestinationName, SmallTable};

workload! {
    /// `count` flows between two hosts.
    FlowTable, "Flow" {
        /// Sending host.
        #[schemars(required)]
        from: Option<Host>,
        /// Receiving host.
        #[schemars(required)]
        to: Option<Host>,
        /// Payload of each flow. Default: "unlimited".
        size: Option<FlowSize>,
        /// When the flows stop. Default: the end of the run, `duration` and `drain`.
        stop: Option<Time>,
        /// Number of flows. Default: 1.
        #[schemars(range(min = 1))]
        count: Option<u32>,
        /// The path of each subflow: the names of its nodes from `from` to `to`. Default: by the
        /// transport.
        paths: Option<Vec<Vec<String>>>,
    }
}

workload! {
    /// In every burst, one flow from each sender.
    IncastTable, "Incast" {
        /// Number of senders: the first hosts that are not the receiver.
        #[schemars(required, range(min = 1))]
        senders: Option<u32>,
        /// Receiving host.
        #[schemars(required)]
        receiver: Option<Host>,
        /// Payload of each flow.
        #[schemars(required)]
        size: Option<FlowSize>,
        /// From the start of one burst to that of the next. Required unless `bursts` is 1.
        every: Option<Time>,
        /// Number of bursts. Default: as many as start before `duration`.
        #[schemars(range(min = 1))]
        bursts: Option<u32>,
        /// From the start of one flow of a burst to that of the next. Default: "0s".
        spacing: Option<Time>,
    }
}

workload! {
    /// One flow each from consecutive hosts.
    ManyToOneFlowsTable, "ManyToOneFlows" {
        /// Number of flows.
        #[schemars(required, range(min = 1))]
        flows: Option<u32>,
        /// Index of the first sending host. Default: 0.
        first: Option<u32>,
        /// Receiving host.
        #[schemars(required)]
        receiver: Option<Host>,
        /// Payload of each flow. Default: "unlimited".
        size: Option<FlowSize>,
        /// When the flows stop. Default: the end of the run, `duration` and `drain`.
        stop: Option<Time>,
        /// From the start of one flow to that of the next. Default: "0s".
        spacing: Option<Time>,
    }
}

workload! {
    /// Poisson arrivals, source and destination uniform over distinct hosts.
    PoissonTable, "Poisson" {
        /// Mean rate of arrivals over the whole network, per second; or else one of the next two.
        #[schemars(extend("exclusiveMinimum" = 0))]
        flows_per_second: Option<f64>,
        /// Mean rate of arrivals at each host that sends, per second.
        #[schemars(extend("exclusiveMinimum" = 0))]
        flows_per_second_per_host: Option<f64>,
        /// Offered payload over the capacity of all hosts' links together; beside a rate, the load
        /// that the rate must give.
        #[schemars(extend("exclusiveMinimum" = 0))]
        load: Option<f64>,
        /// May the load be above 1? Default: false.
        allow_overload: Option<bool>,
        /// Where flows go. Default: "random".
        to: Option<DestinationName>,
        /// Payload of each flow.
        #[schemars(required)]
        size: Option<FlowSize>,
        /// No arrival at or after this. Default: `duration`.
        stop: Option<Time>,
    }
}
