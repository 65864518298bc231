//! The stream of a queue pair: messages one after another, each cut into packets of its own.

use std::collections::VecDeque;

/// A message that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Its first packet.
    first: u32,
    /// Its first byte.
    start: u64,
    /// Its bytes; `None`: without end.
    size: Option<u64>,
}

/// Where a packet stands in the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Its first byte.
    pub(super) start: u64,
    /// Its payload, bytes.
    pub(super) len: u16,
    /// Is it the first packet of its message?
    pub(super) first: bool,
    /// Is it the last packet of its message?
    pub(super) last: bool,
}

/// The messages that are not acknowledged, and where the stream ends.
#[derive(Debug)]
pub(super) struct Stream {
    mss: u16,
    messages: VecDeque<Message>,
    /// Number of packets, and bytes; of a stream without end `u32::MAX` packets.
    total: u32,
    end: u64,
}

impl Stream {
    /// A stream without messages, cut into packets of `mss` bytes.
    pub(super) fn new(mss: u16) -> Stream {
        Stream { mss, messages: VecDeque::new(), total: 0, end: 0 }
    }

    /// Adds a message of `size` bytes; `None`: without end. A message of no bytes is a packet, too.
    pub(super) fn push(&mut self, size: Option<u64>) {
        self.messages.push_back(Message { first: self.total, start: self.end, size });
        let packets = size.map(|size| size.div_ceil(self.mss.into()).max(1));
        let total = packets.map_or(u64::from(u32::MAX), |packets| u64::from(self.total) + packets);
        self.total = u32::try_from(total).expect("a queue pair sends fewer than 2^32 packets");
        self.end += size.unwrap_or(u64::MAX - self.end);
    }

    /// Number of packets.
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// Packet `psn` is the first that is not sent, and there will be none.
    pub(super) fn end_at(&mut self, psn: u32) {
        (self.total, self.end) = (psn, self.start_of(psn));
    }

    /// Where packet `psn` stands, which is of a message that is not acknowledged.
    pub(super) fn place(&self, psn: u32) -> Place {
        let after = self.messages.partition_point(|message| message.first <= psn);
        let message = self.messages[after - 1];
        let within = u64::from(psn - message.first) * u64::from(self.mss);
        let left = message.size.map_or(u64::MAX, |size| size - within);
        Place {
            start: message.start + within,
            len: left.min(self.mss.into()) as u16,
            first: within == 0,
            last: left <= u64::from(self.mss),
        }
    }

    /// The first byte of packet `psn`, or the end of the stream.
    pub(super) fn start_of(&self, psn: u32) -> u64 {
        if psn >= self.total { self.end } else { self.place(psn).start }
    }

    /// Forgets messages of which all packets are below `psn`.
    pub(super) fn forget_below(&mut self, psn: u32) {
        while self.messages.get(1).is_some_and(|next| next.first <= psn) {
            self.messages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of 2,500, 0 and 1,000 bytes are packets of 1,000, 1,000 and 500, of none, and of 1,000.
    #[test]
    fn each_message_is_cut_by_itself() {
        let mut stream = Stream::new(1_000);
        [2_500, 0, 1_000].into_iter().for_each(|size| stream.push(Some(size)));
        let all: Vec<_> = (0..stream.total()).map(|psn| stream.place(psn)).collect();
        let place = |start, len, (first, last)| Place { start, len, first, last };
        let expected = [
            place(0, 1_000, (true, false)),
            place(1_000, 1_000, (false, false)),
            place(2_000, 500, (false, true)),
            place(2_500, 0, (true, true)),
            place(2_500, 1_000, (true, true)),
        ];
        assert_eq!(all, expected);
        assert_eq!(stream.start_of(5), 3_500);
        stream.forget_below(3);
        assert_eq!((stream.messages.len(), stream.place(4)), (2, expected[4]));
        stream.end_at(4);
        assert_eq!((stream.total(), stream.start_of(4), stream.start_of(9)), (4, 2_500, 2_500));
    }

    #[test]
    fn a_stream_may_have_no_end() {
        let mut stream = Stream::new(1_000);
        stream.push(None);
        assert_eq!(stream.total(), u32::MAX);
        assert_eq!(stream.place(1 << 31), Place { start: 1_000 << 31, len: 1_000, first: false, last: false });
    }
}
