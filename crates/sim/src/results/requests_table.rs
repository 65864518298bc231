//! The table of requests.

use crate::plan::{Plan, PlannedServing};
use crate::results::column::table;
use crate::results::outcome::RequestOutcome;
use linkpool_scenario::Measure;
use linkpool_units::{HostId, Time};
use linkpool_workload::serving::Request;

/// A request, answered or not.
#[derive(Debug)]
pub(crate) struct RequestRow<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) outcome: &'a RequestOutcome,
}

table! {
    /// A row per request to a model, in order of end; those that the end of the run cut off come
    /// last. Requests that had not arrived have none.
    "requests" of RequestRow<'_>, unless "its scenario has no workload of the kind `inference`", |row|
    /// Label of the workload.
    label: str, "" = row.plan.labels[row.served().label.index()].as_str();
    /// Number of the workload in workloads. With `request` it identifies the row.
    workload: u32, "" = row.plan.workloads[row.served().label.index()];
    /// Number of the request, from 0, in order of arrival; `job` in flows, of its keys and values.
    request: u32, "" = row.outcome.request;
    /// Tokens of its prompt.
    prompt_tokens: u32, "" = row.request().prompt;
    /// Tokens of its answer.
    output_tokens: u32, "" = row.request().output;
    /// It arrived.
    arrival_s: f64, "s" = row.request().arrival.secs();
    /// Host of its prefill instance.
    prefill_host: str, "" = row.host(row.served().serving.prefill[row.request().prefill as usize]);
    /// The computation of its prompt began; null: it had not at the end of the run.
    prefill_start_s: f64, "s" = row.by_then(row.request().begin);
    /// That ended; null: it had not at the end of the run.
    prefill_end_s: f64, "s" = row.by_then(row.request().end);
    /// Host of its decode instance; null: it had none yet, or needs none, as the prefill instance
    /// generates its only token.
    decode_host: str, "" = row.decode_host();
    /// The prefill instance sent keys and values; null: it did not.
    kv_sent_s: f64, "s" = row.outcome.sent.map(Time::secs);
    /// All keys and values had arrived at the decode instance; null: they had not.
    kv_arrived_s: f64, "s" = row.outcome.arrived.map(Time::secs);
    /// Its first token was there; null: it was not.
    first_token_s: f64, "s" = row.outcome.first_token.map(Time::secs);
    /// Its last token was there; null: it was not at the end of the run.
    end_s: f64, "s" = row.outcome.end.map(Time::secs);
    /// Tokens that were there.
    tokens: u32, "" = row.outcome.tokens;
    /// Time to first token: `first_token_s - arrival_s`.
    ttft_s: f64, "s" = row.outcome.first_token.map(|first| (first - row.request().arrival).secs());
    /// Time per output token behind the first: `(end_s - first_token_s) / (output_tokens - 1)`;
    /// null: there was one token, or the request was not answered.
    tpot_s: f64, "s" = row.per_token();
    /// The request counts in statistics: it arrived in the measured period.
    measured: bool, "" = row.measured();
}

impl<'a> RequestRow<'a> {
    fn served(&self) -> &'a PlannedServing {
        &self.plan.served[self.outcome.served]
    }

    fn request(&self) -> &'a Request {
        &self.served().serving.requests[self.outcome.request as usize]
    }

    fn host(&self, host: HostId) -> &'a str {
        self.plan.fabric.name(host.into())
    }

    fn decode_host(&self) -> Option<&'a str> {
        self.outcome.decode.map(|instance| self.host(self.served().serving.decode[instance as usize]))
    }

    /// The time, if it was by the end of the request or of the run.
    fn by_then(&self, at: Time) -> Option<f64> {
        (at <= self.outcome.active_until).then_some(at.secs())
    }

    fn per_token(&self) -> Option<f64> {
        let behind = self.request().output.checked_sub(1).filter(|tokens| *tokens > 0)?;
        Some((self.outcome.end? - self.outcome.first_token?).secs() / f64::from(behind))
    }

    fn measured(&self) -> bool {
        let Measure { warm_up, cut_off } = self.plan.measure;
        (warm_up..cut_off).contains(&self.request().arrival)
    }
}
