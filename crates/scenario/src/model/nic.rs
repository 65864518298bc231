//! The adapters of hosts: what they need for a message and for a packet, and how much they take.

use linkpool_settings::{Bounds, Messages, Speed, settings};
use linkpool_units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// The adapters (NICs) of all hosts, for transports whose senders take turns at the port of
    /// their host.
    #[derive(Copy, Eq)]
    pub struct Nic {
        /// An adapter whose values are published; keys that are written go first.
        preset: Option<NicPreset> = None;
        /// Time for which an adapter is busy with a message before the next one: it takes in at
        /// most one message in this time.
        message_time: Time = Time::ZERO, within Bounds::SPAN;
        /// Time from then until the first packet of the message may leave. Messages overlap in it.
        latency: Time, from |n| n.preset.map_or(Time::ZERO, NicPreset::latency) => "that of the preset, or `\"0s\"`",
            within Bounds::SPAN;
        /// Time for which an adapter is busy with a packet of data before the next one.
        packet_time: Time = Time::ZERO, within Bounds::SPAN;
        /// The rate at which an adapter reads payload from the memory of its host (PCIe): it is
        /// busy with a packet for its payload at this rate, if that is longer than `packet_time`.
        rate: Option<Rate> as Speed, from |n| n.preset.map(NicPreset::rate) => "that of the preset, or `\"unlimited\"`",
            within Bounds::POSITIVE_OR_UNLIMITED;
        /// Messages of a connection (a queue pair) that an adapter holds, from when it takes one in
        /// until all of it is acknowledged. Later messages wait in the memory of the host.
        send_queue: u32 as Messages = u32::MAX, within Bounds::POSITIVE_OR_UNLIMITED;
        /// The same of all connections of a host together. Where a message finds no place, its
        /// connection waits; those that wait take places in turn, a message each.
        shared_send_queue: u32 as Messages = u32::MAX, within Bounds::POSITIVE_OR_UNLIMITED;
        /// Rate at which an adapter takes what comes by each of its links, first come, first
        /// served.
        receive_rate: Option<Rate> as Speed = None, within Bounds::POSITIVE_OR_UNLIMITED;
        /// Least time that an adapter needs for a packet that comes; the time by `receive_rate`
        /// holds if it is longer.
        receive_packet_time: Time = Time::ZERO, within Bounds::SPAN;
        /// Room of an adapter for what comes by each link. A packet that finds none is lost. The
        /// default is an assumption.
        receive_buffer: u64 as Bytes = 256_000, within Bounds::POSITIVE,
            when |n| n.receives_slowly() => "`receive_rate` and `receive_packet_time`";
    }
}

impl Nic {
    /// Takes it time to receive?
    pub fn receives_slowly(&self) -> bool {
        self.receive_rate.is_some() || self.receive_packet_time > Time::ZERO
    }
}

/// An adapter whose values are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NicPreset {
    /// NVIDIA ConnectX-5 Ex with 100 Gbit/s, as measured by the authors of
    /// github.com/openfabric-systems/simllm, `simllm/backends/nic_profile.py` of commit 8b9deaf,
    /// and `examples/cx5_msgsize_v1/expectations.md` of commit 1dc6eb8.
    #[serde(rename = "connectx-5")]
    ConnectX5,
}

impl NicPreset {
    /// The time of an RDMA WRITE of 2 B over one switch (`expectations.md`, "the 2 B RDMA WRITE
    /// latency floor").
    fn latency(self) -> Time {
        match self {
            NicPreset::ConnectX5 => Time::from_ns(2_080),
        }
    }

    /// The payload that several queue pairs get together (`nic_profile.py`, "the multi-QP fabric
    /// ceiling").
    fn rate(self) -> Rate {
        match self {
            NicPreset::ConnectX5 => Rate::mbps(97_700),
        }
    }
}
