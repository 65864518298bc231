//! The tracks of flows, subflows and queues, and what happens on them.

use super::file::{File, Track};
use super::ranks::RankTracks;
use crate::plan::{FlowId, Plan};
use crate::results::sample::{Sample, Value};
use crate::trace::{End, Row, State, What};
use linkpool_network::{Fabric, LinkId, PauseChange, PauseEvent, PauseReason};
use linkpool_transport::SubflowId;
use linkpool_units::Time;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Writes what happens to tracks.
pub(super) struct Tracks<'f> {
    pub(super) file: File,
    fabric: &'f Fabric,
    flows: BTreeMap<FlowId, Flow>,
    /// Links whose tracks are known.
    links: HashSet<LinkId>,
    /// By link and priority whose track is known: is it paused?
    paused: HashMap<(LinkId, u8), bool>,
    ranks: Option<RankTracks>,
}

/// A flow so far.
#[derive(Debug, Default)]
struct Flow {
    /// It begins with one subflow and hands over to others.
    hands_over: bool,
    /// Its subflows have handshakes, slow start and so on.
    has_phases: bool,
    subflows: BTreeMap<SubflowId, Subflow>,
    /// Of a connection that stays open: the message on each lane of messages, if there is one.
    lanes: Option<Vec<Option<FlowId>>>,
}

/// A subflow so far.
#[derive(Debug, Default)]
struct Subflow {
    phase: Option<Phase>,
    suppressed: bool,
    /// A suppression has been written.
    was_suppressed: bool,
    /// The recoveries of the last slice.
    recoveries: u64,
    last: Option<State>,
}

/// What a subflow does; one slice follows another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Handshake,
    SlowStart,
    Avoidance,
    Recovery,
    Closed,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Handshake => "handshake",
            Phase::SlowStart => "slow start",
            Phase::Avoidance => "congestion avoidance",
            Phase::Recovery => "fast recovery",
            Phase::Closed => "given up",
        }
    }

    /// The phase of a subflow in `state` that was in `before`.
    fn of(state: &State, before: Phase) -> Phase {
        match state {
            State { established: false, .. } if before == Phase::Handshake => before,
            State { established: false, .. } => Phase::Closed,
            State { recovering: true, .. } => Phase::Recovery,
            State { ssthresh: Some(ssthresh), cwnd, .. } if cwnd >= ssthresh => Phase::Avoidance,
            _ => Phase::SlowStart,
        }
    }
}

/// The tracks of a subflow beside its slices.
const SUPPRESSED: u64 = 1;
const CWND: u64 = 2;
const SSTHRESH: u64 = 3;
const SRTT: u64 = 4;

/// The tracks of messages.
const MESSAGES: u64 = 1 << 62;

/// The tracks of queues.
const QUEUES: u64 = 1 << 63;

/// The tracks of pauses.
const PAUSES: u64 = QUEUES + (1 << 40);

fn process(flow: FlowId) -> u64 {
    (u64::from(flow) + 1) << 12
}

fn track(flow: FlowId, subflow: SubflowId, which: u64) -> u64 {
    process(flow) + ((u64::from(u32::from(subflow)) + 1) << 4) + which
}

fn lane(connection: FlowId, number: usize) -> u64 {
    MESSAGES + ((u64::from(connection) + 1) << 24) + number as u64
}

fn queue(link: LinkId, in_bytes: bool) -> u64 {
    QUEUES + ((u64::from(u32::from(link)) + 1) << 1) + u64::from(in_bytes)
}

fn pauses(link: LinkId, priority: u8) -> u64 {
    PAUSES + ((u64::from(u32::from(link)) + 1) << 4) + u64::from(priority)
}

