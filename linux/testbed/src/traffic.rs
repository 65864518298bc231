//! Which flow starts when: those of the plan, those that wait for others, and those that processes
//! start.

use linkpool_sim::{FlowId, FlowOutcome, JobOutcome, LabelId, Plan, PlannedFlow, ProcessId};
use linkpool_units::{HostId, Time};
use linkpool_workload::{Action, Flow, FlowEnd, Job, Listens, Process};
use std::collections::HashMap;

/// What is to happen at a time.
#[derive(Debug)]
pub(crate) enum Task {
    /// A flow starts.
    Start(FlowId, PlannedFlow),
    /// A process begins at a host.
    Begin(ProcessId, HostId, Box<Process>),
}

/// What starts flows.
#[derive(Debug)]
pub(crate) struct Traffic<'p> {
    plan: &'p Plan,
    /// By flow that waits: for how many others it does no more.
    over: HashMap<FlowId, u32>,
    /// By number: where each process is, and its state.
    processes: HashMap<ProcessId, (HostId, Process)>,
    pub(crate) jobs: Vec<JobOutcome>,
    /// Flows that count for the end of the run.
    counted: u64,
}

/// Times and tasks.
pub(crate) type Tasks = Vec<(Time, Task)>;

impl<'p> Traffic<'p> {
    /// With what it starts by itself.
    pub(crate) fn new(plan: &'p Plan) -> (Traffic<'p>, Tasks) {
        let flows = FlowId::first(plan.flows.len()).zip(plan.flows.iter()).filter(|(id, _)| !plan.waits.waits(*id));
        let flows = flows.map(|(id, planned)| (planned.flow.start, Task::Start(id, planned)));
        let process = |(number, planned): (ProcessId, &linkpool_sim::PlannedProcess)| {
            (planned.start, Task::Begin(number, planned.home, Box::new(planned.process.clone())))
        };
        let tasks = flows.chain(ProcessId::first(plan.processes.len()).zip(&plan.processes).map(process)).collect();
        let traffic = Traffic { plan, over: HashMap::new(), processes: HashMap::new(), jobs: Vec::new(), counted: 0 };
        (traffic, tasks)
    }

    /// Process `number` begins at `host`.
    pub(crate) fn begin(&mut self, number: ProcessId, host: HostId, mut process: Process, now: Time) -> Tasks {
        let mut actions = Vec::new();
        if now < self.plan.processes[number.index()].until {
            process.begin(host, now, &mut actions);
            self.processes.insert(number, (host, process));
        }
        self.act(number, actions, now)
    }

    /// All data of a flow has arrived.
    pub(crate) fn delivered(&mut self, id: FlowId, planned: &PlannedFlow, now: Time) -> Tasks {
        let Flow { src, dst, .. } = planned.flow;
        let mut tasks = Tasks::new();
        let homes = |home: HostId| home == dst || home != src;
        self.one_less(id, homes, now, &mut tasks);
        let Some((number, of)) = self.plan.of_process(id) else { return tasks };
        let process = &self.plan.processes[number.index()];
        if process.process.listens() == Listens::Receiver {
            let end = FlowEnd { number: of, src, dst, at: now };
            match process.process.answer(end) {
                Some(answer) => tasks.extend(self.start(number, answer, process.answer_label)),
                None => tasks.extend(self.tell(number, end, now)),
            }
        }
        tasks
    }

    /// A flow is over at its sender.
    pub(crate) fn ended(&mut self, outcome: &FlowOutcome, now: Time) -> Tasks {
        let Flow { src, dst, .. } = outcome.planned.flow;
        let mut tasks = Tasks::new();
        if outcome.finished.is_some() {
            self.one_less(outcome.flow, |home| home == src, now, &mut tasks);
            let counts = self.plan.goal.as_ref().is_some_and(|goal| goal.labels[outcome.planned.label.index()]);
            self.counted += u64::from(counts);
        }
        let Some((number, of)) = self.plan.of_process(outcome.flow) else { return tasks };
        if self.plan.processes[number.index()].process.listens() != Listens::Receiver {
            tasks.extend(self.tell(number, FlowEnd { number: of, src, dst, at: now }, now));
        }
        tasks
    }

    /// Have so many flows finished that the run is over?
    pub(crate) fn is_enough(&self) -> bool {
        self.plan.goal.as_ref().is_some_and(|goal| self.counted >= goal.flows)
    }

    /// Notes the jobs that are not done.
    pub(crate) fn finish(&mut self, now: Time) {
        let unfinished = self.processes.iter().filter_map(|(number, (host, process))| {
            Some((self.plan.processes[number.index()].answer_label, process.unfinished(*host)?))
        });
        let jobs = unfinished.map(|(label, job)| job_outcome(label, job, now));
        self.jobs.extend(jobs);
    }

    /// Followers of `flow` whose home is one of `homes` wait for one less.
    fn one_less(&mut self, flow: FlowId, homes: impl Fn(HostId) -> bool, now: Time, tasks: &mut Tasks) {
        for follower in self.plan.waits.followers(flow) {
            let follower = follower.flow;
            let Some((needed, mut planned)) = self.plan.waits.needs(follower) else { continue };
            if !homes(planned.flow.src) {
                continue;
            }
            let over = self.over.entry(follower).or_insert(0);
            *over += 1;
            if *over == needed {
                planned.flow.start = now.saturating_add(planned.flow.start);
                tasks.extend(self.in_time(follower, planned, self.plan.last_start));
            }
        }
    }

    fn in_time(&self, id: FlowId, planned: PlannedFlow, until: Time) -> Option<(Time, Task)> {
        (planned.flow.start < until).then_some((planned.flow.start, Task::Start(id, planned)))
    }

    fn tell(&mut self, number: ProcessId, end: FlowEnd, now: Time) -> Tasks {
        let mut actions = Vec::new();
        if let Some((_, process)) = self.processes.get_mut(&number) {
            process.on_end(end, now, &mut actions);
        }
        self.act(number, actions, now)
    }

    /// Does what process `number` asks for.
    fn act(&mut self, number: ProcessId, actions: Vec<Action>, now: Time) -> Tasks {
        let planned = &self.plan.processes[number.index()];
        let mut tasks = Tasks::new();
        for action in actions {
            match action {
                Action::Start(..) => tasks.extend(self.start(number, action, planned.label)),
                Action::Move(to, at) => {
                    if let Some((_, process)) = self.processes.remove(&number) {
                        tasks.push((at, Task::Begin(number, to, Box::new(process))));
                    }
                }
                Action::Finish(job) => self.jobs.push(job_outcome(planned.answer_label, job, now)),
            }
        }
        tasks
    }

    /// The task to start a flow of process `number`, if that is asked for and in time.
    fn start(&self, number: ProcessId, action: Action, label: LabelId) -> Option<(Time, Task)> {
        let Action::Start(of, flow) = action else { return None };
        let process = &self.plan.processes[number.index()];
        let planned = PlannedFlow { flow, transport: process.transport_of(flow.size), label };
        // Answers come whenever they are asked for.
        let until = if label == process.label { process.until } else { Time::MAX };
        let id = self.plan.id(number, of).expect("a test bed is done before it has started 2^32 flows");
        self.in_time(id, planned, until)
    }
}

fn job_outcome(label: LabelId, job: Job, now: Time) -> JobOutcome {
    JobOutcome { label, job, active_until: now, not_started: None, restart: 0, failed: false, lost: None }
}
