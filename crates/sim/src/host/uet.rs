//! UET as endpoints of a host: messages become packets, wake-ups timers, and senders take turns on the
//! links of their host.

use crate::host::connection::{Connection, Identity, Opening};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending, WaitsOn};
use crate::host::family::{Ends, Outlook};
use crate::host::handle::Handle;
use crate::host::io::{Io, Shared, TurnsFor};
use crate::host::kinds::{PacketKind, Role, Said};
use crate::host::rtts::RttRecorder;
use crate::host::uet_packet::{
    ACK_NOW, AGAIN, ANSWERED, AT_LAST, BASE, BITMAP, LAST, MARKED, NACK, OF_PROBE, OUT_OF_ORDER, PROBE, PSN, PULL,
    RECEIVED, RECEIVER, RTS, TARGET, psn, put, read_ack, read_nack, target,
};
use crate::plan::PlannedTransport;
use crate::results::outcome::SubflowOutcome;
use linkpool_engine::hash_u64;
use linkpool_network::{Envelope, Flags, Kind, Packet, Trailer};
use linkpool_transport::paths::PathSelector;
use linkpool_transport::uet::{
    Ack, Answers, Came, Config, Data, Nack, Output, Probe, Progress, Receiver, Sender, Turn, Uet, Waits,
};
use linkpool_transport::{Metric, SenderState, SubflowId, SubflowStats};
use linkpool_units::Time;
use rand::{Rng, RngCore};
use std::sync::Arc;

impl Ends for Uet {
    type Sender = UetSender;
    type Receiver = UetReceiver;
    const KINDS: &'static [PacketKind] = &[
        PacketKind::new(NACK, NACK, "NACK", Role::Nack),
        PacketKind::new(Kind::ACK, Kind::ACK, "ACK", Role::Ack),
        PacketKind::new(PULL, PULL, "PULL", Role::Grant),
        PacketKind::new(RTS, RTS, "RTS", Role::Request),
        PacketKind::new(PROBE, PROBE, "PROBE", Role::Request),
    ];

    fn sender(
        (_, config): (&PlannedTransport, &Arc<Config>),
        (connection, identity): (Connection, Identity),
        size: Option<u64>,
        _: &Outlook<'_>,
    ) -> UetSender {
        let drawn = hash_u64(connection.paths.fixed(SubflowId::FIRST).entropy.into()) as u32;
        let sender = Sender::new(config.clone(), size, connection.stays_open, drawn);
        UetSender { connection, sender, identity, openings: 0 }
    }

    fn receiver(
        (_, config): (&PlannedTransport, &Arc<Config>),
        (connection, identity): (Connection, Identity),
    ) -> UetReceiver {
        UetReceiver { connection, receiver: Receiver::new(config.clone()), identity, openings: 0 }
    }

    /// Of data: its PSN, and its first byte in the stream if all packets before it are full. Of a NACK:
    /// the PSN. Of an ACK: the PSN of the packet that it answers, and the first that has not arrived. Of a
    /// PULL: the quanta of credit that were granted. Of a probe: its number.
    fn said(packet: &Packet, trailer: Option<&Trailer>, mss: u16) -> Said {
        let marked = packet.kind.has(Kind::ACK | MARKED);
        let (seq, ack) = match (packet.kind.has(Kind::DATA) && !packet.kind.has(PROBE), trailer) {
            (true, _) => {
                let psn = psn(packet, trailer);
                (psn, psn.wrapping_mul(mss.into()))
            }
            (false, Some(trailer)) if packet.kind.has(Kind::ACK) => (trailer[ANSWERED], packet.ack),
            (false, Some(trailer)) => (trailer[PSN], 0),
            (false, None) => (packet.seq, 0),
        };
        Said { seq, ack, ece: marked }
    }
}

/// The bits of a packet's entropy that are its entropy value; the rest is that of the connection.
fn mask(config: &Config) -> u32 {
    u32::from(config.entropies) - 1
}

/// The entropy of a packet with the value `of`.
fn of_value(paths: &PathSelector, of: u16, mask: u32) -> u32 {
    paths.by_value(paths.fixed(SubflowId::FIRST).entropy & !mask | u32::from(of), mask)
}

/// A sender.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct UetSender {
    connection: Connection,
    sender: Sender,
    identity: Identity,
    /// Packets sent that may open the connection.
    openings: u32,
}

/// A receiver.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct UetReceiver {
    connection: Connection,
    receiver: Receiver,
    identity: Identity,
    /// Packets that have come, whole or not, and could have opened the connection.
    openings: u32,
}

