//! What a run needs of a family of transports beside its declaration, and dispatch to the families.
//!
//! The list of families is `families!` of `linkpool_transport`.

use crate::host::connection::{Connection, Identity};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending, WaitsOn};
use crate::host::io::Io;
use crate::host::kinds::{PacketKind, Role, Said};
use crate::host::rtts::RttRecorder;
use crate::plan::PlannedTransport;
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Kind, Packet, Trailer};
use linkpool_transport::control::HookError;
use linkpool_transport::paths::PathSelector;
use linkpool_transport::{Declare, Family, FamilyConfig, Metric, SenderState, SubflowId};
use linkpool_units::{Rate, Time};

/// What a sender may ask of the way to its receiver when it is made.
pub(crate) struct Outlook<'a> {
    /// The number of equal-cost paths.
    pub(crate) paths: &'a dyn Fn() -> u64,
    /// The rate of the first link, and the time that a full packet and its ACK take on the idle path.
    pub(crate) idle: &'a dyn Fn() -> (Rate, Time),
}

/// The two ends of a family's connections, and its packets.
pub(crate) trait Ends: Declare {
    /// The end that has data to send.
    type Sender: Sending;
    /// The end that receives data.
    type Receiver: Receiving;
    /// Its kinds of packets without data. The first that fits a packet names it.
    const KINDS: &'static [PacketKind];

    /// A sender of `transport`, whose own config is the second value, with `size` bytes (none:
    /// without end).
    fn sender(
        transport: (&PlannedTransport, &Self::Config),
        end: (Connection, Identity),
        size: Option<u64>,
        outlook: &Outlook<'_>,
    ) -> Self::Sender;

    /// A receiver of `transport`.
    fn receiver(transport: (&PlannedTransport, &Self::Config), end: (Connection, Identity)) -> Self::Receiver;

    /// What `packet` says with its `trailer`; full packets have `mss` bytes of payload.
    fn said(packet: &Packet, trailer: Option<&Trailer>, mss: u16) -> Said;
}

macro_rules! endpoint {
    ($name:ident: $($family:ident($module:ident)),*) => {
        // The family is in the first line, with what each packet reads.
        #[derive(Debug)]
        #[repr(u8)]
        pub(crate) enum $name { $($family(<linkpool_transport::$module::$family as Ends>::$name)),* }

        impl Endpoint for $name {
            #[inline]
            fn on_packet(&mut self, subflow: SubflowId, packet: &Packet, io: &mut Io<'_>) -> Event {
                match self { $($name::$family(end) => end.on_packet(subflow, packet, io)),* }
            }
            #[inline]
            fn on_timer(&mut self, subflow: SubflowId, io: &mut Io<'_>) -> Event {
                match self { $($name::$family(end) => end.on_timer(subflow, io)),* }
            }
            fn on_turn(&mut self, io: &mut Io<'_>) -> Event {
                match self { $($name::$family(end) => end.on_turn(io)),* }
            }
            #[inline]
            fn prefetch(&self, subflow: SubflowId, kind: Kind, stage: usize) {
                match self { $($name::$family(end) => end.prefetch(subflow, kind, stage)),* }
            }
        }
    };
}