impl<'f> Tracks<'f> {
    pub(super) fn new(file: File, fabric: &'f Fabric) -> Tracks<'f> {
        let (flows, links, paused) = (BTreeMap::new(), HashSet::new(), HashMap::new());
        Tracks { file, fabric, flows, links, paused, ranks: None }
    }

    /// Ranks have tracks, too.
    pub(super) fn add_ranks(&mut self, plan: &Plan) {
        self.ranks = Some(RankTracks::new(plan, &mut self.file));
    }

    /// The run ends.
    pub(super) fn finish(&mut self, at: Time) {
        self.ranks.iter_mut().for_each(|ranks| ranks.finish(at, &mut self.file));
    }

    /// A sample of a queue, a pause, or what happens to a rank; other series are not drawn, as events say more.
    pub(super) fn sample(&mut self, sample: &Sample) {
        match sample.value {
            Value::Queue { link, packets, bytes } => self.queue(sample.at, link, packets, bytes),
            Value::Pause(change) => self.pause(change),
            Value::Rank(event) => self.ranks.iter_mut().for_each(|of| of.event(sample.at, event, &mut self.file)),
            _ => {}
        }
    }

    /// A pause begins, goes on, or ends: a slice, with what had come by the link when it was decided.
    fn pause(&mut self, PauseChange { at, link, priority, event, reason }: PauseChange) {
        if self.paused.is_empty() {
            self.file.track(Track { uuid: PAUSES, name: "paused links".to_string(), parent: None });
        }
        let uuid = pauses(link, priority);
        let name = self.fabric.link_name(link);
        let is_paused = self.paused.entry((link, priority)).or_insert_with(|| {
            let name = format!("{name}, priority {priority}");
            self.file.track(Track { uuid, name, parent: Some(PAUSES) });
            false
        });
        match (event, *is_paused) {
            (PauseEvent::Pause, _) => {
                let by = self.fabric.name(self.fabric.links()[link.index()].to);
                let PauseReason { shared, headroom, threshold, .. } = reason;
                let text = format!("paused by {by}: {shared} B shared of {threshold} B, {headroom} B of headroom");
                self.file.begin(at.0, uuid, &text, Vec::new());
                *is_paused = true;
            }
            (PauseEvent::Resume | PauseEvent::Lapse, true) => {
                self.file.end(at.0, uuid);
                *is_paused = false;
            }
            (PauseEvent::Refresh, _) | (_, false) => {}
        }
    }

    fn queue(&mut self, at: Time, link: LinkId, packets: u32, bytes: u64) {
        if self.links.is_empty() {
            self.file.track(Track { uuid: QUEUES, name: "queues".to_string(), parent: None });
        }
        if self.links.insert(link) {
            for (in_bytes, unit) in [(false, "packets"), (true, "B")] {
                let name = format!("{}, {unit}", self.fabric.link_name(link));
                self.file.counter(Track { uuid: queue(link, in_bytes), name, parent: Some(QUEUES) }, unit);
            }
        }
        self.file.count(at.0, queue(link, false), f64::from(packets));
        self.file.count(at.0, queue(link, true), bytes as f64);
    }

    /// An event of a flow.
    pub(super) fn row(&mut self, Row { at, flow, what }: &Row) {
        let (at, flow) = (*at, *flow);
        match what {
            What::Opens { src, dst, transport, control, size, stays_open, phases, .. } => {
                let size = size.map_or("unlimited".to_string(), |size| format!("{size} B"));
                let name = if *stays_open { "connection" } else { "flow" };
                let size = if *stays_open { "messages".to_string() } else { size };
                let name = format!("{name} {}: {src}->{dst}, {transport}, {size}", u32::from(flow));
                self.opens(flow, name, (control, *phases), *stays_open);
            }
            // Of a connection that was open before, subflows begin with their states.
            What::Sent { by: End::Sender, packet, .. } if packet.kind == "SYN" || !self.stays_open(flow) => {
                self.begins(at, flow, packet.subflow, Phase::Handshake);
            }
            What::State { subflow, state } => self.state(at, flow, *subflow, state),
            What::Acked { bytes } => self.file.count(at, process(flow) + 1, *bytes as f64),
            What::Lost { packet, link, cause, queued, .. } => {
                let name = match *cause {
                    "full" => format!("{} lost at {link}: its queue is full", packet.kind),
                    "down" => format!("{} lost at {link}: it is down", packet.kind),
                    "trimmed" => format!("{} trimmed at {link}", packet.kind),
                    "returned" => format!("{} sent back from {link}: no room for it", packet.kind),
                    _ => format!("{} lost on {link}", packet.kind),
                };
                let values = [("packets in the queue", u64::from(*queued))];
                self.file.instant(at, track(flow, packet.subflow, 0), name, &values, Vec::new());
            }
            What::Held { packet, link, paused, pause, .. } => {
                let name = format!("{} held back by pauses at {link}", packet.kind);
                let values = [("paused, ns", paused / 1_000), ("priority", u64::from(pause.priority))];
                self.file.instant(at, track(flow, packet.subflow, 0), name, &values, Vec::new());
            }
            What::Given { message, begin, end, .. } => self.given(at, flow, *message, end - begin),
            What::Done { message, .. } => self.done(at, flow, *message),
            What::Ends { .. } => self.ends(at, flow),
            What::Sent { .. }
            | What::Arrived { .. }
            | What::Timer { .. }
            | What::Turn
            | What::Offered { .. }
            | What::Waits { .. } => {}
        }
    }

    /// Is `flow` a connection that stays open?
    fn stays_open(&self, flow: FlowId) -> bool {
        self.flows.get(&flow).is_some_and(|known| known.lanes.is_some())
    }

    fn opens(&mut self, flow: FlowId, name: String, (control, has_phases): (&str, bool), stays_open: bool) {
        // Process 0 has a meaning of its own.
        self.file.process(process(flow), (u32::from(flow) + 1) as i32, name);
        let acked = Track { uuid: process(flow) + 1, name: "acknowledged".to_string(), parent: Some(process(flow)) };
        self.file.counter(acked, "B");
        let hands_over = control == "mmptcp";
        let lanes = stays_open.then(Vec::new);
        self.flows.insert(flow, Flow { hands_over, has_phases, subflows: BTreeMap::new(), lanes });
    }

    /// A connection has been given a message: it takes the first lane that is free.
    fn given(&mut self, at: u64, connection: FlowId, message: FlowId, size: u64) {
        let Some(lanes) = self.flows.get_mut(&connection).and_then(|known| known.lanes.as_mut()) else { return };
        let free = lanes.iter().position(Option::is_none).unwrap_or(lanes.len());
        let uuid = lane(connection, free);
        if free == lanes.len() {
            lanes.push(None);
            let name = if free == 0 { "messages".to_string() } else { format!("messages, lane {}", free + 1) };
            self.file.track(Track { uuid, name, parent: Some(process(connection)) });
        }
        lanes[free] = Some(message);
        self.file.begin(at, uuid, &format!("flow {}, {size} B", u32::from(message)), Vec::new());
    }

    /// A message is acknowledged, or given up.
    fn done(&mut self, at: u64, connection: FlowId, message: FlowId) {
        let Some(lanes) = self.flows.get_mut(&connection).and_then(|known| known.lanes.as_mut()) else { return };
        if let Some(number) = lanes.iter().position(|held| *held == Some(message)) {
            lanes[number] = None;
            self.file.end(at, lane(connection, number));
        }
    }

    /// Something is heard of a subflow. With that it begins, by a handshake if it has one and was
    /// seen from its first packet on.
    fn begins(&mut self, at: u64, flow: FlowId, subflow: SubflowId, phase: Phase) {
        let Some(known) = self.flows.get_mut(&flow) else { return };
        if known.subflows.contains_key(&subflow) {
            return;
        }
        let phase = known.has_phases.then_some(phase);
        known.subflows.insert(subflow, Subflow { phase, ..Subflow::default() });
        let (number, of) = (u32::from(subflow), track(flow, subflow, 0));
        self.file.track(Track { uuid: of, name: format!("subflow {number}"), parent: Some(process(flow)) });
        for (which, name, unit) in [(CWND, "cwnd", "packets"), (SSTHRESH, "ssthresh", "packets"), (SRTT, "srtt", "us")]
        {
            let uuid = track(flow, subflow, which);
            let name = format!("subflow {number}: {name}");
            self.file.counter(Track { uuid, name, parent: Some(process(flow)) }, unit);
        }
        // MMPTCP's subflow of scattered packets hands over to those that open now.
        let is_new = phase == Some(Phase::Handshake);
        let arrows = if known.hands_over && is_new && !subflow.is_first() { vec![of] } else { Vec::new() };
        if !arrows.is_empty() {
            let (from, name) = (track(flow, SubflowId::FIRST, 0), format!("hand-over to subflow {number}"));
            self.file.instant(at, from, name, &[], arrows.clone());
        }
        phase.iter().for_each(|phase| self.file.begin(at, of, phase.name(), arrows.clone()));
    }

    fn state(&mut self, at: u64, flow: FlowId, subflow: SubflowId, state: &State) {
        if state.established && self.stays_open(flow) {
            self.begins(at, flow, subflow, Phase::of(state, Phase::Closed));
        }
        let known = self.flows.get_mut(&flow).and_then(|known| known.subflows.get_mut(&subflow));
        // Of a subflow that has not been opened there is nothing to tell.
        let Some(known) = known else { return };
        let (file, of) = (&mut self.file, track(flow, subflow, 0));
        let shakes_hands = known.phase == Some(Phase::Handshake);
        // A recovery may end in the instant in which the next one begins, or in which it began.
        let again = known.phase.is_some() && known.last.is_some_and(|last| state.recoveries > last.recoveries);
        let recovers = again.then_some(Phase::Recovery);
        let phase = known.phase.map(|before| Phase::of(state, before));
        for next in [recovers, phase].into_iter().flatten() {
            if Some(next) != known.phase || recovers == Some(next) && known.recoveries < state.recoveries {
                file.end(at, of);
                file.begin(at, of, next.name(), Vec::new());
                known.phase = Some(next);
                known.recoveries = state.recoveries;
            }
        }
        let suppressed = state.suppressed && state.established;
        if suppressed != known.suppressed {
            let uuid = track(flow, subflow, SUPPRESSED);
            if suppressed && !known.was_suppressed {
                let name = format!("subflow {}: suppression", u32::from(subflow));
                file.track(Track { uuid, name, parent: Some(process(flow)) });
            }
            if suppressed {
                file.begin(at, uuid, "suppressed", Vec::new());
            } else {
                file.end(at, uuid);
            }
            (known.suppressed, known.was_suppressed) = (suppressed, true);
        }
        let last = known.last.replace(*state);
        let is_new =
            |of: fn(&State) -> Option<f64>| of(state).filter(|value| last.as_ref().and_then(of) != Some(*value));
        for (which, of) in [
            (CWND, (|s| s.established.then_some(s.cwnd)) as fn(&State) -> Option<f64>),
            (SSTHRESH, |s| s.ssthresh),
            (SRTT, |s| s.srtt.map(|srtt| 1e6 * srtt)),
        ] {
            is_new(of).into_iter().for_each(|value| file.count(at, track(flow, subflow, which), value));
        }
        for (name, of) in [
            ("retransmission timeout", (|s| s.timeouts) as fn(&State) -> u64),
            ("tail loss probe", |s| s.probes),
            ("window restored", |s| s.undos),
        ] {
            // The first that is heard of a subflow may be that its SYN is sent again. The timers of several
            // packets may expire in one instant, where each packet has one.
            let before = shakes_hands.then_some(0);
            for _ in last.as_ref().map(of).or(before).map_or(0..0, |before| before..of(state)) {
                file.instant(at, track(flow, subflow, 0), name.to_string(), &[], Vec::new());
            }
        }
    }

    /// The sender of `flow` is done: all its slices end.
    fn ends(&mut self, at: u64, flow: FlowId) {
        let Some(known) = self.flows.remove(&flow) else { return };
        for (number, _) in known.lanes.iter().flatten().enumerate().filter(|(_, held)| held.is_some()) {
            self.file.end(at, lane(flow, number));
        }
        for (number, subflow) in known.subflows {
            if subflow.phase.is_some() {
                self.file.end(at, track(flow, number, 0));
            }
            if subflow.suppressed {
                self.file.end(at, track(flow, number, SUPPRESSED));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranks::{RANKS, group, track as track_of_rank};
    use super::*;

    /// Flows and what belongs to them, lanes of messages, and queues: each has a range of numbers, in
    /// which each track has its own.
    #[test]
    fn numbers_of_tracks_are_their_own() {
        let (mut flows, mut lanes, mut queues) = (vec![0], vec![MESSAGES], vec![QUEUES]);
        let mut ranks = vec![RANKS];
        for programs in [0, 1, u32::MAX >> 5] {
            ranks.push(group(programs));
            ranks.extend([0, 1, u32::MAX].map(|rank| track_of_rank(programs, rank)));
        }
        for flow in [0, 1, 2, u32::MAX].map(FlowId::from) {
            flows.extend([process(flow), process(flow) + 1]);
            for subflow in [0, 1, 31].map(SubflowId::from) {
                flows.extend([0, SUPPRESSED, CWND, SSTHRESH, SRTT].map(|which| track(flow, subflow, which)));
            }
            lanes.extend([0, 1, 2, (1 << 24) - 1].map(|number| lane(flow, number)));
        }
        for link in [0, 1, 2, u32::MAX].map(LinkId::from) {
            queues.extend([queue(link, false), queue(link, true)]);
            queues.extend((0..8).map(|priority| pauses(link, priority)));
        }
        assert!(flows.iter().all(|track| *track < RANKS));
        assert!(ranks.iter().all(|track| (RANKS..MESSAGES).contains(track)));
        assert!(lanes.iter().all(|track| (MESSAGES..QUEUES).contains(track)));
        assert!(queues.iter().all(|track| *track >= QUEUES));
        for mut tracks in [flows, lanes, queues, ranks] {
            let all = tracks.len();
            tracks.sort_unstable();
            tracks.dedup();
            assert_eq!(tracks.len(), all);
        }
    }
}
