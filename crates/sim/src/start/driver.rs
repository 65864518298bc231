//! Messages that a program outside of the run sends while it goes on, timers that it sets, and what it learns of them.

use crate::host::component::{Component, Context};
use crate::host::message::Message;
use crate::plan::{FlowId, Plan, PlannedFlow};
use crate::results::event::{Event, Happened, Posted};
use crate::results::sink::Limit;
use linkpool_network::{HostId, NodeId};
use linkpool_units::Time;
use linkpool_workload::Flow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Why a message cannot be sent, or a timer not set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The fabric has no such host.
    #[error("host {0} is not in the fabric, whose hosts are 0 to {1}")]
    Host(usize, usize),
    /// No packet goes from a host to itself.
    #[error("host {0} would send to itself")]
    ToItself(String),
    /// The scenario has no such workload.
    #[error("channel {0} is not in the scenario, whose channels (its workloads of kind session) are 0 to {1}")]
    Channel(usize, usize),
    /// The workload starts later.
    #[error("{at} is before the start of channel {channel} ([[workload.session]] start), at {start}")]
    Early {
        /// The channel.
        channel: usize,
        /// The time asked for.
        at: Time,
        /// The start.
        start: Time,
    },
    /// Time does not go back.
    #[error("{at} is past: it is {now}")]
    Past {
        /// The time asked for.
        at: Time,
        /// The clock.
        now: Time,
    },
    /// The run ends before.
    #[error("{at} is not before the end of the scenario, duration and drain, at {end}")]
    End {
        /// The time asked for.
        at: Time,
        /// The end.
        end: Time,
    },
    /// The numbers of flows have 32 bits, of which each host uses its own; those of timers too.
    #[error("host {0} has used up its numbers of messages, or of timers")]
    Numbers(String),
    /// Nothing is known of a host before a lookahead has passed.
    #[error("a timer at another host, {host}, is due at {soonest} or later, as nothing reaches it sooner; not at {at}")]
    Soon {
        /// The other host.
        host: String,
        /// The time asked for.
        at: Time,
        /// The present and a lookahead.
        soonest: Time,
    },
}

/// A message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Send {
    /// The host that sends it.
    pub from: HostId,
    /// The host that receives it.
    pub to: HostId,
    /// Its size.
    pub bytes: u64,
    /// Whatever the program likes; events have it.
    pub tag: u64,
    /// When its sender gets it: now, or later.
    pub at: Time,
    /// Which workload of kind `session` it belongs to, which has its transport: 0 is the first in the file.
    pub channel: usize,
}

/// A timer to set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timer {
    /// The host at which it is due.
    pub host: HostId,
    /// Whatever the program likes; its event has it.
    pub tag: u64,
    /// When it is due: now, or later.
    pub at: Time,
}

/// What is known of messages, by all partitions and by the program.
#[derive(Debug, Default)]
struct Book {
    /// By channel and host: the number of messages that it has sent.
    sent: Vec<u32>,
    /// All messages, if they are to be kept.
    kept: Option<Vec<(usize, Posted)>>,
    /// By channel and host: its messages from the first that has not ended; those that have left a gap.
    open: Vec<Window>,
    /// How many have not ended. One that was given up has, and stays, as data of it may still arrive.
    left: usize,
    /// By host: the number of timers that it has set.
    set: Vec<u32>,
    /// Timers of which the program does not know that they were due.
    timers: usize,
}

/// Messages of a host, in order of their numbers.
#[derive(Clone, Debug, Default)]
struct Window {
    /// The number of the first.
    first: u32,
    messages: VecDeque<Option<Posted>>,
}

impl Window {
    fn get(&mut self, number: u32) -> Option<&mut Option<Posted>> {
        self.messages.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// Takes a message out.
    fn take(&mut self, number: u32) {
        if let Some(message) = self.get(number) {
            *message = None;
        }
        while let Some(None) = self.messages.front() {
            self.messages.pop_front();
            self.first += 1;
        }
    }
}

/// The messages of a driven run, shared by its partitions and the program that drives it.
///
/// Each host numbers its own messages, so numbers do not depend on which partition is first.
#[derive(Clone, Debug)]
pub(crate) struct Messages(Arc<Mutex<Book>>);

impl Messages {
    /// None yet; all are kept, if `keep`.
    pub(crate) fn new(plan: &Plan, keep: bool) -> Messages {
        let senders = plan.driven.len() * plan.fabric.hosts();
        let (sent, open) = (vec![0; senders], vec![Window::default(); senders]);
        let set = vec![0; plan.fabric.hosts()];
        Messages(Arc::new(Mutex::new(Book { sent, open, kept: keep.then(Vec::new), set, ..Book::default() })))
    }

