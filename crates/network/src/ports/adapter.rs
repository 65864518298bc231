//! Adapters of hosts that take what comes more slowly than it may come.
//!
//! What has come waits in the adapter's buffer, first come, first served. When much of the buffer is
//! used, the host pauses its neighbour, as adapters do whose host is slow (Guo et al., SIGCOMM 2016, section
//! 4.4); one that takes nothing pauses it without end (section 4.3).

use super::counted::Counted;
use crate::class::{CONTROL, ClassSet, class_of};
use crate::in_flight::Incoming;
use linkpool_units::{Rate, Time};
use std::collections::VecDeque;

/// How a host takes what comes by one of its links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Intake {
    /// Bytes that wait for the host, at most.
    pub buffer: u64,
    /// The host takes so much, from `from` until `until`; none: nothing. At other times it takes all at once.
    pub rate: Option<Rate>,
    /// For each packet it needs so long at least.
    pub packet_time: Time,
    /// When it becomes slow.
    pub from: Time,
    /// When it is slow no longer.
    pub until: Time,
}

/// The neighbour is to be told something at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Planned {
    pub(super) at: Time,
    pub(super) counted: Counted,
    /// To pause; otherwise to go on.
    pub(super) pauses: bool,
    /// Bytes in the buffer then.
    pub(super) used: u64,
}

/// The adapter behind one link.
#[derive(Debug)]
pub(super) struct Adapter {
    intake: Intake,
    /// The account of the link at its host.
    pub(super) group: u32,
    account: u32,
    /// The port that leads back.
    pub(super) back: u32,
    /// With as many bytes, or more, a packet pauses its priority; with fewer than `resume` less, all go on.
    pub(super) xoff: u64,
    resume: u64,
    lossless: ClassSet,
    paused: ClassSet,
    /// What waits, with the time at which the host has taken it.
    waiting: VecDeque<(Time, Incoming)>,
    used: u64,
    /// When the host has taken all that has come; none: never.
    free_at: Time,
    /// A port is woken then, as the host takes the first that waits.
    pub(super) wakes_at: Time,
}

/// What becomes of what comes in a window.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Packets that the host has taken, with that time as their arrival.
    pub(super) packets: Vec<Incoming>,
    /// What found no room.
    pub(super) lost: Vec<Incoming>,
    pub(super) told: Vec<Planned>,
}

impl Adapter {
    /// The adapter of `account` at its host, which is in `group`; `back`: the port that leads back.
    pub(super) fn new(
        intake: Intake,
        (group, account, back): (u32, u32, u32),
        (headroom, resume): (u64, u64),
        lossless: ClassSet,
    ) -> Adapter {
        Adapter {
            intake,
            group,
            account,
            back,
            xoff: intake.buffer.saturating_sub(headroom),
            resume,
            lossless,
            paused: ClassSet::default(),
            waiting: VecDeque::new(),
            used: 0,
            free_at: Time::ZERO,
            wakes_at: Time::MAX,
        }
    }

    /// The number of packets that wait.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// When the host takes the first that waits; [`Time::MAX`]: never, or none waits.
    pub(super) fn next(&self) -> Time {
        self.waiting.front().map_or(Time::MAX, |(taken, _)| *taken)
    }

    /// `arrivals` come, in order of time; and what happens before `limit`.
    pub(super) fn take(&mut self, arrivals: &[Incoming], limit: Time, taken: &mut Taken) {
        for incoming in arrivals {
            let (at, size) = (incoming.packet.arrival, u64::from(incoming.packet.size()));
            self.give(at, taken);
            if self.used + size > self.intake.buffer {
                taken.lost.push(*incoming);
                continue;
            }
            self.used += size;
            self.free_at = self.taken_at(at.max(self.free_at), size);
            self.waiting.push_back((self.free_at, *incoming));
            let class = class_of(&incoming.packet);
            if self.used >= self.xoff && self.lossless.has(class) && !self.paused.has(class) {
                self.paused.set(class, true);
                self.plan(at, class, taken);
            }
        }
        self.give(Time(limit.0 - 1), taken);
    }

    /// The host takes what it has taken by `now`.
    fn give(&mut self, now: Time, taken: &mut Taken) {
        while self.next() <= now && self.next() < Time::MAX {
            let Some((at, mut incoming)) = self.waiting.pop_front() else { break };
            self.used -= u64::from(incoming.packet.size());
            incoming.packet.arrival = at;
            taken.packets.push(incoming);
            if self.used + self.resume <= self.xoff || self.used == 0 {
                for class in (0..CONTROL).filter(|class| self.paused.has(*class)) {
                    self.plan(at, class, taken);
                }
                self.paused = ClassSet::default();
            }
        }
    }

    /// The neighbour is told at `at` what holds for `class`, if that has changed.
    fn plan(&self, at: Time, class: u8, taken: &mut Taken) {
        let counted = Counted { account: self.account, class };
        let pauses = self.used >= self.xoff;
        taken.told.push(Planned { at, counted, pauses, used: self.used });
    }