impl UetSender {
    /// Calls `act` with the sender and what takes its messages.
    fn act<R>(&mut self, io: &mut Io<'_>, act: impl FnOnce(&mut Sender, &mut FromSender<'_, '_>) -> R) -> R {
        let UetSender { connection, sender, identity, openings } = self;
        let (mask, trimmable) = (mask(sender.config()), sender.config().trimmable);
        act(sender, &mut FromSender { connection, identity, openings, io, mask, trimmable })
    }

    fn event(&self) -> Event {
        if self.sender.state() == SenderState::Open { Event::None } else { Event::Closed }
    }
}

impl Endpoint for UetSender {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let now = io.now;
        let entropy = (packet.entropy & mask(self.sender.config())) as u16;
        let Some(trailer) = io.trailer(packet).copied() else {
            self.connection.peer = Handle::split(packet.ack).0;
            self.act(io, |sender, out| match packet.kind.has(Kind::ACK) {
                true => sender.on_nack(read_nack(packet), entropy, now, out),
                false => sender.on_pull(packet.seq, now, out),
            });
            return Event::None;
        };
        self.connection.peer = Handle::split(trailer[RECEIVER]).0;
        let ack = read_ack(packet, &trailer);
        let progress = self.act(io, |sender, out| sender.on_ack(&ack, entropy, now, out));
        match self.event() {
            Event::None if progress && self.connection.stays_open => Event::Progress,
            event => event,
        }
    }

    fn on_timer(&mut self, _: SubflowId, io: &mut Io<'_>) -> Event {
        let now = io.now;
        self.act(io, |sender, out| sender.on_timer(now, out));
        Event::None
    }

    /// It may send a packet of data.
    fn on_turn(&mut self, io: &mut Io<'_>) -> Event {
        let now = io.now;
        self.act(io, |sender, out| sender.on_turn(now, out));
        Event::None
    }
}

impl Sending for UetSender {
    fn open(&mut self, io: &mut Io<'_>) {
        let now = io.now;
        self.act(io, |sender, out| sender.open(now, out));
    }

    fn extend(&mut self, size: u64, io: &mut Io<'_>) {
        let now = io.now;
        self.act(io, |sender, out| sender.extend(size, now, out));
    }

    fn stop(&mut self, io: &mut Io<'_>) -> Event {
        self.sender.stop(io.now);
        self.event()
    }

    /// There is no FIN.
    fn openings(&self) -> Option<u32> {
        Some(self.openings)
    }

    fn state(&self) -> SenderState {
        self.sender.state()
    }

    fn started(&self) -> Time {
        self.sender.started()
    }

    fn ended(&self) -> Option<Time> {
        self.sender.ended()
    }

    fn acked(&self) -> u64 {
        if self.connection.stays_open { self.sender.in_order() } else { self.sender.acked() }
    }

    fn subflows(&self) -> usize {
        self.sender.subflows().len()
    }

    /// There is no handshake.
    fn is_established(&self, _: SubflowId) -> bool {
        true
    }

    fn acked_on(&self, s: SubflowId) -> u64 {
        self.sender.subflows()[s].acked()
    }

    fn is_suppressed(&self, s: SubflowId) -> bool {
        self.sender.is_suppressed(s)
    }

    /// All its entropy values together; the window in full packets.
    fn subflow(&self, s: SubflowId) -> SubflowOutcome {
        let (sender, path, subflow) =
            (&self.sender, self.connection.paths.fixed(SubflowId::FIRST), &self.sender.subflows()[s]);
        let (counters, config) = (subflow.counters(), sender.config());
        SubflowOutcome {
            entropy: if s.is_first() {
                path.entropy
            } else {
                of_value(&self.connection.paths, subflow.first_entropy(), mask(config))
            },
            pinned: path.pinned,
            stats: SubflowStats {
                established: Some(sender.started()),
                acked_bytes: subflow.acked(),
                segments: counters.sent,
                retransmits: counters.sent_again,
                timeouts: counters.timeouts,
                probes: if s.is_first() { sender.counters().probes } else { 0 },
                marked_acks: counters.marked_acks,
                cuts: counters.cuts,
                ..SubflowStats::default()
            },
            cwnd: subflow.window().bytes / config.mtu(),
            ssthresh: f64::INFINITY,
            srtt: subflow.srtt().map(|ps| ps / 1e12),
            min_rtt: subflow.min_rtt(),
            rto: config.rto,
        }
    }

    fn waits(&self) -> Option<WaitsOn> {
        Some(match self.sender.waits() {
            Waits::Turn => WaitsOn::Turn,
            Waits::Window => WaitsOn::Window,
            Waits::Credit => WaitsOn::Credit,
            Waits::Answers => WaitsOn::Acks,
        })
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        let counters = self.sender.counters();
        let all = [
            Metric::count("acks", counters.acks),
            Metric::count("nacks", counters.nacks),
            Metric::count("pulls", counters.pulls),
            Metric::count("asked", counters.asked),
            Metric::count("probes", counters.probes),
        ];
        all.into_iter().for_each(&mut *report);
        if let Some((suppressions, releases)) = self.sender.suppressions() {
            report(Metric::count("suppressions", suppressions));
            report(Metric::count("releases", releases));
        }
    }

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn take_paths(&mut self, paths: PathSelector) {
        self.connection.paths.replace_paths(paths);
    }

