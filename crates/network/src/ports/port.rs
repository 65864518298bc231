//! An output port that is served packet by packet.

use super::counted::Counted;
use super::inconstant::{Fate, Inconstant, WORK_PER_BYTE, work};
use super::pause::Gate;
use crate::chain::Chain;
use crate::change::Course;
use crate::class::class_of;
use crate::digest::Utilisation;
use crate::discipline::{Arrival, Buffer, Discipline, Verdict};
use crate::fabric::{LinkId, LinkSpec, NodeId};
use crate::link::{Link, LinkKind, LinkStats, OnWire, RareEvents};
use crate::observer::{Cause, PacketLoss};
use crate::packet::Packet;
use crate::telemetry::HopRecord;
use crate::transmitter::Transmitter;
use linkpool_units::Time;
use std::sync::Arc;

/// An output port with a queue discipline and a server that takes from it, for links that are more
/// than one FIFO queue which marks and drops at its entrance (see [`crate::link::Link`]), or that
/// change.
///
/// A packet's arrival is known only when its transmission begins, so the port must be looked at
/// whenever a transmission ends while others wait. The [`crate::link::Link`] then carries the
/// packet like any other. It knows until when it is busy, and counts what it has carried. Of most
/// disciplines nothing depends on a packet that finds nobody at the port, and on when it has left
/// ([`Discipline::passes`]). Such a packet takes the link as if there were no port.
#[derive(Debug)]
pub(super) struct Port {
    /// Do packets that find nobody pass without being seen here?
    passes: bool,
    /// Do packets that find nobody, and are seen, leave without passing the queues ([`Discipline::leaves_at_once`])?
    is_direct: bool,
    /// Is it direct, and does nothing concern it but its own packets? There is no pause, no shared buffer, no telemetry and no
    /// observer, and its link does not change. Ports that packets pass are of this kind.
    is_alone: bool,
    /// Must the queues be told when a packet has left?
    tells_sent: bool,
    /// Between two calls: do packets wait?
    pub(super) waits: bool,
    /// Does it write telemetry on packets?
    stamps: bool,
    /// Of which it writes digests, if it does.
    utilisation: Option<Box<Utilisation>>,
    /// Is a packet in service? If packets pass, that is not known here.
    in_service: bool,
    /// Number of the buffer that it shares with others.
    pub(super) buffer: Option<u32>,
    pub(super) link: LinkId,
    /// The node whose port it is.
    pub(super) node: NodeId,
    /// The node that the link leads to.
    to: NodeId,
    /// The present state of the link. Links that are alike share it until they change.
    kind: Arc<LinkKind>,
    /// Of a link that changes, or loses packets.
    inconstant: Option<Box<Inconstant>>,
    /// Of a port that neighbours pause.
    pub(super) gate: Option<Box<Gate>>,
    /// The longest queue.
    max_queue: u32,
    rare: RareEvents,
}

