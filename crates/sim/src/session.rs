//! A run that another program drives: it opens the run, sends messages while it goes on, lets time pass, learns what has
//! happened, and closes the run.
//!
//! All that is due before the clock has happened, and nothing that is due at it or later: so a message that is sent at
//! the present is like one that was known before the run. An event is known when the clock has passed it. A program that
//! has to answer an event at its own instant, at its host, gives a [`React`].

use crate::directory::{Cost, Files, RunInfo, cores};
use crate::host::component::Component;
use crate::host::message::Message;
use crate::plan::{FlowId, Plan};
use crate::results::event::Event;
use crate::results::outcome::{FlowOutcome, JobOutcome, Outcome, RankOutcome, RequestOutcome};
use crate::results::passing::Passed;
use crate::results::sample::Sample;
use crate::results::sink::Sink;
use crate::run::{Progress, Run, RunError, components};
use crate::start::driver::{Driver, Messages, React, Send, SendError, Timer};
use crate::start::ranks::Checkpoints;
use crate::start::serving::Served;
use linkpool_network::{Ended, HostId, Timetable};
use linkpool_scenario::Scenario;
use linkpool_units::Time;
use self_cell::self_cell;
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How a session is opened.
#[derive(Clone, Default)]
pub struct Options {
    /// Threads of the simulation; none: as many as are worthwhile.
    pub threads: Option<u8>,
    /// Where results are written, as those of any run.
    pub directory: Option<PathBuf>,
    /// What the program does at the instant of an event.
    pub react: Option<Arc<React>>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { threads, directory, react } = self;
        let fields = (threads, directory, react.is_some());
        write!(f, "Options{fields:?}")
    }
}

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The scenario ends by its own goal.
    #[error("until: a scenario that another program drives has no goal of its own; leave `until` out")]
    Until,
    /// The scenario leaves no place for a program's messages.
    #[error(
        "[[workload.session]]: the scenario has none without `file`, so no transport is known for what a program sends"
    )]
    Undriven,
    /// Time does not go back.
    #[error("{to} is past: it is {now}")]
    Past {
        /// The time asked for.
        to: Time,
        /// The clock.
        now: Time,
    },
    /// The scenario ends.
    #[error("{to} is after the end of the scenario, duration and drain, at {end}")]
    End {
        /// The time asked for.
        to: Time,
        /// The end.
        end: Time,
    },
    /// The run has failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What a run borrows.
struct Ground {
    scenario: Arc<Scenario>,
    plan: Plan,
    timetable: Timetable,
    directory: Option<PathBuf>,
}

type Going<'g> = Option<InProgress<'g>>;

self_cell!(
    /// A run that another program drives.
    pub struct Session {
        owner: Box<Ground>,
        #[not_covariant]
        dependent: Going,
    }
);

/// A session until it is closed.
struct InProgress<'g> {
    ground: &'g Ground,
    run: Run<'g>,
    threads: u8,
    cost: Cost,
    messages: Messages,
    files: Option<Files<'g>>,
    events: VecDeque<Event>,
    now: Time,
}

impl Session {
    /// Opens a run of `scenario`, at time 0.
    ///
    /// # Errors
    /// The scenario has a goal, or no run can begin.
    pub fn open(scenario: Arc<Scenario>, options: Options) -> Result<Session, SessionError> {
        if scenario.until.is_some() {
            return Err(SessionError::Until);
        }
        let Options { threads, directory, react } = options;
        let plan = Plan::new(&scenario);
        if plan.driven.iter().all(|driven| !driven.outside) {
            return Err(SessionError::Undriven);
        }
        let timetable = plan.timetable();
        let ground = Box::new(Ground { scenario, plan, timetable, directory });
        Session::try_new(ground, |ground| {
            let Ground { scenario, plan, timetable, directory } = &**ground;
            let threads = threads.unwrap_or_else(|| plan.worthwhile_threads(cores()));
            let messages = Messages::new(plan, directory.is_some());
            let shared = (&Served::new(plan), &Checkpoints::new(plan));
            let of_partition = || {
                let mut all = components(plan, timetable.routes_at(Time::ZERO), shared);
                let driver: Box<dyn Component + std::marker::Send> =
                    Box::new(Driver::new(plan, messages.clone(), react.clone()));
                all.push(driver);
                all
            };
            let run = Run::new(plan, timetable, threads, &of_partition)?;
            let files = directory.as_ref().map(|to| Files::create(scenario, to, plan, timetable)).transpose()?;
            let (cost, events) = (Cost::default(), VecDeque::new());
            Ok(Some(InProgress { ground, run, threads, cost, messages, files, events, now: Time::ZERO }))
        })
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut InProgress<'_>) -> T) -> T {
        self.with_dependent_mut(|_, going| act(going.as_mut().expect("a session that is closed is gone")))
    }

