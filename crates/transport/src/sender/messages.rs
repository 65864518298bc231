//! A connection that stays open for messages: where they end in its stream.

use std::collections::VecDeque;

/// The messages of a connection.
#[derive(Debug)]
pub(super) struct Messages {
    /// The ends of messages in the stream, from the first that is not acknowledged on.
    ends: VecDeque<u64>,
    /// The end of the last message.
    end: u64,
}

impl Messages {
    /// The first message ends at `end`.
    pub(super) fn new(end: u64) -> Messages {
        Messages { ends: [end].into(), end }
    }

    /// Adds a message of `size` bytes; data before `acked` is acknowledged. Returns its end.
    pub(super) fn add(&mut self, size: u64, acked: u64) -> u64 {
        while self.ends.front().is_some_and(|end| *end <= acked) {
            self.ends.pop_front();
        }
        self.end += size;
        self.ends.push_back(self.end);
        self.end
    }

    /// The end of the last message.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Does a message end at `end`?
    pub(super) fn end_at(&self, end: u64) -> bool {
        self.ends.binary_search(&end).is_ok()
    }

    /// The first end of a message beyond `place`.
    pub(super) fn end_beyond(&self, place: u64) -> Option<u64> {
        let beyond = self.ends.partition_point(|end| *end <= place);
        self.ends.get(beyond).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_end_one_after_another() {
        let mut messages = Messages::new(10);
        assert_eq!((messages.add(5, 0), messages.add(7, 9)), (15, 22));
        assert_eq!(
            [9, 10, 14, 15, 21, 22].map(|end| messages.end_beyond(end)),
            [Some(10), Some(15), Some(15), Some(22), Some(22), None]
        );
        assert_eq!([10, 11, 15, 22].map(|end| messages.end_at(end)), [true, false, true, true]);
        // What is acknowledged is forgotten.
        assert_eq!((messages.add(1, 15), messages.end_at(15), messages.end_beyond(0)), (23, false, Some(22)));
    }
}