/// The queues of a port, and what its server does with them: compiled for each discipline.
pub(super) trait Server: Discipline {
    /// Brings `port` up to date and queues `packet`, which arrives at `now`, or refuses it. Returns
    /// the packet that goes back to its sender.
    fn take(
        &mut self,
        port: &mut Port,
        now: Time,
        packet: &Packet,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet>;

    /// The same of a port that nothing concerns but its own packets ([`Port::is_alone`]).
    fn take_alone(
        &mut self,
        port: &mut Port,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet>;

    /// The same of the packets of a `chain`, of which none goes back to its sender; brings `port` up to `limit`.
    fn take_chain(&mut self, port: &mut Port, chain: Chain<'_>, limit: Time, transmitter: &mut Transmitter<'_>);

    /// Queues `packet`, which is counted there, at a port that neighbours pause, or refuses it; the port is up to date.
    fn join(
        &mut self,
        port: &mut Port,
        now: Time,
        packet: (&Packet, Option<Counted>),
        transmitter: &mut Transmitter<'_>,
    );

    /// Begins to transmit at `now` if nothing is in service; the port is up to date.
    fn start(&mut self, port: &mut Port, now: Time, transmitter: &mut Transmitter<'_>);

    /// Processes all events by `now`. At one instant a transmission ends, then the link changes,
    /// then the next transmission begins.
    fn advance(
        &mut self,
        port: &mut Port,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    );
}

impl<D: Discipline> Server for D {
    fn take(
        &mut self,
        port: &mut Port,
        now: Time,
        packet: &Packet,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet> {
        port.advance(self, now, buffer, transmitter);
        let returned = port.enqueue(self, now, packet, buffer, transmitter);
        port.waits = self.waiting().0 > 0;
        returned
    }

    fn take_alone(
        &mut self,
        port: &mut Port,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet> {
        let returned = port.take_alone(self, now, packet, transmitter);
        port.waits = self.waiting().0 > 0;
        returned
    }

    fn take_chain(&mut self, port: &mut Port, chain: Chain<'_>, limit: Time, transmitter: &mut Transmitter<'_>) {
        for packet in chain.iter() {
            let returned = port.take_alone(self, packet.arrival, packet, transmitter);
            assert!(returned.is_none(), "a packet goes back to its sender from a port that has room for it");
        }
        port.serve_alone(self, Time(limit.0 - 1), transmitter);
        port.waits = self.waiting().0 > 0;
    }

    fn join(
        &mut self,
        port: &mut Port,
        now: Time,
        (packet, counted): (&Packet, Option<Counted>),
        transmitter: &mut Transmitter<'_>,
    ) {
        if !port.in_service && !port.waits && port.is_open_to(packet) {
            if let Some(gate) = &mut port.gate {
                gate.serving = counted;
            }
            return port.transmit_at_once(self, now, packet, transmitter);
        }
        let packet = Packet { arrival: Counted::write(counted), ..*packet };
        port.enqueue(self, now, &packet, &mut None, transmitter);
        port.waits = self.waiting().0 > 0;
    }

    fn start(&mut self, port: &mut Port, now: Time, transmitter: &mut Transmitter<'_>) {
        if !port.in_service {
            port.begin(self, now, transmitter);
            port.waits = self.waiting().0 > 0;
        }
    }

    fn advance(
        &mut self,
        port: &mut Port,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) {
        port.advance(self, now, buffer, transmitter);
        port.waits = self.waiting().0 > 0;
    }
}

impl Port {
    /// The port of `link`, which is `spec` and `kind` at the start. `passes`: see [`Discipline::passes`];
    /// `stamps`: it writes telemetry on packets, digests of the utilisation among it if there is one.
    pub(super) fn new(
        link: LinkId,
        spec: &LinkSpec,
        (kind, course): (Arc<LinkKind>, &Course<'_>),
        ((passes, at_once), stamps, buffer): ((bool, bool), bool, Option<u32>),
        (gate, utilisation): (Option<Box<Gate>>, Option<Box<Utilisation>>),
        seed: u64,
    ) -> Port {
        let is_direct = at_once && buffer.is_none() && course.is_constant();
        let is_alone = is_direct && !stamps && gate.is_none();
        Port {
            is_direct,
            is_alone,
            tells_sent: !passes,
            waits: false,
            passes: passes && is_alone,
            stamps,
            utilisation,
            in_service: false,
            buffer,
            link,
            node: spec.from,
            to: spec.to,
            kind,
            inconstant: (!course.is_constant()).then(|| Box::new(Inconstant::new(link, course, seed))),
            gate,
            max_queue: 0,
            rare: RareEvents::default(),
        }
    }

    /// Do packets that find nobody pass without being seen here?
    pub(super) fn passes(&self) -> bool {
        self.passes
    }

    /// Lets no packet pass unseen from now on. No packet has come yet.
    pub(super) fn look_at_all(&mut self) {
        (self.passes, self.is_alone, self.is_direct) = (false, false, false);
    }

    /// Does nothing concern it but its own packets?
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The present state of the link.
    pub(super) fn kind(&self) -> &LinkKind {
        &self.kind
    }

    /// Is a packet in service, as far as the port sees it?
    pub(super) fn is_serving(&self) -> bool {
        self.in_service
    }

    /// When something happens next at a port that neighbours pause.
    pub(super) fn next_event(&self, transmitter: &Transmitter<'_>) -> Time {
        let ends = if self.in_service { transmitter.links[self.link.index()].busy_until() } else { Time::MAX };
        ends.min(self.gate.as_ref().map_or(Time::MAX, |gate| gate.next_change()))
    }

    /// The switch has no room for `packet`, which would wait here.
    #[cold]
    pub(super) fn refuse_unqueued(
        &mut self,
        (packets, now): (u32, Time),
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) {
        self.rare.drops += 1;
        self.rare.drop_bytes += u64::from(packet.size());
        let loss = PacketLoss { at: now, link: self.link, cause: Cause::Full, queued: packets };
        transmitter.discard(packet, loss);
    }

    /// Has the link failed?
    pub(super) fn is_down(&self) -> bool {
        self.inconstant.as_ref().is_some_and(|link| !link.is_up)
    }

    /// See [`Server::advance`].
    #[inline(always)]
    fn advance<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) {
        if self.is_alone {
            self.serve_alone(queues, now, transmitter);
        } else {
            self.advance_in_sight(queues, now, buffer, transmitter);
        }
    }

    /// The same of a port that nothing concerns but its own packets. Returns whether its link is idle at `now`; then nobody waits.
    #[inline(always)]
    fn serve_alone<D: Discipline>(&mut self, queues: &mut D, now: Time, transmitter: &mut Transmitter<'_>) -> bool {
        loop {
            let idle_from = transmitter.links[self.link.index()].busy_until();
            if idle_from > now {
                return false;
            }
            if self.in_service {
                self.in_service = false;
                queues.sent(idle_from);
            }
            let Some(packet) = queues.dequeue(&self.kind.thresholds, &mut self.rare) else { return true };
            self.transmit_alone(idle_from, &packet, transmitter);
        }
    }

    /// Brings such a port up to date and queues `packet`, which arrives at `now`, or refuses it. Returns the packet that goes back to its
    /// sender.
    #[inline(always)]
    fn take_alone<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet> {
        if self.serve_alone(queues, now, transmitter) {
            if self.tells_sent {
                queues.serve(packet);
                self.max_queue = self.max_queue.max(queues.longest(&self.kind.thresholds));
            }
            self.transmit_alone(now, packet, transmitter);
            return None;
        }
        let (kind, thresholds) = (&*self.kind, &self.kind.thresholds);
        let arrival = Arrival { now, to: self.to, kind, thresholds, buffer: None, lossless: false };
        let verdict = queues.enqueue(*packet, &arrival, &mut self.rare);
        self.max_queue = self.max_queue.max(queues.longest(thresholds));
        match verdict {
            Verdict::Queued => None,
            other => self.refuse(queues, now, other, transmitter),
        }
    }

    /// Begins to transmit `packet` at `now` at such a port.
    #[inline(always)]
    fn transmit_alone(&mut self, now: Time, packet: &Packet, transmitter: &mut Transmitter<'_>) {
        let ends = now + self.kind.serialisation(packet.size());
        self.in_service = self.tells_sent;
        transmitter.links[self.link.index()].begin(packet.size(), ends);
        transmitter.carry(self.link, ends + self.kind.delay, packet);
    }

    /// The same of a port that sees each packet, and of a link that may change.
    #[inline(never)]
    fn advance_in_sight<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) {
        if self.gate.is_none() && self.inconstant.is_none() {
            // Nothing happens but that transmissions end.
            while self.in_service {
                let ends = transmitter.links[self.link.index()].busy_until();
                if ends > now {
                    return;
                }
                self.in_service = false;
                queues.sent(ends);
                if let Some(buffer) = buffer {
                    buffer.release(transmitter.links[self.link.index()].last_size().into());
                }
                self.begin(queues, ends, transmitter);
            }
            return;
        }
        loop {
            let busy_until = transmitter.links[self.link.index()].busy_until();
            let ends = if self.in_service { busy_until } else { Time::MAX };
            let changes = self.inconstant.as_ref().map_or(Time::MAX, |link| link.next_change());
            let changes = changes.min(self.gate.as_ref().map_or(Time::MAX, |gate| gate.next_change()));
            let at = ends.min(changes);
            if at > now || at == Time::MAX {
                return;
            }
            if ends == at {
                self.complete(queues, at, buffer, transmitter);
            }
            self.apply_changes(queues, at, buffer, transmitter);
            let link = (self.link, self.kind.rate);
            if changes == at
                && let Some(closed) = self.gate.as_mut().and_then(|gate| gate.apply(at, link))
            {
                queues.close(closed);
            }
            if !self.in_service {
                self.begin(queues, at, transmitter);
            }
        }
    }

    /// The transmission of the packet in service ends at `now`.
    fn complete<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) {
        self.in_service = false;
        if let Some(gate) = &mut self.gate {
            if std::mem::take(&mut gate.sends_frame) {
                return;
            }
            let size = transmitter.links[self.link.index()].last_size();
            gate.left.extend(gate.serving.take().map(|counted| (counted, size)));
        }
        queues.sent(now);
        if let Some(buffer) = buffer {
            buffer.release(transmitter.links[self.link.index()].last_size().into());
        }
        if let Some(link) = &mut self.inconstant {
            let (fate, packet) = link.end_service();
            match fate {
                Fate::Arrives => {}
                Fate::Lost => {
                    self.rare.drops_loss += 1;
                    self.lose(queues, &packet, now, Cause::Random, transmitter);
                }
                Fate::Cut => {
                    transmitter.links[self.link.index()].uncount(packet.size());
                    self.give_up(queues, &packet, now, transmitter);
                }
            }
        }
    }

    /// A packet that had been accepted goes down with the link.
    fn give_up<D: Discipline>(&mut self, queues: &D, packet: &Packet, now: Time, transmitter: &mut Transmitter<'_>) {
        self.rare.drops_down += 1;
        self.lose(queues, packet, now, Cause::Down, transmitter);
    }

    #[cold]
    fn lose<D: Discipline>(
        &self,
        queues: &D,
        packet: &Packet,
        now: Time,
        cause: Cause,
        transmitter: &mut Transmitter<'_>,
    ) {
        transmitter.discard(packet, self.loss_at(queues, now, cause));
    }

    fn loss_at<D: Discipline>(&self, queues: &D, now: Time, cause: Cause) -> PacketLoss {
        PacketLoss { at: now, link: self.link, cause, queued: queues.waiting().0 }
    }

    /// Makes the changes that are due at `now`.
    fn apply_changes<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) {
        let Some(link) = &mut self.inconstant else { return };
        if link.apply_changes(now, self.in_service, &mut self.kind) {
            // Waiting packets are lost with the link.
            while let Some(packet) = queues.give_up(now) {
                self.give_up(queues, &packet, now, transmitter);
                if let Some(buffer) = buffer {
                    buffer.release(packet.size() as u64);
                }
            }
        }
    }

    /// Begins to transmit the next packet at `now`, if there is one.
    #[inline(always)]
    fn begin<D: Discipline>(&mut self, queues: &mut D, now: Time, transmitter: &mut Transmitter<'_>) {
        if let Some(frame) = self.gate.as_mut().and_then(|gate| gate.next_frame()) {
            return self.transmit(&frame, now, transmitter);
        }
        let Some(packet) = queues.dequeue(&self.kind.thresholds, &mut self.rare) else { return };
        if let Some(gate) = &mut self.gate {
            gate.serving = Counted::of(packet.arrival);
            if transmitter.trailers.is_watched()
                && let Some((paused, pause)) = gate.reasons.as_mut().and_then(|r| r.leave(class_of(&packet), now))
            {
                transmitter.trailers.note_held(self.link, now, &packet, (paused, pause));
            }
        }
        if self.stamps {
            self.stamp(queues, &packet, now, transmitter);
        }
        self.transmit(&packet, now, transmitter);
    }

    /// Begins to transmit `packet` at `now`, which finds nobody at a port where such packets leave as they are.
    #[inline(always)]
    fn transmit_at_once<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        packet: &Packet,
        transmitter: &mut Transmitter<'_>,
    ) {
        if self.tells_sent {
            queues.serve(packet);
            self.max_queue = self.max_queue.max(queues.longest(&self.kind.thresholds));
        }
        if self.stamps {
            self.stamp(queues, packet, now, transmitter);
        }
        self.transmit(packet, now, transmitter);
    }

    /// Writes telemetry on `packet`, which the port begins to transmit at `now`.
    #[inline(never)]
    fn stamp<D: Discipline>(&mut self, queues: &D, packet: &Packet, now: Time, transmitter: &mut Transmitter<'_>) {
        let (_, sent) = transmitter.links[self.link.index()].accepted();
        let (_, waiting) = queues.waiting();
        let hop = HopRecord { at: now, sent, rate: self.kind.rate, queue: waiting as u32, link: self.link };
        transmitter.trailers.stamp(packet, hop);
        if let Some(utilisation) = &mut self.utilisation {
            utilisation.note((now, packet.size()), waiting, self.kind.rate);
            transmitter.trailers.write_digest(packet, || utilisation.digest());
        }
    }

    /// Begins to transmit `packet` at `now`.
    #[inline(always)]
    fn transmit(&mut self, packet: &Packet, now: Time, transmitter: &mut Transmitter<'_>) {
        let mut ends = now + self.kind.serialisation(packet.size());
        let mut fate = Fate::Arrives;
        if let Some(link) = &mut self.inconstant {
            (ends, fate) = link.begin_service(packet, (now, ends), self.kind.rate);
        }
        self.in_service = true;
        transmitter.links[self.link.index()].begin(packet.size(), ends);
        if fate == Fate::Arrives {
            let arrival = ends + self.kind.delay;
            transmitter.trailers.note_departed(self.node, self.link, (arrival, packet));
            transmitter.carry(self.link, arrival, packet);
        }
    }

    /// Queues `packet`, which arrives at `now`, or refuses it, at a port that sees each packet; the port is up to date. Returns the
    /// packet that goes back to its sender.
    #[inline(always)]
    fn enqueue<D: Discipline>(
        &mut self,
        queues: &mut D,
        now: Time,
        packet: &Packet,
        buffer: &mut Option<&mut Buffer>,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet> {
        if self.is_down() {
            self.rare.drops_down += 1;
            self.lose(queues, packet, now, Cause::Down, transmitter);
            return None;
        } else if self.is_direct && !self.in_service && self.gate.is_none() {
            // Nobody waits at a port without gate that serves nobody.
            self.transmit_at_once(queues, now, packet, transmitter);
            return None;
        }
        let (_, bytes) = queues.waiting();
        let (kind, thresholds) = (&*self.kind, &self.kind.thresholds);
        let arrival = Arrival { now, to: self.to, kind, thresholds, buffer: buffer.as_deref(), lossless: false };
        let verdict = queues.enqueue(*packet, &arrival, &mut self.rare);
        if let Some(buffer) = buffer {
            buffer.resize(bytes, queues.waiting().1);
        }
        let returned = match verdict {
            Verdict::Queued => {
                if let Some(reasons) = self.gate.as_mut().and_then(|gate| gate.reasons.as_mut())
                    && transmitter.trailers.is_watched()
                {
                    reasons.join(class_of(packet), now);
                }
                None
            }
            Verdict::Trimmed(header) => {
                // It waits among control packets.
                if let Some(reasons) = self.gate.as_mut().and_then(|gate| gate.reasons.as_mut())
                    && transmitter.trailers.is_watched()
                {
                    reasons.join(class_of(&header), now);
                }
                self.refuse(queues, now, verdict, transmitter)
            }
            other => self.refuse(queues, now, other, transmitter),
        };
        if !self.in_service {
            self.begin(queues, now, transmitter);
        }
        self.max_queue = self.max_queue.max(queues.longest(&self.kind.thresholds));
        returned
    }

    /// May `packet`, which finds nobody at a port that neighbours pause, leave at once? Not if its class is paused, or if somebody asks
    /// for how long packets are held.
    #[inline]
    fn is_open_to(&self, packet: &Packet) -> bool {
        let is_open = |gate: &Gate| !gate.closed.has(class_of(packet)) && gate.reasons.is_none();
        self.is_direct && self.gate.as_ref().is_some_and(|gate| is_open(gate))
    }

    /// The packet in service has left by `now` at a port that neighbours pause, and nothing else has happened there: returns where it was
    /// counted, and its size. None: the port must be advanced in the usual way.
    #[inline]
    pub(super) fn end_alone(&mut self, now: Time, transmitter: &Transmitter<'_>) -> Option<(Option<Counted>, u16)> {
        let link = &transmitter.links[self.link.index()];
        let gate = self.gate.as_mut()?;
        let is_alone = self.is_direct && !self.tells_sent && self.in_service && !self.waits;
        if !is_alone || link.busy_until() > now || gate.next_change() <= now || gate.has_frame() || gate.sends_frame {
            return None;
        }
        self.in_service = false;
        Some((gate.serving.take(), link.last_size()))
    }

    /// What becomes of a packet that has no room. Returns that which goes back to its sender.
    #[inline(never)]
    fn refuse<D: Discipline>(
        &mut self,
        queues: &D,
        now: Time,
        verdict: Verdict,
        transmitter: &mut Transmitter<'_>,
    ) -> Option<Packet> {
        match verdict {
            Verdict::Queued => {}
            Verdict::Trimmed(header) => transmitter.note(&header, self.loss_at(queues, now, Cause::Trimmed)),
            Verdict::Dropped(packet) => {
                self.rare.drops += 1;
                self.rare.drop_bytes += packet.size() as u64;
                self.lose(queues, &packet, now, Cause::Full, transmitter);
            }
            Verdict::Returned(packet) => {
                self.rare.returns += 1;
                transmitter.note(&packet, self.loss_at(queues, now, Cause::Returned));
                return Some(packet);
            }
        }
        None
    }

    /// Bytes not yet put on the wire at `now`: `waiting` bytes, and the rest of the packet that `link` sends.
    pub(super) fn backlog_bytes(&self, link: &Link, waiting: u64, now: Time) -> u64 {
        let halves_up = self.work_left(link, now) + WORK_PER_BYTE / 2;
        waiting + (halves_up / WORK_PER_BYTE) as u64
    }

    /// The work that is left at `now` of the packet that `link` sends.
    fn work_left(&self, link: &Link, now: Time) -> u128 {
        let is_serving = if self.passes { link.busy_until() > now } else { self.in_service };
        if !is_serving {
            return 0;
        }
        let (left, since) = match &self.inconstant {
            Some(link) => link.left(),
            None => (work(link.last_size()), link.busy_until() - self.kind.serialisation(link.last_size())),
        };
        left.saturating_sub((now - since).0 as u128 * self.kind.rate.0 as u128)
    }

    /// The counters of the port of `link`, and what it has put on the wire by `now`, if so many
    /// packets and bytes wait.
    pub(super) fn outcome(&self, link: &Link, waiting: (u32, u64), now: Time) -> (LinkStats, OnWire) {
        let (packets, bytes) = link.accepted();
        let stats = LinkStats {
            packets: packets + u64::from(waiting.0),
            bytes: bytes + waiting.1,
            max_queue: self.max_queue,
            rare: self.rare,
        };
        (stats, OnWire::all(bytes).since(OnWire(self.work_left(link, now))))
    }

    /// Is a packet in service that does not arrive?
    pub(super) fn is_doomed(&self) -> bool {
        self.in_service && self.inconstant.as_ref().is_some_and(|link| link.is_doomed())
    }
}
