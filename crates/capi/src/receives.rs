//! Receives and arrivals of one key meet in the order in which each came; bytes are counted, so
//! messages may be split or joined (MPI 4.1, section 3.5: messages between two processes do not
//! overtake each other).

use std::collections::{HashMap, VecDeque};

/// Sender, receiver and tag.
pub(crate) type Key = (u32, u32, u64);

/// A receive: the bytes that it still wants, and the program's own mark.
#[derive(Debug)]
struct Receive {
    bytes: u64,
    token: u64,
}

/// What has come and what is wanted, of one key. Not both wait at once.
#[derive(Default, Debug)]
struct Channel {
    receives: VecDeque<Receive>,
    /// Bytes that have come before they were wanted, by message: of 0 bytes too.
    arrived: VecDeque<u64>,
}

impl Channel {
    /// Gives the first receive what has arrived until nothing goes on; the receives that have all
    /// they wanted.
    fn meet(&mut self, done: &mut VecDeque<u64>) {
        while let (Some(receive), Some(arrived)) = (self.receives.front_mut(), self.arrived.front_mut()) {
            let taken = receive.bytes.min(*arrived);
            receive.bytes -= taken;
            *arrived -= taken;
            if *arrived == 0 {
                self.arrived.pop_front();
            }
            if receive.bytes == 0 {
                done.extend(self.receives.pop_front().map(|receive| receive.token));
            }
        }
    }
}

/// Receives that are posted before or after their data.
#[derive(Default, Debug)]
pub(crate) struct Matching {
    channels: HashMap<Key, Channel>,
    done: VecDeque<u64>,
}

impl Matching {
    /// Someone waits for `bytes` of `key`.
    pub(crate) fn post(&mut self, key: Key, bytes: u64, token: u64) {
        self.with(key, |channel| channel.receives.push_back(Receive { bytes, token }));
    }

    /// A message of `bytes` of `key` has arrived.
    pub(crate) fn arrive(&mut self, key: Key, bytes: u64) {
        self.with(key, |channel| channel.arrived.push_back(bytes));
    }

    fn with(&mut self, key: Key, add: impl FnOnce(&mut Channel)) {
        let Matching { channels, done } = self;
        let channel = channels.entry(key).or_default();
        add(channel);
        channel.meet(done);
        // Tags of training runs are used once: nothing stays of them.
        if channel.receives.is_empty() && channel.arrived.is_empty() {
            channels.remove(&key);
        }
    }

    /// The first receive that has all it wanted, and has not been taken.
    pub(crate) fn take(&mut self) -> Option<u64> {
        self.done.pop_front()
    }

    /// Receives that still want bytes.
    pub(crate) fn waiting(&self) -> usize {
        self.channels.values().map(|channel| channel.receives.len()).sum()
    }

    /// Messages of which bytes are not wanted yet.
    pub(crate) fn early(&self) -> usize {
        self.channels.values().map(|channel| channel.arrived.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = (0, 1, 7);

    fn taken(matching: &mut Matching) -> Vec<u64> {
        std::iter::from_fn(|| matching.take()).collect()
    }

    #[test]
    fn receives_of_a_key_are_served_in_order_before_and_after_their_data() {
        let mut m = Matching::default();
        m.post(KEY, 10, 1);
        m.post(KEY, 10, 2);
        m.post((0, 1, 8), 10, 3);
        m.arrive(KEY, 10);
        assert_eq!((taken(&mut m), m.waiting(), m.early()), (vec![1], 2, 0));
        m.arrive(KEY, 10);
        m.arrive(KEY, 10);
        assert_eq!((taken(&mut m), m.waiting(), m.early()), (vec![2], 1, 1));
        m.post(KEY, 10, 4);
        m.arrive((0, 1, 8), 10);
        assert_eq!((taken(&mut m), m.waiting(), m.early()), (vec![4, 3], 0, 0));
        assert!(m.channels.is_empty());
    }

    #[test]
    fn messages_may_be_split_and_joined() {
        let mut m = Matching::default();
        m.post(KEY, 10, 1);
        m.arrive(KEY, 4);
        assert!(taken(&mut m).is_empty());
        m.arrive(KEY, 16);
        assert_eq!((taken(&mut m), m.early()), (vec![1], 1));
        m.post(KEY, 4, 2);
        m.post(KEY, 6, 3);
        assert_eq!((taken(&mut m), m.early(), m.waiting()), (vec![2, 3], 0, 0));
        // Beyond 32 bits.
        m.post(KEY, 5_000_000_000, 4);
        m.arrive(KEY, 4_999_999_999);
        assert!(taken(&mut m).is_empty());
        m.arrive(KEY, 1);
        assert_eq!(taken(&mut m), [4]);
    }

    /// A receive of 0 bytes waits for a message, as one of any size does.
    #[test]
    fn nothing_is_received_when_a_message_comes() {
        let mut m = Matching::default();
        m.post(KEY, 0, 1);
        assert_eq!((taken(&mut m), m.waiting()), (Vec::new(), 1));
        m.arrive(KEY, 0);
        assert_eq!((taken(&mut m), m.waiting(), m.early()), (vec![1], 0, 0));
        m.arrive(KEY, 0);
        assert_eq!(m.early(), 1);
        m.post(KEY, 0, 2);
        assert_eq!((taken(&mut m), m.early()), (vec![2], 0));
        // An empty message is no part of what a larger receive wants.
        m.post(KEY, 5, 3);
        m.arrive(KEY, 0);
        m.arrive(KEY, 5);
        assert_eq!((taken(&mut m), m.waiting(), m.early()), (vec![3], 0, 0));
    }
}
