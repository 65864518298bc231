//! RoCE as endpoints of a host: messages become packets, and wake-ups timers. Senders take turns at
//! the port of their host, as queue pairs do at an adapter.

use crate::host::connection::{Connection, Identity, Opening};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending, WaitsOn};
use crate::host::family::{Ends, Outlook};
use crate::host::handle::Handle;
use crate::host::io::{Io, TurnsFor};
use crate::host::kinds::{PacketKind, Role, Said};
use crate::host::rtts::RttRecorder;
use crate::plan::PlannedTransport;
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Envelope, Flags, HopRecord, Kind, Packet, Trailer};
use linkpool_transport::paths::PathSelector;
use linkpool_transport::roce::{self, Config, Hop, MOST_HOPS, Message, Output, Receiver, Roce, Sender, Told};
use linkpool_transport::{Metric, SenderState, SubflowId, SubflowStats, Telemetry};
use linkpool_units::Time;
use rand::Rng;
use std::sync::Arc;

/// With data: the last packet of a message.
pub(crate) const LAST: Kind = Kind::OWN_0;
/// With data: the first packet of a message. Only captures depend on it.
const FIRST: Kind = Kind::OWN_1;
/// A packet is missing.
const NACK: Kind = Kind(Kind::ACK.0 | Kind::OWN_0.0);
/// A congestion notification packet.
const CNP: Kind = Kind(Kind::ACK.0 | Kind::OWN_1.0);
/// Beside ACK: the packet that it answers was marked.
const MARKED: Kind = Kind::OWN_2;

impl Ends for Roce {
    type Sender = RoceSender;
    type Receiver = RoceReceiver;
    /// Each may have `SYN`, too: it answers a packet that may have opened the connection.
    const KINDS: &'static [PacketKind] = &[
        PacketKind::new(CNP, CNP, "CNP", Role::Congestion),
        PacketKind::new(NACK, NACK, "NACK", Role::Nack),
        PacketKind::new(Kind::ACK, Kind::ACK, "ACK", Role::Ack),
    ];

    fn sender(
        (_, config): (&PlannedTransport, &Arc<Config>),
        (connection, identity): (Connection, Identity),
        size: Option<u64>,
        outlook: &Outlook<'_>,
    ) -> RoceSender {
        let sender = Box::new(Sender::new(config.clone(), size, connection.stays_open, (outlook.idle)()));
        RoceSender { sender, connection, identity, held: false }
    }

    fn receiver(
        (_, config): (&PlannedTransport, &Arc<Config>),
        (connection, identity): (Connection, Identity),
    ) -> RoceReceiver {
        RoceReceiver { receiver: Receiver::new(config.clone()), connection, identity, openings: 0 }
    }

    /// Of data: its PSN, and its first byte in the stream. Of an ACK or a NACK: the PSN that it
    /// answers, and the first that is missing.
    fn said(packet: &Packet, trailer: Option<&Trailer>, _: u16) -> Said {
        let (seq, ack) =
            if packet.kind.has(Kind::DATA) { (psn(packet, trailer), packet.ack) } else { numbers(packet, trailer) };
        Said { seq, ack, ece: packet.kind.has(MARKED) || packet.kind.has(CNP) }
    }
}

/// In the trailer of a packet that may open a connection: its PSN.
const NUMBER: usize = Opening::WORDS;
/// In the trailer of an answer to such a packet: the PSN that it answers, and the first missing one.
const PSN: usize = 0;
const NEXT: usize = 1;

/// The PSN of the data packet `packet`, which came with `trailer`.
fn psn(packet: &Packet, trailer: Option<&Trailer>) -> u32 {
    trailer.map_or(packet.seq, |trailer| trailer[NUMBER])
}

/// The PSN that the answer `packet` answers, and the first missing one; it came with `trailer`.
fn numbers(packet: &Packet, trailer: Option<&Trailer>) -> (u32, u32) {
    trailer.map_or((packet.seq, packet.ack), |trailer| (trailer[PSN], trailer[NEXT]))
}

