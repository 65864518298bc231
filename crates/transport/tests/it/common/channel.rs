//! A sender and a receiver joined by a channel, which treats segments as a test says, and a clock.

use super::Random;
use linkpool_transport::{Config, Delivery, Output, Receiver, Segment, Sender, SenderState, SubflowId};
use linkpool_units::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A segment on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    pub at: Time,
    pub subflow: SubflowId,
    pub to_receiver: bool,
    pub segment: Segment,
    /// How many segments went this way on this subflow before.
    pub nth: u64,
}

/// The copies of a segment that arrive: after how long, and marked or not. None: it is lost.
pub type Fate = Vec<(Time, bool)>;

#[derive(Clone, Copy, Debug)]
pub enum Event {
    ToReceiver(SubflowId, Segment, bool),
    ToSender(SubflowId, Segment),
    WakeSender(SubflowId),
    WakeReceiver(SubflowId),
}

/// The channel, and all that will happen.
pub struct Wire<C> {
    pub now: Time,
    from_sender: bool,
    events: BTreeMap<(Time, u64), Event>,
    serial: u64,
    counts: BTreeMap<(SubflowId, bool), u64>,
    carry: C,
    random: Random,
    /// The segments sent in answer to the last event.
    pub sent: Vec<Crossing>,
}

impl<C: FnMut(&Crossing) -> Fate> Wire<C> {
    fn schedule(&mut self, at: Time, event: Event) {
        self.serial += 1;
        self.events.insert((at, self.serial), event);
    }
}

impl<C: FnMut(&Crossing) -> Fate> Output for Wire<C> {
    fn send(&mut self, subflow: SubflowId, segment: Segment) {
        let count = self.counts.entry((subflow, self.from_sender)).or_default();
        let crossing = Crossing { at: self.now, subflow, to_receiver: self.from_sender, segment, nth: *count };
        *count += 1;
        self.sent.push(crossing);
        for (delay, ce) in (self.carry)(&crossing) {
            let event = match self.from_sender {
                true => Event::ToReceiver(subflow, segment, ce),
                false => Event::ToSender(subflow, segment),
            };
            self.schedule(self.now + delay, event);
        }
    }

    fn wake(&mut self, subflow: SubflowId, at: Time) {
        assert!(at >= self.now, "asks to be woken in the past");
        let event = if self.from_sender { Event::WakeSender(subflow) } else { Event::WakeReceiver(subflow) };
        self.schedule(at, event);
    }

    fn jitter(&mut self, most: Time) -> Time {
        self.random.time(most)
    }
}

/// Both ends of a connection.
pub struct Pair<C> {
    pub sender: Sender,
    pub receiver: Receiver,
    pub wire: Wire<C>,
    pub closed: bool,
}

impl<C: FnMut(&Crossing) -> Fate> Pair<C> {
    pub fn new(config: Config, size: Option<u64>, carry: C) -> Pair<C> {
        let config = Arc::new(config);
        let mut pair = Pair {
            sender: Sender::new(config.clone(), size),
            receiver: Receiver::new(config),
            wire: Wire {
                now: Time::ZERO,
                from_sender: true,
                events: BTreeMap::new(),
                serial: 0,
                counts: BTreeMap::new(),
                carry,
                random: Random(1),
                sent: Vec::new(),
            },
            closed: false,
        };
        pair.sender.open(Time::ZERO, &mut pair.wire);
        pair
    }

    /// When the next event is due.
    pub fn next_event(&self) -> Option<Time> {
        self.wire.events.first_key_value().map(|((at, _), _)| *at)
    }

    /// Runs the next event.
    pub fn step(&mut self) -> Option<Event> {
        let ((now, _), event) = self.wire.events.pop_first()?;
        let wire = &mut self.wire;
        wire.sent.clear();
        wire.now = now;
        wire.from_sender = matches!(event, Event::ToSender(..) | Event::WakeSender(_));
        match event {
            Event::ToReceiver(s, segment, ce) => {
                self.closed |= self.receiver.on_segment(s, segment, ce, now, wire) == Delivery::Closed;
            }
            Event::ToSender(s, segment) => self.sender.on_segment(s, segment, now, wire),
            Event::WakeSender(s) => self.sender.on_timer(s, now, wire),
            Event::WakeReceiver(s) => self.receiver.on_timer(s, now, wire),
        }
        Some(event)
    }

    /// Runs all events before `until`.
    pub fn run_until(&mut self, until: Time) {
        while self.next_event().is_some_and(|at| at < until) {
            self.step();
        }
        self.wire.now = until;
    }

    /// Runs until the connection has ended and nothing is on its way, or until `limit`.
    pub fn run_to_end(&mut self, limit: Time) -> SenderState {
        while self.next_event().is_some_and(|at| at < limit) {
            self.step();
        }
        self.sender.state()
    }

    /// Stops the sender, now.
    pub fn stop(&mut self) {
        self.wire.sent.clear();
        self.wire.from_sender = true;
        self.sender.stop(self.wire.now, &mut self.wire);
    }
}
