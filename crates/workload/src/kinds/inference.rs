//! Inference: a model that is served by prefill and decode instances.

use linkpool_engine::stream;
use linkpool_settings::{Bounds, Length, settings};
use linkpool_units::{Bytes, HostId, Time, counted};
use rand::seq::SliceRandom;

use super::tokens::{TokenCount, Tokens};
use super::{Demand, Expected, Pairs, Place, RankHosts, Run, Second, Setting, SizesOf, Workload};
use crate::arrivals::PoissonTimes;
use crate::serving::{self, FirstToken, Serving, in_order_of_end, schedule, zipf};

settings! {
    /// Requests to a language model, served by prefill and decode instances, each a host.
    pub struct Inference {
        /// Number of prefill instances.
        prefill: u32, required 2, within Bounds::POSITIVE;
        /// Number of decode instances.
        decode: u32, required 2, within Bounds::POSITIVE;
        /// Mean rate of arrivals of requests, which are Poisson. This key or `file` is required.
        requests_per_second: Option<f64> = None,
            within Bounds::above(0.0, "{} is no rate; it must be above zero"),
            refused |i| i.requests_per_second.is_some() && i.file.is_some() => "there is `file`, too; leave one out";
        /// No request arrives at or after this.
        stop: Time, from |_i| Time::MAX => "`duration`", when |i| i.file.is_none() => "requests without a `file`";
        /// Tokens of a prompt.
        prompt_tokens: Tokens as TokenCount = Tokens::Constant(1024),
            when |i| i.file.is_none() => "requests without a `file`";
        /// Tokens of an answer.
        output_tokens: Tokens as TokenCount = Tokens::Constant(128),
            when |i| i.file.is_none() => "requests without a `file`";
        /// A CSV file of requests, relative to the scenario's directory: columns `arrival_s` (from
        /// `start`), `prompt_tokens` and `output_tokens`.
        file: Option<String> = None;
        /// The SHA-256 of `file`, in hex: another file is an error. Results have it.
        sha256: Option<String>, from |_i| None => "that of `file`", when |i| i.file.is_some() => "requests of a `file`";
        /// Computation of a prompt, whatever its length.
        prefill_time: Time = Time::ZERO, within Bounds::SPAN;
        /// Further computation for each token of a prompt.
        prefill_time_per_token: Time, required Time::from_us(20), within Bounds::POSITIVE_SPAN;
        /// Keys and values that a decode instance gets for each token of a prompt.
        kv_per_token: u64 as Bytes, required 131_072, within Bounds::POSITIVE;
        /// The instance that generates the first token.
        first_token: FirstToken = FirstToken::Decode;
        /// Sequences of a step of a decode instance, at the most.
        batch: u32 = 256, within Bounds::POSITIVE;
        /// Computation of a step, whatever its number of sequences.
        decode_time: Time, required Time::from_ms(10), within Bounds::POSITIVE_SPAN;
        /// Further computation for each sequence.
        decode_time_per_sequence: Time = Time::ZERO, within Bounds::SPAN;
        /// Do the messages from one host to another share a connection, which stays open? `false`:
        /// each message opens a connection of its own.
        persistent: bool, from |_i| true => "true; false with a transport whose connections do not stay open";
    }
    tables {
        /// Experts on the decode instances: tokens go to them and back in each step.
        experts: Experts;
    }
    groups {
        /// The hosts: those of the prefill instances, then those of the decode instances.
        ranks: RankHosts;
    }
    others {
        /// The requests of the file, once it is read.
        requests: Vec<(Time, u32, u32)> = Vec::new();
    }
}