/// The message that `packet` with its `trailer` is; of data the place is that modulo 2^32.
pub(crate) fn decode(packet: &Packet, trailer: Option<&Trailer>) -> Message {
    let (has, len) = (|kind| packet.kind.has(kind), packet.payload());
    if has(Kind::DATA) {
        let (psn, place) = (psn(packet, trailer), packet.ack.into());
        return Message::Data { psn, len, place, first: has(FIRST), last: has(LAST), opens: has(Kind::SYN) };
    }
    let ((psn, next), marked) = (numbers(packet, trailer), has(MARKED));
    match packet.kind.without(Kind::SYN | MARKED) {
        CNP => Message::Cnp,
        NACK => Message::Nack { psn, next, marked },
        _ => Message::Ack { psn, next, marked },
    }
}

/// The receiver that the answer `packet` names, if it does.
pub(crate) fn named_receiver(packet: &Packet) -> Option<Handle> {
    packet.kind.has(Kind::SYN | Kind::ACK).then(|| Handle::split(packet.ack).0)
}

/// A sender: a queue pair's send queue.
#[derive(Debug)]
pub(crate) struct RoceSender {
    /// Boxed, for it is larger than those of other families.
    sender: Box<Sender>,
    connection: Connection,
    identity: Identity,
    /// Did it find the port paused at its last turn? Only traces depend on it.
    held: bool,
}

/// A receiver: a queue pair's responder.
#[derive(Debug)]
pub(crate) struct RoceReceiver {
    receiver: Receiver,
    connection: Connection,
    identity: Identity,
    /// Packets that have come and could have opened the connection.
    openings: u32,
}

impl RoceSender {
    fn event(&self) -> Event {
        match self.sender.state() {
            SenderState::Open if self.connection.stays_open => Event::Progress,
            SenderState::Open => Event::None,
            _ => Event::Closed,
        }
    }

    /// Does `act` with the sender and what it sends through.
    fn with<T>(&mut self, io: &mut Io<'_>, act: impl FnOnce(&mut Sender, Time, &mut Out<'_, '_>) -> T) -> T {
        let RoceSender { sender, connection, identity, .. } = self;
        let (now, ect, telemetry) = (io.now, sender.config().cnp.is_some(), sender.config().telemetry);
        act(sender, now, &mut Out { connection, identity, io, ect, telemetry, answers: None })
    }
}

const _: () = assert!(MOST_HOPS == linkpool_network::MOST_HOPS);
const _: () = assert!(roce::LEAST_UTILISATION == linkpool_network::LEAST_UTILISATION);

/// What switches wrote, for laws.
fn hops(records: &[HopRecord]) -> ([Hop; MOST_HOPS], usize) {
    let mut hops = [Hop::default(); MOST_HOPS];
    for (hop, record) in hops.iter_mut().zip(records) {
        let HopRecord { at, sent, rate, queue, link } = *record;
        *hop = Hop { at, sent, rate, queue, link: link.into() };
    }
    (hops, records.len())
}

impl Endpoint for RoceSender {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let written = io.telemetry(packet);
        let (hops, count) = hops(written.hops);
        let told = Told { hops: &hops[..count], digest: written.digest };
        let as_sent = io.as_sent(packet);
        let (seq, next) = numbers(&as_sent, io.trailer(packet));
        // The answer to a packet that may have opened the connection names the receiver.
        if packet.kind.has(Kind::SYN) {
            self.connection.peer = Handle::split(packet.ack).0;
        }
        let marked = packet.kind.has(MARKED);
        self.with(io, |sender, now, out| match packet.kind.without(Kind::SYN | MARKED) {
            CNP => sender.on_cnp(now, out),
            NACK => sender.on_nack((seq, next), marked, told, now, out),
            _ => sender.on_ack((seq, next), marked, told, now, out),
        });
        self.event()
    }

    fn on_timer(&mut self, _: SubflowId, io: &mut Io<'_>) -> Event {
        self.with(io, |sender, now, out| sender.on_timer(now, out));
        self.event()
    }

    /// Sends a packet. The next turn at the port is when it has left.
    fn on_turn(&mut self, io: &mut Io<'_>) -> Event {
        // While the port is paused, packets stay with their queue pair, but for one that waits there. It asks again when
        // a packet would have left.
        let until = io.held_until(self.connection.data_priority());
        self.held = until.is_some();
        if let Some(until) = until {
            let full = u64::from(self.connection.sizes.header) + u64::from(self.sender.config().mss);
            io.hold_turn(TurnsFor::Data, self.identity.me, full, until);
            return Event::None;
        }
        io.take_turn(TurnsFor::Data);
        if let Some((left, bytes)) = self.with(io, |sender, now, out| sender.on_turn(now, out)) {
            io.spend_data_turn((bytes as u16, bytes as u16 - self.connection.sizes.header), Some(left));
        }
        Event::None
    }
}

