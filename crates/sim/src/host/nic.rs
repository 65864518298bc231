//! The adapter of a host: a message passes it before its first packet, and a packet of data keeps
//! it busy.
//!
//! It is a LogGP machine (Alexandrov et al., "LogGP: Incorporating Long Messages into the LogP
//! Model", SPAA 1995, section 2): `message_time` is its gap g between messages, `packet_time` and
//! `rate` its gap G per byte, here per packet, and `latency` its overhead o, in which messages
//! overlap.

use crate::host::handle::Handle;
use linkpool_scenario::Nic as Settings;
use linkpool_units::Time;
use std::collections::VecDeque;

/// The adapter of a host.
#[derive(Debug)]
pub(crate) struct Nic {
    settings: Settings,
    /// When it may take in the next message.
    free: Time,
    /// The messages in it, in order: when the endpoint has each, whose it is, and how many bytes it
    /// adds; none: it opens the connection.
    entering: VecDeque<(Time, Handle, Option<u64>)>,
    /// The messages that it holds, of all connections, until they are acknowledged.
    held: u32,
    /// The connections that wait for a place for a message, in turn.
    waiting: VecDeque<Handle>,
    /// It is busy with a packet until then.
    busy: Time,
    /// Is that later than the links would have had room for the next packet?
    is_last: bool,
}

impl Nic {
    /// The adapter of a host.
    pub(crate) fn new(settings: Settings) -> Nic {
        Nic {
            settings,
            free: Time::ZERO,
            entering: VecDeque::new(),
            held: 0,
            waiting: VecDeque::new(),
            busy: Time::ZERO,
            is_last: false,
        }
    }

    /// Do messages pass it before they are at their endpoint?
    pub(crate) fn holds_messages(&self) -> bool {
        let Settings { message_time, latency, send_queue, shared_send_queue, .. } = self.settings;
        message_time + latency > Time::ZERO || send_queue.min(shared_send_queue) < u32::MAX
    }

    /// Messages of a connection that it holds at most.
    pub(crate) fn places(&self) -> usize {
        self.settings.send_queue as usize
    }

    /// Connection `handle` waits for a place for a message.
    pub(super) fn wait(&mut self, handle: Handle) {
        self.waiting.push_back(handle);
    }

    /// The connection whose turn it is to take a place, if there is one.
    pub(super) fn turn(&mut self) -> Option<Handle> {
        if self.held < self.settings.shared_send_queue { self.waiting.pop_front() } else { None }
    }

    /// So many messages are no longer in it.
    pub(super) fn release(&mut self, messages: usize) {
        self.held -= messages as u32;
    }

    /// Takes in a message at `now`. Returns when its endpoint has it, if none was in it before.
    pub(super) fn take_in(&mut self, now: Time, handle: Handle, adds: Option<u64>) -> Option<Time> {
        self.held += 1;
        let was_empty = self.entering.is_empty();
        self.free = self.free.max(now) + self.settings.message_time;
        let through = self.free + self.settings.latency;
        self.entering.push_back((through, handle, adds));
        was_empty.then_some(through)
    }

    /// The next message that has passed it by `now`.
    pub(super) fn pass(&mut self, now: Time) -> Option<(Handle, Option<u64>)> {
        let (_, handle, adds) = *self.entering.front().filter(|(through, ..)| *through <= now)?;
        self.entering.pop_front();
        Some((handle, adds))
    }

    /// When the next message will have passed it; none: none is in it.
    pub(super) fn next(&self) -> Option<Time> {
        self.entering.front().map(|(through, ..)| *through)
    }

    /// It sends a packet with `payload` bytes at `now`; by the links the next one may leave at
    /// `by_links`. Returns when the next one may leave.
    pub(crate) fn send(&mut self, payload: u16, now: Time, by_links: Time) -> Time {
        let reads = self.settings.rate.map_or(Time::ZERO, |rate| rate.time_of(payload.into()));
        self.busy = now + self.settings.packet_time.max(reads);
        self.is_last = self.busy > by_links;
        self.busy.max(by_links)
    }

