//! TCP and MPTCP as endpoints of a host: segments become packets, and wake-ups timers.

use crate::host::connection::{Connection, Identity, Opening, OpeningFor};
use crate::host::encoding::{
    ECE, KINDS, bare_ack, data, data_ack, decode, encode, encode_options, is_bare_ack, is_data,
};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending};
use crate::host::family::{Ends, Outlook};
use crate::host::handle::Handle;
use crate::host::io::Io;
use crate::host::kinds::{PacketKind, Said};
use crate::host::rtts::RttRecorder;
use crate::plan::PlannedTransport;
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Flags, Kind, Packet, Trailer};
use linkpool_transport::control::HookError;
use linkpool_transport::paths::{PathSelector, Progress, Subflows};
use linkpool_transport::tcp::Tcp;
use linkpool_transport::{
    Delivery, DupackThreshold, Metric, Output, Receiver, Segment, Sender, SenderState, SubflowId,
};
use linkpool_units::Time;

/// A sender. The fields that an ACK reads or writes come first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct TcpSender {
    connection: Connection,
    sender: Sender,
    identity: Identity,
}

/// A receiver. The fields that a packet with data reads or writes come first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct TcpReceiver {
    connection: Connection,
    receiver: Receiver,
    identity: Identity,
}

impl Ends for Tcp {
    type Sender = TcpSender;
    type Receiver = TcpReceiver;
    const KINDS: &'static [PacketKind] = KINDS;

    fn sender(
        (transport, ()): (&PlannedTransport, &()),
        end: (Connection, Identity),
        size: Option<u64>,
        outlook: &Outlook<'_>,
    ) -> TcpSender {
        TcpSender::new(transport, end, size, outlook.paths)
    }

    fn receiver((transport, ()): (&PlannedTransport, &()), end: (Connection, Identity)) -> TcpReceiver {
        TcpReceiver::new(transport, end)
    }

    /// Of an ACK: the next byte that is expected of the connection's stream, and of the subflow.
    fn said(packet: &Packet, trailer: Option<&Trailer>, _: u16) -> Said {
        let seq = match trailer {
            None => packet.seq,
            // In the packet stands the place of its trailer.
            Some(_) if packet.kind.has(Kind::SYN) => 0,
            Some(trailer) => data_ack(trailer).0,
        };
        Said { seq, ack: packet.ack, ece: packet.kind.has(ECE) }
    }
}

impl TcpSender {
    /// A sender of `transport`, to a host to which `paths` equal-cost paths lead.
    fn new(
        transport: &PlannedTransport,
        (connection, identity): (Connection, Identity),
        size: Option<u64>,
        paths: &dyn Fn() -> u64,
    ) -> TcpSender {
        let config = transport.config.clone();
        let mut sender = if transport.auto_subflows {
            // The paths are not for subflow 0 of MMPTCP.
            let before = transport.scatter == Subflows::First;
            let most = config.subflows - before as usize;
            Sender::with_subflows(config, paths().min(most as u64) as usize + before as usize, size)
        } else {
            Sender::new(config, size)
        };
        if transport.config.dupack_threshold == DupackThreshold::Auto {
            sender.expect_reordering(dupack_threshold(paths()));
        }
        if connection.stays_open {
            sender.keep_open();
        }
        TcpSender { connection, sender, identity }
    }

    #[inline]
    fn event(&self) -> Event {
        match self.sender.state() {
            SenderState::Open if self.connection.stays_open => Event::Progress,
            SenderState::Open => Event::None,
            _ => Event::Closed,
        }
    }
}

/// Duplicate ACKs that mean a loss, for packets scattered over `paths` paths (MMPTCP paper, section
/// 2.4): 3, and one more for each path if there is more than one. In a fat-tree these are the
/// aggregation switches of a pod, or the core switches.
fn dupack_threshold(paths: u64) -> u32 {
    let more = if paths == 1 { 0 } else { paths };
    u32::try_from(more).unwrap_or(u32::MAX).saturating_add(3)
}

fn progress(sender: &Sender, s: SubflowId) -> Progress {
    let state = sender.congestion(s);
    Progress {
        acked_bytes: sender.acked_on(s),
        snd_una: state.snd_una,
        snd_nxt: state.snd_nxt,
        in_flight: sender.in_flight(s),
    }
}