macro_rules! ends {
    ($($family:ident: $module:ident,)*) => {
        endpoint! { Sender: $($family($module)),* }
        endpoint! { Receiver: $($family($module)),* }

        /// The kinds of packets without data of `family`.
        pub(crate) fn kinds(family: Family) -> &'static [PacketKind] {
            match family { $(Family::$family => <linkpool_transport::$module::$family as Ends>::KINDS),* }
        }

        /// [`Ends::said`] of `family`.
        pub(crate) fn said(family: Family, packet: &Packet, trailer: Option<&Trailer>, mss: u16) -> Said {
            match family {
                $(Family::$family => <linkpool_transport::$module::$family as Ends>::said(packet, trailer, mss)),*
            }
        }

        impl Sender {
            /// A sender of `transport` with `size` bytes (none: without end).
            pub(crate) fn new(
                transport: &PlannedTransport,
                end: (Connection, Identity),
                size: Option<u64>,
                outlook: &Outlook<'_>,
            ) -> Sender {
                match &transport.family {
                    $(FamilyConfig::$family(config) => Sender::$family(
                        <linkpool_transport::$module::$family as Ends>::sender((transport, config), end, size, outlook),
                    )),*
                }
            }
        }

        impl Receiver {
            /// A receiver of `transport`.
            pub(crate) fn new(transport: &PlannedTransport, end: (Connection, Identity)) -> Receiver {
                match &transport.family {
                    $(FamilyConfig::$family(config) => Receiver::$family(
                        <linkpool_transport::$module::$family as Ends>::receiver((transport, config), end),
                    )),*
                }
            }
        }

        impl Sending for Sender {
            fn open(&mut self, io: &mut Io<'_>) {
                match self { $(Sender::$family(end) => end.open(io)),* }
            }
            fn extend(&mut self, size: u64, io: &mut Io<'_>) {
                match self { $(Sender::$family(end) => end.extend(size, io)),* }
            }
            fn stop(&mut self, io: &mut Io<'_>) -> Event {
                match self { $(Sender::$family(end) => end.stop(io)),* }
            }
            fn know_hops(&mut self, hops: &[u32]) {
                match self { $(Sender::$family(end) => end.know_hops(hops)),* }
            }
            fn state(&self) -> SenderState {
                match self { $(Sender::$family(end) => end.state()),* }
            }
            fn started(&self) -> Time {
                match self { $(Sender::$family(end) => end.started()),* }
            }
            fn ended(&self) -> Option<Time> {
                match self { $(Sender::$family(end) => end.ended()),* }
            }
            fn acked(&self) -> u64 {
                match self { $(Sender::$family(end) => end.acked()),* }
            }
            fn offered(&self) -> Option<u64> {
                match self { $(Sender::$family(end) => end.offered()),* }
            }
            fn subflows(&self) -> usize {
                match self { $(Sender::$family(end) => end.subflows()),* }
            }
            fn acked_on(&self, s: SubflowId) -> u64 {
                match self { $(Sender::$family(end) => end.acked_on(s)),* }
            }
            fn subflow(&self, s: SubflowId) -> SubflowOutcome {
                match self { $(Sender::$family(end) => end.subflow(s)),* }
            }
            fn is_established(&self, s: SubflowId) -> bool {
                match self { $(Sender::$family(end) => end.is_established(s)),* }
            }
            fn is_suppressed(&self, s: SubflowId) -> bool {
                match self { $(Sender::$family(end) => end.is_suppressed(s)),* }
            }
            fn is_paced(&self, s: SubflowId) -> bool {
                match self { $(Sender::$family(end) => end.is_paced(s)),* }
            }
            fn is_recovering(&self, s: SubflowId) -> bool {
                match self { $(Sender::$family(end) => end.is_recovering(s)),* }
            }
            fn waits(&self) -> Option<WaitsOn> {
                match self { $(Sender::$family(end) => end.waits()),* }
            }
            fn metrics(&self, report: &mut dyn FnMut(Metric)) {
                match self { $(Sender::$family(end) => end.metrics(report)),* }
            }
            fn hook_error(&self) -> Option<&HookError> {
                match self { $(Sender::$family(end) => end.hook_error()),* }
            }
            fn connection(&self) -> &Connection {
                match self { $(Sender::$family(end) => end.connection()),* }
            }
            fn openings(&self) -> Option<u32> {
                match self { $(Sender::$family(end) => end.openings()),* }
            }
            fn take_paths(&mut self, paths: PathSelector) {
                match self { $(Sender::$family(end) => end.take_paths(paths)),* }
            }
            fn record_rtts(&mut self, recorder: Box<RttRecorder>) {
                match self { $(Sender::$family(end) => end.record_rtts(recorder)),* }
            }
        }

        impl Receiving for Receiver {
            fn last_heard(&self) -> Time {
                match self { $(Receiver::$family(end) => end.last_heard()),* }
            }
            fn delivered(&self) -> u64 {
                match self { $(Receiver::$family(end) => end.delivered()),* }
            }
            fn openings(&self) -> u32 {
                match self { $(Receiver::$family(end) => end.openings()),* }
            }
        }
    };
}

linkpool_transport::families!(ends);

/// The kinds of packets without data of all families, as traces name them, and what each is for.
pub fn packet_kinds() -> Vec<(&'static str, Role)> {
    Family::ALL.iter().flat_map(|family| kinds(*family)).map(|kind| (kind.name, kind.role)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::kinds::WITH_DATA;
    use std::collections::HashMap;

    /// Each name of a packet has one role in all families, none of them is that of a packet with data,
    /// and each kind can be met: no kind before it takes all of its packets.
    #[test]
    fn kinds_of_packets_are_distinct() {
        let mut roles = HashMap::new();
        for family in Family::ALL {
            let kinds = kinds(*family);
            for (place, kind) in kinds.iter().enumerate() {
                assert_eq!(*roles.entry(kind.name).or_insert(kind.role), kind.role, "{}", kind.name);
                assert!(!WITH_DATA.contains(&kind.name));
                assert!(kind.among.has(kind.bits), "{} is known by its bits", kind.name);
                let packet = Packet { kind: kind.bits, ..Packet::default() };
                assert_eq!(crate::host::kinds::name(&packet, kinds), kind.name, "{family:?} {place}");
            }
        }
    }
}
