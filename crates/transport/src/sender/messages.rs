//! A connection that stays open for messages: where they end in its stream.

use super::usage::Uses;
use super::{Sender, SenderState};
use crate::segment::Output;
use linkpool_units::Time;
use std::collections::VecDeque;

/// The messages of a connection.
#[derive(Debug)]
pub(super) struct Messages {
    /// The ends of messages in the stream, from the first that is not acknowledged on.
    ends: VecDeque<u64>,
    /// The end of the last message.
    end: u64,
}

impl Sender {
    /// The connection stays open: its first message is the data that it has now, and
    /// [`Sender::extend`] adds others. Call it before [`Sender::open`].
    pub fn keep_open(&mut self) {
        self.messages = Some(Box::new(Messages { ends: [self.size].into(), end: self.size }));
        self.uses = Some(Uses::new(self.subflows.len()));
        self.choose_ways();
    }

    /// Adds a message of `size` bytes, 1 or more, to the stream of a connection that stays open.
    pub fn extend(&mut self, size: u64, now: Time, out: &mut impl Output) {
        let Some(messages) = &mut self.messages else { return };
        if self.state != SenderState::Open {
            return;
        }
        while messages.ends.front().is_some_and(|end| *end <= self.data_una) {
            messages.ends.pop_front();
        }
        messages.end += size;
        messages.ends.push_back(messages.end);
        if self.data_nxt == self.size {
            self.size = messages.end;
            self.set_limit();
        }
        self.transmit(now, out);
        if self.limited {
            self.watch_window(now, out);
        }
        self.note_use(self.all(), now);
    }

    /// Does a message, or the stream, end at `end`?
    #[inline]
    pub(super) fn is_end(&self, end: u64) -> bool {
        match &self.messages {
            None => end == self.size,
            Some(messages) => messages.ends.binary_search(&end).is_ok(),
        }
    }

    /// All data of a message has been given to subflows: the next message is the one to send.
    #[cold]
    pub(super) fn next_message(&mut self) {
        let Some(messages) = &self.messages else { return };
        let beyond = messages.ends.partition_point(|end| *end <= self.data_nxt);
        if let Some(end) = messages.ends.get(beyond) {
            self.size = *end;
            self.set_limit();
        }
    }
}