impl Endpoint for TcpSender {
    #[inline]
    fn on_packet(&mut self, subflow: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let TcpSender { connection, sender, identity } = self;
        let (marked, now) = (packet.kind.has(ECE), io.now);
        connection.paths.before_ack(subflow, packet.entropy, marked, || sender.congestion(subflow).cwnd, now);
        if is_bare_ack(packet) {
            let (ack, data_ack) = bare_ack(packet);
            sender.on_bare_ack(subflow, (ack, data_ack, marked), now, &mut Out { connection, identity, io });
        } else {
            if packet.kind.has(Kind::SYN | Kind::ACK) {
                connection.peer = Handle::split(packet.seq).0;
            }
            let segment = decode(packet, io.trailer(packet));
            sender.on_segment(subflow, segment, now, &mut Out { connection, identity, io });
        }
        connection.paths.after_ack(subflow, marked, || progress(sender, subflow), &mut io.shared.random, now);
        self.event()
    }

    fn on_timer(&mut self, subflow: SubflowId, io: &mut Io<'_>) -> Event {
        self.sender.on_timer(
            subflow,
            io.now,
            &mut Out { connection: &mut self.connection, identity: &self.identity, io },
        );
        self.event()
    }

    #[inline]
    fn prefetch(&self, subflow: SubflowId, kind: Kind, stage: usize) {
        self.sender.prefetch(subflow, kind.has(ECE), stage);
    }
}

impl Sending for TcpSender {
    fn open(&mut self, io: &mut Io<'_>) {
        self.sender.open(io.now, &mut Out { connection: &mut self.connection, identity: &self.identity, io });
    }

    fn extend(&mut self, size: u64, io: &mut Io<'_>) {
        self.sender.extend(size, io.now, &mut Out { connection: &mut self.connection, identity: &self.identity, io });
    }