    fn record_rtts(&mut self, recorder: Box<RttRecorder>) {
        self.connection.rtts = Some(recorder);
    }
}

impl Endpoint for UetReceiver {
    fn on_packet(&mut self, subflow: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let UetReceiver { connection, receiver, identity, openings } = self;
        let (now, trailer) = (io.now, io.trailer(packet));
        let (psn, target, kind, flags) = (psn(packet, trailer), target(packet, trailer), packet.kind, packet.flags);
        *openings += u32::from(kind.has(Kind::SYN));
        let (marked, again) = (flags.has(Flags::CE), kind.has(AGAIN));
        let entropy = connection.paths.by_value(packet.entropy, mask(receiver.config()));
        if let Some(rules) = &receiver.config().credit_rules {
            let came = match (flags.has(Flags::TRIMMED), packet.is_trimmed_at_last()) {
                (false, _) if marked => Came::Marked,
                (false, _) => Came::Well,
                (true, true) => Came::TrimmedAtLast,
                (true, false) => Came::Trimmed,
            };
            let Shared { credit_rate, random, .. } = &mut *io.shared;
            credit_rate.on_packet(came, now, rules, &mut || random.random());
        }
        let out = &mut FromReceiver { connection, identity, io, of: (subflow, entropy) };
        if kind.has(PROBE) {
            receiver.on_probe(Probe { number: psn, section: target, again }, marked, now, out);
            return Event::None;
        }
        if !kind.has(Kind::DATA) {
            receiver.on_asked(target, now, out);
            return Event::None;
        }
        let (ack_now, last, len) = (kind.has(ACK_NOW), kind.has(LAST), packet.payload());
        let data = Data { psn, subflow, len, ack_now, again, last, target };
        if flags.has(Flags::TRIMMED) {
            receiver.on_trimmed(data, (marked, packet.is_trimmed_at_last()), now, out);
            return Event::None;
        }
        match receiver.on_data(data, marked, now, out) {
            Progress::None => Event::None,
            _ if connection.stays_open => Event::Progress,
            Progress::InOrder => Event::None,
            Progress::Complete => Event::Delivered,
        }
    }

    fn on_timer(&mut self, _: SubflowId, _: &mut Io<'_>) -> Event {
        Event::None
    }

    /// It grants credit.
    fn on_turn(&mut self, io: &mut Io<'_>) -> Event {
        let UetReceiver { connection, receiver, identity, .. } = self;
        let entropy = connection.paths.by_value(io.shared.random.next_u32(), mask(receiver.config()));
        let mut bytes =
            receiver.on_turn(&mut FromReceiver { connection, identity, io, of: (SubflowId::FIRST, entropy) });
        if let Some(rules) = &receiver.config().credit_rules {
            let Shared { credit_rate, random, .. } = &mut *io.shared;
            bytes = (bytes as f64 / credit_rate.rate(io.now, rules, &mut || random.random())).round() as u64;
        }
        io.spend_turn(TurnsFor::Grants, bytes);
        Event::None
    }
}

impl Receiving for UetReceiver {
    fn last_heard(&self) -> Time {
        self.receiver.last_heard()
    }

    fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    fn openings(&self) -> u32 {
        self.openings
    }
}

/// Turns the messages of a sender into packets at one instant.
#[derive(Debug)]
struct FromSender<'a, 'i> {
    connection: &'a mut Connection,
    identity: &'a Identity,
    openings: &'a mut u32,
    io: &'a mut Io<'i>,
    /// The bits of a packet's entropy that are its entropy value; the rest is that of the connection.
    mask: u32,
    trimmable: bool,
}

impl Output for FromSender<'_, '_> {
    fn send(&mut self, data: Data, entropy: u16) {
        let c = &*self.connection;
        let Data { psn, subflow, len, ack_now, again, last, target } = data;
        let size = len + c.sizes.header;
        let kind = Kind::DATA.with_if(ACK_NOW, ack_now).with_if(AGAIN, again).with_if(LAST, last);
        let flags = Flags::ECT.with_if(Flags::TRIMMABLE, self.trimmable);
        self.io.spend_data_turn((size, len), None);
        self.put((psn, target), (kind, flags), (size, len), (subflow, entropy));
    }