    /// Is it that keeps packets from the links at `now`?
    pub(super) fn holds_back(&self, now: Time) -> bool {
        self.is_last && now < self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkpool_settings::{Preset, Settings as _};
    use linkpool_units::Rate;

    fn nic(message_time: u64, latency: u64, packet_time: u64, rate: Option<Rate>) -> Nic {
        let [message_time, latency, packet_time] = [message_time, latency, packet_time].map(Time::from_ns);
        Nic::new(Settings { message_time, latency, packet_time, rate, ..Settings::defaults(Preset::Linux) })
    }

    /// With 100 ns a message and a latency of 1,000 ns: messages at 0, 0 and 250 ns are through at
    /// 1,100, 1,200 and 1,350 ns.
    #[test]
    fn messages_follow_each_other_and_overlap() {
        let mut nic = nic(100, 1_000, 0, None);
        let handle = Handle::new(3, 1);
        assert_eq!(nic.take_in(Time::ZERO, handle, None), Some(Time::from_ns(1_100)));
        assert_eq!(nic.take_in(Time::ZERO, handle, Some(7)), None);
        assert_eq!(nic.take_in(Time::from_ns(250), handle, Some(8)), None);
        assert_eq!(nic.pass(Time(1_099_999)), None);
        assert_eq!(nic.pass(Time::from_ns(1_200)), Some((handle, None)));
        assert_eq!(nic.pass(Time::from_ns(1_200)), Some((handle, Some(7))));
        assert_eq!((nic.pass(Time(1_349_999)), nic.pass(Time::from_ns(1_350))), (None, Some((handle, Some(8)))));
        assert_eq!(nic.take_in(Time::from_us(2), handle, Some(9)), Some(Time::from_ns(3_100)));
    }

    /// Of two places both are taken, and then given back together.
    #[test]
    fn connections_wait_for_places_in_turn() {
        let mut nic = Nic::new(Settings { shared_send_queue: 2, ..Settings::defaults(Preset::Linux) });
        let [a, b, c] = [1, 2, 3].map(|index| Handle::new(index, 1));
        [a, b, c].into_iter().for_each(|handle| nic.wait(handle));
        for handle in [a, b] {
            assert_eq!(nic.turn(), Some(handle));
            nic.take_in(Time::ZERO, handle, None);
        }
        nic.wait(a);
        assert_eq!(nic.turn(), None);
        nic.release(2);
        for handle in [c, a] {
            assert_eq!(nic.turn(), Some(handle));
            nic.take_in(Time::ZERO, handle, Some(1));
        }
        nic.wait(b);
        assert_eq!(nic.turn(), None);
    }

    /// 1,000 B at 80 Gbit/s take 100 ns, and a packet 60 ns at least. It holds packets back where
    /// the links have room before.
    #[test]
    fn packets_keep_it_busy() {
        let mut nic = nic(0, 0, 60, Some(Rate::gbps(80)));
        let ns = Time::from_ns;
        assert_eq!(nic.send(1_000, ns(50), ns(120)), ns(150));
        assert!(nic.holds_back(Time(149_999)) && !nic.holds_back(ns(150)));
        assert_eq!(nic.send(100, ns(150), ns(170)), ns(210));
        assert_eq!(nic.send(1_000, ns(210), ns(310)), ns(310));
        assert!(!nic.holds_back(ns(250)), "both are ready at the same time");
        assert_eq!(self::nic(0, 0, 0, None).send(9_000, ns(5), ns(5)), ns(5));
        // 1 B at 3 bit/s: up to the next picosecond.
        assert_eq!(self::nic(0, 0, 0, Some(Rate(3))).send(1, Time(0), Time(0)), Time(2_666_666_666_667));
    }

    #[test]
    fn messages_pass_it_where_it_takes_time_or_has_few_places() {
        assert!(!nic(0, 0, 60, Some(Rate::gbps(80))).holds_messages());
        assert!(nic(1, 0, 0, None).holds_messages() && nic(0, 1, 0, None).holds_messages());
        let few = Settings { send_queue: 9, ..Settings::defaults(Preset::Linux) };
        assert!(Nic::new(few).holds_messages() && Nic::new(few).places() == 9);
        let shared = Settings { shared_send_queue: 9, ..Settings::defaults(Preset::Linux) };
        assert!(Nic::new(shared).holds_messages() && Nic::new(shared).places() == u32::MAX as usize);
    }
}
