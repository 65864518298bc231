//! Dispatch to the families of transports whose endpoints live on hosts.
//!
//! The list of families is in [`crate::plan::family`].

use crate::host::connection::{Connection, Identity};
use crate::host::endpoint::{Endpoint, Event, Receiving, Sending};
use crate::host::io::Io;
use crate::host::rtts::RttRecorder;
use crate::plan::family::families;
use crate::plan::{Family, PlannedTransport};
use crate::results::outcome::SubflowOutcome;
use linkpool_network::{Flags, Packet};
use linkpool_transport::control::HookError;
use linkpool_transport::paths::PathSelector;
use linkpool_transport::{Metric, SenderState, SubflowId};
use linkpool_units::Time;

macro_rules! endpoint {
    ($name:ident: $($family:ident($module:ident::$end:ident)),*) => {
        // The family is in the first line, with what each packet reads.
        #[derive(Debug)]
        #[repr(u8)]
        pub(crate) enum $name { $($family(crate::host::$module::$end)),* }

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
            fn prefetch(&self, subflow: SubflowId, flags: Flags, stage: usize) {
                match self { $($name::$family(end) => end.prefetch(subflow, flags, stage)),* }
            }
        }
    };
}

macro_rules! ends {
    ($($family:ident: $module:ident($sender:ident, $receiver:ident),)*) => {
        endpoint! { Sender: $($family($module::$sender)),* }
        endpoint! { Receiver: $($family($module::$receiver)),* }

        impl Sender {
            /// A sender of `transport` with `size` bytes (none: without end), to a host to which
            /// `paths` equal-cost paths lead.
            pub(crate) fn new(
                transport: &PlannedTransport,
                end: (Connection, Identity),
                size: Option<u64>,
                paths: &dyn Fn() -> u64,
            ) -> Sender {
                match &transport.family {
                    $(Family::$family(settings) => Sender::$family(
                        crate::host::$module::$sender::new((transport, settings), end, size, paths),
                    )),*
                }
            }
        }

        impl Receiver {
            /// A receiver of `transport`.
            pub(crate) fn new(transport: &PlannedTransport, end: (Connection, Identity)) -> Receiver {
                match &transport.family {
                    $(Family::$family(settings) => Receiver::$family(
                        crate::host::$module::$receiver::new((transport, settings), end),
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
            fn is_recovering(&self, s: SubflowId) -> bool {
                match self { $(Sender::$family(end) => end.is_recovering(s)),* }
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

families!(ends);