impl Sending for RoceSender {
    fn open(&mut self, io: &mut Io<'_>) {
        self.with(io, |sender, now, out| sender.open(now, out));
    }

    fn extend(&mut self, size: u64, io: &mut Io<'_>) {
        self.with(io, |sender, now, out| sender.extend(size, now, out));
    }

    fn know_hops(&mut self, hops: &[u32]) {
        self.sender.know_hops(hops[0]);
    }

    fn stop(&mut self, io: &mut Io<'_>) -> Event {
        self.sender.stop(io.now);
        self.event()
    }

    /// There is no FIN: a queue pair is closed by its hosts, beside the data.
    fn openings(&self) -> Option<u32> {
        Some(self.sender.openings())
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
        self.sender.acked()
    }

    fn subflows(&self) -> usize {
        1
    }

    /// There is no handshake.
    fn is_established(&self, _: SubflowId) -> bool {
        true
    }

    fn is_recovering(&self, _: SubflowId) -> bool {
        self.sender.is_recovering()
    }

    fn acked_on(&self, _: SubflowId) -> u64 {
        self.sender.acked()
    }

    /// The window in packets; without one, the data in flight.
    fn subflow(&self, s: SubflowId) -> SubflowOutcome {
        let (sender, path, counters) = (&self.sender, self.connection.paths.fixed(s), self.sender.counters());
        SubflowOutcome {
            entropy: path.entropy,
            pinned: path.pinned,
            stats: SubflowStats {
                established: Some(sender.started()),
                acked_bytes: sender.acked(),
                segments: counters.sent,
                retransmits: counters.sent_again,
                timeouts: counters.timeouts,
                ..SubflowStats::default()
            },
            cwnd: sender.window().unwrap_or(sender.in_flight()) as f64 / f64::from(sender.config().mss),
            ssthresh: f64::INFINITY,
            srtt: sender.srtt().map(|ps| ps / 1e12),
            min_rtt: sender.min_rtt(),
            rto: sender.rto(),
        }
    }