    /// When the host has taken `size` bytes that it begins to take at `start`.
    fn taken_at(&self, start: Time, size: u64) -> Time {
        let Intake { rate, packet_time, from, until, .. } = self.intake;
        if start < from || start >= until {
            return start;
        }
        let needs = rate.map_or(Time::MAX, |rate| rate.time_of(size)).max(packet_time);
        start.saturating_add(needs).min(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::LOW;
    use crate::fabric::{LinkId, NodeId};
    use crate::packet::{Envelope, Kind, Packet};
    use linkpool_units::HostId;

    fn packet(us: u64, size: u16) -> Incoming {
        let envelope = Envelope::new(HostId::new(0), size, 0);
        let packet = Packet { arrival: Time::from_us(us), envelope, kind: Kind::DATA, ..Packet::default() };
        Incoming { packet, node: NodeId::new(0), link: LinkId::new(3) }
    }

    /// With a buffer of 5,000 B, of which 2,000 are headroom: it pauses from 3,000 B on, and goes on at 2,500.
    fn adapter(rate: Option<Rate>, from: u64, until: Time) -> Adapter {
        let intake = Intake { buffer: 5_000, rate, packet_time: Time::ZERO, from: Time::from_us(from), until };
        let mut lossless = ClassSet::default();
        lossless.set(LOW, true);
        Adapter::new(intake, (0, 1, 7), (2_000, 500), lossless)
    }

    fn times(taken: &Taken) -> (Vec<u64>, Vec<(u64, bool, u64)>) {
        let us = |at: Time| at.0 / 1_000_000;
        let packets = taken.packets.iter().map(|incoming| us(incoming.packet.arrival)).collect();
        (packets, taken.told.iter().map(|told| (us(told.at), told.pauses, told.used)).collect())
    }

    /// 1,000 B at 800 Mbit/s take 10 us: five come by 5 us, and are taken at 11, 21, 31, 41 and 51. The third is at the threshold;
    /// with the third gone 2,000 B are left. A sixth at 6 us finds no room.
    #[test]
    fn a_slow_host_pauses_and_goes_on() {
        let (mut adapter, mut taken) = (adapter(Some(Rate::mbps(800)), 0, Time::MAX), Taken::default());
        let arrivals: Vec<Incoming> = (1..=6).map(|us| packet(us, 1_000)).collect();
        adapter.take(&arrivals, Time::from_us(10), &mut taken);
        assert_eq!((times(&taken), taken.lost.len()), ((vec![], vec![(3, true, 3_000)]), 1));
        assert_eq!((adapter.next(), adapter.waiting()), (Time::from_us(11), 5));
        adapter.take(&[], Time::from_us(31), &mut taken);
        assert_eq!(times(&taken).0, [11, 21]);
        adapter.take(&[], Time::from_us(60), &mut taken);
        assert_eq!(times(&taken), (vec![11, 21, 31, 41, 51], vec![(3, true, 3_000), (31, false, 2_000)]));
        assert_eq!((adapter.next(), adapter.used), (Time::MAX, 0));
    }

    /// A host that takes nothing from 2 us on has all at 40 us. What came before it has at once.
    #[test]
    fn a_host_that_takes_nothing_pauses_until_it_does() {
        let (mut adapter, mut taken) = (adapter(None, 2, Time::from_us(40)), Taken::default());
        let arrivals: Vec<Incoming> = (1..=4).map(|us| packet(us, 1_500)).collect();
        adapter.take(&arrivals, Time::from_us(20), &mut taken);
        assert_eq!(times(&taken), (vec![1], vec![(3, true, 3_000)]));
        adapter.take(&[packet(45, 1_500)], Time::from_us(50), &mut taken);
        assert_eq!(times(&taken), (vec![1, 40, 40, 40, 45], vec![(3, true, 3_000), (40, false, 1_500)]));
        let (mut adapter, mut taken) = (self::adapter(None, 0, Time::MAX), Taken::default());
        adapter.take(&arrivals, Time::from_us(1_000), &mut taken);
        assert_eq!((times(&taken), adapter.next()), ((vec![], vec![(2, true, 3_000)]), Time::MAX));
    }

    /// A packet needs 10 us at least: 500 B do, and 2,000 B need 20 us at 800 Mbit/s.
    #[test]
    fn a_packet_may_need_time_by_itself() {
        let (mut adapter, mut taken) = (adapter(Some(Rate::mbps(800)), 0, Time::MAX), Taken::default());
        adapter.intake.packet_time = Time::from_us(10);
        adapter.take(&[packet(1, 500), packet(2, 2_000), packet(50, 500)], Time::from_us(90), &mut taken);
        assert_eq!(times(&taken).0, [11, 31, 60]);
    }

    /// Control packets take room and pause nothing.
    #[test]
    fn control_packets_pause_nothing() {
        let (mut adapter, mut taken) = (adapter(None, 0, Time::MAX), Taken::default());
        let mut arrivals: Vec<Incoming> = (1..=5).map(|us| packet(us, 1_000)).collect();
        arrivals.iter_mut().for_each(|incoming| incoming.packet.kind = Kind::ACK);
        adapter.take(&arrivals, Time::from_us(9), &mut taken);
        assert!(taken.told.is_empty() && taken.lost.is_empty());
        adapter.take(&[packet(9, 1)], Time::from_us(9), &mut taken);
        assert_eq!(taken.lost.len(), 1);
    }

    /// Six packets of 500 B are at the threshold, of which one that is gone leaves as much as it goes on at.
    #[test]
    fn a_host_goes_on_at_its_threshold() {
        let (mut adapter, mut taken) = (adapter(None, 0, Time::from_us(40)), Taken::default());
        let arrivals: Vec<Incoming> = (1..=6).map(|us| packet(us, 500)).collect();
        adapter.take(&arrivals, Time::from_us(50), &mut taken);
        assert_eq!(times(&taken), (vec![40; 6], vec![(6, true, 3_000), (40, false, 2_500)]));
    }
}