settings! {
    /// Experts of a model, spread over the decode instances.
    pub struct Experts {
        /// Experts of a layer; expert e is on decode instance e mod `decode`.
        number: u32, required 64, within Bounds::POSITIVE;
        /// Experts that each token chooses.
        top_k: u32 = 1, within Bounds::POSITIVE, refused |e| e.top_k > e.number => "more than `number` experts";
        /// Layers with experts: in each, a step sends tokens to experts and back once.
        layers: u32 = 1, within Bounds::POSITIVE;
        /// Data of a token on the way to an expert.
        dispatch: u64 as Bytes, required 7_168, within Bounds::POSITIVE;
        /// Data of a token on the way back.
        combine: u64 as Bytes, from |e| e.dispatch => "`dispatch`", within Bounds::POSITIVE;
        /// Exponent of Zipf's law, by which tokens choose experts; 0: all alike.
        zipf: f64 = 0.0, within Bounds::from(0.0, "{} is no exponent; it is from 0 to 10").to(10.0),
            when |e| e.weights.is_none() => "experts without `weights` and `weights_file`";
        /// How often tokens choose each expert, relative to each other.
        weights: Option<Vec<f64>>, from |_e| None => "those of `weights_file` or of `zipf`",
            within Bounds::from(0.0, "{} is no weight; it is 0 or more"),
            within Length::from(1, "must have a weight for each expert");
        /// A file with these, one a line.
        weights_file: Option<String> = None;
        /// Computation of a host for each token that comes to one of its experts.
        time_per_token: Time = Time::ZERO, within Bounds::SPAN;
    }
    others {
        /// Do the weights come from a file?
        from_file: bool = false;
    }
}

impl Experts {
    /// By expert.
    fn chosen(&self) -> Vec<f64> {
        self.weights.clone().unwrap_or_else(|| zipf(self.number, self.zipf))
    }

    fn check(&self, decode: u32, place: &mut Place<'_>) {
        place.check(
            decode >= 2,
            "decode",
            "a single decode instance sends its tokens to nobody; raise it, or leave `experts` out",
        );
        let key = if self.from_file { "experts.weights_file" } else { "experts.weights" };
        if let Some(weights) = &self.weights {
            let (count, number) = (weights.len(), self.number);
            place.check(
                count == number as usize,
                key,
                format!("{} for {}", counted(count, "weight"), counted(number, "expert")),
            );
        }
        let some = self.chosen().iter().filter(|weight| **weight > 0.0).count();
        let chosen = counted(self.top_k, "different expert");
        let message = format!("a token chooses {chosen}, and {some} have a weight above 0");
        place.check(self.top_k as usize <= some || self.weights.is_none(), key, message);
    }

    /// Bytes that a token sends to hosts of others and gets back, about.
    fn per_token(&self, decode: u32) -> f64 {
        let away = 1.0 - 1.0 / f64::from(decode);
        f64::from(self.top_k) * f64::from(self.layers) * (self.dispatch + self.combine) as f64 * away
    }
}

impl Inference {
    /// Requests, about, until flows stop.
    fn count(&self, span: f64) -> f64 {
        self.requests_per_second.map_or(self.requests.len() as f64, |rate| rate * span)
    }

    fn instances(&self) -> u32 {
        self.prefill.saturating_add(self.decode)
    }

    /// Time, prompt and answer of each request.
    fn arrivals(&self, run: &Run) -> Vec<(Time, u32, u32)> {
        let Some(rate) = self.requests_per_second else {
            let at =
                |(arrival, prompt, output): &(Time, u32, u32)| (run.start.saturating_add(*arrival), *prompt, *output);
            return self.requests.iter().map(at).filter(|(arrival, ..)| *arrival < run.duration).collect();
        };
        let times = PoissonTimes::new(rate, run.start, self.stop.min(run.duration), run.random());
        let (_, mut random) = times.clone().count_and_rest();
        let draw = |at| (at, self.prompt_tokens.draw(&mut random), self.output_tokens.draw(&mut random));
        times.map(draw).collect()
    }
}

impl Workload for Inference {
    fn complete(&mut self, place: &mut Place<'_>) {
        place.complete_persistent(&mut self.persistent);
        if self.file.is_none() {
            place.complete_stop(&mut self.stop, place.duration);
        }
        let missing = "missing; write for example requests_per_second = 100, or else file = \"requests.csv\"";
        let some = self.requests_per_second.is_some() || self.file.is_some();
        place.check(some, "requests_per_second", missing);
        let key = if self.file.is_some() { "file" } else { "requests_per_second" };
        place.check_few_flows(key, self.count(place.duration.saturating_sub(place.start).secs()) as u64);
        let instances = self.instances();
        self.ranks.complete((instances.into(), "instances"), "decode", place);
        if let Some(experts) = &self.experts {
            experts.check(self.decode, place);
        }
    }

