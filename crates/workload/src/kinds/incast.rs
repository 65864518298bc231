//! Bursts of flows from several senders to one receiver.

use std::collections::BTreeMap;

use linkpool_settings::{Bounds, HostName, settings};
use linkpool_units::{HostId, Time, counted};

use super::{Demand, Expected, Pairs, Place, Run, Setting, SizesOf, Workload};
use crate::flow::Bursts;
use crate::sizes::{FlowSize, Sizes};

settings! {
    /// In every burst, one flow from each sender.
    pub struct Incast {
        /// Number of senders: the first hosts that are not the receiver.
        senders: u32, required 30, within Bounds::POSITIVE;
        /// Receiving host.
        receiver: HostId as HostName, required HostId::default();
        /// Payload of each flow.
        size: Sizes as FlowSize, required Sizes::Constant(128 << 10);
        /// Time between the starts of two bursts.
        every: Time, from |_i| Time::MAX => "none; only with `bursts = 1` it may be left out", within Bounds::POSITIVE;
        /// Number of bursts.
        bursts: u32, from |_i| u32::MAX => "as many as start in whole before `duration`", within Bounds::POSITIVE;
        /// Time between the starts of two flows of a burst.
        spacing: Time = Time::ZERO;
    }
}

impl Incast {
    /// The senders, if there are this many `hosts`.
    fn senders(&self, hosts: usize) -> impl Iterator<Item = HostId> {
        HostId::first(hosts).filter(|host| *host != self.receiver).take(self.senders as usize)
    }
}

impl Workload for Incast {
    fn complete(&mut self, place: &mut Place<'_>) {
        let (senders, others) = (self.senders, place.hosts - 1);
        let (wanted, there) = (counted(senders, "sender"), counted(others, "host"));
        let message = format!("{wanted}, but the topology has only {there} beside the receiver");
        place.check(senders <= others, "senders", message);
        if !place.has("every") {
            // With one burst there is no next one to say anything about.
            self.every = place.duration;
            place.check(self.bursts == 1, "every", "missing; write for example every = \"1s\"");
        }
        let first = place.after(senders - 1, self.spacing);
        place.check_in_time(first, "spacing", "the last flow of the first burst");
        let key = if place.has("bursts") { "bursts" } else { "every" };
        let bursts = if place.has("bursts") {
            let last = first + u128::from(self.bursts - 1) * u128::from(self.every.0);
            place.check_in_time(last, "bursts", "the last flow of the last burst");
            u64::from(self.bursts)
        } else {
            let left = u128::from(place.duration.0).saturating_sub(first + 1);
            u64::try_from(1 + left / u128::from(self.every.0)).unwrap_or(u64::MAX)
        };
        place.check_few_flows(key, u128::from(bursts) * u128::from(senders));
        self.bursts = u32::try_from(bursts).unwrap_or(u32::MAX);
    }

    fn expected(&self, _: &Setting) -> Expected {
        let (at_once, bursts) = (f64::from(self.senders), f64::from(self.bursts));
        let bytes = at_once * bursts * self.size.mean();
        Expected { flows: at_once * bursts, at_once, listed: false, bytes }
    }

    fn demand(&self, run: &Run) -> Demand {
        let bursts = Bursts {
            senders: self.senders(run.hosts()).collect(),
            receiver: self.receiver,
            size: self.size.clone(),
            start: run.start,
            every: self.every,
            spacing: self.spacing,
            left: 0..self.bursts,
            random: run.random(),
            begun: BTreeMap::new(),
        };
        Demand { drawn: Some(Box::new(bursts)), ..Demand::default() }
    }

    fn sizes(&self) -> SizesOf {
        SizesOf::from(&self.size)
    }

    fn pairs(&self, hosts: u32) -> Pairs {
        Pairs::Listed(self.senders(hosts as usize).map(|sender| (sender, self.receiver)).collect())
    }

    fn receiver(&self) -> Option<&'static str> {
        Some("receiver")
    }
}
