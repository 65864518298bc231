//! A host: its endpoints in slots.

use crate::by_id::ById;
use crate::host::endpoint::Endpoint;
use crate::host::family::{Receiver, Sender};
use crate::host::handle::Handle;
use crate::host::io::Shared;
use crate::host::measured::MeasuredBytes;
use crate::host::messages::{Arriving, Messages};
use crate::host::nic::Nic;
use crate::plan::{FlowId, LabelId, PlannedFlow, TransportId};
use linkpool_engine::{Stream, prefetch, prefetch_lines};
use linkpool_network::{HostId, Kind};
use linkpool_scenario::Nic as Settings;
use linkpool_transport::SubflowId;
use linkpool_units::{Rate, Time};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The places of its endpoints come first, and the first of them are in the host itself: of a
/// host with few connections, packets read one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host {
    slots: SmallVec<[Slot; 2]>,
    /// The most endpoints that it has at one time.
    most: usize,
    /// Free slots, the first freed first, so that a generation comes back as late as possible.
    free: VecDeque<u32>,
    /// Receivers by their flow: a SYN that is sent again must not open a second one.
    pub(crate) by_flow: ById<FlowId, Handle>,
    /// Connections that stay open, by the label and the transport of their messages and the host to
    /// which they go: their senders.
    pub(crate) held: ById<(LabelId, TransportId, HostId), Handle>,
    /// By host: how many connections with ports by pair ([`Plan::by_pair`](crate::Plan::by_pair)) were opened to it.
    pub(crate) opened: ById<HostId, u32>,
    /// Messages on connections to this host that have not been opened yet, by connection.
    pub(crate) announced: ById<FlowId, Arriving>,
    /// Connections to this host that are closed, of which packets that could open them are under way
    /// or lost.
    pub(crate) late: ById<FlowId, Late>,
    shared: Shared,
    /// When receivers that wait in vain for a FIN were last looked for.
    pub(crate) swept: Time,
}

/// The packets of a closed connection that could open it a second time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late {
    /// Their number.
    pub(crate) left: u32,
    /// When the connection was closed.
    pub(crate) since: Time,
}

/// A place for an endpoint.
#[derive(Debug)]
pub(crate) struct Slot {
    handle: Handle,
    generation: u32,
    occupant: Occupant,
}

/// The content of a slot.
#[derive(Debug)]
pub(crate) enum Occupant {
    Free,
    Sender(Box<Sending>),
    Receiver(Box<Receiving>),
}

/// The sending end of a connection. The fields that an ACK reads or writes come first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Sending {
    pub(crate) end: Sender,
    /// The number of its flow, or of its first message.
    pub(crate) flow: FlowId,
    /// The flow that it carries, or its first message.
    pub(crate) planned: PlannedFlow,
    /// The data that it carries in the measured period.
    pub(crate) measured: MeasuredBytes,
    /// The messages that it carries, if it stays open.
    pub(crate) messages: Option<Box<Messages>>,
    /// Has its endpoint been told to open the connection? The adapter of the host may take time.
    pub(crate) opened: bool,
    /// The number of messages that are passing the adapter.
    pub(crate) entering: u32,
    /// Does it wait for a place in the adapter?
    pub(crate) queues: bool,
}

/// The receiving end of a connection.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Receiving {
    pub(crate) end: Receiver,
    /// The number of its flow, or of its first message.
    pub(crate) flow: FlowId,
    /// The sending host.
    pub(crate) src: HostId,
    /// The messages that are to come, if it stays open.
    pub(crate) arriving: Option<Box<Arriving>>,
}

impl Host {
    /// A host with links of these rates, and at most `most` endpoints at one time.
    pub(crate) fn new(random: Stream, links: impl Iterator<Item = Rate>, most: usize) -> Host {
        let (rate, count) = links.fold((0, 0), |(rate, count), link| (rate + link.0, count + 1));
        Host {
            slots: SmallVec::new(),
            most,
            free: VecDeque::new(),
            by_flow: ById::default(),
            held: ById::default(),
            opened: ById::default(),
            announced: ById::default(),
            late: ById::default(),
            shared: Shared {
                random,
                turns: Default::default(),
                rate: Rate(rate),
                one_link: count == 1,
                nic: None,
                credit_rate: Default::default(),
            },
            swept: Time::ZERO,
        }
    }

    /// With an adapter, if there are `settings` of one.
    pub(crate) fn with_adapter(mut self, settings: Option<Settings>) -> Host {
        self.shared.nic = settings.map(|settings| Box::new(Nic::new(settings)));
        self
    }

