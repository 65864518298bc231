//! Where the messages of a queue pair end, so that answers can count them.

use linkpool_transport::roce::Message;
use std::collections::VecDeque;

/// The ends that are known of a connection; those before count as arrived.
const KNOWN: usize = 1 << 16;

/// The last packets of the messages of a connection.
#[derive(Debug, Default)]
pub(super) struct MessageEnds {
    /// The number of messages that are known no more.
    before: u32,
    /// The PSNs of the last packets of those that follow, in order.
    last: VecDeque<u32>,
}

impl MessageEnds {
    /// Notes what `message` tells. Returns of an answer the number of messages that have arrived whole, as
    /// the MSN has it (InfiniBand, section 9.7.7.1), of other packets 0.
    ///
    /// The last packet of each message must have been noted before an answer for it.
    pub(super) fn note(&mut self, message: Message) -> u32 {
        match message {
            Message::Data { psn, last: true, .. } => self.add(psn),
            Message::Data { .. } | Message::Cnp => {}
            Message::Ack { next, .. } | Message::Nack { next, .. } => {
                return self.before + self.last.partition_point(|last| *last < next) as u32;
            }
        }
        0
    }

    fn add(&mut self, psn: u32) {
        let place = self.last.partition_point(|last| *last < psn);
        if self.last.get(place) != Some(&psn) {
            self.last.insert(place, psn);
        }
        if self.last.len() > KNOWN {
            self.last.pop_front();
            self.before += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(psn: u32, last: bool) -> Message {
        Message::Data { psn, len: 1_000, place: 0, first: false, last, opens: false }
    }

    fn ack(next: u32) -> Message {
        Message::Ack { psn: 0, next, marked: false }
    }

    /// Packets 2, 3 and 7 are the last of messages; packet 7 leaves before packet 3, which is sent again.
    #[test]
    fn answers_count_messages() {
        let mut ends = MessageEnds::default();
        for (psn, last) in [(0, false), (2, true), (7, true), (3, true), (3, true), (4, false)] {
            assert_eq!(ends.note(data(psn, last)), 0);
        }
        let counted = [0, 2, 3, 4, 7, 8, 9].map(|next| ends.note(ack(next)));
        assert_eq!(counted, [0, 0, 1, 2, 2, 3, 3]);
        let nack = Message::Nack { psn: 9, next: 4, marked: true };
        assert_eq!((ends.note(nack), ends.note(Message::Cnp)), (2, 0));
    }

    /// Of 65,540 messages of two packets the first four are forgotten and counted still.
    #[test]
    fn few_ends_are_kept() {
        let mut ends = MessageEnds::default();
        (0..KNOWN as u32 + 4).for_each(|n| _ = ends.note(data(2 * n + 1, true)));
        assert_eq!((ends.last.len(), ends.before), (KNOWN, 4));
        let all = KNOWN as u32 + 4;
        assert_eq!([10, 12, 2 * all].map(|next| ends.note(ack(next))), [5, 6, all]);
    }
}