    /// All messages that were kept, with their channels, in the order of their numbers.
    pub(crate) fn take_kept(&self) -> Vec<(usize, Posted)> {
        let mut kept = self.lock().kept.take().unwrap_or_default();
        kept.sort_unstable_by_key(|(_, posted)| posted.id);
        kept
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().expect("nothing panics while it holds the messages")
    }

    /// Gives `send` a number, at the time `now`: what its host has to start.
    ///
    /// # Errors
    /// It cannot be sent.
    pub(crate) fn post(&self, plan: &Plan, send: Send, now: Time) -> Result<(FlowId, PlannedFlow), SendError> {
        let Send { from, to, bytes, tag, at, channel } = send;
        let hosts = plan.fabric.hosts();
        if let Some(host) = [from, to].into_iter().find(|host| host.index() >= hosts) {
            return Err(SendError::Host(host.index(), hosts - 1));
        }
        let name = |host: HostId| plan.fabric.name(host.into()).to_string();
        if from == to {
            return Err(SendError::ToItself(name(from)));
        }
        let Some(driven) = plan.driven.get(channel) else {
            return Err(SendError::Channel(channel, plan.driven.len() - 1));
        };
        if at < now {
            return Err(SendError::Past { at, now });
        }
        if at >= plan.end {
            return Err(SendError::End { at, end: plan.end });
        }
        if at < driven.start {
            return Err(SendError::Early { channel, at, start: driven.start });
        }
        let mut book = self.lock();
        let sent = &mut book.sent[channel * hosts + from.index()];
        let id = plan.driven_id(channel, from, *sent).ok_or_else(|| SendError::Numbers(name(from)))?;
        *sent += 1;
        let posted = Posted { id, from, to, bytes, tag, at };
        book.kept.iter_mut().for_each(|kept| kept.push((channel, posted)));
        book.open[channel * hosts + from.index()].messages.push_back(Some(posted));
        book.left += 1;
        let flow = Flow::new((from, to), Some(bytes.max(1)), at);
        Ok((id, driven.planned(flow)))
    }

    /// Gives a number to the timer that `setter` sets at the time `now`.
    ///
    /// # Errors
    /// It cannot be set.
    pub(crate) fn set(&self, plan: &Plan, setter: HostId, timer: Timer, now: Time) -> Result<Posted, SendError> {
        let Timer { host, tag, at } = timer;
        let hosts = plan.fabric.hosts();
        if host.index() >= hosts {
            return Err(SendError::Host(host.index(), hosts - 1));
        }
        if at < now {
            return Err(SendError::Past { at, now });
        }
        if at >= plan.end {
            return Err(SendError::End { at, end: plan.end });
        }
        let mut book = self.lock();
        let set = &mut book.set[setter.index()];
        let id = FlowId::from(*set);
        *set = set.checked_add(1).ok_or_else(|| SendError::Numbers(plan.fabric.name(setter.into()).to_string()))?;
        book.timers += 1;
        Ok(Posted { id, from: setter, to: host, bytes: 0, tag, at })
    }

    /// The message `id`, if it is one that is open.
    fn get(&self, plan: &Plan, id: FlowId) -> Option<Posted> {
        let (sender, number) = plan.of_driven(id)?;
        *self.lock().open[sender].get(number)?
    }

    /// The program knows that `event` has happened.
    pub(crate) fn told(&self, plan: &Plan, event: &Event) {
        let mut book = self.lock();
        match event.what {
            Happened::Acked => {
                book.left -= 1;
                if let Some((sender, number)) = plan.of_driven(event.message.id) {
                    book.open[sender].take(number);
                }
            }
            Happened::GivenUp => book.left -= 1,
            Happened::Timer => book.timers -= 1,
            Happened::Delivered => {}
        }
    }

    /// How many are neither acknowledged nor given up.
    pub(crate) fn open(&self) -> usize {
        self.lock().left
    }

    /// How many timers are not due.
    pub(crate) fn timers(&self) -> usize {
        self.lock().timers
    }
}

/// The host to which something has happened, at the instant at which it has.
#[derive(Debug)]
pub struct Here<'a> {
    plan: &'a Plan,
    messages: &'a Messages,
    host: NodeId,
    context: &'a mut Context,
}