    fn probe(&mut self, Probe { number, section, again }: Probe, entropy: u16) {
        let kind = PROBE.with_if(AGAIN, again);
        self.put((number, section), (kind, Flags::ECT), (self.connection.sizes.ack, 0), (SubflowId::FIRST, entropy));
    }

    fn ask(&mut self, target: u32, entropy: u16) {
        self.put((0, target), (RTS, Flags::PRIORITY), (self.connection.sizes.ack, 0), (SubflowId::FIRST, entropy));
    }

    fn others(&self) -> usize {
        self.io.waiting(TurnsFor::Data)
    }

    fn wake(&mut self, at: Time) {
        self.io.wake(self.identity.me, SubflowId::FIRST, at);
    }

    fn is_free(&self) -> bool {
        self.io.is_free(TurnsFor::Data)
    }

    fn queue_turn(&mut self) {
        self.io.queue_turn(TurnsFor::Data, self.identity.me, false);
    }

    fn measured_rtt(&mut self, subflow: SubflowId, rtt: Time) {
        if let Some(rtts) = &mut self.connection.rtts {
            rtts.record((self.identity.flow, subflow), self.io.now, rtt);
        }
    }

    fn random(&mut self, n: u32) -> u32 {
        self.io.shared.random.random_range(0..n)
    }
}

impl FromSender<'_, '_> {
    /// Sends a packet with this PSN and target for credit, of so many bytes, of which so many are payload.
    fn put(
        &mut self,
        (psn, target): (u32, u32),
        (kind, flags): (Kind, Flags),
        (size, len): (u16, u16),
        (subflow, entropy): (SubflowId, u16),
    ) {
        let c = &*self.connection;
        // Until the receiver has answered, any packet may be the one that makes it.
        let opens = c.peer == Handle::default();
        let mut packet = Packet {
            seq: psn,
            ack: target,
            endpoint: c.peer.of_subflow(subflow),
            entropy: of_value(&c.paths, entropy, self.mask),
            envelope: Envelope::new(c.peer_host, size, len),
            flags,
            kind: kind.with_if(Kind::SYN, opens),
            ..Packet::default()
        };
        if kind.has(Kind::DATA) {
            c.prioritise(SubflowId::FIRST, &mut packet);
        }
        if opens {
            *self.openings += 1;
            let mut trailer = Opening::of(c, self.identity, subflow).write(&mut packet);
            (trailer[PSN], trailer[TARGET]) = (psn, target);
            self.io.send_with(packet, trailer);
        } else {
            self.io.send(&packet);
        }
    }
}

/// Turns the answers of a receiver to one packet into packets. They have the subflow and the entropy of that
/// packet, which names its entropy value.
#[derive(Debug)]
struct FromReceiver<'a, 'i> {
    connection: &'a Connection,
    identity: &'a Identity,
    io: &'a mut Io<'i>,
    of: (SubflowId, u32),
}

impl FromReceiver<'_, '_> {
    fn packet(&self, kind: Kind) -> Packet {
        let c = self.connection;
        Packet {
            endpoint: c.peer.of_subflow(self.of.0),
            entropy: self.of.1,
            envelope: Envelope::new(c.peer_host, c.sizes.ack, 0),
            flags: Flags::PRIORITY,
            kind,
            ..Packet::default()
        }
    }
}

impl Answers for FromReceiver<'_, '_> {
    fn ack(&mut self, ack: Ack) {
        let kind = Kind::ACK.with_if(MARKED, ack.marked).with_if(AGAIN, ack.again).with_if(OF_PROBE, ack.probe);
        let packet = Packet { ack: ack.cumulative, ..self.packet(kind) };
        let mut trailer = Trailer::default();
        trailer[ANSWERED] = ack.psn;
        trailer[BASE] = ack.base;
        put(&mut trailer, BITMAP, ack.bitmap);
        put(&mut trailer, RECEIVED, ack.received);
        trailer[OUT_OF_ORDER] = ack.out_of_order;
        trailer[RECEIVER] = self.identity.me.raw();
        self.io.send_with(packet, trailer);
    }

    fn nack(&mut self, Nack { psn, again, marked, at_last }: Nack) {
        let kind = NACK.with_if(MARKED, marked).with_if(AGAIN, again).with_if(AT_LAST, at_last);
        let packet = Packet { seq: psn, ack: self.identity.me.raw(), ..self.packet(kind) };
        self.io.send(&packet);
    }

    fn pull(&mut self, granted: u32) {
        let packet = Packet { seq: granted, ack: self.identity.me.raw(), ..self.packet(PULL) };
        self.io.send(&packet);
    }

    fn queue_turn(&mut self, turn: Turn) {
        self.io.queue_turn(TurnsFor::Grants, self.identity.me, turn == Turn::Owing);
    }
}
