//! Serving a language model: requests, the instances that compute their prompts (prefill), and
//! those that generate their tokens (decode).
//!
//! Nothing here does I/O. An instance of either kind is a host. A prefill instance takes one
//! request at a time, in order of arrival, whatever the network does: so its times are known before
//! the run. A [`Decoder`] gets the events at its host, and returns actions.

mod decoder;
mod experts;
mod router;

pub use decoder::{Action, Decoder, Payload, Step};
pub use experts::{Experts, zipf};
pub use router::Router;

use linkpool_engine::Stream;
use linkpool_units::{HostId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which instance generates the first token of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstToken {
    /// The prefill instance, at the end of the prompt's computation.
    Prefill,
    /// The decode instance, in its first step for the request.
    Decode,
}

/// A model that is served, its requests, and the hosts that serve it.
#[derive(Clone, PartialEq, Debug)]
pub struct Serving {
    /// The requests, in order of arrival.
    pub requests: Vec<Request>,
    /// The numbers of the requests in the order in which their prompts are computed.
    pub computed: Vec<u32>,
    /// The hosts of prefill instances.
    pub prefill: Vec<HostId>,
    /// The hosts of decode instances.
    pub decode: Vec<HostId>,
    /// Which of them generates the first token.
    pub first_token: FirstToken,
    /// Bytes of keys and values for each token of a prompt.
    pub kv_per_token: u64,
    /// The most sequences of a step of a decode instance.
    pub batch: u32,
    /// The computation of a step, whatever its number of sequences.
    pub step: Time,
    /// The further computation for each sequence.
    pub per_sequence: Time,
    /// The experts, if the model has some, and by decode instance the random numbers by which its
    /// tokens choose among them.
    pub experts: Option<(Experts, Vec<Stream>)>,
}

/// A request, with the prefill instance that it gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When it arrives.
    pub arrival: Time,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of its answer.
    pub output: u32,
    /// Place of its prefill instance.
    pub prefill: u32,
    /// The computation of its prompt begins.
    pub begin: Time,
    /// It ends.
    pub end: Time,
}

impl Serving {
    /// Bytes of keys and values of a request.
    pub fn kv(&self, request: u32) -> u64 {
        u64::from(self.requests[request as usize].prompt) * self.kv_per_token
    }

    /// The tokens of a request that its decode instance generates.
    pub fn to_decode(&self, request: u32) -> u32 {
        self.requests[request as usize].output - u32::from(self.first_token == FirstToken::Prefill)
    }
}

/// Gives each request of `arrivals` (time, prompt, output; in order of time) a prefill instance of
/// `instances`, and the times of its computation, which takes `fixed` and `per_token` for each
/// token of the prompt: the instance that will be idle first; of idle ones, the one that has been
/// idle longest.
pub fn schedule(
    arrivals: impl IntoIterator<Item = (Time, u32, u32)>,
    instances: u32,
    (fixed, per_token): (Time, Time),
) -> Vec<Request> {
    let mut free: BinaryHeap<Reverse<(Time, u32)>> = (0..instances).map(|i| Reverse((Time::ZERO, i))).collect();
    let place = |(arrival, prompt, output): (Time, u32, u32)| {
        let Reverse((at, prefill)) = free.pop().expect("there is an instance");
        let begin = arrival.max(at);
        let takes = Time(per_token.0.saturating_mul(prompt.into())).saturating_add(fixed);
        let end = begin.saturating_add(takes);
        free.push(Reverse((end, prefill)));
        Request { arrival, prompt, output, prefill, begin, end }
    };
    arrivals.into_iter().map(place).collect()
}

/// The numbers of `requests` in the order in which their prompts are computed.
pub fn in_order_of_end(requests: &[Request]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..requests.len() as u32).collect();
    order.sort_by_key(|i| requests[*i as usize].end);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(of: u64) -> Time {
        Time::from_us(of)
    }

    /// Two instances, 10 us and 1 us a token. At 0 a prompt of 90 tokens (to 100 us) and one of 20
    /// (to 30); at 1 us one waits for the second; at 60 both have work, the second until 70; at 200
    /// both are idle, the second since 100 as the first: the first, of the lower number.
    #[test]
    fn requests_get_the_instance_that_is_idle_first() {
        let arrivals = [(0, 90), (0, 20), (1, 30), (60, 20), (200, 1), (200, 1)];
        let found = schedule(arrivals.map(|(at, prompt)| (us(at), prompt, 7)), 2, (us(10), us(1)));
        let times: Vec<_> = found.iter().map(|r| (r.prefill, r.begin, r.end)).collect();
        let expected = [(0, 0, 100), (1, 0, 30), (1, 30, 70), (1, 70, 100), (0, 200, 211), (1, 200, 211)];
        assert_eq!(times, expected.map(|(i, begin, end)| (i, us(begin), us(end))));
        assert!(found.iter().all(|r| r.output == 7));
        assert_eq!(in_order_of_end(&found), [1, 2, 0, 3, 4, 5]);
    }

    /// A prompt of 7 tokens of 3 bytes; the prefill instance generates one of 5 tokens, or none.
    #[test]
    fn the_first_token_is_of_one_of_both() {
        let requests = schedule([(Time::ZERO, 7, 5)], 1, (us(1), us(1)));
        let serving = Serving {
            requests,
            computed: vec![0],
            prefill: vec![HostId::new(0)],
            decode: vec![HostId::new(1)],
            first_token: FirstToken::Decode,
            kv_per_token: 3,
            batch: 1,
            step: us(1),
            per_sequence: us(1),
            experts: None,
        };
        assert_eq!((serving.kv(0), serving.to_decode(0)), (21, 5));
        assert_eq!(Serving { first_token: FirstToken::Prefill, ..serving }.to_decode(0), 4);
    }

    proptest! {
        /// Each request is computed once, not before it arrives, as long as it takes, and an
        /// instance computes one at a time, in order; none waits while an instance is idle.
        #[test]
        fn instances_compute_one_request_at_a_time(
            gaps in prop::collection::vec((0u64..50, 1u32..60), 1..60), instances in 1u32..5,
        ) {
            let mut at = 0;
            let arrivals: Vec<_> = gaps.iter().map(|(gap, prompt)| { at += gap; (us(at), *prompt, 1) }).collect();
            let found = schedule(arrivals.iter().copied(), instances, (us(3), us(1)));
            prop_assert_eq!(found.len(), arrivals.len());
            let mut free = vec![Time::ZERO; instances as usize];
            for (r, (arrival, prompt, _)) in found.iter().zip(&arrivals) {
                prop_assert_eq!((r.arrival, r.prompt), (*arrival, *prompt));
                prop_assert_eq!(r.end - r.begin, us(3 + u64::from(*prompt)));
                let first = free.iter().copied().min().unwrap();
                prop_assert_eq!(r.begin, r.arrival.max(first));
                prop_assert!(free[r.prefill as usize] <= r.begin);
                free[r.prefill as usize] = r.end;
            }
        }
    }
}
