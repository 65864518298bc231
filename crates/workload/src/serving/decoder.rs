//! A decode instance: steps that generate a token for each sequence of a batch.

use super::Serving;
use linkpool_engine::Stream;
use linkpool_units::Time;
use std::collections::VecDeque;

/// What a message between instances carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// Keys and values of this request.
    Kv(u32),
    /// Tokens for experts of the receiver.
    Dispatch {
        /// The exchange, counted from 0 over all layers of all steps.
        exchange: u32,
        /// How many.
        tokens: u32,
        /// Has the sender sequences for a further step?
        more: bool,
    },
    /// Tokens that come back from experts.
    Combine,
}

/// What a decode instance asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Sends a message of so many bytes to this instance.
    Send(u32, u64, Payload),
    /// Computes for this long; [`Decoder::computed`] is called then.
    Compute(Time),
    /// A token of this request is there.
    Token(u32),
    /// That was its last.
    Over(u32),
}

/// A step of a decode instance that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its number at the instance, from 0.
    pub number: u32,
    /// Sequences of its batch, each of which gets a token.
    pub sequences: u32,
    /// Of these, those of whom it is the first step.
    pub joined: u32,
}

/// The state of a decode instance.
///
/// With experts, all instances step together, as each waits for the tokens of all others in each
/// exchange. The last exchange of a step tells each whether any of them has sequences for a further
/// step. If none has, all stop; the next that gets a request begins the next step, and its messages
/// take the others along.
#[derive(Clone, Debug)]
pub struct Decoder<'s> {
    serving: &'s Serving,
    me: u32,
    /// Requests whose keys and values are here, and that are in no batch yet.
    waiting: VecDeque<u32>,
    /// The batch: requests, and how many tokens each still gets.
    batch: Vec<(u32, u32)>,
    at: At,
    /// Steps that have begun, and how many sequences joined with the last.
    steps: u32,
    joined: u32,
    exchanges: Exchanges,
    random: Option<Stream>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// Nothing to do.
    Rest,
    /// The computation of a step, or of a layer of it.
    Computation,
    /// Tokens have been sent, and others have not come.
    Dispatch,
    /// The computation of experts.
    Experts,
    /// Tokens have been sent back, and others have not come back.
    Combine,
}

/// What has come of the present exchange, and of the next, as others may be ahead by one.
#[derive(Clone, Debug, Default)]
struct Exchanges {
    /// The number of the present one, or, at rest, of the next.
    number: u32,
    /// The layer of it.
    layer: u32,
    /// By parity of the number: the senders whose tokens have come, and how many tokens.
    came: [Vec<(u32, u32)>; 2],
    /// By parity: has any of them sequences for a further step?
    more: [bool; 2],
    /// Of the tokens that this instance has sent: those that stay here.
    own: u32,
    /// Messages that have come back.
    back: u32,
}

