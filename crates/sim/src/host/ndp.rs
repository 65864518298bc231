//! NDP as endpoints of a host: messages become packets, and wake-ups timers. Receivers take turns
//! in their host's pull queue.

use crate::host::connection::{Connection, Identity, Opening};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending};
use crate::host::family::{Ends, Outlook};
use crate::host::handle::Handle;
use crate::host::io::{Io, TurnsFor};
use crate::host::kinds::{PacketKind, Role, Said};
use crate::host::rtts::RttRecorder;
use crate::plan::PlannedTransport;
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Envelope, Flags, Kind, Packet, Trailer};
use linkpool_transport::ndp::{Config, Message, Ndp, Output, Receiver, Sender};
use linkpool_transport::paths::PathSelector;
use linkpool_transport::{Metric, SenderState, SubflowId, SubflowStats};
use linkpool_units::Time;
use rand::{Rng, RngCore};
use std::sync::Arc;

/// With data: the last packet.
const LAST: Kind = Kind::OWN_0;
/// An ACK of a header without its payload.
const NACK: Kind = Kind(Kind::ACK.0 | Kind::OWN_0.0);
const PULL: Kind = Kind(Kind::ACK.0 | Kind::OWN_1.0);

impl Ends for Ndp {
    type Sender = NdpSender;
    type Receiver = NdpReceiver;
    /// Each may have `SYN`, too: it answers a packet that may have opened the connection.
    const KINDS: &'static [PacketKind] = &[
        PacketKind::new(PULL, PULL, "PULL", Role::Grant),
        PacketKind::new(NACK, NACK, "NACK", Role::Nack),
        PacketKind::new(Kind::ACK, Kind::ACK, "ACK", Role::Ack),
    ];

    fn sender(
        (transport, config): (&PlannedTransport, &Arc<Config>),
        (connection, identity): (Connection, Identity),
        size: Option<u64>,
        outlook: &Outlook<'_>,
    ) -> NdpSender {
        let sender = Sender::new(config.clone(), size, transport.path_count(outlook.paths));
        NdpSender { sender, connection, identity }
    }

    fn receiver(
        (_, config): (&PlannedTransport, &Arc<Config>),
        (connection, identity): (Connection, Identity),
    ) -> NdpReceiver {
        NdpReceiver { receiver: Receiver::new(config.clone()), connection, identity, enrolled: false, openings: 0 }
    }

    /// Of data: the number of the packet, and its first byte in the stream if all packets before it
    /// are full. Of others: the number of the packet, or of the PULL, and the first packet that has
    /// not arrived; where the name of the receiver stands in place of that, 0.
    fn said(packet: &Packet, trailer: Option<&Trailer>, mss: u16) -> Said {
        let (seq, ack) = match (packet.kind.has(Kind::DATA), packet.kind.has(Kind::SYN)) {
            (true, _) => {
                let number = number(packet, trailer);
                (number, number.wrapping_mul(mss.into()))
            }
            (false, true) => (packet.seq, 0),
            (false, false) => (packet.seq, packet.ack),
        };
        Said { seq, ack, ece: false }
    }
}

/// A sender. It knows the paths to its receiver by number; the connection's path selector
/// translates them for packets.
#[derive(Debug)]
pub(crate) struct NdpSender {
    sender: Sender,
    connection: Connection,
    identity: Identity,
}

/// A receiver.
#[derive(Debug)]
pub(crate) struct NdpReceiver {
    receiver: Receiver,
    connection: Connection,
    identity: Identity,
    /// Is it in the pull queue of its host?
    enrolled: bool,
    /// Packets that have come, whole or not, and could have opened the connection.
    openings: u32,
}

/// In the trailer of a packet that may open a connection: the number of the packet.
const NUMBER: usize = Opening::WORDS;

/// The number of the data packet `packet`, which came with `trailer`.
fn number(packet: &Packet, trailer: Option<&Trailer>) -> u32 {
    trailer.map_or(packet.seq, |trailer| trailer[NUMBER])
}

impl NdpSender {
    fn event(&self) -> Event {
        if self.sender.state() == SenderState::Open { Event::None } else { Event::Closed }
    }
}

