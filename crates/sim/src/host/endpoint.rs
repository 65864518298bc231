//! Endpoints of connections, and how what they say gets onto the network.

use crate::host::balancer::Balancer;
use crate::host::wire::{Handle, WireSizes, encode, encode_options};
use crate::plan::PlannedFlow;
use crate::plan::paths::PathChoice;
use crate::plan::transports::Scatter;
use crate::record::period::InPeriod;
use crate::record::rtts::RttRecorder;
use crate::start::placement::Scanned;
use linkpool_engine::{Stream, Timers};
use linkpool_network::{Egress, Flags};
use linkpool_transport::{Output, Receiver, Segment, Sender};
use linkpool_units::Time;
use rand::RngCore;

/// Whom an endpoint talks to, and how.
#[derive(Debug)]
pub(crate) struct Address {
    /// Its number in the results: tells its connection from all others, while handles come round.
    pub(crate) flow: u32,
    pub(crate) host: u16,
    pub(crate) peer_host: u16,
    pub(crate) me: Handle,
    /// Unknown (default) at the sender before the first SYN-ACK.
    pub(crate) peer: Handle,
    pub(crate) transport: u16,
    pub(crate) sizes: WireSizes,
    pub(crate) path: PathChoice,
    /// Whose data packets take random paths instead.
    pub(crate) scatter: Scatter,
    /// Whose packets are of high priority.
    pub(crate) high: Scatter,
    /// Of a sender that chooses paths by its ACKs.
    pub(crate) balancer: Option<Box<Balancer>>,
    /// Of a sender whose RTTs are recorded.
    pub(crate) rtts: Option<Box<RttRecorder>>,
    /// Of a receiver: its ACKs take the entropy of what they acknowledge.
    pub(crate) echoes: bool,
}

/// What stands in a slot of a host.
#[derive(Debug)]
pub(crate) enum Endpoint {
    Free,
    Sender(Box<SendingEnd>),
    Receiver(Box<ReceivingEnd>),
}

/// What an ACK reads or writes comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SendingEnd {
    pub(crate) sender: Sender,
    pub(crate) address: Address,
    /// What it was asked to carry.
    pub(crate) planned: PlannedFlow,
    /// If its rate is sampled.
    pub(crate) sampled: Option<Sampled>,
    /// What it carries in the measured period.
    pub(crate) period: InPeriod,
    /// If its flow may be placed.
    pub(crate) scanned: Option<Box<Scanned>>,
}

/// A flow when its rate was last sampled.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) at: Time,
    /// Payload acknowledged on each subflow.
    pub(crate) acked: Box<[u64]>,
}

impl Sampled {
    pub(crate) fn new(subflows: usize) -> Sampled {
        Sampled { at: Time::ZERO, acked: vec![0; subflows].into() }
    }
}

#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct ReceivingEnd {
    pub(crate) receiver: Receiver,
    pub(crate) address: Address,
}

/// Timer keys of a node: what is due in the upper half, for whom in the lower.
pub(crate) mod key {
    pub(crate) const ENDPOINT: u64 = 0;
    pub(crate) const FEED: u64 = 1 << 32;
    pub(crate) const STOP: u64 = 2 << 32;
    pub(crate) const SAMPLE_QUEUE: u64 = 3 << 32;
    pub(crate) const SAMPLE_CWND: u64 = 4 << 32;
    pub(crate) const SAMPLE_RATE: u64 = 5 << 32;
    pub(crate) const AGENDA: u64 = 6 << 32;
    pub(crate) const SAMPLE_COUNTERS: u64 = 7 << 32;
    pub(crate) const PERIOD: u64 = 8 << 32;
    pub(crate) const KIND: u64 = !0 << 32;
}

/// Turns segments into packets and wakes into timers, for one endpoint at one instant.
#[derive(Debug)]
pub(crate) struct Out<'a, 'n> {
    pub(crate) address: &'a mut Address,
    pub(crate) now: Time,
    pub(crate) network: &'a mut Egress<'n>,
    pub(crate) timers: &'a mut Timers,
    pub(crate) random: &'a mut Stream,
}

impl Output for Out<'_, '_> {
    #[inline]
    fn send(&mut self, subflow: usize, segment: Segment) {
        let a = &mut *self.address;
        let mut packet = encode(segment, a.sizes);
        packet.dst = a.peer_host;
        packet.endpoint = a.peer.of_subflow(subflow);
        packet.flags = packet.flags.with_if(Flags::PRIORITY, a.high.covers(subflow));
        if a.scatter.covers(subflow) && packet.flags.has(Flags::DATA) {
            packet.entropy = self.random.next_u32();
        } else {
            a.path.apply(subflow, &mut packet);
            if let Some(balancer) = &mut a.balancer {
                balancer.apply(subflow, &mut packet, self.random);
            }
        }
        match segment {
            // A SYN says where to answer; a first one whose it is, a joining one where it belongs.
            Segment::Syn { join, .. } => {
                packet.endpoint = a.me.of_subflow(subflow);
                packet.seq = a.host as u32 | (a.transport as u32) << 16;
                packet.ack = if join { a.peer.raw() } else { a.flow };
            }
            Segment::SynAck { .. } => packet.seq = a.me.raw(),
            Segment::Ack { data_ack, options: Some(options), .. } => {
                let (bytes, trailer) = encode_options(data_ack, &options);
                packet.size += bytes;
                return self.network.send_with(self.now, packet, trailer);
            }
            _ => {}
        }
        self.network.send(self.now, packet);
    }

    fn wake(&mut self, subflow: usize, at: Time) {
        self.timers.push(at, key::ENDPOINT | self.address.me.of_subflow(subflow) as u64);
    }

    fn timed_out(&mut self, subflow: usize) {
        if let Some(balancer) = &mut self.address.balancer {
            balancer.on_timeout(subflow, self.random, self.now);
        }
    }

    #[inline]
    fn measured_rtt(&mut self, subflow: usize, rtt: Time) {
        if let Some(rtts) = &mut self.address.rtts {
            rtts.record((self.address.flow, subflow), self.now, rtt);
        }
    }

    fn jitter(&mut self, most: Time) -> Time {
        linkpool_workload::jitter(most, self.random)
    }
}
