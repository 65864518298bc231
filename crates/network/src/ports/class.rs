use super::red::{RedState, idle_packets};
use crate::link::LinkKind;
use crate::packet::Packet;
use linkpool_engine::Stream;
use linkpool_units::Time;
use std::collections::VecDeque;

/// The packets of one priority that wait at a port, first come, first served.
#[derive(Debug)]
pub(super) struct Class {
    waiting: VecDeque<Packet>,
    bytes: u64,
    red: RedState,
    /// When a packet of this class last left the port.
    last_left: Time,
}

impl Class {
    pub(super) fn new(random: Stream) -> Class {
        Class { waiting: VecDeque::new(), bytes: 0, red: RedState::new(random), last_left: Time::ZERO }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Packets and bytes that wait.
    pub(super) fn length(&self) -> (u32, u64) {
        (self.waiting.len() as u32, self.bytes)
    }

    pub(super) fn put(&mut self, packet: Packet) {
        self.bytes += packet.size as u64;
        self.waiting.push_back(packet);
    }

    pub(super) fn take(&mut self) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.bytes -= packet.size as u64;
        Some(packet)
    }

    /// A packet of this class has left the port at `now`.
    pub(super) fn left(&mut self, now: Time) {
        self.last_left = now;
    }

    /// Is a packet that arrives at `now` and finds so much queued to be marked, or dropped where it cannot be? `idle`: no
    /// packet of this class is at the port.
    pub(super) fn is_over(&mut self, kind: &LinkKind, (packets, bytes): (u32, u64), idle: bool, now: Time) -> bool {
        let discipline = &kind.policy.discipline;
        match &discipline.red {
            None => !discipline.mark_at_dequeue && kind.policy.is_over(packets, bytes),
            Some(red) => {
                let length = if red.in_bytes { bytes as f64 } else { packets as f64 };
                let each = kind.serialisation(red.typical_packet);
                let idle = idle.then(|| idle_packets(now - self.last_left, each));
                self.red.signals(red, length, idle)
            }
        }
    }
}