impl<'s> Decoder<'s> {
    /// Instance `me`.
    pub fn new(serving: &'s Serving, me: u32) -> Decoder<'s> {
        let random = serving.experts.as_ref().map(|(_, streams)| streams[me as usize].clone());
        let (waiting, batch) = (VecDeque::new(), Vec::new());
        let exchanges = Exchanges::default();
        Decoder { serving, me, waiting, batch, at: At::Rest, steps: 0, joined: 0, exchanges, random }
    }

    /// The step that goes on.
    pub fn step(&self) -> Option<Step> {
        let step = Step { number: self.steps.wrapping_sub(1), sequences: self.batch.len() as u32, joined: self.joined };
        (self.at != At::Rest).then_some(step)
    }

    fn others(&self) -> u32 {
        self.serving.decode.len() as u32 - 1
    }

    /// A message has arrived from instance `from` (of keys and values: of those of prefill).
    pub fn arrived(&mut self, from: u32, payload: Payload, out: &mut Vec<Action>) {
        match payload {
            Payload::Kv(request) => {
                self.waiting.push_back(request);
                if self.at == At::Rest {
                    self.begin_step(out);
                }
            }
            Payload::Dispatch { exchange, tokens, more } => {
                let parity = (exchange % 2) as usize;
                self.exchanges.came[parity].push((from, tokens));
                self.exchanges.more[parity] |= more;
                if self.at == At::Rest {
                    self.begin_step(out);
                } else {
                    self.serve_experts(out);
                }
            }
            Payload::Combine => {
                self.exchanges.back += 1;
                self.end_exchange(out);
            }
        }
    }

    /// The computation that was asked for is done.
    pub fn computed(&mut self, out: &mut Vec<Action>) {
        match self.at {
            At::Computation if self.serving.experts.is_some() => self.dispatch(out),
            At::Computation => self.end_step(out),
            At::Experts => self.combine(out),
            At::Rest | At::Dispatch | At::Combine => unreachable!("nothing is computed at {:?}", self.at),
        }
    }

    /// Takes requests into the batch as they came, while there is room; computes if there are any.
    fn begin_step(&mut self, out: &mut Vec<Action>) {
        let before = self.batch.len();
        while self.batch.len() < self.serving.batch as usize
            && let Some(request) = self.waiting.pop_front()
        {
            self.batch.push((request, self.serving.to_decode(request)));
        }
        self.joined = (self.batch.len() - before) as u32;
        self.steps = self.steps.wrapping_add(1);
        self.exchanges.layer = 0;
        self.compute_layer(out);
    }

    /// The layers share the time of a step.
    fn compute_layer(&mut self, out: &mut Vec<Action>) {
        self.at = At::Computation;
        let Serving { step, per_sequence, experts, .. } = self.serving;
        if self.batch.is_empty() {
            // Without sequences an instance takes part for its experts.
            return self.dispatch(out);
        }
        let whole = step.0.saturating_add(per_sequence.0.saturating_mul(self.batch.len() as u64));
        let layers = experts.as_ref().map_or(1, |(experts, _)| u64::from(experts.layers));
        let until = |layer: u64| (u128::from(whole) * u128::from(layer) / u128::from(layers)) as u64;
        let layer = u64::from(self.exchanges.layer);
        out.push(Action::Compute(Time(until(layer + 1) - until(layer))));
    }

    /// Sends the tokens of the batch to their experts.
    fn dispatch(&mut self, out: &mut Vec<Action>) {
        let Some(((experts, _), random)) = self.serving.experts.as_ref().zip(self.random.as_mut()) else { return };
        self.at = At::Dispatch;
        let chosen = experts.choose(self.batch.len() as u32, self.serving.decode.len(), random);
        let more = !self.waiting.is_empty() || self.batch.iter().any(|(_, left)| *left > 1);
        let exchange = self.exchanges.number;
        for (to, tokens) in (0u32..).zip(chosen) {
            if to == self.me {
                self.exchanges.own = tokens;
            } else {
                let payload = Payload::Dispatch { exchange, tokens, more };
                out.push(Action::Send(to, u64::from(tokens) * experts.dispatch, payload));
            }
        }
        self.exchanges.more[(exchange % 2) as usize] |= more;
        self.serve_experts(out);
    }

    /// Computes for all tokens of the exchange, if all have come and the own have been sent.
    fn serve_experts(&mut self, out: &mut Vec<Action>) {
        let came = &self.exchanges.came[(self.exchanges.number % 2) as usize];
        if self.at != At::Dispatch || (came.len() as u32) < self.others() {
            return;
        }
        let tokens = came.iter().map(|(_, tokens)| u64::from(*tokens)).sum::<u64>() + u64::from(self.exchanges.own);
        let takes = self.serving.experts.as_ref().map_or(0, |(e, _)| e.per_token.0.saturating_mul(tokens));
        self.at = At::Experts;
        if takes > 0 { out.push(Action::Compute(Time(takes))) } else { self.combine(out) }
    }

    /// Sends tokens back, in the order in which they came.
    fn combine(&mut self, out: &mut Vec<Action>) {
        let Some((experts, _)) = &self.serving.experts else { return };
        self.at = At::Combine;
        let came = &mut self.exchanges.came[(self.exchanges.number % 2) as usize];
        for (to, tokens) in came.drain(..) {
            out.push(Action::Send(to, u64::from(tokens) * experts.combine, Payload::Combine));
        }
        self.end_exchange(out);
    }

    /// Goes on to the next layer or step, if all tokens have come back.
    fn end_exchange(&mut self, out: &mut Vec<Action>) {
        if self.at != At::Combine || self.exchanges.back < self.others() {
            return;
        }
        let Some((experts, _)) = &self.serving.experts else { return };
        let parity = (self.exchanges.number % 2) as usize;
        let more = std::mem::take(&mut self.exchanges.more[parity]);
        self.exchanges.back = 0;
        self.exchanges.number += 1;
        self.exchanges.layer += 1;
        if self.exchanges.layer < experts.layers {
            return self.compute_layer(out);
        }
        self.tokens(out);
        let is_behind = !self.exchanges.came[1 - parity].is_empty();
        if more || is_behind || !self.waiting.is_empty() { self.begin_step(out) } else { self.at = At::Rest }
    }

    /// A step of a model without experts is over.
    fn end_step(&mut self, out: &mut Vec<Action>) {
        self.tokens(out);
        if self.batch.is_empty() && self.waiting.is_empty() { self.at = At::Rest } else { self.begin_step(out) }
    }

    /// A token for each sequence of the batch.
    fn tokens(&mut self, out: &mut Vec<Action>) {
        for (request, left) in &mut self.batch {
            *left -= 1;
            out.push(Action::Token(*request));
            if *left == 0 {
                out.push(Action::Over(*request));
            }
        }
        self.batch.retain(|(_, left)| *left > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::{Experts, FirstToken, Request};
    use linkpool_engine::stream;
    use linkpool_units::HostId;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn us(of: u64) -> Time {
        Time::from_us(of)
    }

    /// Requests with so many tokens on `instances` decode instances, whose steps take 10 us and 1
    /// us a sequence.
    fn serving(outputs: &[u32], instances: usize, batch: u32, experts: Option<Experts>) -> Serving {
        let request = |output: &u32| Request {
            arrival: Time::ZERO,
            prompt: 1,
            output: *output,
            prefill: 0,
            begin: Time::ZERO,
            end: Time::ZERO,
        };
        Serving {
            requests: outputs.iter().map(request).collect(),
            computed: (0..outputs.len() as u32).collect(),
            prefill: vec![HostId::new(instances)],
            decode: HostId::first(instances).collect(),
            first_token: FirstToken::Decode,
            kv_per_token: 1,
            batch,
            step: us(10),
            per_sequence: us(1),
            experts: experts.map(|of| (of, (0..instances as u64).map(|i| stream(1, "choice", i)).collect())),
        }
    }

    enum Event {
        Arrives(u32, u32, Payload),
        Computed(u32),
    }

    /// What came of a run: tokens (when, of which request, was it the last), and messages (from,
    /// to, bytes, what).
    #[derive(Default)]
    struct Done {
        tokens: Vec<(Time, u32)>,
        over: Vec<(Time, u32)>,
        sent: Vec<(u32, u32, u64, Payload)>,
    }

    /// The requests come to instances as `arrivals` says (when, where); a message takes `latency`,
    /// which gets its number.
    fn run(serving: &Serving, arrivals: &[(Time, u32)], mut latency: impl FnMut(usize) -> Time) -> Done {
        let mut decoders: Vec<Decoder<'_>> =
            (0..serving.decode.len() as u32).map(|i| Decoder::new(serving, i)).collect();
        let mut agenda: BTreeMap<(Time, usize), Event> = BTreeMap::new();
        for (request, (at, instance)) in (0u32..).zip(arrivals) {
            agenda.insert((*at, request as usize), Event::Arrives(u32::MAX, *instance, Payload::Kv(request)));
        }
        let mut next = arrivals.len();
        let mut done = Done::default();
        while let Some(((now, _), event)) = agenda.pop_first() {
            let mut out = Vec::new();
            let me = match event {
                Event::Arrives(from, me, payload) => {
                    decoders[me as usize].arrived(from, payload, &mut out);
                    me
                }
                Event::Computed(me) => {
                    decoders[me as usize].computed(&mut out);
                    me
                }
            };
            for action in out {
                next += 1;
                match action {
                    Action::Send(to, bytes, payload) => {
                        let at = now + latency(done.sent.len());
                        done.sent.push((me, to, bytes, payload));
                        agenda.insert((at, next), Event::Arrives(me, to, payload));
                    }
                    Action::Compute(time) => _ = agenda.insert((now + time, next), Event::Computed(me)),
                    Action::Token(request) => done.tokens.push((now, request)),
                    Action::Over(request) => done.over.push((now, request)),
                }
            }
        }
        for decoder in &decoders {
            assert_eq!(decoder.at, At::Rest);
            assert!(decoder.waiting.is_empty() && decoder.batch.is_empty());
            assert!(decoder.exchanges.came.iter().all(Vec::is_empty) && decoder.exchanges.back == 0);
        }
        done
    }

    /// Two sequences a step. The first request has 3 tokens, and is alone until 11 us; the second
    /// came at 5 us and has one: the step of both takes 12 us, until 23. The third came at 6 us,
    /// finds room then, and has two: both until 35, where the first ends, and one more until 46.
    #[test]
    fn sequences_join_the_batch_between_steps() {
        let done = run(&serving(&[3, 1, 2], 1, 2, None), &[(us(0), 0), (us(5), 0), (us(6), 0)], |_| us(9));
        let tokens = [(11, 0), (23, 0), (23, 1), (35, 0), (35, 2), (46, 2)];
        assert_eq!(done.tokens, tokens.map(|(at, request)| (us(at), request)));
        assert_eq!(done.over, [(us(23), 1), (us(35), 0), (us(46), 2)]);
        assert!(done.sent.is_empty());
    }

    /// Of three tokens the prefill instance has generated one.
    #[test]
    fn the_first_token_may_be_there() {
        let early = Serving { first_token: FirstToken::Prefill, ..serving(&[3], 1, 2, None) };
        assert_eq!(run(&early, &[(us(0), 0)], |_| us(9)).tokens, [(us(11), 0), (us(22), 0)]);
    }

    /// An instance that has been idle begins at once.
    #[test]
    fn an_idle_instance_begins_at_once() {
        let done = run(&serving(&[1, 1], 1, 2, None), &[(us(0), 0), (us(100), 0)], |_| us(9));
        assert_eq!(done.over, [(us(11), 0), (us(111), 1)]);
    }

    fn all_to(weights: Vec<f64>, layers: u32) -> Experts {
        Experts { weights, top_k: 1, layers, dispatch: 100, combine: 30, per_token: Time::ZERO }
    }

    /// A request with two tokens on the first of two instances; messages take 10 us. It computes
    /// until 11 us and sends its token, which takes the other along at 21: that sends none, and
    /// returns the one; both are there at 31, the first token. The first computes until 42, and its
    /// token is there at 52. The other has begun the second step at 41, when its answer had come
    /// back, and waits since: the token is back at 62.
    #[test]
    fn instances_with_experts_step_together() {
        let serving = serving(&[2], 2, 8, Some(all_to(vec![0.0, 1.0], 1)));
        let done = run(&serving, &[(us(0), 0)], |_| us(10));
        assert_eq!(done.tokens, [(us(31), 0), (us(62), 0)]);
        assert_eq!(done.over, [(us(62), 0)]);
        let of =
            |bytes| done.sent.iter().filter(move |(.., sent, _)| *sent == bytes).map(|(from, to, ..)| (*from, *to));
        assert_eq!(of(100).collect::<Vec<_>>(), [(0, 1); 2]);
        assert_eq!(of(30).collect::<Vec<_>>(), [(1, 0); 2]);
        assert_eq!(of(0).count(), 4);
    }

    /// The answer to the other instance takes 100 us, where other messages take 10. The first has
    /// its token at 31, and a new request at 40: it sends at 51, while the other waits for the
    /// answer until 131. Only then this begins the second step, and the tokens are back at 141.
    #[test]
    fn an_instance_that_is_behind_joins_the_next_step() {
        let serving = serving(&[1, 1], 2, 8, Some(all_to(vec![0.0, 1.0], 1)));
        let slow = |i: usize| us(if i == 3 { 100 } else { 10 });
        let done = run(&serving, &[(us(0), 0), (us(40), 0)], slow);
        let (.., payload) = done.sent[3];
        assert!(payload == Payload::Combine && (done.sent[3].0, done.sent[3].1) == (0, 1));
        assert_eq!(done.over, [(us(31), 0), (us(141), 1)]);
    }

    /// The same with two layers, which share the 11 us of the computation: an exchange takes 20 us
    /// after each half. And with 3 us for the token at its expert: 6 more.
    #[test]
    fn layers_share_the_computation_of_a_step() {
        let layers = all_to(vec![0.0, 1.0], 2);
        let done = run(&serving(&[1], 2, 8, Some(layers.clone())), &[(us(0), 0)], |_| us(10));
        assert_eq!(done.tokens, [(us(51), 0)]);
        let busy = Experts { per_token: us(3), ..layers };
        let done = run(&serving(&[1], 2, 8, Some(busy)), &[(us(0), 0)], |_| us(10));
        assert_eq!(done.tokens, [(us(57), 0)]);
    }

    /// An expert on the instance of the sequences: nothing is sent to others, but all wait for all.
    /// Tokens at an own expert take time, too. The message of the other comes back at 31 us, the
    /// own expert is done at 34. The second request joins the next step, which sends at 45: the
    /// answer is back at 65, and the own expert has been done since 57, as the other was ahead.
    #[test]
    fn tokens_for_an_own_expert_stay() {
        let own = Experts { per_token: us(3), ..all_to(vec![1.0, 0.0], 1) };
        let done = run(&serving(&[1, 1], 2, 8, Some(own)), &[(us(0), 0), (us(1), 0)], |_| us(10));
        assert_eq!(done.over, [(us(34), 0), (us(65), 1)]);
        assert!(done.sent.iter().all(|(.., bytes, _)| *bytes == 0));
    }

    proptest! {
        /// Whatever the latencies: each request gets its tokens, one a step, and ends with the
        /// last; and as many tokens come back from experts as go there, `top_k` for each token and
        /// layer.
        #[test]
        fn each_request_gets_its_tokens(
            outputs in prop::collection::vec(1u32..6, 1..12),
            places in prop::collection::vec((0u64..200, 0u32..4), 12),
            instances in 1usize..5, batch in 1u32..4, layers in 1u32..4, top_k in 1u32..4, with_experts: bool, seed: u64,
        ) {
            let weights = crate::serving::zipf(5, 1.0);
            let experts = Experts { top_k, per_token: us(1), ..all_to(weights, layers) };
            let experts = (with_experts && instances > 1).then_some(experts);
            let serving = serving(&outputs, instances, batch, experts.clone());
            let arrivals: Vec<_> =
                places.iter().take(outputs.len()).map(|(at, i)| (us(*at), i % instances as u32)).collect();
            let latency = |i: usize| us(linkpool_engine::hash_u64(seed ^ i as u64) % 40 + 1);
            let done = run(&serving, &arrivals, latency);
            for (request, output) in (0u32..).zip(&outputs) {
                let times: Vec<Time> = done.tokens.iter().filter(|(_, of)| *of == request).map(|(at, _)| *at).collect();
                prop_assert_eq!(times.len(), *output as usize);
                prop_assert!(times.windows(2).all(|two| two[0] < two[1]) && arrivals[request as usize].0 < times[0]);
                let over: Vec<Time> = done.over.iter().filter(|(_, of)| *of == request).map(|(at, _)| *at).collect();
                prop_assert_eq!(over, [*times.last().unwrap()]);
            }
            let Some(experts) = experts else {
                prop_assert!(done.sent.is_empty());
                return Ok(());
            };
            let tokens = |what: fn(&Payload) -> bool| done.sent.iter().filter(|(.., p)| what(p)).map(|(.., b, _)| *b).sum::<u64>();
            let away = tokens(|p| matches!(p, Payload::Dispatch { .. })) / experts.dispatch;
            let back = tokens(|p| matches!(p, Payload::Combine)) / experts.combine;
            let all = u64::from(outputs.iter().sum::<u32>() * layers * top_k);
            prop_assert!(away == back && away <= all, "{away} of {all}, and {back} back");
        }
    }
}
