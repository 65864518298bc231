//! Samples of windows and rates, as the scenario wants them.

use super::{Due, Hosts};
use crate::sending::Sending;
use crate::suppression::is_suppressed;
use linkpool_sim::{FlowId, Sample, Value};
use linkpool_transport::SubflowId;
use linkpool_units::Time;

impl Hosts<'_> {
    fn wanted<'s>(&self, labels: &'s Option<Vec<String>>, sending: &Sending) -> bool {
        let label = &self.plan.labels[sending.planned.label.index()];
        labels.as_ref().is_none_or(|wanted: &'s Vec<String>| wanted.contains(label))
    }

    pub(super) fn sample_windows(&mut self, due: Time, now: Time) {
        let Some(series) = &self.plan.record.cwnd else { return };
        let mut flows: Vec<FlowId> = self.senders.keys().copied().collect();
        flows.retain(|flow| self.wanted(&series.labels, &self.senders[flow]));
        for flow in flows {
            let Some(sending) = self.senders.get_mut(&flow) else { continue };
            let _ = sending.look(now); // one that has just failed has no more samples
            let algorithm = &self.algorithms[sending.planned.transport.index()];
            let told = self.told.of(algorithm, &mut sending.identity);
            let numbers = SubflowId::first(sending.subflows.len());
            for (subflow, s) in numbers.zip(&sending.subflows).filter(|(_, s)| s.established.is_some()) {
                let (cwnd, ssthresh, srtt) = (s.info.snd_cwnd.into(), s.ssthresh(), s.srtt());
                let suppressed = told.as_ref().is_some_and(|conn| is_suppressed(conn, s.port));
                let value = Value::Cwnd { flow, subflow, cwnd, ssthresh, srtt, suppressed };
                self.samples.push(Sample { at: now, value });
            }
        }
        if due + series.every <= series.until {
            self.at(due + series.every, Due::Cwnd);
        }
    }

    pub(super) fn sample_rates(&mut self, due: Time, now: Time) {
        let Some(series) = &self.plan.record.rate else { return };
        let mut flows: Vec<FlowId> = self.senders.keys().copied().collect();
        flows.retain(|flow| self.wanted(&series.labels, &self.senders[flow]));
        for flow in flows {
            let Some(sending) = self.senders.get_mut(&flow) else { continue };
            let _ = sending.look(now); // one that has just failed has no more samples
            let since = sending.planned.flow.start.max(due.saturating_sub(series.every));
            let numbers = SubflowId::first(sending.subflows.len());
            for (subflow, s) in numbers.zip(&mut sending.subflows).filter(|(_, s)| s.established.is_some()) {
                let acked = s.acked();
                if due > series.from && now > since {
                    let goodput = 8.0 * acked.saturating_sub(s.sampled) as f64 / (now - since).secs();
                    self.samples.push(Sample { at: now, value: Value::Rate { flow, subflow, goodput } });
                }
                s.sampled = acked;
            }
        }
        if due + series.every <= series.until.saturating_add(series.every) {
            self.at(due + series.every, Due::Rate);
        }
    }
}
