//! The ring buffers `events` of all controllers, as one queue.
//!
//! An event is taken once, so one daemon takes the events of a controller, those of all network
//! namespaces. It has a note for the controller locked.

use super::notes;
use crate::instance::Instance;
use crate::intf::Event;
use anyhow::{Result, ensure};
use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use zerocopy::FromBytes;

type Queue = Rc<RefCell<VecDeque<(u32, Event)>>>;

/// Events that were written and not taken, with the controller that wrote them.
#[derive(Debug)]
pub(super) struct Events {
    rings: RingBuffer<'static>,
    queue: Queue,
    _claims: Vec<Claim>,
}

/// The right to take the events of a controller, while it lives.
#[derive(Debug)]
struct Claim {
    path: PathBuf,
    /// Open for its lock.
    _note: File,
}

const NOTE: &str = "events-";

impl Claim {
    /// Errors: another daemon has it, or a test bed.
    fn of(controller: &Instance) -> Result<Claim> {
        let path = notes::note(&format!("{NOTE}{}", controller.id));
        let (note, _) = notes::open(&path, true)?;
        ensure!(
            notes::lock(&note),
            "{}: another daemon or a test bed takes the events of this controller; end it first, and let one daemon \
             serve all network namespaces (--netns)",
            controller.name
        );
        Ok(Claim { path, _note: note })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _alone = notes::alone();
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the notes of daemons that were killed.
fn clean_up() -> Result<()> {
    for (path, _) in notes::all(NOTE)? {
        if notes::open(&path, false).is_ok_and(|(note, _)| notes::lock(&note)) {
            let _ = fs::remove_file(&path); // it may be gone
        }
    }
    Ok(())
}

impl Events {
    /// Errors: another daemon takes the events of one of them.
    pub(super) fn of<'a>(controllers: impl Iterator<Item = &'a Instance>) -> Result<Events> {
        let controllers: Vec<&Instance> = controllers.collect();
        let mut claims = Vec::new();
        // After `claims`: an error drops it before them, and they need it.
        let alone = notes::alone()?;
        clean_up()?;
        for controller in &controllers {
            claims.push(Claim::of(controller)?);
        }
        drop(alone);
        let maps = controllers.iter().map(|c| Ok((c.id, c.events()?))).collect::<Result<Vec<(u32, &MapHandle)>>>()?;
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
        Ok(Events { rings: builder.build()?, queue, _claims: claims })
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
