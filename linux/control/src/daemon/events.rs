//! The ring buffers `events` of all controllers, as one queue.

use crate::instance::Instance;
use crate::intf::Event;
use anyhow::Result;
use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;
use zerocopy::FromBytes;

type Queue = Rc<RefCell<VecDeque<(u32, Event)>>>;

/// Events that were written and not taken, with the controller that wrote them.
#[derive(Debug)]
pub(super) struct Events {
    rings: RingBuffer<'static>,
    queue: Queue,
}

impl Events {
    pub(super) fn of<'a>(controllers: impl Iterator<Item = &'a Instance>) -> Result<Events> {
        let maps = controllers.map(|c| Ok((c.id, c.events()?))).collect::<Result<Vec<(u32, &MapHandle)>>>()?;
        let queue = Queue::default();
        let mut builder = RingBufferBuilder::new();
        for (id, map) in &maps {
            let (id, queue) = (*id, queue.clone());
            builder.add(*map, move |bytes| {
                if let Ok((event, _)) = Event::read_from_prefix(bytes) {
                    queue.borrow_mut().push_back((id, event));
                }
                0
            })?;
        }
        Ok(Events { rings: builder.build()?, queue })
    }

    /// Waits until there is one, or so long.
    pub(super) fn wait(&self, most: Duration) {
        // The kernel counts milliseconds; what is due within one is waited for as one. A signal
        // ends the wait, too.
        let most = Duration::from_millis(most.as_micros().div_ceil(1000) as u64);
        self.rings.poll_raw(most);
    }

    /// Forgets what was written before.
    pub(super) fn discard(&self) {
        self.rings.consume_raw();
        self.queue.borrow_mut().clear();
    }

    pub(super) fn next(&self) -> Option<(u32, Event)> {
        self.queue.borrow_mut().pop_front()
    }
}