    fn waits(&self) -> Option<WaitsOn> {
        Some(match self.sender.waits() {
            roce::Waits::Rate => WaitsOn::Rate,
            roce::Waits::Window => WaitsOn::Window,
            roce::Waits::Turn if self.held => WaitsOn::Pause,
            roce::Waits::Turn => WaitsOn::Turn,
            roce::Waits::Answers => WaitsOn::Acks,
        })
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        let counters = self.sender.counters();
        report(Metric::count("nacks", counters.nacks));
        report(Metric::count("cnps", counters.cnps));
        report(Metric { name: "sending_rate", unit: "bit/s", value: self.sender.rate() });
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

impl Endpoint for RoceReceiver {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let (psn, opens) = (psn(&io.as_sent(packet), io.trailer(packet)), packet.kind.has(Kind::SYN));
        self.openings += u32::from(opens);
        let RoceReceiver { receiver, connection, identity, .. } = self;
        connection.paths.on_arrival(packet.entropy);
        // The packet has the lower half of its place in the stream, which is near what has arrived.
        let delivered = receiver.delivered();
        let start = delivered.wrapping_add_signed(i64::from(packet.ack.wrapping_sub(delivered as u32) as i32));
        let data = (start, packet.payload(), packet.kind.has(LAST));
        let (marked, now, stays_open) = (packet.flags.has(Flags::CE), io.now, connection.stays_open);
        let out = &mut Out { connection, identity, io, ect: false, telemetry: None, answers: Some(*packet) };
        match receiver.on_data(psn, data, marked, now, out) {
            _ if stays_open => Event::Progress,
            true => Event::Delivered,
            false => Event::None,
        }
    }

    fn on_timer(&mut self, _: SubflowId, _: &mut Io<'_>) -> Event {
        Event::None
    }
}

impl Receiving for RoceReceiver {
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

/// Turns the messages of one endpoint into packets at one instant.
#[derive(Debug)]
struct Out<'a, 'i> {
    connection: &'a mut Connection,
    identity: &'a Identity,
    io: &'a mut Io<'i>,
    /// Is data sent as ECN-capable?
    ect: bool,
    /// What switches write on data.
    telemetry: Option<Telemetry>,
    /// The packet that it answers.
    answers: Option<Packet>,
}

impl Output for Out<'_, '_> {
    fn send(&mut self, message: Message) -> Time {
        let sizes = self.connection.sizes;
        let mut packet =
            Packet { envelope: Envelope::new(self.connection.peer_host, sizes.ack, 0), ..Packet::default() };
        match message {
            Message::Data { psn, len, place, first, last, opens } => {
                packet.envelope = Envelope::new(self.connection.peer_host, len + sizes.header, len);
                packet.kind = Kind::DATA.with_if(FIRST, first).with_if(LAST, last).with_if(Kind::SYN, opens);
                packet.ack = place as u32;
                return self.send_data(packet, psn, opens);
            }
            Message::Ack { psn, next, marked } => self.answer(packet, Kind::ACK.with_if(MARKED, marked), (psn, next)),
            Message::Nack { psn, next, marked } => self.answer(packet, NACK.with_if(MARKED, marked), (psn, next)),
            Message::Cnp => self.answer(packet, CNP, (0, 0)),
        }
        self.io.now
    }

    fn wake(&mut self, at: Time) {
        self.io.wake(self.identity.me, SubflowId::FIRST, at);
    }

    fn queue_turn(&mut self) {
        self.io.queue_turn(TurnsFor::Data, self.identity.me, false);
    }

    fn random(&mut self) -> f64 {
        self.io.shared.random.random()
    }

    fn measured_rtt(&mut self, rtt: Time) {
        if let Some(rtts) = &mut self.connection.rtts {
            rtts.record((self.identity.flow, SubflowId::FIRST), self.io.now, rtt);
        }
    }
}

impl Out<'_, '_> {
    /// Addresses and sends a packet of data.
    fn send_data(&mut self, mut packet: Packet, psn: u32, opens: bool) -> Time {
        self.connection.address(SubflowId::FIRST, &mut packet, &mut self.io.shared.random);
        packet.flags = packet.flags.with_if(Flags::ECT, self.ect);
        if opens {
            let trailer = self.opening(&mut packet, psn);
            self.io.attach(&mut packet, trailer);
        } else {
            packet.seq = psn;
        }
        match self.telemetry {
            None => {}
            Some(Telemetry::Records) => self.io.ask_for_telemetry(&mut packet),
            Some(Telemetry::Digest(_)) => self.io.ask_for_digest(&mut packet),
        }
        self.io.send_last(packet, None)
    }

    /// The trailer of `packet`, with number `psn`, which may open the connection.
    fn opening(&self, packet: &mut Packet, psn: u32) -> Trailer {
        let (connection, identity) = (&*self.connection, self.identity);
        let mut trailer = Opening::of(connection, identity, SubflowId::FIRST).write(packet);
        trailer[NUMBER] = psn;
        trailer
    }