    fn read<T>(&self, read: impl FnOnce(&InProgress<'_>) -> T) -> T {
        self.with_dependent(|_, going| read(going.as_ref().expect("a session that is closed is gone")))
    }

    /// The clock: all that is due before now has happened.
    pub fn now(&self) -> Time {
        self.read(|going| going.now)
    }

    /// The end of the scenario, beyond which the clock does not go.
    pub fn end(&self) -> Time {
        self.borrow_owner().plan.end
    }

    /// The least time that anything takes from one host to another. After [`Session::step`] the clock is at most so far
    /// beyond the event.
    pub fn lookahead(&self) -> Time {
        self.read(|going| going.run.lookahead())
    }

    /// The number of hosts.
    pub fn hosts(&self) -> usize {
        self.borrow_owner().plan.fabric.hosts()
    }

    /// The host called `name`.
    pub fn host(&self, name: &str) -> Option<HostId> {
        let fabric = &self.borrow_owner().plan.fabric;
        fabric.node(name).filter(|node| node.index() < fabric.hosts()).map(HostId::from)
    }

    /// The name of a host.
    pub fn name(&self, host: HostId) -> String {
        self.borrow_owner().plan.fabric.name(host.into()).to_string()
    }

    /// The labels of the workloads of kind `session`, by channel.
    pub fn channels(&self) -> impl Iterator<Item = &str> {
        let plan = &self.borrow_owner().plan;
        plan.driven.iter().map(|driven| &*plan.labels[driven.label.index()])
    }

    /// Sends a message, and returns its number.
    ///
    /// # Errors
    /// It cannot be sent.
    pub fn send(&mut self, send: Send) -> Result<FlowId, SendError> {
        self.with(|going| {
            let (id, planned) = going.messages.post(&going.ground.plan, send, going.now)?;
            going.run.leave(send.from, send.at, Message::Start(id, planned));
            Ok(id)
        })
    }

    /// Sets a timer: an event at its host, when it is due.
    ///
    /// # Errors
    /// It cannot be set.
    pub fn set_timer(&mut self, timer: Timer) -> Result<(), SendError> {
        self.with(|going| {
            let posted = going.messages.set(&going.ground.plan, timer.host, timer, going.now)?;
            going.run.leave(timer.host, timer.at, Message::Timer(posted));
            Ok(())
        })
    }

    /// Lets time pass to `to`: all that is due before happens. `progress` is as in [`crate::simulate`].
    ///
    /// # Errors
    /// `to` is past or after the end; or the run fails.
    pub fn advance_to(&mut self, to: Time, progress: &mut dyn FnMut(Progress) -> bool) -> Result<(), SessionError> {
        self.with(|going| {
            going.check(to)?;
            going.advance(to, u64::MAX, progress)
        })
    }

    /// Lets time pass until there is an event, and no longer than to `to`: to the end of the window in which the event
    /// is, so at most a lookahead beyond it. Returns whether there is one.
    ///
    /// # Errors
    /// `to` is past or after the end; or the run fails.
    pub fn step(&mut self, to: Time, progress: &mut dyn FnMut(Progress) -> bool) -> Result<bool, SessionError> {
        self.with(|going| {
            going.check(to)?;
            let goal = going.run.done() + 1;
            if going.events.is_empty() {
                going.advance(to, goal, progress)?;
            }
            Ok(!going.events.is_empty())
        })
    }

    /// Lets time pass until every message is acknowledged or given up and every timer has been due, and no longer than
    /// the scenario lasts. Returns whether nothing is left.
    ///
    /// # Errors
    /// The run fails.
    pub fn drain(&mut self, progress: &mut dyn FnMut(Progress) -> bool) -> Result<bool, SessionError> {
        self.with(|going| {
            let end = going.ground.plan.end;
            while !going.is_idle() && going.now < end {
                going.advance(end, going.run.done() + 1, progress)?;
            }
            Ok(going.is_idle())
        })
    }

    /// The first event that has not been taken.
    pub fn poll(&mut self) -> Option<Event> {
        self.with(|going| going.events.pop_front())
    }

    /// All events that have not been taken, in order of time.
    pub fn events(&mut self) -> Vec<Event> {
        self.with(|going| going.events.drain(..).collect())
    }

    /// Messages that are neither acknowledged nor given up.
    pub fn open_messages(&self) -> usize {
        self.read(|going| going.messages.open())
    }

    /// Timers that have not been due.
    pub fn open_timers(&self) -> usize {
        self.read(|going| going.messages.timers())
    }

    /// Ends the run now. With a directory, the results are there afterwards, and this is their `run.json`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn close(mut self) -> Result<(Outcome, Option<RunInfo>), SessionError> {
        self.with_dependent_mut(|ground, going| {
            let Some(InProgress { run, threads, mut cost, messages, mut files, mut events, now, .. }) = going.take()
            else {
                unreachable!("a session is closed once")
            };
            let plan = &ground.plan;
            let mut sink = Taking { plan, messages: &messages, events: &mut events, files: files.as_mut() };
            let outcome = cost.add(threads, || run.finish(now, &mut sink))?;
            let Some(files) = files else { return Ok((outcome, None)) };
            let scenario = files.write_messages(&ground.scenario, &ground.plan, messages.take_kept())?;
            let info = files.close(&scenario, &ground.plan, Ok(outcome.clone()), (threads, cost))?;
            Ok((outcome, Some(info)))
        })
    }
}

