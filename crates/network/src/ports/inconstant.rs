//! A link that fails, changes or loses packets, as its port knows it.

use super::loss::LossProcess;
use crate::change::{Course, LinkChange};
use crate::fabric::LinkId;
use crate::link::{LinkKind, OnWire};
use crate::packet::Packet;
use linkpool_engine::stream;
use linkpool_units::{Rate, Time};
use std::sync::Arc;

/// Work is measured in bits times a second's picoseconds, so that rate times picoseconds is work.
pub(super) const WORK_PER_BYTE: u128 = OnWire::BYTE;

/// The work of a packet of `size` bytes.
pub(super) fn work(size: u16) -> u128 {
    size as u128 * WORK_PER_BYTE
}

/// The fate of the packet in service: known from the start of its transmission, since all changes
/// are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Arrives,
    /// The link loses it.
    Lost,
    /// The link fails before all of it is sent.
    Cut,
}

/// The state of a link that is not always the same. Ports of other links need nothing of it.
#[derive(Debug)]
pub(super) struct Inconstant {
    pub(super) is_up: bool,
    loss: LossProcess,
    /// The changes to come, the next one last.
    changes: Vec<(Time, LinkChange)>,
    /// The packet in service, and its fate.
    packet: Packet,
    fate: Fate,
    /// The work that was left of it when the rate last changed, or the transmission began, and when
    /// that was.
    left: u128,
    since: Time,
}

impl Inconstant {
    /// The state at the start of `link`, whose changes are in `course`.
    pub(super) fn new(link: LinkId, course: &Course<'_>, seed: u64) -> Inconstant {
        Inconstant {
            is_up: course.up,
            loss: LossProcess::new(course.loss, course.bit_errors, stream(seed, "loss", link.into())),
            changes: course.later.iter().rev().copied().collect(),
            packet: Packet::default(),
            fate: Fate::Arrives,
            left: 0,
            since: Time::ZERO,
        }
    }

    /// When the link changes next.
    pub(super) fn next_change(&self) -> Time {
        self.changes.last().map_or(Time::MAX, |change| change.0)
    }

    /// The transmission of `packet` begins at `now`, and ends at `ends` unless the link changes.
    /// Returns when it ends, and the packet's fate.
    pub(super) fn begin_service(&mut self, packet: &Packet, (now, ends): (Time, Time), rate: Rate) -> (Time, Fate) {
        let (ends, cut) = self.end_of(packet.size(), (now, ends), rate);
        self.fate = match (self.loss.loses_next(packet.size()), cut) {
            (_, true) => Fate::Cut,
            (true, false) => Fate::Lost,
            (false, false) => Fate::Arrives,
        };
        (self.packet, self.left, self.since) = (*packet, work(packet.size()), now);
        (ends, self.fate)
    }

    /// When a transmission of `size` bytes ends that begins at `now` and would end at `end`, and
    /// whether that is because the link fails.
    fn end_of(&self, size: u16, (now, mut end): (Time, Time), mut rate: Rate) -> (Time, bool) {
        let (mut since, mut left) = (now, work(size));
        for (at, change) in self.changes.iter().rev() {
            if *at >= end {
                break;
            }
            match change {
                LinkChange::Up(false) => return (*at, true),
                LinkChange::Rate(new) => {
                    left = left.saturating_sub((*at - since).0 as u128 * rate.0 as u128);
                    (since, rate) = (*at, *new);
                    end = since + Time(left.div_ceil(rate.0 as u128) as u64);
                }
                _ => {}
            }
        }
        (end, false)
    }

    /// The fate of the packet whose transmission ends, and the packet.
    pub(super) fn end_service(&self) -> (Fate, Packet) {
        (self.fate, self.packet)
    }

    /// Does the packet in service not arrive?
    pub(super) fn is_doomed(&self) -> bool {
        self.fate != Fate::Arrives
    }

    /// The work that was left of the packet in service, and when.
    pub(super) fn left(&self) -> (u128, Time) {
        (self.left, self.since)
    }

