//! What a trace knows of one connection that it watches.

use super::row::{Row, Sight, State, What};
use crate::host::endpoint::WaitsOn;
use crate::host::handle::Handle;
use crate::host::kinds::WITH_DATA;
use crate::host::messages::Messages;
use crate::plan::FlowId;
use linkpool_network::NodeId;
use linkpool_transport::Family;
use linkpool_units::Time;
use std::collections::{BTreeSet, VecDeque};

/// A connection as it was last seen.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// The flows to trace that have not ended: its own, or messages that it carries.
    wanted: BTreeSet<FlowId>,
    /// Its sender, once it has opened.
    pub(super) sender: Option<(NodeId, Handle)>,
    /// By subflow; empty: not looked at, or to be recorded anew.
    pub(super) states: Vec<State>,
    /// Payload acknowledged, bytes.
    pub(super) acked: u64,
    /// Where the data must end that the receiver's window lets it send; none: not looked at, or anywhere.
    pub(super) offered: Option<u64>,
    /// What keeps its sender from sending; none: not looked at, or not told.
    pub(super) waits: Option<WaitsOn>,
    /// The host of the receiver, once the connection has opened.
    pub(super) receiver: Option<NodeId>,
    /// The family of its transport, and the payload of a full packet, once it has opened.
    pub(super) family: Option<(Family, u16)>,
    /// Are its events recorded? Those of a connection that stays open are from when it is given the
    /// first wanted message.
    pub(super) is_recorded: bool,
    /// Until they are: its packets that have neither arrived nor been lost, but for what is noted.
    in_flight: Vec<Row>,
    /// Its last events that are not recorded, from about a window. The host of the receiver may have run in this
    /// window before that of the sender, which is given a wanted message at an earlier time.
    noted: VecDeque<Row>,
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

    /// Its events are recorded from `now` on. Returns its packets in flight, and the events after that time.
    pub(super) fn record(&mut self, now: Time) -> Vec<Row> {
        self.is_recorded = true;
        let (before, after): (Vec<Row>, Vec<Row>) = self.noted.drain(..).partition(|row| row.at <= now.0);
        before.into_iter().for_each(|row| self.pass(row));
        let mut rows = std::mem::take(&mut self.in_flight);
        rows.extend(after);
        rows
    }

    /// Notes an event that is not recorded. Hosts run in windows of length `window`.
    pub(super) fn note(&mut self, row: Row, window: Time) {
        let at = row.at;
        self.noted.push_back(row);
        while self.noted.front().is_some_and(|row| row.at + window.0 < at) {
            self.noted.pop_front().into_iter().for_each(|row| self.pass(row));
        }
    }

    /// Forgets the timer that was noted last, if nothing came of it.
    pub(super) fn forget_idle_timer(&mut self) {
        if self.noted.back().is_some_and(|row| matches!(row.what, What::Timer { .. })) {
            self.noted.pop_back();
        }
    }

    /// An event is over before the record begins.
    fn pass(&mut self, row: Row) {
        let gone = match &row.what {
            What::Sent { .. } => return self.in_flight.push(row),
            What::Arrived { packet, .. } => packet,
            // The header of a trimmed packet goes on.
            What::Lost { packet, cause, .. } if !matches!(*cause, "trimmed" | "returned") => packet,
            _ => return,
        };
        let is_same = |sent: &Row| matches!(&sent.what, What::Sent { packet, .. } if is_same(packet, gone));
        if let Some(place) = self.in_flight.iter().position(is_same) {
            self.in_flight.remove(place);
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
    let is_data = |packet: &Sight| WITH_DATA.contains(&packet.kind);
    key(sent) == key(seen) && (sent.kind == seen.kind || is_data(sent) && is_data(seen))
}

/// An event at `at`.
pub(super) fn row(at: Time, flow: FlowId, what: What) -> Row {
    Row { at: at.0, flow, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LabelId, PlannedFlow, TransportId};
    use crate::trace::End;
    use linkpool_network::HostId;
    use linkpool_transport::SubflowId;
    use linkpool_workload::Flow;

    const SIGHT: Sight = Sight {
        subflow: SubflowId::FIRST,
        kind: "data",
        seq: 7,
        ack: 3,
        payload: 100,
        size: 190,
        ce: false,
        ece: false,
    };

    /// Of a window, and of the events of these tests.
    const WINDOW: Time = Time(10);
    const NOW: Time = Time(1);

    fn event(what: What) -> Row {
        row(NOW, FlowId::new(0), what)
    }

    fn at(time: u64, row: Row) -> Row {
        Row { at: time, ..row }
    }

    fn sent(packet: Sight) -> Row {
        event(What::Sent { by: End::Sender, packet, next: None })
    }

    fn arrived(packet: Sight) -> Row {
        event(What::Arrived { at_end: End::Receiver, packet })
    }

    fn lost(packet: Sight, cause: &'static str) -> Row {
        let link = String::new();
        event(What::Lost { to: End::Receiver, packet, link, cause, queued: 0, queue: Vec::new() })
    }

    /// What is in flight when the events of a connection begin to be recorded.
    fn in_flight(rows: impl IntoIterator<Item = Row>) -> Vec<Sight> {
        let mut known = Watched::default();
        rows.into_iter().for_each(|row| known.note(row, WINDOW));
        let sight = |row: Row| match row.what {
            What::Sent { packet, .. } => packet,
            other => panic!("{other:?}"),
        };
        let left = known.record(NOW).into_iter().map(sight).collect();
        assert!(known.is_recorded && known.record(NOW).is_empty());
        left
    }

    #[test]
    fn what_has_neither_arrived_nor_been_lost_is_in_flight() {
        let ack = Sight { kind: "ACK", payload: 0, ..SIGHT };
        let later = Sight { seq: 107, ack: 103, ..SIGHT };
        assert_eq!(
            in_flight([sent(SIGHT), sent(ack.clone()), sent(later.clone())]),
            [SIGHT, ack.clone(), later.clone()]
        );
        let gone =
            in_flight([sent(SIGHT), sent(ack.clone()), sent(later.clone()), arrived(ack.clone()), arrived(SIGHT)]);
        assert_eq!(gone, [later]);
        // Two copies, of which one is lost; what nobody has sent has no effect.
        assert_eq!(in_flight([sent(SIGHT), sent(SIGHT), lost(SIGHT, "full"), arrived(ack)]), [SIGHT]);
        // Its header goes on, there or back; at last it arrives as a header.
        for (cause, kind) in [("trimmed", "header"), ("returned", "returned")] {
            assert_eq!(in_flight([sent(SIGHT), lost(SIGHT, cause)]), [SIGHT]);
            assert!(in_flight([sent(SIGHT), lost(SIGHT, cause), arrived(Sight { kind, ..SIGHT })]).is_empty());
        }
        assert_eq!(in_flight([sent(SIGHT), event(What::Turn)]), [SIGHT]);
    }

    /// The receiver's host may have run before the sender's, to which a message is given at 50: what came to the receiver
    /// at 51, and its answer, are recorded; what came to it at 50 is not. What is more than a window old is forgotten in
    /// any case.
    #[test]
    fn what_happens_after_the_beginning_is_recorded() {
        let ack = Sight { kind: "ACK", payload: 0, ..SIGHT };
        let other = Sight { seq: 107, ..SIGHT };
        let early = at(30, sent(SIGHT));
        let now = [at(31, sent(other.clone())), at(50, arrived(other)), at(50, sent(ack.clone()))];
        let later = [at(51, arrived(SIGHT)), at(51, sent(Sight { seq: 108, ..ack }))];
        let mut known = Watched::default();
        [early.clone()].into_iter().chain(now.clone()).chain(later.clone()).for_each(|row| known.note(row, WINDOW));
        assert_eq!(known.noted.len(), 4, "what happened in the 10 ps before 51");
        let [_, _, answer] = now;
        assert_eq!(known.record(Time(50)), [vec![early, answer], later.to_vec()].concat());
    }

    /// A timer of which nothing comes is no event; one that sends is.
    #[test]
    fn idle_timers_are_forgotten() {
        let timer = || event(What::Timer { of: End::Receiver, subflow: SubflowId::FIRST });
        let mut known = Watched::default();
        known.note(timer(), WINDOW);
        known.forget_idle_timer();
        known.note(timer(), WINDOW);
        known.note(sent(SIGHT), WINDOW);
        known.forget_idle_timer();
        assert_eq!(known.record(Time::ZERO), [timer(), sent(SIGHT)]);
    }

    /// Each of these tells a packet from others, marks and lengths on the wire do not.
    #[test]
    fn packets_are_told_apart() {
        let others = [
            Sight { subflow: SubflowId::new(1), ..SIGHT },
            Sight { seq: 8, ..SIGHT },
            Sight { ack: 4, ..SIGHT },
            Sight { payload: 99, ..SIGHT },
            Sight { kind: "ACK", ..SIGHT },
        ];
        assert!(!others.iter().any(|other| is_same(&SIGHT, other)));
        assert!(is_same(&others[4], &others[4]) && is_same(&SIGHT, &Sight { size: 64, ce: true, ..SIGHT }));
        assert!(!is_same(&others[4], &SIGHT));
    }

    fn message(size: u64) -> PlannedFlow {
        let flow = Flow::new((HostId::new(0), HostId::new(1)), Some(size), Time::ZERO);
        PlannedFlow { flow, transport: TransportId::new(0), label: LabelId::new(0) }
    }

    /// Messages of 100, 50 and 30 bytes: each is reported when it has been given, with what had been sent by
    /// then, and when it has left the list.
    #[test]
    fn messages_are_given_and_done() {
        let (mut known, mut messages) = (Watched::default(), Messages::default());
        let [a, b, c] = [7, 8, 9].map(FlowId::new);
        messages.push(a, message(100));
        let given = |message, begin, end, sent, acked| (message, What::Given { message, begin, end, sent, acked });
        assert_eq!(known.take_given(&messages), [given(a, 0, 100, 0, 0)]);
        known.reaches(60);
        messages.push(b, message(50));
        messages.push(c, message(30));
        known.acked = 40;
        assert_eq!(known.take_given(&messages), [given(b, 100, 150, 60, 40), given(c, 150, 180, 60, 40)]);
        assert!(known.take_given(&messages).is_empty());
        assert!(known.take_done(Some(&messages)).is_empty());
        messages.pop();
        assert_eq!(known.take_done(Some(&messages)), [a]);
        messages.pop();
        messages.pop();
        assert_eq!(known.take_done(Some(&messages)), [b, c]);
        // One that comes when all has been sent.
        known.reaches(180);
        messages.push(a, message(10));
        assert_eq!(known.take_given(&messages), [given(a, 180, 190, 180, 40)]);
        // The sender is gone.
        assert_eq!(known.take_done(None), [a]);
        known.want(a);
        known.want(b);
        assert!(known.wants(a) && !known.wants(c));
        known.is_over(a);
        assert!(!known.wants(a) && known.is_live());
        known.is_over(b);
        assert!(!known.is_live());
    }

    /// Ends of data are given modulo 2^32, and lie within 2^31 bytes of what is acknowledged.
    #[test]
    fn ends_of_data_go_round() {
        let mut known = Watched { acked: (1 << 32) - 10, reached: (1 << 32) - 10, ..Watched::default() };
        known.reaches(90);
        assert_eq!(known.reached, (1 << 32) + 90);
        known.reaches(u32::MAX - 19);
        assert_eq!(known.reached, (1 << 32) + 90, "what is sent again ends before");
    }
}