    fn stop(&mut self, io: &mut Io<'_>) -> Event {
        self.sender.stop(io.now, &mut Out { connection: &mut self.connection, identity: &self.identity, io });
        self.event()
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

    fn offered(&self) -> Option<u64> {
        Some(self.sender.offered()).filter(|end| *end < u64::MAX)
    }

    fn subflows(&self) -> usize {
        self.sender.subflows()
    }

    fn acked_on(&self, s: SubflowId) -> u64 {
        self.sender.acked_on(s)
    }

    fn subflow(&self, s: SubflowId) -> SubflowOutcome {
        let (sender, id, state) = (&self.sender, self.connection.paths.fixed(s), self.sender.congestion(s));
        SubflowOutcome {
            entropy: id.entropy,
            pinned: id.pinned,
            stats: sender.stats(s),
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
            srtt: (state.srtt > 0.0).then_some(state.srtt / 1e12),
            min_rtt: sender.min_rtt(s),
            rto: sender.rto(s),
        }
    }

    fn is_established(&self, s: SubflowId) -> bool {
        self.sender.congestion(s).established
    }

    fn is_suppressed(&self, s: SubflowId) -> bool {
        self.sender.is_suppressed(s)
    }

    fn is_paced(&self, s: SubflowId) -> bool {
        self.sender.is_paced(s)
    }

    fn is_recovering(&self, s: SubflowId) -> bool {
        self.sender.congestion(s).in_recovery
    }

    fn metrics(&self, report: &mut dyn FnMut(Metric)) {
        self.sender.metrics(report);
    }

    fn hook_error(&self) -> Option<&HookError> {
        self.sender.hook_error()
    }

    fn know_hops(&mut self, hops: &[u32]) {
        self.sender.know_hops(hops);
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

impl TcpReceiver {
    /// A receiver of `transport`.
    fn new(transport: &PlannedTransport, (connection, identity): (Connection, Identity)) -> TcpReceiver {
        TcpReceiver { connection, receiver: Receiver::new(transport.config.clone()), identity }
    }
}

impl Endpoint for TcpReceiver {
    #[inline]
    fn on_packet(&mut self, subflow: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
        let TcpReceiver { connection, receiver, identity } = self;
        connection.paths.on_arrival(packet.entropy);
        let (ce, now) = (packet.flags.has(Flags::CE), io.now);
        let delivery = if is_data(packet) {
            let (place, (cwr, push)) = data(packet);
            receiver.on_data(subflow, place, (ce, cwr, push), now, &mut Out { connection, identity, io })
        } else {
            let segment = decode(packet, io.trailer(packet));
            receiver.on_segment(subflow, segment, ce, now, &mut Out { connection, identity, io })
        };
        match delivery {
            Delivery::None | Delivery::Complete if connection.stays_open => Event::Progress,
            Delivery::None => Event::None,
            Delivery::Complete => Event::Delivered,
            Delivery::Closed => Event::Closed,
        }
    }

    fn on_timer(&mut self, subflow: SubflowId, io: &mut Io<'_>) -> Event {
        self.receiver.on_timer(
            subflow,
            io.now,
            &mut Out { connection: &mut self.connection, identity: &self.identity, io },
        );
        Event::None
    }

    #[inline]
    fn prefetch(&self, subflow: SubflowId, _kind: Kind, stage: usize) {
        self.receiver.prefetch(subflow, stage);
    }
}

impl Receiving for TcpReceiver {
    fn last_heard(&self) -> Time {
        self.receiver.last_heard()
    }

    fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }
}

/// Turns the segments of one endpoint into packets at one instant.
#[derive(Debug)]
struct Out<'a, 'i> {
    connection: &'a mut Connection,
    identity: &'a Identity,
    io: &'a mut Io<'i>,
}

impl Out<'_, '_> {
    /// Addresses `packet` and sends it.
    #[inline(never)]
    fn send_packet(&mut self, subflow: SubflowId, mut packet: Packet) {
        self.connection.address(subflow, &mut packet, &mut self.io.shared.random);
        self.io.send(&packet);
    }

    /// Addresses `packet`, of a segment that says more than its header has room for, and sends it.
    #[inline(never)]
    fn send_with_more(&mut self, subflow: SubflowId, segment: &Segment, mut packet: Packet) {
        let (connection, identity) = (&mut *self.connection, self.identity);
        connection.address(subflow, &mut packet, &mut self.io.shared.random);
        match segment {
            // A SYN says where to answer; a first one whose it is, a joining one where it belongs.
            Segment::Syn { join, .. } => {
                let mut opening = Opening::of(connection, identity, subflow);
                if *join {
                    opening.to = OpeningFor::Join(connection.peer);
                }
                let trailer = opening.write(&mut packet);
                return self.io.send_with(packet, trailer);
            }
            Segment::SynAck { .. } => packet.seq = identity.me.raw(),
            Segment::Ack { data_ack, options: Some(options), .. } => {
                let (bytes, trailer) = encode_options(*data_ack, options);
                packet.envelope = packet.envelope.with_size(packet.size() + bytes);
                return self.io.send_with(packet, trailer);
            }
            _ => {}
        }
        self.io.send(&packet);
    }
}

impl Output for Out<'_, '_> {
    /// Inlined, so that only the code for the kind of segment is left wherever one is sent.
    #[inline(always)]
    fn send(&mut self, subflow: SubflowId, segment: Segment) {
        let mut packet = encode(segment, self.connection.sizes);
        match segment {
            Segment::Data { .. } => {
                packet.flags = packet.flags.with_if(Flags::TRIMMABLE, self.connection.trimming);
                self.send_packet(subflow, packet);
            }
            Segment::Syn { .. } | Segment::SynAck { .. } | Segment::Ack { options: Some(_), .. } => {
                self.send_with_more(subflow, &segment, packet);
            }
            _ => self.send_packet(subflow, packet),
        }
    }

    fn wake(&mut self, subflow: SubflowId, at: Time) {
        self.io.wake(self.identity.me, subflow, at);
    }

    fn timed_out(&mut self, subflow: SubflowId) {
        self.connection.paths.on_timeout(subflow, &mut self.io.shared.random, self.io.now);
    }

    #[inline]
    fn measured_rtt(&mut self, subflow: SubflowId, rtt: Time) {
        if let Some(rtts) = &mut self.connection.rtts {
            rtts.record((self.identity.flow, subflow), self.io.now, rtt);
        }
    }

    fn jitter(&mut self, most: Time) -> Time {
        linkpool_workload::jitter(most, &mut self.io.shared.random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_of_a_fat_tree_with_k_8() {
        // In a rack, in a pod with 4 aggregation switches, over 16 core switches.
        assert_eq!([1, 4, 16].map(dupack_threshold), [3, 7, 19]);
        assert_eq!(dupack_threshold(u64::MAX), u32::MAX);
    }
}
