//! NDP as endpoints of a host: messages become packets, and wake-ups timers. Receivers take turns
//! in their host's pull queue.

use crate::host::connection::{Connection, Identity, Opening, OpeningFor};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending};
use crate::host::handle::Handle;
use crate::host::io::Io;
use crate::host::rtts::RttRecorder;
use crate::plan::PlannedTransport;
use crate::plan::family::ndp::{METRICS, Ndp};
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Envelope, Flags, Packet, Trailer};
use linkpool_transport::ndp::{Message, Output, Receiver, Sender};
use linkpool_transport::paths::PathSelector;
use linkpool_transport::{Metric, SenderState, SubflowId, SubflowStats};
use linkpool_units::Time;
use rand::{Rng, RngCore};

/// A PULL: bits that no other packet has together.
pub(crate) const PULL: Flags = Flags(Flags::ACK.0 | Flags::JOIN.0);

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
pub(crate) fn number(packet: &Packet, trailer: Option<&Trailer>) -> u32 {
    trailer.map_or(packet.seq, |trailer| trailer[NUMBER])
}

impl NdpSender {
    /// A sender of `size` bytes (none: without end), to a host to which `paths` equal-cost paths
    /// lead.
    pub(crate) fn new(
        (transport, settings): (&PlannedTransport, &Ndp),
        (connection, identity): (Connection, Identity),
        size: Option<u64>,
        paths: &dyn Fn() -> u64,
    ) -> NdpSender {
        let sender = Sender::new(settings.config.clone(), size, transport.path_count(paths));
        NdpSender { sender, connection, identity }
    }

    fn event(&self) -> Event {
        if self.sender.state() == SenderState::Open { Event::None } else { Event::Closed }
    }
}

impl Endpoint for NdpSender {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let NdpSender { sender, connection, identity } = self;
        let now = io.now;
        if packet.is_returned() {
            let (number, opened) = (number(packet, io.trailer(packet)), packet.flags.has(Flags::SYN));
            sender.on_returned(number, opened, now, &mut Out { connection, identity, io, answers_opening: false });
            return self.event();
        }
        // The answer to a packet that may have opened the connection names the receiver.
        let mut next = packet.ack;
        if packet.flags.has(Flags::SYN) {
            connection.peer = Handle::split(packet.ack).0;
            next = 0;
        }
        let out = &mut Out { connection, identity, io, answers_opening: false };
        if packet.flags.has(PULL) {
            sender.on_pull(packet.seq, next, now, out);
        } else if packet.flags.has(Flags::TRIMMED) {
            sender.on_nack(packet.seq, next, now, out);
        } else {
            sender.on_ack(packet.seq, next, now, out);
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
        let all: [Metric; METRICS] = [
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
    /// A receiver.
    pub(crate) fn new(
        (_, settings): (&PlannedTransport, &Ndp),
        (connection, identity): (Connection, Identity),
    ) -> NdpReceiver {
        let receiver = Receiver::new(settings.config.clone());
        NdpReceiver { receiver, connection, identity, enrolled: false, openings: 0 }
    }

    /// Takes its place in the pull queue if it owes PULLs.
    fn enrol(&mut self, io: &mut Io<'_>) {
        if self.receiver.owes() && !self.enrolled {
            self.enrolled = true;
            io.queue_turn(self.identity.me, self.receiver.config().priority);
        }
    }
}

impl Endpoint for NdpReceiver {
    fn on_packet(&mut self, _: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let now = io.now;
        let (number, flags) = (number(packet, io.trailer(packet)), packet.flags);
        let (len, last, trimmed) = (packet.payload(), flags.has(Flags::LAST), flags.has(Flags::TRIMMED));
        self.openings += u32::from(flags.has(Flags::SYN));
        let out = &mut Out {
            connection: &mut self.connection,
            identity: &self.identity,
            io,
            answers_opening: flags.has(Flags::SYN),
        };
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
            io.spend_turn(full);
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
        packet.flags = packet.flags.with_if(Flags::PRIORITY, path.is_none() || c.high.covers(SubflowId::FIRST));
        match message {
            Message::Data { number, len, last, opens } => {
                packet.envelope = Envelope::new(c.peer_host, len + c.sizes.header, len);
                packet.ack = identity.host.into();
                packet.flags = packet.flags | Flags::DATA | Flags::TRIMMABLE | Flags::RETURNABLE;
                packet.flags = packet.flags.with_if(Flags::LAST, last).with_if(Flags::SYN, opens);
                if opens {
                    let Identity { flow, host: src, transport, me: peer } = *identity;
                    let to = OpeningFor::Flow(flow);
                    let mut trailer = Opening {
                        src,
                        peer,
                        subflow: SubflowId::FIRST,
                        transport,
                        to,
                        stays_open: false,
                        high: c.high,
                    }
                    .write(&mut packet);
                    trailer[NUMBER] = number;
                    return self.io.send_last(packet, Some(trailer));
                }
                packet.seq = number;
                return self.io.send_last(packet, None);
            }
            Message::Ack { number, next } => self.answer(&mut packet, Flags::ACK, (number, next)),
            Message::Nack { number, next } => self.answer(&mut packet, Flags::ACK | Flags::TRIMMED, (number, next)),
            Message::Pull { count, next } => {
                (packet.seq, packet.ack) = (count, next);
                packet.flags = packet.flags | PULL;
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
    fn answer(&self, packet: &mut Packet, flags: Flags, (number, next): (u32, u32)) {
        packet.flags = packet.flags | flags.with_if(Flags::SYN, self.answers_opening);
        packet.seq = number;
        packet.ack = if self.answers_opening { self.identity.me.raw() } else { next };
    }
}