    /// A name for a new endpoint, for which [`Host::fill`] has the place; none if all places are
    /// taken.
    pub(crate) fn allocate(&mut self) -> Option<Handle> {
        let index = match self.free.pop_front() {
            Some(index) => index as usize,
            None if self.slots.len() == self.most => return None,
            None => {
                self.slots.push(Slot { handle: Handle::default(), generation: 0, occupant: Occupant::Free });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[index];
        slot.generation += 1;
        slot.handle = Handle::new(index, slot.generation);
        Some(slot.handle)
    }

    pub(crate) fn fill(&mut self, handle: Handle, occupant: Occupant) {
        self.slots[handle.slot()].occupant = occupant;
    }

    /// The endpoint `handle`, if it is still there, with the state that it shares with others.
    #[inline]
    pub(crate) fn endpoint(&mut self, handle: Handle) -> Option<(&mut Occupant, &mut Shared)> {
        let slot = self.slots.get_mut(handle.slot())?;
        (slot.handle == handle).then_some((&mut slot.occupant, &mut self.shared))
    }

    /// Is a packet that could open the connection of `flow` a late one of a connection that is closed?
    /// Then it is the last time that it is looked for: each comes once.
    pub(crate) fn is_late(&mut self, flow: FlowId) -> bool {
        let Some(late) = self.late.get_mut(&flow) else { return false };
        late.left -= 1;
        if late.left == 0 {
            self.late.remove(&flow);
        }
        true
    }

    /// Forgets connections that were closed a `span` before `now`, or earlier.
    pub(crate) fn forget_late(&mut self, now: Time, span: Time) {
        self.late.retain(|_, late| late.since + span > now);
    }

    /// The state that its endpoints share.
    pub(crate) fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// Is the endpoint called `handle` still there?
    pub(crate) fn has(&self, handle: Handle) -> bool {
        self.slots.get(handle.slot()).is_some_and(|slot| slot.handle == handle)
    }

    /// Prefetches the places of its endpoints, or where they are.
    #[inline]
    pub(crate) fn prefetch_slots(&self) {
        prefetch(&self.slots);
    }

    /// The slot that `handle` names, whoever is there now.
    #[inline]
    pub(crate) fn slot(&self, handle: Handle) -> Option<&Slot> {
        self.slots.get(handle.slot())
    }

    /// All senders.
    pub(crate) fn senders(&mut self) -> impl Iterator<Item = (Handle, &mut Sending)> {
        self.slots.iter_mut().filter_map(|slot| match &mut slot.occupant {
            Occupant::Sender(sending) => Some((slot.handle, &mut **sending)),
            _ => None,
        })
    }

    /// All receivers.
    pub(crate) fn receivers(&self) -> impl Iterator<Item = (Handle, &Receiving)> {
        self.slots.iter().filter_map(|slot| match &slot.occupant {
            Occupant::Receiver(receiving) => Some((slot.handle, &**receiving)),
            _ => None,
        })
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Occupant {
        let slot = &mut self.slots[handle.slot()];
        slot.handle = Handle::default();
        self.free.push_back(handle.slot() as u32);
        std::mem::replace(&mut slot.occupant, Occupant::Free)
    }
}

impl Slot {
    /// Prefetches the part of the endpoint that most packets touch.
    #[inline]
    pub(crate) fn prefetch_end(&self) {
        // The family is stored with the endpoint, so it is not known yet.
        match &self.occupant {
            Occupant::Sender(sending) => prefetch_lines::<3, _>(&**sending),
            Occupant::Receiver(receiving) => prefetch_lines::<2, _>(&**receiving),
            Occupant::Free => {}
        }
    }

    /// Prefetches the memory beyond it that a packet for `subflow` of this `kind` will touch; see
    /// [`Endpoint::prefetch`].
    #[inline]
    pub(crate) fn prefetch(&self, subflow: SubflowId, kind: Kind, stage: usize) {
        match &self.occupant {
            Occupant::Sender(sending) => sending.end.prefetch(subflow, kind, stage),
            Occupant::Receiver(receiving) => receiving.end.prefetch(subflow, kind, stage),
            Occupant::Free => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_engine::stream;

    /// Of docs/engine.md, "Memory".
    #[test]
    fn a_connection_takes_so_many_bytes() {
        assert_eq!((size_of::<Sending>(), size_of::<Receiving>(), size_of::<Slot>()), (640, 256, 24));
        assert!(size_of::<SmallVec<[Slot; 2]>>() <= 64, "the first places are in the first line of a host");
    }

    /// Two packets of flow 5 that are late come once each. A third cannot come: it would be of a new
    /// flow. Of flow 6, closed at 7 us, none comes in 3 us.
    #[test]
    fn late_packets_are_known_until_they_have_come() {
        let mut host = Host::new(stream(1, "host", 0), [Rate(1)].into_iter(), 2);
        let [five, six] = [5, 6].map(FlowId::new);
        host.late.insert(five, Late { left: 2, since: Time::ZERO });
        host.late.insert(six, Late { left: 1, since: Time::from_us(7) });
        assert_eq!([five, five, five].map(|flow| host.is_late(flow)), [true, true, false]);
        host.forget_late(Time::from_ns(9_999), Time::from_us(3));
        assert_eq!(host.late.len(), 1);
        host.forget_late(Time::from_us(10), Time::from_us(3));
        assert!(host.late.is_empty() && !host.is_late(six));
    }

    #[test]
    fn a_full_table_has_no_place_until_one_is_free() {
        let mut host = Host::new(stream(1, "host", 0), [Rate(1)].into_iter(), 2);
        let [first, second] = [(); 2].map(|()| host.allocate().unwrap());
        assert_eq!((first.slot(), second.slot(), host.allocate()), (0, 1, None));
        host.remove(first);
        let third = host.allocate().unwrap();
        assert_eq!((third.slot(), host.has(first), host.has(third), host.allocate()), (0, false, true, None));
    }
}
