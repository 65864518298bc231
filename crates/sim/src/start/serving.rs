//! Serves models: chooses decode instances for requests, starts the messages between instances, and
//! lets the time of their computation pass.

use crate::host::component::{Component, Context};
use crate::host::message::{Message, Serve};
use crate::plan::{FlowId, Plan, PlannedServing};
use crate::results::outcome::RequestOutcome;
use crate::results::sample::{DecodeStep, Sample, Value};
use crate::results::sink::Limit;
use linkpool_network::{HostId, Network, NodeId};
use linkpool_units::Time;
use linkpool_workload::serving::{Action, Decoder, FirstToken, Payload, Router, Step};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// What all partitions know of the models that are served.
#[derive(Clone, Debug)]
pub(crate) struct Served(Arc<Vec<Mutex<Book>>>);

/// Of one model.
#[derive(Debug)]
struct Book {
    /// Of messages that have not arrived: the instances that send and receive it, and what it
    /// carries.
    carried: HashMap<FlowId, (u32, u32, Payload)>,
    /// By request.
    requests: Vec<RequestOutcome>,
}

impl Book {
    /// A request is answered.
    fn finish(&mut self, request: u32, now: Time) -> RequestOutcome {
        let outcome = &mut self.requests[request as usize];
        (outcome.end, outcome.active_until) = (Some(now), now);
        *outcome
    }
}

impl Served {
    pub(crate) fn new(plan: &Plan) -> Served {
        let book = |(served, planned): (usize, &PlannedServing)| {
            let requests = 0..planned.serving.requests.len() as u32;
            let requests = requests.map(|request| RequestOutcome::new(served, request)).collect();
            Mutex::new(Book { carried: HashMap::new(), requests })
        };
        Served(Arc::new(plan.served.iter().enumerate().map(book).collect()))
    }

    fn of(&self, served: u32) -> MutexGuard<'_, Book> {
        self.0[served as usize].lock().expect("nothing panics while it holds a book")
    }
}

/// The instances at hosts of this partition.
pub(crate) struct Instances<'p> {
    plan: &'p Plan,
    served: Served,
    /// By place of the model in the plan: what its router knows, which is at the first host of
    /// prefill.
    routers: Vec<Router>,
    /// By place of the model, and by decode instance.
    decoders: Vec<Vec<Decoder<'p>>>,
    /// By place of the model, and by instance, those of prefill first: the messages that it has
    /// sent.
    sent: Vec<Vec<u32>>,
    /// Empty, for use.
    actions: Vec<Action>,
    /// The steps that go on, by place of the model and by decode instance; empty unless they are recorded.
    steps: Vec<Vec<Going>>,
}

/// A step that goes on.
#[derive(Clone, Copy, Debug, Default)]
struct Going {
    start: Time,
    computed: Time,
}

impl<'p> Instances<'p> {
    pub(crate) fn new(plan: &'p Plan, served: Served) -> Instances<'p> {
        let decoders = |planned: &'p PlannedServing| {
            (0..planned.serving.decode.len() as u32).map(|i| Decoder::new(&planned.serving, i)).collect()
        };
        let recorded = plan.served.iter().filter(|_| plan.record.steps);
        Instances {
            plan,
            served,
            routers: plan.served.iter().map(|planned| Router::new(planned.serving.decode.len())).collect(),
            decoders: plan.served.iter().map(decoders).collect(),
            sent: plan.served.iter().map(|planned| vec![0; planned.instances()]).collect(),
            actions: Vec::new(),
            steps: recorded.map(|planned| vec![Going::default(); planned.serving.decode.len()]).collect(),
        }
    }

    /// Sends a message of `bytes` from instance `from` (those of prefill are first) to decode
    /// instance `to`.
    fn send(&mut self, served: u32, from: usize, (to, bytes, payload): (u32, u64, Payload), context: &mut Context) {
        let planned = &self.plan.served[served as usize];
        let prefill = planned.serving.prefill.len();
        let sent = &mut self.sent[served as usize][from];
        let Some(id) = self.plan.served_id(served as usize, from, *sent) else {
            return context.fail(Limit::FlowNumbers);
        };
        *sent += 1;
        let host = |instance: usize| planned.hosts().nth(instance).expect("an instance");
        let ends = (host(from), host(prefill + to as usize));
        // Of keys and values nobody asks who has sent them.
        let sender = from.saturating_sub(prefill) as u32;
        self.served.of(served).carried.insert(id, (sender, to, payload));
        context.leave(ends.0.into(), context.now, Message::Start(id, planned.flow(ends, bytes, payload, context.now)));
    }

    /// The router chooses a decode instance for the request whose prompt is computed as number
    /// `place`, a lookahead before that: so its prefill instance knows in time.
    fn choose(&mut self, served: u32, place: u32, context: &mut Context) {
        let serving = &self.plan.served[served as usize].serving;
        let request = serving.computed[place as usize];
        let of = &serving.requests[request as usize];
        let home = NodeId::from(serving.prefill[0]);
        let at = of.end.max(context.now.saturating_add(context.lookahead));
        let there = NodeId::from(serving.prefill[of.prefill as usize]);
        let instance = (serving.to_decode(request) > 0).then(|| self.routers[served as usize].choose());
        self.served.of(served).requests[request as usize].decode = instance;
        context.send_or_leave(home, there, at, Message::Serve(served, Serve::Computed(request)));
        self.next(served, place + 1, context);
    }

    /// Sets the time of the next choice.
    fn next(&self, served: u32, place: u32, context: &mut Context) {
        let serving = &self.plan.served[served as usize].serving;
        let Some(request) = serving.computed.get(place as usize) else { return };
        let at = serving.requests[*request as usize].end.saturating_sub(context.lookahead).max(context.now);
        context.leave(NodeId::from(serving.prefill[0]), at, Message::Serve(served, Serve::Choose(place)));
    }

