//! What both ends of a queue pair read of its settings.

use super::law::LawConfig;
use crate::declaration::Telemetry;
use linkpool_settings::mixed::quantity;
use linkpool_settings::{Form, Mixed, mixed};
use linkpool_units::{Bytes, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The settings of a RoCE transport, for both ends of its connections.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full packet, bytes.
    pub mss: u16,
    /// Bytes of a data packet on the wire beside its payload.
    pub header: u32,
    /// The time without progress after which the sender goes back.
    pub rto: Time,
    /// Timeouts in a row after which it gives up.
    pub fail_after: u32,
    /// How lost packets are sent again.
    pub retransmission: Retransmission,
    /// Packets beyond the first missing one that a receiver keeps without a NACK (go-back-N).
    pub reorder_window: u32,
    /// Least time between two NACKs for the same missing packet (go-back-N).
    pub nack_interval: Time,
    /// Payload in flight at line rate.
    pub window: Window,
    /// Does the window shrink with the rate?
    pub window_by_rate: bool,
    /// How marks get to the sender; `None`: the law does not ask for them.
    pub cnp: Option<CnpForm>,
    /// Least time between two congestion notification packets.
    pub cnp_interval: Time,
    /// What sets the rate.
    pub law: LawConfig,
    /// What switches write on data packets, and answers tell.
    pub telemetry: Option<Telemetry>,
    /// The probability with which the sender heeds the digest of an answer.
    pub sampled: f64,
}

/// How lost packets are sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retransmission {
    /// From the first missing packet on, all (InfiniBand, section 9.7.5).
    #[serde(rename = "go-back-n")]
    GoBackN,
    /// Those that are missing (IRN, section 3.1).
    Selective,
}

/// How a receiver tells the sender of a marked packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CnpForm {
    /// With a packet of its own, at most one in an interval (Zhu et al., section 3.1).
    Packet,
    /// With a bit on the ACK of each marked packet (HPCC's repository).
    Ack,
}

/// The payload that a queue pair may have in flight at line rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// No limit.
    Unlimited,
    /// The rate of the host's link times the round-trip time of the idle path.
    Bdp,
    /// These bytes.
    Bytes(u64),
}

impl Mixed for Window {
    const NAME: &'static str = "Window";
    const FORMS: &'static str = "a size with its unit, such as \"150KB\", or \"bdp\" or \"unlimited\"";
    const WORDS: &'static [(&'static str, Window)] = &[("bdp", Window::Bdp), ("unlimited", Window::Unlimited)];

    fn of_text(text: &str) -> Option<Result<Window, String>> {
        Some(quantity::<Bytes>(text)?.map(|bytes| Window::Bytes(bytes.0)))
    }

    fn written(&self) -> Option<Form> {
        match *self {
            Window::Bytes(bytes) => Some(Form::text(Bytes(bytes))),
            Window::Bdp | Window::Unlimited => None,
        }
    }

    fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<Bytes>())
    }
}

mixed!(Window);