    /// Makes the changes that are due at `now` to the link, which is `kind` so far. Returns true if
    /// it has failed.
    pub(super) fn apply_changes(&mut self, now: Time, is_serving: bool, kind: &mut Arc<LinkKind>) -> bool {
        let mut has_failed = false;
        while let Some((_, change)) = self.changes.pop_if(|(when, _)| *when == now) {
            match change {
                LinkChange::Up(up) => {
                    self.is_up = up;
                    has_failed |= !up;
                }
                LinkChange::Rate(rate) => {
                    if is_serving {
                        self.left = self.left.saturating_sub((now - self.since).0 as u128 * kind.rate.0 as u128);
                        self.since = now;
                    }
                    *kind = Arc::new(LinkKind::new(rate, kind.delay, kind.thresholds));
                }
                LinkChange::Limit(limit) => Arc::make_mut(kind).thresholds = kind.thresholds.limited_to(limit),
                LinkChange::Loss(loss) => self.loss.follow(loss),
                LinkChange::BitErrors(rate) => self.loss.have_bit_errors(rate),
            }
        }
        has_failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Loss;
    use crate::packet::Envelope;
    use crate::policy::QueuePolicy;
    use crate::queue_limit::QueueLimit;
    use linkpool_units::HostId;

    /// A link of 8 Gbit/s, on which 1,000 B take a microsecond, and its changes at these times in ns.
    fn link(changes: &[(u64, LinkChange)]) -> (Inconstant, Arc<LinkKind>) {
        let later: Vec<_> = changes.iter().map(|(at, change)| (Time::from_ns(*at), *change)).collect();
        let (rate, thresholds) = (Rate::gbps(8), QueuePolicy::drop_tail(QueueLimit::Packets(9)).thresholds);
        let course = Course { rate, limit: None, up: true, loss: Loss::NONE, bit_errors: 0.0, later: &later };
        let kind = Arc::new(LinkKind::new(rate, Time::from_us(1), thresholds));
        (Inconstant::new(LinkId::new(0), &course, 1), kind)
    }

    fn packet() -> Packet {
        Packet { envelope: Envelope::new(HostId::new(0), 1000, 936), ..Packet::default() }
    }

    /// Of a packet that begins at 3 us, half is left at 3.5 us, and the rest takes twice as long, or half as long.
    #[test]
    fn the_rest_of_a_packet_is_sent_at_the_new_rate() {
        let (begins, ends) = (Time::from_us(3), Time::from_us(4));
        for (gbps, end) in [(4, 4_500), (16, 3_750)] {
            let (mut link, mut kind) = link(&[(3_500, LinkChange::Rate(Rate::gbps(gbps)))]);
            let service = link.begin_service(&packet(), (begins, ends), kind.rate);
            assert_eq!(service, (Time::from_ns(end), Fate::Arrives));
            assert_eq!(link.left(), (work(1000), begins));
            assert!(!link.apply_changes(Time::from_ns(3_500), true, &mut kind));
            assert_eq!((link.left(), kind.rate), ((work(500), Time::from_ns(3_500)), Rate::gbps(gbps)));
        }
        // Of a packet that was sent before, nothing is left to be sent.
        let (mut idle, mut kind) = link(&[(5_000, LinkChange::Rate(Rate::gbps(4)))]);
        idle.begin_service(&packet(), (Time::ZERO, Time::from_us(1)), kind.rate);
        idle.apply_changes(Time::from_us(5), false, &mut kind);
        assert_eq!((idle.left(), kind.rate), ((work(1000), Time::ZERO), Rate::gbps(4)));
    }

    /// A packet whose last bit is sent as the link fails arrives.
    #[test]
    fn a_link_that_fails_with_the_last_bit_cuts_nothing() {
        for (at, fate) in [(999, Fate::Cut), (1_000, Fate::Arrives)] {
            let (mut link, kind) = link(&[(at, LinkChange::Up(false))]);
            let service = link.begin_service(&packet(), (Time::ZERO, Time::from_us(1)), kind.rate);
            assert_eq!(service, (Time::from_ns(at), fate));
        }
    }
}