impl Endpoint for NdpSender {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let NdpSender { sender, connection, identity } = self;
        let now = io.now;
        if packet.is_returned() {
            let (number, opened) = (number(packet, io.trailer(packet)), packet.kind.has(Kind::SYN));
            sender.on_returned(number, opened, now, &mut Out { connection, identity, io, answers_opening: false });
            return self.event();
        }
        // The answer to a packet that may have opened the connection names the receiver.
        let mut next = packet.ack;
        if packet.kind.has(Kind::SYN) {
            connection.peer = Handle::split(packet.ack).0;
            next = 0;
        }
        let out = &mut Out { connection, identity, io, answers_opening: false };
        match packet.kind.without(Kind::SYN) {
            PULL => sender.on_pull(packet.seq, next, now, out),
            NACK => sender.on_nack(packet.seq, next, now, out),
            _ => sender.on_ack(packet.seq, next, now, out),
        }
        self.event()
    }

    fn on_timer(&mut self, _: SubflowId, io: &mut Io<'_>) -> Event {
        let now = io.now;
        self.sender.on_timer(
            now,
            &mut Out { connection: &mut self.connection, identity: &self.identity, io, answers_opening: false },
        );
        self.event()
    }
}

impl Sending for NdpSender {
    fn open(&mut self, io: &mut Io<'_>) {
        let now = io.now;
        self.sender.open(
            now,
            &mut Out { connection: &mut self.connection, identity: &self.identity, io, answers_opening: false },
        );
    }

    fn stop(&mut self, io: &mut Io<'_>) -> Event {
        self.sender.stop(io.now);
        self.event()
    }

    /// There is no FIN, as the paper has none.
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

    fn acked_on(&self, _: SubflowId) -> u64 {
        self.sender.acked()
    }

    /// All paths together; the window is the data in flight.
    fn subflow(&self, _: SubflowId) -> SubflowOutcome {
        let (sender, path, counters) =
            (&self.sender, self.connection.paths.fixed(SubflowId::FIRST), self.sender.counters());
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
            cwnd: sender.in_flight().into(),
            ssthresh: f64::INFINITY,
            srtt: sender.srtt().map(|ps| ps / 1e12),
            min_rtt: sender.min_rtt(),
            rto: sender.rto(),
        }
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        let counters = self.sender.counters();
        let all = [
            Metric::count("nacks", counters.nacks),
            Metric::count("returned", counters.returned),
            Metric::count("pulls", counters.pulls),
        ];
        all.into_iter().for_each(report);
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

impl NdpReceiver {
    /// Takes its place in the pull queue if it owes PULLs.
    fn enrol(&mut self, io: &mut Io<'_>) {
        if self.receiver.owes() && !self.enrolled {
            self.enrolled = true;
            io.queue_turn(TurnsFor::Grants, self.identity.me, self.receiver.config().priority);
        }
    }
}

impl Endpoint for NdpReceiver {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let now = io.now;
        let (number, opens) = (number(packet, io.trailer(packet)), packet.kind.has(Kind::SYN));
        let (len, last, trimmed) = (packet.payload(), packet.kind.has(LAST), packet.flags.has(Flags::TRIMMED));
        self.openings += u32::from(opens);
        let out = &mut Out { connection: &mut self.connection, identity: &self.identity, io, answers_opening: opens };
        let complete = self.receiver.on_data(number, (len, last), trimmed, now, out);
        self.enrol(io);
        if complete { Event::Delivered } else { Event::None }
    }

    /// Sends a PULL, which takes the time of a full packet on the host's links.
    fn on_turn(&mut self, io: &mut Io<'_>) -> Event {
        self.enrolled = false;
        let now = io.now;
        let out = &mut Out { connection: &mut self.connection, identity: &self.identity, io, answers_opening: false };
        if self.receiver.pull(now, out) {
            let full = self.receiver.config().mss + self.connection.sizes.header;
            io.spend_turn(TurnsFor::Grants, full.into());
        }
        self.enrol(io);
        Event::None
    }

    fn on_timer(&mut self, _: SubflowId, io: &mut Io<'_>) -> Event {
        let now = io.now;
        let out = &mut Out { connection: &mut self.connection, identity: &self.identity, io, answers_opening: false };
        self.receiver.on_timer(now, out);
        self.enrol(io);
        Event::None
    }
}

impl Receiving for NdpReceiver {
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
    /// Does it answer a packet that may have opened the connection?
    answers_opening: bool,
}