impl InProgress<'_> {
    /// Does nothing wait that the program has asked for?
    fn is_idle(&self) -> bool {
        self.messages.open() == 0 && self.messages.timers() == 0
    }

    fn check(&self, to: Time) -> Result<(), SessionError> {
        let (now, end) = (self.now, self.ground.plan.end);
        if to < now {
            return Err(SessionError::Past { to, now });
        }
        if to > end {
            return Err(SessionError::End { to, end });
        }
        Ok(())
    }

    /// Lets time pass to `to`, or until so many events have happened since the run began.
    fn advance(&mut self, to: Time, goal: u64, progress: &mut dyn FnMut(Progress) -> bool) -> Result<(), SessionError> {
        let InProgress { ground, run, threads, cost, messages, files, events, now, .. } = self;
        let mut sink = Taking { plan: &ground.plan, messages, events, files: files.as_mut() };
        *now = cost.add(*threads, || {
            let passed = match run.advance(to, goal, &mut sink, progress)? {
                Ended::Done(before) => before,
                _ => to,
            };
            run.give(passed, &mut sink).map(|()| passed)
        })?;
        Ok(())
    }
}

/// Takes what is recorded: events for the program, everything else for the files.
struct Taking<'a, 'p> {
    plan: &'p Plan,
    messages: &'a Messages,
    events: &'a mut VecDeque<Event>,
    files: Option<&'a mut Files<'p>>,
}

impl Sink for Taking<'_, '_> {
    fn sample(&mut self, sample: Sample) {
        if let Some(files) = &mut self.files {
            files.sample(sample);
        }
    }

    fn flow(&mut self, flow: FlowOutcome) {
        if let Some(files) = &mut self.files {
            files.flow(flow);
        }
    }

    fn job(&mut self, job: JobOutcome) {
        self.files.iter_mut().for_each(|files| files.job(job));
    }

    fn rank(&mut self, rank: RankOutcome) {
        self.files.iter_mut().for_each(|files| files.rank(rank));
    }

    fn request(&mut self, request: RequestOutcome) {
        self.files.iter_mut().for_each(|files| files.request(request));
    }

    fn packet(&mut self, passed: Passed) {
        if let Some(files) = &mut self.files {
            files.packet(passed);
        }
    }

    fn event(&mut self, event: Event) {
        self.messages.told(self.plan, &event);
        self.events.push_back(event);
    }

    fn is_broken(&self) -> bool {
        self.files.as_ref().is_some_and(|files| files.is_broken())
    }
}
