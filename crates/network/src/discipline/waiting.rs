//! The interface of queue disciplines, and the packets that wait in one queue, first come, first
//! served.

use super::shared_buffer::Buffer;
use crate::class::ClassSet;
use crate::fabric::NodeId;
use crate::headers::Headers;
use crate::link::{LinkKind, RareEvents};
use crate::packet::{Flags, Packet};
use crate::thresholds::{Admission, Thresholds};
use linkpool_engine::prefetch;
use linkpool_units::Time;
use std::collections::VecDeque;
use std::fmt::Debug;

/// A queue discipline: the queues of one output port. The port transmits one packet at a time, that
/// which it was given last by [`Discipline::dequeue`], until it says [`Discipline::sent`].
pub(crate) trait Discipline: Debug + Send {
    /// Queues `packet`, or part of it, or refuses it.
    fn enqueue(&mut self, packet: Packet, arrival: &Arrival<'_>, events: &mut RareEvents) -> Verdict;
    /// Gives away the packet that is transmitted next.
    fn dequeue(&mut self, thresholds: &Thresholds, events: &mut RareEvents) -> Option<Packet>;
    /// The packet that was dequeued last is out of the port at `now`, or lost with its link.
    fn sent(&mut self, now: Time);
    /// Gives up a packet that waits at `now`, as its link has failed.
    fn give_up(&mut self, now: Time) -> Option<Packet>;
    /// Does a packet that finds no other at the port leave at once and as it is, and depends nothing on when it has left?
    /// Then [`Discipline::enqueue`] is called only for packets that find others, and [`Discipline::sent`] need not be.
    fn passes(&self, thresholds: &Thresholds) -> bool {
        thresholds.uncounted > 0 && self.leaves_at_once(thresholds)
    }
    /// Does a packet that finds no other at the port leave at once and as it is? Then it may be transmitted without
    /// [`Discipline::enqueue`] and [`Discipline::dequeue`], by [`Discipline::serve`].
    fn leaves_at_once(&self, thresholds: &Thresholds) -> bool;
    /// `packet`, which found no other, is transmitted; it counts until [`Discipline::sent`] as one that was dequeued. Not called where
    /// packets pass.
    fn serve(&mut self, _packet: &Packet) {}
    /// These classes are paused from now on; a discipline without classes is never told.
    fn close(&mut self, _closed: ClassSet) {}
    /// Do packets of this class wait?
    fn waits(&self, _class: u8) -> bool {
        self.waiting().0 > 0
    }
    /// Shows the packets that wait in the queue of this class, the first first; a discipline without classes is never asked.
    fn each_waiting(&self, _class: u8, _visit: &mut dyn FnMut(&Packet)) {}
    /// Bytes that wait in classes that are paused.
    fn held(&self) -> u64 {
        0
    }
    /// Packets and bytes that wait, all queues together.
    fn waiting(&self) -> (u32, u64);
    /// Packets in all queues, counted as `thresholds` say.
    fn counted(&self, thresholds: &Thresholds) -> u32;
    /// The longest queue that a limit in packets holds for, counted as `thresholds` say.
    fn longest(&self, thresholds: &Thresholds) -> u32 {
        self.counted(thresholds)
    }
    /// Brings the packets closer that are first and last in the queues.
    fn prefetch(&self) {}
    /// No header goes back to its sender unless more come than these.
    fn room_for_headers(&self) -> Headers {
        Headers::ENDLESS
    }
}

/// How a packet meets a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) now: Time,
    /// The node at the end of the link.
    pub(crate) to: NodeId,
    /// The link as it is now.
    pub(crate) kind: &'a LinkKind,
    /// The thresholds of the queue.
    pub(crate) thresholds: &'a Thresholds,
    /// The buffer that the port shares with others, up to date.
    pub(crate) buffer: Option<&'a Buffer>,
    /// Is the packet queued whatever thresholds say?
    pub(crate) lossless: bool,
}

impl Arrival<'_> {
    /// The header of `packet`, which is trimmed here.
    pub(super) fn trim(&self, packet: Packet) -> Packet {
        if self.to == packet.dst().into() { packet.trimmed_at_last() } else { packet.trimmed() }
    }
}

/// The fate of a packet that arrived at a port.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// It is queued, marked as may be.
    Queued,
    /// It is queued, or another whose place it took was; of one of them only this header.
    Trimmed(Packet),
    /// There is no room for this packet: it, or another that made way for it.
    Dropped(Packet),
    /// This packet goes back to its sender: it, or another that made way for it.
    Returned(Packet),
}