impl Output for Out<'_, '_> {
    fn send(&mut self, message: Message, path: Option<usize>) -> Time {
        let (c, identity) = (&*self.connection, self.identity);
        let envelope = Envelope::new(c.peer_host, c.sizes.ack, 0);
        let mut packet = Packet { envelope, endpoint: c.peer.raw(), ..Packet::default() };
        match path {
            Some(path) => {
                let path = c.paths.fixed(SubflowId::new(path));
                packet.entropy = path.entropy;
                packet.flags = packet.flags.with_if(Flags::PINNED, path.pinned);
            }
            // Control packets take any path (section 3.1.1 of the paper).
            None => packet.entropy = self.io.shared.random.next_u32(),
        }
        packet.flags = packet.flags.with_if(Flags::PRIORITY, path.is_none());
        match message {
            Message::Data { number, len, last, opens } => {
                packet.envelope = Envelope::new(c.peer_host, len + c.sizes.header, len);
                packet.ack = identity.host.into();
                packet.flags = packet.flags | Flags::TRIMMABLE | Flags::RETURNABLE;
                packet.kind = Kind::DATA.with_if(LAST, last).with_if(Kind::SYN, opens);
                c.prioritise(SubflowId::FIRST, &mut packet);
                if opens {
                    let mut trailer = Opening::of(c, identity, SubflowId::FIRST).write(&mut packet);
                    trailer[NUMBER] = number;
                    return self.io.send_last(packet, Some(trailer));
                }
                packet.seq = number;
                return self.io.send_last(packet, None);
            }
            Message::Ack { number, next } => self.answer(&mut packet, Kind::ACK, (number, next)),
            Message::Nack { number, next } => self.answer(&mut packet, NACK, (number, next)),
            Message::Pull { count, next } => {
                (packet.seq, packet.ack, packet.kind) = (count, next, PULL);
            }
        }
        self.io.send(&packet);
        self.io.now
    }

    fn wake(&mut self, at: Time) {
        self.io.wake(self.identity.me, SubflowId::FIRST, at);
    }

    fn measured_rtt(&mut self, rtt: Time) {
        if let Some(rtts) = &mut self.connection.rtts {
            rtts.record((self.identity.flow, SubflowId::FIRST), self.io.now, rtt);
        }
    }

    fn random(&mut self, n: usize) -> usize {
        self.io.shared.random.random_range(0..n)
    }
}

impl Out<'_, '_> {
    /// Writes an ACK or a NACK of packet `number`; in answer to a packet that may have opened the
    /// connection, the receiver's name in place of the cumulative ACK.
    fn answer(&self, packet: &mut Packet, kind: Kind, (number, next): (u32, u32)) {
        packet.kind = kind.with_if(Kind::SYN, self.answers_opening);
        packet.seq = number;
        packet.ack = if self.answers_opening { self.identity.me.raw() } else { next };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::kinds::name;
    use linkpool_units::HostId;

    /// Data has the number of the packet and its place in the stream, from the trailer if it may open
    /// the connection; an ACK that names the receiver acknowledges nothing in order.
    #[test]
    fn packets_say_their_numbers() {
        let mut trailer = Trailer::default();
        trailer[NUMBER] = 9;
        let said = |kind, trailer| {
            let envelope = Envelope::new(HostId::new(3), 1_064, 1_000);
            let packet = Packet { seq: 7, ack: 5, envelope, kind, ..Packet::default() };
            let Said { seq, ack, ece } = Ndp::said(&packet, trailer, 1_000);
            assert!(!ece);
            (seq, ack)
        };
        assert_eq!(said(Kind::DATA, None), (7, 7_000));
        assert_eq!(said(Kind::DATA | LAST, None), (7, 7_000));
        assert_eq!(said(Kind::DATA | Kind::SYN, Some(&trailer)), (9, 9_000));
        assert_eq!(said(Kind::ACK, None), (7, 5));
        assert_eq!(said(NACK | Kind::SYN, None), (7, 0));
    }

    #[test]
    fn packets_have_their_kinds() {
        let kind = |kind| name(&Packet { kind, ..Packet::default() }, Ndp::KINDS);
        assert_eq!([Kind::ACK, Kind::ACK | Kind::SYN].map(kind), ["ACK"; 2]);
        assert_eq!([NACK, NACK | Kind::SYN].map(kind), ["NACK"; 2]);
        assert_eq!(kind(PULL), "PULL");
    }
}