    /// The prompt of a request is computed at its prefill instance.
    fn computed(&mut self, served: u32, request: u32, context: &mut Context) {
        let serving = &self.plan.served[served as usize].serving;
        let mut book = self.served.of(served);
        let outcome = &mut book.requests[request as usize];
        if serving.first_token == FirstToken::Prefill {
            (outcome.first_token, outcome.tokens) = (Some(context.now), 1);
        }
        let Some(instance) = outcome.decode else {
            let outcome = book.finish(request, context.now);
            return context.record().requests.push(outcome);
        };
        outcome.sent = Some(context.now);
        drop(book);
        let from = serving.requests[request as usize].prefill as usize;
        self.send(served, from, (instance, serving.kv(request), Payload::Kv(request)), context);
    }

    /// Lets `act` change a decode instance, and carries out the actions that follow.
    fn with(
        &mut self,
        (served, instance): (u32, u32),
        context: &mut Context,
        act: impl FnOnce(&mut Decoder<'p>, &mut Vec<Action>),
    ) {
        let mut actions = std::mem::take(&mut self.actions);
        let decoder = &mut self.decoders[served as usize][instance as usize];
        let before = decoder.step();
        act(decoder, &mut actions);
        let after = decoder.step();
        if before.map(|step| step.number) != after.map(|step| step.number) {
            self.record((served, instance), before, true, context);
        }
        let serving = &self.plan.served[served as usize].serving;
        let here = NodeId::from(serving.decode[instance as usize]);
        for action in actions.drain(..) {
            match action {
                Action::Send(to, bytes, payload) => {
                    let from = serving.prefill.len() + instance as usize;
                    self.send(served, from, (to, bytes, payload), context);
                }
                Action::Compute(time) => {
                    if let Some(steps) = self.steps.get_mut(served as usize) {
                        let computed = &mut steps[instance as usize].computed;
                        *computed = computed.saturating_add(time);
                    }
                    let at = context.now.saturating_add(time);
                    context.leave(here, at, Message::Serve(served, Serve::Stepped(instance)));
                }
                Action::Token(request) => {
                    let mut book = self.served.of(served);
                    let outcome = &mut book.requests[request as usize];
                    outcome.first_token.get_or_insert(context.now);
                    outcome.tokens += 1;
                }
                Action::Over(request) => {
                    let outcome = self.served.of(served).finish(request, context.now);
                    context.record().requests.push(outcome);
                    let router = NodeId::from(serving.prefill[0]);
                    let at = context.now.saturating_add(context.lookahead);
                    context.send(router, at, Message::Serve(served, Serve::Over(request, instance)));
                }
            }
        }
        self.actions = actions;
    }
}

impl Instances<'_> {
    /// If steps are recorded: `step`, if one was going on, has ended or is cut off, and perhaps the next begins.
    fn record(&mut self, (served, instance): (u32, u32), step: Option<Step>, over: bool, context: &Context) {
        let Some(steps) = self.steps.get_mut(served as usize) else { return };
        let going = &mut steps[instance as usize];
        if let Some(step) = step {
            let Going { start, computed } = *going;
            let value = Value::Step(DecodeStep { served, instance, step, start, computed, over });
            context.sample([Sample { at: context.now, value }]);
        }
        *going = Going { start: context.now, computed: Time::ZERO };
    }
}

impl Component for Instances<'_> {
    fn on_start(&mut self, context: &mut Context) {
        for (served, planned) in (0u32..).zip(&self.plan.served) {
            if context.is_mine(NodeId::from(planned.serving.prefill[0])) {
                self.next(served, 0, context);
            }
        }
    }

    fn on_message(&mut self, _: NodeId, message: Message, context: &mut Context) -> Option<Message> {
        let Message::Serve(served, what) = message else { return Some(message) };
        match what {
            Serve::Choose(place) => self.choose(served, place, context),
            Serve::Computed(request) => self.computed(served, request, context),
            Serve::Stepped(instance) => self.with((served, instance), context, Decoder::computed),
            Serve::Over(_, instance) => self.routers[served as usize].over(instance),
        }
        None
    }

    fn on_delivery(&mut self, flow: FlowId, _: (HostId, HostId), context: &mut Context) {
        let Some(served) = self.plan.of_served(flow) else { return };
        let mut book = self.served.of(served);
        let Some((from, to, payload)) = book.carried.remove(&flow) else { return };
        if let Payload::Kv(request) = payload {
            book.requests[request as usize].arrived = Some(context.now);
        }
        drop(book);
        self.with((served, to), context, |decoder, actions| decoder.arrived(from, payload, actions));
    }

    /// Records the requests that are not answered, and the steps that go on.
    fn on_end(&mut self, _: &mut Network, context: &mut Context) {
        for served in 0..self.steps.len() {
            for instance in 0..self.steps[served].len() {
                let step = self.decoders[served][instance].step();
                if context.is_mine(self.plan.served[served].serving.decode[instance].into()) && step.is_some() {
                    self.record((served as u32, instance as u32), step, false, context);
                }
            }
        }
        for (served, planned) in (0u32..).zip(&self.plan.served) {
            if !context.is_mine(NodeId::from(planned.serving.prefill[0])) {
                continue;
            }
            let book = self.served.of(served);
            let requests = planned.serving.requests.iter().zip(&book.requests);
            let open = requests.filter(|(of, outcome)| outcome.end.is_none() && of.arrival < context.now);
            let cut = open.map(|(_, outcome)| RequestOutcome { active_until: context.now, ..*outcome });
            context.record().requests.extend(cut);
        }
    }
}
