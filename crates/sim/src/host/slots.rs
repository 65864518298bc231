//! A host: its endpoints in slots.

use crate::host::endpoint::Endpoint;
use crate::host::wire::Handle;
use linkpool_engine::{Stream, prefetch};
use linkpool_units::Time;
use std::collections::{HashMap, VecDeque};

#[derive(Debug)]
pub(crate) struct Host {
    slots: Vec<Slot>,
    /// First freed, first taken: a generation comes back as late as possible.
    free: VecDeque<u32>,
    /// Receivers by their flow: a SYN that is sent again must not open a second one.
    pub(crate) receivers: HashMap<u32, Handle>,
    pub(crate) random: Stream,
    /// Flows that ended as long ones, of which the scheduler that places them has not heard.
    pub(crate) unplaced: Vec<u32>,
    /// When receivers that wait in vain for a FIN were last looked for.
    pub(crate) swept: Time,
}

#[derive(Debug)]
pub(crate) struct Slot {
    handle: Handle,
    generation: u32,
    pub(crate) endpoint: Endpoint,
}

impl Host {
    pub(crate) fn new(random: Stream) -> Host {
        Host {
            slots: Vec::new(),
            free: VecDeque::new(),
            receivers: HashMap::new(),
            random,
            unplaced: Vec::new(),
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
            self.slots.push(Slot { handle: Handle::default(), generation: 0, endpoint: Endpoint::Free });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.generation += 1;
        slot.handle = Handle::new(index as usize, slot.generation);
        slot.handle
    }

    pub(crate) fn fill(&mut self, handle: Handle, endpoint: Endpoint) {
        self.slots[handle.slot()].endpoint = endpoint;
    }

    /// The endpoint called `handle`, if it is still there; with it, what else of the host it needs.
    #[inline]
    pub(crate) fn endpoint(&mut self, handle: Handle) -> Option<(&mut Endpoint, &mut Stream)> {
        let slot = self.slots.get_mut(handle.slot())?;
        (slot.handle == handle).then_some((&mut slot.endpoint, &mut self.random))
    }

    /// Is the endpoint called `handle` still there?
    pub(crate) fn has(&self, handle: Handle) -> bool {
        self.slots.get(handle.slot()).is_some_and(|slot| slot.handle == handle)
    }

    /// Fetches what leads to its endpoints.
    #[inline]
    pub(crate) fn prefetch_slots(&self) {
        prefetch(&self.slots);
    }

    /// Fetches what a packet for `subflow` of `handle` will touch; see [`linkpool_network::Handler::prefetch`].
    #[inline]
    pub(crate) fn prefetch(&self, (handle, subflow): (Handle, usize), stage: usize) {
        let Some(slot) = self.slots.get(handle.slot()) else { return };
        if stage == 1 {
            return prefetch(slot);
        }
        match (stage, &slot.endpoint) {
            (2, Endpoint::Sender(end)) => {
                prefetch(&end.sender);
                prefetch(&end.address);
            }
            (2, Endpoint::Receiver(end)) => prefetch(&**end),
            // The packet may be for another, of more subflows, that had this slot.
            (3, Endpoint::Sender(end)) if subflow < end.sender.subflows() => {
                let (path, sent, timer) = end.sender.places(subflow);
                prefetch(path);
                prefetch(sent);
                prefetch(timer);
            }
            (3, Endpoint::Receiver(end)) => end.receiver.place(subflow).into_iter().for_each(prefetch),
            (4, Endpoint::Sender(end)) if subflow < end.sender.subflows() => {
                end.sender.oldest_sent(subflow).into_iter().for_each(prefetch);
            }
            _ => {}
        }
    }

    pub(crate) fn endpoints(&mut self) -> impl Iterator<Item = (Handle, &mut Endpoint)> {
        self.slots.iter_mut().map(|s| (s.handle, &mut s.endpoint))
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Endpoint {
        let slot = &mut self.slots[handle.slot()];
        slot.handle = Handle::default();
        self.free.push_back(handle.slot() as u32);
        std::mem::replace(&mut slot.endpoint, Endpoint::Free)
    }
}
