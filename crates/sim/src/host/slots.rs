//! A host: its endpoints in slots.

use crate::host::endpoint::Endpoint;
use crate::host::family::{Receiver, Sender};
use crate::host::handle::Handle;
use crate::host::io::Shared;
use crate::host::measured::MeasuredBytes;
use crate::plan::{FlowId, PlannedFlow};
use linkpool_engine::{Stream, prefetch};
use linkpool_network::HostId;
use linkpool_transport::ndp::PullQueue;
use linkpool_units::{Rate, Time};
use std::collections::{HashMap, VecDeque};

#[derive(Debug)]
pub(crate) struct Host {
    slots: Vec<Slot>,
    /// First freed, first taken: a generation comes back as late as possible.
    free: VecDeque<u32>,
    /// Receivers by their flow: a SYN that is sent again must not open a second one.
    pub(crate) by_flow: HashMap<FlowId, Handle>,
    shared: Shared,
    /// When receivers that wait in vain for a FIN were last looked for.
    pub(crate) swept: Time,
}

#[derive(Debug)]
struct Slot {
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

/// The sending end of a flow. The fields that an ACK reads or writes come first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Sending {
    pub(crate) end: Sender,
    /// The number of its flow.
    pub(crate) flow: FlowId,
    /// The flow that it carries.
    pub(crate) planned: PlannedFlow,
    /// The data that it carries in the measured period.
    pub(crate) measured: MeasuredBytes,
}

/// The receiving end of a flow.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Receiving {
    pub(crate) end: Receiver,
    /// The number of its flow.
    pub(crate) flow: FlowId,
    /// Where it comes from.
    pub(crate) src: HostId,
}

impl Host {
    /// A host whose links carry `rate` together.
    pub(crate) fn new(random: Stream, rate: Rate) -> Host {
        Host {
            slots: Vec::new(),
            free: VecDeque::new(),
            by_flow: HashMap::new(),
            shared: Shared { random, pulls: PullQueue::default(), rate, pulls_at: Time::MAX },
            swept: Time::ZERO,
        }
    }

    /// A name for a new endpoint; [`Host::fill`] puts it in its place.
    ///
    /// # Panics
    /// With more than 65,536 connections open at once.
    pub(crate) fn allocate(&mut self) -> Handle {
        let index = self.free.pop_front().unwrap_or_else(|| {
            assert!(self.slots.len() < 1 << 16, "a host has more than 65,536 connections open at once");
            self.slots.push(Slot { handle: Handle::default(), generation: 0, occupant: Occupant::Free });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.generation += 1;
        slot.handle = Handle::new(index as usize, slot.generation);
        slot.handle
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

    /// The state that its endpoints share.
    pub(crate) fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// Is the endpoint called `handle` still there?
    pub(crate) fn has(&self, handle: Handle) -> bool {
        self.slots.get(handle.slot()).is_some_and(|slot| slot.handle == handle)
    }

    /// Prefetches the pointers to its endpoints.
    #[inline]
    pub(crate) fn prefetch_slots(&self) {
        prefetch(&self.slots);
    }

    /// Prefetches the memory that a packet for `subflow` of `handle` will touch; see
    /// [`linkpool_network::Handler::prefetch`].
    #[inline]
    pub(crate) fn prefetch(&self, (handle, subflow): (Handle, usize), stage: usize) {
        let Some(slot) = self.slots.get(handle.slot()) else { return };
        if stage == 1 {
            return prefetch(slot);
        }
        match (stage, &slot.occupant) {
            // Which family it is of stands where the endpoint does: it is not known yet.
            (2, Occupant::Sender(sending)) => prefetch(&sending.end),
            (2, Occupant::Receiver(receiving)) => prefetch(&**receiving),
            (3.., Occupant::Sender(sending)) => sending.end.prefetch(subflow, stage),
            (3.., Occupant::Receiver(receiving)) => receiving.end.prefetch(subflow, stage),
            _ => {}
        }
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
