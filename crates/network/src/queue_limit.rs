//! A queue length, as a scenario writes it: a whole number of packets, or a size.

use crate::packet::Envelope;
use linkpool_settings::mixed::quantity;
use linkpool_settings::{Form, Mixed, Quantity, mixed};
use linkpool_units::Bytes;
use schemars::{Schema, SchemaGenerator};

/// A queue length, in packets or in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// A number of packets.
    Packets(u32),
    /// A number of bytes on the wire.
    Bytes(u64),
}

impl QueueLimit {
    /// The most packets and bytes that a FIFO queue of a link ([`crate::link`]) can hold: it counts bytes with 32 bits. Longer
    /// queues are those of ports with service events.
    pub(crate) const HELD_PACKETS: u32 = 1 << 17;
    pub(crate) const HELD: u64 = QueueLimit::HELD_PACKETS as u64 * Envelope::LONGEST as u64;
}

impl Quantity for QueueLimit {
    fn number(&self) -> Option<f64> {
        Some(match *self {
            QueueLimit::Packets(n) => f64::from(n),
            QueueLimit::Bytes(n) => n as f64,
        })
    }

    fn text(&self) -> String {
        match *self {
            QueueLimit::Packets(n) => n.to_string(),
            QueueLimit::Bytes(n) => Bytes(n).to_string(),
        }
    }
}

impl Mixed for QueueLimit {
    const NAME: &'static str = "QueueLimit";
    const FORMS: &'static str = "a whole number of packets, such as 100, or a size, such as \"150KB\"";
    const NUMBERS: Option<(u32, u32)> = Some((0, u32::MAX));

    fn of_number(number: u32) -> Option<QueueLimit> {
        Some(QueueLimit::Packets(number))
    }

    fn of_text(text: &str) -> Option<Result<QueueLimit, String>> {
        // The remedy for a size would be wrong for a number of packets.
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let size = if is_number { None } else { quantity(text) };
        Some(size?.map(|Bytes(n)| QueueLimit::Bytes(n)))
    }

    fn written(&self) -> Option<Form> {
        Some(match *self {
            QueueLimit::Packets(n) => Form::Number(n),
            QueueLimit::Bytes(n) => Form::text(Bytes(n)),
        })
    }

    fn text_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<Bytes>())
    }
}

mixed!(QueueLimit);
