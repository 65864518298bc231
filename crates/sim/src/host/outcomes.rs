//! The outcomes of flows: of a connection of its own, or of a message on a connection that stays
//! open.

use crate::host::endpoint::Sending as _;
use crate::host::measured::Acked;
use crate::host::messages::{Outgoing, Totals};
use crate::host::slots::Sending;
use crate::results::outcome::{FlowOutcome, SubflowOutcome};
use linkpool_transport::{SenderState, SubflowId, SubflowStats};
use linkpool_units::Time;

/// The first message of `sending` that is acknowledged, with its outcome; it is taken out.
pub(crate) fn take_acked(sending: &mut Sending, now: Time) -> Option<FlowOutcome> {
    let acked = sending.end.acked();
    let message = sending.messages.as_mut().filter(|messages| messages.is_due(acked))?.pop()?;
    let mut outcome = of_message(sending, &message, message.end, now);
    outcome.finished = Some(now);
    outcome.active_until = now;
    Some(outcome)
}

/// The outcomes of the flows of `sending` that have not ended, or have ended with their connection.
pub(crate) fn take_rest(sending: &mut Sending, now: Time) -> Vec<FlowOutcome> {
    let acked = sending.end.acked();
    if sending.messages.is_none() {
        let totals = totals(sending, Acked::of(&sending.end));
        let finished = (sending.end.state() == SenderState::Finished).then(|| sending.end.ended()).flatten();
        return vec![FlowOutcome { finished, acked_bytes: acked, ..outcome(sending, totals, now) }];
    }
    let mut rest = Vec::new();
    while let Some(message) = sending.messages.as_mut().and_then(|messages| messages.pop()) {
        rest.push(of_message(sending, &message, acked, now));
    }
    rest
}

/// The outcome of `message`, which has just left the list: what its connection has done since the
/// end of the message before. `acked` bytes of the stream are acknowledged.
fn of_message(sending: &mut Sending, message: &Outgoing, acked: u64, now: Time) -> FlowOutcome {
    let on_subflows = Acked::of(&sending.end).on_subflows;
    let so_far = totals(sending, Acked { in_order: acked, on_subflows });
    let before = sending.messages.as_mut().map(|messages| std::mem::replace(&mut messages.before, so_far.clone()));
    let begin = message.end - message.size();
    FlowOutcome {
        flow: message.flow,
        planned: message.planned,
        acked_bytes: acked.saturating_sub(begin).min(message.size()),
        ..outcome(sending, so_far.since(&before.unwrap_or_default()), now)
    }
}

/// What the connection of `sending` has done so far, with `acked` acknowledged.
fn totals(sending: &Sending, acked: Acked) -> Totals {
    let end = &sending.end;
    let mut metrics = Vec::new();
    end.metrics(&mut |metric| metrics.push(metric));
    let stats = |s| end.subflow(s).stats;
    let established = |stats: SubflowStats| stats.established.filter(|_| sending.opened);
    let subflows = SubflowId::first(end.subflows()).map(stats);
    let subflows = subflows.map(|stats| SubflowStats { established: established(stats), ..stats }).collect();
    Totals { subflows, metrics, measured: sending.measured.bytes(acked) }
}

/// The outcome of the flow, or of the first message, of a connection that has `done` so much and has not
/// finished by `now`.
fn outcome(sending: &Sending, done: Totals, now: Time) -> FlowOutcome {
    let end = &sending.end;
    let subflow = |(s, stats)| SubflowOutcome { stats, ..end.subflow(s) };
    FlowOutcome {
        flow: sending.flow,
        connection: sending.flow,
        planned: sending.planned,
        finished: None,
        delivered: None,
        active_until: end.ended().unwrap_or(now),
        acked_bytes: 0,
        measured_bytes: done.measured.in_order,
        measured_subflow_bytes: done.measured.on_subflows,
        failed: end.state() == SenderState::Failed,
        metrics: done.metrics,
        hook_error: end.hook_error().cloned(),
        subflows: SubflowId::first(done.subflows.len()).zip(done.subflows).map(subflow).collect(),
    }
}
