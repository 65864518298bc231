//! What a trace knows of one connection that it watches.

use super::row::{Row, Sight, State, What};
use crate::host::handle::Handle;
use crate::host::messages::Messages;
use crate::plan::FlowId;
use linkpool_network::NodeId;
use linkpool_units::Time;
use std::collections::{BTreeSet, VecDeque};

/// A connection as it was last seen.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// The flows to trace that have not ended: its own, or messages that it carries.
    wanted: BTreeSet<FlowId>,
    /// Its sender, once it has opened.
    pub(super) sender: Option<(NodeId, Handle)>,
    /// By subflow; empty: not looked at, or to be told anew.
    pub(super) states: Vec<State>,
    /// Payload acknowledged, bytes.
    pub(super) acked: u64,
    /// Of NDP: the payload of a full packet.
    pub(super) numbered: Option<u16>,
    /// Are its events recorded? Those of a connection that stays open are from when it is given the
    /// first wanted message.
    pub(super) is_recorded: bool,
    /// Until they are: its packets that have neither arrived nor been lost.
    on_the_way: Vec<Row>,
    /// Its messages that are not acknowledged: the number, and the end in the stream.
    messages: VecDeque<(FlowId, u64)>,
    /// The end of the last message that it was given.
    end: u64,
    /// The end of the data that was sent.
    reached: u64,
}

impl Watched {
    /// `flow` is wanted.
    pub(super) fn want(&mut self, flow: FlowId) {
        self.wanted.insert(flow);
    }

    /// Is `flow` wanted, and has it not ended?
    pub(super) fn wants(&self, flow: FlowId) -> bool {
        self.wanted.contains(&flow)
    }

    /// Has it flows that are wanted and have not ended?
    pub(super) fn is_live(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// `flow` has ended.
    pub(super) fn is_over(&mut self, flow: FlowId) {
        self.wanted.remove(&flow);
    }

    /// Its events are recorded from now on. Returns its packets that are on the way.
    pub(super) fn record(&mut self) -> Vec<Row> {
        self.is_recorded = true;
        std::mem::take(&mut self.on_the_way)
    }

    /// Notes an event that is not recorded.
    pub(super) fn note(&mut self, row: Row) {
        let gone = match &row.what {
            What::Sent { .. } => return self.on_the_way.push(row),
            What::Arrived { packet, .. } => packet,
            // The header of a trimmed packet goes on.
            What::Lost { packet, cause, .. } if !matches!(*cause, "trimmed" | "returned") => packet,
            _ => return,
        };
        let is_same = |sent: &Row| matches!(&sent.what, What::Sent { packet, .. } if is_same(packet, gone));
        if let Some(place) = self.on_the_way.iter().position(is_same) {
            self.on_the_way.remove(place);
        }
    }

    /// Notes that data was sent which ends at `end` of the stream, modulo 2^32.
    pub(super) fn reaches(&mut self, end: u32) {
        // It lies within 2^31 bytes of what is acknowledged.
        let ahead = end.wrapping_sub(self.acked as u32) as i32;
        self.reached = self.reached.max(self.acked.saturating_add_signed(ahead.into()));
    }

    /// The messages that the connection was given since the last look, and whether each is wanted.
    pub(super) fn take_given(&mut self, messages: &Messages) -> Vec<(FlowId, What)> {
        let mut given = Vec::new();
        for message in messages.waiting().filter(|message| message.end > self.end) {
            let (begin, end) = (message.end - message.size(), message.end);
            let (sent, acked) = (self.reached.min(begin), self.acked);
            given.push((message.flow, What::Given { message: message.flow, begin, end, sent, acked }));
        }
        for (flow, what) in &given {
            if let What::Given { end, .. } = what {
                self.messages.push_back((*flow, *end));
                self.end = *end;
            }
        }
        given
    }

    /// The messages that have left the sender's list since the last look; all, if there is none.
    pub(super) fn take_done(&mut self, messages: Option<&Messages>) -> Vec<FlowId> {
        let first = messages.and_then(|messages| messages.waiting().next()).map_or(u64::MAX, |message| message.end);
        let done = self.messages.partition_point(|(_, end)| *end < first);
        self.messages.drain(..done).map(|(flow, _)| flow).collect()
    }
}

/// Are both the same packet, as far as a trace can tell? A switch may have trimmed the second.
fn is_same(sent: &Sight, seen: &Sight) -> bool {
    let key = |packet: &Sight| (packet.subflow, packet.seq, packet.ack, packet.payload);
    let is_data = |packet: &Sight| matches!(packet.kind, "data" | "header" | "returned");
    key(sent) == key(seen) && (sent.kind == seen.kind || is_data(sent) && is_data(seen))
}

/// An event at `at`.
pub(super) fn row(at: Time, flow: FlowId, what: What) -> Row {
    Row { at: at.0, flow, what }
}