    fn expected(&self, setting: &Setting) -> Expected {
        let requests = self.count(setting.starting_until(self.stop));
        let (prompt, output) = match self.requests.len() {
            0 => (self.prompt_tokens.about(), self.output_tokens.about()),
            n => {
                let sum =
                    |of: fn(&(Time, u32, u32)) -> u32| self.requests.iter().map(|r| f64::from(of(r))).sum::<f64>();
                (sum(|r| r.1) / n as f64, sum(|r| r.2) / n as f64)
            }
        };
        let experts = self.experts.as_ref().map_or(0.0, |experts| experts.per_token(self.decode));
        let bytes = requests * (prompt * self.kv_per_token as f64 + output * experts);
        let (prefill, decode) = (f64::from(self.prefill), f64::from(self.decode));
        let pairs = prefill * decode + if self.experts.is_some() { decode * (decode - 1.0) } else { 0.0 };
        let at_once = if self.persistent { pairs } else { pairs.min(requests) };
        Expected { flows: requests, at_once, listed: false, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        let requests = schedule(self.arrivals(run), self.prefill, (self.prefill_time, self.prefill_time_per_token));
        let hosts = self.ranks.of(self.instances(), || {
            let mut all: Vec<HostId> = HostId::first(run.hosts()).collect();
            all.shuffle(&mut stream(run.seed, "inference hosts", run.index));
            all
        });
        let (prefill, decode) = hosts.split_at(self.prefill as usize);
        let experts = self.experts.as_ref().map(|of| {
            let experts = serving::Experts {
                weights: of.chosen(),
                top_k: of.top_k,
                layers: of.layers,
                dispatch: of.dispatch,
                combine: of.combine,
                per_token: of.time_per_token,
            };
            (experts, (0..self.decode).map(|i| run.random_of_process(i)).collect())
        });
        let serving = Serving {
            computed: in_order_of_end(&requests),
            requests,
            prefill: prefill.to_vec(),
            decode: decode.to_vec(),
            first_token: self.first_token,
            kv_per_token: self.kv_per_token,
            batch: self.batch,
            step: self.decode_time,
            per_sequence: self.decode_time_per_sequence,
            experts,
        };
        Demand { serving: Some(serving), ..Demand::default() }
    }

    fn persistent(&self) -> bool {
        self.persistent
    }

    /// Those of keys and values.
    fn sizes(&self) -> SizesOf {
        if self.file.is_some() {
            let sizes: Vec<u64> =
                self.requests.iter().map(|(_, prompt, _)| u64::from(*prompt) * self.kv_per_token).collect();
            return SizesOf::listed("trace", sizes.into_iter());
        }
        let mean = self.prompt_tokens.mean().map(|tokens| tokens * self.kv_per_token as f64);
        SizesOf { name: self.prompt_tokens.name().into(), interpolation: None, mean }
    }

    /// Those of tokens on the way to experts and back: what tokens choose is drawn.
    fn second(&self) -> Option<Second> {
        self.experts.as_ref()?;
        let sizes = SizesOf { name: "messages".into(), interpolation: None, mean: None };
        Some(Second { of_first: "", of_second: " experts", sizes })
    }

    fn pairs(&self, _: u32) -> Pairs {
        if self.ranks.are_drawn() {
            return Pairs::Any { in_rack: true };
        }
        let hosts = self.ranks.of(self.instances(), Vec::new);
        let (prefill, decode) = hosts.split_at(self.prefill as usize);
        let kv = prefill.iter().flat_map(|from| decode.iter().map(|to| (*from, *to)));
        let tokens = decode.iter().flat_map(|from| decode.iter().map(|to| (*from, *to)));
        let tokens = tokens.filter(|(from, to)| self.experts.is_some() && from != to);
        Pairs::Listed(kv.chain(tokens).collect())
    }
}