impl Here<'_> {
    /// The host.
    pub fn host(&self) -> HostId {
        self.host.into()
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.context.now
    }

    /// Sends a message from this host, now or later.
    ///
    /// # Errors
    /// It cannot be sent; or it is not from this host.
    pub fn send(&mut self, send: Send) -> Result<FlowId, SendError> {
        assert_eq!(send.from, self.host(), "a host sends its own messages");
        let (id, planned) = self.messages.post(self.plan, send, self.context.now)?;
        self.context.leave(self.host, send.at, Message::Start(id, planned));
        Ok(id)
    }

    /// The least time that anything takes from one host to another.
    pub fn lookahead(&self) -> Time {
        self.context.lookahead
    }

    /// Sets a timer: at this host, now or later; at another, a lookahead from now or later.
    ///
    /// # Errors
    /// It cannot be set.
    pub fn set_timer(&mut self, timer: Timer) -> Result<(), SendError> {
        let (host, here, soonest) = (timer.host, self.host(), self.context.now + self.context.lookahead);
        if host != here && host.index() < self.plan.fabric.hosts() && timer.at < soonest {
            let host = self.plan.fabric.name(host.into()).to_string();
            return Err(SendError::Soon { host, at: timer.at, soonest });
        }
        let posted = self.messages.set(self.plan, here, timer, self.context.now)?;
        self.context.send_or_leave(self.host, host.into(), timer.at, Message::Timer(posted));
        Ok(())
    }
}

/// What a program does at the instant of an event, at the host of the event. Several hosts may run it at once.
pub type React = dyn Fn(&Event, &mut Here<'_>) + std::marker::Send + Sync;

/// Gives hosts the messages of files, which a program has sent in another run.
pub(crate) struct Replay<'p>(pub(crate) &'p Plan);

impl Component for Replay<'_> {
    fn on_start(&mut self, context: &mut Context) {
        let Replay(plan) = self;
        for (channel, messages) in plan.replayed.iter().enumerate() {
            let mut sent = vec![0; plan.fabric.hosts()];
            for planned in messages {
                let (src, at) = (planned.flow.src, planned.flow.start);
                let number = &mut sent[src.index()];
                let id = plan.driven_id(channel, src, *number);
                *number += 1;
                if context.is_mine(src.into()) {
                    match id {
                        Some(id) => context.leave(src.into(), at, Message::Start(id, *planned)),
                        None => context.fail(Limit::FlowNumbers),
                    }
                }
            }
        }
    }
}

/// Tells the program what happens to its messages, and that its timers are due.
pub(crate) struct Driver<'p> {
    plan: &'p Plan,
    messages: Messages,
    react: Option<Arc<React>>,
}

impl<'p> Driver<'p> {
    pub(crate) fn new(plan: &'p Plan, messages: Messages, react: Option<Arc<React>>) -> Driver<'p> {
        Driver { plan, messages, react }
    }

    fn tell(&self, id: FlowId, what: Happened, host: HostId, context: &mut Context) {
        if let Some(message) = self.messages.get(self.plan, id) {
            self.happens(Event { at: context.now, what, message }, host, context);
        }
    }

    fn happens(&self, event: Event, host: HostId, context: &mut Context) {
        context.record().events.push(event);
        context.done += 1;
        if let Some(react) = &self.react {
            react(&event, &mut Here { plan: self.plan, messages: &self.messages, host: host.into(), context });
        }
    }
}

impl Component for Driver<'_> {
    fn on_message(&mut self, host: NodeId, message: Message, context: &mut Context) -> Option<Message> {
        let Message::Timer(timer) = message else { return Some(message) };
        self.happens(Event { at: context.now, what: Happened::Timer, message: timer }, host.into(), context);
        None
    }

    fn on_delivery(&mut self, flow: FlowId, (_, dst): (HostId, HostId), context: &mut Context) {
        self.tell(flow, Happened::Delivered, dst, context);
    }

    fn on_flow_end(&mut self, flow: FlowId, planned: &PlannedFlow, finished: bool, context: &mut Context) {
        let what = if finished { Happened::Acked } else { Happened::GivenUp };
        self.tell(flow, what, planned.flow.src, context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window begins at the first message that is open, whatever has ended behind it.
    #[test]
    fn a_window_finds_what_is_open() {
        let posted = |id: usize| {
            let (from, to) = (HostId::new(0), HostId::new(1));
            Posted { id: FlowId::new(id), from, to, bytes: 0, tag: 0, at: Time::ZERO }
        };
        let mut window = Window::default();
        let open = |window: &mut Window| -> Vec<usize> {
            let id = |number| window.get(number).and_then(|message| message.map(|message| message.id.index()));
            (0..6).filter_map(id).collect()
        };
        (0..4).for_each(|id| window.messages.push_back(Some(posted(10 + id))));
        for (ended, left, first) in
            [(1, &[10, 12, 13][..], 0), (1, &[10, 12, 13], 0), (0, &[12, 13], 2), (3, &[12], 2), (2, &[], 4)]
        {
            window.take(ended);
            assert_eq!((open(&mut window), window.first), (left.to_vec(), first));
        }
        window.messages.push_back(Some(posted(14)));
        assert_eq!(open(&mut window), [14]);
        assert!(window.get(3).is_none() && window.messages.len() == 1);
    }
}
