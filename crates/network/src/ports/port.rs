//! An output port that is served packet by packet.

use super::loss::LossProcess;
use crate::change::{Course, LinkChange};
use crate::discipline::{Arrival, Buffer, Discipline, Verdict};
use crate::fabric::{LinkId, LinkSpec, NodeId};
use crate::link::{LinkKind, LinkStats, OnWire};
use crate::packet::Packet;
use crate::policy::QueuePolicy;
use crate::transmitter::Transmitter;
use crate::witness::{Cause, PacketLoss};
use linkpool_engine::stream;
use linkpool_units::{Rate, Time};

/// The packet in service.
#[derive(Clone, Copy, Debug)]
struct Service {
    packet: Packet,
    ends: Time,
    fate: Fate,
    /// The work that was left when the rate last changed, or the transmission began.
    left: u128,
    since: Time,
}

/// The fate of the packet in service: known from the start of its transmission, since all changes
/// are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Arrives,
    /// The link loses it.
    Lost,
    /// The link fails before all of it is sent.
    Cut,
}

/// An output port with a queue discipline and a server that takes from it, for links that are more
/// than one FIFO queue which marks and drops at its entrance (see [`crate::link::Link`]), or that
/// change.
///
/// A packet's arrival is known only when its transmission begins, so the port must be looked at
/// whenever a transmission ends while others wait. The [`crate::link::Link`] then carries the
/// packet like any other.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) link: LinkId,
    /// The node whose port it is.
    pub(super) node: NodeId,
    /// The present state of the link.
    kind: LinkKind,
    up: bool,
    discipline: Box<dyn Discipline>,
    server: Option<Service>,
    loss: LossProcess,
    /// The changes to come, the next one last.
    changes: Vec<(Time, LinkChange)>,
    /// Number of the buffer that it shares with others.
    pub(super) buffer: Option<u32>,
    stats: LinkStats,
}

/// Work is measured in bits times a second's picoseconds, so that rate times picoseconds is work.
const WORK_PER_BYTE: u128 = OnWire::BYTE;

impl Service {
    /// The work that is left at `now`, done at `rate` since it last changed.
    fn left_at(&self, now: Time, rate: Rate) -> u128 {
        self.left.saturating_sub((now - self.since).0 as u128 * rate.0 as u128)
    }
}

impl Port {
    pub(super) fn new(link: LinkId, spec: &LinkSpec, policy: QueuePolicy, course: &Course<'_>, seed: u64) -> Port {
        Port {
            link,
            node: spec.from,
            kind: LinkKind::new(course.rate, spec.delay, policy.thresholds),
            up: course.up,
            discipline: policy.discipline.build(link, seed),
            server: None,
            loss: LossProcess::new(course.loss, course.bit_errors, stream(seed, "loss", link.into())),
            changes: course.later.iter().rev().copied().collect(),
            buffer: None,
            stats: LinkStats::default(),
        }
    }

    /// Does a packet wait for the one that is being sent?
    pub(super) fn is_waiting(&self) -> bool {
        self.discipline.waiting().0 > 0
    }

    /// The present state of the link.
    pub(super) fn kind(&self) -> &LinkKind {
        &self.kind
    }

    /// Has the link failed?
    pub(super) fn is_down(&self) -> bool {
        !self.up
    }

    /// When the transmission of the packet in service ends.
    pub(super) fn next_service(&self) -> Option<Time> {
        self.server.map(|service| service.ends)
    }

    /// Processes all events by `now`. At one instant a transmission ends, then the link changes,
    /// then the next transmission begins.
    pub(super) fn advance(&mut self, now: Time, buffer: &mut Option<&mut Buffer>, transmitter: &mut Transmitter<'_>) {
        loop {
            let ends = self.server.map_or(Time::MAX, |service| service.ends);
            let changes = self.changes.last().map_or(Time::MAX, |change| change.0);
            let at = ends.min(changes);
            if at > now || at == Time::MAX {
                return;
            }
            if ends == at {
                self.complete(buffer, transmitter);
            }
            while let Some((_, change)) = self.changes.pop_if(|(when, _)| *when == at) {
                self.apply(change, at, buffer, transmitter);
            }
            if self.server.is_none() {
                self.begin(at, transmitter);
            }
        }
    }

    fn complete(&mut self, buffer: &mut Option<&mut Buffer>, transmitter: &mut Transmitter<'_>) {
        let Some(Service { packet, ends, fate, .. }) = self.server.take() else { return };
        self.discipline.sent(ends);
        if let Some(buffer) = buffer {
            buffer.release(packet.size() as u64);
        }
        match fate {
            Fate::Arrives => {}
            Fate::Lost => {
                self.stats.rare.drops_loss += 1;
                self.lose(&packet, ends, Cause::Random, transmitter);
            }
            Fate::Cut => self.give_up(&packet, ends, transmitter),
        }
    }

    /// A packet that had been accepted goes down with the link.
    fn give_up(&mut self, packet: &Packet, now: Time, transmitter: &mut Transmitter<'_>) {
        self.stats.packets -= 1;
        self.stats.bytes -= packet.size() as u64;
        self.stats.rare.drops_down += 1;
        self.lose(packet, now, Cause::Down, transmitter);
    }

    fn lose(&self, packet: &Packet, now: Time, cause: Cause, transmitter: &mut Transmitter<'_>) {
        transmitter.discard(packet, self.loss_at(now, cause));
    }

    fn loss_at(&self, now: Time, cause: Cause) -> PacketLoss {
        PacketLoss { at: now, link: self.link, cause, queued: self.discipline.waiting().0 }
    }