    /// Addresses and sends an answer to packet `psn`; `next` is missing. In answer to a packet that may
    /// have opened the connection it names the receiver, and says the rest in its trailer.
    fn answer(&mut self, mut packet: Packet, kind: Kind, (psn, next): (u32, u32)) {
        let answers_opening = self.answers.is_some_and(|answered| answered.kind.has(Kind::SYN));
        packet.kind = kind.with_if(Kind::SYN, answers_opening);
        self.connection.address(SubflowId::FIRST, &mut packet, &mut self.io.shared.random);
        if answers_opening {
            packet.ack = self.identity.me.raw();
            let mut trailer = Trailer::default();
            (trailer[PSN], trailer[NEXT]) = (psn, next);
            self.io.attach(&mut packet, trailer);
        } else {
            (packet.seq, packet.ack) = (psn, next);
        }
        if let Some(answered) = &self.answers {
            self.io.tell_telemetry(&mut packet, answered);
        }
        self.io.send(&packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::kinds::name;

    #[test]
    fn packets_have_their_kinds() {
        let kind = |kind| name(&Packet { kind, ..Packet::default() }, Roce::KINDS);
        assert_eq!([Kind::ACK, Kind::ACK | Kind::SYN, Kind::ACK | MARKED].map(kind), ["ACK"; 3]);
        assert_eq!([NACK, NACK | Kind::SYN, NACK | MARKED | Kind::SYN].map(kind), ["NACK"; 3]);
        assert_eq!([CNP, CNP | Kind::SYN].map(kind), ["CNP"; 2]);
    }

    /// A packet is the message that was sent; the trailer has what the fields have not.
    #[test]
    fn packets_are_messages() {
        let mut opening = Trailer::default();
        opening[NUMBER] = 9;
        let mut answer = Trailer::default();
        (answer[PSN], answer[NEXT]) = (3, 4);
        let envelope = Envelope::new(linkpool_network::HostId::new(1), 182, 100);
        let packet = |kind| Packet { seq: 7, ack: 5, kind, envelope, ..Packet::default() };
        let data = |psn, first, last, opens| Message::Data { psn, len: 100, place: 5, first, last, opens };
        let of = |kind, trailer| decode(&packet(kind), trailer);
        assert_eq!(of(Kind::DATA, None), data(7, false, false, false));
        assert_eq!(of(Kind::DATA | FIRST, None), data(7, true, false, false));
        assert_eq!(of(Kind::DATA | LAST, None), data(7, false, true, false));
        assert_eq!(of(Kind::DATA | Kind::SYN, Some(&opening)), data(9, false, false, true));
        for marked in [false, true] {
            let kind = |kind: Kind| kind.with_if(MARKED, marked);
            assert_eq!(of(kind(Kind::ACK), None), Message::Ack { psn: 7, next: 5, marked });
            assert_eq!(of(kind(Kind::ACK | Kind::SYN), Some(&answer)), Message::Ack { psn: 3, next: 4, marked });
            assert_eq!(of(kind(NACK), None), Message::Nack { psn: 7, next: 5, marked });
            assert_eq!(of(kind(NACK | Kind::SYN), Some(&answer)), Message::Nack { psn: 3, next: 4, marked });
        }
        assert_eq!([CNP, CNP | Kind::SYN].map(|kind| of(kind, None)), [Message::Cnp; 2]);
        let named = Packet { ack: Handle::new(6, 3).raw(), ..packet(Kind::ACK | Kind::SYN) };
        assert_eq!(named_receiver(&named), Some(Handle::new(6, 3)));
        assert_eq!([Kind::ACK, Kind::DATA | Kind::SYN].map(|kind| named_receiver(&packet(kind))), [None; 2]);
    }

    /// Data has its PSN and its place; an ACK the PSN that it answers, and the first missing one; in the trailer
    /// where the packet names its sender or its receiver.
    #[test]
    fn packets_say_their_numbers() {
        let said = |kind, trailer| {
            let packet = Packet { seq: 7, ack: 5, kind, ..Packet::default() };
            let Said { seq, ack, ece } = Roce::said(&packet, trailer, 1_000);
            (seq, ack, ece)
        };
        let mut opening = Trailer::default();
        opening[NUMBER] = 9;
        let mut answer = Trailer::default();
        (answer[PSN], answer[NEXT]) = (3, 4);
        assert_eq!(said(Kind::DATA, None), (7, 5, false));
        assert_eq!(said(Kind::DATA | Kind::SYN, Some(&opening)), (9, 5, false));
        assert_eq!(said(Kind::ACK, None), (7, 5, false));
        assert_eq!(said(Kind::ACK | MARKED | Kind::SYN, Some(&answer)), (3, 4, true));
        assert_eq!(said(CNP, None), (7, 5, true));
    }
}