/// The packets that wait in one queue, first come, first served, and the size of the one of them
/// that is being transmitted.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    packets: VecDeque<Packet>,
    bytes: u64,
    in_service: Option<u16>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Is no packet of this queue at the port?
    pub(super) fn is_idle(&self) -> bool {
        self.packets.is_empty() && self.in_service.is_none()
    }

    /// Packets and bytes that wait.
    pub(super) fn length(&self) -> (u32, u64) {
        (self.packets.len() as u32, self.bytes)
    }

    /// Packets and bytes, that in service counted if `thresholds` say so.
    pub(super) fn counted(&self, thresholds: &Thresholds) -> (u32, u64) {
        let in_service = self.in_service.filter(|_| thresholds.uncounted == 0);
        (self.packets.len() as u32 + in_service.is_some() as u32, self.bytes + u64::from(in_service.unwrap_or(0)))
    }

    /// Has the queue room for a packet of `size`?
    pub(super) fn has_room(&self, size: u16, arrival: &Arrival<'_>) -> bool {
        !self.meets(size, arrival).1
    }

    /// Does a packet of `size` find the queue over the marking threshold, and does it find it full?
    #[inline]
    pub(super) fn meets(&self, size: u16, arrival: &Arrival<'_>) -> (bool, bool) {
        let (packets, bytes) = self.counted(arrival.thresholds);
        let full = match arrival.buffer {
            // The packet in service still takes room.
            Some(buffer) => !buffer.has_room(size, self.bytes + u64::from(self.in_service.unwrap_or(0))),
            None => arrival.thresholds.is_full(packets, bytes + u64::from(size)),
        };
        (arrival.thresholds.is_over(packets, bytes), full)
    }

    /// Brings the first and the last closer.
    pub(super) fn prefetch(&self) {
        self.packets.front().into_iter().chain(self.packets.back()).for_each(prefetch);
    }

    pub(super) fn put(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.size());
        self.packets.push_back(packet);
    }

    /// Takes the first, which is transmitted now.
    pub(super) fn take(&mut self) -> Option<Packet> {
        let packet = self.take_unsent()?;
        self.in_service = Some(packet.size());
        Some(packet)
    }

    /// Takes the first, which is not transmitted.
    pub(super) fn take_unsent(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size());
        Some(packet)
    }

    /// The size of the first, if one waits.
    pub(super) fn first_size(&self) -> Option<u16> {
        self.packets.front().map(Packet::size)
    }

    /// All, the first first.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(visit);
    }

    /// The last that came.
    pub(super) fn last(&self) -> Option<&Packet> {
        self.packets.back()
    }

    /// Takes the last that came.
    pub(super) fn take_last(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_back()?;
        self.bytes -= u64::from(packet.size());
        Some(packet)
    }

    /// A packet of `size` is transmitted that has not waited.
    pub(super) fn serve(&mut self, size: u16) {
        self.in_service = Some(size);
    }

    /// A taken packet has left the port.
    pub(super) fn sent(&mut self) {
        self.in_service = None;
    }

    /// Queues `packet`, marked or not, or drops it. `over`: it would be marked; `full`: it finds no room ([`Waiting::meets`]);
    /// `markable`: it can be marked.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        packet: Packet,
        (over, full, markable): (bool, bool, bool),
        arrival: &Arrival<'_>,
        events: &mut RareEvents,
    ) -> Verdict {
        if over || full {
            return self.admit_by_thresholds(packet, (over, full, markable), arrival, events);
        }
        self.put(packet);
        Verdict::Queued
    }

    /// The same of a packet that finds the queue over the marking threshold, or full. Out of line, so that the usual way stays
    /// short.
    #[inline(never)]
    fn admit_by_thresholds(
        &mut self,
        mut packet: Packet,
        (over, full, markable): (bool, bool, bool),
        arrival: &Arrival<'_>,
        events: &mut RareEvents,
    ) -> Verdict {
        let full = full && !arrival.lossless;
        match arrival.thresholds.admission(over, full, markable, packet.kind) {
            Admission::Drop if arrival.lossless => {}
            Admission::Drop => return Verdict::Dropped(packet),
            Admission::Mark => mark(&mut packet, events),
            Admission::Queue => {}
        }
        self.put(packet);
        Verdict::Queued
    }
}

/// Marks `packet`; a switch before may have marked it: the mark is counted where it was set.
pub(super) fn mark(packet: &mut Packet, events: &mut RareEvents) {
    events.marks += !packet.flags.has(Flags::CE) as u64;
    packet.flags = packet.flags.with(Flags::CE);
}