    fn apply(
        &mut self,
        change: LinkChange,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) {
        match change {
            LinkChange::Up(true) => self.up = true,
            LinkChange::Up(false) => {
                self.up = false;
                self.lose_all(now, buffer, transmitter);
            }
            LinkChange::Rate(rate) => {
                if let Some(service) = &mut self.server {
                    service.left = service.left_at(now, self.kind.rate);
                    service.since = now;
                }
                self.kind = LinkKind::new(rate, self.kind.delay, self.kind.thresholds);
            }
            LinkChange::Limit(limit) => self.kind.thresholds = self.kind.thresholds.limited_to(limit),
            LinkChange::Loss(loss) => self.loss.follow(loss),
            LinkChange::BitErrors(rate) => self.loss.have_bit_errors(rate),
        }
    }

    /// Waiting packets are lost with the link.
    fn lose_all(&mut self, now: Time, buffer: &mut Option<&mut Buffer>, transmitter: &mut Transmitter<'_>) {
        while let Some(packet) = self.discipline.give_up(now) {
            self.give_up(&packet, now, transmitter);
            if let Some(buffer) = buffer {
                buffer.release(packet.size() as u64);
            }
        }
    }

    /// Begins to transmit the next packet at `now`, if there is one.
    fn begin(&mut self, now: Time, transmitter: &mut Transmitter<'_>) {
        let Some(mut packet) = self.discipline.dequeue(&self.kind.thresholds, &mut self.stats.rare) else { return };
        let (ends, cut) = self.end_of(packet.size(), now);
        let fate = match (self.loss.loses_next(packet.size()), cut) {
            (_, true) => Fate::Cut,
            (true, false) => Fate::Lost,
            (false, false) => Fate::Arrives,
        };
        let left = packet.size() as u128 * WORK_PER_BYTE;
        self.server = Some(Service { packet, ends, fate, left, since: now });
        if fate == Fate::Arrives {
            packet.arrival = ends + self.kind.delay;
            transmitter.trailers.note_departed(self.node, self.link, &packet);
            transmitter.carry(self.link, packet);
        }
    }

    /// When a transmission of `size` bytes ends that begins at `now`, and whether that is because
    /// the link fails.
    fn end_of(&self, size: u16, now: Time) -> (Time, bool) {
        let mut end = now + self.kind.serialisation(size);
        let (mut since, mut rate, mut left) = (now, self.kind.rate, size as u128 * WORK_PER_BYTE);
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

    /// Queues `packet`, which arrives at `now`, or refuses it; the port is up to date. Returns the
    /// packet that goes back to its sender.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet> {
        if !self.up {
            self.stats.rare.drops_down += 1;
            self.lose(&packet, now, Cause::Down, transmitter);
            return None;
        }
        let (packets, bytes) = self.discipline.waiting();
        let arrival = Arrival { now, kind: &self.kind, buffer: buffer.as_deref() };
        let verdict = self.discipline.enqueue(packet, &arrival, &mut self.stats.rare);
        // Trimming replaces a packet by a smaller one, so that either may shrink.
        let (packets_now, bytes_now) = self.discipline.waiting();
        self.stats.packets = self.stats.packets + u64::from(packets_now) - u64::from(packets);
        self.stats.bytes = self.stats.bytes + bytes_now - bytes;
        if let Some(buffer) = buffer {
            buffer.resize(bytes, bytes_now);
        }
        let returned = match verdict {
            Verdict::Queued => None,
            Verdict::Trimmed(header) => {
                transmitter.note(&header, self.loss_at(now, Cause::Trimmed));
                None
            }
            Verdict::Dropped(packet) => {
                self.stats.rare.drops += 1;
                self.stats.rare.drop_bytes += packet.size() as u64;
                self.lose(&packet, now, Cause::Full, transmitter);
                None
            }
            Verdict::Returned(packet) => {
                self.stats.rare.returns += 1;
                transmitter.note(&packet, self.loss_at(now, Cause::Returned));
                Some(packet)
            }
        };
        if self.server.is_none() {
            self.begin(now, transmitter);
        }
        self.stats.max_queue = self.stats.max_queue.max(self.discipline.longest(&self.kind.thresholds));
        returned
    }

    /// Bytes not yet put on the wire at `now`, the rest of the packet being sent included.
    pub(super) fn backlog_bytes(&self, now: Time) -> u64 {
        let left = |service: Service| {
            let halves_up = service.left_at(now, self.kind.rate) + WORK_PER_BYTE / 2;
            (halves_up / WORK_PER_BYTE) as u64
        };
        let being_sent = self.server.map_or(0, left);
        self.discipline.waiting().1 + being_sent
    }

    /// Packets queued, counted as the policy counts.
    pub(super) fn queue_packets(&self) -> u32 {
        self.discipline.counted(&self.kind.thresholds)
    }

    /// The counters of the port, and what it has put on the wire by `now`.
    pub(super) fn outcome(&self, now: Time) -> (LinkStats, OnWire) {
        let left = self.server.map_or(0, |service| service.left_at(now, self.kind.rate));
        (self.stats, OnWire::all(self.stats.bytes - self.discipline.waiting().1).since(OnWire(left)))
    }

    /// The number of packets that it holds: waiting, or in service and not to arrive.
    pub(super) fn held(&self) -> u32 {
        let doomed = self.server.is_some_and(|service| service.fate != Fate::Arrives);
        self.discipline.waiting().0 + u32::from(doomed)
    }
}
