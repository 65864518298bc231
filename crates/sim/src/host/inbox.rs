//! The messages of a host that are not due yet.

use crate::host::message::Message;
use linkpool_units::Time;
use std::collections::BTreeMap;

/// Messages by due time, and at one time by their order.
#[derive(Debug, Default)]
pub(crate) struct Inbox(BTreeMap<(Time, (u8, u32, u32)), Message>);

impl Inbox {
    pub(crate) fn insert(&mut self, at: Time, message: Message) {
        self.0.insert((at, message.order()), message);
    }

    /// Drops messages that are not due yet.
    pub(crate) fn cancel(&mut self, is: impl Fn(&Message) -> bool) {
        self.0.retain(|_, message| !is(message));
    }

    /// Takes the first message, if it is due by `now`.
    pub(crate) fn due(&mut self, now: Time) -> Option<Message> {
        let first = self.0.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
